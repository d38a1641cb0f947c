// The verdicts, which of many runs take seconds: the page is there before them. Whoever has begun to do something by then is not pushed away.
import { useEffect, useRef, useState } from "preact/hooks";
import { address, get } from "../api";
import { useLoaded, Wrong } from "../ui/loaded";
import { type Verdict, Verdicts } from "../ui/verdicts";
import { Words } from "../ui/words";

interface Found {
  verdicts: Verdict[];
  forest: { caption: string } | null;
}

interface Weighed {
  done: number;
  of: number;
}

/** Milliseconds after which it is asked again how far it is. */
const AGAIN = 500;

/** `ready`: whether they may be asked for; `runs`: how many they are made of. */
export function Judged({ of, runs, ready }: { of: string; runs: number; ready: boolean }) {
  const { value, problem } = useLoaded<Found | null>(
    (signal) => (ready ? get<Found>("/api/results/verdicts", { of }, signal) : Promise.resolve(null)),
    [of, ready],
  );
  const busy = useBusy();
  const [open, set] = useState<boolean | null>(null);
  useEffect(() => {
    if (value && open === null) set(!busy.current);
  }, [value]);
  if (problem) return <Wrong told={problem} />;
  return (
    <section aria-label="Verdicts">
      <h2>Verdicts</h2>
      {value && !value.verdicts.length ? (
        <p class="faint">
          {runs ? (
            <>
              This study makes no claims, so nothing is judged: a <code>[[findings]]</code> block of its file makes one.
            </>
          ) : (
            "Nothing can be judged yet: no run is done."
          )}
        </p>
      ) : value ? (
        <details class="plain" open={open ?? !busy.current} onToggle={(event) => set(event.currentTarget.open)}>
          <summary>{counted(value.verdicts)}</summary>
          <Verdicts verdicts={value.verdicts} />
          {value.forest && value.verdicts.length > 1 && (
            <details>
              <summary>All verdicts in one figure</summary>
              <figure>
                <div class="drawn">
                  <img loading="lazy" src={address("/api/results/forest", { of, shown: 1 })} alt={value.forest.caption} />
                </div>
                <figcaption>
                  <Words text={value.forest.caption} />{" "}
                  <a href={address("/api/results/forest", { of })} download>
                    SVG
                  </a>
                </figcaption>
              </figure>
            </details>
          )}
        </details>
      ) : (
        <Judging of={of} runs={runs} ready={ready} />
      )}
    </section>
  );
}

/** How far it is, while it is being judged. */
function Judging({ of, runs, ready }: { of: string; runs: number; ready: boolean }) {
  const [weighed, set] = useState<Weighed>({ done: 0, of: 0 });
  useEffect(() => {
    if (!ready) return;
    const control = new AbortController();
    const ask = async () => {
      // One that is not answered says nothing; the verdicts themselves say what is wrong.
      const found = await get<Weighed>("/api/results/weighed", { of }, control.signal).catch(() => null);
      if (control.signal.aborted) return;
      if (found) set(found);
      timer = setTimeout(ask, AGAIN);
    };
    let timer = setTimeout(ask, AGAIN);
    return () => {
      control.abort();
      clearTimeout(timer);
    };
  }, [of, ready]);
  if (!ready) return <p class="faint">Claims are judged as soon as the first figure is there …</p>;
  return (
    <div class="judging">
      <p class="faint" role="status">
        Claims are being judged on {runs.toLocaleString("en")} runs …
      </p>
      {weighed.of > 0 && (
        <p class="faint">
          <progress value={weighed.done} max={weighed.of} aria-label="Claims that were looked at" /> {weighed.done} of {weighed.of} claims
          {weighed.done === weighed.of ? ", which are decided together" : ""}
        </p>
      )}
    </div>
  );
}

const ORDER = ["yes", "no", "mixed", "cannot distinguish", "not told"];

/** How many claims have which answer. */
function counted(verdicts: Verdict[]): string {
  // What hangs on assumptions is said with them.
  const parts = ORDER.map((answer) => [answer, verdicts.filter((each) => each.said.split(" under ")[0] === answer).length] as const);
  const told = parts.filter(([, number]) => number).map(([answer, number]) => `${number} ${answer}`);
  return `${verdicts.length} claim${verdicts.length === 1 ? "" : "s"}: ${told.join(", ")}`;
}

/** Whether something was clicked, typed or scrolled since the page came. */
function useBusy() {
  const busy = useRef(false);
  useEffect(() => {
    const note = () => {
      busy.current = true;
    };
    const events = ["pointerdown", "keydown", "wheel", "touchstart"];
    for (const each of events) addEventListener(each, note, { passive: true });
    return () => {
      for (const each of events) removeEventListener(each, note);
    };
  }, []);
  return busy;
}
