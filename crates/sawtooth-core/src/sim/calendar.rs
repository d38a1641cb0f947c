//! What is going to happen in a run: the events that are pending, and the packets that wait for theirs.
//!
//! Every component that can have an event has a slot in one of two queues. Senders and receivers have timers, which are rarely due; ports, channels, entries of
//! flows that arrive, flows of UDP and parts of hosts have a slot among the packets. Whoever handles an event knows what its slot stands for.
//!
//! **Order.** The first event is the one whose [key](crate::events::EventKey) precedes all others. Where nothing tells keys apart, the lower slot goes first, a packet before a timer,
//! and a packet that is a loose event before a timer.

use super::channel::{Channel, Loose, LooseEvents, TieRank};
use super::index::index_u32;
use crate::events::{Event, EventKey, EventQueue, Line, Lineage};
use crate::packet::Packet;
use crate::units::{Duration, Instant};

/// What a slot of the queue of packets stands for. The order of slots is the order of events whose keys agree.
#[derive(Clone, Copy, Debug)]
pub(super) enum CalendarSlot {
    /// A port's transmitter is free, or what waits there may leave.
    TransmitterFree(u32),
    Channel(u32),
    /// The next flow of an entry arrives.
    Arrival(u32),
    /// The next packets of a flow of UDP leave.
    Departures(u32),
    /// Something happens within a host.
    Host(u32, HostPart),
    /// The next step of what is a fluid.
    Fluid,
}

/// A part of a host that has events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostPart {
    Processor,
    Transmitter,
    TransmitInterrupt,
    ReceiveInterrupt,
}

impl HostPart {
    pub(super) const ALL: [Self; 4] = [
        Self::Processor,
        Self::Transmitter,
        Self::TransmitInterrupt,
        Self::ReceiveInterrupt,
    ];
}

/// The components of a run that have slots.
pub(super) struct Components<'a> {
    /// Of each port, whether its transmissions take events.
    pub evented_ports: &'a [bool],
    /// Of each channel, whether packets come to it in order, or nearly so.
    pub in_order: &'a [bool],
    /// Of each stop, the number of what feeds it.
    pub ranks: Vec<u32>,
    /// Whether packets in order wait in a ring.
    pub rings: bool,
    pub arriving: u32,
    pub udp: u32,
    /// Whether flows are a fluid.
    pub fluid: bool,
    pub hosts: u32,
    /// Flows that are there from the start.
    pub flows: usize,
    /// For how long what has happened is remembered.
    pub memory: Duration,
}

/// The event that comes first.
pub(super) enum NextEvent {
    /// None before the end.
    Over,
    Timer {
        slot: u32,
    },
    Packet {
        slot: u32,
        key: EventKey,
    },
    /// A packet with its own event: its index in the first group of [`LooseEvents`].
    Loose(usize),
}

#[derive(Debug)]
pub(super) struct Calendar {
    /// Nothing happens from then on.
    pub(super) end: Instant,
    pub(super) lineage: Lineage,
    /// Packets about to reach a meeting point and transmissions about to end.
    packets: EventQueue,
    /// Sender and receiver timers; rarely due, so they are kept apart.
    timers: EventQueue,
    slots: Vec<CalendarSlot>,
    /// The slot of each port whose transmissions take events.
    port_slots: Vec<u32>,
    /// Where the slots of hosts' parts begin.
    first_host_slot: u32,
    channels: Vec<Channel>,
    /// Per stop: the rank of its feeder among the feeders of stops with events. It breaks ties between packets of one channel: the lower goes first.
    ranks: Vec<u32>,
    loose: LooseEvents,
    /// While a slot is [held](Calendar::hold): no other event is before this time, and none after the end counts.
    others: Instant,
}

impl Calendar {
    /// Packets of a channel that one may come before and still be sorted in. Exact with any number; where more are passed often, a search tree is faster.
    const PASSED_AT_MOST: usize = 64;

