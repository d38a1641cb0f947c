use super::*;
use serde_json::json;

fn dumbbell() -> Json {
    json!({
        "duration": "50 s",
        "stack": "ns2",
        "vars": {"Bw": "128 kbit/s", "Tp": "250 ms", "D": "100 ms", "N": 4, "S": "586 ms"},
        "tcp": {"window_limit": "10000 packets"},
        "links": {
            "bottleneck": {"rate": "Bw", "delay": "Tp", "queue": {"name": "drop_tail", "limit": "50 packets"}},
            "sender": {"rate": "Bw", "delay": "(i - 1) * D", "count": "N"},
        },
        "flows": [{"path": ["sender[i]", "bottleneck"], "count": "N", "start": "S / N * i", "cc": "reno"}],
    })
}

fn edited(path: &str, value: Json) -> Json {
    let mut tree = dumbbell();
    *tree
        .pointer_mut(path)
        .unwrap_or_else(|| panic!("no {path}")) = value;
    tree
}

fn added(parent: &str, key: &str, value: Json) -> Json {
    let mut tree = dumbbell();
    tree.pointer_mut(parent).expect("a parent")[key] = value;
    tree
}

#[track_caller]
fn refused(tree: &Json, path: &str, message: &str, hint: &str) {
    let error = Scenario::from_tree(tree).expect_err("a refusal");
    assert_eq!(
        (error.path.as_str(), error.message.as_str()),
        (path, message)
    );
    assert_eq!(error.hint.unwrap_or_default(), hint);
}

#[test]
fn counts_and_expressions_are_resolved() {
    let scenario = Scenario::from_tree(&dumbbell()).expect("a scenario");
    assert_eq!(scenario.links.len(), 5);
    assert_eq!(scenario.links[4].name, "sender[4]");
    assert_eq!(scenario.links[4].forward.delay.secs(), 3.0 * 0.1);
    assert_eq!(scenario.flows[2].path, [3, 0]);
    assert_eq!(scenario.flows[2].start.secs(), 0.586 / 4.0 * 3.0);
    assert_eq!(scenario.flows[2].name, "flow[3]");
    assert_eq!(
        scenario.flows[0].tcp.get("window_limit"),
        Value::Packets(10_000)
    );
    assert_eq!(
        scenario.flows[0].tcp.get("smss"),
        Value::Bytes(1000),
        "from the stack"
    );
}

#[test]
fn a_limit_in_bdp_becomes_bytes() {
    let tree = edited("/links/bottleneck/queue/limit", json!("0.5 bdp"));
    let scenario = Scenario::from_tree(&tree).expect("a scenario");
    // 128 kbit/s x 500 ms / 8 / 2; the nearest sender has no delay.
    assert_eq!(
        scenario.links[0].forward.queue.params.get("limit"),
        Value::Bytes(4000)
    );
}

#[test]
fn the_reverse_direction_mirrors_unless_given() {
    let tree = added("/links/bottleneck", "reverse", json!({"rate": "1 Mbit/s"}));
    let link = &Scenario::from_tree(&tree).expect("a scenario").links[0];
    assert_eq!(
        (link.reverse.rate.bps(), link.reverse.delay.secs()),
        (1e6, 0.25)
    );
}

#[test]
fn misspelt_keys_and_names_are_refused() {
    refused(
        &added("", "durations", json!("1 s")),
        "durations",
        "unknown key `durations`",
        "did you mean `duration`?",
    );
    refused(
        &edited("/flows/0/cc", json!("highsped")),
        "flows[0].cc",
        "unknown congestion control `highsped`",
        "did you mean `highspeed`? `sawtooth list cc` shows all",
    );
    refused(
        &edited("/flows/0/cc", json!({"name": "reno", "betta": 0.5})),
        "flows[0].cc.betta",
        "unknown parameter of reno `betta`",
        "did you mean `beta`?",
    );
    refused(
        &added("/tcp", "recovery", json!("newrino")),
        "tcp.recovery",
        "unknown recovery `newrino`",
        "did you mean `newreno`? known are tahoe, reno, newreno, sack",
    );
    refused(
        &edited("/stack", json!("ns3")),
        "stack",
        "unknown stack `ns3`",
        "did you mean `ns2`? `sawtooth list stack` shows all",
    );
}

