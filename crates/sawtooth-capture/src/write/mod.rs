//! Writing captures: bytes of packets, and the files that they stand in.

pub mod file;
pub mod headers;
pub mod pcapng;
