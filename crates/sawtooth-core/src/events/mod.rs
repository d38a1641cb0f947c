//! The order of events.
//!
//! Events at equal times happen in the order in which they were scheduled (FIFO), as in ns-2. That order is
//! a property of the events, not of the moment at which this program learns of them: of two events at one instant, the one whose
//! parent (the event that scheduled it) happened first goes first; of two children of one parent, the one scheduled first. So a
//! [`EventKey`] carries an event's time, its parent's time, and a reference to its parent's own key in the [`Lineage`], and a tie is
//! broken by walking up the two lines of ancestors until they differ. Because the order is in the key, an event may be computed
//! early, late or not at all (see `net` and `sim`) without changing any order. Links of one rate keep step for long, so ties that
//! are decided many generations up are common, and decide which of two packets a full queue drops.

mod archive;
mod lineage;
mod queue;

pub use self::lineage::Lineage;
pub use self::queue::EventQueue;

use std::cmp::Ordering;

use crate::units::Instant;

/// When an event happens, and its place among events at the same instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EventKey {
    /// When it happens; [`Instant::NEVER`] of [`EventKey::NEVER`] alone.
    pub time: Instant,
    line: Line,
}

/// Where an event comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// When it was scheduled: the time of its parent.
    scheduled: Instant,
    /// Its parent's entry in the lineage (high half) and its place among its parent's children.
    origin: u64,
}

impl Line {
    #[inline]
    fn new(scheduled: Instant, parent: u32, child: u32) -> Self {
        Self {
            scheduled,
            origin: u64::from(parent) << 32 | u64::from(child),
        }
    }

    #[inline]
    fn parent(self) -> u32 {
        (self.origin >> 32) as u32
    }

    /// Whether it is a timer's that was set at the head of a list ([`Event::schedule_at_head`]).
    #[inline]
    fn is_at_head(self) -> bool {
        self.scheduled < Instant::START
    }

    /// Whether this one's event happens before that of `other`, which is at the same time.
    #[inline(always)]
    fn precedes(self, other: Self, lineage: &Lineage, ties: bool) -> bool {
        lineage.order(self, other).map_or(ties, Ordering::is_lt)
    }

    #[cold]
    #[inline(never)]
    fn precedes_rarely(self, other: Self, lineage: &Lineage, ties: bool) -> bool {
        self.precedes(other, lineage, ties)
    }
}

/// Which child of its parent an event is, in the order in which children are scheduled: an endpoint restarts its timer before
/// it sends, and a transmission schedules its packet's arrival before its own end.
#[derive(Clone, Copy, Debug)]
pub enum Child {
    /// Something that an endpoint waits for is due: a retransmission, a paced or partial segment, a delayed acknowledgement.
    Timer = 0,
    /// The packet reaches the far end.
    Arrival = 1,
    /// The transmitter is free again.
    Done = 2,
    /// The packet reaches the far end a second time.
    Again = 3,
}

/// No parent: laid down before the run.
const ROOT: u32 = u32::MAX;

/// Flag of an id: its event was recorded in its turn, so that two such ids compare as their events happened.
const HAPPENED: u32 = 1 << 30;

/// Ids count modulo 2^30. Those that are compared are of events at one instant, and of two events there are far fewer than 2^29 in between.
const ID_MASK: u32 = HAPPENED - 1;

impl EventKey {
    /// Later than every event.
    pub const NEVER: Self = Self {
        time: Instant::NEVER,
        line: Line {
            scheduled: Instant::NEVER,
            origin: u64::MAX,
        },
    };

    /// The event laid down `order`-th before the run began.
    pub fn at_start(time: Instant, order: u32) -> Self {
        Self {
            time,
            line: Line::new(Instant::START, ROOT, order),
        }
    }

    /// When it was scheduled: the time of its parent.
    pub fn scheduled(self) -> Instant {
        self.line.scheduled
    }

    /// Time and line apart: unlike a key, both are handed over in registers.
    #[inline]
    pub fn parts(self) -> (Instant, Line) {
        (self.time, self.line)
    }

