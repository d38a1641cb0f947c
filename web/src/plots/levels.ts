// Points with intervals, and every run as a faint dot, over the levels of a dimension; panels by rows and columns.
import * as Plot from "@observablehq/plot";
import { colour, markOf, token } from "./colours";

export interface Point {
  estimate: number | null;
  low: number | null;
  high: number | null;
  n: number;
  unfinished: number;
  bound: string;
  most: number | null;
  interval: string;
}

export interface Curve {
  name: string;
  points: (Point | null)[];
  runs: { at: number[]; value: (number | null)[]; run: number[] };
  /** Of two datasets the one that its runs are of. */
  side: number;
}

export interface Panel {
  row: string;
  column: string;
  /** Why it has no point; no text if it has some. */
  empty: string;
  curves: Curve[];
}

export interface Axis {
  low: number;
  high: number;
  places: number[];
  names: string[];
  /** Whether lengths say nothing: it does not begin at 0. */
  broken: boolean;
}

export interface Levels {
  /** `names` are the levels as the axis has them, which says in its label what unit they have in common; of each curve how far it stands `beside` them. */
  x: { dimension: string; label: string; levels: string[]; names: string[]; joined: boolean; beside: number[] };
  /** Values and their axis, which files of the figure have, too; all panels have one, so that they can be held against each other. */
  y: { label: string; unit: string; scale: string; axis: Axis };
  curves: string[];
  places: Record<string, string>;
  /** All that there are of the measure, also where some are chosen; none if they are too many for a list. */
  items: string[];
  panels: Panel[];
  caption: string;
  toml: string;
}

/** A point of a curve, where it is drawn. */
export interface Placed extends Point {
  panel: Panel;
  curve: string;
  level: number;
  x: number;
}

/** How far a curve stands beside a level, in levels, as in the files of the figure. */
function beside(found: Levels, curve: number): number {
  return found.x.beside[curve] ?? 0;
}

/** How wide the dots of a curve are scattered about it, in levels: they reach no other's where there is room between them. */
function scattered(found: Levels): number {
  return 0.8 * Math.max(beside(found, 1) - beside(found, 0), NARROWEST);
}

/** Dots of curves that stand close to each other mingle, as the curves do: in one line nobody could count them. */
const NARROWEST = 0.05;

/** A number between 0 and 1 that is a run's own: its dot does not move when others come. */
function scatter(run: number): number {
  return ((run * 0x9e3779b1) >>> 0) / 2 ** 32;
}

export function placed(found: Levels): Placed[] {
  return found.panels.flatMap((panel) =>
    panel.curves.flatMap((curve) =>
      curve.points.flatMap((point, level) =>
        point && point.estimate !== null
          ? [{ ...point, panel, curve: curve.name, level, x: level + beside(found, found.curves.indexOf(curve.name)) }]
          : [],
      ),
    ),
  );
}

/** Runs of a curve, of a panel, that are seen one by one. */
const FEW_RUNS = 300;

/** Many dots as one path: a figure of thousands is drawn as fast as one of ten. */
function dots(found: Levels, curve: Curve): Plot.Markish {
  const at = found.curves.indexOf(curve.name);
  const spread = scattered(found);
  return ((_index: number[], scales: Plot.ScaleFunctions) => {
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    const parts: string[] = [];
    const [across, down] = [scales.x, scales.y] as [(at: number) => number, (value: number) => number];
    for (let i = 0; i < curve.runs.run.length; i++) {
      const value = curve.runs.value[i];
      if (value === null || value === undefined || (found.y.scale === "log" && value <= 0)) continue;
      const x = (curve.runs.at[i] as number) + beside(found, at) + (scatter(curve.runs.run[i] as number) - 0.5) * spread;
      parts.push(`M${across(x).toFixed(1)},${down(value).toFixed(1)}h0`);
    }
    path.setAttribute("d", parts.join(""));
    path.setAttribute("stroke", colour(at));
    // A few are seen one by one; thousands are a cloud, in which no single one may hide the points.
    const few = curve.runs.run.length <= FEW_RUNS;
    path.setAttribute("stroke-width", few ? "4.5" : "3");
    path.setAttribute("stroke-linecap", "round");
    path.setAttribute("stroke-opacity", few ? "0.5" : "0.28");
    return path;
  }) as unknown as Plot.Markish;
}

