//! What algorithms have otherwise where a kernel's are asked for.

use crate::cc::TABLE;
use crate::registry::{Params, Value};

/// What each algorithm's file says under "Kernel equivalent" to have been measured of Linux 6.1, or of its module in ns-2.35's Linux agent.
const MEASURED: &[(&str, &[(&str, Value)])] = &[
    (
        "cubic",
        &[
            ("c", Value::Number(0.400_390_625)),
            ("beta", Value::Number(0.700_195_312_5)),
            ("target_rtt", Value::Choice("min")),
            ("app_limited", Value::Choice("counts")),
            ("w_est_alpha", Value::Choice("rfc8312")),
            ("whole_target", Value::Bool(true)),
            ("update_interval", Value::Duration(0.031_25)),
            ("first_growth", Value::Number(20.0)),
            ("time_unit", Value::Duration(1.0 / 1024.0)),
            ("min_rtt_after", Value::Duration(1.0)),
            ("hystart_train_slack", Value::Duration(0.001)),
            ("hystart_decides", Value::Choice("next")),
            ("begins_again", Value::Choice("empty_path")),
        ],
    ),
    (
        "hybla",
        &[
            ("rtt", Value::Choice("smoothed")),
            ("start_window", Value::Number(1.0)),
            ("counts", Value::Choice("acks")),
            ("rho_steps", Value::Number(8.0)),
            ("grain", Value::Number(128.0)),
            ("in_disorder", Value::Choice("standard")),
        ],
    ),
    (
        "htcp",
        &[
            ("rtts", Value::Choice("ticks")),
            ("beta_max", Value::Number(0.796_875)),
            ("adaptive_above", Value::Duration(0.01)),
        ],
    ),
    (
        "illinois",
        &[
            ("w_thresh", Value::Number(15.0)),
            ("alpha_min", Value::Number(0.296_875)),
        ],
    ),
    (
        "veno",
        &[
            ("forget_base_rtt", Value::Bool(false)),
            ("difference", Value::Choice("halves")),
            ("queued_steps", Value::Choice("alternate")),
            ("min_samples", Value::Integer(3)),
            ("in_disorder", Value::Choice("standard")),
            ("begins_again", Value::Choice("empty_path")),
        ],
    ),
    (
        "vegas",
        &[
            ("slow_start_rounds", Value::Integer(1)),
            ("diff_over", Value::Choice("rtt")),
            ("min_samples", Value::Integer(3)),
            ("rising_threshold", Value::Bool(true)),
            ("in_disorder", Value::Choice("standard")),
            ("begins_again", Value::Choice("empty_path")),
        ],
    ),
    (
        "dctcp",
        &[
            ("next_counts", Value::Bool(true)),
            ("alpha_steps", Value::Number(1024.0)),
        ],
    ),
    ("lp", &[("delta", Value::Number(1.0))]),
    (
        "nv",
        &[
            ("dec_mult", Value::Number(0.296_875)),
            ("loss_factor", Value::Number(0.799_804_687_5)),
        ],
    ),
    (
        "bbr",
        &[
            ("even_windows", Value::Bool(true)),
            ("extra_acked_gain", Value::Number(1.0)),
            ("high_gain", Value::Number(2.886_718_75)),
            ("startup_drain_gain", Value::Number(0.343_75)),
            ("probe_extra", Value::Number(2.0)),
            ("quantum_duration", Value::Duration(0.000_976_562_5)),
            ("at_departure", Value::Bool(true)),
            ("policer_detection", Value::Bool(true)),
            ("rate_step", Value::Number(0.059_604_644_775_390_625)),
        ],
    ),
    (
        "cdg",
        &[
            ("gradients", Value::Choice("sums")),
            // A sum of 8 round trips times 42 / 2^20 us is the exponent.
            ("g", Value::Duration(1_048_576e-6 / (8.0 * 42.0))),
            ("beta", Value::Number(0.707_031_25)),
        ],
    ),
    (
        "bic",
        &[
            ("s_max", Value::Number(16.0)),
            // 819 of 1024 remain.
            ("beta", Value::Number(0.200_195_312_5)),
            ("search", Value::Number(4.0)),
            ("smooth", Value::Number(20.0)),
            ("beyond", Value::Choice("mirror")),
            ("ack_ratio", Value::Number(2.0)),
            ("ack_ratio_memory", Value::Number(16.0)),
            ("first_growth", Value::Number(20.0)),
            ("update_interval", Value::Duration(1.0 / 32.0)),
        ],
    ),
    (
        "highspeed",
        &[
            ("response", Value::Choice("table")),
            ("counts", Value::Choice("acks")),
        ],
    ),
    (
        "yeah",
        &[
            ("whole_queue", Value::Bool(true)),
            ("drained_threshold", Value::Number(1.0)),
            ("min_samples", Value::Integer(3)),
            ("halves_at_timeout", Value::Bool(false)),
            ("begins_again", Value::Choice("empty_path")),
        ],
    ),
    (
        "westwood",
        &[
            ("alpha", Value::Number(0.875)),
            ("stages", Value::Integer(2)),
            ("first_interval", Value::Choice("sent")),
            ("counts", Value::Choice("expected")),
            ("set_at", Value::Choice("repair")),
        ],
    ),
    (
        "scalable",
        &[
            ("low_window", Value::Number(100.0)),
            ("low_b", Value::Number(0.125)),
            ("given_up", Value::Choice("down")),
        ],
    ),
];

#[test]
fn linuxs_parameters_are_those_that_were_measured() {
    for entry in TABLE {
        let row = MEASURED.iter().find(|(name, _)| *name == entry.name);
        let measured = row.map_or(&[][..], |(_, values)| values);
        assert_eq!(entry.new.linux, measured, "{}", entry.name);
    }
    let known = |name| TABLE.iter().any(|entry| entry.name == name);
    assert!(MEASURED.iter().all(|(name, _)| known(*name)));
}

#[test]
fn linux_3_2_has_the_values_of_linux_and_its_own_above_them() {
    let of = |algorithms: &str, name: &str, param: &str| {
        let entry = TABLE.iter().find(|entry| entry.name == name).expect("one");
        let mut params = Params::defaults(entry.params);
        entry.new.set_as_in(algorithms, &mut params);
        params.get(param)
    };
    // A step above 50 segments takes 50 acknowledgements: docs/validation/old-kernels.md.
    assert_eq!(
        of("linux-3.2", "scalable", "low_window"),
        Value::Number(50.0)
    );
    assert_eq!(of("linux-3.2", "scalable", "a"), Value::Number(1.0 / 50.0));
    assert_eq!(of("linux-3.2", "scalable", "low_b"), Value::Number(0.125));
    assert_eq!(of("linux", "scalable", "low_window"), Value::Number(100.0));
    assert_eq!(
        of("specification", "scalable", "low_window"),
        Value::Number(16.0)
    );
}
