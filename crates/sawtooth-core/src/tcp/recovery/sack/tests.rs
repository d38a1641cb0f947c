//! The rules of RFC 6675 §4 and the steps of its §5, and Fall and Floyd's counter.

#![expect(
    clippy::single_range_in_vec_init,
    reason = "ranges of segments that are reported, of which there can be one"
)]

use super::{Sack, is_lost};
use crate::registry::Value;
use crate::tcp::recovery::{LossRecovery, testing::Rig};
use crate::units::SeqNum;

const NOTHING: [u64; 0] = [];

fn state(rig: &Rig) -> &Sack {
    match &rig.recovery {
        LossRecovery::Sack(sack) => sack,
        other => panic!("{other:?}"),
    }
}

/// Ten segments are outstanding, nothing else may leave, and these have been reported.
fn with_report(reported: &[std::ops::Range<u64>]) -> Rig {
    let mut rig = Rig::with_only("sack", 10, &[]);
    rig.now = 0.1;
    rig.sack(0, reported);
    rig
}

#[test]
fn rfc6675_4_islost_dupthresh_segments_above_it_have_been_reported() {
    let rig = with_report(&[4..5, 7..8]);
    assert!(!is_lost(&rig.tx, SeqNum::ZERO), "two");
    let rig = with_report(&[4..5, 7..9]);
    let lost: Vec<u64> = (0..10)
        .filter(|seq| is_lost(&rig.tx, SeqNum::new(*seq)))
        .collect();
    // Segment 4 is reported itself; above 5 are two.
    assert_eq!(lost, [0, 1, 2, 3]);
}

#[test]
fn rfc6675_4_setpipe_counts_what_is_neither_reported_nor_lost_and_what_was_sent_again() {
    let mut rig = with_report(&[]);
    // Lost: 0 to 3. Reported: 4, 7, 8. In the path: 5, 6, 9, and the retransmission of the first.
    assert_eq!(rig.sack(0, &[4..5, 7..9])[0], 0);
    assert_eq!(
        state(&rig).pipe,
        5,
        "1 was sent again, too: the window is 5"
    );
    assert_eq!(rig.pipe(), 5);
    // 9 arrives: 5 and 6 are lost then. In the path: 0, 1, and what fills the window of 5.
    let sent = rig.sack(0, &[9..10, 4..5, 7..9]);
    assert_eq!(sent, [2, 3, 5]);
    assert_eq!(rig.pipe(), 5);
    // The retransmission of the first is acknowledged.
    rig.sack(1, &[9..10, 4..5, 7..9]);
    assert_eq!(rig.pipe(), 5, "6 has taken its place");
}

#[test]
fn rfc6675_4_nextseg_rule_1_the_first_hole_that_is_lost() {
    let mut rig = Rig::sending("sack", 10, &[]);
    // New data could be sent, and what is lost goes first.
    let sent = rig.sack(0, &[6..9]);
    assert_eq!(sent, [0, 1, 2, 3]);
    assert_eq!(state(&rig).high_rxt, SeqNum::new(4));
}

#[test]
fn rfc6675_4_nextseg_rule_2_new_data_if_nothing_more_is_lost() {
    let mut rig = Rig::sending("sack", 10, &[]);
    rig.sack(0, &[1..4]);
    assert_eq!(state(&rig).high_rxt, SeqNum::new(1));
    // In the path are 0 again and 4 to 9. All but 9 are reported, one after another.
    let sent: Vec<Vec<u64>> = (5..9).map(|end| rig.sack(0, &[1..end])).collect();
    assert_eq!(sent, [vec![], vec![], vec![10], vec![11]]);
}

#[test]
fn rfc6675_4_nextseg_rule_3_a_hole_that_is_not_lost_if_there_is_no_new_data() {
    let mut rig = with_report(&[1..4]);
    assert_eq!(state(&rig).high_rxt, SeqNum::new(1));
    // In the path are 0 again, 4, 5, 8 and 9: a window.
    assert_eq!(rig.sack(0, &[6..8, 1..4]), NOTHING);
    // Now 0 has left it. Above 4 two are reported: it is not lost.
    assert_eq!(rig.sack(4, &[6..8]), [4]);
    assert!(!is_lost(&rig.tx, SeqNum::new(4)));
}

