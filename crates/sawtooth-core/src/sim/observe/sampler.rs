//! Samples at multiples of a period: of senders, receivers and ports.

use super::variables::VariableSamples;
use crate::net::Port;
use crate::record::Table;
use crate::record::Text;
use crate::record::rows::links::places;
use crate::record::rows::{QueueRow, SeriesRow};
use crate::sim::flow::Flow;
use crate::spec::{Sampling, Scenario};
use crate::udp::Received;
use crate::units::{ByteCount, Duration, Instant};

/// Samples of one component at multiples of a period, taken when it is about to move past them.
#[derive(Clone, Debug)]
struct Sampler<T> {
    every: Duration,
    last: u64,
    /// When the next one is due; never after the last.
    due: Instant,
    samples: Vec<T>,
}

impl<T> Sampler<T> {
    fn new(every: Duration, duration: Duration) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a count of samples"
        )]
        let last = (duration.secs() / every.secs()) as u64;
        Self {
            every,
            last,
            due: Instant::START,
            samples: Vec::new(),
        }
    }

    #[inline]
    fn take(&mut self, until: Instant, sample: impl Fn() -> T) {
        self.take_at(until, |_| sample());
    }

    /// Almost always none is due.
    #[inline]
    fn take_at(&mut self, until: Instant, sample: impl FnMut(Instant) -> T) {
        if self.due <= until {
            self.take_due(until, sample);
        }
    }

    #[cold]
    #[inline(never)]
    fn take_due(&mut self, until: Instant, mut sample: impl FnMut(Instant) -> T) {
        while self.due <= until && self.samples.len() as u64 <= self.last {
            self.samples.push(sample(self.due));
            self.due = if self.samples.len() as u64 <= self.last {
                self.time_of(self.samples.len())
            } else {
                Instant::NEVER
            };
        }
    }

    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "a count of samples")]
    fn time_of(&self, sample: usize) -> Instant {
        Instant::from_secs(sample as f64 * self.every.secs())
    }
}

#[derive(Debug)]
pub(super) struct Samplers {
    /// Rows as far as the senders know them.
    senders: Vec<Sampler<SeriesRow>>,
    /// Delivered bytes.
    receivers: Vec<Sampler<ByteCount>>,
    /// The same of flows of UDP.
    udp: Vec<Sampler<ByteCount>>,
    ports: Vec<Sampler<QueueRow>>,
}

impl Samplers {
    /// If there are samples at a cadence.
    pub(super) fn of(scenario: &Scenario) -> Option<Self> {
        let Sampling::Every(every) = scenario.sample else {
            return None;
        };
        let samplers = Sampler::new(every, scenario.duration);
        Some(Self {
            senders: (scenario.flows.iter())
                .map(|_| Sampler::new(every, scenario.duration))
                .collect(),
            receivers: vec![samplers.clone(); scenario.flows.len()],
            udp: vec![samplers; scenario.udp.len()],
            ports: (0..2 * scenario.links.len())
                .map(|_| Sampler::new(every, scenario.duration))
                .collect(),
        })
    }

    /// A sender is about to move past `until`; its algorithm's variables are taken with its samples.
    #[inline]
    pub(super) fn take_sender(
        &mut self,
        variables: &mut Option<VariableSamples>,
        flows: &[Flow],
        index: u32,
        until: Instant,
    ) {
        if let Some(sampler) = self.senders.get_mut(index as usize) {
            let sender = &flows[index as usize].sender;
            sampler.take_at(until, |time| {
                if let Some(variables) = variables {
                    variables.take(index, time, sender);
                }
                SeriesRow::at_sender(sender, time)
            });
        }
    }

    #[inline]
    pub(super) fn take_receiver(&mut self, flows: &[Flow], index: u32, until: Instant) {
        if let Some(sampler) = self.receivers.get_mut(index as usize) {
            let receiver = &flows[index as usize].receiver;
            sampler.take(until, || receiver.delivered.bytes);
        }
    }

    #[inline]
    pub(super) fn take_port(&mut self, ports: &mut [Port], index: u32, until: Instant) {
        let port = &mut ports[index as usize];
        self.ports[index as usize].take_at(until, |time| QueueRow::at_port(port, time));
    }

    pub(super) fn take_udp(&mut self, index: u32, received: &Received, until: Instant) {
        self.udp[index as usize].take(until, || received.payload());
    }

    pub(super) fn rows(&self) -> usize {
        let senders = self.senders.iter().map(|each| each.samples.len());
        let udp = self.udp.iter().map(|each| each.samples.len());
        let ports = self.ports.iter().map(|each| each.samples.len());
        senders.chain(udp).chain(ports).sum()
    }

    /// The tables `series` and `queues`.
    pub(super) fn tables(self, scenario: &Scenario) -> [Table; 2] {
        let mut series = Table::new::<SeriesRow>();
        let record = scenario.record;
        let seen = self.senders.into_iter().zip(&self.receivers).enumerate();
        for (flow, (sender, receiver)) in seen.filter(|(flow, _)| record.has_series(*flow)) {
            let name = Text::from(scenario.flows[flow].name.as_str());
            for (row, delivered) in sender.samples.into_iter().zip(&receiver.samples) {
                series.push(row.completed(&name, *delivered));
            }
        }
        let udp = if record.series_of.is_none() {
            &self.udp[..]
        } else {
            &[]
        };
        for (spec, receiver) in scenario.udp.iter().zip(udp) {
            let name = Text::from(spec.name.as_str());
            for (at, delivered) in receiver.samples.iter().enumerate() {
                let row = SeriesRow::of_udp(receiver.time_of(at));
                series.push(row.completed(&name, *delivered));
            }
        }
        let mut queues = Table::new::<QueueRow>();
        for (port, place) in self.ports.into_iter().zip(places(scenario)) {
            for row in port.samples {
                queues.push(row.completed(&place));
            }
        }
        [series, queues]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: f64) -> Instant {
        Instant::from_secs(secs)
    }

    fn sampler() -> Sampler<u64> {
        Sampler::new(Duration::from_secs(0.5), Duration::from_secs(2.0))
    }

    #[test]
    fn a_sample_is_what_was_before_its_component_moves_past_its_time() {
        let mut sampler = sampler();
        // The component has had 1 from the start, gets 2 at 0.7 s and 3 at 1.5 s.
        sampler.take(at(0.7), || 1);
        sampler.take(at(1.5), || 2);
        sampler.take(at(f64::INFINITY), || 3);
        assert_eq!(sampler.samples, [1, 1, 2, 2, 3]);
    }

    #[test]
    fn what_happens_at_the_very_time_of_a_sample_is_not_in_it() {
        let mut sampler = sampler();
        sampler.take(at(0.5), || 1);
        sampler.take(at(0.5), || 2);
        assert_eq!(sampler.samples, [1, 1]);
    }

    #[test]
    fn samples_are_at_multiples_of_their_period_however_far_a_component_moves() {
        let mut sampler = Sampler::new(Duration::from_secs(0.1), Duration::from_secs(0.35));
        sampler.take_at(at(0.25), Instant::secs);
        sampler.take_at(at(100.0), Instant::secs);
        assert_eq!(sampler.samples, [0.0, 0.1, 0.2, 3.0 * 0.1]);
    }
}
