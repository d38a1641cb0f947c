//! What headers say of a flow that the simulator does not have: addresses, ports, and the options of its stack.
//!
//! Each flow is between two hosts of its own: 10.0.0.1 and 10.128.0.1 for the first, 10.0.0.2 and 10.128.0.2 for the second, and so on: flows, entries of flows that arrive, and flows of UDP. Who opens a connection has
//! a port of RFC 6056's range, a number of its own; the other side listens on 5001.

use std::net::{Ipv4Addr, SocketAddr};

use sawtooth_core::Scenario;
use sawtooth_core::internals::spec::source;
use sawtooth_core::internals::tcp::Config;
use sawtooth_core::internals::tcp::params::{Feedback, UNLIMITED};
use sawtooth_core::internals::tcp::timestamps::{Stamp, TimestampClock};
use sawtooth_core::spec::FlowSpec;
use sawtooth_core::units::{ByteCount, Instant, SegCount};

/// Ports of those who open connections.
const FIRST_PORT: u32 = 32_768;
const PORTS: u32 = 28_232;
/// The port on which the other side listens.
const SERVICE: u16 = 5001;
/// No window is larger (RFC 7323 §2.3).
const MOST_SHIFT: u8 = 14;

/// A flow as headers show it.
#[derive(Debug)]
pub(super) struct FlowFace {
    pub(super) name: String,
    /// What it is, in some words.
    pub(super) description: String,
    number: u32,
    /// Whether the end of its path opens connections, as clients of requests do.
    opened_by_end: bool,
    pub(super) tcp: Option<TcpFace>,
}

/// The TCP of a flow as headers show it.
#[derive(Debug)]
pub(super) struct TcpFace {
    pub(super) maximum_segment_size: u16,
    pub(super) window_scale: Option<u8>,
    /// Bytes that a receiver without a window of its own has room for.
    constant_window: u64,
    pub(super) has_sack: bool,
    /// The clock of timestamps.
    clock: Option<TimestampClock>,
    pub(super) feedback: Feedback,
    /// Whether the handshake has a third packet of its own.
    pub(super) ends_handshake_alone: bool,
}

/// Of all flows in the order of their numbers.
pub(super) fn faces(scenario: &Scenario) -> Vec<FlowFace> {
    let arriving = scenario.arriving.iter().map(|entry| &entry.flow);
    let tcp = scenario.flows.iter().chain(arriving).map(|flow| FlowFace {
        name: flow.name.clone(),
        description: format!("flow {}, {}", flow.name, flow.cc.name),
        number: 0,
        opened_by_end: source(flow, 0).answers(),
        tcp: Some(TcpFace::of(flow)),
    });
    let udp = scenario.udp.iter().map(|flow| FlowFace {
        name: flow.name.clone(),
        description: format!("flow {}, UDP", flow.name),
        number: 0,
        opened_by_end: false,
        tcp: None,
    });
    let numbered = (0..).zip(tcp.chain(udp));
    numbered
        .map(|(number, face)| FlowFace { number, ..face })
        .collect()
}

impl FlowFace {
    /// Source and destination of a packet of a connection, which goes from the beginning of the path to its end or returns.
    pub(super) fn ends(&self, connection: u32, returns: bool) -> [SocketAddr; 2] {
        let opener = u16::try_from(FIRST_PORT + connection % PORTS).expect("below 61000");
        let service = if self.tcp.is_some() {
            // Connections of one entry have one pair of hosts, and there may be more of them than ports.
            let round = connection / PORTS % u32::from(u16::MAX);
            SERVICE.wrapping_add(u16::try_from(round).expect("below 65535"))
        } else {
            SERVICE
        };
        let ports = if self.opened_by_end {
            [service, opener]
        } else {
            [opener, service]
        };
        let host = |end: u32| Ipv4Addr::from(10 << 24 | end << 23 | (self.number + 1) & 0x7f_ffff);
        let mut ends =
            [(0, ports[0]), (1, ports[1])].map(|(end, port)| SocketAddr::from((host(end), port)));
        if returns {
            ends.reverse();
        }
        ends
    }
}

