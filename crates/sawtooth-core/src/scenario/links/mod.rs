//! Links in the tree: the table `links`, and of each link its two directions.

mod course;
mod impairments;
mod jitter;
mod loss;
mod medium;
mod outages;
mod side;
mod trace;

use serde_json::Map;

pub(super) use self::course::check_start;
use self::side::DirectionTable;
use super::context::{Context, ReadOnce, TreeTable};
use super::error::{Result, at, at_key};
use super::groups::Groups;
use super::keys;
use super::part::part;
use super::rules;
use super::value::{check_keys, object, quantity};
use crate::expr::Dimension;
use crate::limits::Limits;
use crate::queue;
use crate::spec::{LinkDirection, LinkSpec, Part};
use crate::units::{Duration, Rate};

/// All links, and how paths name them.
pub(super) fn read<'a>(
    context: &Context<'a>,
    limits: &Limits,
) -> Result<(Vec<LinkSpec>, Groups<'a>)> {
    let Some(json) = context.tree.get("links") else {
        return Err(at_key("links", "a scenario needs links")
            .hint("for example links.bottleneck = { rate = \"10 Mbit/s\", delay = \"20 ms\" }"));
    };
    let known = keys::names(keys::DIRECTION).chain(keys::names(keys::LINK));
    let (mut links, mut groups) = (Vec::<LinkSpec>::new(), Groups::new("link"));
    for (name, json) in object(json, "links")? {
        let declared = groups.declare(name, json, &known, context, limits)?;
        let mut alike = ReadOnce::new();
        links.reserve(declared.number());
        for (name, context) in declared.items(context) {
            let table = declared.table(&context);
            let alike = alike.read(&context, || match context.before {
                Some(before) => before.links.read(&name, &context, || link(table)),
                None => link(table),
            })?;
            links.push(LinkSpec { name, ..alike });
        }
    }
    Ok((links, groups))
}

/// A link without its name; its reverse direction is like the forward one, unless it says otherwise.
fn link(table: TreeTable) -> Result<LinkSpec> {
    let forward = direction(DirectionTable {
        table,
        mirror: None,
    })?;
    let mirror = Some(&forward);
    let reverse = match table.get("reverse") {
        None => {
            let keys = &Map::new();
            let table = TreeTable { keys, ..table };
            direction(DirectionTable { table, mirror })?
        }
        Some((json, path)) => {
            let keys = object(json, &path)?;
            check_keys(keys, keys::names(keys::DIRECTION), &path)?;
            let table = TreeTable {
                keys,
                path: &path,
                ..table
            };
            direction(DirectionTable { table, mirror })?
        }
    };
    Ok(LinkSpec {
        name: String::new(),
        forward,
        reverse,
    })
}

fn direction(side: DirectionTable) -> Result<LinkDirection> {
    let impairments = impairments::read(side)?;
    let traced = impairments
        .trace
        .as_ref()
        .map(|trace| trace.mean_rate().bps());
    let direction = LinkDirection {
        rate: match traced {
            Some(bps) => Rate::from_bps(bps),
            None => rate(side)?,
        },
        delay: delay(side)?,
        queue: queue(side)?,
        loss: loss::read(side)?,
        mtu: medium::mtu(side)?,
        medium: medium::read(side)?,
        forwarding: medium::forwarding(side)?,
        impairments,
    };
    check_start(&direction, side.table.path)?;
    Ok(direction)
}

fn rate(side: DirectionTable) -> Result<Rate> {
    let Some((json, path)) = side.get("rate") else {
        let rate = side.mirror.map(|mirror| mirror.rate);
        return rate.ok_or_else(|| {
            at(side.table.path, "a link needs a `rate`").hint("for example rate = \"10 Mbit/s\"")
        });
    };
    let bps = quantity(json, &path, side.table.context, Dimension::Rate)?;
    rules::link_rate(bps, &path)?;
    Ok(Rate::from_bps(bps))
}

fn delay(side: DirectionTable) -> Result<Duration> {
    let Some((json, path)) = side.get("delay") else {
        return Ok(side
            .mirror
            .map_or(Duration::default(), |mirror| mirror.delay));
    };
    let secs = quantity(json, &path, side.table.context, Dimension::Time)?;
    rules::link_delay(secs, &path)?;
    Ok(Duration::from_secs(secs))
}

fn queue(side: DirectionTable) -> Result<Part> {
    match (side.get("queue"), side.mirror) {
        (Some((json, path)), _) => part(json, queue::TABLE, "queue", &path, side.table.context),
        (None, Some(mirror)) => Ok(mirror.queue.clone()),
        (None, None) => Ok(Part::of(&queue::TABLE[0])),
    }
}
