//! Bulk transfer: everything is there to be sent from the start; endless, or of a fixed size.

use super::{New, Source};
use crate::registry::{Entry, Kind, Param, Value};

pub const ENTRY: Entry<New> = Entry {
    name: "bulk",
    summary: "a transfer that always has data to send, endless or of a fixed size",
    specification: &[],
    params: &[Param {
        name: "size",
        summary: "bytes to transfer; `none` for an endless transfer",
        kind: Kind::Bytes,
        default: Value::None,
    }],
    new: |params| {
        Box::new(Bulk {
            size_bytes: match params.get("size") {
                Value::Bytes(bytes) => Some(bytes),
                _ => None,
            },
        })
    },
};

#[derive(Debug)]
struct Bulk {
    size_bytes: Option<u64>,
}

impl Source for Bulk {
    fn size_bytes(&self) -> Option<u64> {
        self.size_bytes
    }
}
