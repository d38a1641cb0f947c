// What a setting did: curves over time, numbers, and a row for each group of flows and each link.
import { FEW, OverTime } from "../plots/time";
import { Legend } from "../ui/legend";
import { number } from "../ui/words";
import type { Played } from "./newest";

const PLOTS = [
  ["goodput", "Goodput, Mbit/s"],
  ["cwnd", "Congestion window, kB"],
  ["rtt", "Smoothed round-trip time, ms"],
  ["queue", "Queue, packets"],
] as const;

export function Numbers({ numbers }: { numbers: Played["head"]["numbers"] }) {
  return (
    <dl class="figures">
      <Figure name="Goodput of all" value={numbers.goodput_mbps} unit="Mbit/s" />
      <Figure name="Fairness (Jain's index)" value={numbers.jain} unit="" />
      <Figure name="Dropped or lost" value={numbers.loss_percent} unit="%" />
      <Figure name="Mean wait in queues" value={numbers.wait_ms} unit="ms" />
    </dl>
  );
}

export function Shown({ played, stale }: { played: Played; stale: boolean }) {
  const { head, column } = played;
  const { groups, links } = head;
  const t = column("t") ?? new Float64Array();
  const none = new Float64Array();
  return (
    <div class={stale ? "stale" : ""}>
      {head.flows.length > FEW && <Legend names={groups.map((each) => each.name)} />}
      <div class="plots">
        {PLOTS.map(([kind, title]) => {
          const curves = head.curves.filter((each) => each.kind === kind);
          return (
            <OverTime
              key={kind}
              id={curves.map((each) => `${each.of}${each.name}`).join()}
              title={title}
              t={t}
              curves={curves.map((each, at) => ({
                name: each.name,
                of: kind === "queue" ? at : each.of,
                values: column(each.column) ?? none,
              }))}
              height={190}
              together="playground"
              label={`${title} over time: ${kind === "queue" ? said(links) : groups.map((each) => `${each.name} ${rate(each)}`).join("; ")}`}
            />
          );
        })}
      </div>
      <section class="scroll" tabIndex={0} aria-label="Flows">
        <table>
          <thead>
            <tr>
              {["Flows", "Goodput of each, Mbit/s", "RTT, ms", "Sent again", "Timeouts", "Done, ms", "Stall, ms"].map((each, at) => (
                <th key={each} scope="col" class={at ? "" : "text"}>
                  {each}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {groups.map((each) => (
              <tr key={each.name}>
                <th scope="row" class="text">
                  {each.name}
                </th>
                {[each.goodput_mbps, each.rtt_ms, each.retransmits, each.timeouts, each.completion_ms, each.stall_ms].map((value, at) => (
                  <td key={at}>{number(value)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
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
                  {each.link.replace("link", "link ")}, {each.direction === "forward" ? "forth" : "back"}
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

/** To thousandths: less is no wait. */
function round(value: number | null): number | null {
  return value === null ? null : Number(value.toFixed(3));
}

function rate(group: Played["head"]["groups"][number]): string {
  return `${number(group.goodput_mbps)} Mbit/s`;
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
