// What is laid over each other: a run, another one beside it, and the run as it would have been.
import { columns, type Packed } from "../columns";
import { Steps } from "../time/steps";

export interface Episode {
  flow: string;
  start: number;
  end: number | null;
  cause: string;
  /** What befell the flow's packets meanwhile; nothing if that is not known. */
  why: string[];
  lost: number | null;
  retransmits: number;
  timeouts: number;
  before: number | null;
  after: number | null;
  spurious: boolean;
}

/** What a run comes to, in a base unit; null if it is not known. */
export interface OfRun {
  of: string;
  what: string;
  unit: string;
  value: number | null;
}

export interface RunHead {
  title: string;
  run: number;
  change: string | null;
  /** Of another future: from when on it is one, seconds; null if nothing that is drawn differs. */
  differs: number | null;
  duration: number;
  /** Until when there is something of its flows, seconds. */
  active: number;
  backend: string;
  again: boolean;
  same: boolean | null;
  /** Of a run on a real kernel: releases, and what was stored of its flows. */
  kernel: { stored: string[]; now: string | null; was: string[]; stored_series: boolean } | null;
  /** Whether there are time-sequence graphs of it. */
  sequences: boolean;
  sampled: string;
  flows: string[];
  shown: string[];
  cc: Record<string, string>;
  summary: string[];
  numbers: OfRun[];
  links: string[];
  /** Each flow's first link. */
  first: Record<string, string>;
  /** Of each flow's links the rate of the slowest, Mbit/s; null where it changes. */
  rates: Record<string, number | null>;
  queues: string[];
  variables: Record<string, string[]>;
  unmarked: string | null;
  step: number;
  limits: string[];
  episodes: Episode[];
}

/** What happens otherwise, as the server takes it. */
export interface Change {
  kind: string;
  at: string;
  link: string;
  value?: string;
  flow?: string;
  number?: number;
}

/** What is asked of a run. */
export interface Which {
  of: string;
  run: string;
  flows: string[];
  change?: Change | undefined;
  again?: boolean | undefined;
  /** Flows that the run does not have are left out: it is one of other results. */
  lenient?: boolean | undefined;
}

/** A run over time. */
export interface Track {
  /** What tells it from the others; nothing if it is alone. */
  label: string;
  /** Which of them it is, from 0. */
  number: number;
  which: Which;
  head: RunHead;
  /** A curve of a flow or a link, if the run has it. */
  curve: (name: string, times: string) => Steps | undefined;
  column: Packed<RunHead>["column"];
}

export function asking({ of, run, flows, change, again, lenient }: Which, more: Record<string, string> = {}): [string, string][] {
  return [
    ["of", of],
    ["run", run],
    ...flows.map((flow): [string, string] => [lenient ? "prefer" : "flow", flow]),
    ...(change ? [["change", JSON.stringify(change)] as [string, string]] : []),
    ...(again ? [["again", "1"] as [string, string]] : []),
    ...Object.entries(more),
  ];
}

export async function load(which: Which, label: string, number: number, signal: AbortSignal): Promise<Track> {
  const { head, column } = await columns<RunHead>("/api/run/series", asking(which), signal);
  const made = new Map<string, Steps | undefined>();
  const curve = (name: string, times: string) => {
    if (!made.has(name)) {
      const [t, values] = [column(times), column(name)];
      made.set(name, t && values ? new Steps(t, values, head.duration) : undefined);
    }
    return made.get(name);
  };
  // What else is asked of it is asked of the flows that it has.
  const asked = which.lenient ? { ...which, flows: head.shown, lenient: false } : which;
  return { label, number, which: asked, head, curve, column };
}

/** A flow of a track, as legends call it, with the number of its colour; in another future it has the colour that it has in this one, and its curves are broken. */
export interface Line {
  track: Track;
  flow: string;
  name: string;
  colour: number;
  broken: boolean;
}

/** Lengths of what is drawn of a broken curve, and of what is not. */
export const BROKEN = [8, 4];

/** How a line's curves are drawn, as a list of what is drawn and what is not. */
export function dashOf(line: Line): number[] {
  return line.broken ? BROKEN : [];
}

export function lines(tracks: Track[]): Line[] {
  const found: Line[] = [];
  for (const track of tracks)
    for (const flow of track.head.shown) {
      const name = track.label ? `${flow}, ${track.label}` : flow;
      const was = track.which.change && found.find((each) => each.track === tracks[0] && each.flow === flow);
      const used = new Set(found.map((each) => each.colour)).size;
      found.push({ track, flow, name, colour: was ? was.colour : used, broken: !!was });
    }
  return found;
}
