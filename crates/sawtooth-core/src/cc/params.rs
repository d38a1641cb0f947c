//! Parameters, and kinds of parameters, that several algorithms have.

use crate::registry::{Kind, Param, Params, Value, Words, param, words};

/// What a window is multiplied by, or the share of it that is given up.
pub(super) const FACTOR: Kind = Kind::Number {
    min: 0.01,
    max: 0.99,
};

/// A share that may be nothing or all.
pub(super) const SHARE: Kind = Kind::Number { min: 0.0, max: 1.0 };

/// A small number of things, one at least.
pub(super) const COUNT: Kind = Kind::Integer { min: 1, max: 1000 };

/// A time above zero.
pub(super) const TIME: Kind = Kind::Duration {
    min_exclusive: true,
};

/// A time, or zero.
pub(super) const TIME_FROM_ZERO: Kind = Kind::Duration {
    min_exclusive: false,
};

/// Multiplicative decrease (RFC 5681 equation 4).
pub(super) const BETA: Param = param!(beta: FACTOR => Value::Number(0.5),
    "the window is multiplied by this at a loss");

/// As CUBIC and BIC have it (RFC 9438 §4.7).
pub(super) const FAST_CONVERGENCE: Param = param!(fast_convergence: Kind::Bool => Value::Bool(true),
    "whether a flow whose window falls from loss to loss gives up more of it");

words! {
    /// What lets the window grow while segments are reported to have arrived out of order.
    pub(super) enum InDisorder {
        /// The algorithm.
        Own = "own",
        /// Standard TCP (RFC 5681 §3.1), and the algorithm begins to measure anew afterwards.
        Standard = "standard",
    }
}

words! {
    /// When sending begins again.
    pub(super) enum BeginsAgain {
        /// After an idle time.
        Idle = "idle",
        /// Whenever data leave while nothing is in the path. Measured of Linux 6.1: so it is with a window of two segments that one acknowledgement is for.
        EmptyPath = "empty_path",
    }
}

pub(super) const BEGINS_AGAIN: Param = param!(begins_again: Kind::Choice(BeginsAgain::WORDS) => Value::Choice(BeginsAgain::Idle.word()),
    "when sending begins again, and what was measured of time before does not count: after an idle time, or whenever data leave while nothing is in the path");

pub(super) const IN_DISORDER: Param = param!(in_disorder: Kind::Choice(InDisorder::WORDS) => Value::Choice(InDisorder::Own.word()),
    "what lets the window grow while segments are reported to have arrived out of order: the algorithm, or standard TCP");

/// Alternative Backoff with ECN (RFC 8511): a mark comes from a queue that is kept short, and takes less of the window than a loss.
pub(super) const BETA_ECN: Param = param!(beta_ecn: Kind::Number { min: 0.01, max: 0.99 } => Value::None,
    "the window is multiplied by this at a mark in congestion avoidance (ABE, RFC 8511: 0.8, or 0.85 for CUBIC); `none`: as at a loss");

/// The value of [`BETA_ECN`].
pub(super) fn beta_ecn(params: &Params) -> Option<f64> {
    params.number_if_any(BETA_ECN.name)
}

/// The parameters of an algorithm, each written once: its name, its type in code (times in seconds, rates in bits per second), and what [`param!`] has of it
/// or the constant of one that others have, too.
///
/// ```text
/// parameters! {
///     struct Rules {
///         gain: f64 = SHARE => Value::Number(0.1), "weight of the latest sample";
///         beta: f64 = BETA;
///     }
/// }
/// ```
///
/// makes the struct, which is read of a study's values, and `Rules::PARAMS`, the rows of the table.
macro_rules! parameters {
    ($(#[$doc:meta])* $vis:vis struct $name:ident { $($param:ident: $type:ty = $kind:expr $(=> $default:expr, $summary:literal)?;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        $vis struct $name {
            $($vis $param: $type,)*
        }

        impl $name {
            /// Its rows, in the order in which they are documented.
            $vis const PARAMS: &[$crate::registry::Param] = &[
                $($crate::cc::params::row!($param, $kind $(, $default, $summary)?),)*
            ];
        }

        impl From<&$crate::registry::Params> for $name {
            fn from(params: &$crate::registry::Params) -> Self {
                Self {
                    $($param: $crate::registry::ParamKey::new(stringify!($param)).of(params),)*
                }
            }
        }
    };
}

/// One row of [`parameters!`].
macro_rules! row {
    ($name:ident, $kind:expr, $default:expr, $summary:literal) => {
        $crate::registry::param!($name: $kind => $default, $summary)
    };
    ($name:ident, $shared:expr) => {
        $shared
    };
}

pub(super) use {parameters, row};

/// Concatenates the lists; `N` is the total length.
pub(super) const fn joined<const N: usize>(lists: &[&[Param]]) -> [Param; N] {
    let mut all = [BETA; N];
    let (mut list, mut filled) = (0, 0);
    while list < lists.len() {
        let mut each = 0;
        while each < lists[list].len() {
            all[filled] = lists[list][each];
            filled += 1;
            each += 1;
        }
        list += 1;
    }
    assert!(filled == N, "all of them");
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    parameters! {
        struct Some {
            losses: u64 = COUNT => Value::Integer(3), "";
            rtt: f64 = TIME => Value::Duration(0.1), "";
            share: Option<f64> = SHARE => Value::None, "";
            fast_convergence: bool = FAST_CONVERGENCE;
        }
    }

    #[test]
    fn a_struct_of_parameters_has_their_rows_and_reads_each_by_its_name() {
        let some = Some::from(&Params::defaults(Some::PARAMS));
        assert_eq!((some.rtt, some.losses), (0.1, 3));
        assert_eq!((some.fast_convergence, some.share), (true, None));
    }
}
