//! Explicit Congestion Notification from end to end: endpoints against the words of RFC 3168, RFC 8257 and RFC 9768, and paths with a queue that
//! marks against what the specifications' models foretell.

use crate::columns::{counts, numbers, words};
use crate::script::segments;
use sawtooth_core::internals::cc;
use sawtooth_core::internals::events::{Event, EventKey, Lineage};
use sawtooth_core::internals::packet::{Ack, DataSegment, Ecn};
use sawtooth_core::internals::tcp::receiver::Receiver;
use sawtooth_core::internals::tcp::scoreboard::{Range, SackBlocks};
use sawtooth_core::internals::tcp::sender::{Sender, SenderDraws};
use sawtooth_core::internals::tcp::{self, Config};
use sawtooth_core::record::Records;
use sawtooth_core::units::{ByteCount, Instant, SegCount, SeqNum};
use sawtooth_core::{Scenario, scenario, simulate};
use serde_json::{Value, json};

// --- the receiver -------------------------------------------------------------------------------------------------------

/// A receiver that acknowledges every second segment, and the clock.
struct Peer {
    receiver: Receiver,
    lineage: Lineage,
    next: u64,
}

impl Peer {
    fn new(feedback: &str) -> Self {
        let mut peer = Self {
            receiver: Receiver::new(&config(&json!({"ecn": feedback}), "reno")),
            lineage: Lineage::new(),
            next: 0,
        };
        peer.gets(Ecn::NotEct, false);
        peer
    }

    fn gets(&mut self, ecn: Ecn, cwr: bool) -> Option<Ack> {
        let now = self
            .lineage
            .record(EventKey::at_start(Instant::from_secs(0.0), 0));
        let seq = self.next;
        self.next += 1;
        let data = DataSegment {
            seq: SeqNum::new(seq),
            payload: ByteCount::new(if seq == 0 { 0 } else { 1460 }),
            ecn,
            cwr,
            ..DataSegment::default()
        };
        self.receiver.on_segment(now, data)
    }
}

#[test]
fn rfc3168_6_1_3_the_echo_lasts_until_the_window_is_reduced() {
    let mut peer = Peer::new("classic");
    assert_eq!(
        peer.gets(Ecn::Ce, false),
        None,
        "a mark waits for the second segment"
    );
    assert!(peer.gets(Ecn::Ect0, false).expect("an answer").ece);
    peer.gets(Ecn::Ect0, false);
    assert!(peer.gets(Ecn::Ect0, false).expect("an answer").ece);
    peer.gets(Ecn::Ect0, true);
    assert!(!peer.gets(Ecn::Ect0, false).expect("an answer").ece);
    // A mark on the very segment that says so is of the new window.
    peer.gets(Ecn::Ce, false);
    peer.gets(Ecn::Ect0, false);
    peer.gets(Ecn::Ce, true);
    assert!(peer.gets(Ecn::Ect0, false).expect("an answer").ece);
    assert_eq!(peer.receiver.marks.ce_in, SegCount::new(3));
}

#[test]
fn rfc8257_3_2_what_is_acknowledged_together_was_marked_or_not_together() {
    let mut peer = Peer::new("dctcp");
    assert_eq!(peer.gets(Ecn::Ect0, false), None);
    // The state changes: the one before is acknowledged first, without ECE, and this one at once.
    assert!(peer.receiver.marks.changes_state(Ecn::Ce));
    let old = peer
        .receiver
        .take_delayed(Instant::default())
        .expect("one waits");
    assert_eq!((old.next.get(), old.ece), (2, false));
    let first = peer.gets(Ecn::Ce, false).expect("an answer");
    assert_eq!((first.next.get(), first.ece), (3, true));
    assert!(!peer.receiver.marks.changes_state(Ecn::Ce));
    assert_eq!(
        peer.gets(Ecn::Ce, false),
        None,
        "the same state: delayed as ever"
    );
    assert!(peer.gets(Ecn::Ce, false).expect("an answer").ece);
    assert!(peer.receiver.take_delayed(Instant::default()).is_none());
    let back = peer.gets(Ecn::Ect0, false).expect("an answer");
    assert_eq!((back.next.get(), back.ece), (6, false));
}

