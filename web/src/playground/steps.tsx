// The steps of the lesson that a setting is of: which one is shown, what to look for, and the next.
import { useState } from "preact/hooks";
import { get, type Told } from "../api";
import { to } from "../route";
import { useLoaded } from "../ui/loaded";
import { Words } from "../ui/words";
import { searchOf } from "./setting";

export interface Lesson {
  name: string;
  title: string;
  steps: { title: string; address: string; look: string }[];
  /** Up to where the axes of the curves go at least, by their kind: the same in all steps. */
  axes: Record<string, number>;
}

/** The lesson of that name, or why there is none. */
export function useLesson(name: string): { lesson: Lesson | null; problem: Told | undefined } {
  const found = useLoaded<Lesson | null>(
    (signal) => (name ? get<Lesson>("/api/lessons/lesson", { name }, signal) : Promise.resolve(null)),
    [name],
  );
  return { lesson: name && !found.problem ? (found.value ?? null) : null, problem: name ? found.problem : undefined };
}

export function Steps({ lesson, setting }: { lesson: Lesson; setting: string }) {
  const { steps, name } = lesson;
  // Whoever changes a setting is still at its step.
  const [last, keep] = useState(0);
  const found = steps.findIndex((each) => each.address === setting);
  if (found >= 0 && found !== last) keep(found);
  const at = found >= 0 ? found : last;
  const step = steps[at];
  const [next, before] = [steps[at + 1], steps[at - 1]];
  const leads = (address: string) => `/playground${searchOf(address, name)}`;
  return (
    <section class="note" aria-label="Step of the lesson">
      <p>
        <b>
          Step {at + 1} of {steps.length}: {step?.title}
        </b>
        {found < 0 && setting && step && (
          <span class="faint">
            {" "}
            · changed; <a href={leads(step.address)}>as the lesson has it</a>
          </span>
        )}
      </p>
      <p>
        <Words text={step?.look ?? ""} />
      </p>
      <p class="faint">Axes are the same in all steps, so that curves can be held against each other.</p>
      <p class="row">
        <a class="button jump" href="#curves">
          To the curves
        </a>
        {before && (
          <a class="button" href={leads(before.address)}>
            Step before
          </a>
        )}
        {next ? (
          <a class="button main" href={leads(next.address)}>
            Next step: {next.title}
          </a>
        ) : (
          <a class="button main" href={to("lessons", { lesson: name })}>
            To what it shows, and an exercise
          </a>
        )}
      </p>
    </section>
  );
}
