//! What an audit of two thousand installed skills takes, beside only reading their files; what an install takes beside two thousand and beside
//! none; and what the digest of a skill's folder takes, by which its last verdict is found again, beside `sha256sum` of the same files.
//!
//! `cargo xtask bench audit [COUNT]`

#![allow(missing_docs, clippy::print_stdout)]

#[cfg(target_os = "linux")]
mod linux {
    use std::error::Error;
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use skillsandbox_benches::clean_skill;
    use skillsandbox_scanner::FolderSnapshot;
    use skillsandbox_store::{
        Approval, AuditReport, AuditScope, DeclineReviewer, PrivateMemory, SkillSource, Store, StoreLayout,
    };

    /// How often each is done; the median counts.
    const ROUNDS: usize = 7;

    /// A skill of five files, 18 KB.
    fn write_skill(dir: &Path, name: &str) -> Result<PathBuf, Box<dyn Error>> {
        let source = dir.join("sources").join(name);
        fs::create_dir_all(source.join("references"))?;
        let text = String::from_utf8(clean_skill(6 << 10))?.replacen("release-notes", name, 1);
        fs::write(source.join("SKILL.md"), &text)?;
        for page in 0..4 {
            fs::write(source.join(format!("references/{page}.md")), clean_skill(3 << 10))?;
        }
        Ok(source)
    }

    fn install(store: &Store, source: &Path) -> Result<Duration, Box<dyn Error>> {
        let begin = Instant::now();
        store.install(SkillSource::Local(source.to_owned()), Approval::Forced, &mut DeclineReviewer)?;
        Ok(begin.elapsed())
    }

    /// Milliseconds.
    fn median(mut times: Vec<Duration>) -> f64 {
        times.sort();
        times.get(times.len() / 2).map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
    }

    fn time<T>(work: impl FnOnce() -> Result<T, Box<dyn Error>>) -> Result<(Duration, T), Box<dyn Error>> {
        let begin = Instant::now();
        let done = work()?;
        Ok((begin.elapsed(), done))
    }

    fn row(what: &str, time: f64, beside: &str, other: f64) {
        println!("| {what} | {time:.2} ms | {:.2} x {beside} |", time / other);
    }

    pub(super) fn run() -> Result<(), Box<dyn Error>> {
        let count: usize = std::env::args().nth(1).map_or(Ok(2000), |count| count.parse())?;
        let dir = tempfile::tempdir()?;
        let dir = dir.path().canonicalize()?;
        let store = Store::new(StoreLayout::new(dir.join("store")));
        let begin = Instant::now();
        for number in 0..count {
            let name = format!("skill-{number}");
            install(&store, &write_skill(&dir, &name)?)?;
        }
        println!("{count} skills of five files installed in {:.1} s\n", begin.elapsed().as_secs_f64());
        println!("| what | median of {ROUNDS} | beside |\n|---|---|---|");
        audits(&dir, &store, count)?;
        installs(&dir, &store, count)?;
        for (name, files, bytes) in [("a trivial skill", 2, 512), ("a large skill", 400, 40 << 10)] {
            digests(&dir, name, files, bytes)?;
        }
        Ok(())
    }

    fn audits(dir: &Path, store: &Store, count: usize) -> Result<(), Box<dyn Error>> {
        let [mut lock_times, mut plain, mut cold, mut warm] = [const { Vec::new() }; 4];
        let audit = |store: &Store| -> Result<AuditReport, Box<dyn Error>> {
            Ok(store.audit(&AuditScope::Everything, &|_| {}, &|| {})?)
        };
        let memory = PrivateMemory::at(dir.join("memory"));
        let remembering = Store::new(store.layout().clone()).remember_audits(Some(memory));
        audit(&remembering)?;
        for _ in 0..ROUNDS {
            let (took, lock) = time(|| Ok(store.list()?))?;
            lock_times.push(took);
            let read = || {
                let mut bytes = 0;
                for entry in lock.entries() {
                    for path in entry.files.keys() {
                        bytes += fs::read(entry.path(store.layout()).join(path))?.len();
                    }
                }
                Ok(bytes)
            };
            plain.push(time(read)?.0);
            let (took, report) = time(|| audit(store))?;
            cold.push(took);
            let (took, again) = time(|| audit(&remembering))?;
            warm.push(took);
            let remembered = again.skills.iter().filter(|skill| skill.remembered).count();
            if !report.clean || !again.clean || remembered != count {
                return Err(format!("{remembered} of {count} were remembered").into());
            }
        }
        let plain = median(plain);
        row("reading the files, and nothing else", plain, "reading the files", plain);
        row("reading `packages.lock`", median(lock_times), "reading the files", plain);
        row(&format!("`audit` of {count}, all scanned"), median(cold), "reading the files", plain);
        row(&format!("`audit` of {count}, all remembered"), median(warm), "reading the files", plain);
        Ok(())
    }

    fn installs(dir: &Path, store: &Store, count: usize) -> Result<(), Box<dyn Error>> {
        let (mut alone, mut beside) = (Vec::new(), Vec::new());
        for number in 0..ROUNDS {
            let name = format!("one-more-{number}");
            let source = write_skill(dir, &name)?;
            alone.push(install(&Store::new(StoreLayout::new(dir.join(&name))), &source)?);
            beside.push(install(store, &source)?);
            store.remove(&name)?;
        }
        let alone = median(alone);
        row("installing beside none", alone, "installing beside none", alone);
        row(&format!("installing beside {count}"), median(beside), "installing beside none", alone);
        Ok(())
    }

    fn digests(dir: &Path, name: &str, files: usize, bytes: usize) -> Result<(), Box<dyn Error>> {
        let folder = dir.join(format!("digest-{files}"));
        fs::create_dir_all(&folder)?;
        let paths: Vec<PathBuf> = (0..files).map(|number| folder.join(format!("{number}.md"))).collect();
        for path in &paths {
            fs::write(path, clean_skill(bytes))?;
        }
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            ours.push(time(|| Ok(FolderSnapshot::read(&folder)?.digest_without(&[])))?.0);
            let mut sums = Command::new("sha256sum");
            sums.args(&paths).stdout(Stdio::null());
            theirs.push(time(|| Ok(sums.status()?))?.0);
        }
        let what = format!("digest of {name} ({files} files of {bytes} bytes)");
        row(&what, median(ours), "`sha256sum` of them, a process", median(theirs));
        Ok(())
    }
}

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    linux::run()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("the store is Linux's");
}
