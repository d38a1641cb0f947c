use super::*;
use crate::cc::RateSample;
use crate::cc::testing::*;

/// With a least round-trip time of 1 ms.
fn nv(cwnd: f64, ssthresh: f64) -> ClassicControl<Nv> {
    let start = starting(cwnd, ssthresh);
    let rules = NvParameters {
        rounds: 1,
        ..NvParameters::from(&params(&ENTRY, &[]))
    };
    let mut nv = ClassicControl::new(start, Nv::new(rules, start));
    nv.own.least_rtt.secs = 0.001;
    nv
}

/// A round of `samples` acknowledgements, the last of which ends it, that count nothing for growth.
fn round(nv: &mut ClassicControl<Nv>, samples: u64, in_flight: u64, rtt: f64) {
    nv.own.round = SeqNum::ZERO;
    for number in 1..=samples {
        nv.on_ack(&AckedData {
            rtt: Some(Duration::from_secs(rtt)),
            counted: SegCount::new(0),
            snd_una: SeqNum::new(u64::from(number == samples)),
            ..ack_at(1.0, 1, in_flight)
        });
    }
}

fn grown(nv: &mut ClassicControl<Nv>) -> f64 {
    let before = nv.cwnd();
    nv.on_ack(&ack_at(1.0, 1, 20));
    nv.cwnd() - before
}

#[test]
fn a_queue_longer_than_the_pad_shrinks_the_window_by_three_tenths_of_the_excess() {
    let mut nv = nv(120.0, 2.0);
    // 120 in 1.5 ms are 80 in 1 ms: 40 are queued, 30 more than the pad, 9 of them given up.
    round(&mut nv, 60, 120, 0.0015);
    assert!((nv.cwnd() - 111.0).abs() < 1e-9, "{}", nv.cwnd());
    assert!((nv.ssthresh() - 90.0).abs() < 1e-9);
    assert_eq!(grown(&mut nv), 0.0);
}

#[test]
fn slow_start_ends_with_half_as_many_samples_as_long_as_nothing_has_set_a_threshold() {
    // A connection whose window has no limit begins with a threshold that no window reaches.
    let unreached = 1e15;
    for (ssthresh, samples, ends) in [
        (unreached, 30, true),
        (f64::INFINITY, 30, true),
        (unreached, 29, false),
        (200.0, 30, false),
        (200.0, 60, true),
    ] {
        let mut nv = nv(120.0, ssthresh);
        round(&mut nv, samples, 120, 0.0015);
        assert_eq!(nv.ssthresh() < 100.0, ends, "{ssthresh}, {samples}");
    }
}

#[test]
fn a_kernels_windows_follow_each_other_to_the_pad() {
    // Measured of Linux 6.1 where 34.4 segments fit the path: 68, 61, 56, 53, 51, with a threshold of 44.
    let mut nv = nv(68.0, 2.0);
    nv.window.growth.whole = true;
    for (window, next) in [(68, 61.0), (61, 56.0), (56, 53.0), (53, 51.0)] {
        let rtt = f64::from(window) / 34.4e3;
        round(&mut nv, 60, u64::try_from(window).expect("positive"), rtt);
        assert_eq!((nv.cwnd(), nv.ssthresh()), (next, 44.0));
    }
}

#[test]
fn a_kernel_gives_up_two_segments_at_least_and_never_more_than_the_excess() {
    // Measured of Linux 6.1 with a threshold of 28: 36, 34, 32, 30, 28; and 62 with one of 61.
    for (window, threshold, next) in [
        (36, 28, 34.0),
        (34, 28, 32.0),
        (30, 28, 28.0),
        (62, 61, 61.0),
    ] {
        let mut nv = nv(f64::from(window), 2.0);
        nv.window.growth.whole = true;
        // So many fit that the threshold is ten more.
        let rtt = f64::from(window) / (f64::from(threshold) - 9.5) / 1e3;
        round(&mut nv, 60, u64::try_from(window).expect("positive"), rtt);
        assert_eq!((nv.cwnd(), nv.ssthresh()), (next, f64::from(threshold)));
    }
}

#[test]
fn fewer_samples_decide_nothing_and_are_added_to() {
    let mut nv = nv(120.0, 2.0);
    round(&mut nv, 59, 120, 0.0015);
    assert_eq!(nv.cwnd(), 120.0);
    round(&mut nv, 2, 120, 0.0015);
    assert!((nv.cwnd() - 111.0).abs() < 1e-9);
    // Fewer than 20 decide nothing.
    let mut undecided = self::nv(120.0, 2.0);
    round(&mut undecided, 19, 120, 0.0015);
    assert!(grown(&mut undecided) > 0.0);
}

