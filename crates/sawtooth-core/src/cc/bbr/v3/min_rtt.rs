//! The path's delay, and whether it is to be probed (draft-ietf-ccwg-bbr §5.3.4.3, §5.5.7).

use super::params::Bbr3Parameters;
use crate::cc::AckedData;
use crate::units::{Duration, Instant};

/// Times in seconds; delays are infinite before the first sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct MinRtt {
    pub(super) secs: f64,
    pub(super) at: f64,
    /// The smallest since the last probe, and when it was seen.
    pub(super) probe_rtt_min_delay: f64,
    pub(super) probe_rtt_min_stamp: f64,
}

impl MinRtt {
    pub(super) const UNKNOWN: Self = Self {
        secs: f64::INFINITY,
        at: 0.0,
        probe_rtt_min_delay: f64::INFINITY,
        probe_rtt_min_stamp: 0.0,
    };

    /// Takes in an acknowledgement; returns whether ProbeRTT is due.
    pub(super) fn update(&mut self, ack: &AckedData, parameters: &Bbr3Parameters) -> bool {
        let now = ack.now.secs();
        let first = self.secs.is_infinite();
        let expired = !first && now - self.probe_rtt_min_stamp > parameters.probe_rtt_interval;
        if let Some(rtt) = ack.rtt.map(Duration::secs).filter(|&rtt| rtt > 0.0)
            && (rtt < self.probe_rtt_min_delay || expired)
        {
            self.probe_rtt_min_delay = rtt;
            self.probe_rtt_min_stamp = now;
        }
        let min_rtt_expired = !first && now - self.at > parameters.min_rtt_window;
        if self.probe_rtt_min_delay < self.secs || min_rtt_expired {
            self.secs = self.probe_rtt_min_delay;
            self.at = self.probe_rtt_min_stamp;
        }
        expired
    }

    /// ProbeRTT is over: the delay has been measured without a queue.
    pub(super) fn probed(&mut self, now: Instant) {
        self.probe_rtt_min_stamp = now.secs();
    }
}
