//! When less than a full segment may leave: the policies of partial packets.
//!
//! Specifications: RFC 896, RFC 9293 §3.7.4 and RFC 1122 §4.2.3.4 (`nagle`, and that an application can switch it off: `nodelay`);
//! draft-minshall-nagle-01 (`minshall`); tcp(7) of the Linux manual pages (`cork`: TCP_CORK); for `linux-2.0.29` what the data-stream-stall study
//! says of that kernel: "a partial packet that was held because the transmission window had no room was not sent when room appeared, but only when
//! a timer fired".
//!
//! **Model.** At most the last segment is short (`stream.rs`). While it waits at the end of what is written, the policy says whether it
//! leaves, waits for something to happen, or waits for a timer. Full segments never wait. Whether the window had no room for it is decided once,
//! when the sender first stops after the segment was written (or the connection was opened): later room changes nothing. The timer starts when the segment
//! first has to wait for one. It counts in ticks of the host's clock (`ticks.rs`). At its end the segment leaves ([`AtExpiry::Leaves`]), or leaves if there
//! is room, and otherwise the timer starts again ([`AtExpiry::LeavesIfRoom`]).
//!
//! **Whose timer `linux-2.0.29` waits for.** The description does not say. The published curves do: where the full segments of a message end what the receiver
//! acknowledges at once, its partial packet is late by one round trip (33,000, 49,000, 65,000, 81,000 and 97,000 bytes over Fast Ethernet by 155 to 170 us), and by
//! up to 10 or 20 ms otherwise. So it leaves when nothing is outstanding, and the timer is that of the receiver's delayed acknowledgement. With a timer of
//! the sender's own (`partial_timer`) it leaves by that alone.
//! **How long a cork holds.** tcp(7) says 200 ms. Measured of Linux 6.1 over round trips of 0.2, 10, 30 and 100 ms: 220, 230, 250 and 320 ms, a retransmission timeout in whole ticks
//! of 10 ms and one more. `partial_timer = "200 ms"` is the manual's.
//!
//! **Autocorking** (Linux's ip-sysctl, tcp_autocorking: small writes are coalesced "if at least one prior packet for the flow is waiting in Qdisc queues or device transmit
//! queue") comes after every policy. It is decided when the application writes, and ends when a packet of the connection has been transmitted or an acknowledgement
//! comes. Measured of Linux 6.1 with a token bucket at the sender's interface that passes 4 packets of 300 B and keeps the fifth for 20 ms, TCP_NODELAY and n writes of
//! 300 B, 10 us apart, over a round trip of 10 ms: 5, 6, 6, 7, 7, 7, 7 and 8 packets for n = 5 to 12. So what waits leaves when it takes more memory than what is
//! in the queue (the sixth and seventh together do; then two packets are in the queue, and four more writes wait until they are a full one). And with 3 ms between
//! the writes, of which acknowledgements come every 3 ms, 7 of them are 7 packets: the sixth leaves when one comes.
//! Where the interface was never behind, 40 exchanges of 5 writes were 200 packets, with tcp_autocorking = 0 and 1.
//!
//! Deviation: with segmentation offload Linux puts off what is less than the burst it would hand down, here it is what is less than a segment.
//!
//! **Where `linux-2.0.29` says nothing.** What is published is what happens to a partial packet without room; others there wait for another short one, as with
//! `minshall`. They do not wait for full ones: then a message of a few packets would wait for a delayed acknowledgement, and none that fits the window
//! does in the published curves. Closing does not set free what waits for the timer, because what is published knows no exception.

use crate::registry::{Entry, words};
use crate::units::Duration;

/// What a policy knows of the short segment at the end of what is written.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct Facts {
    /// Something is sent and not acknowledged.
    pub outstanding: bool,
    /// A segment that was sent short is not acknowledged.
    pub short_outstanding: bool,
    /// The window had no room for it when it was written.
    pub found_no_room: bool,
    /// The application has closed: nothing will be added to it.
    pub closed: bool,
    /// When it was written an earlier packet of the connection was in the transmit queue of its machine, and nothing has happened since (autocorking).
    pub put_off: bool,
}

