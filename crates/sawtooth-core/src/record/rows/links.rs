//! Of links: what has come to each, waited there and gone.

use crate::histogram::TimesNs;
use crate::net::{FlowCounters, NotedPacket, PacketFate, Port, WaitHistograms, direction_name};
use crate::record::Table;
use crate::record::Text;
use crate::spec::Scenario;
use crate::units::{Duration, Instant, SeqNum};

row! {
    LinkRow: "links", "one row per direction of a link";
    link: Text, "", "the link's name";
    direction: Text, "", "forward or reverse";
    arrived_packets: u64, "packet", "packets that came to the queue";
    arrived_bytes: u64, "B", "bytes that came to the queue";
    dropped_packets: u64, "packet", "packets dropped by the queue";
    dropped_bytes: u64, "B", "bytes dropped by the queue";
    lost_packets: u64, "packet", "packets transmitted and lost on the wire";
    corrupted_packets: u64, "packet", "packets transmitted and damaged on the wire; their hosts discard them";
    duplicated_packets: u64, "packet", "packets that the wire has delivered twice";
    reordered_packets: u64, "packet", "packets that arrived before one that was transmitted earlier";
    marked_packets: u64, "packet", "packets transmitted that the queue has marked Congestion Experienced";
    peak_packets: u64, "packet", "largest backlog, the packet in transmission included";
    utilisation: Option<f64>, "", "bits accepted / (rate x duration); above 1 if a backlog remains at the end; null of a link that could send nothing before the end";
    wait_mean_ns: Option<i64>, "ns", "arrival to start of transmission, mean over accepted packets; null without any";
    backlog_mean_packets: f64, "packet", "packets that wait, without the one in transmission, mean over the run's time";
    backlog_mean_bytes: f64, "B", "bytes that wait, without the packet in transmission, mean over the run's time";
}

row! {
    WaitRow: "waits", "one row per direction of a link, with record = [\"waits\"]: how waits and backlogs are distributed, percentiles within 1/128";
    link: Text, "", "the link's name";
    direction: Text, "", "forward or reverse";
    started_packets: u64, "packet", "packets whose transmission has started; the waits are theirs";
    wait_mean_ns: Option<i64>, "ns", "arrival to start of transmission, mean; null without any";
    wait_p50_ns: Option<i64>, "ns", "its median; null without any";
    wait_p90_ns: Option<i64>, "ns", "its 90th percentile";
    wait_p95_ns: Option<i64>, "ns", "its 95th percentile";
    wait_p99_ns: Option<i64>, "ns", "its 99th percentile";
    wait_p999_ns: Option<i64>, "ns", "its 99.9th percentile";
    wait_max_ns: Option<i64>, "ns", "the longest";
    found_mean_packets: Option<f64>, "packet", "packets that an arriving one has found, the one in transmission included, mean over all arrivals; null without any, as the next five";
    found_p50_packets: Option<u64>, "packet", "its median";
    found_p90_packets: Option<u64>, "packet", "its 90th percentile";
    found_p95_packets: Option<u64>, "packet", "its 95th percentile";
    found_p99_packets: Option<u64>, "packet", "its 99th percentile";
    found_max_packets: Option<u64>, "packet", "the most";
}

row! {
    LinkFlowRow: "link_flows", "one row per direction of a link and flow, or entry of flows that arrive, whose packets have come there, with record = [\"link_flows\"]";
    link: Text, "", "the link's name";
    direction: Text, "", "forward or reverse";
    flow: Text, "", "the flow's name, or the entry's";
    arrived_packets: u64, "packet", "its packets that came to the queue";
    arrived_bytes: u64, "B", "its bytes that came to the queue";
    dropped_packets: u64, "packet", "its packets dropped by the queue";
    dropped_bytes: u64, "B", "its bytes dropped by the queue";
    lost_packets: u64, "packet", "its packets transmitted and lost on the wire";
    marked_packets: u64, "packet", "its packets transmitted that the queue has marked Congestion Experienced";
    wait_mean_ns: Option<i64>, "ns", "arrival to start of transmission, mean over those whose transmission has started; null without any";
}

