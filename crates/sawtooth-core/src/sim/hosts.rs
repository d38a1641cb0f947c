//! The hosts of a run ([`crate::host`]): what their processors and interfaces do with flows' packets, and what they measure.
//!
//! **Events.** Packets for a host take an event to reach its interface, and each of a host's parts has one slot among the events. What takes no time
//! happens at once. So a flow with a host takes several events per packet; flows without any are not touched.
//!
//! **Requests and responses** ([`super::request_response`]) are two flows, so each side has the socket of what it sends and the reader of what it gets. These are two halves of one socket: what
//! one of them makes the protocol code or the driver do, also for a segment that arrives or an acknowledgement that leaves, is done for the socket, and its stopwatch says so.

pub(super) mod events;
mod interface;
mod receiving;
pub(super) mod records;
mod sending;
#[cfg(test)]
mod tests;
mod work;

use super::index::index_u32;
use super::routes::Sides;
use crate::host::layers::{Happening, Layer, Log};
use crate::host::socket::{Reader, Socket};
use crate::host::{Frame, Machine};
use crate::record::rows::Stalls;
use crate::spec::{FlowSpec, Scenario};
use crate::tcp::receiver::InOrderDelivery;
use crate::units::{ByteCount, Instant};

/// The sending and the receiving end of a flow: their hosts, and the ports where packets leave them.
struct Ends {
    hosts: [Option<usize>; 2],
    first_ports: [usize; 2],
}

impl Ends {
    fn of(flow: &FlowSpec) -> Self {
        Self {
            hosts: [flow.host, flow.receiver_host],
            // Data leave on the path's first link, acknowledgements on the way back of its last; or the other way round.
            first_ports: [flow.direction, flow.direction.opposite()].map(|direction| {
                let port = direction.port_at(&flow.path, 0);
                port.expect("a path has a link")
            }),
        }
    }

    fn the_other_way(mut self) -> Self {
        self.hosts.reverse();
        self.first_ports.reverse();
        self
    }
}

/// All hosts of a run, and the ends of flows that they have.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    machines: Vec<Machine>,
    /// Of each flow, those of requests after the scenario's, the host that sends its data, and its socket there.
    senders: Vec<Option<(u32, Socket)>>,
    /// And the host that takes them, and the application there.
    receivers: Vec<Option<(u32, Reader)>>,
    /// The ports where its data leave, and where its acknowledgements do.
    first_ports: Vec<[usize; 2]>,
    /// Of each flow, if that is recorded, what has happened.
    logs: Option<Vec<Log>>,
}

impl Hosts {
    pub(super) fn new(scenario: &Scenario, request_responses: impl Iterator<Item = Sides>) -> Self {
        let flows = &scenario.flows;
        if flows
            .iter()
            .all(|flow| flow.host.or(flow.receiver_host).is_none())
        {
            return Self::default();
        }
        let mut ends: Vec<Ends> = flows.iter().map(Ends::of).collect();
        for Sides { server, .. } in request_responses {
            ends.push(Ends::of(&flows[server as usize]).the_other_way());
        }
        let socket = || {
            let mut socket = Socket::new();
            if scenario.record.stalls {
                socket.watch.keep_intervals();
            }
            socket
        };
        Self {
            machines: scenario
                .hosts
                .iter()
                .map(|host| Machine::new(&host.params))
                .collect(),
            senders: (ends.iter())
                .map(|ends| ends.hosts[0].map(|host| (index_u32(host), socket())))
                .collect(),
            receivers: (ends.iter())
                .map(|ends| ends.hosts[1].map(|host| (index_u32(host), Reader::default())))
                .collect(),
            first_ports: ends.iter().map(|ends| ends.first_ports).collect(),
            logs: (scenario.record.layers).then(|| ends.iter().map(|_| Log::default()).collect()),
        }
    }

    /// Hosts that have events.
    pub(super) fn count(&self) -> u32 {
        index_u32(self.machines.len())
    }

