import { dashOf, type Line } from "./track";

/** A piece of the line that a flow's curves have. */
export function Stroke({ line }: { line: Line }) {
  return (
    <svg class={`c${line.colour % 8}`} width="24" height="10" aria-hidden="true">
      <line x2="24" y1="5" y2="5" stroke="currentColor" stroke-width="3" stroke-dasharray={dashOf(line).join(" ")} />
    </svg>
  );
}
