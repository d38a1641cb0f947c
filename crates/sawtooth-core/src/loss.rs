//! Packets that a link loses on the wire, after it has transmitted them.
//!
//! A packet is lost with a fixed probability, independently of all others, or because its number is listed: packets are counted from 1
//! as they arrive at the link, so a listed packet that finds the queue full is dropped there. Every packet that arrives takes one random
//! number, whatever becomes of it: then what a queue drops does not change which others are lost.

use crate::rng::Stream;

/// What is lost in one direction of a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LossSpec {
    /// From 0 to 1.
    pub probability: f64,
    /// Numbers of packets, from 1, ascending.
    pub drop: Vec<u64>,
}

/// What becomes of a packet on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Arrives,
    Lost,
}

/// Decides which packets are lost.
#[derive(Debug)]
pub struct Loss {
    spec: LossSpec,
    stream: Stream,
    arrived: u64,
    /// Of `spec.drop`, how many have come.
    passed: usize,
}

impl Loss {
    /// The losses of the port called `port`; nothing if it loses none.
    pub fn new(spec: &LossSpec, seed: u64, port: &str) -> Option<Box<Self>> {
        (spec.probability > 0.0 || !spec.drop.is_empty()).then(|| {
            Box::new(Self {
                spec: spec.clone(),
                stream: Stream::new(seed, &format!("{port}/loss")),
                arrived: 0,
                passed: 0,
            })
        })
    }

    /// Of the packet that arrives now.
    pub fn next_fate(&mut self) -> Fate {
        self.arrived += 1;
        let listed = self.spec.drop.get(self.passed) == Some(&self.arrived);
        self.passed += usize::from(listed);
        let chance = self.spec.probability;
        let unlucky = chance > 0.0 && self.stream.uniform() < chance;
        if listed || unlucky {
            Fate::Lost
        } else {
            Fate::Arrives
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_packets_are_lost_and_no_others() {
        let spec = LossSpec {
            probability: 0.0,
            drop: vec![2, 5],
        };
        let mut loss = Loss::new(&spec, 1, "l").expect("it loses some");
        let gone: Vec<u64> = (1..8).filter(|_| loss.next_fate() == Fate::Lost).collect();
        assert_eq!(gone, [2, 5]);
    }

    #[test]
    fn a_probability_is_met_within_five_standard_deviations() {
        let spec = LossSpec {
            probability: 0.02,
            drop: Vec::new(),
        };
        let mut loss = Loss::new(&spec, 1, "l").expect("it loses some");
        let gone = (0..100_000)
            .filter(|_| loss.next_fate() == Fate::Lost)
            .count();
        // 100,000 x 0.02 = 2,000 with a standard deviation of 44.
        assert!(gone.abs_diff(2000) < 220, "{gone}");
    }

    #[test]
    fn a_link_without_losses_has_no_state() {
        assert!(Loss::new(&LossSpec::default(), 1, "l").is_none());
    }
}
