//! What a shell script does, and which secrets it sends away.
//!
//! ```text
//!  text ──► parser.rs (compound, elements, words): one statement a time ──► machine.rs: walks through them, follows values
//!                                                                │
//!      commands.rs: who is called, behind prefixes and quotes ◄──┤
//!        ├──► builtins.rs, interpreters.rs: texts that are run   │
//!        ├──► sources.rs: commands that print secrets            ├──► facts
//!        ├──► filters.rs, packing.rs: what passes them on            │
//!        ├──► web.rs, remote.rs, uploads.rs: what sends them ────┤
//!        └──► effects.rs: what changes the machine ──────────────┘
//! ```
//!
//! Nothing is run. A value is its text, as far as that can be told, and marks that say where it comes from; marks pass through
//! variables, pipes, files, functions and encodings. All branches are taken. Depth, commands, rounds and copied text are counted; a
//! bound that is met is said in [`CodeFacts::is_cut`].

mod batch;
mod builtins;
mod commands;
mod compound;
mod decoding;
mod effects;
mod elements;
mod embedded;
mod escapes;
mod expansion;
mod filters;
mod interpreters;
mod ledger;
mod machine;
mod options;
mod packing;
mod parser;
mod remote;
pub(crate) mod services;
mod sources;
mod streams;
mod tree;
mod uploads;
mod value;
mod web;
mod words;

use super::capability::CodeFacts;
use machine::Machine;
use value::Value;

/// Deepest that statements, substitutions and calls stand in each other. People write five or six.
const MAX_DEPTH: u32 = 40;
/// Longest text that is read: scripts that people write are far shorter, and what is beyond is said.
const MAX_TEXT: usize = 192 * 1024;

/// What a shell script does. Places are relative to the text.
pub(crate) fn read_shell(text: &str) -> CodeFacts {
    read_shell_nested(text, 0)
}

/// The same, of a script that stands in other code.
pub(super) fn read_shell_nested(text: &str, nesting: u32) -> CodeFacts {
    if nesting >= super::plain::MAX_NESTING {
        return CodeFacts { is_cut: true, ..CodeFacts::default() };
    }
    let mut end = text.len().min(MAX_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut machine = Machine::new(end, nesting);
    machine.facts.is_cut = end < text.len();
    machine.run_text(text.get(..end).unwrap_or_default(), &Value::default());
    machine.finish()
}

/// What a batch file does: each line in a shell's spelling.
pub(super) fn read_batch(text: &str, nesting: u32) -> CodeFacts {
    let mut machine = Machine::new(text.len(), nesting);
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let range = at..at + line.trim_end().len();
        at += line.len();
        let spelt = batch::spell_line(line);
        if !spelt.is_empty() {
            machine.run_inner(&spelt, &Value::default(), &range);
        }
    }
    machine.finish()
}
