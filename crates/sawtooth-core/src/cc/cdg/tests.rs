use super::*;
use crate::cc::testing::*;

fn made(start: ConnectionStart, set: &[(&str, Value)]) -> ClassicControl<Cdg> {
    ClassicControl::new(start, Cdg::new(&params(&ENTRY, set), start.seed))
}

/// In congestion avoidance with a window of 100 segments and a gradient scale of `g_secs`.
fn cdg(g_secs: f64) -> ClassicControl<Cdg> {
    made(avoiding(100.0), &[("g", Value::Duration(g_secs))])
}

/// Any gradient above zero backs off.
const CERTAIN: f64 = 1e-9;
/// None does.
const NEVER: f64 = 1e9;
/// A round trip whose samples are these two.
fn round(cdg: &mut ClassicControl<Cdg>, min_secs: f64, max_secs: f64) {
    let ack = |rtt_secs, snd_una: SeqNum| AckedData {
        rtt: Some(Duration::from_secs(rtt_secs)),
        snd_una,
        snd_nxt: snd_una + segs(2),
        ..ack_at(1.0, 1, 100)
    };
    let end = cdg.own.gradients.end;
    if end > SeqNum::ZERO {
        cdg.on_ack(&ack(min_secs, end));
    } else {
        // The first acknowledgement of all ends a round trip.
        cdg.own.gradients.rtt.min = min_secs;
    }
    cdg.on_ack(&ack(max_secs, end.next()));
}

#[test]
fn the_probability_of_backing_off_is_exponential() {
    // G = 3 ms: 1 - e^-1 = 0.632121 for 3 ms, 1 - e^-(1/3) = 0.283469 for 1 ms.
    let cdg = cdg(0.003);
    assert!((cdg.own.backoffs.probability(0.003) - 0.632_121).abs() < 1e-6);
    assert!((cdg.own.backoffs.probability(0.001) - 0.283_469).abs() < 1e-6);
}

#[test]
fn as_often_as_the_probability_says() {
    // 20000 draws at a probability of 0.632121: mean 12642.4, standard deviation 68.2.
    let mut cdg = cdg(0.003);
    let gradient = Pair {
        min: 0.0,
        max: 0.003,
    };
    let backoffs: u32 = (0..20_000)
        .map(|_| u32::from(cdg.own.backoffs.is_due(gradient)))
        .sum();
    assert!(
        (f64::from(backoffs) - 12_642.4).abs() < 4.0 * 68.2,
        "{backoffs}"
    );
}

#[test]
fn gradients_are_means_of_the_last_eight_round_trips() {
    // RTT_max rises by 8 ms, once: 8/8 = 1 ms for eight round trips, then nothing.
    let mut cdg = cdg(NEVER);
    round(&mut cdg, 0.1, 0.1);
    for _ in 0..8 {
        round(&mut cdg, 0.1, 0.108);
        assert!((cdg.own.gradients.g_bar.max - 0.001).abs() < 1e-12);
    }
    round(&mut cdg, 0.1, 0.108);
    assert_eq!(cdg.own.gradients.g_bar, Pair { min: 0.0, max: 0.0 });
}

#[test]
fn the_window_grows_by_one_each_round_trip_and_a_backoff_takes_three_tenths() {
    let mut cdg = cdg(CERTAIN);
    round(&mut cdg, 0.1, 0.1);
    round(&mut cdg, 0.1, 0.1);
    assert!((cdg.cwnd() - 102.0).abs() < 1e-9);
    round(&mut cdg, 0.1, 0.11);
    assert!((cdg.cwnd() - 71.4).abs() < 1e-9, "102 * 0.7");
    assert!((cdg.own.s - 102.0).abs() < 1e-9);
    round(&mut cdg, 0.1, 0.11);
    assert!(
        (cdg.cwnd() - 72.4).abs() < 1e-9,
        "the next round trip is not looked at"
    );
    assert!((cdg.own.s - 103.0).abs() < 1e-9);
    round(&mut cdg, 0.1, 0.11);
    assert!((cdg.cwnd() - 72.4 * 0.7).abs() < 1e-9);
    assert!((cdg.own.s - 103.0).abs() < 1e-9, "max(72.4, 103)");
}

