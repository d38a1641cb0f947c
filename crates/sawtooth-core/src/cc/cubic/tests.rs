use super::*;
use crate::cc::testing::*;

fn cubic(start: ConnectionStart, set: &[(&str, Value)]) -> ClassicControl<Cubic> {
    ClassicControl::new(start, Cubic::new(&params(&ENTRY, set), start))
}

fn steps(cubic: &mut ClassicControl<Cubic>) -> &mut Steps {
    cubic.own.steps.as_mut().expect("a whole target")
}

fn ack(secs: f64) -> AckedData {
    AckedData {
        rtt: Some(Duration::from_secs(0.1)),
        ..ack_at(secs, 1, 100)
    }
}

/// After a loss at `cwnd`, with an epoch that began at 10 s.
fn lost_at(cwnd: f64) -> ClassicControl<Cubic> {
    let mut cubic = cubic(avoiding(cwnd), &[]);
    cubic.on_loss(&loss(cwnd));
    cubic.on_ack(&ack(10.0));
    cubic
}

fn near(left: f64, right: f64) {
    assert!(
        (left - right).abs() <= 1e-9 * right.abs().max(1.0),
        "{left} {right}"
    );
}

#[test]
fn rfc9438_4_2_k_is_the_time_to_w_max_and_w_cubic_is_flat_there() {
    // A loss at 1000: cwnd_epoch = 700, K = cbrt(300 / 0.4) = cbrt(750) = 9.0856029641607.
    let cubic = lost_at(1000.0);
    let epoch = cubic.own.history.epoch.unwrap();
    near(epoch.k, 9.085_602_964_160_7);
    near(epoch.w_cubic(0.4, 0.0), 700.0);
    near(epoch.w_cubic(0.4, epoch.k), 1000.0);
    // 5 s beyond K: 0.4 * 125 = 50 above.
    near(epoch.w_cubic(0.4, epoch.k + 5.0), 1050.0);
}

#[test]
fn rfc9438_4_4_an_acknowledgement_adds_the_distance_to_the_target_over_the_window() {
    // t = 5, RTT = 0.1: W_cubic(5.1) = 1000 - 0.4 * 3.98560296^3 = 1000 - 25.3244 = 974.6756; from 950 that is 24.6756 / 950.
    let mut cubic = lost_at(1000.0);
    cubic.window.cwnd = 950.0;
    cubic.on_ack(&ack(15.0));
    let distance = 9.085_602_964_160_7_f64 - 5.1;
    let target = 1000.0 - 0.4 * distance * distance * distance;
    assert!((target - 974.6756).abs() < 1e-3, "{target}");
    near(cubic.cwnd(), 950.0 + (target - 950.0) / 950.0);
}

#[test]
fn rfc9438_4_2_the_target_is_between_the_window_and_one_and_a_half_of_it() {
    // 60 s after: W_cubic is 53 thousand; half a segment per acknowledgement is the most.
    let mut cubic = lost_at(1000.0);
    let before = cubic.cwnd();
    cubic.on_ack(&ack(70.0));
    near(cubic.cwnd(), before + 0.5);
    // Ahead of the target: no growth, and no decrease.
    let mut cubic = lost_at(1000.0);
    cubic.window.cwnd = 990.0;
    cubic.on_ack(&ack(11.0));
    near(cubic.cwnd(), 990.0);
}

#[test]
fn rfc9438_4_3_w_est_grows_by_alpha_per_window_and_by_one_from_cwnd_prior_on() {
    // alpha = 3 * 0.3 / 1.7 = 9 / 17. A loss at 10: cwnd_epoch = 7, W_est = 7 + 9 / (17 * 7); W_cubic(0) = 7 is less.
    let mut cubic = lost_at(10.0);
    near(cubic.cwnd(), 7.0 + 9.0 / 119.0);
    let w_est = cubic.cwnd();
    cubic.on_ack(&ack(10.0));
    near(cubic.cwnd(), w_est + 9.0 / 17.0 / w_est);
    cubic.window.cwnd = 10.0;
    cubic.own.history.epoch.as_mut().unwrap().w_est = 10.0;
    cubic.on_ack(&ack(10.0));
    near(cubic.cwnd(), 10.1);
}

