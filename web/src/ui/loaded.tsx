import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { gone, problemOf, type Told } from "../api";
import { PLACES } from "./places";
import { Words } from "./words";

export interface Loaded<T> {
  value?: T;
  problem?: Told;
  loading: boolean;
}

/** What a question is answered with, asked again whenever `keys` change, and after a failure once an explorer that was gone is back; what was shown stays until the next answer is there. */
export function useLoaded<T>(ask: (signal: AbortSignal) => Promise<T>, keys: readonly unknown[]): Loaded<T> {
  const [found, set] = useState<Loaded<T>>({ loading: true });
  const [attempt, again] = useState(0);
  useEffect(() => {
    if (!gone.value && found.problem) again((before) => before + 1);
  }, [gone.value]);
  useEffect(() => {
    const control = new AbortController();
    set((before) => ({ ...before, loading: true }));
    ask(control.signal).then(
      (value) => !control.signal.aborted && set({ value, loading: false }),
      (error) => !control.signal.aborted && set((before) => ({ ...before, problem: problemOf(error), loading: false })),
    );
    return () => control.abort();
  }, [...keys, attempt]);
  return found;
}

export function Wrong({ told }: { told: Told }) {
  return (
    <div class="wrong" role="alert">
      <p>
        <strong>
          <Words text={told.message} />
        </strong>
      </p>
      {told.place?.text ? (
        <pre tabIndex={0}>
          {`${told.place.name}:${told.place.line}:${told.place.column}\n${told.place.text}\n${" ".repeat(Math.max(told.place.column - 1, 0))}${"^".repeat(Math.max(told.place.end - told.place.column, 1))}`}
        </pre>
      ) : null}
      {told.hint ? (
        <p>
          <Words text={told.hint} />
        </p>
      ) : null}
    </div>
  );
}

/** Why what was asked for by a button was not done: it comes into view, wherever it stands. */
export function Refused({ told }: { told: Told }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.scrollIntoView({ block: "nearest" }), [told]);
  return (
    <div ref={place}>
      <Wrong told={told} />
    </div>
  );
}

export function Await<T>({ of, children }: { of: Loaded<T>; children: (value: T) => ComponentChildren }) {
  return (
    <>
      {of.problem && <Wrong told={of.problem} />}
      {of.value !== undefined ? children(of.value) : of.loading ? <p class="faint">Loading …</p> : null}
    </>
  );
}

/** As `Await`, of all that a page is: one that cannot be shown has a heading and a way on, too. `list` is the page of what there is of its kind. */
export function AwaitPage<T>({ of, list, children }: { of: Loaded<T>; list: string; children: (value: T) => ComponentChildren }) {
  if (!of.problem || of.value !== undefined) return <Await of={of}>{children}</Await>;
  const [, title = ""] = PLACES.find(([name]) => name === list) ?? [];
  return (
    <NotShown what="This" way={[`/${list}`, `${title} that there are`]}>
      <Wrong told={of.problem} />
    </NotShown>
  );
}

/** A page on which nothing is but why, and a `way` on: its address and its words. */
export function NotShown({ what, way: [address, words], children }: { what: string; way: [string, string]; children: ComponentChildren }) {
  return (
    <section>
      <h1>{what} cannot be shown</h1>
      {children}
      <p>
        <a href={address}>{words}</a>
      </p>
    </section>
  );
}
