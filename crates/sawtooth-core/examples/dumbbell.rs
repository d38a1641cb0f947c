//! Linux's CUBIC and Reno share the bottleneck of a dumbbell for a minute: what each gets.

use sawtooth_core::simulate;
use sawtooth_core::spec::{FlowSpec, LinkSpec, Scenario};
use sawtooth_core::units::{Duration, Rate};

fn main() {
    let (fast, slow) = (Rate::from_bps(1e9), Rate::from_bps(100e6));
    let (near, far) = (Duration::from_secs(0.001), Duration::from_secs(0.01));
    let left = LinkSpec::new("left", fast, near);
    let right = LinkSpec::new("right", fast, near);
    let bottleneck = LinkSpec::new("bottleneck", slow, far);
    let flow = |cc, access| {
        let flow = FlowSpec::new(cc, vec![access, 2]);
        flow.with_stack("linux").with_cc(cc)
    };
    let flows = vec![flow("cubic", 0), flow("reno", 1)];
    let links = vec![left, right, bottleneck];
    let scenario = Scenario::new(Duration::from_secs(60.0), links, flows);
    let records = simulate(&scenario, 1);
    let flows = records.table("flows").expect("always there");
    let goodputs = flows.column("goodput_bps").numbers();
    for (flow, bps) in flows.column("flow").texts().iter().zip(goodputs) {
        println!("{flow}: {:.2} Mbit/s", bps.unwrap_or_default() / 1e6);
    }
}