#[test]
fn rfc9438_4_3_whole_windows_follow_w_est_over_a_window() {
    let start = ConnectionStart {
        whole_windows: true,
        ..avoiding(10.0)
    };
    let mut cubic = cubic(start, &[]);
    cubic.on_loss(&whole_loss(10.0));
    near(cubic.cwnd(), 7.0);
    // 7 * 17 / 9 = 13.2 acknowledgements for a segment.
    (0..14).for_each(|_| cubic.on_ack(&ack(10.0)));
    near(cubic.cwnd(), 7.0);
    // W_est has reached 8 with the fourteenth; a window of 7 takes the window there.
    (0..6).for_each(|_| cubic.on_ack(&ack(10.0)));
    near(cubic.cwnd(), 8.0);
}

#[test]
fn rfc9438_4_6_a_loss_leaves_beta_of_the_window_and_two_segments_and_a_mark_one() {
    let mut cubic = cubic(avoiding(100.0), &[]);
    cubic.on_loss(&loss(100.0));
    near(cubic.cwnd(), 70.0);
    near(cubic.ssthresh(), 70.0);
    cubic.on_loss(&loss(2.0));
    near(cubic.cwnd(), 2.0);
    let mut cubic = self::cubic(avoiding(2.0), &[]);
    cubic.on_ecn(&loss(2.0));
    near(cubic.cwnd(), 1.4);
    near(cubic.ssthresh(), 2.0);
    cubic.on_ecn(&loss(1.4));
    near(cubic.cwnd(), 1.0);
}

#[test]
fn rfc9438_4_7_fast_convergence_remembers_85_percent_of_a_window_below_w_max() {
    let mut cubic = cubic(avoiding(100.0), &[]);
    cubic.on_loss(&loss(100.0));
    near(cubic.own.history.w_max.unwrap(), 100.0);
    cubic.window.cwnd = 80.0;
    cubic.on_loss(&loss(80.0));
    near(cubic.own.history.w_max.unwrap(), 68.0);
    cubic.window.cwnd = 69.0;
    cubic.on_loss(&loss(69.0));
    near(cubic.own.history.w_max.unwrap(), 69.0);
}

#[test]
fn rfc9438_4_8_after_a_timeout_congestion_avoidance_begins_on_the_plateau() {
    let mut cubic = cubic(avoiding(100.0), &[]);
    cubic.on_rto(&loss(100.0));
    assert_eq!(cubic.cwnd(), 1.0);
    near(cubic.ssthresh(), 70.0);
    while cubic.window.in_slow_start() {
        cubic.on_ack(&ack(2.0));
    }
    cubic.on_ack(&ack(3.0));
    let epoch = cubic.own.history.epoch.unwrap();
    assert_eq!((epoch.k, epoch.w_max), (0.0, 70.0));
    near(cubic.own.history.w_max.unwrap(), 70.0);
}

#[test]
fn rfc9438_4_9_a_spurious_loss_restores_the_epoch() {
    let mut cubic = lost_at(1000.0);
    let (epoch, w_max, cwnd) = (
        cubic.own.history.epoch,
        cubic.own.history.w_max,
        cubic.cwnd(),
    );
    cubic.on_loss(&loss(cwnd));
    assert_ne!(cubic.own.history.w_max, w_max);
    cubic.on_undo(Windows {
        cwnd: WindowSize::from_segments(cwnd),
        ssthresh: WindowSize::from_segments(700.0),
    });
    assert_eq!(
        (
            cubic.own.history.epoch,
            cubic.own.history.w_max,
            cubic.cwnd()
        ),
        (epoch, w_max, cwnd)
    );
}

#[test]
fn rfc9438_4_2_idle_and_application_limited_times_shift_the_epoch() {
    let mut cubic = lost_at(1000.0);
    cubic.on_restart(Instant::from_secs(13.0), Duration::from_secs(2.0));
    near(cubic.own.history.epoch.unwrap().start_secs, 12.0);
    let limited = AckedData {
        cwnd_limited: false,
        ..ack(14.5)
    };
    cubic.on_ack(&limited);
    near(cubic.own.history.epoch.unwrap().start_secs, 13.5);
    cubic.own.rules.app_limited_counts = true;
    cubic.on_ack(&AckedData {
        now: Instant::from_secs(15.0),
        ..limited
    });
    near(cubic.own.history.epoch.unwrap().start_secs, 13.5);
}

