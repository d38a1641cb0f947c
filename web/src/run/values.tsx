import { Stroke } from "../ui/stroke";
import { number } from "../ui/words";
import { dashOf, lines, type Track } from "./track";

const COLUMNS: [string, string, string][] = [
  ["cwnd", "t", "cwnd (kB)"],
  ["ssthresh", "t", "ssthresh (kB)"],
  ["flight", "t", "flight (kB)"],
  ["rtt", "t", "RTT (ms)"],
  ["pacing", "t", "pacing (Mbit/s)"],
  ["goodput", "goodput t", "goodput (Mbit/s)"],
];

/** What all curves are at a moment, as a table: what the panels show to those who see them. */
export function Values({ tracks, at }: { tracks: Track[]; at: number }) {
  return (
    <section class="scroll" tabIndex={0} aria-label={`Values at ${at} s`}>
      <table>
        <thead>
          <tr>
            <th class="text">flow</th>
            {COLUMNS.map(([name, , title]) => (
              <th key={name}>{title}</th>
            ))}
            <th class="text">limited by</th>
          </tr>
        </thead>
        <tbody>
          {lines(tracks).map((line) => (
            <tr key={line.name}>
              <td class="text">
                <Stroke colour={line.colour} dash={dashOf(line)} /> {line.name}
              </td>
              {COLUMNS.map(([name, times]) => {
                const steps = line.track.curve(`${line.flow} ${name}`, `${line.flow} ${times}`);
                const value = steps?.at(at);
                return <td key={name}>{value === undefined || Number.isNaN(value) ? "–" : number(value)}</td>;
              })}
              <td class="text">{limit(line.track, line.flow, at)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function limit(track: Track, flow: string, at: number): string {
  const which = track.curve(`${flow} limited by`, `${flow} limited from`)?.at(at);
  return which === undefined || Number.isNaN(which) ? "–" : (track.head.limits[which] ?? "–");
}
