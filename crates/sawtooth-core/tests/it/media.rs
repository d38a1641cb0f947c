//! Media and the nodes between links: when a packet of a path is where, worked out by hand.

use crate::columns::numbers;
use sawtooth_core::{Scenario, scenario, simulate};
use serde_json::{Value, json};

fn load(tree: &Value) -> Scenario {
    scenario::from_tree(tree).unwrap_or_else(|error| panic!("{error}"))
}

/// Packets of so many bytes, one each millisecond, over links one after another; each link has `delay` of 10 us.
fn over(links: &[Value], bytes: u32) -> Value {
    let names: Vec<String> = (0..links.len()).map(|index| format!("l{index}")).collect();
    let mut tree = json!({
        "duration": "20 ms", "links": {},
        "flows": [{"path": names, "transport": "udp", "stop": "10 ms", "source": {
            "name": "constant_rate", "rate": format!("{} kbit/s", 8 * bytes), "size": format!("{bytes} B"),
        }}],
    });
    for (name, link) in names.iter().zip(links) {
        tree["links"][name] = link.clone();
        tree["links"][name]["delay"] = json!("10 us");
    }
    tree
}

/// Their one-way delay, microseconds, which is that of each; and how much of the first link's time they took.
fn delay_us(links: &[Value], bytes: u32) -> (f64, f64) {
    let records = simulate(&load(&over(links, bytes)), 1);
    let find = |name| numbers(&records, "datagrams", name)[0];
    assert_eq!(find("delivered_packets"), 10.0);
    // Clocks are binary fractions, and records whole nanoseconds.
    assert!((find("delay_max_ns") - find("delay_min_ns")).abs() <= 1.0);
    let utilisation = numbers(&records, "links", "utilisation")[0];
    (find("delay_mean_ns") / 1e3, utilisation)
}

fn close((delay, utilisation): (f64, f64), expected: (f64, f64)) {
    assert!(
        (delay - expected.0).abs() < 2e-3,
        "{delay} us, not {}",
        expected.0
    );
    assert!((utilisation - expected.1).abs() < 1e-9, "{utilisation}");
}

#[test]
fn a_link_is_busy_for_as_long_as_its_medium_makes_of_a_packet() {
    let link = |medium: Value| vec![json!({"rate": "100 Mbit/s", "medium": medium})];
    // 1538 B take 123.04 us, and ten of them 1230.4 of 20 000.
    close(delay_us(&link(json!("ethernet")), 1500), (133.04, 0.061_52));
    // The least frame, 84 B: 6.72 us.
    close(delay_us(&link(json!("ethernet")), 40), (16.72, 0.003_36));
    // 32 cells, 1696 B; or 53 B without LLC and SNAP.
    close(delay_us(&link(json!("atm")), 1500), (145.68, 0.067_84));
    let bare = json!({"name": "atm", "encapsulation": "vc_multiplexing"});
    close(delay_us(&link(bare), 40), (14.24, 0.002_12));
    close(delay_us(&link(json!("none")), 1500), (130.0, 0.06));
}

#[test]
fn a_wire_that_is_not_plain_has_the_medium_too() {
    let steps = json!([{"at": "1 s", "rate": "1 Mbit/s"}]);
    let link = json!({"rate": "100 Mbit/s", "medium": "ethernet", "changes": steps});
    close(delay_us(&[link], 1500), (133.04, 0.061_52));
    let queue = json!({"name": "drr"});
    let link = json!({"rate": "100 Mbit/s", "medium": "ethernet", "queue": queue});
    close(delay_us(&[link], 1500), (133.04, 0.061_52));
}

#[test]
fn a_switch_adds_what_it_waits_for_and_its_latency() {
    let link = |rate: u32, forwarding: Value| json!({"rate": format!("{rate} Mbit/s"), "medium": "ethernet", "forwarding": forwarding});
    let cut = json!("cut_through");
    let store = json!("store_and_forward");
    let two =
        |forwarding: &Value| vec![link(100, forwarding.clone()), link(100, forwarding.clone())];
    // Two frames of 123.04 us and two delays; cut through, the first 22 B of the first one and all of the second: the frame once, and 1.76 us.
    close(delay_us(&two(&store), 1500), (266.08, 0.061_52));
    close(delay_us(&two(&cut), 1500), (144.80, 0.061_52));
    let slow = json!({"name": "store_and_forward", "latency": "7 us", "per_packet": "2 us"});
    // The node of the second link has nothing to pass on.
    close(delay_us(&two(&slow), 1500), (275.08, 0.061_52));
    // Three links: two nodes.
    let three = vec![
        link(100, cut.clone()),
        link(100, cut.clone()),
        link(100, cut.clone()),
    ];
    close(
        delay_us(&three, 1500),
        (123.04 + 2.0 * 1.76 + 30.0, 0.061_52),
    );
    // From 100 to 1000 Mbit/s the frame ends on both at once; from 1000 to 100 it takes 123.04 us and 22 B at 1000.
    let up = vec![link(100, cut.clone()), link(1000, cut.clone())];
    close(delay_us(&up, 1500), (123.04 + 20.0, 0.061_52));
    let down = vec![link(1000, cut.clone()), link(100, cut)];
    close(delay_us(&down, 1500), (123.04 + 0.176 + 20.0, 0.006_152));
}

