// Connections of this machine, what holds each back, and how that changes: `sawtooth stall` as a page.
import { useEffect, useRef, useState } from "preact/hooks";
import { address, get, problemOf, type Told } from "../api";
import { go, route, to } from "../route";
import { session } from "../session";
import { Bounded } from "../ui/bounded";
import { Field } from "../ui/field";
import { Folded } from "../ui/folded";
import { Wrong } from "../ui/loaded";
import { count, number, scaleOf } from "../ui/words";

interface Spell {
  time: number;
  seconds: number;
  connection: string;
  process: string | null;
  ended: boolean;
  busy: number;
  limited: Record<string, number>;
  stall_s: number;
  cause: string;
  says: string;
  try: string;
  sent_bps: number;
  cc: string;
  srtt_ms: number;
  cwnd: number;
  /** Whether it is one between a browser and this explorer. */
  own: boolean;
}

interface Seen {
  last: Spell;
  /** Of each interval, oldest first: rate, and which share of the time was a stall. */
  rates: number[];
  stalls: number[];
  at: number;
}

const KEPT = 60;
const CAUSES: [string, string][] = [
  ["source", "application"],
  ["rwnd", "receive window"],
  ["send_buffer", "send buffer"],
  ["cwnd", "congestion window"],
  ["pacing", "pacing"],
  ["nagle", "partial segment"],
  ["recovery", "loss recovery"],
  ["rto", "timeout"],
  ["device", "network card"],
];

const KINDS = { port: "Port", pid: "Process", peer: "Peer" } as const;

/** What is wrong with what was typed into a field; empty of what is right, or what only the command can tell. */
function wrong(kind: string, text: string): string {
  const [what, most] = kind === "port" ? ["port", 65_535] : kind === "pid" ? ["process", 2 ** 31 - 1] : ["", 0];
  if (!what || !text.trim()) return "";
  const isNumber = /^\s*\d+\s*$/.test(text) && Number(text) >= 1 && Number(text) <= most;
  return isNumber ? "" : `“${text.trim()}” is no ${what}: a number ${kind === "port" ? "from 1 to 65535, such as 443" : "from 1 on"}`;
}

export function LivePage() {
  const query = route.value.query;
  const [state, set] = useState<"before" | "watching" | "stopped">("before");
  const watching = state === "watching";
  const [said, say] = useState<Record<string, string>>({});
  // What is typed stays while the page is drawn anew (what this explorer may do arrives late), until it is watched.
  const [typed, type] = useState<Record<string, string>>({});
  const typing = (name: string, otherwise = "") => ({
    name,
    value: typed[name] ?? query.get(name) ?? otherwise,
    onInput: (event: { currentTarget: HTMLInputElement }) => type((before) => ({ ...before, [name]: event.currentTarget.value })),
    autocomplete: "off" as const,
  });
  return (
    <section>
      <h1>Live connections</h1>
      <p>
        What holds each TCP connection of this machine back, from the kernel's own counters. Nothing is sent, and no root is needed to see
        connections.
      </p>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          const given = Object.fromEntries(new FormData(event.currentTarget).entries()) as Record<string, string>;
          go(to("live", given), "replace");
          type({});
          const found = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, wrong(kind, given[kind] ?? "")]));
          say(found);
          set(Object.values(found).some(Boolean) ? "before" : "watching");
        }}
      >
        {Object.entries(KINDS).map(([kind, name]) => (
          <Field key={kind} name={name}>
            {(id) => (
              <>
                <input id={id} placeholder="any" size={12} {...typing(kind)} />
                <Bounded said={said[kind] ?? ""} />
              </>
            )}
          </Field>
        ))}
        <Field name="Every">{(id) => <input id={id} size={6} {...typing("interval", "1 s")} />}</Field>
        {session.value?.allowRun && (
          <Field name="Record as">
            {(id) => <input id={id} placeholder={`${session.value?.folders[0]}/results/watched`} {...typing("record")} />}
          </Field>
        )}
        <button type="submit" class="main">
          {watching ? "Watch these" : "Watch"}
        </button>
        {watching && (
          <button
            type="button"
            onClick={(event) => {
              // This button goes.
              event.currentTarget.form?.querySelector<HTMLElement>("[type=submit]")?.focus();
              set("stopped");
            }}
          >
            Stop
          </button>
        )}
      </form>
      {state !== "before" && <Watched key={query.toString()} query={query.toString()} on={watching} />}
    </section>
  );
}

