// What a setting did: curves over time, numbers, and a row for each group of flows and each link.
import { Fragment } from "preact";
import { FEW, OverTime } from "../plots/time";
import { peaked } from "../time/peaks";
import { limitName } from "../ui/limits";
import { Stroke } from "../ui/stroke";
import { number } from "../ui/words";
import type { Played } from "./newest";

const PLOTS = [
  ["goodput", "Goodput, Mbit/s"],
  ["cwnd", "Congestion window, kB"],
  ["rtt", "Smoothed round-trip time, ms"],
  ["queue", "Queue, packets"],
] as const;

const GOODPUT = "Goodput until done, Mbit/s";
const LIMITED = "Limited most by";

/** What the columns are whose names do not say it. */
const MEANINGS: Record<string, string> = {
  [GOODPUT]:
    "what arrived of a flow, over the time from its start until its last byte was there, or until the end; the mean of the group, and from its least to its most.",
  "Done, ms":
    "from a flow's start until its last byte has arrived, of the slowest of the group; – of what sends without end or is not done.",
  "Stall, ms":
    "how long data waited although nobody worked on them, the longest sum of a flow; – without hosts, which socket memory (All, TCP and hosts) gives.",
  [LIMITED]: "what held senders back for most of the time of their flows, and for how much of it.",
};

const PEAKS =
  "Peaks above the link’s rate: what had arrived behind a lost packet is delivered at once when that packet comes. The link was no faster then.";

const TRANSMITTED = "The packet in transmission counts, too, which does not wait any more.";

/** Of transfers that are done goodput would be told over a time in which nothing was sent any more. */
export function Numbers({ numbers, stale }: { numbers: Played["head"]["numbers"]; stale: boolean }) {
  return (
    <dl class={stale ? "figures stale" : "figures"}>
      {numbers.completion_ms === null ? (
        <Figure name="Goodput of all" value={numbers.goodput_mbps} unit="Mbit/s" />
      ) : (
        <Figure name="All done after" value={numbers.completion_ms} unit="ms" />
      )}
      <Figure name="Fairness (Jain's index)" value={numbers.jain} unit="" />
      <Figure name="Dropped or lost" value={numbers.loss_percent} unit="%" />
      <Figure name={numbers.wait_back ? "Mean wait in queues, back" : "Mean wait in queues"} value={numbers.wait_ms} unit="ms" />
    </dl>
  );
}

