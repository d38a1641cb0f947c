use super::*;
use crate::cc::testing::*;

fn ledbat(variant: &'static str) -> Ledbat {
    let mut params = Params::defaults(ENTRY.params);
    params.set("variant", Value::Choice(variant));
    // One sample is the delay, so that tests can say it.
    params.set("current_filter", Value::Integer(1));
    Ledbat::new(&params, beginning(10.0))
}

fn at(secs: f64, rtt_secs: f64) -> AckedData {
    AckedData {
        rtt: Some(Duration::from_secs(rtt_secs)),
        ..ack_at(secs, 1, 100)
    }
}

fn phase(ledbat: &Ledbat) -> SlowdownPhase {
    match &ledbat.variant {
        Variant::PlusPlus(plus_plus) => plus_plus.phase,
        Variant::Rfc6817 { .. } => panic!("not LEDBAT++"),
    }
}

#[test]
fn rfc6817_2_4_2_the_window_follows_the_distance_to_the_target() {
    let mut ledbat = ledbat("rfc6817");
    assert_eq!(ledbat.cwnd(), 2.0, "INIT_CWND");
    ledbat.on_ack(&at(0.0, 0.05));
    assert!((ledbat.cwnd() - 2.5).abs() < 1e-9, "no delay: 1/2");
    ledbat.set_cwnd(20.0);
    // 75 ms of 100: a quarter of 1/20. 150 ms: minus one half of 1/20.
    ledbat.on_ack(&at(0.1, 0.125));
    assert!((ledbat.cwnd() - 20.0125).abs() < 1e-9);
    ledbat.set_cwnd(20.0);
    ledbat.on_ack(&at(0.2, 0.2));
    assert!((ledbat.cwnd() - 19.975).abs() < 1e-9);
}

#[test]
fn rfc6817_2_4_2_the_window_stays_near_what_is_outstanding() {
    let mut ledbat = ledbat("rfc6817");
    ledbat.set_cwnd(20.0);
    // flightsize + ALLOWED_INCREASE * MSS
    ledbat.on_ack(&AckedData {
        flight_size: SegCount::new(7),
        ..at(0.0, 0.05)
    });
    assert_eq!(ledbat.cwnd(), 8.0);
}

#[test]
fn a_loss_halves_but_not_below_the_least_window() {
    for (window, left) in [(20.0, 10.0), (3.0, 2.0)] {
        let mut ledbat = ledbat("rfc6817");
        ledbat.set_cwnd(window);
        ledbat.on_loss(&loss_at(1.0, window));
        assert_eq!(ledbat.cwnd(), left);
    }
}

#[test]
fn the_base_delay_is_forgotten_after_ten_minutes() {
    let mut delays = DelayHistory::new(10, 4);
    delays.observe(Instant::from_secs(30.0), 0.05);
    delays.observe(Instant::from_secs(30.0 + 599.0), 0.08);
    assert_eq!(delays.base_secs(), 0.05, "in the tenth minute");
    delays.observe(Instant::from_secs(30.0 + 601.0), 0.09);
    assert_eq!(delays.base_secs(), 0.08, "in the eleventh");
}

#[test]
fn the_current_delay_is_the_least_of_four_samples() {
    let mut delays = DelayHistory::new(10, 4);
    for (n, sample_secs) in [0.05, 0.07, 0.09, 0.11, 0.13].into_iter().enumerate() {
        assert!(n > 0 || delays.queueing_secs().is_none());
        delays.observe(Instant::from_secs(1.0), sample_secs);
    }
    let queueing_secs = delays.queueing_secs().expect("samples");
    assert!((queueing_secs - 0.02).abs() < 1e-12);
}

#[test]
fn samples_older_than_a_round_trip_are_forgotten() {
    let mut delays = DelayHistory::new(10, 4);
    delays.observe(Instant::from_secs(1.0), 0.05);
    delays.observe(Instant::from_secs(1.04), 0.08);
    assert_eq!(delays.queueing_secs(), Some(0.0), "40 of 80 ms ago");
    // The first was 110 ms before this, the second 70 ms: 80 - 50.
    delays.observe(Instant::from_secs(1.11), 0.09);
    let queueing_secs = delays.queueing_secs().expect("samples");
    assert!((queueing_secs - 0.03).abs() < 1e-12, "{queueing_secs}");
}

