//! Lines of batch files in a shell's spelling, so that one reader serves both.

/// Names of programs and what a shell calls them.
const NAMES: &[(&str, &str)] = &[
    ("type", "cat"),
    ("copy", "cp"),
    ("xcopy", "cp"),
    ("robocopy", "cp"),
    ("move", "mv"),
    ("call", "."),
    ("start", "nohup"),
    ("findstr", "grep"),
];

/// A line of a batch file as a shell would write it; empty where it does nothing.
pub(super) fn spell_line(line: &str) -> String {
    let line = line.trim().trim_start_matches('@');
    let lower = line.to_ascii_lowercase();
    if line.is_empty() || lower.starts_with("rem ") || line.starts_with("::") || line.starts_with(':') {
        return String::new();
    }
    // Everything that is set is a variable.
    let (line, is_set) = match lower.strip_prefix("set ") {
        Some(_) => {
            (line.get(4..).unwrap_or_default().trim_start_matches("/p ").trim_start_matches("/a "), true)
        }
        None => (line, false),
    };
    let mut out = String::with_capacity(line.len() + 8);
    let mut rest = line;
    while let Some((before, tail)) = rest.split_once('%') {
        out.push_str(before);
        let name: String = tail
            .chars()
            .take(64)
            .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '~'))
            .collect();
        let after = tail.get(name.len()..).unwrap_or_default();
        match after.strip_prefix('%') {
            Some(after) if !name.is_empty() => {
                let name = if name.eq_ignore_ascii_case("userprofile") { "HOME" } else { name.as_str() };
                out.push_str("${");
                out.push_str(name);
                out.push('}');
                rest = after;
            }
            _ => rest = tail,
        }
    }
    out.push_str(rest);
    let out = out.replace('\\', "/").replace('^', "");
    if is_set {
        return match out.split_once('=') {
            Some((name, value)) => {
                format!("{}=\"{}\"", name.trim().trim_matches('"'), value.trim().trim_matches('"'))
            }
            None => format!("env {out}"),
        };
    }
    if lower == "set" {
        return "env".to_owned();
    }
    let word = out.split(' ').next().unwrap_or_default().to_ascii_lowercase();
    let known = NAMES.iter().find(|(name, _)| *name == word);
    match known {
        Some((name, spelt)) => format!("{spelt}{}", out.get(name.len()..).unwrap_or_default()),
        None => out,
    }
}
