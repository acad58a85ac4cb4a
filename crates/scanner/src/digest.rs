//! What was scanned, in one number: the root of a Merkle tree over a skill's files. How to compute it without this crate stands
//! in docs/report.md.

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use crate::skill::{SkillFile, SkillFiles};

/// A SHA-256.
pub(crate) type Sha256Hash = [u8; 32];

/// What a hash is of, in its first byte, so that no file can pass for a pair of hashes, nor the other way round.
const LEAF: &[u8] = &[0];
const NODE: &[u8] = &[1];

pub(crate) fn sha256(parts: &[&[u8]]) -> Sha256Hash {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

/// As it is printed.
pub(crate) fn hex(hash: &[u8]) -> String {
    HEXLOWER.encode(hash)
}

/// The digest of a skill: of its files' paths and bytes as they lie on the disk, in whatever order they were read.
pub(crate) fn compute_digest(skill: &SkillFiles) -> String {
    join_digests(skill, &hash_files(skill))
}

/// The SHA-256 of each file's bytes, in the order of the files.
pub(crate) fn hash_files(skill: &SkillFiles) -> Vec<Sha256Hash> {
    skill.files.iter().map(|file| file.original.unwrap_or_else(|| sha256(&[&file.bytes]))).collect()
}

/// The digest of a skill, from the hashes of its files.
pub(crate) fn join_digests(skill: &SkillFiles, hashes: &[Sha256Hash]) -> String {
    let leaf = |(file, bytes): (&SkillFile, &Sha256Hash)| {
        sha256(&[LEAF, &(file.path.len() as u64).to_le_bytes(), file.path.as_bytes(), bytes])
    };
    let own = skill.files.iter().zip(hashes).filter(|(file, _)| !file.is_reading);
    hex(&compute_root(own.map(leaf).collect()))
}

/// The root over leaves, sorted; of no leaves, the hash of nothing. A hash without a partner goes up as it is: were it paired
/// with itself, a file and its double would have the root of the file alone.
fn compute_root(mut level: Vec<Sha256Hash>) -> Sha256Hash {
    level.sort_unstable();
    if level.is_empty() {
        return sha256(&[]);
    }
    while level.len() > 1 {
        let pair = |pair: &[Sha256Hash]| match pair {
            [left, right] => sha256(&[NODE, left, right]),
            [one] => *one,
            _ => Sha256Hash::default(),
        };
        level = level.chunks(2).map(pair).collect();
    }
    level.first().copied().unwrap_or_default()
}
