//! Tests of a wire as a whole.

use super::*;
use crate::units::testing::{at, bytes, secs};

const INITIAL: Conditions = Conditions {
    rate: Rate::from_bps(1e6),
    delay: Duration::from_secs(0.05),
    loss: 0.0,
};

fn wire(spec: &Impairments) -> ImpairedWire {
    *ImpairedWire::new(spec, INITIAL, at(1e6), 1, StreamName::of(&["l.forward"]))
        .expect("it is not plain")
}

/// Ends of transmissions of 1000 bytes, 8 ms at 1 Mbit/s, that follow one another from `start` on.
fn train(wire: &mut ImpairedWire, start: f64, packets: usize) -> Vec<f64> {
    let mut now = at(start);
    let mut service = Service::Fresh;
    let mut ends = Vec::new();
    for _ in 0..packets {
        now = wire.transmit(now, bytes(1000), service);
        service = Service::Follows;
        ends.push(now.secs());
    }
    ends
}

fn near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }
}

fn step(after: f64, bps: f64) -> Change {
    Change {
        after: secs(after),
        rate: Some(Rate::from_bps(bps)),
        delay: None,
        loss: None,
    }
}

fn table(rows: &[Change], every: Option<f64>) -> Impairments {
    Impairments {
        changes: Some(Changes::Table {
            rows: rows.into(),
            every: every.map(secs),
        }),
        ..Impairments::default()
    }
}

fn outage(packets: Meanwhile) -> Impairments {
    Impairments {
        outages: vec![Outage {
            from: at(0.010),
            until: at(0.030),
            every: Some(Duration::from_secs(1.0)),
            packets,
        }],
        ..Impairments::default()
    }
}

fn traced(millis: &[u64]) -> Impairments {
    Impairments {
        trace: Trace::new(millis.to_vec()).map(Arc::new),
        ..Impairments::default()
    }
}

#[test]
fn a_transmission_goes_on_at_the_rate_of_each_moment() {
    let mut wire = wire(&table(&[step(0.010, 0.5e6), step(0.030, 4e6)], None));
    // 8 ms; then 2 ms at 1 and 12 at 0.5 Mbit/s; then 8 ms at 0.5 Mbit/s carry 4000 bits, and 4000 take 1 ms at 4 Mbit/s; then 2 ms.
    near(&train(&mut wire, 0.0, 4), &[0.008, 0.022, 0.031, 0.033]);
    // 10 ms at 1, 20 at 0.5 and 70 at 4 Mbit/s.
    near(&[wire.capacity_bits(at(0.1))], &[10e3 + 10e3 + 280e3]);
}

#[test]
fn a_table_starts_again_and_a_rate_of_zero_stands_still() {
    let mut wire = wire(&table(&[step(0.0, 1e6), step(0.020, 0.0)], Some(0.1)));
    // 16 ms pass; the third has 4 ms, waits until 100 ms, and takes 4 ms more.
    near(&train(&mut wire, 0.0, 4), &[0.008, 0.016, 0.104, 0.112]);
    near(&[wire.capacity_bits(at(1.0))], &[10.0 * 20e3]);
}

#[test]
fn the_delay_is_that_of_the_moment_at_which_the_last_bit_leaves_and_packets_keep_their_order() {
    let row = |after, delay| Change {
        after: secs(after),
        rate: None,
        delay: Some(secs(delay)),
        loss: None,
    };
    let spec = table(&[row(0.010, 0.010), row(0.020, 0.040)], None);
    let arrivals = |spec: &Impairments| -> Vec<(f64, bool)> {
        let mut wire = wire(spec);
        let mut start = Instant::START;
        let mut send = || {
            let end = wire.transmit(start, bytes(1000), Service::Follows);
            let crossing = wire.cross(start, end, Duration::INFINITE);
            start = end;
            (crossing.arrival.secs(), crossing.overtakes)
        };
        vec![send(), send(), send()]
    };
    let times =
        |arrivals: &[(f64, bool)]| -> Vec<f64> { arrivals.iter().map(|one| one.0).collect() };
    // The second leaves at 16 ms with 10 ms to go, and the first is there at 8 + 50 ms.
    let kept = arrivals(&spec);
    near(&times(&kept), &[0.058, 0.058, 0.064]);
    assert!(kept.iter().all(|one| !one.1));
    let free = arrivals(&Impairments {
        may_overtake: true,
        ..spec
    });
    near(&times(&free), &[0.058, 0.026, 0.064]);
    assert_eq!(free.iter().filter(|one| one.1).count(), 1);
}

