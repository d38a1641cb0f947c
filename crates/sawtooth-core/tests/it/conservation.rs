//! What no scenario may violate, whatever is in it: packets do not vanish, time does not either, and transfers end.

use crate::columns::{counts, wholes};
use crate::random::{Case, cases, config, load};
use proptest::prelude::*;
use sawtooth_core::internals::tcp::Config;
use sawtooth_core::spec::Direction;
use sawtooth_core::{Scenario, simulate, simulate_with_effort};
use serde_json::json;

/// The most packets that fit into a direction of a link: its queue, and what is on the wire.
fn room(rate_bps: f64, delay_secs: f64, peak: u64) -> f64 {
    // The smallest packet is an acknowledgement of 40 bytes.
    let wire = rate_bps * delay_secs / (8.0 * 40.0);
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    let queue = peak as f64;
    wire + queue + 1.0
}

/// The case for longer, over so slow a path that many seconds are few packets, and without two things that are no standstill of its own: a
/// timer that is backed off to minutes, and another flow that keeps a queue full whenever this one's packet comes.
fn long(case: &Case, secs: u32) -> Scenario {
    let case = Case {
        rate_kbit: 100 + case.rate_kbit / 20,
        flows: 1,
        arrivals: None,
        background: None,
        shape: if case.shape == "parking_lot" {
            "dumbbell"
        } else {
            case.shape
        },
        // They have rates of their own.
        wires: [const { Vec::new() }; 3],
        ..case.clone()
    };
    let mut tree = case.tree();
    tree["tcp"]["rto_max"] = json!("10 s");
    tree["duration"] = json!(format!("{secs} s"));
    tree["sample"] = json!("200 s");
    load(&tree)
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn every_moment_of_a_flows_life_has_exactly_one_cause(case in cases()) {
        let scenario = case.scenario();
        let records = simulate(&scenario, 1);
        let causes = ["cwnd", "rwnd", "source", "send_buffer", "pacing", "recovery", "rto", "nagle"];
        let shares = causes.map(|cause| wholes(&records, "flows", &format!("limited_{cause}_ns")));
        let starts = wholes(&records, "flows", "start_ns");
        for (flow, lifetime) in wholes(&records, "flows", "lifetime_ns")[..scenario.flows.len()].iter().enumerate() {
            let shares = shares.each_ref().map(|column| column[flow]);
            prop_assert!(shares.iter().all(|share| *share >= 0), "{:?}", shares);
            prop_assert_eq!(shares.iter().sum::<i64>(), *lifetime);
            // Not beyond the run, and to its end unless the transfer ends.
            let rest = scenario.duration.as_ns() - starts[flow];
            prop_assert!(*lifetime <= rest);
            prop_assert!(*lifetime == rest || wholes(&records, "flows", "completion_ns")[flow] >= 0);
        }
    }

    #[test]
    fn a_run_conserves_packets_and_repeats_itself(case in cases()) {
        let scenario = case.scenario();
        let (records, effort) = simulate_with_effort(&scenario, 1);
        prop_assert_eq!(&simulate(&scenario, 1), &records);
        for flow in 0..scenario.flows.len() {
            let count = |column| counts(&records, "flows", column)[flow];
            prop_assert!(count("retransmits") <= count("sent_packets"));
            prop_assert!(count("acked_bytes") <= count("delivered_bytes"));
            prop_assert!(count("timeouts") >= count("subsequent_timeouts"));
        }
        if case.source.as_ref().is_some_and(|source| source["name"] == "request_response") {
            // Requests go the other way, and are in no table of packets.
            return Ok(());
        }
        let mut ways = scenario.flows.iter().map(|flow| flow.direction).chain(scenario.udp.iter().map(|flow| flow.direction));
        if ways.any(|direction| direction == Direction::Reverse) {
            // Nor is what acknowledges data that go the other way.
            return Ok(());
        }
        // Of the senders' packets: what the links dropped and lost, what the receivers got, and the rest is on its way. The handshake's third
        // packet is no segment that counts as sent.
        let forward = || (0..2 * scenario.links.len()).step_by(2);
        let total = |column: &str| forward().map(|port| counts(&records, "links", column)[port]).sum::<u64>();
        let mut sent: u64 = counts(&records, "flows", "sent_packets").iter().sum();
        let gone = total("dropped_packets") + total("lost_packets") + effort.delivered_packets;
        let mut handshakes = scenario.flows.iter().filter(|flow| Config::from(&flow.tcp).handshake_ack).count() as u64;
        // Nor is what answers the receiver's FIN, which is sent again at timeouts that double from 0.2 s on.
        handshakes += scenario.flows.iter().filter(|flow| Config::from(&flow.tcp).fin_of_receiver).count() as u64 * 16;
        // And what acknowledges the answer to a SYN once more, every half second at most.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small number")]
        let again = 1 + (2.0 * scenario.duration.secs()) as u64;
        handshakes += scenario.flows.iter().filter(|flow| Config::from(&flow.tcp).resend_syn_ack).count() as u64 * again;
        if !scenario.arriving.is_empty() {
            let total = |column| counts(&records, "arrivals", column).iter().sum::<u64>();
            sent += total("sent_packets");
            handshakes += total("started") * (1 + again);
            prop_assert!(total("completed") <= total("started"));
            prop_assert!(total("delivered_bytes") <= total("offered_bytes"));
            // Memory is bounded by the flows that are there at one time.
            prop_assert!(effort.flow_places - scenario.flows.len() as u64 <= total("alive_max"));
        }
        let entered = sent + handshakes + total("duplicated_packets");
        prop_assert!(gone <= entered, "{entered} sent or doubled, {gone} dropped, lost or delivered");
        // How many a wire has room for that changes is not said by its rate and its delay, nor how many wait for a node's engine, which may be slower than the wire.
        let engines = scenario.links.iter().any(|link| link.forward.forwarding.per_packet.secs() > 0.0);
        if engines || case.wires.iter().any(|wire| !wire.is_empty()) || case.access_delay_ms > 0 {
            return Ok(());
        }
        let rooms = forward().zip(&scenario.links).map(|(port, link)| {
            let peak = counts(&records, "links", "peak_packets")[port];
            room(link.forward.rate.bps(), link.forward.delay.secs(), peak)
        });
        #[expect(clippy::cast_precision_loss, reason = "a small count")]
        let on_their_way = sent.saturating_sub(gone) as f64;
        let room: f64 = rooms.sum();
        prop_assert!(on_their_way <= room, "{on_their_way} of {sent} on their way, which has room for {room}");
    }
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn a_flow_with_data_makes_progress_in_200_seconds_and_a_completed_one_has_delivered_it_all(case in cases()) {
        let scenario = long(&case, 600);
        let records = simulate(&scenario, 1);
        let flows = scenario.flows.len();
        let completed = wholes(&records, "flows", "completion_ns");
        let acked = counts(&records, "series", "acked_bytes");
        // Samples at 0, 200, 400 and 600 s, of a flow one after the other.
        let samples = acked.len() / flows;
        for flow in 0..flows {
            let acked = &acked[flow * samples..][..samples];
            if completed[flow] >= 0 {
                let (delivered, acked) = (counts(&records, "flows", "delivered_bytes"), counts(&records, "flows", "acked_bytes"));
                prop_assert_eq!(delivered[flow], acked[flow]);
                continue;
            }
            for pair in acked.windows(2) {
                prop_assert!(pair[0] < pair[1], "flow {flow}: {acked:?}");
            }
        }
    }
}
