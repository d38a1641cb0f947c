//! Endpoints held against the words of their specifications: segments and timer expirations go in, segments come out.
//!
//! Each test is named after the rule that it holds. Segment 0 is the SYN, so data starts with segment 1.

#![expect(
    clippy::single_range_in_vec_init,
    reason = "one block is a list of one range"
)]

use sawtooth_core::internals::events::{EventKey, Lineage};
use sawtooth_core::internals::packet::{Ack, DataSegment, Ecn};
use sawtooth_core::internals::tcp::receiver::Receiver;
use sawtooth_core::internals::tcp::rto;
use sawtooth_core::units::{ByteCount, Duration, Instant, SeqNum};
use serde_json::{Value, json};

use crate::script::{NOTHING, RTT, Script, config, near, tcp};

// --- RFC 5681: windows --------------------------------------------------------------------------------------------------

#[test]
fn rfc5681_3_1_a_connection_starts_with_the_initial_window() {
    let mut script = Script::new(&json!({"smss": "1460 B"}), None);
    assert_eq!(script.start(), [0]);
    script.wait(RTT);
    assert_eq!(script.ack(1), [1, 2, 3]);
}

#[test]
fn rfc5681_3_1_after_a_lost_syn_the_initial_window_is_one_segment() {
    let mut script = Script::new(&json!({}), None);
    script.start();
    assert_eq!(script.timeout(), [0]);
    script.wait(RTT);
    assert_eq!(script.ack(1), [1]);
}

#[test]
fn rfc5681_3_1_slow_start_sends_two_segments_for_every_acknowledged_one() {
    let mut script = Script::new(&json!({}), None);
    script.start();
    script.ack(1);
    assert_eq!(script.ack(2), [4, 5]);
    assert_eq!(script.ack(3), [6, 7]);
}

#[test]
fn rfc5681_3_1_a_timeout_halves_the_flight_and_restarts_from_one_segment() {
    for recovery in ["tahoe", "reno", "newreno", "sack"] {
        let (mut script, first) = Script::with_window(&tcp(recovery), 20);
        assert_eq!(script.timeout(), [first], "{recovery}");
        assert!(near(script.cwnd(), 1.0), "{recovery}");
        assert!(near(script.ssthresh(), 10.0), "{recovery}");
    }
}

#[test]
fn rfc5681_3_1_a_segment_that_times_out_again_leaves_the_threshold() {
    let (mut script, first) = Script::with_window(&tcp("reno"), 20);
    script.timeout();
    assert_eq!(script.timeout(), [first]);
    assert!(near(script.ssthresh(), 10.0));
}

#[test]
fn rfc5681_3_2_step_1_and_rfc3042_the_first_two_duplicates_send_new_data_and_leave_the_window() {
    for recovery in ["tahoe", "reno", "newreno"] {
        let (mut script, first) = Script::with_window(&tcp(recovery), 20);
        let cwnd = script.cwnd();
        assert_eq!(script.ack(first), [first + 20], "{recovery}");
        assert_eq!(script.ack(first), [first + 21], "{recovery}");
        assert!(near(script.cwnd(), cwnd), "{recovery}");
    }
}

#[test]
fn rfc3042_no_new_data_beyond_the_receivers_window() {
    let mut limited = tcp("reno");
    limited["window_limit"] = json!("21 packets");
    let (mut script, first) = Script::with_window(&limited, 20);
    assert_eq!(script.ack(first), [first + 20]);
    assert_eq!(script.ack(first), NOTHING);
}

#[test]
fn rfc5681_3_2_steps_2_and_3_the_third_duplicate_retransmits_and_halves() {
    for recovery in ["reno", "newreno"] {
        let (mut script, first) = Script::with_window(&tcp(recovery), 20);
        script.ack(first);
        script.ack(first);
        assert_eq!(script.ack(first), [first], "{recovery}");
        // FlightSize without the two segments of limited transmit is 20.
        assert!(near(script.ssthresh(), 10.0), "{recovery}");
        assert!(near(script.cwnd(), 10.0), "{recovery}");
    }
}

