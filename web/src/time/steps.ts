// A value over time that holds until the next one. Of any number of points as many are drawn as there are pixels: in each column of pixels the least and the most, which
// a pyramid tells without looking at every point.

const WIDE = 32;

interface Level {
  least: Float64Array;
  most: Float64Array;
}

export class Steps {
  private readonly levels: Level[] = [];

  constructor(
    readonly t: Float64Array,
    readonly value: Float64Array,
    /** Until when the last value holds. */
    readonly end: number = t[t.length - 1] ?? 0,
  ) {
    let least = value;
    let most = value;
    while (least.length > WIDE) {
      const level = { least: new Float64Array(Math.ceil(least.length / WIDE)), most: new Float64Array(Math.ceil(least.length / WIDE)) };
      for (let at = 0; at < level.least.length; at++) {
        const [low, high] = within(least, most, at * WIDE, Math.min((at + 1) * WIDE, least.length));
        level.least[at] = low;
        level.most[at] = high;
      }
      this.levels.push(level);
      least = level.least;
      most = level.most;
    }
  }

  /** How many points are not after a time. */
  until(time: number): number {
    return below(this.t, time, 0, this.t.length);
  }

  /** The value that holds at a time; none after the end. */
  at(time: number): number | undefined {
    return time > this.end ? undefined : this.value[this.until(time) - 1];
  }

  /** Least and most of the points from one to before another; infinite the wrong way round if none has a value. */
  extent(from: number, to: number): [number, number] {
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    let [least, most] = [this.value, this.value];
    for (let level = 0; from < to; level++) {
      const above = this.levels[level];
      // At the ends of what is asked single ones are looked at, between them what stands for many.
      const [up, down] = above ? [Math.ceil(from / WIDE), Math.floor(to / WIDE)] : [0, 0];
      const parts = above && up < down ? [[from, up * WIDE] as const, [down * WIDE, to] as const] : [[from, to] as const];
      for (const [begin, end] of parts) {
        const found = within(least, most, begin, end);
        low = Math.min(low, found[0]);
        high = Math.max(high, found[1]);
      }
      if (!above || up >= down) break;
      [from, to, least, most] = [up, down, above.least, above.most];
    }
    return [low, high];
  }

  /** Least and most of what holds between two times. */
  between(from: number, to: number): [number, number] {
    return this.extent(Math.max(this.until(from) - 1, 0), this.until(to));
  }
}

function within(least: Float64Array, most: Float64Array, from: number, to: number): [number, number] {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (let at = from; at < to; at++) {
    // What is unknown is neither less nor more than anything.
    if ((least[at] as number) < low) low = least[at] as number;
    if ((most[at] as number) > high) high = most[at] as number;
  }
  return [low, high];
}

/** How many of some ascending numbers are not above a value, of those from `low` to before `high`; what is before `low` counts. */
export function below(sorted: Float64Array, value: number, low: number, high: number): number {
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
