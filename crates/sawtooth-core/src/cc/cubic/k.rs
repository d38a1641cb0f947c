//! K: how long the cubic function takes to its plateau (RFC 9438 §4.2, equation 2).
//!
//! Linux computes the cube root in whole numbers, as an approximation. What it makes of the distances that were met was read in the state of connections to which losses happened, on Linux 6.18: up to 3.8
//! units from the cube root, which is enough to move a step of the window by a tick. Of distances beyond, too few were met: there it is the cube root, rounded down.

use super::rules::CubicRules;
use crate::units::floor;

/// What K is a multiple of where it is as measured.
const MEASURED_UNIT_SECS: f64 = 1.0 / 1024.0;
/// And what C is there.
const MEASURED_C: f64 = 410.0 / 1024.0;

/// K by the distance of the plateau, segments; in units.
const MEASURED: [f64; 35] = [
    0.0, 1388.0, 1750.0, 2003.0, 2203.0, 2375.0, 2523.0, 2657.0, 2777.0, 2889.0, 2991.0, 3090.0,
    3179.0, 3266.0, 3347.0, 3426.0, 3500.0, 3573.0, 3640.0, 3707.0, 3770.0, 3832.0, 3892.0, 3951.0,
    4007.0, 4062.0, 4116.0, 4165.0, 4215.0, 4271.0, 4316.0, 4361.0, 4407.0, 4456.0, 4499.0,
];

/// K in seconds, from a window of so many segments below the plateau.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a distance is positive, and whole where it is looked up"
)]
pub(super) fn k_secs(distance: f64, rules: &CubicRules) -> f64 {
    let exact = libm::cbrt(distance / rules.c);
    let unit = rules.time_unit;
    if unit == 0.0 {
        return exact;
    }
    let measured = MEASURED.get(distance as usize);
    match measured {
        Some(units) if unit == MEASURED_UNIT_SECS && rules.c == MEASURED_C => units * unit,
        _ => floor(exact / unit) * unit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::cubic::ENTRY;
    use crate::cc::testing::*;
    use crate::registry::Value;

    fn rules(unit: f64, c: f64) -> CubicRules {
        let set = [
            ("time_unit", Value::Duration(unit)),
            ("c", Value::Number(c)),
        ];
        CubicRules::from(&params(&ENTRY, &set))
    }

    #[test]
    fn rfc9438_4_2_k_is_a_cube_root() {
        assert!((k_secs(300.0, &rules(0.0, 0.4)) - 9.085_602_964_160_7).abs() < 1e-9);
        assert_eq!(k_secs(300.0, &rules(0.5, 0.4)), 9.0);
    }

    #[test]
    fn linux_approximates_the_cube_root_and_is_as_measured_where_that_is_known() {
        let linux = rules(MEASURED_UNIT_SECS, MEASURED_C);
        assert_eq!(k_secs(0.0, &linux), 0.0);
        for (distance, units) in MEASURED.iter().enumerate().skip(1) {
            let distance = f64::from(u32::try_from(distance).expect("small"));
            assert_eq!(k_secs(distance, &linux) * 1024.0, *units);
            let exact = libm::cbrt(distance / MEASURED_C) * 1024.0;
            assert!((units - exact).abs() < 3.9, "{distance}: {units}, {exact}");
        }
        // Read at 236 segments: 8588, of which the cube root is 8585.7.
        assert_eq!(k_secs(236.0, &linux) * 1024.0, 8585.0);
        // With another C the table says nothing.
        assert_eq!(
            k_secs(4.0, &rules(MEASURED_UNIT_SECS, 0.5)) * 1024.0,
            2048.0
        );
    }
}
