//! Part of CHECK-04: hosts on the blocklist, in any spelling.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;

/// The first host of a text that is blocked, or lies below one that is: where, and which entry of the list.
pub(crate) fn find_blocked<'b>(text: &str, blocklist: &'b [String]) -> Option<(Range<usize>, &'b str)> {
    if blocklist.is_empty() {
        return None;
    }
    // Defanged spellings: hxxp, [.], (dot).
    let lower = text
        .to_lowercase()
        .replace("[.]", ".")
        .replace("(.)", ".")
        .replace("[dot]", ".")
        .replace("(dot)", ".")
        .replace('\u{3002}', ".");
    lower.split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '-'))).find_map(|word| {
        let host = word.trim_matches('.');
        let ascii = host.contains('.').then(|| canonical_host(host))?;
        let covers = |blocked: &&String| {
            ascii == **blocked || ascii.strip_suffix(blocked.as_str()).is_some_and(|rest| rest.ends_with('.'))
        };
        let blocked = blocklist.iter().find(covers)?;
        let at = text.find(host).unwrap_or(0);
        Some((at..at + 1, blocked.as_str()))
    })
}

/// A host as it is looked up, for comparison: compatible and upper-case letters folded, labels in another alphabet as `xn--`. A name that cannot be
/// looked up has a form too; no host is equal to it.
pub(crate) fn canonical_host(host: &str) -> String {
    if host.is_ascii() {
        return host.to_ascii_lowercase();
    }
    let folded: String = host.nfkc().flat_map(char::to_lowercase).nfkc().collect();
    let labels = folded.split(['.', '\u{3002}']).map(|label| match encode_label(label) {
        Some(encoded) => format!("xn--{encoded}"),
        None => label.to_owned(),
    });
    labels.collect::<Vec<_>>().join(".")
}

/// Longest label that is encoded; one that can be looked up has 63 characters.
const MAX_LABEL: usize = 256;

/// Punycode (RFC 3492) of a label; `None` for one that is ASCII already, or too long to be one.
fn encode_label(label: &str) -> Option<String> {
    const INITIAL_BIAS: u32 = 72;
    const FIRST_CODE: u32 = 0x80;
    let codes: Vec<u32> = label.chars().map(u32::from).collect();
    if label.is_ascii() || codes.len() > MAX_LABEL {
        return None;
    }
    let mut out: String = label.chars().filter(char::is_ascii).collect();
    let basic = u32::try_from(out.len()).ok()?;
    if basic > 0 {
        out.push('-');
    }
    let (mut least, mut delta, mut bias, mut handled) = (FIRST_CODE, 0_u32, INITIAL_BIAS, basic);
    while (handled as usize) < codes.len() {
        let next = codes.iter().copied().filter(|code| *code >= least).min()?;
        delta = delta.checked_add((next - least).checked_mul(handled + 1)?)?;
        for code in &codes {
            if *code < next {
                delta = delta.checked_add(1)?;
            } else if *code == next {
                encode_number(delta, bias, &mut out);
                bias = adapt(delta, handled + 1, handled == basic);
                delta = 0;
                handled += 1;
            }
        }
        delta = delta.checked_add(1)?;
        least = next + 1;
    }
    Some(out)
}

const BASE: u32 = 36;
const TMIN: u32 = 1;
const TMAX: u32 = 26;

/// A number of variable length, its least digit first.
fn encode_number(mut number: u32, bias: u32, out: &mut String) {
    let digit = |value: u32| char::from_digit(value, BASE);
    // Letters come before figures in Punycode.
    let letter_first = |value: u32| if value < 26 { digit(value + 10) } else { digit(value - 26) };
    let mut position = BASE;
    loop {
        let threshold = position.saturating_sub(bias).clamp(TMIN, TMAX);
        if number < threshold {
            break;
        }
        out.extend(letter_first(threshold + (number - threshold) % (BASE - threshold)));
        number = (number - threshold) / (BASE - threshold);
        position += BASE;
    }
    out.extend(letter_first(number));
}

fn adapt(delta: u32, count: u32, is_first: bool) -> u32 {
    const SKEW: u32 = 38;
    const DAMP: u32 = 700;
    let mut delta = if is_first { delta / DAMP } else { delta / 2 };
    delta += delta / count;
    let mut position = 0;
    while delta > (BASE - TMIN) * TMAX / 2 {
        delta /= BASE - TMIN;
        position += BASE;
    }
    position + (BASE - TMIN + 1) * delta / (delta + SKEW)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_spelling_of_a_host_is_the_same() {
        for (written, canonical) in [
            ("Evil.TEST", "evil.test"),
            ("b\u{fc}cher.test", "xn--bcher-kva.test"),
            ("B\u{dc}CHER.test", "xn--bcher-kva.test"),
            ("xn--bcher-kva.test", "xn--bcher-kva.test"),
            ("bu\u{308}cher\u{3002}test", "xn--bcher-kva.test"),
            ("\u{ff45}vil.test", "evil.test"),
            ("\u{4f8b}\u{3048}.test", "xn--r8jz45g.test"),
            ("\u{43f}\u{440}\u{438}\u{43c}\u{435}\u{440}.test", "xn--e1afmkfd.test"),
        ] {
            assert_eq!(canonical_host(written), canonical, "{written}");
        }
        let long = "\u{fc}".repeat(100_000);
        assert_eq!(canonical_host(&long), long);
    }

    proptest! {
        /// As whoever looks names up does it, where that is possible at all.
        #[test]
        fn a_host_is_encoded_as_idna_does(
            host in "[a-zA-Z0-9\u{e0}-\u{ff}\u{391}-\u{3c9}\u{430}-\u{44f}\u{4e00}-\u{4e40}\u{ac00}-\u{ac40}\u{ff21}-\u{ff3a}]{1,12}\\.(?:test|\u{fc}x)"
        ) {
            if let Ok(expected) = idna::domain_to_ascii(&host) {
                prop_assert_eq!(canonical_host(&host), expected);
            }
        }
    }
}
