//! Parts of the `linux` stack, each alone: acknowledgements and timer expirations go in, segments come out.
//!
//! Segment 0 is the SYN, so data starts with segment 1. Timestamps tick every millisecond.

use crate::columns::{counts, numbers, words};
use sawtooth_core::internals::cc;
use sawtooth_core::internals::events::{Event, EventKey, Lineage};
use sawtooth_core::internals::packet::{Ack, DataSegment};
use sawtooth_core::internals::tcp::scoreboard::{Range, SackBlocks};
use sawtooth_core::internals::tcp::sender::{Sender, SenderDraws};
use sawtooth_core::internals::tcp::timestamps::Stamp;
use sawtooth_core::internals::tcp::{Config, receiver::Receiver};
use sawtooth_core::units::{ByteCount, Instant, SeqNum};
use sawtooth_core::{Scenario, record, scenario, simulate};
use serde_json::{Value, json};

const RTT: f64 = 0.1;

fn scenario(tcp: &Value) -> Scenario {
    let mut all = json!({"recovery": "rack", "rto_min": "300 ms", "initial_window": "10 packets"});
    for (key, value) in tcp.as_object().expect("a table") {
        all[key] = value.clone();
    }
    let tree = json!({
        "duration": "1 s", "tcp": all, "links": {"l": {"rate": "1 Mbit/s"}}, "flows": [{"path": ["l"]}],
    });
    scenario::from_tree(&tree).unwrap_or_else(|error| panic!("{error}"))
}

/// A sender, and the clock.
struct Script {
    sender: Sender,
    lineage: Lineage,
    now: f64,
    sent: Vec<DataSegment>,
}

impl Script {
    fn new(tcp: &Value) -> Self {
        let scenario = scenario(tcp);
        let flow = &scenario.flows[0];
        let reno = &cc::TABLE[0];
        let config = Config::from(&flow.tcp);
        let mut script = Self {
            sender: Sender::new(
                config,
                reno.new,
                &flow.cc.params,
                None,
                SenderDraws::default(),
            ),
            lineage: Lineage::new(),
            now: 0.0,
            sent: Vec::new(),
        };
        let now = script.event();
        script.sender.on_start(now);
        script.send(now);
        // The handshake.
        script.now += RTT;
        script.ack(1, &[], 0);
        script
    }

    fn event(&mut self) -> Event {
        self.lineage
            .record(EventKey::at_start(Instant::from_secs(self.now), 0))
    }

    /// What leaves now.
    fn send(&mut self, now: Event) -> Vec<u64> {
        let data: Vec<DataSegment> =
            std::iter::from_fn(|| self.sender.poll_transmit(now)).collect();
        self.sent.extend(&data);
        data.iter().map(|data| data.seq.get()).collect()
    }

    /// An acknowledgement that repeats the timestamp of the `of`-th transmission.
    fn ack(&mut self, next: u64, ranges: &[(u64, u64)], of: usize) -> Vec<u64> {
        let now = self.event();
        let next = SeqNum::new(next);
        let mut sack = SackBlocks::default();
        for (start, end) in ranges {
            let (start, end) = (SeqNum::new(*start), SeqNum::new(*end));
            sack.push(next, Range { start, end });
        }
        let ack = Ack {
            next,
            repeated: None,
            sack,
            echo: self.sent[of].stamp,
            ..Ack::default()
        };
        self.sender.on_segment(now, &ack);
        self.send(now)
    }

    fn timeout(&mut self) -> Vec<u64> {
        self.now = self.sender.next_timer().time.secs();
        let now = self.event();
        self.sender.on_timer(now);
        self.send(now)
    }

    /// The window and the threshold.
    fn windows(&self) -> (f64, f64) {
        let (cwnd, ssthresh) = (self.sender.cwnd(), self.sender.ssthresh());
        (cwnd.segments(), ssthresh.segments())
    }
}

fn near(left: f64, right: f64) -> bool {
    (left - right).abs() < 1e-9
}

// --- timestamps and Eifel --------------------------------------------------------------------------------------------------------

const STAMPED: &str = r#"{"timestamps": true, "eifel": "window", "frto": false, "undo": false, "tail_loss_probe": false}"#;

fn stamped(more: &Value) -> Value {
    let mut tcp: Value = serde_json::from_str(STAMPED).expect("it is JSON");
    for (key, value) in more.as_object().expect("a table") {
        tcp[key] = value.clone();
    }
    tcp
}