#[test]
fn rfc5681_3_2_steps_4_and_5_every_further_duplicate_lets_one_segment_out() {
    for recovery in ["reno", "newreno"] {
        let (mut script, first) = Script::with_window(&tcp(recovery), 20);
        for _ in 0..3 {
            script.ack(first);
        }
        // 22 are outstanding and the window is 10 + 3: 9 duplicates only fill it up, those after them each send one.
        for _ in 0..9 {
            assert_eq!(script.ack(first), NOTHING, "{recovery}");
        }
        assert_eq!(script.ack(first), [first + 22], "{recovery}");
        assert_eq!(script.ack(first), [first + 23], "{recovery}");
    }
}

#[test]
fn rfc5681_3_2_step_6_new_data_acknowledged_deflates_the_window() {
    let (mut script, first) = Script::with_window(&tcp("reno"), 20);
    for _ in 0..8 {
        script.ack(first);
    }
    script.wait(RTT);
    script.ack(first + 22);
    // Deflated to the threshold; this acknowledgement is one of congestion avoidance.
    assert!(near(script.cwnd(), 10.0 + 1.0 / 10.0));
}

#[test]
fn jacobson_1988_tahoe_restarts_from_one_segment_after_three_duplicates() {
    let (mut script, first) = Script::with_window(&tcp("tahoe"), 20);
    script.ack(first);
    script.ack(first);
    assert_eq!(script.ack(first), [first]);
    assert!(near(script.cwnd(), 1.0));
    assert!(near(script.ssthresh(), 10.0));
}

#[test]
fn a_timeout_during_recovery_does_not_raise_the_threshold() {
    let (mut script, first) = Script::with_window(&tcp("newreno"), 20);
    for _ in 0..40 {
        script.ack(first);
    }
    assert!(script.flight_size() > 40);
    script.timeout();
    assert!(near(script.ssthresh(), 5.0));
}

// --- RFC 6298: the retransmission timer ---------------------------------------------------------------------------------

#[test]
fn rfc6298_5_1_sending_starts_the_timer() {
    let mut script = Script::new(&json!({}), None);
    assert!(!script.timer_runs());
    script.start();
    assert!(near(script.deadline(), 1.0));
    script.wait(0.5);
    script.ack(1);
    assert!(script.timer_runs());
}

#[test]
fn rfc6298_5_2_the_timer_stops_when_everything_is_acknowledged() {
    let mut script = Script::new(&json!({"fin": false}), Some(2));
    script.start();
    script.wait(RTT);
    assert_eq!(script.ack(1), [1, 2]);
    script.ack(3);
    assert!(!script.timer_runs());
}

#[test]
fn rfc6298_5_3_new_data_acknowledged_restarts_the_timer() {
    let (mut script, first) = Script::with_window(&tcp("reno"), 20);
    let before = script.deadline();
    script.wait(0.05);
    script.ack(first + 1);
    assert!(near(script.deadline(), script.now + 1.0));
    assert!(script.deadline() > before);
    let before = script.deadline();
    script.wait(0.05);
    script.ack(first + 1);
    assert!(near(script.deadline(), before), "a duplicate does not");
}

#[test]
fn rfc6298_5_4_to_5_6_a_timeout_retransmits_the_earliest_and_doubles_the_timer() {
    let (mut script, first) = Script::with_window(&tcp("reno"), 20);
    assert_eq!(script.timeout(), [first]);
    assert!(near(script.deadline(), script.now + 2.0));
    assert_eq!(script.timeout(), [first]);
    assert!(near(script.deadline(), script.now + 4.0));
}

#[test]
fn rfc6298_3_karn_a_retransmitted_segment_gives_no_sample() {
    let mut script = Script::new(&json!({}), None);
    script.start();
    script.wait(RTT);
    script.ack(1);
    let samples = script.sender.round_trips().samples;
    script.timeout();
    script.wait(RTT);
    script.ack(2);
    assert_eq!(script.sender.round_trips().samples, samples);
    assert!(
        near(script.deadline(), script.now + 2.0),
        "and the back-off stays until a new sample"
    );
}

#[test]
fn rfc6298_2_4_the_minimum_is_a_parameter() {
    let mut fast = tcp("reno");
    fast["rto_min"] = json!("200 ms");
    let (script, _) = Script::with_window(&fast, 20);
    let last_restart = script.now - RTT;
    // One round trip for all samples: the variance decays, and the minimum holds.
    let timeout = script.deadline() - last_restart;
    assert!((0.2 - 1e-9..0.4).contains(&timeout), "{timeout}");
}

