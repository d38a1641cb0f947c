import { useId, useState } from "preact/hooks";
import { Bounded, bounded } from "./bounded";
import { useTyped } from "./typed";
import { number } from "./words";

const STEPS = 200;

/** A number to slide and to type; `log`: each step is a share of the number. */
export function Slider(props: {
  name: string;
  unit: string;
  value: number;
  least: number;
  most: number;
  log?: boolean;
  whole?: boolean;
  set: (value: number) => void;
}) {
  const { name, unit, value, least, most, log, whole, set } = props;
  const id = useId();
  const [beyond, tell] = useState("");
  // What begins at zero has no logarithm: its first step is a thousandth of the rest.
  const floor = least || most / 10_000;
  const at = log
    ? value <= floor && !least
      ? 0
      : Math.log(Math.max(value, floor) / floor) / Math.log(most / floor)
    : (value - least) / (most - least);
  const slid = (step: number) => {
    if (!step) return set(least);
    const exact = log ? floor * (most / floor) ** (step / STEPS) : least + ((most - least) * step) / STEPS;
    const found = whole ? Math.round(exact) : Number(exact.toPrecision(2));
    // A step that is smaller than what is shown moves all the same: with the keyboard nobody would get on otherwise.
    const quantum = whole ? 1 : 10 ** (Math.floor(Math.log10(found || floor)) - 1);
    const moved = found !== value ? found : value + Math.sign(step - Math.round(at * STEPS)) * quantum;
    set(Math.min(Math.max(Number(moved.toPrecision(6)), least), most));
  };
  const typing = useTyped(String(value), (input) => {
    const typed = input.valueAsNumber;
    const { value: taken, said } = bounded(whole ? Math.round(typed) : typed, { least, most, unit }, value);
    tell(said);
    if (Number.isFinite(typed)) set(taken);
  });
  return (
    <div class="slider">
      <label for={id}>
        {name}
        {unit ? `, ${unit}` : ""}
      </label>
      <input
        id={id}
        type="range"
        min="0"
        max={STEPS}
        value={Math.round(at * STEPS)}
        aria-valuetext={`${number(value)} ${unit}`}
        onInput={(event) => {
          tell("");
          slid(event.currentTarget.valueAsNumber);
        }}
      />
      <input type="number" aria-label={`${name}, typed`} min={least} max={most} step="any" {...typing} />
      <Bounded said={beyond} />
    </div>
  );
}
