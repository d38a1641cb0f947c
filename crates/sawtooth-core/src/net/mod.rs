//! The network between hosts: links, each with a [`Port`] for either direction.
//!
//! A port has a queue, which decides what waits, is dropped or marked; a transmitter; and a [wire](crate::impair). It counts, and notes in
//! a [`Ledger`] what a study asks for besides. [`tables`] are what all ports of a run have measured.

mod ledger;
mod packets;
mod port;
mod ports;
mod tables;

pub use ledger::{FlowCounters, Ledger, Traffic, Waits};
pub use packets::{Fate as PacketFate, Noted as NotedPacket, Packets};
pub use port::{Passage, Port, PortCounters, Transmission, Turn};
pub use ports::{direction_name, keep_ledgers, ports};
pub use tables::tables;
