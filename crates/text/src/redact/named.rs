//! Secrets that are given away by the name before them, in a command line or an address.
//!
//! `--token x`, `--token=x`, `API_KEY=x`, `Authorization: Bearer x`, `Proxy-Authorization:Basic x`, `https://user:x@host`, `?sig=x&api_key=y`,
//! `<password>x</password>`, `machine h login me password x`. It errs on the side of taking too much: what is lost is a word of a log.

use std::borrow::Cow;

use crate::secret_name::{REDACTED, is_secret_name};

/// What the words before say of the next one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NextWord {
    /// Nothing.
    #[default]
    Plain,
    /// It is a secret: `--token` came before.
    Secret,
    /// It may be a name and a password: `-u` came before.
    Login,
}

impl NextWord {
    fn after(word: &str) -> Self {
        let bare = word.trim_start_matches(['"', '\'', '`', '(', '\\']);
        if !bare.starts_with('-') || bare.contains('=') {
            Self::Plain
        } else if speaks_of_a_secret(bare) {
            Self::Secret
        } else if matches!(bare, "-u" | "-U" | "--user" | "--proxy-user") {
            Self::Login
        } else {
            Self::Plain
        }
    }
}

/// The text without values that the name before them gives away. `next` says what the text before ended in, and is left saying
/// what this one does.
#[must_use]
pub fn redact_named_values(text: &str, next: &mut NextWord) -> String {
    // An argument of its own: all of it is the value, spaces and all.
    if *next == NextWord::Secret && !text.trim().is_empty() {
        *next = NextWord::after(text);
        return REDACTED.to_owned();
    }
    let text = &*without_elements(text);
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut previous) = (text, "");
    // Whether a line of netrc has begun.
    let mut is_netrc = false;
    while !rest.is_empty() {
        let space = rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len());
        let (before, word_on) = rest.split_at(space);
        out.push_str(before);
        let (word, after) = word_on.split_at(word_end(word_on, *next == NextWord::Secret));
        if word.is_empty() {
            break;
        }
        rest = after;
        is_netrc |= matches!(word, "machine" | "login") && *next == NextWord::Plain;
        // A value may look like a flag, and a flag without a value may stand before another one.
        match std::mem::replace(next, NextWord::after(word)) {
            NextWord::Secret => out.push_str(REDACTED),
            NextWord::Login if word.contains(':') => out.push_str(&login(word)),
            _ if is_netrc && matches!(word, "password" | "passwd") => {
                out.push_str(word);
                *next = NextWord::Secret;
            }
            _ if is_header(word) || names_scheme(word) => {
                // All that follows on the line, whatever scheme it names first.
                let line = after.find(['\n', '\r']).unwrap_or(after.len());
                let (value, more) = after.split_at(line);
                out.push_str(word);
                if value.trim().is_empty() {
                    *next = NextWord::Secret;
                } else {
                    out.push(' ');
                    out.push_str(REDACTED);
                }
                rest = more;
            }
            // `password = x`, `password =x`
            _ if word.starts_with('=') && speaks_of_a_secret(previous) => {
                out.push('=');
                match word.trim_start_matches('=') {
                    "" => *next = NextWord::Secret,
                    _ => out.push_str(REDACTED),
                }
            }
            _ if word.starts_with("-u") && word.contains(':') => out.push_str(&login(word)),
            _ => out.push_str(&word_without_values(word)),
        }
        previous = word;
    }
    out
}

/// `name:password` without the password.
fn login(word: &str) -> String {
    let name = word.split(':').next().unwrap_or_default();
    format!("{name}:{REDACTED}")
}

/// Where a word ends: at the next space, but for those in quotes that stand where a value begins.
fn word_end(text: &str, is_value: bool) -> usize {
    let end = |from: usize| {
        let on = text.get(from..).unwrap_or_default();
        on.find(char::is_whitespace).map_or(text.len(), |at| from + at)
    };
    let first = end(0);
    let word = text.get(..first).unwrap_or_default();
    let opened = if is_value && word.starts_with(QUOTES) {
        Some(0)
    } else {
        let after = |(at, c): (usize, char)| {
            QUOTES.contains(&c) && word.get(..at).is_some_and(|w| w.ends_with(['=', ':']))
        };
        word.char_indices().find(|found| after(*found)).map(|(at, _)| at)
    };
    let closed = opened.and_then(|at| Some(at + quoted(text.get(at..)?)?));
    match (opened, closed) {
        (Some(_), Some(closed)) => end(closed),
        // Never closed: it may all be the value.
        (Some(_), None) => text.len(),
        (None, _) => first,
    }
}

const QUOTES: [char; 2] = ['"', '\''];

/// How long the quoted text is that begins here, with both quotes.
fn quoted(text: &str) -> Option<usize> {
    let quote = text.chars().next().filter(|c| QUOTES.contains(c))?;
    Some(text.get(1..)?.find(quote)? + 2)
}

