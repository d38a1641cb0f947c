// The field for a measure: what is typed is asked for when it is left, and the measures that there are are offered.
import { useState } from "preact/hooks";
import { Field } from "./field";

/** The name of the list of measures that is offered: whoever knows them makes it. */
export const MEASURES = "measures";

/** `value`: what is asked now; `ask` is told what was typed, without spaces around it. */
export function MeasureField({ value, placeholder, ask }: { value: string; placeholder?: string; ask: (text: string) => void }) {
  const [typed, type] = useState<string | null>(null);
  return (
    <Field name="Measure, or an expression of some" wide>
      {(id) => (
        <input
          id={id}
          list={MEASURES}
          value={typed ?? value}
          placeholder={placeholder}
          spellcheck={false}
          onInput={(event) => type(event.currentTarget.value)}
          onChange={(event) => {
            type(null);
            ask(event.currentTarget.value.trim());
          }}
        />
      )}
    </Field>
  );
}
