//! Every parameter of a TCP endpoint: the table that studies, docs and the schema read, and its resolved form.

use super::ack_policy;
use super::choices::chosen;
use super::metrics_cache::Keeps;
use super::pacer::Pacing;
use super::partial::{self, Policy};
use super::prr::Bound;
use super::sack_compression;
use super::segmentation::Segmentation;
use super::ticks::Ticks;
use crate::registry::{Kind, Param, Params, Value};
use crate::rng::Stream;

/// All keys of `tcp`. The default is the `rfc` stack's value.
pub const PARAMS: &[Param] = &[
    Param {
        name: "recovery",
        summary: "how losses are detected and repaired",
        kind: Kind::Choice(&["tahoe", "reno", "newreno", "sack", "fack", "rack"]),
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
        summary: "bytes of headers in front of a segment's data, as they count on links",
        kind: Kind::Bytes,
        default: Value::Bytes(40),
    },
    Param {
        name: "path_mtu_discovery",
        summary: "segments larger than the `mtu` of a link of the path are made to fit before the connection opens (RFC 1191, RFC 8899); without, they are an error",
        kind: Kind::Bool,
        default: Value::Bool(false),
    },
    Param {
        name: "mss_from_mtu",
        summary: "whether `smss` is what `header` leaves of the least `mtu` on the path, which a link's `medium` brings (RFC 9293 §3.7.1, RFC 6691); a link \
                  of the path has to have one",
        kind: Kind::Bool,
        default: Value::Bool(false),
    },
    Param {
        name: "ack_size",
        summary: "bytes of an acknowledgement on the wire",
        kind: Kind::Bytes,
        default: Value::Bytes(40),
    },
    Param {
        name: "syn_options",
        summary: "bytes that a SYN adds to `header`, and its acknowledgement to `ack_size`: options that only they carry (RFC 9293 §3.7.1, RFC 7323 §2.2, RFC 2018 §2)",
        kind: Kind::Bytes,
        default: Value::Bytes(0),
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
        name: "byte_window",
        summary: "whether a `window_limit` in bytes has room for a short segment that fits into what full ones leave of it, as windows of bytes have \
                  (RFC 9293 §3.8.6); otherwise it is whole segments",
        kind: Kind::Bool,
        default: Value::Bool(false),
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
        summary: "congestion controls as specified, or as ns-2, Linux (as measured of 6.1) or Linux 3.2 have them where they depart from the specification",
        kind: Kind::Choice(&["specification", "ns2", "linux", "linux-3.2"]),
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
        summary: "whether only a window that limits what is sent may grow (RFC 7661 §4.1); with `recovery = \"fack\"` or `\"rack\"`",
        kind: Kind::Bool,
        default: Value::Bool(false),
    },
    Param {
        name: "prr",
        summary: "whether the window shrinks in a recovery with what is delivered (RFC 9937, RFC 6937) rather than at once; with `recovery = \"fack\"` or `\"rack\"`",
        kind: Kind::Bool,
        default: Value::Bool(true),
    },
    Param {
        name: "prr_bound",
        summary: "how `prr` catches up once less than ssthresh is in the path: by what is delivered (CRB), by one more (SSRB; both RFC 6937 §3), or by one more \
                  only where nothing new was found lost (SafeACK, RFC 9937 §6)",
        kind: Kind::Choice(&["safe_ack", "ssrb", "crb"]),
        default: Value::Choice("safe_ack"),
    },
    Param {
        name: "early_retransmit",
        summary: "whether a loss is believed with fewer duplicate acknowledgements than `dup_thresh` where less than four segments are outstanding and nothing else may be \
                  sent (RFC 5827 §2.2): at once, or a quarter of a round trip later, as in Linux 3.5 (tcp_early_retrans = 2)",
        kind: Kind::Choice(&["off", "at_once", "delayed"]),
        default: Value::Choice("off"),
    },
    Param {
        name: "tail_loss_probe",
        summary: "whether the end of a flight is probed after two round trips (RFC 8985 §7); with `recovery = \"fack\"` or `\"rack\"`",
        kind: Kind::Bool,
        default: Value::Bool(true),
    },
    Param {
        name: "probe_slack",
        summary: "what a probe waits longer than two round trips and the reordering timer than its window (RFC 8985 §7.2, §6.2); kernels: 2 ms",
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
        summary: "whether a timeout is tested for being spurious (RFC 5682 §3.1); with `recovery = \"fack\"` or `\"rack\"`",
        kind: Kind::Bool,
        default: Value::Bool(true),
    },
    Param {
        name: "undo",
        summary: "whether a reduction is undone when all its retransmissions are reported as duplicates (RFC 3708, RFC 4015 §3.2); with `recovery = \"fack\"` or `\"rack\"`",
        kind: Kind::Bool,
        default: Value::Bool(true),
    },
    Param {
        name: "timer_tick",
        summary: "a host's timers expire at multiples of this: a kernel's 1/HZ; 0: at any time. Those of delayed acknowledgements and partial segments; with \
                  `recovery = \"rack\"` those of retransmissions, too",
        kind: Kind::Duration {
            min_exclusive: false,
        },
        default: Value::Duration(0.0),
    },
    Param {
        name: "whole_ticks",
        summary: "whether a timer waits for as many whole ticks as it needs, as measured of Linux 6.1, or the tick in which it is set is the first of them \
                  (BSD; Wright and Stevens 1995, chapter 25)",
        kind: Kind::Bool,
        default: Value::Bool(true),
    },
    Param {
        name: "sender_phase",
        summary: "how long after the run's beginning a tick of the sender's clock comes; `none`: `tick_phase` says",
        kind: Kind::Duration {
            min_exclusive: false,
        },
        default: Value::None,
    },
    Param {
        name: "receiver_phase",
        summary: "the same of the receiver's",
        kind: Kind::Duration {
            min_exclusive: false,
        },
        default: Value::None,
    },
    Param {
        name: "pacing",
        summary: "which flows are paced: none, those whose congestion control gives a rate, or all, as over Linux's fq; with `recovery = \"fack\"` or `\"rack\"`",
        kind: Kind::Choice(&["off", "algorithm", "always"]),
        default: Value::Choice("algorithm"),
    },
    Param {
        name: "pacing_ss_ratio",
        summary: "rate in slow start where no congestion control gives one, in windows per round-trip time: Linux's tcp_pacing_ss_ratio / 100",
        kind: Kind::Number {
            min: 0.01,
            max: 10.0,
        },
        default: Value::Number(2.0),
    },
    Param {
        name: "pacing_ca_ratio",
        summary: "the same in congestion avoidance: Linux's tcp_pacing_ca_ratio / 100",
        kind: Kind::Number {
            min: 0.01,
            max: 10.0,
        },
        default: Value::Number(1.2),
    },
    Param {
        name: "pacing_free_start",
        summary: "segments at the start of a connection that are not paced, as tc-fq's initial_quantum; `none`: all are",
        kind: Kind::Packets,
        default: Value::None,
    },
    Param {
        name: "max_pacing_rate",
        summary: "no flow sends application bytes faster, as Linux's SO_MAX_PACING_RATE inside TCP; `none`: no bound; with `recovery = \"fack\"` or `\"rack\"`",
        kind: Kind::Rate,
        default: Value::None,
    },
    Param {
        name: "segmentation_offload",
        summary: "whether new data leaves in bursts that are as long as what the flow sends in `tso_interval`, as over an interface with \
                  segmentation offload; with `recovery = \"fack\"` or `\"rack\"`",
        kind: Kind::Bool,
        default: Value::Bool(false),
    },
    Param {
        name: "tso_interval",
        summary: "time that a burst lasts at the flow's rate; Linux: 1/1024 s",
        kind: Kind::Duration {
            min_exclusive: true,
        },
        default: Value::Duration(1.0 / 1024.0),
    },
    Param {
        name: "tso_min_segments",
        summary: "a burst's least length: Linux's tcp_min_tso_segs",
        kind: Kind::Packets,
        default: Value::Packets(2),
    },
    Param {
        name: "tso_max_bytes",
        summary: "the most that a burst holds",
        kind: Kind::Bytes,
        default: Value::Bytes(65_536),
    },
    Param {
        name: "tso_rtt_log",
        summary: "bursts are longer over a short path: by `tso_max_bytes`, halved for each of these in the least round trip; Linux: 512 us \
                  (tcp_tso_rtt_log = 9)",
        kind: Kind::Duration {
            min_exclusive: true,
        },
        default: Value::Duration(512e-6),
    },
    Param {
        name: "tso_window_divisor",
        summary: "a burst that the window cuts short waits, up to this part of the window: Linux's tcp_tso_win_divisor; 0: it does not",
        kind: Kind::Integer { min: 0, max: 1000 },
        default: Value::Integer(3),
    },
    Param {
        name: "metrics_cache",
        summary: "what a connection inherits from earlier ones over the same path that have ended: nothing, what Linux does since 5.6, or also the \
                  slow-start threshold, as before",
        kind: Kind::Choice(&["off", "default", "with_ssthresh"]),
        default: Value::Choice("off"),
    },
    Param {
        name: "timestamps",
        summary: "whether segments carry timestamps, from which round trips are measured (RFC 7323); their bytes are part of `header` and `ack_size`",
        kind: Kind::Bool,
        default: Value::Bool(false),
    },
    Param {
        name: "timestamp_granularity",
        summary: "tick of the timestamp clock: 1 ms to 1 s (RFC 7323 §5.4)",
        kind: Kind::Duration {
            min_exclusive: true,
        },
        default: Value::Duration(0.001),
    },
    Param {
        name: "eifel",
        summary: "what follows when a timestamp shows that a retransmission was needless (RFC 3522): nothing, the window is as before \
                  (as in Linux), or also a longer timeout (RFC 4015 §3.2 step 5); with `recovery = \"fack\"` or `\"rack\"`",
        kind: Kind::Choice(&["off", "window", "window_and_timeout"]),
        default: Value::Choice("off"),
    },
    Param {
        name: "ecn",
        summary: "Explicit Congestion Notification: what the receiver echoes of marks (RFC 3168, RFC 8257 §3.2 or RFC 9768); not set, what the \
                  congestion control needs: `dctcp` and `prague` theirs, others nothing",
        kind: Kind::Choice(&["off", "classic", "dctcp", "accurate"]),
        default: Value::Choice("off"),
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
        summary: "segments at the start of a connection that are acknowledged one by one; with a receive buffer no more than half of its window",
        kind: Kind::Integer {
            min: 0,
            max: 1_000_000,
        },
        default: Value::Integer(0),
    },
    Param {
        name: "push_acks",
        summary: "whether a segment that ends what the application wrote (PSH) is acknowledged at once, as it is read at once",
        kind: Kind::Bool,
        default: Value::Bool(false),
    },
    Param {
        name: "quick_acks_again",
        summary: "whether segments are acknowledged one by one again: quick_acks of them after a pause longer than the retransmission timeout and \
                  from one that comes again, two from the first mark on (ECN), and the one with CWR",
        kind: Kind::Bool,
        default: Value::Bool(false),
    },
    Param {
        name: "interactive_acks",
        summary: "whether the acknowledgements at once of quick_acks, push_acks and a window that opens end when the application answers within the delay of an \
                  acknowledgement, so that what it says carries them, until one has been delayed in vain, a segment comes again or is marked (ECN)",
        kind: Kind::Bool,
        default: Value::Bool(false),
    },
    Param {
        name: "sack_compression_delay",
        summary: "longest that acknowledgements of segments out of order, but for the first three, wait for each other: 5 % of the round trip, but no more \
                  than this (tcp_comp_sack_delay_ns); 0: not at all",
        kind: Kind::Duration {
            min_exclusive: false,
        },
        default: Value::Duration(0.0),
    },
    Param {
        name: "sack_compression_slack",
        summary: "what that timer may be late (tcp_comp_sack_slack_ns), which it is",
        kind: Kind::Duration {
            min_exclusive: false,
        },
        default: Value::Duration(0.0001),
    },
    Param {
        name: "sack_compression_max",
        summary: "how many of these acknowledgements wait for each other at most (tcp_comp_sack_nr)",
        kind: Kind::Integer { min: 0, max: 255 },
        default: Value::Integer(44),
    },
    Param {
        name: "receive_buffer_default",
        summary: "the receiver's buffer at the start, which gives the window (tcp_rmem); `none`: the window is constant (window_limit)",
        kind: Kind::Bytes,
        default: Value::None,
    },
    Param {
        name: "receive_buffer_max",
        summary: "the largest size to which the receiver's buffer is tuned (tcp_rmem)",
        kind: Kind::Bytes,
        default: Value::Bytes(6_291_456),
    },
    Param {
        name: "receive_auto_tuning",
        summary: "whether the receiver's buffer grows with what is read in a round trip (dynamic right-sizing; tcp_moderate_rcvbuf)",
        kind: Kind::Bool,
        default: Value::Bool(true),
    },
    Param {
        name: "adv_win_scale",
        summary: "share of the receiver's buffer that is not for data: 1/2^n, or if n is not positive all but 2^n (tcp_adv_win_scale)",
        kind: Kind::Integer { min: -31, max: 31 },
        default: Value::Integer(1),
    },
    Param {
        name: "window_scaling",
        summary: "whether windows may be larger than 65535 bytes (RFC 7323 §2)",
        kind: Kind::Bool,
        default: Value::Bool(true),
    },
    Param {
        name: "send_buffer_default",
        summary: "the sender's buffer at the start (tcp_wmem); `none`: the application's data is all written",
        kind: Kind::Bytes,
        default: Value::None,
    },
    Param {
        name: "send_buffer_max",
        summary: "the largest size to which the sender's buffer is tuned (tcp_wmem)",
        kind: Kind::Bytes,
        default: Value::Bytes(4_194_304),
    },
    Param {
        name: "send_auto_tuning",
        summary: "whether the sender's buffer grows with the window (Semke, Mahdavi and Mathis 1998)",
        kind: Kind::Bool,
        default: Value::Bool(true),
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
        name: "partial",
        summary: "when less than a full segment leaves: at once, when everything is acknowledged (RFC 896), when no other short one is outstanding \
                  (draft-minshall-nagle-01), when it is full or a retransmission timeout has passed (TCP_CORK), or with the fault of Linux 2.0.29 that the \
                  data-stream-stall study describes; `sawtooth list partial`",
        kind: Kind::Choice(partial::NAMES),
        default: Value::Choice("nagle"),
    },
    Param {
        name: "partial_timer",
        summary: "how long a partial segment waits that waits for a timer, in whole ticks of `timer_tick`; `none`: the retransmission timeout with `cork`, and with \
                  `linux-2.0.29` that of the receiver's delayed acknowledgement is waited for",
        kind: Kind::Period,
        default: Value::None,
    },
    Param {
        name: "autocorking",
        summary: "whether what is less than a segment also waits while an earlier packet of the connection is in the transmit queue of its own machine, until that \
                  has reported its transmission (tcp_autocorking); only flows with a `host` have such a queue",
        kind: Kind::Bool,
        default: Value::Bool(false),
    },
    Param {
        name: "restart_after_idle",
        summary: "the window after a timeout without sending: at most the initial one (RFC 5681 §4.1), half for every timeout but not less \
                  than that, with ssthresh at three quarters (RFC 2861 §3.1), or what it was",
        kind: Kind::Choice(&["off", "restart_window", "decay"]),
        default: Value::Choice("restart_window"),
    },
    Param {
        name: "fin",
        summary: "whether a connection ends with a FIN (RFC 9293 §3.6): on the last segment that waits, or on a segment of its own",
        kind: Kind::Bool,
        default: Value::Bool(true),
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
        summary: "where between two ticks the clock of a host starts: at zero, at a point of its own that the run's seed gives, or (that of `rto_estimator`) at \
                  ns-2's random point",
        kind: Kind::Choice(&["zero", "random", "ns2"]),
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
        summary: "lower bound of the retransmission timeout (RFC 6298 §2.4); with stack = \"linux\" it is rto_granularity, the least variance, that bounds it: set both",
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
        name: "ack_window_share",
        summary: "acknowledgements are sent when this share of `window_limit`, in whole segments, has come since the last one, instead of every so many \
                  segments; `none`: ack_every",
        kind: Kind::Number { min: 0.0, max: 1.0 },
        default: Value::None,
    },
    Param {
        name: "delayed_ack",
        summary: "by what the wait of a delayed acknowledgement goes: `delayed_ack_timeout`, or as in Linux 2.0 the time between arrivals and whether data \
                  end a write (PSH); `sawtooth list delayed_ack`",
        kind: Kind::Choice(ack_policy::NAMES),
        default: Value::Choice("timeout"),
    },
    Param {
        name: "delayed_ack_pushed",
        summary: "longest wait of data with PSH, with `delayed_ack = \"linux-2.0\"`: HZ/50",
        kind: Kind::Duration {
            min_exclusive: true,
        },
        default: Value::Duration(0.02),
    },
    Param {
        name: "delayed_ack_most",
        summary: "the same of other data: HZ/2 (RFC 1122 §4.2.3.2: at most 500 ms)",
        kind: Kind::Duration {
            min_exclusive: true,
        },
        default: Value::Duration(0.5),
    },
    Param {
        name: "delayed_ack_timeout",
        summary: "longest wait of a delayed acknowledgement (RFC 1122 §4.2.3.2: at most 500 ms)",
        kind: Kind::Duration {
            min_exclusive: true,
        },
        default: Value::Duration(0.2),
    },
    Param {
        name: "delayed_ack_timeout_several",
        summary: "the same once a second segment waits for its acknowledgement, where `ack_every` or `ack_window_share` lets it wait; `none`: no other",
        kind: Kind::Duration {
            min_exclusive: true,
        },
        default: Value::None,
    },
    Param {
        name: "adaptive_delayed_ack",
        summary: "whether the wait of a delayed acknowledgement is twice as long after each that was waited for in vain, as far as the round trip or 200 ms, \
                  and follows the time between arrivals; delayed_ack_timeout is the first",
        kind: Kind::Bool,
        default: Value::Bool(false),
    },
];

