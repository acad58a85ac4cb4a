//! Prints what this host offers of the sandbox, as JSON.
#![allow(clippy::print_stdout)]

use skillsandbox_enforcer::Support;

fn main() -> Result<(), serde_json::Error> {
    println!("{}", serde_json::to_string_pretty(&Support::probe())?);
    Ok(())
}
