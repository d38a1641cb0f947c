use super::super::from_tree;
use super::*;
use crate::registry::{Params, Value};
use crate::spec::{
    Arrivals, ArrivingSpec, Change, Changes, FlowSpec, GilbertElliott, HostSpec, Jitter, LinkSpec,
    Meanwhile, Medium, Outage, Part, Reorder, Stretch, Trace, UdpSpec, Walk, WalkSpan,
};
use crate::units::{ByteCount, Duration, Instant, Rate};
use crate::{dist, tables};
use serde_json::json;
use std::sync::Arc;

fn secs(secs: f64) -> Duration {
    Duration::from_secs(secs)
}

fn at(secs: f64) -> Instant {
    Instant::from_secs(secs)
}

fn sound() -> Scenario {
    let links = ["near", "far"].map(|name| LinkSpec::new(name, Rate::from_bps(10e6), secs(0.02)));
    let flows = ["one", "two"].map(|name| FlowSpec::new(name, vec![0, 1]));
    Scenario::new(secs(10.0), links.into(), flows.into())
}

fn web() -> ArrivingSpec {
    let mut size = Params::defaults(dist::TABLE[0].params);
    size.set("value", Value::Number(20e3));
    ArrivingSpec {
        flow: FlowSpec::new("web", vec![0]),
        arrivals: Arrivals {
            rate: 2.0,
            size: crate::registry::DistributionSpec {
                name: dist::TABLE[0].name,
                params: size,
                points: Vec::new(),
            },
            number: None,
            start: Instant::START,
            stop: at(10.0),
            bins_per_decade: 1,
        },
    }
}

fn call() -> UdpSpec {
    let source = Part::named(tables::PACKET_SOURCE, "poisson").expect("a row");
    UdpSpec::new("call", vec![0], source, at(10.0))
}

/// What is said of a sound scenario after a change.
fn said(change: impl FnOnce(&mut Scenario)) -> String {
    let mut scenario = sound();
    scenario.arriving = vec![web()];
    scenario.udp = vec![call()];
    scenario.check().expect("a sound scenario");
    change(&mut scenario);
    scenario
        .check()
        .map_or_else(|error| error.to_string(), |()| "nothing".into())
}

macro_rules! refused {
    ($($name:ident: |$scenario:ident| $change:expr => $said:literal;)*) => {$(
        #[test]
        fn $name() {
            assert_eq!(said(|$scenario| { $change; }), $said);
        }
    )*};
}

