//! The tables of keys say what the reader does: what they have is accepted and what they have not is refused, and defaults are the reader's.

use sawtooth_core::internals::scenario::keys::{
    Missing, RECORD, ScenarioKey, ScenarioTable, TABLES, Takes,
};
use sawtooth_core::record::SCHEMA;
use sawtooth_core::{Scenario, ScenarioError, scenario};
use serde_json::{Value as Json, json};

/// A scenario that has a table with these keys, where `table` says.
fn scenario(table: &ScenarioTable, keys: &Json) -> Result<Scenario, ScenarioError> {
    let mut tree = json!({
        "duration": "60 s",
        "links": {"l": {"rate": "10 Mbit/s"}},
        "flows": [{"path": ["l"]}],
        "hosts": {"h": {}},
    });
    let with = |base: Json| {
        let mut base = base;
        for (key, value) in keys.as_object().expect("a table") {
            base[key] = value.clone();
        }
        base
    };
    let link = |key: &str, value: Json| json!({"l": {"rate": "10 Mbit/s", key: value}});
    let flow = |key: &str, value: Json| json!([{"path": ["l"], key: value}]);
    match table.path {
        "" => tree = with(tree),
        "links.NAME" if keys.get("trace").is_some() => tree["links"]["l"] = keys.clone(),
        "links.NAME" => tree["links"]["l"] = with(json!({"rate": "10 Mbit/s"})),
        "links.NAME.trace" => tree["links"] = json!({"l": {"trace": keys}}),
        "links.NAME.changes" => {
            let rows = json!({"rows": [{"at": "1 s", "rate": "1 Mbit/s"}]});
            let own = keys.get("file").is_some();
            tree["links"] = link("changes", if own { keys.clone() } else { with(rows) });
        }
        "links.NAME.changes.rows[]" => {
            tree["links"] = link("changes", json!([with(json!({"at": "1 s"}))]));
        }
        "links.NAME.jitter" => {
            let measured = json!({"quantiles": ["0 ms", "1 ms"]});
            let base = if keys.get("file").is_some() {
                json!({})
            } else {
                measured
            };
            let mut jitter = with(base);
            jitter["name"] = json!("table");
            tree["links"] = link("jitter", jitter);
        }
        "links.NAME.outages[]" => {
            tree["links"] = link(
                "outages",
                json!([with(json!({"from": "1 s", "until": "5.1 s"}))]),
            );
        }
        "flows[]" => tree["flows"][0] = with(json!({"path": ["l"]})),
        "flows[] of UDP" => {
            tree["flows"][0] =
                with(json!({"path": ["l"], "source": "poisson", "transport": "udp"}));
            // The word is an example of a flow of TCP, too.
            tree["flows"][0]["transport"] = json!("udp");
        }
        "flows[] that are a fluid" => {
            tree["flows"][0] = with(json!({"path": ["l"]}));
            // The word is an example of a flow of packets, too.
            tree["flows"][0]["model"] = json!("fluid");
        }
        "flows[].arrivals" => {
            tree["flows"] = flow("arrivals", with(json!({"load": 0.5, "size": "10 kB"})));
        }
        "hosts.NAME" => tree["hosts"]["h"] = keys.clone(),
        "kernel" | "shortcuts" => tree[table.path] = keys.clone(),
        "a distribution" => {
            let own = keys.get("file").is_some();
            let mut size = with(if own {
                json!({})
            } else {
                json!({"points": [[1000, 1]]})
            });
            size["name"] = json!("empirical");
            tree["flows"] = flow("arrivals", json!({"rate": 1, "size": size}));
        }
        other => panic!("the test does not know the table `{other}`"),
    }
    // What the examples name: links and hosts are there whatever the key is.
    if tree["links"]["l"].get("count").is_some() {
        tree["flows"][0]["path"] = json!(["l[1]"]);
    }
    if tree["hosts"].get("h").is_none() {
        tree["hosts"]["h"] = json!({});
    }
    scenario::from_tree(&tree)
}

fn every_key() -> impl Iterator<Item = (&'static ScenarioTable, &'static ScenarioKey)> {
    TABLES.iter().flat_map(|table| {
        let keys = table.keys.iter().copied().flatten();
        keys.map(move |key| (table, key))
    })
}

fn parsed(text: &str) -> Json {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn every_key_of_the_tables_is_accepted_with_its_example() {
    for (table, key) in every_key() {
        let tree = json!({ key.name: parsed(key.example) });
        let made = scenario(table, &tree);
        if key.takes == Takes::File {
            let error = made.expect_err("the core reads no files");
            assert!(error.message.contains("files"), "{error}");
            assert_eq!(error.path.rsplit('.').next(), Some("file"), "{error}");
        } else {
            made.unwrap_or_else(|error| panic!("{}.{}: {error}", table.path, key.name));
        }
    }
}

#[test]
fn a_key_that_is_left_out_means_the_default_of_the_tables() {
    for (table, key) in every_key() {
        let Missing::As(default) = key.missing else {
            continue;
        };
        let written = scenario(table, &json!({ key.name: parsed(default) }));
        let written =
            written.unwrap_or_else(|error| panic!("{}.{}: {error}", table.path, key.name));
        let left_out = scenario(table, &json!({})).expect("a scenario");
        assert_eq!(written, left_out, "{}.{}", table.path, key.name);
    }
}

#[test]
fn a_key_that_no_table_has_is_refused() {
    for table in TABLES {
        let error = scenario(table, &json!({"qqqqqqq": 1})).expect_err("no such key");
        assert!(
            error.at_key && error.message.starts_with("unknown "),
            "{error}"
        );
        assert!(error.message.contains("`qqqqqqq`"), "{error}");
    }
}

#[test]
fn a_key_that_is_needed_is_missed() {
    for (table, key) in every_key() {
        if key.missing != Missing::Refused || key.name == "name" {
            continue;
        }
        let mut tree = json!({
            "duration": "60 s",
            "links": {"l": {"rate": "10 Mbit/s", "outages": [{"from": "1 s", "until": "2 s"}], "changes": [{"at": "1 s"}]}},
            "flows": [{"path": ["l"], "transport": "udp", "source": "poisson"}],
        });
        let place = match table.path {
            "" => "",
            "links.NAME.changes.rows[]" => "/links/l/changes/0",
            "links.NAME.outages[]" => "/links/l/outages/0",
            path if path.starts_with("flows[]") => "/flows/0",
            other => panic!("the test does not know the table `{other}`"),
        };
        scenario::from_tree(&tree).expect("complete");
        let parent = tree.pointer_mut(place).and_then(Json::as_object_mut);
        parent.expect("a table").remove(key.name).expect("the key");
        let error = scenario::from_tree(&tree).expect_err(key.name);
        assert!(
            error.message.contains(&format!("`{}`", key.name)) || error.message.contains("needs"),
            "{error}"
        );
    }
}

#[test]
fn what_is_recorded_on_request_are_tables_of_results() {
    for word in RECORD {
        assert!(SCHEMA.iter().any(|table| table.name == *word), "{word}");
    }
}
