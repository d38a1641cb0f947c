//! The parameters of one connection, resolved: those of single rows, and what follows from several ([`super::groups`]).

use std::sync::Arc;

use super::choices::{
    Algorithms, EarlyRetransmit, Eifel, ExitWindow, Feedback, PartialAckTimer, PrrBound,
    RecoveryKind, ReduceFrom, RestartAfterIdle, SackPipe, TickPhase,
};
use super::groups;
use super::table::{fields, key};
use crate::registry::Params;
use crate::rng::RandomStream;
use crate::tcp::metrics_cache::Keeps;
use crate::tcp::pacer::Pacing;
use crate::tcp::partial;
use crate::tcp::receiver::{ack_policy, sack_compression};
use crate::tcp::rto::RtoConfig;
use crate::tcp::segmentation::Segmentation;
use crate::tcp::ticks::Ticks;
use crate::units::{ByteCount, Duration, SegCount, SeqNum, WindowSize, floor};

macro_rules! config {
    ($($name:ident: $type:ty, $summary:literal;)*) => {
        /// The parameters of one connection, resolved. Windows are in segments.
        #[derive(Clone, Debug)]
        pub struct Config {
            $(#[doc = $summary] pub $name: $type,)*
            /// The congestion window of a new connection, at least one segment (RFC 5681 §3.1's IW, RFC 6928).
            pub initial_window: WindowSize,
            /// The slow-start threshold of a new connection (RFC 5681 §3.1); `window_limit` unless it is set.
            pub initial_ssthresh: WindowSize,
            /// [`UNLIMITED`](super::UNLIMITED) when there is no limit.
            pub window_limit: WindowSize,
            /// The same for short segments, where they are distinguished from full ones.
            pub window_limit_bytes: Option<ByteCount>,
            /// Whether congestion controls follow ns-2 where it departs from their specifications.
            pub ns2_algorithms: bool,
            /// The bounds and constants of the retransmission timeout (RFC 6298), which all that keep one share.
            pub rto: Arc<RtoConfig>,
            /// The clock whose ticks the timers of the sender's host go by.
            pub timer_tick: Ticks,
            /// The same of the receiver's host.
            pub receiver_tick: Ticks,
            /// Whether the phases of these two clocks are yet to be drawn: the sender's, the receiver's.
            pub random_phases: [bool; 2],
            /// Whether the clock's phase is ns-2's random one.
            pub ns2_tick_phase: bool,
            /// Whether and how fast packets are paced.
            pub pacing: Pacing,
            /// How long the bursts are that a sender hands down; `None` without segmentation offload, where segments leave one by one.
            pub segmentation: Option<Segmentation>,
            /// The timestamp clock's tick, where segments carry timestamps.
            pub timestamps: Option<Duration>,
            /// When a segment leaves that is not full, as by Nagle's algorithm (RFC 896).
            pub partial: partial::PartialPolicy,
            /// How many full segments are acknowledged together, unless the delayed acknowledgement's timer ends first (RFC 5681 §4.2).
            pub ack_every: SegCount,
            /// How long a delayed acknowledgement waits (RFC 1122 §4.2.3.2).
            pub delayed_ack: ack_policy::DelayedAckSettings,
            /// How acknowledgements are held back while segments are missing; `None` if they are not.
            pub sack_compression: Option<sack_compression::SackCompressionSettings>,
        }

        impl From<&Params> for Config {
            fn from(params: &Params) -> Self {
                Self {
                    $($name: key::$name.of(params),)*
                    initial_window: groups::initial_window(params),
                    initial_ssthresh: groups::initial_ssthresh(params),
                    window_limit: groups::window_limit(params).max(WindowSize::ONE),
                    window_limit_bytes: groups::window_limit_bytes(params),
                    ns2_algorithms: key::algorithms.of(params) == Algorithms::Ns2,
                    rto: Arc::new(groups::rto(params)),
                    timer_tick: groups::ticks(params, key::sender_phase),
                    receiver_tick: groups::ticks(params, key::receiver_phase),
                    random_phases: [key::sender_phase, key::receiver_phase].map(|phase| groups::is_drawn(params, phase)),
                    ns2_tick_phase: key::tick_phase.of(params) == TickPhase::Ns2,
                    pacing: groups::pacing(params),
                    segmentation: groups::segmentation(params),
                    timestamps: key::timestamps.of(params).then(|| key::timestamp_granularity.of(params)),
                    partial: partial::PartialPolicy::of(key::partial.of(params), key::partial_timer.of(params)),
                    ack_every: groups::ack_every(params),
                    delayed_ack: groups::delayed_ack(params),
                    sack_compression: groups::sack_compression(params),
                }
            }
        }
    };
}
fields!(config);

/// Ticks among which the one is drawn that longer waits count from: waits of minutes end at one of so many.
const WHEEL: f64 = 32_768.0;

impl Config {
    /// Draws where the ticks of the sender's clock and of the receiver's are, as far as that is random; the same again for the same stream. Returns
    /// by which share of a tick they are late.
    pub fn draw_phases(&mut self, random: &mut RandomStream) -> [f64; 2] {
        let clocks = [&mut self.timer_tick, &mut self.receiver_tick];
        let mut shares = [random.uniform(), random.uniform()];
        for ((share, ticks), is_random) in shares.iter_mut().zip(clocks).zip(self.random_phases) {
            if is_random {
                ticks.phase = ticks.tick * *share;
                if ticks.wheel {
                    // Which of its ticks longer waits end at hangs on when the host was started.
                    ticks.phase += ticks.tick * floor(random.uniform() * WHEEL);
                }
            } else {
                *share = 0.0;
            }
        }
        shares
    }

    /// The first segment that carries data: segment 0, unless that is the SYN.
    pub fn first_data(&self) -> SeqNum {
        SeqNum::ZERO + SegCount::from(self.handshake)
    }

    /// Whether a segment that comes again is reported in a SACK block (RFC 2883), as ns-2's sink does not.
    pub fn reports_repetitions(&self) -> bool {
        self.recovery.has_sack() && !self.ns2_algorithms
    }

    /// The same connection as its receiver's host has it, which sends the other way.
    pub fn exchange_hosts(&mut self) {
        std::mem::swap(&mut self.timer_tick, &mut self.receiver_tick);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Value;
    use crate::tcp::PARAMS;

    #[test]
    fn phases_that_are_not_given_are_drawn_and_the_same_again_for_the_same_stream() {
        let mut params = Params::defaults(PARAMS);
        params.set("timer_tick", Value::Duration(0.01));
        params.set("tick_phase", Value::Choice("random"));
        params.set("receiver_phase", Value::Duration(0.004));
        let drawn = |seed| {
            let mut config = Config::from(&params);
            let shares = config.draw_phases(&mut RandomStream::new(seed, "clocks"));
            assert_eq!(shares[1], 0.0);
            assert_eq!(config.receiver_tick.phase, Duration::from_secs(0.004));
            assert!((config.timer_tick.phase.secs() - 0.01 * shares[0]).abs() < 1e-15);
            config.exchange_hosts();
            assert_eq!(config.timer_tick.phase, Duration::from_secs(0.004));
            shares[0]
        };
        assert!((0.0..1.0).contains(&drawn(1)) && drawn(1) == drawn(1) && drawn(1) != drawn(2));
        params.set("tick_phase", Value::Choice("zero"));
        assert_eq!(Config::from(&params).random_phases, [false; 2]);
    }
}
