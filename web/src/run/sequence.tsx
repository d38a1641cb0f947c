// The time-sequence graph, as Tim Shepard drew it and tcptrace does: segments as bars from their first byte to their last, acknowledgements as a staircase below, the edge of
// the receiver's window as one above; from the whole run down to single packets.
import { useState } from "preact/hooks";
import { columns } from "../columns";
import { token } from "../plots/colours";
import { bars, curve, type Layer, signs as shapes } from "../time/layers";
import { Panel } from "../time/panel";
import { below, Steps } from "../time/steps";
import type { Zoom } from "../time/zoom";
import { Choice } from "../ui/field";
import { useKept } from "../ui/kept";
import { Await, useLoaded } from "../ui/loaded";
import { Titled } from "./panels";
import { asking, type Change, type Line, lines, type Track } from "./track";

interface Head {
  flow: string;
  kinds: string[];
}

/** Kinds of marks by what they are drawn as. */
const SIGNS: { kinds: string[]; colour: string; words: string }[] = [
  { kinds: ["sack", "dsack"], colour: "c3", words: "acknowledged selectively" },
  { kinds: ["retransmission", "needless"], colour: "c1", words: "sent again" },
  { kinds: ["ce", "reordered", "duplicate"], colour: "c7", words: "marked, late or twice" },
  { kinds: ["zero_window"], colour: "no", words: "window closed" },
];

/** What became of segments: shapes, in the page's own ink, since colours are those of what was sent. */
const FATES = [
  { kinds: ["dropped"], shape: "cross", glyph: "✕", words: "dropped by a queue" },
  { kinds: ["lost"], shape: "ring", glyph: "○", words: "lost on the wire" },
] as const;

interface Props {
  tracks: Track[];
  zoom: Zoom;
  choose: (time: number) => void;
  ask: (change: Change) => void;
}

export function Sequences({ tracks, zoom, choose, ask }: Props) {
  const every = lines(tracks.filter((track) => track.head.sequences));
  const [chosen, pick] = useKept("sequence");
  const asked = tracks[0]?.which;
  const line = every.find((each) => keyOf(each) === chosen);
  return (
    <section aria-label="Time-sequence graph">
      <div class="row">
        <Choice
          name="Time-sequence graph"
          value={line ? chosen : ""}
          values={[{ value: "", words: "none" }, ...every.map((each) => ({ value: keyOf(each), words: each.name }))]}
          choose={pick}
        />
      </div>
      {line && (
        <Sequence
          key={chosen}
          track={line.track}
          flow={line.flow}
          forks={line.track.which.of === asked?.of && line.track.which.run === asked.run}
          zoom={zoom}
          choose={choose}
          ask={ask}
        />
      )}
    </section>
  );
}

/** Which flow of which track it is: names change when another run is laid beside, and this does not. */
function keyOf({ track, flow }: Line): string {
  const { of, run, change, again } = track.which;
  return JSON.stringify([of, run, flow, ...(change ? [change] : again ? ["again"] : [])]);
}

/** A flow's graph; `forks`: whether the track is of the run whose other futures are asked for. */
type One = Omit<Props, "tracks"> & { track: Track; flow: string; forks: boolean };