#[test]
fn rfc6675_4_nextseg_rule_4_once_per_recovery_the_last_segment_that_has_not_been_reported() {
    let mut rig = with_report(&[5..9]);
    assert_eq!(
        state(&rig).high_rxt,
        SeqNum::new(4),
        "0 to 3 are sent again"
    );
    assert!(!state(&rig).rescued);
    // What was sent again arrives; the last hole, 4, is sent again; the last segment, 9, is above everything reported.
    let sent: Vec<u64> = (1..5).flat_map(|next| rig.sack(next, &[5..9])).collect();
    assert_eq!(sent, [4, 9]);
    assert!(state(&rig).rescued);
    assert_eq!(rig.sack(9, &[]), NOTHING, "it is not used again");
}

#[test]
fn rfc6675_5_step_1_the_third_duplicate_acknowledgement_begins_a_recovery() {
    let mut rig = Rig::sending("sack", 10, &[("limited_transmit", Value::Bool(false))]);
    assert_eq!(rig.sack(0, &[2..3]), NOTHING);
    assert_eq!(rig.sack(0, &[4..5, 2..3]), NOTHING);
    assert_eq!(rig.sack(0, &[6..7, 4..5, 2..3])[0], 0);
    // Step 4.2: half of FlightSize.
    assert_eq!(rig.windows(), (5.0, 5.0));
    // Step 4.1: RecoveryPoint is HighData.
    assert_eq!(state(&rig).dupacks.recovery_point, SeqNum::new(10));
}

#[test]
fn rfc6675_5_step_2_one_acknowledgement_that_shows_the_loss_is_enough() {
    let mut rig = Rig::sending("sack", 10, &[]);
    assert_eq!(rig.sack(0, &[1..4])[0], 0);
    assert_eq!(rig.tx.counters.dupacks_in, 1);
}

#[test]
fn rfc6675_5_step_3_before_that_one_new_segment_leaves_for_each_report() {
    let mut rig = Rig::sending("sack", 10, &[]);
    assert_eq!(rig.sack(0, &[1..2]), [10]);
    assert_eq!(rig.sack(0, &[1..3]), [11]);
    // Step 4.2: RFC 5681 does not count these as flight.
    assert_eq!(rig.sack(0, &[1..4])[0], 0);
    assert_eq!(rig.windows(), (5.0, 5.0));
    // A repeated report is no duplicate acknowledgement (§2).
    let mut rig = Rig::sending("sack", 10, &[]);
    rig.sack(0, &[1..2]);
    assert_eq!(rig.sack(0, &[1..2]), NOTHING);
    assert_eq!(rig.tx.counters.dupacks_in, 1);
}

#[test]
fn rfc6675_5_step_a_the_recovery_ends_with_recoverypoint_and_the_window_is_what_it_was_reduced_to()
{
    let mut rig = with_report(&[1..4]);
    assert!(state(&rig).in_recovery && rig.recovery.is_repairing(&rig.tx));
    rig.ack(9);
    assert!(state(&rig).in_recovery);
    rig.ack(10);
    assert!(!state(&rig).in_recovery && !rig.recovery.is_repairing(&rig.tx));
    assert_eq!(rig.windows(), (5.0, 5.0));
}

#[test]
fn rfc6675_5_1_after_a_timeout_nothing_begins_before_recoverypoint_and_reports_are_not_relied_upon()
{
    let mut rig = with_report(&[1..4]);
    assert_eq!(rig.expire(), [0]);
    assert!(rig.tx.reported.scoreboard.is_empty());
    assert_eq!(rig.windows().0, 1.0);
    rig.sack(1, &[5..9]);
    assert!(!state(&rig).in_recovery);
    assert_eq!(rig.tx.counters.fast_retransmits, 1);
}

#[test]
fn fall_and_floyd_1996_4_the_pipe_is_counted_down_by_duplicates_and_twice_by_partial_acknowledgements()
 {
    let counter = ("sack_pipe", Value::Choice("counter"));
    let mut rig = Rig::with_only("sack", 10, &[counter]);
    for end in 2..4 {
        assert_eq!(rig.sack(0, &[1..end]), NOTHING);
    }
    // 10 outstanding, three of which have arrived; the retransmission is counted when the next acknowledgement lets it be seen.
    assert_eq!(rig.sack(0, &[1..4]), [0]);
    assert_eq!(rig.pipe(), 7);
    rig.sack(0, &[1..5]);
    assert_eq!(rig.pipe(), 6);
    rig.sack(1, &[2..5]);
    assert_eq!(rig.pipe(), 4);
}
