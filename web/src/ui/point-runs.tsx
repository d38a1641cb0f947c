import { Table } from "./table";

/** The runs that a point is made of. */
export function PointRuns({ of, runs, close }: { of: string; runs: number[]; close: () => void }) {
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
      <Table of={of} table="runs" runs={runs} />
    </section>
  );
}
