//! Captures of simulated runs, read by other libraries: what their headers say.

use std::collections::BTreeMap;

use etherparse::{SlicedPacket, TcpSlice, TransportSlice};
use pcap_parser::traits::{PcapNGPacketBlock, PcapReaderIterator};
use pcap_parser::{Block, PcapBlockOwned, PcapError, PcapNGReader};
use sawtooth_capture::simulated::{CaptureSettings, EPOCH_NS, SimulatedCapture};
use sawtooth_capture::write::pcapng::SectionNotes;
use sawtooth_core::internals::sim::{Tap, TapPoint, simulate_tapped};
use sawtooth_core::record::{Column, Records};
use sawtooth_core::{Scenario, scenario};
use serde_json::{Value, json};

/// A scenario of one flow, with keys of the scenario, its link and its flow.
fn load(keys: &Value, link: &Value) -> Scenario {
    let mut tree = json!({
        "duration": "4 s",
        "stack": "linux",
        "links": {"l": {"rate": "4 Mbit/s", "delay": "10 ms"}},
        "flows": [{"path": ["l"]}],
    });
    for (key, value) in keys.as_object().expect("a table") {
        tree[key] = value.clone();
    }
    for (key, value) in link.as_object().expect("a table") {
        tree["links"]["l"][key] = value.clone();
    }
    scenario::from_json(&tree.to_string()).expect("a scenario")
}

fn settings() -> CaptureSettings {
    CaptureSettings {
        snap: 0,
        notes: SectionNotes::default(),
    }
}

/// What a run has at a point, and what it recorded.
fn captured(scenario: &Scenario, point: TapPoint) -> (Vec<u8>, Records) {
    let outputs = [(point, Vec::new())];
    let mut capture = SimulatedCapture::new(scenario, settings(), outputs).expect("memory");
    let run = simulate_tapped(scenario, 1, &|| true, &[point], &mut capture);
    let (records, _) = run.expect("within limits");
    let mut files = capture.finish(scenario.duration).expect("memory");
    (files.remove(0).out, records)
}

/// A frame of a capture.
#[derive(Debug)]
struct Frame {
    time_ns: u64,
    bytes: Vec<u8>,
    comments: Vec<String>,
}

impl Frame {
    /// Calls with its TCP header, and whether it comes from the end of the path.
    fn tcp<T>(&self, read: impl FnOnce(&TcpSlice, bool) -> T) -> T {
        let sliced = SlicedPacket::from_ethernet(&self.bytes).expect("a frame");
        let Some(TransportSlice::Tcp(tcp)) = &sliced.transport else {
            panic!("no TCP");
        };
        // 10.128.0.1 and its kin.
        read(tcp, self.bytes[14 + 13] & 128 != 0)
    }

    fn option(&self, kind: u8) -> Option<Vec<u8>> {
        self.tcp(|tcp, _| {
            let mut rest = tcp.options();
            while let [first, ..] = rest {
                let length = match first {
                    0 => break,
                    1 => 1,
                    _ => usize::from(rest[1]),
                };
                if *first == kind {
                    return Some(rest[2..length].to_vec());
                }
                rest = &rest[length..];
            }
            None
        })
    }
}

fn frames(file: &[u8]) -> Vec<Frame> {
    let mut reader = PcapNGReader::new(1 << 17, file).expect("a section");
    let mut frames = Vec::new();
    loop {
        match reader.next() {
            Ok((offset, block)) => {
                if let PcapBlockOwned::NG(Block::EnhancedPacket(packet)) = block {
                    let comments = packet.options.iter().filter(|option| option.code.0 == 1);
                    let text = |option: &pcap_parser::PcapNGOption| {
                        let bytes = option.as_bytes().expect("a value");
                        String::from_utf8_lossy(bytes).into_owned()
                    };
                    frames.push(Frame {
                        time_ns: (u64::from(packet.ts_high) << 32) + u64::from(packet.ts_low),
                        bytes: packet.packet_data()[..packet.caplen as usize].to_vec(),
                        comments: comments.map(text).collect(),
                    });
                }
                reader.consume(offset);
            }
            Err(PcapError::Incomplete(_)) => reader.refill().expect("more of it"),
            Err(PcapError::Eof) => return frames,
            Err(error) => panic!("{error:?}"),
        }
    }
}

fn count(records: &Records, table: &str, column: &str) -> u64 {
    match records.table(table).expect("the table").column(column) {
        Column::U64(values) => values[0],
        Column::OptU64(values) => values[0].expect("a count"),
        other => panic!("no count: {other:?}"),
    }
}

