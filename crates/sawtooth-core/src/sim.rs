//! One running simulation: assembles a [`Scenario`], runs it, returns [`Records`].
//!
//! **Model.** A flow's round trip is a list of stops: the forward ports, the receiver, the reverse ports in opposite order, the
//! sender. A packet moves from stop to stop; a port tells when it arrives at the next one.
//!
//! **Speed.** Events are only needed where streams of packets meet, because only there does the order between components
//! matter. Three shortcuts, each exact and each with a switch in [`Shortcuts`](crate::spec::Shortcuts):
//! - `no_tx_event`: a drop-tail port computes departures at arrival (see [`crate::net::Port`]).
//! - `computed_hops`: a stop that is fed by one in-order stream is passed at once, ahead of time: its state depends on nothing
//!   else. So access links, receivers and senders need no events of their own.
//! - `ring`: packets on their way to a meeting point wait in a ring; only the first has a pending event.
//!
//! Where a wire reorders or doubles packets ([`crate::impair`]), each packet behind it has an event of its own, shortcuts or not.
//!
//! A flow of UDP is a list of stops that ends at its receiver. Nothing comes back to its source, so its packets are let out some at a time,
//! ahead of time, and each takes one event for every meeting point on its way and none of its own.
//!
//! A stop that is passed ahead of time is still passed in the order of its keys, with its own timers fired in between. Nothing
//! happens at or after the run's end, and samples are taken when a component is about to move past the sampling time. So the
//! records do not depend on the shortcuts; `tests/it/shortcuts.rs` proves it on random scenarios.

mod arrivals;
mod budget;
mod channel;
mod endpoints;
mod flow;
mod hosts;
mod observe;
mod request_response;
mod stops;
mod tables;
mod travel;
mod udp;

use self::arrivals::ArrivingFlows;
pub use self::budget::{Stopped, simulate_within_limits};
use self::channel::{Channel, Loose, LooseEvents, channels};
use self::flow::{Flow, metrics_caches, standing_flows};
use self::hosts::{Hosts, Part as HostPart};
use self::observe::{AckTrace, Samplers, Variables};
use self::request_response::RequestResponses;
use self::stops::{Plan, Stop, plan_stops, routes};
use self::udp::{Udp, udp_flows};
use crate::events::{EventQueue, Key, Lineage};
use crate::net::{self, Port};
use crate::packet::AckStore;
use crate::record::{Effort, Records};
use crate::registry;
use crate::spec::{Part, Sampling, Scenario};
use crate::tcp::metrics_cache::{Keeps, MetricsCaches};

/// Runs `scenario` and returns what it measured. The same scenario and seed give the same records on any machine.
pub fn simulate(scenario: &Scenario, seed: u64) -> Records {
    simulate_with_effort(scenario, seed).0
}

/// The same, with what it cost.
///
/// # Panics
/// If it takes more than the scenario's limits: [`simulate_within_limits`] says so.
pub fn simulate_with_effort(scenario: &Scenario, seed: u64) -> (Records, Effort) {
    simulate_within_limits(scenario, seed).unwrap_or_else(|stopped| panic!("{stopped}"))
}

/// What a slot of the queue of packets stands for. The order of slots is the order of events whose keys agree.
#[derive(Clone, Copy, Debug)]
enum Slot {
    /// A port's transmitter is free, or what waits there may leave.
    TransmitterFree(u32),
    Channel(u32),
    /// The next flow of an entry arrives.
    Arrival(u32),
    /// The next packets of a flow of UDP leave.
    Departures(u32),
    /// Something happens within a host.
    Host(u32, HostPart),
}

