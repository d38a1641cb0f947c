//! One running simulation: assembles a [`Scenario`], runs it, returns [`Records`].
//!
//! **Model.** A flow's round trip is a list of stops: the forward ports, the receiver, the reverse ports in opposite order, the
//! sender. A packet moves from stop to stop; a port gives the time at which it arrives at the next one.
//!
//! **Parts.** A run is a [`World`](world::World), which owns its parts: the [calendar](calendar), the [topology](topology), the connections ([`flow`], [`arrivals`], [`request_response`],
//! [`hosts`], [`udp`]) and the [observers](observe). What happens to several parts at once is above them: [`dispatch`] tells whom an event is for, [`travel`] moves a packet,
//! [`sending`] and [`receiving`] serve the ends of a connection.
//!
//! **Speed.** Events are only needed where streams of packets meet, because only there does the order between components
//! matter. Three shortcuts, each exact and each with a switch in [`Shortcuts`](crate::spec::Shortcuts):
//! - `no_tx_event`: a drop-tail port computes departures at arrival (see [`crate::net::Port`]).
//! - `computed_hops`: a stop that is fed by one in-order stream is passed at once, ahead of time: its state depends on nothing
//!   else. So access links, receivers and senders need no events of their own, nor does a place where streams meet in a known order ([`merges`]).
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

mod ack_sizes;
mod arrivals;
mod budget;
mod calendar;
mod carrying;
mod channel;
mod directory;
mod dispatch;
mod flow;
mod fluid;
mod hosts;
mod index;
mod legs;
mod merges;
mod metrics;
mod observe;
mod of_places;
mod receiving;
mod request_response;
mod routes;
mod sending;
mod settling;
mod steady;
mod stopped;
mod stops;
mod tables;
mod taps;
mod topology;
mod travel;
mod udp;
mod world;
mod writes;

use self::dispatch::run;
pub use self::stopped::Stopped;
use self::tables::into_records;
use self::taps::Listener;
pub use self::taps::{
    ByteRange, HeardStamp, SeenAck, SeenContent, SeenData, SeenDeparture, SeenPacket, SeenSegment,
    Tap, TapPoint, WireEvent,
};
use self::world::{World, assemble, assemble_with};
use crate::record::{Effort, Records};
use crate::spec::{Scenario, Shortcuts};

/// What `scenario` measured and what that cost, unless it takes more than the scenario's limits. It is one that [`Scenario::check`] accepts, as what was read is.
///
/// A run is repeated in which two events came at one instant, of links that have kept step for longer than what happened is remembered: then everything is, as far
/// as memory goes. That is rare, and a short memory is faster.
pub fn simulate_within_limits(
    scenario: &Scenario,
    seed: u64,
) -> Result<(Records, Effort), Stopped> {
    simulate_while(scenario, seed, &|| true)
}

/// The same while `goes_on` says so, which is asked every some thousand events.
pub fn simulate_while(
    scenario: &Scenario,
    seed: u64,
    goes_on: &dyn Fn() -> bool,
) -> Result<(Records, Effort), Stopped> {
    let mut world = assemble(scenario, seed);
    run(&mut world, goes_on)?;
    if world.calendar.has_forgotten() {
        world = assemble(scenario, seed);
        world.calendar.remember_all();
        run(&mut world, goes_on)?;
    }
    Ok(measured(world))
}

/// The same while `tap` listens at points. It is told if the run begins anew.
pub fn simulate_tapped(
    scenario: &Scenario,
    seed: u64,
    goes_on: &dyn Fn() -> bool,
    points: &[TapPoint],
    tap: &mut dyn Tap,
) -> Result<(Records, Effort), Stopped> {
    let mut scenario = scenario.clone();
    scenario.shortcuts = Shortcuts {
        ring: scenario.shortcuts.ring,
        ..Shortcuts::all(false)
    };
    for remembers_all in [false, true] {
        let listener = Some(Listener {
            tap: &mut *tap,
            points,
        });
        let mut world = assemble_with(&scenario, seed, listener);
        if remembers_all {
            world.calendar.remember_all();
        }
        run(&mut world, goes_on)?;
        if !world.calendar.has_forgotten() {
            return Ok(measured(world));
        }
    }
    unreachable!("what remembers all forgets nothing")
}

fn measured(world: World) -> (Records, Effort) {
    let effort = Effort {
        flow_places: world.flows.len() as u64,
        ..world.observers.effort
    };
    (into_records(world), effort)
}
