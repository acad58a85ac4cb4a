//! A skill's files in memory: what is scanned is what is written, byte for byte, whatever becomes of the source in between.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use skillsandbox_scanner::SkillFiles;

use crate::error::Error;
use crate::names;

/// Most files of a skill, as the scanner has it: what it does not read cannot be vouched for.
pub(crate) const MAX_FILES: usize = 4000;
/// Most bytes of a skill, as the scanner has it.
pub(crate) const MAX_TOTAL: usize = 64 << 20;

/// The files of a skill, by their paths below its folder. Every path in it can be written on every system without leaving the folder
/// or meeting another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillTree {
    files: BTreeMap<String, TreeFile>,
    total: usize,
    /// Each path and each folder above one, as file systems without case compare them, with its spelling and whether it is a file.
    taken: HashMap<String, (String, bool)>,
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TreeFile {
    pub(crate) bytes: Vec<u8>,
    pub(crate) executable: bool,
}

impl SkillTree {
    /// Adds a file.
    ///
    /// # Errors
    /// A path that leads elsewhere, meets another, or deceives; more files or bytes than a skill may have.
    pub fn insert(&mut self, path: &str, bytes: Vec<u8>, executable: bool) -> Result<(), Error> {
        if let Some(why) = names::unfit(path) {
            return Err(Error::hostile(path, why));
        }
        if self.files.len() >= MAX_FILES {
            return Err(Error::hostile(path, format!("a skill has at most {MAX_FILES} files")));
        }
        if bytes.len() > self.room() {
            return Err(Error::hostile(path, format!("a skill has at most {MAX_TOTAL} bytes")));
        }
        let folders =
            path.match_indices('/').filter_map(|(at, _)| path.get(..at)).map(|folder| (folder, false));
        for (name, is_file) in folders.chain([(path, true)]) {
            let known = self.taken.entry(names::folded(name));
            let known = known.or_insert_with(|| (name.to_owned(), is_file));
            if known.0 != name || known.1 != is_file || (is_file && self.files.contains_key(path)) {
                let why = if known.0 == name {
                    "there are two of that name".to_owned()
                } else {
                    format!("it and {:?} are one file where case does not count", known.0)
                };
                return Err(Error::hostile(path, why));
            }
        }
        self.total += bytes.len();
        self.files.insert(path.to_owned(), TreeFile { bytes, executable });
        Ok(())
    }

    /// How many bytes there is room for.
    pub(crate) fn room(&self) -> usize {
        MAX_TOTAL - self.total
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &TreeFile)> {
        self.files.iter().map(|(path, file)| (path.as_str(), file))
    }

    /// How many files there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The bytes of a file.
    #[must_use]
    pub fn bytes(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(|file| file.bytes.as_slice())
    }

    /// The SHA-256 of each file, in hexadecimal.
    #[must_use]
    pub fn hashes(&self) -> BTreeMap<String, String> {
        in_hex(&self.hash_files())
    }

    /// The SHA-256 of each file, in the order of their paths.
    pub(crate) fn hash_files(&self) -> Vec<(String, [u8; 32])> {
        self.files().map(|(path, file)| (path.to_owned(), Sha256::digest(&file.bytes).into())).collect()
    }

    /// The files that may be executed.
    pub(crate) fn executables(&self) -> BTreeSet<String> {
        self.files().filter(|(_, file)| file.executable).map(|(path, _)| path.to_owned()).collect()
    }

    /// For the scanner. It gets every file, those of nested skills, too.
    pub(crate) fn skill(&self, name: &str, source: &str) -> SkillFiles {
        let files = self.files().map(|(path, file)| (path, file.bytes.as_slice()));
        SkillFiles::from_memory(name, files).with_source(source)
    }

    /// The part below a folder.
    pub(crate) fn below(self, folder: &str) -> Result<Self, Error> {
        let mut tree = Self::default();
        for (path, file) in self.files {
            if let Some(path) = path.strip_prefix(folder).and_then(|path| path.strip_prefix('/')) {
                tree.insert(path, file.bytes, file.executable)?;
            }
        }
        Ok(tree)
    }
}

/// Hashes as a lock has them.
pub(crate) fn in_hex(hashes: &[(String, [u8; 32])]) -> BTreeMap<String, String> {
    hashes.iter().map(|(path, hash)| (path.clone(), HEXLOWER.encode(hash))).collect()
}

/// The hash of a whole tree: of what `sha256sum` prints for its files, in the order of their paths.
#[must_use]
pub(crate) fn whole(files: &BTreeMap<String, String>) -> String {
    let mut hash = Sha256::new();
    for (path, file) in files {
        hash.update(format!("{file}  {path}\n"));
    }
    format!("sha256:{}", HEXLOWER.encode(&hash.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(paths: &[&str]) -> Result<SkillTree, Error> {
        let mut tree = SkillTree::default();
        for path in paths {
            tree.insert(path, path.as_bytes().to_vec(), false)?;
        }
        Ok(tree)
    }

    #[test]
    fn what_would_be_one_file_somewhere_is_refused() {
        for bad in [
            ["a", "a"],
            ["a", "A"],
            ["a", "a/b"],
            ["a/b", "a"],
            ["A/b", "a/c"],
            ["stra\u{df}e", "stra\u{1e9e}e"],
            ["\u{fc}", "u\u{308}"],
            ["\u{fb01}", "fi"],
        ] {
            assert!(tree(&bad).is_err(), "{bad:?}");
        }
        assert_eq!(tree(&["a/b", "a/c", "ab", "d/a"]).unwrap().len(), 4);
    }

    #[test]
    fn files_and_bytes_are_bounded() {
        let mut full = SkillTree::default();
        full.insert("a", vec![0; MAX_TOTAL], false).unwrap();
        assert!(full.insert("b", vec![0], false).is_err());
        full.insert("c", vec![], false).unwrap();
        let mut many = SkillTree::default();
        for number in 0..MAX_FILES {
            many.insert(&number.to_string(), vec![], false).unwrap();
        }
        assert!(many.insert("more", vec![], false).is_err());
    }

    /// `printf a > a; mkdir b; printf b/c > b/c; sha256sum a b/c | sha256sum`
    #[test]
    fn the_hash_is_what_sha256sum_says() {
        let hash = whole(&tree(&["b/c", "a"]).unwrap().hashes());
        assert_eq!(hash, "sha256:c3f0e666cfb31cdcccb693452c268b7d0bbea5a65381f6a21fbca67270f67ebb");
    }
}
