//! Packets that a link loses on the wire, after it has transmitted them.
//!
//! A packet is lost with a fixed probability, independently of all others; or by a chain of two states ([`GilbertElliott`]), so that losses
//! come in bursts; or because its number is listed: packets are counted from 1
//! as they arrive at the link, so a listed packet that finds the queue full is dropped there. Every packet that arrives takes one random
//! number, or with the chain two, whatever becomes of it: then what a queue drops does not change which others are lost.

use crate::registry::{Entry, Kind, Param, Params, Value};
use crate::rng::{RandomStream, StreamName};

/// Constructor of a table row.
pub type NewLoss = fn(&Params) -> LossSpec;

/// All models of losses that come by chance.
pub const TABLE: &[Entry<NewLoss>] = &[
    Entry {
        name: "bernoulli",
        summary: "each packet by itself; `loss = 0.01` is short for it",
        specification: &["tc-netem(8), loss random"],
        params: &[share("probability", "with which a packet is lost", 0.01)],
        new: |params| LossSpec {
            probability: params.number("probability"),
            ..LossSpec::default()
        },
    },
    Entry {
        name: "gilbert_elliott",
        summary: "a chain of two states, each with its own loss: bursts. Of all packets p / (p + r) find it in the bad state, for 1 / r packets on average",
        specification: &[
            "Gilbert 1960; Elliott 1963",
            "Hasslinger and Hohlfeld 2008, §2.1",
            "tc-netem(8), loss gemodel p r 1-h 1-k",
        ],
        params: &[
            share("p", "from good to bad after a packet, probability", 0.01),
            share("r", "from bad to good after a packet, probability", 0.25),
            share(
                "loss_bad",
                "probability of a loss in the bad state, 1 - h",
                1.0,
            ),
            share(
                "loss_good",
                "probability of a loss in the good state, 1 - k",
                0.0,
            ),
        ],
        new: |params| LossSpec {
            bursts: Some(GilbertElliott {
                p: params.number("p"),
                r: params.number("r"),
                loss_bad: params.number("loss_bad"),
                loss_good: params.number("loss_good"),
            }),
            ..LossSpec::default()
        },
    },
];

const fn share(name: &'static str, summary: &'static str, default: f64) -> Param {
    Param {
        name,
        summary,
        kind: Kind::Number { min: 0.0, max: 1.0 },
        default: Value::Number(default),
    }
}

/// A chain of two states. A packet is lost with its state's probability, and then the state may change; the first packet finds the good one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GilbertElliott {
    /// Probability of changing from good to bad after a packet.
    pub p: f64,
    /// Probability of changing from bad to good after a packet.
    pub r: f64,
    /// Probability with which a packet is lost that finds the bad state.
    pub loss_bad: f64,
    /// Probability with which a packet is lost that finds the good state.
    pub loss_good: f64,
}

/// What is lost in one direction of a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LossSpec {
    /// From 0 to 1.
    pub probability: f64,
    /// Losses that come together, besides those of `probability`.
    pub bursts: Option<GilbertElliott>,
    /// Numbers of packets, from 1, ascending.
    pub drop: Vec<u64>,
}

/// What becomes of a packet on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireFate {
    /// It reaches the other end.
    Arrives,
    /// It is transmitted, and does not reach the other end.
    Lost,
}

/// Decides which packets are lost.
#[derive(Debug)]
pub(crate) struct Loss {
    spec: LossSpec,
    stream: RandomStream,
    arrived: u64,
    /// The state of `spec.bursts`.
    bad: bool,
    /// Of `spec.drop`, how many have come.
    passed: usize,
}

impl Loss {
    /// The losses of the port called `port`; nothing if it loses none.
    pub(crate) fn new(spec: &LossSpec, seed: u64, port: StreamName) -> Option<Box<Self>> {
        let any = spec.probability > 0.0 || spec.bursts.is_some() || !spec.drop.is_empty();
        any.then(|| {
            Box::new(Self {
                spec: spec.clone(),
                stream: port.and("/loss").stream(seed),
                arrived: 0,
                bad: false,
                passed: 0,
            })
        })
    }

    /// Of the packet that arrives now.
    pub(crate) fn next_fate(&mut self) -> WireFate {
        self.arrived += 1;
        let listed = self.spec.drop.get(self.passed) == Some(&self.arrived);
        self.passed += usize::from(listed);
        let chance = self.spec.probability;
        let unlucky = chance > 0.0 && self.stream.uniform() < chance;
        let bursts = self.bursts();
        if listed || unlucky || bursts {
            WireFate::Lost
        } else {
            WireFate::Arrives
        }
    }

