import { useState } from "preact/hooks";
import { get, type Query } from "../api";
import { to } from "../route";
import { Await, useLoaded } from "./loaded";
import { number } from "./words";

interface Rows {
  columns: string[];
  numeric: boolean[];
  rows: (string | number | boolean | null)[][];
  offset: number;
  total: number;
}

const PAGE = 100;

/** A table of results; its runs are links. */
export function Table({ of, table, runs }: { of: string; table: string; runs?: number[] }) {
  return <Paged path="/api/results/table" query={{ of, table, runs: runs?.join(",") }} label={`Table ${table}`} runsOf={of} />;
}

/** Rows that the server gives a page at a time; headings sort them. `runsOf`: the results that numbers of runs are of. */
export function Paged({ path, query, label, runsOf }: { path: string; query: Query; label: string; runsOf?: string }) {
  const [{ offset, by, down }, see] = useState<{ offset: number; by?: string; down?: boolean }>({ offset: 0 });
  const found = useLoaded(
    (signal) => get<Rows>(path, { ...query, offset, limit: PAGE, by, descending: down ? "1" : undefined }, signal),
    [path, JSON.stringify(query), offset, by, down],
  );
  return (
    <Await of={found}>
      {({ columns, numeric, rows, total }) => (
        <>
          <section class="scroll" tabIndex={0} aria-label={label} aria-busy={found.loading}>
            <table>
              <thead>
                <tr>
                  {columns.map((column, at) => (
                    <th
                      key={column}
                      class={numeric[at] ? "" : "text"}
                      aria-sort={by === column ? (down ? "descending" : "ascending") : "none"}
                    >
                      <button type="button" onClick={() => see({ offset: 0, by: column, down: by === column && !down })}>
                        {column}
                        {by === column ? (down ? " ↓" : " ↑") : ""}
                      </button>
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {rows.map((row, at) => (
                  <tr key={at}>
                    {row.map((cell, column) => (
                      <td key={columns[column]} class={numeric[column] ? "" : "text"}>
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
          </section>
          {total > PAGE && (
            <p class="row">
              <button
                type="button"
                disabled={!offset}
                onClick={() => see({ offset: Math.max(offset - PAGE, 0), ...(by ? { by } : {}), ...(down ? { down } : {}) })}
              >
                Earlier
              </button>
              <span class="faint">
                {(offset + 1).toLocaleString("en")} to {Math.min(offset + PAGE, total).toLocaleString("en")} of {total.toLocaleString("en")}
              </span>
              <button
                type="button"
                disabled={offset + PAGE >= total}
                onClick={() => see({ offset: offset + PAGE, ...(by ? { by } : {}), ...(down ? { down } : {}) })}
              >
                Later
              </button>
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
