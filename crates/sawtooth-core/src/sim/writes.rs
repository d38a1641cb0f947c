//! What the application of a flow writes, and when.

use crate::events::{Child, Event, EventKey};
use crate::exchanges::Message;
use crate::source::{Source, Write, WritePattern};
use crate::units::{ByteCount, Duration, Instant};

#[derive(Debug)]
pub(super) struct Writes {
    source: Box<dyn Source>,
    /// The write that comes next; its time counts from the start of the flow.
    next: Option<Write>,
    /// When it is due; never if something else has to happen before.
    pub(super) key: EventKey,
    /// Of a side of a connection of requests and responses: into how many writes what it says next is cut, and whether it closes then.
    pattern: WritePattern,
    closes_next: bool,
}

/// What becomes of the next write.
pub(super) enum NextWrite {
    /// So many bytes are written now.
    Bytes(ByteCount),
    /// Its time has not come.
    Later,
    /// There is none.
    Over,
}

/// What one side of a connection of requests and responses writes at once.
pub(super) struct Portion {
    pub bytes: ByteCount,
    /// Whether it is the last of all, after which the side closes.
    pub is_all: bool,
}

impl Writes {
    pub(super) fn new(mut source: Box<dyn Source>) -> Self {
        Self {
            next: source.next_write(),
            source,
            key: EventKey::NEVER,
            pattern: WritePattern::AT_ONCE,
            closes_next: false,
        }
    }

    /// A client writes its first request as the connection opens.
    pub(super) fn schedule_first(&mut self, first: &Message) {
        self.pattern = first.pattern;
        self.next = Some(Write {
            after: first.after,
            bytes: first.bytes,
        });
    }

    /// The next write of a flow that has begun at `start`; one that is not due yet gets its time.
    pub(super) fn due(&mut self, start: Instant, now: Event) -> NextWrite {
        let Some(write) = self.next else {
            return NextWrite::Over;
        };
        let time = start + write.after;
        if time > now.time {
            self.key = now.schedule(time, Child::Timer);
            return NextWrite::Later;
        }
        self.next = self.source.next_write();
        NextWrite::Bytes(write.bytes)
    }

    /// What one side is to write now, if anything; the rest of its message is scheduled.
    pub(super) fn next_portion(&mut self, start: Instant, now: Event) -> Option<Portion> {
        let write = self.next.take()?;
        let message = Message {
            after: Duration::ZERO,
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
    pub(super) fn schedule(&mut self, start: Instant, now: Event, message: Message) {
        let time = now.time + message.after;
        self.pattern = message.pattern;
        self.closes_next = message.last;
        self.next = Some(Write {
            after: time - start,
            bytes: message.bytes,
        });
        self.key = now.schedule(time, Child::Timer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Lineage;
    use crate::source;
    use crate::units::testing::at;

    fn event(secs: f64) -> Event {
        Lineage::new().record(EventKey::at_start(at(secs), 0))
    }

    /// Writes as of messages at 1 s, 2 s and so on after the start.
    #[derive(Debug)]
    struct EverySecond(u64);

    impl Source for EverySecond {
        fn next_write(&mut self) -> Option<Write> {
            self.0 += 1;
            #[expect(clippy::cast_precision_loss, reason = "a few writes")]
            let after = Duration::from_secs(self.0 as f64);
            (self.0 <= 2).then_some(Write {
                after,
                bytes: ByteCount::new(100 * self.0),
            })
        }

        fn total_bytes(&self) -> Option<ByteCount> {
            Some(ByteCount::new(300))
        }
    }

    #[test]
    fn a_write_that_is_not_due_yet_gets_its_time_after_the_start_of_the_flow() {
        let mut writes = Writes::new(Box::new(EverySecond(0)));
        assert!(matches!(
            writes.due(at(10.0), event(10.0)),
            NextWrite::Later
        ));
        assert!(writes.key.time == at(11.0));
        assert!(
            matches!(writes.due(at(10.0), event(12.0)), NextWrite::Bytes(bytes) if bytes == ByteCount::new(100))
        );
        assert!(
            matches!(writes.due(at(10.0), event(12.0)), NextWrite::Bytes(bytes) if bytes == ByteCount::new(200))
        );
        assert!(matches!(writes.due(at(10.0), event(12.0)), NextWrite::Over));
    }

    #[test]
    fn a_message_is_written_once_in_as_many_writes_as_its_pattern_has() {
        let mut writes = Writes::new(source::transfer(ByteCount::ZERO));
        writes.next = None;
        assert!(writes.next_portion(Instant::START, event(1.0)).is_none());
        let message = Message {
            after: Duration::from_secs(0.5),
            bytes: ByteCount::new(10),
            pattern: WritePattern {
                writes: 2,
                interval: Duration::from_secs(0.25),
            },
            last: true,
        };
        writes.schedule(Instant::START, event(1.0), message);
        assert!(writes.key.time == at(1.5));
        let first = writes
            .next_portion(Instant::START, event(1.5))
            .expect("half of it");
        assert!(first.bytes == ByteCount::new(5) && !first.is_all);
        assert!(writes.key.time == at(1.75));
        let second = writes
            .next_portion(Instant::START, event(1.75))
            .expect("the rest");
        assert!(second.bytes == ByteCount::new(5) && second.is_all);
        assert!(writes.next_portion(Instant::START, event(2.0)).is_none());
    }
}
