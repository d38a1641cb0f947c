//! How the node at the end of a link passes packets on to the next one: a router or switch that has a packet first, or one that begins to
//! send while the packet still comes.
//!
//! Specifications: RFC 1242 §3.8 (the latency of devices that store and forward, and of those that forward bits); Kermani and Kleinrock 1979,
//! "Virtual cut-through: a new computer communication switching technique", Computer Networks 3(4).
//!
//! **Model.** A direction of a link ends at a node, and what comes is for the next link of the packet's path. There it may be sent
//! - with `store_and_forward` from when its last bit has come;
//! - with `cut_through` from when its header has come, but not so early that the next link, if it is faster, would have sent the last bit before that
//!   has come. Of ATM each cell is passed on as a whole: the header is one cell, and the last cell begins when it has come.
//!
//! Then it takes the node `latency`, whatever else is there, and before that `per_packet` of the input's forwarding engine, which takes one packet
//! after the other. What finds its output busy waits in that link's queue; it is sent when its turn comes, and may then be still coming, too (what
//! Kermani and Kleinrock call a partial cut). Where a packet's path ends, nothing is passed on, and hosts take whole packets.
//!
//! **Where it is computed.** When a packet's transmission begins, it is known when it will have come, and so is when it may be sent on: that is when it
//! arrives at the next link. Packets from one link stay in their order, because one ends before the next begins.

use super::medium::{Medium, grain, header};
use crate::registry::{Entry, Kind, Param, Params, Value, param};
use crate::units::{ByteCount, Duration, Instant, Rate};

/// Constructor of a table row.
pub(super) type NewForwarding = fn(&Params) -> Forwarding;

/// What a node does with packets that are for the next link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forwarding {
    /// How much of a packet has to have come before it may be passed on.
    pub after: After,
    /// From when it may be passed on to when it can be sent.
    pub latency: Duration,
    /// What the node does with one packet after the other before that: it passes on no more than one in this time.
    pub per_packet: Duration,
}

/// What every link does that does not say.
impl Default for Forwarding {
    fn default() -> Self {
        Self {
            after: After::Packet,
            latency: Duration::ZERO,
            per_packet: Duration::ZERO,
        }
    }
}

/// What has to have come of a packet before it is passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// All of it: store and forward.
    Packet,
    /// What the medium needs of it.
    Header,
    /// So many bytes of it, as the medium sends them.
    Bytes(ByteCount),
}

const LATENCY: Param = param!(latency: Kind::Duration { min_exclusive: false } => Value::Duration(0.0),
    "from when a packet may be passed on to when it can be sent on the next link");

const PER_PACKET: Param = param!(per_packet: Kind::Duration { min_exclusive: false } => Value::Duration(0.0),
    "what the node does with one packet after the other that comes over this link, before `latency`; so it passes on no more than 1/per_packet of them");

/// All kinds of nodes.
pub const TABLE: &[Entry<NewForwarding>] = &[
    Entry {
        name: "store_and_forward",
        summary: "a packet is passed on when its last bit has come",
        specification: &["RFC 1242"],
        params: &[LATENCY, PER_PACKET],
        new: |params| of(params, After::Packet),
    },
    Entry {
        name: "cut_through",
        summary: "a packet is passed on when its header has come, or with `medium = \"atm\"` each cell when it has",
        specification: &["RFC 1242", "Kermani and Kleinrock 1979"],
        params: &[
            param!(header: Kind::Bytes => Value::None,
                "what has to have come, in bytes of the link's rate; `none`: what the medium needs: preamble and addresses of ethernet (22 B), a cell of atm (53 B), or else the header of IP (20 B)"),
            LATENCY,
            PER_PACKET,
        ],
        new: |params| {
            let after = match params.get("header") {
                Value::Bytes(bytes) => After::Bytes(ByteCount::new(bytes)),
                _ => After::Header,
            };
            of(params, after)
        },
    },
];

fn of(params: &Params, after: After) -> Forwarding {
    Forwarding {
        after,
        latency: Duration::from_secs(params.duration("latency")),
        per_packet: Duration::from_secs(params.duration("per_packet")),
    }
}

impl Forwarding {
    /// Whether a packet may be passed on before its last bit has come.
    pub fn cuts_through(self) -> bool {
        self.after != After::Packet
    }

    /// Whether it is what every link does that does not say.
    pub fn is_plain(self) -> bool {
        self == Self::default()
    }
}

/// How long a packet takes on the link over which it comes, and on the next one; rates are bits per second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hops {
    pub size: ByteCount,
    pub medium: Option<Medium>,
    pub rate_in: Rate,
    pub rate_out: Rate,
}

/// A node, as far as packets that come over one link are concerned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForwardingNode {
    forwarding: Forwarding,
    /// Its engine has done with the packet before.
    free: Instant,
}

impl ForwardingNode {
    /// Nothing where packets are passed on as they come.
    pub(crate) fn new(forwarding: Forwarding) -> Option<Self> {
        (!forwarding.is_plain()).then_some(Self {
            forwarding,
            free: Instant::LONG_AGO,
        })
    }

