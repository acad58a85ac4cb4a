//! An agent runtime's tool for commands, in ten lines: `cargo run -p skillsandbox-examples --bin embed_command_policy -- 'git log -n 3'`.
//!
//! The model's line is checked, started without a shell in the skill's folder, and its output comes back as safe text; a refusal
//! goes back to the model, which can act on it.
// An example prints.
#![allow(clippy::print_stdout)]

use skillsandbox_command_policy::{CommandPolicy, RealPaths};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = std::env::current_dir()?;
    let policy = CommandPolicy::builder()
        .root(&root)
        .allowed_tools("Bash(git:*) Bash(ls:*) Bash(echo:*)")
        .forbidden_args("git", ["--force", "-f"])
        .path_rules(RealPaths::new(&root)?)
        .build()?;

    let asked: Vec<String> = std::env::args().skip(1).collect();
    let lines = if asked.is_empty() { examples() } else { asked };
    for line in lines {
        println!("> {line}");
        match tool(&policy, &line) {
            Ok(text) => println!("{}", text.trim_end()),
            Err(text) => println!("  {text}"),
        }
    }
    Ok(())
}

/// What the model is answered.
fn tool(policy: &CommandPolicy, line: &str) -> Result<String, String> {
    let finished = policy.run(line).map_err(|error| error.to_string())?;
    Ok(finished.stdout + &finished.stderr)
}

fn examples() -> Vec<String> {
    let lines = [
        "echo 'one; two' \"$ three\"",
        "echo one; id",
        "git push --for",
        "git -c core.pager=id log",
        "ls ../..",
        "ls --width=/etc",
        "cat Cargo.toml",
    ];
    lines.map(str::to_owned).to_vec()
}
