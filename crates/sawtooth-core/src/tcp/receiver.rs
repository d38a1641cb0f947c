//! The receiving endpoint: reassembly, SACK blocks, and when to acknowledge.
//!
//! Specifications: RFC 9293 §3.10.7.4 (reassembly), RFC 2018 §4 (which blocks, in which order), RFC 1122 §4.2.3.2 and RFC 5681
//! §4.2 (delayed acknowledgements: at least every second full segment, at once when segments are out of order or fill a hole).

use super::config::Config;
use super::scoreboard::{Range, RangeSet, SackBlocks};
use crate::events::{Child, Event, Key};
use crate::packet::{Ack, Data};

/// The receiver of one connection.
#[derive(Debug)]
pub struct Receiver {
    rcv_nxt: u64,
    /// Segments above `rcv_nxt`, and which of them are short: number, and bytes that they lack of a full one.
    out_of_order: RangeSet,
    out_of_order_short: Vec<(u64, u32)>,
    /// The ranges last reported, newest first.
    recent: Vec<Range>,
    sack: bool,
    max_sack_blocks: usize,
    ack_every: u32,
    /// Segments up to this one are acknowledged one by one.
    quick_acks: u64,
    delay_secs: f64,
    ns2: bool,
    smss: u32,
    /// In-order segments not yet acknowledged, and when that must happen at the latest.
    unacknowledged: u32,
    timer: Key,
    /// Application bytes delivered in order.
    pub delivered_bytes: u64,
    /// Time of the last in-order delivery, seconds.
    pub last_delivery: f64,
}

impl Receiver {
    pub fn new(config: &Config) -> Self {
        Self {
            rcv_nxt: 0,
            out_of_order: RangeSet::default(),
            out_of_order_short: Vec::new(),
            recent: Vec::new(),
            sack: config.recovery.has_sack(),
            quick_acks: config.quick_acks,
            max_sack_blocks: config.max_sack_blocks,
            ack_every: config.ack_every,
            delay_secs: config.delayed_ack_timeout,
            ns2: config.ns2_algorithms,
            smss: config.smss,
            unacknowledged: 0,
            timer: Key::NEVER,
            delivered_bytes: 0,
            last_delivery: 0.0,
        }
    }

    /// When a delayed acknowledgement is due ([`Key::NEVER`] if none is).
    #[inline]
    pub fn next_timer(&self) -> Key {
        self.timer
    }

    /// The delayed acknowledgement is due.
    pub fn on_timer(&mut self) -> Ack {
        self.acknowledge(false)
    }

    /// A segment arrives; returns the acknowledgement it causes, unless that is delayed.
    #[inline]
    pub fn on_segment(&mut self, now: Event, data: Data) -> Option<Ack> {
        if data.seq == self.rcv_nxt && self.out_of_order.is_empty() {
            self.rcv_nxt += 1;
            self.delivered_bytes += u64::from(data.payload_bytes);
            if data.payload_bytes > 0 {
                self.last_delivery = now.time;
            }
            // A SYN is answered at once, and so is a FIN (RFC 9293 §3.10.7.2, §3.10.7.4).
            if data.seq == 0 || data.fin || self.is_due() {
                return Some(self.acknowledge_in_order());
            }
            self.delay(now);
            return None;
        }
        if data == Data::HANDSHAKE_ACK {
            return None;
        }
        let again = data.seq > 0 && data.seq + 1 == self.rcv_nxt;
        if self.ns2 && again && self.out_of_order.is_empty() {
            // The last segment once more: taken by ns-2 as if it had come for the first time.
            if self.is_due() {
                return Some(self.acknowledge(true));
            }
            self.delay(now);
            return None;
        }
        Some(self.on_disorder(now, data))
    }

    /// Counts a segment whose acknowledgement may be delayed; whether it is the last to be waited for.
    #[inline]
    fn is_due(&mut self) -> bool {
        self.unacknowledged += 1;
        self.unacknowledged >= self.ack_every || self.rcv_nxt <= self.quick_acks
    }

    #[inline]
    fn delay(&mut self, now: Event) {
        if self.timer.is_never() {
            self.timer = now.schedule(now.time + self.delay_secs, Child::Timer);
        }
    }

    /// A segment that is out of order, fills a hole or repeats another: acknowledged at once (RFC 5681 §4.2).
    fn on_disorder(&mut self, now: Event, data: Data) -> Ack {
        let mut duplicate = data.seq < self.rcv_nxt;
        if data.seq == self.rcv_nxt {
            let before = self.rcv_nxt;
            self.rcv_nxt = self.out_of_order.first_gap(before + 1);
            self.out_of_order.remove_below(self.rcv_nxt);
            let filled = self.rcv_nxt - before - 1;
            let mut short = 0;
            self.out_of_order_short.retain(|(seq, lacking)| {
                let filled = *seq < self.rcv_nxt;
                short += if filled { u64::from(*lacking) } else { 0 };
                !filled
            });
            self.delivered_bytes +=
                u64::from(data.payload_bytes) + filled * u64::from(self.smss) - short;
            self.last_delivery = now.time;
            self.recent.retain(|range| range.start > self.rcv_nxt);
        } else if data.seq > self.rcv_nxt {
            let mut new = false;
            let holder = self.out_of_order.insert(
                Range {
                    start: data.seq,
                    end: data.seq + 1,
                },
                |_| new = true,
            );
            duplicate = !new;
            if new && data.payload_bytes < self.smss {
                let lacking = self.smss - data.payload_bytes;
                self.out_of_order_short.push((data.seq, lacking));
            }
            self.recent.retain(|range| !holder.contains(range.start));
            self.recent.insert(0, holder);
            self.recent.truncate(self.max_sack_blocks);
        }
        self.acknowledge(duplicate)
    }

    /// Nothing is out of order, so there is nothing to report.
    #[inline]
    fn acknowledge_in_order(&mut self) -> Ack {
        self.unacknowledged = 0;
        self.timer = Key::NEVER;
        Ack {
            next: self.rcv_nxt,
            duplicate: false,
            sack: SackBlocks::default(),
        }
    }

    fn acknowledge(&mut self, duplicate: bool) -> Ack {
        self.unacknowledged = 0;
        self.timer = Key::NEVER;
        let mut sack = SackBlocks::default();
        if self.sack {
            for range in &self.recent {
                sack.push(self.rcv_nxt, *range);
            }
        }
        Ack {
            next: self.rcv_nxt,
            duplicate,
            sack,
        }
    }
}
