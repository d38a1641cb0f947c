//! Token bucket: packets leave no faster than tokens come in, and in bursts no longer than the bucket holds.
//!
//! Specification: RFC 2215 §3.6 (`TOKEN_BUCKET_TSPEC`: rate r, depth b, peak rate p); RFC 2212, Policing (what leaves in any time T is at most
//! `M + min(p T, r T + b - M)`, with the longest packet M).
//!
//! Model: tokens are bytes. They come in at `rate` for as long as the bucket holds less than `burst`, and it begins full. The packet at the head
//! leaves when there are tokens for all of its bytes on the wire, and takes them; until then nothing leaves, and the link idles. With a
//! `peak_rate` there is a second bucket, of `peak_burst`, and both must have the tokens. What arrives waits in a FIFO of `limit`; a packet longer
//! than a bucket could never leave and is dropped. What has left is transmitted at the link's own rate.
//!
//! Deviations: none known. Tokens are not counted in ticks: a packet leaves at the very time at which its last token comes in.
//!
//! Kernel equivalent: `tbf` (`rate`, `burst`, `limit`, `peakrate`, `mtu`).

use super::drop_tail::{BufferLimit, LIMIT};
use super::{Admission, Backlog, Dequeued, Fifo, NewQueue, Queue, QueuedPacket};
use crate::registry::{Entry, Kind, ParamKey, Value, param};
use crate::units::{ByteCount, Instant, Rate};

pub(super) const ENTRY: Entry<NewQueue> = Entry {
    name: "token_bucket",
    summary: "shapes to a rate with bursts up to a size",
    specification: &["RFC 2215 §3.6"],
    params: &[
        param!(rate: Kind::Rate => Value::None,
            "how fast tokens come in; none, which only a table can say, is the link's own rate"),
        param!(burst: Kind::Bytes => Value::Bytes(15_000),
            "what the bucket holds: bytes that may leave at once (b)"),
        param!(peak_rate: Kind::Rate => Value::None,
            "most that leaves even in a burst (p); or none"),
        param!(peak_burst: Kind::Bytes => Value::Bytes(1500),
            "what may leave at once even so: at least the longest packet (M)"),
        LIMIT,
    ],
    new: |params, site| {
        let rate = RATE.of(params).unwrap_or(site.rate);
        let depth = |name| ByteCount::new(params.bytes(name));
        let peak = PEAK_RATE.of(params);
        let peak = peak.map(|rate| Bucket::full(rate, depth("peak_burst")));
        Box::new(TokenBucket {
            limit: BufferLimit::of(params, "limit"),
            fifo: Fifo::new(),
            buckets: [Some(Bucket::full(rate, depth("burst"))), peak],
        })
    },
};

const RATE: ParamKey<Option<Rate>> = ParamKey::new("rate");
const PEAK_RATE: ParamKey<Option<Rate>> = ParamKey::new("peak_rate");

/// Tokens, as they were when some were last taken.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    bytes_per_sec: f64,
    depth: ByteCount,
    tokens: f64,
    time: f64,
}

impl Bucket {
    fn full(rate: Rate, depth: ByteCount) -> Self {
        Self {
            bytes_per_sec: rate.bps() / 8.0,
            depth,
            tokens: depth.as_f64(),
            time: 0.0,
        }
    }

    /// When there are tokens for `bytes`, which are not more than it holds; in the past if there are.
    fn ready(&self, size: ByteCount) -> Instant {
        Instant::from_secs(self.time + (size.as_f64() - self.tokens) / self.bytes_per_sec)
    }

    /// Takes tokens for `bytes` at `now`, which is not before they are [`Bucket::ready`].
    fn take(&mut self, size: ByteCount, now: Instant) {
        let now = now.secs();
        let came = (now - self.time) * self.bytes_per_sec;
        let tokens = (self.tokens + came).min(self.depth.as_f64());
        self.tokens = tokens - size.as_f64();
        self.time = now;
    }
}

#[derive(Debug)]
struct TokenBucket {
    limit: BufferLimit,
    fifo: Fifo,
    /// That of the rate, and that of the peak rate.
    buckets: [Option<Bucket>; 2],
}

impl Queue for TokenBucket {
    fn enqueue(
        &mut self,
        packet: QueuedPacket,
        in_service: Backlog,
        dropped: &mut Vec<QueuedPacket>,
    ) {
        let size = packet.size();
        let present = self.fifo.waiting() + in_service;
        let never = self
            .buckets
            .iter()
            .flatten()
            .any(|bucket| bucket.depth < size);
        if never || self.limit.admits(present, size) == Admission::Drop {
            dropped.push(packet);
        } else {
            self.fifo.push(packet);
        }
    }

