// Colours that are told apart by all, with a mark of another shape each; they follow the theme.
import { useEffect, useState } from "preact/hooks";

/** An oblique cross that is filled, as all marks are: the one that the library has is of lines, and would have the colour of the rim. */
const TIMES = {
  draw: (context: CanvasPath, size: number) => {
    const unit = Math.sqrt(size / 10);
    // Its corners, from the notch on the right on: a quarter, and the same turned three times.
    let quarter = [
      [unit, 0],
      [2 * unit, unit],
      [unit, 2 * unit],
    ] as [number, number][];
    context.moveTo(...(quarter[0] as [number, number]));
    for (let turn = 0; turn < 4; turn++) {
      for (const corner of quarter) context.lineTo(...corner);
      quarter = quarter.map(([x, y]) => [-y, x]);
    }
    context.closePath();
  },
};
const SYMBOLS = ["circle", "square", "triangle", "diamond", "star", "cross", "wye", TIMES] as const;
const SIGNS = ["●", "■", "▲", "◆", "★", "✚", "Y", "✖"];
/** Lines of the first eight curves, of the next eight, and so on; what they are called. */
const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3]];
const CALLED = ["", "dashed", "dotted", "dash-dotted"];

export function colour(at: number): string {
  return token(`c${at % 8}`);
}

/** How a curve differs from others, besides its colour, which comes again after eight: no two of 32 have both its colour and its line, nor its colour and its mark. */
export function markOf(at: number): { symbol: (typeof SYMBOLS)[number]; sign: string; dash: number[]; called: string } {
  const round = Math.floor(at / 8);
  const which = (at + 3 * round) % SYMBOLS.length;
  return {
    symbol: SYMBOLS[which] as (typeof SYMBOLS)[number],
    sign: SIGNS[which] as string,
    dash: DASHES[round % DASHES.length] as number[],
    called: CALLED[round % CALLED.length] as string,
  };
}

let probe: HTMLElement | undefined;
const known = new Map<string, string>();

/** A colour of the page as its theme has it. The property itself has one for each theme: what it comes to, only an element tells. */
export function token(name: string): string {
  const before = known.get(name);
  if (before) return before;
  if (!probe) {
    probe = document.createElement("span");
    probe.hidden = true;
    document.body.append(probe);
  }
  probe.style.color = `var(--${name})`;
  const found = getComputedStyle(probe).color;
  known.set(name, found);
  return found;
}

// Before anything is drawn anew: these were there first.
addEventListener("themed", () => known.clear());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => known.clear());

/** Changes whenever the theme does: what is drawn with colours is drawn anew. */
export function useTheme(): number {
  const [turn, set] = useState(0);
  useEffect(() => {
    const themed = () => set((before) => before + 1);
    const system = matchMedia("(prefers-color-scheme: dark)");
    addEventListener("themed", themed);
    system.addEventListener("change", themed);
    return () => {
      removeEventListener("themed", themed);
      system.removeEventListener("change", themed);
    };
  }, []);
  return turn;
}
