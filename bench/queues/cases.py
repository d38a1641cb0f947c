"""Which disciplines are compared with whom, with which settings and on which traffic, and why they differ where they do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import traffic as t
from pseudocode import AdaptiveRed, Codel, Discipline, DualPi2, Pie, Red
from traffic import Traffic

# A limit counts the packet in transmission with ours, and not with the others.
LIMIT, OURS = 500, {"limit": "501 packets"}


@dataclass(frozen=True)
class Peer:
    """ns-3's type and attributes, or Linux's commands of `tc`, or the pseudo-code; and the switch with which that does as the others."""

    ns3: tuple[str, Mapping[str, str]] | None = None
    linux: Sequence[str] | None = None
    pseudo: Callable[[int], Discipline] | None = None
    departs: Callable[[int], Discipline] | None = None


@dataclass(frozen=True)
class Case:
    """A discipline as in a study file, beside a peer's."""

    name: str
    ours: Mapping[str, Any]
    peer: Peer
    traffic: Sequence[Traffic]
    seeds: int = 1
    reasons: Mapping[str, str] = field(default_factory=dict[str, str])


SINGLE = (t.CONSTANT, t.POISSON, t.BELOW, t.BURSTS, t.STEPS, t.CAPABLE, t.HALF, t.SIZES)
FAIR = (t.POISSON, t.UNEQUAL, t.UNEQUAL_ECN, t.LONG_AND_SHORT, t.HALF)
RED = {"MaxSize": "500p", "UseEcn": "true", "UseHardDrop": "false", "LInterm": "10", "Wait": "false", "LinkBandwidth": "10Mbps",
       "LinkDelay": "0ms"}  # fmt: skip
# "Bottom" is what figure 1 of the paper has, 0.01, and not ns-3's own default.
ARED = {**RED, "ARED": "true", "MinTh": "0", "MaxTh": "0", "QW": "0", "Bottom": "0.01"}
PIE_OURS = {"name": "pie", "mean_packet": "1000 B", **OURS}
PIE_NS3 = {"MaxSize": "500p", "UseEcn": "true"}

NS3 = (
    Case("drop_tail", {"name": "drop_tail", "limit": "51 packets"}, Peer(ns3=("FifoQueueDisc", {"MaxSize": "50p"})), SINGLE),
    Case("token_bucket", {"name": "token_bucket", "rate": "8 Mbit/s", "burst": "20 kB", "limit": "101 packets"},
         Peer(ns3=("TbfQueueDisc", {"Rate": "8Mbps", "Burst": "20000", "MaxSize": "100p"})), (t.BELOW, t.BURSTS, t.STEPS, t.SIZES)),
    Case("codel", {"name": "codel", **OURS}, Peer(ns3=("CoDelQueueDisc", PIE_NS3), pseudo=lambda _: Codel(LIMIT),
         departs=lambda _: Codel(LIMIT, mark_from_now=True, newton=True)), SINGLE),
    Case("red", {"name": "red", **OURS}, Peer(ns3=("RedQueueDisc", RED), pseudo=lambda seed: Red(LIMIT, seed),
         departs=lambda seed: Red(LIMIT, seed, spare_short=True)), SINGLE, 4),
    Case("ared", {"name": "ared", **OURS}, Peer(ns3=("RedQueueDisc", ARED), pseudo=lambda seed: AdaptiveRed(LIMIT, seed),
         departs=lambda seed: AdaptiveRed(LIMIT, seed, spare_short=True)), SINGLE, 4),
    Case("pie", {**PIE_OURS, "derandomise": False}, Peer(ns3=("PieQueueDisc", PIE_NS3),
         pseudo=lambda seed: Pie(LIMIT, seed, derandomise=False)), SINGLE, 4),
    Case("pie, derandomised", PIE_OURS, Peer(ns3=("PieQueueDisc", {**PIE_NS3, "UseDerandomization": "true"}),
         pseudo=lambda seed: Pie(LIMIT, seed, derandomise=True), departs=lambda seed: Pie(LIMIT, seed, derandomise=True, keep_after_mark=True)),
         SINGLE, 4),
    Case("pie, departure rate", {**PIE_OURS, "derandomise": False, "delay": "departure_rate"},
         Peer(ns3=("PieQueueDisc", {**PIE_NS3, "UseDequeueRateEstimator": "true"})), (t.CONSTANT, t.POISSON, t.HALF, t.SIZES), 4),
    Case("pie, departure rate of 17 packets",
         {**PIE_OURS, "derandomise": False, "delay": "departure_rate", "rate_threshold": "17 kB"},
         Peer(ns3=("PieQueueDisc", {**PIE_NS3, "UseDequeueRateEstimator": "true", "DequeueThreshold": "17000"})), (t.CONSTANT, t.POISSON), 4),
    Case("cobalt", {"name": "cobalt", **OURS}, Peer(ns3=("CobaltQueueDisc", PIE_NS3)), SINGLE, 4),
    Case("fq_codel", {"name": "fq_codel"}, Peer(ns3=("FqCoDelQueueDisc", {})), FAIR),
    Case("fq_pie", {"name": "fq_pie", "mean_packet": "1000 B", "derandomise": False}, Peer(ns3=("FqPieQueueDisc", {})), FAIR, 4),
)  # fmt: skip

