//! Prints what this host offers of the sandbox, as JSON.
#![allow(clippy::print_stdout)]

use skillsandbox_enforcer::HostSupport;

fn main() -> Result<(), serde_json::Error> {
    println!("{}", serde_json::to_string_pretty(&HostSupport::probe())?);
    Ok(())
}
