//! Programs that are executed.

use std::collections::VecDeque;

use crate::format::event::{Event, EventVerdict};
use crate::format::trace::{AttackClass, AttackSeverity};

use super::ClassFindings;
use super::acts::{COMMANDS, FETCHERS, INTERPRETERS, MINING_WORDS, RECON, SHELLS};
use super::files::{CredentialAccess, TouchedCredentials};
use super::finding::{ClassFinding, DistinctCount, mark};
use super::path::{base, is_of_system};
use super::sensitive_paths::CredentialWeight;

/// Commands that look at the machine that mean something together.
const MANY_LOOKS: usize = 4;

/// The kinds of credentials that commands print come after those that lie in places.
const FIRST: usize = 10_000;

/// Fetched files that are remembered. A script fetches a few and executes one.
const MOST_FILES: usize = 32;

/// Letters of a command that are read. Arguments are bounded by whoever recorded them; this bounds the work.
const LONGEST: usize = 64 * 1024;

/// What is known of programs.
#[derive(Debug, Default)]
pub(super) struct ProgramAttempts {
    looks: DistinctCount,
    /// A program that fetched to its output, and who started it.
    fetched: Option<(u64, Option<u32>)>,
    /// Files that were fetched, by the marks of their names, and by which event.
    files: VecDeque<(u64, u64)>,
    /// What was fetched and executed.
    piped: ClassFinding,
    fetchers_refused: bool,
    fetchers_allowed: bool,
}

impl ProgramAttempts {
    pub(super) fn observe(
        &mut self,
        event: &Event,
        path: &str,
        argv: &[String],
        harvest: &mut TouchedCredentials,
        found: &mut ClassFindings,
    ) -> Option<AttackClass> {
        let name = base(path);
        // One program that is many goes by the name it was called by.
        let called = argv.first().map_or(name, |first| base(first));
        let name = if ["busybox", "toybox"].contains(&name) {
            if called == name { argv.get(1).map_or(name, String::as_str) } else { called }
        } else {
            name
        };
        let mut class = None;
        for (index, command) in COMMANDS.iter().enumerate() {
            let matches = command.programs.contains(&name) || command.programs.contains(&versionless(name));
            let with = has_words(argv, command.with);
            let without = argv.iter().skip(1).any(|word| command.without.contains(&word.as_str()));
            if !matches || !with || without || !anywhere(command.class) && !is_of_system(path) {
                continue;
            }
            if command.class == AttackClass::CredentialHarvesting {
                let touch = CredentialAccess {
                    kind: FIRST + index,
                    weight: CredentialWeight::Alone,
                    techniques: command.techniques,
                    says: command.says,
                };
                if harvest.touched(event, touch) {
                    class = class.or(Some(command.class));
                }
            } else {
                found.of(command.class).add(event, command.severity, command.techniques, command.says);
                class = class.or(Some(command.class));
            }
        }
        if class.is_none() && argv.iter().any(|word| is_about_mining(word)) {
            found.of(AttackClass::ResourceAbuse).add(
                event,
                AttackSeverity::High,
                &["T1496"],
                "programs that mine",
            );
            class = Some(AttackClass::ResourceAbuse);
        }
        class
            .or_else(|| self.piped(event, name, argv))
            .or_else(|| self.executes_file(event, path, name, argv))
            .or_else(|| self.look(event, name))
    }

    /// `curl … | sh`, as one command line and as two programs.
    fn piped(&mut self, event: &Event, name: &str, argv: &[String]) -> Option<AttackClass> {
        let runs = |name: &str| SHELLS.contains(&name) || INTERPRETERS.contains(&versionless(name));
        let parent = event.process.as_ref().and_then(|process| process.parent);
        if FETCHERS.contains(&name) && prints(name, argv) {
            self.fetched = Some((event.sequence, parent));
            return None;
        }
        if !runs(name) {
            return None;
        }
        let script = argv.iter().skip_while(|word| !is_script_option(word)).nth(1);
        if SHELLS.contains(&name) && script.is_some_and(|script| feeds_interpreter(script, runs)) {
            self.run(event);
            return Some(AttackClass::RemoteExecution);
        }
        // Without a script of its own it executes what it is given. Both have one parent, where that is known.
        let (sequence, starter) = self.fetched?;
        let related = parent.is_none() || starter.is_none() || parent == starter;
        if related && reads_input(name, argv) {
            self.piped.mention(sequence);
            self.run(event);
            return Some(AttackClass::RemoteExecution);
        }
        None
    }

