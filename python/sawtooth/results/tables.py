"""The tables of a dataset by their names, and what of each run may stand beside their rows."""

from __future__ import annotations

from abc import ABC, abstractmethod

import polars as pl

from sawtooth.tables import factors_of

_OF_A_RUN = ("run", "cell", "arm", "replicate")


class Tables(ABC):
    """Every table by a method of its name; `factors=True` is what `table` says of it."""

    @abstractmethod
    def table(self, name: str, *, factors: bool = False) -> pl.LazyFrame:
        """A table by its name."""

    def flows(self, *, factors: bool = False) -> pl.LazyFrame:
        """One row per flow and run."""
        return self.table("flows", factors=factors)

    def links(self, *, factors: bool = False) -> pl.LazyFrame:
        """One row per direction of a link and run."""
        return self.table("links", factors=factors)

    def series(self, *, factors: bool = False) -> pl.LazyFrame:
        """One row per flow, sample and run, where the study samples."""
        return self.table("series", factors=factors)

    def queues(self, *, factors: bool = False) -> pl.LazyFrame:
        """One row per direction of a link, sample and run, where the study samples."""
        return self.table("queues", factors=factors)

    def variables(self, *, factors: bool = False) -> pl.LazyFrame:
        """One row per flow, sample, variable of its congestion control and run, where the scenario has `record = ["variables"]`."""
        return self.table("variables", factors=factors)

    def episodes(self, *, factors: bool = False) -> pl.LazyFrame:
        """One row per loss episode, flow and run, where the scenario has `record = ["episodes"]`."""
        return self.table("episodes", factors=factors)

    def limited(self, *, factors: bool = False) -> pl.LazyFrame:
        """One row per stretch of time in which one cause held a sender back, flow and run, where the scenario has `record = ["limited"]`."""
        return self.table("limited", factors=factors)

    def arrivals(self, *, factors: bool = False) -> pl.LazyFrame:
        """One row per entry of flows that arrive and leave, and run: all of them together."""
        return self.table("arrivals", factors=factors)

    def fluid(self, *, factors: bool = False) -> pl.LazyFrame:
        """One row per entry of flows that are simulated together as a fluid, and run."""
        return self.table("fluid", factors=factors)

    def completions(self, *, factors: bool = False) -> pl.LazyFrame:
        """One row per entry of flows that arrive, bin of their sizes and run."""
        return self.table("completions", factors=factors)

    def transfers(self, *, factors: bool = False) -> pl.LazyFrame:
        """One row per flow that has arrived and run, where the scenario has `record = ["transfers"]`."""
        return self.table("transfers", factors=factors)

    def exchanges(self, *, factors: bool = False) -> pl.LazyFrame:
        """One row per flow whose source answers requests, and run."""
        return self.table("exchanges", factors=factors)

    def datagrams(self, *, factors: bool = False) -> pl.LazyFrame:
        """One row per flow of UDP and run: what its receiver got, and how late."""
        return self.table("datagrams", factors=factors)

    def sources(self, *, factors: bool = False) -> pl.LazyFrame:
        """One row per flow of UDP, quantity that its source found itself to have, and run."""
        return self.table("sources", factors=factors)

    def waits(self, *, factors: bool = False) -> pl.LazyFrame:
        """One row per direction of a link and run, where the scenario has `record = ["waits"]`: percentiles of waits and backlogs."""
        return self.table("waits", factors=factors)

    def link_flows(self, *, factors: bool = False) -> pl.LazyFrame:
        """One row per direction of a link, flow and run, where the scenario has `record = ["link_flows"]`: drops, losses and marks."""
        return self.table("link_flows", factors=factors)

    def packets(self, *, factors: bool = False) -> pl.LazyFrame:
        """One row per packet, direction of a link and run, where the scenario has `record = ["packets"]`: when it came, and what became of it."""
        return self.table("packets", factors=factors)

    def stalls(self, *, factors: bool = False) -> pl.LazyFrame:
        """One row per time in which a socket of a host stalled and run, where the scenario has `record = ["stalls"]`."""
        return self.table("stalls", factors=factors)

    def layers(self, *, factors: bool = False) -> pl.LazyFrame:
        """One row per thing that happens to a packet at a layer of a host and run, where the scenario has `record = ["layers"]`."""
        return self.table("layers", factors=factors)

    def counters(self, *, factors: bool = False) -> pl.LazyFrame:
        """One row per host, counter of its kernel that is not zero, and run, on real kernels."""
        return self.table("counters", factors=factors)


def with_factors(table: pl.LazyFrame, runs: pl.DataFrame) -> pl.LazyFrame:
    """A table with the cell, arm, replicate and factors of each row's run before its own columns.

    A factor that is called like a column of the table becomes `factor_NAME`.
    """
    own = table.collect_schema().names()
    factors = factors_of(runs)
    called = {name: f"factor_{name}" if {name, f"{name}_value"} & {*own} else name for name in factors}
    beside = runs.lazy().select(
        *_OF_A_RUN,
        *(pl.col(f"{name}{what}").alias(f"{new}{what}") for name, new in called.items() for what in ("", "_value")),
    )
    # Rows stay in their order.
    joined = table.join(beside, on="run", how="left", maintain_order="left")
    return joined.select(*beside.collect_schema().names(), *(name for name in own if name != "run"))
