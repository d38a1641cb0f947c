//! What is observed during a run: samples at multiples of a period, or after every acknowledgement, the algorithms' own variables, and what the run costs.
//!
//! A sample is taken when its component is about to move past the sampling time, so it does not matter how far ahead of others a component is computed.

mod ack_trace;
mod sampler;
mod variables;

use self::ack_trace::AckTrace;
use self::sampler::Samplers;
use self::variables::VariableSamples;
use super::flow::Flow;
use super::taps::Taps;
use crate::net::Port;
use crate::record::rows::SeriesRow;
use crate::record::{Effort, Table};
use crate::spec::{Sampling, Scenario};
use crate::udp::Received;
use crate::units::{ByteCount, Instant};

/// All observers of a run. They look at its components and are not known to them.
#[derive(Debug)]
pub(super) struct Observers<'a> {
    samplers: Option<Samplers>,
    ack_trace: Option<AckTrace>,
    variables: Option<VariableSamples>,
    pub(super) effort: Effort,
    /// Whoever listens to packets.
    pub(super) taps: Option<Taps<'a>>,
}

impl Observers<'_> {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let flows = scenario.flows.len();
        Self {
            samplers: Samplers::of(scenario),
            ack_trace: (scenario.sample == Sampling::Acks).then(|| AckTrace::new(flows)),
            variables: (scenario.record.variables).then(|| VariableSamples::new(flows)),
            effort: Effort::default(),
            taps: None,
        }
    }

    /// Whether nothing is observed of the flows on their way.
    pub(super) fn are_idle(&self) -> bool {
        self.samplers.is_none() && self.ack_trace.is_none() && self.variables.is_none()
    }

    /// A sender is about to move past `until`.
    #[inline]
    pub(super) fn sample_sender(&mut self, flows: &[Flow], index: u32, until: Instant) {
        if let Some(samplers) = &mut self.samplers {
            samplers.take_sender(&mut self.variables, flows, index, until);
        }
    }

    #[inline]
    pub(super) fn sample_receiver(&mut self, flows: &[Flow], index: u32, until: Instant) {
        if let Some(samplers) = &mut self.samplers {
            samplers.take_receiver(flows, index, until);
        }
    }

    #[inline]
    pub(super) fn sample_port(&mut self, ports: &mut [Port], index: u32, until: Instant) {
        if let Some(samplers) = &mut self.samplers {
            samplers.take_port(ports, index, until);
        }
    }

    #[inline]
    pub(super) fn sample_udp(&mut self, index: u32, received: &Received, until: Instant) {
        if let Some(samplers) = &mut self.samplers {
            samplers.take_udp(index, received, until);
        }
    }

    /// Whether senders are looked at after every acknowledgement.
    #[inline]
    pub(super) fn trace_acks(&self) -> bool {
        self.ack_trace.is_some()
    }

    /// A sender has taken an acknowledgement.
    #[cold]
    #[inline(never)]
    pub(super) fn trace_ack(&mut self, flows: &[Flow], index: u32, time: Instant) {
        if let Some(trace) = &mut self.ack_trace
            && let Some(acks) = trace.acks.get_mut(index as usize)
        {
            let sender = &flows[index as usize].sender;
            acks.push((time, SeriesRow::at_sender(sender, time)));
            if let Some(variables) = &mut self.variables {
                variables.take(index, time, sender);
            }
        }
    }

    /// A receiver has so many bytes from now on.
    #[inline]
    pub(super) fn trace_delivery(&mut self, index: u32, time: Instant, delivered: ByteCount) {
        if let Some(trace) = &mut self.ack_trace
            && let Some(deliveries) = trace.deliveries.get_mut(index as usize)
        {
            deliveries.push((time, delivered));
        }
    }

    /// Rows that have been recorded.
    pub(super) fn rows(&self) -> usize {
        self.samplers.as_ref().map_or(0, Samplers::rows)
            + self.ack_trace.as_ref().map_or(0, AckTrace::rows)
            + self.variables.as_ref().map_or(0, VariableSamples::rows)
    }

    /// What has been seen.
    pub(super) fn tables(self, scenario: &Scenario) -> Vec<Table> {
        let mut tables = Vec::new();
        if let Some(samplers) = self.samplers {
            tables.extend(samplers.tables(scenario));
        }
        if let Some(trace) = self.ack_trace {
            tables.push(trace.series_table(scenario));
        }
        if let Some(variables) = &self.variables {
            tables.push(variables.table(scenario));
        }
        tables
    }
}
