import { get } from "../api";
import { useLoaded, Wrong } from "../ui/loaded";

interface Marks {
  validity: {
    said: string;
    entries: { code: string; severity: string; summary: string; where: string; example: string; advice: string }[];
  } | null;
}

/** What is not to be read into results, as the rules of lint mark it. */
export function Validity({ of }: { of: string }) {
  const { value, problem } = useLoaded((signal) => get<Marks>("/api/results/validity", { of }, signal), [of]);
  if (problem) return <Wrong told={problem} />;
  if (!value?.validity) return null;
  return (
    <section aria-label="Validity">
      <h2>Validity</h2>
      <p>{value.validity.said}.</p>
      {value.validity.entries.map((each) => (
        <details key={each.code}>
          <summary>
            {each.code}, {each.severity}: {each.summary}
          </summary>
          <p>
            {each.where}. {each.example && `Such as ${each.example}.`} {each.advice}
          </p>
        </details>
      ))}
    </section>
  );
}
