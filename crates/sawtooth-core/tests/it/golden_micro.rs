//! Micro-scenarios, each with one thing happening, over every congestion control and stack: sameness by golden files, and what must hold
//! whatever the numbers are.
//!
//! Both endpoints are driven directly over a path of the simplest kind, so what happens to which packet is exact: a rate, a delay that may change
//! with time, room for so many packets, and the numbers of packets that are lost or marked. Packets of the sender count from 1, SYN and the
//! handshake's third packet (of the `linux` stack) included.
//!
//! A difference is either a mistake or a changed result: then run this with `UPDATE_GOLDEN=1`, look at the difference, and name it
//! under "Changed results" in the changelog.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;

use crate::compare::compare;
use sawtooth_core::internals::cc;
use sawtooth_core::internals::events::{Event, EventKey, Lineage};
use sawtooth_core::internals::packet::{Ack, DataSegment, Ecn};
use sawtooth_core::internals::tcp::Config;
use sawtooth_core::internals::tcp::receiver::Receiver;
use sawtooth_core::internals::tcp::sender::{Sender, SenderCounters, SenderDraws};
use sawtooth_core::scenario;
use sawtooth_core::units::{ByteCount, Instant, Rate};
use serde_json::json;

// --- the scenarios ------------------------------------------------------------------------------------------------------------

/// One thing that happens, and to what.
struct Micro {
    name: &'static str,
    /// What the golden file says of it.
    summary: &'static str,
    file: &'static str,
    secs: f64,
    /// Between two samples.
    every: f64,
    rate_bps: f64,
    /// Packets that the path has room for besides those it delays.
    room: f64,
    lost: &'static [u64],
    marked: Range<u64>,
    /// One way for acknowledgements, and for data by what is added to it at a time.
    delay: f64,
    more_delay: fn(f64) -> f64,
    /// Bytes that the application writes, and how often; or as many as there is room for.
    writes: Option<(u64, f64)>,
    window_limit: u64,
    ack_every: Option<u32>,
}

/// 10 Mbit/s, a round trip of 100 ms, a window of 100 segments, of which 96 are in the path at most: it queues nothing, and nothing happens.
const QUIET: Micro = Micro {
    name: "",
    summary: "",
    file: "",
    secs: 6.0,
    every: 0.2,
    rate_bps: 10e6,
    room: f64::INFINITY,
    lost: &[],
    marked: 0..0,
    delay: 0.05,
    more_delay: |_| 0.0,
    writes: None,
    window_limit: 100,
    ack_every: None,
};

const UNLIMITED_SLOW_START: Micro = Micro {
    name: "unlimited slow start",
    summary: "nothing limits the flow but its window; every segment is acknowledged",
    file: "unlimited-slow-start.txt",
    secs: 1.05,
    every: 0.1,
    rate_bps: 1e12,
    window_limit: 1_000_000,
    ack_every: Some(1),
    ..QUIET
};
const ONE_LOSS: Micro = Micro {
    name: "one loss",
    summary: "packet 300 is lost",
    file: "one-loss.txt",
    lost: &[300],
    ..QUIET
};
const TWO_LOSSES: Micro = Micro {
    name: "two losses",
    summary: "packets 300 and 310, of one window, are lost",
    file: "two-losses.txt",
    lost: &[300, 310],
    ..QUIET
};
const APPLICATION_LIMITED: Micro = Micro {
    name: "application-limited",
    summary: "the application writes 10000 bytes every 200 ms, which is 4 % of the path",
    file: "application-limited.txt",
    writes: Some((10_000, 0.2)),
    ..QUIET
};
const MINIMUM_WINDOW: Micro = Micro {
    name: "minimum window",
    summary: "80 kbit/s and a queue of two packets: two to four are all that the path holds",
    file: "minimum-window.txt",
    secs: 30.0,
    every: 1.0,
    rate_bps: 80e3,
    room: 2.0,
    ..QUIET
};
const RTT_STEP: Micro = Micro {
    name: "RTT step",
    summary: "from 2 s on the round trip is 200 ms instead of 100 ms; room for 100 packets",
    file: "rtt-step.txt",
    secs: 8.0,
    room: 100.0,
    more_delay: |time| if time < 2.0 { 0.0 } else { 0.1 },
    window_limit: 1000,
    ..QUIET
};
const ECN_MARK: Micro = Micro {
    name: "ECN mark",
    summary: "packets 300 to 309, of one window, are marked",
    file: "ecn-mark.txt",
    marked: 300..310,
    ..QUIET
};
const SPURIOUS_RTO: Micro = Micro {
    name: "spurious RTO",
    summary: "what enters the path from 2.0 to 3.3 s leaves it together, after the retransmission timer has expired: nothing is lost",
    file: "spurious-rto.txt",
    more_delay: |time| {
        if (2.0..3.3).contains(&time) {
            3.3 - time
        } else {
            0.0
        }
    },
    window_limit: 20,
    ..QUIET
};

