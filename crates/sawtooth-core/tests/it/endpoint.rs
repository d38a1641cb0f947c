//! An end of a connection at the end of a script: numbers of bytes in, numbers of bytes out.

use sawtooth_core::internals::cc;
use sawtooth_core::internals::endpoint::{Endpoint, WireSegment};
use sawtooth_core::registry::Params;
use sawtooth_core::units::Instant;
use serde_json::json;

use crate::script::config;

fn endpoint(active: bool, borders: &[u64]) -> Endpoint {
    let reno = &cc::TABLE[0];
    let config = config(&json!({"smss": "1000 B"}));
    let params = Params::defaults(reno.params);
    Endpoint::new(&config, reno.new, &params, active, borders.to_vec())
}

fn acknowledging(ack: u64) -> WireSegment {
    WireSegment {
        start: 1,
        ack: Some(ack),
        window: Some(65_535),
        ..WireSegment::default()
    }
}

fn accepted(borders: &[u64]) -> Endpoint {
    let mut end = endpoint(false, borders);
    let syn = WireSegment {
        syn: true,
        ..WireSegment::default()
    };
    end.receive(&syn).expect("a SYN");
    let answer = end.take();
    assert!(answer[0].syn && answer[0].ack == Some(1));
    end.advance(Instant::from_secs(0.1));
    end.receive(&acknowledging(1)).expect("an acknowledgement");
    assert!(end.is_established());
    end
}

#[test]
fn what_an_endpoint_sends_is_numbered_by_bytes_and_carries_what_it_has_to_acknowledge() {
    let mut end = accepted(&[0, 1, 101]);
    let request = WireSegment {
        length: 100,
        ..acknowledging(1)
    };
    end.receive(&request).expect("a request");
    assert!(end.take().is_empty(), "it is acknowledged later");
    end.write(1500);
    let mut left = end.take();
    // The rest is less than a segment, and waits until all that is outstanding is acknowledged (RFC 896).
    assert_eq!(left.len(), 1);
    end.receive(&acknowledging(1001))
        .expect("an acknowledgement");
    left.append(&mut end.take());
    let numbers: Vec<_> = left
        .iter()
        .map(|one| (one.start, one.length, one.ack))
        .collect();
    assert_eq!(numbers, [(1, 1000, Some(101)), (1001, 500, Some(101))]);
    assert_eq!(end.delivered(), 100);
}

#[test]
fn who_opens_a_connection_sends_its_syn_again_after_a_second() {
    let mut end = endpoint(true, &[0, 1]);
    end.connect();
    assert!(end.take()[0].syn);
    assert!(!end.advance(Instant::from_secs(0.9)));
    assert!(end.advance(Instant::from_secs(2.0)));
    let again = end.take();
    assert!(again[0].syn && again[0].time == Instant::from_secs(1.0));
}

#[test]
fn what_the_model_has_no_word_for_is_told_of() {
    let mut end = accepted(&[0, 1, 101, 201]);
    end.write(1000);
    let refused = end
        .receive(&acknowledging(500))
        .expect_err("half a segment");
    assert!(refused.to_string().contains("a part of a segment"));
    let both = WireSegment {
        length: 200,
        ..acknowledging(1)
    };
    let refused = end.receive(&both).expect_err("two segments in one");
    assert!(refused.to_string().contains("overlap"));
}
