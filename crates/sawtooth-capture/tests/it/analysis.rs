//! Conversations written as an RFC would, and what the analysis says of them.

use std::net::SocketAddr;

use sawtooth_capture::analysis::{Analysis, MOST_CONNECTIONS, Tables};
use sawtooth_capture::read::{CapturedDatagram, CapturedPacket, Met, Sighting, Tally};
use sawtooth_capture::segment::{AccurateEcn, Flags, Options, Segment};
use sawtooth_core::record::Text;

const MS: i64 = 1_000_000;
const SEGMENT: u32 = 1000;
/// Initial sequence numbers; that of the sender wraps within the first segments.
const ISN: [u32; 2] = [0xffff_f000, 7];

/// A conversation between a sender of data (0) and its receiver (1); numbers are relative, the first byte of data is 0.
struct Talk {
    packets: Vec<Sighting>,
    /// Identification of the last packet.
    ip_id: u16,
    window: u16,
}

impl Talk {
    fn new() -> Self {
        Self {
            packets: Vec::new(),
            ip_id: 0,
            window: 60_000,
        }
    }

    /// A whole handshake, seen at the sender, with a round trip of 40 ms.
    fn begun() -> Self {
        let mut talk = Self::new();
        talk.syn(0, 0, Flags::SYN);
        talk.syn(40 * MS, 1, Flags::SYN.with(Flags::ACK, true));
        talk.ack_by(0, 40 * MS + 20_000, 0, &[]);
        talk
    }

    fn address(end: usize) -> SocketAddr {
        SocketAddr::from(([10, 0, 0, 1 + u8::try_from(end).expect("0 or 1")], 5000))
    }

    fn push(
        &mut self,
        time_ns: i64,
        from: usize,
        seq: u32,
        ack: u32,
        flags: Flags,
        payload: u32,
    ) -> &mut Sighting {
        self.ip_id = self.ip_id.wrapping_add(1).max(1);
        self.packets.push(Sighting {
            time_ns,
            segment: Segment {
                source: Self::address(from),
                destination: Self::address(1 - from),
                ecn: 0,
                seq: ISN[from].wrapping_add(seq),
                ack: if flags.has(Flags::ACK) {
                    ISN[1 - from].wrapping_add(ack)
                } else {
                    0
                },
                flags,
                window: self.window,
                options: Options::default(),
                payload,
            },
            are_options_cut: false,
            ip_id: Some(self.ip_id),
            ip_bytes: 40 + payload,
        });
        self.packets.last_mut().expect("it was pushed")
    }

    fn syn(&mut self, time_ns: i64, from: usize, flags: Flags) {
        let options = Options {
            window_scale: Some(2),
            maximum_segment_size: Some(1000),
            sack_permitted: true,
            ..Options::default()
        };
        self.push(time_ns, from, 0, 1, flags, 0).segment.options = options;
    }

    /// A segment of data, by its number from 0.
    fn data(&mut self, time_ns: i64, number: u32) -> &mut Sighting {
        self.push(time_ns, 0, 1 + number * SEGMENT, 1, Flags::ACK, SEGMENT)
    }

    fn ack(&mut self, time_ns: i64, segments: u32, sack: &[(u32, u32)]) {
        self.ack_by(1, time_ns, segments, sack);
    }

    /// An acknowledgement of so many segments, with blocks of segments from one to another.
    fn ack_by(&mut self, from: usize, time_ns: i64, segments: u32, sack: &[(u32, u32)]) {
        let isn = ISN[1 - from];
        let edge = |segment: u32| isn.wrapping_add(1 + segment * SEGMENT);
        let blocks = sack
            .iter()
            .map(|(left, right)| (edge(*left), edge(*right)))
            .collect();
        let pushed = self.push(time_ns, from, 1, 1 + segments * SEGMENT, Flags::ACK, 0);
        pushed.segment.options.sack = blocks;
    }

    fn analysed(&self) -> Seen {
        let mut analysis = Analysis::default();
        for sighting in &self.packets {
            analysis.frame(sighting.time_ns);
            analysis.packet(&CapturedPacket::Tcp(sighting.clone()));
        }
        let (tables, tally) = analysis.finish();
        Seen { tables, tally }
    }
}

