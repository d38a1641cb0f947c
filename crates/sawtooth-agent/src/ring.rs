//! Many system calls in one, and a wait at their end: `io_uring`, for kernels where entering costs more than what is done there.
//!
//! Calls are made in their order while they are submitted. A read that finds nothing would stay armed; it is cancelled in the same
//! submission, so none outlives the turn. What was waited for in vain is cancelled at the beginning of the next turn.
//!
//! Each of them is cancelled by its own number. Linux 6.1, asked to cancel all that there is or all of a descriptor, now and then leaves
//! one out (measured: after 49 cancellations a timer, depending on the rings that the kernel had before this one), and the turn then
//! waits for what nobody waits for any more, while the time of the guest passes.

use std::io;
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

use io_uring::types::{Fd, TimeoutFlags, Timespec};
use io_uring::{IoUring, opcode, squeue};
use nix::errno::Errno;
use nix::poll::PollFlags;

/// Entries of the submission queue: calls of a turn, and descriptors to wait for.
const ENTRIES: u32 = 4096;
/// Tags of entries: calls have their numbers; of waits there are the time's and, from `WAITS` on, those of descriptors. A cancellation
/// has the tag of what it cancels, and this bit.
const TIMER: u32 = WAITS - 1;
const WAITS: u32 = 1 << 16;
const CANCELLATION: u32 = 1 << 31;

/// A system call that does not wait.
#[derive(Debug)]
pub enum Call<'a> {
    /// From a device.
    Read(BorrowedFd<'a>, &'a mut [u8]),
    /// To a device.
    Write(BorrowedFd<'a>, &'a [u8]),
    /// From a socket.
    Receive(BorrowedFd<'a>, &'a mut [u8]),
    /// To a socket.
    Send(BorrowedFd<'a>, &'a [u8]),
}

/// A wait until a descriptor is ready, or a time of the monotonic clock, in nanoseconds.
#[derive(Debug)]
pub struct ReadyWait<'a> {
    pub descriptors: &'a [(RawFd, PollFlags)],
    pub until: i64,
}

/// What came of a turn.
#[derive(Debug, Default)]
pub struct TurnOutcome {
    /// For calls by their numbers what they returned, in the order in which they were done.
    pub results: Vec<(usize, Result<usize, Errno>)>,
    /// Numbers of the descriptors that are ready.
    pub ready: Vec<usize>,
    /// Whether the time to wait for has come.
    pub timed_out: bool,
    /// Whether the time of the last turn's wait has come only now, although that wait was over.
    pub late: bool,
}

pub struct IoRing {
    uring: IoUring,
    /// Number of this turn, by which late completions are recognised.
    turn: u32,
    /// Tags of the last turn's waits that have not completed.
    armed: Vec<u32>,
}

impl IoRing {
    /// A ring, where the kernel has what it takes.
    pub fn new() -> Option<Self> {
        let uring = IoUring::builder()
            .dontfork()
            .setup_submit_all()
            .setup_single_issuer()
            // Of Linux 6.1, and so later than cancellation by descriptor.
            .setup_defer_taskrun()
            .build(ENTRIES)
            .ok()?;
        Some(Self {
            uring,
            turn: 0,
            armed: Vec::new(),
        })
    }

    /// Makes `calls` in their order, and waits.
    pub fn turn(
        &mut self,
        calls: &mut [Call<'_>],
        wait: Option<&ReadyWait<'_>>,
    ) -> io::Result<TurnOutcome> {
        let before = self.turn;
        self.turn = self.turn.wrapping_add(1);
        let until = wait.map(|wait| timespec(wait.until)).unwrap_or_default();
        // What is cancelled completes, and so does its cancellation.
        let mut open = calls.len() + 2 * self.armed.len();
        for tag in mem::take(&mut self.armed) {
            self.cancel(before, tag)?;
        }
        let mut reads = Vec::new();
        for at in 0..calls.len() {
            let entry = entry(&mut calls[at]);
            let tag = u32::try_from(at).map_err(io::Error::other)?;
            self.push(entry, tag)?;
            if let Call::Read(from, _) = &calls[at] {
                reads.push(tag);
                let next = calls.get(at + 1);
                if !matches!(next, Some(Call::Read(next, _)) if next.as_raw_fd() == from.as_raw_fd())
                {
                    open += reads.len();
                    for tag in reads.drain(..) {
                        self.cancel(self.turn, tag)?;
                    }
                }
            }
        }
        if let Some(wait) = wait {
            for (tag, (descriptor, events)) in (WAITS..).zip(wait.descriptors) {
                let events = u32::from(events.bits().cast_unsigned());
                let poll = opcode::PollAdd::new(Fd(*descriptor), events);
                self.push(poll.build(), tag)?;
                self.armed.push(tag);
            }
            let timer = opcode::Timeout::new(&raw const until).flags(TimeoutFlags::ABS);
            self.push(timer.build(), TIMER)?;
            self.armed.push(TIMER);
        }
        self.complete(open, wait.is_some())
    }

    /// Submits, and waits until `open` entries have completed, and if so wished one that was waited for.
    fn complete(&mut self, mut open: usize, waits: bool) -> io::Result<TurnOutcome> {
        let mut outcome = TurnOutcome::default();
        let mut woken = !waits;
        let mut unknown = Vec::new();
        let mut forgotten = false;
        while open > 0 || !woken {
            match self.uring.submit_and_wait(open + usize::from(!woken)) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
            for completion in self.uring.completion() {
                let [turn, tag] = halves(completion.user_data());
                let result = completion.result();
                if tag & CANCELLATION != 0 {
                    open -= 1;
                    if result == -libc::ENOENT {
                        unknown.push(tag ^ CANCELLATION);
                    }
                } else if turn != self.turn {
                    open -= 1;
                    // A time that has just come may be unknown before it completes.
                    forgotten |= tag != TIMER && unknown.contains(&tag);
                    outcome.late |= tag == TIMER && result == -libc::ETIME;
                } else if tag >= TIMER {
                    woken = true;
                    self.armed.retain(|armed| *armed != tag);
                    if tag == TIMER {
                        outcome.timed_out = true;
                    } else {
                        outcome.ready.push((tag - WAITS) as usize);
                    }
                } else {
                    open -= 1;
                    forgotten |= unknown.contains(&tag);
                    let result = match usize::try_from(result) {
                        Ok(length) => Ok(length),
                        Err(_) if result == -libc::ECANCELED => Err(Errno::EAGAIN),
                        Err(_) => Err(Errno::from_raw(-result)),
                    };
                    outcome.results.push((tag as usize, result));
                }
            }
        }
        if forgotten {
            return Err(io::Error::other(
                "io_uring: a call or a wait has outlived its cancellation",
            ));
        }
        Ok(outcome)
    }

    fn cancel(&mut self, turn: u32, tag: u32) -> io::Result<()> {
        let cancellation = opcode::AsyncCancel::new(whole(turn, tag));
        self.push(cancellation.build(), tag | CANCELLATION)
    }

    fn push(&mut self, entry: squeue::Entry, tag: u32) -> io::Result<()> {
        let entry = entry.user_data(whole(self.turn, tag));
        if self.uring.submission().is_full() {
            self.uring.submit()?;
        }
        // SAFETY: what calls point to is borrowed until they have completed, which `turn` waits for; a time is read when it is submitted,
        // while `turn` holds it.
        unsafe { self.uring.submission().push(&entry) }.map_err(io::Error::other)
    }
}

impl std::fmt::Debug for IoRing {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "Ring(turn {}, {} armed)", self.turn, self.armed.len())
    }
}

