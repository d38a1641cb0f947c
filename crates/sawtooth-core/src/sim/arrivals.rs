//! Flows that arrive and leave in a running simulation.
//!
//! **Model.** A connection is made when its flow arrives. It ends when its sender has everything acknowledged, the FIN too; then its place is
//! free for the next one, so memory is bounded by the flows that are alive at one time. What is still on its way then (segments sent again
//! needlessly, and their acknowledgements) goes on through the network and finds nobody at its end: packets carry a number that is the
//! flow's own for the whole run, never the place, and a directory knows the places of the living.
//!
//! **Order.** All connections of one entry share one path. Their senders are many components behind one stop, and so are their receivers, so
//! both take events (`plan_stops`): what happens at them is in the order of its keys. The links then need none of their own on this account.

use super::flow::{Flow, FlowPlan, clocks};
use super::stops::Trip;
use super::{Key, World, index_u32};
use crate::arrivals::summary::{Departed, Summary};
use crate::arrivals::{Arrival, Process};
use crate::cc;
use crate::record::Table;
use crate::record::rows::{ArrivalRow, CompletionRow, TransferRow};
use crate::rng::Stream;
use crate::source;
use crate::spec::{ArrivingSpec, Scenario};
use crate::tcp::Config;
use crate::tcp::sender::Sender;
use crate::units::ns;

/// Everything about flows that arrive.
#[derive(Debug)]
pub(super) struct ArrivingFlows<'a> {
    seed: u64,
    entries: Vec<Entry<'a>>,
    /// Flows that are there all the time, both sides of requests and responses among them, have the first numbers and places.
    fixed: u32,
    /// Flows that are laid down before them, those of UDP, too.
    laid_down: u32,
    /// The number of the next one that arrives.
    next_id: u32,
    directory: Directory,
    /// Of each place from `fixed` on, who has it; and those that are free.
    living: Vec<Living>,
    free: Vec<u32>,
    /// Whether every one of them gets a row.
    transfers: Option<Table>,
}

/// Who is at a place.
#[derive(Clone, Copy, Debug)]
struct Living {
    entry: u32,
    arrival: Arrival,
    alive: bool,
}

/// One entry of the scenario.
#[derive(Debug)]
struct Entry<'a> {
    spec: &'a ArrivingSpec,
    process: Process,
    next: Option<Arrival>,
    config: Config,
    new_cc: cc::Algorithm,
    /// The clocks' phases, where timers have ticks.
    phases: Stream,
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
            Entry {
                spec,
                next: process.next(),
                process,
                config: Config::from(&spec.flow.tcp),
                new_cc: *super::build(cc::TABLE, &spec.flow.cc),
                phases: Stream::new(seed, &format!("{name}.arrivals.phase")),
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
    pub(super) fn next_key(&self, entry: u32) -> Key {
        let count = index_u32(self.entries.len());
        match &self.entries[entry as usize].next {
            Some(arrival) => {
                let order = (arrival.number as u32).wrapping_mul(count) + entry;
                Key::at_start(arrival.at_secs, self.laid_down.wrapping_add(order))
            }
            None => Key::NEVER,
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
}

impl World<'_> {
    /// The next flow of an entry arrives.
    #[inline(never)]
    pub(super) fn on_arrival(&mut self, number: u32, key: Key) {
        let arrivals = &mut self.arrivals;
        let id = arrivals.next_id;
        arrivals.next_id += 1;
        let entry = &mut arrivals.entries[number as usize];
        let arrival = entry.next.take().expect("a flow arrives");
        entry.next = entry.process.next();
        entry.summary.start(arrival.bytes);
        let flow = entry.open(id, arrival, arrivals.seed);
        let living = Living {
            entry: number,
            arrival,
            alive: true,
        };
        let place = if let Some(place) = arrivals.free.pop() {
            arrivals.living[(place - arrivals.fixed) as usize] = living;
            self.flows[place as usize] = flow;
            place
        } else {
            arrivals.living.push(living);
            self.flows.push(flow);
            self.timers.grow(2 * self.flows.len(), &self.lineage);
            index_u32(self.flows.len() - 1)
        };
        arrivals.directory.insert(id, place);
        if let Some(metrics) = &mut self.metrics {
            let (path, keeps) = self.metrics_places[number as usize];
            metrics.come_back(place, path, keeps);
        }
        self.start(place, key);
    }

    /// A flow has ended if everything is acknowledged: its place is free.
    #[cold]
    #[inline(never)]
    pub(super) fn leave_if_finished(&mut self, place: u32, time: f64) {
        let flow = &mut self.flows[place as usize];
        if !flow.sender.is_finished() {
            return;
        }
        flow.sender.finish(time);
        self.arrivals.directory.remove(flow.id);
        self.arrivals.leave(place, flow, time);
        self.arrivals.free.push(place);
        for slot in [super::sender_timer(place), super::receiver_timer(place)] {
            self.timers.set(slot, Key::NEVER, &self.lineage);
        }
    }

    /// The run is over for those that are there.
    pub(super) fn end_arrivals(&mut self) {
        for place in self.arrivals.fixed..index_u32(self.flows.len()) {
            if self.arrivals.living[(place - self.arrivals.fixed) as usize].alive {
                let flow = &mut self.flows[place as usize];
                flow.sender.finish(self.end);
                self.arrivals.leave(place, flow, self.end);
            }
        }
    }

    /// The tables of flows that arrive; none if none can.
    pub(super) fn arrival_tables(&mut self) -> Vec<Table> {
        if self.arrivals.entries.is_empty() {
            return Vec::new();
        }
        let mut all = Table::new::<ArrivalRow>();
        let mut by_size = Table::new::<CompletionRow>();
        for entry in &self.arrivals.entries {
            let (flow, arrivals) = (&entry.spec.flow, &entry.spec.arrivals);
            let head = (flow.name.as_str(), flow.cc.name, arrivals.rate);
            all.push(entry.summary.row(head, self.end));
            for row in entry.summary.completions(&flow.name) {
                by_size.push(row);
            }
        }
        let transfers = self.arrivals.transfers.take();
        [all, by_size].into_iter().chain(transfers).collect()
    }
}

impl ArrivingFlows<'_> {
    fn leave(&mut self, place: u32, flow: &Flow, time: f64) {
        let living = &mut self.living[(place - self.fixed) as usize];
        living.alive = false;
        let entry = &mut self.entries[living.entry as usize];
        let counters = &flow.sender.counters();
        let departed = Departed {
            arrival: living.arrival,
            at_secs: time,
            delivered_bytes: flow.receiver.delivered_bytes,
            completion_ns: flow
                .sender
                .is_done()
                .then(|| ns(flow.receiver.last_delivery - flow.start)),
            sent_packets: counters.sent_packets,
            retransmits: counters.retransmits,
            timeouts: Some(counters.timeouts),
            congestion_signals: Some(counters.congestion_signals),
        };
        entry.summary.end(&departed);
        if let Some(transfers) = &mut self.transfers {
            transfers.push(departed.row(&entry.spec.flow.name));
        }
    }
}

