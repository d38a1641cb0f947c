//! Every parameter of a TCP endpoint: the table that studies, docs and the schema read, and its resolved form.

use crate::registry::{Kind, Param, Params, Value};

/// All keys of `tcp`. The default is the `rfc` stack's value.
pub const PARAMS: &[Param] = &[
    Param {
        name: "recovery",
        summary: "how losses are detected and repaired",
        kind: Kind::Choice(&["tahoe", "reno", "newreno", "sack", "rack"]),
        default: Value::Choice("sack"),
    },
    Param {
        name: "smss",
        summary: "sender maximum segment size: application bytes in a full segment",
        kind: Kind::Bytes,
        default: Value::Bytes(1460),
    },
    Param {
        name: "header",
        summary: "bytes of headers in front of a segment's data, as they count on links; also the size of a SYN",
        kind: Kind::Bytes,
        default: Value::Bytes(40),
    },
    Param {
        name: "ack_size",
        summary: "bytes of an acknowledgement on the wire",
        kind: Kind::Bytes,
        default: Value::Bytes(40),
    },
    Param {
        name: "handshake",
        summary: "whether a connection starts with a SYN, which is segment 0 and one round trip",
        kind: Kind::Bool,
        default: Value::Bool(true),
    },
    Param {
        name: "initial_window",
        summary: "initial window; `none`: 2 to 4 segments depending on smss (RFC 5681 §3.1)",
        kind: Kind::PacketsOrBytes,
        default: Value::None,
    },
    Param {
        name: "initial_ssthresh",
        summary: "initial slow-start threshold; `none`: the window limit, or without one arbitrarily high (RFC 5681 §3.1)",
        kind: Kind::PacketsOrBytes,
        default: Value::None,
    },
    Param {
        name: "window_limit",
        summary: "the most that may be outstanding: the receiver's window; `none`: no limit",
        kind: Kind::PacketsOrBytes,
        default: Value::None,
    },
    Param {
        name: "dup_thresh",
        summary: "duplicate acknowledgements that signal a loss (DupThresh)",
        kind: Kind::Integer { min: 1, max: 1000 },
        default: Value::Integer(3),
    },
    Param {
        name: "limited_transmit",
        summary: "send new data on the first duplicate acknowledgements (RFC 3042)",
        kind: Kind::Bool,
        default: Value::Bool(true),
    },
    Param {
        name: "reduce_from",
        summary: "what a loss reduces: FlightSize (RFC 5681 equation 4) as far as the window covers it, or the usable window",
        kind: Kind::Choice(&["flight_size", "window"]),
        default: Value::Choice("flight_size"),
    },
    Param {
        name: "whole_ssthresh",
        summary: "round the slow-start threshold down to whole segments",
        kind: Kind::Bool,
        default: Value::Bool(false),
    },
    Param {
        name: "algorithms",
        summary: "congestion controls as specified, or as ns-2 or Linux have them where they depart from the specification",
        kind: Kind::Choice(&["specification", "ns2", "linux"]),
        default: Value::Choice("specification"),
    },
    Param {
        name: "partial_ack_timer",
        summary: "which partial acknowledgements restart the retransmission timer: the first (Impatient) or every one \
                  (Slow-but-Steady, RFC 6582 §4)",
        kind: Kind::Choice(&["first", "every"]),
        default: Value::Choice("first"),
    },
    Param {
        name: "exit_window",
        summary: "window at the end of NewReno's recovery: min(ssthresh, FlightSize + 1) (RFC 6582 §3.2 step 3, option 1), \
                  or kept as it is",
        kind: Kind::Choice(&["flight_size", "keep"]),
        default: Value::Choice("flight_size"),
    },
    Param {
        name: "recovery_burst",
        summary: "most new segments that NewReno sends on one acknowledgement during fast recovery; `none`: no limit",
        kind: Kind::Packets,
        default: Value::None,
    },
    Param {
        name: "sack_pipe",
        summary: "how SACK recovery estimates what is in the path: from the scoreboard (RFC 6675 §4), or a counter kept since \
                  the loss (Fall and Floyd 1996)",
        kind: Kind::Choice(&["scoreboard", "counter"]),
        default: Value::Choice("scoreboard"),
    },
    Param {
        name: "byte_counting",
        summary: "whether windows grow by the segments that are acknowledged (RFC 3465, without its limit) rather than by acknowledgements",
        kind: Kind::Bool,
        default: Value::Bool(false),
    },
    Param {
        name: "whole_windows",
        summary: "whether windows are whole segments, which grow by one when enough has been acknowledged, as in kernels",
        kind: Kind::Bool,
        default: Value::Bool(false),
    },
    Param {
        name: "cwnd_validation",
        summary: "whether only a window that limits what is sent may grow (RFC 7661 §4.1); with `recovery = \"rack\"`",
        kind: Kind::Bool,
        default: Value::Bool(false),
    },
    Param {
        name: "prr",
        summary: "whether the window shrinks in a recovery with what is delivered (RFC 9937) rather than at once; with `recovery = \"rack\"`",
        kind: Kind::Bool,
        default: Value::Bool(true),
    },
    Param {
        name: "tail_loss_probe",
        summary: "whether the end of a flight is probed after two round trips (RFC 8985 §7); with `recovery = \"rack\"`",
        kind: Kind::Bool,
        default: Value::Bool(true),
    },
    Param {
        name: "probe_slack",
        summary: "what a probe waits longer than two round trips (RFC 8985 §7.2); kernels: two ticks",
        kind: Kind::Duration {
            min_exclusive: false,
        },
        default: Value::Duration(0.0),
    },
    Param {
        name: "probe_max_ack_delay",
        summary: "what it waits longer if one segment is outstanding, whose acknowledgement may be delayed (RFC 8985 §7.2)",
        kind: Kind::Duration {
            min_exclusive: false,
        },
        default: Value::Duration(0.2),
    },
    Param {
        name: "frto",
        summary: "whether a timeout is tested for being spurious (RFC 5682 §3.1); with `recovery = \"rack\"`",
        kind: Kind::Bool,
        default: Value::Bool(true),
    },
    Param {
        name: "undo",
        summary: "whether a reduction is undone when all its retransmissions are reported as duplicates (RFC 3708, RFC 4015 §3.2); with `recovery = \"rack\"`",
        kind: Kind::Bool,
        default: Value::Bool(true),
    },
    Param {
        name: "timer_tick",
        summary: "the sender's timers expire at multiples of this: a kernel's 1/HZ; 0: at any time; with `recovery = \"rack\"`",
        kind: Kind::Duration {
            min_exclusive: false,
        },
        default: Value::Duration(0.0),
    },
    Param {
        name: "pacing",
        summary: "whether segments are paced where the congestion control gives a rate; with `recovery = \"rack\"`",
        kind: Kind::Bool,
        default: Value::Bool(true),
    },
    Param {
        name: "pacing_from",
        summary: "segments at the start of a connection that are not paced",
        kind: Kind::Integer {
            min: 0,
            max: 1_000_000,
        },
        default: Value::Integer(0),
    },
    Param {
        name: "pacing_credit",
        summary: "a segment that leaves later than pacing asked lets the next one leave earlier by as much, up to this share of the interval",
        kind: Kind::Number { min: 0.0, max: 1.0 },
        default: Value::Number(0.0),
    },
    Param {
        name: "keep_window_after_lost_syn",
        summary: "whether the initial window stays what it is after a lost SYN, and not one segment (RFC 5681 §3.1)",
        kind: Kind::Bool,
        default: Value::Bool(false),
    },
    Param {
        name: "handshake_ack",
        summary: "whether the handshake's third packet is sent, as large as an acknowledgement",
        kind: Kind::Bool,
        default: Value::Bool(false),
    },
    Param {
        name: "quick_acks",
        summary: "in-order segments at the start of a connection that are acknowledged one by one",
        kind: Kind::Integer {
            min: 0,
            max: 1_000_000,
        },
        default: Value::Integer(0),
    },
    Param {
        name: "max_sack_blocks",
        summary: "SACK blocks per acknowledgement (RFC 2018 §3)",
        kind: Kind::Integer { min: 1, max: 3 },
        default: Value::Integer(3),
    },
    Param {
        name: "sack_option_header",
        summary: "bytes that a SACK option adds to an acknowledgement besides 8 per block: kind, length and padding (RFC 2018 §3)",
        kind: Kind::Bytes,
        default: Value::Bytes(4),
    },
    Param {
        name: "rto_estimator",
        summary: "retransmission timeout from real-valued estimators (RFC 6298), or from scaled integers counting clock \
                  ticks (Jacobson 1988)",
        kind: Kind::Choice(&["rfc6298", "ticks"]),
        default: Value::Choice("rfc6298"),
    },
    Param {
        name: "rto_granularity",
        summary: "clock granularity G (RFC 6298 §2), or the tick",
        kind: Kind::Duration {
            min_exclusive: true,
        },
        default: Value::Duration(0.001),
    },
    Param {
        name: "tick_phase",
        summary: "where between two ticks the clock of a host starts: at zero, or at ns-2's random point",
        kind: Kind::Choice(&["zero", "ns2"]),
        default: Value::Choice("zero"),
    },
    Param {
        name: "rto_initial",
        summary: "retransmission timeout before the first sample (RFC 6298 §2.1)",
        kind: Kind::Duration {
            min_exclusive: true,
        },
        default: Value::Duration(1.0),
    },
    Param {
        name: "rto_min",
        summary: "lower bound of the retransmission timeout (RFC 6298 §2.4)",
        kind: Kind::Duration {
            min_exclusive: false,
        },
        default: Value::Duration(1.0),
    },
    Param {
        name: "rto_max",
        summary: "upper bound of the retransmission timeout (RFC 6298 §2.5)",
        kind: Kind::Duration {
            min_exclusive: true,
        },
        default: Value::Duration(60.0),
    },
    Param {
        name: "ack_every",
        summary: "in-order segments per acknowledgement: 1, or 2 for delayed acknowledgements (RFC 5681 §4.2)",
        kind: Kind::Integer { min: 1, max: 64 },
        default: Value::Integer(2),
    },
    Param {
        name: "delayed_ack_timeout",
        summary: "longest wait of a delayed acknowledgement (RFC 1122 §4.2.3.2: at most 500 ms)",
        kind: Kind::Duration {
            min_exclusive: true,
        },
        default: Value::Duration(0.2),
    },
];

