//! What a sample of a sender consists of.

use crate::record::rows::SeriesRow;
use crate::tcp::sender::Sender;
use crate::units::{Duration, Rate, ns};

/// Windows and counts are in segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct SenderSample {
    pub(super) cwnd: f64,
    pub(super) ssthresh: f64,
    pub(super) srtt: Option<f64>,
    pub(super) flight: u64,
    pub(super) acked_bytes: u64,
    pub(super) pipe: u64,
    pub(super) pacing_rate_bps: Option<f64>,
    pub(super) delivered_bytes: u64,
}

impl SenderSample {
    pub(super) fn of(sender: &Sender) -> Self {
        Self {
            cwnd: sender.cwnd().segments(),
            ssthresh: sender.ssthresh().segments(),
            srtt: sender.srtt().map(Duration::secs),
            flight: sender.flight_size().get(),
            acked_bytes: sender.acked().get(),
            pipe: sender.pipe().get(),
            pacing_rate_bps: sender.pacing_rate().map(Rate::bps),
            delivered_bytes: sender.delivered().get(),
        }
    }

    /// A row of the table `series`.
    pub(super) fn row(
        &self,
        t_ns: i64,
        flow: String,
        smss: u32,
        delivered_bytes: u64,
    ) -> SeriesRow {
        SeriesRow {
            t_ns,
            flow,
            cwnd_bytes: Some(self.cwnd * f64::from(smss)),
            ssthresh_bytes: Some(self.ssthresh * f64::from(smss)),
            srtt_ns: self.srtt.map(ns),
            flight_bytes: Some(self.flight * u64::from(smss)),
            acked_bytes: Some(self.acked_bytes),
            delivered_bytes,
            pipe_bytes: Some(self.pipe * u64::from(smss)),
            pacing_rate_bps: Some(self.pacing_rate_bps.unwrap_or(f64::INFINITY)),
            sender_delivered_bytes: Some(self.delivered_bytes),
        }
    }
}
