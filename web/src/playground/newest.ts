// Simulates the newest of the settings that come while one slides: one at a time, so that each that is done is shown.
import { problemOf, type Told } from "../api";
import { columns, type Packed } from "../columns";
import type { Setting } from "./setting";

export interface Head {
  flows: { flow: string; group: number; back: boolean }[];
  links: {
    link: string;
    direction: string;
    utilisation: number | null;
    wait_ms: number | null;
    loss_percent: number | null;
    marked: number;
    peak_packets: number;
  }[];
  groups: {
    name: string;
    /** Of each of its flows, until that is done: the mean, and of which flow it is the least and the most. */
    rate_mbps: number | null;
    rate_least_mbps: number | null;
    rate_most_mbps: number | null;
    rtt_ms: number | null;
    completion_ms: number | null;
    retransmits: number | null;
    timeouts: number | null;
    stall_ms: number | null;
    /** What held senders back for most of their time, as columns of results call it, and for how much of it. */
    limit: string | null;
    limit_percent: number | null;
  }[];
  numbers: {
    goodput_mbps: number;
    /** Of transfers that are all done. */
    completion_ms: number | null;
    jain: number | null;
    loss_percent: number | null;
    wait_ms: number;
    wait_back: number;
  };
  curves: { kind: "cwnd" | "rtt" | "goodput" | "queue"; of: number; name: string; column: string }[];
  /** From a point of a curve to the next, and from a sample to the next. */
  step_ms: number;
  sample_ms: number;
  events: number;
  milliseconds: number;
  study: string;
  setting: Setting;
}

export type Played = Packed<Head>;

/** So long one that was overtaken may still take: shorter ones are shown, longer ones are ended. */
const PATIENCE = 200;

export class Newest {
  private readonly page = crypto.randomUUID();
  private running: AbortController | null = null;
  private began = 0;
  private waiting: string | null = null;
  private timer: number | undefined;

  constructor(
    private readonly shown: (played: Played, asked: string, milliseconds: number) => void,
    private readonly failed: (told: Told, asked: string) => void,
  ) {}

  ask(setting: string): void {
    if (!this.running) {
      this.run(setting);
      return;
    }
    this.waiting = setting;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.overtake(), Math.max(0, this.began + PATIENCE - performance.now()));
  }

  end(): void {
    clearTimeout(this.timer);
    this.waiting = null;
    this.running?.abort();
  }

  private overtake(): void {
    const next = this.waiting;
    if (next === null) return;
    this.running?.abort();
    this.run(next);
  }

  private async run(setting: string): Promise<void> {
    const control = new AbortController();
    this.running = control;
    this.waiting = null;
    this.began = performance.now();
    try {
      const asked: [string, string][] = [
        ["set", setting],
        ["page", this.page],
      ];
      const played = await columns<Head>("/api/playground/run", asked, control.signal);
      if (!control.signal.aborted) this.shown(played, setting, performance.now() - this.began);
    } catch (error) {
      if (!control.signal.aborted) this.failed(problemOf(error), setting);
    }
    if (this.running !== control) return;
    this.running = null;
    if (this.waiting !== null) this.run(this.waiting);
  }
}
