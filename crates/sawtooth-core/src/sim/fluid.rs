//! Flows of a run that are a fluid: their steps, in which fluid moves from port to port and back to its senders.
//!
//! **A step** is one event, however many flows there are. It closes the one before: each port tells what it has lost and how long fluid waits there, and what came to it is on its way to the next; the
//! senders get what has come back. Then it opens the next: what the senders send, and what arrives at each port until the step's end, is that port's inflow.
//!
//! **Its length** is the time of [four segments](FluidBackground::SEGMENTS) at the slowest link of a class's path, but at least a hundredth of its round trip without queues, below which nothing becomes more exact, and at
//! most a tenth, above which the windows' course does not show; of several classes the shortest.
//!
//! What links take besides queues is as for packets: a segment's transmission and the propagation, and a whole round trip as the acknowledgement takes it, which are not simulated: they take no room on the
//! way back.

use super::observe::Observers;
use crate::events::EventKey;
use crate::fluid::{ClassTotals, Flowed, FluidClass, Parcel, Pipe};
use crate::net::{FluidStep, Port};
use crate::spec::{FluidSpec, LinkSpec, Scenario, base_rtt};
use crate::units::{Duration, Instant};

/// All fluid of a run.
#[derive(Debug, Default)]
pub(super) struct FluidBackground {
    classes: Vec<FlowingClass>,
    /// The ports that carry fluid, in order.
    ports: Vec<u32>,
    /// What came of the last step at each of them.
    steps: Vec<FluidStep>,
    /// Bytes that arrive at each of them in the next one.
    arriving: Vec<f64>,
    step: Duration,
    /// Steps that were taken.
    taken: u32,
}

/// A class and its round trip.
#[derive(Debug)]
struct FlowingClass {
    class: FluidClass,
    hops: Vec<FluidHop>,
    back: Pipe,
    /// From the senders to the first port.
    access: Duration,
    /// A round trip without queues.
    base_rtt: Duration,
}

/// A port on a class's way.
#[derive(Debug)]
struct FluidHop {
    /// Its place among the ports that carry fluid.
    place: usize,
    /// What is on its way here.
    pipe: Pipe,
    /// What arrives in this step.
    arriving: Flowed,
    /// From the port's end of a wait to the next port, or from the last port back to the senders.
    beyond: Duration,
}

impl FluidBackground {
    /// Segments in a step.
    const SEGMENTS: f64 = 4.0;
    /// The shortest and the longest step, in round trips without queues.
    const SHORTEST: f64 = 0.01;
    const LONGEST: f64 = 0.1;

    /// Of its steps among what else is laid down before the run: the last.
    const ORDER: u32 = u32::MAX;

    /// The fluid of a scenario.
    pub(super) fn new(scenario: &Scenario) -> Self {
        let links = &scenario.links;
        let path = |spec: &FluidSpec| spec.flow.path.clone();
        let mut crossed: Vec<usize> = scenario.fluid.iter().flat_map(path).collect();
        crossed.sort_unstable();
        crossed.dedup();
        let lengths = scenario.fluid.iter().map(|spec| step_length(spec, links));
        let step = lengths.fold(Duration::INFINITE, Duration::min);
        let classes = scenario.fluid.iter();
        Self {
            classes: classes
                .map(|spec| FlowingClass::new(spec, links, &crossed, step))
                .collect(),
            steps: Vec::with_capacity(crossed.len()),
            arriving: vec![0.0; crossed.len()],
            ports: (crossed.iter())
                .map(|link| u32::try_from(2 * link).expect("a port's number"))
                .collect(),
            step,
            taken: 0,
        }
    }

    /// When the next step is.
    pub(super) fn key(&self) -> EventKey {
        if self.classes.is_empty() {
            return EventKey::NEVER;
        }
        EventKey::at_start(self.time(self.taken), Self::ORDER)
    }

    fn time(&self, step: u32) -> Instant {
        Instant::START + self.step * f64::from(step)
    }

    /// What each class has done.
    pub(super) fn totals(&self) -> impl Iterator<Item = ClassTotals> {
        self.classes.iter().map(|flowing| flowing.class.totals())
    }

