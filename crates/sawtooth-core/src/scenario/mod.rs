//! A scenario: links, flows, duration and sampling, fully resolved; and how it is made from a tree.
//!
//! The tree is what a study file says after substitution: see `docs/reference/scenario.md`. Every number may be a quantity or an
//! expression over `vars`, and `i` (1 to `count`) where something is repeated. Errors carry the path of the offending value and,
//! within an expression, the place in its text.

mod bdp;
mod check;
mod context;
mod demand;
mod distribution;
mod error;
mod flows;
mod for_kernel;
mod groups;
mod hosts;
mod kernel;
pub mod keys;
mod kind;
mod limits;
mod links;
mod params;
mod part;
mod recording;
mod shortcuts;
#[cfg(test)]
mod tests;
mod value;
mod vars;
mod warnings;

use serde_json::Value as Json;

use self::context::Context;
pub use self::demand::Demand;
pub use self::error::{Result, ScenarioError};
use self::error::{at, at_key};
pub use self::limits::limits_of;
pub use self::recording::{Recording, Stretch};
use self::value::{check_keys, object, positive_time};
use self::vars::Vars;
pub use self::vars::evaluate_over;
use crate::arrivals::Arrivals;
use crate::impair::{Conditions, Forwarding, Impairments, Medium};
use crate::kernel::Kernel;
use crate::limits::Limits;
use crate::loss::LossSpec;
use crate::packet_source::{self, PacketSource};
use crate::registry::{Entry, Params, Value};
use crate::source;
use crate::units::{Duration, Instant, Rate};

/// One specified experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    pub duration: Duration,
    pub sample: Sampling,
    pub record: Recording,
    pub links: Vec<LinkSpec>,
    /// Connections of TCP.
    pub flows: Vec<FlowSpec>,
    /// Flows that arrive and leave.
    pub arriving: Vec<ArrivingSpec>,
    /// Flows of UDP, in a list of their own: nothing of what is said about connections holds for them.
    pub udp: Vec<UdpSpec>,
    /// Machines; flows without one have ends that take no time.
    pub hosts: Vec<HostSpec>,
    pub kernel: Kernel,
    pub shortcuts: Shortcuts,
    pub limits: Limits,
}

/// When the time series take a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sampling {
    Never,
    Every(Duration),
    /// After each acknowledgement that reaches its sender.
    Acks,
}

/// A link; each direction has its own rate, delay and queue.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSpec {
    pub name: String,
    pub forward: Direction,
    pub reverse: Direction,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Direction {
    pub rate: Rate,
    pub delay: Duration,
    pub queue: Part,
    pub loss: LossSpec,
    /// Bytes of the largest packet that it carries, if that is limited.
    pub mtu: Option<u64>,
    /// What packets are put into, if they do not leave as they are.
    pub medium: Option<Medium>,
    /// How the node at its far end passes packets on to the next link.
    pub forwarding: Forwarding,
    pub impairments: Impairments,
}

impl Direction {
    /// What holds before anything has changed.
    pub fn conditions(&self) -> Conditions {
        Conditions {
            rate_bps: self.rate.bps(),
            delay_secs: self.delay.secs(),
            loss: 0.0,
        }
    }

    /// Bits per second of packets of so many bytes, when nothing else is sent.
    pub fn packet_bps(&self, bytes: u32) -> f64 {
        match self.medium {
            None => self.rate.bps(),
            Some(medium) => {
                self.rate.bps() * f64::from(bytes) / f64::from(medium.wire_bytes(bytes))
            }
        }
    }

    /// No packet arrives sooner than this after its last bit has left.
    pub fn least_delay_secs(&self) -> f64 {
        self.impairments.least_delay_secs(self.delay.secs())
    }
}