/// Ten segments outstanding, the first of which has timed out and was sent again as the twelfth transmission (the SYN was the first).
fn timed_out(tcp: &Value) -> (Script, (f64, f64)) {
    let mut script = Script::new(tcp);
    let before = script.windows();
    assert_eq!(script.timeout(), [1]);
    assert!(script.windows().0 < before.0);
    (script, before)
}

#[test]
fn rfc3522_an_acknowledgement_of_the_original_undoes_a_timeout() {
    let (mut script, before) = timed_out(&stamped(&json!({})));
    // Of the first transmission of segment 1, which is the second of all.
    script.now += 0.01;
    let sent = script.ack(2, &[], 1);
    assert!(script.windows().0 >= before.0);
    assert!(near(script.windows().1, before.1));
    // New data, and nothing again.
    assert!(sent.iter().all(|seq| *seq > 10), "{sent:?}");
    assert_eq!(script.sender.counters().spurious, 1);
}

#[test]
fn rfc3522_an_acknowledgement_of_the_retransmission_does_not() {
    let (mut script, before) = timed_out(&stamped(&json!({})));
    script.now += RTT;
    script.ack(2, &[], 11);
    assert!(script.windows().0 < before.0);
    assert_eq!(script.sender.counters().spurious, 0);
}

#[test]
fn without_eifel_the_same_acknowledgement_changes_nothing() {
    let (mut script, before) = timed_out(&stamped(&json!({"eifel": "off"})));
    script.now += 0.01;
    script.ack(2, &[], 1);
    assert!(script.windows().0 < before.0);
}

#[test]
fn rfc3522_a_spurious_fast_retransmission_is_undone_too() {
    let mut script = Script::new(&stamped(&json!({})));
    let before = script.windows();
    script.now += RTT;
    // Segment 1 is late by more than three others.
    for reported in 3..=5 {
        script.ack(1, &[(2, reported)], 0);
    }
    assert!(script.windows().0 < before.0);
    let retransmission = script
        .sent
        .iter()
        .rposition(|data| data.seq == SeqNum::new(1));
    assert!(retransmission.is_some_and(|at| at > 10));
    script.now += 0.002;
    script.ack(6, &[], 1);
    assert!(script.windows().0 >= before.0);
    assert_eq!(script.sender.counters().spurious, 1);
}

#[test]
fn rfc3522_what_an_earlier_recovery_has_sent_again_undoes_no_later_one() {
    // A first recovery sends again what was new during it, and another begins before that is acknowledged: the acknowledgement repeats a timestamp from before
    // the second one's first retransmission, and says nothing of it. Measured in this scenario: Linux 6.1 undoes nothing.
    let tree = json!({
        "duration": "1.5 s", "stack": "linux", "cc": "cubic", "tcp": {"timer_tick": "10 ms"}, "record": ["link_flows"],
        "links": {"l": {"rate": "10 Mbit/s", "delay": "20 ms", "queue": {"name": "drop_tail", "limit": "50 packets"}}},
        "flows": [
            {"name": "tcp", "path": ["l"], "start": "1.3 ms"},
            {"name": "udp", "path": ["l"], "transport": "udp", "source": {"name": "constant_rate", "rate": "4 Mbit/s"}},
        ],
    });
    let scenario = scenario::from_tree(&tree).unwrap_or_else(|error| panic!("{error}"));
    let records = simulate(&scenario, 1);
    let first = |table: &str, column: &str| counts(&records, table, column)[0];
    // The link keeps the order and doubles nothing, so whatever was sent again had been dropped.
    assert_eq!(
        first("flows", "retransmits"),
        first("link_flows", "dropped_packets")
    );
    assert!(first("flows", "retransmits") > 20);
    assert_eq!(first("flows", "spurious"), 0);
}

#[test]
fn rfc4015_3_1_step_11_the_timeout_adapts_to_the_first_round_trip_of_new_data() {
    let tcp = stamped(&json!({"eifel": "window_and_timeout"}));
    let (mut script, _) = timed_out(&tcp);
    // SRTT is 0.1 s, RTTVAR 0.05 s. Everything has taken 0.9 s; then new data does, too.
    script.now = RTT + 0.9;
    script.ack(11, &[], 10);
    let data = script.sent.len() - 1;
    script.now += 0.9;
    script.ack(script.sent[data].seq.next().get(), &[], data);
    // SRTT is 0.9 s, RTTVAR 0.45 s: 2.7 s (the clock's granularity is 1 ms).
    let waits = script.sender.next_timer().time.secs() - script.now;
    assert!((waits - 2.7).abs() < 1e-6, "{waits}");
}

