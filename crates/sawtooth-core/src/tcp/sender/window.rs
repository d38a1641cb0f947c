//! The congestion window as the sender uses it. Nobody else calls the algorithm.
//!
//! Specifications: RFC 5681 §2 (cwnd, ssthresh), §3.2 (the inflation of the window by duplicate acknowledgements).
//!
//! The algorithm owns its window; what it makes of an event is taken over here, with the time at which that happened, so that the sender reads a number and
//! the window's integral and maximum are right. Every method that passes on an event does so at once, except [`Window::on_ack`]: a recovery may
//! prescribe another window first.

use crate::cc::{self, CongestionControl, Episode, Prescribed, Signal, Windows};
use crate::registry::Params;
use crate::tcp::params::{Config, whole};
use crate::units::{ByteCount, Duration, Instant, Rate, WindowSize};

#[derive(Debug)]
pub struct Window {
    cc: Box<dyn CongestionControl>,
    pub needs: cc::Needs,
    /// As of the last event, and its whole segments.
    cwnd: f64,
    whole: u64,
    /// Segments by which duplicate acknowledgements widen it: each means that one has left the path (RFC 5681 §3.2 step 4).
    pub inflation: u64,
    /// The most that may be outstanding.
    limit: u64,
    since: f64,
    integral: f64,
    max: f64,
}

impl Window {
    pub fn new(config: &Config, algorithm: cc::Algorithm, params: &Params) -> Self {
        // Until the SYN is acknowledged it is all that may be outstanding.
        let cwnd = if config.handshake {
            1.0
        } else {
            config.initial_window
        };
        let start = cc::Start {
            cwnd: WindowSize::from_segments(cwnd),
            ssthresh: WindowSize::from_segments(config.initial_ssthresh),
            ns2: config.ns2_algorithms,
            whole_windows: config.whole_windows,
            tick: Duration::from_secs(config.timer_tick.secs),
            smss: ByteCount::new(config.smss.into()),
            seed: config.seed,
        };
        let cc = (algorithm.new)(params, start);
        let cwnd = cc.windows().cwnd.segments();
        Self {
            needs: algorithm.needs,
            cwnd,
            whole: whole(cwnd),
            inflation: 0,
            limit: config.window_limit_whole,
            since: 0.0,
            integral: 0.0,
            max: cwnd,
            cc,
        }
    }

    /// Time begins to count.
    pub fn start(&mut self, time: f64) {
        self.since = time;
    }

    /// The congestion window, segments.
    #[inline]
    pub fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// The slow-start threshold, segments.
    #[inline]
    pub fn ssthresh(&self) -> f64 {
        self.cc.windows().ssthresh.segments()
    }

    /// Both, as the algorithm has them now.
    #[inline]
    pub fn windows(&self) -> Windows {
        self.cc.windows()
    }

    /// Whole segments of the congestion window.
    #[inline]
    pub fn whole(&self) -> u64 {
        self.whole
    }

    /// The same with what duplicate acknowledgements add.
    #[inline]
    pub fn inflated(&self) -> u64 {
        self.whole.saturating_add(self.inflation)
    }

    /// Segments that may be outstanding: the inflated window, as far as its limit lets.
    #[inline]
    pub fn usable(&self) -> u64 {
        self.inflated().min(self.limit)
    }

    /// The limit on the window, segments.
    #[inline]
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The largest window so far.
    pub fn max(&self) -> f64 {
        self.max
    }

    /// Its integral over time, segments x seconds, up to the last event or [`Window::finish`].
    pub fn integral(&self) -> f64 {
        self.integral
    }

    /// Time goes on up to `end` with the window that there is.
    pub fn finish(&mut self, end: f64) {
        self.integral += self.cwnd * (end - self.since);
        self.since = end;
    }

    /// Takes over the window that the algorithm has come to.
    #[inline]
    pub fn settle(&mut self, time: f64) {
        self.finish(time);
        self.cwnd = self.cc.windows().cwnd.segments();
        self.whole = whole(self.cwnd);
        self.max = self.max.max(self.cwnd);
    }

    /// The window that the specification of a recovery or of a restart prescribes.
    pub fn prescribe(&mut self, time: f64, cwnd: f64) {
        let cwnd = WindowSize::from_segments(cwnd);
        self.cc.prescribe(Prescribed::Cwnd(cwnd));
        self.settle(time);
    }

    /// A threshold that is not the algorithm's own.
    pub fn prescribe_ssthresh(&mut self, ssthresh: f64) {
        let ssthresh = WindowSize::from_segments(ssthresh);
        self.cc.prescribe(Prescribed::Ssthresh(ssthresh));
    }

    /// An acknowledgement arrives, before anything is made of it.
    #[inline]
    pub fn on_arrival(&mut self, arrival: &cc::AckArrival) {
        self.cc.on_arrival(arrival);
    }

    /// How much of what an acknowledgement has delivered was marked.
    pub fn on_marks(&mut self, marks: &cc::Marks) {
        self.cc.on_marks(marks);
    }

    /// New data was acknowledged. To be followed by [`Window::settle`], or by the window that is prescribed instead.
    #[inline]
    pub fn on_ack(&mut self, ack: &cc::Ack) {
        self.cc.on_ack(ack);
    }

