//! The memory into which a packet socket copies packets (packet(7), `PACKET_RX_RING` with `TPACKET_V2`).
//!
//! A socket that is read holds on to each packet until then, and a packet that somebody else holds TCP cannot join with the next one: the receiver's memory, and with it the window that it offers, would be
//! another with a capture than without. A ring has its own copy at once, and looking into it is no system call.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::socket_option;

/// Bytes of a block, of which any size of pages is a part; a longer frame is a block of its own.
const BLOCK: usize = 1 << 16;
/// Bytes of a frame before its packet, at most.
const BEFORE: usize = 256;

#[derive(Debug)]
pub(super) struct PacketRing {
    memory: NonNull<u8>,
    /// Bytes of a frame, and how many there are.
    frame: usize,
    frames: usize,
    /// The frame that is filled next.
    at: usize,
}

impl PacketRing {
    /// Gives a socket room for so many packets of a length.
    pub(super) fn new(socket: &OwnedFd, longest: usize, packets: usize) -> io::Result<Self> {
        let version = libc::tpacket_versions::TPACKET_V2 as libc::c_int;
        set(socket, libc::PACKET_VERSION, &version)?;
        let frame = (longest + BEFORE).next_power_of_two();
        let block = frame.max(BLOCK);
        let blocks = (packets * frame).div_ceil(block);
        let frames = blocks * block / frame;
        let small = |size: usize| u32::try_from(size).map_err(io::Error::other);
        let request = libc::tpacket_req {
            tp_block_size: small(block)?,
            tp_block_nr: small(blocks)?,
            tp_frame_size: small(frame)?,
            tp_frame_nr: small(frames)?,
        };
        set(socket, libc::PACKET_RX_RING, &request)?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: new memory, wherever the kernel likes.
        let memory = unsafe {
            libc::mmap(
                ptr::null_mut(),
                frames * frame,
                access,
                libc::MAP_SHARED,
                socket.as_raw_fd(),
                0,
            )
        };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self {
            memory: NonNull::new(memory.cast()).ok_or_else(io::Error::last_os_error)?,
            frame,
            frames,
            at: 0,
        })
    }

    /// What `look` makes of the next frame, if there is one. Its room is the kernel's again then.
    pub(super) fn next<T>(&mut self, look: impl FnOnce(&[u8]) -> T) -> Option<T> {
        let user = libc::TP_STATUS_USER;
        // SAFETY: the frame is within the memory, which is ours as long as this is; frames are aligned to more than four bytes.
        let (start, status) = unsafe {
            let start = self.memory.add(self.at * self.frame);
            (start, AtomicU32::from_ptr(start.as_ptr().cast()))
        };
        if status.load(Ordering::Acquire) & user == 0 {
            return None;
        }
        // SAFETY: as above; the kernel does not touch a frame that is the user's.
        let found = look(unsafe { slice::from_raw_parts(start.as_ptr(), self.frame) });
        status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.at = (self.at + 1) % self.frames;
        Some(found)
    }
}

impl Drop for PacketRing {
    fn drop(&mut self) {
        // SAFETY: the memory that was mapped, and nobody looks at it any more.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.frames * self.frame) };
    }
}

/// Sets an option of a packet socket.
pub(super) fn set<T>(socket: &OwnedFd, name: libc::c_int, value: &T) -> io::Result<()> {
    socket_option::set(socket, libc::SOL_PACKET, name, value)
}