/// Which loss recovery, as a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    Tahoe,
    Reno,
    NewReno,
    Sack,
    Fack,
    Rack,
}

impl Recovery {
    /// Whether acknowledgements are selective.
    pub fn has_sack(self) -> bool {
        matches!(self, Self::Sack | Self::Fack | Self::Rack)
    }

    /// Whether the sender keeps what it knows of every segment: RACK's, and FACK's, which is the same with another rule for losses.
    #[inline]
    pub fn keeps_segments(self) -> bool {
        matches!(self, Self::Fack | Self::Rack)
    }

    /// The name a study writes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tahoe => "tahoe",
            Self::Reno => "reno",
            Self::NewReno => "newreno",
            Self::Sack => "sack",
            Self::Fack => "fack",
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

/// How little has to tell of a loss where little is outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EarlyRetransmit {
    Off,
    AtOnce,
    Delayed,
}

/// The window after a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestartAfterIdle {
    Off,
    RestartWindow,
    Decay,
}

/// Which retransmission timeout estimator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoEstimator {
    Rfc6298,
    Ticks,
}

/// What follows when a timestamp shows that a retransmission was needless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eifel {
    Off,
    Window,
    WindowAndTimeout,
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

/// What a receiver echoes of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    Off,
    Classic,
    Dctcp,
    Accurate,
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
    pub syn_options: u32,
    pub handshake: bool,
    pub initial_window: f64,
    pub initial_ssthresh: f64,
    /// [`UNLIMITED`] when there is no limit.
    pub window_limit: f64,
    pub window_limit_whole: u64,
    /// The same for short segments, bytes, where they are told from full ones.
    pub window_limit_bytes: Option<u64>,
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
    pub prr_bound: Bound,
    pub early_retransmit: EarlyRetransmit,
    pub tail_loss_probe: bool,
    pub probe_slack: f64,
    pub probe_max_ack_delay: f64,
    pub frto: bool,
    pub undo: bool,
    /// The clocks of the sender's host and the receiver's, and whether their phases are yet to be drawn.
    pub timer_tick: Ticks,
    pub receiver_tick: Ticks,
    pub random_phases: [bool; 2],
    pub ecn: Feedback,
    pub pacing: Pacing,
    pub segmentation: Option<Segmentation>,
    pub metrics_cache: Keeps,
    /// The timestamp clock's tick, seconds, where segments carry timestamps.
    pub timestamps: Option<f64>,
    pub eifel: Eifel,
    pub keep_window_after_lost_syn: bool,
    pub handshake_ack: bool,
    pub quick_acks: u64,
    pub push_acks: bool,
    pub quick_acks_again: bool,
    pub interactive_acks: bool,
    pub sack_compression: Option<sack_compression::Settings>,
    /// Bytes; nothing where the receiver's memory is not modelled.
    pub receive_buffer_default: Option<u64>,
    pub receive_buffer_max: u64,
    pub receive_auto_tuning: bool,
    pub adv_win_scale: i64,
    pub window_scaling: bool,
    /// Bytes; nothing where the sender's memory is not modelled.
    pub send_buffer_default: Option<u64>,
    pub send_buffer_max: u64,
    pub send_auto_tuning: bool,
    pub max_sack_blocks: usize,
    pub sack_option_header: u32,
    pub partial: Policy,
    pub autocorking: bool,
    pub restart_after_idle: RestartAfterIdle,
    pub fin: bool,
    pub rto: RtoConfig,
    /// Whether the clock's phase is ns-2's random one.
    pub ns2_tick_phase: bool,
    pub ack_every: u32,
    pub delayed_ack: ack_policy::Settings,
    pub delayed_ack_timeout: f64,
    pub delayed_ack_timeout_several: Option<f64>,
    pub adaptive_delayed_ack: bool,
}

