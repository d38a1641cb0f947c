//! Flows whose packets are all alike.

use super::index::index_u32;
use crate::spec::FlowSpec;
use crate::tcp::params::{Feedback, key};
use crate::units::ByteCount;

/// The sizes of a flow's packets on the wire, where all segments but the SYN are alike and each is acknowledged as it comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steady {
    pub(super) data: ByteCount,
    /// Without SACK blocks.
    pub(super) shortest_ack: ByteCount,
    /// With as many as there may be, a duplicate one included (RFC 2883).
    pub(super) longest_ack: ByteCount,
}

impl Steady {
    /// That of an endless transfer whose receiver delays nothing.
    pub(super) fn of(spec: &FlowSpec) -> Option<Self> {
        let tcp = &spec.tcp;
        let delays = key::ack_every.of(tcp) > 1
            || key::ack_window_share.of(tcp).is_some()
            || key::ecn.of(tcp) != Feedback::Off
            || key::receive_buffer_default.of(tcp).is_some()
            || key::sack_compression_delay.of(tcp) > 0.0;
        if delays || key::handshake_ack.of(tcp) || !spec.is_ack_clocked() {
            return None;
        }
        let shortest_ack = key::ack_size.of(tcp);
        let blocks = ByteCount::from(8 * (1 + index_u32(key::max_sack_blocks.of(tcp))));
        let is_endless = spec.source(0).total_bytes().is_none();
        is_endless.then(|| Self {
            data: key::header.of(tcp) + key::smss.of(tcp),
            shortest_ack,
            longest_ack: shortest_ack + key::sack_option_header.of(tcp) + blocks,
        })
    }
}
