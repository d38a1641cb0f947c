//! The network between hosts: links, each with a [`Port`] for either direction.
//!
//! A port has a queue, which decides what waits, is dropped or marked; a transmitter; and a [wire](crate::impair). It counts, and notes in
//! a [`Ledger`] what a study asks for besides.
//!
//! The simulator moves its packets from port to port itself, with shortcuts. A [`Network`] does so, without any, for packets of hosts that
//! are elsewhere. Both have their [flows of UDP](UdpFlow) from here.

mod agenda;
mod flight;
mod ledger;
mod network;
mod packets;
mod port;
mod ports;
mod queued;
mod traffic;
mod udp;

pub use flight::{Content as SeenContent, Payload, Towards};
pub use ledger::{FlowCounters, Ledger, WaitHistograms};
pub use network::{DeliveredPacket, LinkEvent, LinkSight, Network};
pub use packets::{NotedPacket, PacketFate, Packets};
pub use port::{FluidStep, Passage, Port, PortCounters, PortTransmission, Turn};
pub use ports::{direction_name, keep_ledgers, ports};
pub use traffic::Traffic;
pub use udp::{Datagram, UdpFlow};