    /// A sign of congestion.
    pub fn on_congestion(&mut self, time: f64, episode: &Episode) {
        self.cc.on_congestion(episode);
        self.settle(time);
        // What ns-2's windows are left by losses is cleared by timeouts. A mark comes without any: with less than a segment, a flow whose
        // application has paused would never send again.
        if episode.signal == Signal::Ecn && self.cwnd < 1.0 {
            self.prescribe(time, 1.0);
        }
    }

    /// The last reduction was needless.
    pub fn on_undo(&mut self, time: f64, before: Windows) {
        self.cc.on_undo(before);
        self.settle(time);
    }

    /// Everything that was outstanding when the last loss was found has arrived.
    pub fn on_recovered(&mut self, time: f64) {
        self.cc.on_recovered(Instant::from_secs(time));
        self.settle(time);
    }

    /// How long the handshake took.
    pub fn on_handshake(&mut self, time: f64, rtt_secs: f64) {
        let rtt = Duration::from_secs(rtt_secs);
        self.cc.on_handshake(Instant::from_secs(time), rtt);
    }

    /// Data begins, with these windows; without an initial one, the SYN was lost: it is one segment then (RFC 5681 §3.1).
    pub fn on_established(&mut self, time: f64, initial: Option<Windows>) {
        if let Some(Windows { cwnd, ssthresh }) = initial {
            self.cc.on_established(cwnd);
            self.cc.prescribe(Prescribed::Ssthresh(ssthresh));
        } else {
            let one = WindowSize::from_segments(1.0);
            self.cc.prescribe(Prescribed::Cwnd(one));
        }
        self.settle(time);
    }

    /// Sending begins again after a pause, with what is `left` of the windows. An algorithm with a model of the path has its own ways.
    pub fn on_restart(&mut self, time: f64, idle_secs: f64, left: impl FnOnce(Windows) -> Windows) {
        let idle = Duration::from_secs(idle_secs);
        self.cc.on_restart(Instant::from_secs(time), idle);
        if !self.needs.rules_recovery {
            let before = self.windows();
            let after = left(before);
            if after != before {
                self.cc.prescribe(Prescribed::Ssthresh(after.ssthresh));
                self.cc.prescribe(Prescribed::Cwnd(after.cwnd));
            }
        }
        self.settle(time);
    }

    /// How fast to send, if the algorithm paces.
    #[inline]
    pub fn pacing_rate(&self) -> Option<Rate> {
        self.cc.pacing_rate()
    }

    /// The algorithm's own variables.
    pub fn probe(&self, out: &mut cc::Probe<'_>) {
        self.cc.probe(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Value;
    use crate::tcp::recovery::testing;

    /// Of ten segments, at most 12 of which may be outstanding.
    fn window(algorithm: &str) -> Window {
        let set = [("window_limit", Value::Packets(12))];
        let config = testing::config("sack", 10, &set);
        let row = cc::TABLE.iter().find(|row| row.name == algorithm);
        let row = row.expect("it is in the table");
        Window::new(&config, row.new, &Params::defaults(row.params))
    }

    fn episode(signal: Signal, window: f64) -> Episode {
        Episode {
            now: Instant::from_secs(1.0),
            signal,
            window: WindowSize::from_segments(window),
            whole_ssthresh: false,
            ns2: true,
        }
    }

    #[test]
    fn its_integral_and_maximum_are_those_of_what_the_algorithm_came_to() {
        let mut window = window("reno");
        window.start(1.0);
        window.on_congestion(3.0, &episode(Signal::Loss, 10.0));
        assert_eq!((window.cwnd(), window.ssthresh()), (5.0, 5.0));
        window.finish(7.0);
        // Ten for two seconds, five for four.
        assert_eq!((window.integral(), window.max()), (40.0, 10.0));
    }

    #[test]
    fn rfc5681_3_2_step_4_duplicates_inflate_it_and_its_limit_holds() {
        let mut window = window("reno");
        window.inflation = 1;
        assert_eq!((window.whole(), window.usable()), (10, 11));
        window.inflation = 9;
        assert_eq!((window.inflated(), window.usable()), (19, 12));
    }

    #[test]
    fn a_mark_leaves_a_whole_segment_and_a_loss_what_ns2_leaves() {
        let mut window = window("reno");
        window.on_congestion(1.0, &episode(Signal::Loss, 1.0));
        assert_eq!(window.cwnd(), 0.5);
        window.on_congestion(1.0, &episode(Signal::Ecn, 1.0));
        assert_eq!(window.cwnd(), 1.0);
    }

    #[test]
    fn rfc5681_3_1_after_a_lost_syn_data_begins_with_one_segment() {
        let mut window = window("reno");
        window.on_established(1.0, None);
        assert_eq!(window.cwnd(), 1.0);
        let initial = Windows {
            cwnd: WindowSize::from_segments(3.0),
            ssthresh: WindowSize::from_segments(50.0),
        };
        window.on_established(1.0, Some(initial));
        assert_eq!(window.windows(), initial);
    }

    #[test]
    fn what_is_left_after_a_pause_is_prescribed_except_to_a_model_of_the_path() {
        let left = |before: Windows| Windows {
            cwnd: before.cwnd / 2.0,
            ..before
        };
        let mut reno = window("reno");
        reno.on_restart(1.0, 9.0, left);
        assert_eq!(reno.cwnd(), 5.0);
        let mut bbr = window("bbr");
        bbr.on_restart(1.0, 9.0, left);
        assert_eq!(bbr.cwnd(), 10.0);
    }
}
