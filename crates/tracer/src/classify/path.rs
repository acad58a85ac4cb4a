//! Paths: made plain, and compared with patterns.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::format::event::TracedProcess;

/// A path without detours: no `//`, `.` or `..`, and not by way of `/proc/self/root`. Borrowed where it was plain already.
pub(super) fn plain(path: &str) -> Cow<'_, str> {
    let has_detour =
        path.contains("//") || path.contains("/.") && path.split('/').any(|part| part == "." || part == "..");
    let path = if has_detour || path.len() > 1 && path.ends_with('/') {
        let mut parts: Vec<&str> = Vec::new();
        for part in path.split('/') {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        let root = if path.starts_with('/') { "/" } else { "" };
        Cow::Owned(format!("{root}{}", parts.join("/")))
    } else {
        Cow::Borrowed(path)
    };
    // As often as it is there, and no oftener than a path is long.
    match same_root(&path) {
        None => path,
        Some(mut rest) => {
            while let Some(deeper) = same_root(rest) {
                rest = deeper;
            }
            Cow::Owned(rest.to_owned())
        }
    }
}

/// What a path leads to that goes through the own root again.
fn same_root(path: &str) -> Option<&str> {
    let rest = path.strip_prefix("/proc/self/").or_else(|| path.strip_prefix("/proc/thread-self/"))?;
    let rest = rest.strip_prefix("root")?;
    if rest.is_empty() { Some("/") } else { rest.starts_with('/').then_some(rest) }
}

/// The last part of a path.
pub(super) fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Where programs lie that a run cannot have brought with it.
const SYSTEM: &[&str] = &["/usr/", "/bin/", "/sbin/", "/opt/", "/nix/store/", "/snap/", "/lib/"];

/// Whether the process executes one of these programs, as the system has them. What calls itself `ssh` and lies in `/tmp` is not
/// `ssh`.
pub(super) fn is_by(process: Option<&TracedProcess>, programs: &[&str]) -> bool {
    let Some(binary) = process.and_then(|process| process.binary.as_deref()) else { return false };
    programs.contains(&base(binary)) && is_of_system(binary)
}

/// Whether a program lies where those of the system lie.
pub(super) fn is_of_system(program: &str) -> bool {
    let program = plain(program);
    SYSTEM.iter().any(|folder| program.starts_with(folder))
}

/// A pattern of paths. `/etc/shadow` is that file; `.aws/**` is a folder `.aws` anywhere and all below; `*` is any part, or any
/// letters in one; `#` is the number of another process.
#[derive(Debug)]
pub(super) struct PathPattern {
    anchored: bool,
    parts: Vec<&'static str>,
    /// Whether what lies below belongs to it.
    below: bool,
}

impl PathPattern {
    pub(super) fn new(text: &'static str) -> Self {
        let (text, below) = text.strip_suffix("/**").map_or((text, false), |text| (text, true));
        let anchored = text.starts_with('/');
        let parts = text.split('/').filter(|part| !part.is_empty()).collect();
        Self { anchored, parts, below }
    }

    /// The part that says most, by which patterns are looked up, and its place.
    fn key(&self) -> Option<(usize, &'static str)> {
        let is_literal = |part: &str| !part.contains('*') && part != "#";
        let parts = self.parts.iter().copied().enumerate();
        parts.filter(|(_, part)| is_literal(part)).max_by_key(|(_, part)| part.len())
    }

    /// Whether something below a folder of these parts can match: the folder is the beginning of what the pattern names, or its end is. A pattern
    /// of one part that may lie anywhere says nothing about a folder.
    fn may_match_below(&self, folder: &[&str]) -> bool {
        let is_beginning = |end: &[&str]| {
            end.len() < self.parts.len()
                && self.parts.iter().zip(end).all(|(pattern, part)| part_matches(pattern, part, None))
        };
        if self.anchored {
            return is_beginning(folder);
        }
        let longest = folder.len().min(self.parts.len().saturating_sub(1));
        (1..=longest).any(|length| is_beginning(folder.get(folder.len() - length..).unwrap_or_default()))
    }

