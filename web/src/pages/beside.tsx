import { get } from "../api";
import { go, to } from "../route";
import { Choice } from "../ui/field";
import { useLoaded } from "../ui/loaded";
import type { Entry } from "./results-list";

/** Other results of the same study, to be laid beside these; nothing if there are none. */
export function Beside({ of, name }: { of: string; name: string }) {
  const found = useLoaded((signal) => get<{ results: Entry[] }>("/api/results", {}, signal), []);
  const others = (found.value?.results ?? []).filter((each) => each.name === name && each.address !== of && !each.error);
  if (!others.length) return null;
  return (
    <section aria-label="Beside others">
      <h2>Beside others</h2>
      <div class="row">
        <Choice
          name="Lay beside these results of the same study"
          value=""
          values={[{ value: "", words: "choose" }, ...others.map((each) => ({ value: each.address, words: named(each) }))]}
          choose={(beside) => beside && go(to("compare", { of, beside }))}
        />
      </div>
    </section>
  );
}

/** An entry of a list, told from others of its study. */
export function named(entry: Entry): string {
  return `${entry.address}${entry.backend ? ` (${entry.backend})` : ""}`;
}
