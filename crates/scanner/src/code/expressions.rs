//! Expressions: the value of each, and the parts of values.

use std::ops::Range;

use crate::code::interpret::{Interpreter, MAX_DEPTH, is_environment};
use crate::code::ir::{Expression, ExpressionId, Target};
use crate::code::value::{FunctionValue, Object, ObjectId, UNKNOWN, Value, extend_symbol};

impl<'p> Interpreter<'p, '_> {
    /// The value of an expression.
    pub(crate) fn compute(&mut self, id: ExpressionId, frame: ObjectId) -> Value {
        self.depth += 1;
        let value = if self.depth > MAX_DEPTH {
            self.cut();
            Value::default()
        } else if self.step() {
            self.compute_one(id, frame)
        } else {
            Value::default()
        };
        self.depth -= 1;
        value
    }

    fn compute_one(&mut self, id: ExpressionId, frame: ObjectId) -> Value {
        let programs = self.programs;
        let Some(expression) = programs.get(self.program).and_then(|code| code.expression(id)) else {
            return Value::default();
        };
        match expression {
            Expression::Text(text) => Value::text(text.as_ref()),
            Expression::Number(number) => Value::text(number.to_string()),
            Expression::Name(name) => {
                let mut value = self.lookup(name, frame);
                if value.origins.is_empty() && value.symbol.as_deref().is_some_and(is_environment) {
                    value.origins = self.whole_environment(self.range(id));
                }
                value
            }
            Expression::Attribute(object, name) => {
                let object = self.compute(*object, frame);
                self.attribute(&object, name, self.range(id))
            }
            Expression::Subscript(object, key) => {
                let object = self.compute(*object, frame);
                let key = self.compute(*key, frame);
                self.item(&object, &key, self.range(id))
            }
            Expression::Reversed(value) => {
                let value = self.compute(*value, frame);
                let texts =
                    value.texts.iter().map(|text| text.chars().rev().collect::<String>().into()).collect();
                Value { texts, ..value }
            }
            Expression::Call { callee, arguments } => self.call(id, *callee, arguments, frame),
            Expression::Concat(parts) => self.compute_concat(parts, frame),
            Expression::Divide(left, right) => {
                let mut path = self.compute(*left, frame);
                let below = self.compute(*right, frame);
                path.concat(&below, "/");
                path
            }
            Expression::Any(parts) => {
                let mut any = Value::default();
                for part in parts {
                    let part = self.compute(*part, frame);
                    any.join(&part);
                }
                any
            }
            Expression::Ignored(parts) => {
                for part in parts {
                    self.compute(*part, frame);
                }
                Value::default()
            }
            Expression::List(parts) => {
                let values: Vec<_> = parts.iter().map(|part| self.compute(*part, frame)).collect();
                self.make_list(values)
            }
            Expression::Dict(pairs) => self.compute_dict(pairs, frame),
            Expression::Function(function) => {
                // An arrow function has the `this` of what is round it, by the frame.
                self.closures.insert((self.program, *function), frame);
                let function =
                    FunctionValue { program: self.program, function: *function, frame, this: None };
                Value { function: Some(function), ..Value::default() }
            }
            Expression::Class(class) => {
                Value { class: Some((self.program, *class, frame)), ..Value::default() }
            }
            Expression::Assign(target, value) => {
                let value = self.compute(*value, frame);
                if matches!(**target, Target::Name("%yield")) {
                    let element = self.element_of(&value);
                    self.returned.join(&element);
                } else {
                    self.assign(target, value.clone(), frame, false);
                }
                value
            }
            Expression::Comprehension { clauses, body, is_dict } => {
                let inner = self.heap.add(Object { parent: Some(frame), ..Object::default() });
                for (target, values) in clauses {
                    let values = self.compute(*values, inner);
                    let element = self.element_of(&values);
                    self.assign(target, element, inner, true);
                }
                let parts: Vec<_> = body.iter().map(|part| self.compute(*part, inner)).collect();
                self.make_comprehension(&parts, *is_dict)
            }
        }
    }

    fn make_comprehension(&mut self, parts: &[Value], is_dict: bool) -> Value {
        let mut made = Value::default();
        let id = self.heap.object_of(&mut made);
        match parts {
            [key, value] if is_dict => self.set_item(id, key, value.clone()),
            parts => {
                if let Some(object) = self.heap.get_mut(id) {
                    object.is_list = true;
                    for part in parts {
                        object.rest.join(part);
                    }
                }
            }
        }
        made
    }

    /// A list of values.
    pub(crate) fn make_list(&mut self, values: Vec<Value>) -> Value {
        let fields = values
            .into_iter()
            .enumerate()
            .map(|(number, value)| (number.to_string().into(), value))
            .collect();
        let id = self.heap.add(Object { fields, is_list: true, ..Object::default() });
        Value { object: Some(id), ..Value::default() }
    }

    fn compute_concat(&mut self, parts: &'p [ExpressionId], frame: ObjectId) -> Value {
        let mut whole: Option<Value> = None;
        for part in parts {
            let mut part = self.compute(*part, frame);
            if part.object.is_some() {
                part.origins = self.heap.deep_origins(&part);
            }
            match &mut whole {
                None => whole = Some(Value { symbol: None, function: None, ..part }),
                Some(whole) => {
                    whole.concat(&part, "");
                    // Lists put together.
                    whole.object = whole.object.or(part.object);
                }
            }
        }
        let mut whole = whole.unwrap_or_default();
        if whole.texts.is_empty() {
            whole.texts.push(UNKNOWN.into());
        }
        whole
    }

    fn compute_dict(&mut self, pairs: &'p [(Option<ExpressionId>, ExpressionId)], frame: ObjectId) -> Value {
        let mut made = Value::default();
        let id = self.heap.object_of(&mut made);
        for (key, value) in pairs {
            let key = key.map(|key| self.compute(key, frame));
            let value = self.compute(*value, frame);
            match key {
                Some(key) => self.set_item(id, &key, value),
                None => self.spread(id, &value),
            }
        }
        made
    }

    /// Puts the fields of a value into an object.
    pub(crate) fn spread(&mut self, id: ObjectId, value: &Value) {
        let (fields, rest) = value
            .object
            .and_then(|source| self.heap.get(source))
            .map(|source| (source.fields.clone(), source.rest.clone()))
            .unwrap_or_default();
        for (name, field) in fields {
            self.set_field(id, &name, field, false);
        }
        if let Some(object) = self.heap.get_mut(id) {
            object.rest.join(&rest);
            object.rest.origins.add(&value.origins);
        }
        if value.symbol.as_deref().is_some_and(is_environment) {
            let origins = self.whole_environment(0..0);
            if let Some(object) = self.heap.get_mut(id) {
                object.rest.origins.add(&origins);
            }
        }
    }

    /// `a.b`.
    pub(crate) fn attribute(&mut self, value: &Value, name: &str, range: Range<usize>) -> Value {
        if value.symbol.as_deref().is_some_and(is_environment) {
            return self.read_variable(&Value::text(name), range);
        }
        if let Some(field) = value.object.and_then(|id| self.find_member(id, name)) {
            return field;
        }
        if let Some(class) = value.class
            && let Some(method) = self.find_method(class, name, None)
        {
            return method;
        }
        let mut part = Value::made_of(value.origins.clone());
        if let Some(rest) = value.object.and_then(|id| self.heap.get(id)).map(|object| object.rest.clone()) {
            part.join(&rest);
        }
        if let Some(symbol) = &value.symbol {
            part.symbol = extend_symbol(symbol, name);
            if part.symbol.as_deref().is_some_and(is_environment) {
                part.origins = self.whole_environment(range);
            }
        }
        if matches!(name, "parent" | "name" | "path") {
            part.texts.clone_from(&value.texts);
        }
        part
    }

    /// A field of an object, or a method of its class.
    pub(crate) fn find_member(&self, id: ObjectId, name: &str) -> Option<Value> {
        let object = self.heap.get(id)?;
        if let Some(field) = object.fields.get(name) {
            return Some(field.clone());
        }
        self.find_method(object.class?, name, Some(id))
    }

    /// A method of a class or of one it is made from.
    pub(crate) fn find_method(
        &self,
        class: (usize, u32, ObjectId),
        name: &str,
        this: Option<ObjectId>,
    ) -> Option<Value> {
        let (mut program, mut number, mut frame) = class;
        for _ in 0..6 {
            let made = self.programs.get(program)?.classes.get(number as usize)?;
            if let Some((_, function)) = made.methods.iter().find(|(known, _)| *known == name) {
                let function = FunctionValue { program, function: *function, frame, this };
                return Some(Value { function: Some(function), ..Value::default() });
            }
            let Some(Expression::Name(base)) =
                made.bases.first().and_then(|base| self.programs.get(program)?.expression(*base))
            else {
                return None;
            };
            (program, number, frame) = self.lookup(base, frame).class?;
        }
        None
    }
}