    /// A key of its [`EventKey::parts`].
    #[inline]
    pub fn from_parts(time: Instant, line: Line) -> Self {
        Self { time, line }
    }

    /// Whether this is [`EventKey::NEVER`].
    #[inline]
    pub fn is_never(&self) -> bool {
        self.time == Instant::NEVER
    }

    /// Whether this event happens before `other`; `ties` decides when nothing tells them apart.
    #[inline(always)]
    pub fn precedes(&self, other: &Self, lineage: &Lineage, ties: bool) -> bool {
        self.precedes_in_time(other)
            .unwrap_or_else(|| self.line.precedes(other.line, lineage, ties))
    }

    /// The same where it is rare that times do not say it: then asking takes nothing from those who need not ask.
    #[inline(always)]
    pub fn mostly_precedes_in_time(&self, other: &Self, lineage: &Lineage, ties: bool) -> bool {
        self.precedes_in_time(other)
            .unwrap_or_else(|| self.line.precedes_rarely(other.line, lineage, ties))
    }

    /// Whether this event happens before `other`, if their times and those of their parents say it.
    #[inline(always)]
    fn precedes_in_time(&self, other: &Self) -> Option<bool> {
        if self.time < other.time {
            return Some(true);
        }
        if self.time > other.time {
            return Some(false);
        }
        let (mine, others) = (self.line.scheduled, other.line.scheduled);
        (mine != others).then_some(mine < others)
    }
}

/// An event that is happening and has been recorded: what it schedules descends from it.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// When it happens, which is the time at which its children are scheduled.
    pub time: Instant,
    /// Its entry in the lineage, where the origins of its children have it.
    parent: u64,
}

impl Event {
    /// One that does not come.
    pub const NEVER: Self = Self {
        time: Instant::NEVER,
        parent: (ROOT as u64) << 32,
    };

    #[inline(always)]
    fn new(time: Instant, id: u32) -> Self {
        Self {
            time,
            parent: u64::from(id) << 32,
        }
    }

    #[inline(always)]
    fn id(self) -> u32 {
        (self.parent >> 32) as u32
    }

    /// The key of the event that this one schedules for `time`.
    #[inline(always)]
    pub fn schedule(self, time: Instant, child: Child) -> EventKey {
        EventKey {
            time,
            line: Line {
                scheduled: self.time,
                origin: self.parent | child as u64,
            },
        }
    }

    /// The same of a timer that is sorted in before all that were set earlier for that time, of the same `rank`, and before all of a lower one: as in a list at whose head is what came last.
    ///
    /// Such a timer says that it was scheduled before the run, the longer before the later it was set.
    pub fn schedule_at_head(self, time: Instant, rank: u8) -> EventKey {
        const RANK_SECS: f64 = 1e6;
        let before = self.time.secs() + RANK_SECS * (f64::from(rank) + 1.0);
        EventKey {
            time,
            line: Line {
                scheduled: Instant::from_secs(-before),
                origin: self.parent | Child::Timer as u64,
            },
        }
    }
}

/// What is known of an event that is being handled: the number under which it has been recorded, or why it has none yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence(u32);

impl Occurrence {
    /// It happens now, after all that happened before it, and has not been recorded.
    pub const HAPPENING: Self = Self(u32::MAX);
    /// It is handled ahead of its turn, or after it, and has not been recorded.
    pub const OUT_OF_TURN: Self = Self(u32::MAX - 1);

    /// It has been recorded, as this.
    #[inline]
    pub fn recorded(event: Event) -> Self {
        // So that whoever knows that it has been recorded need not ask: those that have not are none of these numbers.
        Self(event.id() & (HAPPENED | ID_MASK))
    }

    /// The event as it has been recorded, or is.
    #[inline(always)]
    pub fn record(self, event: EventKey, lineage: &mut Lineage) -> Event {
        match self {
            Self::OUT_OF_TURN => lineage.record(event),
            Self::HAPPENING => lineage.happen(event),
            Self(id) => Event::new(event.time, id),
        }
    }
}
