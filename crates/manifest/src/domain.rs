//! Host names as a grant names them: exact, or everything below one.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use skillsandbox_text::is_deceptive;

use crate::diagnostic::{Code, Fault, printable, quoted};

/// Longest text that is looked at as a name, in bytes. 253 characters is the longest name in ASCII, and a Unicode form is
/// shorter than its ASCII form by more than its bytes are longer.
const MAX_WRITTEN: usize = 512;

/// Names that mean the machine itself, on one system or another.
const LOOPBACK: &[&str] = &["localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback"];

/// A host name, or `*.` and a name for all names one or more labels below it, never for the name itself.
///
/// Names are kept in their ASCII form (IDNA, UTS 46), in lower case and without a trailing dot, so that two
/// spellings of one name are equal.
///
/// ```
/// use skillsandbox_manifest::DomainPattern;
///
/// let pattern: DomainPattern = "*.Bücher.example.".parse()?;
/// assert_eq!(pattern.to_string(), "*.xn--bcher-kva.example");
/// assert!(pattern.matches("api.bücher.example"));
/// assert!(pattern.matches("a.b.XN--BCHER-KVA.example."));
/// assert!(!pattern.matches("bücher.example"));
/// assert!(!pattern.matches("notbücher.example"));
/// # Ok::<(), skillsandbox_manifest::Fault>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DomainPattern {
    wildcard: bool,
    /// ASCII, lower case, no trailing dot.
    name: String,
}

impl DomainPattern {
    /// Whether it stands for the names below [`Self::base`] instead of for that name.
    #[must_use]
    pub fn is_wildcard(&self) -> bool {
        self.wildcard
    }

    /// The name, without `*.`, in its ASCII form.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.name
    }

    /// Whether a host name, in any spelling, is meant by this pattern.
    #[must_use]
    pub fn matches(&self, host: &str) -> bool {
        normalise(host).is_ok_and(|host| self.matches_normalised(&host))
    }

    fn matches_normalised(&self, host: &str) -> bool {
        if self.wildcard {
            host.strip_suffix(&self.name).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
        } else {
            host == self.name
        }
    }

    /// Whether every name that `other` matches is matched by `self`.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        match (self.wildcard, other.wildcard) {
            (_, false) => self.matches_normalised(&other.name),
            (true, true) => self.name == other.name || self.matches_normalised(&other.name),
            (false, true) => false,
        }
    }
}

impl FromStr for DomainPattern {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let (wildcard, name) = match text.strip_prefix("*.") {
            Some(base) => (true, base),
            None => (false, text),
        };
        if name.contains('*') {
            let message = format!("{} has a `*` that is not the whole first label", quoted(text));
            return Err(Fault::new(Code::InvalidWildcard, message)
                .help("only the form `*.example.com` is understood"));
        }
        let name = normalise(name)?;
        if LOOPBACK.contains(&name.as_str()) || name.ends_with(".localhost") {
            let message = format!("{} is the sandbox itself, not a destination", quoted(text));
            let help = "a service on the host's loopback is granted as `cidr: 127.0.0.1/32` with its port";
            return Err(Fault::new(Code::InvalidDomain, message).help(help));
        }
        if wildcard && is_public_suffix(&name) {
            let message =
                format!("{} covers names of many owners: {} is a public suffix", quoted(text), quoted(&name));
            return Err(Fault::new(Code::InvalidWildcard, message).help("name the domains that are needed"));
        }
        Ok(Self { wildcard, name })
    }
}

impl fmt::Display for DomainPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.wildcard {
            f.write_str("*.")?;
        }
        f.write_str(&self.name)
    }
}

impl Serialize for DomainPattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The one spelling of a host name: ASCII, lower case, no trailing dot.
fn normalise(written: &str) -> Result<String, Fault> {
    let fault = |message: String| Fault::new(Code::InvalidDomain, message);
    if written.is_empty() {
        return Err(fault("the name is empty".to_owned()));
    }
    if written.contains(|c: char| c.is_whitespace() || is_deceptive(c)) {
        return Err(fault(format!(
            "{} is not a host name: it holds a space or an invisible character",
            quoted(written)
        )));
    }
    if written.len() > MAX_WRITTEN {
        return Err(fault(format!("{} is longer than a name can be", quoted(written))));
    }
    if let Some((_, rest)) = written.split_once("://") {
        let host = rest.split(['/', '?', '#', ':']).next().unwrap_or_default();
        return Err(fault(format!("{} is a URL, not a host name", quoted(written)))
            .help(format!("write the host alone: {}", quoted(host))));
    }
    if written.starts_with('[') || written.parse::<std::net::IpAddr>().is_ok() {
        return Err(address(written));
    }
    if let Some((host, port)) = written.rsplit_once(':')
        && port.bytes().all(|b| b.is_ascii_digit())
    {
        return Err(fault(format!("{} has a port in it", quoted(written))).help(format!(
            "write the host alone, {}, and `ports: [{}]`",
            quoted(host),
            printable(port)
        )));
    }
    if written.contains(['/', '@']) {
        return Err(fault(format!("{} is not a host name", quoted(written))).help("write the host alone"));
    }
    let ascii = idna::domain_to_ascii_cow(written.as_bytes(), idna::AsciiDenyList::EMPTY)
        .map_err(|_| fault(format!("{} is not a host name", quoted(written))))?;
    let name = ascii.strip_suffix('.').unwrap_or(&ascii).to_ascii_lowercase();
    if name.len() > 253 {
        return Err(fault(format!("{} is longer than 253 characters", quoted(written))));
    }
    for label in name.split('.') {
        check_label(label).map_err(|why| fault(format!("{}: {why}", quoted(written))))?;
    }
    // URL parsers read a name whose last label is a number as an address: 127.1, 0x7f.1, 2130706433
    // (WHATWG URL, "ends in a number").
    let last = name.rsplit('.').next().unwrap_or_default();
    let hex = last.strip_prefix("0x").is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
    if hex || last.bytes().all(|b| b.is_ascii_digit()) {
        return Err(address(written));
    }
    Ok(name)
}

