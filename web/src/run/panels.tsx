// The panels of a run, one above the other over one axis of time.
import type { ComponentChildren } from "preact";
import { Fragment } from "preact";
import { colour, token } from "../plots/colours";
import { band, curve, highOf, type Layer, moment, named, spans, ticks } from "../time/layers";
import { Panel } from "../time/panel";
import { peaked } from "../time/peaks";
import type { Zoom } from "../time/zoom";
import { limitMeaning, limitName } from "../ui/limits";
import { Stroke } from "../ui/stroke";
import { BROKEN, dashOf, type Line, lines, type Track } from "./track";

interface Props {
  tracks: Track[];
  zoom: Zoom;
  at: () => number | undefined;
  forks: () => number | undefined;
  choose: (time: number) => void;
}

/** Curves of each flow: which are broad, thin or dotted. */
const WINDOW = [
  { name: "flight", width: 0.8, alpha: 0.55 },
  // It may be far above what the window ever reaches.
  { name: "ssthresh", width: 1, dash: [2, 3], beyond: true },
  { name: "cwnd", width: 1.6 },
];

export function Panels({ tracks, zoom, at, forks, choose }: Props) {
  const every = lines(tracks);
  const keys = [tracks];
  const common = { zoom, keys, choose };
  const moments = (): Layer[] => [
    moment(forks, { colour: token("no"), width: 1.5, dash: [2, 3] }),
    moment(at, { colour: token("accent"), width: 1 }),
  ];
  const of = (
    name: string,
    { beyond = false, ...ink }: { width?: number; alpha?: number; dash?: number[]; beyond?: boolean } = {},
    times = "t",
  ): Layer[] =>
    every.flatMap((line) => {
      const steps = line.track.curve(`${line.flow} ${name}`, `${line.flow} ${times}`);
      if (!steps) return [];
      const { extent, ...made } = curve(steps, { colour: colour(line.colour), dash: dashOf(line), ...ink });
      return [beyond || !extent ? made : { ...made, extent }];
    });
  const paced = every.some((line) => line.track.column(`${line.flow} pacing`));
  return (
    <>
      <Titled title="Congestion window (kB)" keys="thick: cwnd; dotted: ssthresh; thin: sent and not acknowledged">
        <Panel
          {...common}
          label="Congestion window, slow-start threshold and flight size over time"
          unit="kB"
          height={200}
          layers={() => [...WINDOW.flatMap(({ name, ...ink }) => of(name, ink)), ...moments()]}
        />
      </Titled>
      <Limited {...common} every={every} moments={moments} />
      <Titled title="Smoothed round-trip time (ms)">
        <Panel
          {...common}
          label="Smoothed round-trip time over time"
          unit="ms"
          height={130}
          layers={() => [...of("rtt", { width: 1.4 }), ...moments()]}
        />
      </Titled>
      <Titled title="Goodput (Mbit/s)" keys={`in steps of ${steps(tracks)} ms${paced ? "; thin: pacing rate" : ""}`}>
        <Panel
          {...common}
          times={!queued(tracks, every)}
          label="Goodput and pacing rate over time"
          unit="Mbit/s"
          height={140}
          layers={() => [
            ...of("pacing", { width: 0.8, alpha: 0.6, beyond: true }),
            ...of("goodput", { width: 1.6 }, "goodput t"),
            ...moments(),
          ]}
        />
        {every.some(above) && (
          <details class="why">
            <summary>Why is it above the link's rate at times?</summary>
            <p class="faint">
              Data count as they arrive in order: what had come behind a lost packet is handed over at once when that packet comes. The link
              was no faster then.
            </p>
          </details>
        )}
      </Titled>
      <Queues {...common} tracks={tracks} every={every} moments={moments} />
    </>
  );
}

/** Whether a flow's goodput is above its links' rate somewhere; where that is not one rate, whether it may be. */
function above({ track, flow }: Line): boolean {
  const { episodes, rates, step } = track.head;
  const behind = episodes.some((each) => each.flow === flow);
  const rate = rates[flow];
  return behind && (!rate || peaked(track.column(`${flow} goodput`) ?? new Float64Array(), rate, step));
}

/** Lengths of the steps of goodput, ms: runs of other results may have others. */
function steps(tracks: Track[]): string {
  return [...new Set(tracks.map((track) => +(1000 * track.head.step).toPrecision(3)))].join(", ");
}

export function Titled({ title, keys, children }: { title: string; keys?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section class="titled" aria-label={title}>
      <h3>
        {title} {keys && <span class="faint">{keys}</span>}
      </h3>
      {children}
    </section>
  );
}

interface Inner {
  zoom: Zoom;
  keys: readonly unknown[];
  choose: (time: number) => void;
  every: Line[];
  moments: () => Layer[];
}