struct Seen {
    tables: Tables,
    tally: Tally,
}

impl Seen {
    /// A number of the first flow.
    fn of(&self, column: &str) -> Option<i64> {
        #[expect(clippy::cast_possible_truncation, reason = "whole numbers")]
        self.tables.flows.column(column).numbers()[0].map(|value| value as i64)
    }

    fn text(&self, column: &str) -> &str {
        &self.tables.flows.column(column).texts()[0]
    }

    fn kinds(&self) -> Vec<&str> {
        let kinds = self.tables.marks.column("kind").texts();
        kinds
            .iter()
            .map(|kind| &**kind)
            .filter(|kind| *kind != "syn")
            .collect()
    }

    fn all(&self, expected: &[(&str, i64)]) {
        for (column, value) in expected {
            assert_eq!(self.of(column), Some(*value), "{column}");
        }
    }
}

#[test]
fn a_transfer_without_loss_is_counted_and_timed() {
    let mut talk = Talk::begun();
    for number in 0..6 {
        talk.data(50 * MS + i64::from(number) * 10_000, number);
    }
    for acked in [2, 4, 6] {
        talk.ack(90 * MS + i64::from(acked) * 10_000, acked, &[]);
    }
    talk.push(91 * MS, 0, 6001, 1, Flags::FIN.with(Flags::ACK, true), 0);
    talk.push(131 * MS, 1, 1, 6002, Flags::FIN.with(Flags::ACK, true), 0);
    let seen = talk.analysed();
    seen.all(&[
        ("sent_packets", 9),
        ("data_packets", 6),
        ("sent_bytes", 6000),
        ("unique_bytes", 6000),
        ("delivered_bytes", 6000),
        ("retransmits", 0),
        ("dupacks_in", 0),
        ("missed_bytes", 0),
        // SYN, three acknowledgements, FIN.
        ("rtt_samples", 5),
        ("min_rtt_ns", 40 * MS),
        ("completion_ns", 131 * MS),
        ("max_flight_bytes", 6000),
        ("window_scale", 2),
        ("mss_bytes", 1000),
        ("sender_rtt_min_ns", 20_000),
    ]);
    assert_eq!(seen.text("flow"), "10.0.0.1:5000 > 10.0.0.2:5000");
    assert_eq!(seen.text("vantage"), "sender");
    assert_eq!(
        (seen.text("handshake"), seen.text("closed")),
        ("whole", "fin")
    );
    assert_eq!(seen.tables.flows.rows(), 1, "the receiver sent no data");
    let limited = ["rwnd", "source", "recovery", "rto", "other"].map(|held| {
        seen.of(&format!("limited_{held}_ns"))
            .expect("at the sender")
    });
    assert_eq!(
        limited.iter().sum::<i64>(),
        seen.of("lifetime_ns").expect("known")
    );
    // From the answer to the SYN to the first data, and from the last acknowledgement of data to the FIN.
    assert_eq!(limited[1], 10 * MS + 940_000);
}

#[test]
fn rfc5681_3_2_three_duplicates_begin_an_episode_that_ends_at_its_recovery_point() {
    let mut talk = Talk::begun();
    for number in 0..6 {
        talk.data(50 * MS, number);
    }
    talk.ack(90 * MS, 1, &[]);
    for _ in 0..4 {
        talk.ack(91 * MS, 1, &[]);
    }
    talk.data(91 * MS + 1, 1);
    talk.ack(131 * MS, 6, &[]);
    let seen = talk.analysed();
    seen.all(&[
        ("retransmits", 1),
        ("retransmitted_bytes", 1000),
        ("retransmits_unseen", 0),
        ("fast_retransmits", 1),
        ("timeouts", 0),
        ("dupacks_in", 4),
        ("unique_bytes", 6000),
        // Karn: the last acknowledgement is of a segment that was sent twice, too.
        ("rtt_samples", 2),
        ("limited_recovery_ns", 40 * MS - 1),
    ]);
    let episodes = &seen.tables.episodes;
    assert_eq!(episodes.column("cause").texts(), ["dupack"].map(Text::from));
    for (column, value) in [
        ("start_ns", 91 * MS + 1),
        ("end_ns", 131 * MS),
        ("flight_bytes", 5000),
        ("dupacks", 4),
    ] {
        #[expect(clippy::cast_precision_loss, reason = "small")]
        let expected = Some(value as f64);
        assert_eq!(episodes.column(column).numbers(), [expected], "{column}");
    }
    assert_eq!(seen.kinds(), ["retransmission"]);
}