// --- the path -----------------------------------------------------------------------------------------------------------------

/// A reduction of the window, as the transport counts them.
#[derive(Clone, Copy, Debug)]
struct Reduction {
    cwnd: f64,
    flight_size: u64,
    ssthresh: f64,
}

/// The state at one time.
#[derive(Clone, Copy, Debug)]
struct Sample {
    at: f64,
    cwnd: f64,
    pacing_bps: Option<f64>,
    acked: u64,
}

/// What was seen of a flow.
struct Seen {
    label: String,
    cc: &'static str,
    stack: &'static str,
    samples: Vec<Sample>,
    reductions: Vec<Reduction>,
    /// The most that was outstanding.
    max_flight: u64,
    max_cwnd: f64,
    counters: SenderCounters,
}

#[derive(Clone, Copy, Debug)]
enum Arrival {
    Data(DataSegment),
    Ack(Ack),
    Write,
}

struct Path<'a> {
    micro: &'a Micro,
    sender: Sender,
    receiver: Receiver,
    lineage: Lineage,
    header: ByteCount,
    /// By the bits of their time, which are in the order of times, and number.
    pending: BTreeMap<(u64, u64), Arrival>,
    events: u64,
    packets: u64,
    /// When the link has sent what it holds, and the last packet leaves the path.
    free: f64,
    last_arrival: f64,
    seen: Seen,
}

impl<'a> Path<'a> {
    fn new(
        micro: &'a Micro,
        entry: &'static sawtooth_core::registry::Entry<cc::Algorithm>,
        stack: &'static str,
    ) -> Self {
        let mut tree = json!({
            "duration": "1 s", "stack": stack, "cc": entry.name,
            "tcp": {"smss": "1000 B", "window_limit": format!("{} packets", micro.window_limit), "metrics_cache": "off"},
            "links": {"l": {"rate": "1 Mbit/s"}}, "flows": [{"path": ["l"]}],
        });
        if let Some(every) = micro.ack_every {
            tree["tcp"]["ack_every"] = json!(every);
        }
        if !micro.marked.is_empty() {
            tree["tcp"]["ecn"] = json!(feedback(entry));
        }
        let scenario = scenario::from_tree(&tree).unwrap_or_else(|error| panic!("{error}"));
        let flow = &scenario.flows[0];
        let config = || Config::from(&flow.tcp);
        let sender = if micro.writes.is_some() {
            Sender::open(config(), entry.new, &flow.cc.params, SenderDraws::default())
        } else {
            Sender::new(
                config(),
                entry.new,
                &flow.cc.params,
                None,
                SenderDraws::default(),
            )
        };
        Self {
            micro,
            sender,
            receiver: Receiver::new(&config()),
            lineage: Lineage::new(),
            header: config().header,
            pending: BTreeMap::new(),
            events: 0,
            packets: 0,
            free: 0.0,
            last_arrival: 0.0,
            seen: Seen {
                label: format!("{stack} {}", entry.name),
                cc: entry.name,
                stack,
                samples: Vec::new(),
                reductions: Vec::new(),
                max_flight: 0,
                max_cwnd: 0.0,
                counters: SenderCounters::default(),
            },
        }
    }

