//! The data-stream stall of one sending socket: the time that it waits while nothing is done for it.
//!
//! Specification: the published metric (`docs/concepts/host.md`), a stopwatch per socket:
//! 1. Entering the protocol code pauses it ([`Stopwatch::enter_protocol`]).
//! 2. At each stall point, before waiting, it starts if the device driver is not active for this socket ([`Stopwatch::wait`]); when the wait
//!    ends it is paused before the protocol code continues ([`Stopwatch::resume`]).
//! 3. Entering the device driver marks it active and pauses the stopwatch ([`Stopwatch::enter_driver`]).
//! 4. When the interface reports that a transmission is complete the driver is inactive, and the stopwatch starts if any wait is pending
//!    ([`Stopwatch::transmitted`]).
//! 5. When the protocol code completes it is paused ([`Stopwatch::complete`]).
//!
//! Pausing a paused one and starting a running one do nothing; it can be read at any time.
//!
//! **What the words leave open**, and how it is read here:
//! - The driver can have several packets of a socket. It is active as long as it has any.
//! - Protocol code that waits at a stall point has not completed, whether it is a process that sleeps or a queue that is left behind when a call
//!   returns. It completes when nothing waits: that ends all waits.
//! - An interface may report a transmission while protocol code runs for the socket (rule 4 inside of rule 1). That is no wait: the stopwatch
//!   starts when the code comes to wait again.
//!
//! So it runs exactly while a wait is pending, the driver is inactive and no protocol code runs: the property tests below hold it against that.
//!
//! **Cause.** Several waits can be pending at once. An interval belongs to the one that is nearest to the wire, the order of [`StallCause::ALL`]: if
//! packets queue behind the window, more memory would only queue more of them; and a partial packet leaves when its hold ends, whoever else sleeps.

/// A stall point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StallCause {
    /// The transmission window is full, and packets queue behind it.
    Window,
    /// A packet of less than a segment is held back.
    Partial,
    /// Socket memory is exhausted, and the writer sleeps.
    Memory,
}

impl StallCause {
    /// In the order in which they are blamed.
    pub const ALL: [Self; 3] = [Self::Window, Self::Partial, Self::Memory];

    /// Its word in the table `stalls`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Window => "window",
            Self::Partial => "partial",
            Self::Memory => "memory",
        }
    }
}

/// A time in which the stopwatch ran, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// When it started.
    pub from: i64,
    /// When it was paused.
    pub to: i64,
    /// What was waited for.
    pub cause: StallCause,
}

/// The stopwatch of one socket. Times are nanoseconds and never go back.
#[derive(Clone, Debug, Default)]
pub struct Stopwatch {
    /// Of each cause whether its wait is pending.
    pending: [bool; StallCause::ALL.len()],
    /// Protocol code runs for the socket.
    inside: bool,
    /// Packets of the socket that the driver has.
    in_driver: u64,
    /// Since when it runs, and for what.
    running: Option<(i64, StallCause)>,
    spent: [i64; StallCause::ALL.len()],
    intervals: Option<Vec<Interval>>,
    /// All that has happened to it, for tests that hold it against the definition.
    #[cfg(test)]
    log: tests::Log,
}

impl Stopwatch {
    /// Keeps the list of intervals from now on.
    pub fn keep_intervals(&mut self) {
        self.intervals = Some(Vec::new());
    }

    /// The intervals so far, if they are kept. Of those that touch and have one cause there is one.
    pub fn intervals(&self) -> &[Interval] {
        self.intervals.as_deref().unwrap_or(&[])
    }

    /// The protocol code is entered.
    pub fn enter_protocol(&mut self, now: i64) {
        #[cfg(test)]
        self.log.push((now, tests::Event::EnterProtocol));
        self.inside = true;
        self.pause(now);
    }

    /// The protocol code comes to wait at a stall point.
    pub fn wait(&mut self, now: i64, cause: StallCause) {
        #[cfg(test)]
        self.log.push((now, tests::Event::Wait(cause)));
        self.pending[cause as usize] = true;
        self.inside = false;
        if !self.driver_is_active() {
            self.start(now);
        }
    }