    /// Whether it matches the rest of a path of so many parts. Tried at one place only, so that a path of a thousand parts costs
    /// a thousand looks and not a million.
    fn matches(&self, rest: &str, left: usize, process: Option<&TracedProcess>) -> bool {
        let fits = left == self.parts.len() || self.below && left > self.parts.len();
        fits && self.parts.iter().zip(parts(rest)).all(|(pattern, part)| part_matches(pattern, part, process))
    }
}

fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty())
}

fn part_matches(pattern: &str, part: &str, process: Option<&TracedProcess>) -> bool {
    if pattern == "#" {
        let is_own = |number: u32| {
            process.is_some_and(|process| process.pid == number || process.inner_pid == Some(number))
        };
        return part.parse().is_ok_and(|number| !is_own(number));
    }
    match pattern.split_once('*') {
        None => pattern == part,
        Some((start, end)) => {
            part.len() >= start.len() + end.len() && part.starts_with(start) && part.ends_with(end)
        }
    }
}

/// Many patterns, by the part that says most of each: a path with none of those parts costs a few look-ups and no memory.
#[derive(Debug, Default)]
pub(super) struct PathPatterns {
    by_part: HashMap<&'static str, Vec<PatternEntry>>,
    /// Those without such a part, which are about the end of a path.
    ends: Vec<PatternEntry>,
}

/// Most parts of a pattern before the one it is looked up by, and one.
const BEFORE: usize = 8;

#[derive(Debug)]
struct PatternEntry {
    rule: usize,
    /// Parts of the pattern before the one it is looked up by.
    before: usize,
    pattern: PathPattern,
}

impl FromIterator<(usize, &'static str)> for PathPatterns {
    /// Patterns by their rules.
    fn from_iter<I: IntoIterator<Item = (usize, &'static str)>>(texts: I) -> Self {
        let mut patterns = Self::default();
        texts.into_iter().for_each(|(rule, text)| patterns.add(rule, text));
        patterns
    }
}

impl PathPatterns {
    /// Adds a pattern for a rule.
    pub(super) fn add(&mut self, rule: usize, text: &'static str) {
        let pattern = PathPattern::new(text);
        match pattern.key() {
            Some((before, key)) => {
                self.by_part.entry(key).or_default().push(PatternEntry { rule, before, pattern });
            }
            None => {
                self.ends.push(PatternEntry { rule, before: pattern.parts.len().saturating_sub(1), pattern });
            }
        }
    }

    /// The first rule of which a pattern can match something below a folder with a plain path.
    pub(super) fn first_below(&self, folder: &str) -> Option<usize> {
        let folder: Vec<&str> = parts(folder).collect();
        let all = self.by_part.values().flatten().chain(&self.ends);
        all.filter(|entry| entry.pattern.may_match_below(&folder)).map(|entry| entry.rule).min()
    }

