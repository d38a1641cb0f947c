//! What a flow did over time, a row per packet; of many packets a row for each stretch of time, alike for all flows, which are as long as the memory asks for.
//!
//! Within a stretch nothing that a figure shows is lost: the lowest and the highest number that were new, the most that was in flight, the largest round-trip time.

use std::ops::Range;

use super::rows::CapturedSeriesRow;

/// As many rows are kept.
pub const MOST_ROWS: usize = 400_000;

/// The first stretch, when there are too many rows.
const SHORTEST_NS: i64 = 10_000;

/// The state of a flow after a packet.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub t_ns: i64,
    pub flight: i64,
    pub acked: Option<i64>,
    pub sacked: i64,
    pub fresh: Option<Range<i64>>,
    pub edge: Option<i64>,
    pub rtt_ns: Option<i64>,
    pub srtt_ns: Option<i64>,
    pub retransmits: u64,
}

/// Points of all flows.
#[derive(Clone, Debug)]
pub(super) struct SeriesStore {
    flows: Vec<Vec<Point>>,
    rows: usize,
    most: usize,
    /// Length of a stretch; 0: each packet has a row.
    stretch_ns: i64,
}

impl SeriesStore {
    pub(super) fn keeping(most: usize) -> Self {
        Self {
            flows: Vec::new(),
            rows: 0,
            most,
            stretch_ns: 0,
        }
    }

    /// The place of another flow.
    pub(super) fn flow(&mut self) -> usize {
        self.flows.push(Vec::new());
        self.flows.len() - 1
    }

    /// How long stretches are; 0: each packet has a row.
    pub(super) fn stretch_ns(&self) -> i64 {
        self.stretch_ns
    }

    pub(super) fn add(&mut self, flow: usize, point: Point) {
        let stretch = self.stretch_ns;
        let points = &mut self.flows[flow];
        match points.last_mut() {
            Some(last) if stretch > 0 && same(last.t_ns, point.t_ns, stretch) => last.take(point),
            _ => {
                points.push(point);
                self.rows += 1;
            }
        }
        while self.rows > self.most && self.stretch_ns < i64::MAX / 4 {
            self.stretch_ns = SHORTEST_NS.max(2 * self.stretch_ns);
            self.merge();
        }
    }

    fn merge(&mut self) {
        let stretch = self.stretch_ns;
        self.rows = 0;
        for points in &mut self.flows {
            let mut merged: Vec<Point> = Vec::new();
            for point in points.drain(..) {
                match merged.last_mut() {
                    Some(last) if same(last.t_ns, point.t_ns, stretch) => last.take(point),
                    _ => merged.push(point),
                }
            }
            self.rows += merged.len();
            *points = merged;
        }
    }

    /// The rows of a flow, whose place is empty from now on.
    pub(super) fn rows(&mut self, flow: usize, name: &str) -> Vec<CapturedSeriesRow> {
        let points = std::mem::take(&mut self.flows[flow]);
        points.into_iter().map(|point| point.row(name)).collect()
    }
}

fn same(one_ns: i64, other_ns: i64, stretch_ns: i64) -> bool {
    one_ns.div_euclid(stretch_ns) == other_ns.div_euclid(stretch_ns)
}

impl Point {
    /// The later one is of the same stretch.
    fn take(&mut self, mut later: Self) {
        let fresh = match (self.fresh.take(), later.fresh.take()) {
            (Some(one), Some(other)) => Some(one.start.min(other.start)..one.end.max(other.end)),
            (one, other) => one.or(other),
        };
        *self = Self {
            flight: self.flight.max(later.flight),
            fresh,
            rtt_ns: self.rtt_ns.max(later.rtt_ns),
            ..later
        };
    }

    fn row(self, flow: &str) -> CapturedSeriesRow {
        let bytes = |number: i64| number.max(0).cast_unsigned();
        CapturedSeriesRow {
            t_ns: self.t_ns,
            flow: flow.to_owned(),
            flight_bytes: bytes(self.flight),
            acked_bytes: self.acked.map(bytes),
            sacked_bytes: bytes(self.sacked),
            new_from_bytes: self.fresh.as_ref().map(|fresh| bytes(fresh.start)),
            new_to_bytes: self.fresh.as_ref().map(|fresh| bytes(fresh.end)),
            window_edge_bytes: self.edge.map(bytes),
            rtt_ns: self.rtt_ns,
            srtt_ns: self.srtt_ns,
            retransmits: self.retransmits,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(t_ns: i64, flight: i64, fresh: Range<i64>) -> Point {
        Point {
            t_ns,
            flight,
            acked: None,
            sacked: 0,
            fresh: Some(fresh),
            edge: None,
            rtt_ns: Some(flight),
            srtt_ns: None,
            retransmits: 0,
        }
    }

    #[test]
    fn too_many_rows_are_merged_and_extremes_stay() {
        let mut store = SeriesStore::keeping(4);
        let flow = store.flow();
        for at in 0..10 {
            // Two points in each 10 us, the first with more in flight.
            let flight = if at % 2 == 0 { 100 + at } else { 1 };
            store.add(flow, point(at * 5000, flight, at * 10..at * 10 + 10));
        }
        assert_eq!(store.stretch_ns(), 20_000);
        let rows = store.rows(flow, "one");
        let seen: Vec<_> = rows
            .iter()
            .map(|row| {
                (
                    row.t_ns,
                    row.flight_bytes,
                    row.new_from_bytes,
                    row.new_to_bytes,
                )
            })
            .collect();
        assert_eq!(
            seen,
            [
                (15_000, 102, Some(0), Some(40)),
                (35_000, 106, Some(40), Some(80)),
                (45_000, 108, Some(80), Some(100))
            ]
        );
        assert_eq!(rows[0].rtt_ns, Some(102));
    }
}