#[test]
fn rfc5681_2_an_acknowledgement_with_another_window_or_data_is_no_duplicate() {
    let mut talk = Talk::begun();
    talk.data(50 * MS, 0);
    talk.data(50 * MS, 1);
    talk.ack(90 * MS, 1, &[]);
    talk.window = 50_000;
    talk.ack(91 * MS, 1, &[]);
    talk.push(92 * MS, 1, 1, 1001, Flags::ACK, 10);
    talk.ack(93 * MS, 2, &[]);
    // Nothing is outstanding.
    talk.ack(94 * MS, 2, &[]);
    assert_eq!(talk.analysed().of("dupacks_in"), Some(0));
}

#[test]
fn rfc6298_5_a_retransmission_after_a_silence_is_a_timeout() {
    let mut talk = Talk::begun();
    talk.data(50 * MS, 0);
    talk.data(300 * MS, 0);
    talk.data(800 * MS, 0);
    talk.ack(840 * MS, 1, &[]);
    let seen = talk.analysed();
    seen.all(&[
        ("retransmits", 2),
        ("timeouts", 2),
        ("fast_retransmits", 0),
        ("limited_rto_ns", 750 * MS),
    ]);
    assert_eq!(
        seen.tables.episodes.column("cause").texts(),
        ["rto"].map(Text::from)
    );
}

#[test]
fn rfc8985_7_the_newest_segment_sent_again_without_an_acknowledgement_is_a_probe() {
    let mut talk = Talk::begun();
    for number in 0..3 {
        talk.data(50 * MS, number);
    }
    talk.ack(90 * MS, 1, &[]);
    talk.data(170 * MS, 2);
    let seen = talk.analysed();
    seen.all(&[("tail_loss_probes", 1), ("timeouts", 0)]);
    assert_eq!(
        seen.tables.episodes.column("cause").texts(),
        ["tail_loss_probe"].map(Text::from)
    );
    assert_eq!(seen.tables.episodes.column("end_ns").numbers(), [None]);
}

/// A tail of three of which two are lost, and the newest is sent again so long after the acknowledgement.
fn tail_sent_again_after(wait_ns: i64) -> Talk {
    let mut talk = Talk::begun();
    for number in 0..3 {
        talk.data(50 * MS, number);
    }
    talk.ack(90 * MS, 1, &[]);
    talk.data(90 * MS + wait_ns, 2);
    talk
}

#[test]
fn rfc8985_7_2_no_probe_comes_sooner_than_a_round_trip_after_an_acknowledgement() {
    // The acknowledgement of the handshake took 20 us, and is a part of the way.
    for (wait, probes) in [(39 * MS, 0), (41 * MS, 1)] {
        let seen = tail_sent_again_after(wait).analysed();
        seen.all(&[("tail_loss_probes", probes), ("retransmits", 1)]);
    }
}

#[test]
fn rfc8985_4_a_sender_without_sack_sends_no_probes() {
    for end in [0, 1] {
        let mut talk = tail_sent_again_after(80 * MS);
        talk.packets[end].segment.options.sack_permitted = false;
        talk.analysed().all(&[("tail_loss_probes", 0)]);
        // Of options that were cut off it is not known.
        talk.packets[end].are_options_cut = true;
        talk.analysed().all(&[("tail_loss_probes", 1)]);
    }
}

#[test]
fn rfc5681_the_newest_segment_sent_again_as_the_last_after_a_timeout_is_no_probe() {
    let mut talk = Talk::begun();
    for number in 0..3 {
        talk.data(50 * MS, number);
    }
    talk.data(300 * MS, 0);
    talk.ack(340 * MS, 1, &[]);
    talk.data(420 * MS, 1);
    talk.data(420 * MS, 2);
    let seen = talk.analysed();
    seen.all(&[("tail_loss_probes", 0), ("timeouts", 1), ("retransmits", 3)]);
}

