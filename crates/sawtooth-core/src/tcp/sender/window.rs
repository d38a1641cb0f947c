//! The congestion window as the sender uses it. Nobody else calls the algorithm.
//!
//! Specifications: RFC 5681 §2 (cwnd, ssthresh), §3.2 (the inflation of the window by duplicate acknowledgements).
//!
//! The algorithm owns its window; what it makes of an event is taken over here, with the time at which that happened, so that the sender reads a number and
//! the window's integral and maximum are right. Every method that passes on an event does so at once, except [`SenderWindow::on_ack`]: a recovery may
//! prescribe another window first.

use crate::cc::{self, CongestionControl, Episode, Prescribed, Signal, Windows};
use crate::registry::Params;
use crate::tcp::params::Config;
use crate::units::{Duration, Instant, Rate, SegCount, SeqNum, WindowSize};

#[derive(Debug)]
pub struct SenderWindow {
    cc: Box<dyn CongestionControl>,
    pub needs: cc::Needs,
    /// As of the last event, and its whole segments.
    cwnd: WindowSize,
    whole: SegCount,
    /// Segments by which duplicate acknowledgements widen it: each means that one has left the path (RFC 5681 §3.2 step 4).
    pub inflation: SegCount,
    /// The most that may be outstanding.
    limit: SegCount,
    /// How far the clock by which the algorithm counts is ahead of the run's.
    ahead: Duration,
    since: Instant,
    /// Over time: segments times seconds.
    integral: f64,
    max: WindowSize,
}

impl SenderWindow {
    pub fn new(config: &Config, algorithm: cc::Algorithm, params: &Params, seed: u64) -> Self {
        // Until the SYN is acknowledged it is all that may be outstanding.
        let cwnd = if config.handshake {
            WindowSize::ONE
        } else {
            config.initial_window
        };
        let start = cc::ConnectionStart {
            cwnd,
            ssthresh: config.initial_ssthresh,
            ns2: config.ns2_algorithms,
            whole_windows: config.whole_windows,
            tick: config.timer_tick.tick,
            smss: config.smss,
            seed,
        };
        let cc = (algorithm.new)(params, start);
        let cwnd = cc.windows().cwnd;
        Self {
            needs: algorithm.needs,
            cwnd,
            whole: cwnd.whole(),
            inflation: SegCount::ZERO,
            limit: config.window_limit.whole(),
            ahead: config.timer_tick.since_tick(),
            since: Instant::START,
            integral: 0.0,
            max: cwnd,
            cc,
        }
    }

    /// What the algorithm takes a time for.
    #[inline]
    pub fn told(&self, time: Instant) -> Instant {
        time + self.ahead
    }

    /// Time begins to count.
    pub fn start(&mut self, time: Instant) {
        self.since = time;
    }

    /// The congestion window.
    #[inline]
    pub fn cwnd(&self) -> WindowSize {
        self.cwnd
    }

    /// The slow-start threshold.
    #[inline]
    pub fn ssthresh(&self) -> WindowSize {
        self.cc.windows().ssthresh
    }

    /// Both, as the algorithm has them now.
    #[inline]
    pub fn windows(&self) -> Windows {
        self.cc.windows()
    }

    /// Whole segments of the congestion window.
    #[inline]
    pub fn whole(&self) -> SegCount {
        self.whole
    }

    /// The window inflated by duplicate acknowledgements.
    #[inline]
    pub fn inflated(&self) -> SegCount {
        self.whole.saturating_add(self.inflation)
    }

    /// Segments that may be outstanding: the inflated window, as far as its limit lets.
    #[inline]
    pub fn usable(&self) -> SegCount {
        self.inflated().min(self.limit)
    }

    /// The same where no duplicate acknowledgements have come.
    #[inline]
    pub fn usable_without_inflation(&self) -> SegCount {
        debug_assert!(self.inflation.is_zero());
        self.whole.min(self.limit)
    }

    /// The limit on the window.
    #[inline]
    pub fn limit(&self) -> SegCount {
        self.limit
    }

    /// The largest window so far.
    pub fn max(&self) -> WindowSize {
        self.max
    }

    /// The window's mean over a life of this length, up to the last event or [`SenderWindow::finish`].
    pub fn mean(&self, time: Duration) -> WindowSize {
        WindowSize::from_segments(self.integral / time.secs())
    }

