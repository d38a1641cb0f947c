//! Random valid scenarios, and what must hold of every one: nothing panics, packets are conserved, links are no faster than they are, numbers are
//! numbers, a run repeats itself, and no shortcut changes it.
//!
//! With `SAWTOOTH_FUZZ_SECONDS` for so long, from `SAWTOOTH_FUZZ_SEED` on, saving what fails, made as small as it goes, below `SAWTOOTH_FUZZ_OUT`; counts
//! are printed as one line of JSON. `SAWTOOTH_FUZZ_REPLAY` is a saved scenario that is tried once more. `python -m tests.fuzz --kind scenario` does all that.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the tests keep time and files, not the simulator"
)]

mod invariants;
mod minimal;
#[expect(dead_code, reason = "other tests use the rest")]
#[path = "../it/random.rs"]
mod random;
mod wild;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};
use std::time::Instant;

use sawtooth_core::internals::{
    arrivals, cc, demand, dist, host, impair, loss, packet_source, queue, source, tcp,
};
use sawtooth_core::registry::{Entry, Param};
use sawtooth_core::spec::Shortcuts;
use sawtooth_core::{Scenario, scenario, simulate_within_limits};
use serde_json::{Value, json};

use wild::{Made, Maker};

/// Cases of an ordinary run of the tests.
const FEW: u64 = 300;

/// Attempts at making a scenario smaller.
const TRIES: usize = 3000;

/// A rule, or the place of a panic; and what broke it.
type Broken = (String, String);

/// Tries one scenario with a seed; `number` decides what it is compared with.
///
/// Whether it came to its end: what takes more than its limits is ended before.
fn attempt(scenario: &Scenario, seed: u64, number: u64) -> Result<bool, Broken> {
    listen_to_panics();
    let outcome = catch_unwind(AssertUnwindSafe(|| examine(scenario, seed, number)));
    outcome.unwrap_or_else(|_| {
        Err(LAST_PANIC
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone())
    })
}

fn examine(scenario: &Scenario, seed: u64, number: u64) -> Result<bool, Broken> {
    let Ok((records, effort)) = simulate_within_limits(scenario, seed) else {
        return Ok(false);
    };
    invariants::check(scenario, &records, &effort)
        .map_err(|(rule, what)| (rule.to_owned(), what))?;
    let all = Shortcuts::all(true);
    let (rule, shortcuts) = match number % 6 {
        0 => ("a run repeats itself", all),
        1 => (
            "records do not depend on `ring`",
            Shortcuts { ring: false, ..all },
        ),
        2 => (
            "records do not depend on `no_tx_event`",
            Shortcuts {
                no_tx_event: false,
                ..all
            },
        ),
        3 => (
            "records do not depend on `computed_hops`",
            Shortcuts {
                computed_hops: false,
                ..all
            },
        ),
        4 => (
            "records do not depend on `plain_way`",
            Shortcuts {
                plain_way: false,
                ..all
            },
        ),
        _ => (
            "records do not depend on the shortcuts",
            Shortcuts::all(false),
        ),
    };
    let mut other = scenario.clone();
    other.shortcuts = shortcuts;
    let Ok((others, _)) = simulate_within_limits(&other, seed) else {
        return Ok(false);
    };
    for (table, other) in records.tables.iter().zip(&others.tables) {
        for ((name, data), (_, other)) in table.named_columns().zip(other.named_columns()) {
            if data != other {
                return Err((
                    rule.to_owned(),
                    format!("{}.{name}: {data:?} and {other:?}", table.name()),
                ));
            }
        }
    }
    if records == others {
        Ok(true)
    } else {
        Err((rule.to_owned(), "the tables differ".to_owned()))
    }
}

static LAST_PANIC: Mutex<Broken> = Mutex::new((String::new(), String::new()));

/// Panics are taken down here, where scenarios are tried, and printed by whoever else has one.
fn listen_to_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let place = info.location().map_or(String::new(), ToString::to_string);
            if place.contains("sawtooth-core/src")
                || place.starts_with("src/")
                || !place.contains("tests/")
            {
                *LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner) =
                    (format!("panic at {place}"), info.to_string());
            } else {
                before(info);
            }
        }));
    });
}

/// A scenario that fails, as JSON: with its seed and what it was compared with.
fn saved(tree: &Value, seed: u64, number: u64) -> Value {
    json!({"seed": seed, "number": number, "scenario": tree})
}

