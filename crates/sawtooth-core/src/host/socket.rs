//! The two ends of a connection above TCP: the sending application's socket with its limited memory, and the reading application.

use std::collections::VecDeque;

use super::stopwatch::Stopwatch;
use crate::registry::{Params, Value};
use crate::units::{ByteCount, Instant, SegCount};

/// The memory of a sending socket.
#[derive(Clone, Copy, Debug)]
pub struct SendMemory {
    /// Bytes that it holds, overhead included.
    pub limit: ByteCount,
    /// Bytes that each packet takes besides its data.
    pub overhead: ByteCount,
    /// What is free when a sleeping writer is woken.
    wakes_at: ByteCount,
}

impl From<&Params> for SendMemory {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a number of bytes"
    )]
    fn from(params: &Params) -> Self {
        let limit = ByteCount::new(params.bytes("socket_memory"));
        Self {
            limit,
            overhead: match params.get("packet_overhead") {
                Value::Bytes(bytes) => ByteCount::new(bytes),
                _ => ByteCount::ZERO,
            },
            wakes_at: ByteCount::new((params.number("wake_free") * limit.as_f64()) as u64),
        }
    }
}

/// What a socket holds.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// Bytes written and not acknowledged, and the packets that they are in.
    pub bytes: ByteCount,
    /// The packets that these bytes are in.
    pub packets: SegCount,
    /// What the last of them, which has not been sent, takes without becoming more than one.
    pub tail_room: ByteCount,
    /// Bytes of data of a full segment.
    pub smss: ByteCount,
}

impl SendMemory {
    /// What of `wanted` the next packet takes, if there is memory for it.
    pub fn room(&self, held: &Held, wanted: ByteCount) -> Option<ByteCount> {
        let (most, overhead) = match held.tail_room {
            ByteCount::ZERO => (held.smss, self.overhead),
            room => (room, ByteCount::ZERO),
        };
        let bytes = wanted.min(most);
        (bytes + overhead <= self.free(held)).then_some(bytes)
    }

    /// Whether a writer that sleeps is woken; it has so much to write.
    pub fn wakes(&self, held: &Held, wanted: ByteCount) -> bool {
        self.free(held) >= self.wakes_at && self.room(held, wanted).is_some()
    }

    fn free(&self, held: &Held) -> ByteCount {
        let used = held.bytes + held.packets * self.overhead;
        self.limit.saturating_sub(used)
    }
}

/// What a writing application does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// Has nothing to write, or cannot yet.
    Idle,
    /// Waits for the processor, or has it.
    Busy,
    /// Waits for memory.
    Asleep,
}

/// What the transmit queue holds of a socket's data.
#[derive(Clone, Copy, Debug, Default)]
pub struct InTransmitQueue {
    packets: SegCount,
    bytes: ByteCount,
}

impl InTransmitQueue {
    /// TCP sends a packet with so many bytes.
    pub fn enter(&mut self, bytes: ByteCount) {
        self.packets += SegCount::ONE;
        self.bytes += bytes;
    }

    /// Its transmission is reported.
    pub fn leave(&mut self, bytes: ByteCount) {
        self.packets -= SegCount::ONE;
        self.bytes -= bytes;
    }

    /// More than so many bytes in one packet take as much memory as all of it.
    pub fn memory(&self, overhead: ByteCount) -> ByteCount {
        self.bytes + self.packets.saturating_sub(SegCount::ONE) * overhead
    }
}

/// The socket of a sending application.
#[derive(Debug)]
pub struct Socket {
    /// What the process that writes is doing.
    pub writer: Writer,
    /// Bytes of each call of write that is due and has not returned; of the first, what is left, and whether it has begun.
    pub calls: VecDeque<ByteCount>,
    /// Whether the first of these calls has begun.
    pub has_begun: bool,
    /// The application will write no more than that.
    pub is_last: bool,
    /// Whether the application has closed the connection.
    pub has_closed: bool,
    /// What TCP has sent and whose transmission has not been reported.
    pub queued: InTransmitQueue,
    /// Measures how long it stalls, and why.
    pub watch: Stopwatch,
}

