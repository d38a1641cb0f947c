//! The steps of RFC 5681 §3.2 and RFC 6582 §3.2.

use crate::registry::Value;
use crate::tcp::recovery::testing::Rig;
use crate::units::testing::{segs, seq};

const NOTHING: [u64; 0] = [];
/// Without RFC 3042, so that FlightSize is a window.
const PLAIN: (&str, Value) = ("limited_transmit", Value::Bool(false));

/// Ten segments are outstanding, the first is lost, and three duplicate acknowledgements have come.
fn in_fast_recovery(recovery: &'static str, set: &[(&'static str, Value)]) -> Rig {
    let set: Vec<_> = set.iter().copied().chain([PLAIN]).collect();
    let mut rig = Rig::sending(recovery, 10, &set);
    rig.now = 0.1;
    assert_eq!((rig.ack(0), rig.ack(0)), (vec![], vec![]));
    assert_eq!(rig.ack(0), [0]);
    rig
}

#[test]
fn rfc5681_3_2_steps_1_to_3_the_third_duplicate_retransmits_and_leaves_half_the_flight_and_three() {
    for recovery in ["reno", "newreno"] {
        let rig = in_fast_recovery(recovery, &[]);
        assert_eq!(rig.windows(), (5.0, 5.0), "{recovery}");
        assert_eq!(rig.tx.window.usable(), segs(8), "{recovery}");
        assert_eq!(rig.tx.counters.fast_retransmits, 1);
    }
}

#[test]
fn rfc5681_3_2_step_1_limited_transmit_sends_two_and_they_are_no_flight() {
    let mut rig = Rig::sending("reno", 10, &[]);
    assert_eq!((rig.ack(0), rig.ack(0)), (vec![10], vec![11]));
    assert_eq!(rig.ack(0), [0]);
    // Step 2, equation 4: half of 12 - 2.
    assert_eq!(rig.windows(), (5.0, 5.0));
}

#[test]
fn rfc5681_3_2_steps_4_and_5_each_further_duplicate_inflates_and_new_data_leaves_if_it_fits() {
    let mut rig = in_fast_recovery("reno", &[]);
    // Usable 9, 10, then 11 with 10 outstanding.
    assert_eq!((rig.ack(0), rig.ack(0)), (vec![], vec![]));
    assert_eq!((rig.ack(0), rig.ack(0)), (vec![10], vec![11]));
}

#[test]
fn rfc5681_3_2_step_6_new_data_deflates_to_the_threshold() {
    let mut rig = in_fast_recovery("reno", &[]);
    rig.ack(0);
    rig.ack(3);
    assert_eq!(rig.tx.window.inflation, segs(0));
    // The window of 5, and what congestion avoidance adds for three segments at once.
    let (cwnd, ssthresh) = rig.windows();
    assert!(ssthresh == 5.0 && (5.0..5.7).contains(&cwnd), "{cwnd}");
    // Reno has left recovery: seven are outstanding.
    assert_eq!(rig.tx.seq.flight_size(), segs(7));
}

#[test]
fn rfc6582_3_2_step_3_a_partial_acknowledgement_retransmits_and_deflates_by_what_it_acknowledges_less_one()
 {
    let mut rig = in_fast_recovery("newreno", &[]);
    // Segments 0 and 4 were lost: eight duplicates in all.
    let sent: Vec<Vec<u64>> = (3..8).map(|_| rig.ack(0)).collect();
    assert_eq!(sent, [vec![], vec![], vec![10], vec![11], vec![12]]);
    assert_eq!(rig.tx.window.usable(), segs(13));
    rig.now = 0.2;
    // Four are acknowledged: 13 - 4 + 1 from segment 4 on. That is 14: one more leaves after the retransmission.
    assert_eq!(rig.ack(4), [4, 13]);
    assert_eq!(rig.tx.window.usable(), segs(10));
    assert_eq!(rig.windows().1, 5.0, "it is the same congestion");
    // Step 4: further duplicates inflate again.
    assert_eq!(rig.ack(4), [14]);
    assert_eq!(rig.tx.counters.congestion_signals, 1);
}