    /// The rules of which a pattern matches a plain path, each once, in order.
    pub(super) fn rules(&self, path: &str, process: Option<&TracedProcess>) -> Vec<usize> {
        let total = parts(path).count();
        let mut rules = Vec::new();
        // Where the last parts begin; patterns have few before the one they are looked up by.
        let mut starts = [0_usize; BEFORE];
        let (mut offset, mut at) = (0, 0);
        for part in path.split('/') {
            let here = offset;
            offset += part.len() + 1;
            if part.is_empty() {
                continue;
            }
            if let Some(start) = starts.get_mut(at % BEFORE) {
                *start = here;
            }
            let by_part = self.by_part.get(part).into_iter().flatten();
            let is_last = at + 1 == total;
            for entry in by_part.chain(self.ends.iter().filter(|_| is_last)) {
                let Some(first) = at.checked_sub(entry.before) else { continue };
                let rest =
                    starts.get(first % BEFORE).and_then(|start| path.get(*start..)).unwrap_or_default();
                let here = first == 0 || !entry.pattern.anchored;
                if here && !rules.contains(&entry.rule) && entry.pattern.matches(rest, total - first, process)
                {
                    rules.push(entry.rule);
                }
            }
            at += 1;
        }
        rules.sort_unstable();
        rules
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detours_are_taken_out() {
        for (path, want) in [
            ("/etc/shadow", "/etc/shadow"),
            ("//etc///shadow", "/etc/shadow"),
            ("/etc/./shadow", "/etc/shadow"),
            ("/usr/../etc/shadow", "/etc/shadow"),
            ("/../../etc/shadow", "/etc/shadow"),
            ("/proc/self/root/etc/shadow", "/etc/shadow"),
            ("/proc/self/root/proc/thread-self/root//etc/shadow", "/etc/shadow"),
            ("/proc/self/root", "/"),
            ("/proc/self/rooted", "/proc/self/rooted"),
            ("/home/a/.ssh/", "/home/a/.ssh"),
            ("../.ssh/x", ".ssh/x"),
            ("/home/a/...", "/home/a/..."),
            ("/", "/"),
            ("", ""),
        ] {
            assert_eq!(plain(path), want, "{path}");
        }
    }

    #[test]
    fn patterns_match_what_they_say() {
        let me = TracedProcess::new(7, None);
        for (pattern, path, want) in [
            ("/etc/shadow", "/etc/shadow", true),
            ("/etc/shadow", "/srv/etc/shadow", false),
            (".aws/**", "/home/a/.aws", true),
            (".aws/**", "/home/a/.aws/sso/cache/x", true),
            (".aws/**", ".aws/credentials", true),
            (".aws/**", "/home/a/.awsome/x", false),
            (".ssh/id_*", "/root/.ssh/id_rsa", true),
            (".ssh/id_*", "/root/.ssh/id_rsa/x", false),
            ("/proc/#/environ", "/proc/1/environ", true),
            ("/proc/#/environ", "/proc/7/environ", false),
            ("/proc/#/environ", "/proc/self/environ", false),
            ("*.kdbx", "/home/a/b.kdbx", true),
            ("*.kdbx", "/home/a/b.kdbx.c", false),
            ("/home/*", "/home/a", true),
            ("/home/*", "/home/a/b", false),
        ] {
            let mut patterns = PathPatterns::default();
            patterns.add(3, pattern);
            let want: &[usize] = if want { &[3] } else { &[] };
            assert_eq!(patterns.rules(path, Some(&me)), want, "{pattern} {path}");
        }
    }

    #[test]
    fn a_part_that_is_there_often_is_tried_often() {
        let mut patterns = PathPatterns::default();
        patterns.add(1, ".ssh/x/.ssh/id_*");
        patterns.add(2, "/.ssh/y");
        let many = ".ssh/".repeat(1000);
        assert_eq!(patterns.rules(&format!("/{many}x/.ssh/id_rsa"), None), [1]);
        assert_eq!(patterns.rules("/.ssh/y", None), [2]);
        assert!(patterns.rules(&format!("/{many}y"), None).is_empty());
        assert_eq!(patterns.rules("/usr/lib/x.so", None).capacity(), 0);
    }

    #[test]
    fn only_programs_of_the_system_are_who_they_say_they_are() {
        let by = |binary: &str| is_by(Some(&TracedProcess::new(1, Some(binary.to_owned()))), &["ssh"]);
        assert!(by("/usr/bin/ssh") && by("/opt/x/ssh"));
        assert!(
            !by("/tmp/ssh")
                && !by("ssh")
                && !by("/usr/../tmp/ssh")
                && !by("/usr/bin/sshd")
                && !is_by(None, &["ssh"])
        );
    }
}
