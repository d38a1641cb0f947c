//! Flows that arrive and leave, in the tree: the table `arrivals` of an entry of `flows`.

use std::borrow::Cow;

use serde_json::{Map, Value as Json};

use super::super::context::{Context, Table};
use super::super::error::{Result, at, at_key, unknown};
use super::super::params::params_besides;
use super::super::value::object;
use super::super::{ArrivingSpec, FlowSpec, LinkSpec, keys};
use crate::arrivals::{Arrivals, PARAMS, offered_bits};
use crate::registry::{DistributionSpec, Params, Value};
use crate::{dist, tcp};

/// Key of `arrivals` besides its parameters: what a load is a share of.
const LINK: &str = "link";

/// An entry of `flows` with `arrivals`. What a `load` makes of the rate is found out later ([`offer`]).
pub(super) fn read(flow: FlowSpec, entry: Table, json: &Json, path: &str) -> Result<ArrivingSpec> {
    let options = object(json, path)?;
    let table = Table {
        keys: options,
        path,
        context: entry.context,
    };
    let params = params_besides(PARAMS, table, keys::ARRIVALS, "parameter of arrivals")?;
    if let Some((_, place)) = entry.get("source") {
        return Err(
            at_key(place, "flows that arrive have a `size`, and no `source`")
                .hint("leave `source` out: each writes its size and closes"),
        );
    }
    let rate = match (params.get("rate"), params.get("load")) {
        (Value::Number(_), Value::Number(_)) => {
            return Err(at(
                format!("{path}.load"),
                "`rate` and `load` say the same twice",
            )
            .hint("leave one of the two out"));
        }
        (Value::Number(rate), _) => rate,
        (_, Value::Number(load)) => load,
        _ => {
            return Err(at(path, "how often do flows arrive?")
                .hint("`rate` is a number per second, `load` a share of a link's rate"));
        }
    };
    if let (Value::Number(_), Some(_)) = (params.get("rate"), options.get(LINK)) {
        return Err(at_key(
            format!("{path}.{LINK}"),
            "`link` is what a `load` is a share of, and there is a `rate`",
        )
        .hint("leave it out"));
    }
    let start = flow.start.secs();
    let stop = match params.get("stop") {
        Value::Duration(stop) if stop <= start => {
            let message = format!("flows stop arriving at {stop} s and start at {start} s");
            return Err(at(format!("{path}.stop"), message));
        }
        Value::Duration(stop) => stop,
        _ => f64::INFINITY,
    };
    Ok(ArrivingSpec {
        flow,
        arrivals: Arrivals {
            rate,
            size: size(&params),
            number: match params.get("number") {
                Value::Integer(number) => u64::try_from(number).ok(),
                _ => None,
            },
            start,
            stop,
            bins_per_decade: u32::try_from(params.integer("bins_per_decade")).expect("at most 20"),
        },
    })
}

fn size(params: &Params) -> DistributionSpec {
    match params.get("size") {
        Value::Distribution => params.distribution("size").clone(),
        #[expect(clippy::cast_precision_loss, reason = "bytes are far below 2^53")]
        Value::Bytes(bytes) => {
            let mut params = Params::defaults(dist::TABLE[0].params);
            params.set("value", Value::Number(bytes as f64));
            DistributionSpec {
                name: dist::TABLE[0].name,
                params,
                points: Vec::new(),
            }
        }
        other => unreachable!("a size, not {other:?}"),
    }
}

/// All flows, for checks that do not ask when they are there.
pub(in crate::scenario) fn everyone<'a>(
    flows: &'a [FlowSpec],
    arriving: &[ArrivingSpec],
) -> Cow<'a, [FlowSpec]> {
    if arriving.is_empty() {
        return Cow::Borrowed(flows);
    }
    let arriving = arriving.iter().map(|one| one.flow.clone());
    Cow::Owned(flows.iter().cloned().chain(arriving).collect())
}

