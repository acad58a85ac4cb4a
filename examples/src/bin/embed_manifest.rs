//! What an agent runtime does before it starts a skill: read the declaration, narrow it by the user's own policy, check
//! the values of the call. `embed_manifest DIR [JSON]`
//!
//! ```sh
//! cargo run -p skillsandbox-examples --bin embed_manifest -- examples/skills/weather '{"city": "Oslo"}'
//! ```

#![allow(clippy::print_stdout, clippy::print_stderr)] // a program for a terminal

use std::error::Error;
use std::path::PathBuf;

use skillsandbox_manifest::{GrantBases, Manifest, Policy};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let dir = PathBuf::from(args.next().ok_or("name a skill's folder")?).canonicalize()?;
    let values = serde_json::from_str(&args.next().unwrap_or_else(|| "{}".to_owned()))?;

    let manifest = Manifest::load(&dir)?;
    let policy =
        Policy::parse("permissions: { filesystem: { write: [/tmp] } }\nresources: { memory_mb: 64 }")?;
    let narrowed = policy.narrow(&manifest, &GrantBases::new(&dir, "/home/nobody"));
    for change in &narrowed.changes {
        eprintln!("the policy narrows {change}");
    }
    match narrowed.manifest.validate_parameters(&values) {
        Ok(values) => println!("would run {} with {}", manifest.skill().name, serde_json::json!(values)),
        Err(error) => println!("{:#}", error.to_json()),
    }
    Ok(())
}
