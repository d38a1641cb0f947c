// How far sweeps are, as it happens. Browsers open few connections to a server: of all tabs one follows, and tells the others.
import { signal } from "@preact/signals";
import { get, post } from "./api";

export interface Sweep {
  number: number;
  study: string;
  out: string;
  short: boolean;
  state: "running" | "pausing" | "paused" | "done" | "failed";
  progress: { runs: number; planned: number; failed: number; round: number; share: number; seconds: number; left: number | null } | null;
  said: string[];
  command: string;
}

export const sweeps = signal<Sweep[]>([]);

const CHANNEL = "sawtooth-sweeps";
let following = false;

function take(found: Sweep[]): void {
  sweeps.value = found;
}

/** Begins to follow, once for each tab. */
export function follow(): void {
  if (following) return;
  following = true;
  get<{ sweeps: Sweep[] }>("/api/sweeps").then(
    (found) => take(found.sweeps),
    () => undefined,
  );
  const channel = new BroadcastChannel(`${CHANNEL}-${location.port}`);
  channel.onmessage = (event) => take(event.data);
  const lead = () =>
    new Promise<never>(() => {
      // It is opened again by itself when the explorer was ended and is there again.
      const source = new EventSource("/api/sweeps/events");
      source.onmessage = (event) => {
        const found = JSON.parse(event.data).sweeps as Sweep[];
        take(found);
        channel.postMessage(found);
      };
    });
  // The lock goes with the tab, and the next one takes over.
  if (navigator.locks) navigator.locks.request(CHANNEL, lead);
  else lead();
}

async function told(path: string, body: unknown): Promise<void> {
  const found = await post<{ sweeps?: Sweep[] }>(path, {}, body);
  if (found.sweeps) take(found.sweeps);
}

export const start = (study: string, out: string, short: boolean) => told("/api/sweeps/start", { study, out, short });
export const pause = (number: number) => told("/api/sweeps/pause", { number });
export const resume = (number: number) => told("/api/sweeps/resume", { number });
export const cancel = (number: number) => told("/api/sweeps/cancel", { number });
