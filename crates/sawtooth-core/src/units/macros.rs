//! What quantities of one kind have in common, and the arithmetic that they share.

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $from:ident, $get:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct $name(f64);

        /// Written out, because derived comparisons go by way of `partial_cmp`: some more instructions wherever events are compared.
        impl PartialOrd for $name {
            #[inline]
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                self.0.partial_cmp(&other.0)
            }

            #[inline]
            fn lt(&self, other: &Self) -> bool {
                self.0 < other.0
            }

            #[inline]
            fn le(&self, other: &Self) -> bool {
                self.0 <= other.0
            }

            #[inline]
            fn gt(&self, other: &Self) -> bool {
                self.0 > other.0
            }

            #[inline]
            fn ge(&self, other: &Self) -> bool {
                self.0 >= other.0
            }
        }

        impl $name {
            /// Of a number in the unit that this function's name says.
            #[inline]
            pub const fn $from(value: f64) -> Self {
                Self(value)
            }

            /// The number in the unit that this function's name says.
            #[inline]
            pub const fn $get(self) -> f64 {
                self.0
            }

            /// The order of the numbers, as [`f64::total_cmp`] has it.
            pub fn total_cmp(&self, other: &Self) -> std::cmp::Ordering {
                self.0.total_cmp(&other.0)
            }

            /// The smaller of the two. Neither is NaN, which [`f64::min`] would look for.
            #[inline]
            #[must_use]
            pub const fn min(self, other: Self) -> Self {
                if self.0 < other.0 { self } else { other }
            }

            /// The larger of the two. Neither is NaN, which [`f64::max`] would look for.
            #[inline]
            #[must_use]
            pub const fn max(self, other: Self) -> Self {
                if self.0 > other.0 { self } else { other }
            }
        }
    };
}

macro_rules! whole {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u64);

        impl $name {
            /// The number 0.
            pub const ZERO: Self = Self(0);
            /// The largest number there is, 2^64 - 1.
            pub const MAX: Self = Self(u64::MAX);

            /// Of a bare number.
            #[inline]
            pub const fn new(value: u64) -> Self {
                Self(value)
            }

            /// The bare number.
            #[inline]
            pub const fn get(self) -> u64 {
                self.0
            }
        }
    };
}

/// Sums and differences of the same quantity, in the same number.
macro_rules! sums {
    ($($name:ident),*) => {$(
        impl std::ops::Add for $name {
            type Output = Self;

            #[inline]
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl std::ops::Sub for $name {
            type Output = Self;

            #[inline]
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }

        impl std::ops::AddAssign for $name {
            #[inline]
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }

        impl std::ops::SubAssign for $name {
            #[inline]
            fn sub_assign(&mut self, other: Self) {
                self.0 -= other.0;
            }
        }

        impl std::iter::Sum for $name {
            fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
                Self(all.map(|one| one.0).sum())
            }
        }
    )*};
}

/// Places on a line: a place less a place is a length, and a place and a length are a place.
macro_rules! places {
    ($($place:ident, $length:ident);*) => {$(
        impl std::ops::Add<$length> for $place {
            type Output = Self;

            #[inline]
            fn add(self, by: $length) -> Self {
                Self(self.0 + by.0)
            }
        }

        impl std::ops::AddAssign<$length> for $place {
            #[inline]
            fn add_assign(&mut self, by: $length) {
                self.0 += by.0;
            }
        }

        impl std::ops::Sub<$length> for $place {
            type Output = Self;

            #[inline]
            fn sub(self, by: $length) -> Self {
                Self(self.0 - by.0)
            }
        }

        impl std::ops::Sub for $place {
            type Output = $length;

            #[inline]
            fn sub(self, from: Self) -> $length {
                $length(self.0 - from.0)
            }
        }
    )*};
}
