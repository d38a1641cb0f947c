//! Who may import whom: the layers of the crate's front page, read from every `use crate::`.

#![expect(
    clippy::disallowed_methods,
    reason = "the test reads files, not the simulator"
)]

use std::fs;
use std::path::{Path, PathBuf};

/// Top may use below, same line never each other.
const LAYERS: &[&[&str]] = &[
    &["sim"],
    &["link", "feed"],
    &["scenario"],
    &["udp"],
    &["tcp", "host", "exchanges", "kernel"],
    &["cc", "queue", "source", "packet_source", "arrivals"],
    &["loss", "wire"],
    &["packet", "dist", "noise"],
    &["fft", "events", "record", "registry"],
    &["rng", "expr", "ring", "histogram"],
    &["units"],
];
// A packet carries SACK blocks, and an expression makes values: two types that live higher than they are used.
const EXCEPTIONS: &[(&str, &str)] = &[("packet", "tcp"), ("expr", "registry")];

fn layer(module: &str) -> usize {
    LAYERS
        .iter()
        .position(|layer| layer.contains(&module))
        .unwrap_or_else(|| panic!("{module} has no layer"))
}

fn sources(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else {
            found.push(path);
        }
    }
    found
}

#[test]
fn no_module_uses_one_above_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for path in sources(&root) {
        let relative = path.strip_prefix(&root).expect("below src");
        let first = relative
            .components()
            .next()
            .expect("a part")
            .as_os_str()
            .to_string_lossy()
            .into_owned();
        let module = first.trim_end_matches(".rs").to_owned();
        if module == "lib" {
            continue;
        }
        for line in fs::read_to_string(&path).expect("a source").lines() {
            let Some(rest) = line.trim().strip_prefix("use crate::") else {
                continue;
            };
            for used in used_modules(rest) {
                let allowed = used == module
                    || layer(&module) < layer(&used)
                    || EXCEPTIONS.contains(&(module.as_str(), used.as_str()));
                assert!(allowed, "{} uses {used}", relative.display());
            }
        }
    }
}

fn used_modules(rest: &str) -> Vec<String> {
    let names = rest
        .strip_prefix('{')
        .map_or(rest, |group| group.split('}').next().unwrap_or(group));
    let top = |name: &str| {
        name.trim()
            .split("::")
            .next()
            .unwrap_or("")
            .trim_end_matches(';')
            .to_owned()
    };
    if rest.starts_with('{') {
        names.split(',').map(top).collect()
    } else {
        vec![top(names)]
    }
}
