//! Options of sockets that nix does not know, and one for all sockets at once.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::ptr;

use nix::errno::Errno;
use nix::sys::socket::{setsockopt, sockopt};

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

/// Has all sockets that this process holds end by a reset when they are closed (ABORT of RFC 9293, 3.10.5).
pub fn abort_open() -> io::Result<()> {
    for entry in fs::read_dir("/proc/self/fd")? {
        let Ok(number) = entry?.file_name().to_string_lossy().parse() else {
            continue;
        };
        // SAFETY: who else closes it meanwhile finds that an option of a number that is no socket cannot be set.
        let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
        let at_once = libc::linger {
            l_onoff: 1,
            l_linger: 0,
        };
        match setsockopt(&descriptor, sockopt::Linger, &at_once) {
            Ok(()) | Err(Errno::ENOTSOCK | Errno::EBADF | Errno::ENOPROTOOPT | Errno::EINVAL) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
