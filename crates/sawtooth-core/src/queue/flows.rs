//! Queues per flow: a hash gives each flow one of so many queues; flows that share one by chance share its fate, as they would in a router.
//!
//! A flow is the packets of one connection in one direction. A port carries data of a connection or its acknowledgements, never both, so
//! there the flow's index is all that addresses, ports and protocol would say; the two directions' ports hash with numbers of their own.
//!
//! The hash is the finaliser of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014, §3) over the
//! flow's index and a random number from the run's seed, scaled to the number of queues.

use std::collections::VecDeque;

use super::{Backlog, BufferLimit, Fifo, QueuedPacket};
use crate::registry::{Kind, Param, ParamKey, Params, Value, Words, param, words};
use crate::rng::RandomStream;
use crate::units::ByteCount;

/// How many queues there are.
pub(super) const QUEUES: Param = param!(queues: Kind::Integer { min: 1, max: 65_536 } => Value::Integer(1024),
    "number of queues into which flows are hashed");

/// Which packet of the longest queue gives way.
pub(super) const DROP_FROM: Param = Param {
    name: END.name,
    summary: "end of the longest queue from which a packet is dropped when the buffer is full",
    kind: Kind::Choice(QueueEnd::WORDS),
    default: Value::Choice(QueueEnd::Tail.word()),
};

/// Which of `buckets` a flow falls into.
#[derive(Clone, Debug)]
struct Hash {
    perturbation: u64,
    buckets: u32,
}

impl Hash {
    fn new(buckets: u32, stream: &mut RandomStream) -> Self {
        let mut hash = Self {
            perturbation: 0,
            buckets,
        };
        hash.perturb(stream);
        hash
    }

    /// Other flows collide from now on.
    fn perturb(&mut self, stream: &mut RandomStream) {
        self.perturbation = stream.integer(i64::MIN, i64::MAX).cast_unsigned();
    }

    #[expect(clippy::cast_possible_truncation, reason = "a product's upper half")]
    fn bucket(&self, flow: u32) -> usize {
        let mixed = mix(mix(u64::from(flow)) ^ self.perturbation);
        ((u128::from(mixed) * u128::from(self.buckets)) >> 64) as usize
    }
}

/// The finaliser of SplitMix64, after the step of its generator.
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// One of the queues.
#[derive(Debug, Default)]
pub(super) struct FlowQueue<A> {
    pub fifo: Fifo,
    /// What it may still send in this round: bytes, or packets. What that means is the scheduler's.
    pub credit: i64,
    /// Whether it is in a scheduler's list.
    pub listed: bool,
    /// What manages its length.
    pub aqm: A,
}

/// The name of a queue: an index.
pub(super) type Id = u32;

/// All queues of a port. They are made when a flow first falls into them: a thousand that nobody uses cost nothing.
#[derive(Debug)]
pub(super) struct FlowQueues<A> {
    hash: Hash,
    /// Buckets that stand beside each other: a flow whose own is another's takes one of these that is free. 1: each has its own alone.
    ways: usize,
    /// Which queue a bucket has, plus one; 0 for none yet.
    ids: Vec<Id>,
    /// The flow that used a bucket last, where there are ways.
    users: Vec<u32>,
    queues: Vec<FlowQueue<A>>,
    waiting: Backlog,
}