impl Socket {
    /// A socket into which nothing has been written.
    pub fn new() -> Self {
        Self {
            writer: Writer::Idle,
            calls: VecDeque::new(),
            has_begun: false,
            is_last: false,
            has_closed: false,
            queued: InTransmitQueue::default(),
            watch: Stopwatch::default(),
        }
    }

    /// Bytes left of the call that is being made.
    pub fn wanted(&self) -> Option<ByteCount> {
        self.calls.front().copied()
    }

    /// So many bytes more are in the socket; whether the call returns.
    pub fn take(&mut self, bytes: ByteCount) -> bool {
        let Some(left) = self.calls.front_mut() else {
            return false;
        };
        *left -= bytes;
        let returns = left.is_zero();
        if returns {
            self.calls.pop_front();
            self.has_begun = false;
        }
        returns
    }

    /// Whether all that the application will ever write is written.
    pub fn is_over(&self) -> bool {
        self.is_last && self.calls.is_empty()
    }
}

impl Default for Socket {
    fn default() -> Self {
        Self::new()
    }
}

/// A reading application.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reader {
    /// Bytes that have come in order.
    pub come: ByteCount,
    /// Bytes that are being read; none while the application waits or does something else.
    pub reading: ByteCount,
    /// Bytes that the application has.
    pub read: ByteCount,
    /// When it had the last of them.
    pub last_read: Instant,
}

impl Reader {
    /// What there is to be read, unless it is being read already.
    pub fn next_read(&mut self) -> Option<ByteCount> {
        if !self.reading.is_zero() || self.come == self.read {
            return None;
        }
        self.reading = self.come - self.read;
        Some(self.reading)
    }

    /// The read returns.
    pub fn returns(&mut self, now: Instant) {
        self.read += self.reading;
        self.reading = ByteCount::ZERO;
        self.last_read = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::PARAMS;
    use crate::units::testing::{at, bytes, segs};

    fn memory(wake_free: f64) -> SendMemory {
        let mut params = Params::defaults(PARAMS);
        params.set("socket_memory", Value::Bytes(5000));
        params.set("packet_overhead", Value::Bytes(200));
        params.set("wake_free", Value::Number(wake_free));
        SendMemory::from(&params)
    }

    fn held(written: u64, packets: u64, tail_room: u64) -> Held {
        Held {
            bytes: bytes(written),
            packets: segs(packets),
            tail_room: bytes(tail_room),
            smss: bytes(1000),
        }
    }

    #[test]
    fn a_packet_takes_its_data_and_its_overhead() {
        let memory = memory(0.0);
        // Four packets are 4800 of 5000 bytes: not room for any other one, but for what the last one can still take.
        assert_eq!(
            memory.room(&held(3000, 3, 0), bytes(4000)),
            Some(bytes(1000))
        );
        assert_eq!(memory.room(&held(4000, 4, 0), bytes(1)), None);
        assert_eq!(
            memory.room(&held(3900, 4, 100), bytes(4000)),
            Some(bytes(100))
        );
        assert_eq!(memory.room(&held(3000, 3, 0), bytes(50)), Some(bytes(50)));
    }

    #[test]
    fn a_writer_sleeps_until_the_share_is_free_and_its_packet_fits() {
        // 3 packets: 1400 bytes are free, 2: 2600.
        assert!(memory(0.0).wakes(&held(3000, 3, 0), bytes(4000)));
        assert!(!memory(0.5).wakes(&held(3000, 3, 0), bytes(4000)));
        assert!(memory(0.5).wakes(&held(2000, 2, 0), bytes(4000)));
    }

    #[test]
    fn a_reader_takes_what_has_come_while_it_read() {
        let mut reader = Reader {
            come: bytes(10),
            ..Reader::default()
        };
        assert_eq!(reader.next_read(), Some(bytes(10)));
        reader.come = bytes(35);
        assert_eq!(reader.next_read(), None);
        reader.returns(at(2.0));
        assert_eq!(reader.next_read(), Some(bytes(25)));
    }
}
