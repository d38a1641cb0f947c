//! Connections of TCP: those that are there, and those that arrive and leave.

use super::direction::Direction;
use super::part::Part;
use crate::arrivals::{Arrivals, FullSegment};
use crate::cc;
use crate::registry::{Entry, FromValue, ParamKey, Params, Value, near_and_known};
use crate::source::{self, Source};
use crate::tcp::pacer::PacedFlows;
use crate::tcp::params::Feedback;
use crate::tcp::{self, key};
use crate::units::{ByteCount, Duration, Instant, Rate};

/// One connection: its data crosses links by one of their sides, acknowledgements cross the same links by the other.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSpec {
    /// By which the rows of records name it. Its random numbers depend on it too.
    pub name: String,
    /// Indices into the scenario's links.
    pub path: Vec<usize>,
    /// Which way its data crosses them.
    pub direction: Direction,
    /// A row of [`tables::CC`](crate::tables::CC).
    pub cc: Part,
    /// The congestion control of the running kernel that is wanted instead, written `kernel:NAME`. Simulators have none.
    pub kernel_cc: Option<String>,
    /// The receiver's, by its name in the kernel: that of requests. It decides nothing as long as only the other side sends data.
    pub receiver_cc: String,
    /// Those of [`tables::TCP`](crate::tables::TCP).
    pub tcp: Params,
    /// Those of `tcp`, as far as a kernel can be told them, that the scenario sets itself; what a stack says of them is about the simulator's TCP.
    pub given: Vec<&'static str>,
    /// What the application does: a row of [`tables::SOURCE`](crate::tables::SOURCE).
    pub source: Part,
    /// When its application opens the connection.
    pub start: Instant,
    /// What its packets take between its hosts and the links of its path, each way.
    pub delay: Duration,
    /// The index of the scenario's host that sends its data; without one, sending takes no time.
    pub host: Option<usize>,
    /// The index of the host that takes its data; without one, taking them takes no time.
    pub receiver_host: Option<usize>,
}

impl FlowSpec {
    /// A transfer without end from the start of the run, by standard TCP.
    pub fn new(name: impl Into<String>, path: Vec<usize>) -> Self {
        Self {
            name: name.into(),
            path,
            direction: Direction::Forward,
            cc: Part::of(&cc::TABLE[0]),
            kernel_cc: None,
            receiver_cc: cc::TABLE[0].name.to_owned(),
            tcp: Params::defaults(tcp::PARAMS),
            given: Vec::new(),
            source: Part::of(&source::TABLE[0]),
            start: Instant::default(),
            delay: Duration::default(),
            host: None,
            receiver_host: None,
        }
    }

    /// The same by the TCP of a [stack](crate::tables::STACKS), whose congestion controls it has as that stack does: parameters of `cc` that were set before are those of the stack afterwards.
    ///
    /// # Panics
    /// If there is no stack of that name.
    #[must_use]
    #[track_caller]
    pub fn with_stack(mut self, name: &str) -> Self {
        let Some(stack) = tcp::STACKS.iter().find(|stack| stack.name == name) else {
            let known = tcp::STACKS.iter().map(|stack| stack.name);
            panic!("unknown stack `{name}`; {}", near_and_known(name, known));
        };
        self.tcp = stack.params();
        let cc = self.cc.name;
        self.with_cc(cc)
    }

    /// The same with a [congestion control](crate::tables::CC), its parameters as the stack has them and with the feedback of marks that it needs.
    ///
    /// # Panics
    /// If there is none of that name.
    #[must_use]
    #[track_caller]
    pub fn with_cc(mut self, name: &str) -> Self {
        let Some(entry) = cc::TABLE.iter().find(|entry| entry.name == name) else {
            let hint = near_and_known(name, cc::TABLE.iter().map(|entry| entry.name));
            panic!("unknown congestion control `{name}`; {hint}");
        };
        self.cc = Part {
            name: entry.name,
            params: cc_defaults(entry, &self.tcp),
        };
        set_needed_feedback(&self.cc, &mut self.tcp);
        self
    }

