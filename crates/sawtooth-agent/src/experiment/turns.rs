//! An experiment in few system calls: what is done for a packet, and the wait for what comes next, are one turn of the ring.
//!
//! They are the same calls in the same order as if each were made by itself, and nothing happens between them, so the kernel's TCP sees no difference.
//! Where time stands still while the guest computes, a wait may begin before the results of the calls ahead of it are known, as long as these results
//! cannot matter before the wait is over.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};

use nix::errno::Errno;
use nix::poll::PollFlags;
use sawtooth_core::internals::net::Towards;
use sawtooth_core::spec::Sampling;
use sawtooth_core::units::Instant;

use super::{Application, Experiment, Owner, in_time};
use crate::network::IpPacket;
use crate::ring::{Call, IoRing, ReadyWait, TurnOutcome};
use crate::sockets::CHUNK;

/// Packets that are read from a device at once: most of what a host sends in answer to one.
const PACKETS: usize = 4;

/// What a turn is about.
#[derive(Debug, Default)]
struct Task {
    /// A packet for a host.
    packet: Option<(usize, Vec<u8>)>,
    /// A flow, and whether it is to read and to write.
    flow: Option<(usize, [bool; 2])>,
    /// Hosts that may have sent something.
    hosts: Vec<usize>,
}

/// What the turns of an experiment have in common.
#[derive(Debug)]
struct Turns {
    ring: IoRing,
    /// Devices and flows that have become ready, and whether there is room to write.
    devices: VecDeque<usize>,
    flows: VecDeque<(Owner, bool)>,
    /// Room for packets.
    room: Vec<Vec<u8>>,
}

/// What a call of a turn is for.
#[derive(Clone, Copy, Debug)]
enum CallPurpose {
    Deliver,
    Read,
    Write {
        last: bool,
    },
    /// A packet that a host has sent, into the room of this number.
    Collect {
        host: usize,
        number: usize,
    },
}

