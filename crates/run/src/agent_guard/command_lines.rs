//! Command lines: what command-policy says of them, and which places they name.

use std::path::Path;
use std::sync::Arc;

use skillsandbox_command_policy::{
    CommandDecision, CommandDenial, CommandPolicy, CommandPolicyBuilder, CommandRule, Dialect, GlobHandling,
    OtherTools,
};
use skillsandbox_manifest::{GrantBases, Manifest};
use skillsandbox_path_policy::{AccessKind, PathDecision, PathPolicy};

use super::{CallPolicies, GuardAnswer, GuardError, GuardReason, GuardSettings, ShellHandling, places};

/// Files that every program may name.
const HARMLESS_FILES: [&str; 3] = ["/dev/null", "/dev/stdin", "/dev/stdout"];
/// Most words of a line that are looked at as places. A line with more is asked about.
const MOST_WORDS: usize = 4096;

/// Decides about command lines in one folder.
pub(super) struct CommandGuard<'a> {
    policy: CommandPolicy,
    /// What the policy was built from.
    builder: CommandPolicyBuilder,
    /// Whether a list says which programs may run: then a line whose programs cannot be told is never let pass.
    has_list: bool,
    shell: ShellHandling,
    cwd: &'a Path,
}

impl<'a> CommandGuard<'a> {
    pub(super) fn new(
        settings: &GuardSettings,
        ceiling: &Manifest,
        policies: &'a CallPolicies,
        places: &GrantBases,
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
                skillsandbox_manifest::ProgramSpec::Path(path) => path.resolve(places).display().to_string(),
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
        Ok(Self { policy, builder, has_list, shell: settings.shell, cwd: &policies.cwd })
    }

    /// What is to be done about a line.
    pub(super) fn judge(&self, line: &str) -> GuardAnswer {
        let named = judge_places(line, self.cwd);
        let decided = match self.policy.check(line) {
            CommandDecision::Allowed => GuardAnswer::Pass,
            CommandDecision::Bypassed => refuse("bypassed", "nothing was checked", "Report this as a bug."),
            CommandDecision::Denied(denial) if self.runs_the_project(line, &denial) => GuardAnswer::Pass,
            CommandDecision::Denied(denial) => self.weigh(&denial),
        };
        named.max(decided)
    }

    /// Whether a line does no more than run the project's own code (`make`, `npm test`), which is what the agent is there for: command-policy
    /// allows it to whoever names the program, and still refuses other commands in its arguments (`make --eval`). With a list, that list decides.
    fn runs_the_project(&self, line: &str, denial: &CommandDenial) -> bool {
        let program = line.split_whitespace().next().unwrap_or_default();
        if self.has_list || !matches!(denial.rule, CommandRule::RunsOthers(_)) || program.contains('/') {
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

/// What the places mean that a text names, however a shell would take the text apart: credentials, and files that switch guards off.
pub(super) fn judge_places(text: &str, cwd: &Path) -> GuardAnswer {
    // A shell joins what stands in quotes and behind backslashes to what stands beside it.
    let plain: String =
        text.replace("\\\n", "").chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
    let is_end = |c: char| c.is_whitespace() || ";|&()<>{}`,=:@$[]".contains(c);
    let mut words = plain.split(is_end).filter(|word| !word.is_empty());
    let judged = words.by_ref().take(MOST_WORDS).map(|word| places::judge_path(word, cwd, true));
    let answer = judged.max().unwrap_or(GuardAnswer::Pass);
    if words.next().is_some() {
        let reason = GuardReason::new(
            "too-long",
            "the command has more words than are looked at",
            "Put it into a script.",
        );
        return answer.max(GuardAnswer::Ask(reason));
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
