//! Text that strangers wrote.
#![forbid(unsafe_code)]

mod characters;
mod escape;
#[cfg(feature = "json")]
mod json;
mod line;
#[cfg(feature = "secrets")]
mod redact;
#[cfg(feature = "secrets")]
mod secret;
mod secret_name;
#[cfg(feature = "shell")]
mod shell;

pub use characters::{
    is_bidi_control, is_deceptive, is_default_ignorable, is_emoji_selector, is_filler, is_hidden,
    is_invisible, is_joiner, is_tag, is_variation_selector,
};
pub use escape::{Escape, Glyphs, Keep, columns, most_columns};
#[cfg(feature = "json")]
pub use json::{EscapedJson, escape_json, write_json_fragment};
pub use line::{ShownBytes, escape_line, escape_lines, push_visible, shorten, shorten_line, truncate_bytes};
#[cfg(feature = "secrets")]
pub use redact::{NextWord, RedactError, Redactor, SecretSpan, Unused, redact_named_values};
#[cfg(feature = "secrets")]
pub use secret::{REDACTED, Secret};
pub use secret_name::is_secret_name;
#[cfg(feature = "shell")]
pub use shell::{quote_word, quote_words};