impl Experiment<'_> {
    /// As `go`.
    pub(super) fn go_in_turns(&mut self, ring: IoRing) -> io::Result<()> {
        let longest = self.tuns.iter().map(|(_, tun)| tun.mtu).max().unwrap_or(0);
        let mut turns = Turns {
            ring,
            devices: VecDeque::new(),
            flows: VecDeque::new(),
            room: vec![vec![0; longest]; PACKETS * self.tuns.len()],
        };
        for host in 0..self.tuns.len() {
            self.collect(host)?;
        }
        self.time()?;
        while self.go_on(&mut turns)? {}
        Ok(())
    }

    /// The next turn; whether it was not the end.
    fn go_on(&mut self, turns: &mut Turns) -> io::Result<bool> {
        if let Some(host) = turns.devices.pop_front() {
            let hosts = vec![host];
            self.turn(
                turns,
                Task {
                    hosts,
                    ..Task::default()
                },
            )?;
        } else if let Some((owner, room)) = turns.flows.pop_front() {
            match owner {
                Owner::Flow(flow) => self.serve_in_turn(turns, flow, room)?,
                Owner::ArrivingFlows => self.serve_arrivals()?,
            }
        } else if self.time_stands_still && self.known.now.is_none() {
            // A host had something before the time that was waited for: nothing else is due.
            self.turn(turns, Task::default())?;
        } else {
            let now = self.time()?;
            if now >= self.end {
                // What has been sent since the last turn enters the links, although nobody is there when it arrives.
                let end = Instant::from_secs(self.end.secs().next_down());
                self.network.advance(end);
                return Ok(false);
            }
            self.sample(now)?;
            self.start(now)?;
            if let Some(delivery) = self.network.advance(now) {
                let place = self.place(delivery.connection);
                let IpPacket(packet) = delivery.packet;
                self.deliver_in_turn(turns, delivery.towards, place, packet)?;
            } else {
                self.turn(turns, Task::default())?;
            }
        }
        Ok(true)
    }

    /// As one packet of `deliver`.
    fn deliver_in_turn(
        &mut self,
        turns: &mut Turns,
        towards: Towards,
        place: Option<usize>,
        packet: Vec<u8>,
    ) -> io::Result<()> {
        let host = self.host(towards);
        let reads = |place: &usize| self.reads(*place, towards, &packet);
        let flow = place.filter(reads).map(|place| (place, [true, false]));
        let mut task = Task {
            packet: Some((host, packet)),
            flow,
            hosts: vec![host],
        };
        if let Some(place) = place
            && towards == Towards::Sender
            && self.scenario.sample == Sampling::Acks
        {
            // The state after the acknowledgement is read before anything else happens.
            task.hosts.clear();
            task.flow = None;
            self.exchange(turns, task, None)?;
            let now = self.time()?;
            self.sample_flow(place, now)?;
            task = Task {
                packet: None,
                flow,
                hosts: vec![host],
            };
        }
        self.turn(turns, task)
    }

    /// As `serve`.
    fn serve_in_turn(&mut self, turns: &mut Turns, flow: usize, room: bool) -> io::Result<()> {
        if let Application::Http(_) = &self.flows[flow] {
            let now = self.time()?;
            return self.serve(flow, room, now);
        }
        let task = Task {
            packet: None,
            flow: Some((flow, [true, room])),
            hosts: (0..self.tuns.len()).collect(),
        };
        if room {
            // There may be room for more than one call writes.
            self.exchange(turns, task, None)
        } else {
            self.turn(turns, task)
        }
    }

    /// Does a task, and waits if all that is left to do is to wait.
    fn turn(&mut self, turns: &mut Turns, task: Task) -> io::Result<()> {
        let until = self.next_time();
        let waits = self.may_wait(turns, &task, until)?;
        self.exchange(turns, task, waits.then_some(until))
    }

    /// Whether nothing else is to be done now, and whatever comes of `task` not before `until`.
    fn may_wait(&mut self, turns: &Turns, task: &Task, until: Instant) -> io::Result<bool> {
        if !turns.devices.is_empty() || !turns.flows.is_empty() {
            return Ok(false);
        }
        if let Some((flow, _)) = task.flow
            && !matches!(&self.flows[flow], Application::Sockets(connection) if connection.is_under_way())
        {
            return Ok(false);
        }
        if task.hosts.is_empty() {
            return Ok(task.packet.is_none());
        }
        if !self.time_stands_still {
            // When the hosts have sent what they send is known only if the clock is read after that.
            return Ok(false);
        }
        let now = self.time()?;
        Ok(now < until && until <= now + self.network.links.shortest_delay)
    }

    /// Does a task, and waits if there is a time to wait for.
    fn exchange(
        &mut self,
        turns: &mut Turns,
        task: Task,
        until: Option<Instant>,
    ) -> io::Result<()> {
        let is_simple = |application: &Application| matches!(application, Application::Sockets(connection) if connection.is_accepted());
        if let Some((flow, _)) = task.flow
            && !is_simple(&self.flows[flow])
        {
            return self.exchange_one_by_one(task);
        }
        // A wait is begun only if the time before it does not matter, or if packets may be sent, at that time.
        let mut now = None;
        if until.is_some() && !task.hosts.is_empty() {
            now = Some(self.time()?);
        }
        let (before, last) = (self.known.now, self.due);
        let (waits, owners) = match until {
            Some(until) => {
                self.waits_until(until);
                self.descriptors()
            }
            None => (Vec::new(), Vec::new()),
        };
        let wait = until.map(|until| ReadyWait {
            descriptors: &waits,
            until: self.clock.monotonic_ns(until),
        });
        let (purposes, outcome) = self.call(turns, &task, wait.as_ref())?;
        if let Some(before) = before
            && outcome.late
            && self.time_stands_still
        {
            in_time(last, before)?;
        }
        if let Some(until) = until {
            self.known.now = (outcome.timed_out && self.time_stands_still).then_some(until);
            self.known.last = self.known.now.unwrap_or(self.known.last);
            self.note_what_is_ready(turns, &outcome.ready, &waits, &owners);
        } else {
            now = Some(self.time()?);
        }
        self.go_on_after(
            turns,
            &task,
            now,
            until.is_some(),
            &purposes,
            outcome.results,
        )
    }

    /// A connection that is still to be accepted takes more than one call, and so does one of requests and responses.
    fn exchange_one_by_one(&mut self, task: Task) -> io::Result<()> {
        let now = self.time()?;
        if let Some((host, packet)) = task.packet {
            self.tuns[host].1.send(&packet)?;
        }
        if let Some((flow, [reads, writes])) = task.flow {
            if reads {
                self.read(flow, now)?;
            }
            match &mut self.flows[flow] {
                Application::Sockets(connection) if writes => connection.write()?,
                Application::RequestResponse(request_response) if writes => {
                    request_response.write()?;
                }
                _ => {}
            }
        }
        for host in task.hosts {
            self.collect(host)?;
        }
        Ok(())
    }

    fn descriptors(&self) -> (Vec<(RawFd, PollFlags)>, Vec<Owner>) {
        let (waits, owners) = self.waits();
        let waits = waits
            .iter()
            .map(|wait| (wait.as_fd().as_raw_fd(), wait.events()));
        (waits.collect(), owners)
    }

    fn call(
        &mut self,
        turns: &mut Turns,
        task: &Task,
        wait: Option<&ReadyWait<'_>>,
    ) -> io::Result<(Vec<CallPurpose>, TurnOutcome)> {
        let mut calls = Vec::new();
        let mut purposes = Vec::new();
        if let Some((host, packet)) = &task.packet {
            calls.push(Call::Write(self.tuns[*host].1.as_fd(), packet));
            purposes.push(CallPurpose::Deliver);
        }
        if let Some((flow, wanted)) = task.flow
            && let Application::Sockets(connection) = &self.flows[flow]
        {
            let (read, writes) = connection.calls(wanted, &mut self.room);
            purposes.extend(read.is_some().then_some(CallPurpose::Read));
            let last = writes.len().saturating_sub(1);
            purposes.extend((0..writes.len()).map(|at| CallPurpose::Write { last: at == last }));
            calls.extend(read.into_iter().chain(writes));
        }
        for (number, room) in turns.room.iter_mut().enumerate() {
            let host = number / PACKETS;
            if task.hosts.contains(&host) {
                calls.push(Call::Read(self.tuns[host].1.as_fd(), room));
                purposes.push(CallPurpose::Collect { host, number });
            }
        }
        let outcome = turns.ring.turn(&mut calls, wait)?;
        Ok((purposes, outcome))
    }

    fn note_what_is_ready(
        &self,
        turns: &mut Turns,
        ready: &[usize],
        waits: &[(RawFd, PollFlags)],
        owners: &[Owner],
    ) {
        let devices = self.tuns.len();
        let mut ready = ready.to_vec();
        ready.sort_unstable();
        for at in ready {
            match at.checked_sub(devices) {
                None => turns.devices.push_back(at),
                Some(socket) => {
                    let room = waits[at].1.contains(PollFlags::POLLOUT);
                    turns.flows.push_back((owners[socket], room));
                }
            }
        }
    }

    /// Does what follows from the results of calls, which were made `now`, and perhaps waited after.
    fn go_on_after(
        &mut self,
        turns: &mut Turns,
        task: &Task,
        now: Option<Instant>,
        waited: bool,
        purposes: &[CallPurpose],
        results: Vec<(usize, Result<usize, Errno>)>,
    ) -> io::Result<()> {
        let mut packets = vec![0; self.tuns.len()];
        for (call, result) in results {
            let connection = task.flow.and_then(|(flow, _)| match &mut self.flows[flow] {
                Application::Sockets(connection) => Some(connection),
                _ => None,
            });
            // The end of the data, or more of it than one call takes: more calls follow, and the host may answer to them.
            let more = match purposes[call] {
                CallPurpose::Read => matches!(result, Ok(0 | CHUNK)),
                CallPurpose::Write { last } => last && result.is_ok(),
                CallPurpose::Deliver | CallPurpose::Collect { .. } => false,
            };
            if more && !waited {
                turns.devices.extend(&task.hosts);
            }
            match (purposes[call], result, connection) {
                (CallPurpose::Read, result, Some(connection)) => {
                    connection.go_on_reading(result, now, &mut self.room)?;
                }
                (CallPurpose::Write { last }, result, Some(connection)) => {
                    connection.go_on_writing(result, last)?;
                }
                (CallPurpose::Collect { host, number }, Ok(length), _) => {
                    let now = now.ok_or(Errno::ETIME)?;
                    self.enter(host, now, turns.room[number][..length].to_vec());
                    packets[host] += 1;
                }
                (CallPurpose::Collect { .. }, Err(Errno::EAGAIN), _) => {}
                (_, result, _) => {
                    result?;
                }
            }
        }
        for (host, packets) in packets.into_iter().enumerate() {
            // There may be more; a wait has seen that itself.
            if packets == PACKETS && !turns.devices.contains(&host) {
                turns.devices.push_back(host);
            }
        }
        Ok(())
    }
}
