//! From a parser's tree to the common form: what all languages share.
//!
//! The depth of the recursion is bounded: what is nested deeper than people write is left out, and the program says so.

use std::borrow::Cow;

use tree_sitter::Node;

use crate::code::ir::{Expression, ExpressionId, Function, Language, Program, Statement};

/// How deep code may be nested: people stay below 30, generated code below 100.
const MAX_DEPTH: usize = 120;

/// A program that is being made.
pub(crate) struct Lowering<'t> {
    pub(crate) text: &'t str,
    pub(crate) program: Program<'t>,
    depth: usize,
}

impl<'t> Lowering<'t> {
    pub(crate) fn new(text: &'t str, language: Language) -> Self {
        let program = Program {
            language,
            expressions: Vec::new(),
            ranges: Vec::new(),
            functions: Vec::new(),
            classes: Vec::new(),
            body: Vec::new(),
            is_cut: false,
        };
        Self { text, program, depth: 0 }
    }

    /// Reads a whole tree.
    pub(crate) fn read_module(&mut self, root: Node<'_>) {
        let mut body = Vec::new();
        self.read_children(root, &mut body);
        self.program.body = body;
    }

    /// Reads the statements below a node.
    pub(crate) fn read_children(&mut self, node: Node<'_>, out: &mut Vec<Statement<'t>>) {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            self.read_statement(child, out);
        }
    }

    /// Reads one statement.
    pub(crate) fn read_statement(&mut self, node: Node<'_>, out: &mut Vec<Statement<'t>>) {
        if node.is_extra() && node.kind() != "ERROR" {
            return;
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.program.is_cut = true;
        } else if self.program.language == Language::Python {
            self.read_python_statement(node, out);
        } else {
            self.read_script_statement(node, out);
        }
        self.depth -= 1;
    }

    /// Reads a block into a list of its own.
    pub(crate) fn read_block(&mut self, node: Option<Node<'_>>) -> Vec<Statement<'t>> {
        let mut out = Vec::new();
        if let Some(node) = node {
            self.read_statement(node, &mut out);
        }
        out
    }

    /// Reads an expression.
    pub(crate) fn read_expression(&mut self, node: Node<'_>) -> ExpressionId {
        self.depth += 1;
        let id = if self.depth > MAX_DEPTH {
            self.program.is_cut = true;
            self.push(node, Expression::Any(Vec::new()))
        } else if self.program.language == Language::Python {
            self.read_python_expression(node)
        } else {
            self.read_script_expression(node)
        };
        self.depth -= 1;
        id
    }

    /// Reads the expression in a field of a node.
    pub(crate) fn read_field(&mut self, node: Node<'_>, field: &str) -> ExpressionId {
        match node.child_by_field_name(field) {
            Some(child) => self.read_expression(child),
            None => self.push(node, Expression::Any(Vec::new())),
        }
    }

    /// Reads all expressions below a node.
    pub(crate) fn read_parts(&mut self, node: Node<'_>) -> Vec<ExpressionId> {
        let mut cursor = node.walk();
        let children: Vec<_> = node.named_children(&mut cursor).filter(|child| !child.is_extra()).collect();
        children.into_iter().map(|child| self.read_expression(child)).collect()
    }

    /// The operands of a chain of one operator that leans to the left, without recursion: `a + b + c + …`.
    pub(crate) fn read_chain(&mut self, node: Node<'_>, operator: &str) -> Vec<ExpressionId> {
        let mut operands = Vec::new();
        let mut at = node;
        loop {
            if let Some(right) = at.child_by_field_name("right") {
                operands.push(right);
            }
            let Some(left) = at.child_by_field_name("left") else { break };
            let same = left.kind() == node.kind()
                && left.child_by_field_name("operator").is_some_and(|sign| sign.kind() == operator);
            if !same {
                operands.push(left);
                break;
            }
            at = left;
        }
        operands.into_iter().rev().map(|operand| self.read_expression(operand)).collect()
    }

    /// Adds an expression.
    pub(crate) fn push(&mut self, node: Node<'_>, expression: Expression<'t>) -> ExpressionId {
        let id = u32::try_from(self.program.expressions.len()).unwrap_or(u32::MAX);
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        self.program.expressions.push(expression);
        self.program.ranges.push(place(node.start_byte())..place(node.end_byte()));
        id
    }

    /// Adds a function.
    pub(crate) fn push_function(&mut self, function: Function<'t>) -> u32 {
        let id = u32::try_from(self.program.functions.len()).unwrap_or(u32::MAX);
        self.program.functions.push(function);
        id
    }

    /// The text of a node.
    pub(crate) fn text_of(&self, node: Node<'_>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// The text of a field of a node.
    pub(crate) fn text_in(&self, node: Node<'_>, field: &str) -> &'t str {
        node.child_by_field_name(field).map(|child| self.text_of(child)).unwrap_or_default()
    }
}

/// A literal with its escapes undone, as Python and JavaScript have them.
pub(crate) fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(rest.get(..at).unwrap_or_default());
        let after = rest.get(at + 1..).unwrap_or_default();
        let mut chars = after.chars();
        let Some(mark) = chars.next() else {
            rest = "";
            break;
        };
        let tail = chars.as_str();
        let (number, used) = match mark {
            'x' => take_number(tail, 2, 16),
            'u' => match tail.strip_prefix('{') {
                Some(braced) => {
                    let (number, used) = take_number(braced, 6, 16);
                    (number, used + 2)
                }
                None => take_number(tail, 4, 16),
            },
            'U' => take_number(tail, 8, 16),
            '0'..='7' => {
                let (number, used) = take_number(after, 3, 8);
                (number, used.saturating_sub(1))
            }
            _ => (None, 0),
        };
        match (number.and_then(char::from_u32), mark) {
            (Some(c), _) => out.push(c),
            (None, 'n') => out.push('\n'),
            (None, 't') => out.push('\t'),
            (None, 'r') => out.push('\r'),
            (None, '\n') => {}
            (None, mark) => out.push(mark),
        }
        rest = if number.is_some() { tail.get(used..).unwrap_or_default() } else { tail };
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// A number of at most so many digits at the beginning of a text, and how many there were.
fn take_number(text: &str, most: usize, radix: u32) -> (Option<u32>, usize) {
    let digits = text.chars().take(most).take_while(|c| c.is_digit(radix)).count();
    (text.get(..digits).and_then(|digits| u32::from_str_radix(digits, radix).ok()), digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_undone() {
        for (text, plain) in [
            ("plain", "plain"),
            (r"\x65nv", "env"),
            (r"\u0065nv", "env"),
            (r"\u{65}nv", "env"),
            (r"\145nv", "env"),
            (r"a\nb\\c\'", "a\nb\\c'"),
            (r"\x", "x"),
            ("\\", ""),
        ] {
            assert_eq!(unescape(text), plain, "{text}");
        }
    }
}
