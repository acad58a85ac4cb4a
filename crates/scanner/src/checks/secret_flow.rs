//! Part of CHECK-04: secrets on their way from where they lie to the network, followed through assignments.
//!
//! Deliberately simple: one file or fenced block at a time, straight-line assignments, no functions. A key in a header to the
//! service it belongs to is what keys are for.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::OnceLock;

use regex::bytes::Regex;

use crate::checks::exfiltration::{CREDENTIAL_HARVEST, SECRET_TO_NETWORK, TOO_LONG};
use crate::rule::RuleInfo;

/// Longest statement that is put together from several lines.
const MAX_STATEMENT: usize = 1200;
/// Most statements that are followed in one piece of code: more than a program has that a person wrote.
const MAX_STATEMENTS: usize = 50_000;

/// A secret that was followed to where it should not go.
pub(crate) struct SecretFlow {
    pub(crate) rule: &'static RuleInfo,
    pub(crate) range: Range<usize>,
}

fn compile_once(cell: &'static OnceLock<Regex>, pattern: &str) -> &'static Regex {
    #[allow(clippy::expect_used)] // fixed patterns, used by every test
    cell.get_or_init(|| Regex::new(&format!("(?-u){pattern}")).expect("fixed pattern"))
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A named secret of the environment; the name is the first group that matched.
fn named_secret_pattern() -> &'static Regex {
    static CELL: OnceLock<Regex> = OnceLock::new();
    compile_once(
        &CELL,
        r#"(?:environ(?:\.get\(|\[)\s*f?["']|getenv\(\s*["']|process\.env(?:\.|\[["'])|ENV\[["']|\$env:|env::var\(\s*")((?:[A-Z][A-Z0-9_]*)?(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|DATABASE_URL|PRIVATE|CONNECTION_STRING|WEBHOOK)[A-Z0-9_]*)"#,
    )
}

/// The whole environment, or a file that holds secrets.
fn bulk_secret_pattern() -> &'static Regex {
    static CELL: OnceLock<Regex> = OnceLock::new();
    compile_once(
        &CELL,
        r"(?i)dict\(\s*os\.environ\s*\)|os\.environ\.(?:copy|items)\(|json\.dumps\(\s*(?:dict\()?os\.environ|JSON\.stringify\(\s*process\.env\s*\)|\{\s*\.\.\.process\.env|Object\.(?:entries|keys)\(\s*process\.env|(?:open|read_text|readFileSync|read_bytes|readFile|expanduser|join|Path)\([^)\n]{0,80}(?:\.ssh\b|\.aws\b|\.netrc|\.npmrc|\.pypirc|git-credentials|id_rsa|id_ed25519|\.kube|gcloud|wallet|keychain|\.gnupg|cookies|login\s?data|/etc/shadow|bash_history|\.docker/config)",
    )
}

fn sink_pattern() -> &'static Regex {
    static CELL: OnceLock<Regex> = OnceLock::new();
    compile_once(
        &CELL,
        r"(?i)\b(?:requests|httpx|session|aiohttp|client|http)\.(?:post|put|patch|request|get)\(|urlopen\(|urllib\.request\.Request\(|\bfetch\(|axios(?:\.(?:post|put|request|get))?\(|\.sendall?\(|sendmail\(|send_message\(|Invoke-(?:WebRequest|RestMethod)|\bcurl\b|XMLHttpRequest|put_object\(|upload_fileobj\(|sendto\(",
    )
}

fn assignment_pattern() -> &'static Regex {
    static CELL: OnceLock<Regex> = OnceLock::new();
    compile_once(
        &CELL,
        r"(?s)^\s*(?:export\s+|const\s+|let\s+|var\s+|\$)?([A-Za-z_][A-Za-z0-9_]*)\s*(?:\[[^\]]*\]\s*)?(?::\s*[\w\[\], .]+)?(?:\+)?=\s*([^=].*)$",
    )
}

/// What does not carry a secret away: the header it belongs in.
fn header_pattern() -> &'static Regex {
    static CELL: OnceLock<Regex> = OnceLock::new();
    compile_once(
        &CELL,
        r#"(?is)(?:headers|auth|cookies)\s*[=:]\s*(?:\{[^}]*\}|\([^)]*\)|[\w.]+)|["'](?:authorization|x-api-key|api-key|x-[a-z-]*(?:key|token))["']\s*:\s*[^,}\n]*|-H\s+["'][^"']*["']"#,
    )
}

