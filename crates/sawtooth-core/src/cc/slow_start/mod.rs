//! What ends slow start before a loss, for algorithms that let a study choose.
//!
//! To add one: one file in this folder, one `mod` line, one row of [`TABLE`].

pub(super) mod hystart;
mod hystart_plus_plus;
mod search;

use std::fmt::Debug;

use super::classic::CongestionWindow;
use super::events::AckedData;
use super::params::joined;
use crate::registry::{Entry, Kind, Param, Params, Value, param};
use crate::units::{Duration, SegCount};

/// Ends slow start when it takes the path for full.
pub(super) trait SlowStart: Debug + Send {
    /// A round-trip time was measured, in slow start or not; called before [`SlowStart::ends`] for the same acknowledgement.
    fn on_rtt(&mut self, _rtt: Duration) {}

    /// Whether slow start ends at this acknowledgement, at a window of `cwnd`.
    fn ends(&mut self, ack: &AckedData, cwnd: f64) -> bool;

    /// Slow start goes on: grows the window for `counted` segments, and returns how many of them are left when it reaches the threshold.
    fn grow(&mut self, window: &mut CongestionWindow, counted: SegCount) -> SegCount {
        window.start_slowly(counted)
    }

    /// Slow start is over; returns whether the next slow start is to be watched, too.
    fn restart(&mut self) -> bool {
        false
    }
}

/// Constructor of a row; it is given whether windows are whole.
pub(super) type NewSlowStart = fn(&Params, whole_windows: bool) -> Box<dyn SlowStart>;

/// All that can be chosen.
pub(super) const TABLE: &[Entry<NewSlowStart>] =
    &[hystart::ENTRY, hystart_plus_plus::ENTRY, search::ENTRY];

/// The names of the rows, and `none`.
const NAMES: [&str; TABLE.len() + 1] = {
    let mut names = ["none"; TABLE.len() + 1];
    let mut row = 0;
    while row < TABLE.len() {
        names[row + 1] = TABLE[row].name;
        row += 1;
    }
    names
};

/// The parameter by which an algorithm lets a row be chosen, and those of all rows.
pub(super) const PARAMS: [Param; 1 + TABLE_PARAMS] = {
    let choice = [
        param!(hystart: Kind::Choice(&NAMES) => Value::Choice("hystart"),
        "what ends slow start before a loss"),
    ];
    let mut lists: [&[Param]; TABLE.len() + 1] = [&choice; TABLE.len() + 1];
    let mut row = 0;
    while row < TABLE.len() {
        lists[row + 1] = TABLE[row].params;
        row += 1;
    }
    joined(&lists)
};

const TABLE_PARAMS: usize = {
    let (mut count, mut row) = (0, 0);
    while row < TABLE.len() {
        count += TABLE[row].params.len();
        row += 1;
    }
    count
};

/// What `params` choose.
pub(super) fn chosen(params: &Params, whole_windows: bool) -> Option<Box<dyn SlowStart>> {
    let name = params.choice("hystart");
    let row = TABLE.iter().find(|entry| entry.name == name);
    row.map(|entry| (entry.new)(params, whole_windows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_start_is_chosen_by_the_name_of_its_row() {
        let mut params = Params::defaults(&PARAMS);
        for entry in TABLE {
            params.set("hystart", Value::Choice(entry.name));
            assert!(chosen(&params, false).is_some(), "{}", entry.name);
        }
        params.set("hystart", Value::Choice("none"));
        assert!(chosen(&params, false).is_none());
        assert_eq!(NAMES[..2], ["none", TABLE[0].name]);
    }
}
