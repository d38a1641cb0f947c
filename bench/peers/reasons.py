"""Why the simulator and a peer differ: what is known, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Cause:
    """One reason."""

    who: str
    """Which side departs from the specification, in a few words that end with a full stop."""
    text: str
    """What it does, what the specification says, and how it is known."""


@dataclass(frozen=True)
class Reason:
    """What explains a difference."""

    keys: tuple[str, ...]
    alike: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Parameters of our congestion control with which it does as the peer, where there are such."""


REASONS: dict[str, Cause] = {
    "vegas-mean": Cause(
        "Neither, by the letter.",
        "When does Vegas's slow start end? ns-2's ends at 42 segments on the path of 50 Mbit/s and 80 ms (trace of `cwnd_`) and grows by one a round trip from there (0.98 in the table of laws; "
        "Brakmo and Peterson 1995 §III-B: one). The path holds 333, and nothing waits in it but slow start's own bursts: half a window, 21 segments, 5 ms, half of that in the "
        "mean. `Diff = 42 (1 - 80 / 82.5) = 1.3` is above gamma = 1 with the round's mean round-trip time, and 0 with its least, which the simulator takes (listed among the deviations "
        "of `vegas`). The paper has one distinguished segment a round and does not say where in a burst it is.",
    ),
    "vegas-quarter": Cause(
        "Ours, as documented.",
        "ns-2's Vegas keeps three quarters of its window at a fast retransmission (the share left), which belongs to the paper's earlier retransmissions (§III-A) that the simulator does not model; it halves.",
    ),
    "rate-halving": Cause(
        "ns-2's agent.",
        "Its recovery is rate halving, as in Linux before 3.2: the window follows what is outstanding down and does not stop at ssthresh. In the trace of the far of two flows a window of 11 with ssthresh 5 goes to "
        "9, 8, 7, 6, 4 and 2 in one recovery, two retransmissions are lost in the queue, and slow start follows. RFC 5681 §3.2 step 6: cwnd is set to ssthresh at the end; "
        'RFC 9937: "as close as possible to the slow start threshold". Where several packets of a small window are lost, the algorithm\'s own decrease hardly matters then: see the share left.',
    ),
    "holes": Cause(
        "ns-2's agent.",
        "It sends new data before it repairs what is lost. In CUBIC's run on 50 Mbit/s and 80 ms `ack_` is 2661 at 2 s, 2674 at 4 s and 2736 at 14 s while the highest sent goes from 6648 to 56317, and its window stands at 849: one hole "
        "is filled every 150 ms, with the link full. RFC 6675 §4, NextSeg rule (1): what is lost goes first. It happens when many packets of a large slow-start window are lost and the algorithm "
        "keeps more than half of it.",
    ),
    "cubic-beta": Cause(
        "ns-2's agent.",
        "Its CUBIC is of Linux 2.6: the share left after one loss is 0.83 after 1.5 round trips of growth, from 0.8, and the growth 4.0 segments per round trip; RFC 9438 §4.6 has beta_cubic = 0.7, and with it 5.6.",
    ),
    "illinois-double": Cause(
        "ns-2's agent.",
        "A single loss leaves 0.337 of its window. The least that the paper allows is 1 - beta_max = 1/2 (Liu, Başar and Srikant 2008 §3); it is as if it reduced twice for one loss.",
    ),
    "vegas-slow": Cause(
        "ns-2's agent.",
        "Vegas's window moves by 0.5 segments per round trip (table of laws); the paper (§III-B) has one. It needs twice as long to fill the path after its slow start has ended, and to leave a full queue.",
    ),
    "vegas-edge": Cause(
        "ns-2's agent, by the reason before; the queue decides what that costs.",
        "In a queue of four packets the agent's Vegas settles at 20 segments, because it waits two round trips between steps and so sees the queue of its last one. The simulator's takes a step per round trip, as the paper: at 20 segments the round's least "
        "round-trip time is 22.95 ms, 19 segments of 1.208 ms, so that Diff is 20 (1 - 21.24 / 22.95) = 1.5, below alpha = 2; the window goes to 21, and a packet is lost.",
    ),
    "westwood-half": Cause(
        "ns-2's agent.",
        "A loss leaves 0.507 of the window, whatever the bandwidth: the agent does not tell the module that a loss is repaired. Grieco and Mascolo 2004: `ssthresh = BWE * RTTmin`. After a slow start that is little: with alpha = 0.9 a round "
        "trip's bandwidth counts for a tenth, and ten round trips of doubling leave BWE at a fifth of the rate, 0.1 / (1 - 0.9 / 2), and, as the loss is found a round trip later, 0.09 of the window (ours: 0.090).",
    ),
    "lp-start": Cause(
        "ns-2's agent.",
        "TCP-LP hears early congestion in slow start: its window stops at 271 with nothing lost (factor 1.00 per round trip in slow start), and falls to 1 again and again. Kuzmanovic and Knightly 2003, 2006 give the policy for congestion avoidance.",
    ),
    "veno-edge": Cause(
        "Neither.",
        "Where the queue holds four packets, `N` at a loss is between 3 and 4 by arithmetic (21 segments, of which the path holds 17.6), at the edge of beta = 3 (Fu and Liew 2003 §II-A): which round-trip time is the last before the loss is found decides whether it is a random loss (0.8 remains) "
        "or a congestive one (0.5).",
    ),
    "htcp-delta": Cause(
        "ns-2's agent.",
        "H-TCP's growth over 0.5 to 1.5 s after a loss is 1.5 segments per round trip. draft-leith-tcp-htcp-06: alpha = 2 (1 - beta) (1 + 10 (Delta - 1) + (Delta - 1)^2 / 4) beyond 1 s, with beta = 0.5 a mean of 2.26 (ours: 2.3) if Delta counts from the loss, "
        "and 1.45 if it counts from 0.2 s later: from the end of the recovery.",
    ),
    "shares": Cause(
        "Neither.",
        "The sum of both flows agrees within 2.2 %; at a full drop-tail queue phases decide whose packets are lost (Floyd and Jacobson 1992). The near flow has ten times as much as the far one, and a tenth of it is all of the far one's.",
    ),
    "exit-growth": Cause(
        "ns-3.",
        "The acknowledgement that ends a recovery lets the window grow by everything that it covers. In LinuxReno's run with every 100th packet lost the window goes from 9.41 to 11.41 segments at 1.158291 s, the moment the recovery ends, where "
        "RFC 5681 §3.2 step 6 sets it to ssthresh and counts nothing: 17 segments had been reported by SACK before. At small windows that is two round trips' growth per loss.",
    ),
    "cubic-friendly": Cause(
        "ns-3.",
        "Its CUBIC has no Reno-friendly region (RFC 9438 §4.3: `W_est`): at a loss rate of 1 % it delivers little more than half of what its own LinuxReno does.",
    ),
    "pipe-half": Cause(
        "ns-3.",
        "Algorithms that take NewReno's threshold halve what is in the path without what SACK has reported: ssthresh becomes 53.5 segments at a window of 109, and 26.0 at 54.3 (traces of `SlowStartThreshold`), "
        "two segments less than the window, which at a window of 10 leaves 0.4 of it. RFC 5681 equation (4) halves FlightSize, which §2 defines as what is sent but not yet cumulatively acknowledged.",
    ),
    "ns3-htcp": Cause(
        "ns-3.",
        "Its H-TCP always halves: 0.47 is left even by the queue of four packets, where RTTmin / RTTmax is 0.8 and the draft's adaptive backoff (draft-leith-tcp-htcp-06) gives that. With our `beta_max` at 0.5, which is `beta_min`, the first is gone; "
        "what is left with losses every 100 packets is that of NewReno's threshold, and as much.",
    ),
    "ns3-veno": Cause(
        "ns-3.",
        "Its Veno leaves 0.44 of the window in a queue of four packets and 0.58 with every 100th packet lost and no queue; Fu and Liew 2003 §II-A: 4/5 of it while fewer than beta = 3 segments are queued.",
    ),
    "ns3-yeah": Cause(
        "ns-3.",
        "Its YeAH stays in slow mode: the growth is 0.47 segments per round trip with an empty queue, that of NewReno with delayed acknowledgements, where the fast mode of Baiocchi, Castellani and Vacirca 2007 has 0.01 per acknowledgement, "
        "1.35 at that window; and it halves, as after many slow rounds.",
    ),
    "ns3-vegas": Cause(
        "ns-3.",
        "Its Vegas leaves slow start at 39 segments with nothing queued but slow start's own bursts, and stands at 31 segments from 0.25 s to the end on the path of 100 Mbit/s and 10 ms, which holds 83, nothing lost. Brakmo and Peterson 1995 §III-B: "
        "while Diff is below alpha, which it is without a queue, the window grows by one per round trip.",
    ),
    "ns3-illinois": Cause(
        "ns-3.",
        "Its Illinois stands at 5.0 segments from 0.2 s to 20 s in the queue of four packets, nothing lost. Liu, Başar and Srikant 2008 §3: alpha is never below alpha_min = 0.3 segments per round trip, and is 1 below w_thresh. With every 100th packet lost and no queue its window stays between 11 and 18 segments, where `alpha_max` is 5 per round trip with delayed acknowledgements and a loss takes an eighth.",
    ),
    "ns3-westwood": Cause(
        "ns-3, by its own filter.",
        "With every 100th packet lost its Westwood+ gives up less than a tenth at all but four losses, and its window reaches 46. Grieco and Mascolo 2004 smooth with alpha = 0.9 once per round trip: BWE then lags by ten round trips of growth, 5 segments with "
        "delayed acknowledgements, or all of what a window of 13 grows between two losses (100 / 13 round trips), which gives the simulator's equilibrium of 12.6.",
    ),
    "ns3-lp": Cause(
        "ns-3.",
        "Its TCP-LP stands at 2 to 3 segments on an idle path, nothing lost, for the whole run (1843 packets where 16600 fit). Kuzmanovic and Knightly 2003: an indication needs a smoothed delay above d_min + 0.15 (d_max - d_min).",
    ),
    "ns3-ledbat": Cause(
        "ns-3.",
        "Its LEDBAT's window stands at its initial 10 segments for 20 s without any queue; with its own slow start, at the 75 where that ended. RFC 6817 §2.4.2: `cwnd += GAIN * off_target * bytes_newly_acked * MSS / cwnd`, which with a delay below TARGET "
        "is growth.",
    ),
    "ns3-dctcp": Cause(
        "ns-3.",
        "Without marks a lost packet hardly touches its DCTCP: 0.668 of the window is left by the first loss, and with every 100th packet lost it grows from 22 to 72 segments within 5 s: `alpha` decays, and is used for losses, too. RFC 8257 §3.5: losses are "
        "reacted to as by conventional TCP. And where packets are lost in a full queue it ends with a window of one segment (from 4.4 s on in the queue of 17 packets).",
    ),
    "ns3-bbr": Cause(
        "ns-3.",
        "Once packets have been lost in STARTUP its BBR does not find the rate again: 330 segments/s, two fifths of the link, from 1 s to 20 s with the queue of four packets, and a window that falls to 6.4 within 10 s with 17, nothing lost in that time. In PROBE_BW a gain of 1.25 every eighth round trip "
        "must show a larger rate where there is one (draft-cardwell-iccrg-bbr-congestion-control-00 §4.3.4).",
    ),
    "bic-smooth": Cause(
        "Ours, in what it takes for Linux's.",
        'Linux\'s BIC spends `smooth_part` (20) round trips on the last segments below max_win, which `tcp.algorithms = "linux"` does not set: with `smooth` and `search` the most of the difference is gone.',
    ),
    "htcp-switch": Cause(
        "Ours, perhaps.",
        "With every 100th packet lost and no queue the agent's H-TCP leaves 0.83 of its window: RTTmin / RTTmax is near 1, and the draft's bound is 0.8. Ours leaves 0.48 for all of the 20 s: at windows of 15 segments its comparison of throughputs finds every epoch different by "
        "more than `delta_b`, and with `bandwidth_switch = false` RTTmax, which the first slow start has set, needs 50 losses to come down (`t_max_keep`): 0.47 is left at 2 s, 0.75 at 19 s. The growth is adapted to the backoff, so that the difference is no larger.",
    ),
    "open": Cause(
        "Not known.",
        "What the reasons beside it leave. Of `hybla` with every 100th packet lost the share left and the number of losses are alike; `cubic` is not nearer with the agent's beta. Not excluded: what the agent sends during a recovery.",
    ),
}