#[test]
fn wrong_values_are_refused() {
    refused(
        &edited("/links/bottleneck/rate", json!("10 ms")),
        "links.bottleneck.rate",
        "expected a rate such as `10 Mbit/s`, found a time",
        "",
    );
    refused(
        &edited("/links/bottleneck/rate", json!("-1 kbit/s")),
        "links.bottleneck.rate",
        "a link's rate must be above zero, found -1000 bit/s",
        "",
    );
    refused(
        &edited("/links/bottleneck/rate", json!("0 bit/s")),
        "links.bottleneck.rate",
        "a link's rate must be above zero, found 0 bit/s",
        "",
    );
    refused(
        &edited("/links/bottleneck/rate", json!(1000)),
        "links.bottleneck.rate",
        "expected a rate such as `10 Mbit/s`, found a plain number",
        "write the value with its unit, in quotes",
    );
    refused(
        &edited("/links/bottleneck/queue/limit", json!("0 packets")),
        "links.bottleneck.queue.limit",
        "`limit` must be a whole number of packets above zero, found 0",
        "",
    );
    refused(
        &edited("/duration", json!("0 s")),
        "duration",
        "`duration` must be above zero, found 0 s",
        "",
    );
    refused(
        &edited("/flows/0/cc", json!({"name": "reno", "beta": 1.5})),
        "flows[0].cc.beta",
        "`beta` must be from 0.01 to 0.99, found 1.5",
        "",
    );
    refused(
        &edited("/flows/0/start", json!("-1 s")),
        "flows[0].start",
        "a flow cannot start before the run: -1 s",
        "",
    );
}

#[test]
fn wrong_paths_are_refused() {
    refused(
        &edited("/flows/0/path", json!([])),
        "flows[0].path",
        "a path needs at least one link",
        "list the links in the order data crosses them",
    );
    refused(
        &edited("/flows/0/path/1", json!("botleneck")),
        "flows[0].path[1]",
        "unknown link `botleneck`",
        "did you mean `bottleneck`?",
    );
    refused(
        &edited("/flows/0/path/0", json!("sender")),
        "flows[0].path[0]",
        "there are 4 links `sender`; say which",
        "for example \"sender[i]\"",
    );
    refused(
        &edited("/flows/0/path/0", json!("sender[i + 1]")),
        "flows[0].path[0]",
        "`sender[i + 1]` is number 5, but they go from 1 to 4",
        "",
    );
    refused(
        &edited("/flows/0/path/1", json!("bottleneck[1]")),
        "flows[0].path[1]",
        "there is only one `bottleneck`",
        "write \"bottleneck\"",
    );
}

#[test]
fn no_flows_are_refused() {
    refused(
        &edited("/flows", json!([])),
        "flows",
        "a scenario needs at least one flow",
        "for example [[scenario.flows]] with path = [\"bottleneck\"]",
    );
    refused(
        &edited("/flows/0/count", json!(0)),
        "flows[0].count",
        "a count must be a whole number from 1 to 10000000, found 0",
        "",
    );
}

#[test]
fn errors_in_expressions_carry_their_place() {
    let error = Scenario::from_tree(&edited("/flows/0/start", json!("S / (N - 4)")))
        .expect_err("a refusal");
    assert_eq!(error.message, "division by zero: `(N - 4)` is 0");
    assert_eq!(error.span, Some((4, 11)));
    let error =
        Scenario::from_tree(&edited("/flows/0/path/0", json!("sender[j]"))).expect_err("a refusal");
    assert_eq!(
        (error.message.as_str(), error.span),
        ("unknown variable `j`", Some((7, 8)))
    );
    let error = Scenario::from_tree(&edited("/vars/Tp", json!("Tp + 1 s"))).expect_err("a refusal");
    assert_eq!(
        (error.path.as_str(), error.message.as_str()),
        ("vars.Tp", "variable `Tp` is defined by itself")
    );
}

#[test]
fn two_flows_of_one_name_are_refused() {
    let mut tree = dumbbell();
    let block = tree["flows"][0].clone();
    tree["flows"] = json!([block, block]);
    tree["flows"][0]["name"] = json!("a");
    tree["flows"][1]["name"] = json!("a");
    refused(
        &tree,
        "flows[1].name",
        "two flows are called `a`",
        "give each its own name",
    );
}