/// Turns loads into rates, and refuses those that their links cannot carry, alone or together.
pub(in crate::scenario) fn offer(
    context: &Context,
    arriving: &mut [ArrivingSpec],
    links: &[LinkSpec],
    duration: f64,
) -> Result<()> {
    let mut offered = vec![0.0; links.len()];
    for one in arriving {
        let path = format!("{}.arrivals", one.flow.block);
        let (smss, header) = one.sizes();
        let options = arrivals_of(context.tree, &one.flow.block);
        one.arrivals.stop = one.arrivals.stop.min(duration);
        let by_load = options.is_some_and(|options| options.contains_key("load"));
        if by_load {
            let mean = one.arrivals.mean_bytes();
            if mean.is_infinite() {
                return Err(at(
                    format!("{path}.size"),
                    "sizes without a mean offer no certain load",
                )
                .hint("give a `rate`, or sizes with a mean, such as a Pareto shape above 1"));
            }
            let name = options.and_then(|options| options.get(LINK));
            let link = loaded(name, &one.flow, links, &format!("{path}.{LINK}"))?;
            let capacity = links[link].forward.packet_bps(smss + header);
            one.arrivals.rate *= capacity / offered_bits(mean, smss, header);
        }
        let bps = one.offered_bps();
        for link in &one.flow.path {
            offered[*link] += bps;
            let load = offered[*link] / links[*link].forward.packet_bps(smss + header);
            // Rates that come from loads add up to the link's within rounding.
            if by_load && load > 1.0 + 1e-9 {
                let message = format!(
                    "the offered load on `{}` is {:.4} %: no queue can hold that",
                    links[*link].name,
                    100.0 * load
                );
                return Err(at(format!("{path}.load"), message).hint(
                    "a load of at most 1, together with what other entries offer; `rate` takes any",
                ));
            }
        }
    }
    Ok(())
}

/// The table `arrivals` of a block such as `flows[0]`.
fn arrivals_of<'a>(tree: &'a Map<String, Json>, block: &str) -> Option<&'a Map<String, Json>> {
    let index = block.trim_start_matches("flows[").trim_end_matches(']');
    let block = tree.get("flows")?.get(index.parse::<usize>().ok()?)?;
    block.get("arrivals")?.as_object()
}

/// The link that a load is a share of: the one named, or the slowest of the path.
fn loaded(name: Option<&Json>, flow: &FlowSpec, links: &[LinkSpec], path: &str) -> Result<usize> {
    let of_path = || flow.path.iter().copied();
    match name {
        None => {
            let rate = |link: &usize| links[*link].forward.rate.bps();
            let slowest = of_path().min_by(|a, b| rate(a).total_cmp(&rate(b)));
            Ok(slowest.expect("a path has a link"))
        }
        Some(Json::String(name)) => {
            let names = || of_path().map(|link| links[link].name.as_str());
            let found = of_path().find(|link| links[*link].name == *name);
            found.ok_or_else(|| unknown(path, "link", name, names()))
        }
        Some(_) => Err(at(path, "expected the name of a link of the path")),
    }
}

impl ArrivingSpec {
    /// Payload and headers of a full segment.
    pub(in crate::scenario) fn sizes(&self) -> (u32, u32) {
        let config = tcp::Config::from(&self.flow.tcp);
        (config.smss, config.header)
    }

    /// Bits per second that they offer to the links of their path.
    pub(in crate::scenario) fn offered_bps(&self) -> f64 {
        let (smss, header) = self.sizes();
        self.arrivals.offered_bps(smss, header)
    }

    /// Segments that will be delivered within `duration`, roughly.
    pub(in crate::scenario) fn segments(&self, duration: f64) -> f64 {
        let mean = self.arrivals.mean_bytes().min(1e9);
        // With what opens and closes them.
        let each = mean / f64::from(self.sizes().0) + 4.0;
        self.arrivals.expected(duration) * each
    }
}