    fn event(&mut self, time: f64) -> Event {
        self.lineage
            .record(EventKey::at_start(Instant::from_secs(time), 0))
    }

    fn schedule(&mut self, time: f64, arrival: Arrival) {
        self.events += 1;
        self.pending.insert((time.to_bits(), self.events), arrival);
    }

    fn run(mut self) -> Seen {
        let start = self.event(0.0);
        self.sender.on_start(start);
        if self.micro.writes.is_some() {
            self.schedule(0.0, Arrival::Write);
        }
        self.send(start);
        loop {
            let arrival = self.pending.first_key_value();
            let arrival = arrival.map_or(f64::INFINITY, |((time, _), _)| f64::from_bits(*time));
            let (sender, receiver) = (
                self.sender.next_timer().time.secs(),
                self.receiver.next_timer().time.secs(),
            );
            let now = arrival.min(sender).min(receiver);
            self.sample(now.min(self.micro.secs));
            if now >= self.micro.secs {
                break;
            }
            if now == arrival {
                let (_, arrival) = self.pending.pop_first().expect("it was looked at");
                self.on_arrival(now, arrival);
            } else if now == receiver {
                let ack = self.receiver.on_timer();
                self.send_ack(now, ack);
            } else {
                let now = self.event(now);
                self.watch(now, |sender| sender.on_timer(now));
            }
        }
        self.sender.finish(Instant::from_secs(self.micro.secs));
        Seen {
            max_cwnd: self.sender.max_cwnd().segments(),
            counters: *self.sender.counters(),
            ..self.seen
        }
    }

    fn on_arrival(&mut self, time: f64, arrival: Arrival) {
        let now = self.event(time);
        match arrival {
            Arrival::Data(data) => {
                if self.receiver.marks.is_on()
                    && self.receiver.marks.changes_state(data.ecn)
                    && let Some(ack) = self.receiver.take_delayed(Instant::from_secs(time))
                {
                    self.send_ack(time, ack);
                }
                if let Some(ack) = self.receiver.on_segment(now, data) {
                    self.send_ack(time, ack);
                }
            }
            Arrival::Ack(ack) => self.watch(now, |sender| sender.on_segment(now, &ack)),
            Arrival::Write => {
                let (bytes, every) = self.micro.writes.expect("the application writes");
                self.schedule(time + every, Arrival::Write);
                self.watch(now, |sender| sender.on_write(now, ByteCount::new(bytes)));
            }
        }
    }

    /// Lets the sender hear of something, takes note of a reduction, and sends what it sends.
    fn watch(&mut self, now: Event, hear: impl FnOnce(&mut Sender)) {
        let signals = self.sender.counters().congestion_signals;
        let reduction = Reduction {
            cwnd: self.sender.cwnd().segments(),
            flight_size: self.sender.flight_size().get(),
            ssthresh: 0.0,
        };
        hear(&mut self.sender);
        if self.sender.counters().congestion_signals > signals {
            self.seen.reductions.push(Reduction {
                ssthresh: self.sender.ssthresh().segments(),
                ..reduction
            });
        }
        self.send(now);
    }

    fn send(&mut self, now: Event) {
        while let Some(mut data) = self.sender.poll_transmit(now) {
            self.packets += 1;
            if self.micro.marked.contains(&self.packets) {
                assert!(data.ecn.is_capable(), "{}", self.seen.label);
                data.ecn = Ecn::Ce;
            }
            let secs = 8.0 * (self.header + data.payload).as_f64() / self.micro.rate_bps;
            let full = self.free - now.time.secs() > self.micro.room * secs;
            if full || self.micro.lost.contains(&self.packets) {
                continue;
            }
            self.free = self.free.max(now.time.secs()) + secs;
            let arrival = self.free + self.micro.delay + (self.micro.more_delay)(self.free);
            self.last_arrival = self.last_arrival.max(arrival);
            self.schedule(self.last_arrival, Arrival::Data(data));
        }
        self.seen.max_flight = self.seen.max_flight.max(self.sender.flight_size().get());
    }

    fn send_ack(&mut self, time: f64, ack: Ack) {
        self.schedule(time + self.micro.delay, Arrival::Ack(ack));
    }

