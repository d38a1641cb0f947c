import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

/** What is made only when it is unfolded. */
export function Folded({ title, children }: { title: ComponentChildren; children: ComponentChildren }) {
  const [open, set] = useState(false);
  return (
    <details onToggle={(event) => event.currentTarget.open && set(true)}>
      <summary>{title}</summary>
      {open && children}
    </details>
  );
}
