//! Keys that several tables have, and those of what may stand in many places.

use super::key::{Missing, ScenarioKey, Takes};

pub(super) const COUNT: ScenarioKey = ScenarioKey {
    name: "count",
    takes: Takes::Whole,
    missing: Missing::Told("one, without a number"),
    summary: "how many there are: `NAME[1]` to `NAME[count]`, with the counter `i` in their expressions; of flows `0`, for none",
    example: "3",
};

pub(in crate::scenario) const EMPIRICAL: &[ScenarioKey] = &[
    ScenarioKey {
        name: "points",
        takes: Takes::Told("list of pairs: a value, and the probability of it or less"),
        missing: Missing::Told("needed, or else a `file`"),
        summary: "a cumulative distribution function, ascending, which ends at 1",
        example: "[[1000, 0.5], [5000, 1]]",
    },
    ScenarioKey {
        name: "file",
        takes: Takes::File,
        missing: Missing::Nothing,
        summary: "text file of such pairs, one a line",
        example: r#""sizes.txt""#,
    },
];

/// Of a part that is written as a table.
pub(in crate::scenario) const PART: &[ScenarioKey] = &[ScenarioKey {
    name: "name",
    takes: Takes::Text,
    missing: Missing::Refused,
    summary: "which part",
    example: r#""reno""#,
}];