/// Which loss recovery, as a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    Tahoe,
    Reno,
    NewReno,
    Sack,
    Rack,
}

impl Recovery {
    /// Whether acknowledgements are selective.
    pub fn has_sack(self) -> bool {
        matches!(self, Self::Sack | Self::Rack)
    }

    /// The name a study writes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tahoe => "tahoe",
            Self::Reno => "reno",
            Self::NewReno => "newreno",
            Self::Sack => "sack",
            Self::Rack => "rack",
        }
    }
}

/// What a loss reduces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReduceFrom {
    FlightSize,
    Window,
}

/// Which partial acknowledgements restart the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialAckTimer {
    First,
    Every,
}

/// The window at the end of NewReno's recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitWindow {
    FlightSize,
    Keep,
}

/// How SACK recovery estimates what is in the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SackPipe {
    Scoreboard,
    Counter,
}

/// Which retransmission timeout estimator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoEstimator {
    Rfc6298,
    Ticks,
}

/// The retransmission timer's parameters, seconds.
#[derive(Clone, Copy, Debug)]
pub struct RtoConfig {
    pub estimator: RtoEstimator,
    pub granularity: f64,
    pub initial: f64,
    pub min: f64,
    pub max: f64,
}

/// A window that is never reached, and that sequence numbers can be added to.
pub const UNLIMITED: f64 = 1e15;

