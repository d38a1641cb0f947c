// Each claim with its answer, and the evidence of its cells: intervals against the limits of the claim.
import * as Plot from "@observablehq/plot";
import { token } from "../plots/colours";
import { Drawn } from "../plots/drawn";
import { Folded } from "./folded";
import { count, number, scaleOf, Words } from "./words";

interface Interval {
  estimate: number | null;
  low: number | null;
  high: number | null;
  runs: number;
  method: string;
  /** What it is of, such as a difference; empty of a value itself. */
  of: string;
  unit: string;
  /** In what its numbers are told, as they are in words; null if nothing says it. */
  read_in: { unit: string; divisor: number } | null;
  above: number | null;
  below: number | null;
}

interface Evidence {
  cell: string;
  numbers: string;
  interval: Interval | null;
  doubt: string;
  steps?: Evidence[];
}

interface Column {
  heading: string;
  right: boolean;
  cells: string[];
}

export interface Verdict {
  claim: string;
  answer: "yes" | "no" | "mixed" | "cannot distinguish" | "not told";
  said: string;
  numbers: string;
  /** The same with cells counted, which are told by themselves in a table of these columns. */
  counted?: string;
  cells: Column[];
  evidence: Evidence[];
  caveat?: string;
  refuted_by?: string;
}

const SHOWN = 24;
/** Of so many claims the evidence stands below each, and so many cells in a table; of more they are folded away. */
const FEW = 6;

export function Verdicts({ verdicts }: { verdicts: Verdict[] }) {
  return (
    <>
      {verdicts.map((verdict) => (
        <div class="verdict" key={verdict.claim}>
          <h3>
            <b class={verdict.answer.split(" ")[0]}>{verdict.said}</b>: <Words text={verdict.claim} />
          </h3>
          <p class="faint">
            <Words text={verdict.counted || verdict.numbers} />
          </p>
          {verdict.caveat && (
            <p>
              But: <Words text={verdict.caveat} />
            </p>
          )}
          {verdict.refuted_by && <p class="faint">It would have been no if: {verdict.refuted_by}</p>}
          {verdicts.length > FEW ? (
            (weighed(verdict.evidence).length > 0 || verdict.cells.length > 0) && (
              <Folded title="Its evidence">
                <Forest verdict={verdict} />
                <Cells columns={verdict.cells} />
              </Folded>
            )
          ) : (
            <>
              <Forest verdict={verdict} />
              {rowsOf(verdict.cells) > FEW ? (
                <Folded title={`All ${count(rowsOf(verdict.cells), "cell")}`}>
                  <Cells columns={verdict.cells} />
                </Folded>
              ) : (
                <Cells columns={verdict.cells} />
              )}
            </>
          )}
        </div>
      ))}
    </>
  );
}

function rowsOf(columns: Column[]): number {
  return columns[0]?.cells.length ?? 0;
}

