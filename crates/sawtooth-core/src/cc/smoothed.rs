//! The smoothed round-trip time of an algorithm that keeps its own (SRTT, RFC 6298 §2.2 and §2.3).

use crate::units::Duration;

/// Moves `srtt_secs` by an eighth towards a sample, the first of which it becomes; what it is then.
pub(super) fn smooth(srtt_secs: &mut Option<f64>, sample: Duration) -> f64 {
    let srtt = srtt_secs.get_or_insert(sample.secs());
    *srtt += (sample.secs() - *srtt) / 8.0;
    *srtt
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::testing::secs;

    #[test]
    fn rfc6298_2_the_first_sample_is_it_and_each_other_moves_it_by_an_eighth() {
        let mut srtt = None;
        let after = [0.5, 0.25, 0.25].map(|sample| smooth(&mut srtt, secs(sample)));
        assert_eq!(after, [0.5, 0.468_75, 0.441_406_25]);
    }
}