#[test]
fn rfc6582_3_2_step_3_option_1_a_full_acknowledgement_leaves_at_most_the_flight_and_one() {
    let mut rig = in_fast_recovery("newreno", &[]);
    // Everything up to `recover` arrived, and nothing has been sent since.
    assert_eq!(rig.tx.seq.max, seq(10));
    rig.tx.seq.allowed = seq(10);
    rig.ack(10);
    // max(FlightSize, SMSS) + SMSS with FlightSize 0.
    assert_eq!(rig.windows(), (2.0, 5.0));
}

#[test]
fn rfc6582_3_2_step_3_option_2_a_full_acknowledgement_leaves_the_threshold() {
    let mut rig = in_fast_recovery("newreno", &[("exit_window", Value::Choice("keep"))]);
    rig.tx.seq.allowed = seq(10);
    rig.ack(10);
    let (cwnd, ssthresh) = rig.windows();
    assert!(ssthresh == 5.0 && cwnd >= 5.0, "{cwnd}");
    assert_eq!(rig.tx.window.inflation, segs(0));
}

#[test]
fn rfc6582_3_2_step_2_duplicates_of_what_was_outstanding_at_the_loss_begin_no_other_recovery() {
    let mut rig = in_fast_recovery("newreno", &[]);
    rig.ack(10);
    // Needless retransmissions of 1 to 9 would be answered with these.
    let before = rig.tx.counters.congestion_signals;
    for _ in 0..3 {
        rig.ack(10);
    }
    assert_eq!(rig.tx.counters.congestion_signals, before);
    // Beyond `recover` they are believed.
    rig.ack(11);
    for _ in 0..3 {
        rig.ack(11);
    }
    assert_eq!(rig.tx.counters.congestion_signals, before + 1);
}

#[test]
fn rfc6582_4_impatient_restarts_the_timer_with_the_first_partial_acknowledgement_only() {
    let restarts = |every: &'static str| {
        let mut rig = in_fast_recovery("newreno", &[("partial_ack_timer", Value::Choice(every))]);
        let mut deadlines = vec![rig.deadline()];
        for next in [2, 4] {
            rig.now += 0.1;
            rig.ack(next);
            deadlines.push(rig.deadline());
        }
        [deadlines[1] > deadlines[0], deadlines[2] > deadlines[1]]
    };
    assert_eq!(restarts("first"), [true, false]);
    assert_eq!(restarts("every"), [true, true]);
}

#[test]
fn rfc6582_3_2_step_4_after_a_timeout_recover_is_the_highest_segment_sent() {
    let mut rig = in_fast_recovery("newreno", &[]);
    assert_eq!(rig.expire(), [0]);
    assert_eq!(rig.windows().0, 1.0);
    // The duplicates that what is sent again will cause.
    rig.ack(4);
    for _ in 0..3 {
        rig.ack(4);
    }
    assert_eq!(rig.tx.counters.fast_retransmits, 1);
    assert_eq!(rig.tx.counters.congestion_signals, 2);
}

#[test]
fn rfc5681_3_1_a_segment_that_times_out_again_leaves_the_threshold() {
    let mut rig = Rig::sending("newreno", 10, &[]);
    assert_eq!(rig.expire(), [0]);
    assert_eq!(rig.windows(), (1.0, 5.0));
    let first = rig.deadline() - rig.now;
    assert_eq!(rig.expire(), [0]);
    assert_eq!(rig.windows(), (1.0, 5.0));
    // RFC 6298 §5.5: the timer backs off.
    let second = rig.deadline() - rig.now;
    assert!((second - 2.0 * first).abs() < 1e-9);
}

#[test]
fn rfc5681_3_1_equation_4_no_threshold_is_below_two_segments() {
    let mut rig = Rig::sending("newreno", 3, &[]);
    rig.expire();
    assert_eq!(rig.windows(), (1.0, 2.0));
}

#[test]
fn fall_and_floyd_1996_2_tahoe_starts_again_from_the_missing_segment() {
    let mut rig = in_fast_recovery("tahoe", &[]);
    assert_eq!(rig.windows(), (1.0, 5.0));
    // Segments that had arrived are sent again, too.
    assert_eq!(rig.ack(1), [1, 2]);
    assert_eq!(rig.ack(0), NOTHING, "an old acknowledgement says nothing");
}

#[test]
fn rfc6298_3_karn_a_round_trip_that_saw_a_retransmission_is_no_sample() {
    let mut rig = in_fast_recovery("newreno", &[]);
    rig.now = 5.0;
    rig.ack(10);
    assert_eq!(rig.tx.timers.round_trips.samples, 0);
}
