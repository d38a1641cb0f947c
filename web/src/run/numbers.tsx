// What runs come to, beside each other: those that are laid over each other, with how much each differs from the first.
import { Fragment } from "preact";
import { number, scaleOf } from "../ui/words";
import type { Track } from "./track";

interface Row {
  of: string;
  what: string;
  unit: string;
  values: (number | null | undefined)[];
}

/** A row for whatever one of the runs tells, in the order of the first that does. */
function rows(tracks: Track[]): Row[] {
  const found = new Map<string, Row>();
  tracks.forEach((track, at) => {
    for (const each of track.head.numbers) {
      const key = JSON.stringify([each.of, each.what]);
      const row = found.get(key) ?? { of: each.of, what: each.what, unit: each.unit, values: [] };
      row.values[at] = each.value;
      found.set(key, row);
    }
  });
  // What is of one flow or link stands together, also what only a later run has.
  const order = [...new Set([...found.values()].map((row) => row.of))];
  const told = [...found.values()].filter((row) => row.values.some((value) => typeof value === "number"));
  return told.sort((one, other) => order.indexOf(one.of) - order.indexOf(other.of));
}

export function Numbers({ tracks }: { tracks: Track[] }) {
  if (tracks.length < 2) return null;
  const found = rows(tracks);
  // Runs that have no flow or link in common differ by nothing that could be told.
  const later = tracks
    .map((track, at) => ({ track, at }))
    .slice(1)
    .filter(({ at }) => found.some(({ values }) => typeof values[0] === "number" && typeof values[at] === "number"));
  return (
    <section aria-label="Numbers of these runs">
      <h2>In numbers</h2>
      <section class="scroll" tabIndex={0} aria-label="Numbers beside each other">
        <table class="folding">
          <thead>
            <tr>
              <th class="text">what</th>
              {tracks.map((track) => (
                <th key={track.label}>{track.label}</th>
              ))}
              {later.map(({ track }) => (
                <th key={track.label}>{tracks.length > 2 ? `difference, ${track.label}` : "difference"}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {found.map((row, at) => {
              const known = row.values.filter((value): value is number => typeof value === "number");
              const [unit, size] = scaleOf(row.unit, Math.max(...known.map(Math.abs), 0));
              const [first] = row.values;
              // A line of its own for whose they are, instead of a column: all of it is seen on a phone.
              return (
                <Fragment key={`${row.of} ${row.what}`}>
                  {row.of !== found[at - 1]?.of && (
                    <tr>
                      <th class="text" scope="rowgroup" colSpan={1 + tracks.length + later.length}>
                        {row.of}
                      </th>
                    </tr>
                  )}
                  <tr aria-label={`${row.of} ${unit ? `${row.what} (${unit})` : row.what}`}>
                    <td class="text">{unit ? `${row.what} (${unit})` : row.what}</td>
                    {tracks.map((track, at) => (
                      <td key={track.label}>{told(row.values[at], size)}</td>
                    ))}
                    {later.map(({ track, at }) => (
                      <td key={track.label}>{difference(first, row.values[at], size)}</td>
                    ))}
                  </tr>
                </Fragment>
              );
            })}
          </tbody>
        </table>
      </section>
      <p class="faint">
        {spans(tracks)} Goodput is of the time from a flow's start, of all flows from the first start, to the end of the run, also where a
        transfer completed before.
      </p>
      <p class="faint">A dash: this run has no such flow or link, or does not tell it, as of a transfer that did not complete.</p>
    </section>
  );
}

/** Over which time the numbers are: of what is drawn below less may be shown. */
function spans(tracks: Track[]): string {
  const lasting = (track: Track) => `from 0 to ${number(+track.head.duration.toPrecision(6))} s`;
  const alike = new Set(tracks.map(lasting)).size === 1;
  const each = alike ? lasting(tracks[0] as Track) : tracks.map((track) => `${track.label} ${lasting(track)}`).join(", ");
  const fork = Math.max(...tracks.map((track) => (track.which.change && track.head.differs) || 0));
  const common = fork ? ` What is the same in both futures, until ${+fork.toFixed(9)} s, counts in both.` : "";
  return `Of whole runs, whatever stretch is shown below: ${each}.${common}`;
}

function told(value: number | null | undefined, size: number): string {
  return number(typeof value === "number" ? +(value / size).toPrecision(6) : null);
}

/** How much more the second is, also as a share of the first. */
function difference(first: number | null | undefined, second: number | null | undefined, size: number): string {
  if (typeof first !== "number" || typeof second !== "number") return "–";
  const more = second - first;
  if (more === 0) return "0";
  const sign = more > 0 ? "+" : "−";
  const share = first ? ` (${sign}${number(+Math.abs((100 * more) / first).toPrecision(3))} %)` : "";
  return `${sign}${number(+Math.abs(more / size).toPrecision(4))}${share}`;
}
