//! What a single value of a scenario must be, whether it was read or a program has made it: each rule with the text of its error.
//!
//! Values of parameters have theirs in `kind`, and what concerns several parts at once is in `check`.

use super::error::{Result, ScenarioError, at, at_key};
use crate::dist::Fault;
use crate::impair::{Change, WalkSpan};
use crate::registry::Unit;
use crate::spec::Stretch;
use crate::units::Duration;

/// What is wrong where nothing sends.
pub(super) const NO_FLOW: &str = "a scenario needs at least one flow";

/// Only a program can make what is without end: expressions are refused before.
fn finite(found: f64, what: &str, unit: &str, path: &str) -> Result<()> {
    if found.is_finite() {
        return Ok(());
    }
    let message = format!("{what} must be finite, found {found} {unit}");
    Err(at(path, message))
}

/// Seconds of a key of the scenario itself.
pub(super) fn above_zero(secs: f64, key: &str) -> Result<()> {
    if secs > 0.0 {
        return finite(secs, &format!("`{key}`"), "s", key);
    }
    Err(at(
        key,
        format!("`{key}` must be above zero, found {secs} s"),
    ))
}

/// Seconds, zero or more.
pub(super) fn time(secs: f64, path: &str) -> Result<()> {
    if secs >= 0.0 {
        return finite(secs, "a time", "s", path);
    }
    let message = format!("a time cannot be negative, found {secs} s");
    Err(at(path, message))
}

/// A probability; `what` is its key.
pub(super) fn share(found: f64, what: &str, path: &str) -> Result<()> {
    if (0.0..=1.0).contains(&found) {
        return Ok(());
    }
    let message = format!("`{what}` is a probability from 0 to 1, found {found}");
    Err(at(path, message))
}

/// A link's rate, bits per second.
pub(super) fn link_rate(bps: f64, path: &str) -> Result<()> {
    bounded_rate(bps, "a link's rate", path)?;
    if bps > 0.0 {
        return finite(bps, "a link's rate", "bit/s", path);
    }
    let message = format!("a link's rate must be above zero, found {bps} bit/s");
    Err(at(path, message))
}

/// Far more than any link has. At a hundred times as much a segment takes less time than a clock in seconds tells apart after an hour.
fn bounded_rate(bps: f64, what: &str, path: &str) -> Result<()> {
    const MOST_BPS: f64 = 1e15;
    if bps <= MOST_BPS || !bps.is_finite() {
        return Ok(());
    }
    let message = format!("{what} can be up to 1000 Tbit/s, found {bps:e} bit/s");
    Err(at(path, message).hint("such as rate = \"100 Gbit/s\""))
}

/// A link's delay, seconds.
pub(super) fn link_delay(secs: f64, path: &str) -> Result<()> {
    /// Whole nanoseconds of more do not fit into a column.
    const MOST_YEARS: f64 = 292.0;
    const YEAR_SECS: f64 = 365.25 * 86_400.0;
    if secs > MOST_YEARS * YEAR_SECS && secs.is_finite() {
        let message = format!("a link's delay can be up to {MOST_YEARS} years, found {secs:e} s");
        return Err(at(path, message).hint("such as delay = \"20 ms\""));
    }
    if secs >= 0.0 {
        return finite(secs, "a link's delay", "s", path);
    }
    let message = format!("a link's delay cannot be negative, found {secs} s");
    Err(at(path, message))
}

/// Bytes of the largest packet of a link.
pub(super) fn mtu(bytes: f64, path: &str) -> Result<()> {
    /// RFC 791 §3.2: every module must be able to forward so much.
    const LEAST: f64 = 68.0;
    if bytes >= LEAST && bytes.fract() == 0.0 {
        return Ok(());
    }
    let message = format!("`mtu` is a whole number of bytes, of at least {LEAST}, found {bytes}");
    Err(at(path, message))
}

/// The number of a packet that is lost.
pub(super) fn packet_number(number: f64, path: &str) -> Result<()> {
    if (1.0..=9e15).contains(&number) && number.fract() == 0.0 {
        return Ok(());
    }
    let message = format!("packets are counted from 1, found {number}");
    Err(at(path, message))
}

