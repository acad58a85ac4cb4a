//! Without the feature `judge`: nobody can be asked, and who wants to is told.

use std::path::Path;

use indicatif::ProgressBar;
use skillsandbox_manifest::JudgePolicy;
use skillsandbox_scanner::{JudgeOpinion, ScanReport, Scanner, SkillFiles, SkillJudge};

use super::{JudgeArgs, Sending};

/// There is none.
pub(in crate::verbs) enum OpenJudge {}

/// There is none.
pub(in crate::verbs) enum PreparedQuestion {}

impl OpenJudge {
    pub(super) fn open(_: &JudgeArgs, _: Option<&JudgePolicy>, _: Sending) -> anyhow::Result<Self> {
        anyhow::bail!("this command was built without a judge: build it with `--features judge`")
    }

    pub(in crate::verbs) fn prepare(&self, _: &SkillFiles, _: &str) -> PreparedQuestion {
        match *self {}
    }

    pub(in crate::verbs) fn add_opinions(
        &self,
        _: &Scanner,
        _: Vec<(&mut ScanReport, PreparedQuestion)>,
        _: &ProgressBar,
    ) {
        match *self {}
    }

    pub(in crate::verbs) fn show_question(&self, _: &Path, _: &SkillFiles) -> anyhow::Result<()> {
        match *self {}
    }
}

impl SkillJudge for OpenJudge {
    fn ask_about(&self, _: &SkillFiles, _: &ScanReport) -> JudgeOpinion {
        match *self {}
    }
}
