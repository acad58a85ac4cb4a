//! What an audit of a thousand installed skills takes, beside only reading their files, which any audit has to do.
//!
//! `cargo run --release --package skillsandbox-benches --example audit [COUNT]`

#![allow(missing_docs, clippy::print_stdout)]

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::fs;
    use std::time::Instant;

    use skillsandbox_benches::clean_skill;
    use skillsandbox_store::{Approval, AuditScope, DeclineReviewer, SkillSource, Store, StoreLayout};

    let count: usize = std::env::args().nth(1).map_or(Ok(1000), |count| count.parse())?;
    let dir = std::env::temp_dir().join(format!("skillsandbox-audit-{}", std::process::id()));
    let store = Store::new(StoreLayout::new(dir.join("store")));
    let begin = Instant::now();
    for number in 0..count {
        let name = format!("skill-{number}");
        let source = dir.join("sources").join(&name);
        fs::create_dir_all(source.join("references"))?;
        let text = String::from_utf8(clean_skill(6 << 10))?.replacen("release-notes", &name, 1);
        fs::write(source.join("SKILL.md"), &text)?;
        for page in 0..4 {
            fs::write(source.join(format!("references/{page}.md")), clean_skill(3 << 10))?;
        }
        store.install(SkillSource::Local(source), Approval::Forced, &mut DeclineReviewer)?;
    }
    let installed = begin.elapsed();
    let entries = store.list()?.entries().len();
    println!("{entries} of {count} installed in {:.1} s", installed.as_secs_f64());
    let mut times = Vec::new();
    for _ in 0..5 {
        let begin = Instant::now();
        let lock = store.list()?;
        let read = begin.elapsed();
        let begin = Instant::now();
        let mut bytes = 0;
        for entry in lock.entries() {
            for path in entry.files.keys() {
                bytes += fs::read(entry.path(store.layout()).join(path))?.len();
            }
        }
        let plain = begin.elapsed();
        let begin = Instant::now();
        let audit = store.audit(&AuditScope::Everything, &|_| {}, &|| {})?;
        times.push((begin.elapsed(), read, plain, bytes, audit.clean));
    }
    times.sort();
    let (audit, read, plain, bytes, clean) = times.get(2).ok_or("nothing was measured")?;
    println!(
        "median of 5: reading the lock {:.0} ms; reading {bytes} bytes of files {:.0} ms; audit {:.0} ms, clean: {clean}",
        read.as_secs_f64() * 1e3,
        plain.as_secs_f64() * 1e3,
        audit.as_secs_f64() * 1e3
    );
    fs::remove_dir_all(&dir)?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("the store is Linux's");
}
