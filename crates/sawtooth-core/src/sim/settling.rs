//! Ends the events of [merges](super::merges) once all connections are open.

use super::world::World;

/// If all connections are open, packets pass the merges at once from now on, and those that wait there go first.
pub(super) fn settle(world: &mut World) {
    while let Some(flow) = world.settling.opening.last() {
        match world.flows[*flow as usize].sender.opened_with_one_syn() {
            None => return,
            // A SYN may still be on its way.
            Some(false) => return world.settling.channels.clear(),
            Some(true) => world.settling.opening.pop(),
        };
    }
    if world.calendar.has_loose() {
        return;
    }
    let channels = std::mem::take(&mut world.settling.channels);
    // In the order in which they come there, whichever channel each waits in: a port sends what passes it first.
    while let Some((packet, key)) = world.calendar.take_first(&channels) {
        world.pass(packet, key);
    }
    world.topology.pass_at_once(&channels);
    world.legs.lay_out(&world.topology, &world.flows);
}
