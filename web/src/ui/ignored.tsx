// What of an address is not taken, in words: it was mistyped, or cut on its way here.
import { route } from "../route";
import { read } from "./kept";

export function Ignored({ lines }: { lines: string[] }) {
  return (
    <>
      {lines.map((each) => (
        <p class="note" role="status" key={each}>
          {each}
        </p>
      ))}
    </>
  );
}

/** That the address has something that cannot be read as what it should be; nothing if it has not, or if it can. */
export function unread<T>(name: string, is: (value: unknown) => value is T, what: string, instead: string): string[] {
  if (!route.value.query.get(name) || read(name, is) !== undefined) return [];
  return [`The address does not say which ${what}: it may have been cut when it was copied. ${instead}`];
}

/** What an address says, as a sentence has room for it. */
export function quoted(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
