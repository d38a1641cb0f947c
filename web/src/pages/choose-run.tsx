// A run is one of results: those that there are, with the way to their runs.
import { get } from "../api";
import { to } from "../route";
import { Await, useLoaded } from "../ui/loaded";
import { count, when } from "../ui/words";
import type { Entry } from "./results-list";

export function ChooseRun() {
  const found = useLoaded((signal) => get<{ results: Entry[] }>("/api/results", {}, signal), []);
  return (
    <section>
      <h1>One run in detail</h1>
      <p>
        A run is one of <a href="/results">results</a>. A click on a point of a figure leads to its runs, and the table <code>runs</code>{" "}
        has all of them.
      </p>
      <Await of={found}>
        {({ results }) => {
          const opened = results.filter((each) => each.done);
          return opened.length ? (
            <ul class="cards">
              {opened.map((each) => (
                <li key={each.address} class="card">
                  <h2>
                    <a href={to("results", { of: each.address })}>{each.name}</a>
                  </h2>
                  <p>
                    <a href={to("run", { of: each.address, run: "0" })}>Run 0</a>, the first of {count(each.done ?? 0, "run")}
                  </p>
                  <p class="faint">
                    <code>{each.address}</code> · {when(each.modified)}
                  </p>
                </li>
              ))}
            </ul>
          ) : (
            <p>There are no results with runs in these folders yet.</p>
          );
        }}
      </Await>
    </section>
  );
}
