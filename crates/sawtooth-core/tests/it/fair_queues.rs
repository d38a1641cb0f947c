//! Queues per flow and the dual queue: what they promise whatever arrives, and what comes of it from end to end.

use crate::columns::{numbers, wholes, words};
use proptest::prelude::*;
use sawtooth_core::internals::loss::WireFate;
use sawtooth_core::internals::packet::{DataSegment, Ecn, Packet};
use sawtooth_core::internals::queue::{self, Backlog, Dequeued, Queue, QueuedPacket, Site, TABLE};
use sawtooth_core::internals::rng::RandomStream;
use sawtooth_core::record::Records;
use sawtooth_core::registry::{Params, Value};
use sawtooth_core::units::{ByteCount, Instant, Rate, SeqNum};
use sawtooth_core::{scenario, simulate};
use serde_json::{Value as Json, json};

// --- whatever arrives ---------------------------------------------------------------------------------------------------

fn build(name: &str, values: &[(&str, Value)]) -> Box<dyn Queue> {
    let row = TABLE.iter().find(|entry| entry.name == name);
    let mut params = Params::defaults(row.expect("a row").params);
    for (name, value) in values {
        params.set(name, *value);
    }
    let site = Site {
        rate: Rate::from_bps(10e6),
        stream: RandomStream::new(1, name),
    };
    queue::build(name, &params, site)
}

fn packet(flow: u32, number: u64, wire_bytes: u32, ecn: Ecn, now: f64) -> QueuedPacket {
    let data = DataSegment {
        seq: SeqNum::new(number),
        ecn,
        ..DataSegment::default()
    };
    QueuedPacket::new(
        Packet::data(flow, 0, ByteCount::from(wire_bytes), data),
        Instant::from_secs(now),
        WireFate::Arrives,
    )
}

proptest! {
    /// The bound of unfairness of Shreedhar and Varghese 1995: over any interval in which both have packets waiting they differ by at most
    /// `quantum + 2 * max` bytes; and by `quantum + max` over those that begin when both come, as both begin with nothing kept.
    #[test]
    fn two_flows_that_always_wait_differ_by_a_quantum_and_two_packets_at_most(
        quantum in 100u32..4000,
        sizes in prop::collection::vec((40u32..3000, 40u32..3000), 50..200),
    ) {
        let max = sizes.iter().map(|(one, other)| i64::from(*one.max(other))).max().unwrap_or(0);
        let most = i64::from(quantum) + max;
        for name in ["drr", "sfq", "fq_codel", "fq_pie"] {
            let limit = ("limit", Value::Packets(100_000));
            let mut queue = build(name, &[limit, ("quantum", Value::Bytes(quantum.into()))]);
            let mut dropped = Vec::new();
            // Two flows that do not collide.
            let (one, other) = (0, 1);
            for (number, sizes) in (0..).zip(&sizes) {
                for (flow, bytes) in [(one, sizes.0), (other, sizes.1)] {
                    let packet = packet(flow, number, bytes, Ecn::NotEct, 0.0);
                    queue.enqueue(packet, Backlog::default(), &mut dropped);
                }
            }
            // Until the last packet of one of them is about to leave.
            let (mut left, mut ahead, mut least, mut greatest) = ([sizes.len(); 2], 0, 0, 0);
            while let Dequeued::Packet(packet) = queue.dequeue(Instant::START, &mut dropped) {
                let side = usize::from(packet.packet.flow == other);
                left[side] -= 1;
                if left[side] == 0 {
                    break;
                }
                ahead += i64::from(packet.packet.size().packet_size()) * if side == 0 { 1 } else { -1 };
                prop_assert!(ahead.abs() <= most, "{}: {} ahead", name, ahead);
                least = ahead.min(least);
                greatest = ahead.max(greatest);
            }
            prop_assert!(greatest - least <= most + max, "{}: {} and {}", name, least, greatest);
            prop_assert!(dropped.is_empty(), "{}", name);
        }
    }

    #[test]
    fn no_packet_of_a_flow_overtakes_another(
        steps in prop::collection::vec((0u32..20_000, prop::option::weighted(0.6, (0u32..6, 40u32..3000))), 1..300),
        limit in 2u64..60,
    ) {
        for entry in TABLE {
            let mut values = vec![("limit", Value::Packets(limit))];
            if entry.name == "sfq" {
                values.extend([("queues", Value::Integer(3)), ("perturbation_period", Value::Duration(0.2))]);
            }
            if !entry.params.iter().any(|param| param.name == "limit") {
                values.clear();
            }
            let mut queue = build(entry.name, &values);
            let (mut now, mut dropped, mut last) = (0.0, Vec::new(), [None; 6]);
            for (number, (after_us, arrives)) in (0u64..).zip(&steps) {
                now += f64::from(*after_us) / 1e6;
                if let Some((flow, bytes)) = *arrives {
                    // A flow is of one kind; else it would be in both queues of a dual queue.
                    let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1][flow as usize % 3];
                    queue.enqueue(packet(flow, number, bytes, ecn, now), Backlog::default(), &mut dropped);
                    let waiting = queue.waiting().packets;
                    prop_assert!(waiting <= limit || values.is_empty(), "{}: {} wait", entry.name, waiting);
                } else if let Dequeued::Packet(packet) = queue.dequeue(Instant::from_secs(now), &mut dropped) {
                    let seq = Some(packet.packet.segment().seq);
                    let last = &mut last[packet.packet.flow as usize];
                    prop_assert!(*last < seq, "{}: {:?} after {:?}", entry.name, seq, last);
                    *last = seq;
                }
            }
        }
    }
}

