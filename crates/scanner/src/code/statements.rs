//! Statements: what is assigned to what, what is imported, which branches there are.

use std::ops::Range;

use crate::code::interpret::{Interpreter, MAX_DEPTH, is_environment, plain_module};
use crate::code::ir::{Expression, ExpressionId, Language, Statement, Target};
use crate::code::library_names::is_known_symbol;
use crate::code::value::{FunctionValue, ObjectId, Value, extend_symbol};

impl<'p, 't> Interpreter<'p, 't> {
    /// Goes through statements.
    pub(crate) fn execute(&mut self, statements: &'p [Statement<'t>], frame: ObjectId) {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.cut();
        } else {
            for statement in statements {
                if !self.step() {
                    break;
                }
                self.execute_one(statement, frame);
            }
        }
        self.depth -= 1;
    }

    fn execute_one(&mut self, statement: &'p Statement<'t>, frame: ObjectId) {
        match statement {
            Statement::Compute(value) => {
                self.compute(*value, frame);
            }
            Statement::Assign { target, value, is_added, is_declared } => {
                let mut value = self.compute(*value, frame);
                if *is_added {
                    let mut before = self.read_target(target, frame);
                    before.concat(&value, "");
                    before.object = before.object.or(value.object);
                    value = before;
                }
                self.assign(target, value, frame, *is_declared);
            }
            Statement::Import { module, item, name } => self.import(module, item.as_deref(), name, frame),
            Statement::Function { function, name } => {
                self.closures.insert((self.program, *function), frame);
                let function =
                    FunctionValue { program: self.program, function: *function, frame, this: None };
                self.set_field(frame, name, Value { function: Some(function), ..Value::default() }, false);
            }
            Statement::Class { class, name } => {
                let value = Value { class: Some((self.program, *class, frame)), ..Value::default() };
                self.set_field(frame, name, value, false);
            }
            Statement::Return(value) => {
                let value = self.compute(*value, frame);
                self.returned.join(&value);
            }
            Statement::Branches(branches) => {
                self.branch += 1;
                for branch in branches {
                    self.execute(branch, frame);
                }
                self.branch -= 1;
            }
            Statement::Loop { target, values, body } => {
                let values = values.map(|values| self.compute(values, frame));
                self.branch += 1;
                for _ in 0..2 {
                    if let Some(values) = &values {
                        let element = self.element_of(values);
                        self.assign(target, element, frame, true);
                    }
                    self.execute(body, frame);
                }
                self.branch -= 1;
            }
            Statement::Global(names) => {
                let module = self.frames.get(self.program).copied().unwrap_or(frame);
                for name in names {
                    let value =
                        Value { object: Some(module), symbol: Some("%global".into()), ..Value::default() };
                    self.set_field(frame, &format!("%global {name}"), value, false);
                }
            }
        }
    }

    /// Any element of a value, also of a library's.
    pub(crate) fn element_of(&self, value: &Value) -> Value {
        let mut element = self.heap.element(value);
        if value.object.is_none() {
            // A text that was split, a list of paths, lines of a file.
            element.texts.clone_from(&value.texts);
            element.symbol.clone_from(&value.symbol);
        }
        element
    }

    /// What stands at a target now.
    fn read_target(&mut self, target: &'p Target<'t>, frame: ObjectId) -> Value {
        match target {
            Target::Name(name) => self.lookup(name, frame),
            Target::Attribute(object, name) => {
                let object = self.compute(*object, frame);
                self.attribute(&object, name, 0..0)
            }
            _ => Value::default(),
        }
    }

    /// Gives a target its value.
    pub(crate) fn assign(
        &mut self,
        target: &'p Target<'t>,
        value: Value,
        frame: ObjectId,
        is_declared: bool,
    ) {
        match target {
            Target::Name(name) => {
                let holder = if is_declared { frame } else { self.find_holder(name, frame) };
                self.set_field(holder, name, value, self.branch > 0);
            }
            Target::Attribute(object, name) => {
                let range = self.range(*object);
                let mut holder = self.compute(*object, frame);
                self.watch_attribute(&holder, name, &value, range);
                let id = self.own_object(&mut holder, *object, frame);
                self.set_field(id, name, value, self.branch > 0);
            }
            Target::Subscript(object, key) => {
                let mut holder = self.compute(*object, frame);
                let key = self.compute(*key, frame);
                let id = self.own_object(&mut holder, *object, frame);
                self.set_item(id, &key, value);
            }
            Target::Elements(targets) => {
                for (number, target) in targets.iter().enumerate() {
                    let listed =
                        value.object.and_then(|id| self.heap.field(id, &number.to_string())).cloned();
                    // The ends of a connection are the connection.
                    let element = listed.unwrap_or_else(|| match &value.symbol {
                        Some(_) => value.clone(),
                        None => self.element_of(&value),
                    });
                    self.assign(target, element, frame, is_declared);
                }
            }
            Target::Fields(fields) => {
                for (key, target) in fields {
                    let field = if key == "*" { value.clone() } else { self.attribute(&value, key, 0..0) };
                    self.assign(target, field, frame, is_declared);
                }
            }
            Target::Nothing => {}
        }
    }

    /// Where an expression of the program at hand stands.
    pub(crate) fn range(&self, id: ExpressionId) -> Range<usize> {
        self.programs.get(self.program).map_or(0..0, |program| program.range(id))
    }

    /// The frame whose variable an assignment means.
    pub(crate) fn find_holder(&self, name: &str, frame: ObjectId) -> ObjectId {
        if let Some(module) =
            self.heap.field(frame, &format!("%global {name}")).and_then(|value| value.object)
        {
            return module;
        }
        let is_python =
            self.programs.get(self.program).is_some_and(|program| program.language == Language::Python);
        if is_python {
            return frame;
        }
        let mut at = frame;
        loop {
            let Some(object) = self.heap.get(at) else { return frame };
            if object.fields.contains_key(name) {
                return at;
            }
            match object.parent {
                Some(parent) => at = parent,
                None => return frame,
            }
        }
    }

    /// The object of a value that is about to be changed; where it has none, its variable gets one.
    pub(crate) fn own_object(&mut self, value: &mut Value, at: ExpressionId, frame: ObjectId) -> ObjectId {
        let had = value.object.is_some();
        let id = self.heap.object_of(value);
        if !had
            && let Some(Expression::Name(name)) =
                self.programs.get(self.program).and_then(|code| code.expression(at))
        {
            let holder = self.find_holder(name, frame);
            self.set_field(holder, name, value.clone(), false);
        } else if !had
            && let Some(Expression::Attribute(object, name)) =
                self.programs.get(self.program).and_then(|code| code.expression(at))
        {
            let outer = self.compute(*object, frame);
            if let Some(outer) = outer.object {
                self.set_field(outer, name, value.clone(), false);
            }
        }
        id
    }

    /// Sets a field; or adds to it what else it may be.
    pub(crate) fn set_field(&mut self, id: ObjectId, name: &str, value: Value, is_joined: bool) {
        let Some(object) = self.heap.get_mut(id) else { return };
        match object.fields.get_mut(name) {
            Some(before) if is_joined => {
                // The newer one counts for what it is, the older for what it may have been.
                let older = std::mem::replace(before, value);
                before.join(&older);
            }
            Some(before) => *before = value,
            None => {
                object.fields.insert(name.into(), value);
            }
        }
    }

    /// Sets an element by a key that may not be known.
    pub(crate) fn set_item(&mut self, id: ObjectId, key: &Value, value: Value) {
        match key.known_text() {
            Some(name) => {
                let name = name.to_owned();
                self.set_field(id, &name, value, self.branch > 0);
            }
            None => {
                if let Some(object) = self.heap.get_mut(id) {
                    object.rest.join(&value);
                    // Keys that come from a secret are a part of it.
                    object.rest.origins.add(&key.origins);
                }
            }
        }
    }

    /// A variable, or a global thing.
    pub(crate) fn lookup(&self, name: &str, frame: ObjectId) -> Value {
        let mut at = Some(frame);
        let mut star = None;
        while let Some(object) = at.and_then(|id| self.heap.get(id)) {
            if let Some(value) = object.fields.get(name) {
                return value.clone();
            }
            star = star.or_else(|| object.fields.get("%star"));
            at = object.parent;
        }
        // `from os import *`.
        let modules = star.map(|star| star.texts.as_slice()).unwrap_or_default();
        let named = modules.iter().map(|module| format!("{module}.{name}"));
        let known = named.into_iter().find(|symbol| is_environment(symbol) || is_known_symbol(symbol));
        Value::symbol(known.unwrap_or_else(|| name.to_owned()))
    }

    fn import(&mut self, module: &str, item: Option<&str>, name: &str, frame: ObjectId) {
        if let Some(program) = self.modules.resolve(self.program, module)
            && let Some(source) = self.run_module(program)
        {
            let value = match item {
                None => Value { object: Some(source), ..Value::default() },
                Some("*") => {
                    let fields: Vec<_> = self
                        .heap
                        .get(source)
                        .map(|source| source.fields.clone())
                        .unwrap_or_default()
                        .into_iter()
                        .collect();
                    for (name, value) in fields {
                        self.set_field(frame, &name, value, false);
                    }
                    return;
                }
                Some(item) => self.exported(source, item),
            };
            self.set_field(frame, name, value, false);
            return;
        }
        // A module of a package beside this one: `from . import helper`.
        if let Some(item) = item
            && let Some(program) = self.modules.resolve(self.program, &format!("{module}.{item}"))
            && let Some(source) = self.run_module(program)
        {
            self.set_field(frame, name, Value { object: Some(source), ..Value::default() }, false);
            return;
        }
        let symbol = match item {
            Some("*") => {
                let mut all = self.heap.field(frame, "%star").cloned().unwrap_or_default();
                all.join(&Value::text(plain_module(module)));
                self.set_field(frame, "%star", all, false);
                return;
            }
            Some(item) => extend_symbol(&plain_module(module), item).unwrap_or_else(|| item.into()),
            None => plain_module(module).into(),
        };
        let mut value = Value::symbol(symbol);
        if value.symbol.as_deref().is_some_and(is_environment) {
            value.origins = self.whole_environment(0..0);
        }
        self.set_field(frame, name, value, false);
    }

    /// What a module of the skill gives under a name.
    fn exported(&self, source: ObjectId, item: &str) -> Value {
        let exports = self.heap.field(source, "module").and_then(|module| module.object);
        let exports = exports.and_then(|module| self.heap.field(module, "exports")).cloned();
        if item == "default" && self.heap.field(source, "default").is_none() {
            return exports.unwrap_or_default();
        }
        let given =
            exports.as_ref().and_then(|exports| exports.object).and_then(|id| self.heap.field(id, item));
        given.or_else(|| self.heap.field(source, item)).cloned().unwrap_or_default()
    }

    /// The module of the skill that a name stands for, where there is one: `require('./lib')`.
    pub(crate) fn load_module(&mut self, name: &str) -> Option<Value> {
        let program = self.modules.resolve(self.program, name)?;
        let source = self.run_module(program)?;
        let exports = self.heap.field(source, "module").and_then(|module| module.object);
        let exports = exports.and_then(|module| self.heap.field(module, "exports")).cloned();
        let is_used = exports.as_ref().is_some_and(|exports| {
            exports.function.is_some()
                || exports.class.is_some()
                || exports
                    .object
                    .and_then(|id| self.heap.get(id))
                    .is_some_and(|object| !object.fields.is_empty())
        });
        match exports {
            Some(exports) if is_used => Some(exports),
            _ => Some(Value { object: Some(source), ..Value::default() }),
        }
    }
}
