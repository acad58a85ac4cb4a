//! The trees of JavaScript and TypeScript in the common form.

use std::borrow::Cow;

use tree_sitter::Node;

use crate::code::ir::{Class, Expression, Function, Parameter, Statement, Target};
use crate::code::lower::Lowering;

impl<'t> Lowering<'t> {
    /// Reads one statement of JavaScript or TypeScript.
    pub(crate) fn read_script_statement(&mut self, node: Node<'_>, out: &mut Vec<Statement<'t>>) {
        match node.kind() {
            "lexical_declaration" | "variable_declaration" => {
                let mut cursor = node.walk();
                let children: Vec<_> = node.named_children(&mut cursor).collect();
                for child in children.into_iter().filter(|child| child.kind() == "variable_declarator") {
                    let Some(name) = child.child_by_field_name("name") else { continue };
                    let value = self.read_field(child, "value");
                    let target = self.read_script_target(name);
                    out.push(Statement::Assign { target, value, is_added: false, is_declared: true });
                }
            }
            "import_statement" => self.read_script_import(node, out),
            "export_statement" => self.read_script_export(node, out),
            "function_declaration" | "generator_function_declaration" => {
                let function = self.read_script_function(node, false);
                out.push(Statement::Function { function, name: self.text_in(node, "name") });
            }
            "class_declaration" | "abstract_class_declaration" => {
                let class = self.read_script_class(node);
                out.push(Statement::Class { class, name: self.text_in(node, "name") });
            }
            "return_statement" => {
                let parts = self.read_parts(node);
                let value = self.push(node, Expression::Any(parts));
                out.push(Statement::Return(value));
            }
            "if_statement" => self.read_script_branches(node, out),
            "try_statement" | "switch_body" => {
                let mut branches = Vec::new();
                let mut cursor = node.walk();
                let children: Vec<_> = node.named_children(&mut cursor).collect();
                for child in children {
                    let mut branch = Vec::new();
                    self.read_statement(child, &mut branch);
                    branches.push(branch);
                }
                out.push(Statement::Branches(branches));
            }
            "for_in_statement" => {
                let values = self.read_field(node, "right");
                let target = node
                    .child_by_field_name("left")
                    .map_or(Target::Nothing, |left| self.read_script_target(left));
                let body = self.read_block(node.child_by_field_name("body"));
                out.push(Statement::Loop { target, values: Some(values), body });
            }
            "while_statement" | "do_statement" | "for_statement" => {
                let mut body = Vec::new();
                self.read_children(node, &mut body);
                out.push(Statement::Loop { target: Target::Nothing, values: None, body });
            }
            "program"
            | "statement_block"
            | "expression_statement"
            | "ERROR"
            | "switch_statement"
            | "switch_case"
            | "switch_default"
            | "finally_clause"
            | "else_clause"
            | "labeled_statement"
            | "throw_statement"
            | "with_statement"
            | "internal_module"
            | "module"
            | "ambient_declaration" => self.read_children(node, out),
            "catch_clause" => {
                let body = self.read_block(node.child_by_field_name("body"));
                out.extend(body);
            }
            "interface_declaration"
            | "type_alias_declaration"
            | "enum_declaration"
            | "empty_statement"
            | "break_statement"
            | "continue_statement"
            | "debugger_statement"
            | "statement_identifier"
            | "hash_bang_line"
            | "function_signature"
            | "import_alias" => {}
            _ => {
                let value = self.read_expression(node);
                out.push(Statement::Compute(value));
            }
        }
    }

