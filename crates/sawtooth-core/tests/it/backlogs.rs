//! What links say of the packets that wait: means over time, percentiles, and whose they are.

use crate::columns::{counts, numbers, wholes, words};
use crate::random::{cases, config, load};
use proptest::prelude::*;
use sawtooth_core::Scenario;
use sawtooth_core::internals::events::{EventKey, Lineage, Occurrence};
use sawtooth_core::internals::net::{self, Port, Traffic, Turn};
use sawtooth_core::internals::packet::{DataSegment, Packet};
use sawtooth_core::internals::rows::link_tables;
use sawtooth_core::record::Records;
use sawtooth_core::simulate;
use sawtooth_core::spec::Shortcuts;
use sawtooth_core::units::{ByteCount, Instant};
use serde_json::{Value, json};

/// One link of 1 Mbit/s, on which 1000 bytes take 8 ms, and two flows, which are on the hops 0 and 1.
fn crossing(queue: &Value, duration: &str) -> Scenario {
    load(&json!({
        "duration": duration, "record": ["waits", "link_flows"],
        "links": {"l": {"rate": "1 Mbit/s", "drop": [3], "queue": queue}},
        "flows": [{"name": "a", "path": ["l"]}, {"name": "b", "path": ["l"]}],
    }))
}

/// What the link records of packets at these times, in ms, of these flows and bytes.
pub fn fed(scenario: &Scenario, packets: &[(f64, u32, u32)], computed: bool) -> Records {
    let mut ports = net::ports(scenario, 1, computed);
    let whose = [0, 1].map(|flow| Traffic { flow, acks: false });
    net::keep_ledgers(&mut ports, scenario.record, whose.to_vec());
    let (port, mut lineage) = (&mut ports[0], Lineage::new());
    let mut free = EventKey::NEVER;
    for (at, hop, bytes) in packets {
        let time = Instant::from_secs(at / 1e3);
        let packet = Packet::data(*hop, *hop, ByteCount::from(*bytes), DataSegment::default());
        if port.is_computed() {
            port.accept_any(
                EventKey::at_start(time, 0),
                Occurrence::OUT_OF_TURN,
                &packet,
                &mut lineage,
            );
            continue;
        }
        free = transmit_until(port, free, time, &mut lineage);
        let turn = port.arrive(
            EventKey::at_start(time, 0),
            Occurrence::OUT_OF_TURN,
            packet,
            &mut lineage,
        );
        free = next_free(port, turn, free);
    }
    transmit_until(port, free, Instant::START + scenario.duration, &mut lineage);
    ports.iter_mut().for_each(Port::finish);
    Records {
        tables: link_tables(scenario, &ports),
    }
}

fn transmit_until(
    port: &mut Port,
    mut free: EventKey,
    time: Instant,
    lineage: &mut Lineage,
) -> EventKey {
    while free.time <= time {
        let turn = port.transmitter_free(lineage.record(free));
        free = next_free(port, turn, EventKey::NEVER);
    }
    free
}

fn next_free(port: &mut Port, turn: Turn, before: EventKey) -> EventKey {
    while port.take_dropped().is_some() {}
    match turn {
        Turn::Waits => before,
        Turn::Wakes(key) => key,
        Turn::Starts(transmission) => transmission.done,
    }
}

