use super::*;
use crate::cc::RateSample;
use crate::cc::bbr::path::{Path, run};
use crate::cc::testing::*;
use crate::registry::Params;

fn bbr3(start: ConnectionStart) -> Bbr3 {
    Bbr3::new(Bbr3Parameters::from(&Params::defaults(ENTRY.params)), start)
}

/// In ProbeBW, with 1000 segments per second and 100 ms.
fn settled() -> Bbr3 {
    let mut bbr = bbr3(beginning(200.0));
    bbr.rate.max_bw.add(1000.0, 0, 2);
    bbr.rate.bw = 1000.0;
    bbr.min_rtt.secs = 0.1;
    bbr.min_rtt.probe_rtt_min_delay = 0.1;
    bbr.full_pipe.reached = true;
    bbr.start_down(Instant::from_secs(0.0));
    bbr
}

fn sample(rate: f64) -> Sample {
    Sample {
        rate,
        delivered: 100.0,
        prior_delivered: SegCount::new(0),
        lost: 0.0,
        tx_in_flight: 100.0,
        app_limited: false,
    }
}

fn ack(secs: f64, pipe: u64) -> AckedData {
    AckedData {
        pipe: SegCount::new(pipe),
        ..ack_at(secs, 1, pipe + 1)
    }
}

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-9 * right.abs()
}

#[test]
fn a_round_with_losses_bounds_rate_and_volume_by_what_was_delivered_but_no_less_than_seven_tenths()
{
    let mut bbr = settled();
    // 600 delivered per second is less than 0.7 * 1000; 150 in a round is more than 0.7 * 200.
    (bbr.latest.bw, bbr.latest.inflight) = (600.0, 150.0);
    (bbr.latest.has_loss, bbr.latest.loss_round_start) = (true, true);
    bbr.adapt_to_losses_of_round();
    assert!(close(bbr.bounds.bw_shortterm, 700.0));
    assert!(close(bbr.bounds.inflight_shortterm, 150.0));
    // Another one: 0.7 * 700 = 490 is less than 600.
    (bbr.latest.has_loss, bbr.latest.loss_round_start) = (true, true);
    bbr.adapt_to_losses_of_round();
    assert!(close(bbr.bounds.bw_shortterm, 600.0));
    bbr.bound_cwnd();
    assert!(close(bbr.control.cwnd, 150.0));
    // REFILL forgets it, and a probe is not bound.
    bbr.start_refill();
    (bbr.latest.has_loss, bbr.latest.loss_round_start) = (true, true);
    bbr.adapt_to_losses_of_round();
    assert!(bbr.bounds.bw_shortterm.is_infinite() && bbr.bounds.inflight_shortterm.is_infinite());
}

#[test]
fn a_probe_that_loses_more_than_2_percent_bounds_the_volume_where_that_happened() {
    let mut bbr = settled();
    bbr.cycle.bw_probe_samples = true;
    bbr.state = Bbr3State::Up;
    let lossy = |lost, tx_in_flight| Sample {
        lost,
        tx_in_flight,
        ..sample(1000.0)
    };
    let lost = AckedData {
        lost: SegCount::new(1),
        ..ack(1.0, 150)
    };
    // Three of 150 are 2 %: tolerated.
    bbr.note_losses(&lost, &lossy(3.0, 150.0));
    assert!(bbr.bounds.inflight_longterm.is_infinite());
    // The fourth: 149 before it, 3 of them lost; (0.02 * 149 - 3) / 0.98 = -0.0204.
    bbr.note_losses(&lost, &lossy(4.0, 150.0));
    assert!(close(bbr.bounds.inflight_longterm, 149.0 - 0.02 / 0.98));
    assert_eq!(bbr.state, Bbr3State::Down);
    assert!(bbr.cycle.prev_probe_too_high);
    // Once per probe, and no less than 0.7 * min(100, 200).
    bbr.note_losses(&lost, &lossy(9.0, 20.0));
    assert!(bbr.bounds.inflight_longterm > 148.0);
    bbr.cycle.bw_probe_samples = true;
    bbr.note_losses(&lost, &lossy(9.0, 20.0));
    assert!(close(bbr.bounds.inflight_longterm, 70.0));
    // 0.85 * 70 leaves 15 % to others.
    assert!(close(
        bbr.bounds.inflight_with_headroom(&bbr.parameters),
        59.5
    ));
}

