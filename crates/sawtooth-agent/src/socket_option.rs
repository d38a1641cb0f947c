//! Options of sockets that nix does not know.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;

/// Sets an option of a protocol, whose value is of the type that the kernel has it in.
pub fn set<T>(socket: &OwnedFd, level: i32, name: i32, value: &T) -> io::Result<()> {
    let length = libc::socklen_t::try_from(size_of::<T>()).expect("a few bytes");
    // SAFETY: the option's value is what is pointed to, and is only read.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            ptr::from_ref(value).cast(),
            length,
        )
    };
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}
