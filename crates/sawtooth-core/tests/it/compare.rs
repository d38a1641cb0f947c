//! A golden file: what a test has written, as it was when somebody last looked at it.

#![expect(
    clippy::disallowed_methods,
    reason = "the test reads files, not the simulator"
)]

use std::fs;
use std::path::{Path, PathBuf};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name)
}

/// What the file of this name says; nothing if it is not there.
pub fn before(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap_or_default()
}

/// Holds `now` against the file of this name, or with `UPDATE_GOLDEN` writes it.
pub fn compare(name: &str, now: &str) {
    let path = path(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, now).expect("the file can be written");
    }
    let before = before(name);
    for (line, (now, before)) in now.lines().zip(before.lines()).enumerate() {
        assert_eq!(now, before, "line {} of {}", line + 1, path.display());
    }
    assert_eq!(
        now.lines().count(),
        before.lines().count(),
        "lines of {}",
        path.display()
    );
}
