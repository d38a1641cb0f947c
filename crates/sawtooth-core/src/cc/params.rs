//! Parameters, and kinds of parameters, that several algorithms have.

use crate::registry::{Kind, Param, Params, Value, param};

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

/// Alternative Backoff with ECN (RFC 8511): a mark comes from a queue that is kept short, and takes less of the window than a loss.
pub(super) const BETA_ECN: Param = param!(beta_ecn: Kind::Number { min: 0.01, max: 0.99 } => Value::None,
    "the window is multiplied by this at a mark in congestion avoidance (ABE, RFC 8511: 0.8, or 0.85 for CUBIC); `none`: as at a loss");

/// The value of [`BETA_ECN`].
pub(super) fn beta_ecn(params: &Params) -> Option<f64> {
    params.number_if_any(BETA_ECN.name)
}

/// A struct of parameters, each of which is read by its name as its type says: times in seconds, rates in bits per second.
macro_rules! parameters {
    ($(#[$doc:meta])* $vis:vis struct $name:ident { $($param:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        $vis struct $name {
            $($vis $param: $type,)*
        }

        impl From<&$crate::registry::Params> for $name {
            fn from(params: &$crate::registry::Params) -> Self {
                Self {
                    $($param: $crate::registry::Key::new(stringify!($param)).of(params),)*
                }
            }
        }
    };
}

pub(super) use parameters;

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
            rtt: f64,
            losses: u64,
            fast: bool,
            share: Option<f64>,
        }
    }

    #[test]
    fn a_struct_of_parameters_reads_each_by_its_name() {
        const ROWS: &[Param] = &[
            param!(losses: COUNT => Value::Integer(3), ""),
            param!(rtt: TIME => Value::Duration(0.1), ""),
            param!(share: SHARE => Value::None, ""),
            param!(fast: Kind::Bool => Value::Bool(true), ""),
        ];
        let some = Some::from(&Params::defaults(ROWS));
        assert_eq!((some.rtt, some.losses), (0.1, 3));
        assert_eq!((some.fast, some.share), (true, None));
    }
}
