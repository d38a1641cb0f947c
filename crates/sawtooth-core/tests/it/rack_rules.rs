//! Loss recovery by time, held against the words of its specifications: RFC 8985, RFC 9937, RFC 5682, RFC 7661, and pacing.
//!
//! Ten segments leave 0.1 s after the SYN; every round trip takes 0.1 s, so the reordering window is 25 ms, and the timeout 1 s.

#![expect(
    clippy::single_range_in_vec_init,
    reason = "one block is a list of one range"
)]

use sawtooth_core::internals::packet::{Ack, Ecn};
use sawtooth_core::internals::tcp::limits::SendLimit;
use serde_json::{Value, json};

use crate::script::{NOTHING, RTT, Script, near, reporting, with};
use sawtooth_core::units::{SegCount, SeqNum};

/// RACK, and nothing besides that is not asked for.
fn rack(more: &Value) -> Value {
    let alone = json!({
        "recovery": "rack", "initial_window": "10 packets", "tail_loss_probe": false, "frto": false, "undo": false,
    });
    with(alone, more)
}

/// A round trip after segments 1 to 10 have left.
fn established(more: &Value) -> Script {
    let mut script = Script::new(&rack(more), None);
    let sent = script.establish();
    assert_eq!(sent, (1..=10).collect::<Vec<u64>>());
    script.wait(RTT);
    script
}

/// Segments below `next` and those reported have arrived, and one more segment came twice.
fn duplicate(next: u64) -> Ack {
    Ack {
        repeated: Some(SeqNum::ZERO),
        ..reporting(next, &[])
    }
}

// --- RFC 8985 §6: losses ------------------------------------------------------------------------------------------------

#[test]
fn rfc8985_6_2_step_5_a_segment_is_lost_a_quarter_of_a_round_trip_after_a_later_one_has_arrived() {
    let mut script = established(&json!({"probe_slack": "2 ms"}));
    assert_eq!(script.sack(1, &[2..3]), [11], "limited transmit");
    assert_eq!(script.sender.counters().dupacks_in, 1);
    assert!(near(script.deadline() - script.now, 0.025 + 0.002));
    assert_eq!(script.timeout(), [1]);
    assert_eq!(script.sender.counters().fast_retransmits, 1);
    assert!(near(script.ssthresh(), 5.0));
    script.wait(RTT);
    script.ack(3);
    assert_eq!(script.sender.counters().dupacks_in, 1, "no duplicate");
}

#[test]
fn rfc8985_6_2_step_4_a_duplicate_widens_the_reordering_window_for_sixteen_recoveries() {
    let mut script = established(&json!({}));
    script.hear(&duplicate(1));
    let mut waits = Vec::new();
    for _ in 0..18 {
        let first = script.snd_una();
        script.sack(first, &[first + 1..first + 2]);
        waits.push(script.deadline() - script.now);
        assert_eq!(script.timeout().first(), Some(&first));
        script.wait(RTT);
        script.ack_all();
        script.wait(RTT);
    }
    for (recoveries, wait) in waits.iter().enumerate() {
        let quarters = if recoveries < 16 { 2.0 } else { 1.0 };
        assert!(near(*wait, 0.025 * quarters), "{recoveries}: {wait}");
    }
}

#[test]
fn rfc8985_6_2_step_3_what_a_receiver_had_discarded_and_has_again_is_no_reordering() {
    // With a threshold of one, nothing is waited for as long as no reordering has been seen.
    let mut script = established(&json!({"dup_thresh": 1}));
    assert_eq!(script.sack(1, &[2..4]).first(), Some(&1));
    script.wait(RTT);
    // 2 and 3 had been reported (RFC 2018 §8).
    script.ack(2);
    assert_eq!(script.timeout(), [2]);
    script.wait(RTT);
    // And yet 3 was there: the highest segment delivered is delivered again.
    script.ack(4);
    script.wait(RTT);
    script.ack_all();
    script.wait(RTT);
    let first = script.snd_una();
    let sent = script.sack(first, &[first + 1..first + 2]);
    assert_eq!(sent.first(), Some(&first), "{sent:?}");
}

#[test]
fn rfc8985_6_2_step_3_an_original_below_one_that_was_delivered_is_reordering() {
    let mut script = established(&json!({}));
    script.sack(1, &[2..3]);
    script.wait(0.001);
    script.ack(3);
    script.wait(RTT);
    script.ack_all();
    script.wait(RTT);
    // From then on four beyond a hole do not show a loss at once.
    let first = script.snd_una();
    let sent = script.sack(first, &[first + 1..first + 5]);
    assert!(!sent.contains(&first), "{sent:?}");
    assert!(near(script.deadline() - script.now, 0.025));
}