#[test]
fn rfc7323_4_1_a_retransmission_is_measured_by_its_timestamp() {
    let (mut script, _) = timed_out(&stamped(&json!({})));
    let samples = script.sender.round_trips().samples;
    let sent = script.now;
    script.now += 0.25;
    script.ack(2, &[], 11);
    assert_eq!(script.sender.round_trips().samples, samples + 1);
    // 7/8 of 0.1 s and 1/8 of 0.25 s; a tick of the clock is 1 ms.
    let srtt = script.sender.srtt().expect("a sample").secs();
    assert!(
        (srtt - (0.0875 + 0.031_25)).abs() <= 0.001 / 8.0 + 1e-9,
        "{srtt}, sent at {sent}"
    );
    // Without timestamps it is not (Karn, RFC 6298 §3).
    let (mut script, _) =
        timed_out(&json!({"frto": false, "undo": false, "tail_loss_probe": false}));
    let samples = script.sender.round_trips().samples;
    script.now += 0.25;
    script.ack(2, &[], 11);
    assert_eq!(script.sender.round_trips().samples, samples);
}

#[test]
fn rfc7323_4_1_other_recoveries_measure_with_every_acknowledgement() {
    let count = |timestamps: bool| {
        let mut script = Script::new(&json!({"recovery": "newreno", "timestamps": timestamps}));
        let before = script.sender.round_trips().samples;
        for next in 2..=6 {
            script.now += 0.02;
            script.ack(next, &[], usize::try_from(next).expect("small") - 1);
        }
        script.sender.round_trips().samples - before
    };
    // Without them one segment is timed at a time: the first, and not before that is acknowledged another.
    assert_eq!((count(true), count(false)), (5, 1));
}

#[test]
fn rfc7323_3_2_the_receiver_repeats_what_the_sender_said() {
    let scenario = scenario(&json!({"timestamps": true}));
    let mut receiver = Receiver::new(&Config::from(&scenario.flows[0].tcp));
    let mut lineage = Lineage::new();
    let mut arrives = |seq: u64, stamp: u32| {
        let now = lineage.record(EventKey::at_start(Instant::from_secs(0.1), 0));
        let data = DataSegment {
            seq: SeqNum::new(seq),
            payload: ByteCount::new(if seq == 0 { 0 } else { 1460 }),
            stamp: Stamp::from_bits(stamp),
            ..DataSegment::default()
        };
        receiver.on_segment(now, data).map(|ack| ack.echo.bits())
    };
    assert_eq!(arrives(0, 7), Some(7));
    // Every second segment is acknowledged: with the first one's.
    assert_eq!(arrives(1, 8), None);
    assert_eq!(arrives(2, 9), Some(8));
    // Out of order: with the last in order.
    assert_eq!(arrives(4, 11), Some(8));
    assert_eq!(arrives(3, 12), Some(12));
}

// --- limited transmit, reneging ----------------------------------------------------------------------------------------------------

#[test]
fn rfc3042_the_first_duplicates_let_new_segments_out() {
    let mut script = Script::new(&json!({}));
    script.now += RTT;
    assert_eq!(script.ack(1, &[(2, 3)], 0), [11]);
    assert_eq!(script.ack(1, &[(2, 4)], 0), [12]);
    // The third shows a loss (RACK with DupThresh, RFC 8985 §6.2 step 4).
    assert_eq!(script.ack(1, &[(2, 5)], 0).first(), Some(&1));
    let mut script = Script::new(&json!({"limited_transmit": false}));
    script.now += RTT;
    assert!(script.ack(1, &[(2, 3)], 0).is_empty());
    assert!(script.ack(1, &[(2, 4)], 0).is_empty());
    assert_eq!(script.ack(1, &[(2, 5)], 0).first(), Some(&1));
}

#[test]
fn rfc2018_8_a_receiver_may_discard_what_it_has_reported() {
    let mut script = Script::new(&json!({"tail_loss_probe": false}));
    script.now += RTT;
    script.ack(1, &[(2, 6)], 0);
    // Segment 1 arrives, but 2 to 5 are gone: the receiver asks for 2.
    script.now += RTT;
    script.ack(2, &[], 0);
    let mut again = script.timeout();
    for next in 3..=6 {
        script.now += RTT;
        again.extend(script.ack(next, &[], 0));
    }
    for seq in 2..=5 {
        assert!(again.contains(&seq), "{seq} is sent again: {again:?}");
    }
    assert_eq!(script.sender.snd_una(), SeqNum::new(6));
}

// --- pacing ----------------------------------------------------------------------------------------------------------------------------