    /// The state just before every sampling time up to `until`.
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    fn sample(&mut self, until: f64) {
        loop {
            let at = self.seen.samples.len() as f64 * self.micro.every;
            if at > until {
                return;
            }
            self.seen.samples.push(Sample {
                at,
                cwnd: self.sender.cwnd().segments(),
                pacing_bps: self.sender.pacing_rate().map(Rate::bps),
                acked: self.sender.acked_segments().get(),
            });
        }
    }
}

/// What the algorithm needs to hear of marks.
fn feedback(entry: &sawtooth_core::registry::Entry<cc::Algorithm>) -> &'static str {
    match entry.new.needs.ecn {
        cc::EcnMode::Classic => "classic",
        cc::EcnMode::Every => "dctcp",
        cc::EcnMode::L4s => "accurate",
    }
}

// --- every row ----------------------------------------------------------------------------------------------------------------

/// Plays the scenario with every row on every stack, holds the windows against the golden file, and hands over what was seen.
fn play(micro: &Micro) -> Vec<Seen> {
    let mut all = Vec::new();
    for stack in ["ns2", "rfc", "linux"] {
        for entry in cc::TABLE {
            all.push(Path::new(micro, entry, stack).run());
        }
    }
    compare(micro.file, &text(micro, &all));
    all
}

fn text(micro: &Micro, all: &[Seen]) -> String {
    let every = 1e3 * micro.every;
    let mut text = format!(
        "{}: {}\n\n\
         cwnd in whole segments every {every:.0} ms; of algorithms that pace the rate in kbit/s below; at the end of the line segments sent,\n\
         of these again, timeouts, reductions, of these undone\n",
        micro.name, micro.summary
    );
    let mut stack = "";
    for seen in all {
        if seen.stack != stack {
            text.push('\n');
            stack = seen.stack;
        }
        let cwnd = join(seen.samples.iter().map(|sample| Some(sample.cwnd)));
        let SenderCounters {
            sent_packets,
            retransmits,
            timeouts,
            congestion_signals,
            spurious,
            ..
        } = seen.counters;
        let _ = writeln!(
            text,
            "{:<16} {cwnd} | {sent_packets} {retransmits} {timeouts} {congestion_signals} {spurious}",
            seen.label
        );
        if seen
            .samples
            .iter()
            .any(|sample| sample.pacing_bps.is_some())
        {
            let rates = seen
                .samples
                .iter()
                .map(|sample| sample.pacing_bps.map(|bps| bps / 1e3));
            let _ = writeln!(text, "{:<16} {}", "", join(rates));
        }
    }
    text
}

fn join(values: impl Iterator<Item = Option<f64>>) -> String {
    let words: Vec<String> = values
        .map(|value| value.map_or("-".to_owned(), |value| format!("{:.0}", value.trunc())))
        .collect();
    words.join(" ")
}

/// What a loss multiplies the window by, of algorithms that say so for the window of these scenarios.
fn beta(seen: &Seen) -> Option<f64> {
    let linux = seen.stack == "linux";
    Some(match seen.cc {
        // RFC 5681 equation 4; Vegas answers losses as Reno does, LP and H-TCP before it has measured throughputs, too.
        "reno" | "dctcp" | "hybla" | "vegas" | "lp" | "prague" | "htcp" => 0.5,
        // RFC 9438 §4.6, in Linux in 1024ths.
        "cubic" if linux => 717.0 / 1024.0,
        "cubic" => 0.7,
        // Kelly 2003 §3; Xu, Harfoush and Rhee 2004 §III, and what Linux has; Yang and Lam 2000.
        "bic" if linux => 0.8,
        "scalable" | "bic" | "gaimd" => 0.875,
        // As many are queued as the last acknowledgement before the loss tells, and in a burst of slow start some are.
        "veno" if linux => return None,
        // Fu and Liew 2003 §III.B: no segments are queued, so the loss is a random one. NV's is its `loss_factor`.
        "veno" | "nv" => 0.8,
        _ => return None,
    })
}

/// Algorithms that go by a model of the path, and not by losses.
const MODELS: &[&str] = &["bbr", "bbr3", "copa"];