function panelOf(found: Levels, panel: Panel, width: number, height: number, chosen: (point: Placed) => void): Element {
  const points = placed({ ...found, panels: [panel] });
  const shown = points.map((point) => ({ ...point, number: found.curves.indexOf(point.curve) }));
  const levels = found.x.names;
  const axis = found.y.axis;
  const longest = Math.max(...levels.map((level) => level.length));
  const room = longest * 7 + 12;
  const few = Math.max(1, Math.ceil(levels.length / Math.max(width / Math.min(room, 64), 2)));
  const slanted = room * Math.ceil(levels.length / few) > width - 70;
  const ink = token("ink");
  const drawn = Plot.plot({
    width,
    height: height + (slanted ? Math.min(longest, 22) * 4.2 : 0),
    marginLeft: 62,
    marginBottom: slanted ? 34 + Math.min(longest, 22) * 4.2 : 38,
    marginTop: 26,
    style: { background: "transparent", color: ink, fontSize: "12px", overflow: "visible" },
    x: {
      domain: [-0.5, levels.length - 0.5],
      ticks: levels.map((_, at) => at).filter((at) => at % few === 0),
      tickFormat: (at: number) => cut(levels[at] ?? ""),
      tickRotate: slanted ? -38 : 0,
      label: found.x.label,
      labelAnchor: "center",
      labelArrow: "none",
      labelOffset: slanted ? 30 + Math.min(longest, 22) * 4.2 : 34,
    },
    y: {
      type: found.y.scale === "log" ? "log" : "linear",
      domain: [axis.low, axis.high],
      ticks: axis.places,
      tickFormat: (value: number) => axis.names[axis.places.indexOf(value)] ?? "",
      grid: true,
      label: found.y.label,
      labelArrow: "none",
    },
    marks: [
      ...panel.curves.map((curve) => dots(found, curve)),
      // Between arms or flows there is nothing that a line could stand for.
      ...(found.x.joined ? panel.curves : []).map((curve) => {
        const at = found.curves.indexOf(curve.name);
        return Plot.line(
          shown.filter((each) => each.number === at),
          { x: "x", y: "estimate", stroke: colour(at), strokeWidth: 1.3, strokeOpacity: 0.7, strokeDasharray: markOf(at).dash.join(" ") },
        );
      }),
      Plot.ruleX(
        shown.filter((each) => each.low !== null && each.high !== null),
        { x: "x", y1: "low", y2: "high", stroke: (each: (typeof shown)[number]) => colour(each.number), strokeWidth: 2 },
      ),
      Plot.dot(shown, {
        x: "x",
        y: "estimate",
        r: 4.2,
        symbol: (each: (typeof shown)[number]) => markOf(each.number).symbol,
        fill: (each: (typeof shown)[number]) => colour(each.number),
        stroke: token("paper"),
        strokeWidth: 1,
      }),
      Plot.text(
        shown.filter((each) => each.bound),
        {
          x: "x",
          y: "estimate",
          text: (each: (typeof shown)[number]) => ({ "at least": "↑", "at most": "↓" })[each.bound] ?? "↕",
          dy: -11,
          fontSize: 13,
          fill: ink,
        },
      ),
      ...(panel.empty
        ? [
            Plot.text([panel.empty], {
              frameAnchor: "middle",
              fontSize: 13,
              lineWidth: (width - 90) / 13,
              fill: ink,
              stroke: token("paper"),
              strokeWidth: 4,
            }),
          ]
        : []),
      ...(axis.broken ? [broken] : []),
      Plot.tip(
        shown,
        Plot.pointer({
          x: "x",
          y: "estimate",
          title: (each: (typeof shown)[number]) => told(each, found),
          fill: token("paper"),
          stroke: token("rule"),
          // On one side of a point there is always half the width.
          lineWidth: Math.min(20, (width / 2 - 20) / 12),
        }),
      ),
    ],
  });
  const svg = (drawn.tagName === "svg" ? drawn : drawn.querySelector("svg")) as SVGSVGElement & { value?: Placed };
  svg.addEventListener("click", () => svg.value && chosen(svg.value));
  return drawn;
}

