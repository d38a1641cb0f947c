//! A flow of UDP: packets leave as its source says, its receiver counts them, and nothing comes back.

use crate::packet_source::{Departure, PacketSource};
use crate::record::Table;
use crate::record::rows::{DatagramRow, FlowRow, SourceRow};
use crate::spec::{Scenario, UdpSpec};
use crate::udp::{self, Received, Sent};

/// A flow of UDP, at both of its ends.
#[derive(Debug)]
pub struct UdpFlow {
    source: Box<dyn PacketSource>,
    start: f64,
    stop: f64,
    next: Option<Departure>,
    sent_packets: u64,
    sent_bytes: u64,
    pub received: Received,
}

/// A packet that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// From 0.
    pub number: u64,
    /// Of the IP packet.
    pub bytes: u32,
}

impl UdpFlow {
    pub fn new(spec: &UdpSpec, seed: u64) -> Self {
        let mut source = spec.source(seed);
        let next = source.next_packet();
        Self {
            source,
            start: spec.start.secs(),
            stop: spec.stop.secs(),
            next,
            sent_packets: 0,
            sent_bytes: 0,
            received: Received::default(),
        }
    }

    /// When its next packet leaves, if there is one.
    #[inline]
    pub fn due(&self) -> Option<f64> {
        let time = self.start + self.next?.at_secs;
        (time < self.stop).then_some(time)
    }

    /// The packet that is due leaves.
    ///
    /// # Panics
    /// If none is due.
    #[inline]
    pub fn leave(&mut self) -> Datagram {
        let departure = self.next.expect("a packet that is due");
        self.next = self.source.next_packet();
        let datagram = Datagram {
            number: self.sent_packets,
            bytes: departure.bytes,
        };
        self.sent_packets += 1;
        self.sent_bytes += u64::from(departure.bytes);
        datagram
    }

    pub fn sent_packets(&self) -> u64 {
        self.sent_packets
    }

    fn sent<'a>(&self, spec: &'a UdpSpec, end_secs: f64) -> Sent<'a> {
        Sent {
            flow: &spec.name,
            start_secs: self.start,
            end_secs,
            packets: self.sent_packets,
            bytes: self.sent_bytes,
        }
    }
}

/// The rows of a scenario's flows of UDP, which are given in their order, in the table `flows`.
pub fn udp_flow_rows<'a>(
    scenario: &'a Scenario,
    flows: impl IntoIterator<Item = &'a UdpFlow>,
) -> impl Iterator<Item = FlowRow> {
    let end_secs = scenario.duration.secs();
    let specs = scenario.udp.iter().zip(flows);
    specs.map(move |(spec, flow)| udp::flow_row(&flow.sent(spec, end_secs), &flow.received))
}

/// Their tables `datagrams` and `sources`.
pub fn udp_tables<'a>(
    scenario: &Scenario,
    flows: impl IntoIterator<Item = &'a UdpFlow>,
) -> [Table; 2] {
    let mut datagrams = Table::new::<DatagramRow>();
    let mut sources = Table::new::<SourceRow>();
    for (spec, flow) in scenario.udp.iter().zip(flows) {
        let sent = flow.sent(spec, scenario.duration.secs());
        datagrams.push(udp::datagram_row(&sent, &flow.received));
        flow.source.report(&mut |quantity, value| {
            sources.push(udp::source_row(&spec.name, quantity, value));
        });
    }
    [datagrams, sources]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet_source;
    use crate::registry::Value;
    use crate::spec::Part;
    use crate::units::Instant;

    #[test]
    fn packets_leave_from_the_start_until_the_stop_which_is_excluded() {
        let source = Part::named(packet_source::TABLE, "constant_rate").expect("a row");
        // One in 8 ms.
        let source = source
            .with("rate", Value::Rate(1e6))
            .with("size", Value::Bytes(1000));
        let spec = UdpSpec {
            start: Instant::from_secs(0.5),
            ..UdpSpec::new("udp", vec![0], source, Instant::from_secs(0.516))
        };
        let mut flow = UdpFlow::new(&spec, 1);
        assert_eq!(flow.due(), Some(0.5));
        let first = Datagram {
            number: 0,
            bytes: 1000,
        };
        assert_eq!(flow.leave(), first);
        assert_eq!(flow.due(), Some(0.508));
        assert_eq!(flow.leave().number, 1);
        assert_eq!(flow.due(), None);
        let sent = flow.sent(&spec, 1.0);
        assert_eq!((sent.packets, sent.bytes), (2, 2000));
    }
}