/// What fails, made small.
fn smallest(made: &Made, seed: u64, number: u64, rule: &str) -> Value {
    minimal::minimal(&made.tree, TRIES, |tree| {
        let scenario = scenario::from_tree(tree)
            .ok()
            .filter(|scenario| demand::segments(scenario) < 50_000.0);
        scenario.is_some_and(|scenario| {
            attempt(&scenario, seed, number).is_err_and(|(broken, _)| broken == rule)
        })
    })
}

/// What has been tried.
#[derive(Default)]
struct Tally {
    inputs: u64,
    reached: u64,
    at_once: u64,
    /// The longest that one has taken, and which.
    slowest: (f64, Value),
    /// What happened, and the scenario that shows it.
    failures: Vec<(String, Value)>,
}

/// Where the runner sees what is being tried: inputs begun, inputs that were run, the length of the present one, and that.
struct Current(Option<File>);

impl Current {
    const HEAD: u64 = 24;
    const LENGTH: u64 = 1 << 24;

    fn below(out: Option<&Path>) -> Self {
        let file = out.map(|out| {
            let options = File::options()
                .read(true)
                .write(true)
                .create(true)
                .truncate(true)
                .open(out.join("current"));
            let file = options.expect("a file that can be written");
            file.set_len(Self::LENGTH).expect("room for it");
            file
        });
        Self(file)
    }

    fn tell(&self, tally: &Tally, text: &str) {
        if let Some(file) = &self.0 {
            let mut head = Vec::new();
            for number in [tally.inputs, tally.reached, text.len() as u64] {
                head.extend(number.to_le_bytes());
            }
            file.write_all_at(text.as_bytes(), Self::HEAD)
                .expect("it can be written");
            file.write_all_at(&head, 0).expect("it can be written");
        }
    }
}

/// Tries scenarios until `enough`.
fn campaign(seed: u64, out: Option<&Path>, enough: impl Fn(&Tally) -> bool) -> Tally {
    let maker = Maker::new();
    let current = Current::below(out);
    let mut tally = Tally::default();
    let mut known = BTreeSet::new();
    while !enough(&tally) {
        let number = tally.inputs;
        let made = maker.make(seed, number);
        tally.inputs += 1;
        tally.at_once += u64::from(made.at_once);
        let Some(scenario) = &made.scenario else {
            continue;
        };
        if out.is_some() {
            current.tell(&tally, &saved(&made.tree, seed, number).to_string());
        }
        let began = Instant::now();
        let outcome = attempt(scenario, seed, number);
        let took = began.elapsed().as_secs_f64();
        if took > tally.slowest.0 {
            tally.slowest = (took, saved(&made.tree, seed, number));
        }
        tally.reached += u64::from(outcome == Ok(true));
        current.tell(&tally, "");
        if let Err((rule, what)) = outcome
            && known.insert(rule.clone())
        {
            let small = smallest(&made, seed, number, &rule);
            let what: String = what.chars().take(2000).collect();
            let failure = (format!("{rule}: {what}"), saved(&small, seed, number));
            if let Some(out) = out {
                keep(&path_of(out, tally.failures.len()), &failure);
            }
            tally.failures.push(failure);
        }
    }
    tally
}

fn path_of(out: &Path, number: usize) -> PathBuf {
    out.join(format!("failure-{number}.json"))
}

