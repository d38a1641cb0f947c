//! What the records say of small scenarios, worked out by hand: what limited a flow, its loss episodes, its time series.
//!
//! The link carries 1 Gbit/s over 50 ms each way. A full segment of 1000 bytes on the wire takes 8 us, an acknowledgement or SYN of 40 bytes
//! 0.32 us. So the handshake takes H = 100 ms + 0.64 us, and a segment is acknowledged 100 ms + 8.32 us after it leaves an idle sender.

use crate::columns::{table, wholes_of, words_of};
use crate::script::{RTT, Script};
use sawtooth_core::internals::cc;
use sawtooth_core::internals::events::{Event, EventKey, Lineage};
use sawtooth_core::internals::packet::Ack;
use sawtooth_core::internals::tcp::Config;
use sawtooth_core::internals::tcp::episodes::LossFoundBy;
use sawtooth_core::internals::tcp::limits::SendLimit;
use sawtooth_core::internals::tcp::sender::{Sender, SenderDraws};
use sawtooth_core::record::{Column, Records, Table};
use sawtooth_core::units::{Instant, SegCount, SeqNum};
use sawtooth_core::{Scenario, scenario, simulate};
use serde_json::{Value, json};

const HANDSHAKE_NS: i64 = 100_000_640;

fn scenario(changes: &Value) -> Scenario {
    let mut tree = json!({
        "duration": "60 s", "stack": "rfc",
        // Without a FIN: it would be one segment more, which tells of a loss.
        "tcp": {"smss": "960 B", "header": "40 B", "ack_size": "40 B", "ack_every": 1, "fin": false},
        "links": {"l": {"rate": "1 Gbit/s", "delay": "50 ms"}},
        "flows": [{"path": ["l"]}],
    });
    for (pointer, value) in changes.as_object().expect("an object") {
        let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
        tree.pointer_mut(parent).expect("a place")[key] = value.clone();
    }
    scenario::from_tree(&tree).unwrap_or_else(|error| panic!("{error}"))
}

fn run(changes: &Value) -> Records {
    simulate(&scenario(changes), 1)
}

fn size(bytes: u64) -> Value {
    json!({"name": "bulk", "size": format!("{bytes} B")})
}

fn f64s(table: &Table, column: &str) -> Vec<f64> {
    match table.column(column) {
        Column::F64(values) => values.clone(),
        Column::OptF64(values) => values.iter().map(|value| value.unwrap_or(-1.0)).collect(),
        other => panic!("{other:?}"),
    }
}

