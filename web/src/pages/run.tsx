// One run in detail: what its flows and links did over time, beside another one, and as it would have been.
import { useEffect, useMemo, useState } from "preact/hooks";
import { go, route, to } from "../route";
import { Episodes } from "../run/episodes";
import { Films } from "../run/film";
import { Panels } from "../run/panels";
import { Sequences } from "../run/sequence";
import { type Change, lines, load, type RunHead, type Track, type Which } from "../run/track";
import { Values } from "../run/values";
import { Variables } from "../run/variables";
import { WhatIf } from "../run/what-if";
import { session } from "../session";
import { Zoom } from "../time/zoom";
import { Field } from "../ui/field";
import { Folded } from "../ui/folded";
import { Await, type Loaded, useLoaded, Wrong } from "../ui/loaded";

/** A JSON value of the address; what is none is as if it were not there. */
function read<T>(name: string, is: (value: unknown) => boolean): T | undefined {
  try {
    const found: unknown = JSON.parse(route.value.query.get(name) ?? "null");
    return is(found) ? (found as T) : undefined;
  } catch {
    return undefined;
  }
}

export function RunPage({ of, run }: { of: string; run: string }) {
  const query = route.value.query;
  const beside = query.get("beside") ?? "";
  const flows = read<string[]>("flows", (value) => Array.isArray(value) && value.every((each) => typeof each === "string")) ?? [];
  const change = read<Change>("change", (value) => typeof value === "object" && value !== null && !Array.isArray(value));
  const again = query.has("again");
  const ask = (next: { run?: string; beside?: string; flows?: string[]; change?: Change | undefined; again?: boolean }) => {
    const all = { run, beside, flows, change, again, ...next };
    go(
      to("run", {
        of,
        run: all.run,
        beside: all.beside,
        flows: all.flows.length ? JSON.stringify(all.flows) : undefined,
        change: all.change ? JSON.stringify(all.change) : undefined,
        again: all.again ? "1" : undefined,
      }),
      "replace",
    );
  };
  const track = (which: Which | undefined, label: string, number: number) => (signal: AbortSignal) =>
    which ? load(which, label, number, signal) : Promise.resolve(undefined);
  const plain = { of, run, flows, again };
  const chosen = JSON.stringify(flows);
  const first = useLoaded(track(plain, "", 0), [of, run, chosen, again]);
  const second = useLoaded(track(beside ? { of, run: beside, flows, again } : undefined, `run ${beside}`, 1), [of, beside, chosen, again]);
  const other = useLoaded(track(change ? { ...plain, change } : undefined, "otherwise", 2), [of, run, chosen, JSON.stringify(change)]);
  return (
    <article>
      <Await of={first}>
        {(found) => found && <Shown of={of} first={found} second={second} other={other} asked={{ beside, flows, change }} ask={ask} />}
      </Await>
    </article>
  );
}

interface ShownProps {
  of: string;
  first: Track;
  second: Loaded<Track | undefined>;
  other: Loaded<Track | undefined>;
  asked: { beside: string; flows: string[]; change: Change | undefined };
  ask: (next: { run?: string; beside?: string; flows?: string[]; change?: Change | undefined; again?: boolean }) => void;
}