// --- RFC 6582: NewReno --------------------------------------------------------------------------------------------------

/// 20 outstanding, three duplicates: in recovery, with segments `first` and `first + 5` lost.
fn newreno_in_recovery(more: &Value) -> (Script, u64) {
    let mut settings = tcp("newreno");
    for (key, value) in more.as_object().expect("a table") {
        settings[key] = value.clone();
    }
    let (mut script, first) = Script::with_window(&settings, 20);
    for _ in 0..3 {
        script.ack(first);
    }
    script.wait(RTT);
    (script, first)
}

#[test]
fn rfc6582_3_2_step_3_a_partial_acknowledgement_retransmits_the_next_hole_and_stays() {
    let (mut script, first) = newreno_in_recovery(&json!({}));
    // Five segments leave the network, one is added back: 10 + 3 - 5 + 1 is below what is outstanding.
    assert_eq!(script.ack(first + 5), [first + 5]);
    assert_eq!(script.sender.counters().fast_retransmits, 1);
    assert!(near(script.ssthresh(), 10.0));
    // Still in recovery: another duplicate inflates, and does not count as a first one.
    assert_eq!(script.ack(first + 5), NOTHING);
    assert_eq!(script.sender.counters().fast_retransmits, 1);
}

#[test]
fn rfc6582_3_2_step_3_only_the_first_partial_acknowledgement_restarts_the_timer() {
    let (mut script, first) = newreno_in_recovery(&json!({}));
    script.ack(first + 5);
    let deadline = script.deadline();
    assert!(near(deadline, script.now + 1.0));
    script.wait(RTT);
    script.ack(first + 7);
    assert!(near(script.deadline(), deadline));
}

#[test]
fn rfc6582_4_slow_but_steady_restarts_it_every_time() {
    let (mut script, first) = newreno_in_recovery(&json!({"partial_ack_timer": "every"}));
    script.ack(first + 5);
    script.wait(RTT);
    script.ack(first + 7);
    assert!(near(script.deadline(), script.now + 1.0));
}

#[test]
fn rfc6582_3_2_step_3_a_full_acknowledgement_ends_recovery_with_the_smaller_window() {
    let (mut script, first) = newreno_in_recovery(&json!({}));
    script.ack(first + 22);
    // Nothing is outstanding: min(ssthresh, max(FlightSize, SMSS) + SMSS).
    assert!(near(script.cwnd(), 2.0));
}

#[test]
fn rfc6582_3_2_step_2_duplicates_after_a_timeout_do_not_retransmit_before_recover_is_covered() {
    let (mut script, first) = Script::with_window(&tcp("newreno"), 20);
    script.timeout();
    script.wait(RTT);
    script.ack(first + 2);
    for _ in 0..5 {
        assert!(!script.ack(first + 2).contains(&(first + 2)));
    }
    assert_eq!(script.sender.counters().fast_retransmits, 0);
}

// --- RFC 6675: SACK -----------------------------------------------------------------------------------------------------

#[test]
fn rfc6675_5_three_duplicates_with_news_retransmit_the_first_hole() {
    let (mut script, first) = Script::with_window(&tcp("sack"), 20);
    script.sack(first, &[first + 1..first + 2]);
    script.sack(first, &[first + 1..first + 3]);
    assert_eq!(script.sack(first, &[first + 1..first + 4]), [first]);
    assert!(near(script.cwnd(), 10.0));
}

#[test]
fn rfc6675_5_step_2_one_acknowledgement_that_reports_enough_is_enough() {
    let (mut script, first) = Script::with_window(&tcp("sack"), 20);
    // IsLost: three segments above the first have arrived. 16 of the 17 others are still in the path, the window is 10.
    assert_eq!(script.sack(first, &[first + 1..first + 4]), [first]);
}

#[test]
fn rfc6675_2_a_duplicate_without_news_does_not_count() {
    let (mut script, first) = Script::with_window(&tcp("sack"), 20);
    for _ in 0..5 {
        script.sack(first, &[first + 1..first + 2]);
    }
    assert_eq!(script.sender.counters().fast_retransmits, 0);
}

