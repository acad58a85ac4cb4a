//! Installs skills into a folder, and audits it: `cargo run -p skillsandbox-examples --bin embed_store STORE SOURCE…`

#![allow(clippy::print_stdout)]

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use skillsandbox_store::{Approval, AuditScope, DeclineReviewer, Store, StoreLayout};

    let mut arguments = std::env::args().skip(1);
    let root = arguments.next().ok_or("name a folder for the store, and sources of skills")?;
    let store = Store::new(StoreLayout::new(root));
    for source in arguments {
        let outcome = store.install(source.parse()?, Approval::Ask, &mut DeclineReviewer)?;
        println!("{}: {:?} ({})", outcome.name, outcome.done, outcome.report.verdict.as_str());
    }
    let audit = store.audit(&AuditScope::Everything, &|_| {}, &|| {})?;
    println!("{} skills, all as installed: {}", audit.skills.len(), audit.clean);
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("the store is Linux's");
}
