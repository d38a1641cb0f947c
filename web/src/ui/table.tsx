import { useState } from "preact/hooks";
import { get, type Query } from "../api";
import { keep, to } from "../route";
import { read } from "./kept";
import { Await, useLoaded } from "./loaded";
import { Press } from "./press";
import { Sideways } from "./sideways";
import { number } from "./words";

interface Rows {
  columns: string[];
  /** What they are called, if otherwise. */
  titles?: string[];
  /** Of those whose names do not tell them. */
  units: string[];
  numeric: boolean[];
  rows: (string | number | boolean | null)[][];
  offset: number;
  total: number;
}

const PAGE = 100;
/** Columns that no sheet of paper holds beside each other. */
const WIDE = 12;
const ARROWS = { none: "", ascending: " ↑", descending: " ↓" };

/** A table of results; its runs are links. `kept`: the name by which the address keeps which rows are shown. */
export function Table({ of, table, runs, own, kept }: { of: string; table: string; runs?: number[]; own?: Own; kept?: string }) {
  const query = { of, table, runs: runs?.join(",") };
  return <Paged path="/api/results/table" query={query} label={`Table ${table}`} runsOf={of} own={own} kept={kept} />;
}

/** A column of numbers that the page has of each run, and what sorts the rows by it. */
export interface Own {
  title: string;
  value: (run: number) => number | null;
  sorted: "none" | "ascending" | "descending";
  sort: () => void;
}

/** Which rows are shown: from which on, and sorted by what. */
interface Seen {
  offset: number;
  by?: string | undefined;
  down?: boolean | undefined;
}

export function isSeen(value: unknown): value is Seen {
  const { offset, by } = (value ?? {}) as Seen;
  return Number.isSafeInteger(offset) && offset >= 0 && ["string", "undefined"].includes(typeof by);
}

function useSeen(kept?: string): [Seen, (seen: Seen) => void] {
  const own = useState<Seen>({ offset: 0 });
  if (kept === undefined) return own;
  return [read(kept, isSeen) ?? { offset: 0 }, (seen) => keep({ [kept]: seen.offset || seen.by ? JSON.stringify(seen) : "" })];
}

interface PagedProps {
  path: string;
  query: Query;
  label: string;
  /** The results that numbers of runs are of. */
  runsOf?: string | undefined;
  own?: Own | undefined;
  kept?: string | undefined;
}

/** Rows that the server gives a page at a time; headings sort them. */
export function Paged({ path, query, label, runsOf, own, kept }: PagedProps) {
  const [{ offset, by, down }, see] = useSeen(kept);
  const found = useLoaded(
    (signal) => get<Rows>(path, { ...query, offset, limit: PAGE, by, descending: down ? "1" : undefined }, signal),
    [path, JSON.stringify(query), offset, by, down],
  );
  return (
    <Await of={found}>
      {({ columns, titles = columns, units, numeric, rows, total }) => (
        <>
          <Sideways label={label} busy={found.loading}>
            <table class={columns.length > WIDE ? "wide" : ""}>
              <thead>
                <tr>
                  {own && (
                    <th aria-sort={by ? "none" : own.sorted}>
                      <button
                        type="button"
                        onClick={() => {
                          see({ offset: 0 });
                          own.sort();
                        }}
                      >
                        {own.title}
                        {by ? "" : ARROWS[own.sorted]}
                      </button>
                    </th>
                  )}
                  {columns.map((column, at) => (
                    <th
                      key={column}
                      class={numeric[at] ? "" : "text"}
                      aria-sort={by === column ? (down ? "descending" : "ascending") : "none"}
                    >
                      <button type="button" onClick={() => see({ offset: 0, by: column, down: by === column && !down })}>
                        {titles[at]}
                        {units[at] && ` (${units[at]})`}
                        {by === column ? (down ? " ↓" : " ↑") : ""}
                      </button>
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {rows.map((row, at) => (
                  <tr key={at}>
                    {own && <td>{number(own.value(Number(row[columns.indexOf("run")])))}</td>}
                    {row.map((cell, column) => (
                      <td
                        key={columns[column]}
                        class={numeric[column] ? "" : "text"}
                        data-title={`${titles[column]}${units[column] && ` (${units[column]})`}`}
                      >
                        {runsOf && columns[column] === "run" && typeof cell === "number" ? (
                          <a href={to("run", { of: runsOf, run: String(cell) })}>{cell}</a>
                        ) : (
                          text(cell, columns[column] ?? "")
                        )}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </Sideways>
          {total > PAGE && (
            <p class="row">
              <Press no={!offset} go={() => see({ offset: Math.max(offset - PAGE, 0), ...(by ? { by } : {}), ...(down ? { down } : {}) })}>
                Earlier
              </Press>
              <span class="faint">
                {(offset + 1).toLocaleString("en")} to {Math.min(offset + PAGE, total).toLocaleString("en")} of {total.toLocaleString("en")}
              </span>
              <Press
                no={offset + PAGE >= total}
                go={() => see({ offset: offset + PAGE, ...(by ? { by } : {}), ...(down ? { down } : {}) })}
              >
                Later
              </Press>
            </p>
          )}
        </>
      )}
    </Await>
  );
}

function text(cell: string | number | boolean | null, column: string): string {
  if (cell === null) return "";
  return typeof cell === "number" && column !== "seed" ? number(cell) : String(cell);
}