    pub(super) fn new(end: Instant, components: Components) -> Self {
        let mut slots = Vec::new();
        let next = |slots: &Vec<CalendarSlot>| index_u32(slots.len());
        let mut port_slots = vec![u32::MAX; components.evented_ports.len()];
        for (port, _) in (0..)
            .zip(components.evented_ports)
            .filter(|(_, evented)| **evented)
        {
            port_slots[port as usize] = next(&slots);
            slots.push(CalendarSlot::TransmitterFree(port));
        }
        let mut channels = Vec::with_capacity(components.in_order.len());
        for (channel, in_order) in (0..).zip(components.in_order) {
            let loose = !(*in_order && components.rings);
            channels.push(Channel::new(next(&slots), loose));
            slots.push(CalendarSlot::Channel(channel));
        }
        slots.extend((0..components.arriving).map(CalendarSlot::Arrival));
        slots.extend((0..components.udp).map(CalendarSlot::Departures));
        let first_host_slot = next(&slots);
        for host in 0..components.hosts {
            slots.extend(HostPart::ALL.map(|part| CalendarSlot::Host(host, part)));
        }
        slots.extend(components.fluid.then_some(CalendarSlot::Fluid));
        Self {
            end,
            lineage: Lineage::that_remembers(components.memory),
            packets: EventQueue::new(slots.len()),
            timers: EventQueue::new(2 * components.flows),
            slots,
            port_slots,
            first_host_slot,
            ranks: components.ranks,
            channels,
            loose: LooseEvents::default(),
            others: Instant::LONG_AGO,
        }
    }

    /// The run is over: nothing of it is kept but what the next one can use.
    pub(super) fn leave(self) {
        self.lineage.leave();
    }

    /// Lays down what is known before the run: when each flow starts, and what the slots among the packets have.
    pub(super) fn lay_down(
        &mut self,
        starts: impl Iterator<Item = Instant>,
        first: impl Fn(CalendarSlot) -> EventKey,
    ) {
        for (flow, start) in (0..).zip(starts) {
            self.set_timer(sender_timer(flow), EventKey::at_start(start, flow));
        }
        for at in 0..self.slots.len() {
            let key = first(self.slots[at]);
            if !key.is_never() {
                self.set(index_u32(at), key);
            }
        }
    }

    /// What happens next.
    #[inline(always)]
    pub(super) fn next(&self) -> NextEvent {
        let timer_first =
            self.timers.first_time() <= self.packets.first_time() && self.timer_precedes_packets();
        if !self.loose.is_empty()
            && let Some(at) = self.loose_before(timer_first)
        {
            return NextEvent::Loose(at);
        }
        let queue = self.queue(timer_first);
        let slot = queue.first();
        let key = queue.get(slot);
        if self.is_over(key) {
            NextEvent::Over
        } else if timer_first {
            NextEvent::Timer { slot }
        } else {
            NextEvent::Packet { slot, key }
        }
    }

    /// The queue of timers, or that of packets.
    #[inline(always)]
    fn queue(&self, of_timers: bool) -> &EventQueue {
        if of_timers {
            &self.timers
        } else {
            &self.packets
        }
    }

    /// Whether the first timer is due before the first packet; at a full tie the packet goes first.
    fn timer_precedes_packets(&self) -> bool {
        let (timer, packet) = (self.timers.first(), self.packets.first());
        let (timer, packet) = (self.timers.get(timer), self.packets.get(packet));
        timer.precedes(&packet, &self.lineage, false)
    }

    /// The first of the loose events, if it comes before all others and before the end.
    fn loose_before(&self, timer_first: bool) -> Option<usize> {
        let queue = self.queue(timer_first);
        let (at, first) = self.loose.first(&self.lineage)?;
        let slot = queue.first();
        let ties = timer_first || first.tie_rank < self.tie_rank(slot);
        let goes_first = (first.key).precedes(&queue.get(slot), &self.lineage, ties);
        (goes_first && !self.is_over(first.key)).then_some(at)
    }

