import { useState } from "preact/hooks";
import { get } from "../api";
import { Facts } from "../ui/facts";
import { Choice } from "../ui/field";
import { Await, useLoaded } from "../ui/loaded";
import { Table } from "../ui/table";
import { type Verdict, Verdicts } from "../ui/verdicts";
import { Words } from "../ui/words";
import { StudyFigures } from "./study-figures";
import { Workbench } from "./workbench";

export interface Level {
  level: string;
  words: string;
}

export interface Head {
  name: string;
  question: string;
  backend: string;
  planned: boolean;
  runs: { planned: number; done: number; failed: number };
  warnings: string[];
  caveats: string[];
  verdicts: Verdict[];
  factors: Record<string, Level[]>;
  arms: string[];
  figures: Record<string, unknown>[];
  suggested: string[];
  validity: {
    said: string;
    entries: { code: string; severity: string; summary: string; where: string; example: string; advice: string }[];
  } | null;
  origin: { facts: Record<string, string>; hashes: Record<string, string>; references: { name: string; source: string }[]; rerun: string };
  tables: string[];
}

export function ResultsPage({ of }: { of: string }) {
  const head = useLoaded((signal) => get<Head>("/api/results/head", { of }, signal), [of]);
  return <Await of={head}>{(found) => (found.planned ? <Planned of={of} head={found} /> : <Watched of={of} head={found} />)}</Await>;
}

function Planned({ of, head }: { of: string; head: Head }) {
  const [runs, show] = useState<number[] | null>(null);
  const { planned, done, failed } = head.runs;
  return (
    <article>
      <h1>{head.question || head.name}</h1>
      <p class="faint">
        {head.name} · {done === planned ? planned.toLocaleString("en") : `${done.toLocaleString("en")} of ${planned.toLocaleString("en")}`}{" "}
        runs
        {failed ? `, ${failed} failed` : ""} · {head.backend} · <code>{of}</code>
      </p>
      {head.warnings.map((each) => (
        <p class="wrong" key={each}>
          {each}
        </p>
      ))}
      {head.caveats.map((each) => (
        <p class="note" key={each}>
          <Words text={each} />
        </p>
      ))}
      {head.verdicts.length > 0 && (
        <section aria-label="Verdicts">
          <h2>Verdicts</h2>
          <Verdicts verdicts={head.verdicts} />
        </section>
      )}
      {head.tables.length > 0 && (
        <section aria-label="Workbench">
          <h2>Workbench</h2>
          <Workbench of={of} head={head} chosen={show} />
          {runs && <Runs of={of} runs={runs} close={() => show(null)} />}
        </section>
      )}
      {head.figures.length > 0 && <StudyFigures of={of} figures={head.figures} />}
      {head.validity && (
        <section>
          <h2>Validity</h2>
          <p>{head.validity.said}.</p>
          {head.validity.entries.map((each) => (
            <details key={each.code}>
              <summary>
                {each.code}, {each.severity}: {each.summary}
              </summary>
              <p>
                {each.where}. {each.example && `Such as ${each.example}.`} {each.advice}
              </p>
            </details>
          ))}
        </section>
      )}
      <Tables of={of} tables={["runs", ...head.tables]} />
      <section>
        <h2>Where it is from</h2>
        <Facts
          facts={{
            ...head.origin.facts,
            ...Object.fromEntries(Object.entries(head.origin.hashes).map(([name, hash]) => [`hash: ${name}`, hash])),
          }}
        />
        <p>Made again by:</p>
        <pre>{head.origin.rerun}</pre>
      </section>
    </article>
  );
}

function Watched({ of, head }: { of: string; head: Head }) {
  return (
    <article>
      <h1>{head.name}</h1>
      <p>This is what was watched: no study says what may be asked of it.</p>
      <Tables of={of} tables={head.tables} />
    </article>
  );
}

function Runs({ of, runs, close }: { of: string; runs: number[]; close: () => void }) {
  return (
    <section class="card" aria-label="Runs of a point">
      <div class="row">
        <h3>
          {runs.length} run{runs.length === 1 ? "" : "s"} of this point
        </h3>
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
      <Table of={of} table="runs" runs={runs} />
    </section>
  );
}

function Tables({ of, tables }: { of: string; tables: string[] }) {
  const [table, choose] = useState("");
  return (
    <section>
      <h2>Tables</h2>
      <div class="row">
        <Choice name="Table" value={table} values={[{ value: "", words: "none" }, ...tables]} choose={choose} />
      </div>
      {table && <Table key={table} of={of} table={table} />}
    </section>
  );
}
