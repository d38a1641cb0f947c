// A button that there may be nothing to do for. It is said to be so and stays where it is: one that is disabled loses the focus of whoever has just pressed it.
import type { ComponentChildren } from "preact";

/** `no`: whether it does nothing now. */
export function Press({ no, go, main, children }: { no: boolean; go: () => void; main?: boolean; children: ComponentChildren }) {
  return (
    <button type="button" class={main ? "main" : undefined} aria-disabled={no} onClick={() => no || go()}>
      {children}
    </button>
  );
}