impl<A> FlowQueues<A> {
    /// With the parameter [`QUEUES`].
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bounded by the parameter"
    )]
    pub(super) fn new(params: &Params, stream: &mut RandomStream) -> Self {
        let buckets = params.integer("queues") as u32;
        Self {
            hash: Hash::new(buckets, stream),
            ways: 1,
            ids: vec![0; buckets as usize],
            users: Vec::new(),
            queues: Vec::new(),
            waiting: Backlog::default(),
        }
    }

    /// Set-associative, with so many ways: flows share a queue only if all of a set are in use (Piece of CAKE, §III-B).
    pub(super) fn with_ways(mut self, ways: usize) -> Self {
        self.ways = ways;
        self.users = vec![0; self.ids.len()];
        self
    }

    /// The queue of a packet; `aqm` makes its management if it is new.
    #[expect(clippy::cast_possible_truncation, reason = "65536 queues at most")]
    pub(super) fn of(&mut self, packet: &QueuedPacket, aqm: impl FnOnce() -> A) -> Id {
        let mut bucket = self.hash.bucket(packet.packet.flow);
        if self.ways > 1 {
            bucket = self.way(bucket, packet.packet.flow);
        }
        let id = &mut self.ids[bucket];
        if *id == 0 {
            self.queues.push(FlowQueue {
                fifo: Fifo::new(),
                credit: 0,
                listed: false,
                aqm: aqm(),
            });
            *id = self.queues.len() as Id;
        }
        *id - 1
    }

    /// The bucket of a flow in the set of `own`: that which it has, else one that nobody uses, its own first; else its own, which it shares.
    fn way(&mut self, own: usize, flow: u32) -> usize {
        let first = own - own % self.ways;
        let size = self.ways.min(self.ids.len() - first);
        let mut set = (0..size).map(|step| first + (own - first + step) % size);
        let in_use = |bucket: usize| {
            let id = self.ids[bucket];
            id > 0 && self.queues[id as usize - 1].listed
        };
        let bucket = set
            .clone()
            .find(|bucket| in_use(*bucket) && self.users[*bucket] == flow)
            .or_else(|| set.find(|bucket| !in_use(*bucket)));
        if let Some(bucket) = bucket {
            self.users[bucket] = flow;
        }
        bucket.unwrap_or(own)
    }

    pub(super) fn get(&mut self, id: Id) -> &mut FlowQueue<A> {
        &mut self.queues[id as usize]
    }

    /// Does something to a queue's packets.
    pub(super) fn change<R>(&mut self, id: Id, what: impl FnOnce(&mut FlowQueue<A>) -> R) -> R {
        let queue = &mut self.queues[id as usize];
        let before = queue.fifo.waiting();
        let result = what(queue);
        let after = queue.fifo.waiting();
        self.waiting.packets = self.waiting.packets + after.packets - before.packets;
        self.waiting.bytes = self.waiting.bytes + after.bytes - before.bytes;
        result
    }

    pub(super) fn push(&mut self, id: Id, packet: QueuedPacket) {
        self.change(id, |queue| queue.fifo.push(packet));
    }

    /// Takes the oldest packet of a queue.
    pub(super) fn pop(&mut self, id: Id) -> Option<QueuedPacket> {
        self.change(id, |queue| queue.fifo.pop())
    }

    /// What waits in all queues.
    pub(super) fn waiting(&self) -> Backlog {
        self.waiting
    }

    /// The longest queue, by `length` of what waits in it; of several the first of `among`.
    pub(super) fn longest(
        &self,
        length: impl Fn(Backlog) -> u64,
        among: impl Iterator<Item = Id>,
    ) -> Option<Id> {
        let length = |id: Id| length(self.queues[id as usize].fifo.waiting());
        let longer = |best: Option<Id>, id| match best {
            Some(best) if length(best) >= length(id) => Some(best),
            _ => Some(id),
        };
        among.fold(None, longer)
    }

    /// Buffer stealing: drops packets of the longest of the queues in `round`, in packets or bytes as `limit` is, until everything fits
    /// below it, beside what is `in_service`.
    pub(super) fn steal(
        &mut self,
        limit: BufferLimit,
        from: QueueEnd,
        in_service: Backlog,
        round: &VecDeque<Id>,
        dropped: &mut Vec<QueuedPacket>,
    ) {
        let length = |waiting: Backlog| match limit {
            BufferLimit::Packets(_) => waiting.packets,
            BufferLimit::Bytes(_) => waiting.bytes.get(),
        };
        while exceeds(limit, self.waiting + in_service) {
            let longest = self.longest(length, round.iter().copied());
            let longest = longest.expect("what is in service fits by itself");
            let packet = self.change(longest, |queue| match from {
                QueueEnd::Tail => queue.fifo.pop_back(),
                QueueEnd::Head => queue.fifo.pop(),
            });
            dropped.push(packet.expect("the longest queue of a full buffer"));
        }
    }

    /// Hashes anew: all packets that waited, by the time of their arrival. All queues are empty then.
    pub(super) fn perturb(&mut self, stream: &mut RandomStream) -> Vec<QueuedPacket> {
        self.hash.perturb(stream);
        let mut packets = Vec::new();
        for queue in &mut self.queues {
            packets.extend(std::iter::from_fn(|| queue.fifo.pop()));
            (queue.credit, queue.listed) = (0, false);
        }
        self.waiting = Backlog::default();
        packets.sort_by(|one: &QueuedPacket, two| one.arrived.total_cmp(&two.arrived));
        packets
    }
}

words! {
    /// An end of a queue.
    pub(super) enum QueueEnd {
        Tail = "tail",
        Head = "head",
    }
}

const END: ParamKey<QueueEnd> = ParamKey::new("drop_from");

impl QueueEnd {
    /// The parameter [`DROP_FROM`].
    pub(super) fn of(params: &Params) -> Self {
        END.of(params)
    }
}

/// Whether what is `present` is more than fits; a queue's only packet always fits.
pub(super) fn exceeds(limit: BufferLimit, present: Backlog) -> bool {
    let more = match limit {
        BufferLimit::Packets(limit) => present.packets > limit,
        BufferLimit::Bytes(limit) => present.bytes > limit,
    };
    more && present.packets > 1
}