#[test]
fn rfc2018_and_rfc2883_blocks_are_counted_and_duplicates_told_apart() {
    let mut talk = Talk::begun();
    for number in 0..6 {
        talk.data(50 * MS, number);
    }
    talk.ack(90 * MS, 1, &[(2, 4)]);
    talk.ack(90 * MS, 1, &[(5, 6), (2, 4)]);
    talk.data(91 * MS, 1);
    talk.data(91 * MS, 4);
    talk.ack(131 * MS, 4, &[(5, 6)]);
    // Below the acknowledgement (§4.1), then within another block (§4.2).
    talk.ack(132 * MS, 4, &[(1, 2), (5, 6)]);
    talk.ack(132 * MS, 4, &[(5, 6), (5, 6)]);
    let seen = talk.analysed();
    seen.all(&[
        ("sacks_in", 5),
        ("sack_blocks", 8),
        ("dsacks_in", 2),
        ("retransmits", 2),
    ]);
    assert_eq!(
        seen.kinds(),
        [
            "sack",
            "sack",
            "retransmission",
            "retransmission",
            "dsack",
            "dsack"
        ]
    );
    assert_eq!(
        seen.tables.episodes.column("cause").texts(),
        ["sack"].map(Text::from)
    );
}

#[test]
fn a_hole_is_filled_late_or_again_by_its_identification() {
    // Before the capture 1 was overtaken; 3 was lost and is sent again.
    let mut talk = Talk::begun();
    talk.data(50 * MS, 0);
    talk.data(50 * MS, 2).ip_id = Some(12);
    talk.data(50 * MS, 1).ip_id = Some(11);
    talk.data(50 * MS, 4).ip_id = Some(14);
    talk.data(51 * MS, 3).ip_id = Some(15);
    talk.ack(131 * MS, 5, &[]);
    let seen = talk.analysed();
    seen.all(&[
        ("reordered_packets", 1),
        ("retransmits", 1),
        ("retransmits_unseen", 1),
        ("retransmitted_bytes", 1000),
        ("unique_bytes", 5000),
        ("missed_bytes", 0),
    ]);
}

#[test]
fn the_same_packet_twice_is_a_duplicate_of_the_network() {
    let mut talk = Talk::begun();
    talk.data(50 * MS, 0).ip_id = Some(9);
    talk.data(50 * MS, 0).ip_id = Some(9);
    // Also where the first has been acknowledged, as it has at the receiver.
    talk.ack(50 * MS + 1, 1, &[]);
    talk.data(50 * MS + 2, 0).ip_id = Some(9);
    let seen = talk.analysed();
    seen.all(&[
        ("duplicated_packets", 2),
        ("retransmits", 0),
        ("sent_bytes", 3000),
        ("unique_bytes", 1000),
    ]);
}

#[test]
fn an_answer_to_what_was_sent_again_is_a_duplicate_though_all_is_acknowledged_where_it_is_seen() {
    let mut talk = Talk::begun();
    talk.data(50 * MS, 0);
    talk.ack(50 * MS + 1, 1, &[]);
    talk.data(90 * MS, 0);
    talk.ack(90 * MS + 1, 1, &[]);
    talk.ack(91 * MS, 1, &[]);
    talk.analysed()
        .all(&[("dupacks_in", 1), ("retransmits_needless", 1)]);
}

#[test]
fn what_had_been_acknowledged_is_sent_again_needlessly() {
    let mut talk = Talk::begun();
    talk.data(50 * MS, 0);
    talk.data(50 * MS, 1);
    talk.ack(90 * MS, 2, &[]);
    talk.data(91 * MS, 0);
    let seen = talk.analysed();
    seen.all(&[
        ("retransmits", 1),
        ("retransmits_needless", 1),
        ("unique_bytes", 2000),
    ]);
}