/// Follows secrets through a piece of code.
pub(crate) fn follow(code: &str, offset: usize) -> Vec<SecretFlow> {
    let mut found = Vec::new();
    let bytes = code.as_bytes();
    if !(named_secret_pattern().is_match(bytes) || bulk_secret_pattern().is_match(bytes)) {
        return found;
    }
    let mut tainted: BTreeSet<String> = BTreeSet::new();
    let mut vendors: BTreeSet<String> = BTreeSet::new();
    let mut bulk = false;
    for (number, statement) in split_statements(code).enumerate() {
        if number >= MAX_STATEMENTS {
            found.push(SecretFlow {
                rule: &TOO_LONG,
                range: offset + statement.start..offset + statement.end,
            });
            break;
        }
        let Some(text) = code.get(statement.clone()) else { continue };
        let mut carries = mentions(text, &tainted);
        for secret in named_secret_pattern().captures_iter(text.as_bytes()) {
            carries = true;
            vendors.extend(secret.get(1).map(|name| lossy(name.as_bytes())));
        }
        if bulk_secret_pattern().is_match(text.as_bytes()) {
            carries = true;
            bulk = true;
        }
        if !carries {
            continue;
        }
        let range = offset + statement.start..offset + statement.end;
        if sink_pattern().is_match(text.as_bytes()) {
            let body = header_pattern().replace_all(text.as_bytes(), &b""[..]);
            let inside = mentions(&lossy(&body), &tainted)
                || named_secret_pattern().is_match(&body)
                || bulk_secret_pattern().is_match(&body);
            if inside && (bulk || !own_service(&vendors, code)) {
                found.push(SecretFlow { rule: &SECRET_TO_NETWORK, range: range.clone() });
            }
        }
        if let Some(assigned) =
            assignment_pattern().captures(text.as_bytes()).and_then(|c| Some(lossy(c.get(1)?.as_bytes())))
        {
            tainted.insert(assigned);
        }
        let packed =
            ["json.dumps(", "JSON.stringify(", "b64encode(", "btoa("].iter().any(|call| text.contains(call));
        if packed && vendors.len() >= 2 && are_unrelated(&vendors) && found.is_empty() {
            found.push(SecretFlow { rule: &CREDENTIAL_HARVEST, range });
        }
    }
    found
}

/// Statements: lines, joined while brackets are open.
fn split_statements(code: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        if at >= code.len() {
            return None;
        }
        let start = at;
        let mut depth = 0_i32;
        let mut before = ' ';
        for (i, c) in code.get(start..)?.char_indices() {
            match c {
                // A brace behind a head opens a body of statements, not an expression.
                '{' if matches!(before, ')' | '>' | 'e' | 'y' | 'o') => {}
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth = (depth - 1).max(0),
                '\n' if depth <= 0 || i > MAX_STATEMENT => {
                    at = start + i + 1;
                    return Some(start..start + i);
                }
                _ => {}
            }
            if !c.is_whitespace() {
                before = c;
            }
        }
        at = code.len();
        Some(start..code.len())
    })
}

/// Whether a text uses one of these names as a word.
fn mentions(text: &str, names: &BTreeSet<String>) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    !names.is_empty() && text.split(|c| !word(c)).any(|part| names.contains(part))
}

/// Whether the secrets belong to a service that the code names: `X_API_KEY` with `api.x.com`.
fn own_service(vendors: &BTreeSet<String>, code: &str) -> bool {
    let lower = code.to_ascii_lowercase();
    !vendors.is_empty()
        && vendors.iter().all(|name| {
            let parts = name.split('_').map(str::to_ascii_lowercase).filter(|part| part.len() >= 3);
            let generic = [
                "api", "key", "token", "secret", "access", "password", "auth", "client", "bot", "app", "url",
                "the", "user", "private", "webhook", "service", "account", "live", "test", "database",
            ];
            let mut named = parts.filter(|part| !generic.contains(&part.as_str())).peekable();
            let anonymous = name.contains("API_KEY") || name.contains("TOKEN");
            (named.peek().is_none() && anonymous)
                || named.any(|part| find_hosts(&lower).any(|host| host.contains(&part)))
        })
}

/// The hosts of the addresses in a text.
fn find_hosts(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("://").filter_map(|(at, _)| {
        text.get(at + 3..)?.split(|c: char| !(c.is_alphanumeric() || c == '.' || c == '-')).next()
    })
}

/// Whether secrets are not all of one service.
fn are_unrelated(vendors: &BTreeSet<String>) -> bool {
    let mut firsts: Vec<_> = vendors.iter().filter_map(|name| name.split('_').next()).collect();
    firsts.dedup();
    firsts.len() >= 2
}
