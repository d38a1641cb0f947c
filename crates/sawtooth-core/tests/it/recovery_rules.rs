//! Loss recovery by duplicate acknowledgements, held against the words of its specifications: what `tcp_rules` leaves open of windows, counters and
//! the number of segments that leave.

#![expect(
    clippy::single_range_in_vec_init,
    reason = "one block is a list of one range"
)]

use sawtooth_core::internals::packet::{Ack, AdvertisedWindow};
use sawtooth_core::units::{ByteCount, Instant, SeqNum};
use serde_json::{Value, json};

use crate::script::{NOTHING, RTT, Script, near, reporting, tcp, with};

// --- RFC 5681 and RFC 6582 ----------------------------------------------------------------------------------------------

#[test]
fn rfc6582_3_2_step_3_a_partial_acknowledgement_deflates_by_what_it_covers_less_the_retransmission()
{
    let (mut script, first) = Script::with_window(&tcp("newreno"), 20);
    for _ in 0..15 {
        script.ack(first);
    }
    // Two of limited transmit, and 10 + 15: three more.
    assert_eq!(script.flight_size(), 25);
    assert_eq!(
        script.pipe(),
        10,
        "what the duplicates say has arrived is not in the path"
    );
    assert_eq!(script.sender.counters().dupacks_in, 15);
    // 10 + 15 - 5 + 1 = 21 from the sixth on, of which 20 are outstanding.
    assert_eq!(script.ack(first + 5), [first + 5, first + 25]);
}

#[test]
fn rfc5681_3_2_step_2_the_threshold_is_half_of_the_flight_without_limited_transmit() {
    let more = json!({"initial_window": "4 packets", "initial_ssthresh": "4 packets"});
    let mut script = Script::new(&with(tcp("reno"), &more), None);
    assert_eq!(script.establish(), [1, 2, 3, 4]);
    script.wait(RTT);
    assert_eq!(script.ack(2), [5]);
    assert!(near(script.cwnd(), 4.25));
    let sent = [script.ack(2), script.ack(2), script.ack(2)].concat();
    assert_eq!(sent, [6, 7, 2]);
    assert!(near(script.ssthresh(), 2.0));
}

#[test]
fn without_limited_transmit_tahoe_retransmits_at_the_third_duplicate_all_the_same() {
    let (mut script, first) =
        Script::with_window(&with(tcp("tahoe"), &json!({"limited_transmit": false})), 20);
    let sent = [script.ack(first), script.ack(first), script.ack(first)].concat();
    assert_eq!(sent, [first]);
    assert_eq!(script.sender.counters().dupacks_in, 3);
}

#[test]
fn a_timeout_begins_to_count_duplicates_anew() {
    let (mut script, first) = Script::with_window(&tcp("reno"), 20);
    script.ack(first);
    script.ack(first);
    script.timeout();
    // The first two let a segment out each (RFC 3042), the third nothing.
    let sent: Vec<_> = (0..3).map(|_| script.ack(first)).collect();
    assert_eq!(sent, [vec![first + 1], vec![first + 2], vec![]]);
}

#[test]
fn without_a_handshake_the_third_duplicate_is_the_third() {
    let more = json!({"handshake": false, "initial_window": "4 packets"});
    let mut script = Script::new(&with(tcp("reno"), &more), None);
    assert_eq!(script.start(), [0, 1, 2, 3]);
    script.wait(RTT);
    let sent = [script.ack(0), script.ack(0), script.ack(0)].concat();
    assert_eq!(sent, [4, 5, 0]);
}

#[test]
fn a_recovery_burst_is_the_most_that_one_acknowledgement_lets_out() {
    let more = json!({"recovery_burst": "2 packets", "initial_window": "10 packets", "reduce_from": "window"});
    let mut script = Script::new(&with(tcp("newreno"), &more), None);
    script.start();
    script.wait(RTT);
    let offer = |segments: u64| Ack {
        window: AdvertisedWindow::of(ByteCount::new(1460 * segments)),
        ..reporting(1, &[])
    };
    assert_eq!(script.hear(&offer(4)), [1, 2, 3, 4]);
    script.wait(RTT);
    script.hear(&offer(4));
    script.hear(&offer(4));
    // 5 + 3 in the window, four outstanding, and the receiver has room.
    assert_eq!(script.hear(&offer(20)), [1, 5, 6]);
}

// --- RFC 6675 -----------------------------------------------------------------------------------------------------------

#[test]
fn rfc6675_5_1_after_a_timeout_reports_retransmit_nothing_before_all_that_was_outstanding_has_arrived()
 {
    let (mut script, first) = Script::with_window(&tcp("sack"), 20);
    script.timeout();
    script.wait(RTT);
    script.sack(first, &[first + 1..first + 5]);
    assert_eq!(script.sender.counters().fast_retransmits, 0);
}

#[test]
fn a_segment_that_was_late_leaves_the_window_as_open_as_one_in_order() {
    for pipe in ["scoreboard", "counter"] {
        let (mut script, first) =
            Script::with_window(&with(tcp("sack"), &json!({"sack_pipe": pipe})), 20);
        assert_eq!(script.sack(first, &[first + 1..first + 2]), [first + 20]);
        // Slow start: 21, of which 19 are outstanding.
        let sent = script.ack(first + 2);
        assert_eq!(sent, [first + 21, first + 22], "{pipe}");
    }
}