    /// The time of the first event that is not a loose one.
    pub(super) fn first_time(&self) -> Instant {
        self.packets.first_time().min(self.timers.first_time())
    }

    /// What a slot stands for.
    #[inline]
    pub(super) fn slot(&self, slot: u32) -> CalendarSlot {
        self.slots[slot as usize]
    }

    #[inline]
    pub(super) fn get(&self, slot: u32) -> EventKey {
        self.packets.get(slot)
    }

    /// Replaces the event of a slot.
    #[inline(always)]
    pub(super) fn set(&mut self, slot: u32, key: EventKey) {
        self.packets.set(slot, key, &self.lineage);
        self.others = self.others.min(key.time);
    }

    /// Replaces the event of a port's transmitter.
    #[inline]
    pub(super) fn set_transmitter(&mut self, port: u32, key: EventKey) {
        self.set(self.port_slots[port as usize], key);
    }

    /// The slot of a host's part.
    pub(super) fn host_slot(&self, host: u32, part: HostPart) -> u32 {
        self.first_host_slot + index_u32(HostPart::ALL.len()) * host + part as u32
    }

    // --- packets that wait ----------------------------------------------------------------------------------------------

    /// A packet waits for its event.
    #[inline(always)]
    pub(super) fn wait(&mut self, channel: u32, packet: Packet, key: EventKey) {
        let waiting = &mut self.channels[channel as usize];
        if waiting.packets.is_empty() {
            if waiting.loose {
                let (time, line) = key.parts();
                return self.wait_loose(channel, &packet.clone(), time, line);
            }
            self.packets.set(waiting.slot, key, &self.lineage);
            self.others = self.others.min(key.time);
        } else if waiting.latest >= key.time && !waiting.ends_like(&packet, &key) {
            let (time, line) = key.parts();
            return self.wait_before(channel, &packet.clone(), time, line);
        }
        waiting.latest = key.time;
        let slot = waiting.packets.push_slot();
        slot.0 = key;
        slot.1 = packet;
    }

    /// A packet comes to a channel before one that waits there, or at the same time.
    #[cold]
    #[inline(never)]
    fn wait_before(&mut self, channel: u32, packet: &Packet, time: Instant, line: Line) {
        let key = EventKey::from_parts(time, line);
        let rank = self.rank(packet);
        let Channel { slot, packets, .. } = &mut self.channels[channel as usize];
        let ranks = &self.ranks;
        let passed = packets.insert((key, *packet), Self::PASSED_AT_MOST, |(other, waiting)| {
            let ties = rank < ranks[waiting.hop as usize];
            key.precedes(other, &self.lineage, ties)
        });
        match passed {
            None => self.wait_loose(channel, packet, time, line),
            Some(passed) if passed + 1 == packets.len() => {
                self.packets.set(*slot, key, &self.lineage);
                self.others = self.others.min(key.time);
            }
            Some(_) => {}
        }
    }

    /// A packet waits for an event of its own.
    #[cold]
    #[inline(never)]
    fn wait_loose(&mut self, channel: u32, packet: &Packet, time: Instant, line: Line) {
        self.others = Instant::LONG_AGO;
        self.loose.push(Loose {
            key: EventKey::from_parts(time, line),
            tie_rank: TieRank {
                slot: self.channels[channel as usize].slot,
                feeder: self.rank(packet),
            },
            packet: *packet,
        });
    }

    fn rank(&self, packet: &Packet) -> u32 {
        self.ranks[packet.hop as usize]
    }

    /// The rank of a slot of the packets: of a channel's, with that of its first packet's feeder.
    fn tie_rank(&self, slot: u32) -> TieRank {
        let feeder = match self.slots[slot as usize] {
            CalendarSlot::Channel(channel) => {
                let first = self.channels[channel as usize].packets.front();
                first.map_or(0, |(_, packet)| self.rank(packet))
            }
            _ => 0,
        };
        TieRank { slot, feeder }
    }