function Shown({ of, first, second, other, asked, ask }: ShownProps) {
  const { head } = first;
  const tracks = useMemo(() => {
    const more = [asked.beside ? second.value : undefined, asked.change ? other.value : undefined].filter((track) => track !== undefined);
    const all = [first, ...more];
    // Alone it needs no name.
    return all.map((track, number) => ({ ...track, number, label: all.length > 1 ? track.label || `run ${head.run}` : "" }));
  }, [first, second.value, other.value, asked.beside, JSON.stringify(asked.change)]);
  const longest = Math.max(...tracks.map((track) => track.head.duration));
  const zoom = useMemo(() => {
    const made = new Zoom(longest);
    // What is over in a small part of the run is shown in a part of it.
    if (head.active < longest / 4) made.show(0, head.active * 1.25);
    return made;
  }, [longest]);
  const [moment, choose] = useState<number | undefined>(undefined);
  useEffect(() => zoom.again(), [moment]);
  const forked = other.value?.head.differs ?? undefined;
  const [marks] = useState<{ at: number | undefined; forked: number | undefined }>({ at: undefined, forked: undefined });
  marks.at = moment;
  marks.forked = asked.change ? forked : undefined;
  const common = { tracks, zoom, choose };
  return (
    <>
      <h1>{head.title}</h1>
      <p class="faint">
        <a href={to("results", { of })}>{of}</a> · {told(head)}
      </p>
      {head.same === false && (
        <p class="wrong">
          What this explorer makes of the run is not what was stored: another version of Sawtooth made these results. What is shown is of
          this one.
        </p>
      )}
      {!head.again && (
        <p class="note">
          A run on a real kernel, as it was stored: it is not the same twice.{" "}
          {session.value?.allowRun && (
            <button type="button" onClick={() => ask({ again: true })}>
              Do it again in detail
            </button>
          )}
        </p>
      )}
      <ul>
        {head.summary.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <Chosen head={head} asked={asked} ask={ask} />
      {asked.beside && second.problem && <Wrong told={second.problem} />}
      {head.links.length > 0 && <WhatIf head={head} moment={moment} change={asked.change} ask={(change) => ask({ change })} />}
      {asked.change && other.problem && <Wrong told={other.problem} />}
      {asked.change && other.loading && <p class="faint">The other future is being made …</p>}
      {asked.change && other.value && (
        <p class="note">
          {other.value.head.change}.{" "}
          {forked === undefined
            ? "Nothing that is drawn becomes different by it."
            : `In all that is recorded, both futures are equal to the bit until ${+forked.toFixed(9)} s, and differ from then on.`}
        </p>
      )}
      <section
        class="over-time"
        aria-label="Over time; keys: arrows move, plus and minus zoom, Home shows all"
        tabIndex={0}
        onKeyDown={(event) => {
          if (event.target === event.currentTarget && zoom.key(event)) event.preventDefault();
        }}
      >
        <Tools zoom={zoom} moment={moment} choose={choose} />
        <Legend tracks={tracks} />
        <Panels {...common} at={() => marks.at} forks={() => marks.forked} />
        {head.unmarked && <p class="faint">No strokes for single packets: {head.unmarked}.</p>}
        <Variables {...common} />
        {head.links.length > 0 && <Sequences {...common} ask={(change) => ask({ change })} />}
      </section>
      {moment !== undefined && (
        <section>
          <h2>Values at {moment.toFixed(6)} s</h2>
          <Values tracks={tracks} at={moment} />
        </section>
      )}
      <Folded title={<>Loss episodes</>}>
        <Episodes tracks={tracks} show={(from, until) => zoom.show(from, until)} />
      </Folded>
      {head.links.length > 0 && <Films tracks={tracks} zoom={zoom} />}
    </>
  );
}

function told(head: RunHead): string {
  const sampled = head.sampled === "ack" ? "a point for every acknowledgement" : `a point every ${head.sampled}`;
  if (!head.again) return `${head.backend}, as stored`;
  if (head.backend !== "sim") return `${head.backend}, done once more, ${sampled}`;
  return `simulated once more, ${sampled}${head.same ? "; its flows are those that were stored, to the bit" : ""}`;
}

/** Which flows, and which other run. */
function Chosen({ head, asked, ask }: { head: RunHead; asked: ShownProps["asked"]; ask: ShownProps["ask"] }) {
  const [typed, type] = useState(asked.beside);
  const toggle = (flow: string, on: boolean) => {
    const next = on ? [...head.shown, flow] : head.shown.filter((each) => each !== flow);
    if (next.length) ask({ flows: head.flows.filter((each) => next.includes(each)) });
  };
  return (
    <div class="row">
      {head.flows.length > 1 && (
        <details>
          <summary>
            {head.shown.length} of {head.flows.length} flows
          </summary>
          <fieldset class="flows">
            <legend class="hidden">Flows that are shown</legend>
            {head.flows.slice(0, 400).map((flow) => (
              <label key={flow}>
                <input
                  type="checkbox"
                  checked={head.shown.includes(flow)}
                  disabled={!head.shown.includes(flow) && head.shown.length >= 8}
                  onChange={(event) => toggle(flow, event.currentTarget.checked)}
                />{" "}
                {flow} <span class="faint">{head.cc[flow]}</span>
              </label>
            ))}
          </fieldset>
        </details>
      )}
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          ask({ beside: typed.trim() });
        }}
      >
        <Field name="Beside run">
          {(id) => <input id={id} size={6} inputMode="numeric" value={typed} onInput={(event) => type(event.currentTarget.value)} />}
        </Field>
        <button type="submit">Show</button>
      </form>
    </div>
  );
}

function Tools({ zoom, moment, choose }: { zoom: Zoom; moment: number | undefined; choose: (time: number | undefined) => void }) {
  const [, shown] = useState(0);
  useEffect(() => zoom.watch(() => shown((before) => before + 1)), [zoom]);
  const digits = Math.max(0, Math.min(9, 3 - Math.floor(Math.log10(zoom.to - zoom.from))));
  return (
    <div class="tools row" role="toolbar" aria-label="Stretch of time">
      <button type="button" onClick={() => zoom.move(-0.3)} aria-label="Earlier">
        ←
      </button>
      <button type="button" onClick={() => zoom.scale(0.5)} aria-label="Shorter">
        +
      </button>
      <button type="button" onClick={() => zoom.scale(2)} aria-label="Longer">
        −
      </button>
      <button type="button" onClick={() => zoom.move(0.3)} aria-label="Later">
        →
      </button>
      <button type="button" onClick={() => zoom.all()}>
        All
      </button>
      <output>
        {zoom.from.toFixed(digits)} to {zoom.to.toFixed(digits)} s
      </output>
      <Field name="Moment (s)">
        {(id) => (
          <input
            id={id}
            size={10}
            inputMode="decimal"
            value={moment === undefined ? "" : String(+moment.toFixed(9))}
            onChange={(event) => {
              const value = Number.parseFloat(event.currentTarget.value);
              choose(Number.isFinite(value) ? value : undefined);
            }}
          />
        )}
      </Field>
      <span class="faint">Drag to zoom, Ctrl and wheel, or arrows, + and −; click for a moment.</span>
    </div>
  );
}

function Legend({ tracks }: { tracks: Track[] }) {
  return (
    <ul class="legend" aria-label="Flows">
      {lines(tracks).map((line) => (
        <li key={line.name}>
          <span class={`c${line.colour % 8}`} aria-hidden="true">
            ▬
          </span>{" "}
          {line.name} <span class="faint">{line.track.head.cc[line.flow]}</span>
        </li>
      ))}
    </ul>
  );
}
