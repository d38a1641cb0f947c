//! A flow of UDP: packets leave as its source says, its receiver counts them, and nothing comes back.

use crate::packet_source::{Departure, PacketSource};
use crate::spec::UdpSpec;
use crate::udp::Received;
use crate::units::{ByteCount, Instant, SeqNum};

/// A flow of UDP, at both of its ends.
#[derive(Debug)]
pub struct UdpFlow {
    source: Box<dyn PacketSource>,
    start: Instant,
    stop: Instant,
    next: Option<Departure>,
    sent_packets: u64,
    sent: ByteCount,
    /// What has come to its receiver: whoever moves the packets tells it.
    pub received: Received,
}

/// A packet that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// From 0.
    pub number: SeqNum,
    /// Of the IP packet.
    pub size: ByteCount,
}

impl UdpFlow {
    /// Nothing has left yet; its source has been asked for the first packet. What it draws comes from `seed`.
    pub fn new(spec: &UdpSpec, seed: u64) -> Self {
        let mut source = spec.source(seed);
        let next = source.next_packet();
        Self {
            source,
            start: spec.start,
            stop: spec.stop,
            next,
            sent_packets: 0,
            sent: ByteCount::ZERO,
            received: Received::default(),
        }
    }

    /// When its next packet leaves, if there is one.
    #[inline]
    pub fn due(&self) -> Option<Instant> {
        let time = self.start + self.next?.at;
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
            number: SeqNum::new(self.sent_packets),
            size: departure.size,
        };
        self.sent_packets += 1;
        self.sent += departure.size;
        datagram
    }

    /// Those that have left so far, whatever became of them.
    pub fn sent_packets(&self) -> u64 {
        self.sent_packets
    }

    /// Their bytes, those of IP packets.
    pub fn sent_bytes(&self) -> ByteCount {
        self.sent
    }

    /// What its source found itself to be: names and values.
    pub(crate) fn report(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.source.report(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet_source;
    use crate::registry::Value;
    use crate::spec::Part;
    use crate::units::testing::at;

    #[test]
    fn packets_leave_from_the_start_until_the_stop_which_is_excluded() {
        let source = Part::named(packet_source::TABLE, "constant_rate").expect("a row");
        // One in 8 ms.
        let source = source
            .with("rate", Value::Rate(1e6))
            .with("size", Value::Bytes(1000));
        let spec = UdpSpec {
            start: at(0.5),
            ..UdpSpec::new("udp", vec![0], source, at(0.516))
        };
        let mut flow = UdpFlow::new(&spec, 1);
        assert_eq!(flow.due(), Some(at(0.5)));
        let first = Datagram {
            number: SeqNum::ZERO,
            size: ByteCount::new(1000),
        };
        assert_eq!(flow.leave(), first);
        assert_eq!(flow.due(), Some(at(0.508)));
        assert_eq!(flow.leave().number, SeqNum::new(1));
        assert_eq!(flow.due(), None);
        assert_eq!((flow.sent_packets(), flow.sent_bytes().get()), (2, 2000));
    }
}