    /// A chain of `if … else if …`, without recursion.
    fn read_script_branches(&mut self, node: Node<'_>, out: &mut Vec<Statement<'t>>) {
        let mut branches = Vec::new();
        let mut at = Some(node);
        while let Some(branch) = at.take() {
            let mut condition = Vec::new();
            if let Some(asked) = branch.child_by_field_name("condition") {
                let asked = self.read_expression(asked);
                condition.push(Statement::Compute(asked));
            }
            branches.push(condition);
            branches.push(self.read_block(branch.child_by_field_name("consequence")));
            if let Some(other) = branch.child_by_field_name("alternative") {
                let inner = other.named_child(0);
                match inner {
                    Some(inner) if inner.kind() == "if_statement" => at = Some(inner),
                    _ => branches.push(self.read_block(Some(other))),
                }
            }
        }
        out.push(Statement::Branches(branches));
    }

    fn read_script_import(&mut self, node: Node<'_>, out: &mut Vec<Statement<'t>>) {
        let Some(source) = node.child_by_field_name("source") else { return };
        let module = self.string_text(source);
        let mut cursor = node.walk();
        let clauses: Vec<_> =
            node.named_children(&mut cursor).filter(|child| child.kind() == "import_clause").collect();
        let mut pending: Vec<Node<'_>> = clauses;
        while let Some(part) = pending.pop() {
            match part.kind() {
                "identifier" => {
                    let item = Some(Cow::Borrowed("default"));
                    out.push(Statement::Import { module: module.clone(), item, name: self.text_of(part) });
                }
                "namespace_import" => {
                    let name = part.named_child(0).map(|name| self.text_of(name)).unwrap_or_default();
                    out.push(Statement::Import { module: module.clone(), item: None, name });
                }
                "import_specifier" => {
                    let item = self.text_in(part, "name");
                    let alias = self.text_in(part, "alias");
                    let name = if alias.is_empty() { item } else { alias };
                    out.push(Statement::Import {
                        module: module.clone(),
                        item: Some(Cow::Borrowed(item)),
                        name,
                    });
                }
                _ => {
                    let mut cursor = part.walk();
                    pending.extend(part.named_children(&mut cursor));
                }
            }
        }
    }

    fn read_script_export(&mut self, node: Node<'_>, out: &mut Vec<Statement<'t>>) {
        if let Some(declaration) = node.child_by_field_name("declaration") {
            self.read_statement(declaration, out);
            let is_default = self.text_of(node).split_whitespace().nth(1) == Some("default");
            let name = self.text_in(declaration, "name");
            if is_default && !name.is_empty() {
                let value = self.push(node, Expression::Name(name));
                out.push(Statement::Assign {
                    target: Target::Name("default"),
                    value,
                    is_added: false,
                    is_declared: true,
                });
            }
        } else if let Some(value) = node.child_by_field_name("value") {
            let value = self.read_expression(value);
            out.push(Statement::Assign {
                target: Target::Name("default"),
                value,
                is_added: false,
                is_declared: true,
            });
        }
    }

