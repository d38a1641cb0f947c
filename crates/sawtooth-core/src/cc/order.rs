//! Which parameters of algorithms are a lower and an upper bound of something, and so in order.

use crate::registry::{Params, Value};

/// What the first of two parameters has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Below the second: at equality a curve between the two has no slope.
    Below,
    /// No more than the second: at equality what they bound is a constant, or a step.
    AtMost,
}

/// Names of a lower and an upper parameter.
type Pair = (&'static str, &'static str);

/// Parameters in order, by the algorithm's name.
const ORDERED: &[(&str, Order, &[Pair])] = &[
    (
        "highspeed",
        Order::Below,
        &[("low_window", "high_window"), ("high_p", "low_p")],
    ),
    ("bic", Order::AtMost, &[("s_min", "s_max")]),
    (
        "illinois",
        Order::AtMost,
        &[
            ("alpha_min", "alpha_max"),
            ("beta_min", "beta_max"),
            ("eta_1", "eta_2"),
            ("eta_2", "eta_3"),
        ],
    ),
    (
        "htcp",
        Order::AtMost,
        &[("beta_min", "beta_max"), ("rtt_scale_min", "rtt_scale_max")],
    ),
];

/// A parameter's name and value.
pub type Set = (&'static str, f64);

/// The first two parameters of an algorithm that are not in order, and the order.
pub fn out_of_order(name: &str, params: &Params) -> Option<(Set, Order, Set)> {
    let (_, order, pairs) = ORDERED.iter().find(|(known, ..)| *known == name)?;
    pairs.iter().find_map(|(low, high)| {
        let (Value::Number(least), Value::Number(most)) = (params.get(low), params.get(high))
        else {
            // Not set, it follows from others.
            return None;
        };
        let kept = match order {
            Order::Below => least < most,
            Order::AtMost => least <= most,
        };
        (!kept).then_some(((*low, least), *order, (*high, most)))
    })
}
