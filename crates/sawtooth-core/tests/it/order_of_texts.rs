//! Hints that list parameters of TCP, and several warnings at once, keep their order, whatever the order of the table's rows.

use sawtooth_core::internals::scenario::for_kernel;
use sawtooth_core::scenario;
use serde_json::{Value as Json, json};

/// The keys of `tcp` in the order in which hints have always listed them.
const KEYS: &str = "\
    recovery smss header path_mtu_discovery mss_from_mtu ack_size syn_options handshake \
    initial_window initial_ssthresh window_limit byte_window dup_thresh limited_transmit \
    reduce_from whole_ssthresh algorithms partial_ack_timer exit_window recovery_burst \
    sack_pipe byte_counting whole_windows cwnd_validation prr prr_bound early_retransmit \
    tail_loss_probe probe_slack probe_max_ack_delay probe_of_first probe_in_cwr dsack_delivers frto keep_at_timeout undo timer_tick whole_ticks \
    clock_reading sender_phase receiver_phase pacing pacing_ss_ratio pacing_ca_ratio pacing_free_start \
    max_pacing_rate segmentation_offload tso_interval tso_min_segments tso_max_bytes \
    tso_rtt_log tso_window_divisor metrics_cache timestamps timestamp_granularity eifel ecn \
    rate_granularity pacing_credit keep_window_after_lost_syn handshake_ack resend_syn_ack quick_acks push_acks \
    quick_acks_again interactive_acks sack_compression_delay sack_compression_slack \
    sack_compression_max receive_buffer_default receive_buffer_max receive_auto_tuning \
    adv_win_scale window_scaling send_buffer_default send_buffer_max send_auto_tuning \
    max_sack_blocks sack_option_header partial partial_timer autocorking restart_after_idle \
    fin fin_of_receiver rto_estimator rto_granularity tick_phase rto_initial rto_min rto_max ack_every \
    ack_window_share delayed_ack delayed_ack_pushed delayed_ack_most delayed_ack_timeout \
    delayed_ack_timeout_several adaptive_delayed_ack";

fn tree(common: &Json, flows: [&Json; 2]) -> Json {
    let flow = |tcp: &Json| json!({"path": ["l"], "tcp": tcp});
    json!({
        "duration": "60 s",
        "links": {"l": {"rate": "10 Mbit/s"}},
        "tcp": common,
        "flows": flows.map(flow),
    })
}

fn hint_for_a_kernel(common: &Json) -> String {
    let none = json!({});
    let error = for_kernel(&tree(common, [&none, &none])).expect_err("a refusal");
    error.hint.expect("a hint")
}

/// Of what a hint lists, those names that the first list has. A new parameter may stand anywhere among them.
fn known_of<'a>(hint: &'a str, start: &str, known: &[&str]) -> Vec<&'a str> {
    let (_, listed) = hint.split_once(start).expect("a list");
    let listed = listed.split(", ");
    listed.filter(|name| known.contains(name)).collect()
}

#[test]
fn an_unknown_key_of_tcp_is_told_all_keys_in_their_order() {
    let none = json!({});
    let tree = tree(&json!({"zzzzzzzzzz": 1}), [&none, &none]);
    let error = scenario::from_tree(&tree).expect_err("a refusal");
    let keys: Vec<&str> = KEYS.split_whitespace().collect();
    let hint = error.hint.expect("a hint");
    assert_eq!(known_of(&hint, "known are ", &keys), keys);
}

#[test]
fn what_a_kernel_can_be_told_is_listed_in_its_order() {
    let keys = [
        "smss",
        "mss_from_mtu",
        "window_limit",
        "initial_window",
        "rto_min",
        "dup_thresh",
        "receive_buffer_default",
        "receive_buffer_max",
        "receive_auto_tuning",
        "adv_win_scale",
        "window_scaling",
        "send_buffer_default",
        "send_buffer_max",
        "ecn",
        "metrics_cache",
        "partial",
        "autocorking",
        "ack_every",
        "restart_after_idle",
    ];
    let hint = hint_for_a_kernel(&json!({"prr": true}));
    assert_eq!(known_of(&hint, "a kernel can be told ", &keys), keys);
}

