//! The table: one row for each parameter. What the words of a row say is in [`super::row`]; an arrow makes it a field of [`Config`](super::Config). The rows
//! stand in the order in which the reference has them, and the hint of an unknown key: a new row goes to its group.

use super::choices::{
    Algorithms, EarlyRetransmit, Eifel, ExitWindow, Feedback, PartialAckTimer, PrrBound,
    RecoveryKind, ReduceFrom, RestartAfterIdle, SackPipe, TickPhase,
};
use super::params;
use super::row::{
    ANY_TIME, ReadBy, TIME, TcpParam, Unnamed, bytes, choice, duration, flag, integer, number,
    packets, positive_duration, unset,
};
use super::window::WindowSetting;
use crate::registry::{Kind, ParamKey};
use crate::tcp::metrics_cache::Keeps;
use crate::tcp::pacer::PacedFlows;
use crate::tcp::partial::Partial;
use crate::tcp::receiver::ack_policy;
use crate::tcp::rto::RtoEstimator;
use crate::units::{ByteCount, Duration, Rate, SegCount};

const NEWRENO: ReadBy = recoveries(&["newreno"]);
const SACK: ReadBy = recoveries(&["sack"]);
const FACK: ReadBy = recoveries(&["fack"]);
const FACK_OR_RACK: ReadBy = recoveries(&["fack", "rack"]);
/// Those whose acknowledgements are selective.
const SELECTIVE: ReadBy = recoveries(&["sack", "fack", "rack"]);
const BEFORE_FACK: ReadBy = recoveries(&["tahoe", "reno", "newreno", "sack"]);
const BY_TIMEOUT: ReadBy = delayed_acks(&["timeout"]);
const BY_ARRIVALS: ReadBy = delayed_acks(&["linux-2.0"]);

const fn recoveries(words: &'static [&'static str]) -> ReadBy {
    let choice = key::recovery.name;
    ReadBy { choice, words }
}

const fn delayed_acks(words: &'static [&'static str]) -> ReadBy {
    let choice = key::delayed_ack.name;
    ReadBy { choice, words }
}

