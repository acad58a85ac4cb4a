//! Files that are made from code: written by `cargo xtask generate`, compared by `--check`.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::setup;
use crate::workspace::{cargo, output, root, succeed};

/// A file, and the arguments of the `skillsandbox` command that prints it.
const GENERATED: &[(&str, &[&str])] = &[
    ("docs/schema/skillsandbox.schema.json", &["schema", "manifest"]),
    ("docs/schema/policy.schema.json", &["schema", "policy"]),
    ("docs/schema/report.schema.json", &["schema", "report"]),
    ("docs/schema/trace.schema.json", &["schema", "trace"]),
    ("docs/checks/CHECK-01.md", &["explain", "CHECK-01"]),
    ("docs/checks/CHECK-02.md", &["explain", "CHECK-02"]),
    ("docs/checks/CHECK-03.md", &["explain", "CHECK-03"]),
    ("docs/checks/CHECK-04.md", &["explain", "CHECK-04"]),
    ("docs/checks/CHECK-05.md", &["explain", "CHECK-05"]),
    ("docs/checks/CHECK-06.md", &["explain", "CHECK-06"]),
    ("docs/checks/CHECK-07.md", &["explain", "CHECK-07"]),
    ("docs/checks/CHECK-08.md", &["explain", "CHECK-08"]),
];

pub(crate) fn write() -> anyhow::Result<()> {
    // A test of the scanner compares this one; asked to, it writes it.
    let anchors = ["test", "--quiet", "--package", "skillsandbox-scanner", "--lib", "the_anchors_are_those"];
    succeed(cargo(anchors).env("SKILLSANDBOX_GENERATE", "1"))?;
    println!("wrote crates/scanner/src/anchors.rs");
    // So do two of the enforcer, whose tables need libseccomp to be built: the filters, and the page about them.
    for test in ["the_compiled_filters_are", "the_page_of_the_profiles"] {
        let test = ["test", "--quiet", "--package", "skillsandbox-enforcer", "--lib", test];
        succeed(cargo(test).envs(setup::run()?).env("SKILLSANDBOX_GENERATE", "1"))?;
    }
    println!("wrote crates/enforcer/src/seccomp/compiled and docs/seccomp.md");
    // And one of the tracer, for the page of the classes.
    let classes = ["test", "--quiet", "--package", "skillsandbox-tracer", "--lib", "the_page_of_the_classes"];
    succeed(cargo(classes).env("SKILLSANDBOX_GENERATE", "1"))?;
    println!("wrote docs/classification.md");
    for (file, args) in GENERATED {
        let path = root().join(file);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, made(args)?).with_context(|| format!("cannot write {file}"))?;
        println!("wrote {file}");
    }
    Ok(())
}

/// Compares the files with what the command prints: the one given, where it was built a moment ago, or one built for this.
pub(crate) fn check(command: Option<&Path>) -> anyhow::Result<()> {
    let mut stale = Vec::new();
    for (file, args) in GENERATED {
        let there = fs::read_to_string(root().join(file)).unwrap_or_default();
        let made = match command {
            Some(command) => output(Command::new(command).args(*args).current_dir(root()))?,
            None => made(args)?,
        };
        if there == made {
            println!("{file} is fresh");
        } else {
            stale.push(*file);
        }
    }
    if !stale.is_empty() {
        bail!("stale: {}; run `cargo xtask generate` and commit the result", stale.join(", "));
    }
    Ok(())
}

fn made(args: &[&str]) -> anyhow::Result<String> {
    output(cargo(["run", "--quiet", "--package", "skillsandbox", "--"]).args(args))
}
