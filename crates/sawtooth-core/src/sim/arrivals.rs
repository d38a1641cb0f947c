//! Flows that arrive and leave in a running simulation.
//!
//! **Model.** A connection is made when its flow arrives. It ends when its sender has everything acknowledged, the FIN too; then its place is
//! free for the next one, so memory is bounded by the flows that are alive at one time. What is still on its way then (segments sent again
//! needlessly, and their acknowledgements) goes on through the network and finds nobody at its end: packets carry a number that is the
//! flow's own for the whole run, never the place, and a directory knows the places of the living.
//!
//! **Order.** All connections of one entry share one path. Their senders are many components behind one stop, and so are their receivers, so
//! both take events (`plan_stops`): what happens at them is in the order of its keys. The links then need none of their own on this account.

use std::sync::Arc;

use super::directory::Directory;
use super::flow::{Flow, FlowEnd, FlowPlan, Opening, algorithm};
use super::index::index_u32;
use super::routes::Trip;
use crate::arrivals::summary::{Departed, Summary};
use crate::arrivals::{Arrival, Process};
use crate::cc;
use crate::events::EventKey;
use crate::record::Table;
use crate::record::rows::TransferRow;
use crate::record::rows::arrivals::{arrival_tables, transfer_row};
use crate::rng::{RandomStream, StreamName};
use crate::source;
use crate::spec::{ArrivingSpec, Scenario};
use crate::tcp::Config;
use crate::units::{Instant, SegCount};

/// Everything about flows that arrive.
#[derive(Debug)]
pub(super) struct ArrivingFlows<'a> {
    seed: u64,
    entries: Vec<ArrivalEntry<'a>>,
    /// Flows that are there all the time, both sides of requests and responses among them, have the first numbers and places.
    fixed: u32,
    /// Flows that are laid down before them, those of UDP, too.
    laid_down: u32,
    /// The number of the next one that arrives.
    next_id: u32,
    directory: Directory,
    /// Of each place from `fixed` on, who has it; and those that are free.
    living: Vec<LivingFlow>,
    free: Vec<u32>,
    /// Whether every one of them gets a row.
    transfers: Option<Table>,
}

/// Who is at a place.
#[derive(Clone, Copy, Debug)]
struct LivingFlow {
    entry: u32,
    arrival: Arrival,
    alive: bool,
}

/// One entry of the scenario.
#[derive(Debug)]
struct ArrivalEntry<'a> {
    spec: &'a ArrivingSpec,
    process: Process,
    next: Option<Arrival>,
    config: Arc<Config>,
    new_cc: cc::Algorithm,
    plain_way: bool,
    /// What the names of its flows begin with.
    names: StreamName,
    /// The clocks' phases, where timers have ticks.
    phases: RandomStream,
    trip: Trip,
    summary: Summary,
}

impl<'a> ArrivingFlows<'a> {
    /// `fixed` flows are there all the time; `trips`: of each entry.
    pub(super) fn new(scenario: &'a Scenario, seed: u64, fixed: usize, trips: &[Trip]) -> Self {
        let fixed = index_u32(fixed);
        let entries = scenario.arriving.iter().zip(trips).map(|(spec, trip)| {
            let name = &spec.flow.name;
            let mut process = Process::new(&spec.arrivals, seed, name);
            ArrivalEntry {
                spec,
                next: process.next(),
                process,
                // Its place is free as soon as everything is acknowledged.
                config: Arc::new(Config {
                    fin_of_receiver: false,
                    ..Config::from(&spec.flow.tcp)
                }),
                new_cc: algorithm(&spec.flow.cc),
                plain_way: scenario.shortcuts.plain_way,
                phases: StreamName::of(&[name, ".arrivals.phase"]).stream(seed),
                names: StreamName::of(&[name, "["]),
                trip: *trip,
                summary: Summary::new(spec.arrivals.bins_per_decade),
            }
        });
        Self {
            seed,
            entries: entries.collect(),
            fixed,
            laid_down: fixed + index_u32(scenario.udp.len()),
            next_id: fixed,
            directory: Directory::default(),
            living: Vec::new(),
            free: Vec::new(),
            transfers: scenario.record.transfers.then(Table::new::<TransferRow>),
        }
    }

