//! Hosts, worked out by hand: what a message takes on its way through two machines, where its socket stalls, and what is noted of it.
//!
//! The link carries 8 Mbit/s, so a byte takes 1 us, over 5 ms each way. A full segment of 960 bytes is 1000 on the wire, an acknowledgement 40.
//! The machines' costs are those of `machine`, all in microseconds.

use crate::columns::{table, wholes, words};
use crate::random;
use proptest::prelude::*;
use sawtooth_core::internals::scenario::for_kernel;
use sawtooth_core::record::{Column, Records};
use sawtooth_core::spec::Shortcuts;
use sawtooth_core::{scenario, simulate};
use serde_json::{Value, json};

fn machine() -> Value {
    json!({
        "write_cost": "10 us", "write_byte_cost": "10 ns", "read_cost": "12 us", "read_byte_cost": "10 ns", "wake_cost": "30 us",
        "send_packet_cost": "20 us", "send_byte_cost": "5 ns", "receive_packet_cost": "15 us", "receive_byte_cost": "5 ns",
        "ack_send_cost": "11 us", "ack_receive_cost": "13 us", "driver_send_cost": "7 us", "driver_receive_cost": "4 us",
        "transmit_delay": "3 us", "receive_delay": "2 us", "transmit_interrupt_cost": "6 us", "receive_interrupt_cost": "8 us",
        "close": "acknowledged",
    })
}

fn tree(message: u64) -> Value {
    json!({
        "duration": "1 s", "stack": "rfc", "host": "pc", "hosts": {"pc": machine()}, "record": ["stalls", "layers"], "sample": "ack",
        "tcp": {"smss": "960 B", "header": "40 B", "ack_size": "40 B", "handshake": false, "fin": false, "ack_every": 1, "partial": "nodelay"},
        "links": {"l": {"rate": "8 Mbit/s", "delay": "5 ms"}},
        "flows": [{"path": ["l"], "source": {"name": "messages", "size": format!("{message} B"), "count": 1}}],
    })
}

fn run(tree: &Value) -> Records {
    simulate(
        &scenario::from_tree(tree).unwrap_or_else(|error| panic!("{error}")),
        1,
    )
}

fn cells(data: &Column) -> Vec<String> {
    match data {
        Column::Str(values) => values.iter().map(ToString::to_string).collect(),
        numbers => numbers
            .numbers()
            .iter()
            .map(|value| format!("{value:?}"))
            .collect(),
    }
}

/// Total, window, partial, memory.
fn stalls(records: &Records) -> [i64; 4] {
    [
        "stall_ns",
        "stall_window_ns",
        "stall_partial_ns",
        "stall_memory_ns",
    ]
    .map(|column| wholes(records, "flows", column)[0])
}

#[test]
fn a_message_of_two_segments_takes_what_its_steps_take() {
    let records = run(&tree(1920));
    // write 10, copy 9.6, TCP 20 + 4.8, driver 7, interface 3: on the wire from 54.4 to 1054.4. The second is ready by then (copy to 61, TCP to 85.8, driver
    // to 92.8), follows until 2054.4 and is there at 7054.4. Interface 2, interrupt 8 + 4, TCP 15 + 4.8: 7088.2; the acknowledgement goes first, 11 + 7; then the
    // reader, who has read the first segment long ago, is woken, 30, and reads, 12 + 9.6. That is interrupted for 6, when the acknowledgement has left.
    assert_eq!(wholes(&records, "flows", "completion_ns"), [7_163_800]);
    // The acknowledgements: interface 3, wire 40 + 5000, interface 2, interrupt 8 + 4, TCP 13.
    assert_eq!(wholes(&records, "series", "t_ns"), [11_176_200, 12_176_200]);
    assert_eq!(stalls(&records), [0; 4]);
}