#[test]
fn rfc9438_4_10_hystart_ends_slow_start_without_a_loss_and_begins_on_the_plateau() {
    // Acknowledgements 1.1 ms apart: 46 of them after the first are longer than half of 100 ms.
    let mut cubic = cubic(beginning(20.0), &[]);
    for n in 0..60 {
        cubic.on_ack(&AckedData {
            snd_una: SeqNum::new(n),
            snd_nxt: SeqNum::new(n + 100),
            ..ack(1.0 + 0.0011 * f64::from(u32::try_from(n).unwrap()))
        });
    }
    near(cubic.ssthresh(), 66.0);
    let epoch = cubic.own.history.epoch.unwrap();
    assert_eq!((epoch.k, epoch.w_max), (0.0, cubic.ssthresh()));
}

#[test]
fn rfc9406_4_3_hystart_plus_plus_is_for_the_first_slow_start() {
    let mut cubic = cubic(
        beginning(10.0),
        &[("hystart", Value::Choice("hystart_plus_plus"))],
    );
    let round = |cubic: &mut ClassicControl<Cubic>, number: u64, rtt: f64| {
        let before = cubic.cwnd();
        for n in 0..10 {
            cubic.on_ack(&AckedData {
                snd_una: SeqNum::new(number * 10 + n),
                snd_nxt: SeqNum::new(number * 10 + n + 10),
                rtt: Some(Duration::from_secs(rtt)),
                ..ack(1.0)
            });
        }
        cubic.cwnd() - before
    };
    near(round(&mut cubic, 0, 0.05), 10.0);
    // From the eighth sample on a quarter: 7 + 3 / 4.
    near(round(&mut cubic, 1, 0.06), 7.75);
    near(round(&mut cubic, 2, 0.06), 2.5);
    for number in 3..=6 {
        round(&mut cubic, number, 0.06);
    }
    near(cubic.ssthresh(), 10.0 + 10.0 + 7.75 + 4.0 * 2.5);
    assert!(cubic.own.slow_start.is_none());
}

fn linux(cwnd: f64) -> ClassicControl<Cubic> {
    let start = ConnectionStart {
        whole_windows: true,
        ..avoiding(cwnd)
    };
    let set = [
        ("whole_target", Value::Bool(true)),
        ("first_growth", Value::Number(20.0)),
    ];
    cubic(start, &set)
}

/// Of `count` such acknowledgements the last makes the window one segment larger.
fn step_takes(cubic: &mut ClassicControl<Cubic>, count: u32, ack: &AckedData) {
    let cwnd = cubic.cwnd();
    (1..count).for_each(|_| cubic.on_ack(ack));
    near(cubic.cwnd(), cwnd);
    cubic.on_ack(ack);
    near(cubic.cwnd(), cwnd + 1.0);
}

#[test]
fn in_linux_the_target_is_whole_segments_away_from_w_max() {
    let mut cubic = linux(1000.0);
    cubic.on_loss(&whole_loss(1000.0));
    cubic.on_ack(&ack(10.0));
    // As above W_cubic(5.1) is 25.3 below W_max: 975 is the target, so from 950 a step takes 950 / 25 = 38 segments. One has been counted.
    cubic.window.cwnd = 950.0;
    step_takes(&mut cubic, 37, &ack(15.0));
}

#[test]
fn in_linux_3_2_half_as_many_acknowledgements_of_two_segments_make_a_step() {
    // As above, 38 segments; with an acknowledgement for every second one that is 19.
    let mut cubic = linux(1000.0);
    steps(&mut cubic).ack_ratio = 2.0;
    cubic.on_loss(&whole_loss(1000.0));
    let two = |secs: f64| AckedData {
        acked: SegCount::new(2),
        counted: SegCount::new(1),
        ..ack(secs)
    };
    cubic.on_ack(&two(10.0));
    cubic.window.cwnd = 950.0;
    step_takes(&mut cubic, 18, &two(15.0));
}

#[test]
fn in_linux_a_second_loss_leaves_a_whole_plateau() {
    // Measured: marks at 15 and 10 segments. 0.85 * 10 = 8.5 is a plateau of 8, K = cbrt((8 - 7) / 0.4) = 1.36 s: W_cubic a round trip
    // of 20 ms later is less than a segment below it, so the target is 8 and a step takes 7 segments.
    let mut cubic = linux(15.0);
    cubic.on_loss(&loss(15.0));
    cubic.window.cwnd = 10.0;
    cubic.on_loss(&loss(10.0));
    near(cubic.own.history.w_max.unwrap(), 8.0);
    cubic.window.cwnd = 7.0;
    let ack = AckedData {
        rtt: Some(Duration::from_secs(0.02)),
        ..ack(10.0)
    };
    step_takes(&mut cubic, 7, &ack);
}

