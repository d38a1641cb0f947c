import { Words } from "./words";

export function Facts({ facts }: { facts: Record<string, string> }) {
  return (
    <dl class="facts">
      {Object.entries(facts).map(([name, text]) => (
        <>
          <dt>{name}</dt>
          <dd>
            <Words text={text} />
          </dd>
        </>
      ))}
    </dl>
  );
}
