//! Of loss episodes: from a reduction of the window to its recovery point.

use crate::record::Text;
use crate::spec::FlowSpec;
use crate::tcp::episodes::LossEpisode;
use crate::units::{ByteCount, Instant, WindowSize};

row! {
    EpisodeRow: "episodes", "one row per loss episode of a flow, with record = [\"episodes\"]: from a reduction of the window to its recovery point";
    flow: Text, "", "the flow's name";
    start_ns: i64, "ns", "when the loss was found";
    end_ns: Option<i64>, "ns", "when the recovery point was reached, another episode began or the reduction was undone; null: not by the end of the run";
    cause: Text, "", "what found it: dupack, sack, fack, rack, tail_loss_probe, rto; or ecn, a mark";
    lost_packets: Option<i64>, "packet", "segments found lost; null of a recovery that does not judge segments (all but rack and fack)";
    retransmits: u64, "packet", "segments sent again";
    timeouts: u64, "", "expirations of the retransmission timer";
    flight_bytes: u64, "B", "FlightSize when it began";
    cwnd_before_bytes: f64, "B", "congestion window before";
    ssthresh_bytes: f64, "B", "slow-start threshold that it left; infinite while arbitrarily high";
    cwnd_after_bytes: f64, "B", "congestion window when it ended";
    spurious: u64, "", "1: it turned out to be needless and was undone";
}

impl EpisodeRow {
    /// Of a flow whose segments have so many bytes.
    pub(crate) fn of(spec: &FlowSpec, smss: ByteCount, episode: &LossEpisode) -> Self {
        let bytes = |window: WindowSize| window.segments() * smss.as_f64();
        Self {
            flow: spec.name.as_str().into(),
            start_ns: episode.start.as_ns(),
            end_ns: episode.end.map(Instant::as_ns),
            cause: episode.cause.name().into(),
            lost_packets: episode.lost.map(|lost| lost.get().cast_signed()),
            retransmits: episode.retransmits,
            timeouts: episode.timeouts,
            flight_bytes: (episode.flight_size * smss).get(),
            cwnd_before_bytes: bytes(episode.cwnd_before),
            ssthresh_bytes: episode.ssthresh.map_or(f64::NAN, bytes),
            cwnd_after_bytes: episode.cwnd_after.map_or(f64::NAN, bytes),
            spurious: u64::from(episode.spurious),
        }
    }
}
