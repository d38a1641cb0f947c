import { useState } from "preact/hooks";
import { get } from "../api";
import { keep, route } from "../route";
import { Facts } from "../ui/facts";
import { Choice } from "../ui/field";
import { Ignored, quoted, unread } from "../ui/ignored";
import { AwaitPage, useLoaded } from "../ui/loaded";
import { isSeen, Table } from "../ui/table";
import { Words } from "../ui/words";
import { Beside } from "./beside";
import { Judged } from "./judged";
import { StudyFigures } from "./study-figures";
import { Validity } from "./validity";
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
  factors: Record<string, Level[]>;
  arms: string[];
  figures: Record<string, unknown>[];
  /** That says most of such traffic; null where there are no tables. */
  metric: string | null;
  origin: { facts: Record<string, string>; hashes: Record<string, string>; references: { name: string; source: string }[]; rerun: string };
  tables: string[];
}

export function ResultsPage({ of }: { of: string }) {
  const head = useLoaded((signal) => get<Head>("/api/results/head", { of }, signal), [of]);
  return (
    <AwaitPage of={head} list="results">
      {(found) => (found.planned ? <Planned of={of} head={found} /> : <Watched of={of} head={found} />)}
    </AwaitPage>
  );
}

function Planned({ of, head }: { of: string; head: Head }) {
  // What takes long is asked for when the first figure is there.
  const [ready, set] = useState(head.tables.length === 0);
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
      <Judged of={of} runs={done} ready={ready} />
      {head.tables.length > 0 && (
        <section aria-label="Workbench">
          <h2>Workbench</h2>
          <Workbench of={of} head={head} ready={() => set(true)} />
        </section>
      )}
      {head.figures.length > 0 && <StudyFigures of={of} figures={head.figures} />}
      {ready && <Validity of={of} />}
      {ready && <Beside of={of} name={head.name} />}
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

function Tables({ of, tables }: { of: string; tables: string[] }) {
  const chosen = route.value.query.get("table") ?? "";
  const table = tables.includes(chosen) ? chosen : "";
  return (
    <section class={table ? undefined : "unprinted"}>
      <h2>Tables</h2>
      <div class="row">
        <Choice
          name="Table"
          value={table}
          values={[{ value: "", words: "none" }, ...tables]}
          choose={(next) => keep({ table: next, rows: "" })}
        />
      </div>
      <Ignored
        lines={[
          ...(chosen && !table ? [`The address names the table ${quoted(chosen)}, which these results do not have.`] : []),
          ...(table ? unread("rows", isSeen, "rows", "These are the first ones.") : []),
        ]}
      />
      {table && <Table key={table} of={of} table={table} kept="rows" />}
    </section>
  );
}
