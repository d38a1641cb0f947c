// Any measure over any factor: each dimension is drawn along an axis, as curves or panels, or stays at one level. What varies and has no place is refused by the server.
import { useEffect, useMemo, useState } from "preact/hooks";
import { get, post } from "../api";
import { Drawn } from "../plots/drawn";
import { draw, type Levels, type Panel, type Placed, titleOf } from "../plots/levels";
import { keep, route } from "../route";
import { Choice } from "../ui/field";
import { Folded } from "../ui/folded";
import { Ignored, quoted, unread } from "../ui/ignored";
import { isTexts, read } from "../ui/kept";
import { Legend } from "../ui/legend";
import { useLoaded, Wrong } from "../ui/loaded";
import { MEASURES, MeasureField } from "../ui/measure";
import { type OfPoint, PointRuns } from "../ui/point-runs";
import { Words } from "../ui/words";
import type { Head } from "./results";
import { Files } from "./study-figures";

const PLACES = ["x", "curves", "panels", "rows"] as const;
type Place = (typeof PLACES)[number];

/** What is asked: as the keys of a `[[figures]]` block. */
export interface Keys {
  metric: string;
  statistic?: string;
  scale?: string;
  flows?: string;
  x?: string;
  curves?: string;
  panels?: string;
  rows?: string;
  of?: string | string[];
  arm?: string | string[];
  where?: Record<string, unknown>;
  [key: string]: unknown;
}

const STATISTICS = ["mean", "median", "geometric mean"];
const FLOWS = ["mean", "sum", "max", "min", "each"];
const TITLES: Record<Place, string> = { x: "along x", curves: "as curves", panels: "as panels", rows: "as rows of panels" };

/** Levels that a place has room for. */
const MOST: Record<Place, number> = { x: 400, curves: 8, panels: 12, rows: 8 };

/** The first figure of the study that is of this kind; else a measure that says most of such traffic, with factors placed in their order. */
export function beginning(head: Head): Keys {
  const first = head.figures.find((keys) => keys.kind === "levels" && typeof keys.metric === "string");
  if (first) {
    const { name: _name, kind: _kind, caption: _caption, ...keys } = first;
    return keys as Keys;
  }
  const metric = head.metric ?? "goodput_bps";
  const varying = Object.entries(head.factors).filter(([, levels]) => levels.length > 1);
  const free: Place[] = [...PLACES];
  const keys: Keys = { metric };
  if (head.arms.length > 1 && !varying.length) {
    // Arms are all that varies: side by side each has its name below it.
    keys.x = "arm";
    free.splice(free.indexOf("x"), 1);
  } else if (head.arms.length > 1) {
    keys.curves = "arm";
    free.splice(free.indexOf("curves"), 1);
  }
  for (const [factor, levels] of varying.reverse()) {
    // What has so many levels that nobody could tell them apart in a place stays at one, which can be changed: in the middle more happens than at an end.
    const place = free.find((each) => levels.length <= MOST[each]);
    if (place) {
      keys[place] = factor;
      free.splice(free.indexOf(place), 1);
    } else keys.where = { ...keys.where, [factor]: levels[Math.floor(levels.length / 2)]?.level };
  }
  return keys;
}

/** What an address says of the figure; null if that is no table of keys. */
function keysOf(text: string): Keys | null {
  try {
    const found: unknown = JSON.parse(text);
    if (typeof found === "object" && found !== null && !Array.isArray(found) && typeof (found as Keys).metric === "string")
      return found as Keys;
  } catch {
    // It was cut on its way here.
  }
  return null;
}

interface Props {
  /** The results, and those that stand beside them. */
  of: string;
  beside?: string;
  head: Head;
  /** Is told when the first figure is there, or that there is none and why. */
  ready?: (problem: string | undefined) => void;
}

/** A point that is looked into, as the address has it. */
interface Chosen {
  row: string;
  column: string;
  curve: string;
  level: string;
}

function isChosen(value: unknown): value is Chosen {
  const names: (keyof Chosen)[] = ["row", "column", "curve", "level"];
  return typeof value === "object" && value !== null && names.every((name) => typeof (value as Chosen)[name] === "string");
}

/** A point in words: those of its levels that there are. */
function pointed({ row, column, curve, level }: Chosen): string {
  return [row, column, curve, level].filter(Boolean).join(", ");
}