row! {
    PacketRow: "packets", "one row per packet and direction of a link to which it has come, in the order in which they came, with record = [\"packets\"]; of those that are there at any time from `record_from` to `record_until`";
    link: Text, "", "the link's name";
    direction: Text, "", "forward or reverse";
    flow: Text, "", "the flow's name, or the entry's";
    kind: Text, "", "data, ack or datagram";
    number: i64, "", "of data the segment's number, of an acknowledgement the next segment that is expected, both from 0; of datagrams their number";
    bytes: u64, "B", "on the wire, headers included";
    retransmission: u64, "", "1 if it carries what has been sent before, else 0";
    marked: u64, "", "1 if the queue has marked it Congestion Experienced, else 0";
    fate: Text, "", "arrived, doubled (it arrives twice), damaged (it arrives, and its host discards it), dropped by the queue, lost on the wire, or unfinished: the run ended before";
    arrived_ns: Option<i64>, "ns", "when it came to the queue";
    dropped_ns: Option<i64>, "ns", "when the queue dropped it; null if it did not";
    started_ns: Option<i64>, "ns", "when its transmission began; null if it did not within the run";
    sent_ns: Option<i64>, "ns", "when its last bit had left, also where that is after the run; null if it never has";
    delivered_ns: Option<i64>, "ns", "when its last bit was at the far end, also where that is after the run; null if it never was";
}

/// The tables of links, of which the run [is over](Port::finish).
pub fn link_tables(scenario: &Scenario, ports: &[Port]) -> Vec<Table> {
    let record = scenario.record;
    let mut links = Table::with_room::<LinkRow>(ports.len());
    let mut waits = record.waits.then(Table::new::<WaitRow>);
    let mut link_flows = record.link_flows.then(Table::new::<LinkFlowRow>);
    let mut packets = record.packets.map(|_| Table::new::<PacketRow>());
    for (place, port) in places(scenario).zip(ports) {
        links.push(LinkRow::of(&place, port));
        let Some(ledger) = port.ledger() else {
            continue;
        };
        if let (Some(table), Some(noted)) = (&mut waits, &ledger.waits) {
            table.push(WaitRow::of(&place, noted));
        }
        if let (Some(table), Some(flows)) = (&mut link_flows, ledger.flows()) {
            for (flow, counters) in flows {
                table.push(LinkFlowRow::of(scenario, &place, flow, counters));
            }
        }
        if let (Some(table), Some(noted)) = (&mut packets, &ledger.packets) {
            for packet in noted.noted() {
                table.push(PacketRow::of(scenario, &place, packet));
            }
        }
    }
    let tables = [Some(links), waits, link_flows, packets];
    tables.into_iter().flatten().collect()
}

impl LinkRow {
    /// Of a port, by its link and direction.
    fn of(place: &[Text; 2], port: &Port) -> Self {
        let counters = &port.counters;
        let [link, direction] = place.clone();
        Self {
            link,
            direction,
            arrived_packets: counters.arrived_packets,
            arrived_bytes: counters.arrived.get(),
            dropped_packets: counters.dropped_packets,
            dropped_bytes: counters.dropped.get(),
            lost_packets: counters.lost_packets,
            corrupted_packets: counters.corrupted_packets,
            duplicated_packets: counters.duplicated_packets,
            reordered_packets: counters.reordered_packets,
            marked_packets: counters.marked_packets,
            peak_packets: counters.peak_packets(),
            utilisation: port.utilisation(),
            wait_mean_ns: counters.mean_wait().map(Duration::as_ns),
            backlog_mean_packets: port.mean_backlog_packets(),
            backlog_mean_bytes: port.mean_backlog_bytes(),
        }
    }
}

