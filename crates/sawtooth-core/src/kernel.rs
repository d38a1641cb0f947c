//! What a scenario says about the real kernel it runs on: the keys of `kernel`. The simulator has no kernel and reads none of it.
//!
//! [`PARAMS`] is the table of settings; besides them there are `image`, the kernel's name, and `sysctl`, a table of names and values.

use crate::registry::{Kind, Param, ParamKey, Value, Words, param, words};

words! {
    /// How the guest's clock goes.
    pub enum Time {
        /// It stands still while the guest computes, so that the machine's load changes nothing.
        Virtual = "virtual",
        /// As that of the machine.
        Real = "real",
    }
}

words! {
    /// What moves the data.
    pub enum Programs {
        /// The agent's own sockets.
        Sockets = "sockets",
        /// Apache and wget, with the transfer as a file.
        Http = "http",
    }
}

words! {
    /// What makes the link.
    pub enum Shaper {
        /// The simulator's own code, between two TUN devices.
        Simulator = "simulator",
        /// The kernel's tbf and netem, over veth.
        Kernel = "kernel",
    }
}

/// How the guest's clock goes.
pub const TIME: ParamKey<Time> = ParamKey::new("time");
/// What moves the data.
pub const APPLICATION: ParamKey<Programs> = ParamKey::new("application");
/// What makes the link.
pub const SHAPER: ParamKey<Shaper> = ParamKey::new("shaper");

/// All keys of `kernel` that have a value of a [`Kind`].
pub const PARAMS: &[Param] = &[
    Param {
        name: TIME.name,
        summary: "virtual: the clock stands still while the guest computes, so the machine's load changes nothing; real: as it passes",
        kind: Kind::Choice(Time::WORDS),
        default: Value::Choice(Time::Virtual.word()),
    },
    param!(memory: Kind::Bytes => Value::Bytes(1 << 30),
        "memory of the guest"),
    param!(cpus: Kind::Integer { min: 1, max: 64 } => Value::Integer(1),
        "processors of the guest; more than one only of qemu, in real time"),
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
    param!(qdisc: Kind::Choice(&["scenario", "fq_codel", "codel", "fq", "fq_pie", "pie", "sfq", "cake"]) => Value::Choice("scenario"),
        "with the kernel's shaper, the queue of the link: the scenario's, or one of the kernel's as it comes"),
    param!(metrics_cache: Kind::Choice(&["default", "with_ssthresh", "off"]) => Value::Choice("default"),
        "what a connection inherits from earlier ones to the same host: as this kernel does; also the slow-start threshold, as before Linux 5.6; nothing"),
    param!(gso: Kind::Bool => Value::Bool(true),
        "whether TCP hands down several segments at once (they are split before the link), or one at a time"),
];
