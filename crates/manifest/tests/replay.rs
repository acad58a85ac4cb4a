//! Reads every fuzz seed, and every input that once broke something (fuzz/crashes), as the fuzz targets do.
#![cfg(feature = "declarations")]
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;
use std::path::Path;

use skillsandbox_manifest::{Manifest, Policy, SkillDoc};

#[test]
fn seeds_and_former_crashes_are_read() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let mut read = 0;
    for folder in ["seeds/manifest", "seeds/front_matter", "crashes"] {
        for entry in fs::read_dir(fuzz.join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}")) {
            let path = entry.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            if let Ok(manifest) = Manifest::parse(&text) {
                assert_eq!(
                    Manifest::parse(&manifest.to_yaml()).as_ref(),
                    Ok(&manifest),
                    "{}",
                    path.display()
                );
            }
            let _ = Policy::parse(&text);
            let doc = SkillDoc::parse(&text);
            assert!(text.get(doc.body_start..).is_some(), "{}", path.display());
            for problem in &doc.problems {
                assert!(text.get(problem.span.range()).is_some(), "{}: {problem}", path.display());
            }
            read += 1;
        }
    }
    assert!(read >= 9, "only {read} seeds");
}
