//! Of requests and responses.

use super::Stalls;
use crate::exchanges::Exchanges;
use crate::histogram::TimesNs;
use crate::record::Text;

row! {
    ExchangeRow: "exchanges", "one row per flow whose source answers requests";
    flow: Text, "", "the flow's name";
    asked: u64, "", "requests written by the client";
    answered: u64, "", "of them, those whose response has arrived completely";
    requested_bytes: u64, "B", "bytes of requests that have reached the server";
    completion_mean_ns: Option<i64>, "ns", "request written to the response's last byte delivered, mean; null without any";
    completion_p50_ns: Option<i64>, "ns", "its median, within 1/128; null without any";
    completion_p90_ns: Option<i64>, "ns", "its 90th percentile";
    completion_p95_ns: Option<i64>, "ns", "its 95th percentile";
    completion_p99_ns: Option<i64>, "ns", "its 99th percentile";
    completion_p999_ns: Option<i64>, "ns", "its 99.9th percentile";
    completion_max_ns: Option<i64>, "ns", "the longest";
    request_stall_ns: Option<i64>, "ns", "data-stream stall of the client's socket, which sends the requests, while the run lasted; null without a host model, as the next three";
    request_stall_window_ns: Option<i64>, "ns", "the part of it in which packets queued behind a full window";
    request_stall_partial_ns: Option<i64>, "ns", "the part in which less than a segment was held back";
    request_stall_memory_ns: Option<i64>, "ns", "the part in which the writer slept for lack of socket memory";
}

/// The row of a flow by name; `stalls`: those of the client's socket.
pub fn exchange_row(flow: &str, exchanges: &Exchanges, stalls: Stalls) -> ExchangeRow {
    let times = TimesNs::of(&exchanges.completions_ns);
    ExchangeRow {
        flow: flow.into(),
        asked: exchanges.asked,
        answered: exchanges.completions_ns.count(),
        requested_bytes: exchanges.requested.get(),
        completion_mean_ns: times.mean,
        completion_p50_ns: times.p50,
        completion_p90_ns: times.p90,
        completion_p95_ns: times.p95,
        completion_p99_ns: times.p99,
        completion_p999_ns: times.p999,
        completion_max_ns: times.max,
        request_stall_ns: stalls.all_ns,
        request_stall_window_ns: stalls.window_ns,
        request_stall_partial_ns: stalls.partial_ns,
        request_stall_memory_ns: stalls.memory_ns,
    }
}