#[test]
fn rfc9768_3_2_2_5_1_marks_are_counted_and_told_at_once_where_they_begin_and_by_twos() {
    let mut peer = Peer::new("accurate");
    assert_eq!(peer.gets(Ecn::Ect1, false), None);
    assert_eq!(peer.gets(Ecn::Ce, false).expect("the first mark").marks, 1);
    assert_eq!(peer.gets(Ecn::Ce, false), None);
    assert_eq!(peer.gets(Ecn::Ce, false).expect("two more").marks, 3);
    peer.gets(Ecn::Ect1, false);
    assert_eq!(peer.gets(Ecn::Ect1, false).expect("an answer").marks, 3);
}

// --- the sender ---------------------------------------------------------------------------------------------------------

fn scenario(tcp: &Value, cc: &str) -> Scenario {
    let tree = json!({
        "duration": "1 s", "stack": "rfc", "tcp": tcp, "cc": cc,
        "links": {"l": {"rate": "1 Mbit/s", "delay": "1 ms"}},
        "flows": [{"path": ["l"]}],
    });
    scenario::from_tree(&tree).unwrap_or_else(|error| panic!("{error}"))
}

fn config(tcp: &Value, cc: &str) -> Config {
    Config::from(&scenario(tcp, cc).flows[0].tcp)
}

/// A sender whose window of 10 segments, in congestion avoidance, is outstanding.
struct Script {
    sender: Sender,
    lineage: Lineage,
    now: f64,
}

impl Script {
    fn new(recovery: &str, cc: &str) -> (Self, Vec<DataSegment>) {
        let mut tcp = json!({"recovery": recovery, "initial_window": "10 packets", "initial_ssthresh": "10 packets"});
        if cc == "reno" {
            tcp["ecn"] = json!("classic");
        }
        let scenario = scenario(&tcp, cc);
        let flow = &scenario.flows[0];
        let entry = cc::TABLE
            .iter()
            .find(|entry| entry.name == cc)
            .expect("a row");
        let mut script = Self {
            sender: Sender::new(
                Config::from(&flow.tcp),
                entry.new,
                &flow.cc.params,
                None,
                SenderDraws::default(),
            ),
            lineage: Lineage::new(),
            now: 0.0,
        };
        let now = script.event();
        script.sender.on_start(now);
        let syn = script.sent(now);
        assert_eq!(syn[0].ecn, Ecn::NotEct, "RFC 3168 §6.1.1");
        let first = script.ack(1, false);
        assert_eq!(first.len(), 10);
        (script, first)
    }

    fn event(&mut self) -> Event {
        self.now += 0.001;
        self.lineage
            .record(EventKey::at_start(Instant::from_secs(self.now), 0))
    }

    fn sent(&mut self, now: Event) -> Vec<DataSegment> {
        std::iter::from_fn(|| self.sender.poll_transmit(now)).collect()
    }

    fn ack(&mut self, next: u64, ece: bool) -> Vec<DataSegment> {
        self.sack(next, ece, None)
    }

    fn sack(&mut self, next: u64, ece: bool, range: Option<Range>) -> Vec<DataSegment> {
        let now = self.event();
        let next = SeqNum::new(next);
        let mut sack = SackBlocks::default();
        if let Some(range) = range {
            sack.push(next, range);
        }
        let ack = Ack {
            next,
            repeated: None,
            sack,
            ece,
            marks: 0,
            ..Ack::default()
        };
        self.sender.on_segment(now, &ack);
        self.sent(now)
    }

    fn reductions(&self) -> (u64, u64) {
        let counters = &self.sender.counters();
        (counters.ecn_reductions, counters.congestion_signals)
    }
}

const RECOVERIES: [&str; 6] = ["tahoe", "reno", "newreno", "sack", "fack", "rack"];

#[test]
fn rfc3168_6_1_2_a_window_is_reduced_once_and_the_receiver_is_told_with_the_next_new_segment() {
    for recovery in RECOVERIES {
        let (mut script, first) = Script::new(recovery, "reno");
        assert!(
            first.iter().all(|data| data.ecn == Ecn::Ect0 && !data.cwr),
            "{recovery}"
        );
        // Segments 1 to 10 are outstanding; each acknowledgement up to theirs echoes the mark.
        let mut sent = Vec::new();
        for next in 2..=11 {
            sent.extend(script.ack(next, true));
        }
        assert_eq!(script.reductions(), (1, 1), "{recovery}");
        assert!(
            (script.sender.ssthresh().segments() - 5.0).abs() < 1.0,
            "{recovery}: half of 10 or so"
        );
        assert!(
            sent[0].cwr && sent.iter().skip(1).all(|data| !data.cwr),
            "{recovery}"
        );
        assert_eq!(sent[0].seq, SeqNum::new(11));
        // Segment 11 told the receiver: marks after that are of the next window.
        script.ack(12, true);
        assert_eq!(script.reductions(), (2, 2), "{recovery}");
    }
}

