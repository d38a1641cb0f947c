//! Refuses parameters of a queue that contradict each other, or could never work.

use serde_json::Value as Json;

use super::super::error::{Result, at};
use super::super::origins::{Origins, declared_name};
use crate::registry::Value;
use crate::spec::{LinkDirection, LinkSpec, Scenario};
use crate::tcp::key;

/// Sizes that hold at least one packet, and what would be if they did not.
const AT_LEAST_A_PACKET: &[(&str, &str)] = &[
    ("limit", "no packet would ever wait"),
    ("memory_limit", "no packet would ever wait"),
    ("mark_above", "every packet that waits would be marked"),
    ("burst", "no such packet would ever leave"),
    ("peak_burst", "no such packet would ever leave"),
];

/// The first is below the second; what the second does, and what would be otherwise.
const ASCENDING: &[(&str, &str, &str, &str)] = &[
    (
        "mark_above",
        "limit",
        "the queue drops above",
        "it would never mark",
    ),
    (
        "min_threshold",
        "max_threshold",
        "`max_threshold` is",
        "the thresholds cross",
    ),
    (
        "min_threshold",
        "limit",
        "the queue drops above",
        "its average would never get there",
    ),
    (
        "max_p_least",
        "max_p_most",
        "`max_p_most` is",
        "the bounds cross",
    ),
    (
        "target",
        "interval",
        "`interval` is",
        "the delay is to be below it for most of an interval",
    ),
    (
        "rate",
        "peak_rate",
        "`peak_rate` is",
        "no burst would be faster than the rest",
    ),
];

/// Refuses queues that are not what anybody can mean.
pub(in crate::scenario) fn check(scenario: &Scenario, origins: &Origins) -> Result<()> {
    let longest = longest_packets(scenario);
    let mut checked: Option<LinkAndPackets> = None;
    for (link, longest) in scenario.links.iter().zip(longest) {
        let this = LinkAndPackets { link, longest };
        if checked.is_some_and(|before| before.is_like(this)) {
            continue;
        }
        checked = Some(this);
        let name = declared_name(link);
        let written = origins.link(name);
        let forward = QueueOfLink {
            path: format!("links.{name}.queue"),
            written: written.and_then(|link| link.get("queue")),
            direction: &link.forward,
            longest: longest.forward,
        };
        forward.check()?;
        if link.reverse.queue != link.forward.queue {
            let reverse = QueueOfLink {
                path: format!("links.{name}.reverse.queue"),
                written: written.and_then(|link| link.get("reverse")?.get("queue")),
                direction: &link.reverse,
                longest: longest.reverse,
            };
            reverse.check()?;
        }
    }
    Ok(())
}

/// A link, and the longest packets that come to it.
#[derive(Clone, Copy)]
struct LinkAndPackets<'a> {
    link: &'a LinkSpec,
    longest: Longest,
}

impl LinkAndPackets<'_> {
    /// Whether all that is looked at is as in another one, as in most links.
    fn is_like(self, other: Self) -> bool {
        let alike = |one: &LinkDirection, other: &LinkDirection| {
            one.rate == other.rate && one.queue == other.queue
        };
        self.longest == other.longest
            && alike(&self.link.forward, &other.link.forward)
            && alike(&self.link.reverse, &other.link.reverse)
    }
}

/// Bytes of the longest packet that comes to a link in each direction.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Longest {
    forward: u64,
    reverse: u64,
}

/// Those of each link. Some of a source whose sizes are random may be longer than what a queue holds.
fn longest_packets(scenario: &Scenario) -> Vec<Longest> {
    let mut longest = vec![Longest::default(); scenario.links.len()];
    for flow in scenario.all_flows() {
        let header = key::header.of(&flow.tcp).get();
        let segment = header + key::smss.of(&flow.tcp).get();
        for link in &flow.path {
            let link = &mut longest[*link];
            link.forward = link.forward.max(segment);
            link.reverse = link.reverse.max(header);
        }
    }
    for flow in &scenario.udp {
        // A source without this parameter does not say here how large its packets are.
        let Some(Value::Bytes(datagram)) = flow.source.params.find("size") else {
            continue;
        };
        for link in &flow.path {
            let link = &mut longest[*link];
            link.forward = link.forward.max(datagram);
        }
    }
    longest
}

/// A queue and where it is written.
struct QueueOfLink<'a> {
    path: String,
    written: Option<&'a Json>,
    direction: &'a LinkDirection,
    /// The longest packet that comes, bytes.
    longest: u64,
}

