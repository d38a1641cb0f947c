//! Captures of packets: what a simulated or a real network carried, as files that others open, and files of others as what a connection did.
//!
//! [`segment`] is what both sides share: a TCP segment as its headers say it. Writing makes bytes of it, reading makes it of bytes ([`read`]); [`analysis`] makes
//! tables of what was read.

#![forbid(unsafe_code)]

pub mod analysis;
pub mod interfaces;
pub mod read;
pub mod segment;
pub mod simulated;
pub mod write;
