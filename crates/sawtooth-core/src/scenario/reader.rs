//! Scenarios that are read one after the other, of which many differ in their variables only: links, and what connections have in common, are read again
//! only where a variable has another value that they ask for.

use serde_json::{Map, Value as Json};

use super::context::ReadBefore;
use super::error::Result;
use super::read::{checked_for_simulator, parse};
use crate::spec::Scenario;

/// Reads scenarios of a study.
#[derive(Debug, Default)]
pub struct ScenarioReader {
    /// The tree that was read last.
    tree: Map<String, Json>,
    before: ReadBefore,
}

impl ScenarioReader {
    /// Reads a scenario for the simulator, as [`for_simulator`](super::for_simulator) does.
    pub fn read(&mut self, text: &str) -> Result<Scenario> {
        let tree = parse(text)?;
        if !is_same_but_for_variables(&self.tree, &tree) {
            self.before = ReadBefore::default();
        }
        let read = checked_for_simulator(&tree, Some(&self.before));
        let scenario = read.map(|(scenario, _)| scenario);
        if let Json::Object(tree) = tree {
            self.tree = tree;
        }
        scenario
    }
}

fn is_same_but_for_variables(before: &Map<String, Json>, tree: &Json) -> bool {
    let Json::Object(now) = tree else {
        return false;
    };
    let differs = |(key, value): (&String, &Json)| *key != "vars" && before.get(key) != Some(value);
    before.len() == now.len() && !now.iter().any(differs)
}

#[cfg(test)]
mod tests {
    use super::super::read::from_json;
    use super::*;

    fn text(vars: &str, rate: &str) -> String {
        format!(
            r#"{{"duration": "1 s", "vars": {vars}, "tcp": {{"window_limit": "W"}},
            "links": {{"near": {{"rate": "{rate}", "delay": "i * D", "count": "N"}}, "far": {{"rate": "R", "delay": "E"}}}},
            "flows": [{{"path": ["near[i]", "far"], "count": "N", "start": "S * i / count"}}]}}"#
        )
    }

    #[test]
    fn what_is_read_after_another_scenario_is_as_it_would_be_by_itself() {
        let mut reader = ScenarioReader::default();
        let vars = |n: u32, d: u32, r: u32, w: u32, s: u32| {
            format!(
                r#"{{"N": {n}, "D": "{d} ms", "E": "2 * D", "R": "{r} Mbit/s", "W": "{w} packets", "S": "{s} ms"}}"#
            )
        };
        let texts = [
            text(&vars(2, 1, 10, 50, 3), "R"),
            text(&vars(2, 1, 10, 50, 4), "R"),
            text(&vars(3, 1, 10, 50, 4), "R"),
            text(&vars(3, 2, 10, 50, 4), "R"),
            text(&vars(3, 2, 20, 50, 4), "R"),
            text(&vars(3, 2, 20, 60, 4), "R"),
            text(&vars(3, 2, 20, 60, 4), "2 * R"),
            text(&vars(2, 1, 10, 50, 3), "R"),
        ];
        for text in texts {
            assert_eq!(reader.read(&text), from_json(&text));
        }
        assert_eq!(
            reader.read(&text(&vars(2, 1, 10, 50, 3), "Q")),
            from_json(&text(&vars(2, 1, 10, 50, 3), "Q"))
        );
    }
}