params! {
    // The loss recovery.
    recovery -> RecoveryKind = choice("sack"),
        "how losses are detected and repaired";

    // Segments, and what their headers weigh.
    smss -> ByteCount = bytes(1460).kernel("TCP_MAXSEG and the devices' MTU"),
        "sender maximum segment size: application bytes in a full segment";
    header -> ByteCount = bytes(40),
        "bytes of headers in front of a segment's data, as they count on links";
    path_mtu_discovery: bool = flag(false),
        "segments larger than the `mtu` of a link of the path are made to fit before the connection opens (RFC 1191, RFC 8899); without, they are an error";
    mss_from_mtu: bool = flag(false).kernel("the same, as large as the links' `mtu` admits"),
        "whether `smss` is what `header` leaves of the least `mtu` on the path, which a link's `medium` brings (RFC 9293 §3.7.1, RFC 6691); a link of the path has to have one";
    ack_size -> ByteCount = bytes(40),
        "bytes of an acknowledgement on the wire";
    syn_options -> ByteCount = bytes(0),
        "bytes that a SYN adds to `header`, and its acknowledgement to `ack_size`: options that only they carry (RFC 9293 §3.7.1, RFC 7323 §2.2, RFC 2018 §2)";

    // The handshake, and windows at the start.
    handshake -> bool = flag(true),
        "whether a connection starts with a SYN, which is segment 0 and one round trip";
    initial_window: Option<WindowSetting> = unset(Kind::PacketsOrBytes).kernel("initcwnd of the route").shared(),
        "initial window; `none`: 2 to 4 segments depending on smss (RFC 5681 §3.1)";
    initial_ssthresh: Option<WindowSetting> = unset(Kind::PacketsOrBytes),
        "initial slow-start threshold; `none`: the window limit, or without one arbitrarily high (RFC 5681 §3.1)";
    window_limit: Option<WindowSetting> = unset(Kind::PacketsOrBytes).kernel("TCP_WINDOW_CLAMP of the receiver"),
        "the most that may be outstanding: the receiver's window; `none`: no limit";
    byte_window: bool = flag(false).read_by(BEFORE_FACK),
        "whether a `window_limit` in bytes has room for a short segment that fits into what full ones leave of it, as windows of bytes have (RFC 9293 §3.8.6); otherwise it is whole segments";

    // What a loss is, and what it reduces.
    dup_thresh -> u32 = integer(3, 1, 1000).kernel("net.ipv4.tcp_reordering").shared(),
        "duplicate acknowledgements that signal a loss (DupThresh)";
    limited_transmit -> bool = flag(true).read_by(BEFORE_FACK),
        "send new data on the first duplicate acknowledgements (RFC 3042)";
    reduce_from -> ReduceFrom = choice("flight_size"),
        "what a loss reduces: FlightSize (RFC 5681 equation 4) as far as the window covers it, or the usable window";
    whole_ssthresh -> bool = flag(false),
        "round the slow-start threshold down to whole segments";

    // Congestion controls.
    algorithms: Algorithms = choice("specification"),
        "congestion controls as specified, or as ns-2, Linux (as measured of 6.1) or Linux 3.2 have them where they depart from the specification";

    // Recovery by NewReno, and by SACK.
    partial_ack_timer -> PartialAckTimer = choice("first").read_by(NEWRENO),
        "which partial acknowledgements restart the retransmission timer: the first (Impatient) or every one (Slow-but-Steady, RFC 6582 §4)";
    exit_window -> ExitWindow = choice("flight_size").read_by(NEWRENO),
        "window at the end of NewReno's recovery: min(ssthresh, FlightSize + 1) (RFC 6582 §3.2 step 3, option 1), or kept as it is";
    recovery_burst -> Option<SegCount> = unset(Kind::Packets).read_by(NEWRENO),
        "most new segments that NewReno sends on one acknowledgement during fast recovery; `none`: no limit";
    sack_pipe -> SackPipe = choice("scoreboard").read_by(SACK),
        "how SACK recovery estimates what is in the path: from the scoreboard (RFC 6675 §4), or a counter kept since the loss (Fall and Floyd 1996)";

    // How windows grow.
    byte_counting -> bool = flag(false),
        "whether windows grow by the segments that are acknowledged (RFC 3465, without its limit) rather than by acknowledgements";
    whole_windows -> bool = flag(false),
        "whether windows are whole segments, which grow by one when enough has been acknowledged, as in kernels";
    cwnd_validation -> bool = flag(false).read_by(FACK_OR_RACK),
        "whether only a window that limits what is sent may grow (RFC 7661 §4.3); with `recovery = \"fack\"` or `\"rack\"`";

    // Recovery by FACK and by RACK.
    prr -> bool = flag(true).read_by(FACK_OR_RACK),
        "whether the window shrinks in a recovery with what is delivered (RFC 9937, RFC 6937) rather than at once; with `recovery = \"fack\"` or `\"rack\"`";
    prr_bound -> PrrBound = choice("safe_ack").read_by(FACK_OR_RACK),
        "how `prr` catches up once less than ssthresh is in the path: by what is delivered (CRB), by one more (SSRB; both RFC 6937 §3), or by one more only where nothing new was found lost (SafeACK, RFC 9937 §6)";
    early_retransmit -> EarlyRetransmit = choice("off").read_by(FACK),
        "whether a loss is believed with fewer duplicate acknowledgements than `dup_thresh` where less than four segments are outstanding and nothing else may be sent (RFC 5827 §2.2): at once, or a quarter of a round trip later, as in Linux 3.5 (tcp_early_retrans = 2)";
    tail_loss_probe -> bool = flag(true).read_by(FACK_OR_RACK),
        "whether the end of a flight is probed after two round trips (RFC 8985 §7); with `recovery = \"fack\"` or `\"rack\"`";
    probe_slack -> Duration = duration(0.0).read_by(FACK_OR_RACK),
        "what a probe waits longer than two round trips and the reordering timer than its window (RFC 8985 §7.2, §6.2); kernels: 2 ms";
    probe_max_ack_delay -> Duration = duration(0.2).read_by(FACK_OR_RACK),
        "what it waits longer if one segment is outstanding, whose acknowledgement may be delayed (RFC 8985 §7.2)";
    probe_of_first -> bool = flag(false).read_by(FACK_OR_RACK),
        "whether a probe after new data waits at most for the timeout of the first segment outstanding, counted from when that left, as in Linux, rather than for what is left of the timer (RFC 8985 §7.2)";
    probe_in_cwr -> bool = flag(false).read_by(FACK_OR_RACK),
        "whether in the reduction for a mark a probe is set, as in Linux, also while something has come out of order (RFC 8985 §7.2 has none then), and for new data instead of the reordering timer";
    dsack_delivers -> bool = flag(false).read_by(FACK_OR_RACK),
        "whether a segment that is reported to have come again counts as delivered once more, as measured of Linux 6.1: after a timeout the window grows by it, too";
    frto -> bool = flag(true).read_by(FACK_OR_RACK),
        "whether a timeout is tested for being spurious (RFC 5682 §3.1); with `recovery = \"fack\"` or `\"rack\"`";
    keep_at_timeout -> bool = flag(false).read_by(FACK_OR_RACK),
        "whether a timeout during a recovery or a mark's reduction keeps their threshold, as in Linux, where RFC 5681 §3.1 halves again";
    undo -> bool = flag(true).read_by(FACK_OR_RACK),
        "whether a reduction is undone when all its retransmissions are reported as duplicates (RFC 3708; the windows are as before, as in Linux); with `recovery = \"fack\"` or `\"rack\"`";

    // The hosts' clocks.
    timer_tick: Duration = duration(0.0),
        "a host's timers expire at multiples of this: a kernel's 1/HZ; 0: at any time. Those of delayed acknowledgements and partial segments; with `recovery = \"rack\"` those of retransmissions, too";
    whole_ticks: bool = flag(true),
        "whether a timer waits for as many whole ticks as it needs, as measured of Linux 6.1, or the tick in which it is set is the first of them (BSD; Wright and Stevens 1995, chapter 25)";
    timer_wheel: bool = flag(false),
        "whether longer waits end at fewer ticks: those of 63 and more at every eighth, those of eight times as many at every 64th, and so on, as in Linux since 4.8 and as measured of 6.1";
    clock_reading: Duration = duration(0.0),
        "the finest time that a host's clock tells: its timers, those of pacing and of acknowledgements that wait for each other, too, end when it first tells that they have; user-mode Linux: 256 ns; 0: it tells any time";
    sender_phase: Option<Duration> = unset(ANY_TIME),
        "how long after the run's beginning a tick of the sender's clock comes; `none`: `tick_phase` says";
    receiver_phase: Option<Duration> = unset(ANY_TIME),
        "the same of the receiver's";

    // Pacing.
    pacing: PacedFlows = choice("algorithm").read_by(FACK_OR_RACK),
        "which flows are paced: none, those whose congestion control gives a rate, or all, as over Linux's fq; with `recovery = \"fack\"` or `\"rack\"`";
    pacing_ss_ratio: f64 = number(2.0, 0.01, 10.0),
        "rate in slow start where no congestion control gives one, in windows per round-trip time: Linux's tcp_pacing_ss_ratio / 100";
    pacing_ca_ratio: f64 = number(1.2, 0.01, 10.0),
        "the same in congestion avoidance: Linux's tcp_pacing_ca_ratio / 100";
    pacing_free_start: Option<SegCount> = unset(Kind::Packets),
        "the first segments of a connection, sent again or not, that may leave at once, as tc-fq's initial_quantum; `none`: all are paced";
    max_pacing_rate: Option<Rate> = unset(Kind::Rate),
        "no flow sends application bytes faster, as Linux's SO_MAX_PACING_RATE inside TCP; `none`: no bound; with `recovery = \"fack\"` or `\"rack\"`";

    // Segmentation offload.
    segmentation_offload: bool = flag(false),
        "whether new data leaves in bursts that are as long as what the flow sends in `tso_interval`, as over an interface with segmentation offload; with `recovery = \"fack\"` or `\"rack\"`";
    tso_interval: Duration = positive_duration(1.0 / 1024.0),
        "time that a burst lasts at the flow's rate; Linux: 1/1024 s";
    tso_min_segments: SegCount = packets(2),
        "a burst's least length: Linux's tcp_min_tso_segs";
    tso_max_bytes: ByteCount = bytes(65_536),
        "the most that a burst holds";
    tso_rtt_log: Duration = positive_duration(512e-6),
        "bursts are longer over a short path: by `tso_max_bytes`, halved for each of these in the least round trip; Linux: 512 us (tcp_tso_rtt_log = 9)";
    tso_window_divisor: u64 = integer(3, 0, 1000),
        "a burst that the window cuts short waits, up to this part of the window: Linux's tcp_tso_win_divisor; 0: it does not";

    // What earlier connections have left, timestamps and marks.
    metrics_cache -> Keeps = choice("off").kernel("net.ipv4.tcp_no_metrics_save and tcp_no_ssthresh_metrics_save").shared(),
        "what a connection inherits from earlier ones over the same path that have ended: nothing, what Linux does since 5.6, or also the slow-start threshold, as before";
    timestamps: bool = flag(false),
        "whether segments carry timestamps, from which round trips are measured (RFC 7323); their bytes are part of `header` and `ack_size`";
    timestamp_granularity: Duration = positive_duration(0.001),
        "tick of the timestamp clock: 1 ms to 1 s (RFC 7323 §5.4)";
    eifel -> Eifel = choice("off"),
        "what follows when a timestamp shows that a retransmission was needless (RFC 3522): nothing, the window is as before (as in Linux), or also a longer timeout (RFC 4015 §3.1 step 11); with `recovery = \"fack\"` or `\"rack\"`";
    ecn -> Feedback = choice("off").kernel("net.ipv4.tcp_ecn").shared(),
        "Explicit Congestion Notification: what the receiver echoes of marks (RFC 3168, RFC 8257 §3.2 or RFC 9768); not set, what the congestion control needs: `dctcp` and `prague` theirs, others nothing";
    ecn_fallback -> bool = flag(false),
        "whether a connection whose SYN had to be sent again does without ECN (RFC 3168 §6.1.1.1), as with Linux's net.ipv4.tcp_ecn_fallback, which is on";

    // What else kernels do.
    rate_granularity -> Duration = duration(0.0),
        "the clock by which delivery rates are measured: their intervals are between its whole ticks, as between Linux's microseconds; 0: between any times";
    pacing_credit: f64 = number(0.0, 0.0, 1.0),
        "a segment that leaves later than pacing asked lets the next one leave earlier by as much, up to this share of the interval";
    keep_window_after_lost_syn -> bool = flag(false),
        "whether the initial window stays what it is after one lost SYN, and becomes one segment after more of them only (RFC 5681 §3.1: after one)";
    handshake_ack -> bool = flag(false),
        "whether the handshake's third packet is sent, as large as an acknowledgement";
    resend_syn_ack -> bool = flag(false),
        "whether the answer to a SYN is sent again until it is acknowledged (RFC 6298 §5), repeats the first SYN's timestamp and is itself acknowledged when it comes again (RFC 9293 §3.10.7.4); else only another SYN is answered";

    // Acknowledgements at once, and those that wait for each other.
    quick_acks -> u64 = integer(0, 0, 1_000_000),
        "segments at the start of a connection that are acknowledged one by one; with a receive buffer no more than half of its window";
    push_acks -> bool = flag(false),
        "whether a segment that ends what the application wrote (PSH) is acknowledged at once, as it is read at once";
    quick_acks_again -> bool = flag(false),
        "whether segments are acknowledged one by one again: quick_acks of them after a pause longer than the retransmission timeout and from one that comes again, two from the first mark on (ECN), and the one with CWR";
    interactive_acks -> bool = flag(false),
        "whether the acknowledgements at once of quick_acks, push_acks and a window that opens end when the application answers within the delay of an acknowledgement, so that what it says carries them, until one has been delayed in vain, a segment comes again or is marked (ECN)";
    sack_compression_delay: f64 = duration(0.0).read_by(SELECTIVE),
        "longest that acknowledgements of segments out of order, but for the first three, wait for each other: 5 % of the round trip, but no more than this (tcp_comp_sack_delay_ns); 0: not at all";
    sack_compression_slack: f64 = duration(0.0001).read_by(SELECTIVE),
        "what that timer may be late (tcp_comp_sack_slack_ns), which it is";
    sack_compression_max: u64 = integer(44, 0, 255).read_by(SELECTIVE),
        "how many of these acknowledgements wait for each other at most (tcp_comp_sack_nr)";

    // Buffers.
    receive_buffer_default -> Option<u64> = unset(Kind::Bytes).kernel("net.ipv4.tcp_rmem").shared(),
        "the receiver's buffer at the start, which gives the window (tcp_rmem); `none`: the window is constant (window_limit)";
    receive_buffer_max -> u64 = bytes(6_291_456).kernel("net.ipv4.tcp_rmem").shared(),
        "the largest size to which the receiver's buffer is tuned (tcp_rmem)";
    receive_auto_tuning -> bool = flag(true).kernel("net.ipv4.tcp_moderate_rcvbuf").shared(),
        "whether the receiver's buffer grows with what is read in a round trip (dynamic right-sizing; tcp_moderate_rcvbuf)";
    adv_win_scale -> i64 = integer(1, -31, 31).kernel("net.ipv4.tcp_adv_win_scale").shared(),
        "share of the receiver's buffer that is not for data: 1/2^n, or if n is not positive all but 2^n (tcp_adv_win_scale)";
    window_scaling -> bool = flag(true).kernel("net.ipv4.tcp_window_scaling").shared(),
        "whether windows may be larger than 65535 bytes (RFC 7323 §2)";
    send_buffer_default -> Option<u64> = unset(Kind::Bytes).kernel("net.ipv4.tcp_wmem").shared(),
        "the sender's buffer at the start (tcp_wmem); `none`: the application's data is all written";
    send_buffer_max -> u64 = bytes(4_194_304).kernel("net.ipv4.tcp_wmem").shared(),
        "the largest size to which the sender's buffer is tuned (tcp_wmem)";
    send_auto_tuning -> bool = flag(true),
        "whether the sender's buffer grows with the window (Semke, Mahdavi and Mathis 1998)";

    // SACK options.
    max_sack_blocks -> usize = integer(3, 1, 3).read_by(SELECTIVE),
        "SACK blocks per acknowledgement (RFC 2018 §3)";
    forgets_blocks -> bool = flag(false).read_by(SELECTIVE),
        "whether a block has what came before its segment only as far as it is among the last four blocks, as measured of Linux 6.1, or all of it (RFC 2018 §4)";
    sack_option_header -> ByteCount = bytes(4).read_by(SELECTIVE),
        "bytes that a SACK option adds to an acknowledgement besides 8 per block: kind, length and padding (RFC 2018 §3)";

    // What the application writes.
    partial: Partial = choice("nagle").kernel("TCP_NODELAY or TCP_CORK of the sender").lacks(&["nagle", "linux-2.0.29"]),
        "when less than a full segment leaves: at once, when everything is acknowledged (RFC 896), when no other short one is outstanding (draft-minshall-nagle-01), when it is full or a retransmission timeout has passed (TCP_CORK), or with the fault of Linux 2.0.29 that the data-stream-stall study describes; `sawtooth list partial`";
    partial_timer: Option<Duration> = unset(Kind::Period),
        "how long a partial segment waits that waits for a timer, in whole ticks of `timer_tick`; `none`: the retransmission timeout with `cork`, and with `linux-2.0.29` that of the receiver's delayed acknowledgement is waited for";
    autocorking -> bool = flag(false).kernel("net.ipv4.tcp_autocorking").shared(),
        "whether what is less than a segment also waits while an earlier packet of the connection is in the transmit queue of its own machine, until that has reported its transmission (tcp_autocorking); only flows with a `host` have such a queue";

    // Pauses and the end.
    restart_after_idle -> RestartAfterIdle = choice("restart_window").kernel("net.ipv4.tcp_slow_start_after_idle").shared().lacks(&["restart_window"]),
        "the window after a timeout without sending: at most the initial one (RFC 5681 §4.1), half for every timeout but not less than that, with ssthresh at three quarters (RFC 2861 §3.1), or what it was";
    fin -> bool = flag(true),
        "whether a connection ends with a FIN (RFC 9293 §3.6): on the last segment that waits, or on a segment of its own";
    fin_of_receiver -> bool = flag(false),
        "whether the receiver's application closes as soon as it has read the sender's FIN: its own FIN follows the acknowledgement, and is acknowledged (RFC 9293 §3.6); not of flows that arrive, of requests, or with a `host`";

    // The retransmission timer.
    rto_estimator: RtoEstimator = choice("rfc6298"),
        "retransmission timeout from real-valued estimators (RFC 6298), from those with the largest mean deviation of a round trip for its variation (Sarolahti and Kuznetsov 2002, as in Linux), or from scaled integers counting clock ticks (Jacobson 1988)";
    rto_granularity: Duration = positive_duration(0.001),
        "clock granularity G (RFC 6298 §2), or the tick";
    tick_phase: TickPhase = choice("zero"),
        "where between two ticks the clock of a host starts: at zero, at a point of its own that the run's seed gives, or (that of `rto_estimator`) at ns-2's random point";
    rto_initial: Duration = positive_duration(1.0),
        "retransmission timeout before the first sample (RFC 6298 §2.1)";
    rto_min: Duration = duration(1.0).kernel("rto_min of the route").shared(),
        "lower bound of the retransmission timeout (RFC 6298 §2.4); with stack = \"linux\" it is rto_granularity, the least variance, that bounds it: set both";
    rto_max: Duration = positive_duration(60.0),
        "upper bound of the retransmission timeout (RFC 6298 §2.5)";

    // Delayed acknowledgements.
    ack_every: u32 = integer(2, 1, 64).kernel("quickack of the route, if it is 1").shared(),
        "in-order segments per acknowledgement: 1, or 2 for delayed acknowledgements (RFC 5681 §4.2)";
    ack_window_share: Option<f64> = unset(Kind::Number { min: 0.0, max: 1.0 }),
        "acknowledgements are sent when this share of `window_limit`, in whole segments, has come since the last one, instead of every so many segments; `none`: ack_every";
    delayed_ack: ack_policy::DelayedAckPolicy = choice("timeout"),
        "by what the wait of a delayed acknowledgement goes: `delayed_ack_timeout`, or as in Linux 2.0 the time between arrivals and whether data end a write (PSH); `sawtooth list delayed_ack`";
    delayed_ack_pushed: f64 = positive_duration(0.02).read_by(BY_ARRIVALS),
        "longest wait of data with PSH, with `delayed_ack = \"linux-2.0\"`: HZ/50";
    delayed_ack_most: f64 = positive_duration(0.5).read_by(BY_ARRIVALS),
        "the same of other data: HZ/2 (RFC 1122 §4.2.3.2: at most 500 ms)";
    delayed_ack_timeout -> Duration = positive_duration(0.2).read_by(BY_TIMEOUT),
        "longest wait of a delayed acknowledgement (RFC 1122 §4.2.3.2: at most 500 ms)";
    delayed_ack_timeout_several -> Option<Duration> = unset(TIME).read_by(BY_TIMEOUT),
        "the same once a second segment waits for its acknowledgement, where `ack_every` or `ack_window_share` lets it wait; `none`: no other";
    adaptive_delayed_ack -> bool = flag(false).read_by(BY_TIMEOUT),
        "whether the wait of a delayed acknowledgement is twice as long after each that was waited for in vain, as far as the round trip or 200 ms, and follows the time between arrivals; delayed_ack_timeout is the first";
}