impl From<&Params> for Config {
    fn from(params: &Params) -> Self {
        let smss = bytes_u32(params, "smss");
        let window_limit = segments(params.get("window_limit"), smss).map_or(UNLIMITED, f64::trunc);
        Self {
            seed: 0,
            recovery: chosen(params, "recovery"),
            smss,
            header: bytes_u32(params, "header"),
            ack_size: bytes_u32(params, "ack_size"),
            syn_options: bytes_u32(params, "syn_options"),
            handshake: params.flag("handshake"),
            initial_window: segments(params.get("initial_window"), smss).map_or_else(
                || rfc5681_initial_window(smss),
                |window| window.trunc().max(1.0),
            ),
            initial_ssthresh: segments(params.get("initial_ssthresh"), smss)
                .unwrap_or(window_limit),
            window_limit: window_limit.max(1.0),
            window_limit_whole: whole(window_limit.max(1.0)),
            window_limit_bytes: bytes(params, "window_limit")
                .filter(|_| params.flag("byte_window")),
            dup_thresh: u32::try_from(params.integer("dup_thresh")).unwrap_or(3),
            limited_transmit: params.flag("limited_transmit"),
            reduce_from: chosen(params, "reduce_from"),
            whole_ssthresh: params.flag("whole_ssthresh"),
            ns2_algorithms: params.choice("algorithms") == "ns2",
            partial_ack_timer: chosen(params, "partial_ack_timer"),
            exit_window: chosen(params, "exit_window"),
            recovery_burst: match params.get("recovery_burst") {
                Value::Packets(packets) => Some(packets),
                _ => None,
            },
            sack_pipe: chosen(params, "sack_pipe"),
            byte_counting: params.flag("byte_counting"),
            whole_windows: params.flag("whole_windows"),
            cwnd_validation: params.flag("cwnd_validation"),
            prr: params.flag("prr"),
            prr_bound: chosen(params, "prr_bound"),
            early_retransmit: chosen(params, "early_retransmit"),
            tail_loss_probe: params.flag("tail_loss_probe"),
            probe_slack: params.duration("probe_slack"),
            probe_max_ack_delay: params.duration("probe_max_ack_delay"),
            frto: params.flag("frto"),
            undo: params.flag("undo"),
            timer_tick: ticks(params, "sender_phase"),
            receiver_tick: ticks(params, "receiver_phase"),
            random_phases: ["sender_phase", "receiver_phase"].map(|phase| {
                params.choice("tick_phase") == "random" && params.get(phase) == Value::None
            }),
            pacing: pacing(params),
            segmentation: params
                .flag("segmentation_offload")
                .then(|| segmentation(params)),
            metrics_cache: chosen(params, "metrics_cache"),
            timestamps: params
                .flag("timestamps")
                .then(|| params.duration("timestamp_granularity")),
            eifel: chosen(params, "eifel"),
            ecn: chosen(params, "ecn"),
            keep_window_after_lost_syn: params.flag("keep_window_after_lost_syn"),
            handshake_ack: params.flag("handshake_ack"),
            quick_acks: u64::try_from(params.integer("quick_acks")).unwrap_or(0),
            push_acks: params.flag("push_acks"),
            quick_acks_again: params.flag("quick_acks_again"),
            interactive_acks: params.flag("interactive_acks"),
            sack_compression: sack_compression(params),
            receive_buffer_default: bytes(params, "receive_buffer_default"),
            receive_buffer_max: params.bytes("receive_buffer_max"),
            receive_auto_tuning: params.flag("receive_auto_tuning"),
            adv_win_scale: params.integer("adv_win_scale"),
            window_scaling: params.flag("window_scaling"),
            send_buffer_default: bytes(params, "send_buffer_default"),
            send_buffer_max: params.bytes("send_buffer_max"),
            send_auto_tuning: params.flag("send_auto_tuning"),
            max_sack_blocks: usize::try_from(params.integer("max_sack_blocks")).unwrap_or(3),
            sack_option_header: bytes_u32(params, "sack_option_header"),
            partial: Policy::of(params.choice("partial"), duration(params, "partial_timer")),
            autocorking: params.flag("autocorking"),
            restart_after_idle: chosen(params, "restart_after_idle"),
            fin: params.flag("fin"),
            rto: RtoConfig {
                estimator: chosen(params, "rto_estimator"),
                granularity: params.duration("rto_granularity"),
                initial: params.duration("rto_initial"),
                min: params.duration("rto_min"),
                max: params.duration("rto_max"),
            },
            ns2_tick_phase: params.choice("tick_phase") == "ns2",
            ack_every: ack_policy::every(params, window_limit),
            delayed_ack: ack_policy::Settings::from(params),
            delayed_ack_timeout: params.duration("delayed_ack_timeout"),
            delayed_ack_timeout_several: duration(params, "delayed_ack_timeout_several"),
            adaptive_delayed_ack: params.flag("adaptive_delayed_ack"),
        }
    }
}

