import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useOpen } from "./kept";

/** What is made only when it is unfolded; `kept`: the name by which the address keeps that it is. */
export function Folded({ title, kept, children }: { title: ComponentChildren; kept?: string; children: ComponentChildren }) {
  const [open, set] = useOpen(kept);
  const [made, make] = useState(open);
  const toggled = (now: boolean) => {
    if (now) make(true);
    set(now);
  };
  return (
    <details open={open} onToggle={(event) => toggled(event.currentTarget.open)}>
      <summary>{title}</summary>
      {(made || open) && children}
    </details>
  );
}
