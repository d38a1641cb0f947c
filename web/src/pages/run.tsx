// One run in detail: what its flows and links did over time, beside another one, and as it would have been.
import { useEffect, useMemo, useState } from "preact/hooks";
import { keep, route, to } from "../route";
import { ChooseBeside, labels, type Other, ToldBeside } from "../run/beside";
import { Episodes } from "../run/episodes";
import { Films } from "../run/film";
import { ChooseFlows } from "../run/flows";
import { OnKernel, Unstored } from "../run/kernel";
import { Numbers } from "../run/numbers";
import { Panels } from "../run/panels";
import { Sequences } from "../run/sequence";
import { Tools } from "../run/tools";
import { type Change, dashOf, lines, load, type RunHead, type Track, type Which } from "../run/track";
import { Values } from "../run/values";
import { Variables } from "../run/variables";
import { WhatIf } from "../run/what-if";
import { Zoom } from "../time/zoom";
import { Folded } from "../ui/folded";
import { Ignored, quoted, unread } from "../ui/ignored";
import { isTexts, read } from "../ui/kept";
import { type Loaded, NotShown, useLoaded, Wrong } from "../ui/loaded";
import { Stroke } from "../ui/stroke";

/** What the address says besides the run. */
interface Asked {
  beside: Other;
  flows: string[];
  change: Change | undefined;
  again: boolean;
}

function said(): Asked {
  const query = route.value.query;
  return {
    beside: { run: query.get("beside") ?? "", of: query.get("besideOf") ?? "", again: query.has("besideAgain") },
    flows: read("flows", isTexts) ?? [],
    change: read("change", isChange),
    again: query.has("again"),
  };
}

