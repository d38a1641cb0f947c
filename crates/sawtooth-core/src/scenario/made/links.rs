//! Links: what each direction of one does, and to which packets.

use std::collections::BTreeSet;

use super::super::error::{Result, at};
use super::super::links::check_start;
use super::super::rules;
use super::parts::{parameter, part, row};
use crate::impair::{self, Changes, Jitter, Reorder, WALK_PARAMS};
use crate::loss::{self, LossSpec};
use crate::queue;
use crate::registry::Value;
use crate::spec::{Forwarding, Impairments, LinkDirection, LinkSpec, Outage, Walk};
use crate::units::{Duration, Rate};

/// All links: each with a name of its own, in both directions.
pub(super) fn all(links: &[LinkSpec]) -> Result<()> {
    let mut known = BTreeSet::new();
    for link in links {
        let path = format!("links.{}", link.name);
        if !known.insert(&link.name) {
            let message = format!("two links are called `{}`", link.name);
            return Err(at(path, message).hint("give each its own name"));
        }
        direction(&link.forward, &path)?;
        direction(&link.reverse, &format!("{path}.reverse"))?;
    }
    Ok(())
}

fn direction(direction: &LinkDirection, path: &str) -> Result<()> {
    rules::link_rate(direction.rate.bps(), &format!("{path}.rate"))?;
    rules::link_delay(direction.delay.secs(), &format!("{path}.delay"))?;
    part(
        &direction.queue,
        queue::TABLE,
        "queue",
        &format!("{path}.queue"),
    )?;
    losses(&direction.loss, path)?;
    if let Some(bytes) = direction.mtu {
        rules::mtu(bytes.as_f64(), &format!("{path}.mtu"))?;
    }
    let impairments = &direction.impairments;
    if direction.medium.is_some() && impairments.trace.is_some() {
        return Err(rules::medium_and_trace(&format!("{path}.medium")));
    }
    forwarding(direction.forwarding, &format!("{path}.forwarding"))?;
    befalling_packets(impairments, path)?;
    for (at, outage) in impairments.outages.iter().enumerate() {
        self::outage(outage, &format!("{path}.outages[{at}]"))?;
    }
    if let Some(changes) = &impairments.changes {
        self::changes(changes, impairments.trace.is_some(), path)?;
    }
    check_start(direction, path)
}

fn losses(loss: &LossSpec, path: &str) -> Result<()> {
    rules::share(loss.probability, "loss", &format!("{path}.loss"))?;
    if let Some(bursts) = loss.bursts {
        let values = [
            ("p", Value::Number(bursts.p)),
            ("r", Value::Number(bursts.r)),
            ("loss_bad", Value::Number(bursts.loss_bad)),
            ("loss_good", Value::Number(bursts.loss_good)),
        ];
        row(
            loss::TABLE,
            "gilbert_elliott",
            &values,
            &format!("{path}.loss"),
        )?;
    }
    let mut before = 0;
    for (index, number) in loss.drop.iter().enumerate() {
        let path = format!("{path}.drop[{index}]");
        #[expect(clippy::cast_precision_loss, reason = "packets are far below 2^53")]
        rules::packet_number(*number as f64, &path)?;
        if *number <= before {
            let message = format!("packet {number} comes after {before}: numbers must ascend");
            return Err(at(path, message).hint("sort them"));
        }
        before = *number;
    }
    Ok(())
}

fn forwarding(forwarding: Forwarding, path: &str) -> Result<()> {
    let values = [
        ("latency", Value::Duration(forwarding.latency.secs())),
        ("per_packet", Value::Duration(forwarding.per_packet.secs())),
    ];
    row(impair::FORWARDING_TABLE, "store_and_forward", &values, path)
}

/// What happens to single packets.
fn befalling_packets(impairments: &Impairments, path: &str) -> Result<()> {
    for (share, key) in [
        (impairments.duplicate, "duplicate"),
        (impairments.corrupt, "corrupt"),
    ] {
        rules::share(share, key, &format!("{path}.{key}"))?;
    }
    if let Some(jitter) = &impairments.jitter {
        self::jitter(jitter, &format!("{path}.jitter"))?;
    }
    let Some(reorder) = impairments.reorder else {
        return Ok(());
    };
    let (Reorder::Early { probability, gap }
    | Reorder::Late {
        probability, gap, ..
    }) = reorder;
    let gap = i64::try_from(gap).unwrap_or(i64::MAX);
    let path = format!("{path}.reorder");
    let values = [
        ("probability", Value::Number(probability)),
        ("gap", Value::Integer(gap)),
    ];
    row(impair::REORDER_TABLE, "early", &values, &path)?;
    match reorder {
        Reorder::Early { .. } => Ok(()),
        Reorder::Late { by, .. } => {
            let values = [("by", Value::Duration(by.secs()))];
            row(impair::REORDER_TABLE, "late", &values, &path)
        }
    }
}