impl Config {
    /// Draws where the ticks of the sender's clock and of the receiver's are, as far as that is random; the same again for the same stream. Returns
    /// by which share of a tick they are late.
    pub fn draw_phases(&mut self, random: impl FnOnce() -> Stream) -> [f64; 2] {
        if self.random_phases == [false; 2] {
            return [0.0; 2];
        }
        let mut random = random();
        let clocks = [&mut self.timer_tick, &mut self.receiver_tick];
        let mut shares = [random.uniform(), random.uniform()];
        for ((share, ticks), is_random) in shares.iter_mut().zip(clocks).zip(self.random_phases) {
            if is_random {
                ticks.phase = *share * ticks.secs;
            } else {
                *share = 0.0;
            }
        }
        shares
    }

    /// The same connection as its receiver's host has it, which sends the other way.
    pub fn exchange_hosts(&mut self) {
        std::mem::swap(&mut self.timer_tick, &mut self.receiver_tick);
    }
}

fn bytes(params: &Params, name: &str) -> Option<u64> {
    match params.get(name) {
        Value::Bytes(bytes) => Some(bytes),
        _ => None,
    }
}

fn duration(params: &Params, name: &str) -> Option<f64> {
    match params.get(name) {
        Value::Duration(secs) => Some(secs),
        _ => None,
    }
}

