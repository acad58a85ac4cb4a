//! Parsing: one parser a language and thread, bounded by counts.

use std::cell::RefCell;
use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, Parser, Tree};

use crate::code::ir::{Language, Program};
use crate::code::lower::Lowering;

/// Longest piece of code that is read: ten times what a person writes in one file. What is longer is generated or packed.
pub(crate) const MAX_CODE: usize = 192 * 1024;
/// Rounds of the parser a byte of code: ordinary code needs less than one in a hundred bytes, one round being a hundred steps.
const MAX_ROUNDS: usize = 5_000;

thread_local! {
    /// A parser for each language, in their order.
    static PARSERS: RefCell<[Option<Parser>; 4]> = const { RefCell::new([None, None, None, None]) };
}

impl Language {
    /// Its grammar.
    fn grammar(self) -> tree_sitter::Language {
        match self {
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
        }
    }
}

/// Parses a text; `None` where the parser would take too long.
fn parse_tree(text: &str, language: Language) -> Option<Tree> {
    PARSERS.with_borrow_mut(|parsers| {
        let slot = parsers.get_mut(language as usize)?;
        if slot.is_none() {
            let mut parser = Parser::new();
            parser.set_language(&language.grammar()).ok()?;
            *slot = Some(parser);
        }
        let parser = slot.as_mut()?;
        let mut rounds = 0;
        let most = MAX_ROUNDS.min(256 + text.len() / 48);
        let mut count = |_: &tree_sitter::ParseState| {
            rounds += 1;
            if rounds > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let options = ParseOptions::new().progress_callback(&mut count);
        let bytes = text.as_bytes();
        let tree =
            parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options));
        if tree.is_none() {
            // Else it would go on with the same text.
            parser.reset();
        }
        tree
    })
}

/// Reads a piece of code into the common form.
pub(crate) fn read_program(text: &str, language: Language) -> Program<'_> {
    let mut end = text.len().min(MAX_CODE);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let kept = text.get(..end).unwrap_or_default();
    let mut lowering = Lowering::new(kept, language);
    match parse_tree(kept, language) {
        Some(tree) => lowering.read_module(tree.root_node()),
        None => lowering.program.is_cut = true,
    }
    lowering.program.is_cut |= end < text.len();
    lowering.program
}
