//! The keys of a scenario, table by table: what the reader accepts, and so what the reference and `sawtooth list key` tell.
//!
//! A key that is not here is refused, so a new one begins here. Parameters of parts (of a queue, of TCP ...) are not here: they are rows of
//! the part's own table, in which the reader and the reference find them in the same way.

/// One key: whatever is said of it anywhere is said here.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    pub name: &'static str,
    pub takes: Takes,
    pub missing: Missing,
    pub summary: &'static str,
    /// A value, as JSON.
    pub example: &'static str,
}

/// What a key's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    Time,
    Rate,
    Bytes,
    Probability,
    Whole,
    Flag,
    Text,
    /// One of these.
    Word(&'static [&'static str]),
    /// A list of these.
    Words(&'static [&'static str]),
    /// The name of a row of that table of parts, or a table with the `name` and parameters.
    Part(&'static str),
    /// The name of a row of that table of parts.
    Row(&'static str),
    /// A table of that table's parameters.
    Params(&'static str),
    /// The name of a file, relative to the study. It is read where the study is loaded: the core reads none.
    File,
    /// What no other word here says.
    Told(&'static str),
}

/// What it means that a key is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// An error.
    Refused,
    /// That there is nothing of it.
    Nothing,
    /// The same as this value, JSON.
    As(&'static str),
    Told(&'static str),
}

/// A table of a scenario and its keys.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Where it is; empty for the scenario itself. `NAME` stands for any name, `[]` for any entry of a list.
    pub path: &'static str,
    pub summary: &'static str,
    pub keys: &'static [&'static [Key]],
    /// The table of parts whose parameters are its keys, too.
    pub parameters: Option<&'static str>,
}

/// All tables that have keys of their own.
pub const TABLES: &[Table] = &[
    Table {
        path: "",
        summary: "the scenario",
        keys: &[SCENARIO],
        parameters: None,
    },
    Table {
        path: "links.NAME",
        summary: "a link, which has two directions",
        keys: &[DIRECTION, LINK],
        parameters: None,
    },
    Table {
        path: "links.NAME.trace",
        summary: "when a link delivers",
        keys: &[TRACE],
        parameters: None,
    },
    Table {
        path: "links.NAME.changes",
        summary: "how a link changes",
        keys: &[CHANGES],
        parameters: None,
    },
    Table {
        path: "links.NAME.changes.rows[]",
        summary: "what holds from a time on",
        keys: &[CHANGE],
        parameters: None,
    },
    Table {
        path: "links.NAME.jitter",
        summary: "jitter with the name `table`, as it was measured",
        keys: &[MEASURED_JITTER],
        parameters: None,
    },
    Table {
        path: "links.NAME.outages[]",
        summary: "a time in which a link is down",
        keys: &[OUTAGE],
        parameters: None,
    },
    Table {
        path: "flows[]",
        summary: "a flow of TCP: one connection, or with `count` that many. Data crosses the links of its path in order, acknowledgements cross them back",
        keys: &[FLOW],
        parameters: None,
    },
    Table {
        path: "flows[] of UDP",
        summary: "a flow with `transport = \"udp\"`: packets that nothing controls",
        keys: &[UDP_FLOW],
        parameters: None,
    },
    Table {
        path: "flows[].arrivals",
        summary: "flows that arrive and leave",
        keys: &[ARRIVALS],
        parameters: Some("arrivals"),
    },
    Table {
        path: "hosts.NAME",
        summary: "a machine",
        keys: &[HOST],
        parameters: Some("host"),
    },
    Table {
        path: "kernel",
        summary: "the real kernel that a run is on; the simulator reads none of it",
        keys: &[KERNEL],
        parameters: Some("kernel"),
    },
    Table {
        path: "shortcuts",
        summary: "the simulator's shortcuts; results do not depend on them",
        keys: &[SHORTCUTS],
        parameters: None,
    },
    Table {
        path: "a distribution",
        summary: "a distribution with the name `empirical`, wherever a key takes one",
        keys: &[EMPIRICAL],
        parameters: Some("distribution"),
    },
];

/// The names of some keys, in order.
pub(super) fn names(keys: &'static [Key]) -> impl Iterator<Item = &'static str> + Clone {
    keys.iter().map(|key| key.name)
}

/// Tables of results that are recorded only if asked for.
pub const RECORD: &[&str] = &[
    "variables",
    "episodes",
    "transfers",
    "waits",
    "link_flows",
    "stalls",
    "layers",
];

pub(super) const SCENARIO: &[Key] = &[
    Key {
        name: "duration",
        takes: Takes::Time,
        missing: Missing::Refused,
        summary: "the run covers [0, duration)",
        example: r#""60 s""#,
    },
    Key {
        name: "sample",
        takes: Takes::Told("time, or `\"ack\"`"),
        missing: Missing::Nothing,
        summary: "period of the time series `series` and `queues`; `\"ack\"`: a row of `series` after every acknowledgement",
        example: r#""100 ms""#,
    },
    Key {
        name: "record",
        takes: Takes::Words(RECORD),
        missing: Missing::As("[]"),
        summary: "tables of results that are recorded only if asked for",
        example: r#"["episodes"]"#,
    },
    Key {
        name: "stack",
        takes: Takes::Row("stack"),
        missing: Missing::As(r#""rfc""#),
        summary: "preset of all TCP parameters",
        example: r#""linux""#,
    },
    Key {
        name: "cc",
        takes: Takes::Part("cc"),
        missing: Missing::As(r#""reno""#),
        summary: "congestion control of all flows; `kernel:NAME` is one of a real kernel",
        example: r#""cubic""#,
    },
    Key {
        name: "receiver_cc",
        takes: Takes::Part("cc"),
        missing: Missing::Told("`\"reno\"`; of a source that answers, the flow's `cc`"),
        summary: "congestion control of the receiving ends; it decides nothing as long as only the other side sends data",
        example: r#""cubic""#,
    },
    Key {
        name: "tcp",
        takes: Takes::Params("tcp"),
        missing: Missing::As("{}"),
        summary: "TCP parameters of all flows",
        example: r#"{"recovery": "sack"}"#,
    },
    Key {
        name: "vars",
        takes: Takes::Told("table of names and numbers, quantities, expressions, or lists of them"),
        missing: Missing::As("{}"),
        summary: "variables of expressions, besides the study's; of a list, `NAME[1]` is the first",
        example: r#"{"Bw": "10 Mbit/s"}"#,
    },
    Key {
        name: "links",
        takes: Takes::Told("table of links"),
        missing: Missing::Refused,
        summary: "links, by name",
        example: r#"{"l": {"rate": "10 Mbit/s"}}"#,
    },
    Key {
        name: "flows",
        takes: Takes::Told("list of flows"),
        missing: Missing::Refused,
        summary: "flows, in order",
        example: r#"[{"path": ["l"]}]"#,
    },
    Key {
        name: "hosts",
        takes: Takes::Told("table of hosts"),
        missing: Missing::As("{}"),
        summary: "machines, by name",
        example: r#"{"server": {}}"#,
    },
    Key {
        name: "host",
        takes: Takes::Told("name of a host, or `\"none\"`"),
        missing: Missing::As(r#""none""#),
        summary: "the machine that sends the data of all flows",
        example: r#""h""#,
    },
    Key {
        name: "receiver_host",
        takes: Takes::Told("name of a host, or `\"none\"`"),
        missing: Missing::Told("a machine like the sending one"),
        summary: "the machine that takes the data of all flows",
        example: r#""h""#,
    },
    Key {
        name: "kernel",
        takes: Takes::Params("kernel"),
        missing: Missing::As("{}"),
        summary: "settings of the real kernel that a run is on",
        example: r#"{"cpus": 1}"#,
    },
    Key {
        name: "limits",
        takes: Takes::Told("table of names and numbers"),
        missing: Missing::As("{}"),
        summary: "how much the run may take before it is refused or ended, by name (`sawtooth list limit`); a study sets them at its top",
        example: r#"{"events": 1e11}"#,
    },
    Key {
        name: "shortcuts",
        takes: Takes::Told("true or false, or a table of them by name"),
        missing: Missing::As("true"),
        summary: "the simulator's shortcuts",
        example: "false",
    },
];

/// Keys of a direction: a link has them, and its `reverse` again.
pub(super) const DIRECTION: &[Key] = &[
    Key {
        name: "rate",
        takes: Takes::Rate,
        missing: Missing::Told("needed, or else a `trace`"),
        summary: "rate of each direction",
        example: r#""10 Mbit/s""#,
    },
    Key {
        name: "delay",
        takes: Takes::Time,
        missing: Missing::As(r#""0 s""#),
        summary: "propagation, one way",
        example: r#""20 ms""#,
    },
    Key {
        name: "queue",
        takes: Takes::Part("queue"),
        missing: Missing::As(r#""drop_tail""#),
        summary: "queue discipline; a limit in `bdp` is in products of this link's rate and the shortest round-trip propagation time of the flows across it",
        example: r#"{"name": "drop_tail", "limit": "50 packets"}"#,
    },
    Key {
        name: "loss",
        takes: Takes::Told(
            "number from 0 to 1, or table with a `name` of `loss` and its parameters",
        ),
        missing: Missing::As("0"),
        summary: "probability with which a packet is lost on the wire, after its transmission; or losses in bursts",
        example: "0.01",
    },
    Key {
        name: "drop",
        takes: Takes::Told("list of numbers"),
        missing: Missing::As("[]"),
        summary: "packets that are lost, counted from 1 as they arrive at the link",
        example: "[20, 21]",
    },
    Key {
        name: "mtu",
        takes: Takes::Bytes,
        missing: Missing::Told("none, or the medium's"),
        summary: "the largest packet; larger segments are an error, or see `path_mtu_discovery` of TCP",
        example: r#""1500 B""#,
    },
    Key {
        name: "medium",
        takes: Takes::Part("medium"),
        missing: Missing::As(r#""none""#),
        summary: "the frames or cells in which packets leave",
        example: r#""ethernet""#,
    },
    Key {
        name: "forwarding",
        takes: Takes::Part("forwarding"),
        missing: Missing::As(r#""store_and_forward""#),
        summary: "how the node at the link's end passes packets on to the next link",
        example: r#""cut_through""#,
    },
    Key {
        name: "jitter",
        takes: Takes::Part("jitter"),
        missing: Missing::As(r#""none""#),
        summary: "delay of each packet, besides the link's",
        example: r#"{"name": "uniform", "spread": "2 ms"}"#,
    },
    Key {
        name: "keep_order",
        takes: Takes::Flag,
        missing: Missing::As("true"),
        summary: "whether a packet waits for the one ahead where the delay changes",
        example: "false",
    },
    Key {
        name: "reorder",
        takes: Takes::Part("reorder"),
        missing: Missing::Nothing,
        summary: "packets that are taken out of their order",
        example: r#"{"name": "late", "probability": 0.01, "by": "5 ms"}"#,
    },
    Key {
        name: "duplicate",
        takes: Takes::Probability,
        missing: Missing::As("0"),
        summary: "probability with which a packet arrives twice",
        example: "0.01",
    },
    Key {
        name: "corrupt",
        takes: Takes::Probability,
        missing: Missing::As("0"),
        summary: "probability with which a packet is damaged: it goes all its way, and its host discards it",
        example: "0.01",
    },
    Key {
        name: "outages",
        takes: Takes::Told("list of `links.NAME.outages[]`"),
        missing: Missing::As("[]"),
        summary: "when the link is down",
        example: r#"[{"from": "5 s", "until": "5.2 s"}]"#,
    },
    Key {
        name: "changes",
        takes: Takes::Told("list of `links.NAME.changes.rows[]`, or table of `links.NAME.changes`"),
        missing: Missing::Nothing,
        summary: "rates, delays and losses that hold from a time on",
        example: r#"[{"at": "5 s", "rate": "2 Mbit/s"}]"#,
    },
    Key {
        name: "walk",
        takes: Takes::Params("walk"),
        missing: Missing::Nothing,
        summary: "a random walk of rate or delay",
        example: r#"{"rate_step": "1 Mbit/s", "rate_min": "1 Mbit/s", "rate_max": "20 Mbit/s"}"#,
    },
    Key {
        name: "trace",
        takes: Takes::Told("list of milliseconds, or table of `links.NAME.trace`"),
        missing: Missing::Nothing,
        summary: "when the link can deliver 1500 bytes each, in place of `rate`, as mahimahi has it",
        example: "[1, 2, 5]",
    },
];

pub(super) const LINK: &[Key] = &[
    COUNT,
    Key {
        name: "reverse",
        takes: Takes::Told("table of the keys of a link but `count` and `reverse`"),
        missing: Missing::Told("as forward, without what befalls single packets"),
        summary: "the direction of acknowledgements",
        example: r#"{"rate": "1 Mbit/s"}"#,
    },
];

pub(super) const TRACE: &[Key] = &[
    Key {
        name: "opportunities",
        takes: Takes::Told("list of milliseconds"),
        missing: Missing::Told("needed, or else a `file`"),
        summary: "when 1500 bytes can be delivered, ascending; the last one is the length of a lap",
        example: "[1, 2, 5]",
    },
    Key {
        name: "file",
        takes: Takes::File,
        missing: Missing::Nothing,
        summary: "text file of such times, one a line",
        example: r#""up.trace""#,
    },
];

pub(super) const CHANGES: &[Key] = &[
    Key {
        name: "rows",
        takes: Takes::Told("list of `links.NAME.changes.rows[]`"),
        missing: Missing::Told("needed, or else a `file`"),
        summary: "what holds from which time on",
        example: r#"[{"at": "5 s", "rate": "2 Mbit/s"}]"#,
    },
    Key {
        name: "file",
        takes: Takes::File,
        missing: Missing::Nothing,
        summary: "CSV file with a column `at` (or `t`) and any of `rate`, `delay` and `loss`",
        example: r#""wifi.csv""#,
    },
    Key {
        name: "every",
        takes: Takes::Time,
        missing: Missing::Nothing,
        summary: "the table starts again after so long",
        example: r#""10 s""#,
    },
];

pub(super) const CHANGE: &[Key] = &[
    Key {
        name: "at",
        takes: Takes::Time,
        missing: Missing::Refused,
        summary: "from when",
        example: r#""5 s""#,
    },
    Key {
        name: "rate",
        takes: Takes::Rate,
        missing: Missing::Told("as it was"),
        summary: "the link's rate from then on; 0 stops it",
        example: r#""2 Mbit/s""#,
    },
    Key {
        name: "delay",
        takes: Takes::Time,
        missing: Missing::Told("as it was"),
        summary: "the link's delay from then on",
        example: r#""50 ms""#,
    },
    Key {
        name: "loss",
        takes: Takes::Probability,
        missing: Missing::Told("as it was"),
        summary: "the link's probability of losses from then on",
        example: "0.01",
    },
];

pub(super) const MEASURED_JITTER: &[Key] = &[
    Key {
        name: "quantiles",
        takes: Takes::Told("list of times"),
        missing: Missing::Told("needed, or else a `file`"),
        summary: "quantiles of the delay at equal distances, ascending",
        example: r#"["0 ms", "2 ms", "10 ms"]"#,
    },
    Key {
        name: "file",
        takes: Takes::File,
        missing: Missing::Nothing,
        summary: "text file of milliseconds, one a line, in any order",
        example: r#""rtt.txt""#,
    },
];

pub(super) const OUTAGE: &[Key] = &[
    Key {
        name: "from",
        takes: Takes::Time,
        missing: Missing::Refused,
        summary: "when the link goes down",
        example: r#""5 s""#,
    },
    Key {
        name: "until",
        takes: Takes::Time,
        missing: Missing::Refused,
        summary: "when it is up again",
        example: r#""5.2 s""#,
    },
    Key {
        name: "every",
        takes: Takes::Time,
        missing: Missing::Told("once"),
        summary: "the outage comes again after so long",
        example: r#""10 s""#,
    },
    Key {
        name: "packets",
        takes: Takes::Word(&["lost", "wait"]),
        missing: Missing::As(r#""lost""#),
        summary: "what becomes of packets that are transmitted meanwhile",
        example: r#""wait""#,
    },
];

const COUNT: Key = Key {
    name: "count",
    takes: Takes::Whole,
    missing: Missing::Told("one, without a number"),
    summary: "how many there are: `NAME[1]` to `NAME[count]`, with the counter `i` in their expressions",
    example: "3",
};

const FLOW_NAME: Key = Key {
    name: "name",
    takes: Takes::Text,
    missing: Missing::Told("`flow`; of several entries `flow1`, `flow2` ..."),
    summary: "what results call it",
    example: r#""call""#,
};

const PATH: Key = Key {
    name: "path",
    takes: Takes::Told("list of links"),
    missing: Missing::Refused,
    summary: "the links that data crosses, in order; of several alike `\"NAME[i]\"`",
    example: r#"["l"]"#,
};

const TRANSPORT: Key = Key {
    name: "transport",
    takes: Takes::Word(&["tcp", "udp"]),
    missing: Missing::As(r#""tcp""#),
    summary: "`\"udp\"`: packets that nothing controls",
    example: r#""tcp""#,
};

const START: Key = Key {
    name: "start",
    takes: Takes::Time,
    missing: Missing::As(r#""0 s""#),
    summary: "when the application opens the connection, or begins to send",
    example: r#""1 s""#,
};

const DELAY: Key = Key {
    name: "delay",
    takes: Takes::Time,
    missing: Missing::As(r#""0 s""#),
    summary: "time between its hosts and the links of its path, each way: it counts twice in the round-trip time",
    example: r#""5 ms""#,
};

pub(super) const FLOW: &[Key] = &[
    FLOW_NAME,
    PATH,
    TRANSPORT,
    Key {
        name: "cc",
        takes: Takes::Part("cc"),
        missing: Missing::Told("the scenario's"),
        summary: "congestion control; `kernel:NAME` is one of a real kernel",
        example: r#""cubic""#,
    },
    Key {
        name: "receiver_cc",
        takes: Takes::Part("cc"),
        missing: Missing::Told("the scenario's"),
        summary: "congestion control of the receiving end",
        example: r#""cubic""#,
    },
    Key {
        name: "tcp",
        takes: Takes::Params("tcp"),
        missing: Missing::Told("the scenario's"),
        summary: "TCP parameters; those that are not here are the scenario's",
        example: r#"{"recovery": "sack"}"#,
    },
    Key {
        name: "source",
        takes: Takes::Part("source"),
        missing: Missing::As(r#""bulk""#),
        summary: "what the application sends",
        example: r#"{"name": "bulk", "size": "1 MB"}"#,
    },
    START,
    DELAY,
    COUNT,
    Key {
        name: "arrivals",
        takes: Takes::Params("arrivals"),
        missing: Missing::Nothing,
        summary: "instead of one connection, many that arrive and leave, without a `source`",
        example: r#"{"rate": 1, "size": "10 kB"}"#,
    },
    Key {
        name: "host",
        takes: Takes::Told("name of a host, or `\"none\"`"),
        missing: Missing::Told("the scenario's"),
        summary: "the machine that sends the data",
        example: r#""h""#,
    },
    Key {
        name: "receiver_host",
        takes: Takes::Told("name of a host, or `\"none\"`"),
        missing: Missing::Told("the scenario's"),
        summary: "the machine that takes the data",
        example: r#""h""#,
    },
];

pub(super) const UDP_FLOW: &[Key] = &[
    FLOW_NAME,
    PATH,
    TRANSPORT,
    Key {
        name: "source",
        takes: Takes::Part("packet_source"),
        missing: Missing::Refused,
        summary: "what sends the packets",
        example: r#"{"name": "constant_rate", "rate": "1 Mbit/s"}"#,
    },
    START,
    Key {
        name: "stop",
        takes: Takes::Time,
        missing: Missing::Told("the run's end"),
        summary: "nothing leaves from then on",
        example: r#""50 s""#,
    },
    DELAY,
    COUNT,
];

pub(super) const ARRIVALS: &[Key] = &[Key {
    name: "link",
    takes: Takes::Told("name of a link of the flow's path"),
    missing: Missing::Told("the slowest of the path"),
    summary: "what a `load` is a share of",
    example: r#""l""#,
}];

pub(super) const HOST: &[Key] = &[COUNT];

pub(super) const KERNEL: &[Key] = &[
    Key {
        name: "image",
        takes: Takes::Told("name of a kernel that `sawtooth kernel build` has made"),
        missing: Missing::Told("the distribution's"),
        summary: "the kernel that guests run",
        example: r#""6.1-hz1000""#,
    },
    Key {
        name: "sysctl",
        takes: Takes::Told("table of names and values"),
        missing: Missing::As("{}"),
        summary: "settings of both hosts, such as `\"net.ipv4.tcp_sack\" = 0`",
        example: r#"{"net.ipv4.tcp_sack": 0}"#,
    },
];

pub(super) const SHORTCUTS: &[Key] = &[
    Key {
        name: "ring",
        takes: Takes::Flag,
        missing: Missing::As("true"),
        summary: "packets in propagation sit in a ring, and only the first has an event",
        example: "false",
    },
    Key {
        name: "no_tx_event",
        takes: Takes::Flag,
        missing: Missing::As("true"),
        summary: "the end of a transmission has no event where it can be computed",
        example: "false",
    },
    Key {
        name: "computed_hops",
        takes: Takes::Flag,
        missing: Missing::As("true"),
        summary: "a hop that one link feeds in order has no event",
        example: "false",
    },
];

pub(super) const EMPIRICAL: &[Key] = &[
    Key {
        name: "points",
        takes: Takes::Told("list of pairs: a value, and the probability of it or less"),
        missing: Missing::Told("needed, or else a `file`"),
        summary: "a cumulative distribution function, ascending, which ends at 1",
        example: "[[1000, 0.5], [5000, 1]]",
    },
    Key {
        name: "file",
        takes: Takes::File,
        missing: Missing::Nothing,
        summary: "text file of such pairs, one a line",
        example: r#""sizes.txt""#,
    },
];

/// Of a part that is written as a table.
pub(super) const PART: &[Key] = &[Key {
    name: "name",
    takes: Takes::Text,
    missing: Missing::Refused,
    summary: "which part",
    example: r#""reno""#,
}];
