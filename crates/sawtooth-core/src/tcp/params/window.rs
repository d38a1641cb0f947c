//! Windows as a study writes them, in segments or bytes.

use crate::registry::{FromValue, Value};
use crate::units::{ByteCount, SegCount, WindowSize};

/// A window that is never reached, and that sequence numbers can be added to.
pub const UNLIMITED: WindowSize = WindowSize::from_segments(1e15);

/// A window as a study writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowSetting {
    /// So many full segments.
    Segments(SegCount),
    /// So many bytes of payload.
    Bytes(ByteCount),
}

impl FromValue for WindowSetting {
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Packets(packets) => Some(Self::Segments(SegCount::new(packets))),
            Value::Bytes(bytes) => Some(Self::Bytes(ByteCount::new(bytes))),
            _ => None,
        }
    }
}

impl WindowSetting {
    pub(super) fn of_segments(self, smss: ByteCount) -> WindowSize {
        match self {
            Self::Segments(segments) => WindowSize::from(segments),
            Self::Bytes(bytes) => WindowSize::from_segments(bytes.as_f64() / smss.as_f64()),
        }
    }
}