#[test]
fn rfc6675_4_the_pipe_counts_what_is_in_the_path() {
    let (mut script, first) = Script::with_window(&tcp("sack"), 20);
    // Segments first, first+1 and first+2 are lost. Enter recovery with 4 arrived: pipe is 20 - 4 - 3 + 1 retransmitted.
    let entered = script.sack(first, &[first + 3..first + 7]);
    assert_eq!(entered, [first], "13 and 1 more are above the window of 10");
    // Three arrive: pipe 11. Two more arrive: 9, so one may leave, the next hole (rule 1).
    assert_eq!(script.sack(first, &[first + 3..first + 10]), NOTHING);
    assert_eq!(script.sack(first, &[first + 3..first + 12]), [first + 1]);
    assert_eq!(script.sack(first, &[first + 3..first + 13]), [first + 2]);
    // All holes retransmitted: new data (rule 2).
    assert_eq!(script.sack(first, &[first + 3..first + 14]), [first + 20]);
}

#[test]
fn rfc6675_4_rule_3_without_new_data_a_hole_that_is_not_lost_yet_is_sent() {
    let mut script = Script::new(&tcp("sack"), Some(7));
    script.start();
    script.wait(RTT);
    let mut sent = script.ack(1);
    script.wait(RTT);
    for seq in 1..=3 {
        sent.extend(script.ack(seq + 1));
    }
    assert_eq!(sent, [1, 2, 3, 4, 5, 6, 7]);
    script.wait(RTT);
    // 4 is lost by the rule of three, 6 is not: only one segment above it has arrived.
    assert_eq!(script.sack(4, &[5..6, 7..8]), NOTHING);
    let mut again = script.sack(4, &[5..6, 7..8]);
    script.wait(RTT);
    again.extend(script.timeout());
    assert_eq!(again, [4], "two arrivals are below the threshold");
}

#[test]
fn deviating_from_rfc6675_4_rule_4_the_highest_segment_not_reported_is_rescued_before_the_first_retransmission_is_acknowledged()
 {
    // The RFC rescues nothing here: HighACK is not greater than RescueRxt, which is the first retransmission (§5 step 4.3).
    let mut limited = tcp("sack");
    limited["window_limit"] = json!("12 packets");
    let (mut script, first) = Script::with_window(&limited, 12);
    // The first hole is retransmitted, nothing new may leave, no other hole is known below the highest report.
    assert_eq!(script.sack(first, &[first + 1..first + 4]), [first]);
    let sent = script.sack(first, &[first + 1..first + 10]);
    assert_eq!(sent, [first + 11], "the last one outstanding");
    assert_eq!(
        script.sack(first, &[first + 1..first + 11]),
        NOTHING,
        "only once"
    );
}

#[test]
fn deviating_from_rfc6675_4_rule_4_the_first_retransmission_is_repeated_before_it_is_acknowledged_if_all_else_has_arrived()
 {
    // The RFC rescues nothing here: HighACK is not greater than RescueRxt, which is the first retransmission (§5 step 4.3).
    let mut limited = tcp("sack");
    limited["window_limit"] = json!("12 packets");
    let (mut script, first) = Script::with_window(&limited, 12);
    assert_eq!(script.sack(first, &[first + 1..first + 4]), [first]);
    let sent = script.sack(first, &[first + 1..first + 12]);
    assert_eq!(
        sent,
        [first],
        "all but the first have arrived, whose retransmission may be lost as well"
    );
}

#[test]
fn rfc6675_5_recovery_ends_when_everything_outstanding_at_its_start_is_acknowledged() {
    let (mut script, first) = Script::with_window(&tcp("sack"), 20);
    script.sack(first, &[first + 1..first + 4]);
    script.ack(first + 5);
    let again = script.sack(first + 5, &[first + 6..first + 15]);
    // 15 outstanding, 9 arrived, 1 lost: pipe is 5, so five may leave, the hole first.
    let new = [first + 20, first + 21, first + 22, first + 23];
    assert_eq!(again[0], first + 5, "a hole in the same recovery");
    assert_eq!(again[1..], new);
    assert_eq!(script.sender.counters().fast_retransmits, 1);
    script.ack(first + 20);
    assert!(near(script.cwnd(), 10.0));
    let first = script.snd_una();
    script.sack(first, &[first + 1..first + 4]);
    assert_eq!(script.sender.counters().fast_retransmits, 2);
}