/// AE, CWR and ECE as one number.
fn ace(tcp: &TcpSlice) -> u8 {
    u8::from(tcp.ns()) << 2 | u8::from(tcp.cwr()) << 1 | u8::from(tcp.ece())
}

/// A frame without what routers change: the time to live, the ECN field, and the sum over them; and behind it what Ethernet has of it.
fn without_routers(frame: &Frame) -> Vec<u8> {
    let mut bytes = frame.bytes[14..].to_vec();
    for at in [1, 8, 10, 11] {
        bytes[at] = 0;
    }
    bytes
}

/// At both ends, and before and behind the link, of several runs.
#[test]
fn a_packet_has_the_same_bytes_wherever_it_is_captured() {
    let clocks = json!({"stack": "rfc", "tcp": {"timestamps": true, "header": "52 B", "ack_size": "52 B", "smss": "1448 B"}});
    let requests = json!({"flows": [{"path": ["l"], "source": {"name": "request_response", "request": "300 B", "response": "20 kB"}}]});
    let early = json!({"loss": 0.02, "duplicate": 0.02, "reorder": {"name": "early", "probability": 0.02, "gap": 3}});
    for (keys, link) in [
        (json!({}), early.clone()),
        (clocks, early.clone()),
        (requests, early),
        (json!({"cc": "prague"}), step()),
        (
            json!({"stack": "ns2", "tcp": {"handshake": false}}),
            json!({"loss": 0.02}),
        ),
    ] {
        let scenario = load(&keys, &link);
        let [sender, receiver, near, far] = [
            TapPoint::Sender,
            TapPoint::Receiver,
            TapPoint::Near(0),
            TapPoint::Far(0),
        ]
        .map(|point| frames(&captured(&scenario, point).0));
        // Of two ends the one that sent it saw it first; identifications tell packets apart, so no two that were sent are alike.
        let mut sent: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        let returns = |frame: &Frame| frame.bytes[14 + 13] & 128 != 0;
        let left = |frame: &&Frame| frame.bytes[14 + 8] == 64;
        for frame in sender.iter().filter(|frame| !returns(frame)) {
            assert_eq!(sent.insert(without_routers(frame), frame.time_ns), None);
        }
        for frame in receiver.iter().filter(left) {
            assert_eq!(sent.insert(without_routers(frame), frame.time_ns), None);
        }
        let mut matched = 0;
        for frame in [&sender, &receiver, &near, &far].into_iter().flatten() {
            let left = sent.get(&without_routers(frame));
            let left = *left.unwrap_or_else(|| panic!("{keys}: {frame:?} was never sent"));
            assert!(left <= frame.time_ns, "{keys}");
            matched += u32::from(left < frame.time_ns);
        }
        assert!(matched > 1000, "{keys}: {matched}");
    }
}

#[test]
fn rfc9768_3_2_3_the_option_counts_bytes_by_their_marks() {
    let scenario = load(&json!({"cc": "prague"}), &step());
    let (file, _) = captured(&scenario, TapPoint::Receiver);
    // Counters begin with 1, 0 and 1 (§3.2.1).
    let mut came = [1_u32, 0, 1];
    let mut told = 0;
    for (at, frame) in frames(&file).iter().enumerate() {
        let (returns, payload) = frame.tcp(|tcp, returns| (returns, tcp.payload().len()));
        let option = [172, 174].map(|kind| frame.option(kind));
        if at == 0 || (!returns && payload > 0) {
            assert_eq!(option, [None, None], "neither a SYN nor data have it");
            let bytes = u32::try_from(payload).expect("a packet");
            match frame.bytes[15] & 3 {
                1 => came[2] += bytes,
                2 => came[0] += bytes,
                3 => came[1] += bytes,
                _ => {}
            }
            continue;
        }
        let [ect0, ce, ect1] = if returns { came } else { [1, 0, 1] };
        let (found, order) = match option {
            [Some(found), None] => (found, [ect0, ce, ect1]),
            [None, Some(found)] => (found, [ect1, ce, ect0]),
            other => panic!("{other:?}"),
        };
        let expected: Vec<u8> = order
            .iter()
            .flat_map(|counter| counter.to_be_bytes()[1..].to_vec())
            .collect();
        assert_eq!(found, expected);
        told += 1;
    }
    assert!(told > 100 && came[1] > 100_000 && came[2] > 100_000);
}

const STEP: &str =
    r#"{"queue": {"name": "step", "limit": "60 packets", "mark_above": "8 packets"}}"#;

fn step() -> Value {
    serde_json::from_str(STEP).expect("JSON")
}