#[test]
fn what_has_been_reported_counts_as_delivered() {
    let (mut script, first) = Script::with_window(&tcp("sack"), 20);
    let before = script.delivered_bytes();
    script.sack(first, &[first + 1..first + 4]);
    assert_eq!(script.delivered_bytes(), before + 3 * 1460);
    // 20 less three that arrived, one that is lost and is sent again.
    assert_eq!(script.pipe(), 17);
    assert_eq!(script.sender.counters().dupacks_in, 1);
}

#[test]
fn a_report_of_a_duplicate_is_counted_where_there_is_sack() {
    for (recovery, counted) in [("sack", 1), ("fack", 1), ("rack", 1), ("reno", 0)] {
        let (mut script, first) = Script::with_window(&tcp(recovery), 4);
        let mut ack = reporting(first, &[]);
        ack.repeated = Some(SeqNum::ZERO);
        script.hear(&ack);
        assert_eq!(script.sender.counters().dsacks_in, counted, "{recovery}");
    }
}

// --- Fall and Floyd 1996: the path's content as a counter ---------------------------------------------------------------

/// 20 outstanding and two more of limited transmit, of which the first is lost and three have arrived.
fn counting(more: &Value) -> (Script, u64) {
    let counter = with(tcp("sack"), &json!({"sack_pipe": "counter"}));
    let (mut script, first) = Script::with_window(&with(counter, more), 20);
    for (arrived, sent) in [(1, first + 20), (2, first + 21), (3, first)] {
        // The retransmission, and nothing else.
        let found = script.sack(first, &[first + 1..first + 1 + arrived]);
        assert_eq!(found, [sent]);
    }
    assert!(near(script.cwnd(), 10.0));
    (script, first)
}

#[test]
fn fall_floyd_1996_4_a_segment_leaves_when_fewer_than_the_window_are_in_the_path() {
    let (mut script, first) = counting(&json!({}));
    // 22 less three are 19: after nine more there are ten, after the tenth nine.
    for arrived in 4..13 {
        let sent = script.sack(first, &[first + 1..first + 1 + arrived]);
        assert_eq!(sent, NOTHING, "{arrived}");
    }
    assert_eq!(script.sack(first, &[first + 1..first + 14]), [first + 22]);
    assert_eq!(script.sender.counters().dupacks_in, 13);
    // A partial acknowledgement: two have left. What is missing is sent before new data.
    let sent = script.sack(first + 14, &[first + 15..first + 16]);
    assert_eq!(sent, [first + 14, first + 23]);
    // Everything that was outstanding at the loss: ten, of which two are outstanding.
    assert_eq!(script.ack(first + 22).len(), 8);
    assert!(near(script.cwnd(), 10.0));
    assert_eq!(script.sender.counters().fast_retransmits, 1);
}

#[test]
fn rfc9293_3_8_6_the_counter_lets_nothing_out_beyond_the_receivers_window() {
    let (mut script, first) = counting(&json!({"window_limit": "22 packets"}));
    // All of the 22 but the first: the path is empty at the end.
    for arrived in 4..=21 {
        let sent = script.sack(first, &[first + 1..first + 1 + arrived]);
        assert_eq!(sent, NOTHING, "{arrived}");
    }
}

// --- what is kept of losses ---------------------------------------------------------------------------------------------

#[test]
fn an_episode_says_how_its_loss_was_found_and_no_number_where_segments_are_not_judged() {
    for (recovery, cause) in [("newreno", "dupack"), ("sack", "sack")] {
        let (mut script, first) = Script::with_window(&tcp(recovery), 20);
        script.sender.keep_episodes();
        for arrived in 1..=3 {
            script.sack(first, &[first + 1..first + 1 + arrived]);
        }
        script.wait(RTT);
        script.ack_all();
        let episodes = script.sender.episodes();
        assert_eq!(episodes.len(), 1);
        let episode = &episodes[0];
        assert_eq!((episode.cause.name(), episode.lost), (cause, None));
        assert_eq!(episode.end, Some(Instant::from_secs(script.now)));
        assert_eq!((episode.retransmits, episode.timeouts), (1, 0));
    }
}

#[test]
fn with_a_counter_what_is_reported_after_new_data_is_news_again() {
    let more = json!({ "sack_pipe": "counter" });
    let (mut script, first) = Script::with_window(&with(tcp("sack"), &more), 20);
    // Two duplicates, then new data: the scoreboard is cleared, and three reports of what had been reported are three duplicates.
    script.sack(first, &[first + 5..first + 6]);
    script.sack(first, &[first + 5..first + 8]);
    script.ack(first + 1);
    script.sack(first + 1, &[first + 5..first + 6]);
    script.sack(first + 1, &[first + 5..first + 7]);
    assert_eq!(script.sender.counters().fast_retransmits, 0);
    script.sack(first + 1, &[first + 5..first + 8]);
    assert_eq!(script.sender.counters().fast_retransmits, 1);
}