    /// A step is taken; when the next one is.
    pub(super) fn step(&mut self, ports: &mut [Port], observers: &mut Observers) -> EventKey {
        let [before, now, until] = [
            self.time(self.taken.saturating_sub(1)),
            self.time(self.taken),
            self.time(self.taken + 1),
        ];
        self.taken += 1;
        self.steps.clear();
        for index in &self.ports {
            observers.sample_port(ports, *index, now);
            self.steps.push(ports[*index as usize].end_fluid_step(now));
        }
        self.arriving.fill(0.0);
        for flowing in &mut self.classes {
            flowing.move_on(&self.steps, [before, now]);
            flowing.send(&self.steps, now, until);
            flowing.arrive(until, &mut self.arriving);
        }
        for (index, bytes) in self.ports.iter().zip(&self.arriving) {
            ports[*index as usize].set_inflow(bytes / self.step.secs());
        }
        self.key()
    }
}

impl FlowingClass {
    fn new(spec: &FluidSpec, links: &[LinkSpec], crossed: &[usize], step: Duration) -> Self {
        let law = spec.law();
        let (path, access) = (&spec.flow.path, spec.flow.delay);
        let mut hops: Vec<FluidHop> = Vec::with_capacity(path.len());
        let (mut base, mut back) = (base_rtt(links, path, access), access);
        for link in path {
            let LinkSpec {
                forward, reverse, ..
            } = &links[*link];
            let transmission = law.segment / forward.rate;
            base += transmission;
            back += reverse.delay;
            hops.push(FluidHop {
                place: crossed.binary_search(link).expect("a link that is crossed"),
                pipe: Pipe::default(),
                arriving: Flowed::NOTHING,
                beyond: transmission + forward.delay,
            });
        }
        if let Some(last) = hops.last_mut() {
            // What comes back in a step is answered in the next: that is one step on the whole, which the way is shorter.
            last.beyond = (last.beyond + back - step).max(Duration::ZERO);
        }
        Self {
            class: FluidClass::new(law, spec.beginnings(base)),
            hops,
            back: Pipe::default(),
            access,
            base_rtt: base,
        }
    }

    /// What came to the ports in the step between two instants is on its way from there.
    fn move_on(&mut self, steps: &[FluidStep], [from, until]: [Instant; 2]) {
        for at in 0..self.hops.len() {
            let hop = &mut self.hops[at];
            let FluidStep { lost, waits } = steps[hop.place];
            let parcel = Parcel {
                from: from + waits[0],
                until: until + waits[1],
                content: hop.arriving.with_losses(lost),
            };
            let parcel = parcel.later(hop.beyond);
            match self.hops.get_mut(at + 1) {
                Some(next) => next.pipe.push(parcel),
                None => self.back.push(parcel),
            }
        }
    }

    /// The senders hear of what has come back by `now`, and send until the step's end.
    fn send(&mut self, steps: &[FluidStep], now: Instant, until: Instant) {
        let waits = self.hops.iter().map(|hop| steps[hop.place].waits[1]);
        let rtt = self.base_rtt + waits.sum::<Duration>();
        let back = self.back.take_until(now);
        let bytes = self.class.step(now, until - now, back, rtt);
        let parcel = Parcel {
            from: now,
            until,
            content: Flowed {
                bytes,
                lost: 0.0,
                sent: now,
            },
        };
        if let Some(first) = self.hops.first_mut() {
            first.pipe.push(parcel.later(self.access));
        }
    }

    /// What arrives at the ports until the step's end, to be added to what else does.
    fn arrive(&mut self, until: Instant, arriving: &mut [f64]) {
        for hop in &mut self.hops {
            hop.arriving = hop.pipe.take_until(until);
            arriving[hop.place] += hop.arriving.bytes;
        }
    }
}

/// How long a step of a class may be.
fn step_length(spec: &FluidSpec, links: &[LinkSpec]) -> Duration {
    let (path, segment) = (&spec.flow.path, spec.law().segment);
    let slowest = (path.iter())
        .map(|link| segment / links[*link].forward.rate)
        .fold(Duration::ZERO, Duration::max);
    let rtt = base_rtt(links, path, spec.flow.delay) + slowest;
    (slowest * FluidBackground::SEGMENTS)
        .max(rtt * FluidBackground::SHORTEST)
        .min(rtt * FluidBackground::LONGEST)
}