#[test]
fn rfc9768_3_1_2_and_3_2_2_marks_are_counted_from_five_on_in_three_bits() {
    let scenario = load(&json!({"cc": "prague"}), &step());
    let (file, records) = captured(&scenario, TapPoint::Receiver);
    let frames = frames(&file);
    let fields: Vec<u8> = frames
        .iter()
        .map(|frame| frame.tcp(|tcp, _| ace(tcp)))
        .collect();
    // SYN, its answer and the third packet, which says that the second was not ECN-capable.
    assert_eq!(fields[..3], [0b111, 0b010, 0b010]);
    // Of data, whose sender has had no mark.
    let marked = |frame: &&Frame| frame.bytes[15] & 3 == 3;
    let mut count_of_marks = 0_u64;
    let mut told = 0;
    for (frame, field) in frames.iter().zip(&fields).skip(3) {
        let returns = frame.tcp(|_, returns| returns);
        if returns {
            assert_eq!(u64::from(*field), (5 + count_of_marks) % 8);
            told += 1;
        } else {
            assert_eq!(*field, 5);
            count_of_marks += u64::from(marked(&frame));
        }
    }
    assert!(told > 100 && count_of_marks > 100);
    assert_eq!(count_of_marks, count(&records, "flows", "ce_in"));
}

#[test]
fn rfc3168_6_1_1_classic_ecn_is_negotiated_and_marks_are_echoed_until_the_window_is_reduced() {
    let scenario = load(&json!({"tcp": {"ecn": "classic"}}), &step());
    let (file, _) = captured(&scenario, TapPoint::Sender);
    let frames = frames(&file);
    let flags = |frame: &Frame| frame.tcp(|tcp, _| (tcp.syn(), tcp.ack(), tcp.cwr(), tcp.ece()));
    assert_eq!(flags(&frames[0]), (true, false, true, true));
    assert_eq!(flags(&frames[1]), (true, true, false, true));
    let echoes = frames[2..]
        .iter()
        .filter(|frame| frame.tcp(|tcp, returns| returns && tcp.ece()));
    let answers = frames[2..]
        .iter()
        .filter(|frame| frame.tcp(|tcp, returns| !returns && tcp.cwr()));
    assert!(echoes.count() > 10);
    assert!(answers.count() > 1);
}

#[test]
fn rfc7323_2_2_a_syn_offers_what_its_stack_has_and_no_other_segment_does() {
    let scenario = load(&json!({}), &json!({}));
    let (file, _) = captured(&scenario, TapPoint::Sender);
    let frames = frames(&file);
    assert_eq!(frames[0].time_ns, EPOCH_NS);
    for syn in &frames[..2] {
        assert_eq!(syn.option(2), Some(vec![5, 0xb4]), "the MSS");
        assert_eq!(syn.option(3), Some(vec![7]), "the window scale");
        assert_eq!(syn.option(4), Some(vec![]), "SACK");
        assert_eq!(syn.bytes.len(), 14 + 20 + 40);
    }
    for other in &frames[2..] {
        assert_eq!([2, 3, 4].map(|kind| other.option(kind)), [None, None, None]);
        assert!(other.option(8).is_some(), "timestamps");
    }
    // The third packet repeats the answer's timestamp.
    let stamps = |frame: &Frame| frame.option(8).expect("timestamps");
    assert_eq!(stamps(&frames[2])[4..], stamps(&frames[1])[..4]);
}

#[test]
fn rfc2883_4_the_first_block_repeats_what_has_come_again() {
    let scenario = load(&json!({}), &json!({"duplicate": 0.05}));
    let (file, records) = captured(&scenario, TapPoint::Sender);
    let mut duplicates = 0;
    for frame in frames(&file) {
        let Some(blocks) = frame.option(5) else {
            continue;
        };
        let number =
            |at: usize| u32::from_be_bytes(blocks[at..at + 4].try_into().expect("four bytes"));
        let ack = frame.tcp(|tcp, _| tcp.acknowledgment_number());
        // Below what is acknowledged, or within the second block (RFC 2883 §4); numbers are far from where they begin again.
        let is_within = blocks.len() >= 16 && number(8) <= number(0) && number(4) <= number(12);
        if number(4) <= ack || is_within {
            duplicates += 1;
            assert_eq!((number(4) - number(0)) % 1448, 0);
        }
    }
    assert!(duplicates > 10);
    assert_eq!(duplicates, count(&records, "flows", "dsacks_in"));
}