#[test]
fn in_linux_a_step_takes_twenty_segments_at_most_before_the_first_loss() {
    let mut cubic = linux(100.0);
    step_takes(&mut cubic, 20, &ack(10.0));
}

#[test]
fn in_linux_w_est_goes_on_by_whole_segments() {
    // 8 / alpha = 8 * 17 / 9 = 15.1, so 15/8 of a window of 24 are 45 segments: the 46th takes W_est from 24 to 25, and a step takes 24 segments
    // then. With alpha itself it would be the 46th, too, but of a window of 25 the 48th, and not the 47th.
    for (cwnd, each) in [(24.0, 45), (25.0, 46)] {
        let mut cubic = linux(cwnd);
        let mut epoch = CubicEpoch::begin(Instant::from_secs(10.0), cwnd, None, &cubic.own.rules);
        let mut per = |epoch: &mut CubicEpoch| {
            let steps = steps(&mut cubic);
            let now = steps.now(Instant::from_secs(10.0));
            let now = WindowThen {
                ticks: now.ticks,
                cwnd,
            };
            let held = steps.held(now, SegCount::ONE);
            held.unwrap_or_else(|| steps.per(now, false, epoch, |_| cwnd))
        };
        (0..each).for_each(|_| assert_eq!(per(&mut epoch), f64::INFINITY));
        assert_eq!(epoch.w_est, cwnd);
        assert_eq!(per(&mut epoch), cwnd);
        assert_eq!(epoch.w_est, cwnd + 1.0);
    }
}

#[test]
fn in_linux_within_a_tick_w_est_alone_changes_the_pace() {
    let mut cubic = linux(8.0);
    steps(&mut cubic).clock.tick = 0.01;
    let mut epoch = CubicEpoch::begin(Instant::from_secs(10.0), 8.0, None, &cubic.own.rules);
    let mut per = |secs: f64, cwnd: f64, target: f64| {
        let steps = steps(&mut cubic);
        let (now, counted) = (steps.now(Instant::from_secs(secs)), SegCount::new(8));
        let now = WindowThen {
            ticks: now.ticks,
            cwnd,
        };
        let held = steps.held(now, counted);
        held.unwrap_or_else(|| steps.per(now, false, &mut epoch, |_| target))
    };
    assert_eq!(per(10.0, 8.0, 10.0), 4.0);
    // In the same tick the target is not looked at, but W_est is, once the window has grown: 24 segments are more than once 15/8 of 9.
    assert_eq!(per(10.001, 9.0, 12.0), 4.0);
    assert_eq!(per(10.001, 9.0, 12.0), 4.0);
    assert_eq!(per(10.01, 9.0, 12.0), 3.0);
}

#[test]
fn in_linux_the_pace_is_computed_anew_after_a_step_or_so_many_ticks() {
    let mut cubic = linux(100.0);
    let of_linux = steps(&mut cubic);
    (of_linux.clock.tick, of_linux.interval_ticks) = (0.01, 3.0);
    // Ticks of 10 ms: 31.25 ms are three whole ones, and 30 ms, too.
    assert_eq!(of_linux.clock.count(Duration::from_secs(0.03125)), 3.0);
    assert_eq!(of_linux.clock.count(Duration::from_secs(0.03)), 3.0);
    let mut computed_at = |secs: f64| {
        cubic.on_ack(&ack(secs));
        steps(&mut cubic).pace.expect("a pace").of.ticks
    };
    assert_eq!(computed_at(10.0), 1000.0);
    // Neither has the window grown nor have more than three ticks passed.
    assert_eq!(computed_at(10.02), 1000.0);
    assert_eq!(computed_at(10.03), 1000.0);
    assert_eq!(computed_at(10.04), 1004.0);
    // The window has grown: with the next tick, but not in the same.
    cubic.window.cwnd += 1.0;
    let mut computed_at = |secs: f64| {
        cubic.on_ack(&ack(secs));
        steps(&mut cubic).pace.expect("a pace").of.ticks
    };
    assert_eq!(computed_at(10.041), 1004.0);
    assert_eq!(computed_at(10.05), 1005.0);
}

