//! What a sample of a sender consists of.

use crate::record::rows::SeriesRow;
use crate::tcp::sender::Sender;
use crate::units::{ByteCount, Duration, Rate, SegCount, WindowSize};

/// Windows and counts are in segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct SenderSample {
    pub(super) cwnd: WindowSize,
    pub(super) ssthresh: WindowSize,
    pub(super) srtt: Option<Duration>,
    pub(super) flight: SegCount,
    pub(super) acked: ByteCount,
    pub(super) pipe: SegCount,
    pub(super) pacing_rate: Option<Rate>,
    pub(super) delivered: ByteCount,
}

impl SenderSample {
    pub(super) fn of(sender: &Sender) -> Self {
        Self {
            cwnd: sender.cwnd(),
            ssthresh: sender.ssthresh(),
            srtt: sender.srtt(),
            flight: sender.flight_size(),
            acked: sender.acked(),
            pipe: sender.pipe(),
            pacing_rate: sender.pacing_rate(),
            delivered: sender.delivered(),
        }
    }

    /// A row of the table `series`.
    pub(super) fn row(
        &self,
        t_ns: i64,
        flow: String,
        smss: ByteCount,
        delivered: ByteCount,
    ) -> SeriesRow {
        let bytes = |window: WindowSize| window.segments() * smss.as_f64();
        SeriesRow {
            t_ns,
            flow,
            cwnd_bytes: Some(bytes(self.cwnd)),
            ssthresh_bytes: Some(bytes(self.ssthresh)),
            srtt_ns: self.srtt.map(Duration::as_ns),
            flight_bytes: Some((self.flight * smss).get()),
            acked_bytes: Some(self.acked.get()),
            delivered_bytes: delivered.get(),
            pipe_bytes: Some((self.pipe * smss).get()),
            pacing_rate_bps: Some(self.pacing_rate.map_or(f64::INFINITY, Rate::bps)),
            sender_delivered_bytes: Some(self.delivered.get()),
        }
    }
}
