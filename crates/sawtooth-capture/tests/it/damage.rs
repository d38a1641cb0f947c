//! Captures with random damage: whatever a file holds, it is read without a panic, and what comes of it adds up.

use std::ops::ControlFlow;

use proptest::prelude::*;
use sawtooth_capture::analysis::Analysis;
use sawtooth_capture::read::{Tally, decode, read_frames};

use super::files::{Pcapng, around, ethernet, ipv4, ipv6, pcap};

/// Files of both kinds with a bit of everything.
fn whole(which: usize) -> Vec<u8> {
    let frames = [
        ethernet(&[], 0x0800, &ipv4(300)),
        ethernet(&[0x8100], 0x86dd, &ipv6(0)),
        ethernet(&[], 0x0800, &around(4, &ipv4(20))),
        ethernet(&[], 0x0800, &ipv4(1400)),
    ];
    let mut file = Pcapng::new(which == 1);
    file.interface(1, 6, "eth0");
    for (at, frame) in (0..).zip(&frames) {
        file.packet(0, at * 1000, frame, "a comment");
        file.simple_packet(frame);
    }
    let timed: Vec<_> = (0..)
        .zip(frames)
        .map(|(at, frame)| (at, 0, frame))
        .collect();
    match which {
        0 | 1 => file.file,
        _ => pcap(which == 3, 0xa1b2_c3d4, 1, &timed, 1000),
    }
}

proptest! {
    #[test]
    fn a_damaged_file_is_read_without_a_panic(
        which in 0usize..4,
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        kept in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let mut file = whole(which);
        for (place, byte) in flips {
            // Headers of the file stay mostly whole, else most cases would end there.
            let at = 24 + place.index(file.len() - 24);
            file[at] = byte;
        }
        if is_cut {
            file.truncate(kept.index(file.len()));
        }
        let (mut analysis, mut tally) = (Analysis::keeping(3), Tally::default());
        let mut decoded = 0u64;
        let read = read_frames(&file[..], &mut |frame, _| {
            analysis.frame(frame.time_ns);
            if let Some(packet) = decode(&frame, &mut tally) {
                decoded += 1;
                analysis.packet(&packet);
            }
            ControlFlow::Continue(())
        });
        let (tables, _) = analysis.finish();
        let seen: f64 = tables.flows.column("sent_packets").numbers().into_iter().flatten().sum();
        // A direction without data has no row.
        #[expect(clippy::cast_precision_loss, reason = "a few")]
        let decoded = decoded as f64;
        prop_assert!(seen <= decoded);
        if let Ok(facts) = read {
            prop_assert!(facts.bytes <= file.len() as u64);
        }
    }
}