/// A name without what it is dressed in: `--api-key`, `"token"`, `{password`.
fn name_of(text: &str) -> &str {
    let start = text
        .rfind(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.')))
        .map_or(0, |at| at + text.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8));
    text.get(start..).unwrap_or_default().trim_start_matches('-')
}

fn speaks_of_a_secret(name: &str) -> bool {
    is_secret_name(name_of(name.trim_end_matches(['"', '\'', '`', '\\'])))
}

/// `Proxy-Authorization:Basic`, behind which the secret follows.
fn names_scheme(word: &str) -> bool {
    const SCHEMES: &[&str] = &[
        "basic",
        "bearer",
        "digest",
        "negotiate",
        "ntlm",
        "token",
        "apikey",
        "aws4-hmac-sha256",
        "hoba",
        "dpop",
    ];
    let Some((name, scheme)) = word.split_once([':', '=']) else { return false };
    let scheme = scheme.trim_start_matches(QUOTES);
    SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known)) && speaks_of_a_secret(name)
}

/// The names in the query of an address that sign it: whoever has the value may do what the address says.
fn signs_address(before: &str, name: &str) -> bool {
    let in_address = before.contains("://") || name.starts_with(['?', '&', '#']);
    let name = name_of(name).to_ascii_lowercase();
    in_address && (matches!(&*name, "sig" | "signature" | "hmac") || name.ends_with("-signature"))
}

/// A text without what stands in elements of XML whose name speaks of a secret.
fn without_elements(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, on) = rest.split_at(at);
        let name_end = on.find(|c: char| c.is_whitespace() || c == '>').unwrap_or(on.len());
        let name = on.get(1..name_end).unwrap_or_default();
        let is_secret = name.starts_with(|c: char| c.is_alphabetic() || c == '_') && speaks_of_a_secret(name);
        let start =
            on.find('>').filter(|end| is_secret && !on.get(..*end).is_some_and(|tag| tag.ends_with('/')));
        let Some(start) = start.map(|at| at + 1) else {
            out.push_str(before);
            out.push('<');
            rest = on.get(1..).unwrap_or_default();
            continue;
        };
        let (tag, inside) = on.split_at(start);
        let end = inside.find("</").unwrap_or(inside.len());
        out.push_str(before);
        out.push_str(tag);
        let (value, after) = inside.split_at(end);
        out.push_str(if value.trim().is_empty() { value } else { REDACTED });
        rest = after;
        if let Some(close) = after.strip_prefix("</") {
            out.push_str("</");
            rest = close;
        }
    }
    if out.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(out + rest) }
}

/// `Authorization:`, whose value is the rest of the line.
fn is_header(word: &str) -> bool {
    word.strip_suffix(':').is_some_and(|name| !name.contains("//") && speaks_of_a_secret(name))
}

fn word_without_values(word: &str) -> String {
    let word = without_password(word);
    let mut out = String::with_capacity(word.len());
    let mut rest = word.as_str();
    // Each `name=value` or `name:value`; the value ends where an address goes on with the next.
    while let Some(at) = rest.find(['=', ':']) {
        let (name, on) = rest.split_at(at);
        let (sign, value) = on.split_at(1);
        out.push_str(name);
        out.push_str(sign);
        rest = value;
        if !value.is_empty() && (speaks_of_a_secret(name) || signs_address(&out, name)) {
            let inside = value.find(['&', '#', ';']).unwrap_or(value.len());
            let end = if value.starts_with(QUOTES) { quoted(value).unwrap_or(value.len()) } else { inside };
            out.push_str(REDACTED);
            rest = value.get(end..).unwrap_or_default();
        }
    }
    out + rest
}