/// An amount of bytes that is added to and taken from.
#[expect(
    clippy::cast_possible_wrap,
    reason = "no packet and no quantum is that large"
)]
pub(super) fn signed(size: ByteCount) -> i64 {
    size.get() as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::queue::testing::{params_of, queued};

    #[test]
    fn the_longest_queue_is_that_of_which_most_waits_and_of_several_the_first() {
        let mut stream = RandomStream::new(1, "hash");
        let mut flows: FlowQueues<()> = FlowQueues::new(&params_of(&[QUEUES], &[]), &mut stream);
        // Flow 0 has one packet of 900 bytes, flow 1 two of 300, flow 2 two of 300.
        let mut ids = Vec::new();
        for (flow, bytes) in [(0, 900), (1, 300), (2, 300), (1, 300), (2, 300)] {
            let packet = queued(flow, 0, bytes, Ecn::NotEct, 0.0);
            let id = flows.of(&packet, || ());
            flows.push(id, packet);
            ids.push(id);
        }
        let round = [ids[2], ids[1], ids[0]];
        assert_ne!(ids[0], ids[1]);
        assert_ne!(ids[1], ids[2]);
        assert_eq!(
            (flows.waiting().packets, flows.waiting().bytes.get()),
            (5, 2100)
        );
        let longest =
            |length: fn(Backlog) -> u64, among: &[Id]| flows.longest(length, among.iter().copied());
        assert_eq!(longest(|waiting| waiting.bytes.get(), &round), Some(ids[0]));
        assert_eq!(longest(|waiting| waiting.packets, &round), Some(ids[2]));
        assert_eq!(
            longest(|waiting| waiting.packets, &[ids[0], ids[1], ids[2]]),
            Some(ids[1])
        );
        assert_eq!(longest(|waiting| waiting.bytes.get(), &[]), None);
    }

    #[test]
    fn flows_of_a_set_share_a_queue_only_if_all_of_it_are_in_use() {
        // Sixteen queues, so two sets of eight: each flow of the first eight of a set has one of its own; a ninth shares.
        let mut stream = RandomStream::new(1, "hash");
        let params = params_of(&[QUEUES], &[("queues", Value::Integer(16))]);
        let mut flows = FlowQueues::<()>::new(&params, &mut stream).with_ways(8);
        let mut of = |flow| flows.of(&queued(flow, 0, 100, Ecn::NotEct, 0.0), || ());
        // Nobody is in a list, so that each takes its own bucket.
        let ids: Vec<Id> = (0..40).map(&mut of).collect();
        assert_eq!(ids, (0..40).map(&mut of).collect::<Vec<Id>>());
        let mut listed = std::collections::BTreeMap::<Id, u32>::new();
        for flow in 0..40 {
            let id = flows.of(&queued(flow, 0, 100, Ecn::NotEct, 0.0), || ());
            flows.get(id).listed = true;
            *listed.entry(id).or_default() += 1;
            assert_eq!(flows.of(&queued(flow, 1, 100, Ecn::NotEct, 0.0), || ()), id);
            if flow < 8 {
                assert_eq!(listed.len(), flow as usize + 1, "each has its own");
            }
        }
        assert_eq!(listed.len(), 16);
    }

    #[test]
    fn the_mixer_is_splitmix64() {
        // The first three numbers of SplitMix64 from seed 1234567, as its authors' programs print them: state after each step is a
        // multiple of the constant above the seed.
        let step = 0x9e37_79b9_7f4a_7c15_u64;
        let numbers = [0, 1, 2].map(|n| mix(1_234_567_u64.wrapping_add(step.wrapping_mul(n))));
        assert_eq!(
            numbers,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn flows_spread_evenly_and_collide_as_often_as_chance_has_it() {
        // 200 flows in 1024 queues: pairs that share a queue are (200 * 199 / 2) / 1024 = 19.4 in the mean, over 200 seeds 3887; the sum is
        // nearly Poisson with deviation 62.
        let mut pairs = 0;
        for seed in 0..200 {
            let hash = Hash::new(1024, &mut RandomStream::new(seed, "hash"));
            let mut buckets: Vec<usize> = (0..200).map(|flow| hash.bucket(flow)).collect();
            buckets.sort_unstable();
            pairs += buckets
                .chunk_by(|one, two| one == two)
                .map(|same| same.len() * (same.len() - 1) / 2)
                .sum::<usize>();
        }
        assert!((3887 - 4 * 62..3887 + 4 * 62).contains(&pairs), "{pairs}");
    }

    #[test]
    fn a_perturbation_lets_other_flows_collide() {
        let mut stream = RandomStream::new(1, "hash");
        let mut hash = Hash::new(16, &mut stream);
        let buckets =
            |hash: &Hash| -> Vec<usize> { (0..64).map(|flow| hash.bucket(flow)).collect() };
        let before = buckets(&hash);
        assert!(before.iter().all(|bucket| *bucket < 16));
        assert_eq!(before, buckets(&hash), "a flow stays where it is");
        hash.perturb(&mut stream);
        assert_ne!(before, buckets(&hash));
    }

    #[test]
    fn flows_spread_whatever_the_perturbation_is() {
        // All ones and all noughts are numbers like others: 64 flows fall into more than 40 of 1024 queues (the mean is 62).
        for perturbation in [0, u64::MAX, 1 << 63, 0xffff_ffff] {
            let hash = Hash {
                perturbation,
                buckets: 1024,
            };
            let mut buckets: Vec<usize> = (0..64).map(|flow| hash.bucket(flow)).collect();
            buckets.sort_unstable();
            buckets.dedup();
            assert!(buckets.len() > 40, "{perturbation:x}: {}", buckets.len());
        }
    }
}
