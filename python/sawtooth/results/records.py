"""What one run measured, when it is kept by nobody but whoever asked for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from sawtooth import arguments
from sawtooth.display import Card
from sawtooth.errors import RunFailed

_SAMPLED = ("series", "queues")
_RECORDED = ("variables", "episodes", "limited", "transfers", "waits", "link_flows", "packets", "stalls", "layers")


@dataclass(frozen=True, repr=False)
class Records:
    """What one run measured; each table is an attribute, too, and raises `RunFailed`, with what would make it, if the run has none.

    Attributes:
        tables: every table by name; `sawtooth._core.schema()` lists columns, units and meanings.

    """

    tables: Mapping[str, pl.DataFrame]

    def table(self, name: str) -> pl.DataFrame:
        """A table by its name.

        Raises:
            RunFailed: if the run has none of this name.

        """
        name = arguments.text(name, "a table is called by its name, such as flows")
        if name in self.tables:
            return self.tables[name]
        if name in _SAMPLED:
            raise RunFailed(
                f"this run has no {'time series' if name == 'series' else f'table `{name}`'}", 'add sample = "100 ms" to the scenario'
            )
        recorded = name in _RECORDED
        raise RunFailed(
            f"this run has no table `{name}`",
            f'add record = ["{name}"] to the scenario' if recorded else f"it has {', '.join(self.tables)}",
        )

    def __repr__(self) -> str:
        """Its tables."""
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card().html()

    def _card(self) -> Card:
        rows = {name: f"{frame.height:,} rows of {frame.width} columns" for name, frame in self.tables.items()}
        return Card("Records", "of one run", "", rows)

    @property
    def flows(self) -> pl.DataFrame:
        """One row per flow of TCP."""
        return self.table("flows")

    @property
    def links(self) -> pl.DataFrame:
        """One row per direction of a link."""
        return self.table("links")

    @property
    def series(self) -> pl.DataFrame:
        """One row per flow and sample, if the scenario has `sample`."""
        return self.table("series")

    @property
    def queues(self) -> pl.DataFrame:
        """One row per direction of a link and sample, if the scenario has `sample`."""
        return self.table("queues")

    @property
    def variables(self) -> pl.DataFrame:
        """One row per flow, sample and variable of its congestion control, if the scenario asks for them."""
        return self.table("variables")

    @property
    def episodes(self) -> pl.DataFrame:
        """One row per loss episode of a flow, if the scenario asks for them."""
        return self.table("episodes")

    @property
    def limited(self) -> pl.DataFrame:
        """One row per flow and stretch of time in which one cause held its sender back, if the scenario asks for them."""
        return self.table("limited")

    @property
    def arrivals(self) -> pl.DataFrame:
        """One row per entry of flows that arrive and leave: all of them together."""
        return self.table("arrivals")

    @property
    def fluid(self) -> pl.DataFrame:
        """One row per entry of flows that are simulated together as a fluid."""
        return self.table("fluid")

    @property
    def completions(self) -> pl.DataFrame:
        """One row per entry of flows that arrive and bin of their sizes."""
        return self.table("completions")

    @property
    def transfers(self) -> pl.DataFrame:
        """One row per flow that has arrived, if the scenario asks for them."""
        return self.table("transfers")

    @property
    def exchanges(self) -> pl.DataFrame:
        """One row per flow whose source answers requests."""
        return self.table("exchanges")

    @property
    def datagrams(self) -> pl.DataFrame:
        """One row per flow of UDP: what its receiver got, and how late."""
        return self.table("datagrams")

    @property
    def sources(self) -> pl.DataFrame:
        """One row per flow of UDP and quantity that its source found itself to have."""
        return self.table("sources")

    @property
    def waits(self) -> pl.DataFrame:
        """One row per direction of a link: percentiles of waits and backlogs, if the scenario asks for them."""
        return self.table("waits")

    @property
    def link_flows(self) -> pl.DataFrame:
        """One row per direction of a link and flow: its drops, losses and marks there, if the scenario asks for them."""
        return self.table("link_flows")

    @property
    def packets(self) -> pl.DataFrame:
        """One row per packet and direction of a link to which it has come: when, and what became of it there, if the scenario asks for that."""
        return self.table("packets")

    @property
    def stalls(self) -> pl.DataFrame:
        """One row per time in which a socket of a host stalled, with its cause, if the scenario asks for them."""
        return self.table("stalls")

    @property
    def layers(self) -> pl.DataFrame:
        """One row per thing that happens to a packet at a layer of a host, if the scenario asks for them."""
        return self.table("layers")

    @property
    def counters(self) -> pl.DataFrame:
        """One row per host and counter of its kernel that is not zero; a run of the simulator has none."""
        return self.table("counters")
