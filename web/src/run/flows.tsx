import type { RunHead } from "./track";

const MOST = 400;
/** As many as there are colours for. */
const MOST_SHOWN = 8;

/** Which flows are drawn. */
export function ChooseFlows({ head, choose }: { head: RunHead; choose: (flows: string[]) => void }) {
  if (head.flows.length < 2) return null;
  const toggle = (flow: string, on: boolean) => {
    const next = on ? [...head.shown, flow] : head.shown.filter((each) => each !== flow);
    if (next.length) choose(head.flows.filter((each) => next.includes(each)));
  };
  return (
    <details>
      <summary>
        {head.shown.length} of {head.flows.length} flows
      </summary>
      <fieldset class="flows">
        <legend class="hidden">Flows that are shown</legend>
        {head.flows.slice(0, MOST).map((flow) => (
          <label key={flow}>
            <input
              type="checkbox"
              checked={head.shown.includes(flow)}
              disabled={!head.shown.includes(flow) && head.shown.length >= MOST_SHOWN}
              onChange={(event) => toggle(flow, event.currentTarget.checked)}
            />{" "}
            {flow} <span class="faint">{head.cc[flow]}</span>
          </label>
        ))}
      </fieldset>
    </details>
  );
}