export function Workbench({ of, beside, head, ready }: Props) {
  const kept = route.value.query.get("figure");
  const begun = useMemo(() => beginning(head), [head]);
  const asked = useMemo(() => (kept ? keysOf(kept) : begun), [kept, begun]);
  const keys = asked ?? begun;
  const ask = (next: Keys) => keep({ figure: JSON.stringify(next), point: "" });
  const found = useLoaded(
    (signal) => post<Levels>(beside ? "/api/compare/figure" : "/api/results/figure", { of, beside }, keys, signal),
    [of, beside, JSON.stringify(keys)],
  );
  const figure = found.value;
  useEffect(() => {
    if (!found.loading) ready?.(found.problem?.message);
  }, [found.loading]);
  const choose = (panel: Panel, curve: string, level: number) =>
    keep({ point: JSON.stringify({ row: panel.row, column: panel.column, curve, level: figure?.x.levels[level] ?? "" }) });
  const show = (point: Placed) => choose(point.panel, point.curve, point.level);
  const point = read("point", isChosen);
  const chosen = figure && point && runsAt(figure, point);
  return (
    <>
      <Measure of={of} head={head} keys={keys} ask={ask} />
      <Dimensions head={head} keys={keys} shown={found.loading || found.problem ? undefined : figure} last={figure} ask={ask} />
      {!asked && (
        <Wrong
          told={{
            message: "the address does not say which figure",
            hint: "it may have been cut when it was copied; this is the figure that one begins with",
            place: null,
          }}
        />
      )}
      {found.problem && <Wrong told={found.problem} />}
      <Ignored
        lines={[
          ...unread("point", isChosen, "point", "None is looked into."),
          ...(figure && point && !chosen && !found.loading
            ? [`The address names the point ${quoted(pointed(point))}, which this figure does not have.`]
            : []),
          ...unread("open", isTexts, "parts are unfolded", "None is."),
        ]}
      />
      {figure && (
        <figure>
          <Legend names={figure.curves.length > 1 ? figure.curves : []} />
          <Drawn
            draw={(width) => draw(figure, width, show)}
            keys={[figure]}
            label={`${figure.y.label} by ${figure.x.label}. ${figure.caption}`}
            stale={found.loading || found.problem !== undefined}
          />
          <figcaption>
            <Words text={figure.caption} /> Faint dots are single runs.{" "}
            {figure.y.axis.broken && "The axis of values does not begin at 0, as the break at its foot says. "}
            <Files asked={{ of, beside, keys: JSON.stringify({ name: "figure", kind: "levels", ...keys }), on: "page" }} />
          </figcaption>
          <Folded title="Lines of a study file that make this figure" kept="lines">
            <pre>{figure.toml}</pre>
          </Folded>
          <Folded title="Its numbers" kept="numbers">
            <Numbers figure={figure} choose={choose} />
          </Folded>
        </figure>
      )}
      {figure && chosen && (
        <PointRuns
          key={JSON.stringify(point)}
          of={chosen.side ? (beside ?? of) : of}
          runs={chosen.runs}
          measure={figure.y.label}
          close={() => keep({ point: "" })}
        />
      )}
    </>
  );
}

function Measure({ of, head, keys, ask }: { of: string; head: Head; keys: Keys; ask: (keys: Keys) => void }) {
  const every = useLoaded(
    (signal) => get<{ measures: { name: string; unit: string; summary: string }[] }>("/api/results/measures", { of }, signal),
    [of],
  );
  const say = (text: string) => {
    // An empty field asks for the measure that one begins with.
    const metric = text || beginning(head).metric;
    if (metric !== keys.metric) ask({ ...keys, metric });
  };
  // What one can do is there with the figure; the measures that there are follow.
  return (
    <>
      {every.problem && <Wrong told={every.problem} />}
      <div class="row">
        <MeasureField value={keys.metric} ask={say} />
        <datalist id={MEASURES}>
          {(every.value?.measures ?? []).map((each) => (
            <option key={each.name} value={each.name}>
              {each.summary} {each.unit && `[${each.unit}]`}
            </option>
          ))}
        </datalist>
        <Choice
          name="Replicates as"
          value={keys.statistic ?? "mean"}
          values={STATISTICS}
          choose={(statistic) => ask({ ...keys, statistic })}
        />
        <Choice name="Scale" value={keys.scale ?? "linear"} values={["linear", "log"]} choose={(scale) => ask({ ...keys, scale })} />
        <Choice name="Flows of a block" value={keys.flows ?? "mean"} values={FLOWS} choose={(flows) => ask({ ...keys, flows })} />
      </div>
    </>
  );
}

interface Dimensional {
  head: Head;
  keys: Keys;
  /** The figure of these keys, once it is there; and the last one that was. */
  shown: Levels | undefined;
  last: Levels | undefined;
  ask: (keys: Keys) => void;
}

