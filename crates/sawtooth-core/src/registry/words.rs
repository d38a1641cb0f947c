//! Enums whose words stand beside their variants, so that a choice and what it stands for cannot disagree.

/// What the words of a choice stand for.
pub trait Words: Copy + 'static {
    /// As a study may write them, in the order in which they are documented.
    const WORDS: &'static [&'static str];

    /// The variant that `word` stands for, which is one of `WORDS`; nothing for any other.
    fn from_word(word: &str) -> Option<Self>;
}

/// Declares an enum with a word for each variant:
///
/// ```text
/// words! {
///     /// What a loss reduces.
///     pub enum ReduceFrom {
///         FlightSize = "flight_size",
///         Window = "window",
///     }
/// }
/// ```
///
/// A row takes it as `choice("flight_size")`; code says `ReduceFrom::Window`, and `ReduceFrom::Window.word()` is `"window"`.
macro_rules! words {
    ($(#[$about:meta])* $visible:vis enum $name:ident { $($(#[$meaning:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visible enum $name {
            $(
                $(#[$meaning])*
                #[doc = concat!("Written `", $word, "`.")]
                $variant,
            )*
        }

        impl $name {
            /// As a study writes it.
            #[allow(dead_code, reason = "not every choice is written anywhere")]
            #[allow(unreachable_pub, reason = "it is seen wherever the type is")]
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }

        impl $crate::registry::Words for $name {
            const WORDS: &'static [&'static str] = &[$($word,)*];

            fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use words;

#[cfg(test)]
mod tests {
    use super::*;

    words! {
        enum Colour {
            Red = "red",
            DarkRed = "dark_red",
        }
    }

    #[test]
    fn every_word_is_that_of_its_variant_and_no_other_word_is_any() {
        assert_eq!(Colour::WORDS, ["red", "dark_red"]);
        for word in Colour::WORDS {
            assert_eq!(Colour::from_word(word).map(Colour::word), Some(*word));
        }
        assert_eq!(Colour::from_word("Red"), None);
    }
}
