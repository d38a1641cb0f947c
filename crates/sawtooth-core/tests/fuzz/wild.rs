//! Scenarios of everything that the tables name, with values that people write and values that nobody does, and yet valid.
//!
//! A case of `random` is the start, whose network and flows belong together. Then parts are exchanged for random rows of their tables, with random values of
//! their parameters, by the parameters' kinds. What contradicts something else is refused with its place, and is taken out there: so nearly all are run.

use proptest::strategy::{BoxedStrategy, Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use sawtooth_core::internals::demand::Demand;
use sawtooth_core::internals::rng::RandomStream;
use sawtooth_core::internals::{
    arrivals, cc, dist, host, impair, loss, packet_source, queue, source, tcp,
};
use sawtooth_core::registry::{Entry, Kind, Param, Unit, Value as Default};
use sawtooth_core::{Scenario, scenario};
use serde_json::{Map, Value, json};

use crate::random::{Case, cases};

/// Segments that a scenario delivers at most, roughly.
const MOST_SEGMENTS: f64 = 1500.0;

/// And events that it takes, roughly.
const MOST_EVENTS: f64 = 100_000.0;

/// Times that refused keys are taken out of one tree.
const REPAIRS: usize = 60;

/// Makes scenarios.
pub struct Maker {
    cases: BoxedStrategy<Case>,
}

/// What has been made.
pub struct Made {
    pub tree: Value,
    /// Nothing if it was still refused in the end.
    pub scenario: Option<Scenario>,
    /// Whether it was valid as it was drawn.
    pub at_once: bool,
}

impl Maker {
    pub fn new() -> Self {
        Self {
            cases: cases().boxed(),
        }
    }

    /// The `number`-th scenario of a seed.
    pub fn make(&self, seed: u64, number: u64) -> Made {
        let mut draw = Draw(RandomStream::new(seed, &format!("scenario {number}")));
        let mut key = [0; 32];
        for byte in &mut key {
            *byte = u8::try_from(draw.0.integer(0, 256)).expect("a byte");
        }
        let random = TestRng::from_seed(RngAlgorithm::ChaCha, &key);
        let mut runner = TestRunner::new_with_rng(Config::default(), random);
        let case = self.cases.new_tree(&mut runner).expect("a case").current();
        let mut tree = case.tree();
        draw.vary(&mut tree);
        finish(tree)
    }
}

/// Takes out what is refused, and makes the run short enough.
fn finish(mut tree: Value) -> Made {
    let mut at_once = true;
    // Where the estimate is too low the run is ended, as it is for everybody.
    tree["limits"] = json!({"events": 5.0 * MOST_EVENTS, "rows": 1e6, "memory": "300 MB"});
    for _ in 0..REPAIRS {
        match scenario::from_tree(&tree) {
            Ok(scenario) => {
                let demand = Demand::of(&scenario);
                let cost = (demand.segments / MOST_SEGMENTS).max(demand.events / MOST_EVENTS);
                if cost <= 2.0 {
                    return Made {
                        tree,
                        scenario: Some(scenario),
                        at_once,
                    };
                }
                tree["duration"] = json!(format!("{} s", scenario.duration.secs() / cost));
            }
            Err(error) => {
                at_once = false;
                if !take_out(&mut tree, &error.path) {
                    break;
                }
            }
        }
    }
    Made {
        tree,
        scenario: None,
        at_once: false,
    }
}

/// Removes what is at a path such as `flows[0].source.size`, or if it is not written or is needed, the nearest around it.
fn take_out(tree: &mut Value, path: &str) -> bool {
    let mut steps: Vec<&str> = path
        .split(['.', '[', ']'])
        .filter(|step| !step.is_empty())
        .collect();
    while let Some(last) = steps.pop() {
        let holder = steps.iter().try_fold(&mut *tree, |at, step| match at {
            Value::Object(keys) => keys.get_mut(*step),
            Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?),
            _ => None,
        });
        let needed = matches!(last, "name" | "path" | "rate") && steps.len() < 3;
        let removed = match holder {
            Some(Value::Object(keys)) => !needed && keys.remove(last).is_some(),
            Some(Value::Array(items)) => {
                let at = last.parse::<usize>().ok().filter(|at| *at < items.len());
                at.map(|at| items.remove(at)).is_some()
            }
            _ => false,
        };
        if removed {
            return true;
        }
    }
    false
}

/// Random values.
struct Draw(RandomStream);

impl Draw {
    fn chance(&mut self, share: f64) -> bool {
        self.0.uniform() < share
    }

    fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.0.integer(0, i64::try_from(count).expect("few"))).expect("an index")
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }

    /// Between the two, all magnitudes alike.
    fn log(&mut self, least: f64, most: f64) -> f64 {
        let (low, high) = (libm::log10(least), libm::log10(most));
        libm::pow(10.0, low + (high - low) * self.0.uniform())
    }

    fn time(&mut self, least: f64, most: f64) -> Value {
        json!(format!("{} us", self.log(least, most) * 1e6))
    }

    fn rate(&mut self, least: f64, most: f64) -> Value {
        json!(format!("{} bit/s", self.log(least, most)))
    }

    fn bytes(&mut self, least: f64, most: f64) -> Value {
        json!(format!("{} B", libm::round(self.log(least, most))))
    }

    fn packets(&mut self, most: f64) -> Value {
        json!(format!("{} packets", libm::round(self.log(1.0, most))))
    }

    fn number(&mut self, min: f64, max: f64) -> f64 {
        if min.is_infinite() {
            // The part itself says what it takes.
            return 3.0 * self.0.uniform() - 0.5;
        }
        match self.below(6) {
            0 => min,
            1 => max.min(1e6),
            2 => self.log(min.max(1e-6), max.clamp(2e-6, 1e6)),
            3 => min + self.0.uniform() * (max.min(min + 1.0) - min),
            _ => min + self.0.uniform() * (max.min(min + 100.0) - min),
        }
    }

    /// A value that a parameter takes, most likely.
    fn value(&mut self, param: &Param, most: &Most) -> Value {
        if param.default == Default::None && self.chance(0.1) {
            return json!("none");
        }
        match param.kind {
            Kind::Bool => json!(self.chance(0.5)),
            Kind::Choice(words) => json!(self.pick(words)),
            Kind::Number { min, max } => json!(self.number(min, max)),
            #[expect(clippy::cast_precision_loss, reason = "bounds are small, or cut")]
            Kind::Integer { min, max } => {
                let number = self.number(min as f64, (max as f64).min(most.count));
                json!(number.clamp(min as f64, max as f64).round())
            }
            Kind::Duration { min_exclusive } => {
                if !min_exclusive && self.chance(0.1) {
                    json!("0 s")
                } else {
                    self.time(most.shortest, most.longest)
                }
            }
            Kind::Period => self.time(most.shortest, most.longest),
            Kind::Rate => self.rate(1e3, most.rate),
            Kind::RateFromZero => {
                if self.chance(0.1) {
                    json!("0 bit/s")
                } else {
                    self.rate(1e3, most.rate)
                }
            }
            Kind::RateOrPackets => {
                if self.chance(0.5) {
                    self.rate(1e3, most.rate)
                } else {
                    json!(format!("{} packets", self.number(0.0, 50.0)))
                }
            }
            Kind::Bytes => self.bytes(most.least_bytes, most.bytes),
            Kind::Packets => self.packets(most.count.min(300.0)),
            Kind::PacketsOrBytes | Kind::QueueSize => match self.below(5) {
                0 | 1 => self.packets(100.0),
                2 if param.kind == Kind::QueueSize => json!(format!("{} bdp", self.log(0.1, 4.0))),
                _ => self.bytes(most.least_bytes, most.bytes),
            },
            Kind::Distribution(unit) => self.distribution(unit, most),
            Kind::Drawn => self.drawn(Unit::Bytes, most),
        }
    }

    fn drawn(&mut self, unit: Unit, most: &Most) -> Value {
        match unit {
            Unit::Time { .. } => self.time(most.shortest, most.longest),
            Unit::Bytes => self.bytes(most.least_bytes, most.bytes),
        }
    }

    fn distribution(&mut self, unit: Unit, most: &Most) -> Value {
        if self.chance(0.3) {
            return self.drawn(unit, most);
        }
        let entry = &dist::TABLE[self.below(dist::TABLE.len())];
        let mut table = json!({"name": entry.name});
        for param in entry.params {
            if param.default == Default::None && self.chance(0.6) {
                continue;
            }
            table[param.name] = match param.kind {
                Kind::Drawn => self.drawn(unit, most),
                _ => self.value(param, most),
            };
        }
        if let Unit::Time { .. } = unit {
            // Nearly all times of these would be nearly nothing: events without number.
            match entry.name {
                "lognormal" => table["sigma"] = json!(2.0 * self.0.uniform() + 0.01),
                "pareto" => table["shape"] = json!(1.2 + self.0.uniform()),
                _ => {}
            }
        }
        match entry.name {
            "uniform" => {
                table["high"] = json!(format!("{} * 3", table["low"].as_str().unwrap_or("1 B")));
            }
            "empirical" => {
                table["points"] = json!([
                    [most.least_bytes, 0.2],
                    [most.bytes, 0.7],
                    [2.0 * most.bytes, 1.0]
                ]);
            }
            _ => {}
        }
        table
    }

    /// A random row of a table, with some of its parameters.
    fn part<C>(&mut self, table: &[Entry<C>], most: &Most) -> Value {
        let at = self.below(table.len());
        let entry = &table[at];
        let mut part = json!({"name": entry.name});
        self.some_of(entry.params, 0.25, most, &mut part);
        part
    }

    fn some_of(&mut self, params: &[Param], share: f64, most: &Most, into: &mut Value) {
        for param in params {
            if self.chance(share) {
                into[param.name] = self.value(param, most);
            }
        }
    }

    // --- the parts of a scenario ----------------------------------------------------------------------------------------

    fn vary(&mut self, tree: &mut Value) {
        let seconds = self.log(0.2, 40.0);
        tree["duration"] = json!(format!("{seconds} s"));
        let most = Most::of(seconds);
        self.vary_links(tree, &most);
        self.vary_tcp(tree);
        self.vary_flows(tree, &most);
        if self.chance(0.2) {
            self.put_hosts(tree);
        }
        self.vary_recording(tree, seconds);
    }

    fn vary_links(&mut self, tree: &mut Value, most: &Most) {
        let names: Vec<String> = tree["links"]
            .as_object()
            .expect("links")
            .keys()
            .cloned()
            .collect();
        for name in names {
            let mut link = tree["links"][&name].take();
            self.vary_direction(&mut link, most);
            if link["reverse"].is_object() && self.chance(0.3) {
                let mut reverse = link["reverse"].take();
                self.vary_direction(&mut reverse, most);
                link["reverse"] = reverse;
            }
            tree["links"][&name] = link;
        }
    }

    fn vary_direction(&mut self, link: &mut Value, most: &Most) {
        let has_rate = link.get("rate").is_some();
        if has_rate && self.chance(0.3) {
            link["rate"] = self.rate(100.0, 1e10);
        }
        if self.chance(0.3) {
            link["delay"] = match self.below(8) {
                0 => json!("0 s"),
                1 => self.time(1e-9, 1e3),
                _ => self.time(1e-5, most.longest),
            };
        }
        if self.chance(0.4) {
            link["queue"] = self.part(queue::TABLE, most);
            if link["queue"]["name"] == "token_bucket" {
                link["queue"]["rate"] = self.rate(1e4, 1e7);
                link["queue"]["burst"] = self.bytes(1500.0, 1e5);
            }
            if link["queue"]["name"] == "cake" && self.chance(0.7) {
                link["queue"]["rate"] = self.rate(1e4, 1e8);
            }
        }
        if self.chance(0.1) {
            link["loss"] = self.part(loss::TABLE, most);
        }
        if self.chance(0.1) {
            let drop: Vec<i64> = (0..self.below(5)).map(|_| self.0.integer(1, 60)).collect();
            link["drop"] = json!(drop);
        }
        if self.chance(0.1) {
            link["jitter"] = self.part(impair::JITTER_TABLE, most);
        }
        if self.chance(0.1) {
            link["reorder"] = self.part(impair::REORDER_TABLE, most);
        }
        if self.chance(0.07) {
            link["medium"] = self.part(impair::MEDIUM_TABLE, most);
        }
        if self.chance(0.07) {
            link["forwarding"] = self.part(impair::FORWARDING_TABLE, most);
        }
        if self.chance(0.07) {
            link["mtu"] = self.bytes(68.0, 10_000.0);
        }
        if self.chance(0.07) {
            let mut walk = json!({});
            self.some_of(impair::WALK_PARAMS, 0.7, most, &mut walk);
            link["walk"] = walk;
        }
        for key in ["duplicate", "corrupt"] {
            if self.chance(0.07) {
                link[key] = json!(self.number(0.0, 1.0));
            }
        }
    }

    fn vary_tcp(&mut self, tree: &mut Value) {
        let share = self.pick(&[0.0, 0.03, 0.1]);
        let mut table = tree["tcp"].take();
        self.some_of(tcp::PARAMS, share, &Most::TCP, &mut table);
        if self.chance(0.15) {
            table["smss"] = match self.below(3) {
                0 => json!("1 B"),
                _ => self.bytes(2.0, 9000.0),
            };
        }
        tree["tcp"] = table;
        if self.chance(0.5) {
            tree["cc"] = self.part(cc::TABLE, &Most::of(1.0));
        }
    }

    fn vary_flows(&mut self, tree: &mut Value, most: &Most) {
        while self.chance(0.3) {
            let paths = [
                json!(["bottleneck"]),
                json!(["second"]),
                json!(["second", "bottleneck"]),
                json!(["sender[1]", "bottleneck"]),
                json!(["bottleneck", "receiver[1]"]),
            ];
            let flows = tree["flows"].as_array_mut().expect("flows");
            let mut flow =
                json!({"name": format!("extra{}", flows.len()), "path": self.pick(&paths)});
            if self.chance(0.7) {
                flow["cc"] = self.part(cc::TABLE, &Most::of(1.0));
            }
            if self.chance(0.3) {
                let mut own = json!({});
                self.some_of(tcp::PARAMS, 0.05, &Most::TCP, &mut own);
                flow["tcp"] = own;
            }
            if self.chance(0.2) {
                flow["count"] = json!(1 + self.below(4));
            }
            match self.below(4) {
                0 => {
                    flow["transport"] = json!("udp");
                    flow["source"] = self.part(packet_source::TABLE, most);
                    let keys = flow.as_object_mut().expect("a flow");
                    keys.remove("cc");
                    keys.remove("tcp");
                }
                1 => {
                    let mut table = json!({"rate": self.number(0.1, 50.0), "size": self.distribution(Unit::Bytes, most)});
                    self.some_of(arrivals::PARAMS, 0.2, most, &mut table);
                    flow["arrivals"] = table;
                }
                _ => {}
            }
            tree["flows"].as_array_mut().expect("flows").push(flow);
        }
        for flow in tree["flows"].as_array_mut().expect("flows") {
            let is_plain = flow.get("transport").is_none() && flow.get("arrivals").is_none();
            if is_plain && self.chance(0.3) {
                flow["source"] = self.part(source::TABLE, most);
            }
            if self.chance(0.4) {
                flow["start"] = self.time(1e-6, most.longest);
            }
            if self.chance(0.1) {
                flow["delay"] = self.time(1e-9, most.longest);
            }
        }
    }

    fn put_hosts(&mut self, tree: &mut Value) {
        let mut hosts = Map::new();
        for name in ["server", "client"] {
            let mut params = json!({});
            self.some_of(host::PARAMS, 0.3, &Most::HOST, &mut params);
            hosts.insert(name.to_owned(), params);
        }
        tree["hosts"] = Value::Object(hosts);
        for flow in tree["flows"].as_array_mut().expect("flows") {
            if flow.get("transport").is_some() || flow.get("arrivals").is_some() {
                continue;
            }
            for key in ["host", "receiver_host"] {
                if self.chance(0.6) {
                    flow[key] = json!(self.pick(&["server", "client", "none"]));
                }
            }
        }
        let words = tree["record"].as_array_mut().expect("words");
        for word in ["stalls", "layers"] {
            if self.chance(0.4) {
                words.push(json!(word));
            }
        }
    }

    fn vary_recording(&mut self, tree: &mut Value, seconds: f64) {
        if tree["sample"]
            .as_str()
            .is_some_and(|sample| sample != "ack")
        {
            tree["sample"] = self.time(seconds / 50.0, seconds * 2.0);
        }
        let words = tree["record"].as_array_mut().expect("words");
        for word in [
            "episodes",
            "limited",
            "transfers",
            "waits",
            "link_flows",
            "packets",
        ] {
            if self.chance(0.2) && !words.contains(&json!(word)) {
                words.push(json!(word));
            }
        }
    }
}

/// How far values go, so that a run stays short: every event of a part that does something again and again takes its time.
struct Most {
    shortest: f64,
    longest: f64,
    rate: f64,
    least_bytes: f64,
    bytes: f64,
    count: f64,
}

impl Most {
    const TCP: Self = Self {
        shortest: 1e-3,
        longest: 3.0,
        rate: 1e8,
        least_bytes: 1.0,
        bytes: 3e4,
        count: 300.0,
    };
    const HOST: Self = Self {
        shortest: 1e-6,
        longest: 1e-2,
        rate: 1e8,
        least_bytes: 100.0,
        bytes: 1e6,
        count: 1e5,
    };

    /// Of a run of so many seconds.
    fn of(seconds: f64) -> Self {
        Self {
            shortest: seconds / 1000.0,
            longest: seconds / 4.0,
            rate: 1e6,
            least_bytes: 64.0,
            bytes: 1e5,
            count: 300.0,
        }
    }
}
