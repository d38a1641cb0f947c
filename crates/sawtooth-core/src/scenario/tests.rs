use super::for_kernel::for_kernel;
use super::*;
use crate::loss::LossSpec;
use crate::registry::Value;
use crate::spec::Recording;
use crate::tcp::key;
use serde_json::{Value as Json, json};

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
    let error = from_tree(tree).expect_err("a refusal");
    assert_eq!(
        (error.path.as_str(), error.message.as_str()),
        (path, message)
    );
    assert_eq!(error.hint.unwrap_or_default(), hint);
}

#[test]
fn counts_and_expressions_are_resolved() {
    let scenario = from_tree(&dumbbell()).expect("a scenario");
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
    let scenario = from_tree(&tree).expect("a scenario");
    // 128 kbit/s x 500 ms / 8 / 2; the nearest sender has no delay.
    assert_eq!(
        scenario.links[0].forward.queue.params.get("limit"),
        Value::Bytes(4000)
    );
}

#[test]
fn the_reverse_direction_mirrors_unless_given() {
    let tree = added("/links/bottleneck", "reverse", json!({"rate": "1 Mbit/s"}));
    let link = &from_tree(&tree).expect("a scenario").links[0];
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
        "did you mean `newreno`? known are tahoe, reno, newreno, sack, fack, rack",
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
        "give a time of zero or more, or leave it out for zero",
    );
}

#[test]
fn bytes_are_whole_also_where_floating_point_is_a_little_beside() {
    let size = |text: &str| {
        let tree = added("/flows/0", "source", json!({"name": "bulk", "size": text}));
        from_tree(&tree).map(|scenario| scenario.flows.len())
    };
    for kilobytes in 1..5000 {
        let tenths = format!("{}.{} kB", kilobytes / 10, kilobytes % 10);
        size(&tenths).unwrap_or_else(|error| panic!("{tenths}: {}", error.message));
    }
    size("32.2005 kB").expect_err("half a byte");
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
fn a_block_may_have_no_flows() {
    let mut tree = dumbbell();
    let mut other = tree["flows"][0].clone();
    other["name"] = json!("other");
    other["count"] = json!(0);
    other["start"] = json!("S / 0");
    tree["flows"]
        .as_array_mut()
        .expect("a list")
        .push(other.clone());
    assert_eq!(from_tree(&tree).expect("a scenario").flows.len(), 4);
    tree["flows"][1]["colour"] = json!("red");
    let error = from_tree(&tree).expect_err("a refusal");
    assert_eq!(error.path, "flows[1].colour");
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
        "a scenario needs at least one flow, and the count of every block is 0",
        "leave one block with a count of 1 or more",
    );
    refused(
        &edited("/flows/0/count", json!(-1)),
        "flows[0].count",
        "a count must be a whole number from 0 to 10000000, found -1",
        "",
    );
}

