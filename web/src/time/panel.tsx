// One panel over time: axes, cursor and selection are uPlot's; what is drawn are layers, which know how to draw any number of points.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { token, useTheme } from "../plots/colours";
import { WHOLE } from "../plots/whole";
import { useWidth } from "../plots/width";
import type { Layer, View } from "./layers";
import { touchable } from "./touch";
import type { Zoom } from "./zoom";

const LEFT = 58;

export interface PanelProps {
  zoom: Zoom;
  /** What it shows, in words. */
  label: string;
  /** Its unit, beside the axis; without one it has no axis of values. */
  unit?: string;
  height: number;
  layers: () => Layer[];
  /** Whenever one of them changes, layers are made anew. */
  keys: readonly unknown[];
  /** Whether values begin at 0. */
  fromZero?: boolean;
  /** Whether values are counts. */
  whole?: boolean;
  /** Whether times stand below it. */
  times?: boolean;
  /** What a click does: with the time, and the value on the panel's scale. */
  choose: (time: number, value: number) => void;
}

export function Panel({ zoom, label, unit, height, layers, keys, fromZero = true, whole = false, times = false, choose }: PanelProps) {
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  const theme = useTheme();
  useEffect(() => {
    if (!width) return;
    const made = layers();
    const range = () => extent(made, zoom, fromZero);
    const plot = new uPlot(
      options({ zoom, unit, height, width, whole, times, choose, range, draw: (u) => draw(u, made, zoom) }),
      data(zoom),
      place.current as HTMLElement,
    );
    // The whole group has a name and what can be done with keys; a drawing has nothing for them.
    plot.root.setAttribute("aria-hidden", "true");
    const end = zoom.watch(() =>
      plot.batch(() => {
        const [min, max] = range();
        plot.setScale("x", { min: zoom.from, max: zoom.to });
        plot.setScale("y", { min, max });
        plot.redraw(false, true);
      }),
    );
    return () => {
      end();
      plot.destroy();
    };
  }, [width, theme, height, zoom, ...keys]);
  return (
    <div class="panel" role="img" aria-label={label}>
      <div class="paneled" ref={place} style={{ minHeight: `${height}px` }} />
    </div>
  );
}

/** Two points for uPlot: what is drawn is drawn by layers. */
function data(zoom: Zoom): uPlot.AlignedData {
  return [
    [0, zoom.whole],
    [0, 1],
  ];
}

function extent(layers: Layer[], zoom: Zoom, fromZero: boolean): [number, number] {
  let low = fromZero ? 0 : Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const layer of layers) {
    const found = layer.extent?.(zoom.from, zoom.to);
    if (!found || found[0] > found[1]) continue;
    low = Math.min(low, found[0]);
    high = Math.max(high, found[1]);
  }
  if (!Number.isFinite(high) || !Number.isFinite(low)) return [0, 1];
  const room = 0.06 * (high - low || Math.abs(high) || 1);
  return [low === 0 && fromZero ? 0 : low - room, high + room];
}

interface Asked {
  zoom: Zoom;
  unit: string | undefined;
  height: number;
  width: number;
  whole: boolean;
  times: boolean;
  choose: (time: number, value: number) => void;
  range: () => [number, number];
  draw: (u: uPlot) => void;
}

function options({ zoom, unit, height, width, whole, times, choose, range, draw }: Asked): uPlot.Options {
  const ink = token("faint");
  const grid = { stroke: token("rule"), width: 0.6 };
  const axis = { stroke: ink, font: "12px system-ui, sans-serif", grid, ticks: { ...grid, size: 4 } };
  return {
    width,
    height,
    legend: { show: false },
    padding: [6, 24, times ? 0 : 6, 0],
    cursor: { drag: { x: true, y: false, setScale: false }, sync: { key: "run" }, points: { show: false }, y: false },
    scales: { x: { time: false, range: () => [zoom.from, zoom.to] }, y: { range } },
    axes: [
      times
        ? {
            ...axis,
            size: 42,
            label: "seconds of the run",
            labelSize: 16,
            labelFont: "12px system-ui, sans-serif",
            space: 90,
            values: (_, splits, __, ___, step) => splits.map((time) => time.toFixed(digits(step))),
          }
        : { ...axis, size: 0, space: 90, values: () => [], ticks: { show: false } },
      unit === undefined
        ? { ...axis, size: LEFT, values: () => [], grid: { show: false }, ticks: { show: false } }
        : { ...axis, size: LEFT, space: 26, values: (_, splits) => splits.map(short), ...(whole ? { incrs: WHOLE } : {}) },
    ],
    series: [{}, { show: true, stroke: "transparent", paths: () => null, points: { show: false } }],
    hooks: {
      draw: [draw],
      setSelect: [
        (u) => {
          if (u.select.width < 4) return;
          zoom.show(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x"));
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
      ready: [
        (u) => {
          u.over.addEventListener("click", () => {
            if (u.cursor.left !== undefined && u.cursor.left >= 0)
              choose(u.posToVal(u.cursor.left, "x"), u.posToVal(u.cursor.top ?? 0, "y"));
          });
          u.over.addEventListener("dblclick", () => zoom.all());
          touchable(u.over, zoom, (left, width) => u.setSelect({ left, top: 0, width, height: u.over.clientHeight }, false));
          u.over.addEventListener(
            "wheel",
            (event) => {
              // Without a key the wheel moves the page, as everywhere.
              if (!event.ctrlKey && !event.shiftKey) return;
              event.preventDefault();
              zoom.scale(
                (event.deltaY || event.deltaX) > 0 ? 1.25 : 0.8,
                u.posToVal(event.clientX - u.over.getBoundingClientRect().left, "x"),
              );
            },
            { passive: false },
          );
        },
      ],
    },
  };
}

/** How many digits behind the point tell times of a step apart. */
function digits(step: number): number {
  let found = 0;
  while (found < 9 && Math.abs(step * 10 ** found - Math.round(step * 10 ** found)) > 1e-6) found++;
  return found;
}

function short(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e6) return `${+(value / 1e6).toPrecision(4)} M`;
  return size >= 1e4 ? `${+(value / 1e3).toPrecision(4)} k` : String(+value.toPrecision(5));
}

function draw(u: uPlot, layers: Layer[], zoom: Zoom): void {
  const { left, top, width, height } = u.bbox;
  const [low, high] = [u.scales.y?.min ?? 0, u.scales.y?.max ?? 1];
  const view: View = {
    ctx: u.ctx,
    from: zoom.from,
    to: zoom.to,
    left,
    top,
    width: Math.round(width),
    height,
    ratio: uPlot.pxRatio,
    x: (time) => left + ((time - zoom.from) / (zoom.to - zoom.from)) * width,
    y: (value) => top + height - ((value - low) / (high - low)) * height,
  };
  u.ctx.save();
  u.ctx.beginPath();
  u.ctx.rect(left, top, width, height);
  u.ctx.clip();
  for (const layer of layers) layer.draw(view);
  u.ctx.restore();
}