fn pacing(params: &Params) -> Pacing {
    Pacing {
        paced: chosen(params, "pacing"),
        slow_start_ratio: params.number("pacing_ss_ratio"),
        avoidance_ratio: params.number("pacing_ca_ratio"),
        max: match params.get("max_pacing_rate") {
            Value::Rate(rate) => rate,
            _ => f64::INFINITY,
        },
        credit: params.number("pacing_credit"),
        free_start: match params.get("pacing_free_start") {
            Value::Packets(packets) => packets,
            _ => 0,
        },
    }
}

/// Nothing where each segment out of order is acknowledged at once.
fn sack_compression(params: &Params) -> Option<sack_compression::Settings> {
    let delay = params.duration("sack_compression_delay");
    let has_sack = chosen::<Recovery>(params, "recovery").has_sack();
    (delay > 0.0 && has_sack).then(|| sack_compression::Settings {
        delay,
        slack: params.duration("sack_compression_slack"),
        max: u64::try_from(params.integer("sack_compression_max")).unwrap_or(0),
    })
}

fn ticks(params: &Params, phase: &str) -> Ticks {
    let mut ticks = Ticks::of(params.duration("timer_tick"));
    ticks.whole = params.flag("whole_ticks");
    if let Value::Duration(secs) = params.get(phase) {
        ticks.phase = secs;
    }
    ticks
}

