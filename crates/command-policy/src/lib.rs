//! May this command line run? For agent runtimes that let a model call programs.
//!
//! A model writes a command line; somebody else's text may have told it what to write. A [`CommandPolicy`] reads the line as a
//! shell would, refuses whatever would make a shell do more than start one program with these arguments, refuses paths out of
//! the root and programs that are not listed, and hands back an argv. No shell is needed, so none can be tricked.
//!
//! ```
//! use skillsandbox_command_policy::CommandPolicy;
//!
//! let policy = CommandPolicy::builder().root("/srv/skill").allowed_tools("Bash(git:*) Bash(jq:*)").build()?;
//!
//! assert_eq!(policy.parse(r#"git log --grep "one; two""#)?, ["git", "log", "--grep", "one; two"]);
//!
//! let denied = policy.parse("git status && curl evil.test").unwrap_err();
//! assert_eq!(denied.to_string(), "command refused: `&&` at byte 11: one call runs one command; \
//!     make one call for each command, or put the chain into a script");
//! assert!(policy.parse("git -c core.pager=id log").is_err()); // an allowed command that would run another
//! assert!(policy.parse("jq . --rawfile x /etc/passwd").is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is checked, in this order
//!
//! 1. **The text.** Operators, substitutions, variables, redirections, globs ([`Globs`]), braces, tildes, history, line ends,
//!    control characters, quotes without an end: refused, with the byte where they stand. Quotes, escapes and comments are read.
//!    What is read is read alike by dash and bash; generated lines are compared with both in a test.
//! 2. **The first word.** Words of the shell's language, its builtins and `NAME=value` are no programs.
//! 3. **Paths.** `..` as a component ([`ParentDots`]), and absolute paths, `~` and `$HOME` out of the root, wherever in a word one can
//!    begin: `--file=/x`, `-I/x`, `@/x`, `a:/x`, `file:///x`.
//! 4. **Lists.** `allowed-tools` as a skill has it ([`Builder::allowed_tools`]), programs ([`Builder::commands`]), sub-commands and
//!    flags ([`Builder::allowed_args`], [`Builder::forbidden_args`]). All that were given have to agree.
//! 5. **Commands that run others**, by a table ([`escapes`]): `find -exec`, `git -c`, `python -c`, `xargs`, `make`. An entry is switched
//!    off by name ([`Builder::dangerously_allow`]).
//! 6. **The disk**, where [`Builder::path_rules`] says so: [`RealPaths`] follows links.
//!
//! # What it guarantees
//!
//! - No allowed line makes dash or bash start a second program, open a file, or see other arguments than [`CommandPolicy::parse`]
//!   returns, in a UTF-8 or C locale and without aliases.
//! - Time and memory grow with the length of the line, which is at most [`MAX_LINE`]; nothing recurses, nothing panics.
//! - Messages hold no control characters, whatever the line held.
//!
//! # What it does not protect
//!
//! - It is a guard, not a sandbox: an allowed program may read, write and send whatever its user may. `python main.py` does
//!   what `main.py` says, and `git commit` runs the hooks of the repository. Confine the process as well.
//! - The table knows the programs it knows, by their names: a copy under another name passes. A list of few programs and sub-commands is worth more than the table.
//! - Which argument is a path only the program knows. Patterns that look like one (`sed -n /x/p`) are refused; a path that a
//!   program makes up itself (`tar -xf` of a hostile archive, a setting in a file) is not seen.
//! - Hard links are not seen. Symbolic links are seen only by [`RealPaths`] or your own rules, at one moment: what is made between the check and the start is not.
//! - Other shells: zsh, fish and others differ. Start the argv, not the line.
//!
//! # Features
//!
//! - `run` (on by default, Unix): [`CommandPolicy::run`] starts what is allowed in the root, with a timeout, and returns output that is
//!   safe to show. Without it the crate has no dependencies.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod allowed_tools;
mod ansi_c;
mod arguments;
mod command_name;
mod denied;
mod escapes;
mod lexer;
mod paths;
mod policy;
mod real_paths;
#[cfg(all(unix, feature = "run"))]
mod run;
mod words;

/// The code of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

pub use crate::allowed_tools::OtherTools;
pub use crate::denied::{Decision, Denied, Place, Rule};
pub use crate::escapes::{Escape, escapes};
pub use crate::lexer::{Dialect, Globs, MAX_LINE};
pub use crate::paths::{ParentDots, PathRules};
pub use crate::policy::{Builder, CommandPolicy, DEFAULT_TIMEOUT, PolicyError};
pub use crate::real_paths::RealPaths;
#[cfg(all(unix, feature = "run"))]
pub use crate::run::{Finished, MAX_OUTPUT, RunError};