/// When the segments of the second window leave, counted from the acknowledgement that lets them out; the timer is obeyed.
fn departures(tcp: &Value) -> Vec<f64> {
    let mut script = Script::new(tcp);
    script.now += RTT;
    let from = script.now;
    let mut times: Vec<f64> = script.ack(11, &[], 10).iter().map(|_| 0.0).collect();
    for _ in 0..5 {
        let next = script.sender.next_timer().time.secs();
        if next > from + RTT {
            break;
        }
        times.extend(script.timeout().iter().map(|_| next - from));
    }
    times
}

#[test]
fn a_window_is_paced_over_half_a_round_trip_in_slow_start() {
    let paced =
        json!({"pacing": "always", "pacing_free_start": "10 packets", "byte_counting": true});
    let times = departures(&paced);
    // 20 segments per 0.1 s, twice that: one in 2.5 ms.
    let gap = 0.1 / 40.0;
    for (at, time) in (0u32..).zip(&times[..4]) {
        assert!(near(*time, f64::from(at) * gap), "{times:?}");
    }
    // Reno asks for nothing, so with "algorithm" all leave at once.
    let at_once = departures(&json!({"byte_counting": true}));
    assert_eq!(at_once, [0.0; 20]);
}

#[test]
fn a_maximum_rate_paces_a_flow_that_nothing_else_paces() {
    let times =
        departures(&json!({"max_pacing_rate": "1 Mbit/s", "pacing_free_start": "10 packets"}));
    // A segment of 1460 bytes, 11.68 kbit, lasts 11.68 ms.
    assert!(
        near(times[1], 0.01168) && near(times[2], 0.02336),
        "{times:?}"
    );
}

#[test]
fn a_flow_that_is_not_paced_has_no_maximum_rate() {
    let tree = json!({
        "duration": "1 s", "tcp": {"pacing": "off", "max_pacing_rate": "1 Mbit/s"},
        "links": {"l": {"rate": "1 Mbit/s"}}, "flows": [{"path": ["l"]}],
    });
    let error = scenario::from_tree(&tree).expect_err("a contradiction");
    assert_eq!(error.path, "tcp.max_pacing_rate");
}

// --- segmentation offload ------------------------------------------------------------------------------------------------------------------

#[test]
fn with_segmentation_offload_a_short_burst_waits_for_more_acknowledgements() {
    let tcp = json!({"segmentation_offload": true, "tso_min_segments": "3 packets", "byte_counting": true});
    let mut script = Script::new(&tcp);
    script.now += RTT;
    // Two may leave: fewer than a burst of three, and than a third of the window of 11.
    assert!(script.ack(2, &[], 1).is_empty());
    // Four: a burst; one is left, and waits.
    assert_eq!(script.ack(3, &[], 2), [11, 12, 13]);
    assert_eq!(script.ack(4, &[], 3), [14, 15, 16]);
}

// --- the metrics cache -----------------------------------------------------------------------------------------------------------------------

/// Thresholds with which three transfers in turn end, in segments.
fn in_turn(cache: &str, shortcuts: bool) -> (Vec<f64>, record::Records) {
    let flow = |at: u32| {
        let size = ["1 MB", "1 MB", "20 kB"][at as usize];
        json!({"path": ["l"], "start": format!("{} s", 4 * at), "name": format!("f{at}"), "source": {"name": "bulk", "size": size}})
    };
    let tree = json!({
        "duration": "12 s", "sample": "ack", "stack": "linux", "cc": "reno", "tcp": {"metrics_cache": cache}, "shortcuts": shortcuts,
        "links": {"l": {"rate": "10 Mbit/s", "delay": "20 ms", "queue": {"name": "drop_tail", "limit": "1000 packets"}, "drop": [102]}},
        "flows": [flow(0), flow(1), flow(2)],
    });
    let scenario = scenario::from_tree(&tree).unwrap_or_else(|error| panic!("{error}"));
    let records = simulate(&scenario, 1);
    let flows = words(&records, "series", "flow");
    let thresholds = numbers(&records, "series", "ssthresh_bytes");
    let last = |name: &str| {
        let at = flows.iter().rposition(|flow| flow == name);
        thresholds[at.expect("it has samples")] / 1448.0
    };
    (["f0", "f1", "f2"].map(last).into(), records)
}

#[test]
fn a_connection_inherits_the_threshold_of_the_one_before() {
    let (with, records) = in_turn("with_ssthresh", true);
    assert!(with[0] < 100.0, "the first has lost a segment");
    assert!(near(with[1], with[0]) && near(with[2], with[0]), "{with:?}");
    assert_eq!(in_turn("with_ssthresh", false).1, records);
    for cache in ["off", "default"] {
        let (without, _) = in_turn(cache, true);
        assert!(without[1] > 1e6 && without[2] > 1e6, "{without:?}");
    }
}
