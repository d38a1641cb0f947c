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
  if (value && !value.verdicts.length) return null;
  return (
    <section aria-label="Verdicts">
      <h2>Verdicts</h2>
      {value ? (
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
        <p class="faint" role="status">
          {ready
            ? `Claims are being judged on ${runs.toLocaleString("en")} runs …`
            : "Claims are judged as soon as the first figure is there …"}
        </p>
      )}
    </section>
  );
}

const ORDER = ["yes", "no", "mixed", "cannot distinguish"];

/** How many claims have which answer. */
function counted(verdicts: Verdict[]): string {
  const parts = ORDER.map((answer) => [answer, verdicts.filter((each) => each.answer === answer).length] as const);
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
