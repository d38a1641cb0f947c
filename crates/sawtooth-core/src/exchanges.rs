//! Requests and responses over a connection: which side writes next, when and how much ([`Exchange`]), and how long each exchange took.
//!
//! Without input or output, as sources are: whoever moves the data (the simulator, or the agent with a real kernel's connection) reports what has
//! arrived at a side, and gets the message that this side writes in return.

use crate::histogram::Histogram;
use crate::source::{Exchange, Source, WritePattern};
use crate::units::{ByteCount, Duration, Instant};

/// All exchanges of one connection.
#[derive(Debug)]
pub struct Exchanges {
    source: Box<dyn Source>,
    turn: Awaited,
    /// The present one, and the one after it, once the server has been asked.
    exchange: Exchange,
    following: Option<Exchange>,
    /// Requests that the client has written.
    pub(crate) asked: u64,
    /// Bytes of requests and of responses, those of the present exchange included.
    requests: ByteCount,
    responses: ByteCount,
    /// Bytes of requests that have reached the server.
    pub(crate) requested: ByteCount,
    /// When the present request is written.
    asked_at: Instant,
    /// Of those that have been answered: request written to the response's last byte.
    pub(crate) completions_ns: Histogram,
}

/// Whose message is to arrive next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaited {
    Client,
    Server,
    Nobody,
}

/// A request or a response, as one side is to write it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Message {
    /// From now.
    pub after: Duration,
    /// What is still to be written, all writes together.
    pub bytes: ByteCount,
    /// By how many writes.
    pub pattern: WritePattern,
    /// Whether it closes then.
    pub last: bool,
}

impl Message {
    /// The bytes of the next write, and what is left to be written after it.
    pub fn piece(mut self) -> (ByteCount, Option<Self>) {
        let piece = self.pattern.next_piece(self.bytes);
        let rest = Self {
            after: self.pattern.interval,
            bytes: self.bytes - piece,
            ..self
        };
        (piece, (!rest.bytes.is_zero()).then_some(rest))
    }
}

impl Exchanges {
    /// Those of a source, if it answers requests; the first request is written at `start`.
    pub fn new(mut source: Box<dyn Source>, start: Instant) -> Option<Self> {
        let exchange = source.next_exchange()?;
        Some(Self {
            source,
            turn: Awaited::Client,
            exchange,
            following: None,
            asked: 1,
            requests: exchange.request,
            responses: exchange.response,
            requested: ByteCount::ZERO,
            asked_at: start,
            completions_ns: Histogram::default(),
        })
    }

    /// The client's first request, which is written as the connection opens.
    pub fn first(&self) -> Message {
        Message {
            after: Duration::ZERO,
            bytes: self.exchange.request,
            pattern: self.exchange.request_pattern,
            last: false,
        }
    }

    /// Whether the server's TCP, with so many bytes, has the first request, which has not been answered.
    pub fn has_first(&self, delivered: ByteCount) -> bool {
        self.asked == 1 && self.turn == Awaited::Client && delivered >= self.requests
    }

    /// So many bytes of requests have reached the server; the response, if the request is complete.
    pub fn at_server(&mut self, delivered: ByteCount) -> Option<Message> {
        self.requested = delivered;
        if self.turn != Awaited::Client || delivered < self.requests {
            return None;
        }
        self.turn = Awaited::Server;
        self.following = self.source.next_exchange();
        Some(Message {
            after: self.exchange.server_think,
            bytes: self.exchange.response,
            pattern: self.exchange.response_pattern,
            last: self.following.is_none(),
        })
    }

    /// So many bytes of responses have reached the client; the next request, if the response is complete. The last one is empty and closes.
    pub fn at_client(&mut self, now: Instant, delivered: ByteCount) -> Option<Message> {
        if self.turn != Awaited::Server || delivered < self.responses {
            return None;
        }
        let spent = (now - self.asked_at).as_ns();
        self.completions_ns.add(spent.unsigned_abs());
        let Some(exchange) = self.following.take() else {
            self.turn = Awaited::Nobody;
            return Some(Message {
                after: Duration::ZERO,
                bytes: ByteCount::ZERO,
                pattern: WritePattern::AT_ONCE,
                last: true,
            });
        };
        self.turn = Awaited::Client;
        self.exchange = exchange;
        self.asked += 1;
        self.requests += exchange.request;
        self.responses += exchange.response;
        self.asked_at = now + exchange.think;
        Some(Message {
            after: exchange.think,
            bytes: exchange.request,
            pattern: exchange.request_pattern,
            last: false,
        })
    }

    /// Whether the last response has arrived.
    pub fn is_over(&self) -> bool {
        self.turn == Awaited::Nobody
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{Params, Value};
    use crate::source;
    use crate::units::testing::{at, bytes, secs};

    #[test]
    fn each_side_writes_when_a_message_has_come_completely_and_the_server_closes_first() {
        let row = source::TABLE
            .iter()
            .find(|row| row.name == "request_response")
            .expect("a row");
        let mut params = Params::defaults(row.params);
        for (key, value) in [
            ("request", Value::Bytes(100)),
            ("response", Value::Bytes(1000)),
            ("think", Value::Duration(0.5)),
            ("server_think", Value::Duration(0.1)),
            ("count", Value::Integer(2)),
        ] {
            params.set(key, value);
        }
        let source = source::build("request_response", &params, 1, "f");
        let mut exchanges = Exchanges::new(source, at(1.0)).expect("it answers");
        let pattern = WritePattern {
            writes: 1,
            interval: secs(1e-6),
        };
        let message = |after, size, last| {
            Some(Message {
                after: secs(after),
                bytes: bytes(size),
                pattern,
                last,
            })
        };
        assert_eq!(Some(exchanges.first()), message(0.0, 100, false));
        assert_eq!(exchanges.at_server(bytes(99)), None);
        assert_eq!(exchanges.at_server(bytes(100)), message(0.1, 1000, false));
        assert_eq!(
            exchanges.at_server(bytes(100)),
            None,
            "it has been answered"
        );
        assert_eq!(exchanges.at_client(at(1.2), bytes(999)), None);
        assert_eq!(
            exchanges.at_client(at(1.2), bytes(1000)),
            message(0.5, 100, false)
        );
        assert_eq!(exchanges.at_server(bytes(200)), message(0.1, 1000, true));
        assert!(!exchanges.is_over());
        // Asked at 1.7 s.
        let nothing = Message {
            after: Duration::ZERO,
            bytes: ByteCount::ZERO,
            pattern: WritePattern::AT_ONCE,
            last: true,
        };
        assert_eq!(exchanges.at_client(at(2.0), bytes(2000)), Some(nothing));
        assert!(exchanges.is_over());
        assert_eq!((exchanges.asked, exchanges.requested), (2, bytes(200)));
        // Of 0.2 and 0.3 s.
        let completions = &exchanges.completions_ns;
        assert_eq!((completions.count(), completions.mean()), (2, Some(250e6)));
    }

    #[test]
    fn a_message_in_several_writes_is_written_whole_and_closes_after_the_last() {
        let pattern = WritePattern {
            writes: 3,
            interval: secs(0.25),
        };
        let mut left = Some(Message {
            after: secs(1.0),
            bytes: bytes(10),
            pattern,
            last: true,
        });
        let mut pieces = Vec::new();
        while let Some(message) = left {
            let (piece, rest) = message.piece();
            pieces.push(piece.get());
            assert!(rest.is_none_or(|rest| rest.last && rest.after == secs(0.25)));
            left = rest;
        }
        assert_eq!(pieces, [4, 3, 3]);
    }
}
