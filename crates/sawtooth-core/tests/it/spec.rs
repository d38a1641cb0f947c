//! Scenarios that a program makes, without a tree.

use sawtooth_core::internals::tcp::STACKS;
use sawtooth_core::internals::{cc, dist, packet_source, queue};
use sawtooth_core::registry::{DistributionSpec, Params, Value};
use sawtooth_core::scenario;
use sawtooth_core::spec::{
    Arrivals, ArrivingSpec, FlowSpec, HostSpec, LinkSpec, Part, Sampling, Scenario, UdpSpec,
};
use sawtooth_core::units::{Duration, Instant, Rate};
use serde_json::json;

fn link() -> LinkSpec {
    LinkSpec::new("l", Rate::from_bps(10e6), Duration::from_secs(0.02))
}

#[test]
fn what_a_program_does_not_say_is_what_a_tree_does_not_say() {
    let tree = json!({
        "duration": "4 s",
        "links": {"l": {"rate": "10 Mbit/s", "delay": "20 ms"}},
        "flows": [{"path": ["l"]}],
    });
    let made = Scenario::new(
        Duration::from_secs(4.0),
        vec![link()],
        vec![FlowSpec::new("flow", vec![0])],
    );
    assert_eq!(scenario::from_tree(&tree).expect("a scenario"), made);
}

#[test]
fn a_program_can_say_whatever_a_tree_says() {
    let tree = json!({
        "duration": "4 s",
        "sample": "1 s",
        "hosts": {"pc": {"write_cost": "10 us"}},
        "links": {"l": {"rate": "10 Mbit/s", "delay": "20 ms", "queue": {"name": "codel", "target": "10 ms"}}},
        "flows": [
            {"name": "download", "path": ["l"], "cc": "cubic", "host": "pc", "start": "1 s"},
            {"name": "call", "path": ["l"], "transport": "udp", "source": {"name": "poisson", "rate": "1 Mbit/s"}},
            {"name": "web", "path": ["l"], "arrivals": {"rate": 2, "size": "20 kB"}},
        ],
    });
    let mut link = link();
    let codel = Part::named(queue::TABLE, "codel").expect("a row");
    link = link.with_queue(codel.with("target", Value::Duration(0.01)));
    let mut host = HostSpec::new("pc");
    host.params.set("write_cost", Value::Duration(10e-6));
    let download = FlowSpec {
        cc: Part::named(cc::TABLE, "cubic").expect("a row"),
        start: Instant::from_secs(1.0),
        host: Some(0),
        receiver_host: Some(1),
        ..FlowSpec::new("download", vec![0])
    };
    let poisson = Part::named(packet_source::TABLE, "poisson").expect("a row");
    let poisson = poisson.with("rate", Value::Rate(1e6));
    let mut size = Params::defaults(dist::TABLE[0].params);
    size.set("value", Value::Number(20e3));
    let web = ArrivingSpec {
        flow: FlowSpec::new("web", vec![0]),
        arrivals: Arrivals {
            rate: 2.0,
            size: DistributionSpec {
                name: dist::TABLE[0].name,
                params: size,
                points: Vec::new(),
            },
            number: None,
            start: Instant::START,
            stop: Instant::from_secs(4.0),
            bins_per_decade: 1,
        },
    };
    let made = Scenario {
        sample: Sampling::Every(Duration::from_secs(1.0)),
        arriving: vec![web],
        udp: vec![UdpSpec::new(
            "call",
            vec![0],
            poisson,
            Instant::from_secs(4.0),
        )],
        hosts: vec![host.clone(), host.peer()],
        ..Scenario::new(Duration::from_secs(4.0), vec![link], vec![download])
    };
    assert_eq!(scenario::from_tree(&tree).expect("a scenario"), made);
    assert_eq!(made.check(), Ok(()));
    // There and back.
    assert_eq!(made.base_rtt(&made.flows[0]), Duration::from_secs(0.04));
}

#[test]
fn a_stack_and_a_congestion_control_are_those_of_a_tree_that_names_them() {
    for stack in STACKS {
        for entry in cc::TABLE {
            let tree = json!({
                "duration": "1 s",
                "stack": stack.name,
                "cc": entry.name,
                "links": {"l": {"rate": "10 Mbit/s", "delay": "20 ms"}},
                "flows": [{"path": ["l"]}],
            });
            // Not every algorithm can have what it needs in every stack.
            let Ok(read) = scenario::from_tree(&tree) else {
                continue;
            };
            let made = FlowSpec::new("flow", vec![0]);
            let made = made.with_stack(stack.name).with_cc(entry.name);
            assert_eq!(read.flows[0].tcp, made.tcp, "{} {}", stack.name, entry.name);
            assert_eq!(read.flows[0].cc, made.cc, "{} {}", stack.name, entry.name);
        }
    }
}
