// The chain of links and the ways of flows across it, drawn; each is chosen by a click or with the keyboard.
import { Fragment } from "preact";
import type { Group, Link, Setting } from "./setting";

export type Chosen = { kind: "link" | "group"; at: number };

const STEP = 128;
const LEFT = 30;
const TOP = 56;
const ROW = 30;

export function Topology({ setting, chosen, choose }: { setting: Setting; chosen: Chosen; choose: (chosen: Chosen) => void }) {
  const { links, groups } = setting;
  const width = 2 * LEFT + links.length * STEP;
  const height = TOP + 30 + groups.length * ROW;
  const x = (node: number) => LEFT + node * STEP;
  const pressed = (kind: Chosen["kind"], at: number, label: string) => ({
    role: "button" as const,
    // As SVG has it: attributes of other letters are others there.
    tabindex: 0,
    "aria-label": label,
    "aria-pressed": chosen.kind === kind && chosen.at === at,
    class: chosen.kind === kind && chosen.at === at ? "part chosen" : "part",
    onClick: () => choose({ kind, at }),
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      choose({ kind, at });
    },
  });
  return (
    // biome-ignore lint/a11y/useSemanticElements: a drawing has no fieldset
    <svg
      class={links.length > 3 ? "topology long" : "topology"}
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role="group"
      aria-label="Topology"
    >
      {links.map((link, at) => (
        <g key={`l${at}`} {...pressed("link", at, `Link ${at + 1}: ${rate(link)} Mbit/s ${link.delay} ms`)}>
          <rect x={x(at) + 12} y={TOP - 42} width={STEP - 24} height={60} rx="6" class="area" />
          <line x1={x(at) + 10} x2={x(at + 1) - 10} y1={TOP} y2={TOP} class="wire" stroke-dasharray={link.rates.length > 1 ? "3 5" : ""} />
          <text y={TOP - 24} text-anchor="middle">
            <tspan x={x(at) + STEP / 2}>{rate(link)} Mbit/s</tspan>{" "}
            <tspan x={x(at) + STEP / 2} dy="16">
              {link.delay} ms
            </tspan>
          </text>
        </g>
      ))}
      {Array.from({ length: links.length + 1 }, (_, node) => (
        <Fragment key={`n${node}`}>
          <circle cx={x(node)} cy={TOP} r="11" class="node" />
          <text x={x(node)} y={TOP + 4} text-anchor="middle" class="number">
            {node}
          </text>
        </Fragment>
      ))}
      {groups.map((group, at) => {
        const y = TOP + 46 + at * ROW;
        const ahead = group.end > group.begin ? 1 : -1;
        const [from, to] = [x(group.begin), x(group.end)];
        return (
          <g
            key={`g${at}`}
            {...pressed("group", at, `Flows ${flows(setting, at)}${further(group)}, from node ${group.begin} to ${group.end}`)}
          >
            <rect x={Math.min(from, to) - 8} y={y - 19} width={Math.abs(to - from) + 16} height={ROW - 2} rx="6" class="area" />
            <path d={`M${from} ${y} H${to - 8 * ahead}`} class={`way c${at % 8}`} />
            <path d={`M${to} ${y} l${-10 * ahead} -5 v10 z`} class={`head c${at % 8}`} />
            <text x={(from + to) / 2} y={y - 7} text-anchor="middle">
              {flows(setting, at)}
              {further(group)}
            </text>
          </g>
        );
      })}
    </svg>
  );
}

function rate(link: Link): string {
  return link.rates.length > 1 ? `${Math.min(...link.rates)} to ${Math.max(...link.rates)}` : String(link.rates[0]);
}

/** What flows of one algorithm may differ by. */
function further({ delay }: Group): string {
  return delay ? `, +${Number(delay.toPrecision(3))} ms` : "";
}

function flows({ groups, names }: Setting, at: number): string {
  const count = groups[at]?.count ?? 1;
  return `${count > 1 ? `${count} × ` : ""}${names[at] ?? groups[at]?.cc}`;
}