impl Entry<'_> {
    fn open(&mut self, id: u32, arrival: Arrival, seed: u64) -> Flow {
        let name = format!("{}[{}]/cc", self.spec.flow.name, arrival.number);
        let mut config = Config {
            seed: Stream::new(seed, &name).integer(0, i64::MAX).unsigned_abs(),
            ..self.config
        };
        let [drawn, _] = config.draw_phases(|| clocks(seed, &self.spec.flow.name));
        let share = if config.ns2_tick_phase {
            self.phases.uniform()
        } else {
            drawn
        };
        let phase = share * config.rto.granularity;
        Flow::new(FlowPlan {
            id,
            start: arrival.at_secs,
            sender: Sender::open(config, self.new_cc, &self.spec.flow.cc.params, phase),
            source: source::transfer(arrival.bytes),
            trip: self.trip,
        })
    }
}

/// The places of flows by their numbers: open addressing, at most half full.
#[derive(Debug, Default)]
struct Directory {
    entries: Vec<(u32, u32)>,
    count: usize,
}

/// No flow has this number.
const NOBODY: u32 = u32::MAX;

impl Directory {
    #[inline]
    fn home(&self, id: u32) -> usize {
        // Numbers are given out in turn, so their low bits are as good as any hash.
        id as usize & (self.entries.len() - 1)
    }

    #[inline]
    fn get(&self, id: u32) -> Option<u32> {
        let mask = self.entries.len().checked_sub(1)?;
        let mut at = self.home(id);
        loop {
            match self.entries[at] {
                (found, place) if found == id => return Some(place),
                (NOBODY, _) => return None,
                _ => at = (at + 1) & mask,
            }
        }
    }

    fn insert(&mut self, id: u32, place: u32) {
        self.count += 1;
        if 2 * self.count > self.entries.len() {
            let larger = vec![(NOBODY, 0); (4 * self.count).next_power_of_two()];
            for (id, place) in std::mem::replace(&mut self.entries, larger) {
                if id != NOBODY {
                    self.put(id, place);
                }
            }
        }
        self.put(id, place);
    }

    fn put(&mut self, id: u32, place: u32) {
        let mask = self.entries.len() - 1;
        let mut at = self.home(id);
        while self.entries[at].0 != NOBODY {
            at = (at + 1) & mask;
        }
        self.entries[at] = (id, place);
    }

    fn remove(&mut self, id: u32) {
        let mask = self.entries.len() - 1;
        let mut hole = self.home(id);
        while self.entries[hole].0 != id {
            hole = (hole + 1) & mask;
        }
        // Those behind it that belong at the hole or before move up (Knuth, vol. 3, 6.4, algorithm R).
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let (next, _) = self.entries[at];
            if next == NOBODY {
                break;
            }
            let way = at.wrapping_sub(self.home(next)) & mask;
            if way >= (at.wrapping_sub(hole) & mask) {
                self.entries[hole] = self.entries[at];
                hole = at;
            }
        }
        self.entries[hole] = (NOBODY, 0);
        self.count -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn a_directory_is_a_map(steps in prop::collection::vec((0u32..60, any::<bool>()), 0..300)) {
            let (mut directory, mut model) = (Directory::default(), BTreeMap::new());
            for (at, (id, comes)) in (0u32..).zip(steps) {
                if comes && !model.contains_key(&id) {
                    directory.insert(id, at);
                    model.insert(id, at);
                } else if !comes && model.remove(&id).is_some() {
                    directory.remove(id);
                }
                for id in 0..60 {
                    prop_assert_eq!(directory.get(id), model.get(&id).copied());
                }
                prop_assert_eq!(directory.count, model.len());
            }
        }
    }
}