#[test]
fn one_round_decides_nothing() {
    let mut nv = nv(120.0, 2.0);
    nv.own.rules.rounds = 2;
    round(&mut nv, 100, 120, 0.0015);
    assert_eq!(nv.cwnd(), 120.0);
    round(&mut nv, 2, 120, 0.0015);
    assert!((nv.cwnd() - 111.0).abs() < 1e-9);
}

#[test]
fn rates_are_told_from_the_smoothed_round_trip_time() {
    let mut nv = nv(120.0, 2.0);
    // 2 ms, then 1 ms, smoothed to 1.5 ms: 120 / 1.5 are 80 in 1 ms, as above.
    nv.own.rtt = Some(0.002);
    nv.own.judged.samples = 59;
    let window = nv.window;
    nv.own.sample(&window, &ack_at(1.0, 1, 120), 0.001);
    let rate = nv.own.judged.max_rate;
    assert!((rate - 80_000.0).abs() < 1e-6, "{rate}");
}

#[test]
fn slow_start_needs_fewer_samples_to_end() {
    // Nothing has set a threshold.
    let mut nv = nv(120.0, f64::INFINITY);
    round(&mut nv, 30, 120, 0.0015);
    assert!((nv.cwnd() - 111.0).abs() < 1e-9);
    assert!(nv.ssthresh() < nv.cwnd());
}

#[test]
fn short_queues_let_the_window_stand_or_grow() {
    // 59 in flight for 1.18 ms: 50 in 1 ms, 9 are queued, between 10 - 2 and 10: a window that stood stands, one that grew grows.
    for grows in [false, true] {
        let mut between = nv(59.0, 2.0);
        between.own.grows = grows;
        round(&mut between, 60, 59, 0.00118);
        assert_eq!(between.cwnd(), 59.0);
        assert_eq!(grown(&mut between) > 0.0, grows);
    }
    // 57 for 1.14 ms: 7 are queued.
    let mut growing = nv(57.0, 2.0);
    round(&mut growing, 60, 57, 0.00114);
    assert!((grown(&mut growing) - 1.0 / 57.0).abs() < 1e-12);
}

#[test]
fn the_least_round_trip_time_is_forgotten_after_two_periods_at_most() {
    let rules = NvParameters {
        reset_spread: 0.0,
        ..NvParameters::from(&params(&ENTRY, &[]))
    };
    let mut least = LeastRtt::new(1);
    // The first period ends at 2 s, the second at 7 s: until then the first one's counts.
    for now in [0.0, 2.0, 6.0] {
        least.observe(now, if now == 0.0 { 0.001 } else { 0.002 }, &rules);
        assert_eq!(least.secs(), 0.001, "{now}");
    }
    least.observe(7.0, 0.003, &rules);
    assert_eq!(least.secs(), 0.002);
}

#[test]
fn after_a_recovery_what_was_measured_before_counts_no_more_until_the_periods_end() {
    let rules = NvParameters::from(&params(&ENTRY, &[]));
    let mut least = LeastRtt::new(1);
    least.observe(0.0, 0.020, &rules);
    least.set_aside();
    least.observe(1.0, 0.061, &rules);
    assert_eq!(least.secs(), 0.061);
    least.observe(2.0, 0.074, &rules);
    assert_eq!(least.secs(), 0.020);
}

#[test]
fn periods_are_up_to_a_quarter_longer_or_shorter() {
    let rules = NvParameters::from(&params(&ENTRY, &[]));
    let mut least = LeastRtt::new(1);
    let mut ends = Vec::new();
    // Every millisecond: 100 periods of 5 s on average.
    for tick in 0..500_000 {
        let before = least.end;
        least.observe(f64::from(tick) / 1e3, 0.020, &rules);
        if before != least.end {
            ends.push(f64::from(tick) / 1e3);
        }
    }
    let lengths: Vec<f64> = ends[1..].windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(lengths.iter().all(|length| (3.75..=6.251).contains(length)));
    // Uniform: both quarters of the range's ends have some of about 100 (0.75^100 would be chance).
    assert!(lengths.iter().any(|length| *length < 4.375));
    assert!(lengths.iter().any(|length| *length > 5.625));
}

