//! Who may import whom: the layers of the crate's front page, held against every path that a source names.

#![expect(
    clippy::disallowed_methods,
    reason = "the test reads files, not the simulator"
)]

mod paths;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Top may use below, same line never each other.
const LAYERS: &[&[&str]] = &[
    &["internals", "run"],
    &["sim", "scenario"],
    &["record"],
    &["net", "feed", "demand", "endpoint"],
    &["spec", "tables"],
    &["udp", "fluid"],
    &["tcp", "host", "exchanges", "kernel"],
    &["cc", "queue", "source", "packet_source", "arrivals"],
    &["loss", "impair"],
    &["packet", "dist", "limits", "noise"],
    &["fft", "events", "registry"],
    &["rng", "expr", "ring", "histogram"],
    &["digits", "units"],
];
/// A packet carries SACK blocks, and an expression makes values: two types that live higher than they are used.
const EXCEPTIONS: &[(&str, &str)] = &[("packet", "tcp"), ("expr", "registry")];

#[test]
fn no_module_uses_one_above_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let front = fs::read_to_string(root.join("lib.rs")).expect("the front page");
    let mut used = Vec::new();
    for path in sources(&root) {
        let relative = path.strip_prefix(&root).expect("below src");
        let source = fs::read_to_string(&path).expect("a source");
        used.extend(uses(relative, &source, &reexported(&front)));
    }
    let faults: Vec<String> = used.iter().filter_map(Use::fault).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    for (above, below) in EXCEPTIONS {
        assert!(
            used.iter().any(|one| one.by == *above && one.of == *below),
            "{above} does not use {below} any more: remove the exception"
        );
    }
}

#[test]
fn every_module_has_one_layer() {
    let front = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs"))
        .expect("the front page");
    let mut declared: Vec<&str> = front
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod ").or(line.strip_prefix("mod ")))
        .map(|rest| rest.trim_end_matches(';'))
        .collect();
    declared.sort_unstable();
    let mut layered: Vec<&str> = LAYERS.concat();
    layered.sort_unstable();
    assert_eq!(declared, layered);
}

/// One module at the top of the crate names another.
struct Use {
    place: String,
    by: String,
    of: String,
}

impl Use {
    fn fault(&self) -> Option<String> {
        let allowed = self.by == self.of
            || EXCEPTIONS.contains(&(&self.by, &self.of))
            || matches!((layer(&self.by), layer(&self.of)), (Some(by), Some(of)) if by < of);
        (!allowed).then(|| format!("{}: {} uses {}", self.place, self.by, self.of))
    }
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

/// What a source below `src` names of the crate; names that the front page exports again stand for the module they come from.
fn uses(relative: &Path, source: &str, reexported: &BTreeMap<String, String>) -> Vec<Use> {
    let module = module_of(relative);
    let Some(by) = module.first().filter(|by| *by != "internals") else {
        // The front page names all, and what it shows to the workspace alone does.
        return Vec::new();
    };
    paths::named(source, &module)
        .into_iter()
        .map(|(line, path)| {
            let first = path.first().map_or("*", String::as_str);
            Use {
                place: format!("{}:{line}", relative.display()),
                by: by.clone(),
                of: reexported
                    .get(first)
                    .map_or(first, String::as_str)
                    .to_owned(),
            }
        })
        .collect()
}

/// `cc/reno.rs` is `cc::reno`, `cc/mod.rs` is `cc`, `lib.rs` the root.
fn module_of(relative: &Path) -> Vec<String> {
    let mut parts: Vec<String> = relative
        .with_extension("")
        .components()
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    if parts
        .last()
        .is_some_and(|last| last == "mod" || last == "lib")
    {
        parts.pop();
    }
    parts
}

/// `pub use sim::{simulate, simulate_with_effort};` of the front page: the module of each name.
fn reexported(front: &str) -> BTreeMap<String, String> {
    // The root's own modules are named without `crate`.
    let rooted = front.replace("pub use ", "pub use crate::");
    paths::named(&rooted, &[])
        .into_iter()
        .filter_map(|(_, path)| Some((path.last()?.clone(), path.first()?.clone())))
        .collect()
}

fn sources(directory: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else {
            found.insert(path);
        }
    }
    found
}

/// The faults of a source that is planted at `place`.
fn planted(place: &str, source: &str) -> Vec<String> {
    let front = "pub use spec::Scenario;\npub use sim::{simulate, simulate_with_effort};";
    uses(Path::new(place), source, &reexported(front))
        .iter()
        .filter_map(Use::fault)
        .collect()
}

#[test]
fn a_planted_fault_is_seen_wherever_it_hides() {
    let clean = "use crate::{units::Rate, rng};\nuse super::Ack; // use crate::sim;";
    assert!(planted("cc/bbr.rs", clean).is_empty());
    for (place, source, fault) in [
        ("cc/bbr.rs", "use crate::sim;", "cc/bbr.rs:1: cc uses sim"),
        (
            "cc/bbr.rs",
            "use crate::{\n    units::Rate,\n    tcp::{Config, sender},\n};",
            "cc/bbr.rs:3: cc uses tcp",
        ),
        (
            "cc/bbr.rs",
            "fn f() -> u8 {\n    crate::net::f()\n}",
            "cc/bbr.rs:2: cc uses net",
        ),
        (
            "cc/bbr.rs",
            "pub use super::super::scenario::read;",
            "cc/bbr.rs:1: cc uses scenario",
        ),
        ("cc.rs", "use super::tcp;", "cc.rs:1: cc uses tcp"),
        (
            "cc/bbr.rs",
            "use crate::simulate;",
            "cc/bbr.rs:1: cc uses sim",
        ),
        (
            "net/port.rs",
            "use crate::scenario::read;",
            "net/port.rs:1: net uses scenario",
        ),
        (
            "sim/flow.rs",
            "use crate::scenario::read;",
            "sim/flow.rs:1: sim uses scenario",
        ),
        ("cc/bbr.rs", "use crate::*;", "cc/bbr.rs:1: cc uses *"),
        (
            "cc/bbr.rs",
            "use crate::queue::Queue;",
            "cc/bbr.rs:1: cc uses queue",
        ),
        (
            "cc/bbr.rs",
            "#[cfg(test)]\nmod tests {\n    use super::super::super::sim;\n}",
            "cc/bbr.rs:3: cc uses sim",
        ),
        ("new.rs", "use crate::units;", "new.rs:1: new uses units"),
    ] {
        let faults = planted(place, source);
        assert!(faults.contains(&fault.to_owned()), "{source}: {faults:?}");
    }
}
