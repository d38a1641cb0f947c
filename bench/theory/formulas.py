"""What theory says of windows and of queues, each with the paper that says it. Windows in segments, times in seconds, p a probability.

A window here is a rate times the round-trip time: what `BW = W MSS / RTT` has for W.
"""

from __future__ import annotations

import math
from typing import Any, cast

from scipy import integrate, optimize

# --- windows -------------------------------------------------------------------------------------------------------------------------


def periodic_constant(acked: float) -> float:
    """C of Mathis, Semke, Mahdavi and Ott 1997 where every (1/p)-th packet is lost: a saw of height W/2, 3/8 `acked` W^2 packets long.

    `acked`: segments per acknowledgement that the window counts as one.
    """
    return math.sqrt(1.5 / acked)


def random_constant(acked: float) -> float:
    """C where each packet is lost with probability p (Ott, Kemperman and Mathis 1996): 1.3098 for one segment per acknowledgement.

    From packet to packet X = p acked W^2 / 2 grows by p, and at a loss, which comes after an exponentially distributed growth of mean 1, falls
    to a quarter: X = E_0 + E_1/4 + E_2/16 + ..., with the transform of a product. A packet takes RTT/W of time, so the mean over time is
    1 / E[1/W] = sqrt(2 / (acked p)) / E[X^-1/2], and E[X^-1/2] is the integral of E[exp(-u^2 X)] over u from 0 on, times 2 / sqrt(pi).
    """

    def transform(u: float) -> float:
        return 1 / math.prod(1 + u * u / 4**k for k in range(40))

    area, _ = cast(Any, integrate.quad(transform, 0, math.inf))
    return math.sqrt(2 / acked) / (2 / math.sqrt(math.pi) * area)


def aimd(constant: float, p: float) -> float:
    """The square-root-p law."""
    return constant / math.sqrt(p)


def saw(p: float) -> float:
    """The mean window of `aimd` in whole round trips, an acknowledgement per segment, without its terms of order sqrt(p).

    The window is W/2, W/2 + 1, ..., W, and a round trip of W/2 repairs the loss: 3/8 W^2 + 5/4 W packets, which are 1/p, in W/2 + 2 round trips.
    """
    peak = (-1.25 + math.sqrt(1.5625 + 1.5 / p)) / 0.75
    return 1 / (p * (peak / 2 + 2))


def cubic(p: float, rtt: float, c: float = 0.4, beta: float = 0.7) -> float:
    """RFC 9438 §5 (average window of CUBIC, deterministic loss), and §4.3: no less than Reno's."""
    own = (c * (3 + beta) / (4 * (1 - beta)) * (rtt / p) ** 3) ** 0.25
    return max(own, aimd(periodic_constant(1), p))