#[test]
fn ledbat_plus_plus_gains_less_on_short_paths() {
    // 2 * 60 / 100 = 1.2, so 1/2; 120 / 50 = 2.4, so 1/3; 120 / 5 = 24, more than 16.
    for (base_secs, gain) in [(0.1, 1.0 / 2.0), (0.05, 1.0 / 3.0), (0.005, 1.0 / 16.0)] {
        let mut ledbat = ledbat("plus_plus");
        ledbat.on_ack(&at(0.0, base_secs));
        assert!((ledbat.cwnd() - 2.0 - gain).abs() < 1e-9, "slow start");
    }
}

#[test]
fn ledbat_plus_plus_decreases_by_a_share_of_the_window() {
    let mut ledbat = ledbat("plus_plus");
    ledbat.on_ack(&at(0.0, 0.1));
    ledbat.set_cwnd(40.0);
    let Variant::PlusPlus(plus_plus) = &ledbat.variant else {
        panic!("not LEDBAT++")
    };
    // GAIN = 1/2. 75 ms are 5/4 of the target: 0.5 - 40/4 = -9.5. 300 ms: 0.5 - 160, but no more than half of 40.
    for (queueing_secs, change) in [(0.06, 0.5), (0.075, -9.5), (0.3, -20.0)] {
        let computed = plus_plus.change(&ledbat.common, queueing_secs);
        assert!((computed - change).abs() < 1e-9, "{computed}");
    }
}

#[test]
fn ledbat_plus_plus_slows_down_after_slow_start_and_ten_percent_of_the_time() {
    let mut ledbat = ledbat("plus_plus");
    // Every acknowledgement is a round trip here: snd_una has reached snd_nxt.
    ledbat.on_ack(&at(0.0, 0.1));
    ledbat.set_cwnd(4.0);
    // 45 ms are 3/4 of the target, 46 are more.
    ledbat.on_ack(&at(0.1, 0.146));
    assert_eq!(
        phase(&ledbat),
        SlowdownPhase::BeforeFirst { round_trips: 2 }
    );
    ledbat.on_ack(&at(0.2, 0.1));
    let window = ledbat.cwnd();
    ledbat.on_ack(&at(0.3, 0.1));
    assert_eq!((ledbat.cwnd(), ledbat.ssthresh()), (2.0, window));
    ledbat.on_ack(&at(0.4, 0.1));
    assert_eq!(ledbat.cwnd(), 2.0, "frozen for two round trips");
    let mut secs = 0.5;
    while ledbat.cwnd() < window {
        ledbat.on_ack(&at(secs, 0.1));
        secs += 0.1;
    }
    // From 0.3 s on; 4.125 is reached in five steps of 1/2, the last short, from 0.5 s to 0.9 s. It took 0.6 s.
    let SlowdownPhase::Until(due) = phase(&ledbat) else {
        panic!("{:?}", phase(&ledbat))
    };
    assert!((due.secs() - (0.9 + 9.0 * 0.6)).abs() < 1e-9, "{due:?}");
    ledbat.on_ack(&at(6.2, 0.1));
    assert!(ledbat.cwnd() > window);
    ledbat.on_ack(&at(6.4, 0.1));
    assert_eq!(ledbat.cwnd(), 2.0);
}

#[test]
fn ledbat_plus_plus_leaves_its_first_slow_start_above_three_quarters_of_the_target() {
    let mut ledbat = ledbat("plus_plus");
    // Binary fractions: of a target of 1/16 s three quarters are 3/64.
    ledbat.common.target_secs = 0.0625;
    ledbat.on_ack(&at(0.0, 0.125));
    ledbat.on_ack(&at(0.1, 0.171_875));
    assert_eq!(phase(&ledbat), SlowdownPhase::FirstStart);
    ledbat.on_ack(&at(0.2, 0.171_876));
    assert_eq!(
        phase(&ledbat),
        SlowdownPhase::BeforeFirst { round_trips: 2 }
    );
}

#[test]
fn ledbat_plus_plus_adds_its_gain_for_a_window() {
    let mut ledbat = ledbat("plus_plus");
    ledbat.on_ack(&at(0.0, 0.1));
    ledbat.set_cwnd(40.0);
    let Variant::PlusPlus(plus_plus) = &mut ledbat.variant else {
        panic!("not LEDBAT++")
    };
    plus_plus.phase = SlowdownPhase::Until(Instant::from_secs(9.0));
    // GAIN = 1/2: half a segment for 40.
    ledbat.on_ack(&at(0.1, 0.1));
    assert!((ledbat.cwnd() - 40.0125).abs() < 1e-9);
    // 75 ms are 5/4 of the target: 0.5 - 40/4 = -9.5, for as many segments.
    ledbat.set_cwnd(40.0);
    ledbat.on_ack(&at(0.2, 0.175));
    assert!((ledbat.cwnd() - (40.0 - 9.5 / 40.0)).abs() < 1e-9);
}
