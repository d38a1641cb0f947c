//! What every row of the table of congestion controls must keep to, whatever happens to it.
//!
//! A random history is played by a small transport that keeps its numbers consistent, as the real ones do: what is acknowledged had been sent,
//! what is lost is not delivered, a round ends when `snd_una` reaches what `snd_nxt` was, and no loss is reported twice of one window.

use proptest::prelude::*;
use proptest::strategy::Union;
use sawtooth_core::internals::cc::{
    self, AckedData, AckedMarks, CongestionControl, ConnectionStart, EcnMode, Episode, Needs,
    PathOrder, Prescribed, RateSample, Signal, TABLE, Windows,
};
use sawtooth_core::registry::{Entry, Kind, Param, Params, Value};
use sawtooth_core::units::{Duration, Instant, SegCount, SeqNum, WindowSize};

/// About a microsecond. Sums and differences of such times are exact at any hour, so it is the algorithms that are compared, not roundings.
const TICKS_PER_SEC: f64 = 1_048_576.0;

/// What happens next, and how long after what happened before.
#[derive(Clone, Copy, Debug)]
struct Step {
    wait_ticks: u32,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Ack(Heard),
    Loss,
    Ecn,
    Rto,
    Undo,
    /// Nothing outstanding for so long, and then the application writes.
    Idle {
        ms: u32,
    },
}

/// An acknowledgement: as much of it as there can be at that moment.
#[derive(Clone, Copy, Debug)]
struct Heard {
    acked: u64,
    sacked: u64,
    lost: u64,
    marked: u64,
    /// The round trip in hundredths of the shortest one, if it was measured.
    rtt_percent: Option<u32>,
    /// Of the delivery rate: segments delivered, how long that took in hundredths of the shortest round trip, and whether the application
    /// limited it.
    rate: Option<(u64, u32, bool)>,
    cwnd_limited: bool,
}

/// How the stack around the algorithm works.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
struct Stack {
    whole_windows: bool,
    whole_ssthresh: bool,
    byte_counting: bool,
    /// The window walks down in a recovery (RFC 9937), whatever the algorithm makes of acknowledgements.
    prr: bool,
    ecn: bool,
    ns2: bool,
    initial_window: f64,
    shortest_rtt_ticks: u32,
    tick: f64,
}

fn stacks() -> impl Strategy<Value = Stack> {
    let flags = (
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        prop::bool::weighted(0.2),
    );
    let sizes = (
        prop::sample::select(vec![1.0, 2.0, 4.0, 10.0, 100.0]),
        prop::sample::select(vec![20, 1000, 20_000, 300_000]),
        prop::sample::select(vec![0.0, 0.001, 0.004, 0.01]),
    );
    (flags, sizes).prop_map(|(flags, sizes)| Stack {
        whole_windows: flags.0,
        whole_ssthresh: flags.1,
        byte_counting: flags.2,
        prr: flags.3,
        ecn: flags.4,
        ns2: flags.5,
        initial_window: sizes.0,
        shortest_rtt_ticks: sizes.1,
        tick: sizes.2,
    })
}

fn heard() -> impl Strategy<Value = Heard> {
    let counts = (
        prop_oneof![8 => 1u64..4, 1 => Just(0u64), 2 => 4u64..200],
        prop_oneof![6 => Just(0u64), 1 => 1u64..5],
        prop_oneof![9 => Just(0u64), 1 => 1u64..4],
        prop_oneof![6 => Just(0u64), 1 => 1u64..4, 1 => Just(u64::MAX)],
    );
    // Mostly between the shortest round trip and a full queue, now and then ten times that.
    let rtt = prop_oneof![4 => 100u32..200, 1 => Just(100u32), 1 => 200u32..1000];
    let rate = (1u64..400, 100u32..1000, any::<bool>());
    let measured = (
        prop::option::weighted(0.9, rtt),
        prop::option::weighted(0.8, rate),
        prop::bool::weighted(0.8),
    );
    (counts, measured).prop_map(|(counts, measured)| Heard {
        acked: counts.0,
        sacked: counts.1,
        lost: counts.2,
        marked: counts.3,
        rtt_percent: measured.0,
        rate: measured.1,
        cwnd_limited: measured.2,
    })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let what = prop_oneof![
        40 => heard().prop_map(What::Ack),
        2 => Just(What::Loss),
        2 => Just(What::Ecn),
        1 => Just(What::Rto),
        1 => Just(What::Undo),
        1 => (0u32..20_000).prop_map(|ms| What::Idle { ms }),
    ];
    // Acknowledgements of one burst come at once.
    let wait_ticks = prop_oneof![2 => Just(0u32), 6 => 1u32..20_000, 1 => 20_000u32..2_000_000];
    let step = (wait_ticks, what).prop_map(|(wait_ticks, what)| Step { wait_ticks, what });
    prop::collection::vec(step, 1..300)
}