function Sequence({ track, flow, forks, zoom, choose, ask }: One) {
  const first = track.head.first[flow];
  const [picked, pick] = useState<Segment | undefined>(undefined);
  const found = useLoaded((signal) => columns<Head>("/api/run/sequence", asking({ ...track.which, flows: [flow] }), signal), [track, flow]);
  return (
    <Await of={found}>
      {({ head, column }) => {
        const made = (times: string, values: string) =>
          new Steps(column(times) ?? new Float64Array(), column(values) ?? new Float64Array(), track.head.duration);
        const kinds = column("marks kind") ?? new Float64Array();
        const drawn = <Sign extends { kinds: readonly string[] }>(each: readonly Sign[]) =>
          each.map((sign) => ({ ...sign, marks: marked(sign.kinds, head.kinds, kinds, column) })).filter(({ marks }) => marks.low.t.length);
        const [signs, fates] = [drawn(SIGNS), drawn(FATES)];
        const [low, high] = [made("sent t", "sent from"), made("sent t", "sent to")];
        const [acked, edge] = [made("acked t", "acked to"), made("edge t", "edge to")];
        return (
          <Titled title={`Time and sequence number of ${flow} (B)`} keys="zoom in for single packets">
            <ul class="legend">
              {[
                ["c0", "sent", "▮"],
                ["c2", "acknowledged", "▮"],
                ["c5", "edge of the receiver's window", "▮"],
                ...signs.map((sign) => [sign.colour, sign.words, "▮"]),
                ...fates.map((fate) => ["", fate.words, fate.glyph]),
              ].map(([ink, words, glyph]) => (
                <li key={words}>
                  <span class={ink} aria-hidden="true">
                    {glyph}
                  </span>{" "}
                  {words}
                </li>
              ))}
            </ul>
            <Panel
              zoom={zoom}
              label={`Time-sequence graph of ${flow}: what is sent, acknowledged and sent again`}
              unit="B"
              height={340}
              fromZero={false}
              times
              keys={[column]}
              choose={(time, value) => {
                const segment = nearest(column, head.kinds, zoom, time, value);
                pick(segment);
                choose(segment?.time ?? time);
              }}
              layers={() => [
                { ...curve(edge, { colour: token("c5"), width: 1 }), extent: near(acked, high) },
                curve(acked, { colour: token("c2"), width: 1.2 }),
                bars(low, high, { colour: token("c0"), width: 1.2 }, true),
                ...signs.map((sign) => bars(sign.marks.low, sign.marks.high, { colour: token(sign.colour), width: 2.2 }, true)),
                ...fates.map((fate) => shapes(fate.marks.low, fate.marks.high, { colour: token("ink"), width: 1.5 }, fate.shape)),
              ]}
            />
            {picked && (
              <p class="row">
                <span>
                  Segment {picked.number.toLocaleString("en")} of {flow}, sent{picked.again ? " again" : ""} at {picked.time.toFixed(9)} s
                </span>
                {forks && first && (
                  <button
                    type="button"
                    onClick={() => ask({ kind: "drop", at: `${picked.time.toFixed(9)} s`, link: first, flow, number: picked.number })}
                  >
                    What if {first} loses it?
                  </button>
                )}
              </p>
            )}
          </Titled>
        );
      }}
    </Await>
  );
}

/** A segment that was clicked. */
interface Segment {
  time: number;
  number: number;
  again: boolean;
}

const MOST_NEAR = 4000;

/** The segment that is nearest to a point of the graph, of those that are about as near in time as a finger is broad. */
function nearest(
  column: (name: string) => Float64Array | undefined,
  kinds: string[],
  zoom: Zoom,
  time: number,
  value: number,
): Segment | undefined {
  const broad = (zoom.to - zoom.from) / 40;
  let found: Segment | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const what of ["sent", "marks"]) {
    const [t, from, to, number] = ["t", "from", "to", "number"].map((name) => column(`${what} ${name}`) ?? new Float64Array()) as [
      Float64Array,
      Float64Array,
      Float64Array,
      Float64Array,
    ];
    const kind = what === "marks" ? column("marks kind") : undefined;
    const [first, last] = [time - broad, time + broad].map((each) => below(t, each, 0, t.length)) as [number, number];
    const high = (to[last - 1] ?? 1) - (from[first] ?? 0) || 1;
    for (let at = first; at < Math.min(last, first + MOST_NEAR); at++) {
      if (kind && !["retransmission", "needless"].includes(kinds[kind[at] as number] ?? "")) continue;
      const middle = ((from[at] as number) + (to[at] as number)) / 2;
      const far = Math.hypot(((t[at] as number) - time) / broad, (middle - value) / high);
      if (far < least) [found, least] = [{ time: t[at] as number, number: number[at] as number, again: what === "marks" }, far];
    }
  }
  return found;
}

/** The window's edge has no say in what is shown: one that is never nearly filled would leave no room for what is sent. */
function near(acked: Steps, sent: Steps): NonNullable<Layer["extent"]> {
  return (from, to) => {
    const [low] = acked.between(from, to);
    const [, high] = sent.between(from, to);
    return [low, high];
  };
}

/** Marks of some kinds, with their bytes. */
function marked(
  kinds: readonly string[],
  words: string[],
  kind: Float64Array,
  column: (name: string) => Float64Array | undefined,
): { low: Steps; high: Steps } {
  const numbers = new Set(kinds.map((each) => words.indexOf(each)));
  const chosen = [...kind.keys()].filter((at) => numbers.has(kind[at] as number));
  const of = (name: string) => {
    const all = column(name) ?? new Float64Array();
    return Float64Array.from(chosen, (at) => all[at] as number);
  };
  const t = of("marks t");
  return { low: new Steps(t, of("marks from")), high: new Steps(t, of("marks to")) };
}
