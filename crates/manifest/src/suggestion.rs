//! "did you mean …": what somebody who wrote a key or a word most likely meant.

use std::fmt::Write as _;

/// `a`, `b` and `c`.
pub(crate) fn list(words: &[&str]) -> String {
    let mut out = String::new();
    for (i, word) in words.iter().enumerate() {
        let joint = match i {
            0 => "",
            _ if i + 1 == words.len() => " and ",
            _ => ", ",
        };
        let _ = write!(out, "{joint}`{word}`");
    }
    out
}

/// Keys people look for in the wrong place.
const ELSEWHERE: &[(&str, &str)] = &[
    ("network", "permissions.network"),
    ("filesystem", "permissions.filesystem"),
    ("env_vars", "permissions.env_vars"),
    ("env", "permissions.env_vars"),
    ("environment", "permissions.env_vars"),
    ("syscalls", "permissions.syscalls"),
    ("commands", "permissions.commands"),
    ("egress", "permissions.network.egress"),
    ("name", "skill.name"),
    ("version", "skill.version"),
    ("description", "skill.description"),
    ("command", "entrypoint.command"),
    ("args", "entrypoint.args"),
    ("memory_mb", "resources.memory_mb"),
    ("max_runtime_seconds", "resources.max_runtime_seconds"),
];

/// "did you mean …", or the keys there are.
pub(crate) fn suggest(key: &str, known: &[&str]) -> String {
    if let Some(near) = nearest(key, known) {
        return format!("did you mean `{near}`?");
    }
    if let Some((_, place)) = ELSEWHERE.iter().find(|(word, _)| *word == key) {
        return format!("did you mean `{place}`?");
    }
    format!("the keys here are {}", list(known))
}

/// The known word that `word` is most likely a misspelling of.
pub(crate) fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    // No known word is longer than 24 characters; distance on longer ones is work for nothing.
    if word.len() > 40 {
        return None;
    }
    let folded = word.to_lowercase().replace(['-', ' '], "_");
    let distance = |candidate: &str| strsim::damerau_levenshtein(&folded, candidate);
    let best = known.iter().copied().min_by_key(|candidate| distance(candidate))?;
    let close = distance(best) <= (best.len() / 3).max(1);
    close.then_some(best).or_else(|| {
        // `mem` for `memory_mb`, `runtime_seconds` for `max_runtime_seconds`.
        known.iter().copied().find(|c| folded.len() >= 3 && (c.starts_with(&folded) || c.ends_with(&folded)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_keys_find_their_word() {
        let known = ["memory_mb", "max_cpu_percent", "max_runtime_seconds", "disk_mb"];
        for (word, expected) in [
            ("memory_mib", Some("memory_mb")),
            ("Memory-MB", Some("memory_mb")),
            ("memroy_mb", Some("memory_mb")),
            ("runtime_seconds", Some("max_runtime_seconds")),
            ("disk", Some("disk_mb")),
            ("bananas", None),
            ("x", None),
        ] {
            assert_eq!(nearest(word, &known), expected, "{word}");
        }
        assert_eq!(nearest(&"m".repeat(10_000), &known), None);
    }
}
