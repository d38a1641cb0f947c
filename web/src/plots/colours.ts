// Colours that are told apart by all, with a mark of another shape each; they follow the theme.
import { useEffect, useState } from "preact/hooks";

export const SYMBOLS = ["circle", "square", "triangle", "diamond", "star", "cross", "wye", "times"] as const;

export function colour(at: number): string {
  return token(`c${at % 8}`);
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