/** What is seen of connections, and, once nobody looks any more, what was seen last. */
function Watched({ query, on }: { query: string; on: boolean }) {
  const seen = useRef(new Map<string, Seen>());
  const [turn, next] = useState(0);
  const [said, say] = useState("");
  const [refused, refuse] = useState<Told | null>(null);
  useEffect(() => {
    if (!on) return;
    const given = Object.fromEntries([...new URLSearchParams(query)].filter(([, value]) => value.trim()));
    const control = new AbortController();
    refuse(null);
    const events = new EventSource(address("/api/live", given));
    events.addEventListener("interval", (event) => {
      take(seen.current, JSON.parse((event as MessageEvent<string>).data));
      say("");
      next((before) => before + 1);
    });
    events.addEventListener("end", (event) => {
      events.close();
      say(JSON.parse((event as MessageEvent<string>).data).said || "there is nothing to watch any more");
    });
    events.addEventListener("problem", (event) => {
      events.close();
      refuse(JSON.parse((event as MessageEvent<string>).data));
    });
    events.onerror = () => {
      events.close();
      // A stream of events that is refused says nothing of why: that is asked for by itself.
      get("/api/live/check", given, control.signal).then(
        () => say("the explorer does not watch them any more"),
        (error) => control.signal.aborted || refuse(problemOf(error)),
      );
    };
    return () => {
      control.abort();
      events.close();
    };
  }, [query, on]);
  const given = new URLSearchParams(query);
  const record = given.get("record")?.trim();
  const rows = [...seen.current.values()].sort(
    (a, b) => b.last.stall_s - a.last.stall_s || b.last.busy - a.last.busy || (a.last.connection < b.last.connection ? -1 : 1),
  );
  const [own, others] = [true, false].map((of) => rows.filter((row) => row.last.own === of)) as [Seen[], Seen[]];
  return (
    <>
      {refused && <Wrong told={refused} />}
      {said && !refused && (
        <p class="wrong" role="alert">
          {said}
        </p>
      )}
      {!on && !refused && (
        <p role="status">
          Stopped{turn ? ": what was seen last stands below" : " before anything was seen"}.{" "}
          {record && (
            <>
              What was recorded is in <a href={to("results", { of: record })}>{record}</a>, to{" "}
              <a href={to("compare", { of: record })}>lay beside others</a>.
            </>
          )}
        </p>
      )}
      <p class="faint" aria-live="off">
        {turn ? count(others.length, "connection") : said || refused || !on ? "" : "Waiting for the first interval …"}
      </p>
      <Key />
      <Cards rows={others} every={given.get("interval") || "1 s"} />
      {own.length > 0 && (
        <Folded title={`Between this explorer and browsers (${own.length})`} kept="own">
          <Cards rows={own} every={given.get("interval") || "1 s"} />
        </Folded>
      )}
    </>
  );
}

function take(seen: Map<string, Seen>, spells: Spell[]): void {
  for (const spell of spells) {
    if (!spell.connection || !spell.limited) continue;
    const before = seen.get(spell.connection);
    seen.set(spell.connection, {
      last: spell,
      rates: [...(before?.rates ?? []), spell.sent_bps].slice(-KEPT),
      stalls: [...(before?.stalls ?? []), spell.stall_s / Math.max(spell.seconds, 1e-9)].slice(-KEPT),
      at: spell.time,
    });
  }
  // What ended a while ago makes room.
  const newest = Math.max(...[...seen.values()].map((each) => each.at));
  for (const [name, each] of seen) if (newest - each.at > 30) seen.delete(name);
}

function Key() {
  return (
    <ul class="legend" aria-label="Causes">
      {CAUSES.map(([name, title], at) => (
        <li key={name}>
          <i class={`b${at}`} aria-hidden="true" /> {title}
        </li>
      ))}
    </ul>
  );
}

function Cards({ rows, every }: { rows: Seen[]; every: string }) {
  return (
    <ul class="cards">
      {rows.map((row) => (
        <Card key={row.last.connection} seen={row} every={every} />
      ))}
    </ul>
  );
}

function Card({ seen, every }: { seen: Seen; every: string }) {
  const { last } = seen;
  const shares = CAUSES.map(([name]) => last.limited[name] ?? 0);
  const told = CAUSES.filter((_, at) => (shares[at] ?? 0) > 0.01).map(([, title], _) => title);
  return (
    <li class="card">
      <h2>
        <code>{last.connection}</code>
      </h2>
      <p class="faint">
        {[
          last.process,
          last.cc,
          rate(last.sent_bps),
          `RTT ${number(last.srtt_ms)} ms`,
          `cwnd ${count(last.cwnd, "segment")}`,
          last.ended ? "ended" : "",
        ]
          .filter(Boolean)
          .join(" · ")}
      </p>
      <svg class="ribbon" viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label={`Held back by ${told.join(", ")}`}>
        {shares.map((share, at) => (
          <rect
            key={CAUSES[at]?.[0]}
            class={`b${at}`}
            x={shares.slice(0, at).reduce((sum, each) => sum + each, 0) * 100}
            width={share * 100}
            height="6"
          />
        ))}
      </svg>
      <Spark values={seen.rates} every={every} />
      <p>{last.says}</p>
      {last.stall_s > 0 && <p class="bad">stalled for {number((100 * last.stall_s) / last.seconds)} % of the time</p>}
      <details>
        <summary>What to try</summary>
        <p>{last.try}</p>
      </details>
    </li>
  );
}

/** In the unit in which it is read: connections that do little are shown, too. */
function rate(bps: number): string {
  const [unit, size] = scaleOf("bit/s", bps);
  return `${number(bps / size)} ${unit}`;
}

/** What was sent, interval by interval, from nothing to the most of them. */
function Spark({ values, every }: { values: number[]; every: string }) {
  const most = Math.max(...values, 1);
  const said = `sent in each of the last ${count(values.length, "interval")} of ${every}: at most ${rate(Math.max(...values))}`;
  const points = values.map((value, at) => `${(at * 100) / (KEPT - 1)},${(20 - (18 * value) / most).toFixed(2)}`).join(" ");
  return (
    <figure class="sparked">
      <svg class="spark" viewBox="0 0 100 21" preserveAspectRatio="none" aria-hidden="true">
        <polyline points={points} fill="none" stroke="currentColor" stroke-width="1.2" vector-effect="non-scaling-stroke" />
      </svg>
      <figcaption>{said}</figcaption>
    </figure>
  );
}
