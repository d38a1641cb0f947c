//! Loss detection and repair, one file per rule.
//!
//! A recovery is given every event together with the sender's parts (`Tx`). It finds losses, says which segment is next, and runs the timer; what the
//! window becomes is decided by the algorithm, to which those parts pass on what happened.
//!
//! | Recovery | Losses are found by | Files |
//! |---|---|---|
//! | `ClassicRecovery`: Tahoe, Reno, NewReno | duplicate acknowledgements | `classic/`, `dupacks.rs` |
//! | `Sack` | selective acknowledgements | `sack.rs`, `dupacks.rs` |
//! | `Rack`: RACK, FACK | what was sent after it has arrived | `rack/` |

mod classic;
mod dupacks;
pub mod plain;
mod rack;
mod sack;
#[cfg(test)]
pub(super) mod testing;

use self::classic::{ClassicPolicy, ClassicRecovery, newreno, reno, tahoe};
use self::dupacks::Dupacks;
use self::rack::Rack;
pub(super) use self::rack::{AtOnce, may_leave_at_once};
use self::sack::Sack;
use super::episodes::Losses;
use super::params::{Config, RecoveryKind};
use super::sender::tx::Tx;
use crate::cc;
use crate::events::Event;
use crate::packet::Ack;
use crate::registry::Entry;
use crate::units::{Instant, Rate, SegCount, SeqNum};

/// The loss recoveries a study can name.
pub const TABLE: &[Entry<()>] = &[
    tahoe::ENTRY,
    reno::ENTRY,
    newreno::ENTRY,
    sack::ENTRY,
    rack::FACK,
    rack::ENTRY,
];

/// The recovery of one connection. Its tag is a number of its own, so that every packet's way branches on one comparison.
#[derive(Debug)]
#[repr(u8)]
pub enum LossRecovery {
    /// Tahoe, Reno and NewReno: by the number of duplicate acknowledgements.
    Classic(ClassicRecovery),
    /// By what selective acknowledgements say of the segments after a hole (RFC 6675).
    Sack(Sack),
    /// RACK (RFC 8985), and FACK, which is the same machine with another rule for what is lost.
    Rack(Box<Rack>),
}

impl LossRecovery {
    /// That of a new connection. `needs` is what its algorithm asks for: delivery rates, or a say in the window during recovery.
    pub fn new(config: &Config, needs: cc::Needs) -> Self {
        match config.recovery {
            RecoveryKind::Tahoe => Self::Classic(ClassicRecovery::new(ClassicPolicy::Tahoe)),
            RecoveryKind::Reno => Self::Classic(ClassicRecovery::new(ClassicPolicy::Reno)),
            RecoveryKind::NewReno => Self::Classic(ClassicRecovery::new(ClassicPolicy::NewReno)),
            RecoveryKind::Sack => Self::Sack(Sack::new()),
            RecoveryKind::Fack => Self::Rack(Box::new(Rack::fack(config, needs))),
            RecoveryKind::Rack => Self::Rack(Box::new(Rack::new(config, needs))),
        }
    }

    /// An acknowledgement arrives.
    #[inline]
    pub fn on_ack(&mut self, tx: &mut Tx, now: Event, ack: &Ack) {
        match self {
            Self::Classic(classic) => {
                dupacks::announce(tx, now, ack);
                match classic.policy {
                    ClassicPolicy::Tahoe => tahoe::on_ack(classic, tx, now, ack),
                    ClassicPolicy::Reno => reno::on_ack(classic, tx, now, ack),
                    ClassicPolicy::NewReno => newreno::on_ack(classic, tx, now, ack),
                }
            }
            Self::Sack(sack) => {
                dupacks::announce(tx, now, ack);
                sack.on_ack(tx, now, ack);
            }
            Self::Rack(rack) => rack.on_ack(tx, now, ack),
        }
    }

    /// Its timer has expired.
    pub fn on_timer(&mut self, tx: &mut Tx, now: Event) {
        match self {
            Self::Classic(classic) => classic.on_timer(tx, now),
            Self::Sack(sack) => sack.on_timer(tx, now),
            Self::Rack(rack) => rack.on_timer(tx, now),
        }
    }

    /// The next segment to send now, besides the one that is pending.
    #[inline]
    pub fn next(&mut self, tx: &mut Tx, now: Event) -> Option<SeqNum> {
        match self {
            Self::Classic(classic) => classic.next(tx),
            Self::Sack(sack) => sack.next(tx),
            Self::Rack(rack) => rack.next(tx, now),
        }
    }