    /// The event of a slot is being handled, and what comes after it in its place is not known yet: [`Calendar::set`] says it.
    #[inline]
    pub(super) fn hold(&mut self, slot: u32) {
        let packets = self.packets.first_time_besides(slot);
        self.others = match packets {
            Some(packets) if self.loose.is_empty() => {
                packets.min(self.timers.first_time()).min(self.end)
            }
            _ => Instant::LONG_AGO,
        };
    }

    /// The first packet of a channel whose slot is held.
    #[inline(always)]
    pub(super) fn take_held(&mut self, channel: u32) -> (EventKey, Packet) {
        let waiting = &mut self.channels[channel as usize].packets;
        let &(key, packet) = waiting.front().expect("a pending channel has a packet");
        waiting.pop();
        (key, packet)
    }

    /// The next one, if it may come and its event is before all others and before the end, for sure; or else what is pending in the channel's slot.
    #[inline(always)]
    pub(super) fn take_next(
        &mut self,
        channel: u32,
        may_come: bool,
    ) -> Result<(EventKey, Packet), EventKey> {
        let waiting = &mut self.channels[channel as usize].packets;
        let Some(&(key, packet)) = waiting.front() else {
            return Err(EventKey::NEVER);
        };
        // In parts it stays in registers.
        let (time, line) = key.parts();
        if !(time < self.others && may_come) {
            return Err(key);
        }
        waiting.pop();
        Ok((EventKey::from_parts(time, line), packet))
    }

    /// The first packet of all that wait in some channels, and its key; of those whose keys agree, of the first channel.
    pub(super) fn take_first(&mut self, channels: &[u32]) -> Option<(Packet, EventKey)> {
        let front = |channel: &u32| {
            let (key, _) = self.channels[*channel as usize].packets.front()?;
            Some((*key, *channel))
        };
        let earlier = |first: (EventKey, u32), next: (EventKey, u32)| {
            let before = self.precedes(next.0, first.0);
            if before { next } else { first }
        };
        let (_, channel) = channels.iter().filter_map(front).reduce(earlier)?;
        let (key, packet) = self.take_held(channel);
        let Channel {
            slot, ref packets, ..
        } = self.channels[channel as usize];
        let next = packets.front().map_or(EventKey::NEVER, |(key, _)| *key);
        self.set(slot, next);
        Some((packet, key))
    }

    /// Whether packets have events of their own.
    pub(super) fn has_loose(&self) -> bool {
        !self.loose.is_empty()
    }

    pub(super) fn take_loose(&mut self, at: usize) -> Loose {
        self.loose.remove(at)
    }

    /// Places where packets may wait in order.
    pub(super) fn channels(&self) -> usize {
        self.channels.len()
    }

    /// Packets that wait.
    pub(super) fn waiting(&self) -> usize {
        let in_order = self.channels.iter().map(|channel| channel.packets.len());
        in_order.sum::<usize>() + self.loose.len()
    }

    // --- timers ---------------------------------------------------------------------------------------------------------

    #[inline]
    pub(super) fn timer(&self, slot: u32) -> EventKey {
        self.timers.get(slot)
    }

    #[inline(always)]
    pub(super) fn set_timer(&mut self, slot: u32, key: EventKey) {
        self.timers.set(slot, key, &self.lineage);
        self.others = self.others.min(key.time);
    }

    /// Makes sure that a timer is looked at in its turn when it expires. One that is set to later is left where it is: when it comes up
    /// it is moved.
    #[inline]
    pub(super) fn schedule_timer(&mut self, slot: u32, timer: EventKey) {
        if self.timers.bring_forward(slot, timer, &self.lineage) {
            self.others = self.others.min(timer.time);
        }
    }

    /// A flow has no timers any more.
    pub(super) fn clear_timers(&mut self, flow: u32) {
        for slot in [sender_timer(flow), receiver_timer(flow)] {
            self.set_timer(slot, EventKey::NEVER);
        }
    }

    /// Makes room for the timers of so many flows.
    pub(super) fn make_room(&mut self, flows: usize) {
        self.timers.grow(2 * flows, &self.lineage);
    }

