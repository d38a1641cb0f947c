//! A recovery and the parts of a sender, for unit tests: acknowledgements go in, segments come out. No handshake; segment 0 has data, and there is always more.

use std::ops::Range;

use super::LossRecovery;
use crate::cc;
use crate::events::{Event, EventKey, Lineage};
use crate::packet::{Ack, DataSegment};
use crate::registry::{Params, Value};
use crate::tcp::scoreboard::{self, SackBlocks};
use crate::tcp::sender::SenderDraws;
use crate::tcp::sender::tx::{SendAllowance, Tx};
use crate::tcp::{Config, PARAMS};
use crate::units::{ByteCount, Instant, SeqNum};

pub(crate) struct Rig {
    pub tx: Tx,
    pub recovery: LossRecovery,
    pub now: f64,
    /// What has been sent.
    pub data: Vec<DataSegment>,
    lineage: Lineage,
}

/// The defaults with `recovery` and an initial window of `window` segments, without a handshake, and what is `set`.
pub(crate) fn config(recovery: &'static str, window: u64, set: &[(&'static str, Value)]) -> Config {
    let mut params = Params::defaults(PARAMS);
    params.set("recovery", Value::Choice(recovery));
    params.set("handshake", Value::Bool(false));
    params.set("initial_window", Value::Packets(window));
    for (name, value) in set {
        params.set(name, *value);
    }
    Config::from(&params)
}

impl Rig {
    /// With a window of `window` segments of Reno, the defaults, and what is `set`.
    pub(crate) fn new(recovery: &'static str, window: u64, set: &[(&'static str, Value)]) -> Self {
        Self::with_bytes(recovery, window, u64::MAX, set)
    }

    /// The application has only so many bytes.
    pub(crate) fn with_bytes(
        recovery: &'static str,
        window: u64,
        bytes: u64,
        set: &[(&'static str, Value)],
    ) -> Self {
        let config = config(recovery, window, set);
        let reno = cc::TABLE.iter().find(|entry| entry.name == "reno");
        let reno = reno.expect("it is in the table");
        let recovery = LossRecovery::new(&config, reno.new.needs);
        let mut tx = Tx::new(
            config.into(),
            reno.new,
            &Params::defaults(reno.params),
            SenderDraws::default(),
        );
        let bytes = ByteCount::new(bytes);
        tx.app.stream.write(bytes, SeqNum::ZERO, SeqNum::ZERO);
        Self {
            tx,
            recovery,
            now: 0.0,
            data: Vec::new(),
            lineage: Lineage::new(),
        }
    }

    /// A full window is outstanding.
    pub(crate) fn sending(
        recovery: &'static str,
        window: u64,
        set: &[(&'static str, Value)],
    ) -> Self {
        let mut rig = Self::new(recovery, window, set);
        assert_eq!(rig.send().len() as u64, window);
        rig
    }

    /// The application has only `segments`, all outstanding.
    pub(crate) fn with_only(
        recovery: &'static str,
        segments: u64,
        set: &[(&'static str, Value)],
    ) -> Self {
        let mut rig = Self::new(recovery, segments, set);
        rig.tx.seq.allowed = SeqNum::new(segments);
        assert_eq!(rig.send().len() as u64, segments);
        rig
    }

    pub(crate) fn event(&mut self) -> Event {
        self.lineage
            .record(EventKey::at_start(Instant::from_secs(self.now), 0))
    }

    /// What leaves now.
    pub(crate) fn send(&mut self) -> Vec<u64> {
        let now = self.event();
        self.tx.allowance = SendAllowance::Window;
        self.sent(now)
    }

    fn sent(&mut self, now: Event) -> Vec<u64> {
        let mut sent = Vec::new();
        loop {
            let pending = self.tx.pending.take();
            let next = pending.or_else(|| self.recovery.next(&mut self.tx, now));
            if let Some(seq) = next {
                self.recovery.on_send(&mut self.tx, now, seq);
                self.data.push(self.tx.transmit(now, seq));
                sent.push(seq.get());
            } else if !self.tx.closes() {
                break;
            }
        }
        self.recovery.on_stop(&mut self.tx, now);
        sent
    }

    /// What leaves at an acknowledgement of everything before `next` that reports `ranges`.
    pub(crate) fn sack(&mut self, next: u64, ranges: &[Range<u64>]) -> Vec<u64> {
        let mut sack = SackBlocks::default();
        let next = SeqNum::new(next);
        for range in ranges {
            let (start, end) = (SeqNum::new(range.start), SeqNum::new(range.end));
            sack.push(next, scoreboard::Range { start, end });
        }
        self.on_ack(&Ack {
            next,
            sack,
            ..Ack::default()
        })
    }

    pub(crate) fn ack(&mut self, next: u64) -> Vec<u64> {
        self.sack(next, &[])
    }

    pub(crate) fn on_ack(&mut self, ack: &Ack) -> Vec<u64> {
        let now = self.event();
        self.tx.allowance = SendAllowance::Window;
        self.tx.stamps.echo = ack.echo;
        self.recovery.on_ack(&mut self.tx, now, ack);
        self.sent(now)
    }

    /// What leaves when the timer expires.
    pub(crate) fn expire(&mut self) -> Vec<u64> {
        self.now = self.deadline();
        let now = self.event();
        self.tx.allowance = SendAllowance::Window;
        self.recovery.on_timer(&mut self.tx, now);
        self.sent(now)
    }

    pub(crate) fn deadline(&self) -> f64 {
        self.tx.timers.recovery.time.secs()
    }

    pub(crate) fn pipe(&self) -> u64 {
        self.recovery.pipe(&self.tx).get()
    }

    pub(crate) fn windows(&self) -> (f64, f64) {
        let windows = (self.tx.window.cwnd(), self.tx.window.ssthresh());
        (windows.0.segments(), windows.1.segments())
    }
}
