import type { FunctionComponent } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { get, type Place, post, problemOf, type Told } from "../api";
import { go, leaving, to } from "../route";
import { session } from "../session";
import { follow, start, sweeps } from "../sweeps";
import { Known, type Words } from "../ui/complete";
import type { Said, Writing } from "../ui/editor";
import { Field } from "../ui/field";
import { AwaitPage, Refused, useLoaded } from "../ui/loaded";
import { Press } from "../ui/press";
import { Progress } from "../ui/progress";
import { type Checked, Says } from "../ui/says";
import { type Entry, State, share, stateOf } from "./studies-list";

interface Opened extends Entry {
  text: string;
  digest: string | null;
  canSave: boolean;
}

const EMPTY = `name = "my-study"
question = "How much of a link do two flows of Reno carry, and two of CUBIC, as its buffer grows?"
repeat = 10

[scenario]
duration = "30 s"
sample = "100 ms"
stack = "linux"
links.bottleneck = { rate = "50 Mbit/s", delay = "10 ms", queue = { name = "drop_tail", limit = "1 bdp" } }

[[scenario.flows]]
name = "bulk"
path = ["bottleneck"]
count = 2
start = "later * i"

[draws]
later = { distribution = "uniform", low = "0 s", high = "1 s" }

[sweep]
"links.bottleneck.queue.limit" = ["0.5 bdp", "1 bdp", "4 bdp"]

[arms]
reno = { cc = "reno" }
cubic = { cc = "cubic" }

[[figures]]
name = "goodput"
metric = "goodput_bps"
flows = "sum"
x = "limit"

[[findings]]
claim = "CUBIC carries more than Reno, whatever the buffer"
metric = "goodput_bps"
flows = "sum"
arm = "cubic"
is = "above"
than = { arm = "reno" }
`;

export function NewStudy() {
  const folder = session.value?.folders[0];
  if (!folder) return <p class="faint">Loading …</p>;
  const opened: Opened = {
    address: `${folder}/my-study.toml`,
    name: "New study",
    question: "",
    backend: "sim",
    state: "never run",
    problem: null,
    isText: true,
    results: [],
    text: EMPTY,
    digest: null,
    canSave: false,
  };
  return <Study opened={opened} />;
}

export function StudyPage({ of }: { of: string }) {
  const changes = sweeps.value.map((sweep) => (sweep.study === of ? sweep.state : "")).join("");
  const [look, again] = useState(0);
  const found = useLoaded((signal) => get<Opened>("/api/studies/text", { of }, signal), [of, changes, look]);
  const results = found.value?.results ?? [];
  useEffect(() => {
    // Of a sweep that is not this explorer's no news come: it is looked whether it still writes.
    if (!results.some((made) => made.held && !sweepTo(made.address))) return;
    const timer = setTimeout(() => again((before) => before + 1), LOOK);
    return () => clearTimeout(timer);
  }, [results]);
  return (
    <AwaitPage of={found} list="studies">
      {(opened) => <Study opened={opened} />}
    </AwaitPage>
  );
}

/** Milliseconds after which it is looked again whether a command still writes. */
const LOOK = 2000;

/** The sweep of this explorer that writes to a directory, or goes on with it. */
const sweepTo = (out: string) => sweeps.value.find((sweep) => sweep.out === out);