// --- what nobody can mean -----------------------------------------------------------------------------------------------

#[test]
fn queues_that_could_not_work_are_refused_with_what_to_do() {
    let error = |rate: &str, queue: Json| {
        let tree = json!({
            "duration": "1 s",
            "links": {"l": {"rate": rate, "delay": "5 ms", "queue": queue}},
            "flows": [{"path": ["l"], "tcp": {"smss": "1460 B", "header": "40 B"}}],
        });
        scenario::from_tree(&tree)
            .expect_err("an error")
            .to_string()
    };
    for (queue, expected) in [
        (
            json!({"name": "fq_codel", "memory_limit": "1 kB"}),
            "links.l.queue.memory_limit: `memory_limit` is 1000 B, less than one packet of 1500 B: no packet would ever wait",
        ),
        (
            json!({"name": "drr", "limit": "1 kB"}),
            "links.l.queue.limit: `limit` is 1000 B, less than one packet of 1500 B: no packet would ever wait",
        ),
        (
            json!({"name": "fq_pie", "queues": 0}),
            "links.l.queue.queues: `queues` must be from 1 to 65536, found 0",
        ),
        (
            json!({"name": "sfq", "perturbation_period": "0 s"}),
            "links.l.queue.perturbation_period: `perturbation_period` must be above zero, found 0 s",
        ),
        (
            json!({"name": "fq_codel", "target": "100 ms"}),
            "links.l.queue.target: `target` is 100 ms, and `interval` is 100 ms: the delay is to be below it for most of an interval",
        ),
        (
            json!({"name": "dualpi2", "limit_time": "1 ms"}),
            "links.l.queue.limit_time: `target` is 15 ms, and the queue drops above 1 ms: its delay would never get there",
        ),
        (
            json!({"name": "dualpi2", "k": 0}),
            "links.l.queue.k: `k` must be from 0.01 to 100, found 0",
        ),
        (
            json!({"name": "dualpi2", "scheduler": "wfq"}),
            "links.l.queue.scheduler: unknown scheduler `wfq`",
        ),
    ] {
        let (path, message) = expected.split_once(": ").expect("a path");
        let found = error("10 Mbit/s", queue);
        assert!(
            found.starts_with(&format!("{message} (at {path})")),
            "{found}"
        );
    }
    let found = error("10 kbit/s", json!({"name": "dualpi2"}));
    let expected =
        "`limit_time` is 250 ms, less than one packet of 1500 B takes: no packet would ever wait";
    assert!(found.contains(expected), "{found}");
}

// --- from end to end ----------------------------------------------------------------------------------------------------

fn run(tree: &Json) -> Records {
    let scenario = scenario::from_tree(tree).unwrap_or_else(|error| panic!("{error}"));
    simulate(&scenario, 1)
}

