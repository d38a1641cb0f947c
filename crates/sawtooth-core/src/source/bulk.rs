//! Bulk transfer: everything is there to be sent from the start; endless, or of a fixed size.
//!
//! Kernel twin: an application that writes as fast as the socket takes it, and closes after the last byte.

use super::{New, Source, Write, bytes_or_none};
use crate::registry::{Entry, Kind, Value, param};

pub(super) const ENTRY: Entry<New> = Entry {
    name: "bulk",
    summary: "a transfer that always has data to send, endless or of a fixed size",
    specification: &[],
    params: &[param!(size: Kind::Bytes => Value::None,
        "bytes to transfer; `none` for an endless transfer")],
    new: |params, _| of(bytes_or_none(params, "size")),
};

/// A transfer of a size, or without end.
pub(super) fn of(size_bytes: Option<u64>) -> Box<dyn Source> {
    Box::new(Bulk {
        size_bytes,
        written: false,
    })
}

#[derive(Debug)]
struct Bulk {
    size_bytes: Option<u64>,
    written: bool,
}

impl Source for Bulk {
    fn next_write(&mut self) -> Option<Write> {
        let first = !std::mem::replace(&mut self.written, true);
        first.then(|| Write {
            at_secs: 0.0,
            bytes: self.size_bytes.unwrap_or(Write::ENDLESS),
        })
    }

    fn total_bytes(&self) -> Option<u64> {
        self.size_bytes
    }
}
