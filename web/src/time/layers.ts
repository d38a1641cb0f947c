// What a panel over time draws, layer by layer, each on a canvas and for the stretch of time that is shown.
import { below, type Steps } from "./steps";

/** Where ink goes: a stretch of time, and the pixels that it has. */
export interface View {
  ctx: CanvasRenderingContext2D;
  from: number;
  to: number;
  left: number;
  top: number;
  width: number;
  height: number;
  /** Pixels of the screen for one of the page. */
  ratio: number;
  x: (time: number) => number;
  y: (value: number) => number;
}

export interface Layer {
  draw: (view: View) => void;
  /** Least and most of what it shows. */
  extent?: (from: number, to: number) => [number, number];
}

interface Ink {
  colour: string;
  width?: number;
  dash?: number[];
  alpha?: number;
}

function inked(view: View, ink: Ink, draw: () => void): void {
  const { ctx, ratio } = view;
  ctx.save();
  ctx.strokeStyle = ink.colour;
  ctx.fillStyle = ink.colour;
  ctx.lineWidth = (ink.width ?? 1.25) * ratio;
  ctx.globalAlpha = ink.alpha ?? 1;
  ctx.lineJoin = "bevel";
  ctx.setLineDash((ink.dash ?? []).map((each) => each * ratio));
  draw();
  ctx.restore();
}

/** A curve of steps. */
export function curve(steps: Steps, ink: Ink): Layer {
  return {
    extent: (from, to) => steps.between(from, to),
    draw: (view) =>
      inked(view, ink, () => {
        view.ctx.beginPath();
        const [first, last] = [Math.max(steps.until(view.from) - 1, 0), Math.min(steps.until(view.to) + 1, steps.t.length)];
        if (last - first <= 2 * view.width) single(view, steps, first, last);
        else return columned(view, steps, first, last, ink);
        view.ctx.stroke();
      }),
  };
}

/** Every point. */
function single({ ctx, x, y, left, width }: View, steps: Steps, first: number, last: number): void {
  let before = Number.NaN;
  for (let at = first; at < last; at++) {
    const [across, value] = [Math.max(Math.min(x(steps.t[at] as number), left + width), left), steps.value[at] as number];
    if (!Number.isNaN(before)) ctx.lineTo(across, before);
    if (Number.isNaN(value)) {
      before = Number.NaN;
      continue;
    }
    if (Number.isNaN(before)) ctx.moveTo(across, y(value));
    else ctx.lineTo(across, y(value));
    before = y(value);
  }
  // What holds last, holds to the end of the run.
  if (!Number.isNaN(before) && last === steps.t.length) ctx.lineTo(Math.min(x(steps.end), left + width), before);
}

/**
 * In each column of pixels from the least to the most of what holds in it: upright bars, which are drawn in a fraction of the time that a line of as many corners takes.
 * What stays on one row is one bar.
 */
