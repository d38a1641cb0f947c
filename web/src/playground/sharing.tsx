// A setting to take along: its address, and the study that it is.
import { useState } from "preact/hooks";
import { address, post, problemOf, type Told } from "../api";
import { to } from "../route";
import { session } from "../session";
import { Choice, Field } from "../ui/field";
import { Wrong } from "../ui/loaded";
import { searchOf } from "./setting";

/** `lesson`: from which the setting is, so that whoever gets the address finds back to it. */
export function Sharing({ setting, lesson, study }: { setting: string; lesson: string; study: string }) {
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
        <button type="button" onClick={share}>
          Copy the address
        </button>
        <a class="button" href={address("/api/playground/study", { set: setting })} download="playground.toml">
          Download the study
        </a>
        <span role="status">{copied}</span>
      </div>
      {session.value?.allowRun ? (
        <Save setting={setting} folders={session.value.folders} />
      ) : (
        <p class="faint">
          This explorer only reads; <code>sawtooth serve --allow-run</code> writes studies into its folders, too.
        </p>
      )}
      <details open>
        <summary>The study that it is</summary>
        <pre class="study" tabIndex={0}>
          {study}
        </pre>
      </details>
    </section>
  );
}

function Save({ setting, folders }: { setting: string; folders: string[] }) {
  const [folder, choose] = useState(folders[0] ?? "");
  const [name, call] = useState("playground");
  const [saved, tell] = useState<string | Told | null>(null);
  const save = (event: Event) => {
    event.preventDefault();
    post<{ address: string }>("/api/playground/save", {}, { set: setting, to: `${folder}/${name}` }).then(
      (found) => tell(found.address),
      (error) => tell(problemOf(error)),
    );
  };
  return (
    <form class="row" onSubmit={save}>
      <Choice name="Folder" value={folder} values={folders} choose={choose} />
      <Field name="Name">{(id) => <input id={id} value={name} required onInput={(event) => call(event.currentTarget.value)} />}</Field>
      <button type="submit">Save as study</button>
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
