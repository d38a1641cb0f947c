//! What must hold of the records of every scenario, whatever is in it.

use std::borrow::Cow;

use sawtooth_core::Scenario;
use sawtooth_core::internals::spec::source;
use sawtooth_core::internals::tcp::Config;
use sawtooth_core::internals::tcp::rto::RtoEstimator;
use sawtooth_core::record::Text;
use sawtooth_core::record::{Column, Effort, Records, SCHEMA, Table};
use sawtooth_core::spec::{Direction, FlowSpec, LinkDirection};

/// What is wrong: a rule by name, and what broke it.
pub type Broken = (&'static str, String);

type Held = Result<(), Broken>;

/// Columns that may be infinite, and say so.
const INFINITE: &[(&str, &str)] = &[
    ("series", "ssthresh_bytes"),
    ("series", "pacing_rate_bps"),
    ("episodes", "ssthresh_bytes"),
    // Algorithms' own variables: what is not known yet, or not bounded.
    ("variables", "value"),
];

/// Counts are far below.
const LARGEST_COUNT: f64 = 4.6e18;

/// A clock of nanoseconds tells times up to 9e9 s; the largest number that it has is a sentinel.
const LARGEST_TIME_NS: f64 = 9.1e18;

/// Checks all rules.
pub fn check(scenario: &Scenario, records: &Records, effort: &Effort) -> Held {
    let run = Run {
        scenario,
        records,
        effort,
    };
    run.numbers_are_numbers()?;
    run.flows()?;
    run.round_trips()?;
    run.links()?;
    run.series()?;
    run.conservation()?;
    run.hops()?;
    run.capacity()?;
    run.completions()?;
    run.transfers()?;
    run.distributions()?;
    run.datagrams()?;
    run.episodes()
}

struct Run<'a> {
    scenario: &'a Scenario,
    records: &'a Records,
    effort: &'a Effort,
}

macro_rules! hold {
    ($rule:literal, $holds:expr, $($told:tt)*) => {
        let holds: bool = $holds;
        if !holds {
            return Err(($rule, format!($($told)*)));
        }
    };
}

/// Counts; one that is unknown, of flows without TCP, adds nothing.
fn u64s<'a>(table: &'a Table, column: &str) -> Cow<'a, [u64]> {
    match table.column(column) {
        Column::U64(values) => values.into(),
        Column::OptU64(values) => known(values, 0),
        other => panic!("{column}: {other:?}"),
    }
}

/// Times and counts; -1 stands for one that is unknown, as none is negative.
fn i64s<'a>(table: &'a Table, column: &str) -> Cow<'a, [i64]> {
    match table.column(column) {
        Column::I64(values) => values.into(),
        Column::OptI64(values) => known(values, -1),
        other => panic!("{column}: {other:?}"),
    }
}

/// The same of other numbers.
fn f64s<'a>(table: &'a Table, column: &str) -> Cow<'a, [f64]> {
    match table.column(column) {
        Column::F64(values) => values.into(),
        Column::OptF64(values) => known(values, -1.0),
        other => panic!("{column}: {other:?}"),
    }
}

fn known<T: Copy>(values: &[Option<T>], otherwise: T) -> Cow<'_, [T]> {
    let known = values.iter().map(|value| value.unwrap_or(otherwise));
    known.collect()
}

fn texts<'a>(table: &'a Table, column: &str) -> &'a [Text] {
    match table.column(column) {
        Column::Str(values) => values,
        other => panic!("{column}: {other:?}"),
    }
}

/// The rows of a table that are of one thing, which follow each other: by what is said in these columns.
fn runs_of<'a>(table: &'a Table, columns: &[&str]) -> Vec<std::ops::Range<usize>> {
    let names: Vec<&'a [Text]> = columns.iter().map(|column| texts(table, column)).collect();
    let same = |one: usize, other: usize| names.iter().all(|column| column[one] == column[other]);
    let mut found = Vec::new();
    let mut start = 0;
    for row in 1..=table.rows() {
        if row == table.rows() || !same(start, row) {
            found.push(start..row);
            start = row;
        }
    }
    found
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn real(count: u64) -> f64 {
    count as f64
}

#[expect(
    clippy::cast_precision_loss,
    reason = "times are far below 2^53 ns, or a bound"
)]
fn secs(ns: i64) -> f64 {
    ns as f64 / 1e9
}

