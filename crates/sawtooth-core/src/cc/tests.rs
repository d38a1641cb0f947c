//! What all algorithms have in common, and what the specification of each says of its parameters and needs.

mod linux;

use super::*;
use crate::cc::testing::*;
use crate::registry::{Params, Value};

/// Algorithms that own a window, which RFC 5681 governs beside their own rules: all but those with a model of the path.
fn with_windows() -> impl Iterator<Item = &'static Entry<Algorithm>> {
    let models = ["bbr", "bbr3", "copa"];
    TABLE
        .iter()
        .filter(move |entry| !models.contains(&entry.name))
}

fn made(entry: &Entry<Algorithm>, cwnd: f64, ssthresh: f64) -> Box<dyn CongestionControl> {
    (entry.new.new)(&Params::defaults(entry.params), starting(cwnd, ssthresh))
}

fn episode(window: f64) -> Episode {
    loss_at(1.0, window)
}

#[test]
fn rfc5681_3_1_after_a_timeout_the_window_is_one_segment_and_the_threshold_lower_but_two_at_least()
{
    for entry in with_windows() {
        let mut cc = made(entry, 64.0, 32.0);
        cc.on_rto(&episode(64.0));
        let (cwnd, ssthresh) = (cc.cwnd(), cc.ssthresh());
        assert_eq!(cwnd, 1.0, "{}", entry.name);
        assert!((2.0..64.0).contains(&ssthresh), "{} {ssthresh}", entry.name);
        cc.on_rto(&episode(1.0));
        assert_eq!(cc.ssthresh(), 2.0, "{}", entry.name);
    }
}

#[test]
fn rfc5681_3_2_after_a_loss_window_and_threshold_are_one_and_lower_but_two_at_least() {
    for entry in with_windows() {
        let mut cc = made(entry, 64.0, 32.0);
        cc.on_loss(&episode(64.0));
        let (cwnd, ssthresh) = (cc.cwnd(), cc.ssthresh());
        assert_eq!(cwnd, ssthresh, "{}", entry.name);
        assert!((2.0..64.0).contains(&ssthresh), "{} {ssthresh}", entry.name);
        cc.set_cwnd(2.0);
        cc.on_loss(&episode(2.0));
        assert_eq!(cc.ssthresh(), 2.0, "{}", entry.name);
    }
}

#[test]
fn windows_that_are_prescribed_are_taken_over() {
    for entry in with_windows() {
        let mut cc = made(entry, 10.0, f64::INFINITY);
        cc.set_cwnd(17.0);
        cc.set_ssthresh(23.0);
        assert_eq!((cc.cwnd(), cc.ssthresh()), (17.0, 23.0), "{}", entry.name);
    }
}

#[test]
fn rfc7661_4_3_a_window_that_limits_nothing_or_recovers_does_not_grow() {
    let ack = ack_at(1.0, 8, 64);
    for entry in with_windows() {
        for ssthresh in [2.0, 1000.0] {
            let mut cc = made(entry, 64.0, ssthresh);
            cc.on_ack(&AckedData {
                cwnd_limited: false,
                ..ack
            });
            assert!(cc.cwnd() <= 64.0, "{} {ssthresh}", entry.name);
            cc.on_ack(&AckedData {
                may_grow: false,
                ..ack
            });
            assert!(cc.cwnd() <= 64.0, "{} {ssthresh}", entry.name);
        }
    }
}

