//! The part of the kernel's machine for packet filters that libseccomp uses, so that a program can be tried on any call.

/// What a program says about a call (`SECCOMP_RET_*` in linux/seccomp.h).
#[derive(Debug, PartialEq, Eq)]
pub(super) enum MachineAction {
    KillProcess,
    Errno(i32),
    Notify,
    Log,
    Allow,
}

#[cfg(target_arch = "x86_64")]
pub(super) const NATIVE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
pub(super) const NATIVE: u32 = 0xc000_00b7;

/// i386, 32-bit ARM, and the other of the two that the tables know.
pub(super) const FOREIGN: &[u32] =
    &[0x4000_0003, 0x4000_0028, if NATIVE == 0xc000_003e { 0xc000_00b7 } else { 0xc000_003e }];

/// Runs a program to its answer. Jumps go forward only, so it ends.
pub(super) fn run(program: &[u8], architecture: u32, number: i32, arguments: [u64; 6]) -> MachineAction {
    let mut data = Vec::new();
    data.extend(number.to_ne_bytes());
    data.extend(architecture.to_ne_bytes());
    data.extend(0u64.to_ne_bytes()); // the instruction pointer
    data.extend(arguments.iter().flat_map(|argument| argument.to_ne_bytes()));

    let mut accumulator = 0u32;
    let mut at = 0;
    loop {
        let instruction: [u8; 8] = program[at * 8..at * 8 + 8].try_into().unwrap();
        let [code_low, code_high, if_true, if_false, operand @ ..] = instruction;
        let operand = u32::from_ne_bytes(operand);
        let place = operand as usize;
        at += 1;
        let jump = |holds: bool| usize::from(if holds { if_true } else { if_false });
        match u16::from_ne_bytes([code_low, code_high]) {
            0x20 => accumulator = u32::from_ne_bytes(data[place..place + 4].try_into().unwrap()),
            0x54 => accumulator &= operand,
            0x05 => at += place,
            0x15 => at += jump(accumulator == operand),
            0x25 => at += jump(accumulator > operand),
            0x35 => at += jump(accumulator >= operand),
            0x45 => at += jump(accumulator & operand != 0),
            0x06 => return action(operand),
            code => panic!("this machine does not know the instruction {code:#x}"),
        }
    }
}

fn action(value: u32) -> MachineAction {
    match (value & 0xffff_0000, value & 0xffff) {
        (0x8000_0000, _) => MachineAction::KillProcess,
        (0x0005_0000, errno) => MachineAction::Errno(errno.try_into().unwrap()),
        (0x7fc0_0000, _) => MachineAction::Notify,
        (0x7ffc_0000, _) => MachineAction::Log,
        (0x7fff_0000, _) => MachineAction::Allow,
        _ => panic!("no known answer: {value:#x}"),
    }
}
