//! Runs a command under a system call filter, as sandboxes do.
#![allow(unsafe_code)]

use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// What the filter forbids. `socketpair` stays allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Forbid {
    /// `socket(AF_UNIX, …)`.
    Sockets,
    /// `connect`.
    Connect,
}

/// Makes the filter part of what the command becomes, with this error as the answer to what is forbidden.
pub(super) fn forbid(command: &mut Command, what: Forbid, errno: i32) {
    let program = program(what, u32::try_from(errno).unwrap());
    // SAFETY: the closure runs in the forked child and makes two system calls; it allocates nothing.
    unsafe {
        command.pre_exec(move || {
            let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
            if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
                || libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter) != 0
            {
                return Err(std::io::Error::last_os_error());
            }
            Ok(())
        });
    }
}

fn program(what: Forbid, errno: u32) -> Vec<libc::sock_filter> {
    const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    const EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    const RETURN: u32 = libc::BPF_RET | libc::BPF_K;
    // Where the number of the call and the lower half of its first argument are in `seccomp_data`.
    const NUMBER: u32 = 0;
    const ARGUMENT: u32 = if cfg!(target_endian = "little") { 16 } else { 20 };
    let step = |code: u32, k: u32, jt: u8, jf: u8| libc::sock_filter { code: code as u16, jt, jf, k };
    let number = |number: libc::c_long| u32::try_from(number).unwrap();
    let refuse = step(RETURN, libc::SECCOMP_RET_ERRNO | errno, 0, 0);
    let allow = step(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0);
    match what {
        Forbid::Sockets => vec![
            step(LOAD, NUMBER, 0, 0),
            step(EQUAL, number(libc::SYS_socket), 0, 3),
            step(LOAD, ARGUMENT, 0, 0),
            step(EQUAL, u32::try_from(libc::AF_UNIX).unwrap(), 0, 1),
            refuse,
            allow,
        ],
        Forbid::Connect => {
            vec![step(LOAD, NUMBER, 0, 0), step(EQUAL, number(libc::SYS_connect), 0, 1), refuse, allow]
        }
    }
}
