//! Completion scripts, in the shells that read them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::path::PathBuf;
use std::process::Command;

use skillsandbox_test_support::missing;

/// The script for a shell, in a folder of its own; `None` where that shell is not here.
fn script(shell: &str) -> Option<(tempfile::TempDir, PathBuf)> {
    if !missing::outside([shell]).is_empty() {
        missing::skip(&[shell]);
        return None;
    }
    let made =
        Command::new(env!("CARGO_BIN_EXE_skillsandbox")).args(["completions", shell]).output().unwrap();
    assert!(made.status.success());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("script");
    std::fs::write(&file, made.stdout).unwrap();
    Some((folder, file))
}

/// What a shell prints when it runs this.
fn said(shell: &str, folder: &tempfile::TempDir, arguments: &[&str]) -> String {
    let output = Command::new(shell)
        .args(arguments)
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", folder.path())
        .current_dir(folder.path())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.is_empty(), "{shell}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn fish_completes_verbs_flags_and_values() {
    let Some((folder, file)) = script("fish") else { return };
    for (line, wanted) in [
        ("skillsandbox tr", &["trace"][..]),
        ("skillsandbox trace ", &["show", "verify", "prune"]),
        ("skillsandbox exec --allow-", &["--allow-host", "--allow-cidr"]),
        ("skillsandbox exec --profile ", &["strict", "default", "permissive"]),
        ("skillsandbox check-command --shell ", &["bash"]),
        ("skillsandbox scan --color ", &["auto", "always", "never"]),
        ("skillsandbox history st", &["stats"]),
    ] {
        let ask = format!("source {}; complete -C '{line}'", file.display());
        let answer = said("fish", &folder, &["--no-config", "-c", &ask]);
        let offered: Vec<&str> = answer.lines().filter_map(|line| line.split('\t').next()).collect();
        for word in wanted {
            assert!(offered.contains(word), "{line}: {word} is not in {offered:?}");
        }
    }
}

#[test]
fn bash_completes_verbs_and_flags() {
    let Some((folder, file)) = script("bash") else { return };
    for (words, wanted) in [
        ("skillsandbox tr", "trace"),
        ("skillsandbox trace sh", "show"),
        ("skillsandbox exec --allow-h", "--allow-host"),
        ("skillsandbox exec --profile st", "strict"),
    ] {
        let ask = format!(
            "source {}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}}-1)); \
             _skillsandbox skillsandbox \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            file.display()
        );
        let answer = said("bash", &folder, &["--norc", "--noprofile", "-c", &ask]);
        assert!(answer.lines().any(|line| line == wanted), "{words}: {answer:?}");
    }
}

#[test]
fn zsh_reads_its_script() {
    let Some((folder, file)) = script("zsh") else { return };
    let ask = format!(
        "autoload -Uz compinit; compinit -u -D 2>/dev/null; source {}; whence -w _skillsandbox; \
         print -l ${{(k)functions}} | grep -c '^_skillsandbox__'",
        file.display()
    );
    let answer = said("zsh", &folder, &["-f", "-c", &ask]);
    assert!(answer.contains("_skillsandbox: function"), "{answer}");
}
