//! Expressions of JavaScript and TypeScript in the common form.

use std::borrow::Cow;

use tree_sitter::Node;

use crate::code::ir::{Argument, Expression, ExpressionId, Target};
use crate::code::lower::{Lowering, unescape};

impl<'t> Lowering<'t> {
    /// Reads an expression of JavaScript or TypeScript.
    pub(crate) fn read_script_expression(&mut self, node: Node<'_>) -> ExpressionId {
        let expression = match node.kind() {
            "identifier" | "this" | "undefined" | "shorthand_property_identifier" | "super" | "import" => {
                Expression::Name(self.text_of(node))
            }
            "number" => Expression::Number(parse_number(self.text_of(node))),
            "string" => Expression::Text(self.string_text(node)),
            "template_string" => Expression::Concat(self.read_template(node)),
            "member_expression" => {
                let object = self.read_field(node, "object");
                Expression::Attribute(object, self.text_in(node, "property"))
            }
            "subscript_expression" => {
                let object = self.read_field(node, "object");
                let key = self.read_field(node, "index");
                Expression::Subscript(object, key)
            }
            "call_expression" | "new_expression" => {
                let field = if node.kind() == "new_expression" { "constructor" } else { "function" };
                let callee = self.read_field(node, field);
                let arguments = match node.child_by_field_name("arguments") {
                    Some(list) if list.kind() == "arguments" => self.read_script_arguments(list),
                    Some(template) => {
                        vec![Argument { name: None, value: self.read_expression(template), is_spread: false }]
                    }
                    None => Vec::new(),
                };
                Expression::Call { callee, arguments }
            }
            "binary_expression" => match node.child_by_field_name("operator").map(|sign| sign.kind()) {
                Some("+") => Expression::Concat(self.read_chain(node, "+")),
                Some(sign @ ("||" | "??" | "&&")) => Expression::Any(self.read_chain(node, sign)),
                _ => Expression::Ignored(self.read_parts(node)),
            },
            "unary_expression" | "regex" | "true" | "false" | "null" | "update_expression" => {
                Expression::Ignored(self.read_parts(node))
            }
            "array" => Expression::List(self.read_parts(node)),
            "object" => Expression::Dict(self.read_script_pairs(node)),
            "arrow_function" | "function_expression" | "function" | "generator_function" => {
                Expression::Function(self.read_script_function(node, false))
            }
            "class" => Expression::Class(self.read_script_class(node)),
            "assignment_expression" => {
                let value = self.read_field(node, "right");
                let target = node
                    .child_by_field_name("left")
                    .map_or(Target::Nothing, |left| self.read_script_target(left));
                Expression::Assign(Box::new(target), value)
            }
            "augmented_assignment_expression" => {
                let (before, added) = (self.read_field(node, "left"), self.read_field(node, "right"));
                let value = self.push(node, Expression::Concat(vec![before, added]));
                let target = node
                    .child_by_field_name("left")
                    .map_or(Target::Nothing, |left| self.read_script_target(left));
                Expression::Assign(Box::new(target), value)
            }
            "ternary_expression" => {
                let asked = self.read_field(node, "condition");
                let asked = self.push(node, Expression::Ignored(vec![asked]));
                let (yes, no) = (self.read_field(node, "consequence"), self.read_field(node, "alternative"));
                Expression::Any(vec![asked, yes, no])
            }
            // The type says nothing of the value.
            "as_expression" | "satisfies_expression" | "non_null_expression" => match node.named_child(0) {
                Some(child) => return self.read_expression(child),
                None => Expression::Any(Vec::new()),
            },
            "sequence_expression" => {
                let parts = self.read_parts(node);
                Expression::Any(parts)
            }
            "yield_expression" => {
                let parts = self.read_parts(node);
                let value = self.push(node, Expression::List(parts));
                Expression::Assign(Box::new(Target::Name("%yield")), value)
            }
            "await_expression" | "parenthesized_expression" => {
                let parts = self.read_parts(node);
                match parts.as_slice() {
                    [one] => return *one,
                    _ => Expression::Any(parts),
                }
            }
            "comment" | "type_annotation" | "type_arguments" => Expression::Any(Vec::new()),
            _ => Expression::Any(self.read_parts(node)),
        };
        self.push(node, expression)
    }

    fn read_script_arguments(&mut self, list: Node<'_>) -> Vec<Argument<'t>> {
        let mut cursor = list.walk();
        let children: Vec<_> = list.named_children(&mut cursor).filter(|child| !child.is_extra()).collect();
        let mut arguments = Vec::new();
        for child in children {
            let is_spread = child.kind() == "spread_element";
            let inner = if is_spread { child.named_child(0).unwrap_or(child) } else { child };
            arguments.push(Argument { name: None, value: self.read_expression(inner), is_spread });
        }
        arguments
    }

    fn read_script_pairs(&mut self, node: Node<'_>) -> Vec<(Option<ExpressionId>, ExpressionId)> {
        let mut cursor = node.walk();
        let children: Vec<_> = node.named_children(&mut cursor).collect();
        let mut pairs = Vec::new();
        for child in children {
            match child.kind() {
                "pair" => {
                    let Some(key) = child.child_by_field_name("key") else { continue };
                    let key = match key.kind() {
                        "computed_property_name" => {
                            let parts = self.read_parts(key);
                            self.push(key, Expression::Any(parts))
                        }
                        "string" => self.read_expression(key),
                        _ => {
                            let name = self.text_of(key);
                            self.push(key, Expression::Text(Cow::Borrowed(name)))
                        }
                    };
                    let value = self.read_field(child, "value");
                    pairs.push((Some(key), value));
                }
                "shorthand_property_identifier" => {
                    let name = self.text_of(child);
                    let key = self.push(child, Expression::Text(Cow::Borrowed(name)));
                    let value = self.push(child, Expression::Name(name));
                    pairs.push((Some(key), value));
                }
                "method_definition" => {
                    let function = self.read_script_function(child, false);
                    let name = self.text_in(child, "name");
                    let key = self.push(child, Expression::Text(Cow::Borrowed(name)));
                    let value = self.push(child, Expression::Function(function));
                    pairs.push((Some(key), value));
                }
                "spread_element" => {
                    let parts = self.read_parts(child);
                    let value = self.push(child, Expression::Any(parts));
                    pairs.push((None, value));
                }
                _ => {}
            }
        }
        pairs
    }

    /// The pieces of a template.
    fn read_template(&mut self, node: Node<'_>) -> Vec<ExpressionId> {
        let mut parts = Vec::new();
        let mut cursor = node.walk();
        let children: Vec<_> = node.named_children(&mut cursor).collect();
        for child in children {
            match child.kind() {
                "string_fragment" | "escape_sequence" => {
                    let text = unescape(self.text_of(child));
                    parts.push(self.push(child, Expression::Text(text)));
                }
                "template_substitution" => {
                    let inner = self.read_parts(child);
                    parts.push(self.push(child, Expression::Any(inner)));
                }
                _ => {}
            }
        }
        parts
    }

    /// What stands between a string's marks.
    pub(crate) fn string_text(&self, node: Node<'_>) -> Cow<'t, str> {
        let whole = self.text_of(node);
        let inner = whole.get(1..whole.len().saturating_sub(1)).unwrap_or_default();
        unescape(inner)
    }
}

/// A whole number as JavaScript writes it.
fn parse_number(text: &str) -> i64 {
    let plain = text.replace('_', "");
    match plain.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).unwrap_or(0),
        None => plain.parse().unwrap_or(0),
    }
}
