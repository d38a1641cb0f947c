import { useState } from "preact/hooks";
import { address } from "../api";
import { Folded } from "../ui/folded";

/** The figures that the study asks for, as the report draws them. */
export function StudyFigures({ of, figures }: { of: string; figures: Record<string, unknown>[] }) {
  return (
    <section aria-label="Figures of the study">
      <h2>Figures of the study</h2>
      {figures.map((keys) => {
        const name = String(keys.name);
        return (
          <Folded
            key={name}
            kept={`figure ${name}`}
            title={
              <>
                {name} <span class="faint">({String(keys.kind)})</span>
              </>
            }
          >
            <Picture of={of} keys={keys} />
          </Folded>
        );
      })}
    </section>
  );
}

function Picture({ of, keys }: { of: string; keys: Record<string, unknown> }) {
  const [failed, fail] = useState(false);
  const asked = { of, keys: JSON.stringify(keys) };
  return (
    <figure>
      {failed ? (
        <p class="wrong">These results do not hold this figure; `sawtooth report` says why.</p>
      ) : (
        <div class="drawn">
          <img
            src={address("/api/results/export", { ...asked, as: "svg", shown: 1 })}
            alt={String(keys.caption ?? keys.name)}
            onError={() => fail(true)}
          />
        </div>
      )}
      <figcaption>
        {String(keys.caption ?? "")} <Files asked={asked} />
      </figcaption>
    </figure>
  );
}

/** A figure as files: pictures, its numbers, and the lines that make it; its axes are the report's, or those `on` the page, as they are of what lies `beside` others. */
export function Files({ asked }: { asked: { of: string; keys: string; on?: "page"; beside?: string | undefined } }) {
  return (
    <span>
      {(["svg", "png", "csv", "toml"] as const).map((way) => (
        <span key={way}>
          {" "}
          <a href={address(asked.beside ? "/api/compare/export" : "/api/results/export", { ...asked, as: way })} download>
            {way.toUpperCase()}
          </a>
        </span>
      ))}
    </span>
  );
}
