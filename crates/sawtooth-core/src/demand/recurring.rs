//! Periodic events: what recurs after a fixed time, whatever else happens.

use crate::impair::Changes;
use crate::registry::Params;
use crate::spec::{LinkDirection, OfAlike, Scenario, UdpSpec};
use crate::units::Duration;
use crate::{packet_source, queue, tcp};

/// Something that recurs: whose it is, and how often it happens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Recurring {
    pub timer: RecurringTimer,
    pub times: f64,
}

/// Which of a scenario's items has it, by number, and what sets its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecurringTimer {
    Link {
        link: usize,
        is_reverse: bool,
        key: LinkTimer,
    },
    /// A parameter of TCP.
    Connection { flow: usize, key: &'static str },
    /// A parameter of a source of UDP.
    Source { flow: usize, key: &'static str },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkTimer {
    /// A parameter of the queue.
    Queue(&'static str),
    Walk,
    Changes,
    /// By number.
    Outage(usize),
}

/// Everything that recurs.
pub(crate) fn all(scenario: &Scenario) -> impl Iterator<Item = Recurring> {
    let duration = scenario.duration;
    let links = scenario.links.iter().enumerate();
    let of_links = links.flat_map(move |(link, spec)| {
        let forward = at_direction(&spec.forward, duration);
        let reverse = at_direction(&spec.reverse, duration);
        let ways = [(false, forward), (true, reverse)].into_iter();
        ways.flat_map(move |(is_reverse, found)| {
            found.into_iter().map(move |(key, times)| Recurring {
                timer: RecurringTimer::Link {
                    link,
                    is_reverse,
                    key,
                },
                times,
            })
        })
    });
    let flows = scenario.flows.iter().enumerate();
    let mut alike = OfAlike::new();
    let of_flows = flows.flat_map(move |(flow, spec)| {
        let periods = alike.of(spec, || spec.tcp.periods(tcp::PARAMS).collect::<Vec<_>>());
        periods.into_iter().map(move |(key, every)| Recurring {
            timer: RecurringTimer::Connection { flow, key },
            times: duration / Duration::from_secs(every),
        })
    });
    of_links.chain(of_flows).chain(noise(scenario))
}

/// Periods of traffic that are drawn besides packets.
pub(crate) fn noise(scenario: &Scenario) -> impl Iterator<Item = Recurring> {
    let flows = scenario.udp.iter().enumerate();
    flows.flat_map(|(flow, spec)| {
        let found = drawn(spec).into_iter();
        found.map(move |(key, times)| Recurring {
            timer: RecurringTimer::Source { flow, key },
            times,
        })
    })
}

/// The parameter that is the length of a period, or draws it, and how many there are.
fn drawn(flow: &UdpSpec) -> Vec<(&'static str, f64)> {
    let row = packet_source::row(flow.source.name);
    let (params, lifetime) = (&flow.source.params, flow.lifetime());
    let periods = params.periods(row.params);
    let periods = periods.map(|(key, every)| (key, lifetime / Duration::from_secs(every)));
    periods.chain((row.new.draws)(params, lifetime)).collect()
}

fn at_direction(direction: &LinkDirection, duration: Duration) -> Vec<(LinkTimer, f64)> {
    let mut found: Vec<(LinkTimer, f64)> = of_queue(&direction.queue.params, direction.queue.name)
        .map(|(key, every)| (LinkTimer::Queue(key), duration / Duration::from_secs(every)))
        .collect();
    match &direction.impairments.changes {
        Some(Changes::Walk(walk)) => {
            found.push((LinkTimer::Walk, duration / walk.interval));
        }
        Some(Changes::Table {
            rows,
            every: Some(every),
        }) => found.push((LinkTimer::Changes, duration / *every * rows.len() as f64)),
        _ => {}
    }
    for (index, outage) in direction.impairments.outages.iter().enumerate() {
        if let Some(every) = outage.every {
            found.push((LinkTimer::Outage(index), duration / every));
        }
    }
    found
}

fn of_queue(params: &Params, name: &str) -> impl Iterator<Item = (&'static str, f64)> {
    let entry = queue::TABLE.iter().find(|entry| entry.name == name);
    params.periods(entry.map_or(&[], |entry| entry.params))
}
