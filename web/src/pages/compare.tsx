// Two results of a study beside each other, such as a simulator's and a kernel's, or those from before and after a change: as `sawtooth compare` has them.
import { useState } from "preact/hooks";
import { address, get } from "../api";
import { keep, route } from "../route";
import { Choice } from "../ui/field";
import { Folded } from "../ui/folded";
import { Await, useLoaded } from "../ui/loaded";
import { MeasureField } from "../ui/measure";
import { Paged } from "../ui/table";
import { count, Words } from "../ui/words";
import { named } from "./beside";
import type { Head } from "./results";
import type { Entry } from "./results-list";
import { Workbench } from "./workbench";

/** What is compared, as the address has it. */
interface Asked {
  of?: string | undefined;
  beside?: string | undefined;
  metric?: string | undefined;
  arm?: string | undefined;
  flows?: string | undefined;
  tolerance?: string | undefined;
}

const KEYS = ["of", "beside", "metric", "arm", "flows", "tolerance"] as const;

interface Summary {
  sides: [string, string];
  metrics: string[];
  summary: string[];
  verdicts: Record<string, number>;
  key: string[];
  notes: string[];
  unmatched: { where: string; what: string; why: string; rows: number }[];
  unmatchedInAll: number;
  command: string;
}

export function ComparePage() {
  const { query } = route.value;
  const asked: Asked = Object.fromEntries(KEYS.flatMap((key) => (query.get(key) ? [[key, query.get(key)]] : [])));
  const ask = (next: Asked) => keep({ ...asked, ...next });
  const found = useLoaded((signal) => get<{ results: Entry[] }>("/api/results", {}, signal), []);
  return (
    <article>
      <h1>{asked.of && asked.beside ? `${last(asked.of)} beside ${last(asked.beside)}` : "Two results beside each other"}</h1>
      {!(asked.of && asked.beside) && (
        <p>
          Choose results, and others of the same study to lay beside them: a simulator's and a kernel's, or those from before and after a
          change. Each cell of one is held against the same cell of the other, and nothing of the two is taken together.
        </p>
      )}
      <Await of={found}>{({ results }) => <Sides results={results.filter((each) => !each.error)} asked={asked} ask={ask} />}</Await>
      {asked.of && asked.beside && (
        <Compared key={`${asked.of} ${asked.beside}`} asked={{ ...asked, of: asked.of, beside: asked.beside }} ask={ask} />
      )}
    </article>
  );
}

/** The name of a directory without what is above it. */
function last(address: string): string {
  return address.split("/").pop() ?? address;
}

function Sides({ results, asked, ask }: { results: Entry[]; asked: Asked; ask: (next: Asked) => void }) {
  const first = results.find((each) => each.address === asked.of);
  const others = results.filter((each) => each.address !== asked.of && (!first || each.name === first.name));
  const choices = (some: Entry[], chosen?: string) => [
    { value: "", words: "choose" },
    ...some.map((each) => ({ value: each.address, words: named(each) })),
    // What the address says is shown, also where it is not among them.
    ...(chosen && !some.some((each) => each.address === chosen) ? [{ value: chosen, words: chosen }] : []),
  ];
  return (
    <>
      {first?.question && <p>{first.question}</p>}
      <div class="row">
        <Choice
          name="Results"
          value={asked.of ?? ""}
          values={choices(results, asked.of)}
          choose={(of) => ask({ of: of || undefined, beside: undefined })}
        />
        <Choice
          name="Beside"
          value={asked.beside ?? ""}
          values={choices(others, asked.beside)}
          choose={(beside) => ask({ beside: beside || undefined })}
        />
        {asked.of && asked.beside && (
          <button type="button" onClick={() => ask({ of: asked.beside, beside: asked.of })}>
            The other way round
          </button>
        )}
      </div>
      {first && !others.length && <p>There are no other results of this study in these folders.</p>}
    </>
  );
}

type Both = Asked & { of: string; beside: string };

function Compared({ asked, ask }: { asked: Both; ask: (next: Asked) => void }) {
  const head = useLoaded((signal) => get<Head>("/api/results/head", { of: asked.of }, signal), [asked.of]);
  const [ready, set] = useState(false);
  const [unshown, tell] = useState<string | undefined>();
  const heard = (problem: string | undefined) => {
    tell(problem);
    set(true);
  };
  return (
    <Await of={head}>
      {(found) => (
        <>
          {found.planned && found.tables.length > 0 && (
            <section aria-label="Workbench">
              <h2>Any measure of both</h2>
              <Workbench of={asked.of} beside={asked.beside} head={found} ready={heard} />
            </section>
          )}
          {(ready || !found.planned || !found.tables.length) && (
            <Verdicts asked={asked} arms={found.arms ?? []} unshown={unshown} ask={ask} />
          )}
        </>
      )}
    </Await>
  );
}

/** Cell by cell: ratios with their intervals, and whether they agree. */
interface Judging {
  asked: Both;
  arms: string[];
  /** Why nothing is drawn above, if so: it is not said twice. */
  unshown: string | undefined;
  ask: (next: Asked) => void;
}

