//! What every row of the table of congestion controls must keep to, whatever happens to it.

use proptest::prelude::*;
use sawtooth_core::cc::{Ack, CongestionControl, Episode, Start, TABLE, Windows};
use sawtooth_core::registry::Params;
use sawtooth_core::units::Instant;

#[derive(Clone, Copy, Debug)]
enum Step {
    Ack { acked: u64, may_grow: bool },
    Loss,
    Ecn,
    Rto,
    Undo,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        20 => (1u64..4, any::<bool>()).prop_map(|(acked, may_grow)| Step::Ack { acked, may_grow }),
        2 => Just(Step::Loss),
        1 => Just(Step::Ecn),
        1 => Just(Step::Rto),
        1 => Just(Step::Undo),
    ];
    prop::collection::vec(step, 1..400)
}

fn play(cc: &mut dyn CongestionControl, steps: &[Step], start_secs: f64) -> Vec<(f64, f64)> {
    let mut seen = Vec::new();
    for (at, step) in (0u32..).zip(steps) {
        let now = Instant::from_secs(start_secs + f64::from(at) * 0.01);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "windows are small"
        )]
        let flight_size = cc.cwnd() as u64;
        let episode = Episode {
            now,
            window: cc.cwnd(),
            flight_size,
            whole_ssthresh: false,
            ns2: false,
        };
        match *step {
            Step::Ack { acked, may_grow } => cc.on_ack(&Ack {
                rtt_secs: Some(0.1),
                may_grow,
                ..Ack::of(now, acked, flight_size)
            }),
            Step::Loss => cc.on_loss(&episode),
            Step::Ecn => cc.on_ecn(&episode),
            Step::Rto => cc.on_rto(&episode),
            Step::Undo => cc.on_undo(BEFORE),
        }
        seen.push((cc.cwnd(), cc.ssthresh()));
    }
    seen
}

const START: Start = Start::at(10.0);
/// What a spurious loss reduced.
const BEFORE: Windows = Windows {
    cwnd: 20.0,
    ssthresh: 15.0,
};

proptest! {
    #[test]
    fn the_window_is_at_least_one_segment_and_the_threshold_two(steps in steps()) {
        for entry in TABLE {
            let mut cc = (entry.new)(&Params::defaults(entry.params), START);
            for (cwnd, ssthresh) in play(&mut *cc, &steps, 0.0) {
                prop_assert!(cwnd.is_finite() && cwnd >= 1.0, "{}: cwnd {cwnd}", entry.name);
                prop_assert!(ssthresh >= 2.0, "{}: ssthresh {ssthresh}", entry.name);
            }
            cc.probe(&mut |name, value| assert!(value.is_finite(), "{name} is {value}"));
        }
    }

    #[test]
    fn a_replay_is_identical_and_the_hour_does_not_matter(steps in steps(), hours in 0u32..1000) {
        for entry in TABLE {
            let new = || (entry.new)(&Params::defaults(entry.params), START);
            let once = play(&mut *new(), &steps, 0.0);
            prop_assert_eq!(&once, &play(&mut *new(), &steps, 0.0), "{}", entry.name);
            let later = play(&mut *new(), &steps, 3600.0 * f64::from(hours));
            for (left, right) in once.iter().zip(&later) {
                // Differences of large times round differently.
                prop_assert!((left.0 - right.0).abs() <= 1e-6 * left.0, "{}: {left:?} {right:?}", entry.name);
            }
        }
    }

    #[test]
    fn a_loss_never_widens_the_window(steps in steps()) {
        for entry in TABLE {
            let mut cc = (entry.new)(&Params::defaults(entry.params), START);
            for step in steps.chunks(1) {
                let before = cc.cwnd().max(2.0);
                let after = play(&mut *cc, step, 0.0)[0].0;
                if matches!(step[0], Step::Loss | Step::Ecn | Step::Rto) {
                    prop_assert!(after <= before, "{}: {before} to {after}", entry.name);
                }
            }
        }
    }
}
