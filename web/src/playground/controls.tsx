// What can be set of the chosen link or flows, and of all.
import { useState } from "preact/hooks";
import { Bounded, bounded } from "../ui/bounded";
import { Choice, Field } from "../ui/field";
import { Press } from "../ui/press";
import { Slider } from "../ui/slider";
import { useTyped } from "../ui/typed";
import type { Choices, Group, Link, Setting } from "./setting";

type Limits = Choices["limits"];

/** From what to what a limit goes, as a slider takes it; not less than `floor`, unless that is beyond its most. */
function within(limits: Limits, name: string, floor = 0) {
  const { least, most, unit } = limits[name] ?? { least: 0, most: 1, unit: "" };
  return { least: floor < most ? Math.max(least, floor) : least, most, unit };
}

interface OfLink {
  link: Link;
  choices: Choices;
  /** Of its rate, delay and buffer: less is refused. */
  floor: { rate: number; delay: number; buffer: number };
  change: (link: Link) => void;
}

export function LinkControls({ link, choices, floor, change }: OfLink) {
  const { limits } = choices;
  const [amount, unit] = link.buffer.endsWith("bdp") ? [Number(link.buffer.slice(0, -3)), "bdp"] : [Number(link.buffer.slice(0, -1)), "p"];
  const isTrace = link.rates.length > 1;
  return (
    <>
      {isTrace ? (
        <Trace rates={link.rates} limits={limits} change={(rates) => change({ ...link, rates })} />
      ) : (
        <Slider
          name="Rate"
          {...within(limits, "rate", floor.rate)}
          log
          value={link.rates[0] ?? 10}
          set={(rate) => change({ ...link, rates: [rate] })}
        />
      )}
      <Slider
        name="Delay, one way"
        {...within(limits, "delay", floor.delay)}
        log
        value={link.delay}
        set={(delay) => change({ ...link, delay })}
      />
      {unit === "bdp" ? (
        <Slider
          name="Buffer"
          unit="BDP"
          least={floor.buffer < 50 ? Math.max(0.05, floor.buffer) : 0.05}
          most={50}
          log
          value={amount}
          set={(value) => change({ ...link, buffer: `${value}bdp` })}
        />
      ) : (
        <Slider
          name="Buffer"
          unit="packets"
          least={2}
          most={5000}
          log
          whole
          value={amount}
          set={(value) => change({ ...link, buffer: `${value}p` })}
        />
      )}
      <Slider name="Loss" {...within(limits, "loss")} log value={link.loss} set={(loss) => change({ ...link, loss })} />
      <div class="row">
        <Choice
          name="Buffer in"
          value={unit}
          values={[
            { value: "bdp", words: "BDP" },
            { value: "p", words: "packets" },
          ]}
          choose={(chosen) => change({ ...link, buffer: chosen === "bdp" ? "1bdp" : "100p" })}
        />
        <Choice
          name="Queue"
          value={link.queue}
          values={Object.keys(choices.choices.queue)}
          choose={(queue) => change({ ...link, queue })}
        />
        <Choice
          name="Kind"
          value={isTrace ? "trace" : "wire"}
          values={[
            { value: "wire", words: "of one rate" },
            { value: "trace", words: "wireless, by trace" },
          ]}
          choose={(kind) => {
            const rate = Math.max(...link.rates);
            change({ ...link, rates: kind === "wire" ? [rate] : [1, 0.6, 0.2, 0.8].map((share) => Number((rate * share).toPrecision(2))) });
          }}
        />
      </div>
      <p class="faint">
        <b>{link.queue}</b>: {choices.choices.queue[link.queue]}
      </p>
    </>
  );
}

/** The rate of each second of a lap: bars to drag. */
function Trace({ rates, limits, change }: { rates: number[]; limits: Limits; change: (rates: number[]) => void }) {
  const { most } = within(limits, "rate");
  const top = Math.min(most, 2 ** Math.ceil(Math.log2(Math.max(...rates, 10))));
  return (
    <fieldset class="trace">
      <legend>Rate in each second of a lap, Mbit/s</legend>
      <div class="bars">
        {rates.map((rate, at) => (
          <label key={at}>
            <input
              type="range"
              min="0.1"
              max={top}
              step="0.1"
              value={rate}
              aria-label={`Second ${at + 1}, Mbit/s`}
              onInput={(event) => change(rates.map((each, other) => (other === at ? event.currentTarget.valueAsNumber : each)))}
            />
            <span aria-hidden="true">{rate}</span>
          </label>
        ))}
      </div>
      <div class="row">
        <Press no={rates.length >= 30} go={() => change([...rates, rates.at(-1) ?? 1])}>
          A second more
        </Press>
        <Press no={rates.length <= 2} go={() => change(rates.slice(0, -1))}>
          One less
        </Press>
      </div>
    </fieldset>
  );
}