/// What becomes of it now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialVerdict {
    /// It is not kept back: it leaves as soon as the window has room.
    Leaves,
    /// It waits for more data or an acknowledgement.
    Waits,
    /// It waits for the timer, or for data that make it full; where there is no timer, until everything is acknowledged.
    WaitsForTimer,
}

/// What happens when the timer expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtExpiry {
    /// It is not held back any more.
    Leaves,
    /// The same if the window has room for it by then; or else the timer starts again.
    LeavesIfRoom,
}

/// A row's way to decide.
#[derive(Clone, Copy, Debug)]
pub struct PartialPolicy {
    /// Says what becomes of a short segment; a missing timer and autocorking are seen to by [`PartialPolicy::verdict`].
    pub decide: fn(Facts) -> PartialVerdict,
    /// What its timer does, if it can have one, and how long that is unless `partial_timer` says otherwise.
    pub timer: Option<(PartialWait, AtExpiry)>,
}

/// How long a timer is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PartialWait {
    /// So long, counted in ticks of the host's clock.
    For(Duration),
    /// A retransmission timeout.
    Rto,
    /// There is none.
    Never,
}

impl PartialPolicy {
    /// What becomes of it, with autocorking; what waits for a timer that nobody has waits until nothing is outstanding.
    pub fn verdict(&self, facts: Facts) -> PartialVerdict {
        let verdict = match (self.decide)(facts) {
            PartialVerdict::WaitsForTimer if self.timer().is_none() => wait_if(facts.outstanding),
            verdict => verdict,
        };
        match verdict {
            PartialVerdict::Leaves => wait_if(facts.put_off && !facts.closed),
            waits => waits,
        }
    }

    /// With a timer of so long, if that is set and it can have one.
    pub fn of(name: Partial, time: Option<Duration>) -> Self {
        let mut policy = TABLE[name as usize].new;
        if let Some((wait, _)) = &mut policy.timer {
            *wait = time.map_or(*wait, PartialWait::For);
        }
        policy
    }

    /// Its timer, if it has one.
    pub fn timer(&self) -> Option<(PartialWait, AtExpiry)> {
        self.timer.filter(|(wait, _)| *wait != PartialWait::Never)
    }
}

words! {
    /// The policies, in the order of [`TABLE`].
    pub enum Partial {
        NoDelay = "nodelay",
        Nagle = "nagle",
        Minshall = "minshall",
        Cork = "cork",
        Linux2029 = "linux-2.0.29",
    }
}

/// All policies.
pub const TABLE: &[Entry<PartialPolicy>] = &[
    Entry {
        name: Partial::NoDelay.word(),
        summary: "leaves as soon as the window has room (TCP_NODELAY)",
        specification: &["RFC 9293", "RFC 1122"],
        params: &[],
        new: PartialPolicy {
            decide: |_| PartialVerdict::Leaves,
            timer: None,
        },
    },
    Entry {
        name: Partial::Nagle.word(),
        summary: "waits until everything is acknowledged, or the application closes",
        specification: &["RFC 896", "RFC 9293"],
        params: &[],
        new: PartialPolicy {
            decide: |facts| wait_if(facts.outstanding && !facts.closed),
            timer: None,
        },
    },
    Entry {
        name: Partial::Minshall.word(),
        summary: "waits until no other short one is outstanding: what Linux does without TCP_NODELAY",
        specification: &["draft-minshall-nagle-01"],
        params: &[],
        new: PartialPolicy {
            decide: minshall,
            timer: None,
        },
    },
    Entry {
        name: Partial::Cork.word(),
        summary: "waits until it is full, the application closes, or a retransmission timeout has passed (TCP_CORK)",
        specification: &["Linux man-pages, tcp(7)"],
        params: &[],
        new: PartialPolicy {
            decide: |facts| {
                if facts.closed {
                    PartialVerdict::Leaves
                } else {
                    PartialVerdict::WaitsForTimer
                }
            },
            timer: Some((PartialWait::Rto, AtExpiry::Leaves)),
        },
    },
    Entry {
        name: Partial::Linux2029.word(),
        summary: "waits for a timer if the window had no room when it was written, though it may have some by then: the fault of the data-stream-stall study. \
                  That of the delayed acknowledgement, after which nothing is outstanding, or `partial_timer`; otherwise as minshall",
        specification: &["the data-stream-stall study"],
        params: &[],
        new: PartialPolicy {
            decide: |facts| {
                if facts.found_no_room {
                    PartialVerdict::WaitsForTimer
                } else {
                    minshall(facts)
                }
            },
            timer: Some((PartialWait::Never, AtExpiry::LeavesIfRoom)),
        },
    },
];

