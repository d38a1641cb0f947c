import { number } from "../ui/words";
import { lines, type Track } from "./track";

const MOST = 200;

/** Loss episodes as a table; a click shows the time of one. */
export function Episodes({ tracks, show }: { tracks: Track[]; show: (from: number, to: number) => void }) {
  const every = lines(tracks)
    .flatMap((line) => line.track.head.episodes.filter((each) => each.flow === line.flow).map((each) => ({ line, ...each })))
    .sort((one, other) => one.start - other.start);
  if (!every.length) return <p class="faint">There is no loss episode.</p>;
  return (
    <>
      <p class="faint">
        What was lost is of what the flow had sent before the episode began, since the one before did, and of what it sent again in it. A
        dash: single packets are not told.
      </p>
      <section class="scroll" tabIndex={0} aria-label="Loss episodes">
        <table class="folding">
          <thead>
            <tr>
              {[
                "flow",
                "found by",
                "what was lost, and where",
                "from (s)",
                "to (s)",
                "segments lost",
                "sent again",
                "timeouts",
                "cwnd before (kB)",
                "after (kB)",
                "",
              ].map((title, at) => (
                <th key={title} class={at < 3 ? "text" : ""}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {every.slice(0, MOST).map((each) => (
              <tr key={`${each.line.name} ${each.start}`}>
                <td class="text">{each.line.name}</td>
                <td class="text">
                  {each.cause}
                  {each.spurious ? ", needless" : ""}
                </td>
                <td class="text">{each.why.join(", ") || "–"}</td>
                <td>
                  <button
                    type="button"
                    title="Show it"
                    onClick={() => {
                      const wide = Math.max((each.end ?? each.start) - each.start, 0.02);
                      show(each.start - wide, each.start + 2 * wide);
                    }}
                  >
                    {each.start.toFixed(6)}
                  </button>
                </td>
                <td>{each.end === null ? "–" : each.end.toFixed(6)}</td>
                <td>{number(each.lost)}</td>
                <td>{each.retransmits}</td>
                <td>{each.timeouts}</td>
                <td>{number(each.before)}</td>
                <td>{number(each.after)}</td>
                <td class="text">{each.end === null ? "not over at the end" : ""}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {every.length > MOST && (
        <p class="faint">
          The first {MOST} of {every.length.toLocaleString("en")}.
        </p>
      )}
    </>
  );
}