def cubic_cycles(
    p: float, rtt: float, *, fast_convergence: bool, start: float = 1.1, c: float = 0.4, beta: float = 0.7, cycles: int = 400
) -> float:
    """The mean window of RFC 9438's function (§4.2), every (1/p)-th packet lost, from loss to loss: over the last half of `cycles`.

    With fast convergence (§4.7) a window at a loss that is below the last W_max leaves a W_max of (1 + beta) / 2 of it.
    """
    lost_at = w_max = start * cubic(p, rtt) * 4 / (3 + beta)
    seconds = 0.0
    for cycle in range(cycles):
        w_max = lost_at * (1 + beta) / 2 if fast_convergence and lost_at < w_max else lost_at
        k = math.cbrt((w_max - beta * lost_at) / c)

        def missing(t: float, w_max: float = w_max, k: float = k) -> float:
            return w_max * t + c / 4 * ((t - k) ** 4 - k**4) - rtt / p

        end = cast(float, optimize.brentq(missing, 0, 2 * rtt / p / (beta * lost_at)))
        lost_at = w_max + c * (end - k) ** 3
        seconds += end if cycle >= cycles // 2 else 0
    return (cycles - cycles // 2) / p * rtt / seconds


def highspeed(p: float, low: float = 38, high: float = 83_000, high_p: float = 1e-7) -> float:
    """RFC 3649 §5: a line between (low_p, low) and (high_p, high) on logarithmic scales; standard TCP's where that has no more.

    `low_p` is where standard TCP's window is `low`.
    """
    low_p = 1.5 / low**2
    slope = math.log(high / low) / math.log(high_p / low_p)
    return low * (p / low_p) ** slope if p < low_p else aimd(periodic_constant(1), p)


def scalable(p: float, a: float = 0.01, b: float = 0.125) -> float:
    """Kelly 2003 §3: 1/p packets grow the window by a/p, which is the share b of its peak, in ln(1/(1-b)) / ln(1+a) round trips."""
    return -math.log1p(a) / math.log1p(-b) / p


def scalable_repaired(p: float, a: float = 0.01, b: float = 0.125) -> float:
    """The same with the round trip that repairs the loss, in which the window does not grow: 1/p - W packets grow it by b W."""
    trips = -math.log1p(-b) / math.log1p(a)
    return 1 / p / (trips + 1)


def padhye_timeouts(p: float, acked: float = 2) -> float:
    """Q of equation 24 at E[W]: the share of signals that are timeouts."""
    q, window = 1 - p, padhye_window(p, acked)
    return min(1.0, (1 - q**3) * (1 + q**3 * (1 - q ** max(0.0, window - 3))) / (1 - q**window))


def padhye_window(p: float, acked: float = 2) -> float:
    """E[W] of equation 13."""
    head = (2 + acked) / (3 * acked)
    return head + math.sqrt(8 * (1 - p) / (3 * acked * p) + head * head)


def padhye(p: float, rtt: float, timeout: float, acked: float = 2) -> float:
    """Padhye, Firoiu, Towsley and Kurose 1998, equation 31 without a limit of the window: packets sent per round-trip time.

    p: the probability that a packet is lost of which none is before it in its round, or whose predecessor was not lost. With E[W] of equation 13,
    Q of 24 and f of 28 (the backing off of timeouts in a row).
    """
    q, window, share = 1 - p, padhye_window(p, acked), padhye_timeouts(p, acked)
    backed_off = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6
    packets = q / p + window + share / q
    seconds = rtt * (acked / 2 * window + 1) + share * timeout * backed_off / q
    return packets / seconds * rtt


def padhye_short(p: float, rtt: float, timeout: float, acked: float = 2) -> float:
    """The same paper's approximation, RFC 5348 §3.1."""
    repair = rtt * math.sqrt(2 * acked * p / 3)
    return rtt / (repair + timeout * min(1.0, 3 * math.sqrt(3 * acked * p / 8)) * p * (1 + 32 * p * p))


# --- queues: mean waits, without the service, of Poisson arrivals -----------------------------------------------------------------------


def pollaczek_khinchine(rate: float, service: float, service_squared: float) -> float:
    """M/G/1, first come first served: packets per second, and the first two moments of their service time (Kleinrock 1975, volume 1, §5.6)."""
    return rate * service_squared / (2 * (1 - rate * service))


def exponential_wait_quantile(share: float, load: float, service: float) -> float:
    """Of an M/M/1 queue: P(wait > t) = load exp(-(1 - load) t / service) (Kleinrock 1975, volume 1, §5.12)."""
    return max(0.0, service / (1 - load) * math.log(load / (1 - share)))


def blocked(load: float, places: int) -> float:
    """M/M/1/K: the share of packets that find K others (Kleinrock 1975, volume 1, §3.6)."""
    return (1 - load) * load**places / (1 - load ** (places + 1))


def processor_sharing(load: float, service: float) -> float:
    """Mean time in an M/G/1 queue whose server is shared equally (Kleinrock 1976, volume 2, §4.4)."""
    return service / (1 - load)
