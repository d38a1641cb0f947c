//! What can be run, and is hardly meant: each warning says what will happen, and where to change it.

use std::collections::BTreeSet;

use super::error::{ScenarioError, at, at_key};
use super::loads::OfferedLoads;
use super::origins::{Origin, Origins, TcpTables, declared_name};
use crate::registry::Value;
use crate::rng::RandomStream;
use crate::spec::{FlowSpec, FluidSpec, LinkDirection, LinkSpec, Scenario};
use crate::tcp::key;
use crate::tcp::params::{Feedback, ReadBy, TcpParam, rows_that_some_read};
use crate::units::Instant;
use crate::{cc, queue};

/// What can be run of a scenario, and is hardly meant: each says once what will happen.
pub fn warnings(scenario: &Scenario, origins: &Origins) -> Vec<ScenarioError> {
    let flows = scenario.all_flows().zip(origins.all_flows());
    let read_by_some = rows_that_some_read();
    let tcp = flows.flat_map(|(flow, origin)| {
        let tables = origins.tcp(origin);
        let own = [
            marks(scenario, flow, origin, &tables),
            backoff(flow, origin),
            rates(flow, origin),
            twice(scenario, &flow.path, origin, CROSSED_BACK),
            late(scenario, flow.start, origin),
        ];
        let keys = ineffective(scenario, flow, &tables, &read_by_some);
        own.into_iter().flatten().chain(keys)
    });
    let udp = scenario.udp.iter().zip(&origins.entries.udp);
    let udp = udp.flat_map(|(flow, origin)| {
        let own = [
            twice(scenario, &flow.path, *origin, "list each link once"),
            late(scenario, flow.start, *origin),
        ];
        own.into_iter().flatten()
    });
    let links = overload(scenario, origins).into_iter();
    let links = links.chain(unused(scenario));
    let links = links.chain(unrecorded(scenario, origins));
    let links = links.chain(scenario.links.iter().filter_map(shapes_nothing));
    let fluid = scenario.fluid.iter().zip(&origins.entries.fluid);
    let fluid = fluid.flat_map(|(spec, origin)| {
        let own = [
            Some(approximate(&spec.flow, *origin)),
            crowded(scenario, spec, *origin),
        ];
        own.into_iter().flatten()
    });
    let mut found = Vec::new();
    for warning in tcp.chain(udp).chain(links).chain(fluid) {
        if !found.contains(&warning) {
            found.push(warning);
        }
    }
    found
}

/// A stretch of time of a table that is not recorded.
fn unrecorded(scenario: &Scenario, origins: &Origins) -> Option<ScenarioError> {
    let mut keys = ["record_from", "record_until"].into_iter();
    let key =
        keys.find(|key| scenario.record.packets.is_none() && origins.tree.contains_key(*key))?;
    let message = format!("`{key}` is of the table `packets`, which is not recorded");
    Some(at_key(key, message).hint("add record = [\"packets\"]"))
}

/// Links that no flow crosses; of those declared together all of them.
fn unused(scenario: &Scenario) -> Vec<ScenarioError> {
    let names = |links: &[usize]| -> Vec<&str> {
        let links = links.iter().map(|link| &scenario.links[*link]);
        links.map(declared_name).collect()
    };
    let tcp = scenario.all_flows().flat_map(|flow| names(&flow.path));
    let udp = scenario.udp.iter().flat_map(|flow| names(&flow.path));
    let mut known: BTreeSet<&str> = tcp.chain(udp).collect();
    let links = scenario.links.iter().map(declared_name);
    let idle = links.filter(|name| known.insert(name));
    idle.map(|name| {
        at_key(
            format!("links.{name}"),
            format!("no flow crosses `{name}`: it will do nothing"),
        )
        .hint("name it in the `path` of a flow, or leave it out")
    })
    .collect()
}

const CROSSED_BACK: &str =
    "acknowledgements take the same links back by themselves: list each link once";

/// The path of a flow crosses a link more than once.
fn twice(
    scenario: &Scenario,
    path: &[usize],
    origin: Origin,
    instead: &str,
) -> Option<ScenarioError> {
    let mut crossed = BTreeSet::new();
    let again = path.iter().position(|link| !crossed.insert(link))?;
    let name = declared_name(&scenario.links[path[again]]);
    let message = format!("the path crosses `{name}` twice: packets will queue there twice");
    let place = origin.key(&format!("path[{again}]"));
    Some(at(place, message).hint(instead))
}