/// Mean of the smoothed round-trip times of flows whose names begin so, at the samples from `since` seconds on, milliseconds.
#[expect(clippy::cast_precision_loss, reason = "nanoseconds of a minute")]
fn mean_rtt_ms(records: &Records, flow: &str, since: f64) -> f64 {
    let times = wholes(records, "series", "t_ns");
    let flows = words(records, "series", "flow");
    let rtts = wholes(records, "series", "srtt_ns");
    let (mut sum, mut count) = (0.0, 0.0);
    for ((time, name), rtt) in times.iter().zip(&flows).zip(&rtts) {
        if name.starts_with(flow) && *time as f64 >= since * 1e9 {
            sum += *rtt as f64 / 1e6;
            count += 1.0;
        }
    }
    sum / count
}

/// A bulk flow of CUBIC and one that writes 1000 bytes every 50 ms, over 10 Mbit/s and a round trip of 40 ms; mean round-trip times of
/// both, the bulk flow's goodput as a share of the link.
fn bufferbloat(queue: &Json) -> (f64, f64, f64) {
    let records = run(&json!({
        "duration": "40 s", "sample": "10 ms", "stack": "linux",
        "links": {"l": {"rate": "10 Mbit/s", "delay": "20 ms", "queue": queue}},
        "flows": [
            {"name": "bulk", "path": ["l"], "cc": "cubic"},
            {"name": "sparse", "path": ["l"], "cc": "cubic", "source": {"name": "messages", "size": "1000 B", "interval": "50 ms"}},
        ],
    }));
    (
        mean_rtt_ms(&records, "bulk", 10.0),
        mean_rtt_ms(&records, "sparse", 10.0),
        numbers(&records, "flows", "goodput_bps")[0] / 10e6,
    )
}

#[test]
fn rfc8290_a_sparse_flow_does_not_wait_for_a_bulk_flow() {
    // 800 packets take 960 ms to leave; CUBIC fills the buffer to between 0.7 of it, with the path, and all.
    let (bulk, sparse, _) = bufferbloat(&json!({"name": "drop_tail", "limit": "800 packets"}));
    assert!(bulk > 500.0 && sparse > 500.0, "{bulk} {sparse}");
    for name in ["fq_codel", "fq_pie", "cake"] {
        let (bulk, sparse, share) = bufferbloat(&json!({"name": name}));
        // A sparse packet waits for the packet in transmission, 1.2 ms at most, then takes 0.84 ms itself and its acknowledgement 0.04 ms.
        assert!((40.8..42.2).contains(&sparse), "{name}: {sparse}");
        // The bulk flow's delay is about its AQM's target, 5 or 15 ms, and up to twice that while CUBIC's window grows between signals.
        assert!((42.0..75.0).contains(&bulk), "{name}: {bulk}");
        // Of 0.95, as 168 kbit/s are the sparse flow's and payload is 1448 of 1500; CoDel's target is an eighth of the round trip, so that a
        // window that is reduced to 0.7 does not quite fill the path.
        assert!(share > 0.85, "{name}: {share}");
    }
}

#[test]
fn flows_of_unequal_round_trips_and_sizes_share_a_fair_queue_equally() {
    for name in ["drr", "sfq", "fq_codel", "fq_pie", "cake"] {
        let mut queue = json!({"name": name});
        if ["drr", "sfq"].contains(&name) {
            // Half of it is 170 ms of the far flow's share: its queue never empties.
            queue["limit"] = json!("400 packets");
        }
        if name == "sfq" {
            // In turns of a packet flows would share packets.
            queue["quantum"] = json!("1500 B");
        }
        let records = run(&json!({
            "duration": "60 s", "stack": "rfc", "cc": "reno",
            "links": {
                "l": {"rate": "10 Mbit/s", "delay": "5 ms", "queue": queue},
                "far": {"rate": "100 Mbit/s", "delay": "20 ms"},
            },
            "flows": [
                {"path": ["l"]},
                {"path": ["l", "far"], "tcp": {"smss": "500 B"}},
            ],
        }));
        let goodput = numbers(&records, "flows", "goodput_bps");
        // Bytes on the wire: with 40 of header 1460 of 1500, and 500 of 540. Under CoDel, COBALT and PIE, with targets below the far flow's round trip
        // of 50 ms, its queue does empty: Reno then has three quarters or more of its share, and the near flow the rest.
        let wire = [goodput[0] * 1500.0 / 1460.0, goodput[1] * 540.0 / 500.0];
        let ratio = wire[1] / wire[0];
        let is_managed = !["drr", "sfq"].contains(&name);
        let least = if is_managed { 0.7 } else { 0.97 };
        assert!((least..1.03).contains(&ratio), "{name}: {wire:?}");
        assert!(wire[0] + wire[1] > 0.95 * 10e6, "{name}: {wire:?}");
    }
}