#[test]
fn the_next_probe_stops_at_the_bound_and_goes_on_if_that_went_well() {
    let mut bbr = settled();
    bbr.bounds.inflight_longterm = 120.0;
    bbr.cycle.prev_probe_too_high = true;
    bbr.start_refill();
    bbr.rounds.started = true;
    bbr.update_probe_bw(&ack(3.0, 100), &sample(1000.0));
    assert_eq!(bbr.state, Bbr3State::Up);
    bbr.rounds.started = false;
    bbr.update_probe_bw(&ack(3.05, 119), &sample(1000.0));
    assert_eq!(bbr.state, Bbr3State::Up);
    bbr.update_probe_bw(&ack(3.06, 120), &sample(1000.0));
    assert_eq!(bbr.state, Bbr3State::Down);
    assert!(!bbr.cycle.prev_probe_too_high && bbr.cycle.prev_probe_precautionary);
    bbr.rounds.started = true;
    bbr.update_probe_bw(&ack(3.16, 110), &sample(1000.0));
    assert_eq!(bbr.state, Bbr3State::Refill);
}

#[test]
fn the_bound_grows_by_1_2_4_and_8_segments_per_round_trip() {
    let mut bbr = settled();
    bbr.bounds.inflight_longterm = 200.0;
    bbr.start_up(&sample(1000.0));
    let mut grown = Vec::new();
    let mut window = 200;
    for growth in [1, 2, 4, 8] {
        let before = bbr.bounds.inflight_longterm;
        // A window is acknowledged in a round trip; the window is what the bound allows.
        for acked in 1..=window {
            bbr.rounds.started = acked == window;
            bbr.probe_inflight_longterm_upward(&ack(1.0, 200));
            bbr.control.cwnd = bbr.bounds.inflight_longterm;
        }
        grown.push(bbr.bounds.inflight_longterm - before);
        window += growth;
    }
    assert_eq!(grown, [1.0, 2.0, 4.0, 8.0]);
}

#[test]
fn probes_are_2_to_3_seconds_apart_or_63_round_trips_or_as_many_as_segments_fit() {
    let mut bbr = settled();
    let waits: Vec<f64> = (0..200)
        .map(|_| {
            bbr.start_down(Instant::from_secs(0.0));
            bbr.cycle.bw_probe_wait
        })
        .collect();
    assert!(waits.iter().all(|wait| (2.0..3.0).contains(wait)));
    // The mean of 200 uniform draws: 2.5, with a standard deviation of 0.02.
    let mean = waits.iter().sum::<f64>() / 200.0;
    assert!((mean - 2.5).abs() < 0.08, "{mean}");
    bbr.cycle.bw_probe_wait = 2.5;
    assert!(!bbr.probe_if_due(Instant::from_secs(2.49)));
    assert!(bbr.probe_if_due(Instant::from_secs(2.51)));
    bbr.cycle.rounds_since_bw_probe = 62;
    assert!(!bbr.probe_if_due(Instant::from_secs(0.1)));
    bbr.cycle.rounds_since_bw_probe = 63;
    assert!(bbr.probe_if_due(Instant::from_secs(0.1)));
    bbr.control.cwnd = 20.0;
    bbr.cycle.rounds_since_bw_probe = 20;
    assert!(bbr.probe_if_due(Instant::from_secs(0.1)));
}

#[test]
fn the_window_of_each_state() {
    let mut bbr = settled();
    bbr.control.pacing_rate = 10e6;
    // 10 Mbit/s send 1250 bytes in 1 ms: a burst is two segments, and three of them, six, fit anyway.
    assert!(close(bbr.max_inflight(), 200.0));
    bbr.state = Bbr3State::Up;
    assert!(close(bbr.max_inflight(), 227.0), "2.25 * 100 and 2");
    bbr.state = Bbr3State::ProbeRtt(ProbeRtt::default());
    bbr.bound_cwnd();
    assert!(close(bbr.control.cwnd, 50.0));
    bbr.rate.bw = 10.0;
    bbr.bound_cwnd();
    assert!(close(bbr.control.cwnd, 4.0));
}

#[test]
fn a_spurious_loss_gives_back_the_bounds_and_the_probe() {
    let mut bbr = settled();
    bbr.cycle.bw_probe_samples = true;
    bbr.state = Bbr3State::Up;
    let lossy = Sample {
        lost: 9.0,
        ..sample(1000.0)
    };
    bbr.note_losses(
        &AckedData {
            lost: SegCount::new(9),
            ..ack(1.0, 150)
        },
        &lossy,
    );
    assert!(close(
        bbr.bounds.inflight_longterm,
        99.0 + (0.02 * 99.0 - 2.0) / 0.98
    ));
    assert_eq!(bbr.state, Bbr3State::Down);
    bbr.on_undo(Windows {
        cwnd: WindowSize::from_segments(200.0),
        ssthresh: WindowSize::from_segments(f64::INFINITY),
    });
    assert!(bbr.bounds.inflight_longterm.is_infinite());
    assert_eq!(bbr.state, Bbr3State::Refill);
}

