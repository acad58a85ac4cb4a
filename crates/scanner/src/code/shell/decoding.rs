//! Programs that decode; a text that is known is decoded.

use super::commands::Call;
use super::value::{UNKNOWN, Value};

/// What comes out of programs that decode; where the text is known, it is decoded.
pub(super) fn decode(call: &Call<'_>, mut value: Value) -> Value {
    let has = |names: &[&str]| call.args.iter().any(|arg| names.contains(&arg.text.as_str()));
    match call.name {
        "base64" | "base32" | "basenc"
            if has(&["-d", "-D", "--decode", "-di", "-id"])
                || call.args.iter().any(|arg| arg.text.starts_with("-d") && arg.text.len() <= 4) =>
        {
            value.marks.is_decoded = true;
            if call.name == "base64" { decode_base64(&value) } else { value.with_text(UNKNOWN) }
        }
        "xxd" if call.args.iter().any(|arg| arg.text.starts_with("-r") || arg.text == "-pr") => {
            value.marks.is_decoded = true;
            decode_hex(&value)
        }
        "rev" => {
            value.marks.is_decoded |= value.is_known();
            let text = if value.is_known() {
                value
                    .text
                    .lines()
                    .map(|line| line.chars().rev().collect::<String>())
                    .collect::<Vec<_>>()
                    .join("\n")
            } else {
                UNKNOWN.to_owned()
            };
            value.with_text(text)
        }
        "tr" => {
            let (from, to) = (call.text(0), call.text(1));
            let is_rotated =
                from.to_ascii_lowercase().starts_with("a-z") && to.to_ascii_lowercase().starts_with("n-za-m");
            if is_rotated {
                value.marks.is_decoded |= value.is_known();
                let text: String = value.text.chars().map(rotate_letter).collect();
                return value.with_text(text);
            }
            let letters =
                |text: &str| !text.is_empty() && text.chars().filter(|c| c.is_alphanumeric()).count() >= 2;
            // Letters for other letters: a cipher. Of a secret it is one on the way.
            if value.is_known()
                && letters(from)
                && letters(to)
                && !from.contains("[:")
                && !from.contains("a-z")
                && !from.contains("A-Z")
            {
                value.marks.is_decoded = true;
            }
            value
        }
        "gunzip" | "zcat" | "bunzip2" | "bzcat" | "unxz" | "xzcat" | "zstdcat" | "uudecode" => {
            value.marks.is_decoded = true;
            value.with_text(UNKNOWN)
        }
        "gzip" | "bzip2" | "xz" | "zstd" | "brotli"
            if call.args.iter().any(|arg| arg.text.starts_with('-') && arg.text.contains('d')) =>
        {
            value.marks.is_decoded = true;
            value.with_text(UNKNOWN)
        }
        "base64" | "base32" | "xxd" | "gzip" | "bzip2" | "xz" => value.with_text(UNKNOWN),
        _ => value,
    }
}

/// A letter thirteen further on.
fn rotate_letter(c: char) -> char {
    let turn = |c: char, base: u8| {
        let at = u8::try_from(c).unwrap_or(base) - base;
        char::from(base + (at + 13) % 26)
    };
    match c {
        'a'..='z' => turn(c, b'a'),
        'A'..='Z' => turn(c, b'A'),
        _ => c,
    }
}

/// The text that base64 stands for, where it is one.
pub(super) fn decode_base64(value: &Value) -> Value {
    let packed: String = value.text.chars().filter(|c| !c.is_whitespace() && *c != '=').collect();
    let decoded = data_encoding::BASE64_NOPAD.decode(packed.as_bytes()).ok();
    let text = decoded.and_then(|bytes| String::from_utf8(bytes).ok()).filter(|text| !text.contains('\0'));
    value.with_text(text.unwrap_or_else(|| UNKNOWN.to_owned()))
}

/// The text that hexadecimal digits stand for, where it is one.
fn decode_hex(value: &Value) -> Value {
    let packed: String = value.text.chars().filter(|c| !c.is_whitespace()).collect();
    let decoded = data_encoding::HEXLOWER_PERMISSIVE.decode(packed.as_bytes()).ok();
    let text = decoded.and_then(|bytes| String::from_utf8(bytes).ok()).filter(|text| !text.contains('\0'));
    value.with_text(text.unwrap_or_else(|| UNKNOWN.to_owned()))
}
