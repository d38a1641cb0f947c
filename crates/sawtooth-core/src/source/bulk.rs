//! Bulk transfer: everything is there to be sent from the start; endless, or of a fixed size.
//!
//! Kernel twin: an application that writes as fast as the socket takes it, and closes after the last byte.

use super::{NewSource, Source, Write, bytes_or_none};
use crate::registry::{Entry, Kind, Value, param};
use crate::units::{ByteCount, Duration};

pub(super) const ENTRY: Entry<NewSource> = Entry {
    name: "bulk",
    summary: "a transfer that always has data to send, endless or of a fixed size",
    specification: &[],
    params: &[param!(size: Kind::Bytes => Value::None,
        "bytes to transfer; `none` for an endless transfer")],
    new: |params, _| of(bytes_or_none(params, "size")),
};

/// A transfer of a size, or without end.
pub(super) fn of(size: Option<ByteCount>) -> Box<dyn Source> {
    Box::new(Bulk {
        size,
        written: false,
    })
}

#[derive(Debug)]
struct Bulk {
    size: Option<ByteCount>,
    written: bool,
}

impl Source for Bulk {
    fn next_write(&mut self) -> Option<Write> {
        let first = !std::mem::replace(&mut self.written, true);
        first.then(|| Write {
            after: Duration::ZERO,
            bytes: self.size.unwrap_or(Write::ENDLESS),
        })
    }

    fn total_bytes(&self) -> Option<ByteCount> {
        self.size
    }
}
