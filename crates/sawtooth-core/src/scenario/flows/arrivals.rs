//! Flows that arrive and leave, in the tree: the table `arrivals` of an entry of `flows`.

use serde_json::Value as Json;

use super::super::context::TreeTable;
use super::super::error::{Result, at, at_key, unknown};
use super::super::keys;
use super::super::loads::OfferedLoads;
use super::super::origins::Origins;
use super::super::params::params_besides;
use super::super::rules;
use super::super::value::object;
use crate::arrivals::{Arrivals, PARAMS};
use crate::dist;
use crate::registry::{DistributionSpec, Params, Value};
use crate::spec::{ArrivingSpec, FlowSpec, LinkSpec, Scenario};
use crate::units::Instant;

/// Key of `arrivals` besides its parameters: what a load is a share of.
const LINK: &str = "link";

/// An entry of `flows` with `arrivals`. What a `load` makes of the rate is found out later ([`offer`]).
pub(super) fn read(
    flow: FlowSpec,
    entry: TreeTable,
    json: &Json,
    path: &str,
) -> Result<ArrivingSpec> {
    let options = object(json, path)?;
    let table = TreeTable {
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
        Value::Duration(stop) => {
            rules::arrivals_stop(start, stop, &format!("{path}.stop"))?;
            stop
        }
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
            start: Instant::from_secs(start),
            stop: Instant::from_secs(stop),
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

/// Turns loads into rates, and refuses those that their links cannot carry, alone or together.
pub(in crate::scenario) fn offer(scenario: &mut Scenario, origins: &Origins) -> Result<()> {
    let (links, end) = (&scenario.links, Instant::START + scenario.duration);
    let mut loads = OfferedLoads::new(links);
    for (one, origin) in scenario.arriving.iter_mut().zip(&origins.entries.arriving) {
        let place = |key: &str| origin.key(&format!("arrivals.{key}"));
        let segment = one.full_segment();
        one.arrivals.stop = one.arrivals.stop.min(end);
        let options = origins.get(*origin, "arrivals").and_then(Json::as_object);
        let by_load = options.is_some_and(|options| options.contains_key("load"));
        if by_load {
            let mean = one.arrivals.mean_bytes();
            if mean.is_infinite() {
                return Err(
                    at(place("size"), "sizes without a mean offer no certain load").hint(
                        "give a `rate`, or sizes with a mean, such as a Pareto shape above 1",
                    ),
                );
            }
            let name = options.and_then(|options| options.get(LINK));
            let link = loaded(name, &one.flow, links, &place(LINK))?;
            let capacity = links[link]
                .way(one.flow.direction)
                .packet_rate(segment.size())
                .bps();
            one.arrivals.rate *= capacity / segment.bits_of(mean);
        }
        if let Some((link, load)) = loads.add(one)
            && by_load
        {
            let message = format!(
                "the offered load on `{}` is {:.4} %: no queue can hold that",
                link.name,
                100.0 * load
            );
            return Err(at(place("load"), message).hint(
                "a load of at most 1, together with what other entries offer; `rate` takes any",
            ));
        }
    }
    Ok(())
}

/// The link that a load is a share of: the one named, or the slowest of the path.
fn loaded(name: Option<&Json>, flow: &FlowSpec, links: &[LinkSpec], path: &str) -> Result<usize> {
    let of_path = || flow.path.iter().copied();
    match name {
        None => {
            let rate = |link: &usize| links[*link].way(flow.direction).rate.bps();
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