/// Five packets of 1000 bytes and one of 500, room for three that wait and the one in transmission:
///
/// | at | flow | finds | starts at | waits |
/// |---|---|---|---|---|
/// | 0 ms | a | 0 | 0 ms | 0 ms |
/// | 1 ms | b | 1 | 8 ms | 7 ms |
/// | 2 ms | a, lost | 2 | 16 ms | 14 ms |
/// | 3 ms | b, 500 B | 3 | 24 ms | 21 ms |
/// | 4 ms | b | 4 | dropped | |
/// | 20 ms | a | 2 | 28 ms, after the end | 5 ms until then |
#[test]
fn waits_and_backlogs_are_those_worked_out_by_hand() {
    let queue = json!({"name": "drop_tail", "limit": "4 packets"});
    let packets = [
        (0.0, 0, 1000),
        (1.0, 1, 1000),
        (2.0, 0, 1000),
        (3.0, 1, 500),
        (4.0, 1, 1000),
        (20.0, 0, 1000),
    ];
    let scenario = crossing(&queue, "25 ms");
    let records = fed(&scenario, &packets, true);
    assert_eq!(records, fed(&scenario, &packets, false), "with events");
    // 7 + 14 + 21 + 5 ms of packets, and 7 + 14 + 10.5 + 5 ms of kilobytes, in 25 ms.
    let close = |found: f64, expected: f64| {
        assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
    };
    close(
        numbers(&records, "links", "backlog_mean_packets")[0],
        47.0 / 25.0,
    );
    close(
        numbers(&records, "links", "backlog_mean_bytes")[0],
        36_500.0 / 25.0,
    );
    assert_eq!(counts(&records, "waits", "started_packets")[0], 4);
    // Of 0, 7, 14 and 21 ms the second is the median, within 1/128.
    assert_eq!(wholes(&records, "waits", "wait_mean_ns")[0], 10_500_000);
    let median = wholes(&records, "waits", "wait_p50_ns")[0];
    assert!(median.abs_diff(7_000_000) <= 7_000_000 / 128, "{median}");
    assert_eq!(wholes(&records, "waits", "wait_max_ns")[0], 21_000_000);
    // Found: 0, 1, 2, 2, 3, 4.
    close(numbers(&records, "waits", "found_mean_packets")[0], 2.0);
    assert_eq!(counts(&records, "waits", "found_p50_packets")[0], 2);
    assert_eq!(counts(&records, "waits", "found_p90_packets")[0], 4);
    assert_eq!(counts(&records, "waits", "found_max_packets")[0], 4);
    // Nothing came to the other direction.
    assert_eq!(wholes(&records, "waits", "wait_p99_ns")[1], -1);
    assert_eq!(numbers(&records, "links", "backlog_mean_packets")[1], 0.0);
    assert_eq!(words(&records, "link_flows", "flow"), ["a", "b"]);
    let by_flow = |column| counts(&records, "link_flows", column);
    assert_eq!(by_flow("arrived_packets"), [3, 3]);
    assert_eq!(by_flow("arrived_bytes"), [3000, 2500]);
    assert_eq!(by_flow("dropped_packets"), [0, 1]);
    assert_eq!(by_flow("dropped_bytes"), [0, 1000]);
    assert_eq!(by_flow("lost_packets"), [1, 0]);
    assert_eq!(by_flow("marked_packets"), [0, 0]);
    // a: 0 and 14 ms; b: 7 and 21 ms.
    assert_eq!(
        wholes(&records, "link_flows", "wait_mean_ns"),
        [7_000_000, 14_000_000]
    );
    assert_eq!(
        words(&records, "link_flows", "direction"),
        ["forward", "forward"]
    );
}

/// What each queue holds, taken as samples in the middle of every millisecond; the packet in transmission is subtracted, by the utilisation.
#[test]
fn the_mean_backlog_is_that_of_samples_over_time() {
    for queue in ["drop_tail", "codel", "fq_codel", "pie", "drr", "sfq", "red"] {
        let mut tree = json!({
            "duration": "30 s", "stack": "linux", "sample": "1 ms",
            "links": {"l": {"rate": "10 Mbit/s", "delay": "10 ms", "queue": {"name": queue, "limit": "60 packets"}}},
            "flows": [{"path": ["l"], "count": 3}],
        });
        if queue == "red" {
            tree["links"]["l"]["queue"]["min_threshold"] = json!("10 packets");
            tree["links"]["l"]["queue"]["max_threshold"] = json!("30 packets");
        }
        let records = simulate(&load(&tree), 1);
        let samples = counts(&records, "queues", "backlog_packets");
        let samples = &samples[..samples.len() / 2];
        #[expect(clippy::cast_precision_loss, reason = "counts")]
        let waiting = samples
            .iter()
            .map(|present| present.saturating_sub(1) as f64);
        #[expect(clippy::cast_precision_loss, reason = "a count")]
        let expected = waiting.sum::<f64>() / samples.len() as f64;
        let mean = numbers(&records, "links", "backlog_mean_packets")[0];
        // 30,000 samples, of which those within some ms depend on each other; what a queue holds back has nothing in transmission.
        assert!(
            (mean / expected - 1.0).abs() < 0.02,
            "{queue}: {mean} for {expected}"
        );
    }
}