#[test]
fn rfc9293_3_8_4_keep_alives_and_probes_are_no_retransmissions() {
    let mut talk = Talk::begun();
    talk.data(50 * MS, 0);
    talk.window = 0;
    talk.ack(90 * MS, 1, &[]);
    talk.window = 60_000;
    for payload in [0, 1] {
        talk.push(500 * MS, 0, 1000, 1, Flags::ACK, payload);
    }
    let seen = talk.analysed();
    seen.all(&[("probes", 2), ("retransmits", 0), ("zero_windows", 1)]);
    assert_eq!(seen.kinds(), ["zero_window", "probe", "probe"]);
}

#[test]
fn a_window_without_room_for_a_segment_limits_the_sender() {
    let mut talk = Talk::begun();
    // Shifted by two: 4000 bytes.
    talk.window = 1000;
    talk.ack(41 * MS, 0, &[]);
    for number in 0..4 {
        talk.data(50 * MS, number);
    }
    talk.ack(90 * MS, 4, &[]);
    let seen = talk.analysed();
    seen.all(&[("limited_rwnd_ns", 40 * MS), ("limited_rto_ns", 0)]);
}

#[test]
fn without_a_handshake_windows_are_unknown_and_the_first_number_is_0() {
    let mut talk = Talk::new();
    talk.data(50 * MS, 3);
    talk.data(50 * MS, 4);
    talk.ack(90 * MS, 5, &[]);
    talk.data(90 * MS, 5);
    let seen = talk.analysed();
    seen.all(&[
        ("delivered_bytes", 2000),
        ("unique_bytes", 3000),
        ("missed_bytes", 0),
    ]);
    assert_eq!(
        (seen.text("handshake"), seen.text("closed")),
        ("none", "open")
    );
    for unknown in [
        "window_scale",
        "mss_bytes",
        "limited_rwnd_ns",
        "completion_ns",
    ] {
        assert_eq!(seen.of(unknown), None, "{unknown}");
    }
    assert_eq!(
        seen.tables.series.column("window_edge_bytes").numbers()[0],
        None
    );
}

#[test]
fn what_only_one_direction_tells_of_the_other_is_unknown() {
    let mut talk = Talk::new();
    for number in 0..3 {
        talk.data(50 * MS, number);
    }
    let seen = talk.analysed();
    seen.all(&[("sent_bytes", 3000), ("retransmits", 0)]);
    for unknown in [
        "delivered_bytes",
        "dupacks_in",
        "missed_bytes",
        "min_rtt_ns",
        "goodput_bps",
        "limited_source_ns",
    ] {
        assert_eq!(seen.of(unknown), None, "{unknown}");
    }
    assert_eq!(seen.text("vantage"), "");
}

#[test]
fn what_is_acknowledged_and_was_not_seen_is_missed() {
    let mut talk = Talk::begun();
    talk.data(50 * MS, 0);
    talk.ack(90 * MS, 1, &[]);
    talk.data(91 * MS, 2);
    talk.ack(131 * MS, 4, &[]);
    assert_eq!(talk.analysed().of("missed_bytes"), Some(2000));
}

#[test]
fn at_the_receiver_the_round_trip_is_the_sum_of_both_sides() {
    let mut talk = Talk::new();
    talk.syn(0, 0, Flags::SYN);
    talk.syn(10_000, 1, Flags::SYN.with(Flags::ACK, true));
    talk.ack_by(0, 40 * MS, 0, &[]);
    talk.data(41 * MS, 0);
    talk.ack(41 * MS + 20_000, 1, &[]);
    let seen = talk.analysed();
    assert_eq!(seen.text("vantage"), "receiver");
    seen.all(&[
        ("min_rtt_ns", 40 * MS),
        ("receiver_rtt_min_ns", 10_000),
        ("sender_rtt_min_ns", 39_990_000),
    ]);
    for unknown in [
        "rtt_samples",
        "max_rtt_ns",
        "limited_source_ns",
        "limited_other_ns",
    ] {
        assert_eq!(seen.of(unknown), None, "{unknown}");
    }
}

#[test]
fn rfc7323_4_timestamps_time_what_karn_leaves_out() {
    let mut talk = Talk::begun();
    for (time, value) in [(50, 100), (400, 450)] {
        talk.data(time * MS, 0).segment.options.timestamps = Some((value, 1));
    }
    talk.ack(440 * MS, 1, &[]);
    talk.packets
        .last_mut()
        .expect("the acknowledgement")
        .segment
        .options
        .timestamps = Some((2, 450));
    let seen = talk.analysed();
    seen.all(&[
        ("rtt_samples", 1),
        ("timestamp_rtt_samples", 1),
        ("timestamp_rtt_min_ns", 40 * MS),
    ]);
}

