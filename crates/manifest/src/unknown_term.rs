//! A word that is not one of a term's, as a mistake in a manifest: with the word that was meant.

use skillsandbox_terms::UnknownTerm;

use crate::diagnostic::{Code, Fault, quoted};
use crate::suggestion::{list, nearest};

impl From<UnknownTerm> for Fault {
    fn from(unknown: UnknownTerm) -> Self {
        let fault =
            Self::new(Code::UnknownValue, format!("unknown {} {}", unknown.what, quoted(&unknown.word)));
        match nearest(&unknown.word, unknown.known) {
            Some(near) => fault.help(format!("did you mean `{near}`?")),
            None => fault.help(format!("accepted are {}", list(unknown.known))),
        }
    }
}
