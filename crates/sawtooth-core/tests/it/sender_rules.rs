//! What is common to all senders, held against the words of its specifications: buffers and windows, writes and pauses, short segments, marks, clocks, and
//! what is kept of a connection.

#![expect(
    clippy::single_range_in_vec_init,
    reason = "one block is a list of one range"
)]

use sawtooth_core::internals::packet::{Ack, AdvertisedWindow};
use sawtooth_core::internals::tcp::limits::SendLimit;
use sawtooth_core::internals::tcp::sender::HeldBackBy;
use sawtooth_core::internals::tcp::sender::{Sender, SenderDraws};
use sawtooth_core::units::{ByteCount, Duration, Instant, SegCount};
use serde_json::{Value, json};

use crate::script::{NOTHING, RTT, Script, near, reporting, with};

fn newreno(more: &Value) -> Value {
    with(json!({"recovery": "newreno", "ack_every": 1}), more)
}

/// An application that has written nothing yet, 0.1 s after the SYN, with a window of three segments of 1460 B.
fn opened(more: &Value) -> Script {
    let mut script = Script::open(&newreno(more));
    assert_eq!(script.establish(), NOTHING);
    script
}

/// An acknowledgement with a window, in segments.
fn offer(next: u64, window: u32) -> Ack {
    Ack {
        window: AdvertisedWindow::of(ByteCount::new(1460 * u64::from(window))),
        ..reporting(next, &[])
    }
}

// --- buffers and windows ------------------------------------------------------------------------------------------------

#[test]
fn the_send_buffer_holds_what_its_memory_is_enough_for() {
    let more = json!({"send_buffer_default": "16384 B", "initial_window": "10 packets"});
    // For twice ten segments of 2304 B: 46080 B, of which each takes 2740. Seventeen are written, ten leave.
    let mut all = Script::new(&newreno(&more), None);
    assert_eq!(all.establish().len(), 10);
    assert_eq!(all.sender.send_room(), SegCount::new(7));
    // The same if the application writes before there is a connection; nothing goes with the SYN.
    let mut early = Script::open(&newreno(&more));
    assert_eq!(early.write(u64::MAX / 4), [0]);
    early.start();
    early.wait(RTT);
    assert_eq!(early.ack(1).len(), 10);
    assert_eq!(early.sender.send_room(), SegCount::new(7));
    // Or when the SYN has been acknowledged.
    let mut late = opened(&more);
    assert_eq!(late.write(5 * 1460), [1, 2, 3, 4, 5]);
}

#[test]
fn rfc9293_3_8_6_the_receivers_window_limits_what_leaves() {
    let mut script = Script::new(&newreno(&json!({})), None);
    script.start();
    script.wait(RTT);
    assert_eq!(script.hear(&offer(1, 2)), [1, 2]);
    assert_eq!(script.sender.rwnd_room(), SegCount::ZERO);
    // Data of the other side carries a larger one: no duplicate acknowledgement (RFC 5681 §2).
    let now = script.event();
    script.sender.on_carried(now, &offer(1, 9));
    assert_eq!(script.sent(now), [3]);
    assert_eq!(script.sender.counters().dupacks_in, 0);
}

#[test]
fn rfc9293_3_9_1_2_the_last_segment_of_a_write_is_pushed() {
    let mut script = Script::new(&newreno(&json!({"fin": false})), Some(3));
    script.establish();
    let pushed: Vec<bool> = script.data[1..].iter().map(|data| data.push).collect();
    assert_eq!(pushed, [false, false, true]);
    // Of a write in parts only the last part's.
    let mut script = opened(&json!({}));
    for (goes_on, seq) in [(true, 1), (false, 2)] {
        let now = script.event();
        script
            .sender
            .on_write_part(now, ByteCount::new(1460), goes_on);
        assert_eq!(script.sent(now), [seq]);
        assert_eq!(script.data.last().map(|data| data.push), Some(!goes_on));
    }
}

// --- pauses -------------------------------------------------------------------------------------------------------------

/// A window of five, after two segments that were each acknowledged after 0.1 s.
fn grown(more: &Value) -> Script {
    let mut script = opened(more);
    for seq in 1..=2 {
        assert_eq!(script.write(1460), [seq]);
        script.wait(RTT);
        script.ack(seq + 1);
    }
    assert!(near(script.cwnd(), 5.0));
    script
}

