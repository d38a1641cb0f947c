// The stretch of time that all panels show: one for all of them, changed at most once per frame.

export class Zoom {
  from: number;
  to: number;
  private readonly shown = new Set<() => void>();
  private asked = 0;

  constructor(readonly whole: number) {
    this.from = 0;
    this.to = whole;
  }

  readonly least = 0;

  get most(): number {
    return this.whole;
  }

  /** Shows from one time to another, as far as the run goes and no less than a nanosecond. */
  show(from: number, to: number): void {
    const wide = Math.min(Math.max(to - from, 1e-9 * Math.max(this.whole, 1)), this.whole);
    this.from = Math.min(Math.max(from, 0), this.whole - wide);
    this.to = this.from + wide;
    this.again();
  }

  /** Makes what is shown a part as long, or as many times longer, about a time that stays where it is. */
  scale(factor: number, about = (this.from + this.to) / 2): void {
    this.show(about - (about - this.from) * factor, about + (this.to - about) * factor);
  }

  /** A moment, if it is among what is shown. */
  seen(moment: number | undefined): number | undefined {
    return moment !== undefined && moment >= this.from && moment <= this.to ? moment : undefined;
  }

  /** Moves by a part of what is shown. */
  move(part: number): void {
    const wide = this.to - this.from;
    const from = Math.min(Math.max(this.from + part * wide, 0), this.whole - wide);
    this.show(from, from + wide);
  }

  all(): void {
    this.show(0, this.whole);
  }

  /** Draws all panels in the next frame. */
  again(): void {
    this.asked ||= requestAnimationFrame(() => {
      this.asked = 0;
      for (const draw of this.shown) draw();
    });
  }

  /** Calls it whenever there is something else to draw; what it returns ends that. */
  watch(draw: () => void): () => void {
    this.shown.add(draw);
    return () => this.shown.delete(draw);
  }

  /** What a key does, if it does something: true then. A moment that is looked at, and is seen, stays where it is. */
  key(event: KeyboardEvent, moment?: number): boolean {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    const does: Record<string, () => void> = {
      ArrowLeft: () => this.move(event.shiftKey ? -1 : -0.1),
      ArrowRight: () => this.move(event.shiftKey ? 1 : 0.1),
      "+": () => this.scale(1 / 1.5, this.seen(moment)),
      "=": () => this.scale(1 / 1.5, this.seen(moment)),
      "-": () => this.scale(1.5, this.seen(moment)),
      Home: () => this.all(),
    };
    const act = does[event.key];
    act?.();
    return act !== undefined;
  }
}
