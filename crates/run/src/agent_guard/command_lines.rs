//! Command lines: what command-policy says of them, and which places they name.

use std::path::Path;
use std::sync::Arc;

use skillsandbox_command_policy::{
    CommandDecision, CommandDenial, CommandPolicy, CommandPolicyBuilder, CommandRule, Dialect, GlobHandling,
    OtherTools, expand_ansi_c,
};
use skillsandbox_manifest::Manifest;
use skillsandbox_path_policy::{AccessKind, PathDecision, PathPolicy};

use super::hosts::HostGuard;
use super::{
    CallPolicies, GuardAnswer, GuardError, GuardReason, GuardSettings, ShellHandling, own_program, places,
    project_code,
};

/// Files that every program may name.
const HARMLESS_FILES: [&str; 3] = ["/dev/null", "/dev/stdin", "/dev/stdout"];
/// Most words of a line that are looked at as places. A line with more is asked about.
const MOST_WORDS: usize = 4096;
/// Letters behind one dash that are tried as options with a path behind them.
const MOST_OPTIONS: usize = 16;
/// Programs that read what they are given and write nothing but their output.
const READERS: [&str; 16] = [
    "cat", "cmp", "diff", "du", "egrep", "fgrep", "file", "grep", "head", "ls", "readlink", "realpath",
    "stat", "tail", "test", "wc",
];

/// Decides about command lines in one folder.
pub(super) struct CommandGuard<'a> {
    policy: CommandPolicy,
    /// What the policy was built from.
    builder: CommandPolicyBuilder,
    /// Whether a list says which programs may run: then a line whose programs cannot be told is never let pass.
    has_list: bool,
    shell: ShellHandling,
    cwd: &'a Path,
    hosts: &'a HostGuard,
}

impl<'a> CommandGuard<'a> {
    pub(super) fn new(
        settings: &GuardSettings,
        ceiling: &Manifest,
        policies: &'a CallPolicies,
        hosts: &'a HostGuard,
    ) -> Result<Self, GuardError> {
        let rules = path_rules(Arc::clone(&policies.readers), Arc::clone(&policies.writers));
        let mut builder = CommandPolicy::builder()
            .root(&policies.cwd)
            .path_rules(rules)
            .dialect(Dialect::Bash)
            .globs(GlobHandling::Refuse)
            .other_tools(OtherTools::PassThrough)
            .also_allow_path(&settings.root);
        for folder in settings.read_roots.iter().chain(&settings.write_roots) {
            builder = builder.also_allow_path(folder);
        }
        for path in places::readable().chain(HARMLESS_FILES.map(Path::new)) {
            builder = builder.also_allow_path(path);
        }
        let mut has_list = false;
        if let Some(list) = &settings.allowed_tools {
            builder = builder.allowed_tools(list);
            has_list = true;
        }
        if let Some(commands) = ceiling.commands() {
            let shown = |program: &skillsandbox_manifest::ProgramSpec| match program {
                skillsandbox_manifest::ProgramSpec::Name(name) => name.clone(),
                skillsandbox_manifest::ProgramSpec::Path(path) => {
                    path.resolve(hosts.places()).display().to_string()
                }
            };
            builder = builder.commands(commands.allow.iter().map(|program| shown(&program.value)));
            for (program, words) in &commands.allowed_args {
                builder = builder.allowed_args(shown(program), words);
            }
            for (program, words) in &commands.forbidden_args {
                builder = builder.forbidden_args(shown(program), words);
            }
            has_list = true;
        }
        let policy = builder.clone().build()?;
        Ok(Self { policy, builder, has_list, shell: settings.shell, cwd: &policies.cwd, hosts })
    }