#[test]
fn errors_in_expressions_carry_their_place() {
    let error = from_tree(&edited("/flows/0/start", json!("S / (N - 4)"))).expect_err("a refusal");
    assert_eq!(error.message, "division by zero: `(N - 4)` is 0");
    assert_eq!(error.span, Some((4, 11)));
    let error = from_tree(&edited("/flows/0/path/0", json!("sender[j]"))).expect_err("a refusal");
    assert_eq!(
        (error.message.as_str(), error.span),
        ("unknown variable `j`", Some((7, 8)))
    );
    let error = from_tree(&edited("/vars/Tp", json!("Tp + 1 s"))).expect_err("a refusal");
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

#[track_caller]
fn refused_for_a_kernel(tree: &Json, path: &str, message: &str) {
    let error = for_kernel(tree).expect_err("a refusal");
    assert_eq!(
        (error.path.as_str(), error.message.as_str()),
        (path, message)
    );
    assert!(error.hint.is_some(), "it says what to do");
}

#[test]
fn a_kernel_is_not_told_what_it_cannot_be_told() {
    let fetch = json!({
        "duration": "3 s", "links": {"l": {"rate": "10 Mbit/s", "delay": "20 ms", "drop": [3]}},
        "flows": [{"path": ["l"], "cc": "reno"}],
    });
    assert!(for_kernel(&fetch).is_ok());
    let with = |key: &str, value: Json| {
        let mut tree = fetch.clone();
        tree[key] = value;
        tree
    };
    refused_for_a_kernel(
        &with("tcp", json!({"smss": "1000 B", "recovery": "newreno"})),
        "tcp.recovery",
        "a real kernel cannot be told `recovery`: it has its own",
    );
    refused_for_a_kernel(
        &with(
            "flows",
            json!([{"path": ["l"], "cc": {"name": "highspeed", "low_window": 10}}]),
        ),
        "flows[0].cc",
        "a real kernel cannot be told parameters of `highspeed`",
    );
    refused_for_a_kernel(
        &with("kernel", json!({"shaper": "kernel"})),
        "kernel.shaper",
        "the kernel's shaper cannot make the loss of chosen packets",
    );
    refused_for_a_kernel(
        &with("kernel", json!({"application": "http"})),
        "kernel.application",
        "a file has a size, and flow `flow` is endless",
    );
    let mut tree = with("kernel", json!({"application": "http"}));
    tree["flows"][0]["source"] = json!({"name": "bulk", "size": "1 MB"});
    assert!(for_kernel(&tree).is_ok());
    tree["flows"][0]["tcp"] = json!({"window_limit": "10 packets"});
    refused_for_a_kernel(
        &tree,
        "kernel.application",
        "packaged programs cannot be told a `window_limit`",
    );
    tree["sample"] = json!("10 ms");
    refused_for_a_kernel(
        &tree,
        "sample",
        "the sockets of packaged programs cannot be sampled",
    );
    refused_for_a_kernel(
        &with(
            "flows",
            json!([{"path": ["l"]}, {"path": ["l"], "name": "other", "tcp": {"rto_min": "50 ms"}}]),
        ),
        "flows",
        "flows `flow1` and `other` want `rto_min` otherwise: a real kernel has one for all flows between two hosts",
    );
    refused_for_a_kernel(
        &with(
            "receiver_cc",
            json!({"name": "highspeed", "low_window": 10}),
        ),
        "receiver_cc.low_window",
        "the receiver's algorithm has no parameter `low_window`",
    );
    let mut tree = with("kernel", json!({"shaper": "kernel"}));
    tree["sample"] = json!("ack");
    refused_for_a_kernel(
        &tree,
        "sample",
        "with the kernel's shaper nobody sees an acknowledgement arrive",
    );
}

#[test]
fn a_kernel_has_flows_that_arrive_and_connections_of_requests_and_responses() {
    let tree = |flows: Json| {
        json!({
            "duration": "3 s", "links": {"l": {"rate": "10 Mbit/s", "delay": "20 ms"}}, "flows": flows, "record": ["transfers"],
        })
    };
    let web = json!({"name": "web", "path": ["l"], "arrivals": {"rate": 10}});
    let one = tree(json!([web]));
    let (scenario, _) = for_kernel(&one).expect("a scenario");
    assert!(scenario.flows.is_empty() && scenario.record.transfers);
    // What hosts share those that arrive share, too.
    refused_for_a_kernel(
        &tree(json!([{"path": ["l"], "tcp": {"rto_min": "50 ms"}}, web])),
        "flows",
        "flows `flow1` and `web` want `rto_min` otherwise: a real kernel has one for all flows between two hosts",
    );
    let mut fetched = tree(json!([web]));
    fetched["kernel"] = json!({"application": "http"});
    refused_for_a_kernel(
        &fetched,
        "flows[0].arrivals",
        "packaged programs fetch one file each: none arrive and leave",
    );
    // Whoever asks does it with the algorithm that answers, unless it is told another one.
    let algorithms = |more: Json| {
        let mut flow =
            json!({"path": ["l"], "cc": "kernel:cubic", "source": {"name": "request_response"}});
        let keys = more.as_object().expect("keys").clone();
        flow.as_object_mut().expect("a flow").extend(keys);
        let tree = tree(json!([flow]));
        let (scenario, _) = for_kernel(&tree).expect("a scenario");
        scenario.flows[0].receiver_cc.clone()
    };
    assert_eq!(algorithms(json!({})), "cubic");
    assert_eq!(algorithms(json!({"receiver_cc": "kernel:bbr"})), "bbr");
    assert_eq!(algorithms(json!({"source": {"name": "bulk"}})), "reno");
}

#[test]
fn what_is_recorded_besides_is_asked_for_by_name() {
    let mut tree = added("", "record", json!(["episodes", "variables"]));
    tree["sample"] = json!("ack");
    let both = Recording {
        variables: true,
        episodes: true,
        ..Recording::default()
    };
    assert_eq!(from_tree(&tree).expect("a scenario").record, both);
    let example = "for example record = [\"variables\", \"episodes\"]";
    for (record, path, message, hint) in [
        (
            json!("episodes"),
            "record",
            "expected a list of tables",
            example,
        ),
        (
            json!(["episodes", 1]),
            "record[1]",
            "expected the name of a table",
            example,
        ),
        (
            json!(["episode"]),
            "record[0]",
            "`episode` is no table that can be asked for",
            "did you mean `episodes`?",
        ),
        (
            json!(["parcels"]),
            "record[0]",
            "`parcels` is no table that can be asked for",
            "there are variables, episodes, limited, transfers, waits, link_flows, packets, stalls, layers",
        ),
        (
            json!(["variables"]),
            "record[0]",
            "variables are taken with the samples, and there are none",
            "add sample = \"100 ms\", or \"ack\"",
        ),
    ] {
        refused(&added("", "record", record), path, message, hint);
    }
    let mut tree = added("", "record", json!(["packets"]));
    tree["record_until"] = json!("0 s");
    refused(
        &tree,
        "record_until",
        "nothing is between 0 s, where recording packets begins, and 0 s, where it ends",
        "the run takes 50 s",
    );
    refused_for_a_kernel(
        &json!({
            "duration": "1 s", "links": {"l": {"rate": "1 Mbit/s"}}, "flows": [{"path": ["l"]}], "record": ["episodes"],
        }),
        "record",
        "a real kernel does not tell its episodes",
    );
    // What becomes of packets on the way the simulator's links tell, which are there, too, unless the kernel makes its own.
    let mut tree = json!({
        "duration": "1 s", "links": {"l": {"rate": "1 Mbit/s"}}, "flows": [{"path": ["l"]}], "record": ["waits", "link_flows"],
    });
    let recorded = for_kernel(&tree).expect("a scenario").0.record;
    assert!(recorded.waits && recorded.link_flows);
    tree["kernel"] = json!({"shaper": "kernel"});
    refused_for_a_kernel(
        &tree,
        "record",
        "the kernel's shaper does not tell what becomes of each packet",
    );
}

#[test]
fn a_kernels_algorithm_is_a_name_and_nothing_else() {
    let tree = |cc: Json| edited("/flows/0/cc", cc);
    let cdg = tree(json!("kernel:cdg"));
    let scenario = from_tree(&cdg).expect("a scenario");
    assert_eq!(scenario.flows[0].cc_in_kernel(), "cdg");
    let error = for_simulator(&cdg).expect_err("a refusal");
    assert_eq!(error.path, "flows[0].cc");
    refused(
        &tree(json!("kernel:")),
        "flows[0].cc",
        "`kernel:` lacks the name of a congestion control",
        "for example \"kernel:cubic\"",
    );
    refused(
        &tree(json!({"name": "kernel:cubic", "beta": 0.5})),
        "flows[0].cc.beta",
        "a kernel's algorithm has no parameter `beta`",
        "leave it out: parameters of modules are the kernel's own",
    );
}

#[test]
fn losses_are_of_the_direction_that_they_are_written_in() {
    let mut tree = dumbbell();
    tree["links"]["bottleneck"]["loss"] = json!(0.25);
    tree["links"]["bottleneck"]["drop"] = json!([7, 3, 7]);
    let link = &from_tree(&tree).expect("a scenario").links[0];
    assert_eq!(link.forward.loss.probability, 0.25);
    assert_eq!(link.forward.loss.drop, [3, 7]);
    assert_eq!(link.reverse.loss, LossSpec::default());
    refused(
        &added("/links/bottleneck", "loss", json!(1.5)),
        "links.bottleneck.loss",
        "`loss` is a probability from 0 to 1, found 1.5",
        "",
    );
    refused(
        &added("/links/bottleneck", "drop", json!([0])),
        "links.bottleneck.drop[0]",
        "packets are counted from 1, found 0",
        "",
    );
}

#[test]
fn settings_of_a_kernel_are_read_and_misspelt_ones_are_not() {
    let flow = &from_tree(&dumbbell()).expect("a scenario").flows[0];
    assert_eq!(flow.given, ["window_limit"]);
    assert!(flow.given(key::window_limit).is_some() && flow.given(key::smss).is_none());
    let tree = added(
        "",
        "kernel",
        json!({"time": "real", "cpus": 2, "memory": "2 GB", "image": "6.1-hz1000", "sysctl": {"net.ipv4.tcp_sack": false}}),
    );
    let kernel = from_tree(&tree).expect("a scenario").kernel;
    assert_eq!(kernel.settings.choice("time"), "real");
    assert_eq!(kernel.settings.bytes("memory"), 2_000_000_000);
    assert_eq!(kernel.image.as_deref(), Some("6.1-hz1000"));
    assert_eq!(
        kernel.sysctl,
        [("net.ipv4.tcp_sack".to_owned(), "0".to_owned())]
    );
    refused(
        &added("", "kernel", json!({"tme": "real"})),
        "kernel.tme",
        "unknown setting of a kernel `tme`",
        "did you mean `time`?",
    );
    refused(
        &added("", "kernel", json!({"sysctl": {"vm.swappiness": 1}})),
        "kernel.sysctl.vm.swappiness",
        "`vm.swappiness` is not a setting of the network",
        "for example \"net.ipv4.tcp_sack\" = 0, with its name in quotes",
    );
}

#[test]
fn an_algorithm_that_lives_on_marks_brings_the_feedback_it_needs_unless_told_otherwise() {
    for (cc, asked, expected) in [
        ("reno", None, "off"),
        ("dctcp", None, "dctcp"),
        ("prague", None, "accurate"),
        ("dctcp", Some("off"), "off"),
        ("reno", Some("classic"), "classic"),
    ] {
        let mut tree = edited("/flows/0/cc", json!(cc));
        if let Some(ecn) = asked {
            tree["tcp"]["ecn"] = json!(ecn);
        }
        let scenario = from_tree(&tree).expect("a scenario");
        assert_eq!(scenario.flows[0].tcp.choice("ecn"), expected, "{cc}");
    }
}

#[test]
fn a_threshold_may_be_given_in_bandwidth_delay_products() {
    let queue = json!({"name": "step", "limit": "2 bdp", "mark_above": "0.5 bdp"});
    let tree = edited("/links/bottleneck/queue", queue);
    let scenario = from_tree(&tree).expect("a scenario");
    // 128 kbit/s times the 500 ms of the flow without further delay: 8000 bytes.
    let params = &scenario.links[0].forward.queue.params;
    assert_eq!(params.get("limit"), Value::Bytes(16_000));
    assert_eq!(params.get("mark_above"), Value::Bytes(4_000));
}
