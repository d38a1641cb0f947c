// What is being typed into a field stays there while the page is drawn anew: an answer that arrives meanwhile takes nothing away.
import { useState } from "preact/hooks";

/** The properties of an input that shows `value`, and gives what was typed to `take` when it is done. */
export function useTyped(value: string, take: (input: HTMLInputElement) => void) {
  const [draft, type] = useState<string | null>(null);
  return {
    value: draft ?? value,
    onInput: (event: { currentTarget: HTMLInputElement }) => type(event.currentTarget.value),
    onChange: (event: { currentTarget: HTMLInputElement }) => {
      type(null);
      take(event.currentTarget);
    },
    // What is left without a change is what was there before, or what is no number.
    onBlur: () => type(null),
  };
}
