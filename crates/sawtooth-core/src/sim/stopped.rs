//! Why a run was ended before its time: which limit it exceeded, or that it was not wanted any more.

/// Why a run was ended before its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped(pub(super) String);

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Stopped {}
