const SIGNS = ["●", "■", "▲", "◆", "★", "✚", "Y", "✖"];

export function Legend({ names }: { names: string[] }) {
  if (!names.length) return null;
  return (
    <ul class="legend" aria-label="Curves">
      {names.map((name, at) => (
        <li key={name}>
          <span class={`c${at % 8}`} aria-hidden="true">
            {SIGNS[at % SIGNS.length]}
          </span>{" "}
          {name}
        </li>
      ))}
    </ul>
  );
}