/// Values within a parameter's bounds, the bounds themselves and the default among them.
fn values(param: &Param) -> BoxedStrategy<Value> {
    /// Over orders of magnitude.
    fn spread(least: f64, most: f64) -> impl Strategy<Value = f64> {
        (libm::log10(least)..libm::log10(most))
            .prop_map(move |exponent| libm::pow(10.0, exponent).clamp(least, most))
    }
    let within = match param.kind {
        Kind::Number { min, max } => prop_oneof![
            Just(min),
            Just(max),
            min..max,
            spread(min.max(1e-9), max).prop_map(move |value| value.max(min))
        ]
        .prop_map(Value::Number)
        .boxed(),
        Kind::Integer { min, max } => {
            prop_oneof![Just(min), Just(max), min..=max, min..=max.min(min + 20)]
                .prop_map(Value::Integer)
                .boxed()
        }
        Kind::Period => spread(1e-6, 1e4).prop_map(Value::Duration).boxed(),
        Kind::Duration { min_exclusive } => prop_oneof![
            Just(if min_exclusive { 1e-9 } else { 0.0 }),
            spread(1e-6, 1e4)
        ]
        .prop_map(Value::Duration)
        .boxed(),
        Kind::Rate | Kind::RateFromZero | Kind::RateOrPackets => {
            spread(1e-3, 1e13).prop_map(Value::Rate).boxed()
        }
        Kind::Bytes => (1u64..1_000_000).prop_map(Value::Bytes).boxed(),
        Kind::Packets | Kind::PacketsOrBytes | Kind::QueueSize => {
            (1u64..10_000).prop_map(Value::Packets).boxed()
        }
        Kind::Distribution(_) | Kind::Drawn => unreachable!("no algorithm draws times or sizes"),
        Kind::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        Kind::Choice(words) => prop::sample::select(words.to_vec())
            .prop_map(Value::Choice)
            .boxed(),
    };
    prop_oneof![1 => Just(param.default), 2 => within].boxed()
}

/// A row, with each of its parameters somewhere within its bounds.
fn rows() -> impl Strategy<Value = (&'static Entry<cc::Algorithm>, Params)> {
    let rows = TABLE.iter().map(|entry| {
        let drawn: Vec<_> = entry.params.iter().map(values).collect();
        drawn
            .prop_map(move |drawn| {
                let mut params = Params::defaults(entry.params);
                for (param, value) in entry.params.iter().zip(drawn) {
                    params.set(param.name, value);
                }
                (entry, params)
            })
            .prop_filter("parameters in order", |(entry, params)| {
                entry.new.out_of_order(params).is_none()
            })
            .boxed()
    });
    Union::new(rows)
}

/// An algorithm and its transport.
struct Flow<'a> {
    name: &'static str,
    cc: &'a mut dyn CongestionControl,
    needs: Needs,
    stack: Stack,
    now_ticks: u64,
    start_secs: f64,
    snd_una: u64,
    snd_nxt: u64,
    /// Above `snd_una`: reported to have arrived, and known to be lost.
    sacked: u64,
    lost: u64,
    delivered: u64,
    total_lost: u64,
    /// One past the last segment that had been sent when the window was reduced, while that is not acknowledged.
    recovery: Option<Recovery>,
    no_mark_before: u64,
}

#[derive(Clone, Copy, Debug)]
struct Recovery {
    point: u64,
    before: Windows,
    prr: bool,
}

impl<'a> Flow<'a> {
    fn new(
        entry: &Entry<cc::Algorithm>,
        cc: &'a mut dyn CongestionControl,
        stack: Stack,
        start_secs: f64,
    ) -> Self {
        cc.on_established(WindowSize::from_segments(stack.initial_window));
        Self {
            name: entry.name,
            cc,
            needs: entry.new.needs,
            stack,
            now_ticks: 0,
            start_secs,
            snd_una: 1,
            snd_nxt: 1,
            sacked: 0,
            lost: 0,
            delivered: 0,
            total_lost: 0,
            recovery: None,
            no_mark_before: 0,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "days at most")]
    fn now(&self) -> Instant {
        Instant::from_secs(self.start_secs + self.now_ticks as f64 / TICKS_PER_SEC)
    }

