//! What a mutation is: a passage in, what stands there instead out.

use super::dice::SeededDice;
use super::passage::PassageKind;
use super::{
    look_alikes, paraphrase, placement, program, recase, reencode, relocate, respace, setting, split,
    structure, translate,
};

/// A passage as a mutation sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MutationSite<'t> {
    pub(crate) text: &'t str,
    /// The script or fenced block round it.
    pub(crate) whole: &'t str,
    pub(crate) kind: PassageKind,
    pub(crate) one_line: bool,
    pub(crate) markdown: bool,
}

/// What becomes of a passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextChange {
    pub(crate) here: String,
    /// Whether `here` stands for the whole script or block.
    pub(crate) whole: bool,
    /// What is added elsewhere.
    pub(crate) moved: Option<(ChangeDestination, String)>,
    /// What is added to the skill's description.
    pub(crate) described: &'static str,
    /// Names to replace in the whole file, as whole words.
    pub(crate) renamed: Vec<(String, String)>,
}

/// Where a moved passage goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ChangeDestination {
    EndOfFile,
    File(&'static str),
    Description,
    /// A key of the front matter.
    FrontMatter(&'static str),
}

impl TextChange {
    pub(crate) fn here(text: impl Into<String>) -> Self {
        Self { here: text.into(), whole: false, moved: None, described: "", renamed: Vec::new() }
    }
}

/// One way to rewrite a passage.
#[derive(Clone, Copy)]
pub(crate) struct TextMutation {
    pub(crate) family: &'static str,
    pub(crate) name: &'static str,
    /// Whether an honest author might have written it so: then no benign skill should be flagged for it.
    pub(crate) honest: bool,
    /// `None` where the passage cannot be rewritten so and still do what it does.
    pub(crate) apply: fn(&MutationSite<'_>, &mut SeededDice) -> Option<TextChange>,
}

impl TextMutation {
    /// Whether the words of a passage may stay as they are, because what stands round them is another thing.
    pub(crate) fn keeps_words(&self) -> bool {
        matches!(self.family, "relocate" | "structure")
    }
}

/// All families, in the order of the table.
pub(crate) fn all() -> Vec<TextMutation> {
    [
        reencode::MUTATIONS,
        recase::MUTATIONS,
        respace::MUTATIONS,
        split::MUTATIONS,
        look_alikes::MUTATIONS,
        paraphrase::MUTATIONS,
        relocate::MUTATIONS,
        setting::MUTATIONS,
        placement::MUTATIONS,
        translate::MUTATIONS,
        program::MUTATIONS,
        structure::MUTATIONS,
    ]
    .concat()
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// A passage by itself.
    pub(crate) fn site(kind: PassageKind, text: &str) -> MutationSite<'_> {
        MutationSite { text, whole: text, kind, one_line: false, markdown: true }
    }

    /// The mutation of that name.
    pub(crate) fn named(mutations: &[TextMutation], name: &str) -> TextMutation {
        *mutations.iter().find(|mutation| mutation.name == name).unwrap()
    }

    /// What a mutation makes of a passage, with a fixed seed.
    pub(crate) fn made(
        mutations: &[TextMutation],
        name: &str,
        kind: PassageKind,
        text: &str,
    ) -> Option<String> {
        let change = (named(mutations, name).apply)(&site(kind, text), &mut SeededDice::new(1, &[name]))?;
        Some(change.here)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A mutant that no longer does what the original did would prove nothing, so those of a command are run: a harmless one.
    #[cfg(unix)]
    #[test]
    fn a_shell_does_the_same_with_every_mutant() {
        const COMMAND: &str = "  printf 'one two' | tr a-z A-Z";
        // Those that need nothing but bash and the core utilities.
        const RUN: &[&str] = &[
            "Base64",
            "Base64 in pieces",
            "Base32",
            "\\u escapes",
            "\\x escapes",
            "octal",
            "doubled spaces",
            "tabs",
            "many spaces",
            "line ends",
            "${IFS}",
            "empty quotes",
            "backslashes",
            "$'\\x63'",
            "variables",
            "here-document",
            "bash -c",
            "function",
            "heredoc for bash",
        ];
        let mut run = Vec::new();
        for mutation in all().iter().filter(|mutation| RUN.contains(&mutation.name)) {
            for seed in 0..4 {
                let change = (mutation.apply)(
                    &testing::site(PassageKind::Shell, COMMAND),
                    &mut SeededDice::new(seed, &[]),
                )
                .unwrap();
                let output = std::process::Command::new("bash").args(["-c", &change.here]).output().unwrap();
                assert_eq!(String::from_utf8_lossy(&output.stdout), "ONE TWO", "{}: {output:?}", change.here);
            }
            run.push(mutation.name);
        }
        assert_eq!(run.len(), RUN.len(), "{run:?}");
    }

    #[test]
    fn names_are_unique_and_families_stand_together() {
        let all = all();
        let mut names: Vec<_> = all.iter().map(|mutation| (mutation.family, mutation.name)).collect();
        let mut families: Vec<_> = all.iter().map(|mutation| mutation.family).collect();
        families.dedup();
        assert_eq!(families.len(), 17);
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
