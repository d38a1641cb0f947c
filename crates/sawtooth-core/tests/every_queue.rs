//! What every row of the table of queue disciplines must keep to, whatever arrives.

use proptest::prelude::*;
use sawtooth_core::packet::{Data, Ecn, Packet};
use sawtooth_core::queue::{Backlog, New, Queue, TABLE, Verdict};
use sawtooth_core::registry::{Entry, Kind, Params, Value};

/// Its defaults, with `limit`, where it has one, in bytes or packets.
fn build(entry: &Entry<New>, limit: Value) -> Box<dyn Queue> {
    let mut params = Params::defaults(entry.params);
    if entry
        .params
        .iter()
        .any(|param| param.name == "limit" && param.kind == Kind::PacketsOrBytes)
    {
        params.set("limit", limit);
    }
    (entry.new)(&params)
}

fn packet(number: u64, wire_bytes: u32) -> Packet {
    Packet::data(
        0,
        0,
        wire_bytes,
        Data {
            seq: number,
            ecn: Ecn::Ect0,
            ..Data::default()
        },
    )
}

proptest! {
    #[test]
    fn packets_are_conserved_and_the_backlog_is_what_waits(
        limit in prop_oneof![(1u64..50).prop_map(Value::Packets), (1u64..50_000).prop_map(Value::Bytes)],
        steps in prop::collection::vec(prop::option::weighted(0.6, 40u32..3000), 1..300),
    ) {
        for entry in TABLE {
            let mut queue = build(entry, limit);
            let mut in_service = Backlog::default();
            let mut waiting = Vec::new();
            for (number, step) in (0u64..).zip(&steps) {
                if let Some(bytes) = *step {
                    if queue.enqueue(packet(number, bytes), in_service) == Verdict::Accept {
                        waiting.push((number, bytes));
                    }
                } else if let Some(left) = queue.dequeue() {
                    let at = waiting
                        .iter()
                        .position(|(number, bytes)| *number == left.segment().seq && *bytes == left.wire_bytes);
                    prop_assert!(at.is_some(), "{}: a packet that never came or came twice", entry.name);
                    waiting.remove(at.unwrap_or_default());
                    in_service = Backlog { packets: 1, bytes: u64::from(left.wire_bytes) };
                } else {
                    prop_assert!(waiting.is_empty(), "{}: packets wait, none leaves", entry.name);
                    in_service = Backlog::default();
                }
                let bytes: u64 = waiting.iter().map(|(_, bytes)| u64::from(*bytes)).sum();
                prop_assert_eq!(queue.waiting(), Backlog { packets: waiting.len() as u64, bytes });
            }
        }
    }

    #[test]
    fn an_empty_buffer_takes_any_packet(bytes in 1u32..100_000, limit in 1u64..100) {
        for entry in TABLE {
            for limit in [Value::Packets(limit), Value::Bytes(limit)] {
                let verdict = build(entry, limit).enqueue(packet(0, bytes), Backlog::default());
                prop_assert_eq!(verdict, Verdict::Accept, "{}", entry.name);
            }
        }
    }
}
