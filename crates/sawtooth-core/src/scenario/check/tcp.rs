//! Parameters of TCP, and of congestion controls, that contradict each other.

use serde_json::Value as Json;

use super::super::error::{Result, at};
use super::super::origins::TcpTables;
use crate::cc;
use crate::registry::Params;
use crate::spec::Part;
use crate::tcp::key;
use crate::tcp::pacer::PacedFlows;
use crate::tcp::receiver::buffer::memory;
use crate::units::ByteCount;

/// Parameters that a flow will have, and where they are written.
pub(in crate::scenario) fn check(tcp: &Params, written: &TcpTables) -> Result<()> {
    timeouts(tcp, written)?;
    buffer_limits(tcp, written)?;
    receive_buffer(tcp, written)?;
    pacing(tcp, written)
}

/// The timeout's bounds leave room between them.
fn timeouts(tcp: &Params, written: &TcpTables) -> Result<()> {
    let (least, most) = (key::rto_min.of(tcp).secs(), key::rto_max.of(tcp).secs());
    if least <= most {
        return Ok(());
    }
    Err(at(
        written.place_or_common(key::rto_min.name),
        format!("`rto_min` is {least} s, above `rto_max`, which is {most} s"),
    ))
}

/// No buffer is larger than it may become.
fn buffer_limits(tcp: &Params, written: &TcpTables) -> Result<()> {
    for (first, most) in [
        (key::receive_buffer_default, key::receive_buffer_max),
        (key::send_buffer_default, key::send_buffer_max),
    ] {
        let limit = most.of(tcp);
        let (first, most, size) = (first.name, most.name, first.of(tcp));
        if let Some(size) = size.filter(|size| *size > limit) {
            // Blame the key that was written, and where.
            let place = written.own(first).or_else(|| written.own(most));
            let place = place.or_else(|| written.place(first));
            return Err(at(
                place.unwrap_or_else(|| written.place_or_common(most)),
                format!("`{first}` is {size} B, above `{most}`, which is {limit} B"),
            )
            .hint("set both, or the first to \"none\" for a buffer without limits"));
        }
    }
    Ok(())
}

/// What of a receive buffer is for data holds a segment.
pub(super) fn receive_buffer(tcp: &Params, written: &TcpTables) -> Result<()> {
    let Some(size) = key::receive_buffer_default.of(tcp) else {
        return Ok(());
    };
    let smss = key::smss.of(tcp).get();
    let window = memory::share(ByteCount::new(size), key::adv_win_scale.of(tcp)).get();
    if window >= smss {
        return Ok(());
    }
    Err(at(
        written.place_or_common(key::receive_buffer_default.name),
        format!(
            "of a buffer of {size} B {window} B are for data: less than a segment, of {smss} B"
        ),
    )
    .hint("with adv_win_scale = 1, half of the buffer is for data"))
}

/// A flow that is not paced has no rate to bound.
fn pacing(tcp: &Params, written: &TcpTables) -> Result<()> {
    if key::pacing.of(tcp) != PacedFlows::Never || key::max_pacing_rate.of(tcp).is_none() {
        return Ok(());
    }
    Err(at(
        written.place_or_common(key::max_pacing_rate.name),
        "a flow that is not paced cannot have a `max_pacing_rate`",
    )
    .hint("leave one of the two out: a `max_pacing_rate` paces with `pacing = \"algorithm\"`, too"))
}

/// Parameters of a congestion control whose order is known.
pub(in crate::scenario) fn congestion_control(cc: &Part, json: &Json, path: &str) -> Result<()> {
    let Some(((low, least), order, (high, most))) = cc::named(cc.name).out_of_order(&cc.params)
    else {
        return Ok(());
    };
    let (wanted, remedy) = match order {
        cc::ParamOrder::Below => ("has to be below", "below"),
        cc::ParamOrder::AtMost => ("cannot be above", "to no more than"),
    };
    // Blame one that was written.
    let written = [low, high].into_iter().find(|key| json.get(key).is_some());
    Err(at(
        format!("{path}.{}", written.unwrap_or(low)),
        format!("`{low}` is {least}, and {wanted} `{high}`, which is {most}"),
    )
    .hint(&format!("set `{low}` {remedy} `{high}`")))
}
