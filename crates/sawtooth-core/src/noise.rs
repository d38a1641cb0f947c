//! Gaussian noise, and fractional Gaussian noise: the increments of fractional Brownian motion (Mandelbrot and Van Ness 1968).
//!
//! Fractional Gaussian noise with Hurst parameter H is stationary with mean 0, variance 1 and autocovariance
//! `γ(k) = (|k + 1|^2H - 2 |k|^2H + |k - 1|^2H) / 2`; sums over m points have variance `m^2H`. With H = 1/2 it is white; above, it depends on its
//! whole past, `γ(k) ~ H (2 H - 1) k^(2 H - 2)`; with H = 1 all points would be one and the same number.
//!
//! Made by circulant embedding (Davies and Harte 1987; Wood and Chan 1994): the autocovariance, mirrored into a circle of 2 m points, has
//! the spectrum `λ`, its discrete Fourier transform, which is not negative for any H (Dietrich and Newsam 1997 above 1/2, Craigmile 2003 below). The
//! transform of Gaussian noise with that spectrum has exactly the autocovariance wanted: nothing is cut off or approximated.

use std::f64::consts::TAU;

use crate::fft::{Complex, transform};
use crate::rng::RandomStream;

/// A pair of independent standard normal numbers (Box and Muller 1958).
pub fn normal_pair(stream: &mut RandomStream) -> (f64, f64) {
    // The logarithm's argument is in (0, 1].
    let radius = (-2.0 * libm::log(1.0 - stream.uniform())).sqrt();
    let (sin, cos) = libm::sincos(TAU * stream.uniform());
    (radius * cos, radius * sin)
}

/// A path of `points` of fractional Gaussian noise with mean 0 and variance 1; `hurst` within (0, 1).
///
/// # Panics
/// If there are no points.
#[expect(clippy::cast_precision_loss, reason = "far below 2^53 points")]
pub fn fractional_gaussian(hurst: f64, points: usize, stream: &mut RandomStream) -> Vec<f64> {
    assert!(points > 0, "noise has at least one point");
    let half = points.next_power_of_two();
    let mut circle = vec![Complex::default(); 2 * half];
    for lag in 0..=half {
        let value = autocovariance(hurst, lag);
        circle[lag].re = value;
        if lag > 0 {
            circle[2 * half - lag].re = value;
        }
    }
    transform(&mut circle);
    // From the spectrum to noise that has it: conjugate in pairs, so that its transform is real.
    let deviation = |power: f64, share: f64| (power.max(0.0) * share / (2 * half) as f64).sqrt();
    for at in 1..half {
        let deviation = deviation(circle[at].re, 0.5);
        let (re, im) = normal_pair(stream);
        circle[at] = Complex {
            re: deviation * re,
            im: deviation * im,
        };
        circle[2 * half - at] = Complex {
            im: -circle[at].im,
            ..circle[at]
        };
    }
    let (first, middle) = normal_pair(stream);
    for (at, number) in [(0, first), (half, middle)] {
        circle[at] = Complex {
            re: deviation(circle[at].re, 1.0) * number,
            im: 0.0,
        };
    }
    transform(&mut circle);
    circle[..points].iter().map(|point| point.re).collect()
}

