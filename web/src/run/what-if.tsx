// What if: at a moment something else happens at a link, and both futures are laid over each other.
import { useState } from "preact/hooks";
import { Choice, Field } from "../ui/field";
import { seconds } from "../ui/words";
import type { Change, RunHead } from "./track";

const KINDS: { value: string; words: string; example: string; name: string }[] = [
  { value: "drop", words: "loses a packet", example: "", name: "" },
  { value: "rate", words: "gets another rate", example: "2 Mbit/s", name: "New rate" },
  { value: "delay", words: "gets another delay", example: "50 ms", name: "New delay" },
  { value: "loss", words: "begins to lose packets", example: "0.01", name: "Probability" },
  { value: "outage", words: "is down for a while", example: "300 ms", name: "For how long" },
];

interface Props {
  head: RunHead;
  moment: number | undefined;
  change: Change | undefined;
  ask: (change: Change | undefined) => void;
}

export function WhatIf({ head, moment, change, ask }: Props) {
  const [kind, choose] = useState(change?.kind ?? "drop");
  const [link, pick] = useState(change?.link ?? head.queues[0] ?? head.links[0] ?? "");
  const [flow, of] = useState(change?.flow ?? "");
  const [value, type] = useState(change?.value ?? "");
  const [typed, set] = useState<string | undefined>(change?.at);
  const chosen = KINDS.find((each) => each.value === kind) as (typeof KINDS)[number];
  const time = typed ?? String(+(moment ?? head.duration / 2).toFixed(9));
  const send = (event: Event) => {
    event.preventDefault();
    // Plain numbers are seconds; what is no time the server tells.
    const at = seconds(time) === undefined || /\p{L}\s*$/u.test(time) ? time : `${time.trim()} s`;
    ask({ kind, at, link, ...(chosen.name ? { value: value || chosen.example } : {}), ...(kind === "drop" && flow ? { flow } : {}) });
  };
  return (
    <form class="row" onSubmit={send} aria-label="What if">
      <Choice name="What if link" value={link} values={head.links} choose={pick} />
      <Choice name="what happens to it" value={kind} values={KINDS} choose={choose} />
      {kind === "drop" && <Choice name="of flow" value={flow} values={[{ value: "", words: "any" }, ...head.flows]} choose={of} />}
      {chosen.name && (
        <Field name={chosen.name}>
          {(id) => (
            <input id={id} size={10} value={value} placeholder={chosen.example} onInput={(event) => type(event.currentTarget.value)} />
          )}
        </Field>
      )}
      <Field name="It happens at (s)">
        {(id) => <input id={id} size={12} value={time} onInput={(event) => set(event.currentTarget.value)} />}
      </Field>
      {moment !== undefined && typed !== undefined && (
        <button type="button" onClick={() => set(undefined)}>
          Take the line's
        </button>
      )}
      <button type="submit" class="main">
        See both futures
      </button>
      {change && (
        <button type="button" onClick={() => ask(undefined)}>
          Only what was
        </button>
      )}
    </form>
  );
}
