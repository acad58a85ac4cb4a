//! Python's tree in the common form.

use std::borrow::Cow;

use tree_sitter::Node;

use crate::code::ir::{Argument, Class, Expression, ExpressionId, Function, Parameter, Statement, Target};
use crate::code::lower::{Lowering, unescape};

impl<'t> Lowering<'t> {
    /// Reads one statement of Python.
    pub(crate) fn read_python_statement(&mut self, node: Node<'_>, out: &mut Vec<Statement<'t>>) {
        match node.kind() {
            "module"
            | "block"
            | "ERROR"
            | "expression_statement"
            | "with_clause"
            | "decorated_definition"
            | "finally_clause" => {
                self.read_children(node, out);
            }
            "assignment" | "augmented_assignment" => self.read_python_assignment(node, out),
            "import_statement" | "import_from_statement" => self.read_python_import(node, out),
            "function_definition" => {
                let function = self.read_python_function(node, false);
                out.push(Statement::Function { function, name: self.text_in(node, "name") });
            }
            "class_definition" => self.read_python_class(node, out),
            "return_statement" => {
                let parts = self.read_parts(node);
                let value = self.push(node, Expression::Any(parts));
                out.push(Statement::Return(value));
            }
            "if_statement" | "try_statement" | "match_statement" => {
                let mut branches = Vec::new();
                let mut cursor = node.walk();
                for child in node.named_children(&mut cursor) {
                    let mut branch = Vec::new();
                    match child.kind() {
                        "elif_clause"
                        | "else_clause"
                        | "except_clause"
                        | "case_clause"
                        | "except_group_clause" => {
                            self.read_children(child, &mut branch);
                        }
                        _ => self.read_statement(child, &mut branch),
                    }
                    branches.push(branch);
                }
                out.push(Statement::Branches(branches));
            }
            "for_statement" => {
                let values = self.read_field(node, "right");
                let target = node
                    .child_by_field_name("left")
                    .map_or(Target::Nothing, |left| self.read_python_target(left));
                let mut body = self.read_block(node.child_by_field_name("body"));
                body.extend(self.read_block(node.child_by_field_name("alternative")));
                out.push(Statement::Loop { target, values: Some(values), body });
            }
            "while_statement" => {
                let mut body = Vec::new();
                self.read_children(node, &mut body);
                out.push(Statement::Loop { target: Target::Nothing, values: None, body });
            }
            "with_item" => {
                let value = self.read_field(node, "value");
                out.push(Statement::Compute(value));
            }
            "global_statement" | "nonlocal_statement" => {
                let mut cursor = node.walk();
                let names = node.named_children(&mut cursor).map(|name| self.text_of(name)).collect();
                out.push(Statement::Global(names));
            }
            "decorator"
            | "pass_statement"
            | "break_statement"
            | "continue_statement"
            | "future_import_statement" => {}
            _ => {
                let value = self.read_expression(node);
                out.push(Statement::Compute(value));
            }
        }
    }

