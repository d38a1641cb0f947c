import { useState } from "preact/hooks";
import { gone, problemOf, type Told } from "../api";
import { to } from "../route";
import { session } from "../session";
import { cancel, pause, resume, type Sweep } from "../sweeps";
import { Wrong } from "./loaded";
import { duration } from "./words";

/** Sweeps with how far they are, and what can be done with them. */
export function Progress({ sweeps, named }: { sweeps: Sweep[]; named?: boolean }) {
  return (
    <ul class="sweeps" aria-label="Sweeps">
      {sweeps.map((sweep) => (
        <li key={sweep.out}>
          <One sweep={sweep} named={named ?? false} />
        </li>
      ))}
    </ul>
  );
}

function One({ sweep, named }: { sweep: Sweep; named: boolean }) {
  const [problem, tell] = useState<Told | null>(null);
  const act = (done: Promise<void>) => {
    tell(null);
    done.catch((error) => tell(problemOf(error)));
  };
  const { progress, state } = sweep;
  const alive = state === "running" || state === "pausing";
  const share = state === "done" ? 1 : (progress?.share ?? 0);
  const name = sweep.out.split("/").at(-1) ?? sweep.out;
  // One button for both, so that it keeps the focus.
  const next = alive ? "Pause" : "Resume";
  const go = () => {
    if (state !== "pausing") act(alive ? pause(sweep.number) : resume(sweep.number));
  };
  return (
    <div class="sweep">
      <div class="row between">
        <span>
          <b>{named ? <a href={to("studies", { of: sweep.study })}>{name}</a> : name}</b> <span class="faint">{words(sweep)}</span>
        </span>
        {session.value?.allowRun && !gone.value && (
          <span class="row">
            {state !== "done" && (
              <button type="button" aria-label={`${next} ${name}`} aria-disabled={state === "pausing"} onClick={go}>
                {next}
              </button>
            )}
            <button
              type="button"
              aria-label={`${alive ? "Cancel" : "Dismiss"} ${name}`}
              onClick={(event) => {
                // The button goes, and who pressed it stays where it was.
                event.currentTarget.closest<HTMLElement>("main, [tabindex]")?.focus({ preventScroll: true });
                act(cancel(sweep.number));
              }}
            >
              {alive ? "Cancel" : "Dismiss"}
            </button>
          </span>
        )}
      </div>
      <progress max={1} value={alive && !progress && !gone.value ? undefined : share} aria-label={`Progress of ${name}`} />
      <p class="faint">
        <a href={to("results", { of: sweep.out })}>{sweep.out}</a>
        {sweep.short ? ", the short form" : ""}
      </p>
      {state === "failed" && <pre tabIndex={0}>{sweep.said.join("\n")}</pre>}
      {state !== "failed" && sweep.said.length > 0 && (
        <details>
          <summary class="faint">What it said</summary>
          <pre tabIndex={0}>{sweep.said.join("\n")}</pre>
        </details>
      )}
      {problem && <Wrong told={problem} />}
    </div>
  );
}

const STATES = { running: "running", pausing: "storing what is done", paused: "paused", done: "done", failed: "ended with an error" };

function words({ state, progress }: Sweep): string {
  const lost = gone.value && (state === "running" || state === "pausing");
  const parts: string[] = [lost ? "the explorer is gone, and this with it" : STATES[state]];
  if (progress) {
    parts.push(`${progress.runs.toLocaleString("en")} of ${progress.planned.toLocaleString("en")} runs`);
    // Runs differ in length by orders of magnitude: the bar is of the work.
    if (state !== "done") parts.push(`${Math.floor(100 * progress.share)} % of the work`);
    if (progress.round > 1) parts.push(`round ${progress.round}`);
    if (progress.failed) parts.push(`${progress.failed} failed`);
    if (state === "running" && !lost && progress.left !== null) parts.push(`about ${duration(progress.left)} left`);
    if (state === "done") parts.push(duration(progress.seconds));
  } else if (state === "running" && !lost) parts.push("planning");
  return parts.join(" · ");
}
