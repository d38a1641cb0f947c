// How far sweeps are, as it happens. Browsers open few connections to a server: of all tabs one follows, and tells the others.
import { signal } from "@preact/signals";
import { get, gone, post } from "./api";

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

/** What the explorer says of its sweeps: `version` grows with each change, as long as it is the one that `began` then. */
interface Told {
  began: string;
  version: number;
  sweeps: Sweep[];
}

/** What one tab tells the others. */
interface News {
  told?: Told;
  gone: boolean;
}

/** Milliseconds after which an explorer that is gone is looked for again. */
export const AGAIN = 2000;

let newest: Pick<Told, "began" | "version"> = { began: "", version: 0 };

/** Shows news. Questions and events come by ways of their own: an answer that comes late may be older than what is shown. */
function take({ told, gone: isGone }: News): void {
  if (told && told.began === newest.began && told.version < newest.version) return;
  gone.value = isGone;
  if (!told) return;
  newest = told;
  sweeps.value = told.sweeps;
}

/** Begins to follow, once for each tab. */
export function follow(): void {
  if (following) return;
  following = true;
  get<Told>("/api/sweeps").then(
    (told) => take({ told, gone: false }),
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
    source.onmessage = (event) => tell({ told: JSON.parse(event.data), gone: false });
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
  const told = await post<Told | Sweep>(path, {}, body);
  if ("sweeps" in told) take({ told, gone: false });
}

export const start = (study: string, out: string, short: boolean) => told("/api/sweeps/start", { study, out, short });
export const pause = (number: number) => told("/api/sweeps/pause", { number });
export const resume = (number: number) => told("/api/sweeps/resume", { number });
export const cancel = (number: number) => told("/api/sweeps/cancel", { number });
