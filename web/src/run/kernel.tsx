// What is said of a run on a real kernel: it is told by what was stored, or done again, and then it is another run.
import type { Told } from "../api";
import { session } from "../session";
import { Wrong } from "../ui/loaded";
import type { RunHead } from "./track";

interface Props {
  head: RunHead;
  /** Does it again, or goes back to what was stored. */
  again: (again: boolean) => void;
  /** Does it again and lays it beside what was stored. */
  beside: () => void;
}

export function OnKernel({ head, again, beside }: Props) {
  const { kernel } = head;
  if (!kernel) return null;
  const stored = kernel.stored.join(", ");
  if (!head.again)
    return (
      <div class="note">
        <p>
          A run on a real kernel{stored && ` (${head.backend}, Linux ${stored})`}, as it was stored. A kernel need not do the same twice:
          done again, it is another run.
        </p>
        {session.value?.allowRun && (
          <p class="row">
            <button type="button" onClick={beside}>
              Do it again and lay it beside
            </button>
            <button type="button" onClick={() => again(true)}>
              Do it again in detail
            </button>
          </p>
        )}
      </div>
    );
  return (
    <div class="note">
      <p>
        <strong>This is another run than the one that was stored.</strong> The explorer has done it again on a real kernel ({head.backend},
        Linux {kernel.now}
        {stored && stored !== kernel.now && `; the stored one was done on ${stored}`}), with the same scenario and seed.{" "}
        {head.same
          ? "Its flows came out the same to the bit, as they may where time is virtual; these are other packets all the same."
          : "These are not the same packets, and its flows did not come out the same to the bit."}
      </p>
      {kernel.was.length > 0 && <p>Stored was: {kernel.was.join("; ")}.</p>}
      {kernel.stored_series && (
        <p class="row">
          <button type="button" onClick={() => again(false)}>
            Show what was stored
          </button>
        </p>
      )}
    </div>
  );
}

/** Why nothing is shown of a run, and what can be done about it here. */
export function Unstored({ told, again }: { told: Told; again: () => void }) {
  return (
    <>
      <Wrong told={told} />
      {told.repeatable && session.value?.allowRun && (
        <p>
          <button type="button" class="main" onClick={again}>
            Do it again on the kernel
          </button>{" "}
          <span class="faint">It will be another run than the one that was stored: same scenario and seed, other packets.</span>
        </p>
      )}
    </>
  );
}