    /// A wait ends, and the protocol code continues.
    pub fn resume(&mut self, now: i64, cause: StallCause) {
        #[cfg(test)]
        self.log.push((now, tests::Event::Resume(cause)));
        self.pause(now);
        self.pending[cause as usize] = false;
        self.inside = true;
    }

    /// The device driver is entered with a packet.
    pub fn enter_driver(&mut self, now: i64) {
        #[cfg(test)]
        self.log.push((now, tests::Event::EnterDriver));
        self.in_driver += 1;
        self.pause(now);
    }

    /// The interface reports that a packet's transmission is complete.
    pub fn transmitted(&mut self, now: i64) {
        #[cfg(test)]
        self.log.push((now, tests::Event::Transmitted));
        self.in_driver = self.in_driver.saturating_sub(1);
        if !self.driver_is_active() && !self.inside && self.blamed().is_some() {
            self.start(now);
        }
    }

    /// The protocol code completes: nothing waits.
    pub fn complete(&mut self, now: i64) {
        #[cfg(test)]
        self.log.push((now, tests::Event::Complete));
        self.pause(now);
        self.pending = [false; StallCause::ALL.len()];
        self.inside = false;
    }

    /// Whether the wait of a cause is pending.
    pub fn is_pending(&self, cause: StallCause) -> bool {
        self.pending[cause as usize]
    }

    /// Whether the driver's code runs or the interface transmits for this socket.
    pub fn driver_is_active(&self) -> bool {
        self.in_driver > 0
    }

    /// The stall until `now`.
    pub fn read(&self, now: i64) -> i64 {
        StallCause::ALL
            .iter()
            .map(|cause| self.read_of(now, *cause))
            .sum()
    }

    /// The part of it that one cause is blamed for.
    pub fn read_of(&self, now: i64, cause: StallCause) -> i64 {
        let running = self.running.filter(|(_, blamed)| *blamed == cause);
        self.spent[cause as usize] + running.map_or(0, |(since, _)| now - since)
    }

    /// The run is over.
    pub fn finish(&mut self, now: i64) {
        self.pause(now);
    }

    fn blamed(&self) -> Option<StallCause> {
        let mut causes = StallCause::ALL.into_iter();
        causes.find(|cause| self.pending[*cause as usize])
    }

    /// Starts it. One that runs goes on, for the cause that is to be blamed from now on.
    fn start(&mut self, now: i64) {
        let Some(cause) = self.blamed() else {
            return;
        };
        match self.running {
            Some((_, blamed)) if blamed == cause => {}
            _ => {
                self.pause(now);
                self.running = Some((now, cause));
            }
        }
    }

