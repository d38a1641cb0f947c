//! Whole exchanges: the example of RFC 8985 §3.4, and how the rules meet.

#![expect(
    clippy::single_range_in_vec_init,
    reason = "ranges of segments that are reported, of which there can be one"
)]

use super::{Rack, RecoveryPhase};
use crate::packet::Ack;
use crate::registry::Value;
use crate::tcp::recovery::{LossRecovery, testing::Rig};
use crate::units::testing::{at, segs, seq, window};

const RTT: f64 = 0.1;
/// A round trip that is no shorter than the shortest.
const LATER: f64 = 0.101;
const NOTHING: [u64; 0] = [];

fn state(rig: &Rig) -> &Rack {
    match &rig.recovery {
        LossRecovery::Rack(rack) => rack,
        other => panic!("{other:?}"),
    }
}

/// A round trip has been measured, and a window of ten from segment 1 on is outstanding.
fn sending(set: &[(&'static str, Value)]) -> Rig {
    let mut rig = Rig::sending("rack", 1, set);
    rig.now = RTT;
    rig.tx.window.prescribe(at(RTT), window(9.0));
    rig.ack(1);
    assert_eq!((rig.tx.seq.una, rig.pipe()), (seq(1), 10));
    rig
}

#[test]
fn rfc8985_3_4_example_a_probe_finds_the_lost_tail_and_time_the_lost_retransmission() {
    // 1: P0 to P3 are sent. 2: P0 arrives. The window is halved at once, so that what is lost leaves together.
    let mut rig = Rig::with_only("rack", 4, &[("prr", Value::Bool(false))]);
    rig.now = RTT;
    assert_eq!(rig.ack(1), NOTHING);
    // 3: two round trips later the probe retransmits P3.
    assert_eq!(rig.expire(), [3]);
    assert!((rig.now - 3.0 * RTT).abs() < 0.011, "{}", rig.now);
    // 4, 5: P3 is reported; P1 and P2 are lost.
    rig.now += LATER;
    assert_eq!(rig.sack(1, &[3..4]), [1, 2]);
    // 6, 7: P2 is reported; the retransmission of P1 is lost.
    rig.now += LATER;
    assert_eq!(rig.sack(1, &[2..4]), [1]);
    // 8.
    rig.now += LATER;
    rig.ack(4);
    assert_eq!(rig.tx.counters.timeouts, 0);
    assert_eq!(rig.tx.counters.congestion_signals, 1);
    assert!(!rig.recovery.is_repairing(&rig.tx));
}

#[test]
fn rfc9937_6_a_recovery_begins_where_it_was_and_ends_at_the_threshold() {
    let mut rig = sending(&[]);
    rig.now += RTT;
    let mut sent = Vec::new();
    for end in 3..=11 {
        sent.extend(rig.sack(1, &[2..end]));
    }
    assert_eq!(rig.tx.counters.congestion_signals, 1);
    let ssthresh = rig.windows().1;
    assert!(sent.contains(&1));
    rig.now += RTT;
    let end = rig.tx.seq.max.get();
    rig.ack(end);
    // Congestion avoidance goes on from there with the same acknowledgement.
    let (cwnd, _) = rig.windows();
    assert!((ssthresh..ssthresh + 1.0).contains(&cwnd), "{cwnd}");
    assert_eq!(state(&rig).congestion.phase, RecoveryPhase::Open);
}

#[test]
fn rfc8985_7_3_a_probe_is_new_data_if_there_is_any_and_else_the_last_segment() {
    let mut rig = sending(&[]);
    let next = rig.tx.seq.nxt.get();
    assert_eq!(rig.expire(), [next]);
    let mut rig = Rig::with_only("rack", 4, &[]);
    rig.now = RTT;
    rig.ack(1);
    assert_eq!(rig.expire(), [3]);
    // §7.4.2: it is acknowledged, and nothing else has shown the loss.
    rig.now += RTT;
    rig.ack(4);
    assert_eq!(rig.tx.counters.congestion_signals, 1);
    assert_eq!(rig.tx.counters.probes, 1);
}

#[test]
fn deviating_from_rfc5682_3_1_step_2_and_rfc4015_3_1_step_9_a_delay_that_made_the_timer_expire_leaves_the_windows()
 {
    let mut rig = sending(&[("tail_loss_probe", Value::Bool(false))]);
    let before = rig.windows();
    assert_eq!(rig.expire(), [1]);
    assert_eq!(rig.tx.counters.timeouts, 1);
    assert!(rig.windows().0 < before.0);
    // The originals arrive, one after another.
    rig.now += 0.01;
    rig.ack(2);
    rig.now += 0.01;
    rig.ack(6);
    assert_eq!(rig.tx.counters.spurious_timeouts, 1);
    assert!(rig.windows().0 >= before.0, "{:?}", rig.windows());
}

#[test]
fn rfc5682_3_1_a_timeout_after_a_loss_is_none_that_is_taken_back() {
    let mut rig = sending(&[("tail_loss_probe", Value::Bool(false))]);
    rig.expire();
    rig.now += RTT;
    // The retransmission alone arrives, and so does the new data that it lets out.
    rig.ack(2);
    rig.now += RTT;
    rig.sack(2, &[11..12]);
    assert_eq!(rig.tx.counters.spurious, 0);
    assert!(rig.recovery.is_repairing(&rig.tx));
}

#[test]
fn rfc5681_3_1_a_timeout_in_a_recovery_halves_again_or_keeps_its_threshold_as_linux_does() {
    let threshold_after = |keeps| {
        let mut rig = sending(&[
            ("tail_loss_probe", Value::Bool(false)),
            ("keep_at_timeout", Value::Bool(keeps)),
        ]);
        rig.now += RTT;
        for end in 3..=11 {
            rig.sack(1, &[2..end]);
        }
        let reduced = rig.windows().1;
        while rig.tx.counters.timeouts == 0 {
            rig.expire();
        }
        (
            rig.windows().1 / reduced,
            rig.tx.counters.congestion_signals,
        )
    };
    assert_eq!(threshold_after(true), (1.0, 1));
    let (share, signals) = threshold_after(false);
    assert!(share < 1.0, "{share}");
    assert_eq!(signals, 2);
}

#[test]
fn rfc3708_3_a_recovery_whose_retransmissions_were_all_needless_is_taken_back() {
    let mut rig = sending(&[]);
    let before = rig.windows();
    rig.now += RTT;
    // Segment 1 is late by four places.
    let sent: Vec<u64> = (3..7).flat_map(|end| rig.sack(1, &[2..end])).collect();
    assert!(sent.contains(&1));
    rig.now += 0.01;
    rig.ack(7);
    rig.now += RTT;
    rig.on_ack(&Ack {
        next: seq(7),
        repeated: Some(seq(0)),
        ..Ack::default()
    });
    assert_eq!(rig.tx.counters.spurious, 1);
    assert!(rig.windows().0 >= before.0);
}

#[test]
fn rfc2018_8_a_receiver_that_discards_what_it_reported_is_sent_everything_again() {
    let mut rig = sending(&[("tail_loss_probe", Value::Bool(false))]);
    rig.now += RTT;
    rig.sack(1, &[2..4]);
    // The first segment arrives, and then the receiver says that it lacks what it has reported.
    rig.ack(2);
    rig.expire();
    if rig.tx.counters.timeouts == 0 {
        rig.expire();
    }
    assert!(rig.tx.reported.scoreboard.is_empty());
    assert_eq!(state(&rig).outstanding.segments.sacked(), segs(0));
}

#[test]
fn mathis_1996_2_fack_begins_when_the_highest_segment_reported_is_dupthresh_above() {
    let mut rig = Rig::sending("fack", 10, &[]);
    rig.now = RTT;
    assert_eq!(rig.sack(0, &[2..3]), [10], "snd.fack - snd.una is 3");
    assert_eq!(rig.sack(0, &[3..4, 2..3])[0], 0, "and 4 now");
}

#[test]
fn rfc5827_2_2_with_few_segments_outstanding_all_but_one_reported_are_enough() {
    let at_once = ("early_retransmit", Value::Choice("at_once"));
    let mut rig = Rig::with_only("fack", 3, &[at_once]);
    rig.now = RTT;
    assert_eq!(rig.sack(0, &[1..2]), NOTHING);
    assert_eq!(rig.sack(0, &[1..3]), [0]);
}

#[test]
fn an_algorithm_begins_with_the_connection_whatever_became_of_its_syn_where_that_keeps_the_window()
{
    for keeps in [false, true] {
        let set = [
            ("handshake", Value::Bool(true)),
            ("keep_window_after_lost_syn", Value::Bool(keeps)),
        ];
        let mut rig = Rig::new("rack", 10, &set);
        let before = rig.windows().1;
        rig.send();
        assert_eq!(rig.expire(), [0]);
        assert_eq!(rig.tx.counters.timeouts, 1);
        assert_eq!(rig.windows().1 == before, keeps);
    }
}