    /// A file that was fetched a moment ago, as a program or as the script of one.
    fn executes_file(
        &mut self,
        event: &Event,
        path: &str,
        name: &str,
        argv: &[String],
    ) -> Option<AttackClass> {
        if FETCHERS.contains(&name) {
            for file in written(name, argv) {
                if self.files.len() >= MOST_FILES {
                    self.files.pop_front();
                }
                self.files.push_back((mark(&[base(file)]), event.sequence));
            }
            return None;
        }
        let is_interpreter = SHELLS.contains(&name) || INTERPRETERS.contains(&versionless(name));
        let script = argv.iter().skip(1).find(|word| !word.starts_with('-')).filter(|_| is_interpreter);
        let executed = [mark(&[base(path)]), mark(&[script.map_or("", |script| base(script))])];
        let (_, sequence) = *self.files.iter().find(|(file, _)| executed.contains(file))?;
        self.piped.mention(sequence);
        let techniques = &["T1059.004", "T1105", "AML.T0050"];
        self.piped.add(event, AttackSeverity::Medium, techniques, "a file that was fetched a moment ago");
        Some(AttackClass::RemoteExecution)
    }

    fn run(&mut self, event: &Event) {
        let techniques = &["T1059.004", "T1105", "AML.T0050"];
        self.piped.add(
            event,
            AttackSeverity::Medium,
            techniques,
            "an interpreter that was fed from the network",
        );
    }

    fn look(&mut self, event: &Event, name: &str) -> Option<AttackClass> {
        let (_, technique) = RECON.iter().find(|(known, _)| *known == name)?;
        let add = |finding: &mut ClassFinding| {
            finding.add(event, AttackSeverity::Low, &[technique], "commands that look at the machine");
        };
        self.looks.add(mark(&[name]), MANY_LOOKS, add).then_some(AttackClass::Discovery)
    }

    /// Something was reached over the network, or not.
    pub(super) fn reached(&mut self, event: &Event) {
        let binary = event.process.as_ref().and_then(|process| process.binary.as_deref());
        if binary.is_some_and(|binary| FETCHERS.contains(&base(binary))) {
            match event.verdict {
                Some(EventVerdict::Denied) => self.fetchers_refused = true,
                Some(EventVerdict::Failed) => {}
                Some(EventVerdict::Allowed | EventVerdict::Unknown) | None => self.fetchers_allowed = true,
            }
        }
    }

    pub(super) fn finish(mut self, found: &mut ClassFindings) {
        // What could not be fetched was not executed, though the interpreter was.
        if self.fetchers_refused && !self.fetchers_allowed {
            self.piped.came_to_nothing();
        }
        found.of(AttackClass::RemoteExecution).join(&self.piped);
        if self.looks.len() >= MANY_LOOKS {
            found.of(AttackClass::Discovery).join(&self.looks.finding);
        }
    }
}

fn is_about_mining(word: &str) -> bool {
    MINING_WORDS.iter().any(|mining| word.strip_prefix(mining).is_some_and(|rest| !rest.is_empty()))
}

/// Whether a program of this name means something wherever it lies. What prints credentials or changes the user does so only
/// where it is the system's own; others are called `batch` or `pass` too.
fn anywhere(class: AttackClass) -> bool {
    !matches!(
        class,
        AttackClass::CredentialHarvesting | AttackClass::Persistence | AttackClass::PrivilegeEscalation
    )
}

/// `python3.11` is `python`.
fn versionless(name: &str) -> &str {
    name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.')
}

fn has_words(argv: &[String], groups: &[&[&str]]) -> bool {
    let arguments = argv.get(1..).unwrap_or_default();
    // A short option is a word by itself; other words may be parts of one.
    let has = |word: &str| {
        let is_option = word.len() == 2 && word.starts_with('-');
        arguments.iter().any(|argument| if is_option { argument == word } else { argument.contains(word) })
    };
    groups.is_empty() || groups.iter().any(|group| group.iter().all(|word| has(word)))
}

/// Whether a program that fetches prints what it got.
fn prints(name: &str, argv: &[String]) -> bool {
    let arguments = argv.get(1..).unwrap_or_default();
    let is_address = |word: &String| {
        ["http://", "https://", "ftp://"].iter().any(|start| word.starts_with(start)) || word.contains('.')
    };
    let is_short = |word: &&String| word.starts_with('-') && !word.starts_with("--");
    let writes = match name {
        "curl" => arguments.iter().any(|word| {
            word == "--output" || word == "--remote-name" || is_short(&word) && word.contains(['o', 'O'])
        }),
        "wget" => !arguments.iter().any(|word| is_short(&word) && word.contains('O') && word.ends_with('-') || word == "-")
            && !arguments.windows(2).any(|pair| matches!(pair, [option, value] if is_short(&option) && option.ends_with('O') && value == "-")),
        _ => false,
    };
    arguments.iter().any(is_address) && !writes
}

