//! The discrete Fourier transform of a power of two of points (Cooley and Tukey 1965, radix 2).
//!
//! Our own, because noise that is made by it has to be the same bytes on every machine: rustfft chooses AVX, SSE or NEON kernels at run time,
//! which add in different orders and may fuse multiplications, and its scalar twiddle factors come from the platform's sine and cosine. Here the
//! order of operations is fixed, nothing is fused, and sine and cosine are `libm`'s. It is run once per source, so it need not be the fastest.

use std::f64::consts::TAU;

/// A complex number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Complex {
    pub re: f64,
    pub im: f64,
}

/// Replaces `values` by `sum over j of values[j] exp(-2 pi i j k / n)`, k = 0..n.
///
/// # Panics
/// If their number is no power of two: a programming error.
#[expect(clippy::cast_precision_loss, reason = "far below 2^53 points")]
pub(crate) fn transform(values: &mut [Complex]) {
    let points = values.len();
    assert!(points.is_power_of_two(), "{points} is no power of two");
    if points == 1 {
        return;
    }
    let shift = usize::BITS - points.trailing_zeros();
    for at in 0..points {
        let other = at.reverse_bits() >> shift;
        if at < other {
            values.swap(at, other);
        }
    }
    let twiddles: Vec<Complex> = (0..points / 2)
        .map(|k| {
            let (sin, cos) = libm::sincos(TAU * k as f64 / points as f64);
            Complex { re: cos, im: -sin }
        })
        .collect();
    let mut half = 1;
    while half < points {
        let stride = points / (2 * half);
        for block in values.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            let factors = twiddles.iter().step_by(stride);
            for ((low, high), factor) in low.iter_mut().zip(high).zip(factors) {
                let turned = Complex {
                    re: high.re * factor.re - high.im * factor.im,
                    im: high.re * factor.im + high.im * factor.re,
                };
                *high = Complex {
                    re: low.re - turned.re,
                    im: low.im - turned.im,
                };
                low.re += turned.re;
                low.im += turned.im;
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::RandomStream;

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "few points")]
    fn a_transform_is_the_sum_that_defines_it() {
        let mut stream = RandomStream::new(1, "x");
        for points in [1_usize, 2, 8, 64] {
            let values: Vec<Complex> = (0..points)
                .map(|_| Complex {
                    re: stream.uniform(),
                    im: stream.uniform(),
                })
                .collect();
            let mut found = values.clone();
            transform(&mut found);
            for (k, found) in found.iter().enumerate() {
                let mut sum = Complex::default();
                for (j, value) in values.iter().enumerate() {
                    let (sin, cos) = libm::sincos(-TAU * (j * k) as f64 / points as f64);
                    sum.re += value.re * cos - value.im * sin;
                    sum.im += value.re * sin + value.im * cos;
                }
                let error = libm::hypot(sum.re - found.re, sum.im - found.im);
                // Sums of at most 64 numbers of about 1, and angles of up to 64 turns.
                assert!(error < 1e-11, "{points} points, {k}: {sum:?}, {found:?}");
            }
        }
    }
}