    /// What has been recorded of layers.
    pub(super) fn rows(&self) -> usize {
        self.logs.iter().flatten().map(|log| log.rows.len()).sum()
    }

    /// Whether a host sends a flow's data.
    #[inline]
    pub(super) fn send(&self, flow: u32) -> bool {
        !self.senders.is_empty() && self.sender(flow).is_some()
    }

    /// Whether a host takes a flow's data.
    #[inline]
    pub(super) fn receive(&self, flow: u32) -> bool {
        !self.receivers.is_empty() && self.receiver(flow).is_some()
    }

    fn sender(&self, flow: u32) -> Option<&(u32, Socket)> {
        self.senders.get(flow as usize)?.as_ref()
    }

    fn receiver(&self, flow: u32) -> Option<&(u32, Reader)> {
        self.receivers.get(flow as usize)?.as_ref()
    }

    /// The socket of a flow that a host sends.
    fn socket(&mut self, flow: u32) -> &mut Socket {
        let sender = self.senders[flow as usize].as_mut();
        &mut sender.expect("a host sends the flow").1
    }

    /// The application that reads of a flow that a host takes.
    fn reader(&mut self, flow: u32) -> &mut Reader {
        let receiver = self.receivers[flow as usize].as_mut();
        &mut receiver.expect("a host takes the flow").1
    }

    /// The host that sends a flow's data.
    fn sends(&self, flow: u32) -> u32 {
        self.sender(flow).expect("a host sends the flow").0
    }

    /// The host that takes a flow's data.
    fn takes(&self, flow: u32) -> u32 {
        self.receiver(flow).expect("a host takes the flow").0
    }

    fn machine(&mut self, host: u32) -> &mut Machine {
        &mut self.machines[host as usize]
    }

    /// Application bytes that the reader of a flow has, and when it had the last of them.
    pub(super) fn read_by(&self, flow: u32) -> Option<InOrderDelivery> {
        let (_, reader) = self.receiver(flow)?;
        Some(InOrderDelivery {
            bytes: reader.read,
            last: reader.last_read,
        })
    }

    /// A flow's stall until `end`, where something measures it.
    pub(super) fn stalls(&self, flow: u32, end: Instant) -> Stalls {
        let sender = self.sender(flow);
        sender.map_or_else(Stalls::default, |(_, socket)| {
            Stalls::of(&socket.watch, end)
        })
    }

    /// The run is over.
    pub(super) fn finish(&mut self, end: Instant) {
        for (_, socket) in self.senders.iter_mut().flatten() {
            socket.watch.finish(end.as_ns());
        }
    }

    /// Notes something that happens to a packet, if that is recorded.
    pub(super) fn note(
        &mut self,
        host: u32,
        time: Instant,
        layer: Layer,
        event: &'static str,
        frame: &Frame,
    ) {
        let Some(logs) = &mut self.logs else {
            return;
        };
        let segment = frame.packet.segment();
        let bytes = match layer {
            Layer::Driver | Layer::Wire => frame.packet.size(),
            _ if frame.is_data => segment.payload,
            _ => ByteCount::ZERO,
        };
        logs[frame.flow as usize].rows.push(Happening {
            time,
            host,
            layer,
            event,
            packet: Some((frame.id, frame.is_data)),
            seq: (!segment.is_ack_alone()).then_some(segment.seq),
            bytes,
        });
    }

    /// Notes something that happens to some bytes.
    pub(super) fn note_bytes(
        &mut self,
        host: u32,
        flow: u32,
        time: Instant,
        layer: Layer,
        event: &'static str,
        bytes: ByteCount,
    ) {
        if let Some(logs) = &mut self.logs {
            logs[flow as usize].rows.push(Happening {
                time,
                host,
                layer,
                event,
                packet: None,
                seq: None,
                bytes,
            });
        }
    }
}