/// The first flow's shares that are not zero, and its lifetime.
fn shares(records: &Records) -> (Vec<(&'static str, i64)>, i64) {
    let flows = table(records, "flows");
    let causes = [
        "cwnd",
        "rwnd",
        "source",
        "send_buffer",
        "pacing",
        "recovery",
        "rto",
        "nagle",
    ];
    let spent = causes.map(|cause| (cause, wholes_of(flows, &format!("limited_{cause}_ns"))[0]));
    let found = spent.into_iter().filter(|(_, ns)| *ns != 0).collect();
    (found, wholes_of(flows, "lifetime_ns")[0])
}

#[test]
fn a_transfer_of_three_windows_is_limited_by_cwnd_and_then_waits_for_its_last_acknowledgement() {
    // Windows of 4, 8 and 16 segments. The acknowledgements of the first arrive 8 us apart from T1 = H + 100 ms + 8.32 us on, those of the
    // second from T2 = T1 + 100 ms + 8.32 us on; the eighth, 7 x 8 us later, lets the last two segments out. The 16 segments leave the link
    // 128 us after T2, and the last acknowledgement is there 100 ms + 0.32 us after that.
    let records = run(&json!({"/flows/0/source": size(28 * 960)}));
    let t1 = HANDSHAKE_NS + 100_008_320;
    let t2 = t1 + 100_008_320;
    let written = t2 + 7 * 8_000;
    let end = t2 + 16 * 8_000 + 100_000_320;
    let expected = vec![("cwnd", written), ("source", end - written)];
    assert_eq!(shares(&records), (expected, end));
    assert_eq!(end, 400_145_600);
}

#[test]
fn the_options_of_a_syn_take_their_time_in_both_directions_and_no_other_segments_do() {
    // One segment over 1 Gbit/s; 8 more bytes take 64 ns, once on the SYN's way and once on its answer's.
    let time = |options: &str| {
        let changes = json!({"/flows/0/source": size(960), "/tcp/syn_options": options});
        wholes_of(table(&run(&changes), "flows"), "completion_ns")[0]
    };
    assert_eq!(time("9 B") - time("1 B"), 2 * 64);
    // That of Linux is 60 bytes long: 20.096 ms over 10 Mbit/s and 10 ms each way, as measured.
    let tree = json!({
        "duration": "1 s", "stack": "linux", "sample": "ack", "links": {"l": {"rate": "10 Mbit/s", "delay": "10 ms"}},
        "flows": [{"path": ["l"], "source": size(1448)}],
    });
    let records = simulate(&scenario::from_tree(&tree).unwrap(), 1);
    assert_eq!(wholes_of(table(&records, "series"), "t_ns")[0], 20_096_000);
}

#[test]
fn a_filled_receive_window_limits_however_large_cwnd_is() {
    let changes = json!({"/tcp/window_limit": "4 packets", "/duration": "1 s"});
    let rest = 1_000_000_000 - HANDSHAKE_NS;
    let expected = vec![("cwnd", HANDSHAKE_NS), ("rwnd", rest)];
    assert_eq!(shares(&run(&changes)), (expected, 1_000_000_000));
}

#[test]
fn rfc4898_the_wait_for_a_timeout_is_the_timers_and_what_follows_is_recovery() {
    // One segment, lost. The timeout is 1 s (RFC 6298 §2.4): 100 ms + 4 x 50 ms is less.
    let records =
        run(&json!({"/flows/0/source": size(960), "/links/l/drop": [2], "/record": ["episodes"]}));
    let expected = vec![
        ("cwnd", HANDSHAKE_NS),
        ("recovery", 100_008_320),
        ("rto", 1_000_000_000),
    ];
    let end = HANDSHAKE_NS + 1_000_000_000 + 100_008_320;
    assert_eq!(shares(&records), (expected, end));
    let flows = table(&records, "flows");
    assert_eq!(wholes_of(flows, "subsequent_timeouts"), [0]);
    let episodes = table(&records, "episodes");
    assert_eq!(words_of(episodes, "cause"), ["rto"]);
    assert_eq!(
        wholes_of(episodes, "start_ns"),
        [HANDSHAKE_NS + 1_000_000_000]
    );
    assert_eq!(wholes_of(episodes, "end_ns"), [end]);
    assert_eq!(wholes_of(episodes, "flight_bytes"), [960]);
    assert_eq!(wholes_of(episodes, "retransmits"), [1]);
    assert_eq!(wholes_of(episodes, "lost_packets"), [-1]);
}

#[test]
fn stretches_of_what_limits_have_no_gaps_and_sum_to_the_shares() {
    let records = run(&json!({"/links/l/drop": [2, 30], "/record": ["limited"]}));
    let stretches = table(&records, "limited");
    let (from, until) = (
        wholes_of(stretches, "from_ns"),
        wholes_of(stretches, "until_ns"),
    );
    assert_eq!(from[1..], until[..until.len() - 1]);
    let by = words_of(stretches, "by");
    assert!(by.windows(2).all(|pair| pair[0] != pair[1]));
    let (shares, lifetime) = shares(&records);
    for (cause, spent) in shares {
        let rows = (0..by.len()).filter(|&row| by[row] == cause);
        assert_eq!(rows.map(|row| until[row] - from[row]).sum::<i64>(), spent);
    }
    assert_eq!(until[until.len() - 1] - from[0], lifetime);
}

#[test]
fn timeouts_in_a_row_are_one_episode_and_all_but_the_first_are_subsequent() {
    // The segment is lost three times: 1 s, 2 s and 4 s (RFC 6298 §5.5).
    let records = run(
        &json!({"/flows/0/source": size(960), "/links/l/drop": [2, 3, 4], "/record": ["episodes"]}),
    );
    let flows = table(&records, "flows");
    assert_eq!(wholes_of(flows, "timeouts"), [3]);
    assert_eq!(wholes_of(flows, "subsequent_timeouts"), [2]);
    assert_eq!(wholes_of(flows, "limited_rto_ns"), [7_000_000_000]);
    let episodes = table(&records, "episodes");
    assert_eq!(wholes_of(episodes, "timeouts"), [3]);
    assert_eq!(wholes_of(episodes, "retransmits"), [3]);
}

#[test]
fn a_lost_syn_waits_for_the_timer() {
    // RFC 6298 §2.1: 1 s.
    let records = run(&json!({"/flows/0/source": size(960), "/links/l/drop": [1]}));
    assert_eq!(
        wholes_of(table(&records, "flows"), "limited_rto_ns"),
        [1_000_000_000]
    );
}

#[test]
fn every_recovery_tells_its_losses_with_their_cause() {
    // Packet 20 is segment 19, of the third window, and more than three segments follow it.
    for (recovery, cause, lost) in [
        ("tahoe", "dupack", -1),
        ("reno", "dupack", -1),
        ("newreno", "dupack", -1),
        ("sack", "sack", -1),
        ("fack", "fack", 1),
        ("rack", "rack", 1),
    ] {
        let records = run(&json!({
            "/flows/0/source": size(60 * 960), "/links/l/drop": [20], "/record": ["episodes"], "/sample": "ack",
            "/tcp/recovery": recovery,
        }));
        let episodes = table(&records, "episodes");
        assert_eq!(words_of(episodes, "cause"), [cause], "{recovery}");
        assert_eq!(wholes_of(episodes, "lost_packets"), [lost], "{recovery}");
        assert_eq!(wholes_of(episodes, "spurious"), [0], "{recovery}");
        let flows = table(&records, "flows");
        let retransmits = wholes_of(flows, "retransmits");
        assert_eq!(
            wholes_of(episodes, "retransmits"),
            retransmits,
            "{recovery}"
        );
        let (start, end) = (
            wholes_of(episodes, "start_ns")[0],
            wholes_of(episodes, "end_ns")[0],
        );
        // The repair takes a round trip at least. A timeout is no part of it.
        assert!(
            end - start >= 100_000_000 && end - start < 1_000_000_000,
            "{recovery}: {start} to {end}"
        );
        assert_eq!(
            wholes_of(flows, "limited_recovery_ns"),
            [end - start],
            "{recovery}"
        );
        // RFC 5681 equation 4: half of the smaller of window and flight.
        let before = f64s(episodes, "cwnd_before_bytes")[0];
        #[expect(clippy::cast_precision_loss, reason = "a few segments")]
        let flight = wholes_of(episodes, "flight_bytes")[0] as f64;
        let ssthresh = f64s(episodes, "ssthresh_bytes")[0];
        assert!(
            ssthresh <= before.min(flight) / 2.0
                && ssthresh > before.min(flight) / 2.0 - 2.0 * 960.0,
            "{recovery}: {ssthresh} of {before}, {flight}"
        );
    }
}

#[test]
fn an_episode_that_is_not_over_has_no_end() {
    let records = run(&json!({
        "/flows/0/source": size(960), "/links/l/drop": [2], "/record": ["episodes"], "/duration": "1.15 s",
    }));
    assert_eq!(wholes_of(table(&records, "episodes"), "end_ns"), [-1]);
}

#[test]
fn a_loss_that_a_probe_repairs_is_the_probes() {
    // The last segment of a transfer is lost: packet 1 is the SYN, 2 the handshake's acknowledgement, 3 to 6 are the data.
    let records = run(&json!({
        "/stack": "linux", "/flows/0/source": size(4 * 960), "/links/l/drop": [6], "/record": ["episodes"],
        // So that the probe, two round trips and 200 ms for a delayed acknowledgement after the last one, comes first.
        "/tcp/rto_min": "1 s",
    }));
    let flows = table(&records, "flows");
    assert_eq!(wholes_of(flows, "tail_loss_probes"), [1]);
    assert_eq!(wholes_of(flows, "timeouts"), [0]);
    let episodes = table(&records, "episodes");
    assert_eq!(words_of(episodes, "cause"), ["tail_loss_probe"]);
    assert_eq!(wholes_of(episodes, "lost_packets"), [1]);
    assert_eq!(wholes_of(episodes, "retransmits"), [1]);
    // Found and repaired by the same acknowledgement, which ends the connection, too.
    assert_eq!(
        wholes_of(episodes, "start_ns"),
        wholes_of(flows, "lifetime_ns")
    );
    assert_eq!(
        wholes_of(episodes, "start_ns"),
        wholes_of(episodes, "end_ns")
    );
}

#[test]
fn a_timeout_that_turns_out_to_be_spurious_is_so_in_counters_episode_and_shares() {
    let scenario = scenario(&json!({"/stack": "linux", "/tcp/tail_loss_probe": false}));
    let flow = &scenario.flows[0];
    let reno = cc::TABLE.iter().find(|entry| entry.name == "reno");
    let new = reno.expect("it is in the table").new;
    let mut sender = Sender::new(
        Config::from(&flow.tcp),
        new,
        &flow.cc.params,
        None,
        SenderDraws::default(),
    );
    sender.keep_episodes();
    let mut lineage = Lineage::new();
    let mut at = |time| lineage.record(EventKey::at_start(Instant::from_secs(time), 0));
    let sent =
        |sender: &mut Sender, now: Event| std::iter::from_fn(|| sender.poll_transmit(now)).count();
    let ack = |next| Ack {
        next,
        ..Ack::default()
    };
    let now = at(0.0);
    sender.on_start(now);
    assert_eq!(sent(&mut sender, now), 1);
    let now = at(0.1);
    sender.on_segment(now, &ack(SeqNum::new(1)));
    // The handshake's third packet and the initial window of ten segments.
    assert_eq!(sent(&mut sender, now), 11);
    let expiry = sender.next_timer().time.secs();
    let now = at(expiry);
    sender.on_timer(now);
    assert_eq!(sent(&mut sender, now), 1);
    // Segments that were sent once are acknowledged: they were late, not lost (RFC 5682 §3.1).
    let now = at(expiry + 0.05);
    sender.on_segment(now, &ack(SeqNum::new(5)));
    assert!(sent(&mut sender, now) > 0);
    let end = Instant::from_secs(expiry + 0.05);
    sender.finish(end);

    let counters = &sender.counters();
    assert_eq!((counters.spurious, counters.spurious_timeouts), (1, 1));
    let [episode] = sender.episodes() else {
        panic!("{:?}", sender.episodes());
    };
    assert_eq!((episode.cause, episode.spurious), (LossFoundBy::Rto, true));
    assert_eq!(episode.start.secs(), expiry);
    assert_eq!(episode.end, Some(end));
    assert_eq!(
        (episode.flight_size, episode.lost, episode.retransmits),
        (SegCount::new(10), Some(SegCount::new(10)), 1)
    );
    let windows = [
        Some(episode.cwnd_before),
        episode.ssthresh,
        episode.cwnd_after,
    ];
    let [before, ssthresh, after] = windows.map(|window| window.expect("it is over").segments());
    assert!(before == 10.0 && ssthresh == 5.0 && after >= 10.0);
    #[expect(clippy::cast_precision_loss, reason = "less than a minute")]
    let secs = |limit| sender.limits().spent_ns(limit) as f64 / 1e9;
    // To the nanosecond that both ends of an interval are rounded to.
    assert!((secs(SendLimit::Rto) - (expiry - 0.1)).abs() < 2e-9);
    assert!((secs(SendLimit::Recovery) - 0.05).abs() < 2e-9);
    assert!((secs(SendLimit::Cwnd) - 0.1).abs() < 2e-9);
}

#[test]
fn a_paced_sender_is_limited_by_pacing() {
    let records = run(&json!({
        "/stack": "linux", "/flows/0/cc": "bbr", "/links/l/rate": "10 Mbit/s", "/duration": "20 s", "/sample": "100 ms",
        "/record": ["variables"],
    }));
    let (shares, lifetime) = shares(&records);
    assert_eq!(lifetime, 20_000_000_000);
    assert_eq!(shares.iter().map(|(_, ns)| ns).sum::<i64>(), lifetime);
    let pacing = shares.iter().find(|(cause, _)| *cause == "pacing");
    // Its window is twice the path's content, so that pacing is what holds it back once it knows the path.
    assert!(
        pacing.is_some_and(|(_, ns)| *ns > 16_000_000_000),
        "{shares:?}"
    );
    // In PROBE_BW it paces by gains of 0.75, 1 and 1.25 around the rate of the link.
    let rates = f64s(table(&records, "series"), "pacing_rate_bps");
    assert!(
        rates[100..].iter().all(|rate| (6e6..14e6).contains(rate)),
        "{rates:?}"
    );
    let variables = table(&records, "variables");
    let names = words_of(variables, "variable");
    let values = f64s(variables, "value");
    let last = names
        .iter()
        .rposition(|name| name == "BtlBw")
        .expect("BBR's own name");
    // Segments per second of 1000 bytes on the wire.
    assert!(
        (values[last] * 8000.0 / 1e7 - 1.0).abs() < 0.05,
        "{}",
        values[last]
    );
    assert_eq!(wholes_of(variables, "t_ns")[last], 20_000_000_000);
}

#[test]
fn without_losses_the_pipe_is_the_flight_and_the_sender_knows_what_was_acknowledged() {
    for sample in ["20 ms", "ack"] {
        let records = run(&json!({"/flows/0/source": size(100 * 960), "/sample": sample}));
        let series = table(&records, "series");
        assert_eq!(
            wholes_of(series, "pipe_bytes"),
            wholes_of(series, "flight_bytes")
        );
        let known = wholes_of(series, "sender_delivered_bytes");
        assert_eq!(known, wholes_of(series, "acked_bytes"));
        assert_eq!(known.last(), Some(&96_000));
        assert!(
            f64s(series, "pacing_rate_bps")
                .iter()
                .all(|rate| rate.is_infinite())
        );
        let flows = table(&records, "flows");
        // The window after the acknowledgement of everything: 4 and one for each segment but the first four's.
        assert_eq!(f64s(flows, "max_cwnd_bytes"), [104.0 * 960.0]);
    }
}

#[test]
fn selective_acknowledgements_tell_the_sender_what_has_arrived_and_the_pipe_shrinks() {
    let records = run(&json!({
        "/flows/0/source": size(60 * 960 + 100), "/links/l/drop": [20], "/sample": "ack", "/tcp/recovery": "sack",
    }));
    let series = table(&records, "series");
    let known = wholes_of(series, "sender_delivered_bytes");
    let acked = wholes_of(series, "acked_bytes");
    let flight = wholes_of(series, "flight_bytes");
    let pipe = wholes_of(series, "pipe_bytes");
    assert!(
        known.windows(2).all(|pair| pair[0] < pair[1]),
        "every acknowledgement brings news"
    );
    assert!(known.iter().zip(&acked).any(|(known, acked)| known > acked));
    assert!(
        pipe.iter()
            .zip(&flight)
            .all(|(pipe, flight)| pipe <= flight)
    );
    assert!(pipe.iter().zip(&flight).any(|(pipe, flight)| pipe < flight));
    assert_eq!(known.last(), Some(&(60 * 960 + 100)));
}

#[test]
fn what_is_not_asked_for_is_not_recorded() {
    let records = run(&json!({"/sample": "ack", "/duration": "1 s"}));
    assert!(records.table("variables").is_none() && records.table("episodes").is_none());
}

/// Whether the algorithm, asked itself, has variables besides the window and the threshold: once data has been acknowledged.
fn has_variables(name: &str) -> bool {
    let mut script = Script::with_cc(&json!({}), &json!(name), |config, new, params| {
        Sender::new(config, new, params, None, SenderDraws::default())
    });
    script.establish();
    script.wait(RTT);
    script.ack_all();
    let mut has = false;
    script.sender.probe(&mut |_, _| has = true);
    has
}

#[test]
fn every_algorithm_tells_its_variables_with_every_sample() {
    for entry in cc::TABLE {
        let records = run(&json!({
            "/stack": "linux", "/flows/0/cc": entry.name, "/links/l/rate": "10 Mbit/s", "/sample": "ack", "/duration": "5 s",
            "/record": ["variables"],
        }));
        let variables = table(&records, "variables");
        let told = variables.rows() > 0;
        assert_eq!(told, has_variables(entry.name), "{}", entry.name);
        let times = wholes_of(table(&records, "series"), "t_ns");
        assert!(
            wholes_of(variables, "t_ns")
                .iter()
                .all(|time| times.contains(time))
        );
    }
}

/// Of the first flow: the least, the largest and the smoothed round trip, and how many there were.
fn round_trips(records: &Records) -> [i64; 4] {
    let flows = table(records, "flows");
    ["min_rtt_ns", "max_rtt_ns", "srtt_ns", "rtt_samples"].map(|column| wholes_of(flows, column)[0])
}

#[test]
fn rfc7323_4_1_round_trips_that_only_timestamps_tell_are_in_the_least_and_the_largest() {
    // The SYN's answer takes so long that the SYN is sent again, and so is the segment: nothing acknowledges what was sent once.
    let tree = json!({
        "duration": "60 s", "stack": "linux", "links": {"b": {"rate": "1 Mbit/s", "delay": "0.6 s", "drop": [4, 5]}},
        "flows": [{"path": ["b"], "source": size(23)}],
    });
    let records = simulate(&scenario::from_tree(&tree).unwrap(), 1);
    let [least, largest, smoothed, samples] = round_trips(&records);
    // Whole milliseconds of the timestamp clock, of 1.2 s and little more.
    assert_eq!((least, largest, samples), (1_200_000_000, 1_201_000_000, 2));
    assert!(least <= smoothed && smoothed <= largest);
}

#[test]
fn rfc6298_2_2_who_answers_a_syn_has_measured_a_round_trip() {
    let tree = json!({
        "duration": "1 s", "stack": "rfc", "links": {"b": {"rate": "10 Mbit/s", "delay": "37 ms"}},
        "flows": [{"path": ["b"], "source": {"name": "request_response", "request": "1000 B", "response": "1000 B", "count": 1}}],
    });
    let records = simulate(&scenario::from_tree(&tree).unwrap(), 1);
    // The handshake: 40 bytes each way take 32 us, and 37 ms. Then the response of 1040 bytes, 832 us, and its acknowledgement.
    let (handshake, response) = (74_064_000, 74_864_000);
    let smoothed = (7 * handshake + response) / 8;
    assert_eq!(round_trips(&records), [handshake, response, smoothed, 2]);
    let mean = wholes_of(table(&records, "flows"), "srtt_mean_ns")[0];
    assert_eq!(mean, i64::midpoint(handshake, smoothed));
}

#[test]
fn a_link_that_can_send_nothing_before_the_end_has_no_utilisation() {
    for wire in [
        json!({"trace": [5000]}),
        json!({"rate": "1 Mbit/s", "changes": [{"at": "0 s", "rate": "0 bit/s"}]}),
    ] {
        let tree = json!({"duration": "1 s", "links": {"l": wire, "unused": wire}, "flows": [{"path": ["l"]}]});
        let records = simulate(&scenario::from_tree(&tree).unwrap(), 1);
        assert_eq!(f64s(table(&records, "links"), "utilisation"), [-1.0; 4]);
    }
}

#[test]
fn what_a_sender_knows_to_have_arrived_never_becomes_less() {
    for recovery in ["tahoe", "reno", "newreno", "sack", "fack", "rack"] {
        for stack in ["rfc", "ns2", "linux"] {
            let tree = json!({
                "duration": "12 s", "stack": stack, "sample": "ack", "tcp": {"recovery": recovery},
                "links": {"l": {"rate": "1.2 Mbit/s", "delay": "10 ms", "queue": "pie", "loss": 0.05}},
                "flows": [{"path": ["l"]}],
            });
            let records = simulate(&scenario::from_tree(&tree).unwrap(), 1);
            let series = table(&records, "series");
            let known = wholes_of(series, "sender_delivered_bytes");
            assert!(known.is_sorted(), "{recovery} {stack}");
            // Nor is it more than what has come, in order or not.
            let sent = wholes_of(table(&records, "flows"), "sent_packets")[0] * 1460;
            assert!(
                known
                    .last()
                    .is_some_and(|known| *known > 100_000 && *known <= sent)
            );
        }
    }
}

#[test]
fn segments_of_one_byte_are_sent_without_end() {
    for stack in ["rfc", "ns2", "linux"] {
        let records = run(
            &json!({"/stack": stack, "/tcp/smss": "1 B", "/flows/0/start": "37 ms", "/duration": "1 s"}),
        );
        let flows = table(&records, "flows");
        assert!(wholes_of(flows, "acked_bytes")[0] > 10, "{stack}");
        assert_eq!(wholes_of(flows, "completion_ns"), [-1]);
    }
}

#[test]
fn rfc9293_3_10_7_3_nothing_is_sent_before_the_answer_to_the_syn() {
    // An algorithm with an initial window of its own.
    for entry in cc::TABLE {
        for stack in ["rfc", "linux"] {
            let records =
                run(&json!({"/stack": stack, "/flows/0/cc": entry.name, "/duration": "99 ms"}));
            let sent = wholes_of(table(&records, "flows"), "sent_packets")[0];
            assert_eq!(sent, 1, "{} {stack}", entry.name);
        }
    }
}

#[test]
fn the_largest_window_is_no_smaller_than_the_first() {
    let hybla = json!({"name": "hybla", "start_window": 1.5});
    let records = run(&json!({"/flows/0/cc": hybla, "/links/l/drop": [1], "/duration": "0.5 s"}));
    assert_eq!(
        f64s(table(&records, "flows"), "max_cwnd_bytes"),
        [1.5 * 960.0]
    );
}