/** `least`: up to where axes go at least, by the kind of their curves. */
export function Shown({ played, stale, least }: { played: Played; stale: boolean; least: Record<string, number> }) {
  const { head, column } = played;
  const { groups, links } = head;
  const t = column("t") ?? new Float64Array();
  const none = new Float64Array();
  const look = looks(head.flows, groups.length);
  const fastest = Math.max(...head.setting.links.flatMap((each) => each.rates));
  const isPeaked = head.curves.some((each) => each.kind === "goodput" && peaked(column(each.column) ?? none, fastest, head.step_ms / 1e3));
  const unseen = links
    .filter((each) => each.peak_packets > longest(head, each, column))
    .map((each) => `${linkName(each)} ${each.peak_packets.toLocaleString("en")}`);
  const notes: Partial<Record<(typeof PLOTS)[number][0], string>> = {
    goodput: isPeaked ? PEAKS : "",
    queue: [
      TRANSMITTED,
      unseen.length > 0 ? `Between samples, ${number(head.sample_ms)} ms apart, it was longer: ${unseen.join(", ")}.` : "",
    ]
      .filter(Boolean)
      .join(" "),
  };
  return (
    <div class={stale ? "stale" : ""}>
      {head.flows.length > FEW && (
        <>
          <ul class="legend" aria-label="Groups">
            {groups.map((each, at) => (
              <li key={each.name}>
                <Stroke colour={at} dash={[]} /> {each.name}
              </li>
            ))}
          </ul>
          {head.flows.length > groups.length && <p class="faint">Flows of a group have its colour, and differ by their lines.</p>}
        </>
      )}
      <div class="plots">
        {PLOTS.map(([kind, title]) => {
          const curves = head.curves.filter((each) => each.kind === kind);
          return (
            <OverTime
              key={kind}
              least={least[kind] ?? 0}
              note={notes[kind] || undefined}
              id={curves.map((each) => `${each.of}${each.name}`).join()}
              title={title}
              whole={kind === "queue"}
              t={t}
              end={head.setting.duration}
              curves={curves.map((each) => ({
                name: each.name,
                ...(kind === "queue" ? tone(each) : (look.get(each.name) ?? { colour: each.of, dash: each.of })),
                values: column(each.column) ?? none,
              }))}
              height={190}
              together="playground"
              label={`${title} over time: ${kind === "queue" ? said(links) : groups.map((each) => `${each.name} ${rate(each)}`).join("; ")}`}
            />
          );
        })}
      </div>
      <p class="faint">
        A point of a curve is of {number(head.step_ms)} ms: the mean, that of goodput over whole round trips, and of queues the longest
        {head.sample_ms < head.step_ms && `, of what was sampled every ${number(head.sample_ms)} ms`}.
      </p>
      <section class="scroll" tabIndex={0} aria-label="Flows">
        <table>
          <thead>
            <tr>
              {["Flows", GOODPUT, "RTT, ms", "Sent again", "Timeouts", "Done, ms", "Stall, ms", LIMITED].map((each) => (
                <th key={each} scope="col" class={each === "Flows" || each === LIMITED ? "text" : ""} title={MEANINGS[each]}>
                  {each}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {groups.map((each, at) => (
              <tr key={each.name}>
                <th scope="row" class="text">
                  {each.name}
                </th>
                <td>
                  {number(each.rate_mbps)}
                  {head.setting.groups[at] && head.setting.groups[at].count > 1 && (
                    <span class="faint">
                      {" "}
                      ({number(round(each.rate_least_mbps))} to {number(round(each.rate_most_mbps))})
                    </span>
                  )}
                </td>
                {[each.rtt_ms, each.retransmits, each.timeouts, each.completion_ms, each.stall_ms].map((value, column) => (
                  <td key={column}>{number(value)}</td>
                ))}
                <td class="text">{each.limit === null ? "–" : `${limitName(each.limit)} ${share(each.limit_percent ?? 0)} %`}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <p class="faint">
        {Object.entries(MEANINGS).map(([name, meaning]) => (
          <Fragment key={name}>
            <b>{name}</b>: {meaning}{" "}
          </Fragment>
        ))}
      </p>
      <section class="scroll" tabIndex={0} aria-label="Links">
        <table>
          <thead>
            <tr>
              {["Link", "Used, %", "Mean wait, ms", "Longest queue", "Lost, %", "Marked"].map((each, at) => (
                <th key={each} scope="col" class={at ? "" : "text"}>
                  {each}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {links.map((each) => (
              <tr key={each.link + each.direction}>
                <th scope="row" class="text">
                  {linkName(each)}, {each.direction === "forward" ? "forth" : "back"}
                </th>
                {[
                  each.utilisation === null ? null : Math.min(100 * each.utilisation, 100),
                  round(each.wait_ms),
                  each.peak_packets,
                  each.loss_percent,
                  each.marked,
                ].map((value, at) => (
                  <td key={at}>{number(value)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
}

/** How the curves of flows differ. Of few each has a colour, the first of a group that of the group in the chain above; of more each has its group's, and another line than those before it. */
function looks(flows: Played["head"]["flows"], groups: number): Map<string, { colour: number; dash: number }> {
  const found = new Map<string, { colour: number; dash: number }>();
  const before = new Map<number, number>();
  let next = groups;
  for (const { flow, group } of flows) {
    const number = before.get(group) ?? 0;
    before.set(group, number + 1);
    const own = number ? next++ : group;
    found.set(flow, flows.length > FEW ? { colour: group, dash: number } : { colour: own, dash: own });
  }
  return found;
}

function linkName({ link }: Played["head"]["links"][number]): string {
  return link.replace("link", "link ");
}

/** The longest queue that is drawn of a link's direction; infinite if nothing is. */
function longest({ curves }: Played["head"], link: Played["head"]["links"][number], column: Played["column"]): number {
  const name = linkName(link) + (link.direction === "forward" ? "" : ", back");
  const drawn = curves.find((each) => each.kind === "queue" && each.name === name);
  return drawn ? Math.max(0, ...(column(drawn.column) ?? []).filter(Number.isFinite)) : Number.POSITIVE_INFINITY;
}

/** In whole per cent; all of the time is said of nothing that lacks some of it. */
function share(percent: number): number {
  return percent < 100 ? Math.min(Math.round(percent), 99) : 100;
}

/** Links have tones of ink and lines of their own: colours are of flows. */
function tone({ of, name }: Played["head"]["curves"][number]): { colour: "ink" | "faint"; dash: number } {
  return name.endsWith(", back") ? { colour: "faint", dash: 2 * of + 1 } : { colour: "ink", dash: 2 * of };
}

/** To thousandths: less is nothing. */
function round(value: number | null): number | null {
  return value === null ? null : Number(value.toFixed(3));
}

function rate(group: Played["head"]["groups"][number]): string {
  return `${number(group.rate_mbps)} Mbit/s`;
}

function said(links: Played["head"]["links"]): string {
  return links
    .filter((each) => each.direction === "forward")
    .map((each) => `${each.link} at most ${each.peak_packets}`)
    .join("; ");
}

function Figure({ name, value, unit }: { name: string; value: number | null; unit: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {number(value)} {value === null ? "" : unit}
      </dd>
    </div>
  );
}
