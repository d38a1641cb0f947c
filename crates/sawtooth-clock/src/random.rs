//! The random numbers that the kernel takes from the host: those of a seed.
//!
//! It has two ways to take them: `getrandom`, and `/dev/random` as if that were a device of its own, which is not there for it.

use std::ffi::{CStr, c_void};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use libc::{size_t, ssize_t};

/// What a guest must not open.
pub const DEVICE: &CStr = c"/dev/random";

static STATE: AtomicU64 = AtomicU64::new(1);

/// Starts the numbers from a seed, 1 if there is none.
pub fn seed(text: Option<&str>) {
    STATE.store(
        text.and_then(|text| text.parse().ok()).unwrap_or(1),
        Relaxed,
    );
}

/// # Safety
/// As of the function of that name in libc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getrandom(buffer: *mut c_void, length: size_t, _flags: u32) -> ssize_t {
    for at in 0..length {
        // SAFETY: the caller passes room for `length` bytes.
        unsafe { buffer.cast::<u8>().add(at).write(next()) };
    }
    length.cast_signed()
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), a byte at a time.
fn next() -> u8 {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut z = STATE.fetch_add(STEP, Relaxed).wrapping_add(STEP);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)).to_le_bytes()[7]
}

#[cfg(test)]
mod tests {
    use super::{getrandom, seed};

    fn bytes(text: &str) -> [u8; 5] {
        let mut buffer = [0; 5];
        seed(Some(text));
        // SAFETY: the buffer has as many bytes.
        assert_eq!(
            unsafe { getrandom(buffer.as_mut_ptr().cast(), buffer.len(), 0) },
            5
        );
        buffer
    }

    #[test]
    fn a_seed_gives_the_highest_bytes_of_splitmix64() {
        // The published first numbers of seed 1234567.
        let numbers: [u64; 5] = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(
            bytes("1234567"),
            numbers.map(|number| number.to_be_bytes()[0])
        );
        assert_ne!(bytes("1234568"), bytes("1234567"));
        assert_eq!(bytes("not a number"), bytes("1"));
    }
}