function Dimensions({ head, keys, shown, last, ask }: Dimensional) {
  const varying = Object.entries(head.factors).filter(([, levels]) => levels.length > 1);
  const dimensions: [string, { level: string; words: string }[]][] = [
    ...varying,
    ...(head.arms.length > 1
      ? ([["arm", head.arms.map((arm) => ({ level: arm, words: arm }))]] as [string, { level: string; words: string }[]][])
      : []),
    ["item", []],
  ];
  const placeOf = (name: string): string =>
    PLACES.find((place) => keys[place] === name) ??
    PLACES.find((place) => !keys[place] && last?.places[place] === name) ??
    (fixed(name, keys) !== undefined ? `=${fixed(name, keys)}` : "");
  const [displaced, displace] = useState<{ who: string; from: Place; by: string } | null>(null);
  const [freed, free] = useState("");
  // What was to have no place, and has one all the same: whoever makes the figure has seen to it.
  const again = shown && freed ? PLACES.find((place) => shown.places[place] === freed) : undefined;
  const choose = (name: string, value: string) => {
    const next: Keys = { ...keys, where: { ...keys.where } };
    for (const place of PLACES) if (next[place] === name) delete next[place];
    if (name === "arm") delete next.arm;
    if (name === "item") delete next.of;
    delete next.where?.[name];
    displace(null);
    free(value || name === "item" ? "" : name);
    if (value.startsWith("=")) {
      const level = value.slice(1);
      if (name === "arm") next.arm = level;
      else if (name === "item") next.of = level;
      else next.where = { ...next.where, [name]: level };
    } else if (value) {
      const place = value as Place;
      const held = next[place];
      const before = PLACES.find((each) => keys[each] === name);
      next[place] = name;
      // Who had the place takes the one that is left, if there is one; else it has none now.
      if (typeof held === "string" && before) next[before] = held;
      else if (typeof held === "string") displace({ who: held, from: place, by: name });
    }
    if (!Object.keys(next.where ?? {}).length) delete next.where;
    ask(next);
  };
  // An address may say anything: what is no list of items is told by whoever makes the figure.
  const given = [keys.of].flat().filter((each) => typeof each === "string");
  const items = [...new Set([...given, ...(last?.items ?? [])])];
  return (
    <>
      <div class="places">
        {dimensions.map(([name, levels]) => (
          <Choice
            key={name}
            name={name === "item" ? "item (flows, links)" : name}
            value={placeOf(name)}
            values={[
              { value: "", words: name === "item" ? "all there are" : "no place" },
              ...PLACES.map((place) => ({ value: place, words: TITLES[place] })),
              ...(name === "item" ? items.map((item) => ({ level: item, words: item })) : levels).map((each) => ({
                value: `=${each.level}`,
                words: `only ${each.words}`,
              })),
            ]}
            choose={(value) => choose(name, value)}
          />
        ))}
      </div>
      {again && (
        <p class="note" role="status">
          <b>{freed}</b> is {TITLES[again]} again: it varies, and what varies is not pooled. One of its levels, such as{" "}
          {dimensions.find(([name]) => name === freed)?.[1][0]?.words}, can be looked at alone.
        </p>
      )}
      {displaced && !placeOf(displaced.who) && (
        <p class="note" role="status">
          {displaced.by === "item" ? (
            "The items are"
          ) : (
            <>
              <b>{displaced.by}</b> is
            </>
          )}{" "}
          {TITLES[displaced.from]} now, where <b>{displaced.who === "item" ? "items" : displaced.who}</b> stood before, which has no place
          any more: choose another one for it above, or one of its levels.
        </p>
      )}
    </>
  );
}

function fixed(name: string, keys: Keys): string | undefined {
  const given = name === "arm" ? keys.arm : name === "item" ? keys.of : keys.where?.[name];
  return given === undefined ? undefined : Array.isArray(given) ? given.join(", ") : String(given);
}

/** The runs of a point, and the number of the results that they are of; nothing if the figure has no such point. */
function runsAt(figure: Levels, point: Chosen): { runs: OfPoint[]; side: number } | undefined {
  const panel = figure.panels.find((each) => each.row === point.row && each.column === point.column);
  const curve = panel?.curves.find((each) => each.name === point.curve);
  const level = figure.x.levels.indexOf(point.level);
  if (!curve || level < 0) return undefined;
  const { at, run, value } = curve.runs;
  return { runs: run.map((each, i) => ({ run: each, value: value[i] ?? null })).filter((_, i) => at[i] === level), side: curve.side };
}

function Numbers({ figure, choose }: { figure: Levels; choose: (panel: Panel, curve: string, level: number) => void }) {
  const rows = figure.panels
    .flatMap((panel) =>
      panel.curves.flatMap((curve) => curve.points.map((point, at) => ({ panel, curve, point, at, level: figure.x.levels[at] }))),
    )
    .filter((row) => row.point);
  const several = figure.panels.length > 1;
  return (
    <section class="scroll" tabIndex={0} aria-label="Numbers of the figure">
      <table>
        <thead>
          <tr>
            {several && <th class="text">panel</th>}
            {["curve", figure.x.label, figure.y.label, "low", "high", "runs", "interval"].map((each, at) => (
              <th key={each} class={at < 2 || at === 6 ? "text" : ""}>
                {each}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ panel, curve, point, at, level }) => (
            <tr key={`${panel.row}|${panel.column}|${curve.name}|${level}`}>
              {several && <td class="text">{titleOf(figure, panel)}</td>}
              <td class="text">{curve.name}</td>
              <td class="text">{level}</td>
              <td>
                {point?.bound} {point?.estimate?.toPrecision(5)}
              </td>
              <td>{point?.low?.toPrecision(5)}</td>
              <td>{point?.high?.toPrecision(5)}</td>
              <td>
                <button type="button" title="Show these runs" onClick={() => choose(panel, curve.name, at)}>
                  {point?.n}
                </button>
              </td>
              <td class="text">{point?.interval}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