#[test]
fn a_walk_stays_within_its_bounds_and_steps_at_its_interval() {
    let walk = Walk {
        interval: secs(0.5),
        rate: Some(WalkSpan {
            step: Rate::from_bps(0.4e6),
            min: Rate::from_bps(0.5e6),
            max: Rate::from_bps(1.5e6),
        }),
        delay: None,
    };
    let spec = Impairments {
        changes: Some(Changes::Walk(walk)),
        ..Impairments::default()
    };
    let mut course = wire(&spec).course;
    let mut rates = vec![course.at(at(0.499)).rate.bps()];
    rates.extend((1..4000).map(|number| course.at(at(f64::from(number) * 0.5)).rate.bps()));
    assert!((rates[0] - 1e6).abs() < 1e-9);
    assert!(rates.iter().all(|rate| (0.5e6..=1.5e6).contains(rate)));
    assert!(
        rates
            .windows(2)
            .all(|pair| (pair[1] - pair[0]).abs() <= 0.4e6)
    );
    // A reflected walk with symmetric steps is uniform in the long run: mean 1 Mbit/s, standard deviation 1 / sqrt(12) = 0.289. Steps of
    // variance 0.053 make about one independent value in ten, 400 in all: a standard error of 0.015.
    let mean = rates.iter().sum::<f64>() / 4000.0;
    assert!((mean - 1e6).abs() < 4.0 * 0.015e6, "{mean}");
}

#[test]
fn packets_that_are_transmitted_during_an_outage_are_lost_or_wait() {
    let mut losing = wire(&outage(Meanwhile::Lost));
    let ends = train(&mut losing, 0.0, 5);
    let lost: Vec<bool> = ends
        .iter()
        .map(|end| {
            losing
                .cross(at(end - 0.008), at(*end), Duration::INFINITE)
                .arrival
                == Instant::NEVER
        })
        .collect();
    // From 8 to 16, 16 to 24, and 24 to 32 ms.
    assert_eq!(lost, [false, true, true, true, false]);
    let mut waiting = wire(&outage(Meanwhile::Wait));
    // The second has sent for 2 ms when the link goes down for 20.
    near(&train(&mut waiting, 0.0, 3), &[0.008, 0.036, 0.044]);
    near(&train(&mut waiting, 1.0, 2), &[1.008, 1.036]);
    near(&train(&mut waiting, 7.015, 1), &[7.038]);
}

#[test]
fn mahimahi_every_line_delivers_1500_bytes_and_what_is_not_there_loses_its_turn() {
    let mut wire = wire(&traced(&[2, 5, 5, 10]));
    let mut send =
        |start: f64, size: u64, service| wire.transmit(at(start), bytes(size), service).secs();
    let (fresh, follows) = (Service::Fresh, Service::Follows);
    // Three packets of 500 bytes leave with one line; the next waits for the following one.
    near(&[send(0.0, 500, fresh)], &[0.002]);
    near(&[send(0.002, 500, follows)], &[0.002]);
    near(&[send(0.002, 500, follows)], &[0.002]);
    near(&[send(0.002, 500, follows)], &[0.005]);
    // 1000 bytes of the line at 5 ms are left, and 1500 of its repetition: a packet of 2000 leaves with both.
    near(&[send(0.005, 2000, follows)], &[0.005]);
    // What is left now, 500 bytes, is lost, for nothing waits; also a packet that comes at that very moment is late.
    near(&[send(0.005, 100, fresh)], &[0.010]);
    // The rest of a line that a packet has begun with does not wait: 1400 bytes at 10 ms, then 100 at 12 ms.
    near(&[send(0.010, 1500, follows)], &[0.012]);
}

#[test]
fn mahimahi_a_trace_starts_again_after_its_last_time() {
    let mut wire = wire(&traced(&[3, 10]));
    let mut send = |start| wire.transmit(at(start), bytes(1500), Service::Fresh).secs();
    near(&[send(0.0105)], &[0.013]);
    near(&[send(1.234)], &[1.240]);
    // Two lines of 12,000 bits in 10 ms; whether the one at just one second counts is a matter of rounding.
    assert!((wire.capacity_bits(at(1.0)) - 2.4e6).abs() <= 12e3);
    near(
        &[Trace::new(vec![3, 10]).expect("a trace").mean_rate().bps()],
        &[2.4e6],
    );
}

#[test]
fn a_link_that_stands_still_at_all_its_opportunities_never_sends() {
    let spec = Impairments {
        outages: vec![Outage {
            from: at(0.0),
            until: at(0.5),
            every: Some(Duration::from_secs(1.0)),
            packets: Meanwhile::Wait,
        }],
        ..traced(&[200, 1000])
    };
    let mut wire = *ImpairedWire::new(&spec, INITIAL, at(60.0), 1, StreamName::of(&["l"]))
        .expect("it is not plain");
    let end = wire.transmit(Instant::START, bytes(1500), Service::Fresh);
    assert_eq!(end, Instant::NEVER);
}

/// The mean and the standard deviation of jitter, in milliseconds, over 100,000 packets.
fn moments(jitter: &Jitter) -> (f64, f64) {
    let mut stream = RandomStream::new(1, "jitter");
    let draws: Vec<f64> = (0..100_000)
        .map(|_| 1e3 * jitter.draw(&mut stream).secs())
        .collect();
    let mean = draws.iter().sum::<f64>() / 1e5;
    let squares = draws.iter().map(|draw| (draw - mean) * (draw - mean));
    (mean, (squares.sum::<f64>() / 1e5).sqrt())
}

