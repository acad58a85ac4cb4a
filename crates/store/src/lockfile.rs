//! `packages.lock`: what is installed, from where, with which bytes, and what the scanner said of them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use skillsandbox_manifest::PermissionSet;

use crate::error::Error;
use crate::layout::StoreLayout;
use crate::{lock_text, names};

/// Largest lock that is read: ten thousand skills of a hundred files are a tenth of it.
pub(crate) const MAX_BYTES: usize = 256 << 20;

/// One installed skill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LockEntry {
    /// Its name, and that of its folder.
    pub name: String,
    /// Its version, by its own word.
    pub version: String,
    /// Where it came from.
    pub source: String,
    /// Where it lies, from the root of the store.
    pub installed_to: String,
    /// The hash of all its files: `sha256:…`.
    pub hash: String,
    /// When, in RFC 3339.
    pub installed_at: String,
    /// What the scanner said.
    pub security_scan: SecurityScan,
    /// The commit that the source stood at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved: Option<String>,
    /// Whether a warning, or a wider declaration, was overridden.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forced: bool,
    /// Findings that did not count, because the user's policy said so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suppressed: Vec<SuppressedFinding>,
    /// What it declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<PermissionSet>,
    /// Its files that may be executed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub executable: Vec<String>,
    /// The SHA-256 of each of its files.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// What other programs have written beside it. It is kept.
    #[serde(flatten)]
    pub other: BTreeMap<String, serde_json::Value>,
}

/// The scan that let a skill in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SecurityScan {
    /// SAFE, or WARNING where it was overridden.
    pub verdict: String,
    /// The scan's id.
    pub scan_id: String,
    /// Its page, from the root of the store.
    pub report_path: String,
    /// When it was.
    pub scanned_at: String,
}

/// A finding that did not count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SuppressedFinding {
    /// Its rule.
    pub rule: String,
    /// Why it may stand, by the policy's word.
    pub reason: String,
    /// The last day on which it may.
    pub expires: String,
}

/// All that is installed, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PackagesLock {
    entries: BTreeMap<String, LockEntry>,
}

impl PackagesLock {
    /// Reads a store's lock; where there is none, nothing is installed.
    ///
    /// # Errors
    /// A lock that is damaged, or that leads out of the store.
    pub fn read(layout: &StoreLayout) -> Result<Self, Error> {
        let text = lock_text::read_text(layout)?;
        Self::parse(layout, &text).map_err(|why| Error::State { path: layout.lock_file(), why })
    }

    fn parse(layout: &StoreLayout, text: &str) -> Result<Self, String> {
        let Some(cut) = lock_text::cut(text) else { return Self::parse_whole(layout, text) };
        let parse = |(name, range): (String, Range<usize>)| {
            let entry = lock_text::parse_one(layout, &name, text.get(range).unwrap_or_default())?;
            Ok((name, entry))
        };
        let entries: Result<BTreeMap<String, LockEntry>, String> = cut.into_par_iter().map(parse).collect();
        Ok(Self { entries: entries? })
    }

    /// The same for a text of whatever form.
    pub(crate) fn parse_whole(layout: &StoreLayout, text: &str) -> Result<Self, String> {
        let mut lock = Self::default();
        for entry in Self::parse_list(layout, text)? {
            let name = entry.name.clone();
            if lock.entries.insert(name.clone(), entry).is_some() {
                return Err(format!("{name} is in it twice"));
            }
        }
        Ok(lock)
    }

    /// The entries of a text, each checked.
    pub(crate) fn parse_list(layout: &StoreLayout, text: &str) -> Result<Vec<LockEntry>, String> {
        let options = serde_yaml::options! {
            budget: serde_yaml::budget! {
                max_events: MAX_BYTES,
                max_nodes: MAX_BYTES,
                max_total_scalar_bytes: MAX_BYTES,
                max_aliases: 0,
                max_anchors: 0,
                max_depth: 16,
                max_documents: 1,
                max_merge_keys: 0,
            },
        };
        if text.trim().is_empty() {
            return Ok(Vec::new());
        }
        let list: Vec<LockEntry> =
            serde_yaml::from_str_with_options(text, options).map_err(|error| error.to_string())?;
        list.iter().try_for_each(|entry| entry.check(layout))?;
        Ok(list)
    }

    /// The installed skills, by name.
    #[must_use]
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &LockEntry> {
        self.entries.values()
    }

    /// One of them.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&LockEntry> {
        self.entries.get(name)
    }
}

impl LockEntry {
    /// Where it lies.
    #[must_use]
    pub fn path(&self, layout: &StoreLayout) -> PathBuf {
        layout.root().join(&self.installed_to)
    }

    /// Whether it is one document, not a folder.
    pub(crate) fn is_document(&self, layout: &StoreLayout) -> bool {
        self.installed_to.starts_with(&layout.relative("agents/"))
    }