#[test]
fn every_layer_notes_the_first_packet_at_its_time() {
    let records = run(&tree(1920));
    let times = wholes(&records, "layers", "t_ns");
    let packets = wholes(&records, "layers", "packet");
    let columns = ["host", "layer", "event"].map(|column| words(&records, "layers", column));
    let seen: Vec<String> = (0..times.len())
        .filter(|row| packets[*row] == 1 || (packets[*row] == -1 && times[*row] < 7_000_000))
        .map(|row| {
            format!(
                "{} {} {} {}",
                times[row], columns[0][row], columns[1][row], columns[2][row]
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            "0 pc application write",
            "19600 pc socket copied",
            "44400 pc tcp send",
            "44400 pc driver send",
            "51400 pc driver handed",
            "54400 pc wire begin",
            "61000 pc socket copied",
            "61000 pc application written",
            "1054400 pc wire end",
            "1060400 pc driver transmitted",
            "6054400 pc.peer wire arrive",
            "6068400 pc.peer driver receive",
            "6088200 pc.peer tcp receive",
            "6088200 pc.peer socket readable",
            "6163800 pc.peer application read",
        ]
    );
}

#[test]
fn a_full_window_stalls_from_the_report_of_the_transmission_to_the_acknowledgement() {
    let mut tree = tree(1920);
    tree["tcp"]["window_limit"] = json!("1 packets");
    let records = run(&tree);
    // Transmitted at 1054.4, interrupt 6. Received by TCP at 6088.2, acknowledgement 11 + 7 + 3 + 40 + 5000 + 2 + 8 + 4: 11163.2. The second takes the same way.
    assert_eq!(stalls(&records), [10_102_800, 10_102_800, 0, 0]);
    assert_eq!(wholes(&records, "stalls", "from_ns"), [1_060_400]);
    assert_eq!(wholes(&records, "stalls", "to_ns"), [11_163_200]);
    assert_eq!(words(&records, "stalls", "cause"), ["window"]);
}

#[test]
fn a_writer_without_memory_stalls_until_the_acknowledgement() {
    let mut tree = tree(1920);
    tree["hosts"]["pc"]["socket_memory"] = json!("1000 B");
    let records = run(&tree);
    assert_eq!(stalls(&records), [10_102_800, 0, 0, 10_102_800]);
    // TCP has the acknowledgement at 11176.2; the writer is woken, 30, copies, 9.6, TCP 24.8, driver 7, interface 3, wire 1000 + 5000, and up as before: 2, 12, 19.8, the
    // acknowledgement's 18, and 51.6 with an interrupt of 6.
    assert_eq!(wholes(&records, "flows", "completion_ns"), [17_360_000]);
}

#[test]
fn a_partial_packet_stalls_while_nagles_algorithm_holds_it() {
    let mut tree = tree(1060);
    tree["tcp"]["partial"] = json!("nagle");
    let records = run(&tree);
    assert_eq!(stalls(&records), [10_102_800, 0, 10_102_800, 0]);
    // To close is to push: then nothing is held.
    tree["hosts"]["pc"]["close"] = json!("at_once");
    assert_eq!(stalls(&run(&tree)), [0; 4]);
}

#[test]
fn a_full_interface_makes_packets_wait_before_the_driver() {
    let mut tree = tree(1920);
    tree["hosts"]["pc"]["transmit_queue"] = json!(1);
    let records = run(&tree);
    // The first is reported at 1060.4; only then the driver takes the second, 7, interface 3: 16 us later than without.
    assert_eq!(
        wholes(&records, "flows", "completion_ns"),
        [7_163_800 + 16_000]
    );
}

#[test]
fn two_flows_share_the_processor_of_their_host() {
    let mut tree = tree(960);
    let flow = tree["flows"][0].clone();
    tree["flows"] = json!([flow, flow]);
    let together = wholes(&run(&tree), "flows", "completion_ns");
    // The second's write waits until the first's pass is over, at 51.4, and its packet for the first's on the wire; so its transmission ends 1000 later.
    tree["hosts"]["pc"]["count"] = json!(2);
    tree["host"] = json!("pc[1]");
    tree["flows"][1]["host"] = json!("pc[2]");
    tree["links"]["m"] = tree["links"]["l"].clone();
    tree["flows"][1]["path"] = json!(["m"]);
    let apart = wholes(&run(&tree), "flows", "completion_ns");
    assert_eq!(apart[0], apart[1]);
    assert_eq!(together[0], apart[0]);
    assert_eq!(together[1], apart[0] + 1_000_000);
}

#[test]
fn hosts_that_cost_nothing_change_nothing() {
    for (stack, message) in [("rfc", 1_000_000), ("linux", 300_500), ("ns2", 50_000)] {
        let mut tree = tree(message);
        tree["stack"] = json!(stack);
        tree["tcp"] = json!({"smss": "960 B"});
        if stack == "linux" {
            tree["tcp"]["send_buffer_default"] = json!("none");
            // Whoever reads on a host leaves the connection open.
            tree["tcp"]["fin_of_receiver"] = json!(false);
        }
        tree["duration"] = json!("20 s");
        tree["links"]["l"]["queue"] = json!({"name": "drop_tail", "limit": "1 MB"});
        tree["hosts"] = json!({"pc": {"socket_memory": "10 MB"}});
        let with = run(&tree);
        for key in ["host", "hosts", "record"] {
            tree.as_object_mut().expect("a table").remove(key);
        }
        let without = run(&tree);
        for column in [
            "completion_ns",
            "sent_packets",
            "acked_bytes",
            "min_rtt_ns",
            "max_rtt_ns",
            "delivered_bytes",
            "timeouts",
        ] {
            assert_eq!(
                wholes(&with, "flows", column),
                wholes(&without, "flows", column),
                "{stack} {column}"
            );
        }
        let [with, without] =
            [&with, &without].map(|records| table(records, "series").named_columns());
        for ((name, with), (_, without)) in with.zip(without) {
            // At the handshake's end the application on a host has still to call write.
            assert_eq!(cells(with)[1..], cells(without)[1..], "{stack} {name}");
        }
    }
}

/// Exchanges of a request and a response of so many bytes; `machine` is at both ends, the server `pc`, the client `pc.peer`.
fn request_response(machine: &Value, [request, response]: [u64; 2], count: u32) -> Value {
    let mut tree = tree(1);
    tree["hosts"]["pc"] = machine.clone();
    tree["tcp"]["ack_every"] = json!(2);
    tree["flows"][0]["source"] = json!({
        "name": "request_response", "request": format!("{request} B"), "response": format!("{response} B"), "count": count,
    });
    tree
}

/// Mean time of an exchange, ns.
fn exchange(tree: &Value) -> i64 {
    let records = run(tree);
    assert_eq!(
        wholes(&records, "exchanges", "answered"),
        wholes(&records, "exchanges", "asked")
    );
    wholes(&records, "exchanges", "completion_mean_ns")[0]
}

/// The stalls of the client's socket.
fn request_stalls(records: &Records) -> [i64; 4] {
    ["", "window_", "partial_", "memory_"]
        .map(|part| wholes(records, "exchanges", &format!("request_stall_{part}ns"))[0])
}

/// When something happens in a layer to what carries requests or to what carries responses.
fn moments(records: &Records, flow: &str, layer: &str, event: &str) -> Vec<i64> {
    let wanted = [("flow", flow), ("layer", layer), ("event", event)];
    let columns = wanted.map(|(column, word)| (words(records, "layers", column), word));
    let times = wholes(records, "layers", "t_ns").into_iter().enumerate();
    times
        .filter(|(row, _)| columns.iter().all(|(column, word)| column[*row] == *word))
        .map(|(_, time)| time)
        .collect()
}

#[test]
fn an_exchange_takes_what_its_steps_take_on_both_machines() {
    // The request, as a message: write 10, copy 9.6, TCP 24.8, driver 7, interface 3, wire 1000 + 5000, interface 2, interrupt 8 + 4, TCP 19.8: 6088.2. The server is woken, 30,
    // and reads, 21.6: 6139.8. The response takes as long, and carries the acknowledgement, which waits for it.
    let tree = request_response(&machine(), [960, 960], 3);
    assert_eq!(exchange(&tree), 2 * 6_139_800);
    let records = run(&tree);
    // What carries data each way, and at the end the client acknowledges the last response by itself.
    assert_eq!(wholes(&records, "links", "arrived_packets"), [3, 4]);
    // The server's TCP has the acknowledgement of a response when it takes the next request.
    let acknowledged = wholes(&records, "series", "t_ns");
    assert_eq!(
        acknowledged[..3],
        [0, 1, 2].map(|before| before * 2 * 6_139_800 + 6_088_200)
    );
    assert_eq!(
        wholes(&records, "series", "acked_bytes"),
        [0, 960, 1920, 2880]
    );
    assert_eq!(
        (stalls(&records), request_stalls(&records)),
        ([0; 4], [0; 4])
    );
    // With an acknowledgement at once each side's TCP sends one, 11 + 7, before the reader has the processor; its transmission interrupts him for 6.
    let mut at_once = tree;
    at_once["tcp"]["ack_every"] = json!(1);
    assert_eq!(exchange(&at_once), 2 * 6_163_800);
}

#[test]
fn a_side_speaks_when_its_application_has_read_everything_and_has_thought() {
    let mut tree = request_response(&machine(), [1920, 2880], 3);
    let source = &mut tree["flows"][0]["source"];
    source["think"] = json!("3 ms");
    source["server_think"] = json!("2 ms");
    let records = run(&tree);
    // The last read of each request comes 2 ms before the write of its response, and that of each response 3 ms before the next request.
    let [asks, answers] = ["flow.requests", "flow"].map(|flow| {
        let [write, read] =
            ["write", "read"].map(|event| moments(&records, flow, "application", event));
        (write, read)
    });
    assert_eq!((asks.0.len(), answers.0.len()), (3, 3));
    for (at, written) in answers.0.iter().enumerate() {
        let before = asks.1.iter().filter(|read| *read <= written).max();
        assert_eq!(before, Some(&(written - 2_000_000)), "response {at}");
    }
    for written in &asks.0[1..] {
        let before = answers.1.iter().filter(|read| *read <= written).max();
        assert_eq!(before, Some(&(written - 3_000_000)));
    }
    // TCP has had the last segment of the first request before, for as long as its reader takes: 51.6, or more if he reads the first segment meanwhile.
    let taken = moments(&records, "flow.requests", "tcp", "receive");
    assert!(answers.0[0] - 2_000_000 >= taken[1] + 51_600);
    // Who speaks where: the client on the peer.
    let (flows, hosts) = (
        words(&records, "layers", "flow"),
        words(&records, "layers", "host"),
    );
    let (layers, events) = (
        words(&records, "layers", "layer"),
        words(&records, "layers", "event"),
    );
    for row in (0..flows.len()).filter(|row| layers[*row] == "application") {
        let asks = flows[row] == "flow.requests";
        let reads = events[row] == "read";
        assert_eq!(hosts[row], if asks == reads { "pc" } else { "pc.peer" });
    }
}

#[test]
fn each_cost_is_paid_once_on_the_way_there_and_once_on_the_way_back() {
    // Request and response: 1000 us and 5000 each.
    let alone = 2 * 6_000_000;
    for (cost, value, once) in [
        ("write_cost", "100 us", 100_000),
        ("write_byte_cost", "100 ns", 96_000),
        ("read_cost", "100 us", 100_000),
        ("read_byte_cost", "100 ns", 96_000),
        ("wake_cost", "100 us", 100_000),
        ("send_packet_cost", "100 us", 100_000),
        ("send_byte_cost", "100 ns", 96_000),
        ("receive_packet_cost", "100 us", 100_000),
        ("receive_byte_cost", "100 ns", 96_000),
        ("driver_send_cost", "100 us", 100_000),
        ("driver_send_byte_cost", "100 ns", 100_000),
        ("driver_receive_cost", "100 us", 100_000),
        ("driver_receive_byte_cost", "100 ns", 100_000),
        ("transmit_delay", "100 us", 100_000),
        ("receive_delay", "100 us", 100_000),
        ("receive_interrupt_cost", "100 us", 100_000),
        ("receive_interrupt_delay", "100 us", 100_000),
        // Nobody waits for these: a report comes while the packet is on its way, and data carry the acknowledgements.
        ("transmit_interrupt_cost", "100 us", 0),
        ("transmit_interrupt_delay", "100 us", 0),
        ("ack_send_cost", "100 us", 0),
        ("ack_receive_cost", "100 us", 0),
    ] {
        let mut tree = request_response(&json!({cost: value}), [960, 960], 4);
        assert_eq!(exchange(&tree), alone + 2 * once, "{cost}");
        // With a machine at one end only, its own part.
        tree["flows"][0]["receiver_host"] = json!("none");
        assert_eq!(exchange(&tree), alone + once, "{cost} of the server");
        tree["flows"][0]["receiver_host"] = json!("pc");
        tree["flows"][0]["host"] = json!("none");
        assert_eq!(exchange(&tree), alone + once, "{cost} of the client");
    }
    // Acknowledgements at once cost what they cost before the reader reads. What is written then waits for the end of their transmission, 40 us, but for the first request.
    let mut tree = request_response(&json!({"ack_send_cost": "100 us"}), [960, 960], 4);
    tree["tcp"]["ack_every"] = json!(1);
    assert_eq!(exchange(&tree), alone + 2 * 100_000 + 7 * 40_000 / 4);
}

#[test]
fn each_side_s_socket_has_its_own_stalls() {
    // As of a message of two segments: window or memory for one.
    let mut tree = request_response(&machine(), [1920, 1920], 1);
    tree["tcp"]["ack_every"] = json!(1);
    let mut window = tree.clone();
    window["tcp"]["window_limit"] = json!("1 packets");
    let records = run(&window);
    let stalled = [10_102_800, 10_102_800, 0, 0];
    assert_eq!(
        (stalls(&records), request_stalls(&records)),
        (stalled, stalled)
    );
    assert_eq!(words(&records, "stalls", "flow"), ["flow", "flow.requests"]);
    let [answer, ask] = wholes(&records, "stalls", "from_ns")[..] else {
        panic!("two stalls");
    };
    assert_eq!(ask, 1_060_400);
    assert!(answer > ask + 10_102_800);
    tree["hosts"]["pc"]["socket_memory"] = json!("1000 B");
    let records = run(&tree);
    let stalled = [10_102_800, 0, 0, 10_102_800];
    assert_eq!(
        (stalls(&records), request_stalls(&records)),
        (stalled, stalled)
    );
    // Without a machine nothing is measured.
    tree["flows"][0]["receiver_host"] = json!("none");
    assert_eq!(request_stalls(&run(&tree)), [-1; 4]);
    // A partial packet is held back by Nagle's algorithm until TCP takes the acknowledgement.
    let mut partial = request_response(&machine(), [1060, 1060], 1);
    partial["tcp"]["ack_every"] = json!(1);
    partial["tcp"]["partial"] = json!("nagle");
    let records = run(&partial);
    let stalled = [10_102_800, 0, 10_102_800, 0];
    assert_eq!(
        (stalls(&records), request_stalls(&records)),
        (stalled, stalled)
    );
}

#[test]
fn machines_that_cost_nothing_change_no_exchange() {
    let sources = [
        json!({"request": "300 B", "response": "30 kB", "count": 7}),
        json!({"request": "20 kB", "response": "2 kB", "think": "3 ms", "server_think": "200 us", "count": 6}),
        json!({"request": "500 B", "request_writes": 3, "response": "3 kB", "response_writes": 2, "write_interval": "40 us", "think": "50 ms", "count": 6}),
    ];
    let counted = ["arrived_packets", "arrived_bytes", "dropped_packets"];
    for stack in ["rfc", "linux", "linux-2.0.29", "ns2"] {
        for (at, source) in sources.iter().enumerate() {
            for places in [["pc", "pc.peer"], ["pc", "none"], ["none", "pc"]] {
                let what = format!("{stack} {at} {places:?}");
                let mut tree = tree(1);
                tree["stack"] = json!(stack);
                // Autocorking is of sockets of hosts.
                tree["tcp"] = json!({"send_buffer_default": "none", "autocorking": false});
                if at == 2 {
                    // A host's application writes when it is connected, piece by piece.
                    tree["tcp"]["handshake"] = json!(false);
                }
                tree["duration"] = json!("5 s");
                tree["links"]["l"]["drop"] = json!([9]);
                tree["links"]["l"]["reverse"] = json!({"drop": [4]});
                tree["hosts"] = json!({"pc": {"socket_memory": "10 MB"}});
                tree["flows"][0]["source"] = source.clone();
                tree["flows"][0]["source"]["name"] = json!("request_response");
                tree["flows"][0]["host"] = json!(places[0]);
                if places[1] != "pc.peer" {
                    tree["flows"][0]["receiver_host"] = json!(places[1]);
                }
                let with = run(&tree);
                for key in ["host", "hosts", "record"] {
                    tree.as_object_mut().expect("a table").remove(key);
                }
                for key in ["host", "receiver_host"] {
                    tree["flows"][0]
                        .as_object_mut()
                        .expect("a table")
                        .remove(key);
                }
                let without = run(&tree);
                for table in ["exchanges", "series", "links", "flows"] {
                    let [with, without] = [&with, &without]
                        .map(|records| self::table(records, table).named_columns());
                    for ((name, with), (_, without)) in with.zip(without) {
                        // What only machines measure, and what queues at a link, which waits in the interface then.
                        let skipped =
                            name.contains("stall") || table == "links" && !counted.contains(&name);
                        if !skipped {
                            assert_eq!(cells(with), cells(without), "{what} {table}.{name}");
                        }
                    }
                }
            }
        }
    }
}

/// Refused at `path`; the hint that comes with it.
#[track_caller]
fn refused(tree: &Value, path: &str, message: &str) -> Option<String> {
    let error = scenario::from_tree(tree).expect_err("a refusal");
    let found = (error.path.as_str(), error.message.as_str());
    assert_eq!(found, (path, message));
    error.hint
}

#[track_caller]
fn refused_with_advice(tree: &Value, path: &str, message: &str) {
    assert!(refused(tree, path, message).is_some(), "it says what to do");
}

#[test]
fn what_hosts_cannot_be_is_said_where_it_is_written() {
    let with = |pointer: &str, value: Value| {
        let mut tree = tree(1920);
        let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
        tree.pointer_mut(parent).expect("a place")[key] = value;
        tree
    };
    refused_with_advice(
        &with("/hosts/pc/write_cots", json!("1 us")),
        "hosts.pc.write_cots",
        "unknown key `write_cots`",
    );
    refused_with_advice(
        &with("/hosts/pc/wake_cost", json!("-1 us")),
        "hosts.pc.wake_cost",
        "`wake_cost` cannot be negative, found -0.000001 s",
    );
    refused(
        &with("/hosts/pc/wake_free", json!(1.5)),
        "hosts.pc.wake_free",
        "`wake_free` must be from 0 to 1, found 1.5",
    );
    refused(
        &with("/hosts/pc/transmit_queue", json!(0)),
        "hosts.pc.transmit_queue",
        "`transmit_queue` must be from 1 to 1000000, found 0",
    );
    refused_with_advice(
        &with("/hosts/pc/socket_memory", json!("900 B")),
        "hosts.pc.socket_memory",
        "`socket_memory` is 900 B, and a packet of flow `flow` takes 960 B: 960 of data, 0 besides",
    );
    refused_with_advice(
        &with("/hosts/pc/packet_overhead", json!("65 kB")),
        "hosts.pc",
        "`socket_memory` is 65536 B, and a packet of flow `flow` takes 65960 B: 960 of data, 65000 besides",
    );
    refused_with_advice(
        &with("/flows/0/host", json!("server")),
        "flows[0].host",
        "unknown host `server`",
    );
    refused_with_advice(
        &with("/hosts/pc/count", json!(3)),
        "host",
        "there are 3 hosts `pc`; say which",
    );
    refused_with_advice(
        &with("/host", json!(3)),
        "host",
        "expected the name of a host",
    );
    refused_with_advice(
        &with("/tcp/send_buffer_default", json!("64 kB")),
        "tcp.send_buffer_default",
        "a flow with a host has the memory of the host's socket, and no `send_buffer_default`",
    );
    let mut arriving = with("/flows/0/arrivals", json!({"rate": 1}));
    arriving["flows"][0]
        .as_object_mut()
        .expect("a table")
        .remove("source");
    refused_with_advice(
        &arriving,
        "host",
        "flows that arrive and leave cannot have a host",
    );
    let mut udp = tree(1920);
    udp["flows"][0] =
        json!({"path": ["l"], "transport": "udp", "source": {"name": "poisson"}, "host": "pc"});
    refused_with_advice(
        &udp,
        "flows[0].host",
        "a flow of UDP has no `host`: nothing is acknowledged, and nothing controls what it sends",
    );
    let none = with("/host", json!("none"));
    refused_with_advice(
        &none,
        "record[0]",
        "`stalls` are told by hosts, and no flow has one",
    );
    let mut nowhere = tree(1920);
    nowhere.as_object_mut().expect("a table").remove("hosts");
    refused_with_advice(&nowhere, "host", "there is no host `pc`");
    let error = for_kernel(&with("/record", json!([]))).expect_err("a refusal");
    assert_eq!(
        (error.path.as_str(), error.message.as_str()),
        (
            "hosts",
            "`hosts` are of the simulator alone: a real kernel has its own costs"
        )
    );
}

#[test]
fn a_client_s_socket_too_holds_at_least_a_segment() {
    let mut asks = tree(1920);
    asks["flows"][0]["host"] = json!("none");
    asks["flows"][0]["receiver_host"] = json!("pc");
    asks["hosts"]["pc"]["socket_memory"] = json!("900 B");
    run(&asks);
    asks["flows"][0]["source"] = json!("request_response");
    refused_with_advice(
        &asks,
        "hosts.pc.socket_memory",
        "`socket_memory` is 900 B, and a packet of flow `flow` takes 960 B: 960 of data, 0 besides",
    );
}

#[test]
fn a_stack_s_own_send_buffer_gives_way_to_the_host_s_socket() {
    let mut tree = tree(1_000_000);
    tree["stack"] = json!("linux");
    tree["tcp"] = json!({});
    tree["duration"] = json!("10 s");
    tree["hosts"]["pc"]["socket_memory"] = json!("8 kB");
    let records = run(&tree);
    // 5 segments of 1448 B at most: packets of 1500 B need 1.5 ms each, and a round trip takes more than 10 ms.
    assert_eq!(wholes(&records, "flows", "acked_bytes"), [1_000_000]);
    assert!(stalls(&records)[3] > 900_000_000, "{:?}", stalls(&records));
    assert!(wholes(&records, "flows", "limited_send_buffer_ns")[0] > 900_000_000);
}

fn case() -> impl Strategy<Value = Value> {
    let costs = prop::collection::vec(0u32..40, 12);
    let parts = (
        prop::sample::select(vec!["rfc", "linux", "ns2"]),
        prop::sample::select(vec!["nodelay", "nagle", "minshall", "cork", "linux-2.0.29"]),
        1_000u64..200_000,
        3_000u64..60_000,
        prop::option::of(1u32..4),
        1usize..4,
        0u32..200,
        prop::sample::select(vec!["drop_tail", "codel", "red"]),
    );
    (costs, parts, 0.0..0.03f64).prop_map(|(costs, (stack, partial, size, memory, ring, flows, delay, queue), loss)| {
        let mut host = json!({"socket_memory": format!("{memory} B")});
        let names = [
            "write_cost", "read_cost", "wake_cost", "send_packet_cost", "receive_packet_cost", "ack_send_cost", "ack_receive_cost", "driver_send_cost",
            "driver_receive_cost", "transmit_interrupt_delay", "receive_interrupt_cost", "receive_delay",
        ];
        for (name, cost) in names.iter().zip(costs) {
            host[name] = json!(format!("{cost} us"));
        }
        if let Some(ring) = ring {
            host["transmit_queue"] = json!(ring);
            host["receive_interrupt_packets"] = json!(ring + 1);
            host["receive_interrupt_delay"] = json!("300 us");
        }
        json!({
            "duration": "3 s", "stack": stack, "record": ["stalls", "layers"], "hosts": {"pc": host}, "host": "pc", "tcp": {"partial": partial},
            "links": {
                "a": {"rate": "100 Mbit/s", "delay": format!("{delay} us")},
                "b": {"rate": "20 Mbit/s", "delay": "1 ms", "loss": loss, "queue": {"name": queue, "limit": "20 packets"}},
            },
            "flows": [
                {"path": ["a", "b"], "count": flows, "start": "i * 3 ms", "source": {"name": "messages", "size": format!("{size} B"), "interval": "300 ms"}},
                {"path": ["b"], "host": "none", "receiver_host": "none", "start": "1 ms"},
                {"name": "talk", "path": ["a", "b"], "source": {
                    "name": "request_response", "request": format!("{} B", size / 20), "response": format!("{} B", size / 7), "request_writes": flows,
                    "response_writes": 4 - flows, "write_interval": "5 us", "think": format!("{delay} us"), "server_think": "100 us",
                }},
            ],
        })
    })
}

proptest! {
    #![proptest_config(random::config(40))]

    #[test]
    fn with_hosts_anywhere_no_record_depends_on_the_shortcuts(case in random::cases(), host in case(), places in prop::collection::vec(0usize..4, 2)) {
        let mut tree = case.tree();
        tree["duration"] = json!("3 s");
        tree["hosts"] = host["hosts"].clone();
        // A packet of any size that is drawn fits.
        tree["hosts"]["pc"]["socket_memory"] = json!("30 kB");
        for key in ["send_buffer_default", "send_buffer_max"] {
            tree["tcp"].as_object_mut().expect("a table").remove(key);
        }
        for (flow, place) in places.into_iter().enumerate() {
            let (host, receiver) = [("pc", "pc"), ("pc", "none"), ("none", "pc"), ("none", "none")][place];
            tree["flows"][flow]["host"] = json!(host);
            tree["flows"][flow]["receiver_host"] = json!(receiver);
            if place < 3 {
                let words = tree["record"].as_array_mut().expect("a list");
                words.retain(|word| word != "stalls" && word != "layers");
                words.extend([json!("stalls"), json!("layers")]);
            }
        }
        let mut scenario = random::load(&tree);
        let fast = simulate(&scenario, 1);
        for shortcuts in [Shortcuts { computed_hops: false, ..Shortcuts::all(true) }, Shortcuts::all(false)] {
            scenario.shortcuts = shortcuts;
            prop_assert_eq!(&simulate(&scenario, 1), &fast, "{:?}", shortcuts);
        }
    }

    #[test]
    fn records_of_hosts_do_not_depend_on_the_shortcuts_and_agree_with_each_other(tree in case()) {
        let mut scenario = scenario::from_tree(&tree).unwrap_or_else(|error| panic!("{error}"));
        let fast = simulate(&scenario, 1);
        for shortcuts in [
            Shortcuts { ring: false, ..Shortcuts::all(true) },
            Shortcuts { no_tx_event: false, ..Shortcuts::all(true) },
            Shortcuts { computed_hops: false, ..Shortcuts::all(true) },
            Shortcuts::all(false),
        ] {
            scenario.shortcuts = shortcuts;
            prop_assert_eq!(&simulate(&scenario, 1), &fast, "{:?}", shortcuts);
        }
        // The list of stalls sums to the columns, by flow and cause.
        let (from, to) = (wholes(&fast, "stalls", "from_ns"), wholes(&fast, "stalls", "to_ns"));
        let (whose, causes) = (words(&fast, "stalls", "flow"), words(&fast, "stalls", "cause"));
        for (at, flow) in words(&fast, "flows", "flow").iter().enumerate() {
            let mut total = 0;
            for cause in ["window", "partial", "memory"] {
                let own = (0..from.len()).filter(|row| &whose[*row] == flow && causes[*row] == cause);
                let sum: i64 = own.map(|row| to[row] - from[row]).sum();
                let column = wholes(&fast, "flows", &format!("stall_{cause}_ns"))[at];
                prop_assert_eq!(if flow == "flow2" { -1 } else { sum }, column);
                total += sum;
            }
            let expected = if flow == "flow2" { -1 } else { total };
            prop_assert_eq!(wholes(&fast, "flows", "stall_ns")[at], expected);
        }
        let mut asking = [0; 4];
        for (row, cause) in causes.iter().enumerate().filter(|(row, _)| whose[*row] == "talk.requests") {
            let at = ["window", "partial", "memory"].iter().position(|one| one == cause).expect("a cause");
            asking[at + 1] += to[row] - from[row];
            asking[0] += to[row] - from[row];
        }
        prop_assert_eq!(request_stalls(&fast), asking);
        // What a packet goes through is in order, and no socket stalls while its packet is in the driver or on its wire.
        let (times, ids) = (wholes(&fast, "layers", "t_ns"), wholes(&fast, "layers", "packet"));
        let [flows, events, kinds, layers] = ["flow", "event", "kind", "layer"].map(|column| words(&fast, "layers", column));
        let mut entered = std::collections::BTreeMap::new();
        for row in 0..times.len() {
            let key = (flows[row].clone(), ids[row]);
            // Whose socket it is, also of an acknowledgement that one side of a connection of requests and responses sends.
            let socket = match (flows[row].as_str(), kinds[row].as_str()) {
                (flow, "data") => flow,
                ("talk", _) => "talk.requests",
                ("talk.requests", _) => "talk",
                _ => "none",
            };
            match (layers[row].as_str(), events[row].as_str()) {
                ("driver", "send") => {
                    entered.insert(key, times[row]);
                }
                ("driver", "transmitted") => {
                    let since = entered[&key];
                    let stalled = (0..from.len()).any(|stall| whose[stall] == socket && from[stall] < times[row] && to[stall] > since);
                    prop_assert!(!stalled, "{:?} {} {}", key, since, times[row]);
                }
                ("wire", "arrive") if kinds[row] == "data" => prop_assert!(entered[&key] < times[row]),
                _ => {}
            }
        }
    }
}

#[test]
fn a_transfer_is_complete_when_the_application_has_read_it() {
    // Reading takes 1 ms a byte, so of 960 bytes that are acknowledged within 20 ms none has been read in time, and then all.
    let completed = |duration: &str| {
        let mut tree = tree(960);
        tree["hosts"]["pc"]["read_byte_cost"] = json!("1 ms");
        tree["duration"] = json!(duration);
        let records = run(&tree);
        assert_eq!(wholes(&records, "flows", "acked_bytes"), [960]);
        let delivered = wholes(&records, "flows", "delivered_bytes")[0];
        (delivered, wholes(&records, "flows", "completion_ns")[0])
    };
    assert_eq!(completed("0.9 s"), (0, -1));
    let (delivered, completion) = completed("1.1 s");
    assert!(delivered == 960 && completion > 960_000_000, "{completion}");
}

#[test]
fn a_write_without_end_is_of_no_number_of_bytes() {
    let mut tree = tree(1);
    tree["flows"][0]["source"] = json!("bulk");
    let records = run(&tree);
    assert_eq!(words(&records, "layers", "event")[0], "write");
    let bytes = wholes(&records, "layers", "bytes");
    // Nor is what is left of it, of which the writer sleeps and wakes.
    assert!(bytes[0] == -1 && bytes.iter().all(|bytes| (-1..100_000).contains(bytes)));
}