    /// When a packet can be sent on the next link, whose last bit comes at `end`. To be called in the order in which packets come.
    pub(crate) fn pass(&mut self, end: Instant, hops: Hops) -> Instant {
        let Forwarding {
            latency,
            per_packet,
            ..
        } = self.forwarding;
        let known = end - self.lead(hops);
        if per_packet == Duration::ZERO {
            return known + latency;
        }
        self.free = known.max(self.free) + per_packet;
        self.free + latency
    }

    /// How much before its last bit a packet is passed on.
    fn lead(&self, hops: Hops) -> Duration {
        let header = match self.forwarding.after {
            After::Packet => return Duration::ZERO,
            After::Header => header(hops.medium),
            After::Bytes(bytes) => bytes,
        };
        let packet = hops
            .medium
            .map_or(hops.size, |medium| medium.on_wire(hops.size));
        // No packet is shorter than what is waited for of it.
        let header = header.max(grain(hops.medium)).min(packet);
        let of_input = (packet - header) / hops.rate_in;
        let of_output = (packet - grain(hops.medium)) / hops.rate_out;
        of_input.min(of_output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(after: After, latency_us: f64, per_packet_us: f64) -> ForwardingNode {
        let forwarding = Forwarding {
            after,
            latency: Duration::from_secs(latency_us / 1e6),
            per_packet: Duration::from_secs(per_packet_us / 1e6),
        };
        ForwardingNode::new(forwarding).expect("something to do")
    }

    fn hops(medium: Option<Medium>, size: u64, rate_in: f64, rate_out: f64) -> Hops {
        Hops {
            size: ByteCount::new(size),
            medium,
            rate_in: Rate::from_bps(rate_in * 1e6),
            rate_out: Rate::from_bps(rate_out * 1e6),
        }
    }

    /// When a packet can be sent whose last bit comes at 1000 us, microseconds.
    fn sent(mut node: ForwardingNode, hops: Hops) -> f64 {
        (node.pass(Instant::from_secs(1e-3), hops).secs() * 1e10).round() / 1e4
    }

    #[test]
    fn what_is_stored_is_sent_when_its_last_bit_has_come_and_the_latency_has_passed() {
        let fast = hops(Some(Medium::Ethernet), 1500, 100.0, 100.0);
        assert_eq!(sent(node(After::Packet, 10.0, 0.0), fast), 1010.0);
        assert!(
            ForwardingNode::new(Forwarding {
                after: After::Packet,
                latency: Duration::ZERO,
                per_packet: Duration::ZERO
            })
            .is_none()
        );
    }

    #[test]
    fn what_is_cut_through_is_sent_when_its_header_has_come() {
        // A frame of 1538 B takes 123.04 us, its first 22 bytes 1.76: 121.28 us before the end.
        let ethernet = hops(Some(Medium::Ethernet), 1500, 100.0, 100.0);
        assert_eq!(sent(node(After::Header, 0.0, 0.0), ethernet), 878.72);
        assert_eq!(sent(node(After::Header, 5.0, 0.0), ethernet), 883.72);
        // 1500 bytes without a frame, and their first 100: 112 us. A packet that is shorter than that is there as a whole.
        let bare = |bytes| hops(None, bytes, 100.0, 100.0);
        assert_eq!(
            sent(
                node(After::Bytes(ByteCount::new(100)), 0.0, 0.0),
                bare(1500)
            ),
            888.0
        );
        assert_eq!(
            sent(node(After::Bytes(ByteCount::new(100)), 0.0, 0.0), bare(60)),
            1000.0
        );
        // Onto a slower link it begins as early.
        let slower = hops(Some(Medium::Ethernet), 1500, 100.0, 10.0);
        assert_eq!(sent(node(After::Header, 0.0, 0.0), slower), 878.72);
    }

    #[test]
    fn a_faster_link_does_not_end_before_the_packet_has_come() {
        // On the next link the frame takes 12.304 us, so it begins so long before the end, and not 110.7 us earlier.
        let faster = hops(Some(Medium::Ethernet), 1500, 100.0, 1000.0);
        assert_eq!(sent(node(After::Header, 0.0, 0.0), faster), 987.696);
    }

    #[test]
    fn of_atm_each_cell_is_passed_on_as_a_whole() {
        let atm = Some(Medium::Atm {
            encapsulation_bytes: 8,
        });
        // 9180 B are 192 cells of 4.24 us at 100 Mbit/s: the last 191 of them are still to come.
        let node = node(After::Header, 0.0, 0.0);
        assert_eq!(sent(node, hops(atm, 9180, 100.0, 100.0)), 190.16);
        // At ten times the rate the last cell begins when it has come: 191 cells of 0.424 us earlier the first does.
        assert_eq!(sent(node, hops(atm, 9180, 100.0, 1000.0)), 919.016);
        // One cell is stored.
        assert_eq!(sent(node, hops(atm, 32, 100.0, 100.0)), 1000.0);
    }

    #[test]
    fn an_engine_takes_one_packet_after_the_other() {
        // 10 us each: they come at 100, 104 and 130 us, and the second waits for the first.
        let mut node = node(After::Packet, 1.0, 10.0);
        let passed: Vec<f64> = [100.0, 104.0, 130.0]
            .map(|end| {
                let end = Instant::from_secs(end / 1e6);
                let passed = node.pass(end, hops(None, 40, 100.0, 100.0));
                (passed.secs() * 1e10).round() / 1e4
            })
            .into();
        assert_eq!(passed, [111.0, 121.0, 141.0]);
    }
}
