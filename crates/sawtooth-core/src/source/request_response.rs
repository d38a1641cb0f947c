//! Requests and responses over one connection that stays: the client asks, the server thinks and answers, and when the response has arrived
//! completely the client thinks and asks again.
//!
//! The flow's data are the responses, so its receiver is the client. It opens the connection, and its requests are a stream of their own in the opposite
//! direction, over the reverse links, with the same congestion control and TCP.
//!
//! Segments of either direction carry the acknowledgements of the other, which are delayed for that ([`crate::tcp::receiver`]).
//!
//! Deviation: in the simulator the handshake is the client's alone; the server takes the round trip that the client has measured, as its own would be.
//!
//! Kernel twin: one connection of two sockets of the agent; requests have `receiver_cc` if the flow names one.

use super::{Exchange, NewSource, Source, WRITE_INTERVAL, Write, WritePattern};
use crate::dist::{self, Distribution};
use crate::registry::{Entry, Kind, Unit, Value, param};
use crate::rng::RandomStream;
use crate::units::{ByteCount, Duration};

const WRITES: Kind = Kind::Integer {
    min: 1,
    max: 1_000_000,
};

const TIME: Kind = Kind::Distribution(Unit::Time {
    min_exclusive: false,
});

pub(super) const ENTRY: Entry<NewSource> = Entry {
    name: "request_response",
    summary: "a client that asks, waits for the whole response, thinks and asks again",
    specification: &[],
    params: &[
        param!(request: Kind::Distribution(Unit::Bytes) => Value::Bytes(300),
            "bytes of a request, or their distribution"),
        param!(response: Kind::Distribution(Unit::Bytes) => Value::Bytes(30_000),
            "bytes of a response, or their distribution"),
        param!(think: TIME => Value::Duration(0.0),
            "the client's time from a response's last byte to its next request, or its distribution"),
        param!(server_think: TIME => Value::Duration(0.0),
            "the server's time from a request's last byte to its response, or its distribution"),
        param!(request_writes: WRITES => Value::Integer(1),
            "into how many writes a request is cut, such as 2 for a header and a body"),
        param!(response_writes: WRITES => Value::Integer(1),
            "the same of a response"),
        WRITE_INTERVAL,
        param!(count: Kind::Integer { min: 1, max: 1_000_000_000 } => Value::None,
            "how many requests, after which both sides close; `none`: without end"),
    ],
    new: |params, random| {
        let fixed = match params.get("response") {
            Value::Bytes(bytes) => Some(ByteCount::new(bytes)),
            _ => None,
        };
        Box::new(RequestResponse {
            request: dist::of(params, "request"),
            response: dist::of(params, "response"),
            think: dist::of(params, "think"),
            server_think: dist::of(params, "server_think"),
            count: match params.get("count") {
                Value::Integer(count) => u64::try_from(count).ok(),
                _ => None,
            },
            fixed_response: fixed,
            request_pattern: WritePattern::of(params, "request_writes"),
            response_pattern: WritePattern::of(params, "response_writes"),
            random,
            asked: 0,
        })
    },
};

#[derive(Debug)]
struct RequestResponse {
    request: Box<dyn Distribution>,
    response: Box<dyn Distribution>,
    think: Box<dyn Distribution>,
    server_think: Box<dyn Distribution>,
    count: Option<u64>,
    /// Where it is not drawn.
    fixed_response: Option<ByteCount>,
    request_pattern: WritePattern,
    response_pattern: WritePattern,
    random: RandomStream,
    asked: u64,
}

impl Source for RequestResponse {
    fn next_write(&mut self) -> Option<Write> {
        None
    }

    fn next_exchange(&mut self) -> Option<Exchange> {
        if self.count == Some(self.asked) {
            return None;
        }
        self.asked += 1;
        let random = &mut self.random;
        // The first request has nothing to think about.
        let think = Duration::from_secs(self.think.sample(random));
        Some(Exchange {
            think: if self.asked > 1 {
                think
            } else {
                Duration::ZERO
            },
            request: dist::bytes(self.request.sample(random)),
            server_think: Duration::from_secs(self.server_think.sample(random)),
            response: dist::bytes(self.response.sample(random)),
            request_pattern: self.request_pattern,
            response_pattern: self.response_pattern,
        })
    }

    fn answers(&self) -> bool {
        true
    }

    fn total_bytes(&self) -> Option<ByteCount> {
        Some(self.fixed_response?.saturating_mul(self.count?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Params;

    #[test]
    fn so_many_exchanges_and_then_comes_the_end() {
        let mut params = Params::defaults(ENTRY.params);
        params.set("count", Value::Integer(2));
        params.set("think", Value::Duration(0.5));
        let mut source = (ENTRY.new)(&params, RandomStream::new(1, "x"));
        let exchange = |think_secs| Exchange {
            think: Duration::from_secs(think_secs),
            request: ByteCount::new(300),
            server_think: Duration::ZERO,
            response: ByteCount::new(30_000),
            request_pattern: WritePattern {
                interval: Duration::from_secs(1e-6),
                ..WritePattern::AT_ONCE
            },
            response_pattern: WritePattern {
                interval: Duration::from_secs(1e-6),
                ..WritePattern::AT_ONCE
            },
        };
        assert_eq!(source.next_exchange(), Some(exchange(0.0)));
        assert_eq!(source.next_exchange(), Some(exchange(0.5)));
        assert_eq!(source.next_exchange(), None);
        assert_eq!(source.total_bytes(), Some(ByteCount::new(60_000)));
    }
}