    /// Rows of single flows that have been recorded.
    pub(super) fn rows(&self) -> usize {
        self.transfers.as_ref().map_or(0, Table::rows)
    }

    /// When an entry's next flow arrives.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "only ties at one time are ordered by it"
    )]
    pub(super) fn next_key(&self, entry: u32) -> EventKey {
        let count = index_u32(self.entries.len());
        match &self.entries[entry as usize].next {
            Some(arrival) => {
                let order = (arrival.number as u32).wrapping_mul(count) + entry;
                EventKey::at_start(arrival.at, self.laid_down.wrapping_add(order))
            }
            None => EventKey::NEVER,
        }
    }

    /// The place of a flow by its number, unless it has ended.
    #[inline]
    pub(super) fn place(&self, id: u32) -> Option<u32> {
        if id < self.fixed {
            Some(id)
        } else {
            self.directory.get(id)
        }
    }

    /// Whether a place is of those that are used again.
    #[inline]
    pub(super) fn is_arriving(&self, place: u32) -> bool {
        place >= self.fixed
    }

    /// The next flow of an entry arrives: its place among the flows.
    pub(super) fn arrive(&mut self, number: u32, flows: &mut Vec<Flow>) -> u32 {
        let id = self.next_id;
        self.next_id += 1;
        let entry = &mut self.entries[number as usize];
        let arrival = entry.next.take().expect("a flow arrives");
        entry.next = entry.process.next();
        entry.summary.start(arrival.bytes);
        let flow = entry.open(id, arrival, self.seed);
        let living = LivingFlow {
            entry: number,
            arrival,
            alive: true,
        };
        let place = if let Some(place) = self.free.pop() {
            self.living[(place - self.fixed) as usize] = living;
            flows[place as usize] = flow;
            place
        } else {
            self.living.push(living);
            flows.push(flow);
            index_u32(flows.len() - 1)
        };
        self.directory.insert(id, place);
        place
    }

    /// A flow has ended if everything is acknowledged, and then its place is free; whether it has.
    #[cold]
    #[inline(never)]
    pub(super) fn leave_if_finished(
        &mut self,
        place: u32,
        flows: &mut [Flow],
        time: Instant,
    ) -> bool {
        let flow = &mut flows[place as usize];
        if !flow.sender.is_finished() {
            return false;
        }
        flow.sender.finish(time);
        self.directory.remove(flow.id);
        self.leave(place, flow, time);
        self.free.push(place);
        true
    }

    /// The run is over for those that are there.
    pub(super) fn finish(&mut self, flows: &mut [Flow], end: Instant) {
        for (place, flow) in (0..).zip(flows).skip(self.fixed as usize) {
            if self.living[(place - self.fixed) as usize].alive {
                flow.sender.finish(end);
                self.leave(place, flow, end);
            }
        }
    }

    /// The tables of flows that arrive; none if none can.
    pub(super) fn tables(&mut self, end: Instant) -> Vec<Table> {
        if self.entries.is_empty() {
            return Vec::new();
        }
        let entries = self.entries.iter();
        let found = entries.map(|entry| (entry.spec, entry.spec.flow.cc.name, &entry.summary));
        let tables = arrival_tables(found, end - Instant::START);
        tables.into_iter().chain(self.transfers.take()).collect()
    }

    fn leave(&mut self, place: u32, flow: &Flow, time: Instant) {
        let living = &mut self.living[(place - self.fixed) as usize];
        living.alive = false;
        let entry = &mut self.entries[living.entry as usize];
        let counters = &flow.sender.counters();
        let departed = Departed {
            arrival: living.arrival,
            at: time,
            delivered: flow.receiver.delivered.bytes,
            completion: flow
                .sender
                .is_done()
                .then(|| flow.receiver.delivered.last - flow.start),
            sent_packets: SegCount::new(counters.sent_packets),
            retransmits: SegCount::new(counters.retransmits),
            timeouts: Some(counters.timeouts),
            congestion_signals: Some(counters.congestion_signals),
        };
        entry.summary.end(&departed);
        if let Some(transfers) = &mut self.transfers {
            transfers.push(transfer_row(&entry.spec.flow.name, &departed));
        }
    }
}

