//! The receiver, held against the words of its specifications: what `tcp_rules` leaves open of closing, timers and segments that are short.

use sawtooth_core::internals::events::{EventKey, Lineage};
use sawtooth_core::internals::packet::{Ack, DataSegment};
use sawtooth_core::internals::tcp::receiver::Receiver;
use sawtooth_core::units::{ByteCount, Instant, SeqNum};
use serde_json::{Value, json};

use crate::script::{config, near};

/// A receiver that has answered the SYN, and the lineage of events.
struct Script {
    receiver: Receiver,
    lineage: Lineage,
}

impl Script {
    fn new(tcp: &Value) -> Self {
        let mut script = Self {
            receiver: Receiver::new(&config(tcp)),
            lineage: Lineage::new(),
        };
        script
            .take(0.0, DataSegment::default())
            .expect("a SYN is answered at once");
        script
    }

    fn take(&mut self, time: f64, data: DataSegment) -> Option<Ack> {
        let now = self
            .lineage
            .record(EventKey::at_start(Instant::from_secs(time), 0));
        self.receiver.on_segment(now, data)
    }

    /// A segment of so many bytes arrives; up to where it is acknowledged, if it is at once.
    fn arrives(&mut self, time: f64, seq: u64, payload: u64) -> Option<u64> {
        let data = DataSegment {
            seq: SeqNum::new(seq),
            payload: ByteCount::new(payload),
            ..DataSegment::default()
        };
        self.take(time, data).map(|ack| ack.next.get())
    }
}

#[test]
fn rfc9293_3_10_7_4_a_fin_is_acknowledged_at_once_and_alone_delivers_nothing() {
    for payload in [0, 1460] {
        let mut script = Script::new(&json!({}));
        assert!(
            near(script.receiver.delivered.last.secs(), 0.0),
            "nor does a SYN"
        );
        script.arrives(1.0, 1, 1460);
        script.arrives(1.0, 2, 1460);
        let fin = DataSegment {
            seq: SeqNum::new(3),
            payload: ByteCount::new(payload),
            fin: true,
            ..DataSegment::default()
        };
        assert_eq!(script.take(2.0, fin).map(|ack| ack.next.get()), Some(4));
        let last = if payload == 0 { 1.0 } else { 2.0 };
        assert!(near(script.receiver.delivered.last.secs(), last));
    }
}

#[test]
fn a_second_segment_shortens_the_wait_for_an_acknowledgement_where_that_is_another() {
    let several = json!({
        "ack_every": 3, "delayed_ack_timeout": "20 ms", "delayed_ack_timeout_several": "10 ms",
    });
    // The second comes 1 ms after the first, or 15 ms: 10 ms from then on are later than 20 from the first.
    for (apart, due) in [(0.001, 0.011), (0.015, 0.02)] {
        let mut script = Script::new(&several);
        assert_eq!(script.arrives(1.0, 1, 1460), None);
        assert_eq!(script.arrives(1.0 + apart, 2, 1460), None);
        assert!(
            near(script.receiver.next_timer().time.secs(), 1.0 + due),
            "{apart}"
        );
    }
    // Where it is not, nothing changes.
    let mut script = Script::new(&json!({"ack_every": 3, "delayed_ack_timeout": "20 ms"}));
    script.arrives(1.0, 1, 1460);
    script.arrives(1.001, 2, 1460);
    assert!(near(script.receiver.next_timer().time.secs(), 1.02));
}

#[test]
fn half_of_the_window_is_acknowledged_where_that_is_asked_for() {
    // 32 KiB are 22 segments.
    let mut script = Script::new(&json!({"window_limit": "32768 B", "ack_window_share": 0.5}));
    let acknowledged: Vec<u64> = (1..=22)
        .filter_map(|seq| script.arrives(1.0, seq, 1460))
        .collect();
    assert_eq!(acknowledged, [12, 23]);
    let mut script = Script::new(&json!({"ack_window_share": 0.5}));
    script.arrives(1.0, 1, 1460);
    assert_eq!(
        script.arrives(1.0, 2, 1460),
        Some(3),
        "without a window, two"
    );
}