    /// What is to be done about a line. Its words are those that command-policy reads; a line that it cannot read is searched as a text.
    pub(super) fn judge(&self, line: &str) -> GuardAnswer {
        let decision = self.policy.check(line);
        let words = self.policy.split(line).ok().map(|words| {
            words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<String>>()
        });
        let decided = match &decision {
            CommandDecision::Allowed => GuardAnswer::Pass,
            CommandDecision::Bypassed => refuse("bypassed", "nothing was checked", "Report this as a bug."),
            CommandDecision::Denied(denial)
                if words.as_ref().is_some_and(|words| self.runs_the_project(line, words, denial)) =>
            {
                GuardAnswer::Pass
            }
            CommandDecision::Denied(denial) => self.weigh(denial),
        };
        let named = match &words {
            Some(words) => self.judge_words(words, decision == CommandDecision::Allowed),
            None => self.judge_text(line),
        };
        named.max(decided)
    }

    /// What the words of one command mean, and where it may run others the commands in them.
    fn judge_words(&self, words: &[String], runs_itself_only: bool) -> GuardAnswer {
        let is_reader = words.first().is_some_and(|program| READERS.contains(&program.as_str()));
        let whole = words.iter().take(MOST_WORDS).flat_map(|word| path_forms(word));
        let whole = whole.map(|path| places::judge_path(path, self.cwd, !is_reader));
        let answer = whole.max().unwrap_or(GuardAnswer::Pass);
        let answer = answer.max(judge_places(words, self.cwd, !is_reader));
        let answer = answer.max(self.judge_command(words, !runs_itself_only));
        if runs_itself_only {
            return answer;
        }
        let inner =
            words.iter().filter(|word| word.contains(char::is_whitespace)).flat_map(|word| commands(word));
        inner.map(|command| self.judge_command(&command, true)).fold(answer, GuardAnswer::max)
    }

    /// What one command does with this program's own state, and which addresses it fetches. With `anywhere`, it may start another.
    fn judge_command(&self, words: &[String], anywhere: bool) -> GuardAnswer {
        let starts = if anywhere { words.len().min(MOST_WORDS) } else { 1 };
        let fetched = (0..starts).filter_map(|at| words.get(at..)).map(|rest| self.hosts.judge_fetcher(rest));
        fetched.fold(own_program::judge(words, self.cwd, anywhere), GuardAnswer::max)
    }

    /// What a line means that only a shell can take apart.
    fn judge_text(&self, line: &str) -> GuardAnswer {
        let text = expand_ansi_c(line);
        let mut answer = judge_places([&text], self.cwd, true);
        // Whatever the policy says of shells: what such a quote hides is not seen in a line that cannot be read.
        if line.contains("$'") {
            let reason =
                "the line writes characters as escapes, `$'…'`, where it cannot be told what they become";
            let hint = "Write the characters themselves, or make one call of each command.";
            answer = answer.max(GuardAnswer::Ask(GuardReason::new("hidden-text", reason, hint)));
        }
        let inner = commands(&text).into_iter();
        inner.map(|command| self.judge_command(&command, true)).fold(answer, GuardAnswer::max)
    }

    /// Whether a line does no more than run the project's own code (`make`, `npm test`), which is what the agent is there for: command-policy
    /// allows it to whoever names the program, and still refuses other commands in its arguments (`make --eval`). With a list, that list decides.
    fn runs_the_project(&self, line: &str, words: &[String], denial: &CommandDenial) -> bool {
        let CommandRule::RunsOthers(way) = denial.rule else { return false };
        let Some((program, arguments)) = words.split_first() else { return false };
        if self.has_list || program.contains('/') || !project_code::is_own(way, arguments, self.cwd) {
            return false;
        }
        let named = self.builder.clone().commands([program]).build();
        named.is_ok_and(|policy| policy.check(line) == CommandDecision::Allowed)
    }