#[test]
fn rfc3168_6_1_2_a_loss_of_a_window_that_a_mark_has_reduced_reduces_no_more() {
    for recovery in RECOVERIES {
        let (mut script, _) = Script::new(recovery, "reno");
        script.ack(2, true);
        let ssthresh = script.sender.ssthresh().segments();
        // Segment 2 was lost; 3 to 8 arrive.
        for end in 4..=9 {
            script.sack(2, true, Some(segments(3..end)));
        }
        let counters = &script.sender.counters();
        assert_eq!(
            (counters.fast_retransmits, counters.congestion_signals),
            (1, 1),
            "{recovery}"
        );
        assert!(
            (script.sender.ssthresh().segments() - ssthresh).abs() < 1e-12,
            "{recovery}"
        );
    }
}

#[test]
fn rfc8257_3_5_but_of_dctcp_it_does() {
    let (mut script, _) = Script::new("sack", "dctcp");
    script.ack(2, true);
    for end in 4..=9 {
        script.sack(2, true, Some(segments(3..end)));
    }
    assert_eq!(script.reductions(), (1, 2));
}

#[test]
fn rfc3168_6_1_2_a_mark_in_a_window_that_a_loss_has_reduced_reduces_no_more() {
    for recovery in RECOVERIES {
        let (mut script, _) = Script::new(recovery, "reno");
        for end in 3..=8 {
            script.sack(1, false, Some(segments(2..end)));
        }
        assert_eq!(script.reductions(), (0, 1), "{recovery}");
        script.sack(1, true, Some(segments(2..9)));
        script.ack(11, true);
        assert_eq!(script.reductions(), (0, 1), "{recovery}");
    }
}

#[test]
fn rfc3168_6_1_5_what_is_sent_again_is_not_capable_except_where_marks_are_all_there_is() {
    for (cc, field) in [
        ("reno", Ecn::NotEct),
        ("dctcp", Ecn::Ect0),
        ("prague", Ecn::Ect1),
    ] {
        let (mut script, _) = Script::new("sack", cc);
        let mut sent = Vec::new();
        for end in 3..=8 {
            sent.extend(script.sack(1, false, Some(segments(2..end))));
        }
        let again = sent
            .iter()
            .find(|data| data.seq == SeqNum::new(1))
            .expect("a retransmission");
        assert_eq!((again.ecn, again.cwr), (field, false), "{cc}");
    }
}

// --- paths --------------------------------------------------------------------------------------------------------------

fn run(tree: &Value) -> Records {
    let scenario = scenario::from_tree(tree).unwrap_or_else(|error| panic!("{error}"));
    simulate(&scenario, 1)
}

fn first(records: &Records, table: &str, column: &str) -> u64 {
    counts(records, table, column)[0]
}

fn goodput(records: &Records) -> f64 {
    numbers(records, "flows", "goodput_bps")[0]
}

/// Packets in the forward queue at the samples, the first `skip` left out.
fn queue(records: &Records, skip: usize) -> Vec<u64> {
    let directions = words(records, "queues", "direction");
    let backlog = counts(records, "queues", "backlog_packets");
    let both = directions.iter().zip(backlog);
    let forward = both.filter(|(way, _)| *way == "forward");
    forward.map(|(_, packets)| packets).skip(skip).collect()
}

/// One flow over 100 Mbit/s and 10 ms, 83.3 packets of 1500 bytes, to a queue that marks above 20 packets.
fn dctcp(tcp: &Value, seconds: u32) -> Records {
    run(&json!({
        "duration": format!("{seconds} s"), "sample": "1 ms", "stack": "rfc", "cc": "dctcp", "tcp": tcp,
        "links": {"l": {"rate": "100 Mbit/s", "delay": "5 ms", "queue": {"name": "step", "limit": "1000 packets", "mark_above": "20 packets"}}},
        "flows": [{"path": ["l"]}],
    }))
}

