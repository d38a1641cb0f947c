//! Both sockets of a connection of requests and responses: their stopwatches against the definition of what they measure.

use proptest::prelude::*;

use crate::host::stopwatch::tests::assert_defined;
use crate::registry::Value;
use crate::sim::dispatch::run;
use crate::sim::world::assemble;
use crate::source;
use crate::spec::{FlowSpec, HostSpec, LinkSpec, Part, Scenario};
use crate::units::{Duration, Rate};

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
        let mut host = HostSpec::new("pc");
        host.params.set("socket_memory", Value::Bytes(memory.into()));
        host.params.set("transmit_queue", Value::Integer(2));
        for (name, cost) in names.iter().zip(costs) {
            host.params.set(name, Value::Duration(f64::from(cost) / 1e6));
        }
        let mut link = LinkSpec::new("l", Rate::from_bps(50e6), Duration::from_secs(200e-6));
        link.forward.loss.probability = loss;
        link.reverse.loss.probability = loss;
        let (request, response, request_writes, response_writes) = sizes;
        let source = Part::named(source::TABLE, "request_response").expect("a row");
        let source = source
            .with("request", Value::Bytes(request.into()))
            .with("response", Value::Bytes(response.into()))
            .with("count", Value::Integer(12))
            .with("request_writes", Value::Integer(request_writes.into()))
            .with("response_writes", Value::Integer(response_writes.into()))
            .with("write_interval", Value::Duration(20e-6))
            .with("think", Value::Duration(1e-3));
        let flow = FlowSpec { source, host: Some(0), receiver_host: Some(1), ..FlowSpec::new("flow", vec![0]) };
        let mut flow = flow.with_stack(stack);
        flow.tcp.set("partial", Value::Choice(policy));
        flow.tcp.set("window_limit", Value::Packets(window.into()));
        let mut scenario = Scenario::new(Duration::from_secs(3.0), vec![link], vec![flow]);
        scenario.hosts = vec![host.clone(), host.peer()];
        scenario.record.stalls = true;
        let mut world = assemble(&scenario, 1);
        run(&mut world, &|| true).expect("within limits");
        world.hosts.finish(world.calendar.end);
        let sockets: Vec<_> = world.hosts.senders.iter().flatten().collect();
        prop_assert_eq!(sockets.len(), 2);
        for (_, socket) in sockets {
            assert_defined(&socket.watch, world.calendar.end.as_ns());
        }
    }
}
