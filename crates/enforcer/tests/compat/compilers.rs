//! Compilers, and what they make.

use crate::case::Case;

/// Both in a folder of the host and in the private one.
#[test]
fn gcc_compiles_and_what_it_made_runs() {
    let expected = "here threads 4950 library 42\ntmp threads 4950 library 42\n";
    let case = Case::script("bash", "c.sh", include_str!("scripts/c.sh")).needs(["gcc", "ar"]);
    let case = case.file("work.c", include_str!("scripts/work.c"));
    case.file("answer.c", "int answer(void) { return 42; }\n").prints(expected);
}

/// No loader, no libraries: what Go and musl make is like it.
#[test]
fn a_static_program_runs() {
    let archive = std::process::Command::new("gcc").arg("-print-file-name=libc.a").output();
    // gcc answers with the bare name where it finds nothing.
    if !archive.is_ok_and(|output| output.stdout.starts_with(b"/")) {
        crate::missing::skip(&["gcc with libc.a"]);
        return;
    }
    let text = "set -eu\ngcc -static -O1 -o static static.c\nexec ./static\n";
    let source = "#include <stdio.h>\n#include <sys/utsname.h>\nint main(void) { struct utsname name; uname(&name); \
                  printf(\"%s\\n\", name.nodename); return 0; }\n";
    let case = Case::script("bash", "static.sh", text).needs(["gcc"]).file("static.c", source);
    case.prints("skillsandbox\n");
}

#[test]
fn cpp_with_exceptions_and_threads() {
    let text = "set -eu\ng++ -std=c++17 -O1 -pthread -o work work.cpp\nexec ./work\n";
    let case = Case::script("bash", "cpp.sh", text).needs(["g++"]);
    case.file("work.cpp", include_str!("scripts/work.cpp")).prints("caught expected\nthreads 4950\n");
}

#[test]
fn make_with_jobs() {
    let case = Case::new("make").needs(["gcc"]).args(["--silent", "-j2", "run"]);
    let case = case.file("Makefile", include_str!("scripts/Makefile"));
    let case = case.file(
        "main.c",
        "#include <stdio.h>\nint answer(void);\nint main(void) { printf(\"%d\\n\", answer()); }\n",
    );
    case.file("answer.c", "int answer(void) { return 42; }\n").prints("42\nsub 42\n");
}

/// Through rustup, whose toolchains lie in a home that is otherwise not there.
#[test]
fn cargo_builds_tests_and_runs() {
    let manifest = "[package]\nname = \"work\"\nversion = \"1.0.0\"\nedition = \"2021\"\n";
    let source = include_str!("scripts/work.rs");
    let files = |case: Case| case.file("Cargo.toml", manifest).file("src/main.rs", source).needs(["cc"]);
    let ran = files(Case::new("cargo")).args(["run", "--offline", "--quiet"]);
    ran.prints("threads 4950\nfile text\nlisten hello\n");
    let tested = files(Case::new("cargo")).args(["test", "--offline", "--quiet"]);
    // The time that follows is any.
    tested.prints_and_more("\nrunning 1 test\n.\ntest result: ok. 1 passed; 0 failed;");
}

#[test]
fn rustc_alone() {
    let text = "fn main() { println!(\"{}\", (1..=5).product::<u32>()); }\n";
    let case = Case::new("rustc").needs(["cc"]).file("one.rs", text);
    let Some(work) = case.args(["-o", "one", "one.rs"]).prints("") else { return };
    assert!(work.path().join("one").is_file());
}

#[test]
fn go_builds_and_what_it_made_runs() {
    let text = "set -eu\ngo build -o work work.go\nexec ./work\n";
    let case =
        Case::script("bash", "go.sh", text).needs(["go"]).env("CGO_ENABLED", "0").env("GOFLAGS", "-mod=mod");
    let case = case.env("GO111MODULE", "off").file("work.go", include_str!("scripts/work.go"));
    case.prints("goroutines 4950\nlisten hello\nchild from a child\n");
}
