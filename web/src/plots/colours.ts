// Colours that are told apart by all, with a mark of another shape each; they follow the theme.
import { useEffect, useState } from "preact/hooks";

export const SYMBOLS = ["circle", "square", "triangle", "diamond", "star", "cross", "wye", "times"] as const;

export function colour(at: number): string {
  return getComputedStyle(document.documentElement)
    .getPropertyValue(`--c${at % 8}`)
    .trim();
}

export function token(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

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