#[test]
fn a_loss_leaves_four_fifths() {
    let mut nv = nv(120.0, 2.0);
    let loss = whole_loss(120.0);
    nv.on_loss(&loss);
    assert_eq!((nv.cwnd(), nv.ssthresh()), (96.0, 96.0));
    nv.on_rto(&loss);
    assert_eq!((nv.cwnd(), nv.ssthresh()), (1.0, 96.0));
}

#[test]
fn the_largest_rate_is_that_of_samples_alone_however_slow() {
    let mut nv = nv(2.0, 2.0);
    let window = nv.window;
    let ack = ack_at(1.0, 1, 1);
    // A sample that took no time has no rate.
    nv.own.sample(&window, &ack, 0.0);
    assert_eq!((nv.own.judged.max_rate, nv.own.judged.samples), (0.0, 1));
    nv.own.rtt = None;
    nv.own.sample(&window, &ack, 2.0);
    assert_eq!((nv.own.judged.max_rate, nv.own.judged.samples), (0.5, 2));
}

#[test]
fn a_rate_is_of_what_was_delivered_while_a_segment_was_under_way() {
    let mut nv = nv(20.0, 2.0);
    let window = nv.window;
    let rate = RateSample {
        delivered: segs(8),
        interval: Duration::from_secs(0.01),
        prior_delivered: segs(100),
        total_delivered: segs(108),
        lost: SegCount::ZERO,
        total_lost: SegCount::ZERO,
        pipe_at_send: segs(20),
        app_limited: false,
    };
    let ack = AckedData {
        rate: Some(rate),
        ..ack_at(1.0, 1, 20)
    };
    nv.own.sample(&window, &ack, 0.01);
    assert!((nv.own.judged.max_rate - 800.0).abs() < 1e-9);
}

#[test]
fn nothing_is_sampled_while_a_loss_is_repaired_nor_of_the_acknowledgement_that_ends_that() {
    let mut nv = nv(20.0, 2.0);
    let timed = |order, una| AckedData {
        rtt: Some(Duration::from_secs(0.001)),
        snd_una: SeqNum::new(una),
        snd_nxt: SeqNum::new(una + 20),
        order,
        ..ack_at(1.0, 1, 20)
    };
    nv.on_ack(&timed(PathOrder::Disordered, 1));
    assert_eq!(nv.own.judged.samples, 1);
    nv.on_loss(&loss(20.0));
    nv.on_ack(&timed(PathOrder::Repairing, 2));
    nv.on_recovered(Instant::from_secs(1.0), Signal::Loss);
    nv.on_ack(&timed(PathOrder::InOrder, 3));
    assert_eq!((nv.own.judged.samples, nv.own.round), (0, SeqNum::new(3)));
    // The next ends a round already, of one sample.
    nv.on_ack(&timed(PathOrder::InOrder, 4));
    assert_eq!((nv.own.judged.samples, nv.own.judged.rounds), (1, 1));
    assert_eq!(nv.own.round, SeqNum::new(24));
}

#[test]
fn a_timeout_halves_the_growth_and_nine_decisions_to_grow_double_it() {
    let mut nv = nv(64.0, 2.0);
    let window = nv.window;
    nv.on_rto(&loss(64.0));
    nv.window = window;
    (nv.own.grows, nv.own.order) = (true, PathOrder::InOrder);
    assert!((grown(&mut nv) - 0.5 / 64.0).abs() < 1e-12);
    for _ in 0..9 {
        assert_eq!(nv.own.slower.halvings, 1);
        nv.window = window;
        round(&mut nv, 20, 64, 0.001);
    }
    assert_eq!(nv.own.slower.halvings, 0);
    nv.window = window;
    assert!((grown(&mut nv) - 1.0 / 64.0).abs() < 1e-12);
}

#[test]
fn a_window_that_should_shrink_and_has_too_few_samples_stands_after_ten_rounds() {
    let mut nv = nv(120.0, 2.0);
    for number in 0..11 {
        assert!(nv.own.grows, "{number}");
        round(&mut nv, 2, 120, 0.0015);
    }
    assert!(!nv.own.grows);
    assert_eq!(nv.cwnd(), 120.0);
}

#[test]
fn where_windows_are_whole_four_segments_at_least_make_a_step() {
    let mut nv = nv(2.0, 2.0);
    nv.window.growth.whole = true;
    let steps = [0; 4].map(|_| grown(&mut nv));
    assert_eq!(steps, [0.0, 0.0, 0.0, 1.0]);
}
