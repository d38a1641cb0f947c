// A setting to take along: its address, and the study that it is.
import { useState } from "preact/hooks";
import { address, post, problemOf, type Told } from "../api";
import { to } from "../route";
import { session } from "../session";
import { Choice, Field } from "../ui/field";
import { Wrong } from "../ui/loaded";
import { Press } from "../ui/press";
import { searchOf } from "./setting";

interface Shared {
  setting: string;
  /** From which the setting is, so that whoever gets the address finds back to it. */
  lesson: string;
  study: string;
  /** Whether the setting makes no study: the one that is shown is of the setting before. */
  refused: boolean;
}

export function Sharing({ setting, lesson, study, refused }: Shared) {
  const [copied, tell] = useState("");
  const share = () =>
    navigator.clipboard.writeText(`${location.origin}/playground${searchOf(setting, lesson)}`).then(
      () => tell("The address is copied."),
      () => tell("The browser copies nothing: take the address from its bar."),
    );
  return (
    <section>
      <h2>Take it along</h2>
      <div class="row">
        <Press no={refused} go={share}>
          Copy the address
        </Press>
        {refused ? (
          <Press no go={() => undefined}>
            Download the study
          </Press>
        ) : (
          <a class="button" href={address("/api/playground/study", { set: setting })} download="playground.toml">
            Download the study
          </a>
        )}
        <span role="status">{copied}</span>
      </div>
      {session.value?.allowRun ? (
        <Save setting={setting} refused={refused} folders={session.value.folders} />
      ) : (
        <p class="faint">
          This explorer only reads; <code>sawtooth serve --allow-run</code> writes studies into its folders, too.
        </p>
      )}
      <details open>
        <summary>{refused ? "The study that it was, before this setting: this one is refused" : "The study that it is"}</summary>
        <pre class={refused ? "study stale" : "study"} tabIndex={0}>
          {study}
        </pre>
      </details>
    </section>
  );
}

function Save({ setting, refused, folders }: { setting: string; refused: boolean; folders: string[] }) {
  const [folder, choose] = useState(folders[0] ?? "");
  const [name, call] = useState("playground");
  // Said of the setting that it was said of, and of no other.
  const [said, tell] = useState<{ of: string; saved: string | Told } | null>(null);
  const saved = said?.of === setting ? said.saved : null;
  const save = (event: Event) => {
    event.preventDefault();
    if (refused) return;
    post<{ address: string }>("/api/playground/save", {}, { set: setting, to: `${folder}/${name}` }).then(
      (found) => tell({ of: setting, saved: found.address }),
      (error) => tell({ of: setting, saved: problemOf(error) }),
    );
  };
  return (
    <form class="row" onSubmit={save}>
      <Choice name="Folder" value={folder} values={folders} choose={choose} />
      <Field name="Name">{(id) => <input id={id} value={name} required onInput={(event) => call(event.currentTarget.value)} />}</Field>
      <button type="submit" aria-disabled={refused}>
        Save as study
      </button>
      {typeof saved === "string" ? (
        <span role="status">
          Saved as <a href={to("studies", { of: saved })}>{saved}</a>.
        </span>
      ) : (
        saved && <Wrong told={saved} />
      )}
    </form>
  );
}