/// The parameters of one connection, resolved. Windows are in segments.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches, each a key of the table"
)]
pub struct Config {
    /// Of the random numbers of the congestion control, if it draws any.
    pub seed: u64,
    pub recovery: Recovery,
    pub smss: u32,
    pub header: u32,
    pub ack_size: u32,
    pub handshake: bool,
    pub initial_window: f64,
    pub initial_ssthresh: f64,
    /// [`UNLIMITED`] when there is no limit.
    pub window_limit: f64,
    pub window_limit_whole: u64,
    pub dup_thresh: u32,
    pub limited_transmit: bool,
    pub reduce_from: ReduceFrom,
    pub whole_ssthresh: bool,
    pub ns2_algorithms: bool,
    pub partial_ack_timer: PartialAckTimer,
    pub exit_window: ExitWindow,
    pub recovery_burst: Option<u64>,
    pub sack_pipe: SackPipe,
    pub byte_counting: bool,
    pub whole_windows: bool,
    pub cwnd_validation: bool,
    pub prr: bool,
    pub tail_loss_probe: bool,
    pub probe_slack: f64,
    pub probe_max_ack_delay: f64,
    pub frto: bool,
    pub undo: bool,
    pub timer_tick: f64,
    pub pacing: bool,
    pub pacing_from: u64,
    pub pacing_credit: f64,
    pub keep_window_after_lost_syn: bool,
    pub handshake_ack: bool,
    pub quick_acks: u64,
    pub max_sack_blocks: usize,
    pub sack_option_header: u32,
    pub rto: RtoConfig,
    /// Whether the clock's phase is ns-2's random one.
    pub ns2_tick_phase: bool,
    pub ack_every: u32,
    pub delayed_ack_timeout: f64,
}