#[derive(Debug)]
struct World<'a> {
    scenario: &'a Scenario,
    end: f64,
    ports: Vec<Port>,
    /// The event queue's slot of each evented port.
    port_slots: Vec<u32>,
    flows: Vec<Flow>,
    arrivals: ArrivingFlows<'a>,
    request_responses: RequestResponses,
    hosts: Hosts,
    udp: Vec<Udp>,
    stops: Vec<Stop>,
    /// Of each stop: whether it is beyond the receiver, so that packets there are acknowledgements.
    returning: Vec<bool>,
    /// Of each stop: the one that a damaged packet takes instead.
    twins: Vec<u32>,
    /// Of each route: what packets take between its hosts and the links, each way, in seconds.
    access_delays: Vec<f64>,
    channels: Vec<Channel>,
    slots: Vec<Slot>,
    /// Packets about to reach a meeting point and transmissions about to end.
    packets: EventQueue,
    /// Sender and receiver timers; rarely due, so they are kept apart.
    timers: EventQueue,
    lineage: Lineage,
    /// Whether any packets are loose events.
    has_loose: bool,
    loose: LooseEvents,
    acks: AckStore,
    /// What hosts remember of connections that have ended, if any flow asks for it.
    metrics: Option<MetricsCaches>,
    /// Of each entry of flows that arrive: the number of its path among the caches, and what its hosts keep.
    metrics_places: Vec<(usize, Keeps)>,
    samplers: Option<Samplers>,
    ack_trace: Option<AckTrace>,
    variables: Option<Variables>,
    effort: Effort,
    /// A limit was exceeded: the run has ended.
    stopped: Option<Stopped>,
}

impl<'a> World<'a> {
    fn new(scenario: &'a Scenario, seed: u64) -> Self {
        let shortcuts = &scenario.shortcuts;
        let mut ports = net::ports(scenario, seed, shortcuts.no_tx_event);
        let request_responses = RequestResponses::new(scenario, seed);
        let routes = routes(scenario, &request_responses);
        let Plan {
            stops,
            trips,
            in_order,
            returning,
            twins,
            whose,
        } = plan_stops(scenario, &ports, &routes);
        net::keep_ledgers(&mut ports, scenario.record, whose);
        let access_delays = routes.iter().map(|route| route.access_delay).collect();
        let fixed = scenario.flows.len() + request_responses.len();
        let (entry_trips, udp_trips) = trips[fixed..].split_at(scenario.arriving.len());
        let arrivals = ArrivingFlows::new(scenario, seed, fixed, entry_trips);
        let udp = udp_flows(scenario, seed, fixed, udp_trips);

        let mut slots = Vec::new();
        let mut port_slots = vec![u32::MAX; ports.len()];
        for (index, port) in ports.iter().enumerate() {
            if !port.is_computed() {
                port_slots[index] = index_u32(slots.len());
                slots.push(Slot::TransmitterFree(index_u32(index)));
            }
        }
        let channels = channels(&in_order, shortcuts.ring, &mut slots);
        let has_loose = channels.iter().any(|channel| channel.loose);
        let first_departure = slots.len();
        for entry in 0..scenario.arriving.len() {
            slots.push(Slot::Arrival(index_u32(entry)));
        }
        for index in 0..udp.len() {
            slots.push(Slot::Departures(index_u32(index)));
        }
        let hosts = Hosts::new(scenario, &request_responses, &mut slots);
        let flows = standing_flows(scenario, seed, &request_responses, &trips);
        let lineage = Lineage::new();
        let mut timers = EventQueue::new(2 * flows.len());
        for (index, flow) in flows.iter().enumerate() {
            let index = index_u32(index);
            timers.set(
                sender_timer(index),
                Key::at_start(flow.start, index),
                &lineage,
            );
        }
        let samplers = Samplers::of(scenario);
        let ack_trace =
            (scenario.sample == Sampling::Acks).then(|| AckTrace::new(scenario.flows.len()));
        let mut packets = EventQueue::new(slots.len());
        for (slot, key) in (first_departure..).zip(
            (0..index_u32(scenario.arriving.len()))
                .map(|entry| arrivals.next_key(entry))
                .chain(udp.iter().map(Udp::key)),
        ) {
            packets.set(index_u32(slot), key, &lineage);
        }
        let (metrics, metrics_places) = metrics_caches(scenario, &flows);
        Self {
            scenario,
            end: scenario.duration.secs(),
            ports,
            port_slots,
            metrics,
            metrics_places,
            flows,
            arrivals,
            request_responses,
            hosts,
            udp,
            stops,
            returning,
            twins,
            access_delays,
            channels,
            packets,
            slots,
            timers,
            lineage,
            has_loose,
            loose: LooseEvents::default(),
            acks: AckStore::default(),
            samplers,
            ack_trace,
            variables: (scenario.record.variables).then(|| Variables::new(scenario.flows.len())),
            effort: Effort::default(),
            stopped: None,
        }
    }