impl ArrivalEntry<'_> {
    fn open(&mut self, id: u32, arrival: Arrival, seed: u64) -> Flow {
        let spec = &self.spec.flow;
        let opening = Opening {
            spec,
            config: self.config.clone(),
            algorithm: self.new_cc,
            end: FlowEnd::Sender,
            name: self.names.and_number(arrival.number).and("]"),
            plain_way: self.plain_way,
        };
        Flow::new(FlowPlan {
            id,
            start: arrival.at,
            sender: opening.open(seed, |_| self.phases.uniform()),
            source: source::transfer(arrival.bytes),
            trip: self.trip,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrivals::Arrivals;
    use crate::dist;
    use crate::registry::{DistributionSpec, Params, Value};
    use crate::sim::dispatch::run;
    use crate::sim::world::{World, assemble};
    use crate::spec::{FlowSpec, LinkSpec};
    use crate::units::Rate;
    use crate::units::testing::{at, secs};

    /// One flow that is there all the time, and 20 per second of 2000 bytes that arrive from 1 s on, over links of their own.
    fn scenario() -> Scenario {
        let link = |name| LinkSpec::new(name, Rate::from_bps(10e6), secs(0.005));
        let mut size = Params::defaults(dist::TABLE[0].params);
        size.set("value", Value::Number(2000.0));
        let size = DistributionSpec {
            name: dist::TABLE[0].name,
            params: size,
            points: Vec::new(),
        };
        let web = ArrivingSpec {
            flow: FlowSpec::new("web", vec![1]),
            arrivals: Arrivals {
                rate: 20.0,
                size,
                number: None,
                start: at(1.0),
                stop: at(6.0),
                bins_per_decade: 1,
            },
        };
        let standing = FlowSpec::new("standing", vec![0]);
        Scenario {
            arriving: vec![web],
            ..Scenario::new(secs(8.0), vec![link("one"), link("other")], vec![standing])
        }
    }

    #[test]
    fn a_flow_that_arrives_has_a_number_and_a_place_after_those_that_are_there_all_the_time() {
        let scenario = scenario();
        let mut world = assemble(&scenario, 1);
        let World {
            arrivals, flows, ..
        } = &mut world;
        let first = arrivals.next_key(0).time;
        assert!(first > at(1.0) && arrivals.place(1).is_none());
        assert_eq!(arrivals.arrive(0, flows), 1);
        assert_eq!((flows[1].id, flows[1].start), (1, first));
        assert_eq!((arrivals.place(0), arrivals.place(1)), (Some(0), Some(1)));
        assert!(arrivals.is_arriving(1) && !arrivals.is_arriving(0));
        assert!(
            arrivals.next_key(0).time > first,
            "the next one comes later"
        );
    }

    #[test]
    fn a_flow_that_has_something_to_send_keeps_its_place() {
        let scenario = scenario();
        let mut world = assemble(&scenario, 1);
        let World {
            arrivals, flows, ..
        } = &mut world;
        let place = arrivals.arrive(0, flows);
        assert!(!arrivals.leave_if_finished(place, flows, at(2.0)));
        assert_eq!(arrivals.arrive(0, flows), place + 1);
    }

    #[test]
    fn places_of_flows_that_have_left_are_taken_again() {
        let scenario = scenario();
        let mut world = assemble(&scenario, 1);
        run(&mut world, &|| true).expect("within limits");
        let arrived = world.arrivals.next_id - world.arrivals.fixed;
        // 100 are expected, of which each takes about four round trips of 10 ms.
        assert!(arrived > 60, "{arrived}");
        let places = world.flows.len() - 1;
        assert!((1..20).contains(&places), "{places}");
        assert_eq!(world.arrivals.free.len(), places, "all have left");
        assert_eq!(world.arrivals.place(1), None);
        assert!(world.arrivals.next_key(0).is_never());
    }
}