    /// What stands in a lock decides what is removed and replaced: it must not lead elsewhere.
    fn check(&self, layout: &StoreLayout) -> Result<(), String> {
        let skill = layout.relative(&format!("skills/{}", self.name));
        let agent = layout.relative(&format!("agents/{}.md", self.name));
        let named = names::of_skill(&self.name).is_ok_and(|name| name == self.name);
        if !named || (self.installed_to != skill && self.installed_to != agent) {
            return Err(format!(
                "{:?} is said to be installed to {:?}, which is not its place",
                self.name, self.installed_to
            ));
        }
        match self.files.keys().find_map(|path| Some((path, names::unfit(path)?))) {
            Some((path, why)) => Err(format!("{}: {path:?}: {why}", self.name)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
impl PackagesLock {
    pub(crate) fn insert(&mut self, entry: LockEntry) {
        self.entries.insert(entry.name.clone(), entry);
    }

    fn to_yaml(&self) -> Result<String, String> {
        serde_yaml::to_string(&self.entries().collect::<Vec<_>>()).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn entry(name: &str) -> LockEntry {
        LockEntry {
            name: name.to_owned(),
            version: "v1.0".to_owned(),
            source: "github:someorg/skills".to_owned(),
            installed_to: format!("skills/{name}"),
            hash: "sha256:00".to_owned(),
            installed_at: "2026-04-01T14:30:00Z".to_owned(),
            security_scan: SecurityScan {
                verdict: "SAFE".to_owned(),
                scan_id: "a1b2".to_owned(),
                report_path: "security/scan_reports/a.md".to_owned(),
                scanned_at: "2026-04-01T14:30:00Z".to_owned(),
            },
            resolved: None,
            forced: false,
            suppressed: Vec::new(),
            permissions: None,
            executable: Vec::new(),
            files: BTreeMap::new(),
            other: BTreeMap::new(),
        }
    }

    #[test]
    fn hostile_words_come_back_as_they_were() {
        let layout = StoreLayout::new("/s");
        for text in [
            "x\n- name: other",
            "null",
            "1.0",
            "~",
            "- a",
            "a: b",
            "# c",
            "'",
            "\"",
            "\u{1b}[31m",
            " x ",
            "!!tag",
            "&a",
            "*a",
            "{}",
            "yes",
            "0x10",
            "",
            "|",
            ">\n  a",
            "2026-01-01",
            "\u{2028}",
            "a\r\nb",
        ] {
            let mut lock = PackagesLock::default();
            let mut one = entry("a");
            text.clone_into(&mut one.version);
            text.clone_into(&mut one.source);
            one.suppressed.push(SuppressedFinding {
                rule: text.to_owned(),
                reason: text.to_owned(),
                expires: text.to_owned(),
            });
            one.permissions = Some(PermissionSet {
                read: vec![text.to_owned()],
                resolver: Some(text.to_owned()),
                entrypoint: Some(vec![text.to_owned()]),
                ..PermissionSet::default()
            });
            lock.insert(one);
            lock.insert(entry("b"));
            let yaml = lock.to_yaml().unwrap();
            assert_eq!(PackagesLock::parse(&layout, &yaml).as_ref(), Ok(&lock), "{text:?}\n{yaml}");
        }
    }

    /// The format of `SkillOS`, as its documentation has it, with what another program added.
    #[test]
    fn a_foreign_lock_is_read_and_kept() {
        let text = "- name: my-agent\n  version: v1.0\n  source: github:someorg/skills\n  installed_to: system/agents/my-agent.md\n  hash: md5:abc123\n  installed_at: 2026-04-01T14:30:00Z\n  theirs: { a: 1 }\n  security_scan:\n    verdict: SAFE\n    scan_id: a1b2c3d4\n    report_path: system/security/scan_reports/my-agent_20260401.md\n    scanned_at: 2026-04-01T14:30:00Z\n";
        let layout = StoreLayout::system("/s");
        let lock = PackagesLock::parse(&layout, text).unwrap();
        let one = lock.get("my-agent").unwrap();
        assert_eq!((one.hash.as_str(), one.installed_at.as_str()), ("md5:abc123", "2026-04-01T14:30:00Z"));
        let again = lock.to_yaml().unwrap();
        assert!(again.contains("theirs"), "{again}");
        assert_eq!(PackagesLock::parse(&layout, &again).unwrap(), lock);
    }

    #[test]
    fn a_lock_cannot_lead_elsewhere() {
        let layout = StoreLayout::new("/s");
        for place in ["/etc", "../x", "skills/../../x", "skills/b", "skills", "", "skills/a/../b", "security"]
        {
            let mut one = entry("a");
            place.clone_into(&mut one.installed_to);
            let yaml = serde_yaml::to_string(&[one]).unwrap();
            assert!(PackagesLock::parse(&layout, &yaml).is_err(), "{place}");
        }
        for name in ["..", ".", "a/b", "../a"] {
            let yaml = serde_yaml::to_string(&[entry(name)]).unwrap();
            assert!(PackagesLock::parse(&layout, &yaml).is_err(), "{name}");
        }
        let twice = serde_yaml::to_string(&[entry("a"), entry("a")]).unwrap();
        assert!(PackagesLock::parse(&layout, &twice).is_err());
    }
}