    fn flight_size(&self) -> u64 {
        self.snd_nxt - self.snd_una
    }

    fn pipe(&self) -> u64 {
        self.flight_size() - self.sacked - self.lost
    }

    fn windows(&self) -> Windows {
        self.cc.windows()
    }

    /// Sends what the window has room for, or as much as the application has: 50 segments at a time.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "windows are positive"
    )]
    fn send(&mut self) {
        for _ in 0..50 {
            if self.pipe() >= self.cc.windows().cwnd.segments() as u64 {
                return;
            }
            self.snd_nxt += 1;
        }
    }

    fn episode(&self, signal: Signal) -> Episode {
        Episode {
            now: self.now(),
            // RFC 5681 equation 4, as far as the window covers it.
            window: (self.cc.windows().cwnd).min(segments(self.flight_size())),
            signal,
            whole_ssthresh: self.stack.whole_ssthresh,
            ns2: self.stack.ns2,
        }
    }

    fn reduce(&mut self, signal: Signal) {
        let before = self.windows();
        let episode = self.episode(signal);
        self.cc.on_congestion(&episode);
        let prr = self.stack.prr && !self.needs.rules_recovery;
        if prr {
            self.cc.prescribe(Prescribed::Cwnd(before.cwnd));
        }
        self.no_mark_before = self.snd_nxt;
        self.recovery = Some(Recovery {
            point: self.snd_nxt,
            before,
            prr,
        });
    }

    fn step(&mut self, step: &Step) {
        self.send();
        self.now_ticks += u64::from(step.wait_ticks);
        let outstanding = self.flight_size() > 0;
        match step.what {
            What::Ack(heard) if outstanding => self.hear(heard),
            What::Loss if outstanding && self.recovery.is_none() => {
                self.lost += 1.min(self.pipe());
                self.total_lost += 1;
                self.reduce(Signal::Loss);
            }
            What::Ecn
                if outstanding
                    && self.recovery.is_none()
                    && self.stack.ecn
                    && self.needs.ecn != EcnMode::L4s =>
            {
                self.reduce(Signal::Ecn);
            }
            What::Rto if outstanding => {
                let before = self.windows();
                let episode = self.episode(Signal::Rto);
                self.cc.on_congestion(&episode);
                let lost = self.pipe();
                self.lost += lost;
                self.total_lost += lost;
                self.no_mark_before = self.snd_nxt;
                self.recovery = Some(Recovery {
                    point: self.snd_nxt,
                    before,
                    prr: false,
                });
                self.cc
                    .prescribe(Prescribed::Cwnd(WindowSize::from_segments(1.0)));
            }
            What::Undo => {
                if let Some(recovery) = self.recovery.take() {
                    self.total_lost -= self.lost;
                    self.lost = 0;
                    self.cc.on_undo(recovery.before);
                }
            }
            What::Idle { ms } if !outstanding || self.recovery.is_none() => self.idle(ms),
            _ => {}
        }
        self.check();
    }

    /// Everything arrives, and then nothing is sent for a time.
    fn idle(&mut self, ms: u32) {
        if self.flight_size() > 0 {
            self.hear(Heard {
                acked: u64::MAX,
                sacked: 0,
                lost: 0,
                marked: 0,
                rtt_percent: Some(100),
                rate: None,
                cwnd_limited: false,
            });
        }
        self.now_ticks += 1000 * u64::from(ms);
        let idle = Duration::from_secs(f64::from(ms) / 1e3);
        self.cc.on_restart(self.now(), idle);
        if ms > 1000 && !self.needs.rules_recovery {
            // RFC 5681 §4.1.
            let Windows { cwnd, ssthresh } = self.cc.windows();
            let decayed = ssthresh.max((cwnd * 0.75).trunc());
            self.cc.prescribe(Prescribed::Ssthresh(decayed));
            let least = cwnd.min(WindowSize::from_segments(self.stack.initial_window));
            self.cc.prescribe(Prescribed::Cwnd(least));
        }
    }

    fn hear(&mut self, heard: Heard) {
        let flight_size = self.flight_size();
        let acked = heard.acked.min(flight_size);
        self.snd_una += acked;
        let room = self.flight_size();
        // What had been reported or lost before, as far as it is acknowledged now.
        let known = self.sacked.saturating_sub(room);
        self.sacked -= known;
        self.lost = self.lost.min(room - self.sacked);
        let sacked = heard.sacked.min(self.pipe());
        self.sacked += sacked;
        let delivered = acked - known + sacked;
        let lost = heard.lost.min(self.pipe());
        self.lost += lost;
        self.total_lost += lost;
        self.delivered += delivered;
        let marked = if self.stack.ecn && self.needs.ecn != EcnMode::Classic {
            heard.marked.min(delivered)
        } else {
            0
        };
        if self.stack.ecn && self.needs.ecn == EcnMode::Every {
            self.cc.on_marks(&AckedMarks {
                now: self.now(),
                delivered: SegCount::new(delivered),
                marked: SegCount::new(marked),
                snd_una: SeqNum::new(self.snd_una),
                snd_nxt: SeqNum::new(self.snd_nxt),
            });
        }
        let shortest = f64::from(self.stack.shortest_rtt_ticks) / TICKS_PER_SEC;
        if let Some(recovery) = self.recovery {
            if self.snd_una >= recovery.point {
                self.recovery = None;
                if !self.needs.rules_recovery && recovery.prr {
                    self.cc
                        .prescribe(Prescribed::Cwnd(self.cc.windows().ssthresh));
                }
                self.cc.on_recovered(self.now(), Signal::Loss);
            }
        } else if lost > 0 {
            self.reduce(Signal::Loss);
        } else if marked > 0
            && self.needs.ecn == EcnMode::Every
            && self.snd_una > self.no_mark_before
        {
            self.reduce(Signal::Ecn);
        }
        if delivered == 0 && lost == 0 {
            return;
        }
        let rate = heard.rate.map(|(count, percent, app_limited)| {
            let count = count.min(self.delivered).max(delivered);
            RateSample {
                delivered: SegCount::new(count),
                interval: Duration::from_secs(shortest * f64::from(percent) / 100.0),
                prior_delivered: SegCount::new(self.delivered - count),
                total_delivered: SegCount::new(self.delivered),
                lost: SegCount::new(self.total_lost.min(lost + count / 8)),
                total_lost: SegCount::new(self.total_lost),
                pipe_at_send: SegCount::new(count.min(flight_size)),
                app_limited,
            }
        });
        self.cc.on_ack(&AckedData {
            now: self.now(),
            acked: SegCount::new(acked),
            counted: SegCount::new(if self.stack.byte_counting {
                delivered
            } else {
                1
            }),
            delivered: SegCount::new(delivered),
            lost: SegCount::new(lost),
            marked: SegCount::new(marked),
            flight_size: SegCount::new(flight_size),
            pipe: SegCount::new(self.pipe()),
            snd_una: SeqNum::new(self.snd_una),
            snd_nxt: SeqNum::new(self.snd_nxt),
            rtt: heard
                .rtt_percent
                .filter(|_| delivered > 0)
                .map(|percent| Duration::from_secs(shortest * f64::from(percent) / 100.0)),
            may_grow: self.recovery.is_none() && acked > 0,
            order: PathOrder::InOrder,
            cwnd_limited: heard.cwnd_limited,
            rate: rate.filter(|rate| !rate.delivered.is_zero()),
            waits: Duration::ZERO,
        });
        if delivered > 0 && self.recovery.is_some_and(|recovery| recovery.prr) {
            // RFC 9937, as far as an algorithm sees it.
            self.cc
                .prescribe(Prescribed::Cwnd(segments(self.pipe() + 1)));
        }
    }

    fn check(&self) {
        let (name, windows) = (self.name, self.windows());
        let [cwnd, ssthresh] = [windows.cwnd, windows.ssthresh].map(WindowSize::segments);
        // ns-2 leaves what a loss leaves, down to half a segment and less.
        let least = if self.stack.ns2 {
            f64::MIN_POSITIVE
        } else {
            1.0
        };
        assert!(cwnd.is_finite() && cwnd >= least, "{name}: cwnd {cwnd}");
        assert!(ssthresh >= 2.0, "{name}: ssthresh {ssthresh}");
        if let Some(rate) = self.cc.pacing_rate() {
            let bps = rate.bps();
            assert!(bps.is_finite() && bps > 0.0, "{name}: pacing rate {bps}");
        }
        self.cc.probe(&mut |variable, value| {
            assert!(value.is_finite(), "{name}: {variable} is {value}");
        });
    }
}

