//! What flows of one interface tell together: it is one place, so a queue between it and its senders is before all of them.
//!
//! Answers of senders are put together over the flows that were captured near theirs, so that many answers of one flow count more than few of another.

use super::vantage::SenderAnswers;

/// So many are told apart; what is beyond tells nothing together.
const MOST_INTERFACES: usize = 1000;

/// The interfaces of a capture; of a file without names there is one.
#[derive(Clone, Debug, Default)]
pub(super) struct SeenInterfaces {
    names: Vec<String>,
    /// Of each the answers of those senders that it is near.
    answers: Vec<SenderAnswers>,
    /// That of the frame that was read last.
    pub now: usize,
}

impl SeenInterfaces {
    /// The next frame is of this one.
    pub(super) fn at(&mut self, name: &str) {
        // Mostly it is the same as before.
        if self.names.get(self.now).is_some_and(|now| now == name) {
            return;
        }
        let known = self.names.iter().position(|each| each == name);
        self.now = known.unwrap_or(self.names.len());
        if self.now == self.names.len() && self.now < MOST_INTERFACES {
            self.names.push(name.to_owned());
        }
    }

    /// A sender that one is near has answered so.
    pub(super) fn add(&mut self, interface: usize, answers: SenderAnswers) {
        if interface >= MOST_INTERFACES {
            return;
        }
        if self.answers.len() <= interface {
            self.answers.resize(interface + 1, SenderAnswers::default());
        }
        self.answers[interface].join(answers);
    }

    /// Whether most answers of those that one is near were late.
    pub(super) fn is_behind_a_queue(&self, interface: usize) -> bool {
        self.answers
            .get(interface)
            .is_some_and(SenderAnswers::are_late)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers of which so many are 10 ms late, behind five packets, in a connection whose other end answers in 40 ms; the others are at once.
    fn answers(late: u64, prompt: u64) -> SenderAnswers {
        let mut answers = SenderAnswers::default();
        for at in 0..late + prompt {
            let time = 1_000_000_000 * at.cast_signed();
            for before in (1..=5).rev() {
                answers.passes(time - 1_000_000 * before);
            }
            let took = if at < late { 10_000_000 } else { 0 };
            answers.add(time, took, Some(40_000_000));
        }
        answers
    }

    #[test]
    fn an_interface_is_behind_a_queue_if_most_answers_of_all_its_senders_are_late() {
        let mut seen = SeenInterfaces::default();
        for (name, of) in [
            ("a", answers(20, 0)),
            ("b", answers(9, 11)),
            ("a", answers(0, 19)),
            ("b", answers(0, 1)),
        ] {
            seen.at(name);
            seen.add(seen.now, of);
        }
        assert!(seen.is_behind_a_queue(0));
        assert!(!seen.is_behind_a_queue(1));
        assert!(!seen.is_behind_a_queue(2));
    }

    #[test]
    fn interfaces_beyond_the_most_are_told_nothing() {
        let mut seen = SeenInterfaces::default();
        for number in 0..=MOST_INTERFACES {
            seen.at(&number.to_string());
        }
        seen.add(seen.now, answers(20, 0));
        assert!(!seen.is_behind_a_queue(seen.now));
        seen.at("0");
        assert_eq!(seen.now, 0);
    }
}
