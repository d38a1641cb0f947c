// What a setting did: curves over time, numbers, and a row for each group of flows and each link.
import { Fragment } from "preact";
import { FEW } from "../plots/time";
import { limitName } from "../ui/limits";
import { Stroke } from "../ui/stroke";
import { number } from "../ui/words";
import { linkName, OfKind, PLOTS } from "./curves";
import type { Played } from "./newest";

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
  const { head } = played;
  const { groups, links } = head;
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
        {PLOTS.map(([kind, title]) => (
          <OfKind key={kind} kind={kind} title={title} played={played} least={least[kind] ?? 0} />
        ))}
      </div>
      <p class="faint">
        A point of a curve is of {number(head.step_ms)} ms: the mean
        {head.sample_ms < head.step_ms && ` of what was sampled every ${number(head.sample_ms)} ms`}, that of goodput over whole round
        trips. Of a queue it is the longest that it was in that time.
      </p>
      <section class="scroll" tabIndex={0} aria-label="Flows">
        <table class="folding">
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

/** In whole per cent; all of the time is said of nothing that lacks some of it. */
function share(percent: number): number {
  return percent < 100 ? Math.min(Math.round(percent), 99) : 100;
}

/** To thousandths: less is nothing. */
function round(value: number | null): number | null {
  return value === null ? null : Number(value.toFixed(3));
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