/// The window that a loss or mark reduces (`tcp.reduce_from`).
#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn reduced_from(seen: &Seen, reduction: &Reduction, window_limit: u64) -> f64 {
    if seen.stack == "rfc" {
        (reduction.flight_size as f64).min(reduction.cwnd)
    } else {
        reduction.cwnd.min(window_limit as f64)
    }
}

/// Whether one reduction followed, which took from a window what the algorithm takes.
fn check_one_reduction(micro: &Micro, seen: &Seen) {
    let label = &seen.label;
    if MODELS.contains(&seen.cc) {
        return;
    }
    assert_eq!(seen.reductions.len(), 1, "{label}");
    let reduction = seen.reductions[0];
    let window = reduced_from(seen, &reduction, micro.window_limit);
    // CDG takes what it holds for a loss without congestion as none (Hayes and Armitage 2011 §4.3).
    let spared = seen.cc == "cdg" && reduction.ssthresh >= window;
    // RFC 5681 equation 4: at least two segments are left.
    let reduced = reduction.ssthresh < window.max(2.0 + 1e-9);
    assert!(spared || reduced, "{label}: {reduction:?}");
    if let Some(beta) = beta(seen) {
        // Two duplicates of limited transmit do not count as flight; thresholds are whole segments.
        let (least, most) = (beta * (window - 2.0) - 1.0, (beta * window + 1.0).max(2.0));
        let left = reduction.ssthresh;
        assert!(
            (least..=most).contains(&left),
            "{label}: {left} of {window}"
        );
    }
}

#[test]
fn unlimited_slow_start() {
    // Vegas doubles in every second round trip (Brakmo and Peterson 1995 §IV.C); Hybla is faster by its ratio of round trips, LEDBAT slower
    // by its gain, and the models pace.
    let others = ["vegas", "nv", "hybla", "ledbat", "bbr", "bbr3"];
    for seen in play(&UNLIMITED_SLOW_START) {
        assert_eq!(seen.counters.retransmits, 0, "{}", seen.label);
        // From the first full window of data to the last sample.
        for pair in seen.samples[2..].windows(2) {
            let (before, after) = (pair[0].cwnd, pair[1].cwnd);
            if !others.contains(&seen.cc) {
                // RFC 5681 §3.1: every acknowledged segment adds one.
                assert!(
                    (after - 2.0 * before).abs() < 1e-9,
                    "{}: {before} to {after}",
                    seen.label
                );
            }
        }
    }
}

#[test]
fn one_loss() {
    for seen in play(&ONE_LOSS) {
        check_one_reduction(&ONE_LOSS, &seen);
    }
}

#[test]
fn two_losses() {
    for seen in play(&TWO_LOSSES) {
        // Both of one window: RFC 6582 §3.2, RFC 6675 §5 and RFC 8985 reduce it once.
        if seen.cc != "ledbat" && seen.cc != "lp" {
            check_one_reduction(&TWO_LOSSES, &seen);
        }
    }
}

#[test]
fn application_limited() {
    for seen in play(&APPLICATION_LIMITED) {
        let label = &seen.label;
        assert_eq!(seen.counters.retransmits, 0, "{label}");
        // RFC 7661 §4.3, which Linux keeps to; RFC 5681 lets the window grow. The window may have doubled in slow start when what is
        // outstanding was enough for it, Hybla's more than doubles, and BBR's is a multiple of what it holds for the path's capacity.
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let used = seen.max_flight as f64;
        if seen.stack == "linux" && seen.cc != "hybla" && !seen.cc.starts_with("bbr") {
            let cwnd = seen.max_cwnd;
            assert!(cwnd <= 2.0 * used, "{label}: {cwnd} for {used}");
        }
    }
}

#[test]
fn minimum_window() {
    for seen in play(&MINIMUM_WINDOW) {
        let label = &seen.label;
        assert!(
            seen.samples.iter().all(|sample| sample.cwnd >= 0.5),
            "{label}"
        );
        // The longest standstill is that of a timeout that is backed off three times, from 1 s: 1 + 2 + 4 + 8.
        for (from, to) in seen.samples.iter().zip(&seen.samples[16..]) {
            assert!(
                from.acked < to.acked,
                "{label}: nothing from {} s to {} s",
                from.at,
                to.at
            );
        }
    }
}