/** Each cell with both sides, how far they are apart, and what it says by itself. */
function Cells({ columns }: { columns: Column[] }) {
  if (!columns.length) return null;
  return (
    <section class="scroll cells" tabIndex={0} aria-label="Cells">
      <table>
        <thead>
          <tr>
            {columns.map(({ heading, right }) => (
              <th key={heading} scope="col" class={right ? "" : "text"}>
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {columns[0]?.cells.map((_, row) => (
            <tr key={row}>
              {columns.map(({ heading, right, cells }) => (
                <td key={heading} class={right ? "" : "text"} data-title={heading}>
                  {cells[row]}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function weighed(evidence: Evidence[], above = ""): (Evidence & { interval: Interval })[] {
  return evidence.flatMap((each) => {
    const cell = [above, each.cell].filter(Boolean).join(": ");
    const own = each.interval && each.interval.estimate !== null ? [{ ...each, cell, interval: each.interval }] : [];
    return [...own, ...weighed(each.steps ?? [], cell)];
  });
}

function Forest({ verdict }: { verdict: Verdict }) {
  const every = weighed(verdict.evidence);
  const [first, ...others] = every
    .slice(0, SHOWN)
    .map((each, at): Row => ({ ...each.interval, cell: each.cell || " ", numbers: each.numbers, at }));
  if (!first) return null;
  const rows: [Row, ...Row[]] = [first, ...others];
  const rest = every.length - rows.length;
  return (
    <>
      <Drawn
        label={`Intervals of ${verdict.claim}: ${rows.map((row) => `${row.cell} ${row.numbers}`).join("; ")}`}
        keys={[verdict]}
        draw={(width) => forest(rows, width, `var(--${verdict.answer.split(" ")[0]})`)}
      />
      <p class="faint">Shaded: where the claim holds.</p>
      {rest > 0 && <p class="faint">and {rest} more cells, which the table has</p>}
    </>
  );
}

type Row = Interval & { cell: string; numbers: string; at: number };

/** The unit of the words beside it, which all cells share; else the one in which its largest number is read. */
function readIn({ unit, read_in }: Interval, largest: number): [string, number] {
  return read_in ? [read_in.unit, read_in.divisor] : scaleOf(unit, largest);
}

function forest(rows: [Row, ...Row[]], width: number, ink: string): Element {
  const longest = Math.max(...rows.map((row) => row.cell.length));
  // Names that would leave too little room for the intervals stand above them, and not cut short: their ends tell them apart.
  const above = longest * 6.4 + 14 > width * 0.42;
  const left = longest > 1 && !above ? longest * 6.4 + 14 : 16;
  const finite = rows
    .flatMap((row) => [row.estimate, row.low, row.high, row.above, row.below])
    .filter((value): value is number => value !== null);
  const low = Math.min(...finite);
  const high = Math.max(...finite);
  const [unit, size] = readIn(rows[0], Math.max(Math.abs(low), Math.abs(high)));
  const room = (high - low || Math.abs(high) || 1) * 0.06;
  const domain = [low - room, high + room] as [number, number];
  const limits = [...new Set(rows.flatMap((row) => [row.above, row.below]).filter((value): value is number => value !== null))];
  return Plot.plot({
    width,
    height: rows.length * (above ? 34 : 19) + 44,
    marginLeft: left,
    marginTop: 6,
    marginRight: 30,
    marginBottom: 36,
    style: { background: "transparent", color: token("ink"), fontSize: "12px", overflow: "visible" },
    x: {
      domain: domain.map((value) => value / size),
      label: [rows[0].of || "value", unit && `(${unit})`].filter(Boolean).join(" "),
      labelArrow: "none",
      labelAnchor: "center",
      ticks: Math.max(2, Math.min(8, (width - left) / 70)),
      // Ticks are at round numbers of the unit that is shown.
      transform: (value: number) => value / size,
      tickFormat: (value: number) => number(value),
    },
    y: {
      domain: rows.map((row) => row.at),
      tickFormat: (at: number) => (longest > 1 && !above ? (rows[at]?.cell ?? "") : ""),
      label: null,
      tickSize: 0,
    },
    marks: [
      Plot.barX(rows, {
        x1: (row: Row) => row.above ?? domain[0],
        x2: (row: Row) => row.below ?? domain[1],
        y: "at",
        fill: token("yes"),
        fillOpacity: 0.13,
      }),
      ...(limits.length === 1
        ? [Plot.ruleX(limits, { stroke: token("ink"), strokeDasharray: "3,3" })]
        : [
            Plot.tickX(
              rows.flatMap((row) => [row.above, row.below].filter((value) => value !== null).map((value) => ({ at: row.at, value }))),
              { x: "value", y: "at", stroke: token("ink"), strokeDasharray: "2,2" },
            ),
          ]),
      Plot.link(rows, {
        x1: (row: Row) => row.low ?? domain[0],
        x2: (row: Row) => row.high ?? domain[1],
        y1: "at",
        y2: "at",
        stroke: ink,
        strokeWidth: 2,
      }),
      // Limits stand behind names, too, which are read all the same.
      ...(above
        ? [
            Plot.text(rows, {
              y: "at",
              text: "cell",
              frameAnchor: "left",
              dx: -12,
              dy: -14,
              lineWidth: (width - 24) / 12,
              fill: token("ink"),
              stroke: token("paper"),
              strokeWidth: 4,
            }),
          ]
        : []),
      Plot.dot(rows, { x: "estimate", y: "at", fill: ink, r: 3.6, title: (row: Row) => `${row.cell}\n${row.numbers}` }),
    ],
  });
}