/// `γ(lag)` of fractional Gaussian noise with variance 1.
#[expect(clippy::cast_precision_loss, reason = "far below 2^53 points")]
pub fn autocovariance(hurst: f64, lag: usize) -> f64 {
    let (exponent, lag) = (2.0 * hurst, lag as f64);
    if lag < 64.0 {
        let power = |base: f64| libm::pow(base.abs(), exponent);
        return 0.5 * (power(lag + 1.0) - 2.0 * power(lag) + power(lag - 1.0));
    }
    // The difference of nearly equal numbers loses its digits: its binomial series, whose fifth term is below 64^-10 of the first.
    let mut coefficient = exponent * (exponent - 1.0) / 2.0;
    let mut power = libm::pow(lag, exponent - 2.0);
    let mut sum = coefficient * power;
    for order in [2.0, 4.0, 6.0] {
        coefficient *= (exponent - order) * (exponent - order - 1.0);
        coefficient /= (order + 1.0) * (order + 2.0);
        power /= lag * lag;
        sum += coefficient * power;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_autocovariance_is_that_of_the_definition_near_and_far() {
        // H = 1/2 is white.
        let white: Vec<f64> = [0, 1, 2, 100].map(|lag| autocovariance(0.5, lag)).into();
        assert_eq!(white, [1.0, 0.0, 0.0, 0.0]);
        // 2^(2H - 1) - 1 at lag 1: 0.7411011265922482 with H = 0.9.
        assert!((autocovariance(0.9, 1) - 0.741_101_126_592_248_2).abs() < 1e-15);
        // Series and definition agree where both are good: at lag 63 the definition has lost 4 of 16 digits.
        let far = |lag: f64| {
            let power = |base: f64| libm::pow(base, 1.8);
            0.5 * (power(lag + 1.0) - 2.0 * power(lag) + power(lag - 1.0))
        };
        let found = autocovariance(0.9, 64);
        assert!((found / far(64.0) - 1.0).abs() < 1e-11, "{found}");
        // The limit far away, H (2H - 1) k^(2H - 2).
        let limit = 0.9 * 0.8 * libm::pow(1e6, -0.2);
        assert!((autocovariance(0.9, 1_000_000) / limit - 1.0).abs() < 1e-11);
    }

    #[test]
    fn the_spectrum_of_the_circle_is_not_negative() {
        for hurst in [0.01, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999] {
            let half = 1 << 12;
            let mut circle: Vec<Complex> = (0..2 * half)
                .map(|at: usize| Complex {
                    re: autocovariance(hurst, at.min(2 * half - at)),
                    im: 0.0,
                })
                .collect();
            transform(&mut circle);
            let least = circle.iter().map(|point| point.re).fold(1.0, f64::min);
            // Rounding: sums of 8192 numbers of at most 1.
            assert!(least > -1e-11, "H = {hurst}: {least}");
        }
    }

    /// The mean of `x[i] x[i + k]` over a path has the mean γ(k), as the noise's mean is known. The paths are independent, so the
    /// statistic over 1000 of them is normal with a deviation that the paths themselves show.
    #[test]
    #[expect(clippy::cast_precision_loss, reason = "counts")]
    fn the_sample_autocovariance_of_1000_paths_is_the_exact_one_within_its_error() {
        const PATHS: usize = 1000;
        // Not a power of two: a part of the circle.
        const POINTS: usize = 300;
        let lags = [0, 1, 2, 3, 5, 10, 30, 100, 200, 299];
        let mut worst: f64 = 0.0;
        for hurst in [0.2, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95] {
            let mut stream = RandomStream::new(11, "paths");
            let mut sums = [(0.0, 0.0); 10];
            for _ in 0..PATHS {
                let path = fractional_gaussian(hurst, POINTS, &mut stream);
                for (lag, (sum, squares)) in lags.iter().zip(&mut sums) {
                    let products = path.iter().zip(&path[*lag..]).map(|(a, b)| a * b);
                    let mean = products.sum::<f64>() / (POINTS - lag) as f64;
                    *sum += mean;
                    *squares += mean * mean;
                }
            }
            for (lag, (sum, squares)) in lags.iter().zip(sums) {
                let mean = sum / PATHS as f64;
                let variance = squares / PATHS as f64 - mean * mean;
                let error = (variance / PATHS as f64).sqrt();
                let z = (mean - autocovariance(hurst, *lag)) / error;
                worst = worst.max(z.abs());
                // Of 70 normal numbers, one is beyond 4.0 once in 230 times; the stream is fixed.
                assert!(z.abs() < 4.0, "H = {hurst}, lag {lag}: {mean}, {z} errors");
            }
        }
        assert!(worst > 1.0, "70 statistics vary, or they measure nothing");
    }

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "counts")]
    fn normal_numbers_have_the_moments_of_the_normal_distribution() {
        let mut stream = RandomStream::new(3, "normal");
        let pairs: Vec<_> = (0..50_000).map(|_| normal_pair(&mut stream)).collect();
        let mean = |f: &dyn Fn((f64, f64)) -> f64| {
            pairs.iter().map(|pair| f(*pair)).sum::<f64>() / pairs.len() as f64
        };
        // Standard errors of the means of 50 000: 0.0045 of x and xy, 0.0063 of x², 0.044 of x⁴.
        assert!(mean(&|(x, _)| x).abs() < 0.018);
        assert!(mean(&|(x, y)| x * y).abs() < 0.018);
        assert!((mean(&|(_, y)| y * y) - 1.0).abs() < 0.025);
        assert!((mean(&|(x, _)| x * x * x * x) - 3.0).abs() < 0.18);
    }

    /// The bytes, not only the statistics: the same on every machine.
    #[test]
    fn a_path_is_the_same_to_the_bit_everywhere() {
        let path = fractional_gaussian(0.8, 1000, &mut RandomStream::new(1, "golden"));
        let digest = path.iter().fold(0_u64, |digest, point| {
            digest.rotate_left(5).wrapping_mul(0x9e37_79b9) ^ point.to_bits()
        });
        assert_eq!(digest, 8_684_028_459_039_798_045);
    }
}
