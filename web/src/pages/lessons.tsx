import { get } from "../api";
import { searchOf } from "../playground/setting";
import { to } from "../route";
import { Back } from "../ui/back";
import { Await, AwaitPage, useLoaded } from "../ui/loaded";
import { Words } from "../ui/words";
import "./lessons.css";

interface Entry {
  name: string;
  title: string;
  question: string;
}

interface Lesson extends Entry {
  intro: string;
  steps: { title: string; address: string; look: string }[];
  shown: string[];
  exercise: string;
  answers: string[];
  tries: { title: string; address: string }[];
  sources: { text: string; url?: string }[];
  before: string | null;
  next: string | null;
  number: number;
  of: number;
}

export function Lessons() {
  const found = useLoaded((signal) => get<{ lessons: Entry[] }>("/api/lessons", {}, signal), []);
  return (
    <article>
      <h1>Lessons</h1>
      <p>Each has a question, settings of the playground to open, what to look for, and what the simulation shows.</p>
      <Await of={found}>
        {({ lessons }) => (
          <ol class="cards">
            {lessons.map((each, at) => (
              <li class="card" key={each.name}>
                <h2>
                  <a href={to("lessons", { lesson: each.name })}>
                    {at + 1}. {each.title}
                  </a>
                </h2>
                <p>{each.question}</p>
              </li>
            ))}
          </ol>
        )}
      </Await>
    </article>
  );
}

export function LessonPage({ name }: { name: string }) {
  const found = useLoaded((signal) => get<Lesson>("/api/lessons/lesson", { name }, signal), [name]);
  return (
    <AwaitPage of={found} list="lessons">
      {(lesson) => <Told lesson={lesson} />}
    </AwaitPage>
  );
}

function Told({ lesson }: { lesson: Lesson }) {
  return (
    <article class="lesson">
      <p class="faint">
        <a href="/lessons">Lessons</a> · {lesson.number} of {lesson.of}
      </p>
      <Back />
      <h1>{lesson.title}</h1>
      <p class="question">{lesson.question}</p>
      <p>
        <Words text={lesson.intro} />
      </p>
      <h2>Look</h2>
      <ol class="steps">
        {lesson.steps.map((step) => (
          <li key={step.address}>
            <a href={`/playground${searchOf(step.address, lesson.name)}`}>{step.title}</a>
            <p>
              <Words text={step.look} />
            </p>
          </li>
        ))}
      </ol>
      <details>
        <summary>What the simulation shows</summary>
        <ul>
          {lesson.shown.map((each) => (
            <li key={each}>
              <Words text={each} />
            </li>
          ))}
        </ul>
        <p class="faint">
          These numbers were made now, by the settings above. That the sentences are true of them is tested, with limits such as “at least
          ten times as long” that were chosen after the simulations had been seen: they keep the lesson true, and are no test of the
          simulator.
        </p>
      </details>
      <h2>Try</h2>
      <p>
        <Words text={lesson.exercise} />
      </p>
      <details>
        <summary>Answer</summary>
        <ul>
          {lesson.answers.map((each) => (
            <li key={each}>
              <Words text={each} />
            </li>
          ))}
        </ul>
        {lesson.tries.length > 0 && (
          <>
            <p>Settings to see it:</p>
            <ul>
              {lesson.tries.map((each) => (
                <li key={each.address}>
                  <a href={`/playground${searchOf(each.address, lesson.name)}`}>{each.title}</a>
                </li>
              ))}
            </ul>
          </>
        )}
      </details>
      <h2>Sources</h2>
      <ul>
        {lesson.sources.map((each) => (
          <li key={each.text}>{each.url ? <a href={each.url}>{each.text}</a> : each.text}</li>
        ))}
      </ul>
      <p class="row">
        {lesson.before && <a href={to("lessons", { lesson: lesson.before })}>Lesson before</a>}
        {lesson.next && <a href={to("lessons", { lesson: lesson.next })}>Next lesson</a>}
      </p>
    </article>
  );
}