    #[inline(never)]
    /// Handles so many events, or fewer if the run is over; whether it goes on.
    fn handle(&mut self, most: u32) -> bool {
        for handled in 0..most {
            let timer_first = self.timers.first_time() <= self.packets.first_time()
                && self.timer_precedes_packets();
            if self.has_loose && self.step_loose(timer_first) {
                continue;
            }
            let queue = if timer_first {
                &self.timers
            } else {
                &self.packets
            };
            let slot = queue.first();
            let key = queue.get(slot);
            if key.time >= self.end {
                self.effort.events += u64::from(handled);
                return false;
            }
            if timer_first {
                self.on_timer(slot);
                continue;
            }
            match self.slots[slot as usize] {
                Slot::Channel(channel) => {
                    let waiting = &mut self.channels[channel as usize].waiting;
                    let (_, packet) = *waiting.front().expect("a pending channel has a packet");
                    waiting.pop();
                    match waiting.front() {
                        Some((next, _)) => self.packets.set(slot, *next, &self.lineage),
                        None => self.packets.set(slot, Key::NEVER, &self.lineage),
                    }
                    self.on_packet(packet, key);
                }
                Slot::TransmitterFree(port) => {
                    let (time, line) = key.parts();
                    self.on_transmitter_free(port, time, line);
                }
                Slot::Arrival(entry) => {
                    self.on_arrival(entry, key);
                    let next = self.arrivals.next_key(entry);
                    self.packets.set(slot, next, &self.lineage);
                }
                Slot::Departures(index) => {
                    let next = self.send_udp(index as usize, key);
                    self.packets.set(slot, next, &self.lineage);
                }
                Slot::Host(host, part) => self.on_host(host, part, key),
            }
        }
        self.effort.events += u64::from(most);
        true
    }

    /// Whether the first timer is due before the first packet; at a full tie the packet goes first.
    fn timer_precedes_packets(&self) -> bool {
        let (timer, packet) = (self.timers.first(), self.packets.first());
        let (timer, packet) = (self.timers.get(timer), self.packets.get(packet));
        timer.precedes(&packet, &self.lineage, false)
    }

    /// Handles the first of the packets with events of their own, if it comes before all other events.
    fn step_loose(&mut self, timer_first: bool) -> bool {
        let queue = if timer_first {
            &self.timers
        } else {
            &self.packets
        };
        let Some((at, first, loose_slot)) = self.loose.first(&self.lineage) else {
            return false;
        };
        let slot = queue.first();
        let ties = timer_first || loose_slot < slot;
        let goes_first = first.precedes(&queue.get(slot), &self.lineage, ties);
        if !goes_first || first.time >= self.end {
            return false;
        }
        let Loose { key, packet, .. } = self.loose.remove(at);
        self.on_other_packet(packet, key);
        true
    }
}

/// The slot of a flow's retransmission timer; before its start, of the start.
fn sender_timer(flow: u32) -> u32 {
    2 * flow
}

/// The slot of a flow's delayed-acknowledgement timer.
fn receiver_timer(flow: u32) -> u32 {
    2 * flow + 1
}

/// Finds the constructor of a part; the scenario has checked its name.
fn build<C>(table: &'static [registry::Entry<C>], part: &Part) -> &'static C {
    &table
        .iter()
        .find(|entry| entry.name == part.name)
        .expect("the scenario names parts of the table")
        .new
}

fn index_u32(index: usize) -> u32 {
    u32::try_from(index).expect("fewer than 2^32 components")
}
