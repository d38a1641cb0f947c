import { useEffect, useState } from "preact/hooks";
import { get, type Told } from "../api";
import { to } from "../route";
import { session } from "../session";
import { follow, sweeps } from "../sweeps";
import { Field } from "../ui/field";
import { Await, useLoaded } from "../ui/loaded";
import { Progress } from "../ui/progress";
import { duration } from "../ui/words";

export interface Entry {
  address: string;
  name: string;
  question: string;
  backend: string;
  state: "running" | "done" | "part done" | "never run";
  problem: Told | null;
  results: Made[];
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
        {({ studies, complete }) => (
          <>
            <div class="row">
              <Field name="Find" wide>
                {(id) => <input id={id} type="search" value={wanted} onInput={(event) => want(event.currentTarget.value)} />}
              </Field>
            </div>
            <Group title="Your own" studies={studies.filter((each) => !isShipped(each) && fits(each, wanted))} none={wanted !== ""} />
            <Group title="Those that come along" studies={studies.filter((each) => isShipped(each) && fits(each, wanted))} none={true} />
            {!complete && <p class="faint">The folders hold so many files that they were not looked through to their end.</p>}
          </>
        )}
      </Await>
    </section>
  );
}

const isShipped = (entry: Entry) => entry.address.startsWith(`${session.value?.shipped ?? "shipped"}/`);

function fits(entry: Entry, wanted: string): boolean {
  const text = `${entry.address} ${entry.name} ${entry.question} ${entry.state}`.toLowerCase();
  return wanted
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function Group({ title, studies, none }: { title: string; studies: Entry[]; none: boolean }) {
  return (
    <>
      <h2>{title}</h2>
      {!studies.length && (
        <p class="faint">{none ? "None of that kind." : "There are none in these folders yet: open one that comes along and save it as your own."}</p>
      )}
      <ul class="cards">
        {studies.map((entry) => (
          <li key={entry.address} class="card">
            <h3>
              <a href={to("studies", { of: entry.address })}>{title === "Your own" ? entry.name : entry.address.split("/").slice(1).join("/")}</a>
            </h3>
            {entry.question && <p>{entry.question}</p>}
            {entry.problem ? <p class="bad">{entry.problem.message}</p> : <SizeOf entry={entry} />}
            <p class="faint">
              <span class={`state ${entry.state.split(" ")[0]}`}>{entry.state}</span>
              {entry.results.map((made) => (
                <span key={made.address}>
                  {" · "}
                  <a href={to("results", { of: made.address })}>{made.address}</a> {share(made)}
                </span>
              ))}
            </p>
          </li>
        ))}
      </ul>
    </>
  );
}

export function share(made: Made): string {
  const parts = [made.done === made.planned ? `${made.planned.toLocaleString("en")} runs` : `${made.done.toLocaleString("en")} of ${made.planned.toLocaleString("en")}`];
  if (made.short) parts.push("short form");
  if (!made.same) parts.push("of another version of the text");
  if (made.held) parts.push("being written");
  return `(${parts.join(", ")})`;
}

function SizeOf({ entry }: { entry: Entry }) {
  const found = useLoaded((signal) => get<Size>("/api/studies/size", { of: entry.address }, signal), [entry.address]);
  const size = found.value;
  if (!size) return <p class="faint">{found.problem ? found.problem.message : "…"}</p>;
  if (size.problem) return <p class="bad">{size.problem.message}</p>;
  return (
    <p class="faint">
      {(size.runs ?? 0).toLocaleString("en")} runs · {(size.cells ?? 0).toLocaleString("en")} cells · {(size.deliveries ?? 0).toLocaleString("en", { notation: "compact" })}{" "}
      segments · {duration(size.seconds ?? 0)} · {entry.backend}
    </p>
  );
}