    fn dequeue(&mut self, now: Instant, _dropped: &mut Vec<QueuedPacket>) -> Dequeued {
        let Some(head) = self.fifo.front() else {
            return Dequeued::Empty;
        };
        let size = head.size();
        let ready = self
            .buckets
            .iter()
            .flatten()
            .map(|bucket| bucket.ready(size));
        let ready = ready.fold(Instant::LONG_AGO, Instant::max);
        if ready > now {
            return Dequeued::NotBefore(ready);
        }
        for bucket in self.buckets.iter_mut().flatten() {
            bucket.take(size, now);
        }
        self.fifo.pop().into()
    }

    fn waiting(&self) -> Backlog {
        self.fifo.waiting()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::queue::testing::{build, packet};
    use proptest::prelude::*;

    /// When each of packets leaves that are there at time 0, of the given sizes.
    fn departures(values: &[(&str, Value)], sizes: &[u32]) -> Vec<f64> {
        let mut queue = build(&ENTRY, values, 1e9);
        let mut dropped = Vec::new();
        for size in sizes {
            queue.enqueue(
                packet(0, *size, Ecn::NotEct, 0.0),
                Backlog::default(),
                &mut dropped,
            );
        }
        assert!(dropped.is_empty());
        let (mut now, mut times) = (Instant::START, Vec::new());
        loop {
            match queue.dequeue(now, &mut dropped) {
                Dequeued::Packet(_) => times.push(now.secs()),
                Dequeued::NotBefore(time) => now = time,
                Dequeued::Empty => return times,
            }
        }
    }

    #[test]
    fn a_burst_leaves_at_once_and_the_rest_at_the_rate() {
        // 8 kbit/s is 1000 bytes a second; three packets are in the bucket.
        let values = [("rate", Value::Rate(8e3)), ("burst", Value::Bytes(3000))];
        let times = departures(&values, &[1000; 6]);
        assert_eq!(times, [0.0, 0.0, 0.0, 1.0, 2.0, 3.0]);
        // Half a packet's tokens are left over.
        let values = [("rate", Value::Rate(8e3)), ("burst", Value::Bytes(2500))];
        let times = departures(&values, &[1000, 1000, 1000, 500]);
        assert_eq!(times, [0.0, 0.0, 0.5, 1.0]);
    }

    #[test]
    fn a_burst_leaves_no_faster_than_the_peak_rate() {
        // A packet every half second, for which 500 tokens come in: after those at 0, 0.5, 1, 1.5 and 2 the bucket of 3000 has had 2000 more, and
        // is empty. From then on it is the rate that holds.
        let values = [
            ("rate", Value::Rate(8e3)),
            ("burst", Value::Bytes(3000)),
            ("peak_rate", Value::Rate(16e3)),
            ("peak_burst", Value::Bytes(1000)),
        ];
        let times = departures(&values, &[1000; 7]);
        assert_eq!(times, [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn what_is_longer_than_the_bucket_is_dropped() {
        let mut queue = build(&ENTRY, &[("burst", Value::Bytes(999))], 1e6);
        let mut dropped = Vec::new();
        queue.enqueue(
            packet(0, 1000, Ecn::NotEct, 0.0),
            Backlog::default(),
            &mut dropped,
        );
        assert_eq!((dropped.len(), queue.waiting().packets), (1, 0));
    }

    proptest! {
        #[test]
        fn rfc2215_3_6_no_time_sees_more_than_rate_times_time_and_burst(
            rate in 1e3..1e9_f64, burst in 1500u64..20_000, peak in 1.0..5.0_f64, sizes in prop::collection::vec(40u32..1500, 1..60),
        ) {
            let values = [
                ("rate", Value::Rate(rate)),
                ("burst", Value::Bytes(burst)),
                ("peak_rate", Value::Rate(rate * peak)),
            ];
            let times = departures(&values, &sizes);
            for first in 0..sizes.len() {
                let mut bytes = 0.0;
                for last in first..sizes.len() {
                    bytes += f64::from(sizes[last]);
                    let time = times[last] - times[first];
                    #[expect(clippy::cast_precision_loss, reason = "a small number")]
                    let most = (burst as f64 + time * rate / 8.0).min(1500.0 + time * rate * peak / 8.0);
                    // Rounding of times: a few in 10^15 of the longest, in bytes.
                    prop_assert!(bytes <= most + 1e-6, "{} bytes in {} s", bytes, time);
                }
            }
        }
    }
}
