//! What the application of a flow writes, and when.

use crate::events::{Child, Event, Key};
use crate::exchanges::Message;
use crate::source::{Source, Write, WritePattern};

#[derive(Debug)]
pub(super) struct Writes {
    source: Box<dyn Source>,
    /// The write that comes next; its time counts from the start of the flow.
    next: Option<Write>,
    /// When it is due; never if something else has to happen before.
    pub(super) key: Key,
    /// Of a side of a connection of requests and responses: into how many writes what it says next is cut, and whether it closes then.
    pattern: WritePattern,
    closes_next: bool,
}

/// What becomes of the next write.
pub(super) enum Due {
    /// So many bytes are written now.
    Bytes(u64),
    /// Its time has not come.
    Later,
    /// There is none.
    Over,
}

/// What one side of a connection of requests and responses writes at once.
pub(super) struct Portion {
    pub bytes: u64,
    /// Whether it is the last of all, after which the side closes.
    pub is_all: bool,
}

impl Writes {
    pub(super) fn new(mut source: Box<dyn Source>) -> Self {
        Self {
            next: source.next_write(),
            source,
            key: Key::NEVER,
            pattern: WritePattern::AT_ONCE,
            closes_next: false,
        }
    }

    /// A client writes its first request as the connection opens.
    pub(super) fn schedule_first(&mut self, first: &Message) {
        self.pattern = first.pattern;
        self.next = Some(Write {
            at_secs: first.after_secs,
            bytes: first.bytes,
        });
    }

    /// The next write of a flow that has begun at `start`; one that is not due yet gets its time.
    pub(super) fn due(&mut self, start: f64, now: Event) -> Due {
        let Some(write) = self.next else {
            return Due::Over;
        };
        let time = start + write.at_secs;
        if time > now.time {
            self.key = now.schedule(time, Child::Timer);
            return Due::Later;
        }
        self.next = self.source.next_write();
        Due::Bytes(write.bytes)
    }

    /// What one side is to write now, if anything; the rest of its message is scheduled.
    pub(super) fn next_portion(&mut self, start: f64, now: Event) -> Option<Portion> {
        let write = self.next.take()?;
        let message = Message {
            after_secs: 0.0,
            bytes: write.bytes,
            pattern: self.pattern,
            last: self.closes_next,
        };
        let (piece, rest) = message.piece();
        let is_all = rest.is_none() && self.closes_next;
        if let Some(rest) = rest {
            self.schedule(start, now, rest);
        }
        Some(Portion {
            bytes: piece,
            is_all,
        })
    }

    /// One side is to write a message, and closes then if that is its last.
    pub(super) fn schedule(&mut self, start: f64, now: Event, message: Message) {
        let time = now.time + message.after_secs;
        self.pattern = message.pattern;
        self.closes_next = message.last;
        self.next = Some(Write {
            at_secs: time - start,
            bytes: message.bytes,
        });
        self.key = now.schedule(time, Child::Timer);
    }
}
