//! What a machine adds to TCP: an application, a socket with limited memory, a processor whose work takes time, a device driver and a network
//! interface. Without a host a flow's ends take no time; with one they are machines with the parameters of [`PARAMS`].
//!
//! **Model.** From the sending application to the wire:
//!
//! ```text
//! application: write(M bytes)          write_cost, once per write
//!   socket:    a packet's buffer, a copy of its data      write_byte_cost; sleeps when socket_memory is exhausted
//!     TCP:     segment                 send_packet_cost, send_byte_cost
//!       driver:                        driver_send_cost, driver_send_byte_cost
//!         interface: transmit_queue, transmit_delay, then the wire of the first link
//! ```
//!
//! and up the other side: interface (`receive_delay`), interrupt (`receive_interrupt_*`, `driver_receive_*`), TCP (`receive_*_cost` of data, `ack_receive_cost` of
//! acknowledgements), socket, application (`wake_cost`, `read_cost`, `read_byte_cost`). A machine has one processor ([`cpu`]) and one interface ([`nic`]), which all of its
//! flows share. The interface reports what it has transmitted with an interrupt; then the memory of its queue is free again.
//!
//! A connection of requests and responses has a sending socket and a reader at either side; when a reader has a whole message, the application of its side writes the next.
//!
//! The time that a socket waits while nothing is done for it is measured by its [`stopwatch`]; what happens to each packet at each layer is noted in [`layers`].
//!
//! Deviations: a timer acts when it expires, whatever the processor does, and only what it sends takes time; segments that one event releases carry one
//! time stamp; a receiver's window does not shrink while the reader has not read; packets that the interface has no room for wait without limit.

pub mod cpu;
pub mod interrupt;
pub mod layers;
pub mod nic;
pub mod socket;
pub mod stopwatch;

use crate::packet::Packet;
use crate::registry::{Kind, Param, ParamKey, Params, Value, Words, param, words};
use crate::units::{ByteCount, Duration};

/// A cost or delay that is nothing unless it is given.
const fn time(name: &'static str, summary: &'static str) -> Param {
    Param {
        name,
        summary,
        kind: Kind::Duration {
            min_exclusive: false,
        },
        default: Value::Duration(0.0),
    }
}

/// A number of packets that is unlimited unless it is given.
const fn packets(name: &'static str, summary: &'static str) -> Param {
    Param {
        name,
        summary,
        kind: Kind::Integer {
            min: 1,
            max: 1_000_000,
        },
        default: Value::None,
    }
}

words! {
    /// When an application that has written everything closes the connection.
    enum Close {
        AtOnce = "at_once",
        Acknowledged = "acknowledged",
    }
}

const CLOSE: ParamKey<Close> = ParamKey::new("close");

/// All parameters of a host.
pub const PARAMS: &[Param] = &[
    time(
        "write_cost",
        "processor time of a call of write, without copying",
    ),
    time(
        "write_byte_cost",
        "processor time to copy a byte from the application to the socket",
    ),
    time(
        "read_cost",
        "processor time of a call of read, without copying",
    ),
    time(
        "read_byte_cost",
        "processor time to copy a byte from the socket to the application",
    ),
    time(
        "wake_cost",
        "processor time until an application that slept runs again",
    ),
    Param {
        name: CLOSE.name,
        summary: "when an application that has written everything closes the connection, which pushes what is held back: at once, or when all has been \
                  acknowledged",
        kind: Kind::Choice(Close::WORDS),
        default: Value::Choice(Close::AtOnce.word()),
    },
    param!(socket_memory: Kind::Bytes => Value::Bytes(65_536),
        "bytes that a sending socket holds at most, written and not acknowledged, each packet with its overhead; a writer sleeps until there is room"),
    param!(packet_overhead: Kind::Bytes => Value::None,
        "bytes of socket memory that a packet takes besides its data; `none`: nothing"),
    param!(wake_free: Kind::Number { min: 0.0, max: 1.0 } => Value::Number(0.0),
        "share of the socket memory that is free when a sleeping writer is woken; room for the next packet in any case"),
    time(
        "send_packet_cost",
        "processor time of TCP and IP to send a segment with data",
    ),
    time(
        "send_byte_cost",
        "processor time of TCP and IP per byte of data sent, such as for its checksum",
    ),
    time(
        "receive_packet_cost",
        "processor time of TCP and IP to receive a segment with data",
    ),
    time(
        "receive_byte_cost",
        "processor time of TCP and IP per byte of data received",
    ),
    time("ack_send_cost", "processor time to send an acknowledgement"),
    time(
        "ack_receive_cost",
        "processor time to receive an acknowledgement",
    ),
    time(
        "driver_send_cost",
        "processor time of the driver to hand a packet to the interface",
    ),
    time(
        "driver_send_byte_cost",
        "the same per byte of the packet, where the processor copies it",
    ),
    time(
        "driver_receive_cost",
        "processor time of the driver to take a packet from the interface, within the interrupt",
    ),
    time(
        "driver_receive_byte_cost",
        "the same per byte of the packet, where the processor copies it",
    ),
    packets(
        "transmit_queue",
        "packets that the interface holds until it has reported their transmission; others wait before the driver",
    ),
    time(
        "transmit_delay",
        "from the driver to the first bit on the wire, of an idle interface",
    ),
    time(
        "receive_delay",
        "from the last bit of a packet to when the interface can report it",
    ),
    time(
        "transmit_interrupt_cost",
        "processor time of an interrupt that reports transmissions",
    ),
    time(
        "transmit_interrupt_delay",
        "how long the interface waits for more to report, from the first transmission on",
    ),
    packets(
        "transmit_interrupt_packets",
        "transmissions that it reports without waiting",
    ),
    time(
        "receive_interrupt_cost",
        "processor time of an interrupt that reports packets, without what its packets cost",
    ),
    time(
        "receive_interrupt_delay",
        "how long the interface waits for more to report, from the first packet on",
    ),
    packets(
        "receive_interrupt_packets",
        "packets that it reports without waiting",
    ),
];

