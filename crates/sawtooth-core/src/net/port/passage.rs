//! What a port returns: what became of a packet that has come to it, and what its transmitter does next.

use crate::events::EventKey;
use crate::packet::Packet;

/// What becomes of a packet that has come to a port.
#[derive(Clone, Copy, Debug)]
pub struct Passage {
    /// Arrival at the far end; [`EventKey::NEVER`] if it is dropped or lost.
    pub arrival: EventKey,
    /// The queue has marked it.
    pub marked: bool,
    /// It arrives a second time.
    pub again: Option<EventKey>,
    /// It arrives damaged.
    pub corrupted: bool,
}

impl Passage {
    pub(super) const DROPPED: Self = Self::plain(EventKey::NEVER, false);

    pub(super) const fn plain(arrival: EventKey, marked: bool) -> Self {
        Self {
            arrival,
            marked,
            again: None,
            corrupted: false,
        }
    }
}

/// What the transmitter of an evented port does next.
#[derive(Clone, Copy, Debug)]
pub enum Turn {
    /// It goes on with what it does, or waits for a packet.
    Waits,
    /// This packet is transmitted, and the transmitter is busy until it is [done](PortTransmission::done).
    Starts(PortTransmission),
    /// What waits may not leave yet: [`Port::transmitter_free`](super::Port::transmitter_free) is to be called at this time, unless a packet arrives before and decides
    /// otherwise.
    Wakes(EventKey),
}

/// A transmission that has started at an evented port.
#[derive(Clone, Copy, Debug)]
pub struct PortTransmission {
    /// Marked, if it was.
    pub packet: Packet,
    /// What becomes of the packet on the wire and at the far end.
    pub passage: Passage,
    /// The transmitter is free again; never where nothing has to happen then.
    pub done: EventKey,
}