#[test]
fn a_switch_of_cells_adds_one_cell() {
    let link = json!({"rate": "100 Mbit/s", "medium": "atm", "forwarding": "cut_through"});
    // 192 cells of 4.24 us, and one more.
    let cells = |number: f64| 4.24 * number + 20.0;
    let utilisation = 192.0 * 4.24 * 10.0 / 20_000.0;
    close(
        delay_us(&[link.clone(), link.clone()], 9180),
        (cells(193.0), utilisation),
    );
    // One that is of one cell is stored.
    close(
        delay_us(&[link.clone(), link], 32),
        (cells(2.0), 4.24 * 10.0 / 20_000.0),
    );
}

#[test]
fn what_finds_its_output_busy_waits_for_it() {
    // Two inputs of 100 Mbit/s cut through to one output: frames come at the same time, and the second leaves behind the first.
    let link = json!({"rate": "100 Mbit/s", "delay": "10 us", "medium": "ethernet", "forwarding": "cut_through"});
    let flow = |input: &str| {
        json!({"name": input, "path": [input, "out"], "transport": "udp", "stop": "10 ms",
            "source": {"name": "constant_rate", "rate": "12 Mbit/s", "size": "1500 B"}})
    };
    let tree = json!({
        "duration": "20 ms", "links": {"a": link, "b": link, "out": link}, "flows": [flow("a"), flow("b")],
    });
    let records = simulate(&load(&tree), 1);
    let delays = numbers(&records, "datagrams", "delay_mean_ns");
    assert!(
        (delays[0] - 144_800.0).abs() < 2.0 && (delays[1] - 267_840.0).abs() < 2.0,
        "{delays:?}"
    );
}

#[test]
fn segments_are_as_large_as_the_medium_admits_if_they_are_to_be() {
    let tree = |medium: &str, tcp: Value| {
        json!({"duration": "1 s", "tcp": tcp, "links": {"l": {"rate": "100 Mbit/s", "medium": medium}, "m": {"rate": "1 Gbit/s"}},
            "flows": [{"path": ["m", "l"]}]})
    };
    let smss = |medium: &str| {
        let scenario = load(&tree(medium, json!({"mss_from_mtu": true})));
        assert_eq!(
            scenario.links[0].reverse.medium,
            scenario.links[0].forward.medium
        );
        scenario.flows[0].tcp.bytes("smss")
    };
    assert_eq!((smss("ethernet"), smss("atm")), (1460, 9140));
    let mut small = tree("atm", json!({"mss_from_mtu": true}));
    small["links"]["l"]["mtu"] = json!("1500 B");
    assert_eq!(load(&small).flows[0].tcp.bytes("smss"), 1460);
    // Without it, what is too large is refused, as over any link with an `mtu`.
    let error = scenario::from_tree(&tree("ethernet", json!({"smss": "1461 B"})));
    assert_eq!(error.expect_err("too large").path, "links.l.mtu");
    let error = scenario::from_tree(&tree("none", json!({"mss_from_mtu": true})));
    let error = error.expect_err("there is no mtu");
    assert_eq!(
        (error.path.as_str(), error.message.as_str()),
        (
            "tcp.mss_from_mtu",
            "segments of flow `flow` are to fit the `mtu` of its path, and no link of that has one"
        )
    );
}

#[test]
fn what_no_node_can_do_is_refused_where_it_is_written() {
    let jitter = json!({"name": "uniform", "spread": "1 us"});
    for (first, second, path, message) in [
        (
            json!({"forwarding": "cut"}),
            json!({}),
            "l0.forwarding",
            "unknown forwarding `cut`",
        ),
        (
            json!({"medium": "token_ring"}),
            json!({}),
            "l0.medium",
            "unknown medium `token_ring`",
        ),
        (
            json!({"forwarding": {"name": "store_and_forward", "latency": "-1 us"}}),
            json!({}),
            "l0.forwarding.latency",
            "`latency` cannot be negative, found -0.000001 s",
        ),
        (
            json!({"forwarding": "cut_through", "medium": "ethernet"}),
            json!({}),
            "l0.forwarding",
            "nothing cuts through from link `l0` to `l1`: their media are ethernet and none",
        ),
        (
            json!({}),
            json!({"reverse": {"forwarding": "cut_through", "medium": "atm"}}),
            "l1.reverse.forwarding",
            "nothing cuts through from link `l1` to `l0`: their media are atm and none",
        ),
        (
            json!({"forwarding": "cut_through"}),
            json!({"jitter": jitter}),
            "l0.forwarding",
            "what cuts through from link `l0` to `l1` needs to know how long it takes on both, and `l1` has no one rate and delay",
        ),
        (
            json!({"duplicate": 0.1, "forwarding": {"name": "store_and_forward", "per_packet": "1 us"}}),
            json!({}),
            "l0.forwarding",
            "`per_packet` takes one packet after the other, and those of link `l0` come in another order, or twice",
        ),
        (
            json!({"medium": "ethernet", "trace": [1, 2]}),
            json!({}),
            "l0.medium",
            "a link with a `trace` has no `medium`: the trace says when packets leave",
        ),
    ] {
        let mut links = [json!({"rate": "1 Mbit/s"}), json!({"rate": "1 Mbit/s"})];
        for (link, more) in links.iter_mut().zip([first, second]) {
            for (key, value) in more.as_object().expect("keys") {
                link[key] = value.clone();
                if key == "trace" {
                    link.as_object_mut().expect("a link").remove("rate");
                }
            }
        }
        let error = scenario::from_tree(&over(&links, 100)).expect_err("it is refused");
        assert_eq!(
            (error.path, error.message),
            (format!("links.{path}"), message.to_owned())
        );
    }
}
