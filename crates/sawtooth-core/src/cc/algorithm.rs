//! What a row of the table has besides its name and parameters: a constructor, what it needs of the stack, and what is known of its parameters.

use super::api::{CongestionControl, ConnectionStart};
use crate::registry::{Params, Value};

/// A row's algorithm, from which each connection makes its own.
#[derive(Clone, Copy, Debug)]
pub struct Algorithm {
    /// Makes the state of one connection from the row's parameters.
    pub new: fn(&Params, ConnectionStart) -> Box<dyn CongestionControl>,
    /// What the stack has to give it.
    pub needs: Needs,
    /// Parameters whose value in Linux's module is not the specification's: the defaults where `tcp.algorithms = "linux"`. How they were measured stands
    /// under "Kernel equivalent" at the head of the algorithm's file.
    pub linux: &'static [(&'static str, Value)],
    /// Values that differ again in Linux 3.2, for `tcp.algorithms = "linux-3.2"`: it counts acknowledgements, and makes up for
    /// delayed ones itself.
    pub linux_3_2: &'static [(&'static str, Value)],
    /// Pairs of parameters that are a lower and an upper bound of something.
    pub ordered: &'static [Ordered],
}

impl Algorithm {
    /// One that needs nothing of the stack, whose parameters are Linux's too and in any order.
    pub const fn of(new: fn(&Params, ConnectionStart) -> Box<dyn CongestionControl>) -> Self {
        Self {
            new,
            needs: Needs::NOTHING,
            linux: &[],
            linux_3_2: &[],
            ordered: &[],
        }
    }

    /// Sets `params` to what they are in the kernel that `algorithms` (of `tcp`) names, if it names one.
    pub fn set_as_in(&self, algorithms: &str, params: &mut Params) {
        let tables: &[_] = match algorithms {
            "linux" => &[self.linux],
            "linux-3.2" => &[self.linux, self.linux_3_2],
            _ => &[],
        };
        for (param, value) in tables.iter().copied().flatten() {
            params.set(param, *value);
        }
    }

    /// The first two parameters that are not in order, and the order.
    pub fn out_of_order(&self, params: &Params) -> Option<(Set, ParamOrder, Set)> {
        self.ordered.iter().find_map(|&(low, order, high)| {
            let (Value::Number(least), Value::Number(most)) = (params.get(low), params.get(high))
            else {
                // A parameter that is not set follows from others.
                return None;
            };
            let kept = match order {
                ParamOrder::Below => least < most,
                ParamOrder::AtMost => least <= most,
            };
            (!kept).then_some(((low, least), order, (high, most)))
        })
    }
}

/// What an algorithm needs of the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is set by itself")]
pub struct Needs {
    /// What it makes of Explicit Congestion Notification.
    pub ecn: EcnMode,
    /// What it makes of [`AckedData::rate`](super::AckedData::rate), which is measured only if it makes anything of it.
    pub rates: Rates,
    /// Whether every acknowledgement is announced to it, before anything is made of it
    /// ([`CongestionControl::on_arrival`](super::CongestionControl::on_arrival)).
    pub arrivals: bool,
    /// Whether it sets its window in a recovery, too, and no recovery prescribes one.
    pub rules_recovery: bool,
    /// Whether it may reduce its window without a sign of congestion ([`CongestionControl::has_backed_off`](super::CongestionControl::has_backed_off)).
    pub backs_off: bool,
    /// Whether it is told when data leave while nothing is in the path ([`CongestionControl::on_empty_path`](super::CongestionControl::on_empty_path)).
    pub empty_path: bool,
    /// For how many windows the sender's buffer has room, where it grows with them (Linux gives two, and BBR, which may double its window while losses are repaired, three).
    pub buffered_windows: u64,
}

impl Needs {
    /// As window-based algorithms do: a mark counts as a loss, and acknowledgements are all that it needs.
    pub const NOTHING: Self = Self {
        ecn: EcnMode::Classic,
        rates: Rates::Unused,
        arrivals: false,
        rules_recovery: false,
        backs_off: false,
        empty_path: false,
        buffered_windows: 2,
    };
}

/// What an algorithm makes of delivery rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rates {
    /// It does not look at them, and they are not measured for it.
    Unused,
    /// It uses them, and has a substitute where they are not measured.
    Used,
    /// Without them its window stays at a few segments.
    Needed,
}

/// How an algorithm is given marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnMode {
    /// Once per window, as of a loss (RFC 3168 §6.1.2). Only where the stack negotiates ECN.
    Classic,
    /// Of every mark, by `on_marks`, and besides that as `Classic`; packets are ECT(0) (RFC 8257).
    Every,
    /// Of every mark, in [`AckedData::marked`](super::AckedData::marked), and it decides itself when to reduce; packets are ECT(1) (RFC 9331). Without a
    /// count of marks: `Classic`.
    L4s,
}

/// What the first of two parameters has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamOrder {
    /// Below the second: at equality a curve between the two has no slope.
    Below,
    /// No more than the second: at equality what they bound is a constant, or a step.
    AtMost,
}

/// Names of a lower and an upper parameter, and what the lower one has to be.
pub(super) type Ordered = (&'static str, ParamOrder, &'static str);

/// A parameter's name and value.
pub type Set = (&'static str, f64);