#[test]
fn backoffs_without_effect_stop_for_five_round_trips() {
    let mut cdg = cdg(CERTAIN);
    let mut backed_off = Vec::new();
    for n in 0_u32..18 {
        let before = cdg.cwnd();
        let rtt_secs = 0.1 + 0.001 * f64::from(n);
        round(&mut cdg, rtt_secs, rtt_secs);
        if cdg.cwnd() < before {
            backed_off.push(n);
        }
    }
    // Every other round trip, five times; round trip 10 waits for the fifth, 11 to 15 are ignored.
    assert_eq!(backed_off, [1, 3, 5, 7, 9, 16]);
}

#[test]
fn a_loss_is_tolerated_unless_the_queue_is_full_or_unknown() {
    let mut cdg = cdg(NEVER);
    round(&mut cdg, 0.1, 0.12);
    cdg.on_loss(&loss(100.0));
    assert!((cdg.cwnd() - 50.0).abs() < 1e-9, "unknown");
    // Both rise: the queue fills, but is not full.
    round(&mut cdg, 0.11, 0.13);
    assert_eq!(cdg.own.queue, QueueState::Rising);
    let window = cdg.cwnd();
    cdg.on_loss(&loss(window));
    assert_eq!(cdg.cwnd(), window);
    // RTT_max is back where it was, RTT_min is not.
    round(&mut cdg, 0.115, 0.12);
    assert_eq!(cdg.own.queue, QueueState::Full);
    let window = cdg.cwnd();
    cdg.on_loss(&loss(window));
    assert!((cdg.cwnd() - window / 2.0).abs() < 1e-9);
}

#[test]
fn a_loss_starts_from_the_shadow_window_but_widens_nothing() {
    let mut cdg = cdg(CERTAIN);
    round(&mut cdg, 0.1, 0.1);
    round(&mut cdg, 0.1, 0.11);
    round(&mut cdg, 0.1, 0.11);
    round(&mut cdg, 0.1, 0.11);
    // 101, backed off to 70.7; 71.7, backed off to 50.19; the shadow is 102, so 51 is more than there is.
    assert!((cdg.cwnd() - 50.19).abs() < 1e-9, "{}", cdg.cwnd());
    cdg.on_ecn(&loss(50.19));
    assert!((cdg.ssthresh() - 51.0).abs() < 1e-9);
    assert!((cdg.cwnd() - 50.19).abs() < 1e-9);
}

#[test]
fn gradients_of_both_extremes_tell_whether_the_queue_fills_or_is_full() {
    let mut cdg = cdg(NEVER);
    // Where they say nothing, what was known stays.
    for (min, max, queue) in [
        (-0.001, 0.001, QueueState::Unknown),
        (0.001, 0.001, QueueState::Rising),
        (-0.001, 0.001, QueueState::Rising),
        (0.001, 0.0, QueueState::Full),
        (0.0, 0.0, QueueState::Full),
        (-0.001, -0.001, QueueState::Falling),
        (0.0, 0.001, QueueState::Falling),
        (0.001, -0.001, QueueState::Full),
        (0.0, -0.001, QueueState::Empty),
        (-0.001, 0.0, QueueState::Empty),
    ] {
        cdg.own.gradients.g_bar = Pair { min, max };
        cdg.own.infer_queue();
        assert_eq!(cdg.own.queue, queue, "{min} {max}");
    }
}

#[test]
fn without_a_backoff_there_is_no_shadow_and_after_a_timeout_nothing_is_known() {
    let mut cdg = cdg(NEVER);
    for step in 0..3 {
        round(&mut cdg, 0.1, 0.1 + 0.01 * f64::from(step));
    }
    assert!(cdg.cwnd() > 100.0 && cdg.own.gradients.g_bar.max > 0.0);
    assert_eq!(cdg.own.s, 0.0);
    cdg.on_rto(&loss(100.0));
    assert_eq!(cdg.own.gradients.g_bar, Pair { min: 0.0, max: 0.0 });
    assert_eq!((cdg.own.queue, cdg.ssthresh()), (QueueState::Unknown, 50.0));
}
