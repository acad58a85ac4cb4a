//! `/proc/self/status`, as far as it says what a process may do.

use std::fs;

use crate::outcome::Stopped;

/// A field by its name, trimmed.
pub(crate) fn field(name: &str) -> Result<String, Stopped> {
    let text = fs::read_to_string("/proc/self/status")
        .map_err(|error| Stopped::unable(format!("/proc/self/status cannot be read: {error}")))?;
    find(&text, name).ok_or_else(|| Stopped::unable(format!("this kernel shows no {name}")))
}

/// A mask by its name.
pub(crate) fn mask(name: &str) -> Result<u64, Stopped> {
    let text = field(name)?;
    u64::from_str_radix(&text, 16).map_err(|_| Stopped::unable(format!("{name} is no mask: {text}")))
}

/// The field of any such text.
pub(crate) fn find(text: &str, name: &str) -> Option<String> {
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(key, _)| *key == name).map(|(_, value)| value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "Name:\tNoNewPrivs: 7\nCapEff:\t00000000000000ff\nNoNewPrivs:\t1\n";
        assert_eq!(find(text, "NoNewPrivs").as_deref(), Some("1"));
        assert_eq!(find(text, "Cap"), None);
        assert!(mask("CapBnd").is_ok());
        assert!(field("NoSuchField").is_err());
    }
}
