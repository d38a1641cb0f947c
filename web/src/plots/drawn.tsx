// A place for a drawing that is as wide as the page lets it be.
import { useLayoutEffect, useRef } from "preact/hooks";
import { useTheme } from "./colours";
import { useWidth } from "./width";

export const NONCE = document.querySelector<HTMLMetaElement>('meta[name="nonce"]')?.content ?? "";

export function Drawn({
  draw,
  keys,
  label,
  stale,
}: {
  draw: (width: number) => Element;
  keys: readonly unknown[];
  label: string;
  stale?: boolean;
}) {
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  const theme = useTheme();
  useLayoutEffect(() => {
    if (!width) return;
    const made = draw(width);
    // Plot puts a style into what it draws, which the page's policy lets through by its nonce only.
    for (const style of made.querySelectorAll("style")) style.nonce = NONCE;
    // The drawing as a whole has a name; its parts have none of their own.
    for (const part of made.querySelectorAll("[aria-label], [aria-description]")) {
      part.removeAttribute("aria-label");
      part.removeAttribute("aria-description");
    }
    place.current?.replaceChildren(made);
  }, [width, theme, ...keys]);
  return <div class={stale ? "plot stale" : "plot"} ref={place} role="img" aria-label={label} />;
}