#[test]
fn what_is_sent_again_has_the_number_that_it_had_and_a_comment_says_so() {
    let scenario = load(&json!({}), &json!({"loss": 0.03}));
    let (file, records) = captured(&scenario, TapPoint::Sender);
    let mut sent: BTreeMap<u32, usize> = BTreeMap::new();
    let mut again = 0;
    for frame in frames(&file) {
        let (number, length, returns) =
            frame.tcp(|tcp, returns| (tcp.sequence_number(), tcp.payload().len(), returns));
        if returns || length == 0 {
            continue;
        }
        let is_again = sent.insert(number, length);
        assert_eq!(frame.comments == ["sent again"], is_again.is_some());
        if let Some(before) = is_again {
            again += 1;
            assert_eq!(before, length);
        }
    }
    assert!(again > 5);
    assert_eq!(again, count(&records, "flows", "retransmits"));
}

#[test]
fn at_a_link_losses_are_told_and_a_damaged_packet_has_a_wrong_sum() {
    let link = json!({"loss": 0.03, "corrupt": 0.03});
    let scenario = load(&json!({}), &link);
    let (file, records) = captured(&scenario, TapPoint::Near(0));
    let told = |word: &str| {
        let frames = frames(&file);
        let has = |frame: &&Frame| frame.comments.iter().any(|comment| comment.contains(word));
        frames.iter().filter(has).count() as u64
    };
    assert_eq!(
        told("lost on the wire"),
        count(&records, "links", "lost_packets")
    );
    assert_eq!(
        told("damaged on the wire"),
        count(&records, "links", "corrupted_packets")
    );
    let (file, _) = captured(&scenario, TapPoint::Far(0));
    for frame in frames(&file) {
        let sliced = SlicedPacket::from_ethernet(&frame.bytes).expect("a frame");
        let Some(TransportSlice::Tcp(tcp)) = &sliced.transport else {
            panic!("no TCP");
        };
        let address = |at: usize| frame.bytes[at..at + 4].try_into().expect("four bytes");
        let sum = tcp
            .calc_checksum_ipv4(address(26), address(30))
            .expect("short");
        assert_eq!(
            sum != tcp.checksum(),
            frame.comments.iter().any(|comment| comment == "damaged")
        );
    }
}

#[test]
fn a_run_that_begins_anew_leaves_nothing_of_what_was_seen_before() {
    let scenario = load(&json!({"duration": "300 ms"}), &json!({}));
    let (once, _) = captured(&scenario, TapPoint::Sender);
    let outputs = [(TapPoint::Sender, Vec::new())];
    let mut capture = SimulatedCapture::new(&scenario, settings(), outputs).expect("memory");
    for _ in 0..2 {
        let run = simulate_tapped(&scenario, 1, &|| true, &[TapPoint::Sender], &mut capture);
        run.expect("within limits");
    }
    let twice = capture.finish(scenario.duration).expect("memory").remove(0);
    assert_eq!(twice.out, once);
    assert_eq!(twice.packets, frames(&once).len() as u64);
    let mut capture =
        SimulatedCapture::new(&scenario, settings(), [(TapPoint::Sender, Vec::new())])
            .expect("memory");
    capture.begin();
    let none = capture.finish(scenario.duration).expect("memory").remove(0);
    assert_eq!((none.packets, frames(&none.out).len()), (0, 0));
}

#[test]
fn numbers_begin_again_after_the_largest() {
    // The first connection's begin 501 million before that.
    let keys = json!({"duration": "700 ms", "tcp": {"smss": "60000 B", "receive_buffer_max": "100 MB", "receive_buffer_default": "50 MB", "initial_window": "400 packets"}});
    let scenario = load(
        &keys,
        &json!({"rate": "100 Gbit/s", "delay": "1 ms", "queue": {"name": "drop_tail", "limit": "1000 packets"}}),
    );
    let outputs = [(TapPoint::Sender, Vec::new())];
    let short = CaptureSettings {
        snap: 80,
        ..settings()
    };
    let mut capture = SimulatedCapture::new(&scenario, short, outputs).expect("memory");
    let run = simulate_tapped(&scenario, 1, &|| true, &[TapPoint::Sender], &mut capture);
    let (records, _) = run.expect("within limits");
    let file = capture
        .finish(scenario.duration)
        .expect("memory")
        .remove(0)
        .out;
    let mut before: Option<u32> = None;
    let mut wraps = 0;
    for frame in frames(&file) {
        let number = u32::from_be_bytes(frame.bytes[38..42].try_into().expect("four bytes"));
        let returns = frame.bytes[14 + 13] & 128 != 0;
        if !returns {
            wraps += u32::from(before.is_some_and(|before| number < before));
            before = Some(number);
        }
    }
    assert!(count(&records, "flows", "acked_bytes") > 600_000_000);
    assert_eq!(wraps, 1);
}