impl<'a> Run<'a> {
    fn table(&self, name: &str) -> Option<&'a Table> {
        self.records.table(name).filter(|table| table.rows() > 0)
    }

    /// The connections that are there all the time, with their numbers.
    fn connections(&self) -> impl Iterator<Item = (usize, &'a FlowSpec)> {
        self.scenario.flows.iter().enumerate()
    }

    fn numbers_are_numbers(&self) -> Held {
        for table in &self.records.tables {
            let spec = SCHEMA.iter().find(|spec| spec.name == table.name());
            let spec = spec.ok_or_else(|| ("a table has a schema", table.name().to_owned()))?;
            for (column, data) in spec.columns.iter().zip(table.columns()) {
                let place = (table.name(), column.name);
                let infinite = INFINITE.contains(&place);
                let signed = matches!(place, ("variables" | "sources", _));
                for value in data.numbers().into_iter().flatten() {
                    let fine = value.is_finite() || (infinite && value == f64::INFINITY);
                    hold!("numbers are finite", fine, "{place:?} {value}");
                    hold!(
                        "no measure is negative",
                        signed || value >= 0.0,
                        "{place:?} {value}"
                    );
                    let most = match data {
                        Column::U64(_) | Column::OptU64(_) => LARGEST_COUNT,
                        Column::I64(_) | Column::OptI64(_) => LARGEST_TIME_NS,
                        _ => f64::INFINITY,
                    };
                    hold!(
                        "no sentinel looks like a time or count",
                        value < most || value == f64::INFINITY,
                        "{place:?} {value}"
                    );
                }
            }
        }
        Ok(())
    }

    fn flows(&self) -> Held {
        let Some(table) = self.table("flows") else {
            return Ok(());
        };
        for (flow, _) in self.connections() {
            let count = |column: &str| u64s(table, column)[flow];
            let time = |column: &str| i64s(table, column)[flow];
            hold!(
                "what is sent again is sent",
                count("retransmits") <= count("sent_packets"),
                "flow {flow}"
            );
            // With a host what is delivered is what the application has read.
            hold!(
                "what is acknowledged is delivered",
                self.on_host(flow) || count("acked_bytes") <= count("delivered_bytes"),
                "flow {flow}: {} of {}",
                count("acked_bytes"),
                count("delivered_bytes")
            );
            hold!(
                "subsequent timeouts are timeouts",
                count("subsequent_timeouts") <= count("timeouts"),
                "flow {flow}"
            );
            hold!(
                "spurious timeouts are spurious",
                count("spurious_timeouts") <= count("spurious"),
                "flow {flow}"
            );
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
            let shares = causes.map(|cause| time(&format!("limited_{cause}_ns")));
            hold!(
                "a life's causes are shares of it",
                shares.iter().all(|share| *share >= 0)
                    && shares.iter().sum::<i64>() == time("lifetime_ns"),
                "flow {flow}: {shares:?} of {}",
                time("lifetime_ns")
            );
            let rest = self.scenario.duration.as_ns() - time("start_ns");
            hold!(
                "no life is longer than the run",
                time("lifetime_ns") <= rest.max(0),
                "flow {flow}: {} of {rest}",
                time("lifetime_ns")
            );
            let cwnd = (
                f64s(table, "cwnd_mean_bytes")[flow],
                f64s(table, "max_cwnd_bytes")[flow],
            );
            hold!(
                "no window is larger on average than at most",
                cwnd.0 <= cwnd.1 * (1.0 + 1e-9),
                "flow {flow}: {cwnd:?}"
            );
            let stall =
                ["window", "partial", "memory"].map(|part| time(&format!("stall_{part}_ns")));
            let known = stall.map(|part| part >= 0);
            let whole = if known[0] { stall.iter().sum() } else { -1 };
            hold!(
                "a stall is the sum of its parts",
                known.iter().all(|part| *part == known[0]) && whole == time("stall_ns"),
                "flow {flow}: {stall:?}"
            );
        }
        Ok(())
    }

    fn round_trips(&self) -> Held {
        let Some(table) = self.table("flows") else {
            return Ok(());
        };
        for (flow, spec) in self.connections() {
            let [least, largest, smoothed, mean] =
                ["min_rtt_ns", "max_rtt_ns", "srtt_ns", "srtt_mean_ns"]
                    .map(|column| i64s(table, column)[flow]);
            let samples = u64s(table, "rtt_samples")[flow];
            let found = format!(
                "flow {flow}: {samples} samples from {least} to {largest}, smoothed {smoothed}, on average {mean}"
            );
            let any = samples > 0;
            hold!(
                "without a round trip none is told",
                [least, largest, mean]
                    .iter()
                    .all(|time| (*time >= 0) == any),
                "{found}"
            );
            if !any {
                continue;
            }
            hold!(
                "the least round trip is the least",
                least <= largest,
                "{found}"
            );
            let config = Config::from(&spec.tcp);
            let ticks = config.rto.estimator == RtoEstimator::Ticks;
            // Estimators that count ticks round to them, and one that has been too short adds two to what is smoothed (RFC 4015 §3.1 step (0)).
            let grain = 2.0 * config.rto.granularity.secs();
            // What a coarse clock tells, and whole microseconds, are off by as much.
            let clock = config.timer_tick.clock.grain().secs();
            let counts = config.recovery.keeps_segments()
                || config.rto.estimator == RtoEstimator::Linux
                || clock > 1e-6;
            let told = if counts { clock } else { 0.0 };
            let below = if ticks { grain } else { 0.0 } + told + 2e-9;
            let within = |time: i64| {
                secs(time) >= secs(least) - below
                    && secs(time) <= secs(largest) + grain + told + 2e-9
            };
            hold!(
                "what is smoothed lies between the least and the largest",
                (smoothed < 0 || within(smoothed)) && within(mean),
                "{found}"
            );
            let physical = self.least_round_trip(spec)
                - config.timestamps.unwrap_or_default().secs()
                - if ticks { grain } else { 0.0 }
                - told;
            hold!(
                "no round trip is shorter than the path",
                secs(least) >= physical - 2e-9,
                "{found}, path {physical}"
            );
        }
        Ok(())
    }

    /// Whether the receiver of a flow is on a host, or as a server the sender of what is asked for.
    fn on_host(&self, flow: usize) -> bool {
        self.scenario.flows[flow].receiver_host.is_some()
    }

    /// What a port is of a link.
    fn port(&self, port: usize) -> &LinkDirection {
        let ways = [Direction::Forward, Direction::Reverse];
        self.scenario.links[port / 2].way(ways[port % 2])
    }

    fn least_way(&self, path: &[usize], direction: Direction) -> f64 {
        let delay = |port| self.port(port).least_delay().secs();
        direction.ports(path).map(delay).sum()
    }

    fn least_round_trip(&self, flow: &FlowSpec) -> f64 {
        self.least_way(&flow.path, flow.direction)
            + self.least_way(&flow.path, flow.direction.opposite())
            + 2.0 * flow.delay.secs()
    }

    fn links(&self) -> Held {
        let Some(table) = self.table("links") else {
            return Ok(());
        };
        for row in 0..table.rows() {
            let count = |column: &str| u64s(table, column)[row];
            for unit in ["packets", "bytes"] {
                let (arrived, dropped) = (
                    count(&format!("arrived_{unit}")),
                    count(&format!("dropped_{unit}")),
                );
                hold!(
                    "what is dropped has come",
                    dropped <= arrived,
                    "row {row}: {dropped} of {arrived} {unit}"
                );
            }
            let accepted = count("arrived_packets") - count("dropped_packets");
            for fate in [
                "lost",
                "corrupted",
                "marked",
                "duplicated",
                "reordered",
                "peak",
            ] {
                let befallen = count(&format!("{fate}_packets"));
                // A packet that arrives twice may overtake twice.
                let most = if fate == "peak" {
                    count("arrived_packets")
                } else {
                    accepted
                };
                hold!(
                    "what befalls packets befalls those that were let in",
                    befallen <= most,
                    "row {row}: {fate} {befallen} of {most}"
                );
            }
        }
        if let Some(queues) = self.table("queues") {
            for rows in runs_of(queues, &["link", "direction"]) {
                hold!(
                    "cumulative counts never fall",
                    u64s(queues, "dropped_packets")[rows.clone()].is_sorted(),
                    "queues {rows:?}"
                );
                hold!(
                    "time goes on",
                    i64s(queues, "t_ns")[rows.clone()].is_sorted(),
                    "queues {rows:?}"
                );
            }
        }
        Ok(())
    }

    fn series(&self) -> Held {
        let Some(table) = self.table("series") else {
            return Ok(());
        };
        for rows in runs_of(table, &["flow"]) {
            hold!(
                "time goes on",
                i64s(table, "t_ns")[rows.clone()].is_sorted(),
                "series {rows:?}"
            );
            for column in ["acked_bytes", "delivered_bytes", "sender_delivered_bytes"] {
                hold!(
                    "cumulative counts never fall",
                    u64s(table, column)[rows.clone()].is_sorted(),
                    "series.{column} {rows:?}"
                );
            }
            let columns = ["acked_bytes", "sender_delivered_bytes", "delivered_bytes"]
                .map(|column| u64s(table, column));
            for row in rows {
                let [acked, known, delivered] = [0, 1, 2].map(|at: usize| columns[at][row]);
                hold!(
                    "what is acknowledged is known to have arrived",
                    acked <= known.max(delivered),
                    "series {row}: {acked} of {known}"
                );
                hold!(
                    "what is acknowledged is delivered",
                    acked <= delivered,
                    "series {row}: {acked} of {delivered}"
                );
            }
        }
        Ok(())
    }

    /// Of all senders' packets: what was dropped and lost, what has been received, and the rest is on its way.
    fn conservation(&self) -> Held {
        let (Some(flows), Some(links)) = (self.table("flows"), self.table("links")) else {
            return Ok(());
        };
        let forward = |flow: &FlowSpec| flow.direction == Direction::Forward;
        let mut udp = self.scenario.udp.iter();
        if self.asks()
            || !self.scenario.all_flows().all(forward)
            || udp.any(|flow| flow.direction == Direction::Reverse)
        {
            // Requests go the other way, and are in no table of packets; and of flows against others acknowledgements go forward.
            return Ok(());
        }
        let forward = |column| u64s(links, column).iter().step_by(2).sum::<u64>();
        let both = |column| u64s(links, column).iter().sum::<u64>();
        let mut entered = u64s(flows, "sent_packets").iter().sum::<u64>();
        let having = |key: fn(&Config) -> bool| {
            let configs = self
                .scenario
                .flows
                .iter()
                .map(|flow| Config::from(&flow.tcp));
            configs.filter(key).count() as u64
        };
        entered += having(|config| config.handshake_ack);
        // What answers the receiver's FIN, too, which is sent again at timeouts that double.
        entered += 64 * having(|config| config.fin_of_receiver);
        // And what acknowledges once more the answer to a SYN, every half second at most.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small number"
        )]
        let again = 1 + (2.0 * self.scenario.duration.secs()) as u64;
        entered += again * having(|config| config.resend_syn_ack);
        if let Some(arrivals) = self.table("arrivals") {
            entered += u64s(arrivals, "sent_packets").iter().sum::<u64>()
                + u64s(arrivals, "started").iter().sum::<u64>() * (1 + again);
        }
        entered += forward("duplicated_packets");
        let gone =
            forward("dropped_packets") + forward("lost_packets") + self.effort.delivered_packets;
        hold!(
            "packets do not come from nowhere",
            gone <= entered,
            "{entered} entered, {gone} are gone"
        );
        let damaged = both("corrupted_packets") + both("duplicated_packets");
        hold!(
            "what is discarded was damaged",
            self.effort.discarded_packets <= damaged,
            "{} of {damaged}",
            self.effort.discarded_packets
        );
        Ok(())
    }

    fn asks(&self) -> bool {
        self.scenario
            .flows
            .iter()
            .any(|flow| source(flow, 0).answers())
    }

    /// Of each flow: what comes to a link of its path has left the one before.
    fn hops(&self) -> Held {
        let (Some(table), Some(links)) = (self.table("link_flows"), self.table("links")) else {
            return Ok(());
        };
        let paths = self
            .scenario
            .all_flows()
            .map(|flow| (&flow.name, &flow.path, flow.direction));
        let paths = paths.chain(
            self.scenario
                .udp
                .iter()
                .map(|flow| (&flow.name, &flow.path, flow.direction)),
        );
        for (name, path, direction) in paths {
            let ports: Vec<usize> = direction.ports(path).collect();
            for pair in ports.windows(2) {
                let unique = |port| ports.iter().filter(|other| **other == port).count() == 1;
                let doubled = u64s(links, "duplicated_packets")[pair[0]];
                if !unique(pair[0]) || !unique(pair[1]) {
                    continue;
                }
                let count = |port: usize, column| {
                    let link = &self.scenario.links[port / 2].name;
                    let mut rows = 0..table.rows();
                    let is_it = |row: &usize| {
                        *texts(table, "link")[*row] == **link
                            && *texts(table, "direction")[*row] == *["forward", "reverse"][port % 2]
                            && *texts(table, "flow")[*row] == **name
                    };
                    rows.find(is_it).map_or(0, |row| u64s(table, column)[row])
                };
                let left = count(pair[0], "arrived_packets") + doubled
                    - count(pair[0], "dropped_packets")
                    - count(pair[0], "lost_packets");
                let came = count(pair[1], "arrived_packets");
                hold!(
                    "what comes to a link has left the one before",
                    came <= left,
                    "{name}: {came} of {left}"
                );
                let first = self.port(pair[0]);
                if first.impairments.is_plain()
                    && first.forwarding.is_plain()
                    && first.medium.is_none()
                {
                    let peak = u64s(links, "peak_packets")[pair[0]];
                    let on_wire =
                        first.rate.bps() * first.delay.secs() / (8.0 * self.least_packet());
                    let on_their_way = real(left - came);
                    hold!(
                        "what has left a link and not come to the next is on its way",
                        on_their_way <= real(peak) + on_wire + 2.0,
                        "{name}: {on_their_way} of {peak} and {on_wire}"
                    );
                }
            }
        }
        Ok(())
    }

    /// Bytes of the smallest packet that there can be.
    fn least_packet(&self) -> f64 {
        let sizes = |flow: &FlowSpec| flow.tcp.bytes("header").min(flow.tcp.bytes("ack_size"));
        real(
            self.scenario
                .all_flows()
                .map(sizes)
                .min()
                .unwrap_or(28)
                .min(28),
        )
    }

    /// No link delivers more than its rate and the time allow.
    fn capacity(&self) -> Held {
        let (Some(flows), Some(links)) = (self.table("flows"), self.table("links")) else {
            return Ok(());
        };
        let delivered = u64s(flows, "delivered_bytes");
        let arrived = self
            .table("arrivals")
            .map_or(Cow::default(), |table| u64s(table, "delivered_bytes"));
        let ports = |flow: &FlowSpec| -> Vec<usize> { flow.direction.ports(&flow.path).collect() };
        let tcp = self
            .scenario
            .flows
            .iter()
            .zip(delivered.iter())
            .map(|(flow, bytes)| (ports(flow), *bytes));
        let arriving = self
            .scenario
            .arriving
            .iter()
            .zip(arrived.iter())
            .map(|(one, bytes)| (ports(&one.flow), *bytes));
        let udp = self
            .scenario
            .udp
            .iter()
            .zip(&delivered[self.scenario.flows.len()..]);
        // What is doubled has crossed the links before that once.
        let doubles = self.scenario.links.iter().any(|link| {
            link.forward.impairments.duplicate > 0.0 || link.reverse.impairments.duplicate > 0.0
        });
        let udp = udp
            .filter(|_| !doubles)
            .map(|(flow, bytes)| (flow.direction.ports(&flow.path).collect(), *bytes));
        let all: Vec<(Vec<usize>, u64)> = tcp.chain(arriving).chain(udp).collect();
        for number in 0..2 * self.scenario.links.len() {
            let (port, name) = (self.port(number), &self.scenario.links[number / 2].name);
            let utilisation = f64s(links, "utilisation")[number];
            let crossings =
                |ports: &[usize]| ports.iter().filter(|port| **port == number).count() as u64;
            let bits = 8.0
                * real(
                    all.iter()
                        .map(|(path, bytes)| crossings(path) * bytes)
                        .sum(),
                );
            if bits == 0.0 || port.medium.is_some() {
                continue;
            }
            hold!(
                "nothing is delivered over a link that sends nothing",
                utilisation > 0.0,
                "{name}: {bits}"
            );
            let accepted =
                u64s(links, "arrived_bytes")[number] - u64s(links, "dropped_bytes")[number];
            let capacity = 8.0 * real(accepted) / utilisation;
            hold!(
                "no link delivers above its rate",
                bits <= capacity * (1.0 + 1e-9),
                "{name}: {bits} bit of {capacity}"
            );
            if port.impairments.is_plain() {
                let most = port.rate.bps() * self.scenario.duration.secs();
                hold!(
                    "no link delivers above its rate",
                    bits <= most * (1.0 + 1e-9),
                    "{name}: {bits} bit of {most}"
                );
            }
        }
        Ok(())
    }

    fn completions(&self) -> Held {
        let Some(table) = self.table("flows") else {
            return Ok(());
        };
        for (flow, spec) in self.connections() {
            let completion = i64s(table, "completion_ns")[flow];
            if completion < 0 {
                continue;
            }
            let delivered = u64s(table, "delivered_bytes")[flow];
            let acked = u64s(table, "acked_bytes")[flow];
            hold!(
                "a completed transfer is delivered and acknowledged",
                delivered == acked,
                "flow {flow}: {delivered}, {acked}"
            );
            let start = i64s(table, "start_ns")[flow];
            hold!(
                "a transfer completes within the run",
                start + completion <= self.scenario.duration.as_ns(),
                "flow {flow}: {completion}"
            );
            if source(spec, 0).answers() {
                continue;
            }
            if let Some(size) = spec.size() {
                let size = size.get();
                hold!(
                    "a completed transfer has its size",
                    delivered == size,
                    "flow {flow}: {delivered} of {size}"
                );
            }
            let least = self.least_completion(spec, delivered);
            hold!(
                "no transfer is faster than its path",
                secs(completion) >= least - 2e-9,
                "flow {flow}: {completion} ns of {least} s"
            );
        }
        Ok(())
    }

    /// The handshake's round trip, the way of the last byte, and the time of all bytes at the lowest rate.
    fn least_completion(&self, spec: &FlowSpec, bytes: u64) -> f64 {
        let handshake = if Config::from(&spec.tcp).handshake {
            self.least_round_trip(spec)
        } else {
            0.0
        };
        let way = self.least_way(&spec.path, spec.direction) + spec.delay.secs();
        let links = spec.direction.ports(&spec.path).map(|port| self.port(port));
        let plain = links.filter(|direction| direction.impairments.is_plain());
        let slowest = plain
            .map(|direction| direction.rate.bps())
            .fold(f64::INFINITY, f64::min);
        handshake + way + 8.0 * real(bytes) / slowest * (1.0 - 1e-9)
    }

    fn transfers(&self) -> Held {
        if let Some(table) = self.table("arrivals") {
            for row in 0..table.rows() {
                let count = |column: &str| u64s(table, column)[row];
                hold!(
                    "who has completed has started",
                    count("completed") <= count("started"),
                    "arrivals {row}"
                );
                hold!(
                    "what is delivered was offered",
                    count("delivered_bytes") <= count("offered_bytes"),
                    "arrivals {row}"
                );
                let alive = f64s(table, "alive_mean")[row];
                hold!(
                    "no more are alive on average than at most",
                    alive <= real(count("alive_max")) * (1.0 + 1e-9),
                    "arrivals {row}: {alive}"
                );
            }
        }
        let Some(table) = self.table("transfers") else {
            return Ok(());
        };
        for row in 0..table.rows() {
            let name = &texts(table, "flow")[row];
            let mut entries = self.scenario.arriving.iter().map(|one| &one.flow);
            let spec = entries
                .find(|flow| *flow.name == **name)
                .ok_or_else(|| ("a transfer is of an entry", name.to_string()))?;
            let (size, delivered) = (
                u64s(table, "size_bytes")[row],
                u64s(table, "delivered_bytes")[row],
            );
            let completion = i64s(table, "completion_ns")[row];
            hold!(
                "what is delivered was offered",
                delivered <= size,
                "transfer {row}: {delivered} of {size}"
            );
            if completion >= 0 {
                hold!(
                    "a completed transfer has its size",
                    delivered == size,
                    "transfer {row}: {delivered} of {size}"
                );
                let least = self.least_completion(spec, size);
                hold!(
                    "no transfer is faster than its path",
                    secs(completion) >= least - 2e-9,
                    "transfer {row}: {completion} ns of {least} s"
                );
            }
        }
        Ok(())
    }

    /// Quantiles ascend, and the mean lies within.
    fn distributions(&self) -> Held {
        for (name, prefix) in [
            ("waits", "wait"),
            ("arrivals", "completion"),
            ("completions", "completion"),
            ("exchanges", "completion"),
            ("datagrams", "delay"),
        ] {
            let Some(table) = self.table(name) else {
                continue;
            };
            let spec = SCHEMA
                .iter()
                .find(|spec| spec.name == name)
                .expect("a table of the schema");
            let column = |part: &str| format!("{prefix}_{part}_ns");
            let parts = ["p50", "p90", "p95", "p99", "p999", "max"].map(column);
            let there: Vec<&String> = parts
                .iter()
                .filter(|part| spec.columns.iter().any(|column| column.name == **part))
                .collect();
            for row in 0..table.rows() {
                let mut values: Vec<i64> =
                    there.iter().map(|part| i64s(table, part)[row]).collect();
                if prefix == "delay" {
                    // The largest is told before the quantiles.
                    values.sort_by_key(|value| (*value == i64s(table, "delay_max_ns")[row], 0));
                }
                hold!(
                    "quantiles ascend",
                    values.is_sorted(),
                    "{name} {row}: {values:?}"
                );
                let mean = i64s(table, &column("mean"))[row];
                hold!(
                    "no mean is above the largest",
                    mean <= values[values.len() - 1],
                    "{name} {row}: {mean} of {values:?}"
                );
            }
        }
        Ok(())
    }

    fn datagrams(&self) -> Held {
        let (Some(table), Some(links)) = (self.table("datagrams"), self.table("links")) else {
            return Ok(());
        };
        for (row, spec) in self.scenario.udp.iter().enumerate() {
            let count = |column: &str| u64s(table, column)[row];
            let (sent, came, lost) = (
                count("sent_packets"),
                count("delivered_packets"),
                i64s(table, "lost_packets")[row],
            );
            let doubled: u64 = spec
                .direction
                .ports(&spec.path)
                .map(|port| u64s(links, "duplicated_packets")[port])
                .sum();
            hold!(
                "what comes was sent or doubled",
                came <= sent + doubled,
                "datagrams {row}: {came} of {sent} and {doubled}"
            );
            hold!(
                "losses are unknown without a packet",
                (lost < 0) == (came == 0),
                "datagrams {row}: {lost} lost, {came} came"
            );
            hold!(
                "what is lost was sent",
                lost <= sent.cast_signed(),
                "datagrams {row}: {lost} of {sent}"
            );
            hold!(
                "late packets came",
                count("late_packets") <= came,
                "datagrams {row}"
            );
            let least = self.least_way(&spec.path, spec.direction) + spec.delay.secs();
            let found = i64s(table, "delay_min_ns")[row];
            hold!(
                "no datagram is faster than its path",
                found < 0 || secs(found) >= least - 2e-9,
                "datagrams {row}: {found} ns of {least} s"
            );
        }
        Ok(())
    }

    fn episodes(&self) -> Held {
        let end = self.scenario.duration.as_ns();
        if let Some(table) = self.table("episodes") {
            let (from, to) = (i64s(table, "start_ns"), i64s(table, "end_ns"));
            for row in 0..table.rows() {
                let fine = from[row] >= 0
                    && from[row] <= end
                    && (to[row] < 0 || (from[row] <= to[row] && to[row] <= end));
                hold!(
                    "an episode ends after it began",
                    fine,
                    "episodes {row}: {} to {}",
                    from[row],
                    to[row]
                );
            }
        }
        if let Some(table) = self.table("stalls") {
            let (from, to) = (i64s(table, "from_ns"), i64s(table, "to_ns"));
            for row in 0..table.rows() {
                hold!(
                    "a stall ends after it began",
                    from[row] <= to[row] && to[row] <= end,
                    "stalls {row}: {} to {}",
                    from[row],
                    to[row]
                );
            }
        }
        if let Some(table) = self.table("layers") {
            for rows in runs_of(table, &["flow"]) {
                let times = &i64s(table, "t_ns")[rows.clone()];
                hold!("time goes on", times.is_sorted(), "layers {rows:?}");
            }
        }
        Ok(())
    }
}
