import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { get, type Told } from "../api";
import { AllControls, GroupControls, LinkControls } from "../playground/controls";
import { Watched } from "../playground/curves";
import { Newest, type Played } from "../playground/newest";
import {
  addressOf,
  type Choices,
  type Group,
  type Link,
  leastOf,
  parted,
  type Setting,
  searchOf,
  withLink,
  withoutLink,
} from "../playground/setting";
import { Sharing } from "../playground/sharing";
import { Numbers, Shown } from "../playground/shown";
import { Steps, useLesson } from "../playground/steps";
import { type Chosen, Topology } from "../playground/topology";
import { go, route } from "../route";
import { byFinger } from "../time/touch";
import { Back } from "../ui/back";
import { Await, useLoaded, Wrong } from "../ui/loaded";
import "../playground/playground.css";
import { Press } from "../ui/press";

/** Milliseconds without a change after which the address follows. */
const REST = 200;

export function Playground() {
  const choices = useLoaded((signal) => get<Choices>("/api/playground/choices", {}, signal), []);
  return (
    <article>
      <h1>Playground</h1>
      <Await of={choices}>{(found) => <Playing choices={found} />}</Await>
    </article>
  );
}

function Playing({ choices }: { choices: Choices }) {
  const { lesson } = parted(location.search);
  const { lesson: taught, problem: untaught } = useLesson(lesson);
  const [setting, set] = useState<Setting | null>(null);
  const [played, show] = useState<{ played: Played; asked: string; milliseconds: number; arrived: number } | null>(null);
  const [told, tell] = useState<Told | null>(null);
  // Of a setting that was not simulated the study that it is, if that can be run elsewhere.
  const [unplayed, offer] = useState<string | null>(null);
  const [chosen, choose] = useState<Chosen>({ kind: "link", at: 0 });
  // The setting that the page has last asked for: answers to what came before are shown, and change no control.
  const latest = useRef("");
  // The address that this page has given itself, until it is read: what was changed meanwhile stays.
  const own = useRef<string | null>(null);
  const follow = (search: string) => {
    if (search === location.search) return;
    own.current = search;
    go(`/playground${search}`, "replace");
  };
  const newest = useRef<Newest | null>(null);
  const resting = useRef<number>();
  if (!newest.current)
    newest.current = new Newest(
      (found, asked, milliseconds) => {
        show({ played: found, asked, milliseconds, arrived: performance.now() });
        if (asked !== latest.current) return;
        tell(null);
        offer(null);
        set(found.head.setting);
        latest.current = found.head.setting.address;
        // Once it rests: browsers refuse an address that changes a hundred times in a while.
        clearTimeout(resting.current);
        const { search } = location;
        resting.current = setTimeout(() => {
          // Whoever has gone to another setting meanwhile stays there.
          if (location.search === search) follow(searchOf(latest.current, parted(search).lesson));
        }, REST);
      },
      (problem, asked) => {
        if (asked !== latest.current) return;
        tell(problem);
        offer(null);
        // What makes no sense together is mended with the controls; of an address that means nothing there are none.
        get<Setting & { study: string | null }>("/api/playground/setting", { set: asked }).then(
          ({ study, ...found }) => {
            if (asked !== latest.current) return;
            set(found);
            offer(study);
          },
          () => undefined,
        );
      },
    );
  useEffect(
    () => () => {
      clearTimeout(resting.current);
      newest.current?.end();
    },
    [],
  );
  useLayoutEffect(() => {
    // What a redraw takes, for who measures it: from the answer to when all is drawn.
    // Plots draw in microtasks, which were queued before this one.
    queueMicrotask(() => {
      performance.clearMeasures("redraw");
      if (played) performance.measure("redraw", { start: played.arrived });
    });
  }, [played]);
  useEffect(() => {
    const wanted = parted(location.search).setting || (choices.topologies.dumbbell ?? "");
    const isOwn = location.search === own.current;
    own.current = null;
    if (isOwn || wanted === latest.current) return;
    clearTimeout(resting.current);
    latest.current = wanted;
    choose({ kind: "link", at: 0 });
    newest.current?.ask(wanted);
    // A link to the address that is there already is one, too: what was changed since is undone.
  }, [route.value]);
  const change = (next: Setting) => {
    clearTimeout(resting.current);
    set(next);
    latest.current = addressOf(next);
    newest.current?.ask(latest.current);
  };
  const done = played?.asked === latest.current || played?.played.head.setting.address === latest.current;
  return (
    <>
      <Back lesson={lesson} />
      <nav class="row choices" aria-label="Topologies">
        {Object.entries(choices.topologies).map(([name, address]) => (
          <a key={name} class="choice" href={`/playground?${address}`}>
            {name}
          </a>
        ))}
      </nav>
      {taught && <Steps lesson={taught} setting={played?.played.head.setting.address ?? ""} />}
      {untaught && <Wrong told={untaught} />}
      {told && <Wrong told={told} />}
      {played && <Numbers numbers={played.played.head.numbers} stale={!!told} />}
      {setting && (
        <div class="playground">
          <div>
            {played && <Watched played={played.played} stale={!!told} least={taught?.axes ?? {}} />}
            <section class="controls" aria-label="Setting">
              <Parts setting={setting} choices={choices} chosen={chosen} choose={choose} change={change} />
            </section>
          </div>
          {played && (
            <section id="curves" aria-label="What it does">
              <Shown played={played.played} stale={!!told} least={taught?.axes ?? {}} />
              <p class="faint">
                {played.played.head.events.toLocaleString("en")} events in {played.played.head.milliseconds.toFixed(0)} ms of simulation,
                and{" "}
                <span
                  data-done={String(done)}
                  data-milliseconds={played.milliseconds.toFixed(1)}
                  data-simulated={played.played.head.milliseconds.toFixed(1)}
                >
                  {played.milliseconds.toFixed(0)} ms with the way there and back
                </span>
                .{" "}
                {byFinger()
                  ? "Two fingers on a plot zoom, and one moves what is shown; two taps show all."
                  : "Drag over a plot to see a stretch of time; a double click shows all."}
              </p>
            </section>
          )}
        </div>
      )}
      {played && told && (
        <Sharing setting={latest.current} lesson={lesson} study={unplayed ?? played.played.head.study} refused={unplayed === null} />
      )}
      {played && !told && (
        <Sharing setting={played.played.head.setting.address} lesson={lesson} study={played.played.head.study} refused={false} />
      )}
    </>
  );
}

