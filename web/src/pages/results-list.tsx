import { get, type Told } from "../api";
import { to } from "../route";
import { session } from "../session";
import { Await, useLoaded } from "../ui/loaded";
import { bytes, count, Words, when } from "../ui/words";

export interface Entry {
  address: string;
  name: string;
  question?: string;
  backend?: string;
  modified: number;
  bytes: number;
  planned?: number;
  done?: number;
  failed?: number;
  error?: Told;
}

export function ResultsList() {
  const found = useLoaded((signal) => get<{ results: Entry[]; complete: boolean }>("/api/results", {}, signal), []);
  return (
    <section>
      <h1>Results</h1>
      <Await of={found}>
        {({ results, complete }) => (
          <>
            {!results.length && (
              <p>
                There are none in these folders yet.{" "}
                {session.value?.allowRun ? (
                  <>
                    <a href="/studies">A study</a> makes some, one that comes along or a new one of yours.
                  </>
                ) : (
                  <>
                    <code>sawtooth run hstcp --short</code> makes some in seconds; <code>sawtooth serve --allow-run</code> makes them here.
                  </>
                )}
              </p>
            )}
            <ul class="cards">
              {results.map((entry) => (
                <li key={entry.address} class="card">
                  <h2>
                    <a href={to("results", { of: entry.address })}>{entry.name}</a>
                  </h2>
                  {entry.question && <p>{entry.question}</p>}
                  {entry.error && (
                    <p class="bad">
                      <Words text={entry.error.message} />
                    </p>
                  )}
                  <p class="faint">{[state(entry), entry.backend, bytes(entry.bytes), when(entry.modified)].filter(Boolean).join(" · ")}</p>
                  <p class="faint">
                    <code>{entry.address}</code>
                  </p>
                </li>
              ))}
            </ul>
            {results.some((entry, at) => results.findIndex((other) => other.name === entry.name && !other.error) < at && !entry.error) && (
              <p>
                <a href="/compare">Lay two of a study beside each other</a>
              </p>
            )}
            {!complete && <p class="faint">The folders hold so many files that they were not looked through to their end.</p>}
          </>
        )}
      </Await>
    </section>
  );
}

function state({ planned, done, failed }: Entry): string {
  if (planned === undefined || done === undefined) return "";
  const text = done === planned ? count(planned, "run") : `${done.toLocaleString("en")} of ${count(planned, "run")}`;
  return failed ? `${text}, ${failed} failed` : text;
}