#[test]
fn rfc9293_3_8_6_nothing_new_leaves_beyond_the_receivers_window_in_a_recovery() {
    let mut script = established(&json!({"window_limit": "10 packets"}));
    assert_eq!(script.sack(1, &[2..3]), NOTHING);
    assert_eq!(script.sack(1, &[2..5]), [1]);
}

#[test]
fn without_prr_the_window_is_the_threshold_from_the_beginning_of_a_recovery() {
    let mut script = established(&json!({"prr": false}));
    // Six are in the path: one has to arrive first.
    assert_eq!(script.sack(1, &[2..5]), NOTHING);
    assert!(near(script.cwnd(), 5.0));
    assert_eq!(script.sack(1, &[2..7]), [1]);
    assert!(near(script.cwnd(), 5.0));
    assert_eq!(script.pipe(), 5);
}

#[test]
fn rfc9937_with_prr_it_walks_there() {
    let mut script = established(&json!({}));
    // Three of ten are delivered: half of three, rounded up, may leave beside the six in the path.
    assert_eq!(script.sack(1, &[2..5]), [1, 11]);
    assert!(near(script.cwnd(), 8.0));
    assert_eq!(script.pipe(), 8);
    assert_eq!(script.delivered_bytes(), 3 * 1460);
}

// --- undoing a reduction ------------------------------------------------------------------------------------------------

#[test]
fn rfc3708_a_reduction_is_undone_when_every_retransmission_was_a_duplicate() {
    for undo in [true, false] {
        let mut script = established(&json!({"undo": undo}));
        let before = (script.cwnd(), script.ssthresh());
        assert_eq!(script.sack(1, &[2..5]), [1, 11]);
        script.ack(5);
        assert_eq!(script.sender.counters().spurious, 0, "not reported yet");
        script.hear(&duplicate(5));
        assert_eq!(script.sender.counters().spurious, u64::from(undo));
        let after = (script.cwnd(), script.ssthresh());
        assert_eq!(after == before, undo, "{after:?}");
    }
}

#[test]
fn rfc3708_nothing_is_undone_while_a_lost_segment_waits() {
    let mut script = established(&json!({"undo": true}));
    // Two are lost; five are in the path, which is the threshold, so only the first retransmission leaves.
    assert_eq!(script.sack(1, &[3..6]), [1]);
    let reported = Ack {
        repeated: Some(SeqNum::ZERO),
        ..reporting(1, &[3..6])
    };
    script.hear(&reported);
    assert_eq!(script.sender.counters().spurious, 0);
}

// --- RFC 5682: F-RTO ----------------------------------------------------------------------------------------------------

/// All ten are taken for lost, and the first has been sent again.
fn timed_out(more: &Value) -> Script {
    let mut script = established(&with(json!({"frto": true}), more));
    assert_eq!(script.timeout(), [1]);
    script.wait(0.01);
    script
}

#[test]
fn rfc5682_3_1_step_3b_a_timeout_is_spurious_if_something_arrives_that_was_not_sent_again() {
    for (frto, undone) in [(true, 1), (false, 0)] {
        let mut script = timed_out(&json!({"frto": frto}));
        script.ack(3);
        assert_eq!(script.sender.counters().spurious_timeouts, undone);
    }
    // In two steps.
    let mut script = timed_out(&json!({}));
    script.ack(2);
    assert_eq!(script.sender.counters().spurious_timeouts, 0);
    script.ack(5);
    assert_eq!(script.sender.counters().spurious_timeouts, 1);
    assert!(script.cwnd() >= 10.0);
}

#[test]
fn rfc5682_3_1_step_3a_it_was_not_if_the_second_acknowledgement_is_a_duplicate() {
    let mut script = timed_out(&json!({}));
    script.ack(2);
    script.ack(2);
    script.ack(5);
    assert_eq!(script.sender.counters().spurious_timeouts, 0);
}

#[test]
fn the_timeout_of_segment_0_is_not_tested_be_it_a_syn_or_data() {
    let tcp = rack(&json!({"frto": true, "handshake": false}));
    let mut script = Script::new(&tcp, None);
    assert_eq!(script.start().len(), 10);
    assert_eq!(script.timeout(), [0]);
    script.wait(0.01);
    script.ack(2);
    assert_eq!(script.sender.counters().spurious_timeouts, 0);
}

// --- RFC 8985 §7: tail loss probes --------------------------------------------------------------------------------------

fn probing(more: &Value) -> Value {
    with(rack(&json!({"tail_loss_probe": true, "fin": false})), more)
}