    // --- order ----------------------------------------------------------------------------------------------------------

    /// What has happened is kept for as long as it may be asked for; to be called every so many events.
    pub(super) fn keep_ancestors(&mut self) {
        self.lineage.archive(self.first_time());
    }

    /// The run is one that remembers everything that there is room for.
    pub(super) fn remember_all(&mut self) {
        self.lineage.remember_all();
    }

    pub(super) fn remembers_all(&self) -> bool {
        self.lineage.remembers_all()
    }

    /// Whether an order of two events was left open that a longer memory may tell.
    pub(super) fn has_forgotten(&self) -> bool {
        self.lineage.has_forgotten()
    }

    /// Records the event whose turn it is.
    #[inline(always)]
    pub(super) fn happen(&mut self, key: EventKey) -> Event {
        self.lineage.happen(key)
    }

    /// Records an event that is computed out of its turn.
    #[inline(always)]
    pub(super) fn record(&mut self, key: EventKey) -> Event {
        self.lineage.record(key)
    }

    /// Whether one event comes before another; not if nothing tells them apart.
    #[inline(always)]
    pub(super) fn precedes(&self, one: EventKey, other: EventKey) -> bool {
        one.precedes(&other, &self.lineage, false)
    }

    /// Whether an event would be at the end or after it, so that it does not happen.
    #[inline(always)]
    pub(super) fn is_over(&self, key: EventKey) -> bool {
        key.time >= self.end
    }

    /// Nothing happens any more.
    pub(super) fn stop(&mut self) {
        self.end = Instant::LONG_AGO;
        self.others = Instant::LONG_AGO;
    }
}

/// The slot of a flow's retransmission timer; before its start, of the start.
pub(super) fn sender_timer(flow: u32) -> u32 {
    2 * flow
}