fn address(written: &str) -> Fault {
    let message = format!("{} is an address, not a name", quoted(written));
    Fault::new(Code::InvalidDomain, message).help("grant an address with `cidr:`")
}

fn check_label(label: &str) -> Result<(), &'static str> {
    if label.is_empty() {
        return Err("a label between two dots is empty");
    }
    if label.len() > 63 {
        return Err("a label is longer than 63 characters");
    }
    // Underscores are not in host names by RFC 1123, but in use for some (S3 buckets, CDNs).
    if !label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_')) {
        return Err("a label may hold letters, digits and hyphens");
    }
    if label.starts_with('-') || label.ends_with('-') {
        return Err("a label begins or ends with a hyphen");
    }
    Ok(())
}

/// Whether anybody can register a name directly below it: `com`, `co.uk`, `github.io`, and any single label.
fn is_public_suffix(name: &str) -> bool {
    // The list has rules such as `*.kawasaki.jp`, by which every name directly below is a suffix of its own.
    let below = format!("x.{name}");
    psl::suffix_str(name).is_none_or(|suffix| suffix == name)
        || psl::suffix_str(&below).is_some_and(|s| s == below)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<DomainPattern, Fault> {
        text.parse()
    }

    #[test]
    fn spellings_of_one_name_are_equal() {
        for (a, b) in [
            ("bücher.example", "xn--bcher-kva.example"),
            ("BÜCHER.example.", "bücher.example"),
            ("Api.Example.COM", "api.example.com."),
            ("faß.example", "xn--fa-hia.example"),
            ("例え.test", "xn--r8jz45g.test"),
            ("ｅｘａｍｐｌｅ.test", "example.test"),
            ("a。example.test", "a.example.test"),
        ] {
            assert_eq!(parse(a).unwrap(), parse(b).unwrap(), "{a} and {b}");
        }
    }

    #[test]
    fn addresses_and_other_things_are_not_names() {
        for (text, code) in [
            ("127.0.0.1", Code::InvalidDomain),
            ("127.1", Code::InvalidDomain),
            ("2130706433", Code::InvalidDomain),
            ("0x7f000001", Code::InvalidDomain),
            ("0x7f.1", Code::InvalidDomain),
            ("0177.0.0.01", Code::InvalidDomain),
            ("１２７.0.0.1", Code::InvalidDomain),
            ("[::1]", Code::InvalidDomain),
            ("::1", Code::InvalidDomain),
            ("::ffff:1.2.3.4", Code::InvalidDomain),
            ("https://api.example.test/v1", Code::InvalidDomain),
            ("api.example.test:443", Code::InvalidDomain),
            ("user@example.test", Code::InvalidDomain),
            ("example.test/x", Code::InvalidDomain),
            ("a..example.test", Code::InvalidDomain),
            (".example.test", Code::InvalidDomain),
            ("-a.example.test", Code::InvalidDomain),
            ("exa mple.test", Code::InvalidDomain),
            ("exa\u{200b}mple.test..", Code::InvalidDomain),
            ("", Code::InvalidDomain),
            (".", Code::InvalidDomain),
            ("localhost", Code::InvalidDomain),
            ("x.LOCALHOST.", Code::InvalidDomain),
            ("xn--a", Code::InvalidDomain),
            ("*", Code::InvalidWildcard),
            ("*.", Code::InvalidDomain),
            ("api.*.example.test", Code::InvalidWildcard),
            ("a*.example.test", Code::InvalidWildcard),
            ("*.*.example.test", Code::InvalidWildcard),
            ("*.com", Code::InvalidWildcard),
            ("*.co.uk", Code::InvalidWildcard),
            ("*.CO.UK.", Code::InvalidWildcard),
            ("*.github.io", Code::InvalidWildcard),
            ("*.test", Code::InvalidWildcard),
            ("*.kawasaki.jp", Code::InvalidWildcard),
            ("*.compute.amazonaws.com", Code::InvalidWildcard),
            ("localhost.localdomain", Code::InvalidDomain),
            ("ip6-localhost", Code::InvalidDomain),
            ("x\nother: valid\nfoo:443", Code::InvalidDomain),
            ("*.公司.cn", Code::InvalidWildcard),
        ] {
            assert_eq!(parse(text).unwrap_err().code, code, "{text}");
        }
        assert!(parse(&"a.".repeat(200)).is_err());
        assert!(parse(&format!("{}.test", "a".repeat(64))).is_err());
    }

    #[test]
    fn a_wildcard_covers_names_below_and_never_the_name() {
        let pattern = parse("*.example.com").unwrap();
        for (host, expected) in [
            ("a.example.com", true),
            ("a.b.example.com", true),
            ("A.EXAMPLE.COM.", true),
            ("example.com", false),
            (".example.com", false),
            ("badexample.com", false),
            ("example.com.evil.test", false),
            ("a.example.com.evil.test", false),
        ] {
            assert_eq!(pattern.matches(host), expected, "{host}");
        }
    }

    #[test]
    fn covering_is_set_inclusion() {
        let [wide, narrow, host, base] =
            ["*.example.com", "*.a.example.com", "x.a.example.com", "example.com"].map(|t| parse(t).unwrap());
        assert!(wide.covers(&narrow) && wide.covers(&host) && narrow.covers(&host) && wide.covers(&wide));
        assert!(!narrow.covers(&wide) && !wide.covers(&base) && !host.covers(&narrow) && !base.covers(&wide));
    }
}
