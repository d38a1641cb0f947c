//! What modules of Linux have otherwise than the specifications of their algorithms.

use crate::registry::{Params, Value};

/// Values of parameters, by the algorithm's name.
type Table = &'static [(&'static str, &'static [(&'static str, Value)])];

/// Parameters that modules of Linux have otherwise than the specification, by the algorithm's name: the defaults where
/// `tcp.algorithms = "linux"`. Each algorithm's file says under "Kernel equivalent" how they were measured.
const LINUX: Table = &[
    (
        "cubic",
        &[
            ("beta", Value::Number(717.0 / 1024.0)),
            ("target_rtt", Value::Choice("min")),
            ("app_limited", Value::Choice("counts")),
            ("w_est_alpha", Value::Choice("rfc8312")),
            ("whole_target", Value::Bool(true)),
            ("update_interval", Value::Duration(1.0 / 32.0)),
            ("first_growth", Value::Number(20.0)),
            ("hystart_train_slack", Value::Duration(0.001)),
            ("hystart_decides", Value::Choice("next")),
        ],
    ),
    (
        "hybla",
        &[
            ("start_window", Value::Number(1.0)),
            ("counts", Value::Choice("acks")),
            ("rho_steps", Value::Number(8.0)),
            ("grain", Value::Number(128.0)),
        ],
    ),
    (
        "htcp",
        &[
            ("rtts", Value::Choice("ticks")),
            ("steady_losses", Value::Integer(3)),
        ],
    ),
    ("illinois", &[("w_thresh", Value::Number(15.0))]),
    ("veno", &[("forget_base_rtt", Value::Bool(false))]),
    (
        "vegas",
        &[
            ("slow_start_rounds", Value::Integer(1)),
            ("diff_over", Value::Choice("rtt")),
        ],
    ),
    ("lp", &[("delta", Value::Number(1.0))]),
    ("nv", &[("dec_mult", Value::Number(38.0 / 128.0))]),
    (
        "bbr",
        &[
            ("even_windows", Value::Bool(true)),
            ("extra_acked_gain", Value::Number(1.0)),
        ],
    ),
    (
        "cdg",
        &[
            ("slow_start", Value::Choice("hystart")),
            ("loss_tolerance", Value::Bool(false)),
        ],
    ),
    (
        "bic",
        &[
            ("s_max", Value::Number(16.0)),
            ("beta", Value::Number(205.0 / 1024.0)),
            ("search", Value::Number(4.0)),
            ("smooth", Value::Number(20.0)),
            ("beyond", Value::Choice("mirror")),
            ("ack_ratio", Value::Number(2.0)),
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
        "westwood",
        &[
            ("alpha", Value::Number(0.875)),
            ("stages", Value::Integer(2)),
            ("first_interval", Value::Choice("sent")),
            ("counts", Value::Choice("duplicates")),
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

/// What modules of Linux 3.2 have otherwise than those of [`LINUX`], where `tcp.algorithms = "linux-3.2"`: they count acknowledgements, and make up for
/// delayed ones themselves. The algorithms' files say under "Kernel equivalent" from what that is known.
const LINUX_3_2: Table = &[
    (
        "cubic",
        &[
            ("ack_ratio", Value::Number(2.0)),
            ("hystart_train_slack", Value::Duration(0.0)),
        ],
    ),
    (
        "scalable",
        &[
            ("a", Value::Number(0.02)),
            ("low_window", Value::Number(50.0)),
        ],
    ),
];

/// Sets the parameters of the algorithm called `name` to what they are in the kernel that `algorithms` (of `tcp`) names, if it names one.
pub fn set_as_in_linux(params: &mut Params, algorithms: &str, name: &str) {
    let tables: &[Table] = match algorithms {
        "linux" => &[LINUX],
        "linux-3.2" => &[LINUX, LINUX_3_2],
        _ => &[],
    };
    let rows = tables.iter().flat_map(|table| table.iter());
    for (param, value) in rows
        .filter(|(own, _)| *own == name)
        .flat_map(|(_, values)| *values)
    {
        params.set(param, *value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::TABLE;

    /// What each algorithm's file says under "Kernel equivalent" to have been measured of Linux 6.1, or of its module in ns-2.35's Linux agent.
    const MEASURED: Table = &[
        (
            "cubic",
            &[
                ("beta", Value::Number(0.700_195_312_5)),
                ("target_rtt", Value::Choice("min")),
                ("app_limited", Value::Choice("counts")),
                ("w_est_alpha", Value::Choice("rfc8312")),
                ("whole_target", Value::Bool(true)),
                ("update_interval", Value::Duration(0.031_25)),
                ("first_growth", Value::Number(20.0)),
                ("hystart_train_slack", Value::Duration(0.001)),
                ("hystart_decides", Value::Choice("next")),
            ],
        ),
        (
            "hybla",
            &[
                ("start_window", Value::Number(1.0)),
                ("counts", Value::Choice("acks")),
                ("rho_steps", Value::Number(8.0)),
                ("grain", Value::Number(128.0)),
            ],
        ),
        (
            "htcp",
            &[
                ("rtts", Value::Choice("ticks")),
                ("steady_losses", Value::Integer(3)),
            ],
        ),
        ("illinois", &[("w_thresh", Value::Number(15.0))]),
        ("veno", &[("forget_base_rtt", Value::Bool(false))]),
        (
            "vegas",
            &[
                ("slow_start_rounds", Value::Integer(1)),
                ("diff_over", Value::Choice("rtt")),
            ],
        ),
        ("lp", &[("delta", Value::Number(1.0))]),
        ("nv", &[("dec_mult", Value::Number(0.296_875))]),
        (
            "bbr",
            &[
                ("even_windows", Value::Bool(true)),
                ("extra_acked_gain", Value::Number(1.0)),
            ],
        ),
        (
            "cdg",
            &[
                ("slow_start", Value::Choice("hystart")),
                ("loss_tolerance", Value::Bool(false)),
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
            "westwood",
            &[
                ("alpha", Value::Number(0.875)),
                ("stages", Value::Integer(2)),
                ("first_interval", Value::Choice("sent")),
                ("counts", Value::Choice("duplicates")),
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
        assert_eq!(LINUX, MEASURED);
    }

    #[test]
    fn linux_3_2_has_the_values_of_linux_and_its_own_above_them() {
        let of = |algorithms: &str, name: &str, param: &str| {
            let entry = TABLE.iter().find(|entry| entry.name == name).expect("one");
            let mut params = Params::defaults(entry.params);
            set_as_in_linux(&mut params, algorithms, name);
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
}