    fn pause(&mut self, now: i64) {
        let Some((from, cause)) = self.running.take() else {
            return;
        };
        self.spent[cause as usize] += now - from;
        if let Some(intervals) = &mut self.intervals
            && now > from
        {
            match intervals.last_mut() {
                Some(last) if last.to == from && last.cause == cause => last.to = now,
                _ => intervals.push(Interval {
                    from,
                    to: now,
                    cause,
                }),
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) enum Event {
        EnterProtocol,
        Wait(StallCause),
        Resume(StallCause),
        EnterDriver,
        Transmitted,
        Complete,
    }

    fn apply(watch: &mut Stopwatch, now: i64, event: Event) {
        match event {
            Event::EnterProtocol => watch.enter_protocol(now),
            Event::Wait(cause) => watch.wait(now, cause),
            Event::Resume(cause) => watch.resume(now, cause),
            Event::EnterDriver => watch.enter_driver(now),
            Event::Transmitted => watch.transmitted(now),
            Event::Complete => watch.complete(now),
        }
    }

    pub(crate) type Log = Vec<(i64, Event)>;

    /// By definition, from the whole log: the cause that is to be blamed for the time right after its first `seen` events.
    fn blamed_after(log: &Log, seen: usize) -> Option<StallCause> {
        let past = || log[..seen].iter().map(|(_, event)| *event);
        let last = |which: &dyn Fn(Event) -> bool| past().rposition(which);
        let mut in_driver: u64 = 0;
        for event in past() {
            match event {
                Event::EnterDriver => in_driver += 1,
                Event::Transmitted => in_driver = in_driver.saturating_sub(1),
                _ => {}
            }
        }
        let enters = last(&|event| matches!(event, Event::EnterProtocol | Event::Resume(_)));
        let leaves = last(&|event| matches!(event, Event::Wait(_) | Event::Complete));
        if in_driver > 0 || enters > leaves {
            return None;
        }
        let waits = |cause: &StallCause| {
            let began = last(&|event| event == Event::Wait(*cause));
            let ended = last(&|event| event == Event::Resume(*cause) || event == Event::Complete);
            began > ended
        };
        StallCause::ALL.into_iter().find(waits)
    }

    /// The time until `now` in which a cause is to be blamed.
    fn by_definition(log: &Log, now: i64, cause: StallCause) -> i64 {
        let ends = log.iter().skip(1).map(|(time, _)| *time).chain([i64::MAX]);
        let spans = log.iter().zip(ends).enumerate();
        spans
            .filter(|(at, _)| blamed_after(log, at + 1) == Some(cause))
            .map(|(_, ((from, _), to))| (to.min(now) - from).max(0))
            .sum()
    }

    /// Holds what a stopwatch shows at the end of the run, and what its intervals have made it show before, against the definition; how often it has run.
    pub(crate) fn assert_defined(watch: &Stopwatch, end: i64) -> usize {
        let mut shown = [0; StallCause::ALL.len()];
        for interval in watch.intervals() {
            shown[interval.cause as usize] += interval.to - interval.from;
            let defined =
                StallCause::ALL.map(|cause| by_definition(&watch.log, interval.to, cause));
            assert_eq!(shown, defined, "until {}", interval.to);
        }
        for cause in StallCause::ALL {
            let defined = by_definition(&watch.log, end, cause);
            assert_eq!(watch.read_of(end, cause), defined, "{cause:?}");
        }
        watch.intervals().len()
    }

    fn logs() -> impl Strategy<Value = Log> {
        let cause = prop::sample::select(&StallCause::ALL[..]);
        let event = prop_oneof![
            2 => Just(Event::EnterProtocol),
            4 => cause.clone().prop_map(Event::Wait),
            2 => cause.prop_map(Event::Resume),
            2 => Just(Event::EnterDriver),
            3 => Just(Event::Transmitted),
            1 => Just(Event::Complete),
        ];
        // Often several events at one instant.
        prop::collection::vec((0i64..4, event), 1..60).prop_map(|steps| {
            let mut now = 0;
            let steps = steps.into_iter();
            steps
                .map(|(step, event)| {
                    now += step;
                    (now, event)
                })
                .collect()
        })
    }

    fn run(log: &Log) -> Stopwatch {
        let mut watch = Stopwatch::default();
        watch.keep_intervals();
        for (now, event) in log {
            apply(&mut watch, *now, *event);
        }
        watch
    }

    proptest! {
        #[test]
        fn it_shows_at_any_time_what_the_definition_makes_of_the_whole_log(log in logs(), after in 0i64..5) {
            let mut watch = Stopwatch::default();
            for seen in 0..log.len() {
                apply(&mut watch, log[seen].0, log[seen].1);
                let so_far: Log = log[..=seen].to_vec();
                let until = log.get(seen + 1).map_or(log[seen].0 + after, |(next, _)| *next);
                for now in log[seen].0..=until {
                    for cause in StallCause::ALL {
                        prop_assert_eq!(watch.read_of(now, cause), by_definition(&so_far, now, cause));
                    }
                }
            }
        }

        #[test]
        fn it_never_goes_back_and_never_faster_than_time(log in logs()) {
            let mut watch = Stopwatch::default();
            let (mut last, mut shown) = (0, 0);
            for (now, event) in log {
                // At the instant of an event nothing is added by the event.
                let before = watch.read(now);
                prop_assert!(before >= shown && before - shown <= now - last);
                apply(&mut watch, now, event);
                prop_assert_eq!(watch.read(now), before);
                (last, shown) = (now, before);
            }
        }

        #[test]
        fn its_intervals_are_its_times_in_order_and_never_while_the_driver_is_active(log in logs(), after in 0i64..5) {
            let end = log.last().map_or(0, |(time, _)| *time) + after;
            let mut watch = run(&log);
            watch.finish(end);
            let intervals = watch.intervals();
            prop_assert!(intervals.iter().all(|one| one.from < one.to));
            prop_assert!(intervals.windows(2).all(|two| two[0].to <= two[1].from));
            for cause in StallCause::ALL {
                let own = intervals.iter().filter(|one| one.cause == cause);
                prop_assert_eq!(own.map(|one| one.to - one.from).sum::<i64>(), watch.read_of(end, cause));
            }
            let mut in_driver: u64 = 0;
            for (at, (from, event)) in log.iter().enumerate() {
                match event {
                    Event::EnterDriver => in_driver += 1,
                    Event::Transmitted => in_driver = in_driver.saturating_sub(1),
                    _ => {}
                }
                let to = log.get(at + 1).map_or(end, |(next, _)| *next);
                let apart = |one: &Interval| one.to <= *from || one.from >= to;
                prop_assert!(in_driver == 0 || from == &to || intervals.iter().all(apart));
            }
        }

        #[test]
        fn starting_one_that_runs_and_pausing_one_that_does_not_do_nothing(
            log in logs(), again in prop::collection::vec(0usize..4, 60),
        ) {
            let once = run(&log);
            let mut watch = Stopwatch::default();
            watch.keep_intervals();
            for ((now, event), again) in log.iter().zip(again) {
                apply(&mut watch, *now, *event);
                for _ in 0..again {
                    if watch.running.is_some() { watch.start(*now) } else { watch.pause(*now) }
                }
                // The events that start or pause, and count nothing.
                if !matches!(event, Event::EnterDriver | Event::Transmitted) {
                    for _ in 0..again {
                        apply(&mut watch, *now, *event);
                    }
                }
            }
            prop_assert_eq!(watch.intervals(), once.intervals());
            prop_assert_eq!((watch.running, watch.spent), (once.running, once.spent));
        }
    }

    #[test]
    fn a_message_that_waits_for_the_window_stalls_from_the_last_transmission_to_the_acknowledgement()
     {
        let mut watch = Stopwatch::default();
        watch.keep_intervals();
        watch.enter_protocol(0);
        watch.enter_driver(10);
        // The second packet has to wait; the first is being transmitted until 30.
        watch.wait(12, StallCause::Window);
        assert_eq!(watch.read(30), 0);
        watch.transmitted(30);
        assert_eq!(watch.read(45), 15);
        watch.enter_protocol(50);
        watch.resume(52, StallCause::Window);
        watch.enter_driver(60);
        watch.complete(61);
        watch.transmitted(80);
        assert_eq!(watch.read(100), 20);
        let cause = StallCause::Window;
        assert_eq!(
            watch.intervals(),
            [Interval {
                from: 30,
                to: 50,
                cause
            }]
        );
    }

    #[test]
    fn what_is_nearest_to_the_wire_is_blamed() {
        let mut watch = Stopwatch::default();
        watch.wait(0, StallCause::Memory);
        watch.wait(5, StallCause::Window);
        watch.enter_protocol(20);
        watch.resume(20, StallCause::Window);
        watch.wait(20, StallCause::Partial);
        watch.complete(50);
        let spent = StallCause::ALL.map(|cause| watch.read_of(60, cause));
        assert_eq!(spent, [15, 30, 5]);
    }
}