function Limited({ every, moments, ...common }: Inner) {
  const told = every.filter((line) => line.track.column(`${line.flow} limited from`));
  if (!told.length) return null;
  const words = told[0]?.track.head.limits ?? [];
  const several = told.length > 1;
  return (
    <Titled title="What limits the sender" keys={`below: loss episodes${told.length < every.length ? `; ${untold(every, told)}` : ""}`}>
      <ul class="legend limits">
        {words.map((word, number) => (
          <li key={word}>
            <span class={`swatch l${number}`} aria-hidden="true" /> {limitMeaning(word)}
          </li>
        ))}
      </ul>
      <Panel
        {...common}
        label={`What limits each sender over time, by flow from top to bottom: ${told.map((line) => line.name).join(", ")}; and its loss episodes`}
        height={highOf(told.length, several) + 20}
        layers={() => [
          ...told.flatMap((line, at) => {
            const { column, head } = line.track;
            const [from, by] = [column(`${line.flow} limited from`), column(`${line.flow} limited by`)];
            if (!from || !by) return [];
            const episodes = head.episodes.filter((episode) => episode.flow === line.flow).map((each) => ({ ...each, word: each.cause }));
            const colours = words.map((_, number) => token(`l${number}`));
            const row = { at, rows: told.length, ...(several ? { name: line.name } : {}) };
            return [
              ...(several ? [named(row, { colour: colour(line.colour), dash: dashOf(line), width: 1.6 }, token("ink"))] : []),
              band(from, by, colours, words.map(limitName), row, token("band-ink")),
              spans(episodes, token("no"), row),
            ];
          }),
          ...moments(),
        ]}
      />
    </Titled>
  );
}

/** Of which flows nothing tells what limited them. */
function untold(every: Line[], told: Line[]): string {
  const others = every.filter((line) => !told.includes(line)).map((line) => line.name);
  return `nothing tells it of ${others.join("; ")}`;
}

/** Whether there is anything to draw of queues; else times stand below what is above them. */
function queued(tracks: Track[], every: Line[]): boolean {
  const told = tracks.some((track) => track.head.queues.length > 0);
  return told || every.some((line) => Object.keys(BEFELL).some((what) => line.track.column(`${line.flow} ${what}`)?.length));
}

function Queues({ tracks, every, moments, ...common }: Inner & { tracks: Track[] }) {
  // Of several runs none has the colour of a flow: a queue is of all of them, and of one run or future.
  const used = new Set(every.map((line) => line.colour)).size;
  const queues = tracks
    .flatMap((track) => track.head.queues.map((link) => ({ track, link })))
    .map((queue, at) => ({ ...queue, at: used + at, dash: dashOfQueue(queue.track, queue.link) }));
  const befell = (what: string) => every.some((line) => line.track.column(`${line.flow} ${what}`)?.length);
  const exact = every.some((line) => line.track.column(`${line.flow} dropped`));
  const signs = [
    ...(befell("dropped") ? ["strokes at the top: drops"] : []),
    ...(befell("lost") ? [`strokes ${befell("dropped") ? "below those" : "near the top"}: lost on the wire`] : []),
    ...(befell("marked") ? ["strokes at the bottom: marked packets"] : []),
    ...(!exact && queues.some(({ track, link }) => track.column(`drops ${link}`)?.length) ? ["strokes: drops"] : []),
  ];
  if (!queued(tracks, every)) return null;
  return (
    <Titled
      title="Queues (packets)"
      keys={
        <>
          {queues.map(({ track, link, at, dash }, number) => (
            <Fragment key={at}>
              {number > 0 && "; "}
              {tracks.length > 1 && <Stroke colour={at} dash={dash} />} {track.label ? `${link}, ${track.label}` : link}
            </Fragment>
          ))}
          {[
            ...signs,
            ...tracks.filter((track) => !track.head.queues.length).map((track) => `none is told${track.label ? ` of ${track.label}` : ""}`),
          ].map((said, number) => (number || queues.length ? `; ${said}` : said))}
        </>
      }
    >
      <Panel
        {...common}
        times
        whole
        label="Queues of links over time, with drops, losses and marks"
        unit="packets"
        height={190}
        layers={() => [
          ...queues.flatMap(({ track, link, at, dash }) => {
            const steps = track.curve(`queue ${link}`, `queue ${link} t`);
            const ink = tracks.length > 1 ? colour(at) : token(at > used ? "faint" : "ink");
            return steps ? [curve(steps, { colour: ink, width: 1.1, dash })] : [];
          }),
          ...every.flatMap((line) =>
            Object.entries(BEFELL).flatMap(([what, place]) => {
              const times = line.track.column(`${line.flow} ${what}`);
              return times ? [ticks(times, { colour: colour(line.colour), width: 1.5, dash: line.broken ? [3, 2] : [] }, place)] : [];
            }),
          ),
          ...(exact
            ? []
            : queues.flatMap(({ track, link }) => {
                const times = track.column(`drops ${link}`);
                return times ? [ticks(times, { colour: token("no"), width: 1.5 }, { from: 0, to: 0.1 })] : [];
              })),
          ...moments(),
        ]}
      />
    </Titled>
  );
}

/** Lines of the first links' queues, and those that they have in another future. */
const LINKS = [[], [6, 3], [2, 2]];
const OTHERWISE = [BROKEN, [12, 3, 2, 3], [1, 4]];

function dashOfQueue(track: Track, link: string): number[] {
  return (track.which.change ? OTHERWISE : LINKS)[track.head.queues.indexOf(link) % 3] ?? [];
}

const BEFELL = { dropped: { from: 0, to: 0.1 }, lost: { from: 0.12, to: 0.22 }, marked: { from: 0.92, to: 1 } };
