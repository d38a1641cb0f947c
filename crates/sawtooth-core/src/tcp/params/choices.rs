//! Enums for choices of the table that belong to no single part: each variant beside the word that stands for it in a study.

use crate::registry::words;

words! {
    /// How losses are detected and repaired.
    pub enum RecoveryKind {
        Tahoe = "tahoe",
        Reno = "reno",
        NewReno = "newreno",
        Sack = "sack",
        Fack = "fack",
        Rack = "rack",
    }
}

impl RecoveryKind {
    /// Whether acknowledgements are selective.
    pub fn has_sack(self) -> bool {
        matches!(self, Self::Sack | Self::Fack | Self::Rack)
    }

    /// Whether the sender keeps what it knows of every segment: RACK's, and FACK's, which is the same with another rule for losses.
    #[inline]
    pub fn keeps_segments(self) -> bool {
        matches!(self, Self::Fack | Self::Rack)
    }
}

words! {
    /// What a loss reduces.
    pub enum ReduceFrom {
        FlightSize = "flight_size",
        Window = "window",
    }
}

words! {
    /// As what or whom congestion controls are.
    pub enum Algorithms {
        Specification = "specification",
        Ns2 = "ns2",
        Linux = "linux",
        Linux32 = "linux-3.2",
    }
}

words! {
    /// Which partial acknowledgements restart the retransmission timer.
    pub enum PartialAckTimer {
        First = "first",
        Every = "every",
    }
}

words! {
    /// The window at the end of NewReno's recovery.
    pub enum ExitWindow {
        FlightSize = "flight_size",
        Keep = "keep",
    }
}

words! {
    /// How SACK recovery estimates what is in the path.
    pub enum SackPipe {
        Scoreboard = "scoreboard",
        Counter = "counter",
    }
}

words! {
    /// When few duplicate acknowledgements signal a loss where little is outstanding.
    pub enum EarlyRetransmit {
        Off = "off",
        AtOnce = "at_once",
        Delayed = "delayed",
    }
}

words! {
    /// The window after a pause.
    pub enum RestartAfterIdle {
        Off = "off",
        RestartWindow = "restart_window",
        Decay = "decay",
    }
}

words! {
    /// What follows when a timestamp shows that a retransmission was needless.
    pub enum Eifel {
        Off = "off",
        Window = "window",
        WindowAndTimeout = "window_and_timeout",
    }
}

words! {
    /// What a receiver echoes of marks.
    pub enum Feedback {
        Off = "off",
        Classic = "classic",
        Dctcp = "dctcp",
        Accurate = "accurate",
    }
}

words! {
    /// Where between two ticks a host's clock starts.
    pub enum TickPhase {
        Zero = "zero",
        Random = "random",
        Ns2 = "ns2",
    }
}

words! {
    /// How proportional rate reduction catches up once less than the threshold is in the path.
    pub enum PrrBound {
        /// As slow start, where nothing new was found lost (RFC 9937 §6).
        SafeAck = "safe_ack",
        /// As slow start: the Slow Start Reduction Bound (RFC 6937 §3).
        SlowStart = "ssrb",
        /// Packet conservation: the Conservative Reduction Bound (RFC 6937 §3).
        Conservative = "crb",
    }
}