/// The most of samples is that of the run, whatever the way in which a queue's packets are decided; each is no less than what was there at both of its ends.
#[test]
fn the_most_since_a_sample_is_what_samples_a_thousand_times_as_many_have_seen() {
    for queue in ["drop_tail", "codel"] {
        let tree = |sample: &str| {
            json!({
                "duration": "5 s", "stack": "linux", "sample": sample,
                "links": {"l": {"rate": "10 Mbit/s", "delay": "10 ms", "queue": {"name": queue, "limit": "60 packets"}}},
                "flows": [{"path": ["l"], "count": 3}],
            })
        };
        let records = simulate(&load(&tree("100 ms")), 1);
        let fine = simulate(&load(&tree("100 us")), 1);
        let (most, backlogs) = (
            counts(&records, "queues", "peak_packets"),
            counts(&records, "queues", "backlog_packets"),
        );
        let seen = counts(&fine, "queues", "backlog_packets");
        for way in 0..2 {
            let most = &most[51 * way..51 * (way + 1)];
            let backlogs = &backlogs[51 * way..51 * (way + 1)];
            let seen = &seen[50_001 * way..50_001 * (way + 1)];
            let peak = counts(&records, "links", "peak_packets")[way];
            assert_eq!(*most.iter().max().expect("samples"), peak, "{queue}");
            for at in 1..51 {
                let within = &seen[1000 * (at - 1)..=1000 * at];
                let seen = *within.iter().max().expect("samples");
                assert!(most[at] >= seen && most[at] <= seen + 3, "{queue} {at}");
                assert!(
                    most[at] >= backlogs[at - 1].max(backlogs[at]),
                    "{queue} {at}"
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(config(60))]

    /// Mean backlog = throughput x mean wait (Little 1961), exactly where nothing still waits at the end and nothing is dropped that has
    /// waited; else the former is larger.
    #[test]
    fn rates_times_waits_are_backlogs(
        flows in 1u32..5, rate in 1u32..50, limit in 3u32..80, kb in 1u32..400, ack_every in 1u32..3, no_tx_event in any::<bool>(),
    ) {
        let mut scenario = load(&json!({
            "duration": "600 s", "stack": "linux", "tcp": {"ack_every": ack_every}, "record": ["waits", "link_flows"],
            "links": {"l": {"rate": format!("{rate} Mbit/s"), "delay": "10 ms", "queue": {"name": "drop_tail", "limit": format!("{limit} packets")}}},
            "flows": [{"path": ["l"], "count": flows, "source": {"name": "bulk", "size": format!("{kb} kB")}}],
        }));
        scenario.shortcuts = Shortcuts { no_tx_event, ..Shortcuts::all(true) };
        let records = simulate(&scenario, 1);
        let (arrived, dropped) = (counts(&records, "links", "arrived_packets"), counts(&records, "links", "dropped_packets"));
        let started = counts(&records, "waits", "started_packets");
        for way in 0..2 {
            let accepted = arrived[way] - dropped[way];
            prop_assert_eq!(accepted, started[way]);
            #[expect(clippy::cast_precision_loss, reason = "counts and times far below 2^53")]
            let waited = accepted as f64 * wholes(&records, "waits", "wait_mean_ns")[way] as f64 / 1e9;
            let held = numbers(&records, "links", "backlog_mean_packets")[way] * 600.0;
            // Each wait is rounded to a nanosecond, and so is their mean.
            #[expect(clippy::cast_precision_loss, reason = "a count")]
            let rounding = accepted as f64 * 1e-9;
            prop_assert!((held - waited).abs() <= rounding + 1e-9 * held, "{held} for {waited}");
        }
    }

    /// Whatever the queues, wires, sources and stacks: what flows have done adds up to what links have counted.
    #[test]
    fn the_flows_of_a_link_add_up_to_it(mut case in cases()) {
        case.link_tables = vec!["waits", "link_flows"];
        let records = simulate(&case.scenario(), 1);
        let (links, ways) = (words(&records, "links", "link"), words(&records, "links", "direction"));
        let (of_links, of_ways) = (words(&records, "link_flows", "link"), words(&records, "link_flows", "direction"));
        for column in ["arrived_packets", "arrived_bytes", "dropped_packets", "dropped_bytes", "lost_packets", "marked_packets"] {
            let by_flow = counts(&records, "link_flows", column);
            for (at, total) in counts(&records, "links", column).iter().enumerate() {
                let here = (0..by_flow.len()).filter(|row| of_links[*row] == links[at] && of_ways[*row] == ways[at]);
                prop_assert_eq!(here.map(|row| by_flow[row]).sum::<u64>(), *total, "{} of {} {}", column, &links[at], &ways[at]);
            }
        }
        for (started, accepted) in counts(&records, "waits", "started_packets").iter().zip(accepted(&records)) {
            prop_assert!(*started <= accepted);
        }
    }
}

fn accepted(records: &Records) -> impl Iterator<Item = u64> {
    let (arrived, dropped) = (
        counts(records, "links", "arrived_packets"),
        counts(records, "links", "dropped_packets"),
    );
    arrived
        .into_iter()
        .zip(dropped)
        .map(|(arrived, dropped)| arrived - dropped)
}