/// A flow starts when all is over.
fn late(scenario: &Scenario, start: Instant, origin: Origin) -> Option<ScenarioError> {
    let end = scenario.duration.secs();
    (start.secs() >= end).then(|| {
        let message = format!("the run ends at {end} s, before this starts: it will send nothing");
        at(origin.key("start"), message)
            .hint("start it earlier, or give the scenario a longer `duration`")
    })
}

/// Flows that arrive at a rate that their link cannot carry; loads like that are refused.
fn overload(scenario: &Scenario, origins: &Origins) -> Option<ScenarioError> {
    let mut loads = OfferedLoads::new(&scenario.links);
    let entries = scenario.arriving.iter().zip(&origins.entries.arriving);
    let mut over = entries.filter_map(|(one, origin)| Some((loads.add(one)?, origin)));
    over.next().map(|((link, load), origin)| {
        let message = format!(
            "the offered load on `{}` is {:.0} %: more and more flows will be there until none arrive any more",
            link.name,
            100.0 * load
        );
        at(origin.key("arrivals"), message).hint("lower `rate` or `size`, or give a `load`")
    })
}

/// Flows that are not simulated packet by packet.
fn approximate(flow: &FlowSpec, origin: Origin) -> ScenarioError {
    let message = format!(
        "`{}` is a fluid: an approximation, whose errors against packets are in docs/validation/fluid.md",
        flow.name
    );
    at(origin.key("model"), message)
        .hint("leave `model` out to see what packets give, at least in one cell of a study")
}

/// Flows that are a fluid, and so many that their windows are hardly windows.
fn crowded(scenario: &Scenario, spec: &FluidSpec, origin: Origin) -> Option<ScenarioError> {
    /// Below two segments errors were of several hundred per cent (docs/validation/fluid.md).
    const FEW_SEGMENTS: f64 = 3.0;
    let (flow, segment) = (&spec.flow, spec.law().segment.as_f64());
    let window = |link: &usize| {
        let direction = &scenario.links[*link].forward;
        let held = match direction.queue.params.find("limit") {
            #[expect(clippy::cast_precision_loss, reason = "buffers are far below 2^53")]
            Some(Value::Packets(packets)) => packets as f64,
            #[expect(clippy::cast_precision_loss, reason = "buffers are far below 2^53")]
            Some(Value::Bytes(bytes)) => bytes as f64 / segment,
            _ => return f64::INFINITY,
        };
        let path = direction.rate.bps() * scenario.base_rtt(flow).secs() / 8.0 / segment;
        #[expect(clippy::cast_precision_loss, reason = "a count")]
        let flows = spec.starts.len() as f64;
        (path + held) / flows
    };
    let window = flow.path.iter().map(window).fold(f64::INFINITY, f64::min);
    (window < FEW_SEGMENTS).then(|| {
        let message = format!(
            "`{}` is a fluid: an approximation that is of no use here, where a flow has a window of {window:.1} segments of all that a link and its buffer hold",
            flow.name
        );
        at(origin.key("count"), message).hint("leave `model` out, or take fewer flows")
    })
}

/// A token bucket that fills as fast as its link sends.
fn shapes_nothing(link: &LinkSpec) -> Option<ScenarioError> {
    let direction = &link.forward;
    let Some(Value::Rate(bps)) = direction.queue.params.find("rate") else {
        return None;
    };
    (bps >= direction.rate.bps()).then(|| {
        let path = format!("links.{}.queue.rate", declared_name(link));
        at(
            path,
            "the bucket fills as fast as its link sends: it will hold nothing back",
        )
        .hint("set `rate` below the link's own")
    })
}

