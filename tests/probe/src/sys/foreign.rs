//! Calls by the doors of other architectures that one kernel keeps open: a filter that knows numbers of one table only is deaf there.

use std::io;

/// The 32-bit door, `int 0x80`: `None` where the processor has none.
#[cfg(target_arch = "x86_64")]
#[must_use]
#[expect(clippy::unnecessary_wraps, reason = "on other processors there is none")]
pub(crate) fn int80(number: u32) -> Option<io::Result<i64>> {
    let result: i32;
    // SAFETY: makes a call whose arguments are all zero; callers pass numbers of calls that do nothing with null. The kernel keeps
    // every register but eax, and r8 to r11, which are declared; rbx is LLVM's own, so it is put back.
    unsafe {
        std::arch::asm!(
            "mov {kept}, rbx",
            "xor ebx, ebx",
            "int 0x80",
            "mov rbx, {kept}",
            kept = out(reg) _,
            inlateout("eax") number => result,
            inlateout("ecx") 0 => _,
            inlateout("edx") 0 => _,
            inlateout("esi") 0 => _,
            inlateout("edi") 0 => _,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _,
            options(nostack),
        );
    }
    Some(if result < 0 { Err(io::Error::from_raw_os_error(-result)) } else { Ok(result.into()) })
}

/// No such door here.
#[cfg(not(target_arch = "x86_64"))]
#[must_use]
pub(crate) fn int80(_: u32) -> Option<io::Result<i64>> {
    None
}

/// The x32 door: the 64-bit one with a bit in the number. `None` where there is none.
#[must_use]
pub(crate) fn x32_getpid() -> Option<io::Result<i64>> {
    if cfg!(not(target_arch = "x86_64")) {
        return None;
    }
    // SAFETY: the call takes no argument.
    let result = unsafe { libc::syscall(0x4000_0000 | libc::SYS_getpid) };
    Some(super::check(result))
}
