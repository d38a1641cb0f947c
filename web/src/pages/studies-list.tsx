import { useEffect, useState } from "preact/hooks";
import { get, type Told } from "../api";
import { to } from "../route";
import { session } from "../session";
import { follow, sweeps } from "../sweeps";
import { Field } from "../ui/field";
import { Folded } from "../ui/folded";
import { Await, useLoaded } from "../ui/loaded";
import { Progress } from "../ui/progress";
import { count, duration, Words } from "../ui/words";

export interface Entry {
  address: string;
  name: string;
  question: string;
  backend: string;
  state: "running" | "done" | "part done" | "never run";
  problem: Told | null;
  /** Whether it has a text, which can be mended here if it has a problem. */
  isText: boolean;
  results: Made[];
  /** In a list: whether it is in a folder of a program's tests. */
  tests?: boolean;
}

export interface Made {
  address: string;
  done: number;
  planned: number;
  failed: number;
  short: boolean;
  same: boolean;
  held: boolean;
}

interface Size {
  runs: number | null;
  cells: number | null;
  deliveries: number | null;
  seconds: number | null;
  /** How many times as much it is at most, where replicates are made until a rule is met. */
  times: number;
  problem: Told | null;
}

export function StudiesList() {
  useEffect(follow, []);
  const [wanted, want] = useState("");
  // What has been run of a study changes when a sweep begins or ends.
  const changes = sweeps.value.map((sweep) => `${sweep.out} ${sweep.state}`).join();
  const found = useLoaded((signal) => get<{ studies: Entry[]; complete: boolean }>("/api/studies", {}, signal), [changes]);
  return (
    <section>
      <div class="row between">
        <h1>Studies</h1>
        {session.value?.allowRun && (
          <a class="button" href={to("studies", { new: "1" })}>
            New study
          </a>
        )}
      </div>
      {sweeps.value.length > 0 && <Progress sweeps={sweeps.value} named />}
      <Await of={found}>
        {({ studies, complete }) => {
          const tests = studies.filter((each) => each.tests);
          const fitting = tests.filter((each) => fits(each, wanted)).length;
          return (
            <>
              <div class="row">
                <Field name="Find" wide>
                  {(id) => <input id={id} type="search" value={wanted} onInput={(event) => want(event.currentTarget.value)} />}
                </Field>
              </div>
              <h2>Your own</h2>
              <Group studies={studies.filter((each) => !isShipped(each) && !each.tests)} wanted={wanted} />
              <h2>Those that come along</h2>
              <Group studies={studies.filter(isShipped)} wanted={wanted} />
              {fitting > 0 && (
                <Folded title={`In folders of tests (${fitting.toLocaleString("en")})`} kept="tests">
                  <Group studies={tests} wanted={wanted} />
                </Folded>
              )}
              {!complete && <p class="faint">The folders hold so many files that they were not looked through to their end.</p>}
            </>
          );
        }}
      </Await>
    </section>
  );
}

const isShipped = (entry: Entry) => entry.address.startsWith(`${session.value?.shipped ?? "shipped"}/`);

const called = (entry: Entry) => (isShipped(entry) ? entry.address.split("/").slice(1).join("/") : entry.name);

function fits(entry: Entry, wanted: string): boolean {
  const text = `${entry.address} ${entry.name} ${entry.question} ${entry.state}`.toLowerCase();
  return wanted
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** Studies of a kind: sizes are asked of all, once, and those are shown that are looked for. */
function Group({ studies, wanted }: { studies: Entry[]; wanted: string }) {
  const sizes = useSizes(studies);
  const shown = studies.filter((each) => fits(each, wanted));
  return (
    <>
      {!shown.length && (
        <p class="faint">
          {wanted ? "None of that kind." : "There are none in these folders yet: open one that comes along and save it as your own."}
        </p>
      )}
      <ul class="cards">
        {shown.map((entry) => (
          <li key={entry.address} class="card">
            <h3>{entry.isText ? <a href={to("studies", { of: entry.address })}>{called(entry)}</a> : called(entry)}</h3>
            {entry.question && <p>{entry.question}</p>}
            {entry.problem ? <Bad told={entry.problem} /> : <SizeOf size={sizes[entry.address]} backend={entry.backend} />}
            <p class="faint">
              {entry.isText && <State state={stateOf(entry)} />}
              {entry.results.map((made) => (
                <span key={made.address}>
                  {" · "}
                  <a href={to("results", { of: made.address })}>{made.address}</a> {share(made)}
                </span>
              ))}
            </p>
            {isShipped(entry) || (
              // Two files may have one name, such as a copy that was changed.
              <p class="faint">
                <code>{entry.address}</code>
              </p>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

/** What is wrong with a study, and where, as the command line tells it. */
function Bad({ told: { message, hint, place } }: { told: Told }) {
  return (
    <>
      <p class="bad">
        {place && (
          <>
            <code>{`${place.name}:${place.line}:${place.column}`}</code>{" "}
          </>
        )}
        <Words text={message} />
      </p>
      {hint && (
        <p class="faint">
          <Words text={hint} />
        </p>
      )}
    </>
  );
}

/** A sweep that has just begun has no results yet. */
export function stateOf(entry: Entry): string {
  const runs = sweeps.value.some((sweep) => sweep.study === entry.address && (sweep.state === "running" || sweep.state === "pausing"));
  return runs ? "running" : entry.state;
}

export function State({ state }: { state: string }) {
  return <span class={`state ${state.split(" ")[0]}`}>{state}</span>;
}

export function share(made: Made): string {
  const parts = [
    made.done === made.planned
      ? `${made.planned.toLocaleString("en")} runs`
      : `${made.done.toLocaleString("en")} of ${made.planned.toLocaleString("en")}`,
  ];
  if (made.short) parts.push("short form");
  if (!made.same) parts.push("of another version of the text");
  if (made.held) parts.push("being written");
  return `(${parts.join(", ")})`;
}

/** Sizes of studies, asked for one after the other: plans of large ones take seconds, and other questions are to come through meanwhile. */
function useSizes(studies: Entry[]): Record<string, Size> {
  const [sizes, set] = useState<Record<string, Size>>({});
  const addresses = studies.filter((each) => !each.problem).map((each) => each.address);
  useEffect(() => {
    const control = new AbortController();
    (async () => {
      for (const of of addresses) {
        const size = await get<Size>("/api/studies/size", { of }, control.signal).catch(() => null);
        if (control.signal.aborted) return;
        if (size) set((before) => ({ ...before, [of]: size }));
      }
    })();
    return () => control.abort();
  }, [addresses.join("\n")]);
  return sizes;
}

/** From the least to the most, or the one if both read alike. */
function range(words: (times: number) => string, times: number[]): string {
  return [...new Set(times.map(words))].join(" to ");
}

function SizeOf({ size, backend }: { size: Size | undefined; backend: string }) {
  if (!size) return <p class="faint">…</p>;
  if (size.problem) return <Bad told={size.problem} />;
  const segments = (times: number) => (times * (size.deliveries ?? 0)).toLocaleString("en", { notation: "compact" });
  const runs = (times: number) => Math.round(times * (size.runs ?? 0)).toLocaleString("en");
  const times = [...new Set([1, size.times])];
  return (
    <p class="faint">
      {times.length > 1 ? `${range(runs, times)} runs` : count(size.runs ?? 0, "run")} · {count(size.cells ?? 0, "cell")} ·{" "}
      {range(segments, times)} segments · {range((each) => duration(each * (size.seconds ?? 0)), times)} · {backend}
    </p>
  );
}