/// So many flows of CUBIC and as many of Prague over a dual queue at `mbps` and a round trip of 20 ms: how long their packets wait from 20 s
/// on, milliseconds, Prague's rate over CUBIC's, and the share of marks that Prague has met over the root of the share that CUBIC has lost.
fn dual(mbps: u32, flows: u32, values: &Json) -> [f64; 4] {
    let mut queue = json!({"name": "dualpi2"});
    for (key, value) in values.as_object().expect("values") {
        queue[key] = value.clone();
    }
    let records = run(&json!({
        "duration": "60 s", "sample": "10 ms", "stack": "linux", "tcp": {"ack_every": 1},
        "links": {"l": {"rate": format!("{mbps} Mbit/s"), "delay": "10 ms", "queue": queue}},
        "flows": [
            {"name": "classic", "path": ["l"], "cc": "cubic", "count": flows},
            {"name": "l4s", "path": ["l"], "cc": "prague", "count": flows},
        ],
    }));
    // Of a round trip without waiting: a packet's transmission, and its acknowledgement's.
    let bare = 20.0 + 8.0 * 1560.0 / (f64::from(mbps) * 1e3);
    let sum = |values: &[f64]| values.iter().sum::<f64>();
    let half = flows as usize;
    let goodput = numbers(&records, "flows", "goodput_bps");
    let sent = numbers(&records, "flows", "sent_packets");
    let marks = sum(&numbers(&records, "flows", "ce_in")[half..]) / sum(&sent[half..]);
    let losses = sum(&numbers(&records, "flows", "retransmits")[..half]) / sum(&sent[..half]);
    [
        mean_rtt_ms(&records, "classic", 20.0) - bare,
        mean_rtt_ms(&records, "l4s", 20.0) - bare,
        sum(&goodput[half..]) / sum(&goodput[..half]),
        marks / losses.sqrt(),
    ]
}

#[test]
fn rfc9332_prague_waits_for_a_millisecond_and_cubic_for_the_target_and_they_share() {
    for (mbps, flows) in [(40, 1), (100, 1), (100, 4)] {
        for values in [
            json!({}),
            json!({"scheduler": "ts_fifo"}),
            json!({"ramp": "0 s", "min_threshold": "1 ms"}),
        ] {
            let found = dual(mbps, flows, &values);
            let [classic, l4s, ratio, coupling] = found;
            let what = format!("{flows} and {flows} at {mbps} Mbit/s, {values}: {found:?}");
            // The controller holds the mean at its target of 15 ms.
            assert!((13.0..17.0).contains(&classic), "{what}");
            // The ramp ends at 1.2 ms, and most marks are the coupled ones, which come before it begins.
            assert!((0.0..1.2).contains(&l4s), "{what}");
            // 2 p' against p'²: 2, less what p' varies, whose mean square is more than its squared mean.
            assert!((1.6..2.1).contains(&coupling), "{what}");
            // Prague's rate is 2 / (2 p' * 25 ms), with its virtual round trip, CUBIC's in its Reno-friendly region 1.22 / (p' * 35 ms), with
            // the queue's: 1.15 times as much, and more the more p' varies. "Roughly equal" is within a factor of two.
            assert!((0.7..2.0).contains(&ratio), "{what}");
        }
    }
    // A scheduler that guarantees half to the C queue leaves Prague no more than the other.
    let [.., ratio, _] = dual(40, 1, &json!({"classic_share": 0.5}));
    assert!((0.7..1.0).contains(&ratio), "{ratio}");
}
