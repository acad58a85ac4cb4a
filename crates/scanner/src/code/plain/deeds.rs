//! What code does by one word: writes what starts later, deletes, switches protections off, hands out a shell.

use super::super::capability::Capability;
use super::super::objects::{is_agent_file, is_persistence_place, is_whole_tree};
use super::PlainLanguage;
use super::statements::Statement;
use super::tables;
use super::walker::{Walker, has_word};

impl Walker {
    /// Things that a word says by itself, and files that are written.
    pub(super) fn walk_deeds(&mut self, statement: &Statement) {
        let whole = format!("{} {}", statement.lower, statement.strings.join(" ").to_ascii_lowercase());
        for (word, capability) in self.words.deeds.clone() {
            if whole.contains(word) {
                self.note(capability, &whole, &statement.range);
            }
        }
        let joined = statement.strings.join("/");
        let paths: Vec<&str> =
            statement.strings.iter().map(String::as_str).chain(std::iter::once(joined.as_str())).collect();
        if has_word(&statement.lower, &self.words.writers) && paths.iter().any(|path| path.len() > 4) {
            let writes = statement
                .strings
                .iter()
                .any(|text| matches!(text.as_str(), "a" | "w" | "ab" | "wb" | "a+" | "w+" | ">" | ">>"))
                || has_word(
                    &statement.lower,
                    &[
                        "write",
                        "put_contents",
                        "content",
                        "out-file",
                        "copy-item",
                        "new-item",
                        "append",
                        "fileutils",
                        "os.create",
                    ],
                );
            for path in paths.iter().filter(|path| writes && path.len() < 300) {
                if is_persistence_place(path) {
                    self.note(Capability::Persists, path, &statement.range);
                    break;
                } else if is_agent_file(path) {
                    self.note(Capability::ChangesAgent, path, &statement.range);
                    break;
                }
            }
        }
        if has_word(&statement.lower, &self.words.deleters) {
            let is_home = ["dir.home", "userhomedir", "$home", "userprofile", "os.getenv(\"\")"]
                .iter()
                .any(|word| statement.lower.contains(word))
                && !statement.strings.iter().any(|text| text.contains('/') && text.len() > 2)
                && (statement.lower.contains("rm_r")
                    || statement.lower.contains("removeall")
                    || statement.lower.contains("-recurse"));
            // A folder's name in the code, as PowerShell writes it.
            let named = statement
                .lower
                .split_whitespace()
                .chain(statement.strings.iter().map(String::as_str))
                .any(|word| is_whole_tree(word) && word != "/" && word != ".");
            let is_recursive = ["rm_r", "-recurse", "removeall", "rmtree", "rmdir /s"]
                .iter()
                .any(|word| statement.lower.contains(word));
            if is_recursive && (is_home || named) {
                self.note(Capability::Destroys, &statement.lower, &statement.range);
            }
        }
    }

    /// A connection and a shell in one piece of code: somebody else gets that shell.
    pub(super) fn find_handed_shell(&mut self, lower: &str, length: usize) {
        let connects = has_word(lower, tables::SOCKETS);
        let hands = has_word(lower, tables::HANDED_SHELLS);
        let joins = [
            "dup2",
            "exec",
            "spawn",
            "popen",
            "proc_open",
            "stdin",
            "iex",
            "invoke-expression",
            "open(stdin",
            "cmd.stdin",
            "sh -i",
        ]
        .iter()
        .any(|word| lower.contains(word));
        let is_raw = self.language != PlainLanguage::PowerShell || lower.contains("tcpclient");
        if connects && hands && joins && is_raw {
            let host = self.last_address.clone().or_else(|| find_raw_host(lower)).unwrap_or_default();
            self.note(Capability::OpensRemoteShell, &host, &(0..length));
        }
    }
}

/// A host that stands in code without a scheme: the first quoted address or name with a dot.
fn find_raw_host(lower: &str) -> Option<String> {
    lower
        .split(['"', '\'', '/', ':', ',', '(', ')', ' ', '='])
        .find(|word| {
            let parts = word.split('.').count();
            let is_number = parts == 4 && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            is_number
                || (parts >= 2
                    && [".test", ".invalid", ".com", ".net", ".io", ".xyz", ".org"]
                        .iter()
                        .any(|end| word.ends_with(end)))
        })
        .map(str::to_owned)
}
