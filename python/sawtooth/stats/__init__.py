"""Statistics over replicates. The unit of replication is a run.

Effect size and interval come first, p-values second; "cannot distinguish" is a result. Which method makes an interval is a written rule:
docs/concepts/statistics.md; what it covers is measured: docs/validation/statistics.md. SciPy is loaded by the first computation.
"""

from sawtooth.stats.bounded import centre_between
from sawtooth.stats.centre import CENTRES, Centre, centre, geometric_mean
from sawtooth.stats.compare import apart, difference, differences_made_ready, ratio
from sawtooth.stats.factorial import Effect, Factorial, Source, factorial
from sawtooth.stats.fairness import jain
from sawtooth.stats.interval import Interval, Vector, unbounded, unvaried, vector
from sawtooth.stats.mean import made_ready, mean, mean_rows
from sawtooth.stats.means import (
    Means,
    difference_interval,
    equivalence,
    equivalence_of_bounds,
    means_against,
    means_of_groups,
    means_of_pairs,
    ratio_interval,
)
from sawtooth.stats.median import fewest_for_median, median
from sawtooth.stats.multiplicity import holm
from sawtooth.stats.paired import Paired, paired
from sawtooth.stats.power import detectable, replicates_needed
from sawtooth.stats.ranks import spearman, spearman_interval
from sawtooth.stats.resampled import FEWEST_FOR_MEDIAN, bootstrap_interval, resampled
from sawtooth.stats.sequential import Progress, sequential
from sawtooth.stats.share import share
from sawtooth.stats.sign import sign_test
from sawtooth.stats.student import mean_interval, prediction_interval
from sawtooth.stats.trend import Trend, trend

__all__ = [
    "CENTRES",
    "FEWEST_FOR_MEDIAN",
    "Centre",
    "Effect",
    "Factorial",
    "Interval",
    "Means",
    "Paired",
    "Progress",
    "Source",
    "Trend",
    "Vector",
    "apart",
    "bootstrap_interval",
    "centre",
    "centre_between",
    "detectable",
    "difference",
    "difference_interval",
    "differences_made_ready",
    "equivalence",
    "equivalence_of_bounds",
    "factorial",
    "fewest_for_median",
    "geometric_mean",
    "holm",
    "jain",
    "made_ready",
    "mean",
    "mean_interval",
    "mean_rows",
    "means_against",
    "means_of_groups",
    "means_of_pairs",
    "median",
    "paired",
    "prediction_interval",
    "ratio",
    "ratio_interval",
    "replicates_needed",
    "resampled",
    "sequential",
    "share",
    "sign_test",
    "spearman",
    "spearman_interval",
    "trend",
    "unbounded",
    "unvaried",
    "vector",
]