#[test]
fn rfc8985_7_3_a_probe_is_new_data_or_else_the_last_segment_after_two_round_trips() {
    for (more, segments, probe) in [
        (json!({}), None, 11),
        (json!({"window_limit": "10 packets"}), None, 10),
        (json!({}), Some(10), 10),
    ] {
        let mut script = Script::new(&probing(&more), segments);
        script.establish();
        assert!(near(script.deadline() - script.now, 2.0 * RTT));
        assert_eq!(script.timeout(), [probe]);
        assert_eq!(script.sender.counters().probes, 1);
        // One probe only: what follows is the timeout.
        assert!(near(script.deadline() - script.now, 1.0));
    }
}

#[test]
fn rfc8985_7_2_a_segment_alone_may_be_acknowledged_late() {
    let mut script = Script::new(&probing(&json!({})), Some(1));
    script.establish();
    assert!(near(script.deadline() - script.now, 2.0 * RTT + 0.2));
}

#[test]
fn rfc8985_7_4_1_a_probe_of_new_data_is_over_when_it_is_acknowledged() {
    let mut script = Script::new(&probing(&json!({})), None);
    script.establish();
    assert_eq!(script.timeout(), [11]);
    script.wait(RTT);
    script.ack(12);
    assert!(
        script.deadline() - script.now < 0.5,
        "the next probe is set"
    );
    assert_eq!(script.sender.counters().fast_retransmits, 0);
}

#[test]
fn deviating_from_rfc8985_7_4_2_a_probe_acknowledged_up_to_tlp_end_seq_without_a_dsack_reduces_the_window()
 {
    // The RFC waits for an acknowledgement beyond TLP.end_seq.
    for (is_duplicate, reductions) in [(false, 1), (true, 0)] {
        let mut script = Script::new(&probing(&json!({})), Some(5));
        script.sender.keep_episodes();
        script.establish();
        assert_eq!(script.timeout(), [5]);
        script.wait(0.01);
        script.ack(5);
        assert_eq!(
            script.sender.counters().fast_retransmits,
            0,
            "not known yet"
        );
        script.wait(RTT);
        script.hear(&Ack {
            repeated: is_duplicate.then_some(SeqNum::ZERO),
            ..reporting(6, &[])
        });
        assert_eq!(script.sender.counters().fast_retransmits, reductions);
        let episodes = script.sender.episodes();
        assert_eq!(episodes.len() as u64, reductions);
        for episode in episodes {
            let found = (
                episode.cause.name(),
                episode.lost.map(SegCount::get),
                episode.retransmits,
            );
            assert_eq!(found, ("tail_loss_probe", Some(1), 1));
        }
    }
}

// --- RFC 7661: windows that are not in use ------------------------------------------------------------------------------

/// An application that has written nothing yet, with a window of ten.
fn validated(more: &Value) -> Script {
    let tcp = rack(&with(json!({"cwnd_validation": true}), more));
    let mut script = Script::open(&tcp);
    assert_eq!(script.establish(), NOTHING);
    script
}

#[test]
fn rfc7661_4_3_a_window_grows_in_slow_start_as_long_as_half_of_it_is_in_use() {
    let mut script = validated(&json!({}));
    assert_eq!(script.write(8 * 1460).len(), 8);
    script.wait(RTT);
    let mut windows = Vec::new();
    for next in 2..=9 {
        script.ack(next);
        windows.push(script.cwnd());
        // What is written within the round trip does not make what was used less.
        if next == 4 {
            assert_eq!(script.write(1460), [9]);
        }
    }
    assert_eq!(windows, [11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 16.0, 16.0]);
}

#[test]
fn without_validation_a_window_grows_whatever_is_in_use() {
    let mut script = validated(&json!({"cwnd_validation": false}));
    script.write(2 * 1460);
    script.wait(RTT);
    script.ack(2);
    script.ack(3);
    assert!(near(script.cwnd(), 12.0));
}

#[test]
fn rfc7661_4_3_beyond_slow_start_only_a_full_window_grows() {
    let beyond = json!({"initial_ssthresh": "4 packets"});
    let mut script = validated(&beyond);
    script.write(9 * 1460);
    script.wait(RTT);
    script.ack(2);
    assert!(near(script.cwnd(), 10.0), "nine of ten");
    let mut script = validated(&beyond);
    script.write(20 * 1460);
    script.wait(RTT);
    script.ack(2);
    assert!(near(script.cwnd(), 10.1));
}