/// One connection: the links its data crosses in order; acknowledgements cross the same links' reverse sides.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSpec {
    pub name: String,
    /// Indices into the scenario's links.
    pub path: Vec<usize>,
    pub cc: Part,
    /// The congestion control of the running kernel that is wanted instead, written `kernel:NAME`. Simulators have none.
    pub kernel_cc: Option<String>,
    /// Where the scenario names it, and where the flow itself is.
    cc_path: String,
    block: String,
    /// The receiver's, by its name in the kernel: that of requests. It decides nothing as long as only the other side sends data.
    pub receiver_cc: String,
    pub tcp: Params,
    /// Those of [`kernel::TCP_KEYS`] that the scenario sets itself; what a stack says of them is about the simulator's TCP.
    pub told: Vec<&'static str>,
    pub source: Part,
    pub start: Instant,
    /// What its packets take between its hosts and the links of its path, each way.
    pub delay: Duration,
    /// Which of the scenario's hosts sends its data, and which takes them, if these are modelled.
    pub host: Option<usize>,
    pub receiver_host: Option<usize>,
}

/// Connections that arrive one after the other, each to transfer some bytes and leave. Its `flow` is what they have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrivingSpec {
    pub flow: FlowSpec,
    pub arrivals: Arrivals,
}

impl FlowSpec {
    /// Whether it takes any time from its hosts to the links.
    pub fn has_access_delay(&self) -> bool {
        self.delay.secs() > 0.0
    }

    /// The sender's congestion control by the name it has in Linux.
    pub fn cc_in_kernel(&self) -> &str {
        self.kernel_cc.as_deref().unwrap_or(self.cc.name)
    }

    /// What a kernel is told of a key of `tcp`, if it is told anything.
    pub fn told(&self, key: &str) -> Option<Value> {
        self.told.contains(&key).then(|| self.tcp.get(key))
    }

    /// Bytes to send, as far as that can be known; nothing for an endless flow.
    pub fn size_bytes(&self) -> Option<u64> {
        self.source(0).total_bytes()
    }

    /// What the application does.
    pub fn source(&self, seed: u64) -> Box<dyn source::Source> {
        source::build(self.source.name, &self.source.params, seed, &self.name)
    }
}

/// One flow of UDP: packets leave when its source says and cross these links; nothing comes back.
#[derive(Clone, Debug, PartialEq)]
pub struct UdpSpec {
    pub name: String,
    /// Indices into the scenario's links.
    pub path: Vec<usize>,
    /// A row of [`packet_source::TABLE`].
    pub source: Part,
    pub start: Instant,
    /// Nothing leaves from then on; not after the run's end.
    pub stop: Instant,
    /// What its packets take from their host to the first link.
    pub delay: Duration,
    /// Where the scenario names it.
    block: String,
}

impl UdpSpec {
    /// How long it lasts, seconds.
    pub fn lifetime_secs(&self) -> f64 {
        (self.stop.secs() - self.start.secs()).max(0.0)
    }

    /// What sends its packets.
    pub fn source(&self, seed: u64) -> Box<dyn PacketSource> {
        let (name, params) = (self.source.name, &self.source.params);
        packet_source::build(name, params, (seed, &self.name), self.lifetime_secs())
    }
}

/// A row of a table with its resolved parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub name: &'static str,
    pub params: Params,
}

impl Part {
    /// A row with its defaults.
    pub fn of<C>(entry: &'static Entry<C>) -> Self {
        Self {
            name: entry.name,
            params: Params::defaults(entry.params),
        }
    }
}

/// One machine.
#[derive(Clone, Debug, PartialEq)]
pub struct HostSpec {
    pub name: String,
    /// Those of [`crate::host::PARAMS`].
    pub params: Params,
}

impl HostSpec {
    /// Another one like it.
    fn peer(&self) -> Self {
        Self {
            name: format!("{}.peer", self.name),
            ..self.clone()
        }
    }
}

/// Switches of the simulator's shortcuts; results do not depend on them (see [`crate::sim`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortcuts {
    pub ring: bool,
    pub no_tx_event: bool,
    pub computed_hops: bool,
}

impl Shortcuts {
    /// All on, or all off.
    pub const fn all(on: bool) -> Self {
        Self {
            ring: on,
            no_tx_event: on,
            computed_hops: on,
        }
    }
}

impl Scenario {
    /// Makes a scenario from the JSON text of its tree.
    pub fn from_json(text: &str) -> Result<Self> {
        let tree: Json = serde_json::from_str(text).map_err(|error| ScenarioError {
            message: format!("not JSON: {error}"),
            ..ScenarioError::default()
        })?;
        Self::from_tree(&tree)
    }

    /// Makes a scenario from its tree.
    pub fn from_tree(tree: &Json) -> Result<Self> {
        read(tree)
    }