/// What things cost a machine, and what else its work depends on.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Of a call of write; the bytes are those that it copies.
    pub write: Cost,
    /// Of a call of read; the bytes are those that it copies.
    pub read: Cost,
    /// Of waking a process that sleeps.
    pub wake: Duration,
    /// Whether the application closes when it has written everything, rather than when that has been acknowledged.
    pub closes_at_once: bool,
    /// What its sending sockets hold.
    pub memory: socket::SendMemory,
    /// Of TCP, to send a packet of data.
    pub send: Cost,
    /// Of TCP, to receive a packet of data.
    pub receive: Cost,
    /// Of TCP, to send an acknowledgement.
    pub ack_send: Duration,
    /// Of TCP, to receive an acknowledgement.
    pub ack_receive: Duration,
    /// Of the driver, to hand a packet to the interface.
    pub driver_send: Cost,
    /// Of the driver, to take a packet from the interface, within the interrupt.
    pub driver_receive: Cost,
    /// Of an interrupt that reports transmissions.
    pub transmit_interrupt: Duration,
    /// Of an interrupt that reports packets, without what these cost.
    pub receive_interrupt: Duration,
}

/// Something once, and something per byte.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Whatever the number of bytes.
    pub once: Duration,
    /// For each byte.
    pub per_byte: Duration,
}

impl Cost {
    fn of(params: &Params, once: &str, per_byte: &str) -> Self {
        Self {
            once: duration(params, once),
            per_byte: duration(params, per_byte),
        }
    }

    /// That of so many bytes.
    pub fn with(self, bytes: ByteCount) -> Duration {
        self.once + self.per_byte * bytes.as_f64()
    }
}

/// A parameter that is one.
fn duration(params: &Params, name: &str) -> Duration {
    Duration::from_secs(params.duration(name))
}

impl From<&Params> for Profile {
    fn from(params: &Params) -> Self {
        let cost = |once, per_byte| Cost::of(params, once, per_byte);
        Self {
            write: cost("write_cost", "write_byte_cost"),
            read: cost("read_cost", "read_byte_cost"),
            wake: duration(params, "wake_cost"),
            closes_at_once: CLOSE.of(params) == Close::AtOnce,
            memory: socket::SendMemory::from(params),
            send: cost("send_packet_cost", "send_byte_cost"),
            receive: cost("receive_packet_cost", "receive_byte_cost"),
            ack_send: duration(params, "ack_send_cost"),
            ack_receive: duration(params, "ack_receive_cost"),
            driver_send: cost("driver_send_cost", "driver_send_byte_cost"),
            driver_receive: cost("driver_receive_cost", "driver_receive_byte_cost"),
            transmit_interrupt: duration(params, "transmit_interrupt_cost"),
            receive_interrupt: duration(params, "receive_interrupt_cost"),
        }
    }
}

/// A packet within a machine.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Data or an acknowledgement of TCP.
    pub packet: Packet,
    /// Whose it is: its place among the flows.
    pub flow: u32,
    /// Whether it carries data, or else an acknowledgement.
    pub is_data: bool,
    /// Its number among its flow's packets, if they are noted.
    pub id: u32,
}

/// What a processor does.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// An interrupt that reports so many packets that have come.
    Received(u32),
    /// An interrupt that reports so many transmissions.
    Transmitted(u32),
    /// The driver hands a packet to the interface.
    Driver(Frame),
    /// TCP sends a packet.
    Send(Frame),
    /// TCP takes a packet that has come.
    Receive(Frame),
    /// The application of the flow of that place calls write, or is about to go on with it.
    Write(u32),
    /// The data of the next packet, so many bytes, is copied for the flow of that place.
    Copy(u32, ByteCount),
    /// An application reads so many bytes.
    Read(u32, ByteCount),
}

/// One machine.
#[derive(Debug)]
pub struct Machine {
    /// What things cost it.
    pub profile: Profile,
    /// Its processor, and what waits for it.
    pub cpu: cpu::Cpu<Work>,
    /// Its network interface.
    pub nic: nic::Nic,
    /// The flow whose data the present pass of the processor sends, if it does.
    pub pass_of: Option<u32>,
}

impl Machine {
    /// An idle machine with these values of [`PARAMS`].
    pub fn new(params: &Params) -> Self {
        Self {
            profile: Profile::from(params),
            cpu: cpu::Cpu::default(),
            nic: nic::Nic::new(params),
            pass_of: None,
        }
    }
}
