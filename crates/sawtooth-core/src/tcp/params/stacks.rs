//! Stack presets: named sets of defaults for everything under `tcp`.

use super::row::{has, same};
use super::{PARAMS, ROWS, key};
use crate::registry::{Kind, ParamKey, Params, Value};

/// One preset.
#[derive(Clone, Copy, Debug)]
pub struct Stack {
    /// The word of `tcp.stack` that chooses it.
    pub name: &'static str,
    /// Whose behaviour it is, in one sentence.
    pub summary: &'static str,
    /// What specifies that behaviour, and where it was measured.
    pub specification: &'static [&'static str],
    /// What differs from the defaults of [`super::PARAMS`], in lists, as several stacks may have one in common.
    pub values: &'static [&'static [(&'static str, Value)]],
}

impl Stack {
    /// All parameters of TCP, as this stack has them.
    pub fn params(&self) -> Params {
        let mut params = Params::defaults(PARAMS);
        for (name, value) in self.values.iter().copied().flatten() {
            params.set(name, *value);
        }
        params
    }
}

/// What Linux 6.1 and 3.2 have in common.
const LINUX: &[(&str, Value)] = &[
    set(key::smss, Value::Bytes(1448)),
    set(key::header, Value::Bytes(52)),
    set(key::ack_size, Value::Bytes(52)),
    // Maximum segment size, permission of SACK and window scale, padded: the handshake takes 96 us more than the path at 10 Mbit/s.
    set(key::syn_options, Value::Bytes(8)),
    // Since 2.6.39.
    set(key::initial_window, Value::Packets(10)),
    set(key::reduce_from, Value::Choice("window")),
    set(key::whole_ssthresh, Value::Bool(true)),
    set(key::whole_windows, Value::Bool(true)),
    set(key::cwnd_validation, Value::Bool(true)),
    set(key::keep_window_after_lost_syn, Value::Bool(true)),
    set(key::handshake_ack, Value::Bool(true)),
    set(key::resend_syn_ack, Value::Bool(true)),
    set(key::fin_of_receiver, Value::Bool(true)),
    // HZ = 250, as Debian has it.
    set(key::timer_tick, Value::Duration(0.004)),
    // Of the variance term, by which the timeout is at least longer than the round trip (RFC 6298 §2.3).
    set(key::rto_granularity, Value::Duration(0.2)),
    set(key::rto_estimator, Value::Choice("linux")),
    set(key::rto_min, Value::Duration(0.2)),
    set(key::rto_max, Value::Duration(120.0)),
    set(key::delayed_ack_timeout, Value::Duration(0.04)),
    set(key::quick_acks, Value::Integer(16)),
    set(key::push_acks, Value::Bool(true)),
    set(key::quick_acks_again, Value::Bool(true)),
    set(key::interactive_acks, Value::Bool(true)),
    set(key::adaptive_delayed_ack, Value::Bool(true)),
    set(key::send_buffer_default, Value::Bytes(16_384)),
    set(key::timestamps, Value::Bool(true)),
    set(key::eifel, Value::Choice("window")),
    set(key::partial, Value::Choice("minshall")),
    set(key::restart_after_idle, Value::Choice("decay")),
];

/// All presets.
pub const STACKS: &[Stack] = &[
    Stack {
        name: "rfc",
        summary: "what the standards-track documents ask for",
        specification: &["RFC 5681", "RFC 6298", "RFC 6582", "RFC 6675", "RFC 3042"],
        values: &[],
    },
    Stack {
        name: "linux",
        summary: "what a current Linux does, as measured of 6.1",
        specification: &[
            "RFC 6928",
            "RFC 8985",
            "RFC 9937",
            "RFC 5682",
            "RFC 7323",
            "draft-minshall-nagle-01",
            "RFC 2861",
            "Linux 6.1, measured: docs/validation/kernel-reno.md",
        ],
        values: &[
            LINUX,
            &[
                set(key::recovery, Value::Choice("rack")),
                set(key::byte_counting, Value::Bool(true)),
                set(key::timer_wheel, Value::Bool(true)),
                set(key::ecn_fallback, Value::Bool(true)),
                set(key::forgets_blocks, Value::Bool(true)),
                set(key::algorithms, Value::Choice("linux")),
                // Measured of bbr's first round trips over 50 Mbit/s and 80 ms: ten segments leave at once, and after the pause the next
                // two follow each other in 1.40 ms instead of 2.80.
                set(key::pacing_credit, Value::Number(0.5)),
                set(key::rate_granularity, Value::Duration(1e-6)),
                // Measured with ticks of 10 ms: the timer of a reordering window of 7.92 ms takes one, that of 8.02 ms two.
                set(key::probe_slack, Value::Duration(0.002)),
                set(key::probe_of_first, Value::Bool(true)),
                set(key::probe_in_cwr, Value::Bool(true)),
                set(key::dsack_delivers, Value::Bool(true)),
                set(key::keep_at_timeout, Value::Bool(true)),
                set(key::sack_compression_delay, Value::Duration(0.001)),
                set(key::receive_buffer_default, Value::Bytes(131_072)),
                set(key::pacing_free_start, Value::Packets(10)),
                set(key::metrics_cache, Value::Choice("default")),
                set(key::autocorking, Value::Bool(true)),
            ],
        ],
    },
    Stack {
        name: "linux-3.2",
        summary: "what Linux 3.2 (Debian 7, long-term) does, by its documentation and the papers that it implements: it counts acknowledgements, not segments, finds losses \
                  by forward acknowledgement, without probes, pacing or early retransmit, and remembers the slow-start threshold; nobody has measured it here",
        specification: &[
            "RFC 6928",
            "Mathis and Mahdavi 1996",
            "RFC 6937",
            "RFC 5682",
            "RFC 6298",
            "RFC 7323",
            "draft-minshall-nagle-01",
            "RFC 2861",
            "ip-sysctl.txt of Linux 3.2",
            "docs/validation/old-kernels.md",
        ],
        values: &[
            LINUX,
            &[
                set(key::recovery, Value::Choice("fack")),
                // `byte_counting` is off: slow start counts segments since 3.13, congestion avoidance since 4.0, and tcp_abc was off by default until it went in 3.9.
                set(key::algorithms, Value::Choice("linux-3.2")),
                // Since 3.2; the rule of SafeACK is of 2023.
                set(key::prr_bound, Value::Choice("ssrb")),
                // Since 3.10.
                set(key::tail_loss_probe, Value::Bool(false)),
                // Since 3.12, and only over fq.
                set(key::pacing, Value::Choice("off")),
                // Timestamps count jiffies until 4.13.
                set(key::timestamp_granularity, Value::Duration(0.004)),
                // tcp_rmem, tcp_adv_win_scale and tcp_wmem of 3.2: a window of 65535 bytes at first.
                set(key::receive_buffer_default, Value::Bytes(87_380)),
                set(key::receive_buffer_max, Value::Bytes(4_194_304)),
                set(key::adv_win_scale, Value::Integer(2)),
                set(key::metrics_cache, Value::Choice("with_ssthresh")),
            ],
        ],
    },
    Stack {
        name: "linux-2.0.29",
        summary: "the host of the data-stream-stall study, as far as that and its curves tell: jiffies of 10 ms, a window of 32 KiB of which every half is acknowledged, \
                  delayed acknowledgements of 20 ms, or 10 for several segments, and the fault of partial packets; for the rest what was standard then",
        specification: &["RFC 1122", "RFC 2001", "the data-stream-stall study"],
        values: &[&[
            set(key::recovery, Value::Choice("reno")),
            // Limited transmit (RFC 3042) and larger initial windows (RFC 2414) came later; RFC 2001 §1: one segment.
            set(key::limited_transmit, Value::Bool(false)),
            set(key::initial_window, Value::Packets(1)),
            set(key::window_limit, Value::Bytes(32_768)),
            set(key::byte_window, Value::Bool(true)),
            set(key::timer_tick, Value::Duration(0.01)),
            set(key::whole_ticks, Value::Bool(false)),
            set(key::ack_window_share, Value::Number(0.5)),
            set(key::delayed_ack_timeout, Value::Duration(0.02)),
            set(key::delayed_ack_timeout_several, Value::Duration(0.01)),
            set(key::partial, Value::Choice("linux-2.0.29")),
        ]],
    },
    Stack {
        name: "ns2",
        summary: "the one-way TCP agents of ns-2.35 with their defaults, as measured of the program",
        specification: &["ns-2.35, measured: docs/validation/ns2.md"],
        values: &[&[
            set(key::recovery, Value::Choice("newreno")),
            set(key::smss, Value::Bytes(1000)),
            set(key::initial_window, Value::Packets(2)),
            set(key::window_limit, Value::Packets(20)),
            set(key::reduce_from, Value::Choice("window")),
            set(key::whole_ssthresh, Value::Bool(true)),
            set(key::algorithms, Value::Choice("ns2")),
            set(key::exit_window, Value::Choice("keep")),
            set(key::recovery_burst, Value::Packets(2)),
            set(key::sack_pipe, Value::Choice("counter")),
            set(key::sack_option_header, Value::Bytes(0)),
            set(key::rto_estimator, Value::Choice("ticks")),
            set(key::rto_granularity, Value::Duration(0.01)),
            set(key::tick_phase, Value::Choice("ns2")),
            set(key::rto_initial, Value::Duration(3.0)),
            set(key::rto_min, Value::Duration(0.2)),
            set(key::rto_max, Value::Duration(60.0)),
            set(key::ack_every, Value::Integer(1)),
            set(key::delayed_ack_timeout, Value::Duration(0.1)),
            set(key::partial, Value::Choice("nodelay")),
            set(key::restart_after_idle, Value::Choice("off")),
            set(key::fin, Value::Bool(false)),
        ]],
    },
];

/// A line of a stack; one that its parameter cannot have does not compile.
const fn set<T>(key: ParamKey<T>, value: Value) -> (&'static str, Value) {
    assert!(
        fits(kind_of(key.name), value),
        "no such value of this parameter: another kind, or an unknown word"
    );
    (key.name, value)
}

const fn kind_of(name: &str) -> Kind {
    let mut index = 0;
    while !same(ROWS[index].param.name, name) {
        index += 1;
    }
    ROWS[index].param.kind
}

const fn fits(kind: Kind, value: Value) -> bool {
    match (kind, value) {
        (Kind::Choice(words), Value::Choice(word)) => has(words, word),
        (Kind::Bool, Value::Bool(_))
        | (Kind::Number { .. }, Value::Number(_))
        | (Kind::Integer { .. }, Value::Integer(_))
        | (Kind::Duration { .. } | Kind::Period, Value::Duration(_))
        | (Kind::Rate, Value::Rate(_))
        | (Kind::Bytes | Kind::PacketsOrBytes, Value::Bytes(_))
        | (Kind::Packets | Kind::PacketsOrBytes, Value::Packets(_)) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_another_kind_and_a_word_that_a_choice_does_not_have_fit_nowhere() {
        let recovery = kind_of("recovery");
        assert!(fits(recovery, Value::Choice("rack")) && !fits(recovery, Value::Choice("rakc")));
        assert!(!fits(recovery, Value::Bool(true)) && !fits(kind_of("smss"), Value::Packets(1)));
    }

    #[test]
    fn stacks_have_the_values_of_their_documents() {
        let documents = [
            (
                "linux",
                "header",
                Value::Bytes(20 + 20 + 12),
                "IPv4, TCP and RFC 7323's option",
            ),
            ("linux", "ack_size", Value::Bytes(20 + 20 + 12), "the same"),
            ("linux", "initial_window", Value::Packets(10), "RFC 6928"),
            (
                "linux",
                "timer_tick",
                Value::Duration(1.0 / 250.0),
                "HZ = 250",
            ),
            (
                "linux",
                "rto_min",
                Value::Duration(0.2),
                "tcp_rto_min_us of ip-sysctl",
            ),
            ("linux", "rto_granularity", Value::Duration(0.2), "the same"),
            (
                "linux",
                "pacing_credit",
                Value::Number(0.5),
                "measured: 1.40 ms instead of 2.80",
            ),
            (
                "linux-3.2",
                "receive_buffer_default",
                Value::Bytes(87_380),
                "tcp_rmem of its ip-sysctl",
            ),
            (
                "linux-3.2",
                "adv_win_scale",
                Value::Integer(2),
                "tcp_adv_win_scale of its ip-sysctl: 87380 - 87380/4 = 65535",
            ),
            (
                "linux-3.2",
                "metrics_cache",
                Value::Choice("with_ssthresh"),
                "tcp_no_metrics_save of its ip-sysctl",
            ),
            (
                "linux-2.0.29",
                "timer_tick",
                Value::Duration(0.01),
                "jiffies",
            ),
            (
                "linux-2.0.29",
                "ack_window_share",
                Value::Number(0.5),
                "of every half",
            ),
            (
                "linux-2.0.29",
                "delayed_ack_timeout",
                Value::Duration(0.02),
                "two jiffies",
            ),
            (
                "ns2",
                "rto_granularity",
                Value::Duration(0.01),
                "tcpTick_ of the manual",
            ),
            (
                "ns2",
                "window_limit",
                Value::Packets(20),
                "window_ of the manual",
            ),
        ];
        for (stack, key, value, place) in documents {
            let stack = STACKS.iter().find(|each| each.name == stack).expect("one");
            let mut values = stack.values.iter().copied().flatten();
            let found = values.find(|(name, _)| *name == key);
            assert_eq!(found, Some(&(key, value)), "{key}, {place}");
        }
    }
}
