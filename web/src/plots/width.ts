// How wide a place on the page is, as the page lets it be.
import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Its width in pixels; 0 until it is known. */
export function useWidth(place: RefObject<HTMLElement>): number {
  const [width, set] = useState(0);
  useEffect(() => {
    const found = place.current as HTMLElement;
    const watch = new ResizeObserver(() => set(found.clientWidth));
    watch.observe(found);
    return () => watch.disconnect();
  }, []);
  return width;
}