#[test]
fn it_fills_a_path_and_leaves_its_queue_short() {
    for whole_windows in [false, true] {
        let mut bbr = bbr3(ConnectionStart {
            whole_windows,
            ..beginning(10.0)
        });
        let outcome = run(&mut bbr, Path::new(1000.0, 0.1, 500.0), 30.0, 5.0);
        assert!(outcome.goodput > 930.0, "{outcome:?}");
        assert!(outcome.queue < 30.0, "{outcome:?}");
        assert_eq!(outcome.lost, 0);
        // ProbeRTT halves what is in flight.
        assert!((45.0..60.0).contains(&outcome.smallest_cwnd), "{outcome:?}");
    }
}

#[test]
fn what_overflows_a_short_queue_is_not_sent_again_and_again() {
    let mut bbr = bbr3(beginning(10.0));
    let outcome = run(&mut bbr, Path::new(1000.0, 0.1, 20.0), 60.0, 5.0);
    assert!(outcome.goodput > 850.0, "{outcome:?}");
    assert!(outcome.lost > 0, "it probes");
    assert!(
        real(outcome.lost) < 0.01 * real(outcome.delivered),
        "{outcome:?}"
    );
    assert!(
        (110.0..125.0).contains(&bbr.bounds.inflight_longterm),
        "{bbr:?}"
    );
}

fn sampled(prior_delivered: u64, rate: f64) -> AckedData {
    AckedData {
        rtt: Some(Duration::from_secs(0.1)),
        rate: Some(RateSample {
            delivered: SegCount::new(1),
            interval: Duration::from_secs(1.0 / rate),
            prior_delivered: SegCount::new(prior_delivered),
            total_delivered: SegCount::new(prior_delivered + 1),
            lost: SegCount::new(0),
            total_lost: SegCount::new(0),
            pipe_at_send: SegCount::new(10),
            app_limited: false,
        }),
        ..ack(1.0, 9)
    }
}

#[test]
fn the_first_acknowledgement_begins_a_round_and_the_first_rate_is_growth_however_low() {
    let mut bbr = bbr3(beginning(10.0));
    bbr.on_ack(&sampled(0, 1.0));
    assert!(bbr.latest.loss_round_start);
    assert_eq!((bbr.full_pipe.bw, bbr.full_pipe.count), (1.0, 0));
}

#[test]
fn section_5_3_4_3_probe_rtt_is_due_after_more_than_five_seconds_and_the_delay_is_forgotten_after_ten()
 {
    let mut bbr = settled();
    assert!(!bbr.update_min_rtt(&ack(5.0, 100)));
    assert!(bbr.update_min_rtt(&ack(5.001, 100)));
    // 120 ms were the least of the time since 9 s.
    (
        bbr.min_rtt.probe_rtt_min_delay,
        bbr.min_rtt.probe_rtt_min_stamp,
    ) = (0.12, 9.0);
    let later = |secs| AckedData {
        rtt: Some(Duration::from_secs(0.15)),
        ..ack(secs, 100)
    };
    bbr.update_min_rtt(&later(10.0));
    assert_eq!((bbr.min_rtt.secs, bbr.min_rtt.at), (0.1, 0.0));
    bbr.update_min_rtt(&later(10.001));
    assert_eq!((bbr.min_rtt.secs, bbr.min_rtt.at), (0.12, 9.0));
}

#[test]
fn draining_ends_after_more_rounds_than_it_may_take_or_when_what_is_in_flight_fits() {
    let mut bbr = settled();
    let drain = Bbr3State::Drain { since_round: 5 };
    bbr.state = drain;
    bbr.rounds.count = 5 + bbr.parameters.drain_rounds;
    bbr.check_drain_done(&ack(1.0, 400));
    assert_eq!(bbr.state, drain);
    bbr.rounds.count += 1;
    bbr.check_drain_done(&ack(1.0, 400));
    assert_eq!(bbr.state, Bbr3State::Down);
    (bbr.state, bbr.rounds.count) = (drain, 5);
    bbr.control.pacing_rate = 10e6;
    bbr.check_drain_done(&ack(1.0, 101));
    assert_eq!(bbr.state, drain);
    bbr.check_drain_done(&ack(1.0, 100));
    assert_eq!(bbr.state, Bbr3State::Down);
}

#[test]
fn going_down_forgets_what_was_delivered_in_the_last_round() {
    let mut bbr = settled();
    (bbr.latest.bw, bbr.latest.inflight) = (500.0, 80.0);
    bbr.start_down(Instant::from_secs(1.0));
    let delivered = bbr.rounds.delivered();
    bbr.latest.update(
        &Sample {
            delivered: 0.5,
            ..sample(0.25)
        },
        delivered,
    );
    assert_eq!((bbr.latest.bw, bbr.latest.inflight), (0.25, 0.5));
}