    /// The full segments that leave now and differ in their numbers only; nothing is said if that is not known.
    #[inline]
    pub fn leave_at_once(&mut self, tx: &mut Tx, now: Event) -> Option<AtOnce> {
        match self {
            Self::Rack(rack) => rack::leave_at_once(rack, tx, now),
            _ => None,
        }
    }

    /// Segment `seq` is about to leave.
    #[inline]
    pub fn on_send(&mut self, tx: &mut Tx, now: Event, seq: SeqNum) {
        match self {
            Self::Classic(classic) => classic.on_send(tx, now, seq),
            Self::Sack(sack) => sack.on_send(tx, now, seq),
            Self::Rack(rack) => rack.on_send(tx, now, seq),
        }
    }

    /// Nothing more leaves now.
    #[inline]
    pub fn on_stop(&mut self, tx: &mut Tx, now: Event) {
        if let Self::Rack(rack) = self {
            rack.on_stop(tx, now);
        }
    }

    /// Whether a loss has been found and not everything that was outstanding then has arrived.
    #[inline]
    pub fn is_repairing(&self, tx: &Tx) -> bool {
        match self {
            Self::Classic(classic) => classic.is_repairing(tx),
            Self::Sack(sack) => sack.is_repairing(tx),
            Self::Rack(rack) => rack.is_repairing(),
        }
    }

    /// Whether an acknowledgement of new data leads to nothing but growth of the window (see [`plain`]).
    pub(super) fn is_calm(&self, tx: &Tx) -> bool {
        match self {
            Self::Classic(classic) => classic.is_calm(tx),
            Self::Sack(sack) => sack.is_calm(tx),
            Self::Rack(_) => false,
        }
    }

    /// What it counts, if that is duplicate acknowledgements.
    #[inline(always)]
    fn dupacks(&mut self) -> Option<&mut Dupacks> {
        match self {
            Self::Classic(classic) => Some(classic.dupacks()),
            Self::Sack(sack) => Some(sack.dupacks()),
            Self::Rack(_) => None,
        }
    }

    /// Segments considered in the path: what it compares with the window.
    pub fn pipe(&self, tx: &Tx) -> SegCount {
        match self {
            Self::Classic(_) => classic::pipe(tx),
            Self::Sack(sack) => sack.pipe(tx),
            Self::Rack(rack) => rack.outstanding().pipe(),
        }
    }

    /// New segments that the window has room for now, where it is known what is in the path.
    pub fn room(&self, tx: &Tx, now: Instant) -> Option<SegCount> {
        let rack = self.rack()?;
        Some(rack.room(tx, now))
    }

    /// The same, whether or not the next segment's time has come.
    #[inline]
    pub fn left(&self, tx: &Tx) -> Option<SegCount> {
        let rack = self.rack()?;
        Some(rack.outstanding().room(tx.window.usable()))
    }

    /// Segments outstanding; where each is judged, without those that have arrived or are lost.
    pub fn in_path(&self, tx: &Tx) -> SegCount {
        self.rack()
            .map_or(tx.seq.nxt - tx.seq.una, |rack| rack.outstanding().pipe())
    }

    /// Whether a segment has been found lost that waits to be sent again.
    #[inline]
    pub fn has_lost(&self) -> bool {
        self.rack()
            .is_some_and(|rack| rack.outstanding().has_lost())
    }

    /// Whether the window has room and the next segment's time has not come.
    #[inline]
    pub fn waits_for_its_time(&self, tx: &Tx, now: Instant) -> bool {
        self.rack()
            .is_some_and(|rack| rack.waits_for_its_time(tx, now))
    }

    /// How fast the next segment leaves, if it is paced.
    pub fn pacing_rate(&self, tx: &Tx) -> Option<Rate> {
        self.rack()?;
        rack::pacing_rate(tx)
    }

    /// Segments reported selectively whose predecessor is, too, and none of both `short`.
    pub fn joined(&self, short: impl Iterator<Item = SeqNum>) -> SegCount {
        let rack = self.rack();
        rack.map_or(SegCount::ZERO, |rack| rack.outstanding().joined(short))
    }

    /// What is known of losses, where the recovery judges segments.
    pub fn losses(&self) -> Option<Losses> {
        self.rack().map(|rack| rack.outstanding().losses())
    }

    #[inline]
    fn rack(&self) -> Option<&Rack> {
        match self {
            Self::Rack(rack) => Some(rack),
            _ => None,
        }
    }
}
