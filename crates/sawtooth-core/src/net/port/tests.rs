//! What becomes of packets at a port of 1 Mbit/s and 10 ms, where 1000 bytes take 8 ms; with departures computed at arrival, and with events.

use super::*;
use crate::impair::Medium;
use crate::net;
use crate::packet::DataSegment;
use crate::queue;
use crate::registry::Value;
use crate::spec::{LinkSpec, Part, Scenario};
use crate::units::testing::{bytes, secs};

/// A packet at the far end.
#[derive(Debug, PartialEq)]
struct Arrived {
    at: f64,
    marked: bool,
    /// A second time, at the same instant.
    twice: bool,
    damaged: bool,
}

impl Arrived {
    fn whole(at: f64) -> Self {
        Self {
            at,
            marked: false,
            twice: false,
            damaged: false,
        }
    }
}

fn direction(queue: &'static str, limit_packets: u64) -> LinkDirection {
    let queue = Part::named(queue::TABLE, queue).expect("a row of the table");
    LinkDirection {
        queue: queue.with("limit", Value::Packets(limit_packets)),
        ..LinkDirection::new(Rate::from_bps(1e6), Duration::from_secs(0.01))
    }
}

/// The forward port of one such link.
fn port(direction: &LinkDirection, end_secs: f64, computed: bool) -> Port {
    let link = LinkSpec {
        forward: direction.clone(),
        ..LinkSpec::new("l", direction.rate, direction.delay)
    };
    let scenario = Scenario::new(Duration::from_secs(end_secs), vec![link], Vec::new());
    let port = net::ports(&scenario, 1, computed).swap_remove(0);
    assert_eq!(port.is_computed(), computed);
    port
}

/// Packets of 1000 bytes come at time 0 with these ECN fields: what arrives, and the port after the run's end.
fn sent(direction: &LinkDirection, fields: &[Ecn], end_secs: f64) -> (Vec<Arrived>, Port) {
    let [computed, evented] = [true, false].map(|computed| {
        let mut port = port(direction, end_secs, computed);
        let arrived = cross(&mut port, fields, end_secs);
        port.finish();
        port.counters.busy_peak_packets = port.counters.peak_packets();
        (arrived, port)
    });
    assert_eq!(computed.0, evented.0, "what arrives");
    assert_eq!(computed.1.counters, evented.1.counters);
    computed
}

fn cross(port: &mut Port, fields: &[Ecn], end_secs: f64) -> Vec<Arrived> {
    let (mut arrived, mut lineage) = (Vec::new(), Lineage::new());
    let mut note = |passage: Passage, marked: bool| {
        if passage.again.is_some() {
            assert_eq!(
                passage.again.map(|key| key.time),
                Some(passage.arrival.time)
            );
        }
        if !passage.arrival.is_never() {
            arrived.push(Arrived {
                at: passage.arrival.time.secs(),
                marked,
                twice: passage.again.is_some(),
                damaged: passage.corrupted,
            });
        }
    };
    let mut free = EventKey::NEVER;
    for (order, ecn) in (0..).zip(fields) {
        let data = DataSegment {
            ecn: *ecn,
            ..DataSegment::default()
        };
        let (key, packet) = (
            EventKey::at_start(Instant::START, order),
            Packet::data(0, 0, ByteCount::new(1000), data),
        );
        if port.is_computed() {
            let passage = port.accept_any(key, Occurrence::OUT_OF_TURN, &packet, &mut lineage);
            if passage.arrival.time.secs() - 0.018 < end_secs {
                note(passage, passage.marked);
            }
            continue;
        }
        let turn = port.arrive(key, Occurrence::OUT_OF_TURN, packet, &mut lineage);
        while port.take_dropped().is_some() {}
        if let Turn::Starts(transmission) = turn {
            note(transmission.passage, false);
            free = transmission.done;
        }
    }
    while free.time.secs() < end_secs {
        let turn = port.transmitter_free(lineage.record(free));
        free = EventKey::NEVER;
        if let Turn::Starts(transmission) = turn {
            note(transmission.passage, transmission.packet.ecn() == Ecn::Ce);
            free = transmission.done;
        }
    }
    arrived
}

