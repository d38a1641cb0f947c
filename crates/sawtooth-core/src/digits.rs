//! Whole numbers as they are written, without the machinery for any format: names are made of them for each of very many flows.

/// Room for the digits of any number.
#[derive(Debug)]
pub(crate) struct Digits([u8; 20]);

impl Digits {
    pub(crate) const fn new() -> Self {
        Self([b'0'; 20])
    }

    /// Those of a number, the first first.
    pub(crate) fn of(&mut self, number: u64) -> &str {
        let (mut from, mut rest) = (self.0.len() - 1, number);
        loop {
            self.0[from] = b'0' + u8::try_from(rest % 10).expect("a digit");
            rest /= 10;
            if rest == 0 {
                break;
            }
            from -= 1;
        }
        std::str::from_utf8(&self.0[from..]).expect("digits are ASCII")
    }
}

/// `name[number]`.
pub(crate) fn numbered(name: &str, number: usize) -> String {
    [name, "[", Digits::new().of(number as u64), "]"].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_that_are_written() {
        for number in [0, 7, 10, 99, 1_234_567_890, u64::MAX] {
            assert_eq!(Digits::new().of(number), number.to_string());
        }
        assert_eq!(numbered("flow", 12), "flow[12]");
    }
}
