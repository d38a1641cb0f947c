//! What a scenario says about the real kernel it runs on: the keys of `kernel`. The simulator has no kernel and reads none of it.
//!
//! [`PARAMS`] is the table of settings; besides them there are `image`, the kernel's name, and `sysctl`, a table of names and values.

use crate::registry::{Kind, Param, Value};

/// All keys of `kernel` that have a value of a [`Kind`].
pub const PARAMS: &[Param] = &[
    Param {
        name: "time",
        summary: "virtual: the clock stands still while the guest computes, so the machine's load changes nothing; real: as it passes",
        kind: Kind::Choice(&["virtual", "real"]),
        default: Value::Choice("virtual"),
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
        name: "application",
        summary: "what moves the data: the agent's own sockets, or Apache and wget with the transfer as a file",
        kind: Kind::Choice(&["sockets", "http"]),
        default: Value::Choice("sockets"),
    },
    Param {
        name: "shaper",
        summary: "what makes the link: the simulator's own code between two TUN devices, or the kernel's tbf and netem over veth",
        kind: Kind::Choice(&["simulator", "kernel"]),
        default: Value::Choice("simulator"),
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

/// Keys of `tcp` that a kernel can be told, and how; it has its own ways of all others.
pub const TCP_KEYS: &[(&str, &str)] = &[
    ("smss", "TCP_MAXSEG and the devices' MTU"),
    (
        "mss_from_mtu",
        "the same, as large as the links' `mtu` admits",
    ),
    ("window_limit", "TCP_WINDOW_CLAMP of the receiver"),
    ("initial_window", "initcwnd of the route"),
    ("rto_min", "rto_min of the route"),
    ("dup_thresh", "net.ipv4.tcp_reordering"),
    ("receive_buffer_default", "net.ipv4.tcp_rmem"),
    ("receive_buffer_max", "net.ipv4.tcp_rmem"),
    ("receive_auto_tuning", "net.ipv4.tcp_moderate_rcvbuf"),
    ("adv_win_scale", "net.ipv4.tcp_adv_win_scale"),
    ("window_scaling", "net.ipv4.tcp_window_scaling"),
    ("send_buffer_default", "net.ipv4.tcp_wmem"),
    ("send_buffer_max", "net.ipv4.tcp_wmem"),
    ("ecn", "net.ipv4.tcp_ecn"),
    (
        "metrics_cache",
        "net.ipv4.tcp_no_metrics_save and tcp_no_ssthresh_metrics_save",
    ),
    ("partial", "TCP_NODELAY or TCP_CORK of the sender"),
    ("autocorking", "net.ipv4.tcp_autocorking"),
    ("ack_every", "quickack of the route, if it is 1"),
    ("restart_after_idle", "net.ipv4.tcp_slow_start_after_idle"),
];

const PARTIAL: &str = "`nodelay`, `minshall` and `cork`";

/// Values of them that no kernel knows, and those that it does.
pub const UNKNOWN_VALUES: &[(&str, &str, &str)] = &[
    ("partial", "nagle", PARTIAL),
    ("partial", "linux-2.0.29", PARTIAL),
    ("restart_after_idle", "restart_window", "`off` and `decay`"),
];

/// Those of them that hold for all connections between two hosts.
pub const SHARED_TCP_KEYS: &[&str] = &[
    "initial_window",
    "rto_min",
    "dup_thresh",
    "ecn",
    "metrics_cache",
    "receive_buffer_default",
    "receive_buffer_max",
    "receive_auto_tuning",
    "adv_win_scale",
    "window_scaling",
    "send_buffer_default",
    "send_buffer_max",
    "restart_after_idle",
    "autocorking",
    "ack_every",
];