impl QueueOfLink<'_> {
    /// The path of a key, or of the first of them that is written.
    fn path(&self, keys: &[&str]) -> String {
        let written = |key: &&&str| self.written.is_some_and(|json| json.get(**key).is_some());
        let key = keys.iter().find(written);
        match (key, self.written) {
            (Some(key), _) => format!("{}.{key}", self.path),
            // Taken over from the other direction, or a default.
            (None, Some(_)) => self.path.clone(),
            (None, None) => self.path.trim_end_matches(".queue").to_owned(),
        }
    }

    fn check(&self) -> Result<()> {
        let params = &self.direction.queue.params;
        if self.direction.queue.name == "token_bucket" && params.get("rate") == Value::None {
            return Err(at(self.path(&[]), "a token bucket needs a `rate`").hint(
                "for example queue = { name = \"token_bucket\", rate = \"10 Mbit/s\", burst = \"32 kB\" }",
            ));
        }
        for (low, high, does, consequence) in ASCENDING {
            let (Some(least), Some(most)) = (params.find(low), params.find(high)) else {
                continue;
            };
            if *high == "max_threshold" && same_unit(least, most) == Some(false) {
                let message = format!(
                    "`{low}` is {}, and `{high}` {}: the average is counted in one or the other",
                    words(least),
                    words(most)
                );
                return Err(at(self.path(&[low, high]), message)
                    .hint("give both in packets, or both in bytes or bdp"));
            }
            if reaches(least, most) {
                let message = format!(
                    "`{low}` is {}, and {does} {}: {consequence}",
                    words(least),
                    words(most)
                );
                return Err(at(self.path(&[low, high]), message)
                    .hint(&format!("set `{low}` below `{high}`")));
            }
        }
        for (key, consequence) in AT_LEAST_A_PACKET {
            if let Some(Value::Bytes(bytes)) = params.find(key)
                && bytes < self.longest
                && !(*key == "peak_burst" && params.get("peak_rate") == Value::None)
            {
                let message = format!(
                    "`{key}` is {bytes} B, less than one packet of {} B: {consequence}",
                    self.longest
                );
                return Err(at(self.path(&[key]), message)
                    .hint(&format!("set `{key}` to at least one packet")));
            }
        }
        self.check_time()
    }

    /// A buffer that is given in time at the link's rate.
    fn check_time(&self) -> Result<()> {
        let params = &self.direction.queue.params;
        let (Some(Value::None), Some(Value::Duration(secs))) =
            (params.find("limit"), params.find("limit_time"))
        else {
            return Ok(());
        };
        let buffer = words(Value::Duration(secs));
        for (low, consequence) in [
            ("target", "its delay would never get there"),
            ("min_threshold", "no L4S packet would ever wait that long"),
        ] {
            if let Some(least @ Value::Duration(aim)) = params.find(low)
                && aim >= secs
            {
                let message = format!(
                    "`{low}` is {}, and the queue drops above {buffer}: {consequence}",
                    words(least)
                );
                return Err(at(self.path(&["limit_time", low]), message)
                    .hint(&format!("set `{low}` below `limit_time`")));
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a packet's size")]
        if self.direction.rate.bps() * secs < 8.0 * self.longest as f64 {
            let message = format!(
                "`limit_time` is {buffer}, less than one packet of {} B takes: no packet would ever wait",
                self.longest
            );
            return Err(at(self.path(&["limit_time"]), message).hint(
                "set `limit_time` to at least one packet's time, or `limit` to at least one packet",
            ));
        }
        Ok(())
    }
}

/// Whether two sizes are counted alike; nothing if one of them is left open.
fn same_unit(one: Value, other: Value) -> Option<bool> {
    let in_bytes = |value| match value {
        Value::Packets(_) => Some(false),
        Value::Bytes(_) => Some(true),
        _ => None,
    };
    Some(in_bytes(one)? == in_bytes(other)?)
}

/// Whether a value is as large as another, as far as they can be compared.
fn reaches(low: Value, high: Value) -> bool {
    match (low, high) {
        (Value::Packets(low), Value::Packets(high)) | (Value::Bytes(low), Value::Bytes(high)) => {
            low >= high
        }
        (Value::Number(low), Value::Number(high))
        | (Value::Duration(low), Value::Duration(high))
        | (Value::Rate(low), Value::Rate(high)) => low >= high,
        _ => false,
    }
}

fn words(value: Value) -> String {
    match value {
        Value::Packets(packets) => format!("{packets} packets"),
        Value::Bytes(bytes) => format!("{bytes} B"),
        Value::Number(number) => number.to_string(),
        Value::Duration(secs) => format!("{} ms", secs * 1e3),
        Value::Rate(bps) => format!("{} Mbit/s", bps / 1e6),
        other => format!("{other:?}"),
    }
}
