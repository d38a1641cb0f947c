//! What follows from several rows: windows in segments, the clocks of the two hosts, and the parameters of parts, which know no table.

use super::choices::{RecoveryKind, TickPhase};
use super::table::key;
use super::window::{UNLIMITED, WindowSetting};
use crate::registry::{ParamKey, Params};
use crate::tcp::pacer::Pacing;
use crate::tcp::receiver::{ack_policy, sack_compression};
use crate::tcp::rto::RtoConfig;
use crate::tcp::segmentation::Segmentation;
use crate::tcp::ticks::Ticks;
use crate::units::{ByteCount, Duration, Rate, SegCount, WindowSize, ceil};

/// The upper bound of RFC 5681 §3.1 if nothing is set.
pub(super) fn initial_window(params: &Params) -> WindowSize {
    match window(params, key::initial_window) {
        Some(window) => window.trunc().max(WindowSize::ONE),
        None => rfc5681_initial_window(key::smss.of(params)),
    }
}

/// The window's limit if nothing is set.
pub(super) fn initial_ssthresh(params: &Params) -> WindowSize {
    window(params, key::initial_ssthresh).unwrap_or_else(|| window_limit(params))
}

/// Whole segments, which may be none.
pub(super) fn window_limit(params: &Params) -> WindowSize {
    window(params, key::window_limit).map_or(UNLIMITED, WindowSize::trunc)
}

/// Nothing where short segments count as full ones.
pub(super) fn window_limit_bytes(params: &Params) -> Option<ByteCount> {
    match key::window_limit.of(params) {
        Some(WindowSetting::Bytes(bytes)) if key::byte_window.of(params) => Some(bytes),
        _ => None,
    }
}

fn window(params: &Params, key: ParamKey<Option<WindowSetting>>) -> Option<WindowSize> {
    let smss = key::smss.of(params);
    Some(key.of(params)?.of_segments(smss))
}

/// A host's clock, whose `phase` is one of the two.
pub(super) fn ticks(params: &Params, phase: ParamKey<Option<Duration>>) -> Ticks {
    let mut ticks = Ticks::of(key::timer_tick.of(params));
    ticks.whole = key::whole_ticks.of(params);
    ticks.wheel = key::timer_wheel.of(params) && ticks.tick > Duration::ZERO;
    if let Some(phase) = phase.of(params) {
        ticks.phase = phase;
    }
    ticks.reading(key::clock_reading.of(params))
}

/// Whether a phase comes from the run's seed.
pub(super) fn is_drawn(params: &Params, phase: ParamKey<Option<Duration>>) -> bool {
    key::tick_phase.of(params) == TickPhase::Random && phase.of(params).is_none()
}

/// Where losses are found by what is reported of each segment the host's clock drives the retransmission timer, too.
fn counts_timeouts_in_ticks(params: &Params) -> bool {
    matches!(
        key::recovery.of(params),
        RecoveryKind::Fack | RecoveryKind::Rack
    )
}

pub(super) fn rto(params: &Params) -> RtoConfig {
    RtoConfig {
        estimator: key::rto_estimator.of(params),
        granularity: key::rto_granularity.of(params),
        initial: key::rto_initial.of(params),
        min: key::rto_min.of(params),
        max: key::rto_max.of(params),
        ticks: counts_timeouts_in_ticks(params).then(|| ticks(params, key::sender_phase)),
    }
}

pub(super) fn pacing(params: &Params) -> Pacing {
    Pacing {
        paced: key::pacing.of(params),
        slow_start_ratio: key::pacing_ss_ratio.of(params),
        avoidance_ratio: key::pacing_ca_ratio.of(params),
        max: key::max_pacing_rate.of(params).unwrap_or(Rate::INFINITE),
        free_start: key::pacing_free_start.of(params).unwrap_or_default(),
        credit: key::pacing_credit.of(params),
    }
}

/// Nothing where segments leave one by one.
pub(super) fn segmentation(params: &Params) -> Option<Segmentation> {
    key::segmentation_offload.of(params).then(|| Segmentation {
        max: key::tso_max_bytes.of(params),
        min: key::tso_min_segments.of(params),
        interval: key::tso_interval.of(params),
        rtt_log: key::tso_rtt_log.of(params),
        window_divisor: key::tso_window_divisor.of(params),
    })
}

/// In-order segments per acknowledgement; a share is of the whole segments of the window's limit.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "segments of a window, which is limited"
)]
pub(super) fn ack_every(params: &Params) -> SegCount {
    let window = window_limit(params);
    match key::ack_window_share.of(params) {
        Some(share) if window < UNLIMITED => {
            SegCount::new(ceil(share * window.segments()).max(1.0) as u64)
        }
        _ => SegCount::from(key::ack_every.of(params)),
    }
}

pub(super) fn delayed_ack(params: &Params) -> ack_policy::DelayedAckSettings {
    ack_policy::DelayedAckSettings {
        policy: key::delayed_ack.of(params),
        pushed: Duration::from_secs(key::delayed_ack_pushed.of(params)),
        most: Duration::from_secs(key::delayed_ack_most.of(params)),
    }
}

/// Nothing where each segment out of order is acknowledged at once.
pub(super) fn sack_compression(
    params: &Params,
) -> Option<sack_compression::SackCompressionSettings> {
    let delay = key::sack_compression_delay.of(params);
    let is_selective = key::recovery.of(params).has_sack();
    (delay > 0.0 && is_selective).then(|| sack_compression::SackCompressionSettings {
        delay: Duration::from_secs(delay),
        slack: Duration::from_secs(key::sack_compression_slack.of(params)),
        max: SegCount::new(key::sack_compression_max.of(params)),
        clock: ticks(params, key::receiver_phase).clock,
    })
}

/// The upper bound of RFC 5681 §3.1 on the initial window.
fn rfc5681_initial_window(smss: ByteCount) -> WindowSize {
    WindowSize::from_segments(match smss.get() {
        2191.. => 2.0,
        1096.. => 3.0,
        _ => 4.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc5681_3_1_the_initial_window_depends_on_the_segment_size() {
        let windows: Vec<f64> = [536, 1095, 1096, 2190, 2191, 8960]
            .map(|smss| rfc5681_initial_window(ByteCount::new(smss)).segments())
            .into();
        assert_eq!(windows, [4.0, 4.0, 3.0, 3.0, 2.0, 2.0]);
    }
}
