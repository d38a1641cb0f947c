//! One run of a scenario, read as JSON from the input, and what it took: the program whose instructions `make instructions` counts.

use std::io::Read;

use sawtooth_core::internals::sim::simulate_within_limits;
use sawtooth_core::scenario;

fn main() {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .expect("a scenario on the input");
    let tree = serde_json::from_str(&text).expect("JSON");
    let scenario = scenario::from_tree(&tree).unwrap_or_else(|error| panic!("{error}"));
    let (_, effort) =
        simulate_within_limits(&scenario, 1).unwrap_or_else(|error| panic!("{error}"));
    println!("{}", effort.delivered_packets);
}