impl From<&Params> for Config {
    fn from(params: &Params) -> Self {
        let smss = bytes_u32(params, "smss");
        let window_limit = segments(params.get("window_limit"), smss).map_or(UNLIMITED, f64::trunc);
        Self {
            seed: 0,
            recovery: match params.choice("recovery") {
                "tahoe" => Recovery::Tahoe,
                "reno" => Recovery::Reno,
                "newreno" => Recovery::NewReno,
                "rack" => Recovery::Rack,
                _ => Recovery::Sack,
            },
            smss,
            header: bytes_u32(params, "header"),
            ack_size: bytes_u32(params, "ack_size"),
            handshake: params.flag("handshake"),
            initial_window: segments(params.get("initial_window"), smss).map_or_else(
                || rfc5681_initial_window(smss),
                |window| window.trunc().max(1.0),
            ),
            initial_ssthresh: segments(params.get("initial_ssthresh"), smss)
                .unwrap_or(window_limit),
            window_limit: window_limit.max(1.0),
            window_limit_whole: whole(window_limit.max(1.0)),
            dup_thresh: u32::try_from(params.integer("dup_thresh")).unwrap_or(3),
            limited_transmit: params.flag("limited_transmit"),
            reduce_from: match params.choice("reduce_from") {
                "window" => ReduceFrom::Window,
                _ => ReduceFrom::FlightSize,
            },
            whole_ssthresh: params.flag("whole_ssthresh"),
            ns2_algorithms: params.choice("algorithms") == "ns2",
            partial_ack_timer: match params.choice("partial_ack_timer") {
                "every" => PartialAckTimer::Every,
                _ => PartialAckTimer::First,
            },
            exit_window: match params.choice("exit_window") {
                "keep" => ExitWindow::Keep,
                _ => ExitWindow::FlightSize,
            },
            recovery_burst: match params.get("recovery_burst") {
                Value::Packets(packets) => Some(packets),
                _ => None,
            },
            sack_pipe: match params.choice("sack_pipe") {
                "counter" => SackPipe::Counter,
                _ => SackPipe::Scoreboard,
            },
            byte_counting: params.flag("byte_counting"),
            whole_windows: params.flag("whole_windows"),
            cwnd_validation: params.flag("cwnd_validation"),
            prr: params.flag("prr"),
            tail_loss_probe: params.flag("tail_loss_probe"),
            probe_slack: params.duration("probe_slack"),
            probe_max_ack_delay: params.duration("probe_max_ack_delay"),
            frto: params.flag("frto"),
            undo: params.flag("undo"),
            timer_tick: params.duration("timer_tick"),
            pacing: params.flag("pacing"),
            pacing_from: params.integer("pacing_from").unsigned_abs(),
            pacing_credit: params.number("pacing_credit"),
            keep_window_after_lost_syn: params.flag("keep_window_after_lost_syn"),
            handshake_ack: params.flag("handshake_ack"),
            quick_acks: u64::try_from(params.integer("quick_acks")).unwrap_or(0),
            max_sack_blocks: usize::try_from(params.integer("max_sack_blocks")).unwrap_or(3),
            sack_option_header: bytes_u32(params, "sack_option_header"),
            rto: RtoConfig {
                estimator: match params.choice("rto_estimator") {
                    "ticks" => RtoEstimator::Ticks,
                    _ => RtoEstimator::Rfc6298,
                },
                granularity: params.duration("rto_granularity"),
                initial: params.duration("rto_initial"),
                min: params.duration("rto_min"),
                max: params.duration("rto_max"),
            },
            ns2_tick_phase: params.choice("tick_phase") == "ns2",
            ack_every: u32::try_from(params.integer("ack_every")).unwrap_or(1),
            delayed_ack_timeout: params.duration("delayed_ack_timeout"),
        }
    }
}

fn bytes_u32(params: &Params, name: &str) -> u32 {
    u32::try_from(params.bytes(name)).unwrap_or(u32::MAX)
}

/// A window given in packets or bytes, in segments.
#[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53")]
fn segments(value: Value, smss: u32) -> Option<f64> {
    match value {
        Value::Packets(packets) => Some(packets as f64),
        Value::Bytes(bytes) => Some(bytes as f64 / f64::from(smss)),
        _ => None,
    }
}

/// The whole segments of a window. By way of a signed number, which is what processors convert to.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "windows are positive and far below 2^53"
)]
pub(super) fn whole(window: f64) -> u64 {
    window as i64 as u64
}

/// The upper bound of RFC 5681 §3.1 on the initial window, in segments.
fn rfc5681_initial_window(smss: u32) -> f64 {
    match smss {
        2191.. => 2.0,
        1096.. => 3.0,
        _ => 4.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc5681_3_1_the_initial_window_depends_on_the_segment_size() {
        let windows: Vec<f64> = [536, 1095, 1096, 2190, 2191, 8960]
            .map(rfc5681_initial_window)
            .into();
        assert_eq!(windows, [4.0, 4.0, 3.0, 3.0, 2.0, 2.0]);
    }
}
