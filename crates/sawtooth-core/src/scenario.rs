//! A scenario: links, flows, duration and sampling, fully resolved; and how it is made from a tree.
//!
//! The tree is what a study file says after substitution: see `docs/reference/scenario.md`. Every number may be a quantity or an
//! expression over `vars`, and `i` (1 to `count`) where something is repeated. Errors carry the path of the offending value and,
//! within an expression, the place in its text.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json};

use crate::arrivals::Arrivals;
use crate::expr::{self, Dimension, ExprError, Quantity, Variables};
use crate::impair::{Conditions, Forwarding, Impairments, Medium};
use crate::kernel::{self, Kernel};
use crate::limits::Limits;
use crate::loss::LossSpec;
use crate::packet_source::{self, PacketSource};
use crate::registry::{Entry, Kind, Param, Params, Value, suggest};
use crate::tcp::receive_buffer::ReceiveBuffer;
use crate::units::{Duration, Instant, Rate};
use crate::{cc, queue, source, tcp};

pub use bounds::{evaluate_over, limits_of};
use counts::{count, counters};
pub use demand::Demand;
pub use hosts::HostSpec;
use hosts::Hosts;
use keys::Key;
use recording::{HOST_WORDS, LINK_WORDS};
pub use recording::{Recording, Stretch};

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

/// What is wrong with a scenario, or strange about it, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScenarioError {
    /// Path in the tree, as in `flows[0].cc.name`; of a key, not its value, if `at_key`.
    pub path: String,
    pub at_key: bool,
    pub message: String,
    pub hint: Option<String>,
    /// Characters of the string value that are meant.
    pub span: Option<(usize, usize)>,
}

impl std::fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (at {})", self.message, self.path)?;
        self.hint
            .as_ref()
            .map_or(Ok(()), |hint| write!(f, "; {hint}"))
    }
}

impl std::error::Error for ScenarioError {}

pub type Result<T> = std::result::Result<T, ScenarioError>;

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
        Reader::new(tree)?.scenario()
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

fn base_rtt_secs(links: &[LinkSpec], path: &[usize], delay: Duration) -> f64 {
    let delays =
        |link: &usize| links[*link].forward.delay.secs() + links[*link].reverse.delay.secs();
    path.iter().map(delays).sum::<f64>() + 2.0 * delay.secs()
}

// --- variables ----------------------------------------------------------------------------------------------------------

/// The variables of a scenario, evaluated on first use.
struct Vars<'a> {
    tree: Option<&'a Map<String, Json>>,
    known: RefCell<BTreeMap<String, Slot>>,
}

#[derive(Clone)]
enum Slot {
    InProgress,
    Done(std::result::Result<Quantity, String>),
}

/// The variables, and the counters of a repeated item.
#[derive(Clone, Copy)]
struct Scope<'a> {
    vars: &'a Vars<'a>,
    /// `i` and `count`.
    index: Option<(f64, f64)>,
}

impl Vars<'_> {
    fn evaluate(&self, name: &str, depth: usize) -> Option<std::result::Result<Quantity, String>> {
        if let Some(slot) = self.known.borrow().get(name) {
            return Some(match slot {
                Slot::InProgress => Err(format!("variable `{name}` is defined by itself")),
                Slot::Done(result) => result.clone(),
            });
        }
        let json = match self.item(name)? {
            Ok(json) => json,
            Err(message) => return Some(Err(message)),
        };
        self.known
            .borrow_mut()
            .insert(name.to_owned(), Slot::InProgress);
        let scope = Scope {
            vars: self,
            index: None,
        };
        let result = match json {
            Json::Number(number) => Ok(Quantity::number(number.as_f64().unwrap_or(f64::NAN))),
            Json::String(text) => {
                expr::evaluate_within(text, &scope, depth).map_err(|error| match error.message {
                    // An error that comes from a variable it uses is already told.
                    message if message.starts_with("variable `") => message,
                    message => format!("variable `{name}` is wrong: {message}"),
                })
            }
            Json::Array(items) => Err(format!(
                "`{name}` is a list of {}; say which, as in `{name}[1]`",
                items.len()
            )),
            _ => Err(format!(
                "variable `{name}` is no number, quantity or expression"
            )),
        };
        let done = Slot::Done(result.clone());
        self.known.borrow_mut().insert(name.to_owned(), done);
        Some(result)
    }

    /// The value that is written for `NAME` or `NAME[NUMBER]`.
    fn item(&self, name: &str) -> Option<std::result::Result<&Json, String>> {
        let Some((list, number)) = name.split_once('[') else {
            return self.tree?.get(name).map(Ok);
        };
        let number = number.trim_end_matches(']');
        Some(match self.tree?.get(list)? {
            Json::Array(items) => number
                .parse::<usize>()
                .ok()
                .and_then(|number| items.get(number.wrapping_sub(1)))
                .ok_or_else(|| {
                    let count = items.len();
                    format!("`{list}` has {count} items, so there is no `{name}`")
                }),
            _ => Err(format!("`{list}` is not a list")),
        })
    }
}

impl Variables for Scope<'_> {
    fn get(&self, name: &str, depth: usize) -> Option<std::result::Result<Quantity, String>> {
        match (name, self.index) {
            ("i", Some((i, _))) => Some(Ok(Quantity::number(i))),
            ("count", Some((_, count))) => Some(Ok(Quantity::number(count))),
            _ => self.vars.evaluate(name, depth),
        }
    }

    fn names(&self) -> Vec<String> {
        let counters = self
            .index
            .map_or(Vec::new(), |_| vec!["i".to_owned(), "count".to_owned()]);
        self.vars
            .tree
            .map_or(Vec::new(), |tree| tree.keys().cloned().collect())
            .into_iter()
            .chain(counters)
            .collect()
    }
}

// --- reading ------------------------------------------------------------------------------------------------------------

/// All that `flows` says.
struct Flows {
    standing: Vec<FlowSpec>,
    arriving: Vec<ArrivingSpec>,
    udp: Vec<UdpSpec>,
}

struct Reader<'a> {
    tree: &'a Map<String, Json>,
    vars: Vars<'a>,
    limits: Limits,
}

/// A group of links, or of hosts, declared together.
struct LinkGroup<'a> {
    name: &'a str,
    first: usize,
    /// `None` when it is a single one, used without an index.
    count: Option<usize>,
}

