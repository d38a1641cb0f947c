//! Handles events: takes the first from the calendar and gives it to the component that it is for.

use super::budget::{events_to_next_look, interrupted, look_at_limits};
use super::calendar::{CalendarSlot, NextEvent, receiver_timer, sender_timer};
use super::carrying::run_leg;
use super::hosts::events::on_host;
use super::receiving::fire_receiver_timer;
use super::settling::settle;
use super::stopped::Stopped;
use super::udp::Udp;
use super::world::World;
use crate::events::{EventKey, Occurrence};
use crate::units::SegCount;

/// Events after which ancestors are kept: so few that what they record hardly ever fills the lineage's ring.
const EVENTS_AT_ONCE: u32 = 1 << 12;

/// The same in a run that forgot what it needed. One event may pass many segments on to where streams meet, and then some thousands do fill it.
const EVENTS_THAT_ARE_REMEMBERED: u32 = 1;

/// Those after which it is looked whether all connections are open.
const EVENTS_OF_OPENING: u32 = 1 << 8;

/// Runs to the end, or until a limit is exceeded, or nobody wants it to go on, or it is known that the run has to begin again with a longer memory.
pub(super) fn run(world: &mut World, goes_on: &dyn Fn() -> bool) -> Result<(), Stopped> {
    let mut left = events_to_next_look(world);
    loop {
        if !goes_on() {
            return Err(interrupted(world));
        }
        let opens = !world.settling.is_over();
        if opens {
            settle(world);
        }
        let most = match (world.calendar.remembers_all(), opens) {
            (true, _) => EVENTS_THAT_ARE_REMEMBERED,
            (false, true) => EVENTS_OF_OPENING,
            (false, false) => EVENTS_AT_ONCE,
        };
        let goes_on = if world.legs.are_laid_out() {
            handle::<true>(world, left.min(most))
        } else {
            handle::<false>(world, left.min(most))
        };
        if !goes_on {
            break;
        }
        world.calendar.keep_ancestors();
        if world.calendar.has_forgotten() {
            break;
        }
        left = left.saturating_sub(most);
        if left == 0 {
            look_at_limits(world, world.calendar.first_time(), SegCount::ZERO)?;
            left = events_to_next_look(world);
        }
    }
    world.stopped.take().map_or(Ok(()), Err)
}

/// Handles so many events, or fewer if the run is over; whether it goes on. `LEGS`: there are legs in this run.
#[inline(never)]
fn handle<const LEGS: bool>(world: &mut World, most: u32) -> bool {
    let mut handled = 0;
    while handled < most {
        handled += 1;
        match world.calendar.next() {
            NextEvent::Over => {
                world.observers.effort.events += u64::from(handled - 1);
                return false;
            }
            NextEvent::Loose(at) => {
                let loose = world.calendar.take_loose(at);
                world.on_rare_packet(loose.packet, loose.key);
            }
            NextEvent::Timer { slot } => on_timer(world, slot),
            NextEvent::Packet { slot, key } => match world.calendar.slot(slot) {
                CalendarSlot::Channel(channel) => {
                    handled += empty_channel::<LEGS>(world, channel, slot, most - handled);
                }
                CalendarSlot::TransmitterFree(port) => {
                    let (time, line) = key.parts();
                    world.on_transmitter_free(port, time, line);
                }
                CalendarSlot::Arrival(entry) => {
                    on_arrival(world, entry, key);
                    let next = world.arrivals.next_key(entry);
                    world.calendar.set(slot, next);
                }
                CalendarSlot::Departures(index) => {
                    let next = send_udp(world, index as usize, key);
                    world.calendar.set(slot, next);
                }
                CalendarSlot::Host(host, part) => on_host(world, host, part, key),
                CalendarSlot::Fluid => step_fluid(world, slot),
            },
        }
    }
    world.observers.effort.events += u64::from(handled);
    true
}

/// The first packet of a channel has its event, and after it those whose events come before all others, at most so many; how many these are.
///
/// Where all packets go the general way, it is code in place; beside legs it is a call.
#[inline(always)]
fn empty_channel<const LEGS: bool>(world: &mut World, channel: u32, slot: u32, most: u32) -> u32 {
    world.calendar.hold(slot);
    let mut more = 0;
    let mut first = world.calendar.take_held(channel);
    loop {
        let (key, packet) = first;
        if !LEGS {
            world.on_packet(packet, key);
        } else if !run_leg(world, &packet, key) {
            world.on_rare_packet(packet, key);
        }
        match world.calendar.take_next(channel, more < most) {
            Ok(next) => first = next,
            Err(key) => {
                world.calendar.set(slot, key);
                return more;
            }
        }
        more += 1;
    }
}

/// A slot of the timers is due; it may lag behind a timer that has been stopped or restarted.
fn on_timer(world: &mut World, slot: u32) {
    let key = world.calendar.timer(slot);
    let index = slot / 2;
    let of_sender = slot == sender_timer(index);
    if of_sender && !world.flows[index as usize].started {
        world.start(index, key);
    } else if timer_of(world, slot) == key {
        if of_sender {
            world.fire_sender_timer(index, Occurrence::HAPPENING);
        } else {
            fire_receiver_timer(world, index);
        }
    }
    // The slot keeps its old key until here, so it is replaced once; nothing is earlier than that key.
    let next = timer_of(world, slot);
    world.calendar.set_timer(slot, next);
}

/// When what a slot of the timers stands for is due.
fn timer_of(world: &World, slot: u32) -> EventKey {
    let flow = &world.flows[(slot / 2) as usize];
    if slot == receiver_timer(slot / 2) {
        flow.receiver.next_timer()
    } else {
        flow.next_timer()
    }
}

/// The next flow of an entry arrives.
#[inline(never)]
fn on_arrival(world: &mut World, entry: u32, key: EventKey) {
    let place = world.arrivals.arrive(entry, &mut world.flows);
    world.calendar.make_room(world.flows.len());
    world.metrics.take_place(place, entry);
    world.start(place, key);
}

/// The next step of what is a fluid.
#[cold]
#[inline(never)]
fn step_fluid(world: &mut World, slot: u32) {
    let next = (world.fluid).step(&mut world.topology.ports, &mut world.observers);
    world.calendar.set(slot, next);
}

/// The next packets of a flow of UDP leave, the first of them with `key`; when it goes on.
fn send_udp(world: &mut World, index: usize, mut key: EventKey) -> EventKey {
    let ahead = if world.scenario.shortcuts.computed_hops {
        Udp::AHEAD
    } else {
        1
    };
    for _ in 0..ahead {
        let packet = world.udp[index].leave(key);
        if let Some(channel) = world.topology.stop(packet.hop).channel {
            world.calendar.wait(channel, packet, key);
        } else {
            world.pass(packet, key);
        }
        key = world.udp[index].key();
        if world.calendar.is_over(key) {
            break;
        }
    }
    key
}