#[test]
fn rtt_step() {
    for seen in play(&RTT_STEP) {
        let label = &seen.label;
        // Two seconds after the step, to the end.
        let after: Vec<&Sample> = seen
            .samples
            .iter()
            .filter(|sample| sample.at >= 4.0)
            .collect();
        // Where they are given samples of the delivery rate, BBR's models keep the path at work: 1202 packets per second for 4 s, PROBE_RTT
        // and what is lost apart. Copa holds the longer path for a queue until its window of minima of 10 s is over (Arun and
        // Balakrishnan 2018 §2.2), and is meant to.
        let acked = after[after.len() - 1].acked - after[0].acked;
        assert!(acked > 0, "{label}");
        if seen.stack == "linux" && seen.cc.starts_with("bbr") {
            assert!(acked > 1202 * 4 * 8 / 10, "{label}: {acked}");
        }
    }
}

#[test]
fn ecn_mark() {
    for seen in play(&ECN_MARK) {
        let label = &seen.label;
        assert_eq!(
            (seen.counters.retransmits, seen.counters.timeouts),
            (0, 0),
            "{label}"
        );
        // Less than a segment would be none, and nothing has been lost that a timeout could clear up.
        assert!(
            seen.samples.iter().all(|sample| sample.cwnd >= 1.0),
            "{label}"
        );
        // Small windows end between the marks.
        if seen.cc == "prague" {
            // It hears the number of marks and reduces by itself.
            assert!(seen.reductions.is_empty(), "{label}");
            let falls = seen
                .samples
                .windows(2)
                .filter(|pair| pair[1].cwnd < pair[0].cwnd)
                .count();
            assert!(falls >= 1, "{label}");
        } else if seen.cc != "lp" && !MODELS.contains(&seen.cc) {
            // RFC 3168 §6.1.2: once per window.
            assert_eq!(seen.reductions.len(), 1, "{label}");
            assert_eq!(seen.counters.ecn_reductions, 1, "{label}");
            let reduction = seen.reductions[0];
            let window = reduced_from(&seen, &reduction, ECN_MARK.window_limit);
            assert!(reduction.ssthresh < window, "{label}: {reduction:?}");
            if seen.cc != "dctcp" {
                check_one_reduction(&ECN_MARK, &seen);
            }
        }
    }
}

#[test]
fn spurious_rto() {
    for seen in play(&SPURIOUS_RTO) {
        let (label, counters) = (&seen.label, &seen.counters);
        assert!(counters.timeouts >= 1, "{label}");
        let model = MODELS.contains(&seen.cc);
        let before = seen.reductions[0];
        if seen.stack == "linux" {
            // Eifel (RFC 3522) and Linux's answer to it: the windows are what they were, or more, and nothing else is taken for lost (RFC 8985
            // §6.2: an original that arrives late does not make those sent before its retransmission late).
            assert_eq!(
                (counters.spurious, counters.spurious_timeouts),
                (1, 1),
                "{label}"
            );
            assert_eq!(seen.reductions.len(), 1, "{label}");
            assert!(
                counters.retransmits <= counters.timeouts + counters.probes,
                "{label}"
            );
            let restored = seen
                .samples
                .iter()
                .find(|sample| sample.at >= 3.5)
                .expect("a sample");
            // CDG, Copa and LEDBAT take the delay itself for congestion.
            if !["cdg", "copa", "ledbat"].contains(&seen.cc) {
                assert!(
                    restored.cwnd >= before.cwnd,
                    "{label}: {} of {}",
                    restored.cwnd,
                    before.cwnd
                );
            }
        } else {
            // No such test: the threshold stays what the timeout has left.
            assert_eq!(counters.spurious, 0, "{label}");
            assert!(
                model || before.ssthresh < before.cwnd.max(2.0 + 1e-9),
                "{label}: {before:?}"
            );
        }
    }
}
