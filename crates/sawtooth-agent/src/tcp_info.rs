//! What the kernel reports of a connection (`TCP_INFO`, linux/tcp.h).

use std::io;
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd};

/// States of a connection whose end has nothing more to do (enum `tcp_state` of netinet/tcp.h): waiting for late packets, and closed.
const ENDED: [u8; 2] = [6, 7];

/// `struct tcp_info` as far as it is used; an older kernel leaves the later fields at zero.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct TcpInfo {
    state: [u8; 8],
    pub rto: u32,
    ato: u32,
    pub snd_mss: u32,
    rcv_mss: u32,
    pub unacked: u32,
    pub sacked: u32,
    pub lost: u32,
    pub retrans: u32,
    fackets: u32,
    last: [u32; 4],
    pmtu: u32,
    rcv_ssthresh: u32,
    /// Smoothed round-trip time and its variation, us.
    pub rtt: u32,
    pub rttvar: u32,
    /// Segments.
    pub snd_ssthresh: u32,
    pub snd_cwnd: u32,
    pub advmss: u32,
    reordering: u32,
    rcv_rtt: u32,
    rcv_space: u32,
    pub total_retrans: u32,
    pacing_rate: u64,
    max_pacing_rate: u64,
    pub bytes_acked: u64,
    pub bytes_received: u64,
    pub segs_out: u32,
    segs_in: u32,
    notsent_bytes: u32,
    /// us.
    pub min_rtt: u32,
    data_segs_in: u32,
    pub data_segs_out: u32,
    delivery_rate: u64,
    pub busy_time: u64,
    pub rwnd_limited: u64,
    pub sndbuf_limited: u64,
    delivered: u32,
    delivered_ce: u32,
    bytes_sent: u64,
    pub bytes_retrans: u64,
    pub dsack_dups: u32,
    reord_seen: u32,
}

impl TcpInfo {
    /// Segments that are thought to be in the network (RFC 6675 §4's pipe).
    pub fn pipe(&self) -> u64 {
        let out = u64::from(self.unacked) + u64::from(self.retrans);
        out.saturating_sub(u64::from(self.sacked) + u64::from(self.lost))
    }

    /// Whether the connection has ended on this side.
    pub fn is_closed(&self) -> bool {
        ENDED.contains(&self.state[0])
    }

    /// Of the socket, now.
    pub fn of(socket: BorrowedFd<'_>) -> io::Result<Self> {
        let mut info = Self::default();
        let mut length =
            libc::socklen_t::try_from(mem::size_of::<Self>()).expect("a small structure");
        // SAFETY: the kernel writes at most `length` bytes into a structure of plain numbers.
        let result = unsafe {
            libc::getsockopt(
                socket.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_INFO,
                (&raw mut info).cast(),
                &raw mut length,
            )
        };
        if result < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(info)
        }
    }
}