/// An algorithm that lives on marks and gets none, or not those it needs.
fn marks(
    scenario: &Scenario,
    flow: &FlowSpec,
    origin: Origin,
    tables: &TcpTables,
) -> Option<ScenarioError> {
    if flow.kernel_cc.is_some() {
        return None;
    }
    let name = flow.cc.name;
    let wants = cc::named(name).needs.ecn;
    let asked = tables.place("ecn");
    let feedback = key::ecn.of(&flow.tcp);
    let at_ecn =
        |message: String, hint: &str| asked.clone().map(|path| at(path, message).hint(hint));
    if wants == cc::EcnMode::Classic {
        // Who answers sends data the other way.
        let marked = || some_queue_marks(scenario, flow, true);
        if feedback == Feedback::Off || marked() {
            return None;
        }
        let message = "no queue on the path marks: ECN is agreed on, and changes nothing".into();
        return at_ecn(
            message,
            "give a link of its path a queue that marks, such as \"red\", or leave `ecn` out",
        );
    }
    if feedback == Feedback::Off {
        return at_ecn(
            format!(
                "`{name}` without ECN hears of no marks: it will react to losses only, as reno"
            ),
            "leave `ecn` out: it then brings what it needs",
        );
    }
    if !some_queue_marks(scenario, flow, false) {
        let message = format!(
            "no queue on the path of `{name}` marks: it will react to losses only, as reno"
        );
        return Some(at(origin.cc(), message).hint(
            "give a link of its path queue = { name = \"step\" }, or take another algorithm",
        ));
    }
    if feedback == Feedback::Classic {
        let message = match wants {
            cc::EcnMode::L4s => format!(
                "with classic feedback `{name}` hears of one mark per round trip: it will react as to a loss"
            ),
            _ => format!(
                "with classic feedback `{name}` takes all that is echoed until its CWR arrives for marked: it will reduce too much"
            ),
        };
        return at_ecn(message, "leave `ecn` out: it then brings what it needs");
    }
    None
}

/// Whether a queue on the path marks, on the way there or, if asked for, back.
fn some_queue_marks(scenario: &Scenario, flow: &FlowSpec, also_back: bool) -> bool {
    let marking = |direction: &LinkDirection| {
        let site = queue::Site {
            rate: direction.rate,
            stream: RandomStream::new(0, ""),
        };
        queue::build(direction.queue.name, &direction.queue.params, site).marks()
    };
    flow.path.iter().any(|link| {
        let link = &scenario.links[*link];
        marking(link.way(flow.direction))
            || (also_back && marking(link.way(flow.direction.opposite())))
    })
}

/// A reaction to marks that never come.
fn backoff(flow: &FlowSpec, origin: Origin) -> Option<ScenarioError> {
    let set = matches!(flow.cc.params.find("beta_ecn"), Some(Value::Number(_)));
    let off = key::ecn.of(&flow.tcp) == Feedback::Off;
    (set && off).then(|| {
        let message = "`beta_ecn` has no effect: without ECN there are no marks";
        at_key(format!("{}.beta_ecn", origin.cc()), message)
            .hint("set tcp.ecn = \"classic\", and a queue that marks")
    })
}

/// An algorithm that lives on delivery rates, which only one recovery measures.
fn rates(flow: &FlowSpec, origin: Origin) -> Option<ScenarioError> {
    let recovery = key::recovery.of(&flow.tcp);
    let blind =
        flow.kernel_cc.is_none() && cc::named(flow.cc.name).needs.rates == cc::Rates::Needed;
    (blind && !recovery.keeps_segments()).then(|| {
        let message = format!(
            "`{}` needs delivery rates, which recovery \"{}\" does not measure: its window will stay a few segments",
            flow.cc.name,
            recovery.word()
        );
        at(origin.cc(), message).hint("set stack = \"linux\", or tcp.recovery = \"rack\"")
    })
}

/// Keys of `tcp` that the flow's recovery does not read, or its policy of delayed acknowledgements; those of all flows only where no flow's does.
fn ineffective(
    scenario: &Scenario,
    flow: &FlowSpec,
    tables: &TcpTables,
    read_by_some: &[(&TcpParam, ReadBy)],
) -> Vec<ScenarioError> {
    let mut found = Vec::new();
    for (row, ReadBy { choice, words }) in read_by_some {
        let chosen = flow.tcp.choice(choice);
        let key = row.param.name;
        let Some(path) = tables.place(key).filter(|_| !words.contains(&chosen)) else {
            continue;
        };
        let common = path.starts_with("tcp.");
        let read_by_another = scenario
            .all_flows()
            .any(|other| words.contains(&other.tcp.choice(choice)));
        if common && read_by_another {
            continue;
        }
        let message = format!("`{key}` has no effect: `{choice}` is \"{chosen}\" here");
        let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        let hint = format!("leave it out, or set {choice} = {}", words.join(" or "));
        found.push(at_key(path, message).hint(&hint));
    }
    found
}