function isChange(value: unknown): value is Change {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function RunPage({ of, run }: { of: string; run: string }) {
  const asked = said();
  const { beside, flows, change, again } = asked;
  const ask = (next: Partial<Asked>) => {
    const all = { ...asked, ...next };
    keep({
      beside: all.beside.run,
      besideOf: all.beside.of,
      besideAgain: all.beside.again ? "1" : undefined,
      flows: all.flows.length ? JSON.stringify(all.flows) : undefined,
      change: all.change ? JSON.stringify(all.change) : undefined,
      again: all.again ? "1" : undefined,
    });
  };
  const track = (which: Which | undefined, label: string, number: number) => (signal: AbortSignal) =>
    which ? load(which, label, number, signal) : Promise.resolve(undefined);
  const plain = { of, run, flows, again };
  const other = beside.of || of;
  const laid = beside.run ? { of: other, run: beside.run, flows, again: beside.again, lenient: other !== of } : undefined;
  const chosen = JSON.stringify(flows);
  const first = useLoaded(track(plain, "", 0), [of, run, chosen, again]);
  const second = useLoaded(track(laid, labels(of, run, beside).second, 1), [of, JSON.stringify(beside), chosen]);
  const future = useLoaded(track(change ? { ...plain, change } : undefined, "otherwise", 2), [of, run, chosen, JSON.stringify(change)]);
  const unstored = first.problem && <Unstored told={first.problem} again={() => ask({ again: true })} />;
  return (
    <article>
      {unstored && !first.value ? (
        <NotShown what="This run" way={[to("results", { of }), "The results that it is of"]}>
          {unstored}
        </NotShown>
      ) : (
        unstored
      )}
      {first.value ? (
        <Shown of={of} first={first.value} second={second} other={future} asked={asked} ask={ask} />
      ) : (
        first.loading && <p class="faint">{again ? "The run is being done …" : "Loading …"}</p>
      )}
    </article>
  );
}

interface ShownProps {
  of: string;
  first: Track;
  second: Loaded<Track | undefined>;
  other: Loaded<Track | undefined>;
  asked: Asked;
  ask: (next: Partial<Asked>) => void;
}

function Shown({ of, first, second, other, asked, ask }: ShownProps) {
  const { head } = first;
  const tracks = useMemo(() => {
    const more = [asked.beside.run ? second.value : undefined, asked.change ? other.value : undefined].filter(
      (track) => track !== undefined,
    );
    const all = [first, ...more];
    // Alone it needs no name.
    return all.map((track, number) => ({
      ...track,
      number,
      label: all.length > 1 ? track.label || labels(of, head.run, asked.beside).first : "",
    }));
  }, [first, second.value, other.value, JSON.stringify(asked.beside), JSON.stringify(asked.change)]);
  const longest = Math.max(...tracks.map((track) => track.head.duration));
  const zoom = useZoom(longest, head.active);
  const [moment, choose] = useMoment(longest);
  // Of what stands beside it, and lasts longer, nothing is said before that is there.
  const ignored = second.loading || other.loading ? [] : notTaken(longest);
  useEffect(() => zoom.again(), [moment]);
  const forked = other.value?.head.differs ?? undefined;
  const [marks] = useState<{ at: number | undefined; forked: number | undefined }>({ at: undefined, forked: undefined });
  marks.at = moment;
  marks.forked = asked.change ? forked : undefined;
  const common = { tracks, zoom, choose };
  // What is drawn of another future is of the change before the one that was refused.
  const stale = !!(asked.change && other.problem && other.value);
  return (
    <>
      <h1>{head.title}</h1>
      <Ignored lines={ignored} />
      <p class="faint">
        <a href={to("results", { of })}>{of}</a> · {told(head)}
      </p>
      {head.same === false && !head.kernel && (
        <p class="wrong">
          What this explorer makes of the run is not what was stored: another version of Sawtooth made these results. What is shown is of
          this one.
        </p>
      )}
      <OnKernel
        head={head}
        again={(again) => ask({ again })}
        beside={() => ask({ beside: { run: String(head.run), of: "", again: true } })}
      />
      <ul>
        {head.summary.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <div class="row">
        <ChooseFlows head={head} choose={(flows) => ask({ flows })} />
        <ChooseBeside of={of} beside={asked.beside} choose={(beside) => ask({ beside })} />
      </div>
      {asked.beside.run && second.problem && (
        <Unstored told={second.problem} again={() => ask({ beside: { ...asked.beside, again: true } })} />
      )}
      {asked.beside.run && second.loading && <p class="faint">The run beside it is being done …</p>}
      {asked.beside.run && second.value && <ToldBeside track={second.value} />}
      {head.links.length > 0 && <WhatIf head={head} moment={moment} change={asked.change} ask={(change) => ask({ change })} />}
      {asked.change && other.problem && <Wrong told={other.problem} />}
      {asked.change && other.loading && <p class="faint">The other future is being made …</p>}
      {asked.change && other.value && (
        <p class={stale ? "note stale" : "note"}>
          {other.value.head.change}.{" "}
          {forked === undefined
            ? "Nothing that is drawn becomes different by it."
            : `In all that is recorded, both futures are equal to the bit until ${+forked.toFixed(9)} s, and differ from then on.`}
        </p>
      )}
      <div class={stale ? "stale" : ""}>
        <Numbers tracks={tracks} />
      </div>
      <section
        class={stale ? "over-time stale" : "over-time"}
        aria-label="Over time; keys: arrows move, plus and minus zoom, Home shows all"
        tabIndex={0}
        onKeyDown={(event) => {
          if (event.target === event.currentTarget && zoom.key(event, moment)) event.preventDefault();
        }}
      >
        <Tools zoom={zoom} moment={moment} choose={choose} />
        <Legend tracks={tracks} />
        <Panels {...common} at={() => marks.at} forks={() => marks.forked} />
        {head.unmarked && <p class="faint">No strokes for single packets: {head.unmarked}.</p>}
        <Variables {...common} />
        {tracks.some((track) => track.head.sequences) && <Sequences {...common} ask={(change) => ask({ change })} />}
      </section>
      {moment !== undefined && (
        <section>
          <h2>Values at {moment.toFixed(6)} s</h2>
          <Values tracks={tracks} at={moment} />
        </section>
      )}
      <Folded title="Loss episodes" kept="episodes">
        <Episodes tracks={tracks} show={(from, until) => zoom.show(from, until)} />
      </Folded>
      {head.links.length > 0 && <Films tracks={tracks.filter((track) => track.head.links.length > 0)} zoom={zoom} />}
    </>
  );
}

/** A number of the address, if it is one. */
function numberOf(name: string): number | undefined {
  const text = route.value.query.get(name);
  const value = Number(text || Number.NaN);
  return Number.isFinite(value) ? value : undefined;
}

/** The stretch of time that the address names, if it is a part of what is shown. */
function stretch(longest: number): [number, number] | undefined {
  const [from, to] = [numberOf("from"), numberOf("to")];
  // Numbers of addresses are rounded.
  const isPart = from !== undefined && to !== undefined && from >= 0 && from < to && to <= longest * (1 + 1e-9);
  return isPart ? [from, to] : undefined;
}

/** Milliseconds after which a stretch of time that stays is kept: a browser refuses addresses that change with every frame. */
const STAYS = 200;

/** The stretch of time that is shown, which the address keeps once it is another than the page begins with. */
function useZoom(longest: number, active: number): Zoom {
  const zoom = useMemo(() => {
    const made = new Zoom(longest);
    const said = stretch(longest);
    if (said) made.show(...said);
    // What is over in a small part of the run is shown in a part of it.
    else if (active < longest / 4) made.show(0, active * 1.25);
    return made;
  }, [longest]);
  useEffect(() => {
    let [from, to] = [zoom.from, zoom.to];
    let timer = 0;
    const end = zoom.watch(() => {
      if (zoom.from === from && zoom.to === to) return;
      [from, to] = [zoom.from, zoom.to];
      clearTimeout(timer);
      timer = setTimeout(() => keep({ from: String(+from.toPrecision(12)), to: String(+to.toPrecision(12)) }), STAYS);
    });
    return () => {
      clearTimeout(timer);
      end();
    };
  }, [zoom]);
  return zoom;
}

/** The moment that is looked at, which the address keeps; none outside of what is shown. */
function useMoment(longest: number): [number | undefined, (moment: number | undefined) => void] {
  const said = numberOf("moment");
  const moment = said !== undefined && said >= 0 && said <= longest ? said : undefined;
  return [moment, (moment) => keep({ moment: moment === undefined ? undefined : String(+moment.toFixed(12)) })];
}

/** What of the address means nothing here, in words. */
function notTaken(longest: number): string[] {
  const { query } = route.value;
  const lasts = `it lasts from 0 to ${+longest.toFixed(6)} s.`;
  const found: string[] = [];
  const moment = query.get("moment");
  const value = numberOf("moment");
  if (moment && !(value !== undefined && value >= 0 && value <= longest))
    found.push(`The address names the moment ${quoted(moment)}, which is no time of this run: ${lasts}`);
  const [from, to] = ["from", "to"].map((name) => query.get(name));
  if ((from || to) && !stretch(longest))
    found.push(`The address names the stretch from ${quoted(from || "?")} to ${quoted(to || "?")}, which is no part of this run: ${lasts}`);
  return [
    ...found,
    ...unread("change", isChange, "change", "This is the run as it was."),
    ...unread("flows", isTexts, "flows", "These are those that one begins with."),
    ...unread("open", isTexts, "parts are unfolded", "None is."),
  ];
}

function told(head: RunHead): string {
  const sampled = head.sampled === "ack" ? "a point for every acknowledgement" : `a point every ${head.sampled}`;
  if (!head.again) return `${head.backend}, as stored`;
  if (head.kernel) return `${head.backend}, done again, which is another run; ${sampled}`;
  return `simulated once more, ${sampled}${head.same ? "; its flows are those that were stored, to the bit" : ""}`;
}

function Legend({ tracks }: { tracks: Track[] }) {
  return (
    <ul class="legend" aria-label="Flows">
      {lines(tracks).map((line) => (
        <li key={line.name}>
          <Stroke colour={line.colour} dash={dashOf(line)} /> {line.name} <span class="faint">{line.track.head.cc[line.flow]}</span>
        </li>
      ))}
    </ul>
  );
}