/// An address without the password, or the token, before its host.
fn without_password(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(at) = rest.find("://") {
        let (scheme, on) = rest.split_at(at + 3);
        out.push_str(scheme);
        let end = on.find(['/', '?', '#', '"', '\'']).unwrap_or(on.len());
        let (authority, path) = on.split_at(end);
        match authority.rsplit_once('@') {
            // `ssh://git@host` names an account; a browser's address has no reason to.
            Some((user, host)) if user.contains(':') || scheme.contains("http") => {
                out.push_str(REDACTED);
                out.push('@');
                out.push_str(host);
            }
            _ => out.push_str(authority),
        }
        rest = path;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_goes_with_the_name_that_gives_it_away() {
        for (text, left) in [
            ("--token hunter2 --city Oslo", "--token [REDACTED] --city Oslo"),
            ("--token=hunter2 x", "--token=[REDACTED] x"),
            ("-password hunter2", "-password [REDACTED]"),
            ("API_KEY=hunter2 curl", "API_KEY=[REDACTED] curl"),
            ("sh -c 'export DB_PASSWORD=\"hunter2\"; ls'", "sh -c 'export DB_PASSWORD=[REDACTED]; ls'"),
            ("curl -H Authorization:hunter2", "curl -H Authorization:[REDACTED]"),
            ("curl -H 'Authorization: Bearer hunter2' x", "curl -H 'Authorization: [REDACTED]"),
            ("Cookie: sid=hunter2; a=b\nAccept: all", "Cookie: [REDACTED]\nAccept: all"),
            ("https://me:hunter2@a.test/x", "https://[REDACTED]@a.test/x"),
            ("https://hunter2@a.test", "https://[REDACTED]@a.test"),
            ("postgres://me:hun@ter2@a.test:5432/x", "postgres://[REDACTED]@a.test:5432/x"),
            ("https://a.test/?q=1&api_key=hunter2&b=2", "https://a.test/?q=1&api_key=[REDACTED]&b=2"),
            ("https://a.test/?token=hunter2#x", "https://a.test/?token=[REDACTED]#x"),
            ("--token -hunter2", "--token [REDACTED]"),
            ("--token --password hunter2", "--token [REDACTED] [REDACTED]"),
            ("--token 'hunter2 and more' x", "--token [REDACTED] x"),
            ("PASSWORD='hunter2; and more' ls", "PASSWORD=[REDACTED] ls"),
            ("PASSWORD=\"hunter2 and so on", "PASSWORD=[REDACTED]"),
            ("password = hunter2\nuser = me", "password = [REDACTED]\nuser = me"),
            ("password =hunter2 x", "password =[REDACTED] x"),
            ("curl -u me:hunter2 https://a.test", "curl -u me:[REDACTED] https://a.test"),
            ("curl -ume:hun:ter2", "curl -ume:[REDACTED]"),
            ("{token:hunter2", "{token:[REDACTED]"),
            (
                "Proxy-Authorization:Basic aHVudGVyMg==\nHost: a.test",
                "Proxy-Authorization:Basic [REDACTED]\nHost: a.test",
            ),
            ("-H 'Authorization:Bearer hunter2' x", "-H 'Authorization:Bearer [REDACTED]"),
            ("authorization=Bearer hunter2", "authorization=Bearer [REDACTED]"),
            ("https://a.test/x?sv=1&sig=hunter2&se=2", "https://a.test/x?sv=1&sig=[REDACTED]&se=2"),
            ("https://a.test/x?sig=hunter2", "https://a.test/x?sig=[REDACTED]"),
            (
                "https://a.test/x?X-Amz-Signature=hunter2&a=b",
                "https://a.test/x?X-Amz-Signature=[REDACTED]&a=b",
            ),
            ("https://a.test/#signature=hunter2", "https://a.test/#signature=[REDACTED]"),
            ("<password>hunter2</password>", "<password>[REDACTED]</password>"),
            (
                "<a><db:password type=\"x\">hunter2 and more</db:password></a>",
                "<a><db:password type=\"x\">[REDACTED]</db:password></a>",
            ),
            ("<apiKey>hunter2", "<apiKey>[REDACTED]"),
            ("<add key='x'/><token>\n hunter2\n</token> ok", "<add key='x'/><token>[REDACTED]</token> ok"),
            ("<password><![CDATA[hunter<2]]></password>", "<password>[REDACTED]</password>"),
            ("machine a.test login me password hunter2", "machine a.test login me password [REDACTED]"),
            (
                "machine a.test\n  login me\n  password hunter2\nmachine b.test",
                "machine a.test\n  login me\n  password [REDACTED]\nmachine b.test",
            ),
            ("default login me password hunter2", "default login me password [REDACTED]"),
        ] {
            let mut next = NextWord::Plain;
            assert_eq!(redact_named_values(text, &mut next), left, "{text}");
            assert_eq!(next, NextWord::Plain, "{text}");
        }
    }

    #[test]
    fn honest_text_stays() {
        for text in [
            "",
            "  ",
            "Oslo",
            "a=b",
            "a = b",
            "id -u me",
            "--author me",
            "ssh://git@a.test/x",
            "me@a.test",
            "12:30",
            "C:\\x",
            "https://a.test:8443/?q=a=b",
            "tokens of love",
            "https://a.test/sig/x?significant=1",
            "sig=5 of 7",
            "<p>text</p>",
            "a <b and c> d",
            "<signal>x</signal>",
            "reset the password of your account",
            "the machine is on",
            "Authorization is needed",
        ] {
            assert_eq!(redact_named_values(text, &mut NextWord::Plain), text);
        }
    }

    #[test]
    fn the_value_may_be_the_next_argument() {
        let mut next = NextWord::Plain;
        for (argument, left) in [
            ("--token", "--token"),
            ("hunter2 and more", "[REDACTED]"),
            ("Oslo", "Oslo"),
            ("-u", "-u"),
            ("me:hunter2", "me:[REDACTED]"),
            ("12:30", "12:30"),
            ("-u", "-u"),
            ("me", "me"),
            ("Authorization:", "Authorization:"),
            ("hunter2", "[REDACTED]"),
            ("--token", "--token"),
            ("", ""),
        ] {
            assert_eq!(redact_named_values(argument, &mut next), left);
        }
    }
}
