//! One sender at the end of a script: segments and timer expirations go in, segments come out.
//!
//! Segment 0 is the SYN, so data starts with segment 1.

use std::ops::Range;

use sawtooth_core::internals::cc;
use sawtooth_core::internals::events::{Event, EventKey, Lineage};
use sawtooth_core::internals::packet::{Ack, DataSegment};
use sawtooth_core::internals::tcp::Config;
use sawtooth_core::internals::tcp::scoreboard::{self, SackBlocks};
use sawtooth_core::internals::tcp::sender::{Sender, SenderDraws};
use sawtooth_core::units::{ByteCount, Duration, Instant, SegCount, SeqNum};
use sawtooth_core::{Scenario, scenario};
use serde_json::{Value, json};

pub const RTT: f64 = 0.1;
pub const NOTHING: [u64; 0] = [];

/// A sender on the `rfc` stack, the clock, and what has been sent.
pub struct Script {
    pub sender: Sender,
    pub now: f64,
    pub data: Vec<DataSegment>,
    lineage: Lineage,
}

pub fn config(tcp: &Value) -> Config {
    Config::from(&scenario(tcp, &json!("reno")).flows[0].tcp)
}

fn scenario(tcp: &Value, cc: &Value) -> Scenario {
    let tree = json!({
        "duration": "1 s", "stack": "rfc", "tcp": tcp, "cc": cc,
        "links": {"l": {"rate": "1 Mbit/s", "delay": "1 ms"}},
        "flows": [{"path": ["l"]}],
    });
    scenario::from_tree(&tree).unwrap_or_else(|error| panic!("{error}"))
}

/// A recovery whose receiver acknowledges every segment.
pub fn tcp(recovery: &str) -> Value {
    json!({"recovery": recovery, "ack_every": 1})
}

/// The keys of `tcp`, and `more`.
pub fn with(mut tcp: Value, more: &Value) -> Value {
    for (key, value) in more.as_object().expect("a table") {
        tcp[key] = value.clone();
    }
    tcp
}

pub fn near(left: f64, right: f64) -> bool {
    (left - right).abs() < 1e-9
}

/// Segments as the scoreboard has them.
pub fn segments(range: Range<u64>) -> scoreboard::Range {
    scoreboard::Range {
        start: SeqNum::new(range.start),
        end: SeqNum::new(range.end),
    }
}

/// An acknowledgement of everything before `next`, with selective acknowledgements.
pub fn reporting(next: u64, ranges: &[Range<u64>]) -> Ack {
    let next = SeqNum::new(next);
    let mut sack = SackBlocks::default();
    for range in ranges {
        sack.push(next, segments(range.clone()));
    }
    Ack {
        next,
        sack,
        ..Ack::default()
    }
}

impl Script {
    /// The application has `segments` to send, or any number of them.
    pub fn new(tcp: &Value, segments: Option<u64>) -> Self {
        Self::with_cc(tcp, &json!("reno"), |config, new, params| {
            let smss = config.smss;
            let size = segments.map(|segments| SegCount::new(segments) * smss);
            Sender::new(config, new, params, size, SenderDraws::default())
        })
    }

    /// The application has written nothing yet.
    pub fn open(tcp: &Value) -> Self {
        Self::with_cc(tcp, &json!("reno"), |config, new, params| {
            Sender::open(config, new, params, SenderDraws::default())
        })
    }

    /// With another congestion control.
    pub fn with_cc(
        tcp: &Value,
        cc: &Value,
        make: impl FnOnce(Config, cc::Algorithm, &sawtooth_core::registry::Params) -> Sender,
    ) -> Self {
        let scenario = scenario(tcp, cc);
        let flow = &scenario.flows[0];
        let entry = cc::TABLE
            .iter()
            .find(|entry| entry.name == flow.cc.name)
            .expect("it is in the table");
        Self {
            sender: make(Config::from(&flow.tcp), entry.new, &flow.cc.params),
            now: 0.0,
            data: Vec::new(),
            lineage: Lineage::new(),
        }
    }

