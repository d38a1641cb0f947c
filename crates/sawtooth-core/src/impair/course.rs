//! Rate, delay and loss of a wire that change over time: by a table of steps, or by a random walk.
//!
//! **Table.** What a row says holds from its time on, until another row says otherwise; what a row leaves out stays as it is. With `every` the
//! table starts again after that time.
//!
//! **Walk.** At every multiple of `interval` the rate changes by a number uniform between `-rate_step` and `rate_step`, and is reflected at its
//! bounds; the delay likewise. It starts where the link's own rate and delay are. Both draw at every step, so one does not change the other.

use std::sync::Arc;

use crate::registry::{Kind, Param, Value, param};
use crate::rng::RandomStream;
use crate::units::{Duration, Instant, Rate};

/// What holds on a wire at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditions {
    /// At which bits leave now.
    pub rate: Rate,
    /// Propagation of a packet whose last bit leaves now.
    pub delay: Duration,
    /// Probability with which a packet is lost, besides all other losses.
    pub loss: f64,
}

/// One row of a table: from when on what holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// How long after the start of the run, or of the table's lap.
    pub after: Duration,
    /// Unchanged if there is none.
    pub rate: Option<Rate>,
    /// Unchanged if there is none.
    pub delay: Option<Duration>,
    /// Probability from 0 to 1; unchanged if there is none.
    pub loss: Option<f64>,
}

/// How a wire changes.
#[derive(Clone, Debug, PartialEq)]
pub enum Changes {
    /// Rows in the order of their times, and after which time they start again.
    Table {
        /// The rows, of which the first may come later than the start.
        rows: Arc<[Change]>,
        /// After which time the table starts again; if there is none, the last row holds to the end.
        every: Option<Duration>,
    },
    /// At random, step by step.
    Walk(Walk),
}

/// A random walk of rate and delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Walk {
    /// From one step to the next.
    pub interval: Duration,
    /// Steps and bounds of the rate; without them it stays.
    pub rate: Option<WalkSpan<Rate>>,
    /// Steps and bounds of the delay; without them it stays.
    pub delay: Option<WalkSpan<Duration>>,
}

/// How far one step goes at most, and between which bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WalkSpan<T> {
    /// The most that one step adds or takes away, no more than `max - min`.
    pub step: T,
    /// The lower bound, at which a step is reflected.
    pub min: T,
    /// The upper bound, likewise.
    pub max: T,
}

/// What `walk` can say.
pub const WALK_PARAMS: &[Param] = &[
    param!(interval: Kind::Period => Value::Duration(0.1),
        "time between two steps"),
    param!(rate_step: Kind::Rate => Value::None,
        "most that the rate changes by in one step; `none`: it stays"),
    param!(rate_min: Kind::Rate => Value::None,
        "lower bound of the rate; needed with `rate_step`"),
    param!(rate_max: Kind::Rate => Value::None,
        "upper bound of the rate; needed with `rate_step`"),
    param!(delay_step: Kind::Duration { min_exclusive: true } => Value::None,
        "most that the delay changes by in one step; `none`: it stays"),
    param!(delay_min: Kind::Duration { min_exclusive: false } => Value::None,
        "lower bound of the delay; needed with `delay_step`"),
    param!(delay_max: Kind::Duration { min_exclusive: true } => Value::None,
        "upper bound of the delay; needed with `delay_step`"),
];

impl Changes {
    /// The shortest delay there can be, if `delay` is the link's own.
    pub fn least_delay(&self, delay: Duration) -> Duration {
        match self {
            Self::Table { rows, .. } => rows
                .iter()
                .filter_map(|row| row.delay)
                .fold(delay, Duration::min),
            Self::Walk(walk) => walk.delay.map_or(delay, |span| span.min),
        }
    }

    /// The highest rate there can be, if `rate` is the link's own.
    pub fn peak_rate(&self, rate: Rate) -> Rate {
        match self {
            Self::Table { rows, .. } => {
                rows.iter().filter_map(|row| row.rate).fold(rate, Rate::max)
            }
            Self::Walk(walk) => walk.rate.map_or(rate, |span| span.max),
        }
    }
}