#[test]
fn rfc5681_4_1_more_than_a_timeout_after_the_last_segment_a_window_is_the_initial_one() {
    // The last segment left 0.1 s ago; the timeout is 1 s.
    for (pause, leaves) in [(0.85, 5), (0.95, 3)] {
        let mut script = grown(&json!({}));
        script.wait(pause);
        assert_eq!(script.write(9 * 1460).len(), leaves, "{pause}");
    }
}

#[test]
fn rfc2861_3_1_what_has_never_sent_has_not_paused() {
    let mut script =
        opened(&json!({"restart_after_idle": "decay", "initial_ssthresh": "2 packets"}));
    script.wait(5.0);
    script.write(1460);
    assert!(near(script.ssthresh(), 2.0));
}

// --- short segments -----------------------------------------------------------------------------------------------------

/// Bytes and segments that have been written and not been acknowledged.
fn unacked(script: &Script) -> (u64, u64) {
    let unacked = script.sender.unacked();
    (unacked.bytes.get(), unacked.segments.get())
}

/// For what the sender waits now.
fn waits(script: &Script) -> HeldBackBy {
    script.sender.waits(Instant::from_secs(script.now))
}

#[test]
fn rfc896_less_than_a_segment_waits_for_what_is_outstanding() {
    let mut script = opened(&json!({}));
    assert_eq!(script.write(100), [1]);
    assert_eq!(unacked(&script), (100, 1));
    assert_eq!(script.write(100), NOTHING);
    assert_eq!(unacked(&script), (200, 2));
    assert_eq!(script.ack(2), [2]);
    assert_eq!(unacked(&script), (100, 1));
}

#[test]
fn rfc6298_5_3_the_timer_runs_for_what_is_outstanding_while_the_rest_is_held_back() {
    let mut script = opened(&json!({}));
    assert_eq!(script.write(2 * 1460 + 100), [1, 2]);
    script.wait(RTT);
    assert_eq!(script.ack(2), NOTHING);
    assert!(near(script.deadline(), script.now + 1.0));
}

#[test]
fn a_cork_holds_what_is_short_until_its_timer_expires_and_nothing_else() {
    let corked = json!({"partial": "cork", "partial_timer": "200 ms"});
    let mut script = opened(&corked);
    assert_eq!(script.write(1460), [1]);
    script.wait(RTT);
    assert_eq!(script.ack(2), NOTHING);
    assert!(!script.timer_runs(), "nothing waits");
    assert_eq!(script.write(100), NOTHING);
    assert!(near(script.deadline(), script.now + 0.2));
    assert_eq!(script.timeout(), [2]);
}

#[test]
fn a_sender_says_for_what_it_waits() {
    let mut script = opened(&json!({}));
    assert_eq!(waits(&script), HeldBackBy::Nothing);
    // One of three outstanding, and less than a segment.
    script.write(1460 + 100);
    assert_eq!(waits(&script), HeldBackBy::Partial);
    // The window of three is full.
    script.write(3 * 1460);
    assert_eq!(waits(&script), HeldBackBy::Window);
    // From the second on three are outstanding of a window of four, which the last one has room in; then four.
    script.wait(RTT);
    assert_eq!(script.ack(2), [4]);
    assert_eq!(waits(&script), HeldBackBy::Partial);
    assert_eq!(script.write(1460), [5]);
    assert_eq!(waits(&script), HeldBackBy::Window);
    // As many segments as the window, then the receiver's, have room for.
    for full in [json!({"window_limit": "3 packets"}), json!({})] {
        let mut script = opened(&full);
        let whole = full.get("window_limit").map_or(2, |_| 3);
        script.write(whole * 1460 + 100);
        if whole == 2 {
            script.hear(&offer(2, 1));
        } else {
            // The same further on: three of three.
            script.wait(RTT);
            script.ack(4);
            script.write(3 * 1460);
        }
        assert_eq!(waits(&script), HeldBackBy::Window, "{full}");
    }
}

