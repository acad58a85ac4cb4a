//! The text of `packages.lock`, cut into its entries: whoever needs one of thousands does not parse the others, and whoever changes one
//! writes the others as they are.
//!
//! Only a text of the form that we write is cut: a list in which each entry begins with `- name: …` at the beginning of a line, and all else is
//! indented. YAML has no other reading of that. Any other text is parsed whole, and put into that form.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::ops::Range;

use crate::error::{Error, IoErrorAt as _};
use crate::layout::StoreLayout;
use crate::lockfile::{LockEntry, MAX_BYTES, PackagesLock};
use crate::{names, state_file};

/// How an entry begins.
const FIRST: &str = "- name: ";
/// How every other line of an entry begins.
const INDENT: &str = "  ";
/// What some readers take for the end of a line, and others do not; and those of them that are not ASCII.
const OTHER_BREAKS: [char; 3] = ['\r', '\u{b}', '\u{c}'];
const UNICODE_BREAKS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

/// A lock, as far as it was asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LockText {
    layout: StoreLayout,
    text: String,
    /// Where each entry stands, by name.
    entries: BTreeMap<String, Range<usize>>,
}

impl LockText {
    /// Reads a store's lock; where there is none, nothing is installed.
    pub(crate) fn read(layout: &StoreLayout) -> Result<Self, Error> {
        let text = read_text(layout)?;
        if let Some(entries) = cut(&text) {
            // An empty list is not the beginning of one with entries.
            let text = if entries.is_empty() { String::new() } else { text };
            return Ok(Self { layout: layout.clone(), text, entries });
        }
        let whole = PackagesLock::parse_whole(layout, &text);
        let mut lock = Self { layout: layout.clone(), text: String::new(), entries: BTreeMap::new() };
        for entry in whole.map_err(|why| lock.damaged(why))?.entries() {
            lock.insert(entry)?;
        }
        Ok(lock)
    }

    /// An entry. The others may be damaged: whoever needs them is told.
    pub(crate) fn get(&self, name: &str) -> Result<Option<LockEntry>, Error> {
        let Some(range) = self.entries.get(name) else { return Ok(None) };
        let text = self.text.get(range.clone()).unwrap_or_default();
        parse_one(&self.layout, name, text).map(Some).map_err(|why| self.damaged(why))
    }

    /// The name of one whose folder would be the same where case does not count.
    pub(crate) fn like(&self, name: &str) -> Option<&str> {
        let folded = names::folded(name);
        // The names in it are plain, so that this is all that folding does to them.
        let found = self.entries.keys().find(|known| known.eq_ignore_ascii_case(&folded));
        found.map(String::as_str)
    }

    /// Whether a text of plain letters stands anywhere in it.
    pub(crate) fn mentions(&self, text: &str) -> bool {
        self.text.contains(text)
    }

    /// Puts an entry in the place of the one of its name, or where it belongs in the order of names.
    pub(crate) fn insert(&mut self, entry: &LockEntry) -> Result<(), Error> {
        let text = serde_yaml::to_string(&[entry]).map_err(|error| self.damaged(error.to_string()))?;
        // What was written is what will be read.
        let is_one = cut(&text).is_some_and(|found| found.len() == 1 && found.contains_key(&entry.name));
        if !is_one {
            return Err(self.damaged(format!("the entry of {} cannot be written", entry.name)));
        }
        self.remove(&entry.name);
        let at = self.entries.range(entry.name.clone()..).next().map(|(_, range)| range.start);
        let at = at.unwrap_or(self.text.len());
        self.text.insert_str(at, &text);
        for range in self.entries.values_mut().filter(|range| range.start >= at) {
            *range = range.start + text.len()..range.end + text.len();
        }
        self.entries.insert(entry.name.clone(), at..at + text.len());
        Ok(())
    }

    /// Takes an entry out; whether there was one.
    pub(crate) fn remove(&mut self, name: &str) -> bool {
        let Some(gone) = self.entries.remove(name) else { return false };
        self.text.replace_range(gone.clone(), "");
        for range in self.entries.values_mut().filter(|range| range.start >= gone.end) {
            *range = range.start - gone.len()..range.end - gone.len();
        }
        true
    }

    /// As it is written.
    pub(crate) fn to_yaml(&self) -> &str {
        if self.entries.is_empty() { "[]\n" } else { &self.text }
    }

    fn damaged(&self, why: String) -> Error {
        Error::State { path: self.layout.lock_file(), why }
    }
}

/// The text of a store's lock; empty where there is none.
pub(crate) fn read_text(layout: &StoreLayout) -> Result<String, Error> {
    let path = layout.lock_file();
    let mut text = String::new();
    if let Some(file) = state_file::open(&path).at(&path)? {
        file.take(MAX_BYTES as u64 + 1).read_to_string(&mut text).at(&path)?;
    }
    if text.len() > MAX_BYTES {
        return Err(Error::State { path, why: format!("it is larger than {MAX_BYTES} bytes") });
    }
    Ok(text)
}