fn segmentation(params: &Params) -> Segmentation {
    Segmentation {
        max_bytes: bytes_u32(params, "tso_max_bytes"),
        min_segments: match params.get("tso_min_segments") {
            Value::Packets(packets) => packets,
            _ => 1,
        },
        interval: params.duration("tso_interval"),
        rtt_log: params.duration("tso_rtt_log"),
        window_divisor: u64::try_from(params.integer("tso_window_divisor")).unwrap_or(0),
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
    fn phases_that_are_not_given_are_drawn_and_the_same_again_for_the_same_stream() {
        let mut params = Params::defaults(PARAMS);
        params.set("timer_tick", Value::Duration(0.01));
        params.set("tick_phase", Value::Choice("random"));
        params.set("receiver_phase", Value::Duration(0.004));
        let drawn = |seed| {
            let mut config = Config::from(&params);
            let shares = config.draw_phases(|| Stream::new(seed, "clocks"));
            assert_eq!(shares[1], 0.0);
            assert_eq!(config.receiver_tick.phase, 0.004);
            assert!((config.timer_tick.phase - 0.01 * shares[0]).abs() < 1e-15);
            config.exchange_hosts();
            assert_eq!(config.timer_tick.phase, 0.004);
            shares[0]
        };
        assert!((0.0..1.0).contains(&drawn(1)) && drawn(1) == drawn(1) && drawn(1) != drawn(2));
        params.set("tick_phase", Value::Choice("zero"));
        let shares = Config::from(&params).draw_phases(|| unreachable!("nothing is random"));
        assert_eq!(shares, [0.0, 0.0]);
    }

    #[test]
    fn rfc5681_3_1_the_initial_window_depends_on_the_segment_size() {
        let windows: Vec<f64> = [536, 1095, 1096, 2190, 2191, 8960]
            .map(rfc5681_initial_window)
            .into();
        assert_eq!(windows, [4.0, 4.0, 3.0, 3.0, 2.0, 2.0]);
    }

    #[test]
    fn defaults_are_those_of_the_rfcs() {
        let params = Params::defaults(PARAMS);
        let specified = [
            (
                "smss",
                Value::Bytes(1460),
                "1500 of RFC 894, less both headers",
            ),
            ("header", Value::Bytes(40), "RFC 791, RFC 9293 §3.1"),
            ("ack_size", Value::Bytes(40), "RFC 791, RFC 9293 §3.1"),
            ("dup_thresh", Value::Integer(3), "RFC 5681 §3.2"),
            ("rto_initial", Value::Duration(1.0), "RFC 6298 §2.1"),
            ("rto_max", Value::Duration(60.0), "RFC 6298 §2.5"),
            ("ack_every", Value::Integer(2), "RFC 5681 §4.2"),
            ("max_sack_blocks", Value::Integer(3), "RFC 2018 §3"),
            ("probe_max_ack_delay", Value::Duration(0.2), "RFC 8985 §7.2"),
        ];
        for (name, value, place) in specified {
            assert_eq!(params.get(name), value, "{name}, {place}");
        }
    }
}