#[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53")]
fn segments(count: u64) -> WindowSize {
    WindowSize::from_segments(count as f64)
}

fn start(stack: Stack) -> ConnectionStart {
    ConnectionStart {
        ns2: stack.ns2,
        whole_windows: stack.whole_windows,
        tick: Duration::from_secs(stack.tick),
        ..ConnectionStart::at(WindowSize::from_segments(1.0))
    }
}

/// The windows after every step.
fn play(
    entry: &'static Entry<cc::Algorithm>,
    params: &Params,
    stack: Stack,
    steps: &[Step],
    start_secs: f64,
) -> Vec<Windows> {
    let mut cc = (entry.new.new)(params, start(stack));
    let mut flow = Flow::new(entry, &mut *cc, stack, start_secs);
    let windows = |step| {
        flow.step(step);
        flow.windows()
    };
    steps.iter().map(windows).collect()
}

/// The defaults, or what Linux has instead.
fn defaults(entry: &Entry<cc::Algorithm>, linux: bool) -> Params {
    let mut params = Params::defaults(entry.params);
    if linux {
        entry.new.set_as_in("linux", &mut params);
    }
    params
}

/// So many cases, or as many times more as `PROPTEST_CASES` is above its default.
fn config(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: (cases * default.cases).div_ceil(256),
        ..default
    }
}

