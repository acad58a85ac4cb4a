use proptest::prelude::*;

use super::*;

fn redactor(value: &str) -> Redactor {
    Redactor::new([("TOKEN", value)]).unwrap()
}

/// An encoder that shares nothing with the code.
fn base64(bytes: &[u8], last: &str) -> String {
    let letters: Vec<char> = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(last.chars()).collect();
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let number = group
            .iter()
            .chain([0, 0].iter())
            .take(3)
            .fold(0_usize, |number, byte| number * 256 + usize::from(*byte));
        for place in 0..4 {
            out.push(if place <= group.len() {
                letters[number / [262_144, 4096, 64, 1][place] % 64]
            } else {
                '='
            });
        }
    }
    out
}

fn percent(text: &str, keep: &str) -> String {
    let one = |byte: u8| match char::from(byte) {
        letter if letter.is_ascii_alphanumeric() || keep.contains(letter) => letter.to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}

fn hex(text: &str, between: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(between)
}

/// Three digits a byte.
fn numbers(text: &str, base: u32, between: &str) -> String {
    let one = |byte: u8| if base == 8 { format!("{byte:03o}") } else { format!("{byte:03}") };
    text.bytes().map(one).collect::<Vec<_>>().join(between)
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

const RFC1924: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
const Z85: &str = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

fn ascii85() -> String {
    ('!'..='u').collect()
}

/// An encoder that shares nothing with the code: four bytes are five letters, and n of them at the end n + 1.
fn base85(bytes: &[u8], letters: &str) -> String {
    let letters: Vec<char> = letters.chars().collect();
    let mut out = String::new();
    for group in bytes.chunks(4) {
        let padded = [0, 1, 2, 3].map(|at| u64::from(group.get(at).copied().unwrap_or(0)));
        let number = padded.iter().fold(0, |number, byte| number * 256 + byte);
        let five = [52_200_625, 614_125, 7225, 85, 1].map(|power| letters[(number / power % 85) as usize]);
        out.extend(&five[..=group.len()]);
    }
    out
}

fn rot13(letter: char) -> char {
    let turned = |first: u8| char::from((letter as u8 - first + 13) % 26 + first);
    match letter {
        'a'..='z' => turned(b'a'),
        'A'..='Z' => turned(b'A'),
        other => other,
    }
}

fn rot47(letter: char) -> char {
    if ('!'..='~').contains(&letter) { char::from((letter as u8 - 33 + 47) % 94 + 33) } else { letter }
}

fn wrapped(text: &str, width: usize, between: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(width).map(|line| line.iter().collect::<String>()).collect::<Vec<_>>().join(between)
}

/// What a value may be turned into, by name.
fn disguises(value: &str, before: &str, after: &str) -> Vec<(&'static str, String)> {
    let around = format!("{before}{value}{after}");
    vec![
        ("plain", around.clone()),
        ("backwards", around.chars().rev().collect()),
        ("base64", base64(around.as_bytes(), "+/")),
        ("base64, url", base64(around.as_bytes(), "-_")),
        ("base64 without its end", base64(around.as_bytes(), "+/").trim_end_matches('=').to_owned()),
        ("base64 in an url", percent(&base64(around.as_bytes(), "+/"), "")),
        ("hex", hex(&around, "")),
        ("hex, capitals", hex(&around, "").to_uppercase()),
        ("hex, spaces", hex(&around, " ")),
        ("hex, colons", hex(&around, ":")),
        (
            "hex of xxd",
            hex(&around, "")
                .as_bytes()
                .chunks(4)
                .map(|four| String::from_utf8_lossy(four).into_owned() + " ")
                .collect(),
        ),
        ("hex of C", format!("0x{}", hex(&around, ", 0x"))),
        ("hex after a digit", format!("a{}", hex(&around, ""))),
        ("hex after words", format!("added {}", hex(&around, " "))),
        ("hex of Python", format!("\\x{}", hex(&around, "\\x"))),
        ("percent", percent(&around, "-._~")),
        ("percent of JavaScript", percent(&around, "-._~!'()*")),
        ("percent of Python", percent(&around, "-._~/")),
        ("percent, all", around.bytes().map(|byte| format!("%{byte:02x}")).collect()),
        ("form", percent(&around, "-._* ").replace(' ', "+")),
        ("json", serde_json::to_string(&around).unwrap()),
        ("json, all", around.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect()),
        ("octal of od", numbers(&around, 8, " ")),
        ("octal, commas", numbers(&around, 8, ", ")),
        ("octal of C", around.bytes().map(|byte| format!("\\{byte:03o}")).collect()),
        ("octal, packed", numbers(&around, 8, "")),
        ("octal of Python", around.bytes().map(|byte| format!("0o{byte:o},")).collect()),
        ("decimal, commas", around.bytes().map(|byte| format!("{byte}, ")).collect()),
        ("decimal, spaces", around.bytes().map(|byte| format!("{byte} ")).collect()),
        ("decimal, lines", around.bytes().map(|byte| format!("{byte}\n")).collect()),
        ("decimal, list", format!("{:?}", around.as_bytes())),
        ("decimal, packed", numbers(&around, 10, "")),
        ("UTF-16, little end first", around.bytes().flat_map(|byte| [char::from(byte), '\0']).collect()),
        ("UTF-16, big end first", around.bytes().flat_map(|byte| ['\0', char::from(byte)]).collect()),
        ("UTF-32", around.bytes().flat_map(|byte| [char::from(byte), '\0', '\0', '\0']).collect()),
        ("UTF-16 in base64", base64(&utf16(&around), "+/")),
        ("UTF-16 in hex", utf16(&around).iter().map(|byte| format!("{byte:02x}")).collect()),
        ("UTF-16, escaped", around.bytes().map(|byte| format!("\\x{byte:02x}\\x00")).collect()),
        ("ascii85", base85(around.as_bytes(), &ascii85())),
        ("ascii85, marked", format!("<~{}~>", base85(around.as_bytes(), &ascii85()))),
        ("base85 of RFC 1924", base85(around.as_bytes(), RFC1924)),
        ("Z85", base85(around.as_bytes(), Z85)),
        ("rot13", around.chars().map(rot13).collect()),
        ("rot47", around.chars().map(rot47).collect()),
        ("base64 in lines", wrapped(&base64(around.as_bytes(), "+/"), 16, "\n")),
        ("base64 in lines of Windows", wrapped(&base64(around.as_bytes(), "-_"), 20, "\r\n")),
        ("base64 in lines, in JSON", wrapped(&base64(around.as_bytes(), "+/"), 16, "\\n")),
        ("hex in lines", wrapped(&hex(&around, ""), 16, "\n")),
        ("hex, dots", hex(&around, ".")),
        ("hex, dashes", hex(&around, "-")),
        ("quoted-printable", around.bytes().map(|byte| format!("={byte:02X}")).collect()),
        (
            "quoted-printable in lines",
            wrapped(&around.bytes().map(|byte| format!("={byte:02X}")).collect::<String>(), 12, "=\n"),
        ),
        ("html", around.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")),
    ]
}

proptest! {
    // Each case makes a search, which takes its time without optimisation.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_form_of_a_secret_survives(
        value in "[ -~]{8,60}", before in "[ -~]{0,20}", after in "[ -~]{0,20}", near in "[a-z ]{0,9}",
    ) {
        let value = value.trim();
        let redactor = redactor(value);
        prop_assume!(redactor.unused().is_empty());
        for (name, text) in disguises(value, &before, &after) {
            let text = format!("{near}{text} {near}");
            let out = redactor.redact(&text);
            prop_assert!(out.contains("[REDACTED:TOKEN]"), "{}: {}", name, text);
            // What is left does not decode to it: by the same encoders, none of its forms is in it.
            for (form, secret) in disguises(value, "", "") {
                let core = secret.trim_end_matches('=');
                prop_assert!(!out.contains(core), "{} {}: {}", name, form, out);
            }
        }
    }

    #[test]
    fn long_values_are_found_whole(value in "[a-zA-Z0-9/+]{257,1500}", before in "[a-z]{0,5}") {
        let redactor = redactor(&value);
        let plain = format!("{before}{value}.");
        let want = format!("{before}[REDACTED:TOKEN].");
        prop_assert_eq!(redactor.redact(&plain), want);
        let encoded = base64(plain.as_bytes(), "+/");
        let out = redactor.redact(&encoded).into_owned();
        prop_assert!(out.len() < before.len() * 2 + 30, "{}", out);
    }

    #[test]
    fn text_without_secrets_is_not_touched(text in "[ -~äöü\n]{0,200}") {
        let redactor = redactor("S3cr3t/Value+With=Signs");
        prop_assume!(!text.contains("sk-") && !text.contains("eyJ"));
        prop_assert!(matches!(redactor.redact(&text), Cow::Borrowed(_)));
    }

    #[test]
    fn any_bytes_can_be_read(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let redactor = redactor("S3cr3t/Value+With=Signs");
        let _ = redactor.redact_bytes(&bytes);
    }
}

#[test]
fn shapes_are_found() {
    let redactor = Redactor::of_shapes().unwrap();
    // Put together here, so that no scanner of repositories takes them for real ones.
    let a = |length: usize| "aB3dE6gH9jK2mN5pQ8sT1vW4xY7z".repeat(4)[..length].to_owned();
    let capitals = a(16).to_uppercase();
    let jwt = format!(
        "{}.{}.{}",
        base64(br#"{"alg":"HS256"}"#, "-_"),
        base64(br#"{"sub":"somebody"}"#, "-_"),
        a(43)
    );
    let jwt = jwt.replace('=', "");
    let cases = [
        ("aws_access_key_id", format!("AKIA{capitals}")),
        ("aws_access_key_id", format!("ASIA{capitals}")),
        ("github_token", format!("ghp_{}", a(36))),
        ("github_token", format!("gho_{}", a(36))),
        ("github_token", format!("github_pat_{}_{}", a(22), a(59))),
        ("openai_key", format!("sk-{}", a(48))),
        ("openai_key", format!("sk-proj-{}", a(60))),
        ("anthropic_key", format!("sk-ant-api03-{}", a(93))),
        ("stripe_key", format!("sk_live_{}", a(24))),
        ("stripe_key", format!("rk_live_{}", a(24))),
        ("slack_token", format!("xoxb-123456789012-{}", a(24))),
        ("slack_webhook", format!("hooks.slack.com/services/T0000/B0000/{}", a(24))),
        ("google_api_key", format!("AIza{}", a(35))),
        ("jwt", jwt),
        ("npm_token", format!("npm_{}", a(36))),
        ("gitlab_token", format!("glpat-{}", a(20))),
        ("pypi_token", format!("pypi-AgEIcHlwaS5vcmc{}", a(60))),
        ("private_key", format!("-----BEGIN EC PRIVATE KEY-----\n{}\n-----END EC PRIVATE KEY-----", a(64))),
        ("private_key", format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{}", a(64))),
        (
            "private_key",
            format!(
                "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{}\n-----END PGP PRIVATE KEY BLOCK-----",
                a(64)
            ),
        ),
    ];
    for (kind, secret) in cases {
        for (before, after) in [
            ("", ""),
            ("token=", " and more"),
            ("{\"a\":\"", "\"}"),
            ("https://x:", "@host.test/"),
            ("(", ")"),
        ] {
            // Without an end, a key goes on to the end of the text.
            let after = if secret.contains("OPENSSH") { "" } else { after };
            let text = format!("{before}{secret}{after}");
            assert_eq!(redactor.redact(&text), format!("{before}[REDACTED:{kind}]{after}"), "{text}");
        }
    }
    let secret = a(40).replace('B', "/");
    for name in ["aws_secret_access_key = ", "AWS_SECRET_ACCESS_KEY=", "\"SecretAccessKey\": \""] {
        let text = format!("{name}{secret}\"");
        assert_eq!(redactor.redact(&text), format!("{name}[REDACTED:aws_secret_access_key]\""), "{text}");
    }
}

#[test]
fn honest_text_is_not_touched() {
    let redactor = Redactor::of_shapes().unwrap();
    for text in [
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709  empty",
        "integrity sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
        "550e8400-e29b-41d4-a716-446655440000",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "-----BEGIN CERTIFICATE-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAu1SU1L\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----",
        "sk-learn-is-not-the-name-of-scikit-learn-but-some-say-so",
        "task-list risk-assessment-of-the-whole-project-in-2026-by-Some-Body",
        "npm_config_registry=https://registry.test/ npm_lifecycle_event=build",
        "hf_transfer is a library, hf_hub_download_from_the_repository_of_models is a function",
        "eyJ is how JSON begins in base64: eyJhIjoxfQ==",
        "AKIA is a prefix, AKIAIOSFODNN7EXAMPLEANDMORE is longer than a key",
        "com.example.sg.SG.something",
        "ghp_short",
        "commit 1234567890abcdef1234567890abcdef12345678",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl me@host.test",
    ] {
        assert!(matches!(redactor.redact(text), Cow::Borrowed(_)), "{}", redactor.redact(text));
    }
}

#[test]
fn values_that_would_tear_holes_are_named() {
    let values = [
        ("A", "short"),
        ("B", "production"),
        ("C", "aaaaaaaa"),
        ("D", "443443"),
        ("E", "  \n"),
        ("F", "S3cr3tValue"),
    ];
    let redactor = Redactor::new(values).unwrap();
    let unused: Vec<_> = redactor.unused().iter().map(|unused| unused.name.as_str()).collect();
    assert_eq!(unused, ["A", "B", "C", "D", "E"]);
    assert_eq!(
        redactor.redact("production S3cr3tValue short 443443"),
        "production [REDACTED:F] short 443443"
    );
}

#[test]
fn lines_of_a_value_are_found_by_themselves() {
    let value = "-----BEGIN THING-----\nq8sT1vW4xY7zaB3dE6gH\n9jK2mN5pQ8sT1vW4xY7z\n-----END THING-----\n";
    let redactor = redactor(value);
    assert_eq!(redactor.redact("> 9jK2mN5pQ8sT1vW4xY7z"), "> [REDACTED:TOKEN]");
    assert_eq!(redactor.redact("-----BEGIN THING-----"), "-----BEGIN THING-----");
    assert_eq!(redactor.redact(value), "[REDACTED:TOKEN]\n");
}

#[test]
fn overlapping_secrets_leave_nothing_of_either() {
    let redactor =
        Redactor::new([("ONE", "abcdefgh12"), ("TWO", "gh12ijklmn"), ("ALL", "xabcdefgh12ijklmnx")]).unwrap();
    assert_eq!(redactor.redact("-abcdefgh12ijklmn-"), "-[REDACTED:ONE]-");
    assert_eq!(redactor.redact("-xabcdefgh12ijklmnx-"), "-[REDACTED:ALL]-");
}

#[test]
fn debug_shows_names_and_no_values() {
    let redactor = Redactor::new([("NAME", "S3cr3tValue")]).unwrap();
    let shown = format!("{redactor:?}");
    assert!(shown.contains("NAME") && !shown.to_lowercase().contains("s3cr3t"), "{shown}");
}

#[test]
fn a_name_cannot_break_out_of_its_brackets() {
    let redactor = Redactor::new([("A]\n\u{1b}[31m", "S3cr3tValue"), ("", "0therS3cret")]).unwrap();
    assert_eq!(redactor.redact("S3cr3tValue 0therS3cret"), "[REDACTED:A31m] [REDACTED:secret]");
}

#[test]
fn letters_of_base64_that_hold_bits_of_a_secret_go_with_it() {
    let value = "S3cr3t/Value+With=Signs";
    let redactor = redactor(value);
    for (before, after) in [("", ""), ("a", ""), ("ab", ""), ("abc", "d"), ("a", "de"), ("ab", "def")] {
        let encoded = base64(format!("{before}{value}{after}").as_bytes(), "+/");
        let out = redactor.redact(&encoded).into_owned();
        let (left, right) = out.split_once("[REDACTED:TOKEN]").unwrap();
        // Whole letters of what stands before and after are all that may be left.
        assert!(left.len() * 6 <= before.len() * 8 && encoded.starts_with(left), "{encoded} {out}");
        let right = right.trim_end_matches('=');
        assert!(right.len() * 6 <= after.len() * 8 + 6, "{encoded} {out}");
    }
}
