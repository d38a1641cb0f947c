//! Tables of the parts a study can name, their parameters, and look-up by name.

pub(crate) mod key;
pub(crate) mod words;

pub(crate) use key::{FromValue, ParamKey};
pub(crate) use words::{Words, words};

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What a parameter's value may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A plain number within bounds, both included.
    Number {
        /// The least value.
        min: f64,
        /// The largest value.
        max: f64,
    },
    /// A plain whole number within bounds, both included.
    Integer {
        /// The least value.
        min: i64,
        /// The largest value.
        max: i64,
    },
    /// A time; zero is allowed unless `min_exclusive`.
    Duration {
        /// Whether it has to be above zero.
        min_exclusive: bool,
    },
    /// A time above zero after which something happens again and again, whatever else does.
    Period,
    /// A rate above zero.
    Rate,
    /// A rate, or zero.
    RateFromZero,
    /// A rate, or a number of packets (whole or not) per something; zero or above.
    RateOrPackets,
    /// A number of bytes above zero.
    Bytes,
    /// A number of packets above zero.
    Packets,
    /// Packets or bytes, above zero.
    PacketsOrBytes,
    /// Packets, bytes or bandwidth-delay products of its link, above zero.
    QueueSize,
    /// True or false.
    Bool,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A quantity of a unit, or a distribution of such quantities.
    Distribution(Unit),
    /// Of a distribution: a quantity above zero, of whatever is drawn.
    Drawn,
}

/// What a distribution is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds; if there is one alone, zero is allowed unless `min_exclusive`.
    Time {
        /// Whether a single one has to be above zero.
        min_exclusive: bool,
    },
    /// Whole bytes, at least one.
    Bytes,
}

/// A parameter's value. Times are seconds, rates bits per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A plain number, without a unit.
    Number(f64),
    /// A plain whole number.
    Integer(i64),
    /// A time, seconds.
    Duration(f64),
    /// A rate, bits per second.
    Rate(f64),
    /// A size in bytes.
    Bytes(u64),
    /// A number of packets, or of segments.
    Packets(u64),
    /// Bandwidth-delay products of a link; the scenario turns them into bytes.
    Bdp(f64),
    /// True or false.
    Bool(bool),
    /// One of the words of its [`Kind::Choice`].
    Choice(&'static str),
    /// A distribution, which [`Params::distribution`] returns.
    Distribution,
    /// Exponentially distributed with this mean, in seconds or bytes: a default.
    Exponential(f64),
    /// Written `none`; only where the default is.
    None,
}

/// A distribution as a scenario names it: a row of [`tables::DISTRIBUTION`](crate::tables::DISTRIBUTION) with its resolved parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct DistributionSpec {
    /// The row's name in that table.
    pub name: &'static str,
    /// A value for each of the row's parameters.
    pub params: Params,
    /// Of one that is given by points: values and cumulative probabilities.
    pub points: Vec<(f64, f64)>,
}

/// One parameter: the only place its default is written.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// As a study writes it.
    pub name: &'static str,
    /// Its meaning, in one sentence.
    pub summary: &'static str,
    /// What its value may be.
    pub kind: Kind,
    /// Its value where a study says nothing.
    pub default: Value,
}

/// One parameter in two lines: its name, what it takes, its default and its meaning.
///
/// ```text
/// param!(beta: FACTOR => Value::Number(0.5),
///     "the window is multiplied by this at a loss")
/// ```
macro_rules! param {
    ($name:ident: $kind:expr => $default:expr, $summary:expr) => {
        $crate::registry::Param {
            name: stringify!($name),
            summary: $summary,
            kind: $kind,
            default: $default,
        }
    };
}
pub(crate) use param;

/// One row of a table.
#[derive(Clone, Copy, Debug)]
pub struct Entry<C: 'static = ()> {
    /// As a study writes it; no other row of its table has it.
    pub name: &'static str,
    /// What it is or does, in one sentence.
    pub summary: &'static str,
    /// What specifies it: RFCs with their sections, drafts, papers.
    pub specification: &'static [&'static str],
    /// Its parameters, in the order in which they are documented.
    pub params: &'static [Param],
    /// Its constructor; [tables](crate::tables) that other programs see have none.
    pub new: C,
}

