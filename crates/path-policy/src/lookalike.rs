//! Characters that are not what they seem in a path.
//!
//! Nothing here is about beauty: each group is turned into `/`, `\`, `.` or into nothing by something that is in use.
//! NFKC (Python's `unicodedata`, Java's `Normalizer`, ICU) makes `．` a dot and `／` a slash; conversion to Windows code
//! pages makes `∕` a slash and `¥` a backslash; HFS+ drops the invisible ones (CVE-2014-9390 of git).

/// What NFKC or a Windows code page turns into a separator, alone or in a group (`℀` becomes `a/c`).
pub(crate) fn is_separator(c: char) -> bool {
    matches!(
        c,
        '\u{ff0f}' | '\u{2215}' | '\u{2044}' | '\u{29f8}' | '\u{27cb}' | '\u{2571}' | '\u{1f67c}' // slashes
        | '\u{ff3c}' | '\u{2216}' | '\u{29f5}' | '\u{29f9}' | '\u{fe68}' | '\u{27cd}' | '\u{2572}' // backslashes
        | '\u{a5}' | '\u{20a9}' | '\u{ffe5}' | '\u{ffe6}' // the backslash of Japanese and Korean code pages
        | '\u{2100}' | '\u{2101}' | '\u{2105}' | '\u{2106}' // a/c a/s c/o c/u
    )
}

/// What NFKC turns into one dot or two.
pub(crate) fn is_dot(c: char) -> bool {
    matches!(c, '\u{ff0e}' | '\u{2024}' | '\u{2025}' | '\u{fe52}' | '\u{fe30}')
}

/// What is dot enough that a name made only of such is refused. In other names these are ordinary punctuation: the
/// full stop of Chinese and Japanese, the ellipsis of many a title.
pub(crate) fn is_full_stop(c: char) -> bool {
    c == '.'
        || is_dot(c)
        || matches!(
            c,
            '\u{2026}'
                | '\u{fe19}'
                | '\u{3002}'
                | '\u{ff61}'
                | '\u{6d4}'
                | '\u{701}'
                | '\u{702}'
                | '\u{b7}'
                | '\u{22c5}'
                | '\u{a4f8}'
                | '\u{a4fa}'
                | '\u{a60e}'
                | '\u{10a50}'
                | '\u{1d16d}'
        )
}

/// What NFKC turns into `~`, `$`, `%` or `:`, the other characters that mean something at the beginning of a path.
pub(crate) fn is_sign(c: char) -> bool {
    matches!(
        c,
        '\u{ff5e}'
            | '\u{ff04}'
            | '\u{fe69}'
            | '\u{ff05}'
            | '\u{fe6a}'
            | '\u{ff1a}'
            | '\u{fe55}'
            | '\u{fe13}'
            | '\u{2a74}'
    )
}

#[cfg(test)]
mod tests {
    use unicode_normalization::UnicodeNormalization as _;

    use super::*;

    /// Every character whose compatibility form holds a separator is in the table, and every one that is dots alone.
    #[test]
    fn the_tables_hold_all_that_nfkc_makes_dangerous() {
        let mut found = 0;
        for c in ('\u{80}'..=char::MAX).filter(|c| !c.is_control()) {
            let folded: String = std::iter::once(c).nfkc().collect();
            if folded.contains(['/', '\\']) {
                assert!(is_separator(c), "{c:?} becomes {folded:?}");
                found += 1;
            }
            if folded == "." || folded == ".." {
                assert!(is_dot(c), "{c:?} becomes {folded:?}");
                found += 1;
            }
            if !folded.is_empty() && folded.chars().all(|c| c == '.') {
                assert!(is_full_stop(c), "{c:?} becomes {folded:?}");
            }
            assert!(!folded.contains(['~', '$', '%', ':']) || is_sign(c), "{c:?} becomes {folded:?}");
        }
        assert!(found >= 10, "only {found}: the test looks at nothing");
    }
}
