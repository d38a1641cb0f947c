// Curves over time on a canvas; those of one key share the cursor and the stretch that is shown.
import { useLayoutEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { type Stretch, touchable } from "../time/touch";
import { number } from "../ui/words";
import { colour, token, useTheme } from "./colours";
import { WHOLE } from "./whole";
import { useWidth } from "./width";

export interface Curve {
  name: string;
  /** The number of a colour, or the name of a tone of the page. */
  colour: number | "ink" | "faint";
  dash: number;
  values: Float64Array;
}

/** Of so many the values below the cursor are told, too. */
export const FEW = 8;
/** So many curves are drawn with wide lines. Of more each would hide others; and where no graphics processor draws, a line of one pixel takes a sixth of the time. */
const WIDE = 8;
/** A plot without a cursor: there are no values to tell. */
const IDLE = "idle";
const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [4, 2], [12, 4], [1, 2], [6, 2, 2, 2]];

/** Curves on the same times, in seconds, up to `end`, where the axis ends; `id` says when others are shown and not the same ones with other values. */
export function OverTime(props: {
  id: string;
  title?: string | undefined;
  t: Float64Array;
  end: number;
  curves: Curve[];
  height: number;
  together: string;
  label: string;
  /** Up to where the axis of values goes at least. */
  least?: number;
  /** Whether values are counts. */
  whole?: boolean;
  /** What is said below it. */
  note?: string | undefined;
}) {
  const { id, title, t, end, curves, height, together, label, least = 0, whole = false, note } = props;
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const width = useWidth(place);
  const theme = useTheme();
  useLayoutEffect(() => {
    if (!width) return;
    const made = new uPlot(
      options({ curves, width, height, together, least, whole }),
      data(t, end, curves),
      place.current as HTMLDivElement,
    );
    touchable(made.over, stretch(made, together), (left, width) =>
      made.setSelect({ left, top: 0, width, height: made.over.clientHeight }, false),
    );
    plot.current = made;
    return () => {
      plot.current?.destroy();
      plot.current = null;
    };
  }, [width, theme, id, least]);
  useLayoutEffect(() => {
    if (plot.current) renew(plot.current, data(t, end, curves));
  }, [t]);
  return (
    <figure class="over-time">
      {title && <h3>{title}</h3>}
      <div ref={place} role="img" aria-label={label} />
      {note && <figcaption>{note}</figcaption>}
    </figure>
  );
}

/** What is shown of a plot's times, and of all that are together with it. */
function stretch(plot: uPlot, together: string): Stretch {
  const times = () => plot.data[0];
  return {
    get from() {
      return plot.scales.x?.min ?? 0;
    },
    get to() {
      return plot.scales.x?.max ?? 1;
    },
    get least() {
      return times()[0] ?? 0;
    },
    get most() {
      return times().at(-1) ?? 1;
    },
    show: (min, max) => {
      for (const each of uPlot.sync(together).plots) each.setScale("x", { min, max });
    },
  };
}

/** Other values: the stretch that somebody looks at stays. */
function renew(plot: uPlot, next: uPlot.AlignedData): void {
  const before = plot.data[0];
  const { min = null, max = null } = plot.scales.x ?? {};
  const isPart = min !== null && max !== null && (min > (before[0] ?? 0) || max < (before.at(-1) ?? 0));
  plot.setData(next);
  if (isPart && min < (next[0].at(-1) ?? 0)) plot.setScale("x", { min, max });
}

/** The last sample is of a moment before the end: of that nothing is known, and the axis reaches it all the same. */
function data(t: Float64Array, end: number, curves: Curve[]): uPlot.AlignedData {
  const isShort = (t.at(-1) ?? 0) < end;
  const known = (value: number) => (Number.isNaN(value) ? null : value);
  const values = curves.map((each) => [...Array.from(each.values, known), ...(isShort ? [null] : [])]);
  return [isShort ? Float64Array.of(...t, end) : t, ...values];
}

function inkOf(curve: Curve | undefined): string {
  const { colour: which = 0 } = curve ?? {};
  return typeof which === "number" ? colour(which) : token(which);
}

function dashes(at: number): number[] {
  return DASHES[at % DASHES.length] ?? [];
}

/** A line as the background of an element: what is drawn and what is not, in turn. */
function stroke(colour: string, lengths: number[]): string {
  const ends = lengths.map((_, at) => lengths.slice(0, at + 1).reduce((sum, each) => sum + each));
  const parts = ends.map((end, at) => `${at % 2 ? "transparent" : colour} ${ends[at - 1] ?? 0}px ${end}px`);
  return parts.length ? `repeating-linear-gradient(90deg, ${parts.join(", ")})` : colour;
}

interface Drawn {
  curves: Curve[];
  width: number;
  height: number;
  together: string;
  least: number;
  whole: boolean;
}

function options({ curves, width, height, together, least, whole }: Drawn): uPlot.Options {
  const axis: uPlot.Axis = {
    stroke: token("faint"),
    font: "12px system-ui",
    grid: { stroke: token("rule"), width: 1 },
    ticks: { stroke: token("rule"), width: 1, size: 4 },
  };
  return {
    width,
    height,
    class: IDLE,
    hooks: { setCursor: [(plot) => plot.root.classList.toggle(IDLE, plot.cursor.idx == null)] },
    // The line as it is drawn: colours alone do not tell curves apart for everybody.
    legend: {
      show: curves.length <= FEW,
      live: true,
      markers: { width: 0, fill: (_, at) => stroke(inkOf(curves[at - 1]), dashes(curves[at - 1]?.dash ?? 0)) },
    },
    padding: [8, 18, 0, 0],
    scales: { x: { time: false }, y: { range: (_, low, high) => [Math.min(low, 0), Math.max(high, least) * 1.05 || 1] } },
    cursor: { sync: { key: together, scales: ["x", null] }, points: { show: false }, drag: { x: true, y: false } },
    axes: [
      { ...axis, values: (_, ticks) => ticks.map((each) => `${number(each)} s`), size: 28, space: 64 },
      { ...axis, values: (_, ticks) => ticks.map((each) => number(each)), size: 52, space: 32, ...(whole ? { incrs: WHOLE } : {}) },
    ],
    series: [
      { label: "at", value: (_, value) => (value === null ? "–" : `${number(value)} s`) },
      ...curves.map((each) => ({
        label: each.name,
        value: (_: uPlot, value: number | null) => number(value),
        stroke: inkOf(each),
        width: curves.length > WIDE ? 1 : 1.6,
        dash: dashes(each.dash),
        points: { show: false },
      })),
    ],
  };
}
