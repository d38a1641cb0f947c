//! Taps: who listens changes nothing, and hears everything in its order.

use std::collections::BTreeMap;

use crate::columns::counts;
use crate::random::{cases, config, load};
use proptest::prelude::*;
use sawtooth_core::internals::packet::Ecn;
use sawtooth_core::internals::sim::{
    SeenContent, SeenPacket, SeenSegment, Tap, TapPoint, WireEvent, simulate_tapped,
};
use sawtooth_core::record::Records;
use sawtooth_core::units::{ByteCount, Instant};
use sawtooth_core::{Scenario, simulate};
use serde_json::{Value, json};

/// Remembers what it sees.
#[derive(Debug, Default)]
struct Listener {
    seen: Vec<(usize, SeenPacket)>,
    drops: BTreeMap<usize, u64>,
}

impl Tap for Listener {
    fn begin(&mut self) {
        *self = Self::default();
    }

    fn see(&mut self, point: usize, packet: &SeenPacket) {
        self.seen.push((point, packet.clone()));
    }

    fn see_drop(&mut self, point: usize) {
        *self.drops.entry(point).or_default() += 1;
    }
}

impl Listener {
    fn at(&self, point: usize) -> impl Iterator<Item = &SeenPacket> {
        let here = self.seen.iter().filter(move |(at, _)| *at == point);
        here.map(|(_, packet)| packet)
    }
}

/// All points that a scenario has, the senders first and then the receivers.
fn all_points(scenario: &Scenario) -> Vec<TapPoint> {
    let links =
        (0..scenario.links.len()).flat_map(|link| [TapPoint::Near(link), TapPoint::Far(link)]);
    [TapPoint::Sender, TapPoint::Receiver]
        .into_iter()
        .chain(links)
        .collect()
}

fn listened(scenario: &Scenario) -> (Records, Listener) {
    let mut listener = Listener::default();
    let points = all_points(scenario);
    let run = simulate_tapped(scenario, 1, &|| true, &points, &mut listener);
    (run.expect("within limits").0, listener)
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn records_do_not_depend_on_who_listens_and_times_do_not_decrease(case in cases()) {
        let scenario = case.scenario();
        let (records, listener) = listened(&scenario);
        prop_assert_eq!(&records, &simulate(&scenario, 1));
        let mut before = Instant::START;
        for (_, packet) in &listener.seen {
            prop_assert!(packet.time >= before);
            before = packet.time;
        }
    }

    #[test]
    fn at_senders_everything_is_heard_that_records_count(case in cases()) {
        let scenario = case.scenario();
        let (records, listener) = listened(&scenario);
        let sent = counts(&records, "flows", "sent_packets");
        let again = counts(&records, "flows", "retransmits");
        let acked = counts(&records, "flows", "acked_bytes");
        for (number, flow) in scenario.flows.iter().enumerate() {
            // What a host has been handed may not have left it.
            if flow.host.is_some() {
                continue;
            }
            let heard = Heard::of(&listener, number);
            prop_assert_eq!((heard.sent, heard.again), (sent[number], again[number]));
            prop_assert_eq!(heard.acked_bytes(), acked[number]);
        }
    }

    #[test]
    fn a_packet_says_the_same_wherever_it_is_seen(case in cases()) {
        let (_, listener) = listened(&case.scenario());
        // What routers change, and when and where it is seen, is apart.
        let same = |packet: &SeenPacket| SeenPacket {
            time: Instant::START,
            ecn: Ecn::NotEct,
            links: 0,
            is_damaged: false,
            ahead: WireEvent::None,
            ..packet.clone()
        };
        let mut sent: BTreeMap<_, SeenPacket> = BTreeMap::new();
        for (point, packet) in &listener.seen {
            let key = (packet.flow, packet.connection, packet.returns, packet.number);
            let leaves = *point == usize::from(packet.returns) && packet.links == 0;
            if leaves {
                sent.insert(key, same(packet));
            } else {
                prop_assert_eq!(sent.get(&key), Some(&same(packet)));
            }
        }
    }

    #[test]
    fn drops_of_queues_are_heard_at_their_links(case in cases()) {
        let scenario = case.scenario();
        let (records, listener) = listened(&scenario);
        let dropped = counts(&records, "links", "dropped_packets");
        for (direction, dropped) in dropped.into_iter().enumerate() {
            // Two points for the ends of each link follow those of hosts; a direction begins at one of them.
            let heard = listener.drops.get(&(2 + direction));
            prop_assert_eq!(heard.copied().unwrap_or(0), dropped);
        }
    }
}

/// What is heard of a flow at its sender.
#[derive(Debug, Default)]
struct Heard {
    sent: u64,
    again: u64,
    /// The number of the FIN, if there is one.
    fin: Option<u64>,
    next: u64,
}

