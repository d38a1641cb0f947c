import type { Place, Told } from "../api";
import { Wrong } from "./loaded";
import { count, Words } from "./words";

export interface Lint {
  rule: string;
  severity: "error" | "warning" | "note";
  message: string;
  hint: string | null;
  place: Place | null;
}

export interface Checked {
  problem: Told | null;
  lint: Lint[];
  plan: {
    name: string;
    question: string;
    backend: string;
    runs: number;
    /** How many times as many they are at most, where replicates are made until a rule is met. */
    times: number;
    cells: number;
    arms: string[];
    axes: Record<string, string[]>;
    demand: string;
    size: string;
    amount: string;
    notes: string[];
    hasShort: boolean;
  } | null;
}

/** What a study would run, and what is wrong with it: as `sawtooth plan` and `sawtooth lint` say it. */
export function Says({
  checked,
  show,
}: {
  checked: { value: Checked | null; problem: Told | null; stale: boolean };
  show: (place: Place) => void;
}) {
  const { value, problem, stale } = checked;
  return (
    <div class={stale ? "stale" : undefined} aria-live="polite" aria-busy={stale}>
      {problem && <Wrong told={problem} />}
      {!problem && value?.problem && (
        <>
          <Wrong told={value.problem} />
          {value.problem.place && (
            <button type="button" onClick={() => show({ ...(value.problem as Told & { place: Place }).place })}>
              Show line {value.problem.place.line}
            </button>
          )}
        </>
      )}
      {value?.plan && (
        <section aria-label="Plan">
          <h2>Plan</h2>
          <p>
            <b>
              {value.plan.times > 1
                ? `${value.plan.runs.toLocaleString("en")} to ${count(Math.round(value.plan.runs * value.plan.times), "run")}`
                : count(value.plan.runs, "run")}
            </b>
          </p>
          <p class="faint">
            {value.plan.size}; {value.plan.amount}; {value.plan.demand}; on {value.plan.backend}
          </p>
          {value.plan.notes.map((note) => (
            <p class="note" key={note}>
              {note}
            </p>
          ))}
          <dl class="facts">
            {Object.entries(value.plan.axes).map(([name, levels]) => (
              <>
                <dt key={name}>{name}</dt>
                <dd>{some(levels)}</dd>
              </>
            ))}
            {value.plan.arms.length > 0 && (
              <>
                <dt>arm</dt>
                <dd>{some(value.plan.arms)}</dd>
              </>
            )}
          </dl>
        </section>
      )}
      {value?.plan && (
        <section aria-label="Lint">
          <h2>Lint</h2>
          {!value.lint.length && <p class="faint">nothing to say</p>}
          <ul class="lint">
            {value.lint.map((each) => (
              <li key={`${each.rule} ${each.message}`}>
                <b class={{ error: "no", warning: "cannot", note: "faint" }[each.severity]}>
                  {each.severity} {each.rule}
                </b>{" "}
                <Words text={each.message} />
                {each.hint && (
                  <span class="faint">
                    {" "}
                    <Words text={each.hint} />
                  </span>
                )}
                {each.place && (
                  <button type="button" class="quiet linked" onClick={() => show({ ...(each.place as Place) })}>
                    line {each.place.line}
                  </button>
                )}
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

const MOST = 12;

function some(names: string[]): string {
  return names.length > MOST ? `${names.slice(0, MOST).join(", ")} and ${names.length - MOST} more` : names.join(", ");
}
