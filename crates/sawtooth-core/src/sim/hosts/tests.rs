//! Both sockets of a dialogue: their stopwatches against the definition of what they measure.

use proptest::prelude::*;
use serde_json::json;

use crate::host::stopwatch::tests::assert_defined;
use crate::scenario::Scenario;
use crate::sim::{World, ns};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_stopwatches_of_both_sides_show_what_the_definition_makes_of_all_that_happens(
        costs in prop::collection::vec(0u32..60, 8),
        sizes in (1u32..9000, 1u32..9000, 1u32..4, 1u32..4),
        policy in prop::sample::select(vec!["nodelay", "nagle", "minshall", "linux-2.0.29"]),
        (stack, window, memory, loss) in (prop::sample::select(vec!["rfc", "linux"]), 1u32..6, 1_500u32..9000, 0.0..0.04f64),
    ) {
        let names = [
            "write_cost", "wake_cost", "send_packet_cost", "receive_packet_cost", "ack_send_cost", "ack_receive_cost", "driver_send_cost", "transmit_interrupt_cost",
        ];
        let mut host = json!({"socket_memory": format!("{memory} B"), "transmit_queue": 2});
        for (name, cost) in names.iter().zip(costs) {
            host[name] = json!(format!("{cost} us"));
        }
        let (request, response, request_writes, response_writes) = sizes;
        let tree = json!({
            "duration": "3 s", "stack": stack, "record": ["stalls"], "hosts": {"pc": host}, "host": "pc",
            "tcp": {"partial": policy, "window_limit": format!("{window} packets")},
            "links": {"l": {"rate": "50 Mbit/s", "delay": "200 us", "loss": loss, "reverse": {"loss": loss}}},
            "flows": [{"path": ["l"], "source": {
                "name": "request_response", "request": format!("{request} B"), "response": format!("{response} B"), "count": 12,
                "request_writes": request_writes, "response_writes": response_writes, "write_interval": "20 us", "think": "1 ms",
            }}],
        });
        let scenario = Scenario::from_tree(&tree).unwrap_or_else(|error| panic!("{error}"));
        let mut world = World::new(&scenario, 1);
        world.run().expect("within limits");
        world.hosts.finish(world.end);
        let sockets: Vec<_> = world.hosts.senders.iter().flatten().collect();
        prop_assert_eq!(sockets.len(), 2);
        for (_, socket) in sockets {
            assert_defined(&socket.watch, ns(world.end));
        }
    }
}
