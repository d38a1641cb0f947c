//! Whatever a scenario can name: parts and parameters, with their meanings, defaults and specifications.
//!
//! Each table of parts lists what one place of a scenario takes, each table of parameters what can be set there. [`Part::named`](crate::spec::Part::named) makes a part of a row.

use crate::registry::Entry;
use crate::{cc, dist, packet_source, queue, source};

pub use crate::host::PARAMS as HOST;
pub use crate::kernel::PARAMS as KERNEL;
pub use crate::tcp::{PARAMS as TCP, STACKS, Stack};

/// Congestion controls: [`FlowSpec::cc`](crate::spec::FlowSpec::cc).
pub const CC: &[Entry] = &told::<_, { cc::TABLE.len() }>(cc::TABLE);

/// Queue disciplines: [`Direction::queue`](crate::spec::LinkDirection::queue).
pub const QUEUE: &[Entry] = &told::<_, { queue::TABLE.len() }>(queue::TABLE);

/// What an application does over a connection: [`FlowSpec::source`](field@crate::spec::FlowSpec::source).
pub const SOURCE: &[Entry] = &told::<_, { source::TABLE.len() }>(source::TABLE);

/// What sends packets of UDP: [`UdpSpec::source`](field@crate::spec::UdpSpec::source).
pub const PACKET_SOURCE: &[Entry] =
    &told::<_, { packet_source::TABLE.len() }>(packet_source::TABLE);

/// Distributions: [`DistributionSpec`](crate::registry::DistributionSpec).
pub const DISTRIBUTION: &[Entry] = &told::<_, { dist::TABLE.len() }>(dist::TABLE);

/// The rows of a table without what makes their parts: that is the simulator's.
const fn told<C, const N: usize>(table: &'static [Entry<C>]) -> [Entry; N] {
    let mut rows = [table[0].told(); N];
    let mut index = 0;
    while index < N {
        rows[index] = table[index].told();
        index += 1;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_tells_every_row_in_order() {
        let names = |table: &[Entry]| -> Vec<_> { table.iter().map(|row| row.name).collect() };
        assert_eq!(
            names(CC),
            cc::TABLE.iter().map(|row| row.name).collect::<Vec<_>>()
        );
        assert_eq!(QUEUE.len(), queue::TABLE.len());
        assert_eq!(QUEUE[0].params.len(), queue::TABLE[0].params.len());
    }
}