#[test]
fn of_what_flows_want_otherwise_the_same_is_named_first() {
    let mut differ = vec![
        ("initial_window", json!("3 packets")),
        ("rto_min", json!("300 ms")),
        ("dup_thresh", json!(4)),
        ("ecn", json!("classic")),
        ("metrics_cache", json!("off")),
        ("receive_buffer_default", json!("70 kB")),
        ("receive_buffer_max", json!("7 MB")),
        ("receive_auto_tuning", json!(false)),
        ("adv_win_scale", json!(2)),
        ("window_scaling", json!(false)),
        ("send_buffer_default", json!("70 kB")),
        ("send_buffer_max", json!("7 MB")),
        ("restart_after_idle", json!("off")),
        ("autocorking", json!(true)),
        ("ack_every", json!(1)),
    ];
    while !differ.is_empty() {
        let own: Json = differ.iter().cloned().collect();
        let tree = tree(&json!({}), [&own, &json!({})]);
        let message = for_kernel(&tree).expect_err("a refusal").message;
        let (key, _) = differ.remove(0);
        assert!(
            message.contains(&format!("want `{key}` otherwise")),
            "{message}"
        );
    }
}

#[test]
fn keys_without_effect_are_warned_of_in_their_order() {
    let common = json!({
        "recovery": "tahoe", "delayed_ack": "linux-2.0", "adaptive_delayed_ack": true, "delayed_ack_timeout_several": "9 ms", "delayed_ack_timeout": "9 ms",
        "pacing": "off", "undo": true, "frto": true, "probe_max_ack_delay": "1 ms", "probe_slack": "1 ms", "tail_loss_probe": true,
        "early_retransmit": "off", "prr_bound": "crb", "prr": true, "cwnd_validation": true, "sack_option_header": "4 B",
        "sack_compression_max": 3, "sack_compression_slack": "1 ms", "sack_compression_delay": "1 ms", "max_sack_blocks": 3, "sack_pipe": "counter",
        "recovery_burst": "4 packets", "exit_window": "keep", "partial_ack_timer": "every",
    });
    // Of the recovery, then of the delayed acknowledgements.
    let of_tahoe = [
        "partial_ack_timer",
        "exit_window",
        "recovery_burst",
        "sack_pipe",
        "max_sack_blocks",
        "sack_compression_delay",
        "sack_compression_slack",
        "sack_compression_max",
        "sack_option_header",
        "cwnd_validation",
        "prr",
        "prr_bound",
        "early_retransmit",
        "tail_loss_probe",
        "probe_slack",
        "probe_max_ack_delay",
        "frto",
        "undo",
        "pacing",
        "delayed_ack_timeout",
        "delayed_ack_timeout_several",
        "adaptive_delayed_ack",
    ];
    assert_eq!(without_effect(&common), of_tahoe);
    let common = json!({
        "recovery": "rack", "delayed_ack_most": "90 ms", "delayed_ack_pushed": "9 ms", "early_retransmit": "off", "sack_pipe": "counter",
        "limited_transmit": true, "byte_window": true, "recovery_burst": "4 packets", "exit_window": "keep", "partial_ack_timer": "every",
    });
    let of_rack = [
        "partial_ack_timer",
        "exit_window",
        "recovery_burst",
        "byte_window",
        "limited_transmit",
        "sack_pipe",
        "early_retransmit",
        "delayed_ack_pushed",
        "delayed_ack_most",
    ];
    assert_eq!(without_effect(&common), of_rack);
}

/// The keys of which it is said that they have no effect.
fn without_effect(common: &Json) -> Vec<String> {
    let tree = tree(common, [&json!({}), &json!({})]);
    let (scenario, origins) = scenario::read(&tree).expect("a scenario");
    let warnings = scenario::warnings(&scenario, &origins).into_iter();
    let named = warnings.filter(|warning| warning.message.contains("has no effect"));
    named
        .map(|warning| warning.path["tcp.".len()..].to_owned())
        .collect()
}

#[test]
fn where_a_congestion_control_is_named_makes_no_other_scenario() {
    let base = tree(&json!({}), [&json!({}), &json!({})]);
    let (mut for_all, mut of_each) = (base.clone(), base);
    for_all["cc"] = json!({"name": "cubic", "beta": 0.8});
    for index in 0..2 {
        of_each["flows"][index]["cc"] = for_all["cc"].clone();
    }
    let read = |tree: &Json| scenario::from_tree(tree).expect("a scenario");
    assert_eq!(read(&for_all), read(&of_each));
    of_each["flows"][1]["cc"]["beta"] = json!(0.7);
    assert_ne!(read(&for_all), read(&of_each));
}
