//! What a scenario says about the real kernel it runs on: the keys of `kernel`. The simulator has no kernel and reads none of it.
//!
//! [`PARAMS`] is the table of settings; besides them there are `image`, the kernel's name, and `sysctl`, a table of names and values.

use crate::registry::{Key, Kind, Param, Value, Words, words};

words! {
    /// How the guest's clock goes.
    pub enum Time {
        Virtual = "virtual",
        Real = "real",
    }
}

words! {
    /// What moves the data.
    pub enum Programs {
        Sockets = "sockets",
        Http = "http",
    }
}

words! {
    /// What makes the link.
    pub enum Shaper {
        Simulator = "simulator",
        Kernel = "kernel",
    }
}

pub const TIME: Key<Time> = Key::new("time");
pub const APPLICATION: Key<Programs> = Key::new("application");
pub const SHAPER: Key<Shaper> = Key::new("shaper");

/// All keys of `kernel` that have a value of a [`Kind`].
pub const PARAMS: &[Param] = &[
    Param {
        name: TIME.name,
        summary: "virtual: the clock stands still while the guest computes, so the machine's load changes nothing; real: as it passes",
        kind: Kind::Choice(Time::WORDS),
        default: Value::Choice(Time::Virtual.word()),
    },
    Param {
        name: "memory",
        summary: "memory of the guest",
        kind: Kind::Bytes,
        default: Value::Bytes(1 << 30),
    },
    Param {
        name: "cpus",
        summary: "processors of the guest; more than one only of qemu, in real time",
        kind: Kind::Integer { min: 1, max: 64 },
        default: Value::Integer(1),
    },
    Param {
        name: APPLICATION.name,
        summary: "what moves the data: the agent's own sockets, or Apache and wget with the transfer as a file",
        kind: Kind::Choice(Programs::WORDS),
        default: Value::Choice(Programs::Sockets.word()),
    },
    Param {
        name: SHAPER.name,
        summary: "what makes the link: the simulator's own code between two TUN devices, or the kernel's tbf and netem over veth",
        kind: Kind::Choice(Shaper::WORDS),
        default: Value::Choice(Shaper::Simulator.word()),
    },
    Param {
        name: "qdisc",
        summary: "with the kernel's shaper, the queue of the link: the scenario's, or one of the kernel's as it comes",
        kind: Kind::Choice(&[
            "scenario", "fq_codel", "codel", "fq", "fq_pie", "pie", "sfq", "cake",
        ]),
        default: Value::Choice("scenario"),
    },
    Param {
        name: "metrics_cache",
        summary: "what a connection inherits from earlier ones to the same host: as this kernel does; also the slow-start threshold, as before Linux 5.6; nothing",
        kind: Kind::Choice(&["default", "with_ssthresh", "off"]),
        default: Value::Choice("default"),
    },
    Param {
        name: "gso",
        summary: "whether TCP hands down several segments at once (they are split before the link), or one at a time",
        kind: Kind::Bool,
        default: Value::Bool(true),
    },
];
