//! Any text is either a manifest that survives being written out and read back, or refused with places in that text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skillsandbox_manifest::{GrantBases, Manifest, Policy};

fuzz_target!(|text: &str| {
    match Manifest::parse(text) {
        Ok(manifest) => {
            let again = Manifest::parse(&manifest.to_yaml()).expect("what was written out is valid");
            assert_eq!(again, manifest);
            let _ = manifest.validate_parameters(&serde_json::json!({ "city": text }));
        }
        Err(invalid) => {
            assert!(!invalid.diagnostics.is_empty());
            for diagnostic in &invalid.diagnostics {
                assert!(invalid.source.get(diagnostic.span.range()).is_some());
                assert!(!diagnostic.to_string().contains('\u{1b}'));
            }
        }
    }
    if let Ok(policy) = Policy::parse(text) {
        let manifest = Manifest::parse("{skill: {name: a, version: a}, entrypoint: {command: a}}").expect("valid");
        let narrowed = policy.narrow(&manifest, &GrantBases::new("/s", "/h")).manifest;
        assert!(narrowed.network().egress.is_empty() && narrowed.filesystem().read.is_empty());
    }
});