proptest! {
    #[test]
    fn windows_and_rates_are_usable_whatever_happens(steps in steps(), stack in stacks(), linux in any::<bool>()) {
        for entry in TABLE {
            play(entry, &defaults(entry, linux), stack, &steps, 0.0);
        }
    }

    #[test]
    fn windows_are_whole_where_the_stacks_are(steps in steps(), stack in stacks(), linux in any::<bool>()) {
        let stack = Stack { whole_windows: true, whole_ssthresh: true, ns2: false, ..stack };
        for entry in TABLE {
            for windows in play(entry, &defaults(entry, linux), stack, &steps, 0.0) {
                let cwnd = windows.cwnd.segments();
                prop_assert!(cwnd.trunc() == cwnd, "{}: {cwnd}", entry.name);
            }
        }
    }

    #[test]
    fn a_replay_is_identical_and_the_hour_does_not_matter(steps in steps(), stack in stacks(), hours in 0u32..1000) {
        // Large times round to other ticks.
        let stack = Stack { tick: 0.0, ..stack };
        for entry in TABLE {
            let params = defaults(entry, false);
            let once = play(entry, &params, stack, &steps, 0.0);
            prop_assert_eq!(&once, &play(entry, &params, stack, &steps, 0.0), "{}", entry.name);
            let later = play(entry, &params, stack, &steps, 3600.0 * f64::from(hours));
            for (left, right) in once.iter().zip(&later) {
                // Differences of large times round differently.
                let [here, there] = [left, right].map(|windows| windows.cwnd.segments());
                prop_assert!((here - there).abs() <= 1e-6 * here, "{}: {left:?} {right:?}", entry.name);
            }
        }
    }

    #[test]
    fn a_loss_never_widens_the_window(steps in steps(), stack in stacks()) {
        // Where the window walks down, that is the transport's.
        let stack = Stack { prr: false, ..stack };
        for entry in TABLE {
            let mut cc = (entry.new.new)(&defaults(entry, false), start(stack));
            let mut flow = Flow::new(entry, &mut *cc, stack, 0.0);
            for step in &steps {
                flow.send();
                let before = flow.windows().cwnd.segments().max(2.0);
                flow.step(step);
                let after = flow.windows().cwnd.segments();
                if matches!(step.what, What::Loss | What::Ecn | What::Rto) {
                    prop_assert!(after <= before, "{}: {before} to {after}", entry.name);
                }
            }
        }
    }
}

proptest! {
    // One row at a time.
    #![proptest_config(config(4000))]

    #[test]
    fn windows_and_rates_are_usable_with_any_parameters((entry, params) in rows(), steps in steps(), stack in stacks()) {
        play(entry, &params, stack, &steps, 0.0);
    }
}
