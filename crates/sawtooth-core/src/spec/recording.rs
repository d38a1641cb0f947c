//! What is recorded of a run besides its totals, and when.

use crate::units::Duration;

/// When the time series take a row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Sampling {
    /// Never: there are no time series.
    #[default]
    Never,
    /// One row at each multiple of this time.
    Every(Duration),
    /// After each acknowledgement that reaches its sender.
    Acks,
}

/// What is recorded only if a scenario asks, because most do not look at it: names of tables.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a set of words, any of which may be there"
)]
pub struct Recording {
    /// The algorithms' own variables, with every sample.
    pub variables: bool,
    /// Loss episodes.
    pub episodes: bool,
    /// What held each sender back, and when.
    pub limited: bool,
    /// Every flow that has arrived.
    pub transfers: bool,
    /// How waits and backlogs are distributed at each link.
    pub waits: bool,
    /// What became of each flow's packets at each link.
    pub link_flows: bool,
    /// What became of each packet at each link, and when.
    pub packets: Option<Stretch>,
    /// When sockets have stalled.
    pub stalls: bool,
    /// What happens to each packet at each layer of its hosts.
    pub layers: bool,
    /// The flow of TCP, by its number, that alone has rows in the series; all have if it is none. No key of a scenario sets it: it spares a program rows that it does not read.
    pub series_of: Option<u32>,
}

/// A part of a run's time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// Its beginning, from the start of the run.
    pub from: Duration,
    /// Its end, from the start of the run.
    pub until: Duration,
}

impl Recording {
    /// Whether the series has rows of this flow of TCP, by its number.
    pub fn has_series(self, flow: usize) -> bool {
        self.series_of.is_none_or(|alone| alone as usize == flow)
    }

    /// Whether links record more of each packet than counters.
    pub fn notes_at_links(self) -> bool {
        self.waits || self.link_flows || self.packets.is_some()
    }
}