#[test]
fn a_syn_with_another_number_begins_another_connection() {
    let mut talk = Talk::begun();
    talk.data(50 * MS, 0);
    let again = Talk::begun();
    for mut sighting in again.packets {
        sighting.time_ns += 1000 * MS;
        // One SYN more of the first connection would have the same number.
        sighting.segment.seq = sighting.segment.seq.wrapping_add(5_000_000);
        sighting.segment.ack = sighting.segment.ack.wrapping_add(5_000_000);
        talk.packets.push(sighting);
    }
    let seen = talk.analysed();
    assert_eq!(
        seen.tables.flows.column("flow").texts(),
        [
            "10.0.0.1:5000 > 10.0.0.2:5000",
            "10.0.0.1:5000 > 10.0.0.2:5000 #2"
        ]
        .map(Text::from)
    );
    assert_eq!(seen.tables.connections, 2);
}

#[test]
fn marks_of_ecn_are_counted_where_they_are_seen() {
    let mut talk = Talk::begun();
    talk.data(50 * MS, 0).segment.ecn = 3;
    talk.data(50 * MS, 1).segment.ecn = 2;
    talk.ack(90 * MS, 2, &[]);
    let last = talk.packets.last_mut().expect("the acknowledgement");
    last.segment.flags = last.segment.flags.with(Flags::ECE, true);
    let data = talk.data(91 * MS, 2);
    data.segment.flags = data.segment.flags.with(Flags::CWR, true);
    let seen = talk.analysed();
    seen.all(&[
        ("ce_in", 1),
        ("ect_packets", 2),
        ("ecn_signals", 1),
        ("cwr_packets", 1),
    ]);
    assert_eq!(seen.kinds(), ["ce"]);
}

/// The bits AE, CWR and ECE of that number.
fn ace(number: u8) -> Flags {
    Flags::default()
        .with(Flags::AE, number & 4 != 0)
        .with(Flags::CWR, number & 2 != 0)
        .with(Flags::ECE, number & 1 != 0)
}

/// A handshake in which the SYN asks for one feedback and its answer agrees to another; the third packet has these bits.
fn agreed(asked: u8, answered: u8, third: u8) -> Talk {
    let mut talk = Talk::begun();
    for (packet, number) in talk.packets.iter_mut().zip([asked, answered, third]) {
        let flags = &mut packet.segment.flags;
        *flags = flags.with(ace(number), true);
    }
    talk
}

#[test]
fn rfc9768_table_2_says_what_a_handshake_agrees_on() {
    for (asked, answered, name) in [
        (0b111, 0b010, "accurate"),
        (0b111, 0b011, "accurate"),
        (0b111, 0b100, "accurate"),
        (0b111, 0b110, "accurate"),
        (0b111, 0b001, "classic"),
        (0b111, 0b101, "classic"),
        (0b111, 0b000, "none"),
        (0b111, 0b111, "none"),
        (0b011, 0b001, "classic"),
        (0b011, 0b000, "none"),
        (0b000, 0b000, "none"),
    ] {
        let mut talk = agreed(asked, answered, 0);
        talk.data(50 * MS, 0);
        assert_eq!(
            talk.analysed().text("ecn_feedback"),
            name,
            "{asked:03b} {answered:03b}"
        );
    }
    let mut talk = Talk::new();
    talk.data(0, 0);
    assert_eq!(talk.analysed().text("ecn_feedback"), "");
    talk.ack(40 * MS, 1, &[]);
    let last = talk.packets.last_mut().expect("the acknowledgement");
    last.segment.flags = last.segment.flags.with(Flags::AE, true);
    assert_eq!(talk.analysed().text("ecn_feedback"), "accurate");
}

