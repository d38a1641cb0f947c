import { useState } from "preact/hooks";
import { Table } from "./table";

/** A run of a point, with what the measure of the figure is in it, or the bound that is known of it. */
export interface OfPoint {
  run: number;
  value: number | null;
}

const NEXT = { none: "ascending", ascending: "descending", descending: "ascending" } as const;

/** The runs that a point is made of; `measure`: what the figure shows, with its unit. */
export function PointRuns({ of, runs, measure, close }: { of: string; runs: OfPoint[]; measure: string; close: () => void }) {
  const [sorted, sort] = useState<keyof typeof NEXT>("none");
  const values = new Map(runs.map((each) => [each.run, each.value]));
  const way = sorted === "ascending" ? 1 : -1;
  // What is not known stands last.
  const size = (each: OfPoint) => way * (each.value ?? way * Number.POSITIVE_INFINITY);
  const ordered = sorted === "none" ? runs : [...runs].sort((one, other) => (size(one) < size(other) ? -1 : 1));
  return (
    <section class="card" aria-label="Runs of a point">
      <div class="row">
        <h3>
          {runs.length} run{runs.length === 1 ? "" : "s"} of this point
        </h3>
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
      <Table
        of={of}
        table="runs"
        runs={ordered.map((each) => each.run)}
        own={{ title: measure, value: (run) => values.get(run) ?? null, sorted, sort: () => sort(NEXT[sorted]) }}
      />
    </section>
  );
}