#[test]
fn rfc8257_the_steady_state_is_that_of_the_model() {
    // Alizadeh et al. 2010 §3.3, for one flow: W* = C RTT + K = 83.3 + 20 = 103.3 packets when the queue reaches K, one more a round trip
    // later, when the marks are heard; alpha^2 (1 - alpha / 4) = (2 W* + 1) / (W* + 1)^2, so alpha = 0.142; the reduction is
    // D = (W* + 1) alpha / 2 = 7.4 packets, after which it takes as many round trips to grow again: of these one is marked, 1 / 7.4 = 0.135.
    let records = dctcp(&json!({"ack_every": 1}), 10);
    #[expect(clippy::cast_precision_loss, reason = "thousands")]
    let share =
        first(&records, "flows", "ce_in") as f64 / first(&records, "flows", "acked_packets") as f64;
    // The model is of a fluid: its round trips are not whole, and what is marked is a window or a few packets less.
    assert!((share / 0.139 - 1.0).abs() < 0.2, "{share}");
    let backlog = queue(&records, 2000);
    let (least, most) = (
        backlog.iter().min().expect("samples"),
        backlog.iter().max().expect("samples"),
    );
    // Q_max = K + N; two packets leave at once when the window grows. Then D less.
    assert!((20..=23).contains(most), "{most}");
    assert!((11..=15).contains(least), "{least}");
    // So the queue is never empty: everything but headers and the beginning.
    let full = 100e6 * 1460.0 / 1500.0;
    assert!(goodput(&records) > 0.98 * full, "{}", goodput(&records));
    assert_eq!(first(&records, "links", "dropped_packets"), 0);
    assert_eq!(first(&records, "flows", "retransmits"), 0);
}

#[test]
fn rfc8257_with_delayed_acknowledgements_the_share_of_marks_is_that_of_slower_growth_in_pairs() {
    // The window grows half as fast, so that D packets take 2 D round trips; and segments come in pairs, of which only the second finds the
    // queue above K in the round trip in which that is exceeded: the share is 1/2 / 2 D = 1 / (2 W* alpha), so alpha^2 = 1 / 206.6: 0.0696.
    let records = dctcp(&json!({"ack_every": 2}), 10);
    #[expect(clippy::cast_precision_loss, reason = "thousands")]
    let share =
        first(&records, "flows", "ce_in") as f64 / first(&records, "flows", "acked_packets") as f64;
    assert!((share / 0.0696 - 1.0).abs() < 0.2, "{share}");
    assert!(goodput(&records) > 0.98 * 100e6 * 1460.0 / 1500.0);
}

#[test]
fn the_count_of_marks_gives_dctcp_the_same_share_as_its_own_echo() {
    let [echo, count] = ["dctcp", "accurate"].map(|ecn| {
        let records = dctcp(&json!({"ack_every": 2, "ecn": ecn}), 5);
        first(&records, "flows", "ce_in")
    });
    assert!(echo.abs_diff(count) < echo / 10, "{echo} and {count}");
}

/// One flow over 10 Mbit/s and 100 ms, 83.3 packets, to a queue that marks above 100 packets; every segment is acknowledged.
fn classic(recovery: &str, prr: bool, cc: &Value, seconds: u32) -> Records {
    let mut tcp = json!({"recovery": recovery, "ecn": "classic", "ack_every": 1});
    if matches!(recovery, "fack" | "rack") {
        tcp["prr"] = json!(prr);
    }
    run(&json!({
        "duration": format!("{seconds} s"), "sample": "10 ms", "stack": "rfc", "cc": cc, "tcp": tcp,
        "links": {"l": {"rate": "10 Mbit/s", "delay": "50 ms", "queue": {"name": "step", "limit": "1000 packets", "mark_above": "100 packets"}}},
        "flows": [{"path": ["l"]}],
    }))
}

#[test]
fn rfc3168_reno_halves_its_window_when_the_queue_is_at_the_threshold_and_loses_nothing() {
    // The window goes from 92 to 184 packets, one per round trip: (184^2 - 92^2) / 2 = 12 696 packets, 15.2 s at 833.3 packets per second. So in
    // the 95 s after slow start there are 6 reductions, and one ended slow start.
    for recovery in RECOVERIES {
        let records = classic(recovery, false, &json!("reno"), 100);
        let reductions = first(&records, "flows", "ecn_reductions");
        assert!((6..=8).contains(&reductions), "{recovery}: {reductions}");
        let all = first(&records, "flows", "congestion_signals");
        assert_eq!(all, reductions, "{recovery}");
        assert_eq!(first(&records, "flows", "retransmits"), 0, "{recovery}");
        let full = 10e6 * 1460.0 / 1500.0;
        assert!(goodput(&records) > 0.97 * full, "{recovery}");
    }
}

