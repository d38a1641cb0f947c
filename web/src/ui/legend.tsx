import { markOf } from "../plots/colours";

export function Legend({ names }: { names: string[] }) {
  if (!names.length) return null;
  return (
    <ul class="legend" aria-label="Curves">
      {names.map((name, at) => {
        const { sign, dash, called } = markOf(at);
        return (
          <li key={name}>
            <span class={`c${at % 8}`} aria-hidden="true">
              <svg class="stroke" width="22" height="8" aria-hidden="true">
                <line x1="0" y1="4" x2="22" y2="4" stroke="currentColor" stroke-width="2" stroke-dasharray={dash.join(" ")} />
              </svg>{" "}
              {sign}
            </span>{" "}
            {name}
            {called && <span class="hidden"> ({called})</span>}
          </li>
        );
      })}
    </ul>
  );
}