#[test]
fn the_receivers_window_is_for_what_is_reported_as_well() {
    // Of four in the receiver's window one has arrived, beyond a hole: the path has room, and it has not.
    let rack = json!({
        "recovery": "rack", "initial_window": "10 packets", "window_limit": "4 packets", "tail_loss_probe": false,
    });
    let mut script = Script::open(&rack);
    script.establish();
    assert_eq!(script.write(4 * 1460 + 100), [1, 2, 3, 4]);
    script.wait(RTT);
    assert_eq!(script.ack(2), NOTHING, "held back");
    assert_eq!(waits(&script), HeldBackBy::Partial);
    let mut script = Script::open(&rack);
    script.establish();
    assert_eq!(script.write(4 * 1460), [1, 2, 3, 4]);
    script.wait(RTT);
    script.ack(3);
    assert_eq!(script.write(2 * 1460 + 100), [5, 6]);
    script.sack(3, &[4..5]);
    assert_eq!(waits(&script), HeldBackBy::Window);
}

// --- closing ------------------------------------------------------------------------------------------------------------

#[test]
fn rfc9293_3_6_a_fin_alone_needs_no_window_and_overtakes_nothing() {
    let mut script = opened(&json!({}));
    assert_eq!(script.write(3 * 1460), [1, 2, 3]);
    assert_eq!(script.close(), [4]);
    assert!(script.data.last().is_some_and(|data| data.fin));
    // After a timeout it follows what is sent again.
    let mut script = opened(&json!({}));
    script.write(3 * 1460);
    assert_eq!(script.timeout(), [1]);
    assert_eq!(script.close(), NOTHING);
    script.wait(RTT);
    assert_eq!(script.ack(2), [2, 3]);
    assert_eq!(script.ack(3), [4]);
}

// --- round trips --------------------------------------------------------------------------------------------------------

#[test]
fn rfc7323_g_one_segment_in_flight_is_a_whole_sample() {
    let mut script = Script::open(&newreno(&json!({"timestamps": true, "partial": "nodelay"})));
    script.start();
    for (wait, next) in [(RTT, 1), (0.18, 2)] {
        script.wait(wait);
        let echo = script.data.last().expect("sent").stamp;
        script.hear(&Ack {
            echo,
            ..reporting(next, &[])
        });
        script.write(1460);
    }
    // 7/8 of 0.1 s and 1/8 of 0.18 s.
    let srtt = script.srtt_secs().expect("two samples");
    assert!((srtt - 0.11).abs() < 1e-6, "{srtt}");
}

#[test]
fn rfc6298_2_2_who_answers_a_syn_measures_until_the_answer_is_acknowledged() {
    let clocks = [
        // Answered at 89 ms, acknowledged at 102: from 9 ms after a tick to two ticks later.
        (
            json!({"rto_estimator": "ticks", "rto_granularity": "10 ms"}),
            0.02,
        ),
        (json!({}), 0.013),
    ];
    for (clock, measured) in clocks {
        let mut script = Script::open(&newreno(&clock));
        script.now = 0.102;
        let now = script.event();
        script.sender.on_handshake(now, Duration::from_secs(0.013));
        assert!(near(script.srtt_secs().expect("a sample"), measured));
        assert_eq!(script.sender.round_trips().samples, 1);
    }
}

// --- RFC 3168 -----------------------------------------------------------------------------------------------------------

fn echo(next: u64) -> Ack {
    Ack {
        ece: true,
        ..reporting(next, &[])
    }
}

#[test]
fn rfc3168_6_1_2_the_window_is_reduced_once_for_all_marks_of_a_window() {
    let more = json!({"ecn": "classic", "initial_window": "10 packets"});
    let mut script = Script::new(&newreno(&more), None);
    script.start();
    script.wait(RTT);
    // What answers a SYN negotiates (§6.1.1).
    script.hear(&echo(1));
    assert_eq!(script.sender.counters().ecn_reductions, 0);
    assert_eq!(script.flight_size(), 10);
    script.wait(RTT);
    script.ack(2);
    assert_eq!(script.sender.counters().ecn_reductions, 0);
    // Twelve have been sent.
    for (next, reductions) in [(3, 1), (4, 1), (13, 1), (14, 2)] {
        script.hear(&echo(next));
        assert_eq!(
            script.sender.counters().ecn_reductions,
            reductions,
            "{next}"
        );
    }
    assert_eq!(script.sender.counters().ecn_signals, 5);
    let told: Vec<u64> = script
        .data
        .iter()
        .filter(|data| data.cwr)
        .map(|data| data.seq.get())
        .collect();
    assert_eq!(told.first(), Some(&13), "the first new segment after it");
}