    /// The connection is observed up to `end`: the window stays as it is until then.
    pub fn finish(&mut self, end: Instant) {
        self.integral += self.cwnd.segments() * (end - self.since).secs();
        self.since = end;
    }

    /// Takes the algorithm's present window over, for the sender and for the records.
    #[inline]
    pub fn update(&mut self, time: Instant) {
        let windows = self.cc.windows();
        self.take_over(time, windows);
    }

    #[inline]
    fn take_over(&mut self, time: Instant, windows: Windows) {
        self.finish(time);
        self.cwnd = windows.cwnd;
        self.whole = self.cwnd.whole();
        if self.cwnd > self.max {
            self.max = self.cwnd;
        }
    }

    /// The window that the specification of a recovery or of a restart prescribes.
    pub fn prescribe(&mut self, time: Instant, cwnd: WindowSize) {
        self.cc.prescribe(Prescribed::Cwnd(cwnd));
        self.update(time);
    }

    /// A threshold that is not the algorithm's own.
    pub fn prescribe_ssthresh(&mut self, ssthresh: WindowSize) {
        self.cc.prescribe(Prescribed::Ssthresh(ssthresh));
    }

    /// An acknowledgement arrives; called before the recovery acts on it.
    #[inline]
    pub fn on_arrival(&mut self, arrival: &cc::AckArrival) {
        self.cc.on_arrival(arrival);
    }

    /// How much of what an acknowledgement has delivered was marked.
    pub fn on_marks(&mut self, marks: &cc::AckedMarks) {
        self.cc.on_marks(marks);
    }

    /// New data was acknowledged. To be followed by [`SenderWindow::update`], or by the window that is prescribed instead.
    #[inline]
    pub fn on_ack(&mut self, ack: &cc::AckedData) {
        self.cc.on_ack(ack);
    }

    /// The same, and nothing else is prescribed.
    #[inline]
    pub fn grow(&mut self, time: Instant, ack: &cc::AckedData) {
        let windows = self.cc.windows_after(ack);
        self.take_over(time, windows);
    }

    /// A sign of congestion.
    pub fn on_congestion(&mut self, time: Instant, episode: &Episode) {
        self.cc.on_congestion(episode);
        self.update(time);
        // What ns-2's windows are left by losses is cleared by timeouts. A mark comes without any: with less than a segment, a flow whose
        // application has paused would never send again.
        if episode.signal == Signal::Ecn && self.cwnd < WindowSize::ONE {
            self.prescribe(time, WindowSize::ONE);
        }
    }

    /// The last reduction was needless.
    pub fn on_undo(&mut self, time: Instant, before: Windows) {
        self.cc.on_undo(before);
        self.update(time);
    }

    /// Whether the last acknowledgement has reduced the window for delay.
    pub fn has_backed_off(&mut self) -> bool {
        self.cc.has_backed_off()
    }

    /// Everything that was outstanding at the last sign of congestion, which was of this kind, has arrived.
    pub fn on_recovered(&mut self, time: Instant, began: cc::Signal) {
        self.cc.on_recovered(self.told(time), began);
        self.update(time);
    }

    /// A timeout of what the window was reduced for before: one segment is left, and the threshold stays.
    pub fn on_further_timeout(&mut self, time: Instant) {
        self.cc.on_further_timeout(self.told(time));
        self.prescribe(time, WindowSize::ONE);
    }

    /// How long the handshake took.
    pub fn on_handshake(&mut self, time: Instant, rtt: Duration) {
        self.cc.on_handshake(self.told(time), rtt);
    }

    /// Data begins, with these windows; without an initial one, the SYN was lost: it is one segment then (RFC 5681 §3.1).
    pub fn on_established(
        &mut self,
        time: Instant,
        initial: Option<WindowSize>,
        ssthresh: Option<WindowSize>,
    ) {
        self.cc.on_established(initial.unwrap_or(WindowSize::ONE));
        if let Some(ssthresh) = ssthresh {
            self.cc.prescribe(Prescribed::Ssthresh(ssthresh));
        }
        self.update(time);
    }

    /// Data leave while nothing is in the path ([`cc::CongestionControl::on_empty_path`]).
    #[cold]
    #[inline(never)]
    pub fn on_empty_path(&mut self, time: Instant, since: Duration, next: SeqNum) {
        self.cc.on_empty_path(self.told(time), since, next);
    }