// --- RFC 8985: RACK -----------------------------------------------------------------------------------------------------

#[test]
fn rfc8985_6_2_a_delayed_acknowledgement_that_reports_a_hole_is_no_reordering() {
    let (mut script, first) = Script::with_window(&tcp("rack"), 20);
    // One in order, whose acknowledgement was delayed, and one beyond the hole, in one acknowledgement.
    script.sack(first + 1, &[first + 2..first + 3]);
    script.sack(first + 1, &[first + 2..first + 4]);
    // The third beyond the hole: without reordering nothing more is waited for.
    let sent = script.sack(first + 1, &[first + 2..first + 5]);
    assert_eq!(sent[0], first + 1);
    assert_eq!(script.sender.counters().fast_retransmits, 1);
}

// --- the receiver: RFC 1122, RFC 5681 §4.2, RFC 2018 ----------------------------------------------------------------------

/// A receiver that has answered the SYN.
fn receiver(tcp: &Value) -> (Receiver, Lineage) {
    let mut lineage = Lineage::new();
    let mut receiver = Receiver::new(&config(tcp));
    let now = lineage.record(EventKey::at_start(Instant::from_secs(0.0), 0));
    let syn = DataSegment::default();
    let answer = receiver
        .on_segment(now, syn)
        .expect("a SYN is answered at once");
    assert_eq!(answer.next, SeqNum::new(1));
    (receiver, lineage)
}

fn arrives(state: &mut (Receiver, Lineage), time: f64, seq: u64) -> Option<Ack> {
    let now = state
        .1
        .record(EventKey::at_start(Instant::from_secs(time), 0));
    state.0.on_segment(
        now,
        DataSegment {
            seq: SeqNum::new(seq),
            payload: ByteCount::new(1460),
            ..DataSegment::default()
        },
    )
}

fn blocks(ack: &Ack) -> Vec<(u64, u64)> {
    ack.sack
        .ranges(ack.next)
        .map(|range| (range.start.get(), range.end.get()))
        .collect()
}

#[test]
fn rfc5681_4_2_every_second_segment_is_acknowledged() {
    let mut state = receiver(&json!({}));
    assert!(arrives(&mut state, 1.0, 1).is_none());
    assert_eq!(
        arrives(&mut state, 1.0, 2).expect("an answer").next,
        SeqNum::new(3)
    );
    assert!(arrives(&mut state, 1.0, 3).is_none());
}

#[test]
fn rfc1122_4_2_3_2_an_acknowledgement_waits_no_longer_than_the_timer() {
    let mut state = receiver(&json!({"delayed_ack_timeout": "100 ms"}));
    arrives(&mut state, 1.0, 1);
    assert!(near(state.0.next_timer().time.secs(), 1.1));
    assert_eq!(state.0.on_timer().next, SeqNum::new(2));
    assert!(state.0.next_timer().is_never());
}

#[test]
fn rfc5681_4_2_a_segment_out_of_order_or_into_a_hole_is_acknowledged_at_once() {
    let mut state = receiver(&json!({}));
    assert_eq!(
        arrives(&mut state, 1.0, 2).expect("an answer").next,
        SeqNum::new(1)
    );
    assert_eq!(
        arrives(&mut state, 1.0, 1).expect("an answer").next,
        SeqNum::new(3)
    );
}

#[test]
fn rfc2018_4_the_first_block_holds_the_segment_that_came_last() {
    let mut state = receiver(&json!({}));
    arrives(&mut state, 1.0, 3);
    arrives(&mut state, 1.0, 5);
    let answer = arrives(&mut state, 1.0, 7).expect("an answer");
    assert_eq!(blocks(&answer), [(7, 8), (5, 6), (3, 4)]);
    let answer = arrives(&mut state, 1.0, 4).expect("an answer");
    assert_eq!(blocks(&answer), [(3, 6), (7, 8)], "blocks that met are one");
    let answer = arrives(&mut state, 1.0, 1).expect("an answer");
    assert_eq!(
        (answer.next.get(), blocks(&answer)),
        (2, vec![(3, 6), (7, 8)]),
        "and stay reported"
    );
}

