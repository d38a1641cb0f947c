//! Loss episodes as a capture shows them: from a retransmission to the acknowledgement of all that had been sent by then (the recovery point of RFC 6675 §4).

/// What made a sender send again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    Dupack,
    Sack,
    Probe,
    Timer,
    Unseen,
}

impl Cause {
    /// As the simulator's table of episodes has it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Dupack => "dupack",
            Self::Sack => "sack",
            Self::Probe => "tail_loss_probe",
            Self::Timer => "rto",
            Self::Unseen => "unseen",
        }
    }
}

/// The state in which an episode begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beginning {
    pub recovery_point: i64,
    pub flight: i64,
    pub dupacks: u64,
    pub silence_ns: i64,
}

/// An episode.
#[derive(Clone, Debug)]
pub(super) struct CapturedEpisode {
    pub start_ns: i64,
    pub end_ns: Option<i64>,
    pub cause: Cause,
    pub beginning: Beginning,
    pub retransmits: u64,
    pub timeouts: u64,
}

/// Beyond so many episodes of a flow they are only counted.
const MOST_EPISODES: usize = 100_000;

/// Episodes of one direction.
#[derive(Clone, Debug, Default)]
pub(super) struct SeenLosses {
    pub episodes: Vec<CapturedEpisode>,
    pub fast: u64,
    pub timeouts: u64,
    pub probes: u64,
    current: Option<CapturedEpisode>,
}

impl SeenLosses {
    pub(super) fn is_open(&self) -> bool {
        self.current.is_some()
    }

    pub(super) fn on_retransmission(&mut self, time_ns: i64, cause: Cause, beginning: Beginning) {
        let is_timeout = cause == Cause::Timer;
        self.timeouts += u64::from(is_timeout);
        self.probes += u64::from(cause == Cause::Probe);
        if let Some(current) = &mut self.current {
            current.retransmits += 1;
            current.timeouts += u64::from(is_timeout);
            return;
        }
        self.fast += u64::from(matches!(cause, Cause::Dupack | Cause::Sack));
        self.current = Some(CapturedEpisode {
            start_ns: time_ns,
            end_ns: None,
            cause,
            beginning,
            retransmits: 1,
            timeouts: u64::from(is_timeout),
        });
    }

    /// All below a number is acknowledged.
    pub(super) fn on_progress(&mut self, ack: i64, time_ns: i64) {
        let is_over = |episode: &mut CapturedEpisode| ack >= episode.beginning.recovery_point;
        if let Some(mut episode) = self.current.take_if(is_over) {
            episode.end_ns = Some(time_ns);
            self.keep(episode);
        }
    }

    /// The capture is over.
    pub(super) fn finish(&mut self) {
        if let Some(episode) = self.current.take() {
            self.keep(episode);
        }
    }

    fn keep(&mut self, episode: CapturedEpisode) {
        if self.episodes.len() < MOST_EPISODES {
            self.episodes.push(episode);
        }
    }
}