function columned({ ctx, from, to, left, width, y, ratio }: View, steps: Steps, first: number, last: number, ink: Ink): void {
  const thick = Math.max((ink.width ?? 1.25) * ratio, 1);
  const [on, off] = (ink.dash ?? [1, 0]).map((each) => each * ratio) as [number, number];
  let at = first;
  let before = Number.NaN;
  let [begin, up, high] = [0, Number.NaN, 0];
  const draw = (end: number) => {
    if (Number.isNaN(up)) return;
    if (!off) ctx.fillRect(left + begin, up, Math.max(end - begin, thick), high);
    else
      for (let dash = Math.floor(begin / (on + off)) * (on + off); dash < end; dash += on + off) {
        const [one, other] = [Math.max(dash, begin), Math.min(dash + on, end)];
        if (one < other) ctx.fillRect(left + one, up, other - one, high);
      }
  };
  for (let pixel = 0; pixel < width; pixel++) {
    const next = below(steps.t, from + ((to - from) * (pixel + 1)) / width, at, last);
    // What held before holds until the next point, and what holds last to the end of the run.
    if (from + ((to - from) * pixel) / width > steps.end) before = Number.NaN;
    let [low, most] = next > at ? steps.extent(at, next) : [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    if (!Number.isNaN(before)) [low, most] = [Math.min(low, before), Math.max(most, before)];
    if (next > at) before = steps.value[next - 1] as number;
    at = next;
    const known = low <= most;
    const top = known ? Math.round(y(most) - thick / 2) : Number.NaN;
    const tall = known ? Math.max(Math.round(y(low) + thick / 2) - top, 1) : 0;
    if (top === up && tall === high) continue;
    draw(pixel);
    [begin, up, high] = [pixel, top, tall];
  }
  draw(width);
}

/** Moments, as strokes of a part of the height. */
export function ticks(times: Float64Array, ink: Ink, place: { from: number; to: number }): Layer {
  return {
    draw: (view) =>
      inked(view, ink, () => {
        const { ctx, from, to, x, top, height } = view;
        let last = Number.NEGATIVE_INFINITY;
        ctx.beginPath();
        for (let at = below(times, from, 0, times.length); at < times.length && (times[at] as number) <= to; at++) {
          const across = x(times[at] as number);
          // Two strokes on one pixel are one.
          if (across - last < 0.5) continue;
          ctx.moveTo(across, top + place.from * height);
          ctx.lineTo(across, top + place.to * height);
          last = across;
        }
        ctx.stroke();
      }),
  };
}

/** Upright bars, each from a value to another at its time; with caps where there is room for them, as tcptrace draws segments. */
export function bars(low: Steps, high: Steps, ink: Ink, caps = false): Layer {
  return {
    extent: (from, to) => {
      const [begin, end] = [low.until(from), low.until(to)];
      return [low.extent(begin, end)[0], high.extent(begin, end)[1]];
    },
    draw: (view) =>
      inked(view, ink, () => {
        const { ctx, from, to, x, y, left, width, ratio } = view;
        const [first, last] = [low.until(from), low.until(to)];
        ctx.beginPath();
        if (last - first > 2 * width) {
          let at = first;
          for (let pixel = 0; pixel < width && at < last; pixel++) {
            const next = below(low.t, from + ((to - from) * (pixel + 1)) / width, at, last);
            if (next === at) continue;
            const [bottom, top] = [y(low.extent(at, next)[0]), y(high.extent(at, next)[1])];
            ctx.fillRect(left + pixel, top, 1, Math.max(bottom - top, 1));
            at = next;
          }
        } else {
          for (let at = first; at < last; at++) {
            const [across, bottom, top] = [x(low.t[at] as number), y(low.value[at] as number), y(high.value[at] as number)];
            ctx.moveTo(across, bottom);
            ctx.lineTo(across, Math.min(top, bottom - 1));
            if (caps && bottom - top > 6 * ratio) {
              for (const end of [bottom, top]) {
                ctx.moveTo(across - 2.5 * ratio, end);
                ctx.lineTo(across + 2.5 * ratio, end);
              }
            }
          }
        }
        ctx.stroke();
      }),
  };
}

/** Signs at the middle between two values, each at its time, that are told apart by their shape; where several would be on a pixel across, one is there. */
export function signs(low: Steps, high: Steps, ink: Ink, shape: "cross" | "ring"): Layer {
  return {
    draw: (view) =>
      inked(view, ink, () => {
        const { ctx, from, to, x, y, ratio } = view;
        const size = 3.5 * ratio;
        let last = Number.NEGATIVE_INFINITY;
        ctx.beginPath();
        for (let at = low.until(from); at < low.until(to); at++) {
          const across = x(low.t[at] as number);
          const up = (y(low.value[at] as number) + y(high.value[at] as number)) / 2;
          if (across - last < 0.5) continue;
          last = across;
          if (shape === "cross") {
            ctx.moveTo(across - size, up - size);
            ctx.lineTo(across + size, up + size);
            ctx.moveTo(across - size, up + size);
            ctx.lineTo(across + size, up - size);
          } else {
            ctx.moveTo(across + size, up);
            ctx.arc(across, up, size, 0, 2 * Math.PI);
          }
        }
        ctx.stroke();
      }),
  };
}

/** A moment through the whole panel. */
export function moment(time: () => number | undefined, ink: Ink): Layer {
  return {
    draw: (view) => {
      const at = time();
      if (at === undefined || at < view.from || at > view.to) return;
      inked(view, ink, () => {
        view.ctx.beginPath();
        view.ctx.moveTo(view.x(at), view.top);
        view.ctx.lineTo(view.x(at), view.top + view.height);
        view.ctx.stroke();
      });
    },
  };
}

/** One of the rows of a ribbon, from the top to the bottom; its name stands above it. */
export interface Row {
  at: number;
  rows: number;
  name?: string;
}

/** Pixels of the page that the name of a row takes, and the row below it with what stands under that. */
const NAME = 15;
const BAND = 24;

/** How high a panel of so many rows is, if they have names. */
export function highOf(rows: number, named: boolean): number {
  return rows * (BAND + (named ? NAME : 0));
}

/** Where the name of a row begins, its band, and what stands below that: the top of each and how high it is. */
function placed({ top, height, ratio }: View, { at, rows, name }: Row): Record<"name" | "band" | "below", [number, number]> {
  const begin = top + (height * at) / rows;
  const above = name === undefined ? 0 : NAME * ratio;
  const high = height / rows - above;
  return {
    name: [begin, above],
    band: [begin + above + ratio, 0.62 * high],
    below: [begin + above + 0.72 * high, 0.2 * high],
  };
}

/** The name of a row, after a piece of the line that its curves have. */
export function named(row: Row, line: Ink, ink: string): Layer {
  return {
    draw: (view) => {
      const { ctx, left, ratio } = view;
      const [begin, high] = placed(view, row).name;
      const middle = begin + high / 2;
      inked(view, line, () => {
        ctx.beginPath();
        ctx.moveTo(left + 2 * ratio, middle);
        ctx.lineTo(left + 24 * ratio, middle);
        ctx.stroke();
      });
      inked(view, { colour: ink }, () => {
        ctx.font = `${11 * ratio}px system-ui, sans-serif`;
        ctx.textBaseline = "middle";
        ctx.textAlign = "left";
        ctx.fillText(row.name ?? "", left + 30 * ratio, middle);
      });
    },
  };
}

/** A row of a ribbon: which of some words holds when; in each column of pixels that of its middle. */
export function band(from: Float64Array, by: Float64Array, colours: string[], words: string[], row: Row, ink: string): Layer {
  return {
    draw: (view) => {
      const { ctx, left, width, ratio } = view;
      const [up, high] = placed(view, row).band;
      const time = (pixel: number) => view.from + ((view.to - view.from) * (pixel + 0.5)) / width;
      const which = (pixel: number): number => {
        const at = below(from, time(pixel), 0, from.length) - 1;
        return at < 0 ? Number.NaN : (by[at] as number);
      };
      ctx.save();
      ctx.font = `${10 * ratio}px system-ui, sans-serif`;
      ctx.textBaseline = "middle";
      ctx.textAlign = "left";
      let begin = 0;
      let holds = which(0);
      for (let pixel = 1; pixel <= width; pixel++) {
        const next = pixel < width ? which(pixel) : Number.NEGATIVE_INFINITY;
        if (next === holds || (Number.isNaN(next) && Number.isNaN(holds))) continue;
        if (!Number.isNaN(holds)) {
          ctx.fillStyle = colours[holds] as string;
          ctx.fillRect(left + begin, up, pixel - begin, high);
          const word = words[holds] as string;
          const wide = ctx.measureText(word).width;
          if (wide + 8 * ratio < pixel - begin) {
            ctx.fillStyle = ink;
            ctx.fillText(word, left + begin + 4 * ratio, up + high / 2);
          }
        }
        [begin, holds] = [pixel, next];
      }
      ctx.restore();
    },
  };
}

/** Stretches of time below a row of a ribbon, with a word where there is room. */
export function spans(each: { start: number; end: number | null; word: string }[], colour: string, row: Row): Layer {
  return {
    draw: (view) =>
      inked(view, { colour }, () => {
        const { ctx, from, to, x, left, width, ratio } = view;
        const [up, high] = placed(view, row).below;
        for (const span of each) {
          if (span.start > to || (span.end ?? Number.POSITIVE_INFINITY) < from) continue;
          const begin = Math.max(x(span.start), left);
          const end = Math.min(span.end === null ? left + width : x(span.end), left + width);
          ctx.fillRect(begin, up, Math.max(end - begin, 1.5 * ratio), high);
        }
      }),
  };
}