#[test]
fn a_burst_that_waits_for_the_window_leaves_it_full() {
    let mut script = established(&json!({
        "cwnd_validation": true, "initial_ssthresh": "4 packets", "segmentation_offload": true, "tso_min_segments": "3 packets",
    }));
    // Of eight that may leave, two wait: less than a burst, and than a third of the window.
    assert_eq!(script.ack(9).len(), 6);
    script.wait(RTT);
    assert_eq!(script.ack(12), [17, 18, 19]);
    let before = script.cwnd();
    script.ack(13);
    assert!(near(script.cwnd(), before + 1.0 / before));
}

// --- pacing -------------------------------------------------------------------------------------------------------------

#[test]
fn a_segment_that_leaves_later_than_asked_lets_the_next_one_leave_earlier_by_its_credit() {
    let mut script = established(&json!({
        "pacing": "always", "pacing_free_start": "10 packets", "pacing_credit": 0.5, "byte_counting": true,
    }));
    let from = script.now;
    assert_eq!(script.ack(11), [11]);
    // Twice 20 segments in 0.1 s: one in 2.5 ms, of which half is the credit of the pause.
    let rate = script.sender.pacing_rate().expect("it is paced");
    assert!(near(rate.bps(), 40.0 * 1460.0 * 8.0 / RTT));
    for (seq, millis) in [(12, 1.25), (13, 3.75), (14, 6.25)] {
        assert_eq!(script.timeout(), [seq]);
        assert!(near(script.now - from, millis / 1e3), "{seq}");
    }
}

#[test]
fn a_loss_found_after_a_timeout_is_over_waits_for_its_time() {
    // A segment in 0.16 s, from the tenth on; thirteen in all.
    let tcp = rack(&json!({
        "max_pacing_rate": "73 kbit/s", "pacing_free_start": "10 packets", "byte_counting": true, "fin": false,
    }));
    let mut script = Script::new(&tcp, Some(13));
    assert_eq!(script.establish().len(), 10);
    assert_eq!(script.timeout(), [1]);
    // That was the eleventh segment to leave, and the next one waits for its time.
    script.wait(0.161);
    assert_eq!(script.ack(10), [10]);
    for seq in 11..=13 {
        assert_eq!(script.timeout(), [seq]);
    }
    let last = script.now;
    script.wait(0.12);
    // All that had timed out has arrived. The eleventh is lost: the next segment may leave 0.16 s after the last.
    assert_eq!(script.ack(11), NOTHING);
    assert_eq!(script.sack(11, &[12..14]), NOTHING);
    assert_eq!(script.timeout(), [11]);
    assert!(near(script.now - last, 0.16));
    // What a repair waits for is the repair's.
    assert_eq!(script.sender.limits().spent_ns(SendLimit::Pacing), 0);
}

// --- what is kept of losses ---------------------------------------------------------------------------------------------

#[test]
fn an_episode_says_what_was_found_lost_and_sent_again_in_it() {
    let mut script = established(&json!({}));
    script.sender.keep_episodes();
    let mut episodes = Vec::new();
    // Two are lost, then one of those that follow.
    for holes in [2, 1] {
        let first = script.snd_una();
        script.sack(first, &[first + holes..first + holes + 3]);
        script.wait(RTT);
        let hole = first + holes - 1;
        if holes == 2 {
            let sent = script.sack(hole, &[first + 2..first + 10]);
            assert_eq!(sent.first(), Some(&hole));
            script.wait(RTT);
        }
        script.ack_all();
        script.wait(RTT);
        episodes = script.sender.episodes().to_vec();
    }
    let found: Vec<_> = episodes
        .iter()
        .map(|each| {
            (
                each.cause.name(),
                each.lost.map(SegCount::get),
                each.retransmits,
                each.timeouts,
            )
        })
        .collect();
    assert_eq!(found, [("rack", Some(2), 2, 0), ("rack", Some(1), 1, 0)]);
    script.timeout();
    let last = script.sender.episodes().last().expect("of the timeout");
    assert_eq!((last.cause.name(), last.timeouts), ("rto", 1));
}

// --- RFC 3168 -----------------------------------------------------------------------------------------------------------

#[test]
fn rfc3168_6_1_2_a_mark_is_heard_once_and_the_window_walks_to_its_threshold() {
    let mut script = established(&json!({"ecn": "classic"}));
    assert_eq!(script.data[1].ecn, Ecn::Ect0);
    let echo = |next| Ack {
        ece: true,
        ..reporting(next, &[])
    };
    script.hear(&echo(2));
    script.hear(&echo(3));
    let counters = script.sender.counters();
    assert_eq!((counters.ecn_signals, counters.ecn_reductions), (2, 1));
    // Of nine outstanding.
    assert!(near(script.ssthresh(), 4.5));
    assert!(script.cwnd() > 5.0);
}
