//! Whether a program was built as it is released: one with debug information is not what a user starts.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};

/// Refuses what is not an ELF file of 64 bits without debug information.
pub(super) fn check(program: &Path) -> anyhow::Result<()> {
    let bytes = fs::read(program).with_context(|| format!("cannot read {}", program.display()))?;
    match has_debug_information(&bytes) {
        None => bail!("{} is not a program that can be looked into", program.display()),
        Some(true) => bail!(
            "{} is a debug build, or not stripped: only a released one is measured (cargo build --release)",
            program.display()
        ),
        Some(false) => Ok(()),
    }
}

/// By the names of its sections (elf(5)); nothing where they cannot be read.
fn has_debug_information(bytes: &[u8]) -> Option<bool> {
    if !bytes.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let table = usize::try_from(u64::from_le_bytes(array(bytes, 0x28)?)).ok()?;
    let [size, count, names] = [0x3a, 0x3c, 0x3e].map(|at| array(bytes, at).map(u16::from_le_bytes));
    let header = |number: u16| {
        let at = table.checked_add(usize::from(number).checked_mul(usize::from(size?))?)?;
        bytes.get(at..)
    };
    let names = header(names?)?;
    let names = bytes.get(usize::try_from(u64::from_le_bytes(array(names, 0x18)?)).ok()?..)?;
    let is_debug = |number: u16| {
        let name = usize::try_from(u32::from_le_bytes(array(header(number)?, 0)?)).ok()?;
        Some(names.get(name..)?.starts_with(b".debug_info\0"))
    };
    (0..count?).map(is_debug).try_fold(false, |found, debug| Some(found | debug?))
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_debug_build_is_told_from_a_stripped_program() {
        let own = std::env::current_exe().unwrap();
        if cfg!(debug_assertions) {
            let message = format!("{:#}", check(&own).unwrap_err());
            assert!(message.contains("debug build"), "{message}");
        }
        check(Path::new("/bin/cat")).unwrap();
        check(Path::new("/etc/passwd")).unwrap_err();
        check(Path::new("/nonexistent")).unwrap_err();
        // Cut off anywhere, it is not a program and nothing else happens.
        let bytes = fs::read("/bin/cat").unwrap();
        for length in [0, 5, 6, 0x27, 0x30, 0x3f, 0x40, bytes.len() / 2, bytes.len() - 1] {
            assert_ne!(has_debug_information(&bytes[..length]), Some(true));
        }
        assert_eq!(has_debug_information(&bytes[..0x40]), None);
    }
}