refused! {
    a_run_takes_some_time: |it| it.duration = secs(0.0)
        => "`duration` must be above zero, found 0 s (at duration)";
    a_run_ends: |it| it.duration = Duration::INFINITE
        => "`duration` must be finite, found inf s (at duration)";
    samples_are_taken: |it| it.sample = Sampling::Every(Duration::INFINITE)
        => "`sample` must be finite, found inf s (at sample)";
    samples_are_some_time_apart: |it| it.sample = Sampling::Every(secs(-1.0))
        => "`sample` must be above zero, found -1 s (at sample)";
    variables_need_samples: |it| it.record.variables = true
        => "variables are taken with the samples, and there are none (at record.variables); add sample = \"100 ms\", or \"ack\"";
    a_stretch_has_a_length: |it| it.record.packets = Some(Stretch { from: secs(2.0), until: secs(2.0) })
        => "nothing is between 2 s, where recording packets begins, and 2 s, where it ends (at record.packets); the run takes 10 s";
    stalls_need_a_host: |it| it.record.stalls = true
        => "`stalls` are told by hosts, and no flow has one (at record.stalls); add hosts.NAME = { ... }, and host = \"NAME\" to a flow";
    a_run_needs_a_flow: |it| *it = Scenario::new(secs(1.0), Vec::new(), Vec::new())
        => "a scenario needs at least one flow (at flows)";
    links_have_names_of_their_own: |it| it.links[1].name = "near".into()
        => "two links are called `near` (at links.near); give each its own name";
    flows_have_names_of_their_own: |it| it.udp[0].name = "two".into()
        => "two flows are called `two` (at udp[0].name); give each its own name";
    a_rate_is_above_zero: |it| it.links[0].forward.rate = Rate::from_bps(f64::NAN)
        => "a link's rate must be above zero, found NaN bit/s (at links.near.rate)";
    a_rate_has_a_bound: |it| it.links[0].forward.rate = Rate::INFINITE
        => "a link's rate must be finite, found inf bit/s (at links.near.rate)";
    a_delay_ends: |it| it.links[0].forward.delay = Duration::INFINITE
        => "a link's delay must be finite, found inf s (at links.near.delay)";
    a_delay_is_not_negative: |it| it.links[1].reverse.delay = secs(-0.1)
        => "a link's delay cannot be negative, found -0.1 s (at links.far.reverse.delay)";
    a_queue_has_its_own_parameters: |it| it.links[0].forward.queue.name = "codel"
        => "these are not the parameters of `codel` (at links.near.queue); begin with its defaults, and set what is to be otherwise";
    a_limit_in_bdp_is_for_the_reader: |it| it.links[0].forward.queue.params.set("limit", Value::Bdp(1.0))
        => "`limit` cannot be in bdp: only a scenario that is read has them turned into bytes (at links.near.queue.limit); give it in packets or bytes";
    a_limit_is_of_its_kind: |it| it.links[0].forward.queue.params.set("limit", Value::Integer(50))
        => "`limit` cannot be Integer(50) (at links.near.queue.limit); its kind is QueueSize";
    a_limit_is_above_zero: |it| it.links[0].forward.queue.params.set("limit", Value::Packets(0))
        => "`limit` must be a whole number of packets above zero, found 0 (at links.near.queue.limit)";
    a_limit_holds_a_packet: |it| it.links[0].forward.queue.params.set("limit", Value::Bytes(100))
        => "`limit` is 100 B, less than one packet of 1500 B: no packet would ever wait (at links.near); set `limit` to at least one packet";
    a_loss_is_a_probability: |it| it.links[0].forward.loss.probability = 2.0
        => "`loss` is a probability from 0 to 1, found 2 (at links.near.loss)";
    bursts_are_probabilities: |it| it.links[0].forward.loss.bursts = Some(GilbertElliott { p: -1.0, r: 0.5, loss_bad: 1.0, loss_good: 0.0 })
        => "`p` must be from 0 to 1, found -1 (at links.near.loss.p)";
    packets_are_counted_from_one: |it| it.links[0].forward.loss.drop = vec![0]
        => "packets are counted from 1, found 0 (at links.near.drop[0])";
    lost_packets_ascend: |it| it.links[0].forward.loss.drop = vec![3, 2]
        => "packet 2 comes after 3: numbers must ascend (at links.near.drop[1]); sort them";
    an_mtu_carries_a_header: |it| it.links[0].forward.mtu = Some(ByteCount::new(20))
        => "`mtu` is a whole number of bytes, of at least 68, found 20 (at links.near.mtu)";
    segments_fit: |it| it.links[0].forward.mtu = Some(ByteCount::new(1000))
        => "segments of flow `one` are 1500 B (smss 1460 B, header 40 B), and link `near` carries 1000 B at most (at links.near.mtu); set tcp.smss = \"960 B\", or tcp.path_mtu_discovery = true";
    a_trace_has_no_medium: |it| {
        it.links[0].forward.impairments.trace = Trace::new(vec![1, 2]).map(Arc::new);
        it.links[0].forward.medium = Some(Medium::Ethernet);
    } => "a link with a `trace` has no `medium`: the trace says when packets leave (at links.near.medium); leave one of the two out";
    forwarding_takes_no_negative_time: |it| it.links[0].forward.forwarding.latency = secs(-1.0)
        => "`latency` cannot be negative, found -1 s (at links.near.forwarding.latency); give a time of zero or more, or leave it out for its default";
    forwarding_ends: |it| it.links[0].forward.forwarding.latency = Duration::INFINITE
        => "`latency` must be finite, found inf s (at links.near.forwarding.latency)";
    doubles_have_a_probability: |it| it.links[0].forward.impairments.duplicate = -0.5
        => "`duplicate` is a probability from 0 to 1, found -0.5 (at links.near.duplicate)";
    jitter_has_bounds: |it| it.links[0].forward.impairments.jitter = Some(Jitter::Pareto { scale: secs(0.001), shape: 0.0, max: secs(1.0) })
        => "`shape` must be from 0.1 to 100, found 0 (at links.near.jitter.shape)";
    quantiles_ascend: |it| it.links[0].forward.impairments.jitter = Some(Jitter::Table { quantiles: Arc::new([secs(0.2), secs(0.1)]) })
        => "quantiles must ascend (at links.near.jitter.quantiles[1]); sort them";
    quantiles_are_finite: |it| it.links[0].forward.impairments.jitter = Some(Jitter::Table { quantiles: Arc::new([secs(0.2), Duration::INFINITE]) })
        => "a quantile must be finite, found inf s (at links.near.jitter.quantiles[1])";
    a_displacement_counts_from_one: |it| it.links[0].forward.impairments.reorder = Some(Reorder::Early { probability: 0.1, gap: 0 })
        => "`gap` must be from 1 to 1000000000, found 0 (at links.near.reorder.gap)";
    what_is_late_is_so_by_some_time: |it| it.links[0].forward.impairments.reorder = Some(Reorder::Late { probability: 0.1, gap: 1, by: Duration::ZERO })
        => "`by` must be above zero, found 0 s (at links.near.reorder.by); give a time such as `20 ms`, or leave it out for its default";
    an_outage_ends: |it| it.links[0].forward.impairments.outages = vec![Outage { from: at(2.0), until: at(1.0), every: None, packets: Meanwhile::Lost }]
        => "the outage ends at 1 s, and begins at 2 s (at links.near.outages[0].until)";
    an_outage_leaves_some_time: |it| it.links[0].forward.impairments.outages = vec![Outage { from: at(1.0), until: at(2.0), every: Some(secs(1.0)), packets: Meanwhile::Lost }]
        => "an outage every 1 s that takes 1 s: the link would never be up (at links.near.outages[0].every)";
    changes_ascend: |it| it.links[0].forward.impairments.changes = Some(Changes::Table { rows: [2.0, 1.0].map(|at_secs| Change { after: secs(at_secs), rate: None, delay: None, loss: None }).into(), every: None })
        => "1 s comes after 2 s: times must ascend (at links.near.changes[1].at); write the changes in the order of their times, each time once";
    changes_come: |it| it.links[0].forward.impairments.changes = Some(Changes::Table { rows: [Change { after: Duration::INFINITE, rate: None, delay: None, loss: None }].into(), every: None })
        => "a time must be finite, found inf s (at links.near.changes[0].at)";
    a_changed_rate_has_a_bound: |it| it.links[0].forward.impairments.changes = Some(Changes::Table { rows: [Change { after: secs(1.0), rate: Some(Rate::INFINITE), delay: None, loss: None }].into(), every: None })
        => "a rate must be finite, found inf bit/s (at links.near.changes[0].rate)";
    a_rate_is_one_that_a_link_can_have: |it| it.links[0].forward.rate = Rate::from_bps(1e30)
        => "a link's rate can be up to 1000 Tbit/s, found 1e30 bit/s (at links.near.rate); such as rate = \"100 Gbit/s\"";
    a_changed_rate_is_one_that_a_link_can_have: |it| it.links[0].forward.impairments.changes = Some(Changes::Table { rows: [Change { after: secs(1.0), rate: Some(Rate::from_bps(1e30)), delay: None, loss: None }].into(), every: None })
        => "a rate can be up to 1000 Tbit/s, found 1e30 bit/s (at links.near.changes[0].rate); such as rate = \"100 Gbit/s\"";
    a_walk_has_bounds: |it| it.links[0].forward.impairments.changes = Some(Changes::Walk(Walk { interval: secs(0.1), rate: Some(WalkSpan { step: 1e6, min: 1e6, max: f64::INFINITY }.map(Rate::from_bps)), delay: None }))
        => "`rate_max` must be finite, found inf bit/s (at links.near.walk.rate_max)";
    changes_are_some: |it| it.links[0].forward.impairments.changes = Some(Changes::Table { rows: [].into(), every: None })
        => "a table of changes needs a row (at links.near.changes); for example changes = [{ at = \"5 s\", rate = \"2 Mbit/s\" }]";
    a_walk_has_room: |it| it.links[0].forward.impairments.changes = Some(Changes::Walk(Walk { interval: secs(0.1), rate: Some(WalkSpan { step: 1e6, min: 2e6, max: 2e6 }.map(Rate::from_bps)), delay: None }))
        => "`rate_min` must be below `rate_max` (at links.near.walk.rate_min)";
    a_walk_begins_within_its_bounds: |it| it.links[0].forward.impairments.changes = Some(Changes::Walk(Walk { interval: secs(0.1), rate: Some(WalkSpan { step: 1e6, min: 1e6, max: 3e6 }.map(Rate::from_bps)), delay: None }))
        => "the walk begins at the link's own rate, which is not between its bounds (at links.near.walk)";
    a_path_has_links: |it| it.flows[1].path.clear()
        => "a path needs at least one link (at flows[1].path); list the links in the order data crosses them";
    a_path_has_links_that_there_are: |it| it.arriving[0].flow.path = vec![0, 2]
        => "there is no link 2: there are 2 (at arriving[0].path[1]); they count from 0";
    a_flow_starts_in_the_run: |it| it.flows[0].start = at(-1.0)
        => "a flow cannot start before the run: -1 s (at flows[0].start); give a time of zero or more, or leave it out for zero";
    a_flow_is_no_negative_time_away: |it| it.udp[0].delay = secs(-1.0)
        => "a delay cannot be negative: -1 s (at udp[0].delay); give a time of zero or more, or leave it out for zero";
    a_flow_starts: |it| it.flows[0].start = Instant::NEVER
        => "the start of a flow must be finite, found inf s (at flows[0].start)";
    a_flow_is_some_time_away: |it| it.udp[0].delay = Duration::INFINITE
        => "a delay must be finite, found inf s (at udp[0].delay)";
    a_parameter_of_tcp_is_finite: |it| it.flows[0].tcp.set("rto_max", Value::Duration(f64::INFINITY))
        => "`rto_max` must be finite, found inf s (at flows[0].tcp.rto_max)";
    a_parameter_of_tcp_is_within_its_bounds: |it| it.flows[0].tcp.set("smss", Value::Bytes(0))
        => "`smss` must be a whole number of bytes above zero, found 0 (at flows[0].tcp.smss)";
    a_word_is_one_that_there_is: |it| it.flows[0].tcp.set("recovery", Value::Choice("newrino"))
        => "unknown recovery `newrino` (at flows[0].tcp.recovery); did you mean `newreno`? known are tahoe, reno, newreno, sack, fack, rack";
    timeouts_leave_room: |it| it.flows[0].tcp.set("rto_min", Value::Duration(100.0))
        => "`rto_min` is 100 s, above `rto_max`, which is 60 s (at flows[0].tcp.rto_min)";
    a_kernel_is_none_of_the_simulator: |it| it.flows[0].kernel_cc = Some("cubic".into())
        => "`kernel:cubic` is of a real kernel, not of the simulator (at flows[0].cc); run it with `--backend uml`, or name one of `sawtooth list cc`";
    a_host_is_one_that_there_is: |it| it.flows[0].receiver_host = Some(0)
        => "there is no host 0: there are 0 (at flows[0].receiver_host); they count from 0";
    a_socket_holds_a_packet: |it| {
        let mut pc = HostSpec::new("pc");
        pc.params.set("socket_memory", Value::Bytes(100));
        it.hosts = vec![pc];
        it.flows[0].host = Some(0);
    } => "`socket_memory` is 100 B, and a packet of flow `one` takes 1460 B: 1460 of data, 0 besides (at hosts[0].socket_memory); give it room for some packets";
    a_host_takes_no_negative_time: |it| {
        let mut pc = HostSpec::new("pc");
        pc.params.set("write_cost", Value::Duration(-1.0));
        it.hosts = vec![pc];
    } => "`write_cost` cannot be negative, found -1 s (at hosts[0].write_cost); give a time of zero or more, or leave it out for its default";
    flows_that_arrive_have_no_host: |it| it.arriving[0].flow.host = Some(0)
        => "there is no host 0: there are 0 (at arriving[0].host); they count from 0";
    arrivals_have_a_rate: |it| it.arriving[0].arrivals.rate = 0.0
        => "`rate` must be above zero, found 0 per second (at arriving[0].rate)";
    arrivals_stop_after_their_start: |it| it.arriving[0].arrivals.stop = at(0.0)
        => "flows stop arriving at 0 s and start at 0 s (at arriving[0].stop)";
    arrivals_have_a_size: |it| it.arriving[0].arrivals.size.params.set("value", Value::Number(0.0))
        => "`value` must be above zero, found 0 B (at arriving[0].size.value)";
    bins_are_some: |it| it.arriving[0].arrivals.bins_per_decade = 0
        => "`bins_per_decade` must be from 1 to 20, found 0 (at arriving[0].bins_per_decade)";
    a_flow_of_udp_stops_after_its_start: |it| it.udp[0].stop = at(0.0)
        => "a flow stops after its start, which is at 0 s, found 0 s (at udp[0].stop); both count from the start of the run";
    a_packet_of_udp_has_a_header: |it| it.udp[0].source.params.set("size", Value::Bytes(20))
        => "a packet of UDP has from 28 to 65535 bytes, found 20 (at udp[0].source.size); `size` is that of the IP packet, its headers included";
}

