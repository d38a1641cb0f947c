/** A piece of the line that a curve has: the number of its colour, and lengths of what is drawn and what is not. */
export function Stroke({ colour, dash }: { colour: number; dash: number[] }) {
  return (
    <svg class={`c${colour % 8}`} width="24" height="10" aria-hidden="true">
      <line x2="24" y1="5" y2="5" stroke="currentColor" stroke-width="3" stroke-dasharray={dash.join(" ")} />
    </svg>
  );
}
