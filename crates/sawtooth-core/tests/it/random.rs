//! Random scenarios over everything a study can name: every stack, recovery, congestion control, queue, source and part of the TCP.

use proptest::prelude::*;
use sawtooth_core::internals::{cc, queue, tcp};
use sawtooth_core::registry::{Entry, Kind};
use sawtooth_core::{Scenario, scenario};
use serde_json::{Value, json};

#[derive(Clone, Debug)]
pub struct Case {
    pub stack: &'static str,
    pub recovery: &'static str,
    pub cc: &'static str,
    pub flows: u32,
    pub rate_kbit: u32,
    pub access_ratio: u32,
    pub delay_ms: u32,
    pub step_ms: u32,
    /// The limit of all queues, and the discipline at the bottlenecks where it is not that of the other links.
    pub queue: String,
    pub discipline: Option<&'static str>,
    pub window: u32,
    pub ack_every: u32,
    pub start_ms: u32,
    pub shape: &'static str,
    pub sample: Option<&'static str>,
    pub loss: f64,
    pub ecn: Option<&'static str>,
    /// Keys of `tcp` besides those.
    pub parts: Vec<(&'static str, Value)>,
    pub source: Option<Value>,
    /// Keys of the bottleneck's two directions and of the access links, besides those that every case has.
    pub wires: [Vec<(&'static str, Value)>; 3],
    /// Of all links, if they have one, and of the nodes at their ends.
    pub medium: Option<&'static str>,
    pub forwarding: Option<Value>,
    /// Of the flows, each way.
    pub access_delay_ms: u32,
    /// The table `arrivals` of flows that come and go beside the others.
    pub arrivals: Option<Value>,
    /// Flows of UDP.
    pub background: Option<Value>,
    /// Tables that links fill if they are asked for.
    pub link_tables: Vec<&'static str>,
}

fn names<C>(table: &[Entry<C>]) -> Vec<&'static str> {
    table.iter().map(|entry| entry.name).collect()
}

/// Bulk of a size, messages that may be written at one time with all else that happens, and a paced application.
fn sources() -> impl Strategy<Value = Value> {
    let messages = (
        1u32..40_000,
        1u32..1500,
        prop::option::of(1u32..30),
        1u32..4,
    );
    let paced = (10u32..3000, 1u32..5000, prop::option::of(1u32..200));
    let on_off = (10u32..3000, 1u32..5000, 1u32..900, 1u32..900);
    let exchanges = (
        1u32..3000,
        1u32..60_000,
        0u32..400,
        prop::option::of(1u32..12),
    );
    prop_oneof![
        on_off.prop_map(|(rate, size, on, off)| json!({
            "name": "on_off", "rate": format!("{rate} kbit/s"), "size": format!("{size} B"),
            "on": {"name": "exponential", "mean": format!("{on} ms")}, "off": {"name": "pareto", "mean": format!("{off} ms")},
        })),
        exchanges.prop_map(|(request, response, think, count)| json!({
            "name": "request_response", "request": format!("{request} B"), "response": {"name": "exponential", "mean": format!("{response} B")},
            "think": format!("{think} ms"), "server_think": format!("{} ms", think % 7),
            "request_writes": 1 + think % 3, "response_writes": 1 + think % 2, "write_interval": "3 us",
            "count": count.map_or(json!("none"), |count| json!(count)),
        })),
        (1u32..300).prop_map(|kb| json!({"name": "bulk", "size": format!("{kb} kB")})),
        messages.prop_map(|(size, interval, count, writes)| json!({
            "writes": writes, "write_interval": format!("{} us", size),
            "name": "messages", "size": format!("{size} B"), "interval": format!("{interval} ms"), "offset": format!("{} ms", size % 3),
            "count": count.map_or(json!("none"), |count| json!(count)),
        })),
        paced.prop_map(|(rate, size, total)| json!({
            "name": "paced", "rate": format!("{rate} kbit/s"), "size": format!("{size} B"),
            "total": total.map_or("none".to_owned(), |total| format!("{total} kB")),
        })),
    ]
}

/// Flows that arrive and leave: few large ones, or so many small ones that they are more than the path can carry.
fn arrivals() -> impl Strategy<Value = Value> {
    let sizes = (1u32..200_000).prop_flat_map(|mean| {
        let mean = format!("{mean} B");
        prop_oneof![
            Just(json!(mean)),
            Just(json!({"name": "exponential", "mean": mean})),
            Just(json!({"name": "pareto", "shape": 1.2, "mean": mean})),
        ]
    });
    (sizes, 1u32..40, prop::option::of(1u32..20), 0u32..9).prop_map(|(size, rate, number, stop)| {
        let mut tree = json!({"rate": rate, "size": size, "stop": format!("{} s", 2 + stop)});
        if let Some(number) = number {
            tree["number"] = json!(number);
        }
        tree
    })
}

fn direction(is_forward: bool) -> &'static str {
    if is_forward { "forward" } else { "reverse" }
}

/// Flows of UDP through a meeting point at once, or over links that they have to themselves before one, or nothing else; no packet is smaller
/// than an acknowledgement.
fn backgrounds() -> impl Strategy<Value = Value> {
    let path = prop::sample::select(vec![
        vec!["bottleneck"],
        vec!["own", "bottleneck", "second"],
        vec!["own"],
    ]);
    let times = (0u32..3000, 1u32..3, 40u32..1500);
    let rate = (0u32..6000).prop_map(|rate| format!("{rate} kbit/s"));
    let source = (0u32..5, 0u32..9, prop::bool::ANY);
    (path, times, rate, source).prop_map(|(path, (start, count, size), rate, (kind, variance, flag))| {
        let mut source = match kind {
            // A rate at which packets keep step with those of the links' rate, which is what ties are made of.
            0 => json!({"name": "constant_rate", "rate": "1 Mbit/s"}),
            1 => json!({"name": "constant_rate", "rate": rate, "jitter": f64::from(u8::from(flag)) * 0.7}),
            2 => json!({"name": "poisson", "rate": rate, "sizes": if flag { "exponential" } else { "constant" }}),
            3 => json!({"name": "self_similar", "mean": rate, "variance": variance, "period": "13 ms",
                "spread": if flag { "even" } else { "back_to_back" }}),
            _ => json!({"name": "pareto_on_off", "rate": rate, "sources": 7, "mean_on": "30 ms"}),
        };
        source["size"] = json!(format!("{} B", if source["sizes"] == "exponential" { 1200 } else { size }));
        json!({"name": "background", "transport": "udp", "path": path, "direction": direction(start % 4 > 0), "count": count, "start": format!("{start} ms"),
            "stop": "7.5 s", "source": source})
    })
}

/// What every case has a key of its own for.
const DRAWN_APART: &[&str] = &["recovery", "ecn"];

/// A value of each of the switches and choices of `tcp`.
fn switches() -> Vec<BoxedStrategy<(&'static str, Value)>> {
    let own = tcp::PARAMS
        .iter()
        .filter(|param| !DRAWN_APART.contains(&param.name));
    own.filter_map(|param| match param.kind {
        Kind::Bool => Some(
            any::<bool>()
                .prop_map(|flag| (param.name, json!(flag)))
                .boxed(),
        ),
        Kind::Choice(words) => Some(
            prop::sample::select(words)
                .prop_map(|word| (param.name, json!(word)))
                .boxed(),
        ),
        _ => None,
    })
    .collect()
}

/// A buffer at its start, and as large as it may become: too small for the path, or large enough.
fn buffer(
    default: &'static str,
    max: &'static str,
) -> impl Strategy<Value = Vec<(&'static str, Value)>> {
    // With the largest share for overhead there must be room for a segment.
    let kb = (8u32..100, 1u32..10);
    kb.prop_map(move |(kb, growth)| {
        vec![
            (default, json!(format!("{kb} kB"))),
            (max, json!(format!("{} kB", kb * growth))),
        ]
    })
}

/// Some of the other keys of `tcp`.
fn parts() -> impl Strategy<Value = Vec<(&'static str, Value)>> {
    let switches = prop::sample::subsequence(switches(), 0..4).prop_flat_map(|drawn| drawn);
    let sizes = prop::sample::subsequence(
        vec![
            ("ack_size", json!("40 B")),
            ("syn_options", json!("8 B")),
            ("max_pacing_rate", json!("1 Mbit/s")),
            ("adv_win_scale", json!(-2)),
            ("initial_window", json!("3 packets")),
            ("initial_ssthresh", json!("8 packets")),
            ("max_sack_blocks", json!(1)),
            ("timer_tick", json!("10 ms")),
            ("sender_phase", json!("3 ms")),
            ("receiver_phase", json!("7 ms")),
            ("partial_timer", json!("20 ms")),
            ("window_limit", json!("20 kB")),
            ("quick_acks", json!(5)),
            ("smss", json!("536 B")),
        ],
        0..3,
    );
    let buffers = (
        prop::option::weighted(0.3, buffer("receive_buffer_default", "receive_buffer_max")),
        prop::option::weighted(0.3, buffer("send_buffer_default", "send_buffer_max")),
    );
    (switches, sizes, buffers).prop_map(|(switches, sizes, (receive, send))| {
        let buffers = receive.into_iter().chain(send).flatten();
        let mut all: Vec<_> = switches.into_iter().chain(sizes).chain(buffers).collect();
        // A contradiction, which is refused.
        if all.iter().any(|(key, _)| *key == "max_pacing_rate") {
            all.retain(|part| *part != ("pacing", json!("off")));
        }
        all
    })
}

/// What a link may have besides a constant rate, a constant delay and a queue.
fn wire() -> impl Strategy<Value = Vec<(&'static str, Value)>> {
    let outages = (
        10u32..3000,
        1u32..300,
        any::<bool>(),
        prop::option::of(400u32..2000),
    );
    let table = (
        1u32..2000,
        0u32..3000,
        0u32..80,
        prop::option::of(2500u32..4000),
    );
    let trace = (prop::collection::vec(0u64..40, 1..40), 1u64..20);
    let keys: Vec<BoxedStrategy<(&'static str, Value)>> = vec![
        prop_oneof![
            (0u32..20).prop_map(|ms| json!({"name": "uniform", "spread": format!("{ms} ms")})),
            (0u32..20).prop_map(|ms| json!({"name": "normal", "deviation": format!("{ms} ms")})),
            (1u32..20).prop_map(|ms| json!({"name": "pareto", "scale": format!("{ms} ms"), "max": "1 s"})),
            (0u32..20).prop_map(|ms| json!({"name": "table", "quantiles": ["-2 ms", "0 ms", format!("{ms} ms"), "30 ms"]})),
        ]
        .prop_map(|jitter| ("jitter", jitter))
        .boxed(),
        any::<bool>().prop_map(|keep| ("keep_order", json!(keep))).boxed(),
        (prop::sample::select(vec!["early", "late"]), 1u32..4)
            .prop_map(|(name, gap)| ("reorder", json!({"name": name, "probability": 0.1, "gap": gap})))
            .boxed(),
        (0u32..3).prop_map(|tenths| ("duplicate", json!(f64::from(tenths) / 10.0))).boxed(),
        (0u32..3).prop_map(|tenths| ("corrupt", json!(f64::from(tenths) / 20.0))).boxed(),
        outages
            .prop_map(|(from, length, wait, every)| {
                let mut outage = json!({
                    "from": format!("{from} ms"), "until": format!("{} ms", from + length), "packets": if wait { "wait" } else { "lost" },
                });
                if let Some(every) = every {
                    outage["every"] = json!(format!("{every} ms"));
                }
                ("outages", json!([outage]))
            })
            .boxed(),
        table
            .prop_map(|(at, rate, delay, every)| {
                let mut changes = json!({"rows": [
                    {"at": format!("{at} ms"), "rate": format!("{rate} kbit/s"), "delay": format!("{delay} ms")},
                    {"at": "2 s", "rate": "3 Mbit/s", "loss": 0.02},
                    {"at": "2100 ms", "delay": "1 ms", "loss": 0},
                ]});
                if let Some(every) = every {
                    changes["every"] = json!(format!("{every} ms"));
                }
                ("changes", changes)
            })
            .boxed(),
        any::<bool>()
            .prop_map(|delay| {
                let walk = json!({"interval": "70 ms", "rate_step": "2 Mbit/s", "rate_min": "100 kbit/s", "rate_max": "100 Mbit/s"});
                let of_delay = json!({"delay_step": "10 ms", "delay_min": "0 ms", "delay_max": "1 s"});
                ("walk", if delay { of_delay } else { walk })
            })
            .boxed(),
        trace
            .prop_map(|(mut millis, last)| {
                millis.sort_unstable();
                millis.push(40 + last);
                ("trace", json!(millis))
            })
            .boxed(),
        (0u32..10)
            .prop_map(|tenths| {
                let loss_bad = f64::from(tenths) / 10.0;
                ("loss", json!({"name": "gilbert_elliott", "p": 0.02, "r": 0.3, "loss_bad": loss_bad}))
            })
            .boxed(),
    ];
    prop::sample::subsequence(keys, 0..5).prop_flat_map(|drawn| drawn)
}

/// What the nodes at the ends of all links do.
fn nodes() -> impl Strategy<Value = Value> {
    (any::<bool>(), 0u32..9, 0u32..9).prop_map(|(cut, latency, each)| {
        json!({"name": if cut { "cut_through" } else { "store_and_forward" }, "latency": format!("{latency} ms"),
            "per_packet": format!("{} us", 300 * each)})
    })
}

/// Puts them in, without the contradictions, which are refused.
fn put(link: &mut Value, wire: &[(&'static str, Value)]) {
    let table = link.as_object_mut().expect("a link");
    for (key, value) in wire {
        if *key == "trace" {
            table.remove("rate");
        }
        table.insert((*key).to_owned(), value.clone());
    }
    if table.contains_key("changes") {
        table.remove("walk");
    }
    if table.contains_key("trace") {
        table.remove("changes");
        if table
            .get("walk")
            .is_some_and(|walk| walk.get("rate_step").is_some())
        {
            table.remove("walk");
        }
    }
}

pub fn cases() -> impl Strategy<Value = Case> {
    let disciplines = prop::sample::select(names(queue::TABLE));
    let names = (
        prop::sample::select(vec!["ns2", "rfc", "linux", "linux-3.2", "linux-2.0.29"]),
        prop::sample::select(names(tcp::recovery::TABLE)),
        prop::sample::select(names(cc::TABLE)),
        prop::sample::select(vec!["dumbbell", "single", "parking_lot"]),
    );
    let sizes = (1u32..7, 200u32..20_000, 1u32..4, 0u32..120, 0u32..40);
    let limits = (
        (
            prop_oneof![
                (2u32..60).prop_map(|n| format!("{n} packets")),
                (4u32..60).prop_map(|n| format!("{n} kB"))
            ],
            prop::option::of(disciplines),
        ),
        3u32..300,
        1u32..3,
        // Zero makes all flows start at once: every tie there can be.
        prop_oneof![Just(0u32), 1u32..400],
        prop::sample::select(vec![None, Some("70 ms"), Some("ack")]),
        prop::option::of(sources()),
        prop::sample::select(vec![0.0, 0.01, 0.1]),
        prop::sample::select(vec![
            None,
            Some("off"),
            Some("classic"),
            Some("dctcp"),
            Some("accurate"),
        ]),
        parts(),
        (
            prop::option::weighted(0.5, wire()),
            prop::option::weighted(0.3, wire()),
            prop::option::weighted(0.2, wire()),
            prop::sample::select(vec![0, 0, 3, 50]),
            (
                prop::sample::select(vec![None, None, Some("ethernet"), Some("atm")]),
                prop::option::weighted(0.4, nodes()),
            ),
        ),
        (
            prop::option::weighted(0.4, arrivals()),
            prop::option::of(backgrounds()),
            prop::sample::subsequence(vec!["waits", "link_flows", "packets"], 0..=3),
        ),
    );
    (names, sizes, limits).prop_map(|(names, sizes, limits)| Case {
        stack: names.0,
        recovery: names.1,
        cc: names.2,
        shape: names.3,
        flows: sizes.0,
        rate_kbit: sizes.1,
        access_ratio: sizes.2,
        delay_ms: sizes.3,
        step_ms: sizes.4,
        queue: limits.0.0,
        discipline: limits.0.1,
        window: limits.1,
        ack_every: limits.2,
        start_ms: limits.3,
        sample: limits.4,
        source: limits.5,
        loss: limits.6,
        ecn: limits.7,
        parts: {
            let mut parts = limits.8;
            // A contradiction, which is refused: that stack paces nothing.
            parts.retain(|(key, _)| names.0 != "linux-3.2" || *key != "max_pacing_rate");
            parts
        },
        wires: [limits.9.0, limits.9.1, limits.9.2].map(Option::unwrap_or_default),
        access_delay_ms: limits.9.3,
        medium: limits.9.4.0,
        forwarding: limits.9.4.1,
        arrivals: limits.10.0,
        background: limits.10.1,
        link_tables: limits.10.2,
    })
}

impl Case {
    /// The queue at the bottlenecks: `queue`, which is that of the other links, or of the discipline that is drawn.
    fn bottleneck(&self, queue: &Value) -> Value {
        let mut bottleneck = self.discipline.map_or(
            queue.clone(),
            |name| json!({"name": name, "limit": self.queue}),
        );
        match self.discipline {
            Some("step") => bottleneck = queue.clone(),
            // Low, so that they are reached.
            Some("red" | "ared") => {
                bottleneck["min_threshold"] = json!("1 packets");
                bottleneck["max_threshold"] = json!("3 packets");
                bottleneck["weight"] = json!(0.05);
            }
            Some("token_bucket") => {
                bottleneck["rate"] = json!(format!("{} kbit/s", self.rate_kbit * 4 / 5));
                bottleneck["burst"] = json!("3000 B");
            }
            // A rate that is lower than the link's.
            Some("cake") => {
                let rate = format!("{} kbit/s", self.rate_kbit * 4 / 5);
                bottleneck = json!({"name": "cake", "rate": rate, "limit": self.queue});
            }
            _ => {}
        }
        bottleneck
    }

    pub fn tree(&self) -> Value {
        let rate = format!("{} kbit/s", self.rate_kbit);
        let access = format!("{} kbit/s", self.rate_kbit * self.access_ratio);
        let mut queue = json!({"name": "drop_tail", "limit": self.queue});
        if self.ecn.is_some() {
            // Two packets of the `rfc` stack, below every limit.
            let mark_above = if self.queue.ends_with("kB") {
                "3000 B"
            } else {
                "1 packets"
            };
            queue = json!({"name": "step", "limit": self.queue, "mark_above": mark_above});
        }
        let bottleneck = self.bottleneck(&queue);
        let step = format!("(i - 1) * {} ms", self.step_ms);
        let path = match self.shape {
            "single" => json!(["bottleneck"]),
            "dumbbell" => json!(["sender[i]", "bottleneck", "receiver[i]"]),
            _ => json!(["sender[i]", "bottleneck", "second"]),
        };
        let mut tree = json!({
            "duration": "8 s",
            "stack": self.stack,
            "cc": self.cc,
            "tcp": {
                "recovery": self.recovery,
                "window_limit": format!("{} packets", self.window),
                "ack_every": self.ack_every,
            },
            "links": {
                "bottleneck": {"rate": rate, "delay": format!("{} ms", self.delay_ms), "queue": bottleneck, "loss": self.loss,
                    "drop": [3, 40], "reverse": {"loss": self.loss / 2.0}},
                "second": {"rate": rate, "delay": "5 ms", "queue": bottleneck},
                "sender": {"rate": access, "delay": step, "queue": queue, "count": self.flows},
                "receiver": {"rate": access, "delay": step, "queue": queue, "count": self.flows},
            },
            "flows": [
                {"path": path, "count": self.flows, "start": format!("{} ms * i", self.start_ms)},
                // A flow that enters half-way, with the others or against them.
                {"name": "cross", "path": ["second"], "start": "1 s", "direction": direction(self.start_ms.is_multiple_of(2))},
            ],
        });
        let links = &mut tree["links"];
        put(&mut links["bottleneck"]["reverse"], &self.wires[1]);
        put(&mut links["bottleneck"], &self.wires[0]);
        put(&mut links["sender"], &self.wires[2]);
        // The forward direction's wire is the reverse's, too, and a walk of delays begins within its bounds.
        let traced = links["bottleneck"].get("trace").is_some();
        let reverse = &mut links["bottleneck"]["reverse"];
        if traced && reverse.get("trace").is_none() {
            reverse["rate"] = json!("1 Mbit/s");
        }
        if self.access_delay_ms > 0 {
            tree["flows"][0]["delay"] = json!(format!("{} ms * i", self.access_delay_ms));
        }
        if let Some(ecn) = self.ecn {
            tree["tcp"]["ecn"] = json!(ecn);
        }
        for (key, value) in &self.parts {
            tree["tcp"][key] = value.clone();
        }
        if let Some(arrivals) = &self.arrivals {
            let flows = tree["flows"].as_array_mut().expect("a list");
            flows.push(json!({"name": "guests", "path": ["bottleneck"], "start": "200 ms", "arrivals": arrivals}));
            // As many again over a path that shares one link, and begins with another.
            flows.push(
                json!({"name": "others", "path": ["second", "bottleneck"], "arrivals": arrivals}),
            );
        }
        if let Some(source) = &self.source {
            tree["flows"][0]["source"] = source.clone();
        }
        if let Some(background) = &self.background {
            let own = json!({"rate": access, "delay": "3 ms", "queue": {"name": "drop_tail", "limit": "6 packets"}});
            tree["links"]["own"] = own;
            put(&mut tree["links"]["own"], &self.wires[2]);
            let flows = tree["flows"].as_array_mut().expect("a list");
            let at = flows.len();
            flows.push(background.clone());
            if self.access_delay_ms > 0 {
                flows[at]["delay"] = json!(format!("{} ms", self.access_delay_ms));
            }
        }
        self.put_media(&mut tree);
        if let Some(sample) = self.sample {
            tree["sample"] = json!(sample);
        }
        tree["record"] = json!(self.record());
        tree
    }

    /// Media and nodes, as far as the wires allow them.
    fn put_media(&self, tree: &mut Value) {
        let has = |keys: &[&str]| {
            let mut wires = self.wires.iter().flatten();
            wires.any(|(key, _)| keys.contains(key))
        };
        let wants_mtu = self.parts.contains(&("mss_from_mtu", json!(true)));
        let medium = self.medium.filter(|_| !has(&["trace"]));
        for link in tree["links"].as_object_mut().expect("links").values_mut() {
            if let Some(medium) = medium {
                link["medium"] = json!(medium);
            }
            if medium.is_some() || wants_mtu {
                link["mtu"] = json!("1500 B");
            }
            let Some(mut forwarding) = self.forwarding.clone() else {
                continue;
            };
            if has(&["trace", "changes", "walk", "outages", "jitter", "reorder"]) {
                forwarding["name"] = json!("store_and_forward");
            }
            if has(&["keep_order", "reorder", "duplicate"]) {
                forwarding["per_packet"] = json!("0 s");
            }
            link["forwarding"] = forwarding;
        }
        if medium.is_some() || wants_mtu {
            // They fit into what a link with an `mtu` carries.
            for flow in tree["flows"].as_array_mut().expect("flows") {
                if flow["source"]["sizes"] == "exponential" {
                    flow["source"]["sizes"] = json!("constant");
                }
            }
        }
    }

    /// Words of `record`: those of the links as they are drawn, the others where there is something to record.
    fn record(&self) -> Vec<&'static str> {
        let mut words = self.link_tables.clone();
        if self.sample.is_some() {
            words.extend(["variables", "episodes", "limited"]);
        } else if self.arrivals.is_some() {
            words.push("transfers");
        }
        words
    }

    pub fn scenario(&self) -> Scenario {
        load(&self.tree())
    }
}

pub fn load(tree: &Value) -> Scenario {
    scenario::from_tree(tree).unwrap_or_else(|error| panic!("{error}"))
}

/// So many cases, or as many times more as `PROPTEST_CASES` is above its default.
pub fn config(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: (cases * default.cases).div_ceil(256),
        ..default
    }
}