/// At once: the program may be ended before its time is over.
fn keep(path: &Path, (what, tree): &(String, Value)) {
    std::fs::write(path, format!("{tree:#}\n")).expect("it can be written");
    let mut told = path.as_os_str().to_owned();
    told.push(".what");
    std::fs::write(told, what).expect("it can be written");
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

#[test]
fn valid_scenarios_break_no_rule() {
    let seed = variable("SAWTOOTH_FUZZ_SEED").map_or(1, |seed| seed.parse().expect("a number"));
    let seconds =
        variable("SAWTOOTH_FUZZ_SECONDS").map(|seconds| seconds.parse::<f64>().expect("seconds"));
    let out = variable("SAWTOOTH_FUZZ_OUT").map(PathBuf::from);
    let began = Instant::now();
    let tally = campaign(seed, out.as_deref(), |tally| match seconds {
        Some(seconds) => began.elapsed().as_secs_f64() >= seconds,
        None => tally.inputs >= FEW,
    });
    let mut failures = Vec::new();
    for (number, (what, tree)) in tally.failures.iter().enumerate() {
        let mut failure = json!({"what": what, "scenario": tree});
        if let Some(out) = &out {
            failure["saved"] = json!(path_of(out, number));
        }
        failures.push(failure);
    }
    if let Some(out) = &out {
        let slowest = format!("{:#}\n", tally.slowest.1);
        std::fs::write(out.join("slowest.json"), slowest).expect("it can be written");
    }
    let counts = json!({
        "inputs": tally.inputs, "reached": tally.reached, "valid_at_once": tally.at_once, "seconds": began.elapsed().as_secs_f64(),
        "slowest_seconds": tally.slowest.0, "failures": failures,
    });
    println!("\nfuzz: {counts}");
    assert!(seconds.is_some() || failures.is_empty(), "{failures:#?}");
    // Mutated texts got there in 4 of 100 cases.
    assert!(
        tally.reached * 10 >= tally.inputs * 9,
        "{} of {} could be run",
        tally.reached,
        tally.inputs
    );
}

fn replay(path: &Path) {
    let text = std::fs::read_to_string(path).expect("a file that can be read");
    let json: Value = serde_json::from_str(&text).expect("JSON");
    let number = |key: &str| json[key].as_u64().unwrap_or(0);
    let Ok(scenario) = scenario::from_tree(&json["scenario"]) else {
        // What was a valid scenario when it was found may be refused by now.
        return;
    };
    for which in 0..5 {
        if let Err((rule, what)) =
            attempt(&scenario, number("seed"), number("number") / 5 * 5 + which)
        {
            panic!("{}: {rule}: {what}", path.display());
        }
    }
}

#[test]
fn scenarios_that_were_found_break_no_rule_any_more() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/corpus/scenario");
    let files = std::fs::read_dir(&corpus).into_iter().flatten();
    let mut paths: Vec<PathBuf> = files.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    paths.sort();
    for path in paths {
        replay(&path);
    }
}

#[test]
fn the_saved_scenario_breaks_no_rule() {
    if let Some(path) = variable("SAWTOOTH_FUZZ_REPLAY") {
        replay(Path::new(&path));
    }
}

#[test]
fn every_row_and_every_parameter_is_drawn() {
    let maker = Maker::new();
    let mut drawn: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for number in 0..6000 {
        let made = maker.make(7, number);
        if made.scenario.is_some() {
            note(&made.tree, "", &mut drawn);
        }
    }
    let mut missing = Vec::new();
    let mut keys = |name: &str, params: &[Param]| {
        for param in params {
            if !drawn
                .get(name)
                .is_some_and(|keys| keys.contains(param.name))
            {
                missing.push(format!("{name}.{}", param.name));
            }
        }
    };
    keys("tcp", tcp::PARAMS);
    keys("arrivals", arrivals::PARAMS);
    keys("walk", impair::WALK_PARAMS);
    keys("server", host::PARAMS);
    let tables = [
        rows(cc::TABLE),
        rows(queue::TABLE),
        rows(source::TABLE),
        rows(packet_source::TABLE),
        rows(dist::TABLE),
        rows(loss::TABLE),
        rows(impair::JITTER_TABLE),
        rows(impair::REORDER_TABLE),
        rows(impair::MEDIUM_TABLE),
        rows(impair::FORWARDING_TABLE),
    ];
    for (name, params) in tables.concat() {
        if !drawn.contains_key(name) {
            missing.push(name.to_owned());
        }
        for param in params {
            if !drawn
                .get(name)
                .is_some_and(|keys| keys.contains(param.name))
            {
                missing.push(format!("{name}.{}", param.name));
            }
        }
    }
    assert!(
        missing.is_empty(),
        "never drawn in a scenario that can be run: {missing:?}"
    );
}

fn rows<C>(table: &'static [Entry<C>]) -> Vec<(&'static str, &'static [Param])> {
    let row = |entry: &Entry<C>| (entry.name, entry.params);
    table.iter().map(row).collect()
}

/// The keys of every table, by its name or else by where it is.
fn note(tree: &Value, place: &str, into: &mut BTreeMap<String, BTreeSet<String>>) {
    match tree {
        Value::Object(keys) => {
            let name = keys.get("name").and_then(Value::as_str).unwrap_or(place);
            into.entry(name.to_owned())
                .or_default()
                .extend(keys.keys().cloned());
            for (key, value) in keys {
                note(value, key, into);
            }
        }
        Value::Array(items) => {
            for item in items {
                note(item, place, into);
            }
        }
        Value::String(text) => {
            into.entry(text.clone()).or_default();
        }
        _ => {}
    }
}
