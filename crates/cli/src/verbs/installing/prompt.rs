//! `Install anyway? [y/N]`

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use skillsandbox_run::UserPolicy;
use skillsandbox_store::{InstallReview, Reviewer};

use super::{differences, review_view};
use crate::output::{message, visible};
use crate::verbs::scan::output::as_text;

/// Longest answer that is read.
const LONGEST: u64 = 64;

/// Asks the person at the terminal. Where there is none, the answer is no.
pub(in crate::verbs) struct Prompt {
    /// The policy that a finding can be allowed in.
    pub(in crate::verbs) policy: UserPolicy,
}

impl Reviewer for Prompt {
    fn approve(&mut self, review: &InstallReview<'_>) -> bool {
        message(as_text(review.name.as_ref(), review.report, review_view(&self.policy)).trim_end());
        if let Some(diff) = review.diff.filter(|diff| diff.widens()) {
            message(&format!("{} wants more than the installed version:", visible(review.name)));
            message(differences(diff).trim_end());
        } else {
            message(&format!("it declares: {}", visible(&review.permissions.summary())));
        }
        if !io::stdin().is_terminal() {
            message(
                "Install anyway? [y/N] not confirmed: standard input is not a terminal; after a review, use --force",
            );
            return false;
        }
        let mut err = anstream::stderr().lock();
        let _ = write!(err, "Install anyway? [y/N] ");
        let _ = err.flush();
        let mut answer = String::new();
        let read = io::Read::take(io::stdin().lock(), LONGEST).read_line(&mut answer);
        read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes" | "Yes" | "YES")
    }

    fn waiting(&mut self) {
        message("another skillsandbox is working on this store; waiting for it");
    }

    fn fetching(&mut self, source: &str) {
        if io::stderr().is_terminal() {
            message(&format!("fetching {}", visible(source)));
        }
    }
}