#[test]
fn distributions_of_jitter_have_their_moments() {
    let quantiles = Arc::new([0.0, 0.001, 0.003].map(secs));
    let expected = [
        (
            Jitter::Uniform {
                spread: secs(0.003),
            },
            0.0,
            3.0 / 3_f64.sqrt(),
        ),
        (
            Jitter::Normal {
                deviation: secs(0.002),
            },
            0.0,
            2.0,
        ),
        // Mean a s / (a - 1) = 1.25, variance a s² / ((a - 1)² (a - 2)) = 5 / 48.
        (
            Jitter::Pareto {
                scale: secs(0.001),
                shape: 5.0,
                max: Duration::INFINITE,
            },
            1.25,
            (5.0_f64 / 48.0).sqrt(),
        ),
        // Half uniform from 0 to 1 and half from 1 to 3: mean 1.25; E x² = (1/3 + (27 - 1) / 6) / 2 = 7/3.
        (
            Jitter::Table { quantiles },
            1.25,
            (7.0_f64 / 3.0 - 1.5625).sqrt(),
        ),
    ];
    for (jitter, mean, deviation) in expected {
        let found = moments(&jitter);
        // A mean's standard error is deviation / 316; that of a deviation is larger where tails are heavy, for the Pareto near 3 %.
        assert!(
            (found.0 - mean).abs() < deviation / 60.0,
            "{jitter:?} {found:?}"
        );
        assert!(
            (found.1 / deviation - 1.0).abs() < 0.1,
            "{jitter:?} {found:?}"
        );
        let least = jitter.least();
        let mut stream = RandomStream::new(2, "jitter");
        assert!((0..1000).all(|_| jitter.draw(&mut stream) >= least));
    }
}

#[test]
fn displaced_packets_are_early_or_late_and_leave_the_order_of_the_others() {
    let cross = |reorder| {
        let mut wire = wire(&Impairments {
            reorder: Some(reorder),
            ..Impairments::default()
        });
        [0.1, 0.2, 0.21, 0.22].map(|end| {
            let crossing = wire.cross(at(end - 0.001), at(end), Duration::INFINITE);
            (crossing.arrival.secs(), crossing.overtakes)
        })
    };
    let early = cross(Reorder::Early {
        probability: 1.0,
        gap: 3,
    });
    near(&early.map(|one| one.0), &[0.15, 0.25, 0.21, 0.27]);
    assert_eq!(early.map(|one| one.1), [false, false, true, false]);
    let late = cross(Reorder::Late {
        probability: 1.0,
        gap: 2,
        by: secs(0.015),
    });
    // The second comes after the third; the fourth is as late, but nothing has passed it yet.
    near(&late.map(|one| one.0), &[0.15, 0.265, 0.26, 0.285]);
    assert_eq!(late.map(|one| one.1), [false, false, true, false]);
}

#[test]
fn switching_on_one_effect_changes_no_others_draws() {
    let jitter = Some(Jitter::Uniform { spread: secs(0.01) });
    let alone = Impairments {
        jitter,
        may_overtake: true,
        ..Impairments::default()
    };
    let with_more = Impairments {
        duplicate: 0.5,
        corrupt: 0.5,
        ..alone.clone()
    };
    let arrivals = |spec: &Impairments| -> Vec<f64> {
        let mut wire = wire(spec);
        (0..100)
            .map(|secs| {
                let end = at(f64::from(secs));
                wire.cross(end, end, Duration::INFINITE).arrival.secs()
            })
            .collect()
    };
    assert_eq!(arrivals(&alone), arrivals(&with_more));
}

#[test]
fn no_packet_arrives_sooner_than_the_least_delay() {
    let specs = [
        Impairments {
            jitter: Some(Jitter::Uniform { spread: secs(0.01) }),
            ..Impairments::default()
        },
        Impairments {
            jitter: Some(Jitter::Normal {
                deviation: secs(0.1),
            }),
            ..Impairments::default()
        },
        table(
            &[Change {
                after: secs(1.0),
                rate: None,
                delay: Some(secs(0.02)),
                loss: None,
            }],
            None,
        ),
    ];
    for (spec, least) in specs.iter().zip([0.04, 0.0, 0.02]) {
        let found = spec.least_delay(Duration::from_secs(0.05)).secs();
        assert!((found - least).abs() < 1e-12);
        let mut wire = wire(spec);
        for number in 0..1000 {
            let end = f64::from(number) / 100.0;
            let arrival = wire
                .cross(at(end), at(end), Duration::INFINITE)
                .arrival
                .secs();
            assert!(arrival >= end + least - 1e-12);
        }
    }
}