fn jitter(jitter: &Jitter, path: &str) -> Result<()> {
    let of = |name: &str, values: &[(&str, Value)]| row(impair::JITTER_TABLE, name, values, path);
    match jitter {
        Jitter::Uniform { spread } => of("uniform", &[("spread", Value::Duration(spread.secs()))]),
        Jitter::Normal { deviation } => of(
            "normal",
            &[("deviation", Value::Duration(deviation.secs()))],
        ),
        Jitter::Pareto { scale, shape, max } => of(
            "pareto",
            &[
                ("scale", Value::Duration(scale.secs())),
                ("shape", Value::Number(*shape)),
                ("max", bound(max.secs())),
            ],
        ),
        Jitter::Table { quantiles } => {
            let mut before = None;
            for (index, quantile) in quantiles.iter().enumerate() {
                let secs = quantile.secs();
                rules::quantile_follows(before, secs, &format!("{path}.quantiles[{index}]"))?;
                before = Some(secs);
            }
            rules::quantiles(quantiles.len(), &format!("{path}.quantiles"))
        }
    }
}

/// A bound as its parameter has it, which is `none` where there is none.
fn bound(secs: f64) -> Value {
    if secs == f64::INFINITY {
        return Value::None;
    }
    Value::Duration(secs)
}

fn outage(outage: &Outage, path: &str) -> Result<()> {
    let (from_secs, until_secs) = (outage.from.secs(), outage.until.secs());
    rules::time(from_secs, &format!("{path}.from"))?;
    rules::outage(from_secs, until_secs, &format!("{path}.until"))?;
    match outage.every {
        Some(every) => {
            let path = format!("{path}.every");
            rules::outage_again(every.secs(), until_secs - from_secs, &path)
        }
        None => Ok(()),
    }
}

fn changes(changes: &Changes, is_traced: bool, path: &str) -> Result<()> {
    let (rows, every) = match changes {
        Changes::Table { rows, every } => (rows, *every),
        Changes::Walk(walk) => return self::walk(*walk, is_traced, &format!("{path}.walk")),
    };
    let list = format!("{path}.changes");
    let mut before = None;
    for (index, row) in rows.iter().enumerate() {
        let path = format!("{list}[{index}]");
        rules::time(row.after.secs(), &format!("{path}.at"))?;
        if let Some(rate) = row.rate {
            let path = format!("{path}.rate");
            if is_traced {
                return Err(rules::rate_and_trace(&path));
            }
            rules::changed_rate(rate.bps(), &path)?;
        }
        if let Some(delay) = row.delay {
            rules::time(delay.secs(), &format!("{path}.delay"))?;
        }
        if let Some(loss) = row.loss {
            rules::share(loss, "loss", &format!("{path}.loss"))?;
        }
        rules::change_follows(before, row, &format!("{path}.at"))?;
        before = Some(row);
    }
    rules::changes(rows, every, &list, &format!("{list}.every"))
}

fn walk(walk: Walk, is_traced: bool, path: &str) -> Result<()> {
    steps(["interval"], [Value::Duration(walk.interval.secs())], path)?;
    if walk.rate.is_none() && walk.delay.is_none() {
        return Err(rules::walk_of_nothing(path));
    }
    if let Some(span) = walk.rate.map(|span| span.map(Rate::bps)) {
        let names = ["rate_step", "rate_min", "rate_max"];
        steps(
            names,
            [span.step, span.min, span.max].map(Value::Rate),
            path,
        )?;
        rules::span(span, names, path)?;
        if is_traced {
            return Err(rules::rate_and_trace(&format!("{path}.rate_step")));
        }
    }
    if let Some(span) = walk.delay.map(|span| span.map(Duration::secs)) {
        let names = ["delay_step", "delay_min", "delay_max"];
        steps(
            names,
            [span.step, span.min, span.max].map(Value::Duration),
            path,
        )?;
        rules::span(span, names, path)?;
    }
    Ok(())
}

/// Parameters of a walk.
fn steps<const N: usize>(names: [&str; N], values: [Value; N], path: &str) -> Result<()> {
    let mut values = names.into_iter().zip(values);
    values.try_for_each(|(name, value)| parameter(WALK_PARAMS, name, value, path))
}
