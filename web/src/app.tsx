import { useEffect } from "preact/hooks";
import { ChooseRun } from "./pages/choose-run";
import { ComparePage } from "./pages/compare";
import { LessonPage, Lessons } from "./pages/lessons";
import { LivePage } from "./pages/live";
import { Playground } from "./pages/playground";
import { ResultsPage } from "./pages/results";
import { ResultsList } from "./pages/results-list";
import { RunPage } from "./pages/run";
import { StudiesList } from "./pages/studies-list";
import { NewStudy, StudyPage } from "./pages/study";
import { route } from "./route";
import { loadSession } from "./session";
import { Shell } from "./ui/shell";
import { titleOf } from "./ui/title";

/**
 * Each page by the first part of its address. What a page is about is its key: while the next is on its way nothing of the one before stands under
 * its address, least of all a button.
 */
const PAGES: Record<string, () => preact.JSX.Element> = {
  studies,
  results: () => about("of", (of) => <ResultsPage key={of} of={of} />, <ResultsList />),
  compare: () => <ComparePage />,
  live: () => <LivePage />,
  playground: () => <Playground />,
  lessons: () => about("lesson", (name) => <LessonPage key={name} name={name} />, <Lessons />),
  run: () => {
    const [of, run] = ["of", "run"].map((name) => route.value.query.get(name));
    return of && run ? <RunPage key={`${of} ${run}`} of={of} run={run} /> : <ChooseRun />;
  },
};

function studies() {
  if (route.value.query.has("new")) return <NewStudy />;
  return about("of", (of) => <StudyPage key={of} of={of} />, <StudiesList />);
}

/** The page of what the address names, or the list of all there is. */
function about(name: string, page: (named: string) => preact.JSX.Element, list: preact.JSX.Element): preact.JSX.Element {
  const named = route.value.query.get(name);
  return named === null ? list : page(named);
}

export function App() {
  useEffect(() => {
    loadSession().catch(() => undefined);
  }, []);
  const title = titleOf(route.value);
  useEffect(() => {
    document.title = title;
  }, [title]);
  const page = PAGES[route.value.page];
  return <Shell>{page ? page() : <Missing />}</Shell>;
}

function Missing() {
  return (
    <section>
      <h1>There is no such page</h1>
      <p>
        The address may have been cut. <a href="/results">Results</a> are a place to begin.
      </p>
    </section>
  );
}
