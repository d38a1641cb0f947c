//! The clock phases of ns-2's hosts.
//!
//! ns-2 measures round-trip times in clock ticks, and each TCP agent's clock starts at a random point between two ticks. The
//! points come from the program's default random stream, L'Ecuyer's combined multiple recursive generator MRG32k3a (Operations
//! Research 47(1), 1999, figure I) with all six seeds 1. Measured of ns-2.35: every agent draws a number when it is made, which
//! is then replaced by one it draws when the simulation starts; at the start, nodes are visited in the order of a Tcl hash table
//! keyed by node number. Reproducing ns-2's timeouts to the tick means reproducing this order.
//!
//! Where each sender has a node of its own, nodes are numbered as the published study's script makes them: the senders, the two
//! routers, the receivers. A script that makes its nodes in another order deals the same points to other flows. Where all senders
//! sit on one node, the points go to the flows in order.

use crate::digits::Digits;

const M1: i64 = 4_294_967_087;
const M2: i64 = 4_294_944_443;

/// Where a scenario's senders are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Senders {
    OneNode,
    NodeEach,
}

/// Points between two ticks, as shares of a tick, of the clocks of `flows` agents, in the order of the flows.
pub(crate) fn phases(flows: usize, senders: Senders) -> Vec<f64> {
    let mut generator = Mrg32k3a::new(1);
    for _ in 0..flows {
        generator.next_uniform();
    }
    if senders == Senders::OneNode {
        return (0..flows).map(|_| generator.next_uniform()).collect();
    }
    let mut phases = vec![0.0; flows];
    for node in tcl_hash_order(2 * flows + 2) {
        if node < flows {
            phases[node] = generator.next_uniform();
        }
    }
    phases
}

/// The order in which a Tcl array with the keys 0 to `count - 1`, added in turn, is walked: a table of chained buckets, four at
/// first and four times as many whenever it holds three entries per bucket; the hash of a string is `9 h + c` over its
/// characters; a new entry goes to the head of its chain. Checked against `tclsh`.
fn tcl_hash_order(count: usize) -> Vec<usize> {
    let mut digits = Digits::new();
    let mut hash = |key: usize| {
        let text = digits.of(key as u64).bytes();
        text.fold(0, |hash: usize, c| hash * 9 + usize::from(c))
    };
    let hashes: Vec<usize> = (0..count).map(&mut hash).collect();
    let mut table = Chains::new(4, count);
    for key in 0..count {
        table.push(key, &hashes);
        let buckets = table.heads.len();
        if key + 1 >= 3 * buckets {
            let mut larger = Chains::new(4 * buckets, count);
            for key in table.iter() {
                larger.push(key, &hashes);
            }
            table = larger;
        }
    }
    table.iter().collect()
}

/// Buckets of keys, each a chain from its head on.
struct Chains {
    heads: Vec<usize>,
    /// Of each key the one behind it.
    behind: Vec<usize>,
}

impl Chains {
    /// Behind the last one.
    const END: usize = usize::MAX;

    fn new(buckets: usize, keys: usize) -> Self {
        Self {
            heads: vec![Self::END; buckets],
            behind: vec![Self::END; keys],
        }
    }

    fn push(&mut self, key: usize, hashes: &[usize]) {
        let bucket = hashes[key] & (self.heads.len() - 1);
        self.behind[key] = std::mem::replace(&mut self.heads[bucket], key);
    }

    /// All keys, bucket by bucket.
    fn iter(&self) -> impl Iterator<Item = usize> {
        let some = |key: usize| (key != Self::END).then_some(key);
        let chain = move |head: &usize| {
            std::iter::successors(some(*head), move |key| some(self.behind[*key]))
        };
        self.heads.iter().flat_map(chain)
    }
}

/// MRG32k3a.
#[derive(Debug)]
struct Mrg32k3a {
    first: [i64; 3],
    second: [i64; 3],
}

impl Mrg32k3a {
    fn new(seed: i64) -> Self {
        Self {
            first: [seed; 3],
            second: [seed; 3],
        }
    }

    /// The next number, uniform in (0, 1).
    fn next_uniform(&mut self) -> f64 {
        let one = (1_403_580 * self.first[1] - 810_728 * self.first[0]).rem_euclid(M1);
        self.first = [self.first[1], self.first[2], one];
        let two = (527_612 * self.second[2] - 1_370_589 * self.second[0]).rem_euclid(M2);
        self.second = [self.second[1], self.second[2], two];
        let difference = if one > two { one - two } else { one - two + M1 };
        #[expect(clippy::cast_precision_loss, reason = "below 2^32")]
        let value = difference as f64 * 2.328_306_549_295_728e-10;
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lecuyer_1999_the_first_numbers_of_the_customary_seed() {
        let mut generator = Mrg32k3a::new(12_345);
        assert!((generator.next_uniform() - 0.127_011_122_046_577).abs() < 1e-15);
        assert!((generator.next_uniform() - 0.318_527_565_396_794).abs() < 1e-15);
        assert!((generator.next_uniform() - 0.309_186_015_583_270).abs() < 1e-15);
        assert!((generator.next_uniform() - 0.825_846_862_927_114).abs() < 1e-15);
    }

    #[test]
    fn the_hash_order_is_the_one_of_tclsh() {
        assert_eq!(tcl_hash_order(10), [8, 4, 0, 9, 5, 1, 6, 2, 7, 3]);
        let tclsh = [
            35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 50, 49, 51, 52, 53, 54, 55, 56,
            57, 58, 60, 59, 61, 62, 63, 64, 65, 10, 11, 12, 13, 14, 15, 16, 0, 17, 1, 18, 2, 19,
            20, 3, 21, 4, 22, 5, 23, 6, 24, 7, 25, 8, 26, 9, 27, 28, 29, 30, 31, 32, 33, 34,
        ];
        assert_eq!(tcl_hash_order(66), tclsh);
    }

    #[test]
    fn points_are_dealt_to_the_senders_in_the_order_of_all_nodes() {
        // Twenty senders, two routers, twenty receivers: sixteen buckets.
        let order = [
            17, 0, 18, 1, 19, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
        ];
        let (each, one) = (phases(20, Senders::NodeEach), phases(20, Senders::OneNode));
        let dealt: Vec<f64> = order.iter().map(|node: &usize| each[*node]).collect();
        assert_eq!(dealt, one);
    }
}