    /// The connection is opened, and the SYN acknowledged after a round trip: what leaves then.
    pub fn establish(&mut self) -> Vec<u64> {
        self.start();
        self.wait(RTT);
        self.ack(1)
    }

    /// The connection is established and the window grown to `window` segments, all outstanding; returns the first of them.
    pub fn with_window(tcp: &Value, window: u64) -> (Self, u64) {
        let mut script = Self::new(tcp, None);
        let outstanding = script.establish();
        script.grow(window, outstanding);
        script.wait(RTT);
        let first = script.snd_una();
        (script, first)
    }

    /// Acknowledges what is outstanding one by one, until so much is outstanding.
    fn grow(&mut self, window: u64, mut outstanding: Vec<u64>) {
        while self.flight_size() < window {
            self.wait(RTT);
            for seq in std::mem::take(&mut outstanding) {
                if self.flight_size() < window {
                    outstanding.extend(self.ack(seq + 1));
                }
            }
        }
    }

    pub fn event(&mut self) -> Event {
        self.lineage
            .record(EventKey::at_start(Instant::from_secs(self.now), 0))
    }

    /// What leaves now.
    pub fn sent(&mut self, now: Event) -> Vec<u64> {
        let data: Vec<DataSegment> =
            std::iter::from_fn(|| self.sender.poll_transmit(now)).collect();
        self.data.extend(&data);
        data.iter().map(|data| data.seq.get()).collect()
    }

    pub fn wait(&mut self, secs: f64) {
        self.now += secs;
    }

    pub fn start(&mut self) -> Vec<u64> {
        let now = self.event();
        self.sender.on_start(now);
        self.sent(now)
    }

    pub fn hear(&mut self, ack: &Ack) -> Vec<u64> {
        let now = self.event();
        self.sender.on_segment(now, ack);
        self.sent(now)
    }

    pub fn sack(&mut self, next: u64, ranges: &[Range<u64>]) -> Vec<u64> {
        self.hear(&reporting(next, ranges))
    }

    pub fn ack(&mut self, next: u64) -> Vec<u64> {
        self.sack(next, &[])
    }

    /// Everything outstanding is acknowledged.
    pub fn ack_all(&mut self) -> Vec<u64> {
        self.ack(self.snd_max())
    }

    pub fn write(&mut self, bytes: u64) -> Vec<u64> {
        let now = self.event();
        self.sender.on_write(now, ByteCount::new(bytes));
        self.sent(now)
    }

    pub fn close(&mut self) -> Vec<u64> {
        let now = self.event();
        self.sender.on_close();
        self.sent(now)
    }

    /// Waits until a timer expires.
    pub fn timeout(&mut self) -> Vec<u64> {
        self.now = self.deadline();
        let now = self.event();
        self.sender.on_timer(now);
        self.sent(now)
    }

    pub fn deadline(&self) -> f64 {
        self.sender.next_timer().time.secs()
    }

    pub fn timer_runs(&self) -> bool {
        !self.sender.next_timer().is_never()
    }

    /// A variable of the congestion control.
    pub fn probed(&self, name: &str) -> Option<f64> {
        let mut found = None;
        self.sender.probe(&mut |each, value| {
            if each == name {
                found = Some(value);
            }
        });
        found
    }

    pub fn snd_max(&self) -> u64 {
        (self.sender.snd_una() + self.sender.flight_size()).get()
    }

    // What can be asked of the sender, as bare numbers.

    pub fn snd_una(&self) -> u64 {
        self.sender.snd_una().get()
    }

    pub fn flight_size(&self) -> u64 {
        self.sender.flight_size().get()
    }

    pub fn pipe(&self) -> u64 {
        self.sender.pipe().get()
    }

    pub fn delivered_bytes(&self) -> u64 {
        self.sender.delivered().get()
    }

    pub fn cwnd(&self) -> f64 {
        self.sender.cwnd().segments()
    }

    pub fn ssthresh(&self) -> f64 {
        self.sender.ssthresh().segments()
    }

    pub fn srtt_secs(&self) -> Option<f64> {
        self.sender.srtt().map(Duration::secs)
    }
}
