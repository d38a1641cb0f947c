import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

/** A control with its name above it. */
export function Field({ name, wide, children }: { name: string; wide?: boolean; children: (id: string) => ComponentChildren }) {
  const id = useId();
  return (
    <div class={wide ? "field wide" : "field"}>
      <label for={id}>{name}</label>
      {children(id)}
    </div>
  );
}

/** One of some values. */
export function Choice({
  name,
  value,
  values,
  choose,
}: {
  name: string;
  value: string;
  values: readonly (string | { value: string; words: string })[];
  choose: (value: string) => void;
}) {
  return (
    <Field name={name}>
      {(id) => (
        <select id={id} value={value} onChange={(event) => choose(event.currentTarget.value)}>
          {values.map((each) => {
            const { value: one, words } = typeof each === "string" ? { value: each, words: each } : each;
            return (
              <option key={one} value={one}>
                {words}
              </option>
            );
          })}
        </select>
      )}
    </Field>
  );
}
