// What a setting did over time: a plot for each kind of curve, of which one stays in sight where controls stand above them all.
import { useState } from "preact/hooks";
import { FEW, OverTime } from "../plots/time";
import { peaked } from "../time/peaks";
import { Choice } from "../ui/field";
import { number } from "../ui/words";
import type { Played } from "./newest";

export const PLOTS = [
  ["goodput", "Goodput, Mbit/s"],
  ["cwnd", "Congestion window, kB"],
  ["rtt", "Smoothed round-trip time, ms"],
  ["queue", "Queue, packets"],
] as const;

type Kind = (typeof PLOTS)[number][0];

const PEAKS =
  "Peaks above the link’s rate: what had arrived behind a lost packet is delivered at once when that packet comes. The link was no faster then.";

const TRANSMITTED = "The packet in transmission counts, too, which does not wait any more.";

/** Lower than below, where all are: controls have most of the screen. */
const LOW = 130;

/** The plot that is watched while a value is changed; beside controls, where all plots are in sight, there is none. */
export function Watched({ played, stale, least }: { played: Played; stale: boolean; least: Record<string, number> }) {
  const [kind, watch] = useState<Kind>(PLOTS[0][0]);
  return (
    <section class={`watched unprinted${stale ? " stale" : ""}`} aria-label="In sight while a value is changed">
      <Choice
        name="In sight"
        value={kind}
        values={PLOTS.map(([value, words]) => ({ value, words }))}
        choose={(next) => watch(next as Kind)}
      />
      <OfKind key={kind} kind={kind} played={played} least={least[kind] ?? 0} height={LOW} />
    </section>
  );
}

interface OfKindProps {
  kind: Kind;
  /** Without one, what it shows is said elsewhere, and nothing is noted of it. */
  title?: string;
  played: Played;
  least: number;
  height?: number;
}

/** The curves of a kind; `least`: up to where the axis goes at least. */
export function OfKind({ kind, title, played: { head, column }, least, height = 190 }: OfKindProps) {
  const { groups, links } = head;
  const none = new Float64Array();
  const look = looks(head.flows, groups.length);
  const curves = head.curves.filter((each) => each.kind === kind);
  const words = PLOTS.find(([name]) => name === kind)?.[1];
  return (
    <OverTime
      least={least}
      note={title === undefined ? undefined : noteOf(kind, { head, column }) || undefined}
      id={curves.map((each) => `${each.of}${each.name}`).join()}
      title={title}
      whole={kind === "queue"}
      t={column("t") ?? none}
      end={head.setting.duration}
      curves={curves.map((each) => ({
        name: each.name,
        ...(kind === "queue" ? tone(each) : (look.get(each.name) ?? { colour: each.of, dash: each.of })),
        values: column(each.column) ?? none,
      }))}
      height={height}
      together="playground"
      label={`${words} over time: ${kind === "queue" ? said(links) : groups.map((each) => `${each.name} ${rate(each)}`).join("; ")}`}
    />
  );
}

/** What is to be known of the curves of a kind; empty for nothing. */
function noteOf(kind: Kind, { head, column }: Played): string {
  if (kind === "goodput") {
    const fastest = Math.max(...head.setting.links.flatMap((each) => each.rates));
    const values = head.curves.filter((each) => each.kind === kind).map((each) => column(each.column) ?? new Float64Array());
    return values.some((each) => peaked(each, fastest, head.step_ms / 1e3)) ? PEAKS : "";
  }
  return kind === "queue" ? TRANSMITTED : "";
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

export function linkName({ link }: Played["head"]["links"][number]): string {
  return link.replace("link", "link ");
}

/** Links have tones of ink and lines of their own: colours are of flows. */
function tone({ of, name }: Played["head"]["curves"][number]): { colour: "ink" | "faint"; dash: number } {
  return name.endsWith(", back") ? { colour: "faint", dash: 2 * of + 1 } : { colour: "ink", dash: 2 * of };
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