/// When an outage begins and ends, in seconds; `path` is that of its end.
pub(super) fn outage(from_secs: f64, until_secs: f64, path: &str) -> Result<()> {
    if until_secs > from_secs {
        return Ok(());
    }
    let message = format!("the outage ends at {until_secs} s, and begins at {from_secs} s");
    Err(at(path, message))
}

/// After how many seconds an outage of this length comes again.
pub(super) fn outage_again(every_secs: f64, length_secs: f64, path: &str) -> Result<()> {
    if every_secs > length_secs {
        return Ok(());
    }
    let message = format!(
        "an outage every {every_secs} s that takes {length_secs} s: the link would never be up"
    );
    Err(at(path, message))
}

/// A rate that a link changes to, bits per second.
pub(super) fn changed_rate(bps: f64, path: &str) -> Result<()> {
    bounded_rate(bps, "a rate", path)?;
    if bps >= 0.0 {
        return finite(bps, "a rate", "bit/s", path);
    }
    let message = format!("a rate cannot be negative, found {bps} bit/s");
    Err(at(path, message))
}

/// A change after the one `before` it, if there is one.
pub(super) fn change_follows(before: Option<&Change>, row: &Change, path: &str) -> Result<()> {
    let Some(before) = before.filter(|before| before.after >= row.after) else {
        return Ok(());
    };
    let (here, before) = (row.after.secs(), before.after.secs());
    let message = format!("{here} s comes after {before} s: times must ascend");
    Err(at(path, message).hint("write the changes in the order of their times, each time once"))
}

/// A table of changes has rows, and starts again after the last of them; `path` and `again` are those of the rows and of that.
pub(super) fn changes(
    rows: &[Change],
    every: Option<Duration>,
    path: &str,
    again: &str,
) -> Result<()> {
    let Some(last) = rows.last() else {
        return Err(at(path, "a table of changes needs a row")
            .hint("for example changes = [{ at = \"5 s\", rate = \"2 Mbit/s\" }]"));
    };
    let Some(every) = every.filter(|every| *every <= last.after) else {
        return Ok(());
    };
    let message = format!(
        "the table cannot start again after {} s: it goes on to {} s",
        every.secs(),
        last.after.secs()
    );
    Err(at(again, message))
}

/// The bounds of a walk leave room for a step, whose names these are.
pub(super) fn span(span: WalkSpan<f64>, [step, min, max]: [&str; 3], path: &str) -> Result<()> {
    if span.min >= span.max {
        return Err(at(
            format!("{path}.{min}"),
            format!("`{min}` must be below `{max}`"),
        ));
    }
    if span.step > span.max - span.min {
        return Err(at(
            format!("{path}.{step}"),
            format!("`{step}` is larger than from `{min}` to `{max}`"),
        ));
    }
    Ok(())
}

/// A quantile of a measured delay after the one `before` it, seconds.
pub(super) fn quantile_follows(before: Option<f64>, secs: f64, path: &str) -> Result<()> {
    if before.is_some_and(|before| before > secs) {
        return Err(at(path, "quantiles must ascend").hint("sort them"));
    }
    finite(secs, "a quantile", "s", path)
}

/// How many quantiles make a distribution.
pub(super) fn quantiles(number: usize, path: &str) -> Result<()> {
    if number < 2 {
        return Err(at(path, "a distribution needs at least two quantiles"));
    }
    Ok(())
}

/// When a flow starts, in seconds.
pub(super) fn start(secs: f64, path: &str) -> Result<()> {
    not_negative(secs, "a flow cannot start before the run", path)?;
    finite(secs, "the start of a flow", "s", path)
}

/// How far a flow is from its links, in seconds.
pub(super) fn access_delay(secs: f64, path: &str) -> Result<()> {
    not_negative(secs, "a delay cannot be negative", path)?;
    finite(secs, "a delay", "s", path)
}

fn not_negative(secs: f64, negative: &str, path: &str) -> Result<()> {
    if secs >= 0.0 {
        return Ok(());
    }
    let message = format!("{negative}: {secs} s");
    Err(at(path, message).hint("give a time of zero or more, or leave it out for zero"))
}