#[test]
fn a_part_is_a_row_of_its_table() {
    let known = |table: &[crate::registry::Entry]| {
        let names: Vec<&str> = table.iter().map(|row| row.name).collect();
        names.join(", ")
    };
    let queues = known(tables::QUEUE);
    assert_eq!(
        said(|it| it.links[0].forward.queue.name = "read"),
        format!(
            "unknown queue `read` (at links.near.queue); did you mean `red`? known are {queues}"
        )
    );
    let algorithms = known(tables::CC);
    assert_eq!(
        said(|it| it.flows[0].cc.name = "cubik"),
        format!(
            "unknown congestion control `cubik` (at flows[0].cc); did you mean `cubic`? known are {algorithms}"
        )
    );
    let distributions = known(tables::DISTRIBUTION);
    assert_eq!(
        said(|it| it.arriving[0].arrivals.size.name = "size"),
        format!("unknown distribution `size` (at arriving[0].size); known are {distributions}")
    );
}

#[test]
fn what_may_be_without_end_is_accepted() {
    let nothing = said(|it| {
        it.links[0].forward.impairments.jitter = Some(Jitter::Pareto {
            scale: secs(0.001),
            shape: 1.5,
            max: Duration::INFINITE,
        });
        it.arriving[0].arrivals.stop = Instant::NEVER;
        it.udp[0].stop = Instant::NEVER;
    });
    assert_eq!(nothing, "nothing");
}

#[test]
fn what_is_read_is_accepted_and_warned_of_alike() {
    let tree = json!({
        "duration": "4 s",
        "links": {
            "l": {"rate": "10 Mbit/s", "delay": "20 ms", "queue": {"name": "drop_tail", "limit": "1 bdp"}},
            "idle": {"rate": "1 Mbit/s"},
        },
        "flows": [{"name": "late", "path": ["l", "l"], "start": "5 s", "cc": "dctcp"}],
    });
    let (scenario, origins) = super::super::read(&tree).expect("a scenario");
    assert_eq!(scenario.check(), Ok(()));
    let made = scenario.warnings();
    assert_eq!(made.len(), 4, "{made:?}");
    assert_eq!(made, warnings(&scenario, &origins));
    assert_eq!(from_tree(&tree).expect("a scenario"), scenario);
}
