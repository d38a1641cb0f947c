// Another run that is laid over the first: of the same results, or of others in the folders, over the same axis of time.
import { useState } from "preact/hooks";
import { get } from "../api";
import { to } from "../route";
import { Choice, Field } from "../ui/field";
import { useLoaded } from "../ui/loaded";
import type { Track } from "./track";

/** Which run that is; nothing is laid over it while `run` is empty. */
export interface Other {
  run: string;
  /** Other results; empty for the same. */
  of: string;
  /** Of a real kernel: done again, which is another run. */
  again: boolean;
}

interface Entry {
  address: string;
  planned?: number;
}

/** The part of an address that tells results from others: its last folder, or all of it if both end alike. */
function called(address: string, other: string): string {
  const [one, two] = [address, other].map((each) => each.split("/").at(-1) ?? each) as [string, string];
  return one === two ? address : one;
}

/** What legends call the run beside the first, and the first beside it. */
export function labels(of: string, run: number | string, beside: Other): { first: string; second: string } {
  if (beside.of && beside.of !== of)
    return { first: `run ${run} of ${called(of, beside.of)}`, second: `run ${beside.run} of ${called(beside.of, of)}` };
  const again = beside.again && beside.run === String(run);
  return { first: again ? `run ${run} as stored` : `run ${run}`, second: `run ${beside.run}${beside.again ? ", done again" : ""}` };
}

export function ChooseBeside({ of, beside, choose }: { of: string; beside: Other; choose: (next: Other) => void }) {
  const [run, type] = useState(beside.run);
  const [results, pick] = useState(beside.of || of);
  const found = useLoaded((signal) => get<{ results: Entry[] }>("/api/results", {}, signal), []);
  const entries = (found.value?.results ?? []).filter((each) => each.planned !== undefined);
  const others = [...new Set([results, ...entries.map((each) => each.address)])].filter((each) => each !== of);
  const planned = entries.find((each) => each.address === results)?.planned;
  return (
    <form
      class="row"
      aria-label="Beside it"
      onSubmit={(event) => {
        event.preventDefault();
        const next = run.trim();
        choose({ run: next, of: next && results !== of ? results : "", again: false });
      }}
    >
      <Field name="Beside run">
        {(id) => (
          <input
            id={id}
            size={8}
            inputMode="numeric"
            value={run}
            placeholder={planned ? `0 to ${planned - 1}` : ""}
            onInput={(event) => type(event.currentTarget.value)}
          />
        )}
      </Field>
      <Choice name="of results" value={results} values={[{ value: of, words: "these" }, ...others]} choose={pick} />
      <button type="submit">Show</button>
      {beside.run && (
        <button
          type="button"
          onClick={() => {
            type("");
            choose({ run: "", of: "", again: false });
          }}
        >
          Alone
        </button>
      )}
    </form>
  );
}

/** What the run beside the first is, and where it is by itself. */
export function ToldBeside({ track, children }: { track: Track; children?: preact.ComponentChildren }) {
  const { of, run, again } = track.which;
  return (
    <p class="faint">
      Beside it: <a href={to("run", { of, run, again: again ? "1" : undefined })}>{track.head.title}</a> in{" "}
      <a href={to("results", { of })}>{of}</a>. {children}
    </p>
  );
}