#[test]
fn section_5_3_3_1_down_ends_when_the_capacity_of_the_path_is_in_flight() {
    let mut bbr = settled();
    bbr.control.pacing_rate = 10e6;
    bbr.update_probe_bw(&ack(0.1, 101), &sample(1000.0));
    assert_eq!(bbr.state, Bbr3State::Down);
    bbr.update_probe_bw(&ack(0.2, 100), &sample(1000.0));
    assert_eq!(bbr.state, Bbr3State::Cruise);
    // Of a bound of 110 segments, 15 % are left to others.
    bbr.state = Bbr3State::Down;
    bbr.bounds.inflight_longterm = 110.0;
    bbr.update_probe_bw(&ack(0.3, 94), &sample(1000.0));
    assert_eq!(bbr.state, Bbr3State::Down);
    bbr.update_probe_bw(&ack(0.4, 93), &sample(1000.0));
    assert_eq!(bbr.state, Bbr3State::Cruise);
}

#[test]
fn section_5_3_4_probe_rtt_lasts_200_ms_and_a_round_from_when_the_window_is_reached() {
    let mut bbr = settled();
    bbr.check_probe_rtt(&ack(20.0, 51), true);
    assert_eq!(bbr.state, Bbr3State::ProbeRtt(ProbeRtt::default()));
    bbr.check_probe_rtt(&ack(20.1, 50), true);
    bbr.check_probe_rtt(&ack(20.35, 50), true);
    assert!(bbr.in_probe_rtt(), "no round has ended");
    bbr.state = Bbr3State::ProbeRtt(ProbeRtt::default());
    bbr.check_probe_rtt(&ack(20.5, 50), true);
    bbr.rounds.started = true;
    bbr.check_probe_rtt(&ack(20.65, 50), true);
    assert!(bbr.in_probe_rtt(), "150 ms");
    bbr.check_probe_rtt(&ack(20.75, 50), true);
    assert_eq!(bbr.state, Bbr3State::Cruise);
}

#[test]
fn section_5_6_4_6_until_the_pipe_is_full_the_window_grows_up_to_what_may_be_in_flight() {
    let mut bbr = settled();
    bbr.full_pipe.reached = false;
    bbr.state = Bbr3State::Startup;
    bbr.control.pacing_rate = 10e6;
    // 2 * 100 may be, and more has been delivered than the initial window.
    bbr.rounds.on_ack(&ack_at(0.5, 1000, 1000));
    for (window, next) in [
        (150.0, 151.0),
        (199.5, 200.5),
        (200.0, 200.0),
        (250.0, 250.0),
    ] {
        bbr.control.cwnd = window;
        bbr.update_cwnd(&ack(1.0, 100));
        assert_eq!(bbr.control.cwnd, next);
    }
}

#[test]
fn the_window_before_a_loss_comes_back_after_recovery() {
    let mut bbr = settled();
    let loss = loss_at(1.0, 200.0);
    bbr.on_loss(&loss);
    bbr.set_cwnd(120.0);
    // A timeout in the recovery is no new beginning.
    bbr.on_rto(&loss);
    assert_eq!(bbr.control.cwnd, 1.0);
    bbr.on_recovered(Instant::from_secs(1.1), Signal::Loss);
    assert_eq!(bbr.control.cwnd, 200.0);
}

#[test]
fn a_spurious_loss_that_ended_startup_begins_it_again() {
    let mut bbr = settled();
    let before = Windows {
        cwnd: WindowSize::from_segments(200.0),
        ssthresh: WindowSize::from_segments(f64::INFINITY),
    };
    bbr.undo.state = Some(Bbr3State::Startup);
    bbr.state = Bbr3State::Drain { since_round: 1 };
    bbr.on_undo(before);
    assert_eq!(
        (bbr.state, bbr.full_pipe.reached),
        (Bbr3State::Startup, false)
    );
    // In STARTUP nothing has been ended.
    bbr.full_pipe.reached = true;
    bbr.undo.state = Some(Bbr3State::Startup);
    bbr.on_undo(before);
    assert!(bbr.full_pipe.reached);
}

#[test]
fn section_5_6_2_the_first_rate_is_that_of_the_initial_window_in_a_millisecond() {
    // 2.77 * 10 segments of 11 680 bits in 1 ms: 323.536 Mbit/s.
    let mut bbr = bbr3(beginning(1.0));
    bbr.on_established(WindowSize::from_segments(10.0));
    assert!(
        close(bbr.control.pacing_rate, 323.536e6),
        "{}",
        bbr.control.pacing_rate
    );
    assert!(close(bbr3(beginning(10.0)).control.pacing_rate, 323.536e6));
    // And in the first round trip of 100 ms: 3.235 36 Mbit/s.
    bbr.update_min_rtt(&AckedData {
        rtt: Some(Duration::from_secs(0.1)),
        ..ack(0.1, 10)
    });
    assert!(close(bbr.control.pacing_rate, 3.235_36e6));
}
