//! `cargo xtask eval`: the scanner on a labelled corpus. The work is `tests/scanner-eval`, built optimised and only when it is asked for.

use crate::workspace::{cargo, succeed};

pub(crate) fn run(args: &[&str]) -> anyhow::Result<()> {
    let mut command = cargo(["run", "--quiet", "--release", "--package", "skillsandbox-scanner-eval"]);
    // A corpus is named as seen from where the command was typed, which is where this runs too.
    command.current_dir(std::env::current_dir()?).arg("--").args(args);
    succeed(&mut command)
}
