//! What the words of the choices of [`super::PARAMS`] stand for.

use super::config::{
    EarlyRetransmit, Eifel, ExitWindow, Feedback, PartialAckTimer, Recovery, ReduceFrom,
    RestartAfterIdle, RtoEstimator, SackPipe,
};
use super::metrics_cache::Keeps;
use super::pacer::Paced;
use super::prr::Bound;
use crate::registry::Params;

/// What the words of a choice stand for; any other word, the first.
pub trait Choice: Copy + 'static {
    const MEANINGS: &'static [(&'static str, Self)];
}

/// What the value of `name` stands for.
pub fn chosen<T: Choice>(params: &Params, name: &str) -> T {
    let word = params.choice(name);
    let found = T::MEANINGS.iter().find(|(known, _)| *known == word);
    found.unwrap_or(&T::MEANINGS[0]).1
}

impl Choice for Recovery {
    const MEANINGS: &'static [(&'static str, Self)] = &[
        ("sack", Self::Sack),
        ("tahoe", Self::Tahoe),
        ("reno", Self::Reno),
        ("newreno", Self::NewReno),
        ("fack", Self::Fack),
        ("rack", Self::Rack),
    ];
}

impl Choice for ReduceFrom {
    const MEANINGS: &'static [(&'static str, Self)] =
        &[("flight_size", Self::FlightSize), ("window", Self::Window)];
}

impl Choice for PartialAckTimer {
    const MEANINGS: &'static [(&'static str, Self)] =
        &[("first", Self::First), ("every", Self::Every)];
}

impl Choice for ExitWindow {
    const MEANINGS: &'static [(&'static str, Self)] =
        &[("flight_size", Self::FlightSize), ("keep", Self::Keep)];
}

impl Choice for SackPipe {
    const MEANINGS: &'static [(&'static str, Self)] =
        &[("scoreboard", Self::Scoreboard), ("counter", Self::Counter)];
}

impl Choice for EarlyRetransmit {
    const MEANINGS: &'static [(&'static str, Self)] = &[
        ("off", Self::Off),
        ("at_once", Self::AtOnce),
        ("delayed", Self::Delayed),
    ];
}

impl Choice for Bound {
    const MEANINGS: &'static [(&'static str, Self)] = &[
        ("safe_ack", Self::SafeAck),
        ("ssrb", Self::SlowStart),
        ("crb", Self::Conservative),
    ];
}

impl Choice for Keeps {
    const MEANINGS: &'static [(&'static str, Self)] = &[
        ("off", Self::Nothing),
        ("default", Self::RoundTrip),
        ("with_ssthresh", Self::Threshold),
    ];
}

impl Choice for Eifel {
    const MEANINGS: &'static [(&'static str, Self)] = &[
        ("off", Self::Off),
        ("window", Self::Window),
        ("window_and_timeout", Self::WindowAndTimeout),
    ];
}

impl Choice for Feedback {
    const MEANINGS: &'static [(&'static str, Self)] = &[
        ("off", Self::Off),
        ("classic", Self::Classic),
        ("dctcp", Self::Dctcp),
        ("accurate", Self::Accurate),
    ];
}

impl Choice for RestartAfterIdle {
    const MEANINGS: &'static [(&'static str, Self)] = &[
        ("off", Self::Off),
        ("restart_window", Self::RestartWindow),
        ("decay", Self::Decay),
    ];
}

impl Choice for RtoEstimator {
    const MEANINGS: &'static [(&'static str, Self)] =
        &[("rfc6298", Self::Rfc6298), ("ticks", Self::Ticks)];
}

impl Choice for Paced {
    const MEANINGS: &'static [(&'static str, Self)] = &[
        ("algorithm", Self::Algorithm),
        ("off", Self::Never),
        ("always", Self::Always),
    ];
}