impl<T> WalkSpan<T> {
    /// The same of other numbers, such as those of a unit.
    pub fn map<U>(self, number: impl Fn(T) -> U) -> WalkSpan<U> {
        WalkSpan {
            step: number(self.step),
            min: number(self.min),
            max: number(self.max),
        }
    }
}

impl WalkSpan<f64> {
    const STILL: Self = Self {
        step: 0.0,
        min: 0.0,
        max: f64::INFINITY,
    };

    fn step(&self, value: f64, stream: &mut RandomStream) -> f64 {
        let next = value + self.step * (2.0 * stream.uniform() - 1.0);
        // A step is not larger than the span, so one reflection leads back inside.
        if next < self.min {
            (2.0 * self.min - next).min(self.max)
        } else if next > self.max {
            (2.0 * self.max - next).max(self.min)
        } else {
            next
        }
    }
}

/// The conditions as time goes on.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    now: Conditions,
    /// When they change next, if ever.
    until: Instant,
    /// Steps taken; of a table with those of earlier laps.
    steps: u64,
    source: CourseSource,
}

#[derive(Clone, Debug)]
enum CourseSource {
    Constant,
    Table {
        rows: Arc<[Change]>,
        every: Option<Duration>,
    },
    Walk {
        walk: Walk,
        stream: RandomStream,
    },
}

impl Course {
    pub(crate) fn new(
        initial: Conditions,
        changes: Option<&Changes>,
        stream: RandomStream,
    ) -> Self {
        let source = match changes {
            None => CourseSource::Constant,
            Some(Changes::Table { rows, every }) => CourseSource::Table {
                rows: rows.clone(),
                every: *every,
            },
            Some(Changes::Walk(walk)) => CourseSource::Walk {
                walk: *walk,
                stream,
            },
        };
        let mut course = Self {
            now: initial,
            until: Instant::NEVER,
            steps: 0,
            source,
        };
        course.until = course.next_change();
        course
    }

    /// What holds at `time`, which must not be before that of an earlier call.
    pub(crate) fn at(&mut self, time: Instant) -> Conditions {
        while self.until <= time {
            self.step();
        }
        self.now
    }

    /// When that changes, if ever.
    pub(crate) fn until(&self) -> Instant {
        self.until
    }

    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    fn next_change(&self) -> Instant {
        match &self.source {
            CourseSource::Constant => Instant::NEVER,
            CourseSource::Table { rows, every } => {
                let (lap, row) = place(self.steps, rows.len());
                match (lap, every) {
                    (0, _) => Instant::START + rows[row].after,
                    (lap, Some(every)) => Instant::START + (*every * lap as f64 + rows[row].after),
                    (_, None) => Instant::NEVER,
                }
            }
            CourseSource::Walk { walk, .. } => {
                Instant::START + walk.interval * (self.steps + 1) as f64
            }
        }
    }

    fn step(&mut self) {
        let now = &mut self.now;
        match &mut self.source {
            CourseSource::Constant => {}
            CourseSource::Table { rows, .. } => {
                let row = &rows[place(self.steps, rows.len()).1];
                now.rate = row.rate.unwrap_or(now.rate);
                now.delay = row.delay.unwrap_or(now.delay);
                now.loss = row.loss.unwrap_or(now.loss);
            }
            CourseSource::Walk { walk, stream } => {
                let rate = (walk.rate).map_or(WalkSpan::STILL, |span| span.map(Rate::bps));
                let delay = (walk.delay).map_or(WalkSpan::STILL, |span| span.map(Duration::secs));
                now.rate = Rate::from_bps(rate.step(now.rate.bps(), stream));
                now.delay = Duration::from_secs(delay.step(now.delay.secs(), stream));
            }
        }
        self.steps += 1;
        self.until = self.next_change();
    }
}

/// The lap of a step, and its row.
fn place(step: u64, rows: usize) -> (u64, usize) {
    let rows = rows as u64;
    let row = usize::try_from(step % rows).expect("an index");
    (step / rows, row)
}