#[test]
fn packets_arrive_one_transmission_after_another_and_the_propagation_later() {
    let (arrived, port) = sent(&direction("drop_tail", 10), &[Ecn::NotEct; 3], 1.0);
    // The additions in the order that the head of the module gives.
    let expected = [0.0, 0.008, 0.008 + 0.008].map(|start| Arrived::whole(start + (0.008 + 0.01)));
    assert_eq!(arrived, expected);
    assert_eq!(port.counters.peak_packets(), 3);
    // 0, 8 and 16 ms.
    assert_eq!(port.counters.mean_wait(), Some(secs(0.024 / 3.0)));
    assert_eq!(port.mean_backlog_packets(), 0.024);
    assert_eq!(port.utilisation(), Some(0.024));
}

#[test]
fn a_packet_that_finds_the_queue_full_is_dropped() {
    let (arrived, port) = sent(&direction("drop_tail", 2), &[Ecn::NotEct; 3], 1.0);
    assert_eq!(arrived.len(), 2);
    let counters = port.counters;
    assert_eq!((counters.arrived_packets, counters.dropped_packets), (3, 1));
    assert_eq!((counters.dropped.get(), counters.lost_packets), (1000, 0));
}

#[test]
fn a_packet_that_the_wire_loses_has_been_transmitted() {
    let mut direction = direction("drop_tail", 10);
    direction.loss.drop = vec![1];
    let (arrived, port) = sent(&direction, &[Ecn::NotEct; 2], 1.0);
    assert_eq!(arrived, [Arrived::whole(0.008 + (0.008 + 0.01))]);
    assert_eq!(port.counters.lost_packets, 1);
    assert_eq!(port.counters.dropped_packets, 0);
    assert_eq!(port.utilisation(), Some(0.016));
}

#[test]
fn a_queue_marks_only_packets_that_are_capable() {
    let mut direction = direction("step", 10);
    direction.queue = direction.queue.with("mark_above", Value::Packets(1));
    let fields = [Ecn::Ect0, Ecn::Ect0, Ecn::NotEct, Ecn::Ect1];
    let (arrived, port) = sent(&direction, &fields, 1.0);
    let marked: Vec<bool> = arrived.iter().map(|packet| packet.marked).collect();
    assert_eq!(marked, [false, true, false, true]);
    assert_eq!(port.counters.marked_packets, 2);
}

#[test]
fn a_packet_is_duplicated_and_damaged_on_the_wire_and_the_queue_sees_one() {
    let mut direction = direction("drop_tail", 10);
    direction.impairments.duplicate = 1.0;
    direction.impairments.corrupt = 1.0;
    let (arrived, port) = sent(&direction, &[Ecn::NotEct], 1.0);
    let [packet] = &arrived[..] else {
        panic!("{arrived:?}");
    };
    assert!(packet.twice && packet.damaged);
    assert_eq!(packet.at, 0.008 + 0.01);
    let counters = port.counters;
    assert_eq!(
        (counters.arrived_packets, counters.duplicated_packets),
        (1, 1)
    );
    // Who carries the packet counts that: it may have been damaged before.
    assert_eq!(counters.corrupted_packets, 0);
}

#[test]
fn what_is_on_the_wire_at_the_end_is_lost_if_the_wire_loses_it_and_what_waits_is_not() {
    let mut direction = direction("drop_tail", 10);
    direction.loss.drop = vec![2, 3];
    // The first arrives after the end, the second is in transmission, the third waits.
    let (arrived, port) = sent(&direction, &[Ecn::NotEct; 3], 0.012);
    assert_eq!(arrived, [Arrived::whole(0.008 + 0.01)]);
    assert_eq!(port.counters.lost_packets, 1);
    assert_eq!(port.counters.accepted_packets(), 3);
    // The second has waited for 8 ms, the third until the end.
    assert_eq!(port.counters.mean_wait(), Some(secs(0.008 / 3.0)));
    assert_eq!(port.mean_backlog_packets(), (0.008 + 0.012) / 0.012);
    assert_eq!(port.mean_backlog_bytes(), (8.0 + 12.0) / 0.012);
}

#[test]
fn a_medium_makes_transmissions_longer_and_the_packet_stays_what_it_is() {
    let mut direction = direction("drop_tail", 10);
    direction.medium = Some(Medium::Ethernet);
    let mut port = port(&direction, 1.0, true);
    // Preamble, addresses, check sequence and gap.
    assert_eq!(port.transmission(bytes(1000)), secs(8.0 * 1038.0 / 1e6));
    let (arrived, port) = sent(&direction, &[Ecn::NotEct], 1.0);
    assert_eq!(arrived, [Arrived::whole(8.0 * 1038.0 / 1e6 + 0.01)]);
    assert_eq!(port.counters.arrived, bytes(1000));
    assert_eq!(port.utilisation(), Some(8.0 * 1038.0 / 1e6));
}
