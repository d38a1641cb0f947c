// A box that is moved sideways where what is in it is wider; words say so, as scroll bars hide on many systems.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useWidth } from "../plots/width";

export function Sideways({ label, busy, children }: { label: string; busy: boolean; children: ComponentChildren }) {
  const box = useRef<HTMLElement>(null);
  const width = useWidth(box);
  const [wider, set] = useState(false);
  useLayoutEffect(() => set((box.current?.scrollWidth ?? 0) > width + 1 && width > 0));
  return (
    <>
      {wider && <p class="faint unprinted">More columns at the right: the table can be moved sideways. →</p>}
      <section class="scroll" ref={box} tabIndex={0} aria-label={label} aria-busy={busy}>
        {children}
      </section>
    </>
  );
}