/// `-c`, alone or with other letters: `-lc`.
fn is_script_option(word: &str) -> bool {
    word.len() > 1
        && word.len() <= 6
        && word.starts_with('-')
        && !word.starts_with("--")
        && word.ends_with('c')
}

/// Whether an interpreter executes its input: no script, `-`, or `-s`.
fn reads_input(name: &str, argv: &[String]) -> bool {
    let is_shell = SHELLS.contains(&name);
    for word in argv.iter().skip(1) {
        match word.strip_prefix('-') {
            None => return word == "/dev/stdin",
            Some("" | "s") => return true,
            // Options of shells are switches but for one. Others take programs (-e, -ne, -c, -r) and modules (-m).
            Some(_) if is_shell && is_script_option(word) => return false,
            Some(letters)
                if !is_shell
                    && !letters.starts_with('-')
                    && letters.contains(['c', 'e', 'm', 'n', 'p', 'r']) =>
            {
                return false;
            }
            Some(_) => {}
        }
    }
    true
}

/// The files that a program writes what it fetched to: the one it names, and those that the addresses name.
fn written<'a>(name: &str, argv: &'a [String]) -> impl Iterator<Item = &'a str> {
    let takes = move |word: &str| {
        let is_short = word.starts_with('-') && !word.starts_with("--");
        word == "--output" || word == "--output-document" || is_short && word.ends_with(['o', 'O'])
    };
    let named = argv.windows(2).filter_map(move |pair| match pair {
        [option, file] if takes(option) => Some(file.as_str()),
        _ => None,
    });
    let is_curl = name == "curl";
    let remote = !is_curl
        || argv.iter().any(|word| {
            word == "--remote-name" || word.starts_with('-') && !word.starts_with("--") && word.contains('O')
        });
    let addressed = argv.iter().filter(move |word| remote && word.contains("://")).map(|word| {
        let word = word.split(['?', '#']).next().unwrap_or(word);
        word.split_once("://").map_or(word, |(_, rest)| rest)
    });
    named.chain(addressed.filter(|rest| rest.contains('/') && !rest.ends_with('/')))
}

/// Words that come before a command and change nothing about what it is.
const BEFORE: &[&str] =
    &["sudo", "env", "exec", "command", "nohup", "time", "timeout", "nice", "-E", "-n", "-H", "!"];

/// Whether a shell's script gives what it fetched to an interpreter.
fn feeds_interpreter(script: &str, runs: impl Fn(&str) -> bool) -> bool {
    let script = script.get(..script.floor_char_boundary(LONGEST)).unwrap_or(script);
    // A stage of a pipeline ends at a single bar; a list ends at anything else.
    let script = script.replace("||", ";").replace("&&", ";");
    script.split([';', '\n']).any(|list| {
        let mut has_text = false;
        list.split('|').any(|stage| {
            let words = stage.split_whitespace().map(|word| word.trim_start_matches(['(', '{']));
            let mut words = words.skip_while(|word| {
                let is_number = word.starts_with(|letter: char| letter.is_ascii_digit());
                word.is_empty() || BEFORE.contains(word) || word.contains('=') || is_number
            });
            let first = words.next().map_or("", |word| base(word.trim_end_matches([')', '}', '"', '\''])));
            let rest: Vec<String> =
                std::iter::once(first.to_owned()).chain(words.map(str::to_owned)).collect();
            let is_fed = has_text && runs(first) && reads_input(first, &rest);
            has_text |= FETCHERS.contains(&first);
            is_fed || substitutes(first, &rest, &runs)
        })
    })
}

/// `bash <(curl …)`, `sh -c "$(curl …)"`, `eval "$(wget …)"`, `source <(curl …)`.
fn substitutes(first: &str, words: &[String], runs: impl Fn(&str) -> bool) -> bool {
    let mut rest = words.iter().skip(1).skip_while(|word| word.starts_with('-') && !is_script_option(word));
    let executes = match rest.next().map(String::as_str) {
        Some(word) if is_script_option(word) && runs(first) => rest.next().map(String::as_str),
        Some(word) if ["eval", "source", "."].contains(&first) || runs(first) && word.starts_with("<(") => {
            Some(word)
        }
        _ => None,
    };
    let starts = ["<(", "$(", "`"];
    let word = executes.map(|word| word.trim_start_matches(['"', '\'']));
    let fetcher = word.and_then(|word| starts.iter().find_map(|start| word.strip_prefix(start)));
    fetcher.is_some_and(|fetcher| FETCHERS.contains(&base(fetcher)))
}
