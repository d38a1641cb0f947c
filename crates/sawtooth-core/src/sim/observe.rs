//! What is looked at while a run goes on: samples at multiples of a period, or after every acknowledgement, and the algorithms' own variables.

use super::{Flow, World};
use crate::net::direction_name;
use crate::record::Table;
use crate::record::rows::{QueueRow, SeriesRow, VariableRow};
use crate::spec::{Sampling, Scenario};
use crate::tcp::sender::Sender;
use crate::units::{Duration, Rate, ns};

/// Samples of one component at multiples of a period, taken when it is about to move past them.
#[derive(Clone, Debug)]
pub(super) struct Sampler<T> {
    every: f64,
    last: u64,
    pub(super) samples: Vec<T>,
}

impl<T> Sampler<T> {
    pub(super) fn new(every: Duration, duration: Duration) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a count of samples"
        )]
        let last = (duration.secs() / every.secs()) as u64;
        Self {
            every: every.secs(),
            last,
            samples: Vec::new(),
        }
    }

    #[inline]
    pub(super) fn take(&mut self, until: f64, sample: impl Fn() -> T) {
        self.take_at(until, |_| sample());
    }

    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "a count of samples")]
    pub(super) fn take_at(&mut self, until: f64, mut sample: impl FnMut(f64) -> T) {
        while self.samples.len() as u64 <= self.last {
            let time = self.samples.len() as f64 * self.every;
            if time > until {
                break;
            }
            self.samples.push(sample(time));
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct SenderSample {
    pub(super) cwnd: f64,
    pub(super) ssthresh: f64,
    pub(super) srtt: Option<f64>,
    pub(super) flight: u64,
    pub(super) acked_bytes: u64,
    pub(super) pipe: u64,
    pub(super) pacing_rate_bps: Option<f64>,
    pub(super) delivered_bytes: u64,
}

impl SenderSample {
    pub(super) fn of(sender: &Sender) -> Self {
        Self {
            cwnd: sender.cwnd(),
            ssthresh: sender.ssthresh(),
            srtt: sender.srtt_secs(),
            flight: sender.flight_size(),
            acked_bytes: sender.acked_bytes(),
            pipe: sender.pipe(),
            pacing_rate_bps: sender.pacing_rate().map(Rate::bps),
            delivered_bytes: sender.delivered_bytes(),
        }
    }

    /// A row of the table `series`.
    fn row(&self, t_ns: i64, flow: String, smss: u32, delivered_bytes: u64) -> SeriesRow {
        SeriesRow {
            t_ns,
            flow,
            cwnd_bytes: Some(self.cwnd * f64::from(smss)),
            ssthresh_bytes: Some(self.ssthresh * f64::from(smss)),
            srtt_ns: self.srtt.map(ns),
            flight_bytes: Some(self.flight * u64::from(smss)),
            acked_bytes: Some(self.acked_bytes),
            delivered_bytes,
            pipe_bytes: Some(self.pipe * u64::from(smss)),
            pacing_rate_bps: Some(self.pacing_rate_bps.unwrap_or(f64::INFINITY)),
            sender_delivered_bytes: Some(self.delivered_bytes),
        }
    }
}

/// The algorithms' own variables, taken with the senders' samples.
#[derive(Debug)]
pub(super) struct Variables {
    /// Of each flow: time, name and value.
    pub(super) values: Vec<Vec<(f64, &'static str, f64)>>,
}

impl Variables {
    pub(super) fn new(flows: usize) -> Self {
        Self {
            values: vec![Vec::new(); flows],
        }
    }

    pub(super) fn take(&mut self, flow: u32, time: f64, sender: &Sender) {
        let values = &mut self.values[flow as usize];
        sender.probe(&mut |name, value| values.push((time, name, value)));
    }

    pub(super) fn table(&self, scenario: &Scenario) -> Table {
        let mut table = Table::new::<VariableRow>();
        for (flow, values) in scenario.flows.iter().zip(&self.values) {
            for (time, name, value) in values {
                table.push(VariableRow {
                    t_ns: ns(*time),
                    flow: flow.name.clone(),
                    variable: (*name).into(),
                    value: *value,
                });
            }
        }
        table
    }
}

/// The state after every acknowledgement.
#[derive(Debug)]
pub(super) struct AckTrace {
    /// Of each flow: time, and the sender's state.
    pub(super) acks: Vec<Vec<(f64, SenderSample)>>,
    /// Of each flow: time, and bytes delivered from then on. Receivers may be ahead of senders.
    pub(super) deliveries: Vec<Vec<(f64, u64)>>,
}

impl AckTrace {
    pub(super) fn new(flows: usize) -> Self {
        Self {
            acks: vec![Vec::new(); flows],
            deliveries: vec![Vec::new(); flows],
        }
    }

    pub(super) fn series_table(&self, scenario: &Scenario, flows: &[Flow]) -> Table {
        let mut table = Table::new::<SeriesRow>();
        for (index, flow) in flows.iter().enumerate() {
            let smss = flow.sender.config().smss;
            let deliveries = &self.deliveries[index];
            for (time, sender) in &self.acks[index] {
                let known = deliveries.partition_point(|(at, _)| at <= time);
                let delivered = known.checked_sub(1).map_or(0, |last| deliveries[last].1);
                let name = scenario.flows[index].name.clone();
                table.push(sender.row(ns(*time), name, smss, delivered));
            }
        }
        table
    }
}

#[derive(Debug)]
pub(super) struct Samplers {
    every: f64,
    pub(super) senders: Vec<Sampler<SenderSample>>,
    /// Delivered bytes.
    pub(super) receivers: Vec<Sampler<u64>>,
    /// The same of flows of UDP.
    pub(super) udp: Vec<Sampler<u64>>,
    /// Backlog and drops, packets.
    pub(super) ports: Vec<Sampler<(u64, u64)>>,
}

impl Samplers {
    /// If there are samples at a cadence.
    pub(super) fn of(scenario: &Scenario) -> Option<Self> {
        let Sampling::Every(every) = scenario.sample else {
            return None;
        };
        let samplers = Sampler::new(every, scenario.duration);
        Some(Self {
            every: every.secs(),
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

    #[expect(clippy::cast_precision_loss, reason = "a count of samples")]
    fn time_ns(&self, sample: usize) -> i64 {
        ns(sample as f64 * self.every)
    }

    pub(super) fn series_table(&self, scenario: &Scenario, flows: &[Flow]) -> Table {
        let mut table = Table::new::<SeriesRow>();
        for (index, flow) in flows.iter().enumerate() {
            let smss = flow.sender.config().smss;
            let samples = self.senders[index]
                .samples
                .iter()
                .zip(&self.receivers[index].samples);
            for (at, (sender, delivered_bytes)) in samples.enumerate() {
                let name = scenario.flows[index].name.clone();
                table.push(sender.row(self.time_ns(at), name, smss, *delivered_bytes));
            }
        }
        for (spec, sampler) in scenario.udp.iter().zip(&self.udp) {
            for (at, delivered_bytes) in sampler.samples.iter().enumerate() {
                // Windows and acknowledgements are TCP's.
                table.push(SeriesRow {
                    t_ns: self.time_ns(at),
                    flow: spec.name.clone(),
                    delivered_bytes: *delivered_bytes,
                    ..SeriesRow::default()
                });
            }
        }
        table
    }

    pub(super) fn queue_table(&self, scenario: &Scenario) -> Table {
        let mut table = Table::new::<QueueRow>();
        for (index, port) in self.ports.iter().enumerate() {
            for (at, (backlog, dropped)) in port.samples.iter().enumerate() {
                table.push(QueueRow {
                    t_ns: self.time_ns(at),
                    link: scenario.links[index / 2].name.clone(),
                    direction: direction_name(index).into(),
                    backlog_packets: *backlog,
                    dropped_packets: *dropped,
                });
            }
        }
        table
    }
}

impl World<'_> {
    #[inline]
    pub(super) fn sample_sender(&mut self, index: u32, until: f64) {
        if self.samplers.is_some() {
            self.take_sender_samples(index, until);
        }
    }

    #[inline]
    pub(super) fn sample_receiver(&mut self, index: u32, until: f64) {
        if self.samplers.is_some() {
            self.take_receiver_samples(index, until);
        }
    }

    #[inline]
    pub(super) fn sample_port(&mut self, index: u32, until: f64) {
        if self.samplers.is_some() {
            self.take_port_samples(index, until);
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn trace_ack(&mut self, index: u32, time: f64) {
        if let Some(trace) = &mut self.ack_trace
            && let Some(acks) = trace.acks.get_mut(index as usize)
        {
            let sender = &self.flows[index as usize].sender;
            acks.push((time, SenderSample::of(sender)));
            if let Some(variables) = &mut self.variables {
                variables.take(index, time, sender);
            }
        }
    }

    #[inline(never)]
    pub(super) fn take_sender_samples(&mut self, index: u32, until: f64) {
        if let Some(samplers) = &mut self.samplers
            && let Some(sampler) = samplers.senders.get_mut(index as usize)
        {
            let sender = &self.flows[index as usize].sender;
            let variables = &mut self.variables;
            sampler.take_at(until, |time| {
                if let Some(variables) = variables {
                    variables.take(index, time, sender);
                }
                SenderSample::of(sender)
            });
        }
    }

    #[inline(never)]
    pub(super) fn take_receiver_samples(&mut self, index: u32, until: f64) {
        if let Some(samplers) = &mut self.samplers
            && let Some(sampler) = samplers.receivers.get_mut(index as usize)
        {
            let receiver = &self.flows[index as usize].receiver;
            sampler.take(until, || receiver.delivered_bytes);
        }
    }

    #[inline(never)]
    pub(super) fn take_port_samples(&mut self, index: u32, until: f64) {
        if let Some(samplers) = &mut self.samplers {
            let port = &self.ports[index as usize];
            samplers.ports[index as usize].take_at(until, |time| {
                (port.backlog_at(time), port.counters.dropped_packets)
            });
        }
    }
}