    /// Sending begins again after a pause, with what is `left` of the windows. An algorithm with a model of the path has its own ways.
    pub fn on_restart(
        &mut self,
        time: Instant,
        idle: Duration,
        left: impl FnOnce(Windows) -> Windows,
    ) {
        self.cc.on_restart(self.told(time), idle);
        if !self.needs.rules_recovery {
            let before = self.windows();
            let after = left(before);
            if after != before {
                self.cc.prescribe(Prescribed::Ssthresh(after.ssthresh));
                self.cc.prescribe(Prescribed::Cwnd(after.cwnd));
            }
        }
        self.update(time);
    }

    /// How fast to send, if the algorithm paces.
    #[inline]
    pub fn pacing_rate(&self) -> Option<Rate> {
        self.cc.pacing_rate()
    }

    /// The algorithm's own variables.
    pub fn probe(&self, out: &mut cc::VariableProbe<'_>) {
        self.cc.probe(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Value;
    use crate::tcp::recovery::testing;
    use crate::units::testing::{at, secs, segs, window as size};

    /// Of ten segments, at most 12 of which may be outstanding.
    fn window(algorithm: &str) -> SenderWindow {
        let set = [("window_limit", Value::Packets(12))];
        let config = testing::config("sack", 10, &set);
        let row = cc::TABLE.iter().find(|row| row.name == algorithm);
        let row = row.expect("it is in the table");
        SenderWindow::new(&config, row.new, &Params::defaults(row.params), 0)
    }

    fn episode(signal: Signal, window: f64) -> Episode {
        Episode {
            now: at(1.0),
            signal,
            window: size(window),
            whole_ssthresh: false,
            ns2: true,
        }
    }

    #[test]
    fn its_integral_and_maximum_are_those_of_what_the_algorithm_came_to() {
        let mut window = window("reno");
        window.start(at(1.0));
        window.on_congestion(at(3.0), &episode(Signal::Loss, 10.0));
        assert_eq!((window.cwnd(), window.ssthresh()), (size(5.0), size(5.0)));
        window.finish(at(7.0));
        // Ten for two seconds, five for four.
        assert_eq!(
            (window.mean(secs(6.0)), window.max()),
            (size(40.0 / 6.0), size(10.0))
        );
    }

    #[test]
    fn rfc5681_3_2_step_4_duplicates_inflate_it_and_its_limit_holds() {
        let mut window = window("reno");
        window.inflation = segs(1);
        assert_eq!((window.whole(), window.usable()), (segs(10), segs(11)));
        window.inflation = segs(9);
        assert_eq!((window.inflated(), window.usable()), (segs(19), segs(12)));
    }

    #[test]
    fn a_mark_leaves_a_whole_segment_and_a_loss_what_ns2_leaves() {
        let mut window = window("reno");
        window.on_congestion(at(1.0), &episode(Signal::Loss, 1.0));
        assert_eq!(window.cwnd(), size(0.5));
        window.on_congestion(at(1.0), &episode(Signal::Ecn, 1.0));
        assert_eq!(window.cwnd(), size(1.0));
    }

    #[test]
    fn rfc5681_3_1_after_a_lost_syn_data_begins_with_one_segment() {
        let mut window = window("reno");
        window.on_established(at(1.0), None, None);
        assert_eq!(window.cwnd(), size(1.0));
        let initial = Windows {
            cwnd: size(3.0),
            ssthresh: size(50.0),
        };
        window.on_established(at(1.0), Some(initial.cwnd), Some(initial.ssthresh));
        assert_eq!(window.windows(), initial);
    }

    #[test]
    fn what_is_left_after_a_pause_is_prescribed_except_to_a_model_of_the_path() {
        let left = |before: Windows| Windows {
            cwnd: before.cwnd / 2.0,
            ..before
        };
        let mut reno = window("reno");
        reno.on_restart(at(1.0), secs(9.0), left);
        assert_eq!(reno.cwnd(), size(5.0));
        let mut bbr = window("bbr");
        bbr.on_restart(at(1.0), secs(9.0), left);
        assert_eq!(bbr.cwnd(), size(10.0));
    }
}