impl<C> Entry<C> {
    /// The same without its constructor.
    pub(crate) const fn told(&self) -> Entry {
        Entry {
            name: self.name,
            summary: self.summary,
            specification: self.specification,
            params: self.params,
            new: (),
        }
    }
}

/// Resolved values of a row's parameters.
///
/// Flows that are alike have the same ones, so copies are one list until one of them is changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Params(Arc<ResolvedParams>);

#[derive(Clone, Debug, PartialEq)]
struct ResolvedParams {
    values: Vec<(&'static str, Value)>,
    distributions: Vec<(&'static str, DistributionSpec)>,
    next: NextPlace,
}

/// The place behind that at which a value was found last: values are mostly asked for in the order of their table, for each of very many flows. It is no part of them.
#[derive(Debug, Default)]
struct NextPlace(AtomicUsize);

impl Clone for NextPlace {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for NextPlace {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Params {
    /// All defaults.
    pub fn defaults(params: &[Param]) -> Self {
        let values = params.iter().map(|param| (param.name, param.default));
        Self(Arc::new(ResolvedParams {
            values: values.collect(),
            distributions: Vec::new(),
            next: NextPlace::default(),
        }))
    }

    /// Sets a value.
    ///
    /// # Panics
    /// If there is no such parameter: a programming error, here and in all getters.
    #[track_caller]
    pub fn set(&mut self, name: &str, value: Value) {
        let Some(at) = self.position(name) else {
            panic!("no parameter `{name}`; {}", self.near_and_known(name));
        };
        if self.0.values[at].1 != value {
            Arc::make_mut(&mut self.0).values[at].1 = value;
        }
    }

    /// What there is instead of a parameter that there is not.
    pub(crate) fn near_and_known(&self, name: &str) -> String {
        near_and_known(name, self.0.values.iter().map(|(known, _)| *known))
    }

    /// Times after which something happens again, of those in `table` that are such.
    pub fn periods(
        &self,
        table: &'static [Param],
    ) -> impl Iterator<Item = (&'static str, f64)> + use<'_> {
        let recurring = table.iter().filter(|param| param.kind == Kind::Period);
        recurring.filter_map(|param| match self.find(param.name) {
            Some(Value::Duration(secs)) => Some((param.name, secs)),
            _ => None,
        })
    }

    /// All names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Value)> {
        self.0.values.iter().copied()
    }

    /// Sets a value to a distribution.
    #[track_caller]
    pub fn set_distribution(&mut self, name: &'static str, spec: DistributionSpec) {
        self.set(name, Value::Distribution);
        let distributions = &mut Arc::make_mut(&mut self.0).distributions;
        distributions.retain(|(known, _)| *known != name);
        distributions.push((name, spec));
    }

    /// The distribution of a parameter whose value is one.
    #[track_caller]
    pub fn distribution(&self, name: &str) -> &DistributionSpec {
        let Some(found) = self.find_distribution(name) else {
            panic!("{name} is no distribution");
        };
        found
    }

    /// The same of a parameter that has perhaps only been said to be one.
    pub(crate) fn find_distribution(&self, name: &str) -> Option<&DistributionSpec> {
        let slot = self
            .0
            .distributions
            .iter()
            .find(|(known, _)| *known == name);
        slot.map(|(_, spec)| spec)
    }

    /// The value of a parameter that not all rows have.
    pub fn find(&self, name: &str) -> Option<Value> {
        self.position(name).map(|at| self.0.values[at].1)
    }

    fn position(&self, name: &str) -> Option<usize> {
        let ResolvedParams { values, next, .. } = &*self.0;
        let at = next.0.load(Relaxed);
        let is_next = values.get(at).is_some_and(|(known, _)| same(known, name));
        let mut names = values.iter().map(|(known, _)| *known);
        let found = if is_next {
            at
        } else {
            names.position(|known| known == name)?
        };
        next.0.store(found + 1, Relaxed);
        Some(found)
    }

    /// Whether these are copies of one list that nobody has changed since: what is found out of one holds for the other.
    pub(crate) fn is_copy_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The value of a parameter, of whichever kind.
    #[track_caller]
    pub fn get(&self, name: &str) -> Value {
        let Some(value) = self.find(name) else {
            panic!("no parameter `{name}`; {}", self.near_and_known(name));
        };
        value
    }

    /// The same of one that is probably at this place of its table.
    #[track_caller]
    pub(crate) fn get_near(&self, name: &str, place: usize) -> Value {
        match self.0.values.get(place) {
            Some((known, value)) if same(known, name) => *value,
            _ => self.get(name),
        }
    }

    /// A plain number, without a unit.
    #[track_caller]
    pub fn number(&self, name: &str) -> f64 {
        match self.get(name) {
            Value::Number(value) => value,
            other => panic!("{name} is {other:?}, not a number"),
        }
    }

    /// A number, unless it is `none`.
    #[track_caller]
    pub fn number_if_any(&self, name: &str) -> Option<f64> {
        match self.get(name) {
            Value::Number(value) => Some(value),
            _ => None,
        }
    }

    /// A plain whole number.
    #[track_caller]
    pub fn integer(&self, name: &str) -> i64 {
        match self.get(name) {
            Value::Integer(value) => value,
            other => panic!("{name} is {other:?}, not an integer"),
        }
    }

    /// Seconds.
    #[track_caller]
    pub fn duration(&self, name: &str) -> f64 {
        match self.get(name) {
            Value::Duration(value) => value,
            other => panic!("{name} is {other:?}, not a duration"),
        }
    }

    /// A size in bytes.
    #[track_caller]
    pub fn bytes(&self, name: &str) -> u64 {
        match self.get(name) {
            Value::Bytes(value) => value,
            other => panic!("{name} is {other:?}, not bytes"),
        }
    }

    /// True or false.
    #[track_caller]
    pub fn flag(&self, name: &str) -> bool {
        match self.get(name) {
            Value::Bool(value) => value,
            other => panic!("{name} is {other:?}, not a flag"),
        }
    }

    /// The word that was chosen.
    #[track_caller]
    pub fn choice(&self, name: &str) -> &'static str {
        match self.get(name) {
            Value::Choice(value) => value,
            other => panic!("{name} is {other:?}, not a choice"),
        }
    }
}

/// Whether two names are the same; mostly they are one text, which needs no reading.
fn same(known: &str, name: &str) -> bool {
    std::ptr::eq(known, name) || known == name
}

/// The name among `known` that `name` was probably meant to be.
pub(crate) fn suggest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = name.to_lowercase();
    known
        .into_iter()
        .map(|candidate| {
            (
                strsim::osa_distance(&lower, &candidate.to_lowercase()),
                candidate,
            )
        })
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len().min(name.len()) / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// What to do about a name that is none of those `known`: the one that was probably meant, and all there are.
pub(crate) fn near_and_known<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str> + Clone,
) -> String {
    let all: Vec<&str> = known.clone().into_iter().collect();
    let all = match all[..] {
        [] => "there are none".to_owned(),
        _ => format!("known are {}", all.join(", ")),
    };
    match suggest(name, known) {
        Some(near) => format!("did you mean `{near}`? {all}"),
        None => all,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RED: &[Param] = &[
        param!(limit: Kind::QueueSize => Value::Packets(100), "how much waits"),
        param!(min_th: Kind::PacketsOrBytes => Value::Packets(5), "where marks begin"),
    ];

    #[test]
    #[should_panic(
        expected = "no parameter `limitt`; did you mean `limit`? known are limit, min_th"
    )]
    fn a_parameter_that_is_not_there_is_not_set() {
        Params::defaults(RED).set("limitt", Value::Packets(1));
    }

    #[test]
    #[should_panic(expected = "no parameter `ecn`; known are limit, min_th")]
    fn a_parameter_that_is_not_there_has_no_value() {
        Params::defaults(RED).flag("ecn");
    }

    #[test]
    #[should_panic(expected = "no parameter `limit`; there are none")]
    fn what_has_no_parameters_says_so() {
        Params::defaults(&[]).get("limit");
    }

    #[test]
    fn a_slip_of_the_pen_is_recognised_and_a_stranger_is_not() {
        let known = ["reno", "cubic", "highspeed"];
        assert_eq!(suggest("cubik", known), Some("cubic"));
        assert_eq!(suggest("HighSpeed", known), Some("highspeed"));
        assert_eq!(suggest("quic-over-carrier-pigeon", known), None);
    }
}