ANY = "*"
TWO = "two round-trip times"
SMALL = "10 Mbit/s 20 ms, 0.2 BDP"
LOSSY = "every 100th lost"
LONG = "100 Mbit/s 100 ms, 1 BDP"
MIDDLE = "50 Mbit/s 80 ms, 1 BDP"

# The first that fits a peer, an algorithm and a scenario.
KNOWN: tuple[tuple[str, str, str, Reason], ...] = (
    ("ns2", "Vegas", LOSSY, Reason(("vegas-quarter",), {"decrease": 0.75})),
    ("ns2", "Vegas", TWO, Reason(("vegas-mean", "shares"))),
    ("ns2", "Vegas", ANY, Reason(("vegas-mean",))),
    ("ns2-linux", "cubic", MIDDLE, Reason(("holes",))),
    ("ns2-linux", "cubic", LONG, Reason(("holes",))),
    ("ns2-linux", "cubic", SMALL, Reason(("cubic-beta",), {"beta": 0.8})),
    ("ns2-linux", "cubic", LOSSY, Reason(("cubic-beta", "open"), {"beta": 0.8})),
    ("ns2-linux", "bic", MIDDLE, Reason(("holes",))),
    ("ns2-linux", "bic", LONG, Reason(("holes",))),
    ("ns2-linux", "hybla", MIDDLE, Reason(("holes",))),
    ("ns2-linux", "hybla", LONG, Reason(("holes",))),
    ("ns2-linux", "illinois", SMALL, Reason(("illinois-double",))),
    ("ns2-linux", "illinois", LOSSY, Reason(("illinois-double",))),
    ("ns2-linux", "vegas", SMALL, Reason(("vegas-slow", "vegas-edge"), {"alpha": 1, "beta": 3})),
    ("ns2-linux", "vegas", LOSSY, Reason(("vegas-slow",))),
    ("ns2-linux", "vegas", MIDDLE, Reason(("vegas-slow",))),
    ("ns2-linux", "vegas", LONG, Reason(("vegas-slow",))),
    ("ns2-linux", "veno", SMALL, Reason(("veno-edge", "rate-halving"))),
    ("ns2-linux", "westwood", ANY, Reason(("westwood-half",))),
    ("ns2-linux", "lp", ANY, Reason(("lp-start",))),
    ("ns2-linux", "htcp", LOSSY, Reason(("htcp-switch", "htcp-delta"))),
    ("ns2-linux", ANY, TWO, Reason(("rate-halving", "shares"))),
    ("ns2-linux", "scalable", ANY, Reason(("rate-halving",))),
    ("ns2-linux", "yeah", SMALL, Reason(("rate-halving",))),
    ("ns2-linux", "highspeed", LOSSY, Reason(("rate-halving",))),
    ("ns2-linux", "bic", LOSSY, Reason(("bic-smooth",), {"smooth": 20, "search": 4})),
    ("ns2-linux", "yeah", ANY, Reason(("rate-halving",))),
    ("ns2-linux", "hybla", ANY, Reason(("open",))),
    ("ns3", "TcpLinuxReno", ANY, Reason(("exit-growth",))),
    ("ns3", "TcpHighSpeed", ANY, Reason(("exit-growth",))),
    ("ns3", "TcpScalable", TWO, Reason(("exit-growth", "shares"))),
    ("ns3", "TcpScalable", ANY, Reason(("exit-growth",))),
    ("ns3", "TcpBic", TWO, Reason(("exit-growth",))),
    ("ns3", "TcpNewReno", LOSSY, Reason(("pipe-half",), {"beta": 0.41})),
    ("ns3", "TcpNewReno", TWO, Reason(("pipe-half", "shares"))),
    ("ns3", "TcpCubic", LOSSY, Reason(("cubic-friendly",))),
    ("ns3", "TcpCubic", TWO, Reason(("cubic-friendly",))),
    ("ns3", "TcpHtcp", TWO, Reason(("pipe-half", "shares"))),
    ("ns3", "TcpHtcp", ANY, Reason(("ns3-htcp", "pipe-half"), {"beta_max": 0.5})),
    ("ns3", "TcpHybla", ANY, Reason(("pipe-half",))),
    ("ns3", "TcpIllinois", TWO, Reason(("ns3-illinois", "shares"))),
    ("ns3", "TcpIllinois", ANY, Reason(("ns3-illinois",))),
    ("ns3", "TcpVegas", LOSSY, Reason(("vegas-quarter",), {"decrease": 0.75})),
    ("ns3", "TcpVegas", TWO, Reason(("ns3-vegas", "shares"))),
    ("ns3", "TcpVegas", SMALL, Reason(("ns3-vegas",))),
    ("ns3", "TcpVegas", ANY, Reason(("ns3-vegas", "vegas-mean"))),
    ("ns3", "TcpVeno", TWO, Reason(("ns3-veno", "shares"))),
    ("ns3", "TcpVeno", ANY, Reason(("ns3-veno", "pipe-half"), {"random_factor": 0.5})),
    ("ns3", "TcpWestwood", LOSSY, Reason(("ns3-westwood",))),
    ("ns3", "TcpWestwood", ANY, Reason(("ns3-westwood", "exit-growth"))),
    ("ns3", "TcpYeah", TWO, Reason(("ns3-yeah", "shares"))),
    ("ns3", "TcpYeah", MIDDLE, Reason(("ns3-yeah",))),
    ("ns3", "TcpYeah", LONG, Reason(("ns3-yeah",))),
    ("ns3", "TcpYeah", ANY, Reason(("ns3-yeah",), {"min_decrease": 0.5, "fast_increase": 0.000001})),
    ("ns3", "TcpLp", ANY, Reason(("ns3-lp",))),
    ("ns3", "TcpLedbat", ANY, Reason(("ns3-ledbat",))),
    ("ns3", "TcpDctcp", ANY, Reason(("ns3-dctcp",))),
    ("ns3", "TcpBbr", ANY, Reason(("ns3-bbr",))),
)


def reason_for(peer: str, twin: str, case: str) -> Reason | None:
    """What is known of that difference."""
    for peers, twins, cases, reason in KNOWN:
        if peers == peer and twins in (ANY, twin) and cases in (ANY, case):
            return reason
    return None