DUALPI2 = (
    Case("dualpi2", {"name": "dualpi2", "limit": "313500 B", "classic_share": 0.0625}, Peer(pseudo=lambda _: DualPi2(312_500)),
         (t.POISSON, t.HALF, t.L4S, t.L4S_OVERLOAD)),
)  # fmt: skip


def cake(settings: str) -> Sequence[str]:
    """The command of a `cake` of one tin."""
    return [f"qdisc add dev {{dev}} parent 1:1 handle 10: cake besteffort {settings}"]


_DRR = ["qdisc add dev {dev} parent 1:1 handle 10: drr"]
for _flow in range(4):
    _DRR += [
        f"class add dev {{dev}} parent 10: classid 10:{_flow + 1} drr quantum 1500",
        f"qdisc add dev {{dev}} parent 10:{_flow + 1} pfifo limit 100",
        f"filter add dev {{dev}} parent 10: protocol ip prio 1 u32 match ip sport {1000 + _flow} 0xffff flowid 10:{_flow + 1}",
    ]
_DRR += ["filter add dev {dev} parent 10: protocol ip prio 2 u32 match u32 0 0 flowid 10:1"]
LINUX_MODULES = ("sch_codel", "sch_red", "sch_pie", "sch_fq_codel", "sch_sfq", "sch_drr", "sch_cake", "cls_u32")
LINUX = (
    Case("drop_tail", {"name": "drop_tail", "limit": "51 packets"}, Peer(linux=["qdisc add dev {dev} parent 1:1 handle 10: pfifo limit 50"]),
         (t.POISSON,)),
    Case("codel", {"name": "codel", **OURS}, Peer(linux=["qdisc add dev {dev} parent 1:1 handle 10: codel limit 500 ecn"],
         pseudo=lambda _: Codel(LIMIT), departs=lambda _: Codel(LIMIT, newton=True)), (t.CONSTANT, t.CAPABLE)),
    Case("red", {"name": "red", "min_threshold": "5 kB", "max_threshold": "15 kB", "weight": "1/128", "gentle": False, "mean_packet": "1000 B",
         "limit": "500 kB"},
         Peer(linux=["qdisc add dev {dev} parent 1:1 handle 10: red limit 500000 min 5000 max 15000 avpkt 1000 burst 26 probability 0.1 "
                     "bandwidth 10mbit ecn"]), (t.POISSON,), 4),
    Case("pie", {**PIE_OURS, "update": "20 ms"},
         Peer(linux=["qdisc add dev {dev} parent 1:1 handle 10: pie limit 500 target 15ms tupdate 20ms alpha 2 beta 20 ecn"]), (t.POISSON,), 4),
    Case("fq_codel", {"name": "fq_codel"}, Peer(linux=["qdisc add dev {dev} parent 1:1 handle 10: fq_codel limit 10240 quantum 1514 ecn"]),
         (t.UNEQUAL,)),
    # Its limit is one of memory, which is reached only in the last of these: there a packet's buffer is 2304 bytes, and 500 of them are held.
    Case("cobalt", {"name": "cobalt", "limit": "100000 packets"}, Peer(linux=cake("unlimited flowblind memlimit 200m")), SINGLE, 4),
    Case("cake", {"name": "cake", "limit": "200 MB"}, Peer(linux=cake("unlimited memlimit 200m")), FAIR, 4),
    Case("cake, 8 Mbit/s", {"name": "cake", "rate": "8 Mbit/s", "limit": "200 MB"}, Peer(linux=cake("bandwidth 8mbit memlimit 200m")),
         (t.CONSTANT, t.BELOW, t.UNEQUAL_ECN), 4),
    Case("cake, 8 Mbit/s over Ethernet", {"name": "cake", "rate": "8 Mbit/s", "limit": "200 MB", "overhead": 38, "mpu": 84},
         Peer(linux=cake("bandwidth 8mbit memlimit 200m raw overhead 38 mpu 84")), (t.BELOW, t.SIZES), 4),
    Case("cake, 8 Mbit/s over ATM", {"name": "cake", "rate": "8 Mbit/s", "limit": "200 MB", "overhead": 10, "framing": "atm"},
         Peer(linux=cake("bandwidth 8mbit memlimit 200m raw overhead 10 atm")), (t.BELOW, t.SIZES), 4),
    Case("cake, 8 Mbit/s over PTM", {"name": "cake", "rate": "8 Mbit/s", "limit": "200 MB", "framing": "ptm"},
         Peer(linux=cake("bandwidth 8mbit memlimit 200m raw ptm")), (t.BELOW,), 4),
    Case("cake, 500 packets", {"name": "cake", "limit": "500 kB"}, Peer(linux=cake(f"unlimited memlimit {500 * 2304}")),
         (t.CONSTANT, t.STEPS, t.CAPABLE), 4),
    Case("sfq", {"name": "sfq", "limit": "128 packets", "quantum": "1500 B"},
         Peer(linux=["qdisc add dev {dev} parent 1:1 handle 10: sfq limit 127 quantum 1500"]), (t.UNEQUAL, t.LONG_AND_SHORT)),
    Case("drr", {"name": "drr", "limit": "401 packets", "quantum": "1500 B"}, Peer(linux=_DRR), (t.UNEQUAL, t.LONG_AND_SHORT)),
)  # fmt: skip
