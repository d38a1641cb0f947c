// What is typed beyond a field's bounds is not taken, and that is said at the field.
import { number } from "./words";

interface Bounds {
  least: number;
  most: number;
  unit: string;
}

/** What of a typed number is taken, and what is said of the rest; `before` stays where none was typed. */
export function bounded(typed: number, { least, most, unit }: Bounds, before: number): { value: number; said: string } {
  if (!Number.isFinite(typed)) return { value: before, said: "" };
  const value = Math.min(Math.max(typed, least), most);
  const side = typed > most ? "most" : "least";
  return { value, said: value === typed ? "" : `${number(typed)} is beyond the bounds: at ${side} ${number(value)}${unit && ` ${unit}`}` };
}

export function Bounded({ said }: { said: string }) {
  return (
    <p role="status" class="beyond">
      {said}
    </p>
  );
}
