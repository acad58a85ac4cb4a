//! Text that strangers wrote, made safe to judge, to show and to keep.
//!
//! A name, a path, an argument, a line of output: whoever wrote a skill chose every character of it. This crate has what every part of
//! [SkillSandbox](https://github.com/skillsandbox/skillsandbox) asks about such text, once. It uses none of the other crates.
//!
//! | question | answer |
//! |---|---|
//! | Is this character seen? Does it reorder, or move the cursor? | [`is_invisible`], [`is_deceptive`], [`is_hidden`], and others over the same table |
//! | How is it shown in a sentence? | [`escape_line`], [`escape_lines`], [`shorten_line`], [`ShownBytes`] |
//! | How is it shown in columns, so that it can be read back? | `Escape` (feature `terminal`) |
//! | How is it written as JSON that people look at? | `escape_json`, `EscapedJson` (feature `json`) |
//! | How is it cut? | [`shorten`], [`truncate_bytes`] |
//! | Does a name say that its value is a secret? | [`is_secret_name`] |
//! | How is a secret held, and taken out of text? | `Secret` (feature `secret`), `Redactor` (feature `redact`) |
//! | Does an address lead to a network, or may it name a file? | [`is_network_scheme`] |
//! | How is a word typed into a shell? | `quote_word` (feature `shell`) |
//!
//! ```
//! use skillsandbox_text::{escape_line, is_invisible, is_secret_name};
//!
//! let name = "report\u{202e}fdp.exe";
//! assert!(name.chars().any(is_invisible));
//! assert_eq!(escape_line(name), r"report\u{202e}fdp.exe");
//! assert!(is_secret_name("DB_PWD") && !is_secret_name("PWD"));
//! ```
//!
//! # What it does not protect
//!
//! - **Look-alikes.** A Cyrillic letter that looks like a Latin one is an honest letter to this crate; the scanner and the path policy judge
//!   those.
//! - **A secret with a harmless name.** [`is_secret_name`] reads names, not values. The redactor also knows shapes, but a password in a
//!   variable called `NOTE` is a note to it.
//! - **Copies.** `Secret` overwrites its own memory. What was read from the environment, or handed to a child, has other copies.
//!
//! # Features
//!
//! None is on by default; without them the crate needs no other one.
#![forbid(unsafe_code)]

mod address;
mod characters;
#[cfg(feature = "terminal")]
mod escape;
#[cfg(feature = "json")]
mod json;
mod line;
#[cfg(feature = "redact")]
mod redact;
#[cfg(feature = "secret")]
mod secret;
mod secret_name;
#[cfg(feature = "shell")]
mod shell;
#[cfg(test)]
mod unicode_class;

/// The code of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

pub use address::is_network_scheme;
pub use characters::{
    is_bidi_control, is_deceptive, is_default_ignorable, is_emoji_selector, is_filler, is_hidden,
    is_invisible, is_joiner, is_private_or_unassigned, is_tag, is_variation_selector,
};
#[cfg(feature = "terminal")]
pub use escape::{Escape, Glyphs, Keep, columns, most_columns};
#[cfg(feature = "json")]
pub use json::{EscapedJson, escape_json, write_json_fragment};
pub use line::{ShownBytes, escape_line, escape_lines, push_visible, shorten, shorten_line, truncate_bytes};
#[cfg(feature = "redact")]
pub use redact::{NextWord, RedactError, Redactor, SecretSpan, Unused, redact_named_values};
#[cfg(feature = "secret")]
pub use secret::Secret;
pub use secret_name::{REDACTED, is_secret_name};
#[cfg(feature = "shell")]
pub use shell::{quote_word, quote_words, split_words};
