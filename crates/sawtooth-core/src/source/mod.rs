//! Traffic sources: when the application writes how much.
//!
//! A source is pure: it has no clock and sends nothing. It is asked for one write after the other, and whoever drives it (the simulator, or
//! the agent beside a real kernel) sees to their times. Randomness comes from the stream it is given; its state is what it needs for the
//! next write, however many there will be.
//!
//! To add one: one file in this folder, one `mod` line, one row of [`TABLE`].

mod bulk;
mod messages;
mod on_off;
mod paced;
mod request_response;

use std::fmt::Debug;

use crate::registry::{Entry, Kind, Param, Params, Value, param};
use crate::rng::{RandomStream, StreamName};
use crate::units::{ByteCount, Duration};

/// Constructor of a table row.
pub type NewSource = fn(&Params, RandomStream) -> Box<dyn Source>;

/// What an application does with its connection.
pub trait Source: Debug + Send {
    /// The next write; `None` when there is no more, and the application closes the connection.
    fn next_write(&mut self) -> Option<Write>;

    /// Of a source that answers requests, the next exchange; `None` when there is no more, and both close. It has exchanges in place of
    /// writes, which depend on what has arrived.
    fn next_exchange(&mut self) -> Option<Exchange> {
        None
    }

    /// Whether it has exchanges.
    fn answers(&self) -> bool {
        false
    }

    /// Bytes of all writes together; `None` when it never ends, or that cannot be known before.
    fn total_bytes(&self) -> Option<ByteCount>;
}

/// Some bytes that the application hands to TCP at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Write {
    /// Since the application opened the connection; not before the write that precedes it. If the connection is not established by then, the
    /// application waits for that.
    pub after: Duration,
    /// At least one; [`Write::ENDLESS`] if there will always be more.
    pub bytes: ByteCount,
}

/// A request, and the response to it. The data of a flow goes one way, so its receiver is the client: it opens the connection and asks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exchange {
    /// From the last byte of the response before, or from the opening of the connection, to the request.
    pub think: Duration,
    /// The size of the request, at least one byte.
    pub request: ByteCount,
    /// From the last byte of the request to the response.
    pub server_think: Duration,
    /// The size of the response, at least one byte.
    pub response: ByteCount,
    /// How the client writes the request.
    pub request_pattern: WritePattern,
    /// How the server writes the response.
    pub response_pattern: WritePattern,
}

/// An application that does not write what it has to say by one call, but piece by piece.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WritePattern {
    /// Writes that are left; they are as equal as they can be, and those of them that would have nothing are not made.
    pub writes: u64,
    /// From one to the next.
    pub interval: Duration,
}

impl WritePattern {
    /// One write.
    pub const AT_ONCE: Self = Self {
        writes: 1,
        interval: Duration::ZERO,
    };

    /// Of `params` that count writes under `key`.
    fn of(params: &Params, key: &str) -> Self {
        Self {
            writes: params.integer(key).unsigned_abs().max(1),
            interval: Duration::from_secs(params.duration(WRITE_INTERVAL.name)),
        }
    }

    /// What of so many bytes the next write has.
    pub fn next_piece(&mut self, bytes: ByteCount) -> ByteCount {
        let piece = bytes.share_of(self.writes.max(1));
        self.writes = self.writes.saturating_sub(1);
        piece
    }
}

/// The parameter of sources that write piece by piece.
const WRITE_INTERVAL: Param = param!(write_interval: Kind::Duration { min_exclusive: true } => Value::Duration(1e-6),
    "time from one write to the next of what is written piece by piece: what a system call and the application take");

impl Write {
    /// More than any connection can carry.
    pub const ENDLESS: ByteCount = ByteCount::MAX;
}

/// All sources.
pub const TABLE: &[Entry<NewSource>] = &[
    bulk::ENTRY,
    messages::ENTRY,
    paced::ENTRY,
    on_off::ENTRY,
    request_response::ENTRY,
];

/// The source called `name` of a scenario's flow, whose random numbers depend on `seed` and the flow alone.
///
/// # Panics
/// If there is none of that name: a scenario has checked it.
pub fn build(name: &str, params: &Params, seed: u64, flow: &str) -> Box<dyn Source> {
    let mut rows = TABLE.iter();
    let row = rows.find(|entry| entry.name == name);
    let stream = StreamName::of(&[flow, ".source"]).stream(seed);
    (row.expect("the scenario names a row of the table").new)(params, stream)
}

/// A transfer of so many bytes, all written at the start.
pub fn transfer(bytes: ByteCount) -> Box<dyn Source> {
    bulk::of(Some(bytes))
}

/// A number of bytes that may be left open.
fn bytes_or_none(params: &Params, name: &str) -> Option<ByteCount> {
    match params.get(name) {
        Value::Bytes(bytes) => Some(ByteCount::new(bytes)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_as_equal_as_they_can_be() {
        let pieces = |mut bytes: u64, writes| {
            let mut pattern = WritePattern {
                writes,
                ..WritePattern::AT_ONCE
            };
            let mut pieces = Vec::new();
            while bytes > 0 {
                let piece = pattern.next_piece(ByteCount::new(bytes)).get();
                pieces.push(piece);
                bytes -= piece;
            }
            pieces
        };
        assert_eq!(pieces(300, 2), [150, 150]);
        assert_eq!(pieces(10, 4), [3, 3, 2, 2]);
        assert_eq!(pieces(2, 5), [1, 1]);
        assert_eq!(pieces(7, 1), [7]);
    }

    #[test]
    fn every_source_writes_something_in_order_and_the_same_again() {
        for entry in TABLE {
            let writes = |seed| {
                let mut source = build(entry.name, &Params::defaults(entry.params), seed, "f");
                let mut answers = Duration::ZERO;
                let writes: Vec<Write> = std::iter::from_fn(|| {
                    if !source.answers() {
                        return source.next_write();
                    }
                    assert_eq!(source.next_write(), None);
                    let exchange = source.next_exchange()?;
                    answers += exchange.think + exchange.server_think;
                    Some(Write {
                        after: answers,
                        bytes: exchange.request.min(exchange.response),
                    })
                })
                .take(1000)
                .collect();
                writes
            };
            let first = writes(1);
            assert!(!first.is_empty(), "{}", entry.name);
            assert!(
                first.iter().all(|write| !write.bytes.is_zero()),
                "{}",
                entry.name
            );
            let ordered = first.windows(2).all(|pair| pair[0].after <= pair[1].after);
            assert!(
                ordered && first[0].after >= Duration::ZERO,
                "{}",
                entry.name
            );
            assert_eq!(first, writes(1), "{}", entry.name);
        }
    }
}
