//! Keys of a flow.

use super::common::COUNT;
use super::key::{Missing, ScenarioKey, Takes};

const FLOW_NAME: ScenarioKey = ScenarioKey {
    name: "name",
    takes: Takes::Text,
    missing: Missing::Told("`flow`; of several entries `flow1`, `flow2` ..."),
    summary: "what results call it",
    example: r#""call""#,
};

const PATH: ScenarioKey = ScenarioKey {
    name: "path",
    takes: Takes::Told("list of links"),
    missing: Missing::Refused,
    summary: "the links that data crosses, in order; of several alike `\"NAME[i]\"`",
    example: r#"["l"]"#,
};

const DIRECTION: ScenarioKey = ScenarioKey {
    name: "direction",
    takes: Takes::Word(&["forward", "reverse"]),
    missing: Missing::As(r#""forward""#),
    summary: "`\"reverse\"`: data crosses the links of `path` from the last to the first, by their reverse sides, and acknowledgements go forward: traffic against that of other flows",
    example: r#""forward""#,
};

const TRANSPORT: ScenarioKey = ScenarioKey {
    name: "transport",
    takes: Takes::Word(&["tcp", "udp"]),
    missing: Missing::As(r#""tcp""#),
    summary: "`\"udp\"`: packets that nothing controls",
    example: r#""tcp""#,
};

const MODEL: ScenarioKey = ScenarioKey {
    name: "model",
    takes: Takes::Word(&["packets", "fluid"]),
    missing: Missing::As(r#""packets""#),
    summary: "`\"fluid\"`: the flows of the entry are simulated together, by the equations of their windows and not packet by packet: an approximation, `docs/guides/fluid.md`",
    example: r#""packets""#,
};

const CC: ScenarioKey = ScenarioKey {
    name: "cc",
    takes: Takes::Part("cc"),
    missing: Missing::Told("the scenario's"),
    summary: "congestion control; `kernel:NAME` is one of a real kernel",
    example: r#""cubic""#,
};

const TCP: ScenarioKey = ScenarioKey {
    name: "tcp",
    takes: Takes::Params("tcp"),
    missing: Missing::Told("the scenario's"),
    summary: "TCP parameters; those that are not here are the scenario's",
    example: r#"{"recovery": "sack"}"#,
};

const START: ScenarioKey = ScenarioKey {
    name: "start",
    takes: Takes::Time,
    missing: Missing::As(r#""0 s""#),
    summary: "when the application opens the connection, or begins to send",
    example: r#""1 s""#,
};

const DELAY: ScenarioKey = ScenarioKey {
    name: "delay",
    takes: Takes::Time,
    missing: Missing::As(r#""0 s""#),
    summary: "time between its hosts and the links of its path, each way: it counts twice in the round-trip time",
    example: r#""5 ms""#,
};

pub(in crate::scenario) const FLOW: &[ScenarioKey] = &[
    FLOW_NAME,
    PATH,
    DIRECTION,
    TRANSPORT,
    MODEL,
    CC,
    ScenarioKey {
        name: "receiver_cc",
        takes: Takes::Part("cc"),
        missing: Missing::Told("the scenario's"),
        summary: "congestion control of the receiving end",
        example: r#""cubic""#,
    },
    TCP,
    ScenarioKey {
        name: "source",
        takes: Takes::Part("source"),
        missing: Missing::As(r#""bulk""#),
        summary: "what the application sends",
        example: r#"{"name": "bulk", "size": "1 MB"}"#,
    },
    START,
    DELAY,
    COUNT,
    ScenarioKey {
        name: "arrivals",
        takes: Takes::Params("arrivals"),
        missing: Missing::Nothing,
        summary: "instead of one connection, many that arrive and leave, without a `source`",
        example: r#"{"rate": 1, "size": "10 kB"}"#,
    },
    ScenarioKey {
        name: "host",
        takes: Takes::Told("name of a host, or `\"none\"`"),
        missing: Missing::Told("the scenario's"),
        summary: "the machine that sends the data",
        example: r#""h""#,
    },
    ScenarioKey {
        name: "receiver_host",
        takes: Takes::Told("name of a host, or `\"none\"`"),
        missing: Missing::Told("the scenario's"),
        summary: "the machine that takes the data",
        example: r#""h""#,
    },
];

pub(in crate::scenario) const FLUID_FLOW: &[ScenarioKey] = &[
    FLOW_NAME,
    PATH,
    TRANSPORT,
    MODEL,
    ScenarioKey {
        summary: "congestion control: `reno` or `gaimd`, whose windows grow and fall by constants",
        example: r#""reno""#,
        ..CC
    },
    TCP,
    START,
    DELAY,
    COUNT,
];

pub(in crate::scenario) const UDP_FLOW: &[ScenarioKey] = &[
    FLOW_NAME,
    PATH,
    DIRECTION,
    TRANSPORT,
    ScenarioKey {
        name: "source",
        takes: Takes::Part("packet_source"),
        missing: Missing::Refused,
        summary: "what sends the packets",
        example: r#"{"name": "constant_rate", "rate": "1 Mbit/s"}"#,
    },
    START,
    ScenarioKey {
        name: "stop",
        takes: Takes::Time,
        missing: Missing::Told("the run's end"),
        summary: "nothing leaves from then on",
        example: r#""50 s""#,
    },
    DELAY,
    COUNT,
];

pub(in crate::scenario) const ARRIVALS: &[ScenarioKey] = &[ScenarioKey {
    name: "link",
    takes: Takes::Told("name of a link of the flow's path"),
    missing: Missing::Told("the slowest of the path"),
    summary: "what a `load` is a share of",
    example: r#""l""#,
}];
