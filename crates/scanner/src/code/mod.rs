//! What code does: its capabilities, and the secrets that it sends away.
//!
//! ```text
//!  pieces.rs: scripts, fences, cells ──► parse.rs ──► lower*.rs ──► ir.rs: one form for all languages
//!                                                                     │
//!          facts ◄── interpret.rs: values through variables, functions, files ◄── library.rs, methods.rs, network.rs, effects.rs
//! ```
//!
//! `objects.rs` and `hosts.rs` know what paths, names and addresses stand for; every language's reader asks them. `own_service.rs` says whether a
//! secret goes where it belongs. `capability.rs` has the words that all of them answer in.

pub(crate) mod capability;
mod command;
mod describe;
mod effects;
mod expressions;
pub(crate) mod hosts;
mod interpret;
mod invoke;
mod ir;
mod library;
mod library_names;
mod lower;
mod lower_python;
mod lower_script;
mod lower_script_values;
mod methods;
mod models;
mod modules;
mod network;
mod network_names;
mod object_names;
pub(crate) mod objects;
mod own_service;
mod parse;
mod pieces;
pub(crate) mod plain;
pub(crate) mod shell;
pub(crate) mod skill_code;
mod small_pieces;
mod statements;
mod value;

use crate::code::capability::CodeFacts;
use crate::code::interpret::Interpreter;
use crate::code::ir::Program;
use crate::code::modules::ModuleNames;
use crate::code::parse::{MAX_CODE, read_program};

#[doc(hidden)]
pub use crate::code::describe::describe_code;
pub(crate) use crate::code::effects::{ENTRY, LOADERS};
pub(crate) use crate::code::ir::Language;
pub(crate) use crate::code::pieces::{CodePiece, find_pieces};

/// How deep code in code is read: what is decoded and run.
pub(crate) const MAX_NESTING: usize = 3;
/// Most pieces of one skill that are read.
const MAX_PIECES: usize = 400;
/// Most code of one skill that is read, in bytes.
const MAX_SKILL_CODE: usize = 8 * MAX_CODE;

/// Reads all code of a skill together: what each piece does.
pub(crate) fn read_pieces(pieces: &[CodePiece<'_>]) -> Vec<CodeFacts> {
    let mut modules = ModuleNames::default();
    let mut programs: Vec<Program<'_>> = Vec::new();
    let mut room = MAX_SKILL_CODE;
    let mut is_cut = vec![false; pieces.len()];
    for (number, piece) in pieces.iter().enumerate() {
        let fits = number < MAX_PIECES && room > 0;
        room = room.saturating_sub(piece.text.len().min(MAX_CODE));
        if let Some(cut) = is_cut.get_mut(number) {
            *cut = !fits;
        }
        programs.push(read_program(if fits { &piece.text } else { "" }, piece.language));
        modules.add(piece.path, piece.group, piece.is_file);
    }
    let mut facts = Interpreter::new(&programs, &modules).run();
    for (facts, cut) in facts.iter_mut().zip(is_cut) {
        facts.is_cut |= cut;
    }
    facts
}

/// Reads one text as code of a language.
fn read_text(text: &str, language: Language, nesting: usize) -> CodeFacts {
    let programs = [read_program(text, language)];
    let mut modules = ModuleNames::default();
    modules.add("", 0, false);
    let mut interpreter = Interpreter::new(&programs, &modules);
    interpreter.nesting = nesting;
    interpreter.run().pop().unwrap_or_default()
}
