//! `docs/seccomp.md`, made from the tables by a test that `cargo xtask generate` runs, and compared by the same test.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::groups::{DENIED, FUTURE, GROUPS, RESTRICTED};
use super::table::{
    ArgumentRule, ArgumentTest, CallList, DenialAnswer, ListedCall, ProfileScope, RestrictedGroup,
};

const BEGINNING: &str = "\
# System calls: what each profile allows

Made by `cargo xtask generate` from the tables in `crates/enforcer/src/seccomp/groups/`; a test compares.

`permissions.syscalls.profile` in a manifest names one of three profiles:

- **default** allows what ordinary programs need, and nothing that leads out of the sandbox or deep into the kernel.
- **strict** is default without sockets, without new processes (threads are allowed), and with signals only to itself.
- **permissive** refuses nothing but `clone3` and what could not be watched: what default would refuse passes, and is reported.

A profile is an allow-list. A call that is neither here nor below, or not with these arguments, fails with `EPERM`. With an
observer, a refused call goes to it first, so that the trace has it; the caller is told the same.

In every profile a program for another architecture (i386 on x86-64, 32-bit ARM on aarch64), or one that uses the x32 interface, is
killed at its first call: there the same numbers are other calls, so that the filter would say nothing about them.

Conditions compare the 32 bits of an argument that the kernel reads, or fewer, and never those above, in which a caller can put what
it likes. `argument 0` is the first. A filter sees no memory, so there are no conditions on what an argument points to.

## What it does not protect

- Holes in the calls that are allowed. That is what the other layers are for, and why the list is as short as programs permit.
- Which files and which hosts: mounts, Landlock and the network namespace say that.
- A program may add filters of its own. What it refuses itself does not reach the observer; it has not happened either.
";

fn page() -> String {
    let mut out = BEGINNING.to_owned();
    out.push_str("\n## Allowed\n");
    for group in GROUPS {
        let within = match group.within {
            ProfileScope::Every => "default, strict, permissive".to_owned(),
            ProfileScope::NotStrict(reason) => format!("default, permissive. Not strict: {reason}"),
            ProfileScope::OnlyStrict => "strict only".to_owned(),
        };
        let observed = if group.observed {
            "\n\nObserved: the supervisor is told before the call is carried out."
        } else {
            ""
        };
        let (name, reason) = (capital(group.name), capital(group.reason));
        let _ = write!(out, "\n### {name}\n\n{reason}.\n\nIn: {within}.{observed}\n\n");
        calls(&mut out, &group.calls);
    }
    out.push_str("\n## Refused in default and strict, reported in permissive\n");
    for denial in DENIED {
        let answer = match denial.answer {
            DenialAnswer::Refuse(errno) => format!("`{errno:?}`"),
            DenialAnswer::OnlyLayer(errno) => format!("`{errno:?}`, in permissive too"),
            DenialAnswer::Always(errno) => {
                format!("`{errno:?}`, in permissive too, and by the filter itself")
            }
        };
        let _ = write!(
            out,
            "\n### {}\n\n{}.\n\nAnswer: {answer}.\n\n",
            capital(denial.name),
            capital(denial.reason)
        );
        calls(&mut out, &denial.calls);
    }
    out.push_str(
        "\n## What some runs do without\n\nIn every profile, because of what else the plan asks for.\n",
    );
    for RestrictedGroup { denied, .. } in RESTRICTED {
        let (name, reason, errno) = (capital(denied.name), capital(denied.reason), denied.answer.errno());
        let _ = write!(out, "\n### {name}\n\n{reason}.\n\nAnswer: `{errno:?}`.\n\n");
        calls(&mut out, &denied.calls);
    }
    let _ = write!(
        out,
        "\n### Numbers of the future\n\nA C library that tries a new call first and finds it missing takes the old one; told \
         `EPERM`, it would give up.\n\nAnswer: `ENOSYS`.\n\nThe numbers {} to {}, which no kernel used when the tables were \
         written.\n",
        FUTURE.start(),
        FUTURE.end()
    );
    out
}

fn calls(out: &mut String, calls: &CallList) {
    let plain = |only_x86_64: bool| {
        let those = calls.all().filter(move |call| call.only_x86_64 == only_x86_64 && call.rules.is_empty());
        those.map(|call| format!("`{}`", call.name)).collect::<Vec<_>>().join(" ")
    };
    let (both, x86_64) = (plain(false), plain(true));
    if !both.is_empty() {
        let _ = writeln!(out, "{both}");
    }
    if !x86_64.is_empty() {
        let also = if both.is_empty() { "On x86-64" } else { "\nOn x86-64 also" };
        let _ = writeln!(out, "{also}: {x86_64}");
    }
    let mut before = if both.is_empty() && x86_64.is_empty() { "" } else { "\n" };
    for call in calls.all().filter(|call| !call.rules.is_empty()) {
        let _ = writeln!(out, "{before}- {}", checked(&call));
        before = "";
    }
}

fn checked(call: &ListedCall) -> String {
    let place = if call.only_x86_64 { " (x86-64)" } else { "" };
    // A list of commands or options is one of values of one argument.
    let values = call.rules.iter().map(|rule| match rule.tests {
        [ArgumentTest { argument, mask: ALL_OF_A_NUMBER, value, differs: false }] => {
            Some((*argument, format!("{} ({})", rule.says, number(*value))))
        }
        _ => None,
    });
    if let Some(values) = values.collect::<Option<Vec<_>>>() {
        let texts: Vec<_> = values.iter().map(|(_, text)| text.as_str()).collect();
        return format!("`{}`{place}, argument {}: {}", call.name, values[0].0, texts.join(", "));
    }
    let texts: Vec<_> =
        call.rules.iter().map(|rule| format!("{} ({})", rule.says, condition(*rule))).collect();
    format!("`{}`{place}: {}", call.name, texts.join("; "))
}

fn condition(rule: ArgumentRule) -> String {
    let one = |test: &ArgumentTest| match (test.argument, test.mask, test.value) {
        (argument, _, 0) if test.differs => format!("argument {argument} is not a null pointer"),
        (argument, u64::MAX, 0) => format!("argument {argument} is a null pointer"),
        (argument, ALL_OF_A_NUMBER, value) => format!("argument {argument} is {}", number(value)),
        (argument, mask, 0) => format!("argument {argument} has none of {mask:#x}"),
        (argument, mask, value) if mask == value => format!("argument {argument} has {mask:#x}"),
        (argument, mask, value) => format!("argument {argument} & {mask:#x} is {value:#x}"),
    };
    rule.tests.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The kernel takes 32 bits of a number.
const ALL_OF_A_NUMBER: u64 = 0xffff_ffff;

fn number(value: u64) -> String {
    if value < 2048 { value.to_string() } else { format!("{value:#x}") }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    // Names of calls stay as they are.
    let is_name = text.split(' ').next().is_some_and(|word| word.contains(['_', '3', '2']));
    match letters.next() {
        Some(first) if !is_name => first.to_uppercase().chain(letters).collect(),
        _ => text.to_owned(),
    }
}

#[test]
fn the_page_of_the_profiles_is_made_from_the_tables() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/seccomp.md");
    if std::env::var_os("SKILLSANDBOX_GENERATE").is_some() {
        fs::write(&path, page()).unwrap();
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(there == page(), "docs/seccomp.md is stale: run `cargo xtask generate` and commit the result");
}