#[test]
fn a_segment_that_comes_twice_is_reported_as_a_duplicate() {
    let mut state = receiver(&json!({}));
    arrives(&mut state, 1.0, 1);
    assert!(
        arrives(&mut state, 1.0, 1)
            .expect("an answer")
            .repeated
            .is_some()
    );
    arrives(&mut state, 1.0, 5);
    assert!(
        arrives(&mut state, 1.0, 5)
            .expect("an answer")
            .repeated
            .is_some()
    );
}

/// A receiver as Linux's, all of whose first acknowledgements have left.
fn linux_receiver() -> (Receiver, Lineage) {
    let mut state = receiver(&json!({
        "recovery": "rack", "quick_acks": 2, "quick_acks_again": true, "sack_compression_delay": "1 ms", "ecn": "classic",
    }));
    for seq in 1..=4 {
        arrives(&mut state, 1.0, seq);
    }
    state
}

/// How many segments in order are acknowledged one by one from here on.
fn one_by_one(state: &mut (Receiver, Lineage), time: f64, first: u64) -> usize {
    (first..first + 10)
        .take_while(|seq| arrives(state, time, *seq).is_some())
        .count()
}

#[test]
fn linux_acknowledges_one_by_one_again_after_a_pause_and_after_a_repeated_segment() {
    assert_eq!(one_by_one(&mut linux_receiver(), 1.1, 5), 0);
    // The SYN came one second before the first segment: the timeout is three (RFC 6298 §2.2).
    assert_eq!(one_by_one(&mut linux_receiver(), 3.9, 5), 0);
    assert_eq!(one_by_one(&mut linux_receiver(), 4.1, 5), 2);
    let mut state = linux_receiver();
    assert!(
        arrives(&mut state, 1.0, 2)
            .expect("an answer")
            .repeated
            .is_some()
    );
    assert_eq!(one_by_one(&mut state, 1.1, 5), 1, "with its own, two");
}

#[test]
fn linux_acknowledges_the_first_mark_the_next_segment_and_cwr_at_once() {
    let mut state = linux_receiver();
    let mut marked = |seq, ecn, cwr| {
        let now = state
            .1
            .record(EventKey::at_start(Instant::from_secs(1.0), 0));
        let data = DataSegment {
            seq: SeqNum::new(seq),
            payload: ByteCount::new(1460),
            ecn,
            cwr,
            ..DataSegment::default()
        };
        state.0.on_segment(now, data).is_some()
    };
    // Measured: of a row of 17 marked segments only the first had that effect; CWR begins another row.
    let row = [5, 6, 7, 8, 9].map(|seq| marked(seq, Ecn::Ce, false));
    assert_eq!(row, [true, true, false, true, false]);
    assert!(marked(10, Ecn::Ect0, true), "with CWR");
    assert!(!marked(11, Ecn::Ect0, false));
    assert!(marked(12, Ecn::Ce, false) && marked(13, Ecn::Ect0, false));
    assert!(!marked(14, Ecn::Ect0, false));
    assert!(marked(15, Ecn::Ce, true) && marked(16, Ecn::Ce, false));
}

#[test]
fn linux_acknowledges_three_segments_out_of_order_at_once_and_others_together() {
    let mut state = linux_receiver();
    for seq in 6..9 {
        assert!(arrives(&mut state, 1.0, seq).is_some());
    }
    for seq in 9..12 {
        assert!(arrives(&mut state, 1.0, seq).is_none());
    }
    // A twentieth of the handshake's second is more than the limit, which the slack is added to.
    assert!(near(state.0.next_timer().time.secs(), 1.0011));
    assert_eq!(blocks(&state.0.on_timer()), [(6, 12)]);
    assert!(arrives(&mut state, 1.0, 12).is_none());
    assert_eq!(
        arrives(&mut state, 1.0, 5).expect("it fills the hole").next,
        SeqNum::new(13)
    );
    assert!(state.0.next_timer().is_never());
}

#[test]
fn the_timeout_is_never_below_its_minimum_nor_above_its_maximum() {
    let config = config(&json!({"rto_min": "300 ms", "rto_max": "2 s"}));
    let mut timer = rto::Rto::new(config.rto, Duration::ZERO);
    timer.sample(Instant::START, Duration::from_secs(0.001));
    assert!(near(timer.timeout().secs(), 0.3));
    for _ in 0..20 {
        timer.back_off();
    }
    assert!(near(timer.timeout().secs(), 2.0));
}