impl<'a> Reader<'a> {
    fn new(tree: &'a Json) -> Result<Self> {
        let tree = object(tree, "")?;
        check_keys(tree, keys::names(keys::SCENARIO), "")?;
        let vars = match tree.get("vars") {
            Some(vars) => Some(object(vars, "vars")?),
            None => None,
        };
        for name in vars.into_iter().flat_map(Map::keys) {
            let identifier = name.chars().all(|c| c.is_alphanumeric() || c == '_')
                && !name.chars().next().is_some_and(|c| c.is_ascii_digit());
            if !identifier || name == "i" || name == "count" {
                return Err(at_key(
                    format!("vars.{name}"),
                    format!("`{name}` cannot be the name of a variable"),
                )
                .hint(
                    "use letters, digits and _; i and count are the counters of repeated items",
                ));
            }
        }
        Ok(Self {
            tree,
            vars: Vars {
                tree: vars,
                known: RefCell::default(),
            },
            limits: Limits::new(&limits_of(tree.get("limits"))?),
        })
    }

    fn scope(&self) -> Scope<'_> {
        Scope {
            vars: &self.vars,
            index: None,
        }
    }

    fn scenario(&self) -> Result<Scenario> {
        let scope = self.scope();
        // Every variable is checked, also one that nothing uses.
        for (name, json) in self.vars.tree.into_iter().flatten() {
            let path = format!("vars.{name}");
            let items: Vec<_> = match json {
                Json::Array(items) => (1..)
                    .zip(items)
                    .map(|(number, item)| {
                        let path = format!("{path}[{}]", number - 1);
                        (format!("{name}[{number}]"), path, item)
                    })
                    .collect(),
                _ => vec![(name.clone(), path, json)],
            };
            for (name, path, json) in items {
                if let Json::String(text) = json {
                    expr::evaluate(text, &scope).map_err(|error| in_expression(&path, error))?;
                }
                if let Some(Err(message)) = scope.get(&name, 0) {
                    let example = format!("for example {name} = \"20 ms\", or a number");
                    return Err(match json {
                        Json::String(_) => at(path, message),
                        _ => at(path, message).hint(&example),
                    });
                }
            }
        }
        let duration = match self.tree.get("duration") {
            Some(json) => Duration::from_secs(positive_time(json, "duration", scope)?),
            None => {
                return Err(at_key("duration", "a scenario needs a `duration`")
                    .hint("for example duration = \"60 s\""));
            }
        };
        let sample = match self.tree.get("sample") {
            None => Sampling::Never,
            Some(Json::String(text)) if text == "ack" => Sampling::Acks,
            Some(json) => {
                Sampling::Every(Duration::from_secs(positive_time(json, "sample", scope)?))
            }
        };
        let record = self.record(sample, duration)?;
        let (mut links, groups) = self.links()?;
        let hosts = self.hosts()?;
        let Flows {
            standing: mut flows,
            mut arriving,
            udp,
        } = self.flows(&groups, &hosts, duration)?;
        let specs = arriving.iter_mut().map(|one| &mut one.flow);
        fit::fit_segments(self.tree, &links, flows.iter_mut().chain(specs))?;
        fit::fit_datagrams(&links, &udp)?;
        let paths = flows.iter().chain(arriving.iter().map(|one| &one.flow));
        let paths = paths.map(|flow| &flow.path);
        let paths = paths.chain(udp.iter().map(|flow| &flow.path));
        impairments::check_nodes(self.tree, &links, paths)?;
        let everyone = arrivals::everyone(&flows, &arriving);
        resolve_bdp(&mut links, &everyone, &udp)?;
        queues::check(self.tree, &links, &everyone, &udp)?;
        self.offer(&mut arriving, &links, duration.secs())?;
        self.check_host_words(&flows)?;
        let kernel = self.kernel()?;
        let shortcuts = self.shortcuts()?;
        let scenario = Scenario {
            duration,
            sample,
            record,
            links,
            flows,
            arriving,
            udp,
            hosts: hosts.all,
            kernel,
            shortcuts,
            limits: self.limits,
        };
        scenario.check_limits(self.tree)?;
        Ok(scenario)
    }

    /// What hosts tell takes a flow that has one.
    fn check_host_words(&self, flows: &[FlowSpec]) -> Result<()> {
        if flows
            .iter()
            .any(|flow| flow.host.or(flow.receiver_host).is_some())
        {
            return Ok(());
        }
        let words = self.tree.get("record").and_then(Json::as_array);
        for (index, word) in words.into_iter().flatten().enumerate() {
            if let Some(word) = word.as_str()
                && HOST_WORDS.contains(&word)
            {
                let message = format!("`{word}` are told by hosts, and no flow has one");
                return Err(at(format!("record[{index}]"), message)
                    .hint("add hosts.NAME = { ... }, and host = \"NAME\" to a flow"));
            }
        }
        Ok(())
    }

    fn kernel(&self) -> Result<Kernel> {
        let mut kernel = Kernel::default();
        let Some(json) = self.tree.get("kernel") else {
            return Ok(kernel);
        };
        let table = object(json, "kernel")?;
        let (settings, scope) = (&mut kernel.settings, self.scope());
        let what = "setting of a kernel";
        set_params(
            settings,
            kernel::PARAMS,
            table,
            keys::KERNEL,
            "kernel",
            what,
            scope,
        )?;
        match table.get("image") {
            None => {}
            Some(Json::String(name)) if !name.is_empty() => kernel.image = Some(name.clone()),
            Some(_) => {
                return Err(at("kernel.image", "expected the name of a kernel")
                    .hint("`sawtooth kernel list` shows those that are built"));
            }
        }
        if let Some(json) = table.get("sysctl") {
            for (name, json) in object(json, "kernel.sysctl")? {
                let path = format!("kernel.sysctl.{name}");
                let value = match json {
                    Json::Bool(on) => u8::from(*on).to_string(),
                    Json::Number(number) => number.to_string(),
                    Json::String(text) => text.clone(),
                    _ => return Err(at(path, "expected a number or a text")),
                };
                if !name.starts_with("net.") {
                    return Err(
                        at_key(path, format!("`{name}` is not a setting of the network"))
                            .hint("for example \"net.ipv4.tcp_sack\" = 0, with its name in quotes"),
                    );
                }
                kernel.sysctl.push((name.clone(), value));
            }
        }
        Ok(kernel)
    }

    fn shortcuts(&self) -> Result<Shortcuts> {
        let mut shortcuts = Shortcuts::all(true);
        match self.tree.get("shortcuts") {
            None => {}
            Some(Json::Bool(on)) => shortcuts = Shortcuts::all(*on),
            Some(json) => {
                let table = object(json, "shortcuts")?;
                check_keys(table, keys::names(keys::SHORTCUTS), "shortcuts")?;
                for (key, json) in table {
                    let Json::Bool(on) = json else {
                        return Err(at(format!("shortcuts.{key}"), "expected true or false"));
                    };
                    match key.as_str() {
                        "ring" => shortcuts.ring = *on,
                        "no_tx_event" => shortcuts.no_tx_event = *on,
                        _ => shortcuts.computed_hops = *on,
                    }
                }
            }
        }
        Ok(shortcuts)
    }

    fn links(&self) -> Result<(Vec<LinkSpec>, Vec<LinkGroup<'a>>)> {
        let tree = match self.tree.get("links") {
            Some(json) => object(json, "links")?,
            None => {
                return Err(at_key("links", "a scenario needs links").hint(
                    "for example links.bottleneck = { rate = \"10 Mbit/s\", delay = \"20 ms\" }",
                ));
            }
        };
        let keys = keys::names(keys::DIRECTION).chain(keys::names(keys::LINK));
        self.declared("links", tree, &keys, |table, path, name, scope| {
            let forward = direction(table, None, path, scope)?;
            let reverse = match table.get("reverse") {
                None => direction(&Map::new(), Some(&forward), path, scope)?,
                Some(json) => {
                    let path = format!("{path}.reverse");
                    let reverse = object(json, &path)?;
                    check_keys(reverse, keys::names(keys::DIRECTION), &path)?;
                    direction(reverse, Some(&forward), &path, scope)?
                }
            };
            Ok(LinkSpec {
                name,
                forward,
                reverse,
            })
        })
    }

    /// What a table of named tables declares, in order: each of them one thing, or a group of as many as its `count` says. `read` makes one of
    /// its table, its path, its name and the scope.
    fn declared<T>(
        &self,
        section: &str,
        tree: &'a Map<String, Json>,
        keys: &(impl Iterator<Item = &'static str> + Clone),
        read: impl Fn(&'a Map<String, Json>, &str, String, Scope) -> Result<T>,
    ) -> Result<(Vec<T>, Vec<LinkGroup<'a>>)> {
        let (mut all, mut groups) = (Vec::new(), Vec::new());
        for (name, json) in tree {
            let path = format!("{section}.{name}");
            let table = object(json, &path)?;
            check_keys(table, keys.clone(), &path)?;
            let count = count(table, &path, self.scope(), 1)?;
            self.check_number(all.len(), count, &path, section)?;
            groups.push(LinkGroup {
                name,
                first: all.len(),
                count,
            });
            for (name, scope) in self.items(name, count) {
                all.push(read(table, &path, name, scope)?);
            }
        }
        Ok((all, groups))
    }

    /// The names of as many things as a `count` says, `NAME[1]` and so on, and the scopes that have their counters; without it one.
    fn items(&self, name: &str, count: Option<usize>) -> impl Iterator<Item = (String, Scope<'_>)> {
        (1..=count.unwrap_or(1)).map(move |i| {
            let name = match count {
                Some(_) => format!("{name}[{i}]"),
                None => name.to_owned(),
            };
            let scope = Scope {
                index: counters(count, i),
                ..self.scope()
            };
            (name, scope)
        })
    }

    fn flows(&self, groups: &[LinkGroup], hosts: &Hosts, duration: Duration) -> Result<Flows> {
        let blocks = match self.tree.get("flows") {
            Some(Json::Array(blocks)) if !blocks.is_empty() => blocks,
            Some(Json::Array(_)) | None => {
                return Err(at_key("flows", "a scenario needs at least one flow")
                    .hint("for example [[scenario.flows]] with path = [\"bottleneck\"]"));
            }
            Some(_) => {
                return Err(
                    at("flows", "expected a list of flows").hint("write [[scenario.flows]]")
                );
            }
        };
        let stack = self.stack()?;
        let mut flows: Vec<FlowSpec> = Vec::new();
        let mut arriving: Vec<ArrivingSpec> = Vec::new();
        let mut udp: Vec<UdpSpec> = Vec::new();
        let mut names: BTreeSet<String> = BTreeSet::new();
        for (index, json) in blocks.iter().enumerate() {
            let path = format!("flows[{index}]");
            let table = object(json, &path)?;
            let is_udp = udp::is_udp(table, &path)?;
            let known = if is_udp { keys::UDP_FLOW } else { keys::FLOW };
            check_keys(table, keys::names(known), &path)?;
            let base = match table.get("name") {
                Some(Json::String(name)) if !name.is_empty() => name.clone(),
                Some(_) => return Err(at(format!("{path}.name"), "expected a name")),
                None if blocks.len() == 1 => "flow".to_owned(),
                None => format!("flow{}", index + 1),
            };
            let count = count(table, &path, self.scope(), 0)?;
            self.check_number(names.len(), count, &path, "flows")?;
            // Of a count of 0 only the keys are read: what they say may divide by it.
            for (name, scope) in self.items(&base, count) {
                if !names.insert(name.clone()) {
                    return Err(at(
                        format!("{path}.name"),
                        format!("two flows are called `{base}`"),
                    )
                    .hint("give each its own name"));
                }
                if is_udp {
                    udp.push(udp::flow(table, name, (&path, duration), groups, scope)?);
                    continue;
                }
                let mut flow = self.flow(table, name, &path, &stack, groups, scope)?;
                self.put_on_hosts(&mut flow, table, hosts, scope)?;
                match table.get("arrivals") {
                    None => flows.push(flow),
                    Some(json) => arriving.push(arrivals::read(flow, table, json, scope)?),
                }
            }
        }
        if names.is_empty() {
            return Err(counts::none());
        }
        Ok(Flows {
            standing: flows,
            arriving,
            udp,
        })
    }

    /// The stack's TCP parameters with the scenario's overrides are the same for all flows unless they use counters.
    fn stack(&self) -> Result<Params> {
        let mut params = Params::defaults(tcp::PARAMS);
        match self.tree.get("stack") {
            None => {}
            Some(Json::String(name)) => {
                let Some(stack) = tcp::STACKS.iter().find(|stack| stack.name == name) else {
                    return Err(unknown(
                        "stack",
                        "stack",
                        name,
                        tcp::STACKS.iter().map(|stack| stack.name),
                    ));
                };
                for (key, value) in stack.values {
                    params.set(key, *value);
                }
            }
            Some(_) => {
                return Err(at("stack", "expected the name of a stack")
                    .hint("`sawtooth list stack` shows all"));
            }
        }
        Ok(params)
    }

    /// A key of a flow, or else of the scenario, and where it is.
    fn own_or_common(
        &self,
        table: &'a Map<String, Json>,
        path: &str,
        key: &str,
    ) -> Option<(&'a Json, String)> {
        let own = table.get(key).map(|json| (json, format!("{path}.{key}")));
        own.or_else(|| Some((self.tree.get(key)?, key.to_owned())))
    }

    /// No buffer is larger than it may become.
    fn check_buffers(&self, table: &Map<String, Json>, path: &str, tcp: &Params) -> Result<()> {
        for (first, most) in [
            ("receive_buffer_default", "receive_buffer_max"),
            ("send_buffer_default", "send_buffer_max"),
        ] {
            if let (Value::Bytes(size), Value::Bytes(limit)) = (tcp.get(first), tcp.get(most))
                && size > limit
            {
                // Blame the key that was written, and where.
                let own = table.get("tcp");
                let written = |key: &str| own.and_then(|tcp| tcp.get(key)).is_some();
                let common =
                    |key: &str| self.tree.get("tcp").and_then(|tcp| tcp.get(key)).is_some();
                let path = match [first, most].into_iter().find(|key| written(key)) {
                    Some(key) => format!("{path}.tcp.{key}"),
                    None => format!("tcp.{}", if common(first) { first } else { most }),
                };
                return Err(at(
                    path,
                    format!("`{first}` is {size} B, above `{most}`, which is {limit} B"),
                )
                .hint("set both, or the first to \"none\" for a buffer without limits"));
            }
        }
        if let Value::Bytes(size) = tcp.get("receive_buffer_default") {
            let smss = tcp.bytes("smss");
            let window = ReceiveBuffer::share(size, tcp.integer("adv_win_scale"));
            if window < smss {
                let own = table
                    .get("tcp")
                    .and_then(|tcp| tcp.get("receive_buffer_default"));
                let path = own.map_or("tcp".to_owned(), |_| format!("{path}.tcp"));
                return Err(at(
                    format!("{path}.receive_buffer_default"),
                    format!("of a buffer of {size} B {window} B are for data: less than a segment, of {smss} B"),
                )
                .hint("with adv_win_scale = 1, half of the buffer is for data"));
            }
        }
        Ok(())
    }

    fn flow(
        &self,
        table: &'a Map<String, Json>,
        name: String,
        path: &str,
        stack: &Params,
        groups: &[LinkGroup],
        scope: Scope,
    ) -> Result<FlowSpec> {
        let mut tcp = stack.clone();
        let mut told = Vec::new();
        for (json, path) in [
            (self.tree.get("tcp"), "tcp".to_owned()),
            (table.get("tcp"), format!("{path}.tcp")),
        ] {
            if let Some(json) = json {
                set_params(
                    &mut tcp,
                    tcp::PARAMS,
                    object(json, &path)?,
                    &[],
                    &path,
                    "tcp parameter",
                    scope,
                )?;
                see_to_ack_every(&mut tcp, json, &path)?;
                let known = kernel::TCP_KEYS.iter().map(|(key, _)| *key);
                told.extend(known.filter(|key| json.get(key).is_some()));
            }
        }
        check_timeouts(&tcp, table, path)?;
        self.check_buffers(table, path, &tcp)?;
        check_pacing(&tcp, table, path)?;
        let (cc, kernel_cc, cc_path) = match self.own_or_common(table, path, "cc") {
            None => (default_part(&cc::TABLE[0]), None, "cc".to_owned()),
            Some((json, path)) => {
                let defaults = |entry| default_cc(entry, &tcp);
                if let Some(name) = kernel_name(json, &path)? {
                    (default_part(&cc::TABLE[0]), Some(name), path)
                } else {
                    let part = part_from(json, cc::TABLE, "cc", &path, scope, defaults)?;
                    check_cc(&part, json, &path)?;
                    (part, None, path)
                }
            }
        };
        let receiver_cc = match self.own_or_common(table, path, "receiver_cc") {
            None => None,
            Some((json, path)) => {
                no_parameters(json, &path, "the receiver's algorithm")?;
                Some(match kernel_name(json, &path)? {
                    Some(name) => name,
                    None => part(json, cc::TABLE, "cc", &path, scope)?.name.to_owned(),
                })
            }
        };
        if !told.contains(&"ecn") {
            bring_feedback(&cc, &mut tcp);
        }
        let source = match table.get("source") {
            Some(json) => {
                udp::refuse_packet_source(json, &format!("{path}.source"))?;
                part(
                    json,
                    source::TABLE,
                    "source",
                    &format!("{path}.source"),
                    scope,
                )?
            }
            None => default_part(&source::TABLE[0]),
        };
        // Whoever asks over the connection does it with the algorithm that answers.
        let receiver_cc = receiver_cc.unwrap_or_else(|| {
            let asks = source::build(source.name, &source.params, 0, &name).answers();
            let own = kernel_cc.as_deref().unwrap_or(cc.name);
            if asks { own } else { "reno" }.to_owned()
        });
        let start = start(table, path, scope)?;
        let delay = access_delay(table, path, scope)?;
        Ok(FlowSpec {
            name,
            path: route(table, path, groups, scope)?,
            cc,
            kernel_cc,
            cc_path,
            block: path.to_owned(),
            receiver_cc,
            tcp,
            told,
            source,
            start,
            delay,
            host: None,
            receiver_host: None,
        })
    }
}

// --- parts of the tree --------------------------------------------------------------------------------------------------

/// When a flow starts.
fn start(table: &Map<String, Json>, path: &str, scope: Scope) -> Result<Instant> {
    let before = "a flow cannot start before the run";
    own_time(table, "start", before, path, scope).map(Instant::from_secs)
}

/// What a flow's packets take between its hosts and the links, each way.
fn access_delay(table: &Map<String, Json>, path: &str, scope: Scope) -> Result<Duration> {
    let negative = "a delay cannot be negative";
    own_time(table, "delay", negative, path, scope).map(Duration::from_secs)
}

/// A time of a flow, or zero; if it is negative, what is wrong with that.
fn own_time(
    table: &Map<String, Json>,
    key: &str,
    negative: &str,
    path: &str,
    scope: Scope,
) -> Result<f64> {
    let Some(json) = table.get(key) else {
        return Ok(0.0);
    };
    let path = format!("{path}.{key}");
    let secs = quantity(json, &path, scope, Dimension::Time)?;
    if secs < 0.0 {
        let message = format!("{negative}: {secs} s");
        return Err(at(path, message).hint("give a time of zero or more, or leave it out for zero"));
    }
    Ok(secs)
}

/// Parameters of a congestion control that contradict each other.
fn check_cc(cc: &Part, json: &Json, path: &str) -> Result<()> {
    let Some(((low, least), order, (high, most))) = cc::named(cc.name).out_of_order(&cc.params)
    else {
        return Ok(());
    };
    let (wanted, remedy) = match order {
        cc::Order::Below => ("has to be below", "below"),
        cc::Order::AtMost => ("cannot be above", "to no more than"),
    };
    // Blame one that was written.
    let written = [low, high].into_iter().find(|key| json.get(key).is_some());
    Err(at(
        format!("{path}.{}", written.unwrap_or(low)),
        format!("`{low}` is {least}, and {wanted} `{high}`, which is {most}"),
    )
    .hint(&format!("set `{low}` {remedy} `{high}`")))
}

/// A flow that is not paced has no rate to bound.
fn check_pacing(tcp: &Params, table: &Map<String, Json>, path: &str) -> Result<()> {
    if tcp.choice("pacing") != "off" || tcp.get("max_pacing_rate") == Value::None {
        return Ok(());
    }
    let own = table.get("tcp").and_then(|tcp| tcp.get("max_pacing_rate"));
    let path = own.map_or("tcp".to_owned(), |_| format!("{path}.tcp"));
    Err(at(
        format!("{path}.max_pacing_rate"),
        "a flow that is not paced cannot have a `max_pacing_rate`",
    )
    .hint("leave one of the two out: a `max_pacing_rate` paces with `pacing = \"algorithm\"`, too"))
}

fn direction(
    table: &Map<String, Json>,
    mirror: Option<&Direction>,
    path: &str,
    scope: Scope,
) -> Result<Direction> {
    let own = impairments::Table {
        keys: table,
        mirror,
        path,
        scope,
    };
    let impairments = impairments::read(own)?;
    let traced = impairments.trace.as_ref().map(|trace| trace.mean_bps());
    let rate = match (table.get("rate"), mirror) {
        _ if traced.is_some() => Rate::from_bps(traced.unwrap_or_default()),
        (Some(json), _) => {
            let path = format!("{path}.rate");
            let rate = quantity(json, &path, scope, Dimension::Rate)?;
            if rate <= 0.0 {
                return Err(at(
                    path,
                    format!("a link's rate must be above zero, found {rate} bit/s"),
                ));
            }
            Rate::from_bps(rate)
        }
        (None, Some(mirror)) => mirror.rate,
        (None, None) => {
            return Err(at(path, "a link needs a `rate`").hint("for example rate = \"10 Mbit/s\""));
        }
    };
    let delay = match (table.get("delay"), mirror) {
        (Some(json), _) => {
            let path = format!("{path}.delay");
            let delay = quantity(json, &path, scope, Dimension::Time)?;
            if delay < 0.0 {
                return Err(at(
                    path,
                    format!("a link's delay cannot be negative, found {delay} s"),
                ));
            }
            Duration::from_secs(delay)
        }
        (None, Some(mirror)) => mirror.delay,
        (None, None) => Duration::from_secs(0.0),
    };
    let queue = match (table.get("queue"), mirror) {
        (Some(json), _) => part(json, queue::TABLE, "queue", &format!("{path}.queue"), scope)?,
        (None, Some(mirror)) => mirror.queue.clone(),
        (None, None) => default_part(&queue::TABLE[0]),
    };
    let direction = Direction {
        rate,
        delay,
        queue,
        loss: impairments::losses(own)?,
        mtu: impairments::mtu(own)?,
        medium: impairments::medium(own)?,
        forwarding: impairments::forwarding(own)?,
        impairments,
    };
    course::check_start(&direction, path)?;
    Ok(direction)
}

/// The links a flow crosses.
fn route(
    table: &Map<String, Json>,
    path: &str,
    groups: &[LinkGroup],
    scope: Scope,
) -> Result<Vec<usize>> {
    let path = format!("{path}.path");
    let names = match table.get("path") {
        Some(Json::Array(names)) if !names.is_empty() => names,
        Some(Json::Array(_)) => {
            return Err(at(path, "a path needs at least one link")
                .hint("list the links in the order data crosses them"));
        }
        Some(_) => {
            return Err(
                at(path, "expected a list of links").hint("for example path = [\"bottleneck\"]")
            );
        }
        None => {
            return Err(
                at(path, "a flow needs a `path`").hint("for example path = [\"bottleneck\"]")
            );
        }
    };
    let mut route = Vec::with_capacity(names.len());
    for (index, json) in names.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let Json::String(text) = json else {
            return Err(at(path, "expected the name of a link"));
        };
        route.push(hop(text, "link", &path, groups, scope)?);
    }
    Ok(route)
}