#[test]
fn rfc3168_where_the_reduction_is_spread_the_segment_that_tells_of_it_meets_the_same_queue() {
    // The first new segment carries CWR. With PRR it leaves at once and is marked by the queue that has not shrunk yet, which the receiver takes
    // for a mark of the next window: a second reduction follows the first, to 46 packets. The cycle then takes (83 - 46) * 0.1 s + (184^2 -
    // 83^2) / 2 / 833.3 per second = 19.9 s, of which 95 s have 4.8, of two reductions each.
    let records = classic("rack", true, &json!("reno"), 100);
    let reductions = first(&records, "flows", "ecn_reductions");
    assert!((10..=12).contains(&reductions), "{reductions}");
    assert_eq!(first(&records, "flows", "retransmits"), 0);
}

#[test]
fn rfc9937_a_mark_s_reduction_is_spread_over_a_round_trip_and_does_not_let_the_queue_run_empty() {
    // At once, the sender is silent until half a window has arrived, and the queue falls by that; in proportion, every other packet is
    // replaced. Both end at the same window.
    let spread = |prr: bool| {
        let mut tree = json!({
            "duration": "60 s", "sample": "10 ms", "stack": "linux", "cc": "reno",
            "tcp": {"ecn": "classic", "prr": prr},
            "links": {"l": {"rate": "10 Mbit/s", "delay": "50 ms", "queue": {"name": "step", "limit": "1000 packets", "mark_above": "100 packets"}}},
        });
        tree["flows"] = json!([{"path": ["l"]}]);
        let backlog = queue(&run(&tree), 1000);
        let steepest = backlog
            .windows(10)
            .map(|window| window[0].saturating_sub(window[9]))
            .max();
        steepest.expect("samples")
    };
    // 90 ms are 75 packets of 1500 bytes: all of them leave the queue and none comes, or every other one.
    assert!((65..=76).contains(&spread(false)), "{}", spread(false));
    assert!((30..=45).contains(&spread(true)), "{}", spread(true));
}

#[test]
fn rfc8511_a_smaller_reduction_leaves_more_of_the_queue() {
    let least = |cc: &Value| {
        let records = classic("sack", false, cc, 60);
        *queue(&records, 2000).iter().min().expect("samples")
    };
    // 184 packets less the path's 83.3, halved: 9; at 0.8: 64.
    let (half, abe) = (
        least(&json!("reno")),
        least(&json!({"name": "reno", "beta_ecn": 0.8})),
    );
    assert!((5..=12).contains(&half), "{half}");
    assert!((58..=68).contains(&abe), "{abe}");
}

#[test]
fn without_ecn_the_same_queue_only_drops() {
    for recovery in tcp::recovery::TABLE {
        let records = run(&json!({
            "duration": "20 s", "stack": "rfc", "tcp": {"recovery": recovery.name},
            "links": {"l": {"rate": "10 Mbit/s", "delay": "10 ms", "queue": {"name": "step", "limit": "30 packets", "mark_above": "5 packets"}}},
            "flows": [{"path": ["l"]}],
        }));
        assert_eq!(first(&records, "links", "marked_packets"), 0);
        assert!(first(&records, "links", "dropped_packets") > 0);
        assert_eq!(first(&records, "flows", "ecn_signals"), 0);
    }
}

#[test]
fn prague_keeps_the_queue_at_the_threshold_on_its_own_count() {
    let records = run(&json!({
        "duration": "10 s", "sample": "1 ms", "stack": "linux", "cc": "prague",
        "links": {"l": {"rate": "100 Mbit/s", "delay": "15 ms", "queue": {"name": "step", "limit": "1000 packets", "mark_above": "20 packets"}}},
        "flows": [{"path": ["l"]}],
    }));
    assert_eq!(first(&records, "flows", "retransmits"), 0);
    assert_eq!(
        first(&records, "flows", "ecn_reductions"),
        0,
        "it reduces itself"
    );
    assert!(first(&records, "flows", "ce_in") > 0);
    assert!(
        goodput(&records) > 0.95 * 100e6 * 1448.0 / 1500.0,
        "{}",
        goodput(&records)
    );
    let most = queue(&records, 5000).into_iter().max().expect("samples");
    assert!(most <= 30, "{most}");
}