    /// Where an assignment goes.
    pub(crate) fn read_script_target(&mut self, node: Node<'_>) -> Target<'t> {
        match node.kind() {
            "identifier" | "shorthand_property_identifier_pattern" => Target::Name(self.text_of(node)),
            "member_expression" => {
                let object = self.read_field(node, "object");
                Target::Attribute(object, self.text_in(node, "property"))
            }
            "subscript_expression" => {
                let object = self.read_field(node, "object");
                let key = self.read_field(node, "index");
                Target::Subscript(object, key)
            }
            "array_pattern" => {
                let mut cursor = node.walk();
                let children: Vec<_> = node.named_children(&mut cursor).collect();
                Target::Elements(children.into_iter().map(|child| self.read_script_target(child)).collect())
            }
            "object_pattern" => {
                let mut cursor = node.walk();
                let children: Vec<_> = node.named_children(&mut cursor).collect();
                Target::Fields(
                    children.into_iter().filter_map(|child| self.read_script_field(child)).collect(),
                )
            }
            "assignment_pattern" | "object_assignment_pattern" => {
                node.child_by_field_name("left").map_or(Target::Nothing, |left| self.read_script_target(left))
            }
            "rest_pattern" | "non_null_expression" | "parenthesized_expression" | "variable_declarator" => {
                node.named_child(0).map_or(Target::Nothing, |child| self.read_script_target(child))
            }
            _ => Target::Nothing,
        }
    }

    /// A field of a pattern, and where it goes.
    fn read_script_field(&mut self, child: Node<'_>) -> Option<(Cow<'t, str>, Target<'t>)> {
        match child.kind() {
            "shorthand_property_identifier_pattern" => {
                let name = self.text_of(child);
                Some((Cow::Borrowed(name), Target::Name(name)))
            }
            "pair_pattern" => {
                let key = child.child_by_field_name("key")?;
                let value = child.child_by_field_name("value")?;
                let key = if key.kind() == "string" {
                    self.string_text(key)
                } else {
                    Cow::Borrowed(self.text_of(key))
                };
                Some((key, self.read_script_target(value)))
            }
            "object_assignment_pattern" => {
                let left = child.child_by_field_name("left")?;
                Some((Cow::Borrowed(self.text_of(left)), self.read_script_target(left)))
            }
            "rest_pattern" => Some((Cow::Borrowed("*"), self.read_script_target(child))),
            _ => None,
        }
    }

    pub(crate) fn read_script_function(&mut self, node: Node<'_>, takes_self: bool) -> u32 {
        let mut parameters = Vec::new();
        let listed = node.child_by_field_name("parameters").or_else(|| node.child_by_field_name("parameter"));
        if let Some(list) = listed {
            let mut cursor = list.walk();
            let children: Vec<_> = if list.kind() == "formal_parameters" {
                list.named_children(&mut cursor).filter(|child| !child.is_extra()).collect()
            } else {
                vec![list]
            };
            for child in children {
                let pattern = child.child_by_field_name("pattern").unwrap_or(child);
                let default =
                    child.child_by_field_name("value").or_else(|| child.child_by_field_name("right"));
                let default = default.map(|value| self.read_expression(value));
                let is_rest = pattern.kind() == "rest_pattern";
                parameters.push(Parameter { target: self.read_script_target(pattern), default, is_rest });
            }
        }
        let mut body = Vec::new();
        match node.child_by_field_name("body") {
            Some(block) if block.kind() == "statement_block" => self.read_statement(block, &mut body),
            Some(value) => {
                let value = self.read_expression(value);
                body.push(Statement::Return(value));
            }
            None => {}
        }
        self.push_function(Function { parameters, body, takes_self })
    }

    pub(crate) fn read_script_class(&mut self, node: Node<'_>) -> u32 {
        let (mut bases, mut methods, mut body) = (Vec::new(), Vec::new(), Vec::new());
        let mut cursor = node.walk();
        if let Some(heritage) =
            node.named_children(&mut cursor).find(|child| child.kind() == "class_heritage")
        {
            bases = self.read_parts(heritage);
        }
        if let Some(block) = node.child_by_field_name("body") {
            let mut cursor = block.walk();
            let children: Vec<_> = block.named_children(&mut cursor).collect();
            for child in children {
                match child.kind() {
                    "method_definition" => {
                        let function = self.read_script_function(child, false);
                        let name = self.text_in(child, "name");
                        methods.push((if name == "constructor" { "__init__" } else { name }, function));
                    }
                    "public_field_definition" | "field_definition" => {
                        let named = child
                            .child_by_field_name("name")
                            .or_else(|| child.child_by_field_name("property"));
                        let name = named.map(|name| self.text_of(name)).unwrap_or_default();
                        if child.child_by_field_name("value").is_some() {
                            let value = self.read_field(child, "value");
                            let target = Target::Name(name);
                            body.push(Statement::Assign {
                                target,
                                value,
                                is_added: false,
                                is_declared: true,
                            });
                        }
                    }
                    _ => {}
                }
            }
        }
        let class = u32::try_from(self.program.classes.len()).unwrap_or(u32::MAX);
        self.program.classes.push(Class { bases, methods, body });
        class
    }
}