impl WaitRow {
    /// Of a port, by its link and direction.
    fn of(place: &[Text; 2], noted: &WaitHistograms) -> Self {
        let [link, direction] = place.clone();
        let (waits, found) = (TimesNs::of(&noted.waits), &noted.backlogs);
        Self {
            link,
            direction,
            started_packets: noted.waits.count(),
            wait_mean_ns: waits.mean,
            wait_p50_ns: waits.p50,
            wait_p90_ns: waits.p90,
            wait_p95_ns: waits.p95,
            wait_p99_ns: waits.p99,
            wait_p999_ns: waits.p999,
            wait_max_ns: waits.max,
            found_mean_packets: found.mean(),
            found_p50_packets: found.quantile(0.5),
            found_p90_packets: found.quantile(0.9),
            found_p95_packets: found.quantile(0.95),
            found_p99_packets: found.quantile(0.99),
            found_max_packets: (found.count() > 0).then(|| found.largest()),
        }
    }
}

impl LinkFlowRow {
    /// Of a port, by its link and direction, and a flow by its number.
    fn of(scenario: &Scenario, place: &[Text; 2], flow: u32, counters: &FlowCounters) -> Self {
        let [link, direction] = place.clone();
        Self {
            link,
            direction,
            flow: name(scenario, flow).into(),
            arrived_packets: counters.arrived_packets,
            arrived_bytes: counters.arrived.get(),
            dropped_packets: counters.dropped_packets,
            dropped_bytes: counters.dropped.get(),
            lost_packets: counters.lost_packets,
            marked_packets: counters.marked_packets,
            wait_mean_ns: counters.mean_wait().map(Duration::as_ns),
        }
    }
}

impl PacketRow {
    /// Of a port, by its link and direction.
    fn of(scenario: &Scenario, place: &[Text; 2], noted: &NotedPacket) -> Self {
        let first_of_udp = scenario.flows.len() + scenario.arriving.len();
        let segment = noted.packet.segment();
        let datagram = noted.traffic.flow as usize >= first_of_udp;
        let (kind, number) = if datagram {
            ("datagram", noted.packet.number_and_time().0)
        } else if noted.traffic.acks {
            ("ack", noted.packet.next_expected())
        } else if segment.is_ack_alone() {
            ("ack", SeqNum::ZERO.next())
        } else {
            ("data", segment.seq)
        };
        let again = kind == "data" && segment.retransmission;
        let ended = noted.times.delivered >= Instant::START + scenario.duration;
        let fate = match noted.fate {
            PacketFate::Arrived | PacketFate::Doubled | PacketFate::Damaged if ended => {
                PacketFate::Unfinished
            }
            fate => fate,
        };
        // A clock of nanoseconds ends after 292 years: what comes later never does.
        let when = |time: Instant| (time.secs() < 9e9).then(|| time.as_ns());
        let [link, direction] = place.clone();
        Self {
            link,
            direction,
            flow: name(scenario, noted.traffic.flow).into(),
            kind: kind.into(),
            number: i64::try_from(number.get()).unwrap_or(i64::MAX),
            bytes: noted.packet.size().get(),
            retransmission: u64::from(again),
            marked: u64::from(noted.times.marked),
            fate: fate.name().into(),
            arrived_ns: when(noted.arrived),
            dropped_ns: when(noted.times.dropped),
            started_ns: when(noted.times.started),
            sent_ns: when(noted.times.sent),
            delivered_ns: when(noted.times.delivered),
        }
    }
}

/// Which link and direction each port is, in their order.
pub(crate) fn places(scenario: &Scenario) -> impl Iterator<Item = [Text; 2]> {
    let directions = [0, 1].map(|port| Text::from(direction_name(port)));
    scenario.links.iter().flat_map(move |link| {
        let link = Text::from(link.name.as_str());
        directions
            .clone()
            .map(|direction| [link.clone(), direction])
    })
}

/// Of a flow by its number: entries of flows that arrive come after those that are there all the time, then those of UDP.
fn name(scenario: &Scenario, flow: u32) -> &str {
    let standing = scenario.flows.iter().map(|spec| &spec.name);
    let arriving = scenario.arriving.iter().map(|one| &one.flow.name);
    let udp = scenario.udp.iter().map(|spec| &spec.name);
    let mut names = standing.chain(arriving).chain(udp);
    names.nth(flow as usize).expect("a number of a flow")
}
