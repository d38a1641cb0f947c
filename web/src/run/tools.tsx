import { useEffect, useState } from "preact/hooks";
import { byFinger } from "../time/touch";
import type { Zoom } from "../time/zoom";
import { Field } from "../ui/field";
import { useTyped } from "../ui/typed";
import { seconds } from "../ui/words";

/** The stretch of time that is shown, what moves it, and the moment that is looked at. */
export function Tools({ zoom, moment, choose }: { zoom: Zoom; moment: number | undefined; choose: (time: number | undefined) => void }) {
  const [, shown] = useState(0);
  useEffect(() => zoom.watch(() => shown((before) => before + 1)), [zoom]);
  const [wrong, tell] = useState("");
  const digits = Math.max(0, Math.min(9, 3 - Math.floor(Math.log10(zoom.to - zoom.from))));
  // A field that is emptied chooses none.
  const typing = useTyped(moment === undefined ? "" : String(+moment.toFixed(9)), (input) => {
    const text = input.value;
    const value = seconds(text);
    tell(text.trim() && value === undefined ? `\`${text.trim()}\` is no time: write 1.5, 1.5 s or 1500 ms.` : "");
    if (!text.trim() || value !== undefined) choose(value);
  });
  return (
    <div class="tools row" role="toolbar" aria-label="Stretch of time">
      <button type="button" onClick={() => zoom.move(-0.3)} aria-label="Earlier">
        ←
      </button>
      <button type="button" onClick={() => zoom.scale(0.5, zoom.seen(moment))} aria-label="Shorter">
        +
      </button>
      <button type="button" onClick={() => zoom.scale(2, zoom.seen(moment))} aria-label="Longer">
        −
      </button>
      <button type="button" onClick={() => zoom.move(0.3)} aria-label="Later">
        →
      </button>
      <button type="button" onClick={() => zoom.all()}>
        All
      </button>
      <output>
        {zoom.from.toFixed(digits)} to {zoom.to.toFixed(digits)} s
      </output>
      <Field name="Look at moment (s)">
        {(id) => <input id={id} size={10} placeholder="such as 1.5" aria-invalid={wrong !== ""} {...typing} />}
      </Field>
      {wrong && (
        <span class="bad" role="alert">
          {wrong}
        </span>
      )}
      <span class="faint">
        {byFinger()
          ? "Two fingers zoom, one moves; all is shown after two taps. A tap chooses a moment."
          : "Drag to zoom, Ctrl and wheel, or arrows, + and − about the moment; click for one."}
      </span>
    </div>
  );
}
