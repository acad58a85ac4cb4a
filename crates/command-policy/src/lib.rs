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
//! 1. **The text.** Operators, substitutions, variables, redirections, globs ([`GlobHandling`]), braces, tildes, history, line ends,
//!    control characters, quotes without an end: refused, with the byte where they stand. Quotes, escapes and comments are read.
//!    What is read is read alike by dash and bash; generated lines are compared with both in a test.
//! 2. **The first word.** Words of the shell's language, its builtins and `NAME=value` are no programs.
//! 3. **Paths.** `..` as a component ([`ParentDots`]), and absolute paths, `~` and `$HOME` out of the root, wherever in a word one can
//!    begin: `--file=/x`, `-I/x`, `@/x`, `a:/x`, `file:///x`.
//! 4. **Lists.** `allowed-tools` as a skill has it ([`CommandPolicyBuilder::allowed_tools`]), programs ([`CommandPolicyBuilder::commands`]), sub-commands and
//!    flags ([`CommandPolicyBuilder::allowed_args`], [`CommandPolicyBuilder::forbidden_args`]). All that were given have to agree.
//! 5. **Commands that run others**, by a table ([`escapes`]): `find -exec`, `git -c`, `python -c`, `xargs`, `make`. A list that names a program whose work is to
//!    run the project's own code (`Bash(make:*)`, `Bash(npm run:*)`) allows that work, and no other command that comes in the arguments (`make --eval`, `npm exec sh`);
//!    [`CommandPolicyBuilder::refuse_project_code`] takes that back. Any entry is switched off by name ([`CommandPolicyBuilder::dangerously_allow`]).
//! 6. **The disk**, where [`CommandPolicyBuilder::path_rules`] says so: [`RealPaths`] follows links.
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
//! # Inside
//!
//! ```text
//! line ──► lexer: words, or the construct a shell would act on ──► command_name ──► paths ──► allowed_tools, arguments ──► escapes/ ──► argv
//! argv ────────────────────────────────────────────────────────────────┘   no words of the shell, no path out of the root, only listed programs,
//!                                                                          none that runs others
//! ```
//!
//! - The lexer reads what dash and bash read alike, and refuses the rest. `tests/differential.rs` gives generated lines that were allowed to both
//!   shells, with a program that prints its arguments.
//! - `escapes/` is data: one entry for each way in which a command runs others, with examples for and against that a test proves. `escapes/named/` is what
//!   naming a program allows. `tests/corpus/` has the two lists both are measured with: ordinary commands, and lines that start a shell.
//! - Only a [`PathRules`] of the embedder looks at the disk; [`RealPaths`] is one.
//!
//! # Features
//!
//! - `run` (on by default, Unix): [`CommandPolicy::run`] starts what is allowed in the root, with a timeout, and returns output that is
//!   safe to show.
//! - `serde`: [`CommandDecision`] as JSON.
//!
//! Without features the crate has no dependencies.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod allowed_tools;
mod ansi_c;
mod arguments;
mod command_name;
#[cfg(feature = "serde")]
mod decision_json;
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
pub use crate::ansi_c::expand_ansi_c;
#[cfg(feature = "serde")]
pub use crate::decision_json::COMMAND_DENIED;
pub use crate::denied::{CommandDecision, CommandDenial, CommandRule, DenialPosition};
pub use crate::escapes::{CommandEscape, escapes};
pub use crate::lexer::{Dialect, GlobHandling, MAX_LINE};
pub use crate::paths::{ParentDots, PathRules};
pub use crate::policy::{CommandPolicy, CommandPolicyBuilder, CommandPolicyError, DEFAULT_TIMEOUT};
pub use crate::real_paths::RealPaths;
#[cfg(all(unix, feature = "run"))]
pub use crate::run::{CommandRunError, FinishedCommand, MAX_OUTPUT};
