//! Flows that are simulated together as a fluid.

use super::flow::FlowSpec;
use crate::fluid::FluidLaw;
use crate::registry::Value;
use crate::tcp::Config;
use crate::units::{Duration, Instant};

/// Connections of one path and one law that send without end, as a fluid ([`crate::spec::Scenario::fluid`]). Its `flow` is what they have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct FluidSpec {
    /// Path, parameters, name; its own `start` does not count.
    pub flow: FlowSpec,
    /// When each of them opens its connection.
    pub starts: Vec<Instant>,
}

impl FluidSpec {
    /// So many connections that all start with the run.
    pub fn new(flow: FlowSpec, number: usize) -> Self {
        Self {
            flow,
            starts: vec![Instant::START; number],
        }
    }

    /// How their windows change.
    pub(crate) fn law(&self) -> FluidLaw {
        let params = &self.flow.cc.params;
        let increase = match params.find("alpha") {
            Some(Value::Number(alpha)) => alpha,
            _ => 1.0,
        };
        FluidLaw::new(
            &Config::from(&self.flow.tcp),
            increase,
            params.number("beta"),
        )
    }

    /// When flows send their first data, and how many do then: a handshake after their start, of one round trip.
    pub(crate) fn beginnings(&self, rtt: Duration) -> Vec<(Instant, f64)> {
        let handshake = if Config::from(&self.flow.tcp).handshake {
            rtt
        } else {
            Duration::ZERO
        };
        let mut starts = self.starts.clone();
        starts.sort_by(Instant::total_cmp);
        let mut beginnings: Vec<(Instant, f64)> = Vec::new();
        for start in starts {
            let begin = start + handshake;
            match beginnings.last_mut() {
                Some((last, flows)) if *last == begin => *flows += 1.0,
                _ => beginnings.push((begin, 1.0)),
            }
        }
        beginnings
    }
}
