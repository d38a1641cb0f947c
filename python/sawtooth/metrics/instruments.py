"""What a connection's instruments say of a run: the counters and times of RFC 4898 (web100), and throughput over time."""

from __future__ import annotations

import polars as pl

from sawtooth.measures import over_time
from sawtooth.mib import rfc4898
from sawtooth.results.dataset import Dataset

WARM_UP = 1 / 6
"""Of a run's duration: without slow start and the growth of the receiver's buffer, which are not what is asked."""
COUNTERS = ("CongSignals", "SegsRetrans", "DupAcksIn", "FastRetran", "Timeouts", "SubsequentTimeouts", "SACKsRcvd", "DSACKDups")
"""Over the whole connection, as the instruments count."""
LIMITS = {"by_window": "SndLimTimeCwnd", "by_receiver": "SndLimTimeRwin", "by_sender": "SndLimTimeSnd"}
"""What held the connection back, as shares of its life."""


def per_run(dataset: Dataset, widths_ns: dict[str, int]) -> pl.DataFrame:
    """One row per run and TCP flow.

    Args:
        dataset: of a study that samples.
        widths_ns: name to width of the windows in which throughput is taken over time.

    Returns:
        Columns run, flow; mean_bps (of what arrived in order, over the windows of the first width); per width `sd_NAME_bps` and `cov_NAME`;
        cwnd_bytes, mean over samples; COUNTERS; LIMITS. All but the counters and limits are of the time after the warm-up.

    Raises:
        DatasetError: if the study does not sample, or too seldom.

    """
    last = pl.col("t_ns").max()
    series = dataset.series()
    begin = series.group_by("run", maintain_order=True).agg(begin_ns=WARM_UP * last).collect()
    made = (
        dataset.flows()
        .filter(pl.col("cc") != "")
        .select(
            "run",
            "flow",
            *(rfc4898(name) for name in COUNTERS),
            *((rfc4898(name) / pl.col("lifetime_ns")).alias(share) for share, name in LIMITS.items()),
        )
        .collect()
    )
    for at, (name, width) in enumerate(widths_ns.items()):
        found = over_time.windows(dataset, width).join(begin, on="run").filter(pl.col("window") * width >= pl.col("begin_ns"))
        steady = over_time.steadiness(found)
        columns = [pl.col("sd_bps").alias(f"sd_{name}_bps"), pl.col("cov").alias(f"cov_{name}")]
        made = made.join(steady.select("run", "flow", *([pl.col("mean_bps")] if at == 0 else []), *columns), on=["run", "flow"], how="left")
    cwnd = (
        series.join(begin.lazy(), on="run")
        .filter(pl.col("t_ns") >= pl.col("begin_ns"))
        .group_by("run", "flow", maintain_order=True)
        .agg(cwnd_bytes=pl.col("cwnd_bytes").mean())
        .collect()
    )
    return made.join(cwnd, on=["run", "flow"], how="left").sort("run", "flow")