#[test]
fn rfc9293_3_10_7_4_a_filled_hole_delivers_the_bytes_there_are() {
    let mut script = Script::new(&json!({}));
    for (seq, bytes) in [(2, 1460), (3, 400), (5, 10), (1, 1460)] {
        script.arrives(1.0, seq, bytes);
    }
    assert_eq!(script.receiver.delivered.bytes.get(), 2 * 1460 + 400);
    assert_eq!(script.arrives(2.0, 4, 1000), Some(6));
    assert_eq!(
        script.receiver.delivered.bytes.get(),
        2 * 1460 + 400 + 1000 + 10
    );
}

#[test]
fn rfc2018_3_a_block_takes_eight_bytes_of_an_acknowledgement() {
    let mut script = Script::new(&json!({}));
    for (seq, blocks) in [(3, 1), (5, 2), (7, 3), (9, 3)] {
        let data = DataSegment {
            seq: SeqNum::new(seq),
            payload: ByteCount::new(1460),
            ..DataSegment::default()
        };
        let ack = script.take(1.0, data).expect("it is out of order");
        assert_eq!(ack.sack.len(), blocks);
    }
}

#[test]
fn linux_acknowledges_at_once_what_begins_another_block_while_an_acknowledgement_waits() {
    let mut script = Script::new(&json!({"recovery": "rack", "sack_compression_delay": "1 ms"}));
    // Three at once; a fourth waits, and a fifth block ends the wait.
    for seq in [2, 4, 6] {
        assert_eq!(script.arrives(1.0, seq, 1460), Some(1));
    }
    assert_eq!(script.arrives(1.0, 8, 1460), None);
    assert_eq!(script.arrives(1.0, 10, 1460), Some(1));
    // What makes a block longer waits.
    assert_eq!(script.arrives(1.0, 11, 1460), None);
    assert_eq!(script.arrives(1.0, 12, 1460), None);
}

#[test]
fn linux_2_0_data_with_push_wait_for_20_ms_and_other_data_for_the_time_between_arrivals() {
    let tcp = json!({"delayed_ack": "linux-2.0", "ack_every": 64});
    let mut script = Script::new(&tcp);
    let mut due = |time: f64, seq: u64, push: bool| {
        let data = DataSegment {
            seq: SeqNum::new(seq),
            payload: ByteCount::new(1460),
            push,
            ..DataSegment::default()
        };
        assert_eq!(script.take(time, data), None);
        script.receiver.next_timer().time.secs()
    };
    // Nothing is known of what follows: half a second. What follows says that it comes 0.1 s apart.
    assert!(near(due(1.0, 1, false), 1.5));
    assert!(near(due(1.1, 2, false), 1.2));
    // The first that is due decides, and data with PSH are due first.
    assert!(near(due(1.15, 3, false), 1.2));
    assert!(near(due(1.16, 4, true), 1.18));
    assert_eq!(script.receiver.on_timer().next, SeqNum::new(5));
}

#[test]
fn linux_2_0_waits_count_in_jiffies_of_the_receiver_and_every_second_segment_is_acknowledged() {
    let tcp = json!({
        "delayed_ack": "linux-2.0", "delayed_ack_pushed": "15 ms", "delayed_ack_most": "100 ms", "timer_tick": "10 ms", "whole_ticks": false,
    });
    let mut script = Script::new(&tcp);
    let data = DataSegment {
        seq: SeqNum::new(1),
        payload: ByteCount::new(1460),
        push: true,
        ..DataSegment::default()
    };
    assert_eq!(script.take(1.004, data), None);
    assert!(near(script.receiver.next_timer().time.secs(), 1.02));
    assert_eq!(script.arrives(1.005, 2, 1460), Some(3));
    assert!(script.receiver.next_timer().is_never());
    assert_eq!(script.arrives(1.106, 3, 1460), None);
    assert!(near(script.receiver.next_timer().time.secs(), 1.2));
}