/// Defaults by algorithm, as the specification has them: a name and a number each, in seconds, bits per second, bytes or segments.
const SPECIFIED: &[(&str, &str, &str)] = &[
    ("reno", "RFC 5681 §3.1", "beta 0.5"),
    (
        "cubic",
        "RFC 9438 §5, §4.6; RFC 9406 §4.3; draft-chung-ccwg-search",
        "c 0.4, beta 0.7, css_growth_divisor 4, css_rounds 5, l 8, hystart_delay_min 0.004, \
         hystart_delay_max 0.016, hystart_delay_divisor 8, hystart_samples 8, search_window 3.5, \
         search_bins 10, search_extra_bins 15, search_threshold 0.26",
    ),
    (
        "dctcp",
        "RFC 8257 §3.3, §4.2",
        "g 0.0625, alpha 1, beta 0.5",
    ),
    (
        "highspeed",
        "RFC 3649 §5",
        "low_window 38, high_window 83000, high_p 0.0000001, high_decrease 0.1",
    ),
    ("scalable", "Kelly 2003", "a 0.01, b 0.125, low_window 16"),
    (
        "vegas",
        "Brakmo and Peterson 1995",
        "alpha 2, beta 4, gamma 1",
    ),
    (
        "veno",
        "Fu and Liew 2003",
        "beta 3, random_factor 0.8, congestive_factor 0.5",
    ),
    (
        "yeah",
        "Baiocchi, Castellani and Vacirca 2007",
        "max_queue 80, phi 8, min_decrease 0.125",
    ),
    (
        "htcp",
        "Leith and Shorten 2004",
        "delta_l 1, beta_min 0.5, beta_max 0.8",
    ),
    ("hybla", "Caini and Firrincieli 2004", "rtt0 0.025"),
    (
        "lp",
        "Kuzmanovic and Knightly 2006",
        "delta 0.15, gamma 0.125, inference_rtts 3",
    ),
    ("copa", "Arun and Balakrishnan 2018", "default_delta 0.5"),
    (
        "prague",
        "draft-briscoe-iccrg-prague-congestion-control",
        "gain 0.0625, rtt_virt_min 0.025, rtt_scaling_rounds 500",
    ),
    (
        "bbr",
        "draft-cardwell-iccrg-bbr-congestion-control-00",
        "high_gain 2.8853900817779268, cwnd_gain 2, probe_gain 1.25, drain_gain 0.75, cycle_phases 8, \
         bw_rounds 10, full_bw_growth 1.25, full_bw_rounds 3, min_rtt_window 10, \
         probe_rtt_duration 0.2, min_cwnd 4, one_segment_below 1200000, two_segments_below 24000000, \
         quantum_duration 0.001, quantum_max 65536",
    ),
    (
        "bbr3",
        "draft-ietf-ccwg-bbr",
        "startup_pacing_gain 2.77, up_pacing_gain 1.25, down_pacing_gain 0.9, cwnd_gain 2, \
         up_cwnd_gain 2.25, probe_rtt_cwnd_gain 0.5, loss_thresh 0.02, beta 0.7, headroom 0.15, \
         min_pipe_cwnd 4, max_bw_cycles 2, full_bw_growth 1.25, full_bw_rounds 3, \
         startup_full_loss_count 6, probe_wait 2, probe_wait_spread 1, reno_rounds 63, \
         min_rtt_window 10, probe_rtt_interval 5, probe_rtt_duration 0.2, extra_acked_rounds 10, \
         pacing_margin 0.01, quantum_duration 0.001, quantum_max 65536",
    ),
];

/// The number that a value is.
fn number(value: Value) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "defaults are small")]
    match value {
        Value::Number(number) | Value::Duration(number) | Value::Rate(number) => number,
        Value::Integer(count) => count as f64,
        Value::Bytes(bytes) => bytes as f64,
        other => panic!("{other:?} is no number"),
    }
}

#[test]
fn defaults_are_those_of_the_specifications() {
    for (name, place, defaults) in SPECIFIED {
        let entry = TABLE.iter().find(|entry| entry.name == *name);
        let params = Params::defaults(entry.expect("a row").params);
        for default in defaults.split(", ") {
            let (param, specified) = default.split_once(' ').expect("a name and a number");
            let specified: f64 = specified.parse().expect("a number");
            let found = number(params.get(param));
            assert_eq!(found, specified, "{name}.{param}, {place}");
        }
    }
}

#[test]
fn rfc5681_3_1_slow_start_is_below_the_threshold_and_congestion_avoidance_at_it() {
    let grown = |entry: &Entry<Algorithm>, ssthresh| {
        let mut cc = made(entry, 20.0, ssthresh);
        cc.on_ack(&ack_at(1.0, 1, 20));
        cc.cwnd() - 20.0
    };
    // LEDBAT has a window of its own to begin with, and no slow start; its ++ has.
    for entry in with_windows().filter(|entry| entry.name != "ledbat") {
        assert_eq!(grown(entry, 20.5), 1.0, "{}", entry.name);
        if entry.name == "bic" {
            // It searches for a maximum in steps of up to 32 segments per window.
            assert!((grown(entry, 20.0) - 32.0 / 20.0).abs() < 1e-9);
            continue;
        }
        assert!((0.0..1.0).contains(&grown(entry, 20.0)), "{}", entry.name);
        assert!((0.0..1.0).contains(&grown(entry, 2.0)), "{}", entry.name);
    }
}

