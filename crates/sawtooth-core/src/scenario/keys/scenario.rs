//! Keys of the scenario itself, and of its tables `hosts`, `kernel` and `shortcuts`.

use super::common::COUNT;
use super::key::{Missing, ScenarioKey, Takes};

/// Tables of results that are recorded only if asked for.
pub const RECORD: &[&str] = &[
    "variables",
    "episodes",
    "limited",
    "transfers",
    "waits",
    "link_flows",
    "packets",
    "stalls",
    "layers",
];

pub(in crate::scenario) const SCENARIO: &[ScenarioKey] = &[
    ScenarioKey {
        name: "duration",
        takes: Takes::Time,
        missing: Missing::Refused,
        summary: "the run covers [0, duration)",
        example: r#""60 s""#,
    },
    ScenarioKey {
        name: "sample",
        takes: Takes::Told("time, or `\"ack\"`"),
        missing: Missing::Nothing,
        summary: "period of the time series `series` and `queues`; `\"ack\"`: a row of `series` after every acknowledgement",
        example: r#""100 ms""#,
    },
    ScenarioKey {
        name: "record",
        takes: Takes::Words(RECORD),
        missing: Missing::As("[]"),
        summary: "tables of results that are recorded only if asked for",
        example: r#"["episodes"]"#,
    },
    ScenarioKey {
        name: "record_from",
        takes: Takes::Time,
        missing: Missing::As(r#""0 s""#),
        summary: "with record = [\"packets\"]: packets that are gone by then have no row",
        example: r#""5 s""#,
    },
    ScenarioKey {
        name: "record_until",
        takes: Takes::Time,
        missing: Missing::Nothing,
        summary: "with record = [\"packets\"]: packets that come to a link from then on have no row; the end of the run if it is not there",
        example: r#""5.2 s""#,
    },
    ScenarioKey {
        name: "stack",
        takes: Takes::Row("stack"),
        missing: Missing::As(r#""rfc""#),
        summary: "preset of all TCP parameters",
        example: r#""linux""#,
    },
    ScenarioKey {
        name: "cc",
        takes: Takes::Part("cc"),
        missing: Missing::As(r#""reno""#),
        summary: "congestion control of all flows; `kernel:NAME` is one of a real kernel",
        example: r#""cubic""#,
    },
    ScenarioKey {
        name: "receiver_cc",
        takes: Takes::Part("cc"),
        missing: Missing::Told("`\"reno\"`; of a source that answers, the flow's `cc`"),
        summary: "congestion control of the receiving ends; it decides nothing as long as only the other side sends data",
        example: r#""cubic""#,
    },
    ScenarioKey {
        name: "tcp",
        takes: Takes::Params("tcp"),
        missing: Missing::As("{}"),
        summary: "TCP parameters of all flows",
        example: r#"{"recovery": "sack"}"#,
    },
    ScenarioKey {
        name: "vars",
        takes: Takes::Told("table of names and numbers, quantities, expressions, or lists of them"),
        missing: Missing::As("{}"),
        summary: "variables of expressions, besides the study's; of a list, `NAME[1]` is the first",
        example: r#"{"Bw": "10 Mbit/s"}"#,
    },
    ScenarioKey {
        name: "links",
        takes: Takes::Told("table of links"),
        missing: Missing::Refused,
        summary: "links, by name",
        example: r#"{"l": {"rate": "10 Mbit/s"}}"#,
    },
    ScenarioKey {
        name: "flows",
        takes: Takes::Told("list of flows"),
        missing: Missing::Refused,
        summary: "flows, in order",
        example: r#"[{"path": ["l"]}]"#,
    },
    ScenarioKey {
        name: "hosts",
        takes: Takes::Told("table of hosts"),
        missing: Missing::As("{}"),
        summary: "machines, by name",
        example: r#"{"server": {}}"#,
    },
    ScenarioKey {
        name: "host",
        takes: Takes::Told("name of a host, or `\"none\"`"),
        missing: Missing::As(r#""none""#),
        summary: "the machine that sends the data of all flows",
        example: r#""h""#,
    },
    ScenarioKey {
        name: "receiver_host",
        takes: Takes::Told("name of a host, or `\"none\"`"),
        missing: Missing::Told("a machine like the sending one"),
        summary: "the machine that takes the data of all flows",
        example: r#""h""#,
    },
    ScenarioKey {
        name: "kernel",
        takes: Takes::Params("kernel"),
        missing: Missing::As("{}"),
        summary: "settings of the real kernel that a run is on",
        example: r#"{"cpus": 1}"#,
    },
    ScenarioKey {
        name: "limits",
        takes: Takes::Told("table of names and numbers"),
        missing: Missing::As("{}"),
        summary: "how much the run may take before it is refused or ended, by name (`sawtooth list limit`); a study sets them at its top",
        example: r#"{"events": 1e11}"#,
    },
    ScenarioKey {
        name: "shortcuts",
        takes: Takes::Told("true or false, or a table of them by name"),
        missing: Missing::As("true"),
        summary: "the simulator's shortcuts",
        example: "false",
    },
];

pub(in crate::scenario) const HOST: &[ScenarioKey] = &[COUNT];

pub(in crate::scenario) const KERNEL: &[ScenarioKey] = &[
    ScenarioKey {
        name: "image",
        takes: Takes::Told("name of a kernel that `sawtooth kernel build` has made"),
        missing: Missing::Told("the distribution's"),
        summary: "the kernel that guests run",
        example: r#""6.1-hz1000""#,
    },
    ScenarioKey {
        name: "sysctl",
        takes: Takes::Told("table of names and values"),
        missing: Missing::As("{}"),
        summary: "settings of both hosts, such as `\"net.ipv4.tcp_sack\" = 0`",
        example: r#"{"net.ipv4.tcp_sack": 0}"#,
    },
];

pub(in crate::scenario) const SHORTCUTS: &[ScenarioKey] = &[
    ScenarioKey {
        name: "ring",
        takes: Takes::Flag,
        missing: Missing::As("true"),
        summary: "packets in propagation sit in a ring, and only the first has an event",
        example: "false",
    },
    ScenarioKey {
        name: "no_tx_event",
        takes: Takes::Flag,
        missing: Missing::As("true"),
        summary: "the end of a transmission has no event where it can be computed",
        example: "false",
    },
    ScenarioKey {
        name: "computed_hops",
        takes: Takes::Flag,
        missing: Missing::As("true"),
        summary: "a hop that one link feeds in order has no event",
        example: "false",
    },
    ScenarioKey {
        name: "plain_way",
        takes: Takes::Flag,
        missing: Missing::As("true"),
        summary: "segments and acknowledgements that change nothing but numbers and windows take one step",
        example: "false",
    },
];
