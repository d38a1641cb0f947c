//! Which feedback of congestion marks a connection has agreed on, and what AccECN's counters say.
//!
//! **Model.** The bits AE, CWR and ECE of the SYN ask, those of its answer agree (RFC 3168 §6.1.1, RFC 9768 §3.1.1 and table 2). With AccECN the three bits are a counter of marked packets from then on,
//! which begins with 5 (§3.2.2); the client's first packet after the handshake says instead how the answer came (§3.2.2.1, table 3). Where the handshake was not seen, the bit AE or the option
//! tells AccECN: nothing else has them.

use crate::segment::{Flags, Segment};

/// What the counter begins with.
const FIRST_COUNT: u8 = 5;
/// The counter of bytes has 24 bits (RFC 9768 §3.2.3).
const BYTES: u32 = 1 << 24;

/// What a connection has agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AgreedFeedback {
    #[default]
    Unknown,
    Off,
    Classic,
    Accurate,
}

impl AgreedFeedback {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Unknown => "",
            Self::Off => "none",
            Self::Classic => "classic",
            Self::Accurate => "accurate",
        }
    }
}

/// What the three bits of a segment say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkSignal {
    /// Nothing: they are of the handshake.
    Handshake,
    /// ECE and CWR are bits of their own.
    Bits,
    /// They count marked packets, modulo 8.
    Counter(u8),
}

/// What the segments of a connection make known of that.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FeedbackAgreement {
    /// What the SYN asked for, and which end sent it.
    asked: Option<(AgreedFeedback, usize)>,
    pub agreed: AgreedFeedback,
    /// The client's first packet behind its SYN was seen.
    has_followed: bool,
    /// Where its data begin, if it carried some: sent again they say the same.
    first_data: Option<u32>,
}

impl FeedbackAgreement {
    /// A segment of an end: what its bits say.
    pub(super) fn on_segment(&mut self, from: usize, segment: &Segment) -> MarkSignal {
        let bits = ace(segment.flags);
        if segment.flags.has(Flags::SYN) {
            if segment.flags.has(Flags::ACK) {
                self.agreed = self.answered(bits);
            } else {
                let asked = match bits {
                    0b111 => AgreedFeedback::Accurate,
                    0b011 => AgreedFeedback::Classic,
                    _ => AgreedFeedback::Off,
                };
                self.asked = Some((asked, from));
            }
            return MarkSignal::Handshake;
        }
        let is_telling = segment.flags.has(Flags::AE) || segment.options.accurate_ecn.is_some();
        if self.agreed == AgreedFeedback::Unknown && is_telling {
            self.agreed = AgreedFeedback::Accurate;
        }
        if self.agreed != AgreedFeedback::Accurate {
            return MarkSignal::Bits;
        }
        if self.asked.is_some_and(|(_, client)| client == from) {
            let data = (segment.payload > 0).then_some(segment.seq);
            let is_first = !std::mem::replace(&mut self.has_followed, true);
            if is_first {
                self.first_data = data;
            }
            if is_first || (data.is_some() && data == self.first_data) {
                return MarkSignal::Handshake;
            }
        }
        MarkSignal::Counter(bits)
    }

    /// By table 2 of RFC 9768: what an answer agrees to.
    fn answered(self, bits: u8) -> AgreedFeedback {
        match (self.asked.map(|(asked, _)| asked), bits) {
            (Some(AgreedFeedback::Accurate) | None, 0b010 | 0b011 | 0b100 | 0b110) => {
                AgreedFeedback::Accurate
            }
            (Some(AgreedFeedback::Accurate | AgreedFeedback::Classic) | None, 0b001 | 0b101) => {
                AgreedFeedback::Classic
            }
            _ => AgreedFeedback::Off,
        }
    }
}

/// AE, CWR and ECE as one number.
fn ace(flags: Flags) -> u8 {
    u8::from(flags.has(Flags::AE)) << 2
        | u8::from(flags.has(Flags::CWR)) << 1
        | u8::from(flags.has(Flags::ECE))
}

/// What an end has reported of marks by AccECN.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReportedMarks {
    last: Option<u8>,
    last_bytes: Option<u32>,
    /// Packets, each step modulo 8.
    pub packets: u64,
    /// Bytes, by the option; nothing without one.
    pub bytes: Option<u64>,
}

impl ReportedMarks {
    /// An acknowledgement says so much; whether that is more than before. `is_whole`: all since the handshake was seen, of which both counters' beginnings are known.
    pub(super) fn take(&mut self, segment: &Segment, counter: u8, is_whole: bool) -> bool {
        let before = self
            .last
            .unwrap_or(if is_whole { FIRST_COUNT } else { counter });
        let news = counter.wrapping_sub(before) & 7;
        self.packets += u64::from(news);
        self.last = Some(counter);
        // The counter of bytes that came marked is the second in either order.
        let told = segment.options.accurate_ecn.as_ref();
        if let Some(bytes) = told.and_then(|option| option.counters[1]) {
            let before = self.last_bytes.unwrap_or(if is_whole { 0 } else { bytes });
            let news = bytes.wrapping_sub(before) & (BYTES - 1);
            *self.bytes.get_or_insert(0) += u64::from(news);
            self.last_bytes = Some(bytes);
        }
        news > 0
    }
}