impl Heard {
    fn of(listener: &Listener, flow: usize) -> Self {
        let mut heard = Self {
            next: 1,
            ..Self::default()
        };
        for packet in listener.at(0).filter(|packet| packet.flow as usize == flow) {
            let SeenContent::Segment(segment) = &packet.content else {
                panic!("a datagram of a connection");
            };
            if packet.returns && !packet.is_damaged {
                let next = segment.ack.as_ref().map_or(0, |ack| ack.next.get());
                heard.next = heard.next.max(next);
            } else if let Some(data) = segment
                .data
                .filter(|data| !data.ends_handshake && !data.answers_fin)
                && !packet.returns
            {
                heard.sent += 1;
                heard.again += u64::from(data.retransmission);
                if data.fin {
                    heard.fin = Some((data.start + data.payload).get());
                }
            }
        }
        heard
    }

    /// Without the SYN and the FIN, which take a number each.
    fn acked_bytes(&self) -> u64 {
        let fin = self.fin.is_some_and(|fin| self.next > fin);
        self.next - 1 - u64::from(fin)
    }
}

/// A flow over a link that loses some packets, marks none and is slow.
fn lossy(more: &Value) -> Value {
    let mut tree = json!({
        "duration": "20 s",
        "links": {"l": {"rate": "2 Mbit/s", "delay": "20 ms", "loss": 0.02, "queue": {"name": "drop_tail", "limit": "15 packets"}}},
        "flows": [{"path": ["l"], "source": {"name": "bulk", "size": "1 MB"}}],
    });
    for (key, value) in more.as_object().expect("a table") {
        tree[key] = value.clone();
    }
    tree
}

#[test]
fn what_a_wire_loses_is_known_where_it_leaves_and_never_arrives() {
    let scenario = load(&lossy(&json!({"stack": "linux"})));
    let (records, listener) = listened(&scenario);
    let lost = counts(&records, "links", "lost_packets");
    // At the near end what goes on its way is data; what goes back is acknowledgements.
    let leaving = listener.at(2).filter(|packet| !packet.returns);
    let ahead = leaving.filter(|packet| packet.ahead == WireEvent::Lost);
    assert!(lost[0] > 5);
    assert_eq!(ahead.count() as u64, lost[0]);
    let left = listener.at(2).filter(|packet| !packet.returns).count() as u64;
    let arrived = listener.at(3).filter(|packet| !packet.returns).count() as u64;
    assert_eq!(left - lost[0], arrived);
    assert_eq!(
        listener.at(1).filter(|packet| !packet.returns).count() as u64,
        arrived
    );
}

#[test]
fn rfc2883_4_what_comes_again_is_named_by_its_bytes() {
    let mut tree = lossy(&json!({"stack": "linux"}));
    tree["links"]["l"]["loss"] = json!(0);
    tree["links"]["l"]["duplicate"] = json!(0.05);
    let (records, listener) = listened(&load(&tree));
    let acks = listener.at(0).filter_map(|packet| match &packet.content {
        SeenContent::Segment(segment) => segment.ack.as_ref(),
        SeenContent::Datagram => None,
    });
    let repeated: Vec<_> = acks.filter_map(|ack| ack.repeated).collect();
    let reported = counts(&records, "flows", "dsacks_in")[0];
    // Acknowledgements are doubled, too.
    assert!(reported > 5);
    assert_eq!(repeated.len() as u64, reported);
    for range in repeated {
        // Full segments from the first byte on, and the last one.
        assert!((range.start.get() - 1) % 1448 == 0, "{range:?}");
        assert!(range.end - range.start <= ByteCount::new(1449), "{range:?}");
    }
}

#[test]
fn where_there_is_no_handshake_numbers_begin_behind_a_syn() {
    let scenario = load(&lossy(
        &json!({"stack": "ns2", "tcp": {"handshake": false}}),
    ));
    let (_, listener) = listened(&scenario);
    let first = listener.at(0).next().expect("a packet");
    let SeenContent::Segment(SeenSegment {
        data: Some(data),
        ack: None,
        ..
    }) = &first.content
    else {
        panic!("{first:?}");
    };
    assert_eq!(
        (data.start.get(), data.payload.get(), data.syn),
        (1, 1000, false)
    );
}

#[test]
fn requests_and_responses_are_one_connection_both_ways() {
    let tree = json!({
        "duration": "5 s", "stack": "linux",
        "links": {"l": {"rate": "10 Mbit/s", "delay": "10 ms"}},
        "flows": [{"path": ["l"], "source": {"name": "request_response", "request": "300 B", "response": "20 kB"}}],
    });
    let (_, listener) = listened(&load(&tree));
    let first = listener.at(1).next().expect("a packet");
    // Who asks is where responses go to.
    assert!(first.returns && first.connection == 0 && first.flow == 0);
    let both = listener.at(0).filter(|packet| {
        matches!(
            &packet.content,
            SeenContent::Segment(SeenSegment {
                data: Some(_),
                ack: Some(_),
                ..
            })
        )
    });
    assert!(both.count() > 10);
    assert!(listener.at(0).all(|packet| packet.connection == 0));
}
