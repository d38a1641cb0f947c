//! Keys of a link, and of the tables within it.

use super::common::COUNT;
use super::key::{Missing, ScenarioKey, Takes};

/// Keys of a direction: a link has them, and its `reverse` again.
pub(in crate::scenario) const DIRECTION: &[ScenarioKey] = &[
    ScenarioKey {
        name: "rate",
        takes: Takes::Rate,
        missing: Missing::Told("needed, or else a `trace`"),
        summary: "rate of each direction",
        example: r#""10 Mbit/s""#,
    },
    ScenarioKey {
        name: "delay",
        takes: Takes::Time,
        missing: Missing::As(r#""0 s""#),
        summary: "propagation, one way",
        example: r#""20 ms""#,
    },
    ScenarioKey {
        name: "queue",
        takes: Takes::Part("queue"),
        missing: Missing::As(r#""drop_tail""#),
        summary: "queue discipline; a limit in `bdp` is in products of this link's rate and the shortest round-trip propagation time of the flows across it",
        example: r#"{"name": "drop_tail", "limit": "50 packets"}"#,
    },
    ScenarioKey {
        name: "loss",
        takes: Takes::Told(
            "number from 0 to 1, or table with a `name` of `loss` and its parameters",
        ),
        missing: Missing::As("0"),
        summary: "probability with which a packet is lost on the wire, after its transmission; or losses in bursts",
        example: "0.01",
    },
    ScenarioKey {
        name: "drop",
        takes: Takes::Told("list of numbers"),
        missing: Missing::As("[]"),
        summary: "packets that are lost, counted from 1 as they arrive at the link",
        example: "[20, 21]",
    },
    ScenarioKey {
        name: "mtu",
        takes: Takes::Bytes,
        missing: Missing::Told("none, or the medium's"),
        summary: "the largest packet; larger segments are an error, or see `path_mtu_discovery` of TCP",
        example: r#""1500 B""#,
    },
    ScenarioKey {
        name: "medium",
        takes: Takes::Part("medium"),
        missing: Missing::As(r#""none""#),
        summary: "the frames or cells in which packets leave",
        example: r#""ethernet""#,
    },
    ScenarioKey {
        name: "forwarding",
        takes: Takes::Part("forwarding"),
        missing: Missing::As(r#""store_and_forward""#),
        summary: "how the node at the link's end passes packets on to the next link",
        example: r#""cut_through""#,
    },
    ScenarioKey {
        name: "jitter",
        takes: Takes::Part("jitter"),
        missing: Missing::As(r#""none""#),
        summary: "delay of each packet, besides the link's",
        example: r#"{"name": "uniform", "spread": "2 ms"}"#,
    },
    ScenarioKey {
        name: "keep_order",
        takes: Takes::Flag,
        missing: Missing::As("true"),
        summary: "whether a packet waits for the one ahead where the delay changes",
        example: "false",
    },
    ScenarioKey {
        name: "reorder",
        takes: Takes::Part("reorder"),
        missing: Missing::Nothing,
        summary: "packets that are taken out of their order",
        example: r#"{"name": "late", "probability": 0.01, "by": "5 ms"}"#,
    },
    ScenarioKey {
        name: "duplicate",
        takes: Takes::Probability,
        missing: Missing::As("0"),
        summary: "probability with which a packet arrives twice",
        example: "0.01",
    },
    ScenarioKey {
        name: "corrupt",
        takes: Takes::Probability,
        missing: Missing::As("0"),
        summary: "probability with which a packet is damaged: it goes all its way, and its host discards it",
        example: "0.01",
    },
    ScenarioKey {
        name: "outages",
        takes: Takes::Told("list of `links.NAME.outages[]`"),
        missing: Missing::As("[]"),
        summary: "when the link is down",
        example: r#"[{"from": "5 s", "until": "5.2 s"}]"#,
    },
    ScenarioKey {
        name: "changes",
        takes: Takes::Told("list of `links.NAME.changes.rows[]`, or table of `links.NAME.changes`"),
        missing: Missing::Nothing,
        summary: "rates, delays and losses that hold from a time on",
        example: r#"[{"at": "5 s", "rate": "2 Mbit/s"}]"#,
    },
    ScenarioKey {
        name: "walk",
        takes: Takes::Params("walk"),
        missing: Missing::Nothing,
        summary: "a random walk of rate or delay",
        example: r#"{"rate_step": "1 Mbit/s", "rate_min": "1 Mbit/s", "rate_max": "20 Mbit/s"}"#,
    },
    ScenarioKey {
        name: "trace",
        takes: Takes::Told("list of milliseconds, or table of `links.NAME.trace`"),
        missing: Missing::Nothing,
        summary: "when the link can deliver 1500 bytes each, in place of `rate`, as mahimahi has it",
        example: "[1, 2, 5]",
    },
];

pub(in crate::scenario) const LINK: &[ScenarioKey] = &[
    COUNT,
    ScenarioKey {
        name: "reverse",
        takes: Takes::Told("table of the keys of a link but `count` and `reverse`"),
        missing: Missing::Told("as forward, without what befalls single packets"),
        summary: "the direction of acknowledgements",
        example: r#"{"rate": "1 Mbit/s"}"#,
    },
];

pub(in crate::scenario) const TRACE: &[ScenarioKey] = &[
    ScenarioKey {
        name: "opportunities",
        takes: Takes::Told("list of milliseconds"),
        missing: Missing::Told("needed, or else a `file`"),
        summary: "when 1500 bytes can be delivered, ascending; the last one is the length of a lap",
        example: "[1, 2, 5]",
    },
    ScenarioKey {
        name: "file",
        takes: Takes::File,
        missing: Missing::Nothing,
        summary: "text file of such times, one a line",
        example: r#""up.trace""#,
    },
];

pub(in crate::scenario) const CHANGES: &[ScenarioKey] = &[
    ScenarioKey {
        name: "rows",
        takes: Takes::Told("list of `links.NAME.changes.rows[]`"),
        missing: Missing::Told("needed, or else a `file`"),
        summary: "what holds from which time on",
        example: r#"[{"at": "5 s", "rate": "2 Mbit/s"}]"#,
    },
    ScenarioKey {
        name: "file",
        takes: Takes::File,
        missing: Missing::Nothing,
        summary: "CSV file with a column `at` (or `t`) and any of `rate`, `delay` and `loss`",
        example: r#""wifi.csv""#,
    },
    ScenarioKey {
        name: "every",
        takes: Takes::Time,
        missing: Missing::Nothing,
        summary: "the table starts again after so long",
        example: r#""10 s""#,
    },
];

pub(in crate::scenario) const CHANGE: &[ScenarioKey] = &[
    ScenarioKey {
        name: "at",
        takes: Takes::Time,
        missing: Missing::Refused,
        summary: "from when",
        example: r#""5 s""#,
    },
    ScenarioKey {
        name: "rate",
        takes: Takes::Rate,
        missing: Missing::Told("as it was"),
        summary: "the link's rate from then on; 0 stops it",
        example: r#""2 Mbit/s""#,
    },
    ScenarioKey {
        name: "delay",
        takes: Takes::Time,
        missing: Missing::Told("as it was"),
        summary: "the link's delay from then on",
        example: r#""50 ms""#,
    },
    ScenarioKey {
        name: "loss",
        takes: Takes::Probability,
        missing: Missing::Told("as it was"),
        summary: "the link's probability of losses from then on",
        example: "0.01",
    },
];

pub(in crate::scenario) const MEASURED_JITTER: &[ScenarioKey] = &[
    ScenarioKey {
        name: "quantiles",
        takes: Takes::Told("list of times"),
        missing: Missing::Told("needed, or else a `file`"),
        summary: "quantiles of the delay at equal distances, ascending",
        example: r#"["0 ms", "2 ms", "10 ms"]"#,
    },
    ScenarioKey {
        name: "file",
        takes: Takes::File,
        missing: Missing::Nothing,
        summary: "text file of milliseconds, one a line, in any order",
        example: r#""rtt.txt""#,
    },
];

pub(in crate::scenario) const OUTAGE: &[ScenarioKey] = &[
    ScenarioKey {
        name: "from",
        takes: Takes::Time,
        missing: Missing::Refused,
        summary: "when the link goes down",
        example: r#""5 s""#,
    },
    ScenarioKey {
        name: "until",
        takes: Takes::Time,
        missing: Missing::Refused,
        summary: "when it is up again",
        example: r#""5.2 s""#,
    },
    ScenarioKey {
        name: "every",
        takes: Takes::Time,
        missing: Missing::Told("once"),
        summary: "the outage comes again after so long",
        example: r#""10 s""#,
    },
    ScenarioKey {
        name: "packets",
        takes: Takes::Word(&["lost", "wait"]),
        missing: Missing::As(r#""lost""#),
        summary: "what becomes of packets that are transmitted meanwhile",
        example: r#""wait""#,
    },
];
