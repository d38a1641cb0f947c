//! What every row of the table of queue disciplines must keep to, whatever arrives.

use proptest::prelude::*;
use sawtooth_core::internals::loss::WireFate;
use sawtooth_core::internals::packet::{DataSegment, Ecn, Packet};
use sawtooth_core::internals::queue::{
    Backlog, Dequeued, NewQueue, Queue, QueuedPacket, Site, TABLE,
};
use sawtooth_core::internals::rng::RandomStream;
use sawtooth_core::registry::{Entry, Params, Value};
use sawtooth_core::units::{ByteCount, Instant, Rate, SeqNum};

/// Its defaults, with `limit` in bytes or packets.
fn build(entry: &Entry<NewQueue>, limit: Value) -> Box<dyn Queue> {
    let mut params = Params::defaults(entry.params);
    params.set("limit", limit);
    let site = Site {
        rate: Rate::from_bps(10e6),
        stream: RandomStream::new(1, entry.name),
    };
    (entry.new)(&params, site)
}

/// A packet and when it arrives.
fn packet(number: u64, wire_bytes: u32, ecn: Ecn, now: f64) -> QueuedPacket {
    let data = DataSegment {
        seq: SeqNum::new(number),
        ecn,
        ..DataSegment::default()
    };
    let flow = u32::try_from(number % 5).expect("small");
    QueuedPacket::new(
        Packet::data(flow, 0, ByteCount::from(wire_bytes), data),
        Instant::from_secs(now),
        WireFate::Arrives,
    )
}

/// What happens to a queue: a packet arrives or the transmitter is free, so long after what happened before.
#[derive(Clone, Copy, Debug)]
struct Step {
    after_us: u32,
    arrives: Option<(u32, Ecn)>,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let ecn = prop::sample::select(vec![Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce]);
    let step = (
        prop_oneof![Just(0), 1u32..2000, 1u32..200_000],
        prop::option::weighted(0.6, (40u32..3000, ecn)),
    );
    prop::collection::vec(
        step.prop_map(|(after_us, arrives)| Step { after_us, arrives }),
        1..300,
    )
}

/// What became of all packets: those that left and those that were dropped, in order.
type Fates = (Vec<QueuedPacket>, Vec<QueuedPacket>);

/// Takes the steps, then lets all that waits leave; holds the queue against what must be waiting in it.
fn drive(
    name: &str,
    queue: &mut dyn Queue,
    limit: Value,
    steps: &[Step],
) -> Result<Fates, TestCaseError> {
    let (mut now, mut in_service) = (0.0, Backlog::default());
    let mut waiting: Vec<QueuedPacket> = Vec::new();
    let (mut left, mut dropped) = (Vec::new(), Vec::new());
    let mut number = 0;
    let drain = std::iter::repeat_n(
        Step {
            after_us: 0,
            arrives: None,
        },
        2 * steps.len() + 2,
    );
    for step in steps.iter().copied().chain(drain) {
        now += f64::from(step.after_us) / 1e6;
        let gone = dropped.len();
        if let Some((bytes, ecn)) = step.arrives {
            let arriving = packet(number, bytes, ecn, now);
            number += 1;
            waiting.push(arriving);
            queue.enqueue(arriving, in_service, &mut dropped);
            let present = queue.waiting() + in_service;
            let kept = match limit {
                Value::Packets(limit) => present.packets <= limit,
                Value::Bytes(limit) => present.bytes.get() <= limit,
                other => unreachable!("{other:?}"),
            };
            prop_assert!(
                kept || present.packets <= 1,
                "{}: {:?} beyond {:?}",
                name,
                present,
                limit
            );
        } else {
            in_service = Backlog::default();
            match queue.dequeue(Instant::from_secs(now), &mut dropped) {
                Dequeued::Packet(packet) => {
                    take(name, &mut waiting, &packet)?;
                    in_service = Backlog {
                        packets: 1,
                        bytes: packet.size(),
                    };
                    left.push(packet);
                }
                Dequeued::Empty => prop_assert_eq!(
                    queue.waiting().packets,
                    0,
                    "{}: packets wait, none leaves",
                    name
                ),
                Dequeued::NotBefore(time) => {
                    let time = time.secs();
                    prop_assert!(
                        time > now && time.is_finite(),
                        "{}: held until {} at {}",
                        name,
                        time,
                        now
                    );
                    prop_assert!(
                        queue.waiting().packets > 0,
                        "{}: nothing waits, and it is held back",
                        name
                    );
                    now = time;
                }
            }
        }
        for packet in &dropped[gone..] {
            take(name, &mut waiting, packet)?;
        }
        let bytes: ByteCount = waiting.iter().map(QueuedPacket::size).sum();
        prop_assert_eq!(
            queue.waiting(),
            Backlog {
                packets: waiting.len() as u64,
                bytes
            },
            "{}",
            name
        );
    }
    prop_assert!(
        waiting.is_empty(),
        "{}: {} packets never leave",
        name,
        waiting.len()
    );
    Ok((left, dropped))
}

/// Takes a packet from those that wait, where it is but for a mark.
fn take(
    name: &str,
    waiting: &mut Vec<QueuedPacket>,
    packet: &QueuedPacket,
) -> Result<(), TestCaseError> {
    let at = waiting.iter().position(|known| {
        let (now, then) = (packet.packet.segment(), known.packet.segment());
        let marked = now.ecn == Ecn::Ce && then.ecn.is_capable();
        let same = QueuedPacket {
            packet: known.packet,
            ..*packet
        } == *known
            && packet.packet.size() == known.packet.size();
        now.seq == then.seq && same && (now.ecn == then.ecn || marked)
    });
    prop_assert!(
        at.is_some(),
        "{}: a packet that never came, came twice or was changed: {:?}",
        name,
        packet
    );
    waiting.remove(at.unwrap_or_default());
    Ok(())
}

fn limits() -> impl Strategy<Value = Value> {
    prop_oneof![
        (1u64..50).prop_map(Value::Packets),
        (3000u64..50_000).prop_map(Value::Bytes)
    ]
}

proptest! {
    #[test]
    fn packets_are_conserved_within_the_limit_the_backlog_is_what_waits_and_a_seed_decides_all(limit in limits(), steps in steps()) {
        for entry in TABLE {
            let fates = || drive(entry.name, &mut *build(entry, limit), limit, &steps);
            prop_assert_eq!(fates()?, fates()?);
        }
    }

    #[test]
    fn an_empty_buffer_takes_any_packet(bytes in 1u32..9000, limit in 1u64..100) {
        for entry in TABLE {
            for limit in [Value::Packets(limit), Value::Bytes(limit)] {
                let mut dropped = Vec::new();
                build(entry, limit).enqueue(packet(0, bytes, Ecn::Ect0, 0.0), Backlog::default(), &mut dropped);
                prop_assert!(dropped.is_empty(), "{}", entry.name);
            }
        }
    }
}