/// Where each entry of a text stands. `None` where the text is not of our form, or an entry is in it twice.
pub(crate) fn cut(text: &str) -> Option<BTreeMap<String, Range<usize>>> {
    let mut entries = BTreeMap::new();
    if text.is_empty() || text == "[]\n" {
        return Some(entries);
    }
    // One at a time, and the others only where there can be any: a lock has millions of letters.
    let has_other_breaks = OTHER_BREAKS.iter().any(|other| text.contains(*other))
        || (!text.is_ascii() && text.contains(UNICODE_BREAKS));
    if !text.ends_with('\n') || has_other_breaks {
        return None;
    }
    let mut open: Option<(String, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if let Some(name) = line.strip_prefix(FIRST) {
            let name = plain_name(name.trim_end())?;
            if let Some((before, start)) = open.replace((name, at))
                && entries.insert(before, start..at).is_some()
            {
                return None;
            }
        } else if open.is_none() || !(line.starts_with(INDENT) || line == "\n") {
            return None;
        }
        at += line.len();
    }
    let (last, start) = open?;
    entries.insert(last, start..at).is_none().then_some(entries)
}

/// A name as it is written: plain, or in quotes where YAML would take it for something else than a text.
fn plain_name(written: &str) -> Option<String> {
    let unquoted = ['"', '\''].iter().find_map(|quote| written.strip_prefix(*quote)?.strip_suffix(*quote));
    let name = unquoted.unwrap_or(written);
    names::of_skill(name).ok().filter(|plain| plain == name)
}

/// The one entry of a text, which has this name.
pub(crate) fn parse_one(layout: &StoreLayout, name: &str, text: &str) -> Result<LockEntry, String> {
    let mut entries = PackagesLock::parse_list(layout, text)?;
    match (entries.pop(), entries.pop()) {
        (Some(entry), None) if entry.name == name => Ok(entry),
        _ => Err(format!("what stands at {name} is not one entry of that name")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lockfile::tests::entry;

    fn lock(text: &str) -> Result<LockText, Error> {
        let dir = tempfile::tempdir().unwrap();
        let layout = StoreLayout::new(dir.path());
        std::fs::write(layout.lock_file(), text).unwrap();
        LockText::read(&layout)
    }

    #[test]
    fn entries_are_changed_in_place_and_the_text_is_that_of_the_whole_lock() {
        let mut text = lock("[]\n").unwrap();
        assert_eq!(text, LockText { layout: text.layout.clone(), ..lock("").unwrap() });
        assert_eq!(text.to_yaml(), "[]\n");
        let mut whole = PackagesLock::default();
        for name in ["m", "a", "z", "true", "1.0", "0x10", "null", "B", "b", "a", "e5", "m"] {
            let mut one = entry(name);
            one.version = format!("{}\n- name: x\n{name}", whole.entries().len());
            text.insert(&one).unwrap();
            whole.insert(one);
            assert_eq!(text.to_yaml(), serde_yaml::to_string(&whole.entries().collect::<Vec<_>>()).unwrap());
            assert_eq!(cut(text.to_yaml()).as_ref(), Some(&text.entries));
        }
        for known in whole.entries() {
            assert_eq!(text.get(&known.name).unwrap().as_ref(), Some(known));
        }
        assert_eq!((text.like("M"), text.like("ＴRUE"), text.like("none")), (Some("m"), Some("true"), None));
        for name in ["a", "z", "none", "m", "1.0", "0x10", "null", "B", "b", "e5", "true"] {
            assert_eq!(text.remove(name), name != "none");
            assert!(text.get(name).unwrap().is_none());
            assert_eq!(cut(text.to_yaml()).as_ref(), Some(&text.entries));
        }
        assert_eq!(text.to_yaml(), "[]\n");
    }

    /// Cut or parsed whole, a lock says the same.
    #[test]
    fn a_lock_of_any_form_is_the_same_lock() {
        let plain = serde_yaml::to_string(&[entry("a"), entry("b")]).unwrap();
        assert!(cut(&plain).is_some());
        for other in [
            plain.replace("- name: a\n", "- name: a # mine\n"),
            format!("---\n{plain}"),
            format!("# theirs\n{plain}"),
            plain.replace('\n', "\r\n"),
            plain.trim_end().to_owned(),
            serde_json::to_string(&[entry("a"), entry("b")]).unwrap(),
        ] {
            assert!(cut(&other).is_none(), "{other}");
            let lock = lock(&other).unwrap();
            assert_eq!(lock.get("b").unwrap(), Some(entry("b")), "{other}");
            assert_eq!(lock.to_yaml(), plain, "{other}");
        }
    }

    #[test]
    fn what_is_not_one_entry_of_its_name_is_an_error() {
        let two = serde_yaml::to_string(&[entry("a"), entry("a")]).unwrap();
        assert!(lock(&two).is_err());
        let good = serde_yaml::to_string(&[entry("a")]).unwrap();
        for bad in [
            good.replace("version: v1.0", "version: \"v1.0"),
            good.replace("  version", "  name: b\n  version"),
            good.replace("installed_to: skills/a", "installed_to: skills/b"),
            good.replace("installed_to: skills/a", "installed_to: ../a"),
            good.replace("  version", "  version: &x v1\n  other: *x\n  version"),
            good.replace("version: v1.0\n", ""),
            // A text that begins in one entry and ends in the next.
            format!("{}- name: b\n  version: x\"\n", good.replace("version: v1.0", "version: \"v1.0")),
        ] {
            let found = lock(&bad).and_then(|lock| lock.get("a"));
            assert!(found.is_err(), "{bad}\n{found:?}");
        }
    }
}