/// The slot of a flow's delayed-acknowledgement timer.
pub(super) fn receiver_timer(flow: u32) -> u32 {
    2 * flow + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Packet;
    use crate::units::testing::at;
    use crate::units::testing::bytes;

    /// A port with events, a channel, an entry of flows that arrive, a flow of UDP and a host, in slots 0, 1, 2, 3 and 4 to 7.
    fn calendar(in_order: bool) -> Calendar {
        let components = Components {
            evented_ports: &[false, true],
            in_order: &[in_order],
            // Of a stop the later the lower, so that hops and ranks cannot be mistaken for each other.
            ranks: (0..200).rev().collect(),
            rings: true,
            arriving: 1,
            udp: 1,
            fluid: false,
            hosts: 1,
            flows: 2,
            memory: Duration::ZERO,
        };
        Calendar::new(Instant::from_secs(10.0), components)
    }

    fn key(secs: f64) -> EventKey {
        EventKey::at_start(at(secs), 0)
    }

    fn packet(hop: u32) -> Packet {
        let mut packet = Packet::default();
        packet.hop = hop;
        packet
    }

    /// Takes the first event off: the slot of a packet or, counted from 100 on, of a timer; 200 for a loose event.
    fn take(calendar: &mut Calendar) -> Option<u32> {
        match calendar.next() {
            NextEvent::Over => None,
            NextEvent::Timer { slot } => {
                calendar.set_timer(slot, EventKey::NEVER);
                Some(100 + slot)
            }
            NextEvent::Packet { slot, .. } => {
                calendar.set(slot, EventKey::NEVER);
                Some(slot)
            }
            NextEvent::Loose(at) => {
                calendar.take_loose(at);
                Some(200)
            }
        }
    }

    #[test]
    fn slots_are_those_of_ports_with_events_then_channels_arrivals_departures_and_hosts() {
        let calendar = calendar(true);
        assert!(matches!(calendar.slot(0), CalendarSlot::TransmitterFree(1)));
        assert!(matches!(calendar.slot(1), CalendarSlot::Channel(0)));
        assert!(matches!(calendar.slot(2), CalendarSlot::Arrival(0)));
        assert!(matches!(calendar.slot(3), CalendarSlot::Departures(0)));
        for part in HostPart::ALL {
            let slot = calendar.host_slot(0, part);
            assert!(matches!(calendar.slot(slot), CalendarSlot::Host(0, found) if found == part));
        }
    }

    #[test]
    fn the_earliest_event_comes_first_wherever_it_is() {
        let mut calendar = calendar(false);
        calendar.set_transmitter(1, key(4.0));
        calendar.set_timer(sender_timer(1), key(2.0));
        calendar.set_timer(receiver_timer(1), key(5.0));
        calendar.set(2, key(3.0));
        calendar.wait(0, packet(0), key(1.0));
        let taken: Vec<_> = std::iter::from_fn(|| take(&mut calendar)).collect();
        assert_eq!(taken, [200, 102, 2, 0, 103]);
    }

    #[test]
    fn of_events_whose_keys_agree_the_lower_slot_goes_first_and_timers_last() {
        let mut calendar = calendar(true);
        calendar.set_timer(receiver_timer(0), key(1.0));
        calendar.set_timer(sender_timer(0), key(1.0));
        for slot in [3, 0, 2] {
            calendar.set(slot, key(1.0));
        }
        let taken: Vec<_> = std::iter::from_fn(|| take(&mut calendar)).collect();
        assert_eq!(taken, [0, 2, 3, 100, 101]);
    }

    #[test]
    fn a_loose_event_has_the_rank_of_its_slot_and_is_before_timers() {
        let mut calendar = calendar(false);
        calendar.set_timer(sender_timer(0), key(1.0));
        for slot in [0, 2] {
            calendar.set(slot, key(1.0));
        }
        calendar.wait(0, packet(0), key(1.0));
        let taken: Vec<_> = std::iter::from_fn(|| take(&mut calendar)).collect();
        assert_eq!(taken, [0, 200, 2, 100]);
        calendar.set_timer(sender_timer(0), key(2.0));
        calendar.wait(0, packet(0), key(2.0));
        let taken: Vec<_> = std::iter::from_fn(|| take(&mut calendar)).collect();
        assert_eq!(taken, [200, 100]);
    }

    #[test]
    fn loose_events_of_one_time_are_in_the_order_of_their_keys() {
        let mut calendar = calendar(false);
        for (hop, order) in [(0, 7), (1, 5), (2, 6)] {
            calendar.wait(0, packet(hop), EventKey::at_start(at(1.0), order));
        }
        let hops = std::iter::from_fn(|| match calendar.next() {
            NextEvent::Loose(at) => Some(calendar.take_loose(at).packet.hop),
            _ => None,
        });
        assert_eq!(hops.collect::<Vec<_>>(), [1, 2, 0]);
    }

    /// What passes through a channel, as hops.
    fn drain(calendar: &mut Calendar) -> Vec<u32> {
        let next = || match calendar.next() {
            NextEvent::Packet { .. } => calendar.take_first(&[0]).map(|(packet, _)| packet.hop),
            NextEvent::Loose(at) => Some(calendar.take_loose(at).packet.hop),
            _ => None,
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn a_packet_that_comes_before_others_of_its_channel_is_sorted_in() {
        let mut calendar = calendar(true);
        for (hop, time) in [(3, 3.0), (5, 5.0), (4, 4.0), (1, 1.0), (2, 2.0), (6, 6.0)] {
            calendar.wait(0, packet(hop), key(time));
        }
        assert!(calendar.loose.is_empty());
        assert_eq!(drain(&mut calendar), [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn of_packets_of_a_channel_whose_keys_agree_that_of_the_lower_rank_goes_first_and_of_one_rank_the_first_to_come()
     {
        for order in [[7, 8, 9, 8], [9, 8, 8, 7], [8, 9, 7, 8]] {
            let mut calendar = calendar(true);
            for (size, hop) in (0..).zip(order) {
                let mut packet = packet(hop);
                packet.add_options(bytes(size));
                calendar.wait(0, packet, key(1.0 + f64::from(hop / 100)));
            }
            let waiting = calendar.channels[0].packets.iter();
            let found: Vec<_> = waiting
                .map(|(_, packet)| (packet.hop, packet.size()))
                .collect();
            assert_eq!(
                found.iter().map(|(hop, _)| *hop).collect::<Vec<_>>(),
                [9, 8, 8, 7]
            );
            assert!(found[1].1 < found[2].1);
        }
    }

    #[test]
    fn what_comes_before_too_many_is_a_loose_event_in_the_same_order() {
        let mut calendar = calendar(true);
        let many = u32::try_from(2 * Calendar::PASSED_AT_MOST).expect("a few");
        for hop in 1..=many {
            calendar.wait(0, packet(hop), key(f64::from(hop) / 100.0));
        }
        calendar.wait(0, packet(0), key(0.005));
        calendar.wait(
            0,
            packet(many + 1),
            key(f64::from(many - 1) / 100.0 + 0.005),
        );
        assert_eq!(calendar.loose.len(), 1);
        let mut expected: Vec<u32> = (0..many).collect();
        expected.extend([many + 1, many]);
        assert_eq!(drain(&mut calendar), expected);
    }

    #[test]
    fn packets_of_a_channel_wait_for_one_event_after_the_other() {
        let mut calendar = calendar(true);
        for (hop, time) in [(5, 1.0), (6, 1.5), (7, 3.0)] {
            calendar.wait(0, packet(hop), key(time));
        }
        assert_eq!(calendar.waiting(), 3);
        for (hop, time) in [(5, 1.0), (6, 1.5), (7, 3.0)] {
            assert!(
                matches!(calendar.next(), NextEvent::Packet { slot: 1, key } if key.time == at(time))
            );
            assert!(
                calendar
                    .take_first(&[0])
                    .is_some_and(|(packet, _)| packet.hop == hop)
            );
        }
        assert!(matches!(calendar.next(), NextEvent::Over));
    }

    #[test]
    fn of_several_channels_the_packet_that_comes_first_is_taken_first() {
        let components = Components {
            evented_ports: &[],
            in_order: &[true, true],
            ranks: vec![0; 200],
            rings: true,
            arriving: 0,
            udp: 0,
            fluid: false,
            hosts: 0,
            flows: 1,
            memory: Duration::ZERO,
        };
        let mut calendar = Calendar::new(Instant::from_secs(10.0), components);
        for (channel, hop, time) in [(0, 1, 1.0), (0, 3, 3.0), (1, 2, 2.0), (1, 4, 4.0)] {
            calendar.wait(channel, packet(hop), key(time));
        }
        let found: Vec<_> =
            std::iter::from_fn(|| calendar.take_first(&[0, 1]).map(|(packet, _)| packet.hop))
                .collect();
        assert_eq!(found, [1, 2, 3, 4]);
    }

    #[test]
    fn nothing_happens_at_the_end_nor_after_it() {
        let mut calendar = calendar(false);
        calendar.set(2, key(10.0));
        calendar.set_timer(sender_timer(0), key(11.0));
        calendar.wait(0, packet(0), key(10.0));
        assert!(matches!(calendar.next(), NextEvent::Over));
        calendar.set(2, key(9.0));
        assert!(matches!(calendar.next(), NextEvent::Packet { slot: 2, .. }));
        calendar.stop();
        assert!(matches!(calendar.next(), NextEvent::Over));
    }

    #[test]
    fn a_timer_is_only_brought_forward() {
        let mut calendar = calendar(true);
        calendar.schedule_timer(sender_timer(0), key(3.0));
        calendar.schedule_timer(sender_timer(0), key(4.0));
        assert!(calendar.timer(sender_timer(0)) == key(3.0));
        calendar.schedule_timer(sender_timer(0), key(2.0));
        assert!(calendar.timer(sender_timer(0)) == key(2.0));
        calendar.clear_timers(0);
        assert!(matches!(calendar.next(), NextEvent::Over));
    }
}