#[test]
fn rfc9768_3_2_2_the_three_bits_are_a_counter_and_no_echo() {
    let mut talk = agreed(0b111, 0b010, 0b010);
    for number in 0..6 {
        let segment = &mut talk.data(50 * MS + i64::from(number), number).segment;
        segment.flags = segment.flags.with(ace(5), true);
    }
    // Marks so far: none, 3 (which is 8, and so 0), the same, 5 more.
    for (at, (count, bytes)) in [(5, 0), (0, 3000), (0, 3000), (5, 8000)]
        .into_iter()
        .enumerate()
    {
        let at = u32::try_from(at).expect("few");
        talk.ack(90 * MS + i64::from(at), at + 1, &[]);
        let segment = &mut talk.packets.last_mut().expect("it").segment;
        segment.flags = segment.flags.with(ace(count), true);
        segment.options.accurate_ecn = Some(AccurateEcn {
            ect1_first: true,
            counters: [Some(1), Some(bytes), None],
        });
    }
    let seen = talk.analysed();
    seen.all(&[
        ("ecn_signals", 2),
        ("ce_reported", 8),
        ("ce_reported_bytes", 8000),
    ]);
    assert_eq!(seen.of("cwr_packets"), None);
    let classic = Talk::begun().analysed();
    assert_eq!(
        (classic.of("ce_reported"), classic.of("cwr_packets")),
        (None, Some(0))
    );
}

#[test]
fn times_that_go_back_are_counted_and_harm_nothing() {
    let mut talk = Talk::begun();
    talk.data(50 * MS, 0);
    talk.ack(30 * MS, 1, &[]);
    talk.data(49 * MS, 1);
    talk.ack(90 * MS, 2, &[]);
    let seen = talk.analysed();
    assert_eq!(seen.tally.count(Met::BackInTime), 1);
    seen.all(&[("delivered_bytes", 2000), ("receiver_rtt_min_ns", 0)]);
}

#[test]
fn numbers_beyond_32_bits_are_counted_on() {
    let mut talk = Talk::begun();
    let large = 60_000_000;
    for step in 0..100u32 {
        let time = 50 * MS * i64::from(step + 1);
        talk.push(
            time,
            0,
            1u32.wrapping_add(step.wrapping_mul(large)),
            1,
            Flags::ACK,
            large,
        );
        talk.push(
            time + MS,
            1,
            1,
            1u32.wrapping_add((step + 1).wrapping_mul(large)),
            Flags::ACK,
            0,
        );
    }
    let seen = talk.analysed();
    seen.all(&[
        ("delivered_bytes", 6_000_000_000),
        ("unique_bytes", 6_000_000_000),
        ("retransmits", 0),
    ]);
}

#[test]
fn more_connections_than_are_kept_are_told() {
    let mut analysis = Analysis::default();
    let mut packet = Talk::begun().packets.remove(0);
    for number in 0..=MOST_CONNECTIONS {
        let [high, low] = u16::try_from(number).expect("16 bits").to_be_bytes();
        packet.segment.source = SocketAddr::from(([10, 1, high, low], 5000));
        packet.time_ns += 1;
        analysis.packet(&CapturedPacket::Tcp(packet.clone()));
    }
    let (tables, tally) = analysis.finish();
    assert_eq!(tables.flows.rows(), MOST_CONNECTIONS + 1);
    assert_eq!(tally.count(Met::Forgotten), MOST_CONNECTIONS as u64 / 4);
    assert_eq!(
        &*tables.flows.column("flow").texts()[0],
        "10.1.0.0:5000 > 10.0.0.2:5000"
    );
}

#[test]
fn datagrams_are_counted_by_their_ends() {
    let mut analysis = Analysis::default();
    for time_ns in [0, 500 * MS, 1000 * MS] {
        analysis.packet(&CapturedPacket::Udp(CapturedDatagram {
            time_ns,
            source: Talk::address(0),
            destination: Talk::address(1),
            payload: 100,
            ip_bytes: 128,
        }));
    }
    let (tables, tally) = analysis.finish();
    let seen = Seen { tables, tally };
    seen.all(&[
        ("sent_packets", 3),
        ("sent_bytes", 300),
        ("ip_bytes", 384),
        ("wire_bps", 3072),
    ]);
    assert_eq!(
        (seen.text("transport"), seen.of("retransmits")),
        ("udp", None)
    );
}