    /// Whether it has the same of another flow, unchanged, in all but its name, its path and its times, so that what follows from the rest holds for both.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let same = |one: &Part, other: &Part| {
            one.name == other.name && one.params.is_copy_of(&other.params)
        };
        self.tcp.is_copy_of(&other.tcp)
            && same(&self.cc, &other.cc)
            && same(&self.source, &other.source)
            && self.host.is_some() == other.host.is_some()
    }

    /// Whether it takes any time from its hosts to the links.
    pub fn has_access_delay(&self) -> bool {
        self.delay.secs() > 0.0
    }

    /// The sender's congestion control by the name it has in Linux.
    pub fn cc_in_kernel(&self) -> &str {
        self.kernel_cc.as_deref().unwrap_or(self.cc.name)
    }

    /// The value of a key of `tcp` that is set in a kernel, if the scenario gives one.
    pub(crate) fn given<T: FromValue>(&self, key: ParamKey<T>) -> Option<T> {
        self.given.contains(&key.name).then(|| key.of(&self.tcp))
    }

    /// The same of whichever key.
    pub(crate) fn given_value(&self, name: &str) -> Option<Value> {
        self.given.contains(&name).then(|| self.tcp.get(name))
    }

    /// What it has to send, as far as that can be known; nothing for an endless flow.
    pub fn size(&self) -> Option<ByteCount> {
        self.source(0).total_bytes()
    }

    /// Whether all that it sends answers acknowledgements: it is not paced, and its application has written everything at the start.
    pub(crate) fn is_ack_clocked(&self) -> bool {
        let paced = match key::pacing.of(&self.tcp) {
            PacedFlows::Never => false,
            PacedFlows::Algorithm => cc::named(self.cc.name).needs.rates != cc::Rates::Unused,
            PacedFlows::Always => true,
        };
        let at_once = self.source.name == source::TABLE[0].name;
        at_once && !paced && key::max_pacing_rate.of(&self.tcp).is_none()
    }

    /// What the application does; its random numbers depend on `seed` and the flow's name alone.
    pub(crate) fn source(&self, seed: u64) -> Box<dyn Source> {
        source::build(self.source.name, &self.source.params, seed, &self.name)
    }
}

/// The parameters of a congestion control, as specified, or as the kernel has them whose stack `tcp` is of.
pub(crate) fn cc_defaults(entry: &'static Entry<cc::Algorithm>, tcp: &Params) -> Params {
    let mut params = Params::defaults(entry.params);
    let algorithms = key::algorithms.of(tcp).word();
    entry.new.set_as_in(algorithms, &mut params);
    params
}

/// An algorithm that lives on marks brings the feedback that it needs, as `dctcp` does in Linux.
pub(crate) fn set_needed_feedback(cc: &Part, tcp: &mut Params) {
    let feedback = match cc::named(cc.name).needs.ecn {
        cc::EcnMode::Classic => return,
        cc::EcnMode::Every => Feedback::Dctcp,
        cc::EcnMode::L4s => Feedback::Accurate,
    };
    tcp.set(key::ecn.name, Value::Choice(feedback.word()));
}

/// Connections that arrive one after the other, each to transfer some bytes and leave. Its `flow` is what they have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrivingSpec {
    /// What all of them have in common: path, parameters, name; their names are this one and a number.
    pub flow: FlowSpec,
    /// When they arrive, and how much each transfers.
    pub arrivals: Arrivals,
}

impl ArrivingSpec {
    /// A segment of its flows as large as it can be.
    pub(crate) fn full_segment(&self) -> FullSegment {
        let config = tcp::Config::from(&self.flow.tcp);
        FullSegment {
            smss: config.smss,
            header: config.header,
        }
    }

    /// What they offer to the links of their path.
    pub fn offered(&self) -> Rate {
        self.arrivals.offered(self.full_segment())
    }

    /// Segments that will be delivered within `duration`, roughly.
    pub(crate) fn segments(&self, duration: Duration) -> f64 {
        let mean = self.arrivals.mean_bytes().min(1e9);
        // With what opens and closes them.
        let each = mean / self.full_segment().smss.as_f64() + 4.0;
        self.arrivals.expected(Instant::START + duration) * each
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(
        expected = "unknown congestion control `cubik`; did you mean `cubic`? known are reno, cubic, "
    )]
    fn a_congestion_control_that_is_not_there_is_told_with_what_is_near() {
        let _ = FlowSpec::new("one", vec![0]).with_cc("cubik");
    }

    #[test]
    #[should_panic(expected = "unknown stack `linix`; did you mean `linux`? known are ")]
    fn a_stack_that_is_not_there_is_told_with_what_is_near() {
        let _ = FlowSpec::new("one", vec![0]).with_stack("linix");
    }
}