function Study({ opened }: { opened: Opened }) {
  useEffect(follow, []);
  const of = opened.address;
  const isNew = opened.digest === null;
  const mayRun = session.value?.allowRun ?? false;
  const [text, write] = useState(opened.text);
  const [saved, keep] = useState({ text: opened.text, digest: opened.digest });
  const [short, shorten] = useState(false);
  const [problem, tell] = useState<Told | null>(null);
  const [message, say] = useState("");
  const [goTo, look] = useState<Place | null>(null);
  const [begun, begin] = useState("");
  const progress = useRef<HTMLDivElement>(null);
  const words = useLoaded((signal) => get<Words>("/api/studies/words", {}, signal), []);
  const known = useMemo(() => (words.value ? new Known(words.value) : null), [words.value]);
  const checked = useChecked(of, text, short);
  const said = useMemo(() => marks(checked.value), [checked.value]);
  const isChanged = text !== saved.text || isNew;
  const canSave = opened.canSave && !isNew;
  useEffect(() => {
    // Leaving with what is not saved asks first.
    const ask = (event: BeforeUnloadEvent) => text !== saved.text && event.preventDefault();
    addEventListener("beforeunload", ask);
    leaving.ask = text === saved.text ? null : () => confirm("The text is not saved. Leave it?");
    return () => {
      removeEventListener("beforeunload", ask);
      leaving.ask = null;
    };
  }, [text, saved.text]);

  const save = async (address: string) => {
    tell(null);
    try {
      const over = address === of ? saved.digest : null;
      const done = await post<{ address: string; digest: string }>("/api/studies/save", {}, { of: address, text, digest: over });
      keep({ text, digest: done.digest });
      say(`Saved as ${done.address}.`);
      if (address !== of || isNew) go(to("studies", { of: done.address }));
    } catch (error) {
      tell(problemOf(error));
    }
  };

  const own = sweeps.value.filter((sweep) => sweep.study === of);
  const mine = own.find((sweep) => sweep.out === begun);
  const isThere = mine !== undefined;
  const isGoing = mine?.state === "running" || mine?.state === "pausing";
  const gone = useRef("");
  useEffect(() => {
    // What was started and is paused, cancelled or over is not filled any more.
    if (isGoing) gone.current = begun;
    else if (begun && gone.current === begun) begin("");
    if (!begun) gone.current = "";
  }, [isGoing, begun]);
  useEffect(() => {
    // On a small screen what was started stands far from where it was.
    if (isThere) progress.current?.scrollIntoView({ block: "nearest" });
  }, [isThere]);
  return (
    <article>
      <h1>{opened.question || opened.name}</h1>
      <p class="faint">
        {opened.name} · <State state={stateOf(opened)} /> · <code>{of}</code>
        {opened.results.map((made) => (
          <span key={made.address}>
            {" · "}
            <a href={to("results", { of: made.address })}>{made.address}</a> {share(made)}
          </span>
        ))}
      </p>
      <div ref={progress}>{own.length > 0 && <Progress sweeps={own} />}</div>
      <div class="study">
        <section aria-label="Text">
          <Lazy
            text={text}
            said={said}
            known={known}
            readOnly={false}
            goTo={goTo}
            change={write}
            save={() => (canSave ? save(of) : say("It can be saved under another name."))}
          />
          <div class="row">
            {canSave && (
              <Press main no={!isChanged} go={() => save(of)}>
                Save
              </Press>
            )}
            {mayRun && <SaveAs of={of} isNew={isNew} save={save} />}
            {!mayRun && (
              <p class="faint">
                This explorer reads: texts can be tried out here, and are saved and run with <code>sawtooth serve --allow-run</code>.
              </p>
            )}
          </div>
          <p role="status" class="faint">
            {text !== saved.text ? "There are changes that are not saved." : message}
          </p>
          {problem && <Refused told={problem} />}
        </section>
        <aside aria-label="What it comes to">
          <div class="row">
            <label class="check">
              <input type="checkbox" checked={short} onChange={(event) => shorten(event.currentTarget.checked)} /> the short form
            </label>
          </div>
          <Says checked={checked} show={look} />
          {mayRun && !isNew && (
            <Start
              of={of}
              short={short}
              name={checked.value?.plan?.name}
              disabled={text !== saved.text || !checked.value?.plan}
              results={opened.results}
              begun={begun}
              begin={begin}
            />
          )}
        </aside>
      </div>
    </article>
  );
}

/** The editor comes when it is needed: other pages do without. */
function Lazy(writing: Writing) {
  const [Editor, set] = useState<FunctionComponent<Writing> | null>(null);
  useEffect(() => {
    import("../ui/editor").then((found) => set(() => found.Editor));
  }, []);
  return Editor ? <Editor {...writing} /> : <pre tabIndex={0}>{writing.text}</pre>;
}