/// How many links a flow crosses.
pub(super) fn path(links: usize, path: &str) -> Result<()> {
    if links == 0 {
        return Err(at(path, "a path needs at least one link")
            .hint("list the links in the order data crosses them"));
    }
    Ok(())
}

/// When flows start and stop arriving, in seconds.
pub(super) fn arrivals_stop(start: f64, stop: f64, path: &str) -> Result<()> {
    if stop > start {
        return Ok(());
    }
    let message = format!("flows stop arriving at {stop} s and start at {start} s");
    Err(at(path, message))
}

/// When a flow of UDP starts and stops, in seconds.
pub(super) fn udp_stop(start: f64, stop: f64, path: &str) -> Result<()> {
    if stop > start {
        return Ok(());
    }
    let message = format!("a flow stops after its start, which is at {start} s, found {stop} s");
    Err(at(path, message).hint("both count from the start of the run"))
}

/// Of which part of a run that takes so many seconds packets are recorded.
pub(super) fn stretch(stretch: Stretch, duration_secs: f64, path: &str) -> Result<()> {
    let (from, until) = (stretch.from.secs(), stretch.until.secs());
    if from < until {
        return Ok(());
    }
    let message = format!(
        "nothing is between {from} s, where recording packets begins, and {until} s, where it ends"
    );
    Err(at(path, message).hint(&format!("the run takes {duration_secs} s")))
}

/// A name that two flows have.
pub(super) fn two_flows(name: &str, path: &str) -> ScenarioError {
    let message = format!("two flows are called `{name}`");
    at(path, message).hint("give each its own name")
}

/// A medium where a trace says when packets leave; `path` is that of one of the two.
pub(super) fn medium_and_trace(path: &str) -> ScenarioError {
    let message = "a link with a `trace` has no `medium`: the trace says when packets leave";
    at_key(path, message).hint("leave one of the two out")
}

/// A rate beside that of a trace.
pub(super) fn rate_and_trace(path: &str) -> ScenarioError {
    let message = "a link with a `trace` has its rate from it";
    at_key(path, message).hint("leave one of the two out")
}

/// A walk that goes nowhere.
pub(super) fn walk_of_nothing(path: &str) -> ScenarioError {
    at(path, "a walk of nothing: neither rate nor delay changes")
        .hint("for example walk = { rate_step = \"1 Mbit/s\", rate_min = \"1 Mbit/s\", rate_max = \"20 Mbit/s\" }")
}

/// A machine of flows that arrive.
pub(super) fn host_of_arrivals(path: &str) -> ScenarioError {
    at(path, "flows that arrive and leave cannot have a host")
        .hint("leave it out, or write flows with `count`, a `start` and a `size`")
}

/// Variables where nothing is sampled.
pub(super) fn variables_without_samples(path: &str) -> ScenarioError {
    at(
        path,
        "variables are taken with the samples, and there are none",
    )
    .hint("add sample = \"100 ms\", or \"ack\"")
}

/// What hosts record, without one.
pub(super) fn recorded_without_host(word: &str, path: &str) -> ScenarioError {
    let message = format!("`{word}` are told by hosts, and no flow has one");
    at(path, message).hint("add hosts.NAME = { ... }, and host = \"NAME\" to a flow")
}

/// What is wrong with a distribution, whose path this is.
pub(super) fn distribution(fault: Fault, path: &str) -> ScenarioError {
    let path = match fault.key {
        "" => path.to_owned(),
        key => format!("{path}.{key}"),
    };
    at(path, fault.message).hint(fault.hint)
}

/// A parameter of a distribution: a quantity of what is drawn.
pub(super) fn drawn(name: &str, found: f64, unit: Unit, path: &str) -> Result<()> {
    if found > 0.0 && found.is_finite() {
        return Ok(());
    }
    let unit = match unit {
        Unit::Time { .. } => "s",
        Unit::Bytes => "B",
    };
    let message = format!("`{name}` must be above zero, found {found} {unit}");
    Err(at(path, message))
}
