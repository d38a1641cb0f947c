//! Of flows that arrive and leave: all together, by size, and one by one.

use crate::arrivals::summary::{Departed, Summary};
use crate::histogram::TimesNs;
use crate::record::Table;
use crate::record::Text;
use crate::spec::ArrivingSpec;
use crate::units::Duration;

row! {
    ArrivalRow: "arrivals", "one row per entry of flows that arrive and leave: all of them together";
    flow: Text, "", "the entry's name";
    cc: Text, "", "congestion control that was active";
    rate: f64, "1/s", "arrivals per second as given, or as the load makes it";
    started: u64, "", "flows that have arrived";
    completed: u64, "", "of them, those whose every byte has been delivered and acknowledged";
    alive_mean: f64, "", "flows between arrival and the acknowledgement of everything, mean over the run's time";
    alive_max: u64, "", "the most at one time";
    offered_bytes: u64, "B", "application bytes of those that have arrived; 4e18 stands for all that is more";
    delivered_bytes: u64, "B", "application bytes delivered in order";
    sent_packets: u64, "packet", "segments sent, retransmissions, SYN and FIN included";
    retransmits: u64, "packet", "segments sent again";
    timeouts: Option<u64>, "", "expirations of the retransmission timer";
    congestion_signals: Option<u64>, "", "reductions of the window, of any cause";
    completion_mean_ns: Option<i64>, "ns", "start to last byte delivered, mean; null without any";
    completion_p50_ns: Option<i64>, "ns", "its median, within 1/128; null without any";
    completion_p90_ns: Option<i64>, "ns", "its 90th percentile";
    completion_p95_ns: Option<i64>, "ns", "its 95th percentile";
    completion_p99_ns: Option<i64>, "ns", "its 99th percentile";
    completion_p999_ns: Option<i64>, "ns", "its 99.9th percentile";
    completion_max_ns: Option<i64>, "ns", "the longest";
}

row! {
    CompletionRow: "completions", "one row per entry of flows that arrive and bin of their sizes";
    flow: Text, "", "the entry's name";
    size_from_bytes: u64, "B", "the smallest size of the bin";
    size_below_bytes: u64, "B", "the smallest size of the next bin";
    started: u64, "", "flows of these sizes that have arrived";
    completed: u64, "", "of them, those whose every byte has been delivered and acknowledged";
    completion_mean_ns: Option<i64>, "ns", "start to last byte delivered, mean; null without any";
    completion_p50_ns: Option<i64>, "ns", "its median, within 1/128; null without any";
    completion_p90_ns: Option<i64>, "ns", "its 90th percentile";
    completion_p95_ns: Option<i64>, "ns", "its 95th percentile";
    completion_p99_ns: Option<i64>, "ns", "its 99th percentile";
    completion_p999_ns: Option<i64>, "ns", "its 99.9th percentile";
    completion_max_ns: Option<i64>, "ns", "the longest";
}

row! {
    TransferRow: "transfers", "one row per flow that has arrived, with record = [\"transfers\"], in the order of their ends";
    flow: Text, "", "the entry's name";
    number: u64, "", "which of its flows, counted from 1";
    start_ns: i64, "ns", "when it arrived";
    size_bytes: u64, "B", "application bytes to transfer";
    delivered_bytes: u64, "B", "application bytes delivered in order";
    completion_ns: Option<i64>, "ns", "start to last byte delivered; null if not completed";
    sent_packets: u64, "packet", "segments sent, retransmissions, SYN and FIN included";
    retransmits: u64, "packet", "segments sent again";
    timeouts: Option<u64>, "", "expirations of the retransmission timer";
}

/// The tables `arrivals` and `completions` of a run that takes `duration`. Of each entry: what its congestion control is called where it runs, and what was measured.
pub fn arrival_tables<'a>(
    entries: impl IntoIterator<Item = (&'a ArrivingSpec, &'a str, &'a Summary)>,
    duration: Duration,
) -> [Table; 2] {
    let mut all = Table::new::<ArrivalRow>();
    let mut by_size = Table::new::<CompletionRow>();
    for (spec, cc, summary) in entries {
        all.push(ArrivalRow::of(spec, cc, summary, duration));
        for row in CompletionRow::all(&spec.flow.name, summary) {
            by_size.push(row);
        }
    }
    [all, by_size]
}

impl ArrivalRow {
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    fn of(spec: &ArrivingSpec, cc: &str, summary: &Summary, duration: Duration) -> Self {
        let times = TimesNs::of(&summary.completions_ns);
        Self {
            flow: spec.flow.name.as_str().into(),
            cc: cc.into(),
            rate: spec.arrivals.rate,
            started: summary.started,
            completed: summary.completions_ns.count(),
            alive_mean: summary.lifetimes_ns as f64 / (duration.secs() * 1e9),
            alive_max: summary.alive_peak,
            offered_bytes: summary.offered.get(),
            delivered_bytes: summary.delivered.get(),
            sent_packets: summary.sent_packets.get(),
            retransmits: summary.retransmits.get(),
            timeouts: summary.timeouts,
            congestion_signals: summary.congestion_signals,
            completion_mean_ns: times.mean,
            completion_p50_ns: times.p50,
            completion_p90_ns: times.p90,
            completion_p95_ns: times.p95,
            completion_p99_ns: times.p99,
            completion_p999_ns: times.p999,
            completion_max_ns: times.max,
        }
    }
}

impl CompletionRow {
    fn all(flow: &str, summary: &Summary) -> impl Iterator<Item = Self> {
        summary.by_size().map(move |size| {
            let times = TimesNs::of(size.completions_ns);
            Self {
                flow: flow.into(),
                size_from_bytes: size.from,
                size_below_bytes: size.below,
                started: size.started,
                completed: size.completions_ns.count(),
                completion_mean_ns: times.mean,
                completion_p50_ns: times.p50,
                completion_p90_ns: times.p90,
                completion_p95_ns: times.p95,
                completion_p99_ns: times.p99,
                completion_p999_ns: times.p999,
                completion_max_ns: times.max,
            }
        })
    }
}

/// The row of a flow of an entry by name.
pub fn transfer_row(entry: &str, flow: &Departed) -> TransferRow {
    TransferRow {
        flow: entry.into(),
        number: flow.arrival.number,
        start_ns: flow.arrival.at.as_ns(),
        size_bytes: flow.arrival.bytes.get(),
        delivered_bytes: flow.delivered.get(),
        completion_ns: flow.completion.map(Duration::as_ns),
        sent_packets: flow.sent_packets.get(),
        retransmits: flow.retransmits.get(),
        timeouts: flow.timeouts,
    }
}