impl TcpFace {
    fn of(flow: &FlowSpec) -> Self {
        let config = Config::from(&flow.tcp);
        let smss = config.smss;
        let option = if config.timestamps.is_some() { 12 } else { 0 };
        let limit = (config.window_limit < UNLIMITED)
            .then(|| config.window_limit.segments().floor())
            .map(|segments| float_to_count(segments) * smss);
        let limit = config.window_limit_bytes.or(limit).map(ByteCount::get);
        let largest = match config.receive_buffer_default {
            Some(default) => default.max(config.receive_buffer_max),
            None => limit.unwrap_or(u64::MAX),
        };
        let fits = |shift: &u8| u64::from(u16::MAX) << shift >= largest;
        let shift = (0..MOST_SHIFT).find(fits).unwrap_or(MOST_SHIFT);
        Self {
            // Without the bytes of options that each segment has (RFC 6691).
            maximum_segment_size: u16::try_from(smss.get() + option).unwrap_or(u16::MAX),
            window_scale: config.window_scaling.then_some(shift),
            constant_window: limit.unwrap_or(u64::MAX),
            has_sack: config.recovery.has_sack(),
            clock: config.timestamps.map(TimestampClock::new),
            feedback: config.ecn,
            ends_handshake_alone: config.handshake_ack,
        }
    }

    /// The field of a segment for a window; `is_syn`: windows of these are not scaled (RFC 7323 §2.2).
    pub(super) fn window(&self, window: Option<ByteCount>, is_syn: bool) -> u16 {
        let bytes = window.map_or(self.constant_window, ByteCount::get);
        let shift = if is_syn {
            0
        } else {
            self.window_scale.unwrap_or(0)
        };
        u16::try_from(bytes >> shift).unwrap_or(u16::MAX)
    }

    /// The timestamp of a segment, if it has one; if it says none itself, that of when it left.
    pub(super) fn stamp(&self, stamp: Stamp, left: Instant) -> Option<u32> {
        let clock = self.clock?;
        let stamp = if stamp.is_none() {
            clock.stamp(left)
        } else {
            stamp
        };
        Some(stamp.bits())
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a window is a whole number that is not negative, and small unless there is no limit"
)]
fn float_to_count(segments: f64) -> SegCount {
    SegCount::new(segments as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sawtooth_core::registry::Value;

    fn face(stack: &str, set: &[(&'static str, Value)]) -> TcpFace {
        let mut flow = FlowSpec::new("flow", vec![0]).with_stack(stack);
        for (name, value) in set {
            flow.tcp.set(name, *value);
        }
        TcpFace::of(&flow)
    }

    #[test]
    fn rfc7323_2_3_windows_are_scaled_by_as_little_as_the_largest_needs() {
        let linux = face("linux", &[]);
        // 6 MiB, as tcp_rmem says.
        assert_eq!(linux.window_scale, Some(7));
        assert_eq!(linux.maximum_segment_size, 1460);
        let window = Some(ByteCount::new(1_448_000));
        assert_eq!(linux.window(window, false), 11_312);
        assert_eq!(linux.window(window, true), u16::MAX);
        let ns2 = face("ns2", &[]);
        assert_eq!(
            (ns2.window_scale, ns2.window(None, false)),
            (Some(0), 20_000)
        );
        let unlimited = face("rfc", &[]);
        assert_eq!(unlimited.window_scale, Some(14));
        assert_eq!(unlimited.window(None, false), u16::MAX);
        let unscaled = face("linux", &[("window_scaling", Value::Bool(false))]);
        assert_eq!(unscaled.window(window, false), u16::MAX);
    }

    #[test]
    fn every_flow_is_between_hosts_of_its_own_and_every_connection_has_its_ports() {
        let face = |number, opened_by_end| FlowFace {
            name: String::new(),
            description: String::new(),
            number,
            opened_by_end,
            tcp: Some(self::face("rfc", &[])),
        };
        let texts = |ends: [SocketAddr; 2]| ends.map(|end| end.to_string());
        let first = face(0, false);
        assert_eq!(
            texts(first.ends(0, false)),
            ["10.0.0.1:32768", "10.128.0.1:5001"]
        );
        assert_eq!(
            texts(first.ends(0, true)),
            ["10.128.0.1:5001", "10.0.0.1:32768"]
        );
        assert_eq!(
            texts(first.ends(PORTS + 1, false)),
            ["10.0.0.1:32769", "10.128.0.1:5002"]
        );
        let requests = face(256, true);
        assert_eq!(
            texts(requests.ends(1, false)),
            ["10.0.1.1:5001", "10.128.1.1:32769"]
        );
    }
}
