//! A second opinion on an agent skill, from a language model of the user's choice: any endpoint that speaks the `OpenAI` chat-completions protocol, one
//! on this machine by default. It is for harm that takes knowledge of the world to see, which no pattern can.
//!
//! ```no_run
//! use skillsandbox_judge::{Judge, JudgeSettings, JudgeUrl};
//! use skillsandbox_scanner::{Scanner, SkillFiles, SkillJudge as _};
//!
//! let judge = Judge::new(JudgeSettings::new(JudgeUrl::parse("http://127.0.0.1:11434/v1")?, "a-model"))?;
//! let (scanner, skill) = (Scanner::new(), SkillFiles::from_dir("skills/weather")?);
//! let mut report = scanner.scan(&skill);
//! let opinion = judge.ask_about(&skill, &report);
//! scanner.add_opinion(opinion, &mut report);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it guarantees
//!
//! - **A verdict gets worse or stays.** Every opinion, also that nobody could be asked, goes through the scanner's own function; an answer that is
//!   not of the asked form, or late, or missing, is a warning and never silence.
//! - **The skill's text is data.** It lies between marks that no skill can know, with a bait in it: a judge that obeys the data gives itself away.
//!   The answer is one strict JSON object with the question's nonce, and a quotation that has to be in the text.
//! - **Little leaves.** Only text, at most a bound of it, with known secrets, shapes of keys and literal passwords masked first. Only to the one
//!   address, over https or on this machine; no redirect and no proxy is followed; the key goes nowhere else.
//! - **Everything ends.** One deadline from connecting to the last byte; bounded heads, bodies, files and numbers of files.
//!
//! # What it does not protect
//!
//! - **A model can be talked to.** Marks, nonce and bait find a judge that obeys plainly; one that is misled into an honest "no harm" of the asked form is
//!   not found. That is why it cannot make anything better.
//! - **Who runs the endpoint reads the skills** that are sent, and may answer anything.
//! - **Secrets that look like nothing**: a password in plain prose is text.
//!
//! # Inside
//!
//! `selection.rs` chooses and masks, `prompt.rs` asks, `client.rs` sends, `answer.rs` reads, `kept_answers.rs` remembers, `judge.rs` is the order of
//! these.

#![forbid(unsafe_code)]

mod answer;
mod client;
mod judge;
mod kept_answers;
mod prompt;
mod selection;
mod settings;

/// The code of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

pub use crate::judge::{Judge, JudgeRequest, PARALLEL_QUESTIONS};
pub use crate::settings::{
    DEFAULT_MAX_BYTES, DEFAULT_TIMEOUT, DEFAULT_URL, JudgeSettings, JudgeUrl, SettingsError,
};
