//! The keys of a scenario, table by table: what the reader accepts, and so what the reference and `sawtooth list key` tell.
//!
//! A key that is not here is refused, so a new one begins here. Parameters of parts (of a queue, of TCP ...) are not here: they are rows of
//! the part's own table, in which the reader and the reference find them in the same way.

mod flows;
mod links;

pub(in crate::scenario) use flows::{ARRIVALS, FLOW, UDP_FLOW};
pub(in crate::scenario) use links::{
    CHANGE, CHANGES, DIRECTION, LINK, MEASURED_JITTER, OUTAGE, TRACE,
};

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
    "packets",
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
        name: "record_from",
        takes: Takes::Time,
        missing: Missing::As(r#""0 s""#),
        summary: "with record = [\"packets\"]: packets that are gone by then have no row",
        example: r#""5 s""#,
    },
    Key {
        name: "record_until",
        takes: Takes::Time,
        missing: Missing::Nothing,
        summary: "with record = [\"packets\"]: packets that come to a link from then on have no row; the end of the run if it is not there",
        example: r#""5.2 s""#,
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

const COUNT: Key = Key {
    name: "count",
    takes: Takes::Whole,
    missing: Missing::Told("one, without a number"),
    summary: "how many there are: `NAME[1]` to `NAME[count]`, with the counter `i` in their expressions; of flows `0`, for none",
    example: "3",
};

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