function Parts(props: {
  setting: Setting;
  choices: Choices;
  chosen: Chosen;
  choose: (chosen: Chosen) => void;
  change: (setting: Setting) => void;
}) {
  const { setting, choices, chosen, choose, change } = props;
  const { links, groups } = setting;
  const link = chosen.kind === "link" ? links[Math.min(chosen.at, links.length - 1)] : undefined;
  const group = chosen.kind === "group" ? groups[Math.min(chosen.at, groups.length - 1)] : undefined;
  const flows = groups.reduce((sum, each) => sum + each.count, 0);
  const addGroup = () => {
    change({ ...setting, groups: [...groups, { cc: "cubic", count: 1, begin: 0, end: links.length, delay: 0, start: 0, size: null }] });
    choose({ kind: "group", at: groups.length });
  };
  return (
    <>
      <div class="plot">
        <Topology setting={setting} chosen={chosen} choose={choose} />
      </div>
      <div class="row">
        <Press no={links.length >= choices.most.links} go={() => change(withLink(setting))}>
          Add a link
        </Press>
        <Press no={groups.length >= choices.most.groups || flows >= choices.most.flows} go={addGroup}>
          Add flows
        </Press>
        {/* One button for both: what it removed is not chosen any more. */}
        <Press
          no={(link ? links : groups).length < 2}
          go={() => {
            change(link ? withoutLink(setting, links.indexOf(link)) : { ...setting, groups: groups.filter((each) => each !== group) });
            choose({ kind: "link", at: 0 });
          }}
        >
          {link ? "Remove this link" : "Remove these flows"}
        </Press>
      </div>
      <h2>{link ? `Link ${links.indexOf(link) + 1}` : `Flows: ${setting.names[groups.indexOf(group as Group)] ?? group?.cc}`}</h2>
      {link && (
        <LinkControls
          key={links.indexOf(link)}
          link={link}
          choices={choices}
          floor={leastOf(setting, links.indexOf(link))}
          change={(next: Link) => change({ ...setting, links: links.map((each) => (each === link ? next : each)) })}
        />
      )}
      {group && (
        <GroupControls
          key={groups.indexOf(group)}
          group={group}
          links={links.length}
          choices={choices}
          change={(next) => change({ ...setting, groups: groups.map((each) => (each === group ? next : each)) })}
        />
      )}
      <h2>All</h2>
      <AllControls setting={setting} choices={choices} change={change} />
    </>
  );
}