/** A break at the foot of an axis that does not begin at 0. */
const broken = ((_index: number[], _scales: Plot.ScaleFunctions, _values: unknown, box: Plot.Dimensions) => {
  const sign = document.createElementNS("http://www.w3.org/2000/svg", "g");
  sign.setAttribute("class", "broken");
  const [left, foot] = [box.marginLeft, box.height - box.marginBottom];
  for (const [ink, wide] of [
    ["paper", 5],
    ["ink", 1.4],
  ] as const) {
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", `M${left},${foot}v-3l-5,-3l10,-4l-5,-3v-3`);
    path.setAttribute("fill", "none");
    path.setAttribute("stroke", token(ink));
    path.setAttribute("stroke-width", String(wide));
    sign.append(path);
  }
  return sign;
}) as unknown as Plot.Markish;

function cut(text: string): string {
  return text.length > 22 ? `${text.slice(0, 21)}…` : text;
}

function told(point: Placed, found: Levels): string {
  const value = `${point.bound ? `${point.bound} ` : ""}${short(point.estimate)}${found.y.unit ? ` ${found.y.unit}` : ""}`;
  const range =
    point.low !== null && point.high !== null ? `${short(point.low)} to ${short(point.high)}: ${point.interval}` : point.interval;
  const unfinished = point.unfinished ? `, ${point.unfinished} unfinished` : "";
  return [
    `${found.curves.length > 1 ? `${point.curve}, ` : ""}${found.x.levels[point.level]}`,
    value,
    range,
    `${point.n} run${point.n === 1 ? "" : "s"}${unfinished}; click for them`,
  ].join("\n");
}

function short(value: number | null): string {
  return value === null ? "?" : value.toPrecision(4).replace(/\.?0+$/, "");
}

/** What a panel is of: its levels, each with the name of its dimension; arms and items name themselves. */
export function titleOf(found: Levels, panel: Panel): string {
  const named = (place: string, level: string) => {
    const dimension = found.places[place];
    const isNamed = !dimension || dimension === "arm" || dimension === "item" || level.startsWith(`${dimension} = `);
    return !level || isNamed ? level : `${dimension} = ${level}`;
  };
  return [named("rows", panel.row), named("panels", panel.column)].filter(Boolean).join(", ");
}

export function draw(found: Levels, width: number, chosen: (point: Placed) => void): Element {
  const columns = [...new Set(found.panels.map((panel) => panel.column))];
  const beside = Math.max(1, Math.min(columns.length, Math.floor(width / 300)));
  const each = Math.floor((width - 12 * (beside - 1)) / beside);
  const grid = document.createElement("div");
  grid.style.display = "grid";
  grid.style.gap = "12px";
  grid.style.gridTemplateColumns = `repeat(${beside}, minmax(0, 1fr))`;
  for (const panel of found.panels) {
    const place = document.createElement("div");
    const title = titleOf(found, panel);
    if (title) {
      const head = document.createElement("div");
      head.className = "faint";
      head.textContent = title;
      place.append(head);
    }
    place.append(panelOf(found, panel, each, Math.min(360, Math.max(220, each * 0.62)), chosen));
    grid.append(place);
  }
  return grid;
}
