use super::*;
use crate::packet::Ecn;
use crate::registry::Value;
use crate::spec::{FlowSpec, LinkSpec, Part, UdpSpec};
use crate::units::testing::at;
use crate::units::{ByteCount, Rate};
use crate::{packet_source, queue};

/// A packet as somebody might have it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fake {
    number: u8,
    bytes: u32,
    ecn: Ecn,
    damages: u32,
}

impl Fake {
    fn of(number: u8, bytes: u32) -> Self {
        Self {
            number,
            bytes,
            ecn: Ecn::NotEct,
            damages: 0,
        }
    }
}

impl Payload for Fake {
    fn size(&self) -> ByteCount {
        ByteCount::from(self.bytes)
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn mark(&mut self) {
        self.ecn = Ecn::Ce;
    }

    fn damage(&mut self) {
        self.damages += 1;
    }
}

/// A link of so many Mbit/s, and 10 ms.
fn link(mbps: f64, delay_secs: f64) -> LinkSpec {
    LinkSpec::new(
        "l",
        Rate::from_bps(mbps * 1e6),
        Duration::from_secs(delay_secs),
    )
}

fn with_queue(queue: Part) -> LinkSpec {
    let mut link = link(1.0, 0.01);
    link.forward.queue = queue;
    link
}

fn queue(name: &str) -> Part {
    Part::named(queue::TABLE, name).expect("a row")
}

/// Packets of 1500 bytes at a constant rate until `stop`.
fn udp(path: Vec<usize>, mbps: f64, stop: f64) -> UdpSpec {
    let source = Part::named(packet_source::TABLE, "constant_rate").expect("a row");
    let source = source
        .with("rate", Value::Rate(mbps * 1e6))
        .with("size", Value::Bytes(1500));
    UdpSpec::new("udp", path, source, Instant::from_secs(stop))
}

fn network(links: Vec<LinkSpec>, flow: FlowSpec, udp: Vec<UdpSpec>) -> Network<Fake> {
    let scenario = Scenario {
        udp,
        ..Scenario::new(Duration::from_secs(1.0), links, vec![flow])
    };
    Network::new(&scenario, 1)
}

/// All that reaches a host, and when.
fn deliveries(network: &mut Network<Fake>) -> Vec<(f64, DeliveredPacket<Fake>)> {
    let mut all = Vec::new();
    while network.next_time() != Instant::NEVER {
        let time = network.next_time();
        all.extend(
            network
                .advance(time)
                .map(|delivery| (time.secs(), delivery)),
        );
    }
    all
}

#[test]
fn a_packet_takes_transmission_and_propagation_and_a_full_queue_drops() {
    let queue = queue("drop_tail").with("limit", Value::Packets(2));
    let flow = FlowSpec::new("f", vec![0]);
    let mut network = network(vec![with_queue(queue)], flow, Vec::new());
    for number in 0..3 {
        let packet = Fake::of(number, 1000);
        network.offer(at(0.5), 0, 7, Towards::Receiver, packet);
    }
    assert!(network.advance(at(0.5)).is_none());
    let arrived = deliveries(&mut network);
    assert_eq!(arrived.len(), 2, "the third found the queue full");
    for (number, (time, delivery)) in (0u8..).zip(arrived) {
        let expected = DeliveredPacket {
            towards: Towards::Receiver,
            flow: 0,
            connection: 7,
            packet: Fake::of(number, 1000),
        };
        assert_eq!(delivery, expected);
        let expected = 0.5 + f64::from(number + 1) * 0.008 + 0.01;
        assert!((time - expected).abs() < 1e-12, "{time}");
    }
}

/// What a host sends at the instant at which a packet leaves a port is there before that or after it, as in the simulator: whichever was scheduled first, the
/// departure, as its transmission began, or what the host answers, as that left. It is the same whether the port computes departures or not.
#[test]
fn what_comes_as_another_leaves_is_in_the_order_in_which_both_were_scheduled() {
    // Times have no rounding error: a packet of 1000 bytes takes 1/128 s.
    let whole = 1.0 / 128.0;
    for (delay, arrive, why) in [
        (whole / 8.0, 3, "the first has left, and there is room"),
        (whole, 2, "the answer is first, and finds the queue full"),
    ] {
        for watched in [vec![], vec![0]] {
            let mut link = link(1.024, delay);
            for direction in [&mut link.forward, &mut link.reverse] {
                direction.queue = queue("drop_tail").with("limit", Value::Packets(2));
            }
            let flow = FlowSpec::new("f", vec![0]);
            let scenario = Scenario::new(Duration::from_secs(1.0), vec![link], vec![flow]);
            let mut network = Network::<Fake>::watch(&scenario, 1, &watched);
            // What is answered leaves, by half a transmission, so that it arrives with the end of the first.
            let answered = (0.5 + whole / 2.0 - delay, Towards::Sender, Fake::of(9, 500));
            let data = [0, 1].map(|number| (0.5, Towards::Receiver, Fake::of(number, 1000)));
            let mut offers = [data.to_vec(), vec![answered]].concat();
            offers.sort_by(|one, other| one.0.total_cmp(&other.0));
            for (time, towards, packet) in offers {
                assert_eq!(network.advance(at(time)), None);
                network.offer(at(time), 0, 0, towards, packet);
            }
            let end = at(0.5 + whole);
            assert!(
                network
                    .advance(end)
                    .is_some_and(|delivery| delivery.packet.number == 9)
            );
            network.offer(end, 0, 0, Towards::Receiver, Fake::of(2, 1000));
            assert_eq!(deliveries(&mut network).len(), arrive, "{why} {watched:?}");
        }
    }
}

#[test]
fn packets_are_doubled_damaged_once_and_delayed_by_their_flow() {
    let mut links = vec![link(1.0, 0.01), link(1.0, 0.01)];
    for link in &mut links {
        link.forward.impairments.corrupt = 1.0;
    }
    links[1].forward.impairments.duplicate = 1.0;
    let flow = FlowSpec {
        delay: Duration::from_secs(0.005),
        ..FlowSpec::new("f", vec![0, 1])
    };
    let mut network = network(links, flow, Vec::new());
    assert!((network.shortest_delay.secs() - 0.025).abs() < 1e-12);
    network.offer(at(0.5), 0, 0, Towards::Receiver, Fake::of(1, 1000));
    network.offer(at(0.5), 0, 0, Towards::Sender, Fake::of(2, 125));
    let arrived = deliveries(&mut network);
    let found: Vec<_> = (arrived.iter())
        .map(|(_, delivery)| (delivery.towards, delivery.packet.damages))
        .collect();
    let (there, back) = (Towards::Receiver, Towards::Sender);
    assert_eq!(found, [(back, 0), (there, 1), (there, 1)]);
    // Two transmissions of 1 or 8 ms, two links of 10 ms, and the flow's 5 ms.
    for ((time, _), expected) in arrived.iter().zip([0.527, 0.541, 0.541]) {
        assert!((time - expected).abs() < 1e-12, "{time}");
    }
    let damaged = [0, 2].map(|port| network.ports[port].counters.corrupted_packets);
    assert_eq!(damaged, [1, 0]);
}

#[test]
fn packets_of_udp_hold_up_those_of_the_hosts_and_are_counted() {
    let flow = FlowSpec::new("f", vec![0]);
    let udp = udp(vec![0], 12.0, 0.5);
    let mut network = network(vec![link(12.0, 0.01)], flow, vec![udp]);
    network.offer(at(0.1), 0, 0, Towards::Receiver, Fake::of(0, 1500));
    assert!(network.advance(at(0.1)).is_none());
    // Packet 100 leaves at 100 ms too, and goes first: 2 ms to send both, 10 ms on the way.
    assert!((network.next_time().secs() - 0.112).abs() < 1e-9);
    assert!(network.advance(network.next_time()).is_some());
    assert_eq!(
        network.next_time(),
        Instant::NEVER,
        "nobody need wake up for UDP"
    );
    network.finish(at(1.0));
    let received = &network.udp[0].received;
    assert_eq!(
        (network.udp[0].sent_packets(), received.packets),
        (500, 500)
    );
}

/// A flow queue gives each flow its turn; the wires double and damage what crosses them.
#[test]
fn packets_of_udp_cross_queues_with_events_and_wires() {
    let [mut a, mut b, mut c] = [link(12.0, 0.01), link(120.0, 0.0), link(120.0, 0.0)];
    a.forward.queue = queue("drr").with("limit", Value::Packets(1000));
    b.forward.impairments.duplicate = 1.0;
    c.forward.impairments.corrupt = 1.0;
    let twice = UdpSpec {
        delay: Duration::from_secs(0.005),
        ..udp(vec![0, 1], 24.0, 0.1)
    };
    let never = udp(vec![2], 12.0, 0.1);
    let flow = FlowSpec::new("f", vec![0]);
    let mut network = network(vec![a, b, c], flow, vec![twice, never]);
    // By 100 ms half of 190 packets are still there; that of the host's waits for the one on its way and at most for one more.
    network.offer(at(0.1), 0, 0, Towards::Receiver, Fake::of(0, 1500));
    assert!(network.advance(at(0.1)).is_none());
    let arrived = deliveries(&mut network);
    assert_eq!(arrived.len(), 1);
    assert!((0.111..=0.1131).contains(&arrived[0].0), "{arrived:?}");
    network.finish(at(1.0));
    let [twice, never] = [0, 1].map(|flow| &network.udp[flow]);
    assert_eq!((twice.sent_packets(), twice.received.packets), (200, 400));
    assert_eq!((never.sent_packets(), never.received.packets), (100, 0));
    assert_eq!(network.ports[4].counters.corrupted_packets, 100);
}

#[test]
fn capable_packets_above_the_threshold_are_marked_on_their_way() {
    let queue = queue("step")
        .with("limit", Value::Packets(4))
        .with("mark_above", Value::Packets(2));
    let flow = FlowSpec::new("f", vec![0]);
    let mut network = network(vec![with_queue(queue)], flow, Vec::new());
    let (able, not) = (Ecn::Ect0, Ecn::NotEct);
    for ecn in [able, able, able, not, able] {
        let packet = Fake {
            ecn,
            ..Fake::of(0, 20)
        };
        network.offer(at(0.5), 0, 0, Towards::Receiver, packet);
    }
    let arrived = deliveries(&mut network);
    let fields: Vec<Ecn> = (arrived.iter())
        .map(|(_, delivery)| delivery.packet.ecn)
        .collect();
    // The fifth found the queue full.
    assert_eq!(fields, [able, able, Ecn::Ce, not]);
    assert_eq!(network.ports[0].counters.marked_packets, 1);
}

#[test]
fn a_queue_that_holds_packets_back_lets_each_go_at_its_time() {
    let queue = queue("token_bucket")
        .with("rate", Value::Rate(80e3))
        .with("burst", Value::Bytes(2000));
    let flow = FlowSpec::new("f", vec![0]);
    let mut network = network(vec![with_queue(queue)], flow, Vec::new());
    for number in 0..4 {
        network.offer(at(0.5), 0, 0, Towards::Receiver, Fake::of(number, 1000));
    }
    let arrived = deliveries(&mut network);
    assert_eq!(arrived.len(), 4);
    // Two are in the bucket and leave one after the other, 8 ms each; tokens for the others take 100 ms each.
    let expected = [0.518, 0.526, 0.618, 0.718];
    for ((number, expected), (time, delivery)) in (0u8..).zip(expected).zip(&arrived) {
        assert_eq!(delivery.packet.number, number);
        assert!((time - expected).abs() < 1e-9, "{time}");
    }
}

#[test]
fn a_queue_that_decides_when_packets_leave_marks_the_capable_and_drops_the_others() {
    for (ecn, marks) in [(Ecn::Ect0, true), (Ecn::NotEct, false)] {
        let queue = queue("codel")
            .with("target", Value::Duration(0.001))
            .with("interval", Value::Duration(0.02));
        let flow = FlowSpec::new("f", vec![0]);
        let mut network = network(vec![with_queue(queue)], flow, Vec::new());
        // Forty at once, of which one leaves every 8 ms.
        for _ in 0..40 {
            let packet = Fake {
                ecn,
                ..Fake::of(0, 1000)
            };
            network.offer(at(0.5), 0, 0, Towards::Receiver, packet);
        }
        let arrived = deliveries(&mut network);
        let marked = arrived
            .iter()
            .filter(|(_, delivery)| delivery.packet.ecn == Ecn::Ce);
        let counters = network.ports[0].counters;
        assert_eq!(marked.count() as u64, counters.marked_packets);
        assert_eq!(arrived.len() as u64, 40 - counters.dropped_packets);
        assert_eq!(marks, counters.marked_packets > 0);
        assert_eq!(marks, counters.dropped_packets == 0);
        assert_eq!(network.queued.of_hosts(), 0);
    }
}

/// What a watched link shows: when, at which port, which packet, and what it does.
fn sights(network: &mut Network<Fake>) -> Vec<(f64, usize, u8, &'static str)> {
    let mut all = Vec::new();
    while network.next_time() != Instant::NEVER {
        let time = network.next_time();
        network.advance(time);
        for sight in network.take_sights() {
            let word = match sight.event {
                LinkEvent::Dropped => "dropped",
                LinkEvent::Starts(passage) if passage.arrival.is_never() => "lost",
                LinkEvent::Starts(_) => "starts",
                LinkEvent::Arrives => "arrives",
                LinkEvent::Leaves | LinkEvent::Ends => panic!("of a host"),
            };
            let (Some(port), Content::Host(packet)) = (sight.port, sight.content) else {
                panic!("at a host");
            };
            all.push((sight.time.secs(), port, packet.number, word));
        }
    }
    all
}

#[test]
fn a_watched_link_shows_when_transmissions_start_and_packets_arrive_or_are_dropped() {
    let limited = queue("drop_tail").with("limit", Value::Packets(2));
    let mut flow = FlowSpec::new("flow", vec![0]);
    flow.delay = Duration::from_secs(0.002);
    let scenario = Scenario::new(
        Duration::from_secs(1.0),
        vec![with_queue(limited)],
        vec![flow],
    );
    let mut network = Network::watch(&scenario, 1, &[0]);
    for number in 0..3 {
        network.offer(at(0.0), 0, 7, Towards::Receiver, Fake::of(number, 125));
    }
    network.offer(at(0.1), 0, 7, Towards::Sender, Fake::of(9, 125));
    let seen = sights(&mut network);
    // 125 bytes take 1 ms at 1 Mbit/s. The delay of the flow's access is before the link, and behind it on the way back.
    let expected = [
        (0.002, 0, 0, "starts"),
        (0.002, 0, 2, "dropped"),
        (0.003, 0, 1, "starts"),
        (0.013, 0, 0, "arrives"),
        (0.014, 0, 1, "arrives"),
        (0.1, 1, 9, "starts"),
        (0.111, 1, 9, "arrives"),
    ];
    assert_eq!(seen.len(), expected.len(), "{seen:?}");
    for (seen, expected) in seen.iter().zip(expected) {
        assert!((seen.0 - expected.0).abs() < 1e-9, "{seen:?}");
        assert_eq!(
            (seen.1, seen.2, seen.3),
            (expected.1, expected.2, expected.3)
        );
    }
}

/// What is seen of packets of UDP, of which the second is dropped: when, where, which, and in what words.
fn datagrams_seen(links: &[usize]) -> Vec<(f64, Option<usize>, u64, &'static str)> {
    let limited = queue("drop_tail").with("limit", Value::Packets(1));
    let mut slow = with_queue(limited);
    slow.forward.impairments.corrupt = 1.0;
    let scenario = Scenario {
        udp: vec![udp(vec![0], 1.875, 0.018)],
        ..Scenario::new(
            Duration::from_secs(1.0),
            vec![slow],
            vec![FlowSpec::new("flow", vec![0])],
        )
    };
    let mut network: Network<Fake> = Network::watch(&scenario, 1, links);
    network.finish(at(1.0));
    assert_eq!(network.seen_until(), Instant::NEVER);
    let told = |sight: LinkSight<Fake>| {
        let Content::Datagram { number, .. } = sight.content else {
            panic!("of a host");
        };
        assert_eq!(sight.flow, 1, "behind the flow of a host");
        let word = match (sight.event, sight.is_damaged) {
            (LinkEvent::Leaves, false) => "leaves",
            (LinkEvent::Dropped, false) => "dropped",
            (LinkEvent::Starts(_), false) => "starts",
            (LinkEvent::Arrives, true) => "arrives damaged",
            (LinkEvent::Ends, true) => "ends damaged",
            _ => "otherwise",
        };
        (sight.time.secs(), sight.port, number.get(), word)
    };
    network.take_sights().into_iter().map(told).collect()
}

#[test]
fn packets_of_udp_are_seen_at_their_hosts_and_at_watched_links() {
    // 1500 bytes each 6.4 ms, of which one takes 12 ms at 1 Mbit/s.
    let all = datagrams_seen(&[0]);
    let expected = [
        (0.0, None, 0, "leaves"),
        (0.0, Some(0), 0, "starts"),
        (0.0064, None, 1, "leaves"),
        (0.0064, Some(0), 1, "dropped"),
        (0.0128, None, 2, "leaves"),
        (0.0128, Some(0), 2, "starts"),
        (0.022, Some(0), 0, "arrives damaged"),
        (0.022, None, 0, "ends damaged"),
        (0.0348, Some(0), 2, "arrives damaged"),
        (0.0348, None, 2, "ends damaged"),
    ];
    let rounded = |seen: &(f64, Option<usize>, u64, &'static str)| {
        ((seen.0 * 1e6).round(), seen.1, seen.2, seen.3)
    };
    assert_eq!(
        all.iter().map(rounded).collect::<Vec<_>>(),
        expected.iter().map(rounded).collect::<Vec<_>>()
    );
    let at_hosts: Vec<_> = all.iter().filter(|seen| seen.1.is_none()).collect();
    let alone = datagrams_seen(&[]);
    assert_eq!(alone.iter().collect::<Vec<_>>(), at_hosts);
}

#[test]
fn a_network_that_is_watched_delivers_as_any_other() {
    let mut link = with_queue(queue("drop_tail").with("limit", Value::Packets(3)));
    link.forward.loss.probability = 0.2;
    let flow = FlowSpec::new("flow", vec![0]);
    let scenario = Scenario::new(Duration::from_secs(1.0), vec![link], vec![flow]);
    let came = |links: &[usize]| {
        let mut network = Network::watch(&scenario, 1, links);
        for number in 0..60 {
            let time = at(f64::from(number / 6) * 0.02);
            network.offer(time, 0, 7, Towards::Receiver, Fake::of(number, 400));
        }
        deliveries(&mut network)
    };
    assert!(!came(&[0]).is_empty());
    assert_eq!(came(&[0]), came(&[]));
}