#[test]
fn deviating_from_rfc4015_3_1_step_9_a_spurious_loss_gives_the_windows_back_as_in_linux() {
    for entry in with_windows() {
        let mut cc = made(entry, 64.0, 60.0);
        cc.set_cwnd(64.0);
        cc.on_loss(&episode(64.0));
        assert!(cc.cwnd() < 60.0, "{}", entry.name);
        cc.on_undo(Windows {
            cwnd: WindowSize::from_segments(64.0),
            ssthresh: WindowSize::from_segments(60.0),
        });
        assert_eq!((cc.cwnd(), cc.ssthresh()), (64.0, 60.0), "{}", entry.name);
        // What has grown beyond them since stays.
        cc.on_undo(Windows {
            cwnd: WindowSize::from_segments(50.0),
            ssthresh: WindowSize::from_segments(40.0),
        });
        assert_eq!((cc.cwnd(), cc.ssthresh()), (64.0, 60.0), "{}", entry.name);
    }
}

#[test]
fn what_an_algorithm_needs_of_the_stack_is_what_its_specification_says() {
    for entry in TABLE {
        let needs = entry.new.needs;
        // Models of the path set their window in a recovery, too, and two of them are made of delivery rates.
        assert_eq!(
            needs.rules_recovery,
            ["bbr", "bbr3", "copa"].contains(&entry.name),
            "{}",
            entry.name
        );
        let rates = match entry.name {
            "bbr" | "bbr3" => Rates::Needed,
            "nv" => Rates::Used,
            _ => Rates::Unused,
        };
        assert_eq!(needs.rates, rates, "{}", entry.name);
        let ecn = match entry.name {
            // RFC 8257 §3.3, RFC 9331 §4.3.
            "dctcp" => EcnMode::Every,
            "prague" => EcnMode::L4s,
            _ => EcnMode::Classic,
        };
        assert_eq!(needs.ecn, ecn, "{}", entry.name);
    }
}

/// What algorithms report of themselves before anything has happened.
const AT_THE_START: &[(&str, &[(&str, f64)])] = &[
    (
        "cubic",
        &[
            ("w_max", 0.0),
            ("k", 0.0),
            ("w_est", 0.0),
            ("cwnd_prior", 10.0),
        ],
    ),
    ("highspeed", &[("a_w", 1.0), ("b_w", 0.5)]),
    ("htcp", &[("alpha", 1.0), ("beta", 0.5), ("b_max", 0.0)]),
    ("vegas", &[("diff", 0.0)]),
    ("veno", &[]),
    ("westwood", &[]),
    ("lp", &[]),
    ("nv", &[]),
    ("ledbat", &[]),
    ("yeah", &[("q", 0.0), ("slow_mode", 0.0)]),
    ("hybla", &[("rho", 1.0)]),
    ("cdg", &[("g_bar_min", 0.0), ("g_bar_max", 0.0), ("s", 0.0)]),
    ("dctcp", &[("alpha", 1.0)]),
    (
        "copa",
        &[
            ("delta", 0.5),
            ("v", 1.0),
            ("RTTstanding", 0.0),
            ("RTTmin", 0.0),
            ("competitive", 0.0),
        ],
    ),
    (
        "prague",
        &[("alpha", 1.0), ("ai_per_rtt", 1.0), ("rtt_virt", 0.0)],
    ),
    (
        "bbr",
        &[
            ("BtlBw", 0.0),
            ("RTprop", 0.0),
            ("pacing_gain", 2.0 / std::f64::consts::LN_2),
            ("cwnd_gain", 2.0 / std::f64::consts::LN_2),
            ("target_cwnd", 10.0),
            ("round_count", 0.0),
            ("filled_pipe", 0.0),
        ],
    ),
];

#[test]
fn what_is_not_known_yet_is_reported_as_nought_or_not_at_all() {
    for (name, variables) in AT_THE_START {
        let entry = TABLE.iter().find(|entry| entry.name == *name);
        let entry = entry.expect("a row");
        let mut found = Vec::new();
        made(entry, 10.0, f64::INFINITY)
            .probe(&mut |variable, value| found.push((variable, value)));
        assert_eq!(found, *variables, "{name}");
    }
}
