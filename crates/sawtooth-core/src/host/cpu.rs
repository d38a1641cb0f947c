//! The processor of one machine: it does one thing at a time.
//!
//! **Model.** There are three levels of work. An *interrupt* suspends whatever runs and is not one; what was suspended goes on afterwards, for as long as
//! it still takes. *Protocol* work (packets that have come, timers) comes before that of *applications* (system calls, copying), but neither suspends
//! the other: a piece of either is a *pass*, which may go on with further steps ([`Cpu::follow`]) and is done to its end. Within a level
//! first come is first served.
//!
//! That is how kernels do it: interrupts are served at once, soft interrupts before processes, and a socket on which a process works is locked, so that packets for it wait
//! until the process leaves it. A copy is one step per packet, so what waits for a process to finish its pass waits for a packet's copy at most.

use std::collections::VecDeque;

use crate::units::{Duration, Instant};

/// How urgent a work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// It suspends whatever runs.
    Interrupt,
    /// It comes before that of applications and suspends nothing: packets that have come, timers.
    Protocol,
    /// It waits for all others: system calls, copying.
    Application,
}

/// A work and how long it takes.
type WorkStep<W> = (W, Duration);

/// One processor and what waits for it.
#[derive(Debug)]
pub struct Cpu<W> {
    running: Option<Running<W>>,
    /// What an interrupt has suspended, and how long it would still take.
    suspended: Option<WorkStep<W>>,
    /// How the present pass goes on.
    pass: VecDeque<WorkStep<W>>,
    interrupts: VecDeque<WorkStep<W>>,
    protocol: VecDeque<WorkStep<W>>,
    application: VecDeque<WorkStep<W>>,
}

#[derive(Debug)]
struct Running<W> {
    work: W,
    is_interrupt: bool,
    until: Instant,
}

impl<W> Default for Cpu<W> {
    fn default() -> Self {
        Self {
            running: None,
            suspended: None,
            pass: VecDeque::new(),
            interrupts: VecDeque::new(),
            protocol: VecDeque::new(),
            application: VecDeque::new(),
        }
    }
}

impl<W: Copy> Cpu<W> {
    /// Something is to be done that takes so long. It begins with [`Cpu::begin`].
    pub fn submit(&mut self, level: Level, work: W, takes: Duration) {
        let queue = match level {
            Level::Interrupt => &mut self.interrupts,
            Level::Protocol => &mut self.protocol,
            Level::Application => &mut self.application,
        };
        queue.push_back((work, takes));
    }

    /// The present pass goes on with this.
    pub fn follow(&mut self, work: W, takes: Duration) {
        self.pass.push_back((work, takes));
    }

    /// Whether the present pass has nothing left to do.
    pub fn pass_is_over(&self) -> bool {
        self.pass.is_empty() && self.suspended.is_none()
    }

    /// Turns to what is to be done next, if that is not what it does; the work, if it begins now.
    pub fn begin(&mut self, now: Instant) -> Option<W> {
        if let Some(running) = &self.running {
            if running.is_interrupt || self.interrupts.is_empty() {
                return None;
            }
            self.suspended = Some((running.work, running.until - now));
            self.running = None;
        }
        let mut run = |(work, takes): WorkStep<W>, is_interrupt| {
            let until = now + takes;
            self.running = Some(Running {
                work,
                is_interrupt,
                until,
            });
            work
        };
        if let Some(step) = self.interrupts.pop_front() {
            return Some(run(step, true));
        }
        if let Some(step) = self.suspended.take() {
            run(step, false);
            return None;
        }
        let queues = [&mut self.pass, &mut self.protocol, &mut self.application];
        let step = queues.into_iter().find_map(VecDeque::pop_front)?;
        Some(run(step, false))
    }

    /// When what runs is done; never if nothing does.
    pub fn until(&self) -> Instant {
        self.running
            .as_ref()
            .map_or(Instant::NEVER, |running| running.until)
    }

    /// What runs is done: what it was, and whether it was part of a pass.
    ///
    /// # Panics
    /// If nothing runs.
    pub fn finish(&mut self) -> (W, bool) {
        let running = self.running.take().expect("something runs");
        (running.work, !running.is_interrupt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::testing::{at, secs};

    /// Works everything off; when each began and ended.
    fn history(cpu: &mut Cpu<char>, now: f64, more: &[(f64, Level, char, f64)]) -> String {
        let mut now = at(now);
        let mut history = Vec::new();
        let mut more = more.iter().peekable();
        loop {
            while let Some(work) = cpu.begin(now) {
                history.push(format!("{work}{}", now.secs()));
                if cpu.until() > now {
                    break;
                }
            }
            let until = cpu.until();
            match more.next_if(|(time, ..)| at(*time) < until) {
                Some((time, level, work, takes)) => {
                    now = at(*time);
                    cpu.submit(*level, *work, secs(*takes));
                }
                None if until == Instant::NEVER => return history.join(" "),
                None => {
                    now = until;
                    let (work, _) = cpu.finish();
                    history.push(format!("/{work}{}", now.secs()));
                }
            }
        }
    }

    #[test]
    fn an_interrupt_suspends_a_process_which_then_takes_as_long_as_it_still_had_to() {
        let mut cpu = Cpu::default();
        cpu.submit(Level::Application, 'a', secs(10.0));
        let more = [
            (4.0, Level::Interrupt, 'i', 2.0),
            (5.0, Level::Interrupt, 'j', 1.0),
        ];
        assert_eq!(history(&mut cpu, 0.0, &more), "a0 i4 /i6 j6 /j7 /a13");
    }

    #[test]
    fn packets_go_before_processes_and_suspend_none() {
        let mut cpu = Cpu::default();
        cpu.submit(Level::Application, 'a', secs(3.0));
        cpu.submit(Level::Application, 'b', secs(3.0));
        let more = [
            (1.0, Level::Protocol, 'p', 5.0),
            (2.0, Level::Protocol, 'q', 1.0),
        ];
        let history = history(&mut cpu, 0.0, &more);
        assert_eq!(history, "a0 /a3 p3 /p8 q8 /q9 b9 /b12");
    }

    #[test]
    fn a_pass_is_done_to_its_end() {
        let mut cpu = Cpu::default();
        cpu.submit(Level::Application, 'a', secs(1.0));
        cpu.follow('b', secs(1.0));
        cpu.submit(Level::Protocol, 'p', secs(1.0));
        // What follows belongs to the pass that runs; here it was said before anything did.
        assert_eq!(history(&mut cpu, 0.0, &[]), "b0 /b1 p1 /p2 a2 /a3");
        assert!(cpu.pass_is_over());
    }
}