    fn read_python_assignment(&mut self, node: Node<'_>, out: &mut Vec<Statement<'t>>) {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            return;
        };
        let value = self.read_expression(right);
        let target = self.read_python_target(left);
        let is_added = node.kind() == "augmented_assignment";
        out.push(Statement::Assign { target, value, is_added, is_declared: false });
    }

    /// Where an assignment goes.
    fn read_python_target(&mut self, node: Node<'_>) -> Target<'t> {
        match node.kind() {
            "identifier" => Target::Name(self.text_of(node)),
            "attribute" => {
                let object = self.read_field(node, "object");
                Target::Attribute(object, self.text_in(node, "attribute"))
            }
            "subscript" => {
                let object = self.read_field(node, "value");
                let key = self.read_field(node, "subscript");
                Target::Subscript(object, key)
            }
            "pattern_list" | "tuple_pattern" | "list_pattern" | "tuple" | "list" | "expression_list" => {
                let mut cursor = node.walk();
                let children: Vec<_> = node.named_children(&mut cursor).collect();
                Target::Elements(children.into_iter().map(|child| self.read_python_target(child)).collect())
            }
            "as_pattern_target"
            | "list_splat_pattern"
            | "parenthesized_expression"
            | "dictionary_splat_pattern" => {
                node.named_child(0).map_or(Target::Nothing, |child| self.read_python_target(child))
            }
            _ => Target::Nothing,
        }
    }

    fn read_python_import(&mut self, node: Node<'_>, out: &mut Vec<Statement<'t>>) {
        let from = node.child_by_field_name("module_name").map(|module| self.text_of(module));
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            if Some(child) == node.child_by_field_name("module_name") {
                continue;
            }
            let (name, alias) = match child.kind() {
                "aliased_import" => (self.text_in(child, "name"), Some(self.text_in(child, "alias"))),
                "wildcard_import" => ("*", None),
                "dotted_name" => (self.text_of(child), None),
                _ => continue,
            };
            out.push(match (from, alias) {
                (Some(module), alias) => Statement::Import {
                    module: Cow::Borrowed(module),
                    item: Some(Cow::Borrowed(name)),
                    name: alias.unwrap_or(name),
                },
                (None, Some(alias)) => {
                    Statement::Import { module: Cow::Borrowed(name), item: None, name: alias }
                }
                // `import a.b` makes the name `a`.
                (None, None) => {
                    let first = name.split('.').next().unwrap_or(name);
                    Statement::Import { module: Cow::Borrowed(first), item: None, name: first }
                }
            });
        }
    }

    fn read_python_function(&mut self, node: Node<'_>, takes_self: bool) -> u32 {
        let mut parameters = Vec::new();
        if let Some(list) = node.child_by_field_name("parameters") {
            let mut cursor = list.walk();
            for child in list.named_children(&mut cursor) {
                let (named, default, is_rest) = match child.kind() {
                    "identifier" => (Some(child), None, false),
                    "default_parameter" | "typed_default_parameter" => {
                        (child.child_by_field_name("name"), child.child_by_field_name("value"), false)
                    }
                    "typed_parameter" => {
                        let inner = child.named_child(0);
                        (inner, None, inner.is_some_and(|inner| inner.kind().ends_with("splat_pattern")))
                    }
                    "list_splat_pattern" | "dictionary_splat_pattern" => (child.named_child(0), None, true),
                    _ => continue,
                };
                let default = default.map(|value| self.read_expression(value));
                let target = named.map_or(Target::Nothing, |name| self.read_python_target(name));
                parameters.push(Parameter { target, default, is_rest });
            }
        }
        let mut body = Vec::new();
        match node.child_by_field_name("body") {
            Some(block) if node.kind() == "lambda" => {
                let value = self.read_expression(block);
                body.push(Statement::Return(value));
            }
            Some(block) => self.read_statement(block, &mut body),
            None => {}
        }
        self.push_function(Function { parameters, body, takes_self })
    }

    fn read_python_class(&mut self, node: Node<'_>, out: &mut Vec<Statement<'t>>) {
        let bases =
            node.child_by_field_name("superclasses").map(|bases| self.read_parts(bases)).unwrap_or_default();
        let (mut methods, mut body) = (Vec::new(), Vec::new());
        if let Some(block) = node.child_by_field_name("body") {
            let mut cursor = block.walk();
            for child in block.named_children(&mut cursor) {
                let decorated = child.kind() == "decorated_definition";
                let inner =
                    if decorated { child.child_by_field_name("definition").unwrap_or(child) } else { child };
                if inner.kind() == "function_definition" {
                    let is_static =
                        decorated && self.text_of(child).trim_start().starts_with("@staticmethod");
                    let function = self.read_python_function(inner, !is_static);
                    methods.push((self.text_in(inner, "name"), function));
                } else {
                    self.read_statement(child, &mut body);
                }
            }
        }
        let class = u32::try_from(self.program.classes.len()).unwrap_or(u32::MAX);
        self.program.classes.push(Class { bases, methods, body });
        out.push(Statement::Class { class, name: self.text_in(node, "name") });
    }

    /// Reads an expression of Python.
    pub(crate) fn read_python_expression(&mut self, node: Node<'_>) -> ExpressionId {
        let expression = match node.kind() {
            "identifier" => Expression::Name(self.text_of(node)),
            "integer" => Expression::Number(self.text_of(node).parse().unwrap_or(0)),
            "string" => return self.read_python_string(node),
            "concatenated_string" => Expression::Concat(self.read_parts(node)),
            "attribute" => {
                let object = self.read_field(node, "object");
                Expression::Attribute(object, self.text_in(node, "attribute"))
            }
            "subscript" => {
                let value = self.read_field(node, "value");
                let key = node.child_by_field_name("subscript");
                match key {
                    Some(key)
                        if key.kind() == "slice" && self.text_of(key).replace(' ', "").ends_with(":-1") =>
                    {
                        Expression::Reversed(value)
                    }
                    Some(key) if key.kind() == "slice" => Expression::Any(vec![value]),
                    Some(key) => {
                        let key = self.read_expression(key);
                        Expression::Subscript(value, key)
                    }
                    None => Expression::Any(vec![value]),
                }
            }
            "call" => {
                let callee = self.read_field(node, "function");
                let arguments = node
                    .child_by_field_name("arguments")
                    .map(|list| self.read_python_arguments(list))
                    .unwrap_or_default();
                Expression::Call { callee, arguments }
            }
            "binary_operator" => match node.child_by_field_name("operator").map(|sign| sign.kind()) {
                Some("+") => Expression::Concat(self.read_chain(node, "+")),
                Some("/") => {
                    let (left, right) = (self.read_field(node, "left"), self.read_field(node, "right"));
                    Expression::Divide(left, right)
                }
                Some("%") => {
                    let (left, right) = (self.read_field(node, "left"), self.read_field(node, "right"));
                    let name = self.push(node, Expression::Name("%format"));
                    let argument = |value| Argument { name: None, value, is_spread: false };
                    Expression::Call { callee: name, arguments: vec![argument(left), argument(right)] }
                }
                _ => Expression::Any(self.read_parts(node)),
            },
            // Whether something is so says little of what it is.
            "comparison_operator" | "not_operator" | "true" | "false" | "none" | "float" | "ellipsis" => {
                Expression::Ignored(self.read_parts(node))
            }
            "list" | "tuple" | "set" | "expression_list" => Expression::List(self.read_parts(node)),
            "dictionary" => Expression::Dict(self.read_python_pairs(node)),
            "lambda" => Expression::Function(self.read_python_function(node, false)),
            "named_expression" | "assignment" => {
                let field = if node.kind() == "assignment" { ("left", "right") } else { ("name", "value") };
                let value = self.read_field(node, field.1);
                let target = node
                    .child_by_field_name(field.0)
                    .map_or(Target::Nothing, |name| self.read_python_target(name));
                Expression::Assign(Box::new(target), value)
            }
            "as_pattern" => {
                let value = node.named_child(0).map(|value| self.read_expression(value));
                let target = node
                    .child_by_field_name("alias")
                    .map_or(Target::Nothing, |name| self.read_python_target(name));
                match value {
                    Some(value) => Expression::Assign(Box::new(target), value),
                    None => Expression::Any(Vec::new()),
                }
            }
            "list_comprehension"
            | "set_comprehension"
            | "generator_expression"
            | "dictionary_comprehension" => self.read_python_comprehension(node),
            "yield" => {
                let parts = self.read_parts(node);
                let value = self.push(node, Expression::List(parts));
                Expression::Assign(Box::new(Target::Name("%yield")), value)
            }
            "conditional_expression" => {
                let parts = self.read_parts(node);
                match parts.as_slice() {
                    [yes, _, no] => Expression::Any(vec![*yes, *no]),
                    _ => Expression::Any(parts),
                }
            }
            "comment" | "type" => Expression::Any(Vec::new()),
            _ => Expression::Any(self.read_parts(node)),
        };
        self.push(node, expression)
    }

    fn read_python_pairs(&mut self, node: Node<'_>) -> Vec<(Option<ExpressionId>, ExpressionId)> {
        let mut cursor = node.walk();
        let children: Vec<_> = node.named_children(&mut cursor).collect();
        let mut pairs = Vec::new();
        for child in children {
            match child.kind() {
                "pair" => {
                    let key = self.read_field(child, "key");
                    let value = self.read_field(child, "value");
                    pairs.push((Some(key), value));
                }
                "comment" => {}
                _ => {
                    let spread = self.read_parts(child);
                    let value = self.push(child, Expression::Any(spread));
                    pairs.push((None, value));
                }
            }
        }
        pairs
    }

    fn read_python_comprehension(&mut self, node: Node<'_>) -> Expression<'t> {
        let mut clauses = Vec::new();
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            if child.kind() == "for_in_clause" {
                let values = self.read_field(child, "right");
                let target = child
                    .child_by_field_name("left")
                    .map_or(Target::Nothing, |left| self.read_python_target(left));
                clauses.push((target, values));
            }
        }
        let body = match node.child_by_field_name("body") {
            Some(pair) if pair.kind() == "pair" => {
                vec![self.read_field(pair, "key"), self.read_field(pair, "value")]
            }
            Some(body) => vec![self.read_expression(body)],
            None => Vec::new(),
        };
        Expression::Comprehension { clauses, body, is_dict: node.kind() == "dictionary_comprehension" }
    }

    fn read_python_arguments(&mut self, list: Node<'_>) -> Vec<Argument<'t>> {
        if list.kind() != "argument_list" {
            return vec![Argument { name: None, value: self.read_expression(list), is_spread: false }];
        }
        let mut cursor = list.walk();
        let children: Vec<_> = list.named_children(&mut cursor).filter(|child| !child.is_extra()).collect();
        let mut arguments = Vec::new();
        for child in children {
            let argument = match child.kind() {
                "keyword_argument" => Argument {
                    name: Some(self.text_in(child, "name")),
                    value: self.read_field(child, "value"),
                    is_spread: false,
                },
                "list_splat" | "dictionary_splat" => {
                    let parts = self.read_parts(child);
                    Argument { name: None, value: self.push(child, Expression::Any(parts)), is_spread: true }
                }
                _ => Argument { name: None, value: self.read_expression(child), is_spread: false },
            };
            arguments.push(argument);
        }
        arguments
    }

    /// A string: its text, or what is put together in it.
    fn read_python_string(&mut self, node: Node<'_>) -> ExpressionId {
        let whole = self.text_of(node);
        let prefix: &str = whole.split(['"', '\'']).next().unwrap_or_default();
        let is_raw = prefix.contains(['r', 'R']);
        let mut parts = Vec::new();
        let mut cursor = node.walk();
        let children: Vec<_> = node.named_children(&mut cursor).collect();
        for child in children {
            match child.kind() {
                "string_content" => {
                    let text = self.text_of(child);
                    let text = if is_raw { Cow::Borrowed(text) } else { unescape(text) };
                    parts.push(self.push(child, Expression::Text(text)));
                }
                "interpolation" => parts.push(self.read_field(child, "expression")),
                _ => {}
            }
        }
        match parts.as_slice() {
            [] => self.push(node, Expression::Text(Cow::Borrowed(""))),
            [one] => {
                // A format of one part is a text all the same.
                if prefix.contains(['f', 'F']) {
                    self.push(node, Expression::Concat(vec![*one]))
                } else {
                    *one
                }
            }
            _ => self.push(node, Expression::Concat(parts)),
        }
    }
}
