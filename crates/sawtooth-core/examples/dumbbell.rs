//! CUBIC and Reno share the bottleneck of a dumbbell for a minute: what each gets.

use sawtooth_core::spec::{FlowSpec, LinkSpec, Part, Scenario};
use sawtooth_core::units::{Duration, Rate};
use sawtooth_core::{cc, simulate};

fn main() {
    let (fast, slow) = (Rate::from_bps(1e9), Rate::from_bps(100e6));
    let (near, far) = (Duration::from_secs(0.001), Duration::from_secs(0.01));
    let left = LinkSpec::new("left", fast, near);
    let right = LinkSpec::new("right", fast, near);
    let bottleneck = LinkSpec::new("bottleneck", slow, far);
    let flow = |name, access| FlowSpec {
        cc: Part::named(cc::TABLE, name).expect("a congestion control"),
        ..FlowSpec::new(name, vec![access, 2])
    };
    let flows = vec![flow("cubic", 0), flow("reno", 1)];
    let links = vec![left, right, bottleneck];
    let scenario = Scenario::new(Duration::from_secs(60.0), links, flows);
    let flows = simulate(&scenario, 1).tables.swap_remove(0);
    println!("bit/s: {:?}", flows.column("goodput_bps").numbers());
}
