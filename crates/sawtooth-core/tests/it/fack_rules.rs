//! Loss recovery by forward acknowledgement, held against the words of Mathis and Mahdavi 1996, and early retransmit against those of RFC 5827.
//!
//! Ten segments leave 0.1 s after the SYN; every round trip takes 0.1 s.

#![expect(
    clippy::single_range_in_vec_init,
    reason = "one block is a list of one range"
)]

use serde_json::{Value, json};

use crate::script::{NOTHING, RTT, Script, near, with};

/// FACK, and nothing besides that is not asked for.
fn fack(more: &Value) -> Value {
    let alone = json!({
        "recovery": "fack", "initial_window": "10 packets", "tail_loss_probe": false, "frto": false, "undo": false, "prr": false, "fin": false,
    });
    with(alone, more)
}

/// A round trip after segments 1 to 10, or the `segments` there are, have left.
fn established(tcp: &Value, segments: Option<u64>) -> Script {
    let mut script = Script::new(tcp, segments);
    let sent = script.establish();
    let last = segments.unwrap_or(10).min(10);
    assert_eq!(sent, (1..=last).collect::<Vec<u64>>());
    script.wait(RTT);
    script
}

#[test]
fn a_recovery_begins_with_the_first_report_of_a_segment_more_than_three_beyond_the_last_in_order() {
    let mut script = established(&fack(&json!({})), None);
    // awnd = snd.nxt - snd.fack = 11 - 5, and the window is halved.
    assert_eq!(script.sack(1, &[4..5]), NOTHING);
    assert_eq!(script.sender.counters().fast_retransmits, 1);
    assert!(near(script.cwnd(), 5.0));
    assert_eq!(script.pipe(), 6);
    // 11 - 7, and the retransmission.
    assert_eq!(script.sack(1, &[4..7]), [1]);
    assert_eq!(script.pipe(), 5);
    // 11 - 9, and two more retransmissions besides it.
    assert_eq!(script.sack(1, &[4..9]), [2, 3]);
    assert_eq!(script.pipe(), 5);
    // With the third duplicate acknowledgement it would be with RFC 6675.
    let mut script = established(&with(fack(&json!({})), &json!({"recovery": "sack"})), None);
    script.sack(1, &[4..5]);
    assert_eq!(script.sender.counters().fast_retransmits, 0);
}

#[test]
fn three_beyond_are_not_more_than_three() {
    let mut script = established(&fack(&json!({})), None);
    assert_eq!(script.sack(1, &[3..4]), [11], "limited transmit");
    assert_eq!(script.sender.counters().fast_retransmits, 0);
    script.sack(1, &[3..5]);
    assert_eq!(script.sender.counters().fast_retransmits, 1);
    // awnd = 12 - 5.
    assert_eq!(script.pipe(), 7);
}

#[test]
fn a_retransmission_is_lost_when_something_that_was_first_sent_after_it_has_arrived() {
    let mut script = established(&fack(&json!({"prr": true})), None);
    assert_eq!(script.sack(1, &[2..5]), [1, 11]);
    script.wait(RTT);
    script.sack(1, &[2..11]);
    assert_eq!(
        script.sender.counters().retransmits,
        1,
        "10 was sent before"
    );
    assert_eq!(script.sack(1, &[2..12])[0], 1);
    assert_eq!(script.sender.counters().retransmits, 2);
}

#[test]
fn after_reordering_three_reports_make_a_loss() {
    let mut script = established(&fack(&json!({})), None);
    script.sack(1, &[2..3]);
    script.ack(3);
    script.sack(3, &[6..7]);
    script.sack(3, &[6..8]);
    assert_eq!(script.sender.counters().fast_retransmits, 0);
    script.sack(3, &[6..9]);
    assert_eq!(script.sender.counters().fast_retransmits, 1);
}

#[test]
fn rfc6675_5_1_after_a_timeout_all_that_is_outstanding_is_sent_again() {
    let mut script = established(&fack(&json!({})), None);
    assert_eq!(script.timeout(), [1]);
    assert_eq!(script.pipe(), 1);
    script.wait(RTT);
    assert_eq!(script.ack(2), [2, 3]);
}

// --- RFC 5827 -----------------------------------------------------------------------------------------------------------

#[test]
fn rfc5827_2_2_with_less_than_four_outstanding_all_but_one_have_to_tell() {
    for (outstanding, reports, sent) in [(2, 2..3, 1), (3, 2..4, 1), (3, 2..3, 0)] {
        let tcp = fack(&json!({"early_retransmit": "at_once"}));
        let mut script = established(&tcp, Some(outstanding));
        assert_eq!(
            script.sack(1, std::slice::from_ref(&reports)).len(),
            sent,
            "{reports:?}"
        );
        let mut script = established(&fack(&json!({})), Some(outstanding));
        assert_eq!(script.sack(1, &[reports]), NOTHING);
    }
}

#[test]
fn rfc5827_2_2_not_where_something_new_may_be_sent() {
    let tcp = |more: Value| {
        let few = json!({"early_retransmit": "at_once", "initial_window": "3 packets"});
        fack(&with(few, &more))
    };
    let after_two_reports = |tcp: &Value| {
        let mut script = Script::new(tcp, None);
        assert_eq!(script.establish(), [1, 2, 3]);
        script.wait(RTT);
        script.sack(1, &[2..4])
    };
    assert_eq!(after_two_reports(&tcp(json!({}))), [4, 5]);
    // (2.b): the receiver's window does not permit it.
    let full = tcp(json!({"window_limit": "3 packets"}));
    assert_eq!(after_two_reports(&full), [1]);
}

#[test]
fn rfc5827_appendix_a_a_delayed_one_waits_a_quarter_of_a_round_trip_and_not_after_reordering() {
    let tcp = fack(&json!({"early_retransmit": "delayed"}));
    let mut script = established(&tcp, Some(3));
    assert_eq!(script.sack(1, &[2..4]), NOTHING);
    assert!(near(script.deadline() - script.now, RTT / 4.0));
    assert_eq!(script.timeout(), [1]);
    assert_eq!(script.sender.counters().fast_retransmits, 1);
    assert_eq!(script.sender.counters().timeouts, 0);

    let mut script = established(&tcp, Some(6));
    script.sack(1, &[2..3]);
    script.ack(3);
    script.ack(4);
    assert_eq!(script.sack(4, &[5..7]), NOTHING);
    assert!(
        script.deadline() - script.now > RTT,
        "only the timeout is left"
    );
}
