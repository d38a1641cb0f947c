//! What a host asks of a sender: how much of a write it has taken, and for what that which has not been sent waits.

use super::sender::{SendAllowance, Sender};
use crate::events::Event;

/// For what data that is written and not sent waits, when nothing more may leave now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// Nothing is written that has not been sent, or it waits for its time (pacing).
    Nothing,
    /// The window has no room, or a recovery decides what leaves.
    Window,
    /// What there is is less than a segment, and is held back although the window has room.
    Partial,
}

impl Sender {
    /// The application writes a part of what it hands over at once; `goes_on`: and not the last one.
    pub fn on_write_part(&mut self, now: Event, bytes: u64, goes_on: bool) {
        self.write_goes_on = goes_on;
        self.on_write(now, bytes);
    }

    /// What the transmit queue of the machine holds of the connection has changed.
    pub fn on_transmit_queue(&mut self, bytes: u64) {
        self.queued = bytes;
    }

    /// What autocorking has put off is not any longer: a packet of the connection has been transmitted, or an acknowledgement is there. Whether there was
    /// anything.
    pub fn end_putting_off(&mut self) -> bool {
        let was = self.stream.put_off(false);
        if was {
            self.permit = SendAllowance::Window;
        }
        was
    }

    /// The application goes to sleep because there is no memory for what it has to write, or is woken.
    pub fn on_writer(&mut self, now: Event, sleeps: bool) {
        self.writer_sleeps = sleeps;
        let limit = self.why_it_stops(now.time);
        self.limits.stop(now.time, limit);
    }

    /// Whether the application can write: the handshake is over, if there is one.
    pub fn is_established(&self) -> bool {
        self.snd_una > 0 || !self.config.handshake
    }

    /// Bytes and segments that have been written and not been acknowledged.
    pub fn unacked(&self) -> (u64, u64) {
        self.stream.unacked(self.snd_una)
    }

    /// Bytes that the last segment, if it has not been sent, takes without becoming more than one.
    pub fn tail_room(&self) -> u32 {
        self.stream.tail_room(self.snd_max)
    }

    /// For what it waits now that [`Sender::poll_transmit`] has nothing more.
    pub fn waits(&self, now: f64) -> Waits {
        let rack = self.rack.as_deref();
        let lost = rack.is_some_and(|rack| rack.segments.lost() > 0);
        if self.snd_nxt >= self.stream.end() && !lost {
            return Waits::Nothing;
        }
        let outstanding = rack.map_or(self.snd_nxt - self.snd_una, |rack| rack.segments.pipe());
        let limit = self.snd_una + self.window.limit();
        let room =
            outstanding < self.window.usable() && self.snd_nxt < limit && self.rwnd_room() > 0;
        if room && !lost && self.is_held_back() {
            Waits::Partial
        } else if rack.is_some_and(|rack| rack.waits_for_its_time(now, self.window.usable())) {
            Waits::Nothing
        } else {
            Waits::Window
        }
    }
}