fn minshall(facts: Facts) -> PartialVerdict {
    wait_if(facts.short_outstanding && !facts.closed)
}

fn wait_if(waits: bool) -> PartialVerdict {
    if waits {
        PartialVerdict::Waits
    } else {
        PartialVerdict::Leaves
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Words;

    #[test]
    fn the_choice_of_a_study_is_the_table() {
        let names: Vec<&str> = TABLE.iter().map(|entry| entry.name).collect();
        assert_eq!(names, Partial::WORDS);
    }

    #[test]
    fn every_policy_lets_a_lone_segment_leave_by_itself_or_has_a_timer() {
        // Or a connection would stand still: nothing is outstanding that could be acknowledged.
        for entry in TABLE {
            for found_no_room in [false, true] {
                let facts = Facts {
                    found_no_room,
                    ..Facts::default()
                };
                let verdict = (entry.new.decide)(facts);
                assert_ne!(verdict, PartialVerdict::Waits, "{}", entry.name);
                assert!(verdict == PartialVerdict::Leaves || entry.new.timer.is_some());
            }
        }
    }

    #[test]
    fn autocorking_puts_off_what_a_policy_lets_leave_unless_the_application_has_closed() {
        let put_off = Facts {
            outstanding: true,
            put_off: true,
            ..Facts::default()
        };
        let closed = Facts {
            closed: true,
            ..put_off
        };
        for (name, verdicts) in [
            (
                Partial::NoDelay,
                [PartialVerdict::Waits, PartialVerdict::Leaves],
            ),
            (
                Partial::Minshall,
                [PartialVerdict::Waits, PartialVerdict::Leaves],
            ),
            (
                Partial::Cork,
                [PartialVerdict::WaitsForTimer, PartialVerdict::Leaves],
            ),
        ] {
            let policy = PartialPolicy::of(name, None);
            let found = [put_off, closed].map(|facts| policy.verdict(facts));
            assert_eq!(found, verdicts, "{name:?}");
        }
    }

    #[test]
    fn the_policies_decide_as_their_specifications_say() {
        use PartialVerdict::{Leaves, Waits, WaitsForTimer};
        let outstanding = Facts {
            outstanding: true,
            ..Facts::default()
        };
        let short = Facts {
            short_outstanding: true,
            ..outstanding
        };
        let closed = Facts {
            closed: true,
            ..short
        };
        let no_room = Facts {
            found_no_room: true,
            ..closed
        };
        for (name, verdicts) in [
            (Partial::NoDelay, [Leaves, Leaves, Leaves, Leaves]),
            (Partial::Nagle, [Waits, Waits, Leaves, Leaves]),
            (Partial::Minshall, [Leaves, Waits, Leaves, Leaves]),
            (
                Partial::Cork,
                [WaitsForTimer, WaitsForTimer, Leaves, Leaves],
            ),
            (Partial::Linux2029, [Leaves, Waits, Leaves, WaitsForTimer]),
        ] {
            let found =
                [outstanding, short, closed, no_room].map(PartialPolicy::of(name, None).decide);
            assert_eq!(found, verdicts, "{name:?}");
        }
    }
}