// --- what algorithms hear, and what is kept -----------------------------------------------------------------------------

#[test]
fn casetti_2002_algorithms_hear_of_every_acknowledgement_that_arrives() {
    let cc = json!({"name": "westwood", "counts": "duplicates", "first_interval": "sent", "min_interval": "50 ms"});
    let mut script = Script::with_cc(&newreno(&json!({})), &cc, |config, new, params| {
        Sender::new(config, new, params, None, SenderDraws::default())
    });
    assert_eq!(script.establish(), [1, 2, 3]);
    script.wait(RTT);
    // Two duplicates, before there is a round trip to measure with.
    for next in [1, 1, 2] {
        script.ack(next);
    }
    script.wait(RTT);
    // Of these three two have been told: one, in the interval from 0.2 s to the next acknowledgement at 0.4.
    script.ack(5);
    script.wait(RTT);
    script.ack(6);
    assert_eq!(script.probed("bwe"), Some(5.0));
}

#[test]
fn an_algorithm_that_lives_on_rates_hears_of_them() {
    let rack = json!({
        "recovery": "rack", "initial_window": "10 packets", "pacing_free_start": "20 packets", "ack_every": 1,
    });
    let cc = json!({"name": "bbr"});
    let mut script = Script::with_cc(&rack, &cc, |config, new, params| {
        Sender::new(config, new, params, None, SenderDraws::default())
    });
    assert_eq!(script.establish().len(), 10);
    script.wait(RTT);
    script.ack(11);
    // Ten segments in a round trip.
    assert_eq!(script.probed("BtlBw").map(f64::round), Some(100.0));
}

#[test]
fn the_integral_of_the_window_is_that_of_time() {
    let mut script = Script::new(&newreno(&json!({})), None);
    script.establish();
    // One segment for 0.1 s, three for 0.2 s.
    script.sender.finish(Instant::from_secs(0.3));
    let mean = script.sender.mean_cwnd(Duration::from_secs(0.3));
    assert!(near(mean.segments(), 0.7 / 0.3));
}

#[test]
fn rfc4898_every_moment_belongs_to_what_holds_the_sender_back() {
    let spent = |script: &mut Script, limit: SendLimit| {
        script.wait(RTT);
        // Something that changes nothing ends the wait.
        let now = script.event();
        script.sender.on_carried(now, &reporting(0, &[]));
        script.sent(now);
        script.sender.finish(Instant::from_secs(script.now));
        script.sender.limits().spent_ns(limit)
    };
    let written = |more: &Value, bytes: u64| {
        let mut script = opened(more);
        script.write(bytes);
        script
    };
    let offered = |window: u32| {
        let mut script = opened(&json!({}));
        script.hear(&offer(1, window));
        script.write(2 * 1460);
        script
    };
    // Two of two outstanding further on.
    let mut further = written(&json!({"window_limit": "2 packets"}), 9 * 1460);
    further.wait(RTT);
    assert_eq!(further.ack(3), [3, 4]);
    let buffer = json!({"send_buffer_default": "4096 B", "send_auto_tuning": false, "initial_window": "10 packets"});
    for (mut script, limit, millis) in [
        (written(&json!({}), 1460), SendLimit::Source, 100),
        // The handshake belongs there, too.
        (written(&json!({}), 9 * 1460), SendLimit::Cwnd, 200),
        (
            written(&json!({"window_limit": "2 packets"}), 9 * 1460),
            SendLimit::Rwnd,
            100,
        ),
        (further, SendLimit::Rwnd, 200),
        (offered(1), SendLimit::Rwnd, 100),
        (offered(2), SendLimit::Source, 100),
        (written(&json!({}), 1500), SendLimit::Nagle, 100),
        (written(&buffer, 9 * 1460), SendLimit::SendBuffer, 100),
    ] {
        assert_eq!(spent(&mut script, limit), millis * 1_000_000, "{limit:?}");
    }
}

#[test]
fn what_is_not_set_is_as_documented() {
    let config = |tcp| crate::script::config(&tcp);
    // 6 MB: tcp_rmem of ip-sysctl.
    assert_eq!(config(json!({})).receive_buffer_max, 6 << 20);
    // Only the clock of ns-2 starts at a point of its own.
    assert!(!config(json!({})).ns2_tick_phase);
    assert!(config(json!({"tick_phase": "ns2"})).ns2_tick_phase);
}