/// One link of a path, or host: `name`, or `name[expression]` where there are several.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "checked to be a small whole number"
)]
fn hop(text: &str, what: &str, path: &str, groups: &[LinkGroup], scope: Scope) -> Result<usize> {
    let (name, index) = match text.split_once('[') {
        None => (text, None),
        Some((name, rest)) => match rest.strip_suffix(']') {
            Some(index) => (name, Some(index)),
            None => {
                return Err(at(
                    path,
                    format!("`{text}` has a bracket that is not closed"),
                ));
            }
        },
    };
    let Some(group) = groups.iter().find(|group| group.name == name) else {
        return Err(unknown(
            path,
            what,
            name,
            groups.iter().map(|group| group.name),
        ));
    };
    match (group.count, index) {
        (None, None) => Ok(group.first),
        (None, Some(_)) => {
            Err(at(path, format!("there is only one `{name}`")).hint(&format!("write \"{name}\"")))
        }
        (Some(count), None) => Err(at(
            path,
            format!("there are {count} {what}s `{name}`; say which"),
        )
        .hint(&format!("for example \"{name}[i]\""))),
        (Some(count), Some(index)) => {
            let offset = name.chars().count() + 1;
            let shift = |error: ExprError| ExprError {
                span: (error.span.0 + offset, error.span.1 + offset),
                ..error
            };
            let value =
                expr::evaluate(index, &scope).map_err(|error| in_expression(path, shift(error)))?;
            let fits = value.dimension == Dimension::Number
                && value.value.fract() == 0.0
                && value.value >= 1.0
                && value.value <= count as f64;
            if !fits {
                return Err(at(
                    path,
                    format!(
                        "`{name}[{index}]` is number {}, but they go from 1 to {count}",
                        value.value
                    ),
                ));
            }
            Ok(group.first + value.value as usize - 1)
        }
    }
}