function SaveAs({ of, isNew, save }: { of: string; isNew: boolean; save: (address: string) => void }) {
  const folders = session.value?.folders ?? [];
  const isOwn = folders.includes(of.split("/")[0] as string);
  const [address, name] = useState(isOwn ? of : `${folders[0]}/${of.split("/").slice(1).join("-")}.toml`);
  return (
    <div class="row together">
      <Field name="As" wide>
        {(id) => <input id={id} value={address} onInput={(event) => name(event.currentTarget.value)} />}
      </Field>
      <Press no={address === of && !isNew} go={() => save(address)}>
        Save as
      </Press>
    </div>
  );
}

interface Starting {
  of: string;
  short: boolean;
  name: string | undefined;
  disabled: boolean;
  /** What has been run of it. */
  results: Entry["results"];
  /** Where the results go of what was started from here. */
  begun: string;
  begin: (out: string) => void;
}

function Start({ of, short, name, disabled, results, begun, begin }: Starting) {
  const [out, put] = useState("");
  const [problem, tell] = useState<Told | null>(null);
  const [busy, wait] = useState(false);
  const [first] = of.split("/");
  const folder = first === session.value?.shipped ? session.value?.folders[0] : first;
  const usual = `${folder}/results/${name ?? "NAME"}${short ? "-short" : ""}`;
  const target = (out.trim() || usual).replace(/\/+$/, "");
  const there = sweepTo(target);
  const isWriting = there?.state === "running" || there?.state === "pausing";
  const isPaused = there?.state === "paused" && there.study === of && there.short === short;
  const isHeld = !isWriting && results.some((made) => made.held && made.address === target);
  const startIt = async () => {
    tell(null);
    begin("");
    wait(true);
    try {
      await start(of, target, short);
      begin(target);
    } catch (error) {
      tell(problemOf(error));
    }
    wait(false);
  };
  return (
    <section aria-label="Run" class="unprinted">
      <h2>Run</h2>
      <div class="row">
        <Field name="Results go to" wide>
          {(id) => <input id={id} value={out} placeholder={usual} onInput={(event) => put(event.currentTarget.value)} />}
        </Field>
        <Press main no={disabled || busy || isWriting || isHeld} go={startIt}>
          {busy ? "Starting …" : isWriting || isHeld ? "Running" : isPaused ? "Resume" : "Start"}
        </Press>
      </div>
      <p role="status">
        {begun || isWriting
          ? `${begun ? "Started: " : ""}${begun || target} is being filled, and how far it is stands below the study's name.`
          : isHeld
            ? `Another command is writing to ${target}: wait for its end, or name another directory.`
            : ""}
      </p>
      <p class="faint">What is there already is not done again: the same directory goes on from where it was.</p>
      {problem && <Refused told={problem} />}
    </section>
  );
}

/** What the command line says of a text, some time after the last key; one question at a time. */
function useChecked(of: string, text: string, short: boolean): { value: Checked | null; problem: Told | null; stale: boolean } {
  const [found, set] = useState<{ value: Checked | null; problem: Told | null; of: string }>({ value: null, problem: null, of: "" });
  const asking = useRef(false);
  const wanted = useRef("");
  const question = JSON.stringify({ of, text, short });
  useEffect(() => {
    wanted.current = question;
    const ask = async () => {
      if (asking.current) return;
      asking.current = true;
      for (let asked = ""; asked !== wanted.current; ) {
        asked = wanted.current;
        try {
          const value = await post<Checked>("/api/studies/check", {}, JSON.parse(asked));
          set({ value, problem: null, of: asked });
        } catch (error) {
          set((before) => ({ ...before, problem: problemOf(error), of: asked }));
        }
      }
      asking.current = false;
    };
    const timer = setTimeout(ask, found.of ? 250 : 0);
    return () => clearTimeout(timer);
  }, [question]);
  return { value: found.value, problem: found.problem, stale: found.of !== question };
}

function marks(checked: Checked | null): Said[] {
  if (!checked) return [];
  const found: Said[] = [];
  if (checked.problem?.place)
    found.push({
      severity: "error",
      message: [checked.problem.message, checked.problem.hint].filter(Boolean).join("\n"),
      place: checked.problem.place,
    });
  for (const each of checked.lint)
    if (each.place)
      found.push({
        severity: each.severity === "note" ? "info" : each.severity,
        message: [`${each.rule}: ${each.message}`, each.hint].filter(Boolean).join("\n"),
        place: each.place,
      });
  return found;
}
