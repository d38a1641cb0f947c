//! When an interface interrupts: some time after the first thing that it has to report, or when it has so many.

use crate::registry::{Params, Value};
use crate::units::{Duration, Instant};

/// The moderation of one kind of interrupt.
#[derive(Clone, Copy, Debug)]
pub struct Moderation {
    delay: Duration,
    /// As many things are reported at once.
    most: u64,
    /// When the interrupt comes; never if nothing is to be reported.
    due: Instant,
    noted: u64,
}

impl Moderation {
    /// That of the parameters called `KIND_interrupt_delay` and `KIND_interrupt_packets`.
    pub fn of(params: &Params, kind: &str) -> Self {
        let most = match params.get(&format!("{kind}_interrupt_packets")) {
            Value::Integer(most) => most.unsigned_abs(),
            _ => u64::MAX,
        };
        Self {
            delay: Duration::from_secs(params.duration(&format!("{kind}_interrupt_delay"))),
            most,
            due: Instant::NEVER,
            noted: 0,
        }
    }

    /// Something is to be reported that is there at `time`, which is not before anything noted earlier.
    pub fn note(&mut self, time: Instant) {
        self.noted += 1;
        self.due = self.due.min(time + self.delay);
        if self.noted >= self.most {
            self.due = self.due.min(time);
        }
    }

    /// When the interrupt comes.
    pub fn due(&self) -> Instant {
        self.due
    }

    /// It comes. What is not there yet is to be [noted](Self::note) again.
    pub fn raise(&mut self) {
        self.due = Instant::NEVER;
        self.noted = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::PARAMS;
    use crate::units::testing::at;

    fn moderation(delay: f64, most: Value) -> Moderation {
        let mut params = Params::defaults(PARAMS);
        params.set("receive_interrupt_delay", Value::Duration(delay));
        params.set("receive_interrupt_packets", most);
        Moderation::of(&params, "receive")
    }

    #[test]
    fn without_moderation_everything_interrupts_at_once() {
        let mut interrupt = Moderation::of(&Params::defaults(PARAMS), "transmit");
        assert!(interrupt.due() == Instant::NEVER);
        interrupt.note(at(3.0));
        assert!(interrupt.due() == at(3.0));
        interrupt.raise();
        assert!(interrupt.due() == Instant::NEVER);
    }

    #[test]
    fn an_interrupt_comes_after_the_delay_or_with_the_last_that_it_can_hold() {
        let mut interrupt = moderation(5.0, Value::Integer(3));
        interrupt.note(at(1.0));
        interrupt.note(at(2.0));
        assert!(interrupt.due() == at(6.0), "of the first");
        interrupt.note(at(4.0));
        assert!(interrupt.due() == at(4.0), "the third fills it");
        let mut slow = moderation(5.0, Value::None);
        for time in 1..5 {
            slow.note(at(f64::from(time)));
        }
        assert!(slow.due() == at(6.0));
    }
}