export function GroupControls(props: { group: Group; links: number; choices: Choices; change: (group: Group) => void }) {
  const { group, links, choices, change } = props;
  const { limits } = choices;
  const nodes = Array.from({ length: links + 1 }, (_, node) => String(node));
  const way = (begin: number, end: number) => begin !== end && change({ ...group, begin, end });
  return (
    <>
      <div class="row">
        <Choice name="Algorithm" value={group.cc} values={Object.keys(choices.choices.cc)} choose={(cc) => change({ ...group, cc })} />
        <Choice
          name="From node"
          value={String(group.begin)}
          values={nodes.filter((each) => each !== String(group.end))}
          choose={(node) => way(Number(node), group.end)}
        />
        <Choice
          name="To node"
          value={String(group.end)}
          values={nodes.filter((each) => each !== String(group.begin))}
          choose={(node) => way(group.begin, Number(node))}
        />
        <button type="button" onClick={() => way(group.end, group.begin)}>
          Turn round
        </button>
      </div>
      <Slider
        name="Flows"
        unit=""
        least={1}
        most={choices.most.flows}
        log
        whole
        value={group.count}
        set={(count) => change({ ...group, count })}
      />
      <Slider
        name="Further delay, one way"
        {...within(limits, "delay")}
        log
        value={group.delay}
        set={(delay) => change({ ...group, delay })}
      />
      <Slider name="Start" {...within(limits, "start")} value={group.start} set={(start) => change({ ...group, start })} />
      <Optional
        name="Each sends, kB (nothing: without end)"
        value={group.size}
        change={(size) => change({ ...group, size })}
        limit={limits.size}
      />
      <p class="faint">
        <b>{group.cc}</b>: {choices.choices.cc[group.cc]}
      </p>
    </>
  );
}

export function AllControls({ setting, choices, change }: { setting: Setting; choices: Choices; change: (setting: Setting) => void }) {
  const { limits } = choices;
  const own = { value: "", words: "the stack's" };
  return (
    <>
      <Slider
        name="Duration"
        {...within(limits, "duration")}
        log
        value={setting.duration}
        set={(duration) => change({ ...setting, duration })}
      />
      <details>
        <summary>TCP and hosts</summary>
        <div class="row">
          <Choice
            name="Stack"
            value={setting.stack}
            values={Object.keys(choices.choices.stack)}
            choose={(stack) => change({ ...setting, stack })}
          />
          <Choice
            name="ECN"
            value={setting.ecn}
            values={[own, ...Object.keys(choices.choices.ecn)]}
            choose={(ecn) => change({ ...setting, ecn })}
          />
          <Choice
            name="Partial segments"
            value={setting.partial}
            values={[own, ...Object.keys(choices.choices.partial)]}
            choose={(partial) => change({ ...setting, partial })}
          />
          <Optional
            name="Receive window, kB"
            value={setting.window}
            change={(window) => change({ ...setting, window })}
            limit={limits.window}
          />
          <Optional
            name="Hosts' socket memory, kB"
            value={setting.memory}
            change={(memory) => change({ ...setting, memory })}
            limit={limits.memory}
          />
          <Optional
            name="Seed"
            value={setting.seed}
            change={(seed) => change({ ...setting, seed: Math.round(seed ?? 1) })}
            limit={limits.seed}
          />
        </div>
      </details>
    </>
  );
}

/** A number that may be left out. */
function Optional(props: {
  name: string;
  value: number | null;
  limit: Limits[string] | undefined;
  change: (value: number | null) => void;
}) {
  const { name, value, limit, change } = props;
  const [beyond, tell] = useState("");
  const typing = useTyped(value === null ? "" : String(value), (input) => {
    const typed = input.valueAsNumber;
    if (!Number.isFinite(typed) || !limit) return change(null);
    const { value: taken, said } = bounded(typed, limit, typed);
    tell(said);
    change(taken);
  });
  return (
    <Field name={name}>
      {(id) => (
        <>
          <input id={id} type="number" min={limit?.least} max={limit?.most} step="any" {...typing} />
          <Bounded said={beyond} />
        </>
      )}
    </Field>
  );
}
