//! Which interfaces the file of a point has: at hosts one for each flow, of a link one.

use sawtooth_core::Scenario;
use sawtooth_core::internals::sim::TapPoint;

use crate::write::headers::FRAME_HEADER;
use crate::write::pcapng::CaptureInterface;

/// Those of a point. `flows`: of each flow its name, and what it is in some words; `snap`: bytes of a packet that are captured, from its IP header on, or 0 for all.
pub fn interfaces_at(
    point: TapPoint,
    scenario: &Scenario,
    flows: impl Iterator<Item = (String, String)>,
    snap: u32,
) -> Vec<CaptureInterface> {
    let snap = if snap == 0 { 0 } else { snap + FRAME_HEADER };
    let of_flows = |end: &str| {
        let interface = |(name, description)| CaptureInterface {
            name,
            description: format!("the {end} of {description}"),
            snap,
        };
        flows.map(interface).collect()
    };
    let of_link = |link: usize, end: &str| {
        let name = scenario.links[link].name.clone();
        vec![CaptureInterface {
            description: format!("the {end} of link {name}"),
            name,
            snap,
        }]
    };
    match point {
        TapPoint::Sender => of_flows("sender"),
        TapPoint::Receiver => of_flows("receiver"),
        TapPoint::Near(link) => of_link(link, "beginning"),
        TapPoint::Far(link) => of_link(link, "end"),
    }
}
