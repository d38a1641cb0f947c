//! The vector registers of the guest's processes, on processors that have more of them than the kernel has room for.
//!
//! A user-mode kernel keeps a process's registers in a buffer of its own size and writes them back with `ptrace`. The host takes the whole of what the processor has, or nothing (`EFAULT`): with
//! AMX, whose tiles need 8 KiB, a kernel that is older than those panics with the first process. Here the rest of the registers is what the process has already.

use std::ffi::{c_int, c_long, c_void};
use std::ptr;
use std::sync::{Mutex, PoisonError};

use libc::{iovec, pid_t};

/// More than any processor has: with AMX it is 11 KiB.
const MOST: usize = 1 << 15;
/// `NT_X86_XSTATE` of `elf.h`: all that the processor saves of a process.
const XSTATE: usize = 0x202;

/// Room for the whole: the guest's stacks are smaller.
static WHOLE: Mutex<[u8; MOST]> = Mutex::new([0; MOST]);

/// # Safety
/// As of the function of that name in libc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptrace(
    request: c_int,
    pid: pid_t,
    address: *mut c_void,
    data: *mut c_void,
) -> c_long {
    // The system call writes what it has peeked where the C library's function returns it.
    let peeks = [
        libc::PTRACE_PEEKTEXT,
        libc::PTRACE_PEEKDATA,
        libc::PTRACE_PEEKUSER,
    ]
    .contains(&request.cast_unsigned());
    let mut peeked: c_long = 0;
    let data = if peeks {
        (&raw mut peeked).cast()
    } else {
        data
    };
    // SAFETY: the arguments are those of the caller.
    let done = unsafe { call(request, pid, address, data) };
    if peeks && done == 0 {
        return peeked;
    }
    let partial =
        done < 0 && request.cast_unsigned() == libc::PTRACE_SETREGSET && address.addr() == XSTATE;
    // SAFETY: the caller passes a vector, as this request wants one.
    if partial && unsafe { *libc::__errno_location() } == libc::EFAULT {
        unsafe { set_first(pid, &*data.cast::<iovec>()) }
    } else {
        done
    }
}

/// # Safety
/// As of `ptrace`.
unsafe fn call(request: c_int, pid: pid_t, address: *mut c_void, data: *mut c_void) -> c_long {
    unsafe { libc::syscall(libc::SYS_ptrace, c_long::from(request), pid, address, data) }
}

/// Sets the first of the registers, and leaves the others.
///
/// # Safety
/// The vector is of bytes that may be read.
unsafe fn set_first(pid: pid_t, first: &iovec) -> c_long {
    let mut whole = WHOLE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut vector = iovec {
        iov_base: whole.as_mut_ptr().cast(),
        iov_len: MOST,
    };
    let request = |request: u32, vector: &mut iovec| {
        let kind = ptr::without_provenance_mut(XSTATE);
        // SAFETY: the vector is of the room above.
        unsafe {
            call(
                request.cast_signed(),
                pid,
                kind,
                ptr::from_mut(vector).cast(),
            )
        }
    };
    let got = request(libc::PTRACE_GETREGSET, &mut vector);
    if got < 0 {
        return got;
    }
    let length = first.iov_len.min(vector.iov_len);
    // SAFETY: both have so many bytes.
    unsafe { ptr::copy_nonoverlapping(first.iov_base.cast(), whole.as_mut_ptr(), length) };
    request(libc::PTRACE_SETREGSET, &mut vector)
}