    /// The flows that are there all the time, then those that arrive.
    pub fn all_flows(&self) -> impl Iterator<Item = &FlowSpec> {
        let arriving = self.arriving.iter().map(|arriving| &arriving.flow);
        self.flows.iter().chain(arriving)
    }

    /// What can be run, and is hardly meant, of the `tree` that it was made from: each says what will happen.
    pub fn warnings(&self, tree: &Json) -> Vec<ScenarioError> {
        tree.as_object()
            .map_or_else(Vec::new, |tree| warnings::of(self, tree))
    }

    /// Refuses what only a real kernel can run.
    pub fn for_simulator(self) -> Result<Self> {
        for flow in self.all_flows() {
            if let Some(name) = &flow.kernel_cc {
                return Err(at(
                    &flow.cc_path,
                    format!("`kernel:{name}` is of a real kernel, not of the simulator"),
                )
                .hint("run it with `--backend uml`, or name one of `sawtooth list cc`"));
            }
        }
        Ok(self)
    }

    /// Whether a wire on a path may damage packets.
    pub fn damages(&self, path: &[usize]) -> bool {
        let mut links = path.iter().map(|link| &self.links[*link]);
        links.any(|link| {
            link.forward.impairments.corrupt > 0.0 || link.reverse.impairments.corrupt > 0.0
        })
    }
}

/// Reads a scenario from its tree, and refuses what contradicts itself or could never work.
fn read(tree: &Json) -> Result<Scenario> {
    let tree = object(tree, "")?;
    check_keys(tree, keys::names(keys::SCENARIO), "")?;
    let vars = Vars::read(tree.get("vars"))?;
    let limits = Limits::new(&limits_of(tree.get("limits"))?);
    let context = &Context::new(tree, &vars);
    vars.check(context)?;
    let Some(json) = tree.get("duration") else {
        return Err(at_key("duration", "a scenario needs a `duration`")
            .hint("for example duration = \"60 s\""));
    };
    let duration = Duration::from_secs(positive_time(json, "duration", context)?);
    let sample = recording::sampling(context)?;
    let record = recording::read(context, sample, duration)?;
    let (links, groups) = links::read(context, &limits)?;
    let hosts = hosts::read(context, &limits)?;
    let flows = flows::read(context, &groups, &hosts, duration, &limits)?;
    let mut scenario = Scenario {
        duration,
        sample,
        record,
        links,
        flows: flows.standing,
        arriving: flows.arriving,
        udp: flows.udp,
        hosts: hosts.all,
        kernel: Kernel::default(),
        shortcuts: Shortcuts::all(true),
        limits,
    };
    let (flows, arriving) = (&mut scenario.flows, &mut scenario.arriving);
    let specs = arriving.iter_mut().map(|one| &mut one.flow);
    check::segments(tree, &scenario.links, flows.iter_mut().chain(specs))?;
    check::datagrams(&scenario.links, &scenario.udp)?;
    let paths = flows.iter().chain(arriving.iter().map(|one| &one.flow));
    let paths = paths.map(|flow| &flow.path);
    let paths = paths.chain(scenario.udp.iter().map(|flow| &flow.path));
    check::nodes(tree, &scenario.links, paths)?;
    let everyone = flows::arrivals::everyone(flows, arriving);
    bdp::resolve(&mut scenario.links, &everyone, &scenario.udp)?;
    check::queues(tree, &scenario.links, &everyone, &scenario.udp)?;
    flows::arrivals::offer(context, arriving, &scenario.links, duration.secs())?;
    recording::check_host_words(context, flows)?;
    scenario.kernel = kernel::read(context)?;
    scenario.shortcuts = shortcuts::read(context)?;
    scenario.check_limits(tree)?;
    Ok(scenario)
}

fn base_rtt_secs(links: &[LinkSpec], path: &[usize], delay: Duration) -> f64 {
    let delays =
        |link: &usize| links[*link].forward.delay.secs() + links[*link].reverse.delay.secs();
    path.iter().map(delays).sum::<f64>() + 2.0 * delay.secs()
}

/// The name under which a link is declared, perhaps together with others.
fn declared_name(link: &LinkSpec) -> &str {
    link.name.split('[').next().unwrap_or_default()
}