fn entry(call: &mut Call<'_>) -> squeue::Entry {
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    match call {
        Call::Read(from, into) => {
            opcode::Read::new(Fd(from.as_raw_fd()), into.as_mut_ptr(), length(into)).build()
        }
        Call::Write(to, bytes) => {
            opcode::Write::new(Fd(to.as_raw_fd()), bytes.as_ptr(), length(bytes)).build()
        }
        Call::Receive(from, into) => {
            opcode::Recv::new(Fd(from.as_raw_fd()), into.as_mut_ptr(), length(into))
                .flags(libc::MSG_DONTWAIT)
                .build()
        }
        Call::Send(to, bytes) => {
            opcode::Send::new(Fd(to.as_raw_fd()), bytes.as_ptr(), length(bytes))
                .flags(libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL)
                .build()
        }
    }
}

fn timespec(ns: i64) -> Timespec {
    let ns = ns.max(0).cast_unsigned();
    let below = u32::try_from(ns % 1_000_000_000).unwrap_or_default();
    Timespec::new().sec(ns / 1_000_000_000).nsec(below)
}

fn whole(turn: u32, tag: u32) -> u64 {
    u64::from(turn) << 32 | u64::from(tag)
}

fn halves(data: u64) -> [u32; 2] {
    [(data >> 32) as u32, (data & 0xffff_ffff) as u32]
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use nix::fcntl::OFlag;
    use nix::time::{ClockId, clock_gettime};
    use nix::unistd::pipe2;

    use super::*;

    fn soon(ns: i64) -> i64 {
        let now = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("a clock");
        now.tv_sec() * 1_000_000_000 + now.tv_nsec() + ns
    }

    #[test]
    fn calls_are_made_in_their_order_and_none_outlives_its_turn() {
        // Where the kernel has no ring the agent does without.
        let Some(mut ring) = IoRing::new() else {
            return;
        };
        let (from, to) = pipe2(OFlag::O_NONBLOCK).expect("a pipe");
        let [mut first, mut second] = [[0; 8]; 2];
        let mut calls = [Call::Read(from.as_fd(), &mut first)];
        let outcome = ring.turn(&mut calls, None).expect("a turn");
        assert_eq!(outcome.results, [(0, Err(Errno::EAGAIN))]);
        // Were that read still there, it would take what is written.
        let mut calls = [
            Call::Write(to.as_fd(), b"packet"),
            Call::Read(from.as_fd(), &mut first),
            Call::Read(from.as_fd(), &mut second),
        ];
        let mut results = ring.turn(&mut calls, None).expect("a turn").results;
        results.sort_by_key(|(call, _)| *call);
        assert_eq!(results, [(0, Ok(6)), (1, Ok(6)), (2, Err(Errno::EAGAIN))]);
        assert_eq!(&first[..6], b"packet");
    }

    #[test]
    fn a_wait_ends_when_something_is_ready_or_at_its_time_but_not_before() {
        let Some(mut ring) = IoRing::new() else {
            return;
        };
        let (from, to) = pipe2(OFlag::O_NONBLOCK).expect("a pipe");
        let descriptors = [(from.as_raw_fd(), PollFlags::POLLIN)];
        for _ in 0..3 {
            let until = soon(2_000_000);
            let wait = ReadyWait {
                descriptors: &descriptors,
                until,
            };
            let outcome = ring.turn(&mut [], Some(&wait)).expect("a turn");
            assert!(outcome.timed_out && outcome.ready.is_empty());
            assert!(soon(0) >= until);
        }
        let wait = ReadyWait {
            descriptors: &descriptors,
            until: soon(60_000_000_000),
        };
        let mut calls = [Call::Write(to.as_fd(), b"packet")];
        let outcome = ring.turn(&mut calls, Some(&wait)).expect("a turn");
        assert_eq!(
            (outcome.timed_out, outcome.ready.as_slice()),
            (false, &[0][..])
        );
    }
}