    /// A refusal of command-policy means one of two things: the line does what it must not, or it cannot be told what it does.
    fn weigh(&self, denial: &CommandDenial) -> GuardAnswer {
        let reason = GuardReason::new(
            format!("command/{}", denial.rule),
            format!("`{}`: {}", denial.construct, denial.reason),
            capitalized(&denial.hint),
        );
        match denial.rule {
            CommandRule::Empty
            | CommandRule::Newline
            | CommandRule::Operator
            | CommandRule::Substitution
            | CommandRule::Expansion
            | CommandRule::Redirection
            | CommandRule::Glob
            | CommandRule::Brace
            | CommandRule::Tilde
            | CommandRule::History
            | CommandRule::Quote
            | CommandRule::Environment
            | CommandRule::ReservedWord
            | CommandRule::Builtin
            | CommandRule::CommandName
            | CommandRule::ParentDirectory
            | CommandRule::RunsOthers(_) => match self.shell {
                ShellHandling::Deny => GuardAnswer::Deny(reason),
                ShellHandling::Pass if !self.has_list => GuardAnswer::Pass,
                ShellHandling::Pass | ShellHandling::Ask => GuardAnswer::Ask(reason),
            },
            // What leads out, is on no list, or deceives; and whatever rule is newer than this table.
            _ => GuardAnswer::Deny(reason),
        }
    }
}

/// Paths of a command may be read or written, as far as anybody knows: inside a root, and nowhere forbidden.
fn path_rules(
    readers: Arc<PathPolicy>,
    writers: Arc<PathPolicy>,
) -> impl Fn(&Path) -> Result<(), String> + Send + Sync {
    move |path| {
        if HARMLESS_FILES.iter().any(|file| path == Path::new(file)) {
            return Ok(());
        }
        // Go's word for all below a folder.
        let path = if path.ends_with("...") { path.parent().unwrap_or(path) } else { path };
        match readers.check(path, AccessKind::Read) {
            PathDecision::Allow | PathDecision::Prompt => {}
            PathDecision::Deny(denial) => return Err(denial.to_string()),
        }
        // What only the writers' policy forbids (the user's own settings) is no command's business either.
        match writers.check(path, AccessKind::Read) {
            PathDecision::Allow | PathDecision::Prompt => Ok(()),
            PathDecision::Deny(denial) => Err(denial.to_string()),
        }
    }
}

/// A word, and what it may have behind letters that are options: `-o.git/hooks/x`. How many of them are is not known.
fn path_forms(word: &str) -> impl Iterator<Item = &str> {
    let is_short = word.starts_with('-') && !word.starts_with("--");
    let most = if is_short { MOST_OPTIONS } else { 0 };
    std::iter::once(word)
        .chain((2..most).filter_map(|start| word.get(start..)).filter(|rest| !rest.is_empty()))
}

/// A text as a shell joins it: what stands in quotes and behind backslashes to what stands beside it.
fn unquoted(text: &str) -> String {
    text.replace("\\\n", "").chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect()
}

/// The words of the commands in a text, as far as they can be told without a shell.
fn commands(text: &str) -> Vec<Vec<String>> {
    let plain = unquoted(text);
    let parts = plain.split(|c: char| ";|&()`\n".contains(c));
    parts.map(|part| part.split_whitespace().map(str::to_owned).collect()).collect()
}

/// What the places mean that texts name, however a shell would take them apart: credentials, and files that switch guards off.
pub(super) fn judge_places<T: AsRef<str>>(
    texts: impl IntoIterator<Item = T>,
    cwd: &Path,
    writes: bool,
) -> GuardAnswer {
    let is_end = |c: char| c.is_whitespace() || ";|&()<>{}`,=:@$[]".contains(c);
    let mut answer = GuardAnswer::Pass;
    let mut count = 0;
    for text in texts {
        let plain = unquoted(text.as_ref());
        for word in plain.split(is_end).filter(|word| !word.is_empty()) {
            count += 1;
            if count > MOST_WORDS {
                let reason = "the command has more words than are looked at";
                let ask = GuardAnswer::Ask(GuardReason::new("too-long", reason, "Put it into a script."));
                return answer.max(ask);
            }
            answer = answer.max(places::judge_path(word, cwd, writes));
        }
    }
    answer
}

fn refuse(rule: &str, reason: &str, hint: &str) -> GuardAnswer {
    GuardAnswer::Deny(GuardReason::new(rule, reason, hint))
}

/// A hint as a sentence.
fn capitalized(hint: &str) -> String {
    let mut letters = hint.chars();
    let first = letters.next().map(|first| first.to_uppercase().collect::<String>()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}