function Verdicts({ asked, arms, unshown, ask }: Judging) {
  const found = useLoaded((signal) => get<Summary>("/api/compare", { ...asked }, signal), [JSON.stringify(asked)]);
  return (
    <section aria-label="Cell by cell" aria-busy={found.loading}>
      <h2>Do they agree, cell by cell?</h2>
      <Question asked={asked} arms={arms} ask={ask} />
      {found.loading && (
        <p class="faint" role="status">
          being compared …
        </p>
      )}
      {found.problem && found.problem.message === unshown && <p>They cannot be compared either, for the same reason.</p>}
      {!(found.loading && !found.value) && !(found.problem && found.problem.message === unshown) && (
        <Await of={found}>{(made) => <Told asked={asked} made={made} />}</Await>
      )}
    </section>
  );
}

function Question({ asked, arms, ask }: { asked: Both; arms: string[]; ask: (next: Asked) => void }) {
  return (
    <div class="row">
      <MeasureField
        value={asked.metric ?? ""}
        placeholder="completion times of transfers, else goodput"
        ask={(metric) => ask({ metric })}
      />
      {arms.length > 1 && (
        <Choice name="Arm" value={asked.arm ?? ""} values={[{ value: "", words: "all" }, ...arms]} choose={(arm) => ask({ arm })} />
      )}
      <Choice
        name="Flows of a block"
        value={asked.flows ?? "mean"}
        values={["mean", "sum", "max", "min", "each"]}
        choose={(flows) => ask({ flows })}
      />
      <Choice
        name="Agrees within"
        value={asked.tolerance ?? "5 %"}
        values={[...new Set(["1 %", "2 %", "5 %", "10 %", "20 %", asked.tolerance ?? "5 %"])]}
        choose={(tolerance) => ask({ tolerance })}
      />
    </div>
  );
}

function Told({ asked, made }: { asked: Both; made: Summary }) {
  const query = { ...asked };
  return (
    <>
      <p>
        <Counted of={made} verdict="agree" ink="yes" words="agree" />, <Counted of={made} verdict="differ" ink="no" words="differ" />,{" "}
        <Counted of={made} verdict="not decided" ink="cannot" words="are not decided" />: each is the ratio of means of {made.sides[0]} over{" "}
        {made.sides[1]} in a cell. A verdict counts how many ratios are looked at (Holm), their intervals do not: one that leaves the
        tolerance out may still be undecided.
      </p>
      <ul>
        {made.summary.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      {made.notes.map((note) => (
        <p class="note" key={note}>
          <Words text={note} />
        </p>
      ))}
      <Plots asked={asked} />
      <h3>Every cell</h3>
      <p class="faint">
        In the unit that stands behind each measure; the CSV file is in base units. {made.key.map((line) => `${line}.`).join(" ")}{" "}
        <a href={address("/api/compare/csv", query)} download>
          CSV
        </a>
      </p>
      <Paged path="/api/compare/rows" query={query} label="Every cell" kept="rows" />
      <h3>Only on one side</h3>
      {made.unmatchedInAll === 0 ? (
        <p>Nothing: every cell, flow and value of one side has its counterpart.</p>
      ) : (
        <>
          <ul>
            {made.unmatched.map((each) => (
              <li key={`${each.where} ${each.what} ${each.why}`}>
                {each.where}: {each.what}: {each.why} ({count(each.rows, "row")})
              </li>
            ))}
          </ul>
          {made.unmatchedInAll > made.unmatched.length && (
            <p class="faint">and {made.unmatchedInAll - made.unmatched.length} more, which the CSV file has</p>
          )}
        </>
      )}
      <h3>The same on the command line</h3>
      <pre tabIndex={0}>{made.command}</pre>
    </>
  );
}

/** How many rows have a verdict: in its colour, if any has. */
function Counted({ of, verdict, ink, words }: { of: Summary; verdict: string; ink: string; words: string }) {
  const rows = of.verdicts[verdict] ?? 0;
  return rows ? (
    <b class={ink}>
      {rows} {words}
    </b>
  ) : (
    <span>0 {words}</span>
  );
}

/** The figures of the page that `sawtooth compare --out` writes. */
function Plots({ asked }: { asked: Both }) {
  return (
    <Folded title="Figures of the comparison: means against means, and ratios" kept="comparison">
      <Pictures asked={asked} />
    </Folded>
  );
}

function Pictures({ asked }: { asked: Both }) {
  const found = useLoaded(
    (signal) => get<{ plots: { section: string; name: string; caption: string }[] }>("/api/compare/plots", { ...asked }, signal),
    [JSON.stringify(asked)],
  );
  return (
    <Await of={found}>
      {({ plots }) => (
        <>
          {plots.map((plot) => (
            <figure key={plot.name}>
              <section class="drawn wide" tabIndex={0} aria-label={`Figure ${plot.name}`}>
                <img
                  loading="lazy"
                  src={address("/api/compare/plot", { ...asked, name: plot.name })}
                  alt={`${plot.section}: ${plot.caption}`}
                />
              </section>
              <figcaption>
                <Words text={plot.caption} />
                {(["svg", "png"] as const).map((way) => (
                  <span key={way}>
                    {" "}
                    <a href={address("/api/compare/plot", { ...asked, name: plot.name, as: way })} download={`${plot.name}.${way}`}>
                      {way.toUpperCase()}
                    </a>
                  </span>
                ))}{" "}
                <a href={address("/api/compare/csv", { ...asked })} download>
                  CSV
                </a>
              </figcaption>
            </figure>
          ))}
        </>
      )}
    </Await>
  );
}
