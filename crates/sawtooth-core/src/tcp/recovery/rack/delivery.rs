//! What an acknowledgement has delivered.
//!
//! Specifications: RFC 8985 §6.2 step 1; RFC 2018 §5; RFC 7323 §4.3 (which timestamp is repeated).

use super::Rack;
use crate::events::Event;
use crate::packet::Ack;
use crate::tcp::segments::Segment;
use crate::tcp::sender::tx::Tx;

#[derive(Debug)]
pub struct Delivery {
    /// Segments acknowledged cumulatively; and delivered, selectively too.
    pub acked: u64,
    pub delivered: u64,
    /// When the first and the last of the segments that were sent only once had left.
    pub first_sent: f64,
    pub last_sent: f64,
    /// Whether there was one, and one that was outstanding when the last loss was found.
    pub originals: bool,
    pub originals_of_episode: bool,
    /// Whether something that was sent again was acknowledged cumulatively.
    pub repairs: bool,
}

impl Delivery {
    /// Takes note of what has arrived.
    pub fn take(rack: &mut Rack, tx: &mut Tx, now: Event, ack: &Ack) -> Self {
        let mut news = Self {
            acked: ack.next - tx.seq.una,
            delivered: 0,
            first_sent: f64::INFINITY,
            last_sent: f64::NEG_INFINITY,
            originals: false,
            originals_of_episode: false,
            repairs: false,
        };
        let (clock, echo) = (tx.stamps.clock, tx.stamps.echo);
        // What is acknowledged cumulatively had arrived first: with a delayed acknowledgement one can report both a segment in order and a later
        // one beyond a hole, which is no reordering.
        for seq in tx.seq.una..ack.next {
            if let Some(segment) = rack.segments.acknowledge_first()
                && !segment.sacked
            {
                let sent = segment.sent;
                news.repairs |= segment.retransmitted;
                let earlier = segment.retransmitted
                    && clock.is_some_and(|clock| echo.precedes(clock.stamp(sent)));
                news.add(rack, now.time, seq, &segment, earlier);
            }
        }
        if ack.next > tx.seq.una {
            tx.seq.on_ack(ack.next);
            tx.reported.on_ack(ack.next);
        }
        if !ack.sack.is_empty() {
            let mut parts = std::mem::take(&mut rack.parts);
            for range in ack.sack.ranges(ack.next) {
                let scoreboard = &mut tx.reported.scoreboard;
                scoreboard.insert(range, |part| parts.push(part));
            }
            // Blocks come newest first: where acknowledgements are lost, that is not the order in which segments arrived.
            parts.sort_unstable_by_key(|part| part.start);
            for part in parts.drain(..) {
                for seq in part.start..part.end {
                    if let Some(segment) = rack.segments.sack(seq) {
                        // What is repeated is the timestamp of the last segment in order (RFC 7323 §4.3), which tells nothing of this one.
                        news.add(rack, now.time, seq, &segment, false);
                    }
                }
            }
            rack.parts = parts;
        }
        news
    }

    /// Segment `seq` is delivered.
    #[inline]
    fn add(&mut self, rack: &mut Rack, now: f64, seq: u64, segment: &Segment, earlier: bool) {
        self.delivered += 1;
        if rack.measures_rate {
            let Segment {
                snapshot,
                sent,
                transmission,
                ..
            } = *segment;
            rack.rate.on_delivered(now, snapshot, sent, transmission);
        }
        if !segment.retransmitted {
            self.first_sent = self.first_sent.min(segment.sent);
            self.last_sent = self.last_sent.max(segment.sent);
            self.originals = true;
            self.originals_of_episode |= seq < rack.recovery_point;
        }
        rack.detect.on_delivered(now, seq, segment, earlier);
    }
}