/// A named part with its parameters: `{ name = "reno", beta = 0.7 }`, or just `"reno"`.
fn part<C>(
    json: &Json,
    table: &'static [Entry<C>],
    what: &'static str,
    path: &str,
    scope: Scope,
) -> Result<Part> {
    part_from(json, table, what, path, scope, default_part)
}

/// The same, with other defaults than the table's.
fn part_from<C>(
    json: &Json,
    table: &'static [Entry<C>],
    what: &'static str,
    path: &str,
    scope: Scope,
    defaults: impl Fn(&'static Entry<C>) -> Part,
) -> Result<Part> {
    let names = || table.iter().map(|entry| entry.name);
    let (name, name_path, options) = match json {
        Json::String(name) => (name, path.to_owned(), None),
        Json::Object(options) => match options.get("name") {
            Some(Json::String(name)) => (name, format!("{path}.name"), Some(options)),
            Some(_) => {
                return Err(at(
                    format!("{path}.name"),
                    format!("expected the name of a {}", noun(what)),
                ));
            }
            None => {
                return Err(at(path, format!("which {}? `name` is missing", noun(what)))
                    .hint(&format!("`sawtooth list {what}` shows all")));
            }
        },
        _ => {
            return Err(at(path, format!("expected a {}", noun(what)))
                .hint("for example { name = \"...\" }"));
        }
    };
    let Some(entry) = table.iter().find(|entry| entry.name == name) else {
        return Err(unknown(&name_path, what, name, names()));
    };
    let mut part = defaults(entry);
    if let Some(options) = options {
        let what = format!("parameter of {}", entry.name);
        set_params(
            &mut part.params,
            entry.params,
            options,
            keys::PART,
            path,
            &what,
            scope,
        )?;
    }
    Ok(part)
}

/// The name in `kernel:NAME`, alone or as the `name` of a table.
fn kernel_name(json: &Json, path: &str) -> Result<Option<String>> {
    let (text, place) = match json.get("name") {
        Some(name) => (name.as_str(), format!("{path}.name")),
        None => (json.as_str(), path.to_owned()),
    };
    let Some(name) = text.and_then(|text| text.strip_prefix("kernel:")) else {
        return Ok(None);
    };
    if name.is_empty() {
        return Err(
            at(place, "`kernel:` lacks the name of a congestion control")
                .hint("for example \"kernel:cubic\""),
        );
    }
    no_parameters(json, path, "a kernel's algorithm")?;
    Ok(Some(name.to_owned()))
}

/// Refuses everything but a `name`.
fn no_parameters(json: &Json, path: &str, whose: &str) -> Result<()> {
    let mut keys = json.as_object().into_iter().flat_map(Map::keys);
    match keys.find(|key| *key != "name") {
        Some(key) => Err(at_key(
            format!("{path}.{key}"),
            format!("{whose} has no parameter `{key}`"),
        )
        .hint("leave it out: parameters of modules are the kernel's own")),
        None => Ok(()),
    }
}

/// When acknowledgements are sent has two keys; who writes one does not mean the other, which may be the stack's.
fn see_to_ack_every(tcp: &mut Params, table: &Json, path: &str) -> Result<()> {
    let written = |key: &str| table.get(key).is_some_and(|value| value != "none");
    match (written("ack_every"), written("ack_window_share")) {
        (true, true) => Err(at(
            format!("{path}.ack_window_share"),
            "`ack_every` and `ack_window_share` both say when acknowledgements are sent",
        )
        .hint("keep one of them")),
        (true, false) => {
            tcp.set("ack_window_share", Value::None);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The timeout's bounds leave room between them.
fn check_timeouts(tcp: &Params, table: &Map<String, Json>, path: &str) -> Result<()> {
    let (Value::Duration(least), Value::Duration(most)) = (tcp.get("rto_min"), tcp.get("rto_max"))
    else {
        unreachable!("both are times");
    };
    if least > most {
        let own = table.get("tcp").and_then(|tcp| tcp.get("rto_min"));
        let path = own.map_or("tcp.rto_min".to_owned(), |_| format!("{path}.tcp.rto_min"));
        return Err(at(
            path,
            format!("`rto_min` is {least} s, above `rto_max`, which is {most} s"),
        ));
    }
    Ok(())
}

/// An algorithm that lives on marks brings the feedback that it needs, as `dctcp` does in Linux.
fn bring_feedback(cc: &Part, tcp: &mut Params) {
    let feedback = match cc::named(cc.name).needs.ecn {
        cc::Ecn::Classic => return,
        cc::Ecn::Every => "dctcp",
        cc::Ecn::L4s => "accurate",
    };
    tcp.set("ecn", Value::Choice(feedback));
}

/// A congestion control as specified, or as Linux has it.
fn default_cc(entry: &'static Entry<cc::Algorithm>, tcp: &Params) -> Part {
    let mut part = default_part(entry);
    entry
        .new
        .set_as_in(tcp.choice("algorithms"), &mut part.params);
    part
}

fn default_part<C>(entry: &'static Entry<C>) -> Part {
    Part {
        name: entry.name,
        params: Params::defaults(entry.params),
    }
}

fn set_params(
    params: &mut Params,
    table: &'static [Param],
    options: &Map<String, Json>,
    besides: &[Key],
    path: &str,
    what: &str,
    scope: Scope,
) -> Result<()> {
    for (key, json) in options {
        if besides.iter().any(|known| known.name == key) {
            continue;
        }
        let path = format!("{path}.{key}");
        let Some(param) = table.iter().find(|param| param.name == key) else {
            let known: Vec<&str> = table.iter().map(|param| param.name).collect();
            let hint = match suggest(key, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if known.is_empty() => "it has no parameters".to_owned(),
                None => format!("known are {}", known.join(", ")),
            };
            return Err(at_key(path, format!("unknown {what} `{key}`")).hint(&hint));
        };
        if let Kind::Distribution(unit) = param.kind {
            distribution::read(params, param, unit, json, &path, scope)?;
        } else {
            params.set(param.name, value(json, param, &path, scope)?);
        }
    }
    Ok(())
}

/// A parameter's value, checked against its kind.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::too_many_lines,
    reason = "checked to be whole and within bounds; one arm per kind"
)]
fn value(json: &Json, param: &Param, path: &str, scope: Scope) -> Result<Value> {
    if param.default == Value::None && json.as_str() == Some("none") {
        return Ok(Value::None);
    }
    let name = param.name;
    let bounds = |low: &dyn std::fmt::Display, high: &dyn std::fmt::Display, found: f64| {
        at(
            path,
            format!("`{name}` must be from {low} to {high}, found {found}"),
        )
    };
    let positive = |value: f64, what: &str| {
        if value > 0.0 && value.fract() == 0.0 && value < 9e15 {
            Ok(value as u64)
        } else {
            Err(at(
                path,
                format!("`{name}` must be a whole number of {what} above zero, found {value}"),
            ))
        }
    };
    match param.kind {
        Kind::Bool => json
            .as_bool()
            .map(Value::Bool)
            .ok_or_else(|| at(path, format!("`{name}` must be true or false"))),
        Kind::Choice(words) => match json
            .as_str()
            .map(|text| (text, words.iter().find(|word| **word == text)))
        {
            Some((_, Some(word))) => Ok(Value::Choice(word)),
            Some((text, None)) => {
                let hint = match suggest(text, words.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`? known are {}", words.join(", ")),
                    None => format!("known are {}", words.join(", ")),
                };
                Err(at(path, format!("unknown {name} `{text}`")).hint(&hint))
            }
            None => Err(at(
                path,
                format!("`{name}` must be one of {}", words.join(", ")),
            )),
        },
        Kind::Number { min, max } => {
            let number = quantity(json, path, scope, Dimension::Number)?;
            if number < min || number > max {
                Err(bounds(&min, &max, number))
            } else {
                Ok(Value::Number(number))
            }
        }
        Kind::Integer { min, max } => {
            let number = quantity(json, path, scope, Dimension::Number)?;
            if number.fract() != 0.0 {
                return Err(at(
                    path,
                    format!("`{name}` must be a whole number, found {number}"),
                ));
            }
            let integer = number as i64;
            if integer < min || integer > max {
                Err(bounds(&min, &max, number))
            } else {
                Ok(Value::Integer(integer))
            }
        }
        Kind::Duration { .. } | Kind::Period => {
            let secs = quantity(json, path, scope, Dimension::Time)?;
            let above_zero = param.kind
                != Kind::Duration {
                    min_exclusive: false,
                };
            match (secs, above_zero) {
                (secs, true) if secs <= 0.0 => Err(at(
                    path,
                    format!("`{name}` must be above zero, found {secs} s"),
                )
                .hint("give a time such as `20 ms`, or leave it out for its default")),
                (secs, _) if secs < 0.0 => Err(at(
                    path,
                    format!("`{name}` cannot be negative, found {secs} s"),
                )
                .hint("give a time of zero or more, or leave it out for its default")),
                _ => Ok(Value::Duration(secs)),
            }
        }
        Kind::RateFromZero | Kind::RateOrPackets => {
            let found = any_quantity(json, path, scope)?;
            let value = match (found.dimension, param.kind) {
                (Dimension::Rate, _) => Value::Rate(found.value),
                (Dimension::Packets, Kind::RateOrPackets) => Value::Number(found.value),
                (other, Kind::RateOrPackets) => {
                    let expected = "a rate such as `400 Mbit/s`, or `50 packets`";
                    return Err(wrong_dimension(json, path, expected, other));
                }
                (other, _) => {
                    return Err(wrong_dimension(
                        json,
                        path,
                        "a rate such as `10 Mbit/s`",
                        other,
                    ));
                }
            };
            if found.value >= 0.0 {
                Ok(value)
            } else {
                let (unit, found) = match value {
                    Value::Rate(rate) => ("bit/s", rate),
                    _ => ("packets", found.value),
                };
                Err(at(
                    path,
                    format!("`{name}` cannot be negative, found {found} {unit}"),
                ))
            }
        }
        Kind::Rate => {
            let rate = quantity(json, path, scope, Dimension::Rate)?;
            if rate > 0.0 {
                Ok(Value::Rate(rate))
            } else {
                Err(at(
                    path,
                    format!("`{name}` must be above zero, found {rate} bit/s"),
                ))
            }
        }
        Kind::Distribution(_) | Kind::Drawn => {
            unreachable!("distributions are read by their own module")
        }
        Kind::Bytes => {
            positive(quantity(json, path, scope, Dimension::Bytes)?, "bytes").map(Value::Bytes)
        }
        Kind::Packets => positive(quantity(json, path, scope, Dimension::Packets)?, "packets")
            .map(Value::Packets),
        Kind::PacketsOrBytes | Kind::QueueSize => {
            let found = any_quantity(json, path, scope)?;
            match found.dimension {
                Dimension::Packets => positive(found.value, "packets").map(Value::Packets),
                // Expressions such as rate x time need not come out whole.
                Dimension::Bytes => positive(libm::round(found.value), "bytes").map(Value::Bytes),
                Dimension::Bdp if param.kind == Kind::QueueSize && found.value > 0.0 => {
                    Ok(Value::Bdp(found.value))
                }
                Dimension::Bdp if param.kind == Kind::QueueSize => Err(at(
                    path,
                    format!("`{name}` must be above zero, found {} bdp", found.value),
                )),
                other => Err(wrong_dimension(
                    json,
                    path,
                    "a size such as `50 packets` or `64 kB`",
                    other,
                )),
            }
        }
    }
}

/// A size of a queue given in bandwidth-delay products becomes bytes: the link's rate times the smallest round-trip propagation time
/// of the connections that cross it, or if there is none of the flows of UDP.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive number of bytes"
)]
fn resolve_bdp(links: &mut [LinkSpec], flows: &[FlowSpec], udp: &[UdpSpec]) -> Result<()> {
    for index in 0..links.len() {
        let wanted = |direction: &Direction| -> Vec<(&'static str, f64)> {
            let params = direction.queue.params.iter();
            params
                .filter_map(|(key, value)| match value {
                    Value::Bdp(factor) => Some((key, factor)),
                    _ => None,
                })
                .collect()
        };
        let factors = [wanted(&links[index].forward), wanted(&links[index].reverse)];
        let Some((key, _)) = factors.iter().flatten().next() else {
            continue;
        };
        let shortest = |paths: &mut dyn Iterator<Item = (&Vec<usize>, Duration)>| {
            paths
                .filter(|(path, _)| path.contains(&index))
                .map(|(path, delay)| base_rtt_secs(links, path, delay))
                .fold(f64::INFINITY, f64::min)
        };
        let mut rtt = shortest(&mut flows.iter().map(|flow| (&flow.path, flow.delay)));
        if rtt.is_infinite() {
            rtt = shortest(&mut udp.iter().map(|flow| (&flow.path, flow.delay)));
        }
        if !(rtt > 0.0 && rtt.is_finite()) {
            return Err(at(
                format!("links.{}.queue.{key}", declared_name(&links[index])),
                "a limit in bdp needs a flow with a delay across this link",
            )
            .hint("give the limit in packets or bytes"));
        }
        let link = &mut links[index];
        for (direction, factors) in [
            (&mut link.forward, &factors[0]),
            (&mut link.reverse, &factors[1]),
        ] {
            for (key, factor) in factors {
                let bytes = libm::round(direction.rate.bps() * rtt / 8.0 * factor).max(1.0) as u64;
                direction.queue.params.set(key, Value::Bytes(bytes));
            }
        }
    }
    Ok(())
}

/// The name under which a link is declared, perhaps together with others.
fn declared_name(link: &LinkSpec) -> &str {
    link.name.split('[').next().unwrap_or_default()
}

// --- values and errors --------------------------------------------------------------------------------------------------

fn object<'a>(json: &'a Json, path: &str) -> Result<&'a Map<String, Json>> {
    let name = if path.is_empty() { "a scenario" } else { path };
    json.as_object()
        .ok_or_else(|| at(path, format!("expected a table for {name}")))
}

fn check_keys(
    table: &Map<String, Json>,
    known: impl Iterator<Item = &'static str> + Clone,
    path: &str,
) -> Result<()> {
    let is_known = |key: &&String| known.clone().any(|name| name == *key);
    match table.keys().find(|key| !is_known(key)) {
        None => Ok(()),
        Some(key) => {
            let full = if path.is_empty() {
                key.clone()
            } else {
                format!("{path}.{key}")
            };
            let hint = match suggest(key, known.clone()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known here: {}", known.collect::<Vec<_>>().join(", ")),
            };
            Err(at_key(full, format!("unknown key `{key}`")).hint(&hint))
        }
    }
}

fn any_quantity(json: &Json, path: &str, scope: Scope) -> Result<Quantity> {
    match json {
        Json::Number(number) => Ok(Quantity::number(number.as_f64().unwrap_or(f64::NAN))),
        Json::String(text) => {
            expr::evaluate(text, &scope).map_err(|error| in_expression(path, error))
        }
        _ => Err(at(path, "expected a number, a quantity or an expression")),
    }
}

fn quantity(json: &Json, path: &str, scope: Scope, dimension: Dimension) -> Result<f64> {
    let found = any_quantity(json, path, scope)?;
    if found.dimension == dimension {
        return Ok(found.value);
    }
    let expected = match dimension {
        Dimension::Number => "a plain number",
        Dimension::Time => "a time such as `20 ms`",
        Dimension::Rate => "a rate such as `10 Mbit/s`",
        Dimension::Bytes => "a size such as `1500 B`",
        Dimension::Packets => "a size such as `50 packets`",
        Dimension::Bdp => "a size such as `1 bdp`",
    };
    Err(wrong_dimension(json, path, expected, found.dimension))
}

fn wrong_dimension(json: &Json, path: &str, expected: &str, found: Dimension) -> ScenarioError {
    let error = at(path, format!("expected {expected}, found {found}"));
    if json.is_number() {
        error.hint("write the value with its unit, in quotes")
    } else {
        error
    }
}

fn positive_time(json: &Json, path: &str, scope: Scope) -> Result<f64> {
    let secs = quantity(json, path, scope, Dimension::Time)?;
    if secs > 0.0 {
        Ok(secs)
    } else {
        Err(at(
            path,
            format!("`{path}` must be above zero, found {secs} s"),
        ))
    }
}

fn noun(what: &str) -> &str {
    match what {
        "cc" => "congestion control",
        "packet_source" => "source of packets",
        other => other,
    }
}

fn unknown<'a>(
    path: &str,
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> ScenarioError {
    let all = match what {
        "link" | "host" => format!(
            "{what}s here are {}",
            known.clone().collect::<Vec<_>>().join(", ")
        ),
        _ => format!("`sawtooth list {what}` shows all"),
    };
    let hint = match suggest(name, known) {
        Some(near) if matches!(what, "link" | "host") => format!("did you mean `{near}`?"),
        Some(near) => format!("did you mean `{near}`? {all}"),
        None => all,
    };
    at(path, format!("unknown {} `{name}`", noun(what))).hint(&hint)
}

fn in_expression(path: &str, error: ExprError) -> ScenarioError {
    ScenarioError {
        path: path.to_owned(),
        message: error.message,
        hint: error.hint,
        span: Some(error.span),
        at_key: false,
    }
}

fn at(path: impl Into<String>, message: impl Into<String>) -> ScenarioError {
    ScenarioError {
        path: path.into(),
        message: message.into(),
        ..ScenarioError::default()
    }
}

fn at_key(path: impl Into<String>, message: impl Into<String>) -> ScenarioError {
    ScenarioError {
        at_key: true,
        ..at(path, message)
    }
}

impl ScenarioError {
    fn hint(self, hint: &str) -> Self {
        Self {
            hint: Some(hint.to_owned()),
            ..self
        }
    }
}

mod arrivals;
mod bounds;
mod counts;
mod course;
mod demand;
mod distribution;
mod fit;
mod for_kernel;
mod hosts;
mod impairments;
pub mod keys;
mod queues;
mod recording;
mod udp;
mod warnings;

#[cfg(test)]
mod tests;
