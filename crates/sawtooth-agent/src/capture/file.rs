//! A file of one point: what has been seen waits here until nothing earlier can be seen any more.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::AsRawFd;

use sawtooth_capture::simulated::EPOCH_NS;
use sawtooth_capture::write::headers::CapturedBytes;
use sawtooth_capture::write::pcapng::{InterfaceCounts, PacketRecord, PacketWay, PcapngWriter};
use sawtooth_core::internals::sim::TapPoint;
use sawtooth_core::units::Instant;

use super::UnseenPackets;

/// A file of one point: as simulated captures have it, at hosts with an interface for each flow.
#[derive(Debug)]
pub(super) struct KernelFile {
    pub(super) point: TapPoint,
    pub(super) counts: Vec<InterfaceCounts>,
    /// Packets that should be in it and are not. What the queue of a link drops is none of them.
    pub(super) missing: u64,
    /// What has been seen and is not written yet.
    pub(super) waiting: Vec<SeenFrame>,
    pub(super) writer: PcapngWriter<BufWriter<WrittenThrough>>,
}

/// A packet that waits to be written.
#[derive(Debug)]
pub(super) struct SeenFrame {
    pub(super) interface: usize,
    pub(super) time: Instant,
    pub(super) frame: CapturedBytes,
    pub(super) way: PacketWay,
    pub(super) comment: Option<&'static str>,
}

impl KernelFile {
    /// Writes what waits and was seen before this, in the order of time.
    pub(super) fn settle(&mut self, until: Instant) -> io::Result<()> {
        self.waiting
            .sort_by(|one, other| one.time.total_cmp(&other.time));
        let due = self.waiting.partition_point(|seen| seen.time < until);
        for seen in self.waiting.drain(..due) {
            self.writer.packet(&PacketRecord {
                interface: u32::try_from(seen.interface).map_err(io::Error::other)?,
                time_ns: since_1970(seen.time),
                bytes: &seen.frame.bytes,
                length: seen.frame.length,
                way: seen.way,
                comment: seen.comment,
            })?;
        }
        Ok(())
    }

    /// Ends the file; how many packets are not in it.
    pub(super) fn finish(mut self, end: Instant, unseen: UnseenPackets) -> io::Result<u64> {
        let unseen = match self.point {
            TapPoint::Sender => unseen.sender,
            TapPoint::Receiver => unseen.receiver,
            TapPoint::Near(_) => unseen.near,
            TapPoint::Far(_) => unseen.far,
        };
        self.settle(Instant::NEVER)?;
        if unseen > 0 {
            self.missing += unseen;
            let counts = &mut self.counts[0];
            counts.received += unseen;
            counts.dropped += unseen;
            counts.comment = Some("where packets of all flows are seen there was no room for some");
        }
        for (interface, counts) in (0..).zip(&self.counts) {
            let (start, end) = (since_1970(Instant::START), since_1970(end));
            self.writer.statistics(interface, start, end, *counts)?;
        }
        self.writer.finish()?;
        Ok(self.missing)
    }
}

fn since_1970(time: Instant) -> u64 {
    EPOCH_NS + time.as_ns().unsigned_abs()
}

/// A file whose content leaves the kernel's memory at once, if so wished. In a guest without a clock of its own, a kernel that has kept too much of a file lets whoever writes wait: time would pass.
#[derive(Debug)]
pub(super) struct WrittenThrough {
    pub(super) file: File,
    pub(super) at_once: bool,
}

impl Write for WrittenThrough {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        if self.at_once {
            let flags = libc::SYNC_FILE_RANGE_WRITE | libc::SYNC_FILE_RANGE_WAIT_AFTER;
            // SAFETY: a file of ours, and no memory.
            let result = unsafe { libc::sync_file_range(self.file.as_raw_fd(), 0, 0, flags) };
            if result < 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
