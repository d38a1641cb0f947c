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

/** Whether the explorer does not answer any more: how far its sweeps are is not known then. */
export const gone = signal(false);

const CHANNEL = "sawtooth-sweeps";
let following = false;

/** What one tab tells the others. */
interface News {
  sweeps?: Sweep[];
  gone: boolean;
}

/** Milliseconds after which an explorer that is gone is looked for again. */
const AGAIN = 2000;

function take(news: News): void {
  gone.value = news.gone;
  if (news.sweeps) sweeps.value = news.sweeps;
}

/** Begins to follow, once for each tab. */
export function follow(): void {
  if (following) return;
  following = true;
  get<{ sweeps: Sweep[] }>("/api/sweeps").then(
    (found) => take({ sweeps: found.sweeps, gone: false }),
    () => undefined,
  );
  const channel = new BroadcastChannel(`${CHANNEL}-${location.port}`);
  channel.onmessage = (event) => take(event.data);
  const tell = (news: News) => {
    take(news);
    channel.postMessage(news);
  };
  const listen = () => {
    const source = new EventSource("/api/sweeps/events");
    source.onmessage = (event) => tell({ sweeps: JSON.parse(event.data).sweeps, gone: false });
    source.onerror = () => {
      tell({ gone: true });
      // A browser tries again only if the connection broke: not so when who answers now is another explorer, of which this page knows no token.
      if (source.readyState !== EventSource.CLOSED) return;
      source.close();
      setTimeout(listen, AGAIN);
    };
  };
  const lead = () => new Promise<never>(listen);
  // The lock goes with the tab, and the next one takes over.
  if (navigator.locks) navigator.locks.request(CHANNEL, lead);
  else lead();
}

async function told(path: string, body: unknown): Promise<void> {
  const found = await post<{ sweeps?: Sweep[] }>(path, {}, body);
  if (found.sweeps) take({ sweeps: found.sweeps, gone: false });
}

export const start = (study: string, out: string, short: boolean) => told("/api/sweeps/start", { study, out, short });
export const pause = (number: number) => told("/api/sweeps/pause", { number });
export const resume = (number: number) => told("/api/sweeps/resume", { number });
export const cancel = (number: number) => told("/api/sweeps/cancel", { number });
