//! Texts near the size bound, each made against one step of reading. The benchmark reads them from here too.

use skillsandbox_manifest::{Code, MAX_BYTES};

const HEAD: &str = "skill: { name: demo, version: \"1\" }\nentrypoint: { command: python3 }\n";
const SIZE: usize = MAX_BYTES - 1024;

/// A valid head, and `part` repeated to just below the bound between `open` and `close`.
fn filled(open: &str, part: impl Fn(usize) -> String, close: &str) -> String {
    let mut text = format!("{HEAD}{open}");
    for i in 0.. {
        let part = part(i);
        if text.len() + part.len() + close.len() > SIZE {
            break;
        }
        text.push_str(&part);
    }
    text + close
}

/// 64 parameters with one pattern.
fn parameters(pattern: &str, more: &str) -> String {
    (0..64).map(|i| format!("  - {{ name: p{i}, type: string, pattern: '{pattern}'{more} }}\n")).collect()
}

#[allow(clippy::too_many_lines)] // a table
/// Name, text, and a code that must be among its diagnostics.
pub fn all() -> Vec<(&'static str, String, Code)> {
    let pattern = |i: usize| {
        format!("  - {{ name: p{i}, type: string, pattern: '(\\w{{40}}|\\p{{L}}{{9}}){{{}}}' }}\n", i % 9 + 1)
    };
    vec![
        ("brackets", filled("a: ", |_| "[".into(), ""), Code::TooDeep),
        ("braces", filled("a: ", |_| "{a: ".into(), ""), Code::TooDeep),
        ("block sequences", filled("a:\n", |i| format!("{}-\n", " ".repeat(i % 500)), ""), Code::TooDeep),
        ("dashes", filled("a:\n ", |_| "- ".into(), ""), Code::TooDeep),
        (
            "list of empties",
            filled("permissions: { env_vars: { allow: [", |_| "[],".into(), "] } }"),
            Code::TooMany,
        ),
        (
            "list of names",
            filled("permissions: { env_vars: { allow: [", |i| format!("A{i},"), "] } }"),
            Code::TooMany,
        ),
        ("unknown keys", filled("", |i| format!("k{i}: 1\n"), ""), Code::TooMany),
        ("one key again and again", filled("", |_| "k: 1\n".into(), ""), Code::DuplicateKey),
        ("a long key", filled("", |_| "k".into(), ": 1"), Code::Syntax),
        ("a long quoted key", filled("\"", |_| "k".into(), "\": 1"), Code::Syntax),
        ("a long explicit key", filled("? \"", |_| "k".into(), "\"\n: 1"), Code::UnknownKey),
        ("a long word", filled("runtime: ", |_| "a".into(), ""), Code::TooMany),
        ("a long number", filled("resources: { memory_mb: ", |_| "9".into(), " }"), Code::WrongType),
        (
            "a long domain",
            filled("permissions: { network: { egress: [{ domain: ", |_| "a.".into(), "test }] } }"),
            Code::TooMany,
        ),
        (
            "a unicode domain",
            filled(
                "permissions: { network: { egress: [",
                |i| format!("{{ domain: '{}{i}.test' }},", "ü".repeat(50)),
                "] } }",
            ),
            Code::TooMany,
        ),
        (
            "deep paths",
            filled(
                "permissions: { filesystem: { read: [",
                |i| format!("/{}{i},", "long-name/".repeat(60)),
                "/] } }",
            ),
            Code::UnsafeGrant,
        ),
        ("patterns", filled("parameters:\n", pattern, ""), Code::TooMany),
        (
            "64 patterns",
            format!("{HEAD}parameters:\n{}runtime: x\n", (0..64).map(pattern).collect::<String>()),
            Code::UnknownValue,
        ),
        (
            "64 caseless classes",
            format!(
                "{HEAD}parameters:\n{}",
                parameters(&r"(?i)\pL".replace(r"\pL", &r"\pL".repeat(160)), "")
            ),
            Code::InvalidParameter,
        ),
        (
            "64 classes that compile to nothing",
            format!("{HEAD}parameters:\n{}", parameters(&format!("(?i)(?:{}){{0}}", r"\pL".repeat(160)), "")),
            Code::InvalidParameter,
        ),
        (
            "64 classes and a mistake",
            format!("{HEAD}parameters:\n{}", parameters(&format!(r"(?i){}\p{{zz}}", r"\pL".repeat(160)), "")),
            Code::InvalidParameter,
        ),
        (
            "defaults that are slow to match",
            format!(
                "{HEAD}parameters:\n{}",
                parameters("(?:a?){1000}(?:a?){1000}$", &format!(", default: {}", "a".repeat(3000)))
            ),
            Code::InvalidParameter,
        ),
        (
            "unknown keys of one parameter",
            filled(
                "parameters: [{ name: a, type: string",
                |i| format!(", max_length_of_something_else_{i}: 1"),
                " }]",
            ),
            Code::TooMany,
        ),
        (
            "long names",
            filled(
                "permissions: { network: { egress: [",
                |i| format!("{{ domain: '{}{i}.test' }},", "字".repeat(160)),
                "] } }",
            ),
            Code::InvalidDomain,
        ),
        ("anchors", filled("a: [", |i| format!("&a{i} x,"), "]"), Code::Anchor),
        ("aliases", filled("a: &a [x]\nb: [", |_| "*a,".into(), "]"), Code::Alias),
        (
            "billion laughs",
            format!(
                "{HEAD}a0: &a0 [x]\n{}",
                (1..900)
                    .map(|i| format!("a{i}: &a{i} [{}]\n", vec![format!("*a{}", i - 1); 9].join(",")))
                    .collect::<String>()
            ),
            Code::Alias,
        ),
        ("tags", filled("a: [", |i| format!("!t{i} x,"), "]"), Code::Tag),
        ("comments", filled("", |_| "# comment\n".into(), "runtime: x\n"), Code::UnknownValue),
        ("blank lines", filled("", |_| "\n".into(), "runtime: x\n"), Code::UnknownValue),
        ("spaces", filled("runtime:", |_| " ".into(), "x\n"), Code::UnknownValue),
        ("quotes", filled("a: '", |_| "''".into(), "'"), Code::UnknownKey),
        ("escapes", filled("a: \"", |_| "\\u0041".into(), "\""), Code::UnknownKey),
        ("an open quote", filled("a: \"", |_| "x\n ".into(), ""), Code::Syntax),
        ("block scalar", filled("a: |\n", |_| "  x\n".into(), ""), Code::UnknownKey),
        ("folded scalar", filled("a: >\n", |_| "  x\n\n".into(), ""), Code::UnknownKey),
        ("documents", filled("", |_| "---\n".into(), ""), Code::SeveralDocuments),
        ("flow commas", filled("a: [", |_| ",".into(), "]"), Code::Syntax),
        ("colons", filled("a", |_| ": ".into(), ""), Code::Syntax),
        ("question marks", filled("", |_| "? ".into(), ""), Code::TooDeep),
        ("percent signs", format!("{}\n---\n", "%".repeat(SIZE)), Code::Directive),
    ]
}