    /// Whether the chain loses a packet.
    fn bursts(&mut self) -> bool {
        let Some(chain) = &self.spec.bursts else {
            return false;
        };
        let (chance, turn) = if self.bad {
            (chain.loss_bad, chain.r)
        } else {
            (chain.loss_good, chain.p)
        };
        let lost = self.stream.uniform() < chance;
        self.bad ^= self.stream.uniform() < turn;
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_packets_are_lost_and_no_others() {
        let spec = LossSpec {
            drop: vec![2, 5],
            ..LossSpec::default()
        };
        let mut loss = Loss::new(&spec, 1, StreamName::of(&["l"])).expect("it loses some");
        let gone: Vec<u64> = (1..8)
            .filter(|_| loss.next_fate() == WireFate::Lost)
            .collect();
        assert_eq!(gone, [2, 5]);
    }

    #[test]
    fn a_probability_is_met_within_five_standard_deviations() {
        let spec = LossSpec {
            probability: 0.02,
            ..LossSpec::default()
        };
        let mut loss = Loss::new(&spec, 1, StreamName::of(&["l"])).expect("it loses some");
        let gone = (0..100_000)
            .filter(|_| loss.next_fate() == WireFate::Lost)
            .count();
        // 100,000 x 0.02 = 2,000 with a standard deviation of 44.
        assert!(gone.abs_diff(2000) < 220, "{gone}");
    }

    fn chain(p: f64, r: f64, loss_bad: f64, loss_good: f64) -> Loss {
        let spec = LossSpec {
            bursts: Some(GilbertElliott {
                p,
                r,
                loss_bad,
                loss_good,
            }),
            ..LossSpec::default()
        };
        *Loss::new(&spec, 1, StreamName::of(&["l"])).expect("it loses some")
    }

    /// Packets, those that were lost, and the bursts in which they were.
    fn counts(loss: &mut Loss, packets: u32) -> (f64, f64, f64) {
        let (mut gone, mut bursts, mut before) = (0_u32, 0_u32, false);
        for _ in 0..packets {
            let now = loss.next_fate() == WireFate::Lost;
            gone += u32::from(now);
            bursts += u32::from(now && !before);
            before = now;
        }
        (f64::from(packets), f64::from(gone), f64::from(bursts))
    }

    #[test]
    fn gilbert_1960_the_share_of_lost_packets_and_the_mean_lengths_of_bursts_and_gaps_follow_from_p_and_r()
     {
        for (p, r) in [(0.01, 0.25), (0.05, 0.5), (0.004, 0.04), (0.3, 0.2)] {
            let (packets, lost, bursts) = counts(&mut chain(p, r, 1.0, 0.0), 4_000_000);
            // Of the packets p / (p + r) find the bad state. States last, with a correlation of s = 1 - p - r from packet to packet: the count
            // has a variance of n q (1 - q) (1 + s) / (1 - s).
            let (bad, s) = (p / (p + r), 1.0 - p - r);
            let deviation = (packets * bad * (1.0 - bad) * (1.0 + s) / (1.0 - s)).sqrt();
            assert!((lost - packets * bad).abs() < 4.0 * deviation, "{lost}");
            // A stay is geometric: 1 / r packets on average with a deviation of sqrt(1 - r) / r, and so of the good state with p.
            for (turn, mean) in [(r, lost / bursts), (p, (packets - lost) / bursts)] {
                let deviation = (1.0 - turn).sqrt() / turn / bursts.sqrt();
                assert!((mean - 1.0 / turn).abs() < 4.0 * deviation, "{mean}");
                // What an error of a twentieth would come to is seen.
                assert!(4.0 * deviation < 0.04 / turn, "{deviation}");
            }
        }
    }

    #[test]
    fn elliott_1963_each_state_loses_its_own_share() {
        let (packets, lost, _) = counts(&mut chain(0.01, 0.25, 0.8, 0.1), 1_000_000);
        // 0.03846 x 0.8 + 0.96154 x 0.1 = 0.126923. Its variance is at most what the states add, n 0.7^2 q (1 - q) (1 + s) / (1 - s), and
        // that of the losses in each: 121,000 + 93,000.
        assert!((lost - packets * 0.126_923).abs() < 4.0 * 463.0, "{lost}");
        // Where both lose alike it does not matter which it is.
        let (packets, lost, _) = counts(&mut chain(0.3, 0.4, 0.2, 0.2), 1_000_000);
        assert!((lost - packets * 0.2).abs() < 4.0 * 400.0, "{lost}");
    }

    #[test]
    fn a_chain_that_must_turn_turns_with_every_packet_and_one_that_must_not_stays() {
        let fates = |p, r| {
            let mut chain = chain(p, r, 1.0, 0.0);
            let gone = (0..8).map(|_| u8::from(chain.next_fate() == WireFate::Lost));
            gone.collect::<Vec<u8>>()
        };
        // The first packet finds the good state.
        assert_eq!(fates(1.0, 1.0), [0, 1, 0, 1, 0, 1, 0, 1]);
        assert_eq!(fates(1.0, 0.0), [0, 1, 1, 1, 1, 1, 1, 1]);
        assert_eq!(fates(0.0, 1.0), [0; 8]);
    }

    #[test]
    fn a_link_without_losses_has_no_state() {
        assert!(Loss::new(&LossSpec::default(), 1, StreamName::of(&["l"])).is_none());
    }
}