#[test]
fn in_linux_a_loss_that_leaves_the_window_that_was_looked_at_last_leaves_its_pace_too() {
    let mut cubic = linux(9.0);
    let of_linux = steps(&mut cubic);
    (of_linux.clock.tick, of_linux.interval_ticks) = (0.01, 3.0);
    cubic.on_ack(&ack(10.0));
    let pace = steps(&mut cubic).pace.expect("a pace").per;
    cubic.window.cwnd = 14.0;
    cubic.on_loss(&whole_loss(14.0));
    cubic.window.cwnd = 9.0;
    cubic.on_ack(&ack(10.01));
    assert_eq!(cubic.own.history.epoch, None);
    assert_eq!(steps(&mut cubic).pace.expect("a pace").per, pace);
    // The epoch begins when it has grown.
    cubic.window.cwnd = 10.0;
    cubic.on_ack(&ack(10.02));
    assert!(cubic.own.history.epoch.is_some());
    cubic.on_rto(&whole_loss(10.0));
    assert!(steps(&mut cubic).pace.is_none());
}

#[test]
fn in_linux_the_time_since_the_last_segment_left_an_empty_path_is_none_of_the_epochs() {
    let begin = |at: f64, since: f64| {
        let mut cubic = linux(9.0);
        cubic.own.rules.begins_with_empty_path = true;
        steps(&mut cubic).clock.tick = 0.01;
        cubic.on_ack(&ack(10.0));
        let next = SeqNum::ZERO;
        let [at, since] = [at, since].map(Duration::from_secs);
        cubic.on_empty_path(Instant::START + at, since, next);
        cubic.own.history.epoch.expect("an epoch").start_secs
    };
    near(begin(10.054, 0.02), 10.02);
    near(begin(10.005, 0.004), 10.0);
    near(begin(10.01, 0.5), 10.01);
}

#[test]
fn of_an_acknowledgement_that_ends_slow_start_congestion_avoidance_counts_the_rest() {
    let start = starting(10.0, 12.0);
    let mut cubic = cubic(start, &[("hystart", Value::Choice("none"))]);
    cubic.on_ack(&AckedData {
        acked: SegCount::new(4),
        counted: SegCount::new(4),
        ..ack(10.0)
    });
    // Two of four were slow start's. cwnd_prior is its last window, so that alpha is 1 from there on (§4.3): W_est = 12 + 2/12.
    near(cubic.own.history.epoch.unwrap().w_est, 12.0 + 2.0 / 12.0);
}

#[test]
fn in_linux_round_trips_in_the_first_second_of_an_epoch_do_not_count_for_the_smallest() {
    let least = |set: &[(&str, Value)]| {
        let mut cubic = cubic(avoiding(100.0), set);
        let timed = |secs: f64, rtt: f64| AckedData {
            rtt: Some(Duration::from_secs(rtt)),
            ..ack(secs)
        };
        cubic.on_ack(&timed(9.0, 0.08));
        cubic.on_loss(&loss(100.0));
        // The epoch begins with the first of these.
        [(10.0, 0.075), (10.9, 0.07), (11.0, 0.078), (11.1, 0.077)].map(|(secs, rtt)| {
            cubic.on_ack(&timed(secs, rtt));
            cubic.own.rtts.min
        })
    };
    assert_eq!(least(&[]), [0.075, 0.07, 0.07, 0.07]);
    let after = [("min_rtt_after", Value::Duration(1.0))];
    assert_eq!(least(&after), [0.075, 0.075, 0.075, 0.075]);
    let mut first = cubic(avoiding(100.0), &after);
    first.on_ack(&ack(9.0));
    assert_eq!(first.own.rtts.min, 0.1, "the first counts always");
}

#[test]
fn in_linux_the_target_is_that_of_a_whole_1024th_of_a_second() {
    let linux = CubicRules::from(&params(
        &ENTRY,
        &[
            ("c", Value::Number(410.0 / 1024.0)),
            ("time_unit", Value::Duration(1.0 / 1024.0)),
        ],
    ));
    let epoch = CubicEpoch::begin(Instant::from_secs(2.55), 4.0, Some(7.0), &linux);
    // K is 2003 units; 1389 units before it a whole segment is missing yet, 1388 before it none is.
    let target = |units: f64| epoch.whole_target(linux.c, units / 1024.0, linux.time_unit);
    assert_eq!([613.0, 613.9, 614.0].map(target), [6.0, 6.0, 7.0]);
}
