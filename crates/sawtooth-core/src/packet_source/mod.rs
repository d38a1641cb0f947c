//! Sources of packets: when packets of which size leave, whatever becomes of those before. What UDP flows send.
//!
//! They are not the sources of TCP connections ([`crate::source`]): there the application decides what is sent and TCP when, so no pattern of packets
//! would survive. Sizes are those of IP packets, headers included, so that rates are shares of a link's.
//!
//! A source is pure: it has no clock and sends nothing. It is asked for one packet after the other, ahead of time if that suits the caller.
//! Randomness comes from the stream it is given.
//!
//! To add one: one file in this folder, one `mod` line, one row of [`TABLE`].

mod constant_rate;
mod pareto_on_off;
mod poisson;
mod self_similar;

use std::fmt::Debug;

use crate::registry::{Entry, Kind, Param, Params, Value, param};
use crate::rng::{RandomStream, StreamName};
use crate::units::{ByteCount, Duration};

/// What a row of the table can make of its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Maker {
    /// The source; it will be asked for no packet that leaves `horizon` after its start, or later.
    pub new: fn(&Params, RandomStream, horizon: Duration) -> Box<dyn PacketSource>,
    /// How many packets per second it sends in the mean.
    pub packets_per_sec: fn(&Params) -> f64,
    /// The size that none of its packets exceeds.
    pub largest: fn(&Params) -> ByteCount,
    /// What it draws in so long a time besides packets, and the key that says how much.
    pub draws: fn(&Params, lifetime: Duration) -> Option<(&'static str, f64)>,
    /// What no bounds of a single parameter say.
    pub check: fn(&Params, horizon: Duration) -> Result<(), Complaint>,
}

/// What is wrong with parameters: the one that is to blame, why, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// The parameter to blame.
    pub key: &'static str,
    /// What is wrong, without a full stop.
    pub message: String,
    /// What to write instead.
    pub hint: &'static str,
}

/// Something that sends packets by itself.
pub trait PacketSource: Debug + Send {
    /// The next packet; `None` when there is no more.
    fn next_packet(&mut self) -> Option<Departure>;

    /// What the source found itself to be, beside what it was meant to be: names and values, for the table `sources`.
    fn report(&self, _out: &mut dyn FnMut(&'static str, f64)) {}
}

/// A packet that leaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Departure {
    /// Since the flow's start; not before the packet that precedes it.
    pub at: Duration,
    /// Of the IP packet, headers included.
    pub size: ByteCount,
}

/// All sources of packets.
pub const TABLE: &[Entry<Maker>] = &[
    constant_rate::ENTRY,
    poisson::ENTRY,
    self_similar::ENTRY,
    pareto_on_off::ENTRY,
];

/// The row called `name`.
///
/// # Panics
/// If there is none of that name: a scenario has checked it.
pub fn row(name: &str) -> &'static Entry<Maker> {
    let mut rows = TABLE.iter();
    let row = rows.find(|entry| entry.name == name);
    row.expect("the scenario names a row of the table")
}

/// The source called `name` of a scenario's flow, whose random numbers depend on `seed` and the flow alone.
pub fn build(
    name: &str,
    params: &Params,
    seed: u64,
    flow: &str,
    horizon: Duration,
) -> Box<dyn PacketSource> {
    let stream = StreamName::of(&[flow, ".source"]).stream(seed);
    (row(name).new.new)(params, stream, horizon)
}

/// Bytes of the headers of IPv4 (RFC 791) and UDP (RFC 768).
pub const HEADER: ByteCount = ByteCount::new(28);

/// The largest IPv4 packet (RFC 791 §3.1, Total Length).
const LARGEST: ByteCount = ByteCount::new(65_535);

const SIZE: Param = param!(size: Kind::Bytes => Value::Bytes(1500),
    "bytes of a packet, its 28 bytes of IP and UDP headers included");

const RATE: Param = param!(rate: Kind::RateFromZero => Value::Rate(1e6),
    "how much it sends in the mean, headers included, as a share of a link would be; 0: nothing");

/// Sizes that an IP packet can have.
fn check_size(params: &Params) -> Result<(), Complaint> {
    let size = size(params);
    if (HEADER..=LARGEST).contains(&size) {
        return Ok(());
    }
    Err(Complaint {
        key: "size",
        message: format!(
            "a packet of UDP has from {} to {} bytes, found {}",
            HEADER.get(),
            LARGEST.get(),
            size.get()
        ),
        hint: "`size` is that of the IP packet, its headers included",
    })
}

fn size(params: &Params) -> ByteCount {
    ByteCount::new(params.bytes("size"))
}

fn rate_bps(params: &Params) -> f64 {
    match params.get("rate") {
        Value::Rate(rate) => rate,
        other => unreachable!("a rate, not {other:?}"),
    }
}

/// Packets of `size` bytes per second that are `rate`.
fn packets_per_sec(params: &Params) -> f64 {
    rate_bps(params) / (8.0 * size(params).as_f64())
}

/// Exponentially distributed with mean 1.
fn exponential(stream: &mut RandomStream) -> f64 {
    -libm::log(1.0 - stream.uniform())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_sends_in_order_and_the_same_again_and_at_its_rate() {
        for entry in TABLE {
            let params = Params::defaults(entry.params);
            (entry.new.check)(&params, Duration::from_secs(100.0)).expect("defaults are right");
            let packets = |seed| {
                let mut source = build(entry.name, &params, seed, "f", Duration::from_secs(100.0));
                let packets = std::iter::from_fn(|| source.next_packet());
                let within = packets.take_while(|packet| packet.at.secs() < 100.0);
                within.collect::<Vec<Departure>>()
            };
            let first = packets(1);
            assert!(first[0].at >= Duration::ZERO, "{}", entry.name);
            let mut pairs = first.windows(2);
            let ordered = pairs.all(|pair| pair[0].at <= pair[1].at);
            assert!(ordered, "{}", entry.name);
            assert_eq!(first, packets(1), "{}", entry.name);
            #[expect(clippy::cast_precision_loss, reason = "a count")]
            let share = first.len() as f64 / (100.0 * (entry.new.packets_per_sec)(&params));
            // The mean of long-range dependent sources settles slowly.
            assert!((0.5..2.0).contains(&share), "{}: {share}", entry.name);
        }
    }

    #[test]
    fn every_file_is_a_row_and_nothing_is_sent_at_rate_zero() {
        let here = concat!(env!("CARGO_MANIFEST_DIR"), "/src/packet_source");
        let files = std::fs::read_dir(here).expect("the folder").count();
        assert_eq!(files - 1, TABLE.len());
        for entry in TABLE {
            let mut params = Params::defaults(entry.params);
            let key = if params.find("rate").is_some() {
                "rate"
            } else {
                "mean"
            };
            params.set(key, Value::Rate(0.0));
            let mut source = build(entry.name, &params, 1, "f", Duration::from_secs(10.0));
            assert_eq!(source.next_packet(), None, "{}", entry.name);
        }
    }
}
