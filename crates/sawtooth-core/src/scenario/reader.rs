//! Scenarios that are read one after the other, of which many differ in their variables only: links, and what connections have in common, are read again
//! only where a variable has another value that they ask for.

use serde_json::Value as Json;

use super::context::ReadBefore;
use super::error::Result;
use super::read::{checked_for_simulator, parse};
use crate::spec::Scenario;

/// Reads scenarios of a study.
#[derive(Debug, Default)]
pub struct ScenarioReader {
    /// The tree that was read last, and its text, if it has variables, around them.
    tree: Json,
    around: Option<AroundVariables>,
    before: ReadBefore,
}

impl ScenarioReader {
    /// Reads a scenario for the simulator, as [`for_simulator`](super::for_simulator) does.
    pub fn read(&mut self, text: &str) -> Result<Scenario> {
        let around = self.around.as_ref();
        if let Some(vars) = around.and_then(|around| around.variables_of(text)) {
            self.tree[VARS] = vars;
        } else {
            let tree = parse(text)?;
            if !is_same_but_for_variables(&self.tree, &tree) {
                self.before = ReadBefore::default();
            }
            self.around = AroundVariables::of(text, &tree);
            self.tree = tree;
        }
        let read = checked_for_simulator(&self.tree, Some(&self.before));
        read.map(|(scenario, _)| scenario)
    }
}

const VARS: &str = "vars";

/// What a text has before the table of its variables, and after it: another that has the same says the same of all else.
#[derive(Debug)]
struct AroundVariables {
    head: String,
    tail: String,
}

impl AroundVariables {
    /// Of the text of a tree.
    fn of(text: &str, tree: &Json) -> Option<Self> {
        let vars = tree.get(VARS)?;
        // Where the table is: there it is read, and nothing else changes with it.
        let mut found = text.match_indices("\"vars\":");
        found.find_map(|(at, key)| {
            let (head, rest) = text.split_at(at + key.len());
            let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Json>();
            let value = values.next()?.ok()?;
            let tail = &rest[values.byte_offset()..];
            let without: Json = serde_json::from_str(&[head, "null", tail].concat()).ok()?;
            let is_it = value == *vars
                && without.get(VARS) == Some(&Json::Null)
                && is_same_but_for_variables(tree, &without);
            is_it.then(|| Self {
                head: head.to_owned(),
                tail: tail.to_owned(),
            })
        })
    }

    /// The variables of another text, if it is the same around them.
    fn variables_of(&self, text: &str) -> Option<Json> {
        let vars = text.strip_prefix(&*self.head)?.strip_suffix(&*self.tail)?;
        serde_json::from_str(vars).ok()
    }
}

fn is_same_but_for_variables(before: &Json, tree: &Json) -> bool {
    let (Json::Object(before), Json::Object(now)) = (before, tree) else {
        return false;
    };
    let differs = |(key, value): (&String, &Json)| *key != VARS && before.get(key) != Some(value);
    before.len() == now.len() && !now.iter().any(differs)
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

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
            // As programs write it, without spaces: then what is around the variables is known.
            let text = text.replace(": {", ":{");
            assert_eq!(reader.read(&text), from_json(&text));
        }
        assert_eq!(
            reader.read(&text(&vars(2, 1, 10, 50, 3), "Q")),
            from_json(&text(&vars(2, 1, 10, 50, 3), "Q"))
        );
    }

    #[test]
    fn a_text_that_is_the_same_around_its_variables_is_read_by_these_alone() {
        let before = |vars: &str, more: &str| {
            format!(
                r#"{{"duration":"D * 1 s","note":{{"vars":{{"D":7}}}},"vars":{vars},"links":{{"vars":1}}{more}}}"#
            )
        };
        let first = before(r#"{"D":2,"E":"\"vars\":{}"}"#, "");
        let tree = parse(&first).expect("JSON");
        let around = AroundVariables::of(&first, &tree).expect("it has variables");
        let others = [
            r#"{"D":3}"#,
            r#" {"D": [3, {"vars":{}}]} "#,
            "null",
            r#"{"D":3},"more":{"D":4}"#,
            r#"{"D":3"#,
            "",
        ];
        for vars in others {
            let text = before(vars, "");
            let read = around.variables_of(&text);
            let Ok(tree) = parse(&text) else {
                assert_eq!(read, None, "{vars}");
                continue;
            };
            // Two tables are not one.
            let wanted = (tree.as_object().map(Map::len) == Some(4)).then(|| tree[VARS].clone());
            assert_eq!(read, wanted, "{vars}");
        }
        assert_eq!(
            around.variables_of(&before(r#"{"D":3}"#, r#","sample":1"#)),
            None
        );
        // Which of two it is would have to be known.
        let twice = r#"{"vars":{"D":1},"vars":{"D":1}}"#;
        let tree = parse(twice).expect("JSON");
        let around = AroundVariables::of(twice, &tree);
        let other = twice.replacen('1', "2", 1);
        let read = around.and_then(|around| around.variables_of(&other));
        assert!(read.is_none_or(|vars| Some(&vars) == parse(&other).expect("JSON").get(VARS)));
    }
}
