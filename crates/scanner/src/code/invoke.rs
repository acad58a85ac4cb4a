//! Calls: which function is meant, what it is given, and what comes of it.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::rc::Rc;

use crate::code::interpret::{Arguments, Interpreter, MAX_CALLS, OriginKind};
use crate::code::ir::{Argument, Expression, ExpressionId, Function, Target};
use crate::code::value::{FunctionValue, Object, ObjectId, Value};

impl<'p, 't> Interpreter<'p, 't> {
    /// The arguments of a call, computed.
    fn compute_arguments(&mut self, arguments: &'p [Argument<'t>], frame: ObjectId) -> Arguments {
        let mut given = Arguments::default();
        for argument in arguments {
            let value = self.compute(argument.value, frame);
            match argument.name {
                Some(name) => given.named.push((name.into(), value)),
                None if argument.is_spread => {
                    let object = value.object.and_then(|id| self.heap.get(id));
                    let fields =
                        object.map(|object| (object.is_list, object.fields.clone())).unwrap_or_default();
                    if fields.0 {
                        given.positional.extend(fields.1.into_values());
                    } else {
                        given.named.extend(fields.1);
                    }
                    given.positional.push(self.element_of(&value));
                }
                None => given.positional.push(value),
            }
        }
        given
    }

    pub(crate) fn call(
        &mut self,
        id: ExpressionId,
        callee: ExpressionId,
        arguments: &'p [Argument<'t>],
        frame: ObjectId,
    ) -> Value {
        let range = self.range(id);
        let programs = self.programs;
        let expression = programs.get(self.program).and_then(|code| code.expression(callee));
        let (receiver, name) = match expression {
            Some(Expression::Attribute(object, name)) => {
                (Some(self.compute(*object, frame)), Some(Rc::from(*name)))
            }
            Some(Expression::Subscript(object, key)) => {
                let object = self.compute(*object, frame);
                let key = self.compute(*key, frame);
                (Some(object), key.known_text().map(Rc::from))
            }
            _ => (None, None),
        };
        let given = self.compute_arguments(arguments, frame);
        let meant = match (&receiver, &name) {
            (Some(receiver), Some(name)) => {
                // What a method changes stays changed.
                if let Some(Expression::Attribute(object, _)) = expression
                    && is_changing(name)
                    && receiver.object.is_none()
                    && receiver.class.is_none()
                    && receiver
                        .symbol
                        .as_deref()
                        .is_none_or(|symbol| symbol.contains('(') && !symbol.starts_with('%'))
                {
                    let mut holder = receiver.clone();
                    self.own_object(&mut holder, *object, frame);
                    return self.call_method(&holder, name, &given, range);
                }
                let member = receiver.object.and_then(|id| self.find_member(id, name));
                let member =
                    member.or_else(|| receiver.class.and_then(|class| self.find_method(class, name, None)));
                match member {
                    Some(member) => member,
                    None => return self.call_method(receiver, name, &given, range),
                }
            }
            (Some(receiver), None) => {
                let element = self.element_of(receiver);
                self.call_value(&element, &given, range.clone());
                element
            }
            _ => self.compute(callee, frame),
        };
        self.call_value(&meant, &given, range)
    }

    /// Calls a value.
    pub(crate) fn call_value(&mut self, called: &Value, given: &Arguments, range: Range<usize>) -> Value {
        if let Some(function) = called.function {
            return self.call_function(function, given);
        }
        if let Some(class) = called.class {
            return self.make_instance(class, given);
        }
        match &called.symbol {
            Some(symbol) => {
                let symbol = Rc::clone(symbol);
                self.call_symbol(&symbol, Some(called), given, range)
            }
            None => self.call_unknown(called, given),
        }
    }

    /// Calls a function of the programs with what it is given.
    pub(crate) fn call_function(&mut self, called: FunctionValue, given: &Arguments) -> Value {
        let programs = self.programs;
        let Some(function) =
            programs.get(called.program).and_then(|code| code.functions.get(called.function as usize))
        else {
            return Value::default();
        };
        let key = (called.program, called.function);
        if self.active.iter().filter(|active| **active == key).count() >= 2 {
            return Value::default();
        }
        if self.active.len() >= MAX_CALLS {
            return self.call_too_deep(given);
        }
        if !std::mem::take(&mut self.is_callback) {
            self.called.insert(key);
        }
        let memo = Self::memo_key(called, given);
        if let Some(known) = memo.and_then(|memo| self.memo.get(&(key.0, key.1, memo))) {
            return known.clone();
        }
        let frame = self.heap.add(Object { parent: Some(called.frame), ..Object::default() });
        let before = (self.program, self.branch, std::mem::take(&mut self.returned));
        (self.program, self.branch) = (called.program, 0);
        self.active.push(key);
        if let Some(this) = called.this {
            let this = Value { object: Some(this), ..Value::default() };
            self.set_field(frame, "this", this, false);
        }
        self.bind_parameters(function, called.this, given, frame);
        self.execute(&function.body, frame);
        self.active.pop();
        let result = std::mem::replace(&mut self.returned, before.2);
        (self.program, self.branch) = (before.0, before.1);
        if let Some(memo) = memo {
            self.memo.insert((key.0, key.1, memo), result.clone());
        }
        result
    }

    /// What comes of a call that is not followed: anything that it was given.
    fn call_too_deep(&mut self, given: &Arguments) -> Value {
        let mut value = Value::default();
        for argument in given.all() {
            value.origins.add(&self.heap.deep_origins(argument));
        }
        if !self.of_kind(&value.origins, |kind| matches!(kind, OriginKind::Secret(_))).is_empty() {
            self.cut();
        }
        value
    }

    /// What two calls have to agree in to come to the same; `None` where they may differ in more than texts.
    fn memo_key(called: FunctionValue, given: &Arguments) -> Option<u64> {
        let mut hasher = DefaultHasher::new();
        called.frame.hash(&mut hasher);
        called.this.hash(&mut hasher);
        for value in given.all() {
            if value.object.is_some() || value.function.is_some() || value.class.is_some() {
                return None;
            }
            value.texts.hash(&mut hasher);
            value.symbol.hash(&mut hasher);
            value.origins.hash(&mut hasher);
        }
        for (name, _) in &given.named {
            name.hash(&mut hasher);
        }
        // Objects that a method may have changed meanwhile.
        called.this.is_none().then(|| hasher.finish())
    }

    fn bind_parameters(
        &mut self,
        function: &'p Function<'t>,
        this: Option<ObjectId>,
        given: &Arguments,
        frame: ObjectId,
    ) {
        let mut positional = given.positional.iter();
        let mut parameters = function.parameters.iter();
        if function.takes_self
            && let Some(first) = parameters.next()
        {
            let this = Value { object: this, ..Value::default() };
            self.assign(&first.target, this, frame, true);
        }
        for parameter in parameters {
            let by_name = match &parameter.target {
                Target::Name(name) => given.named(name).cloned(),
                _ => None,
            };
            let value = if parameter.is_rest {
                let rest: Vec<_> = positional.by_ref().cloned().collect();
                let list = self.make_list(rest);
                if let Some(id) = list.object {
                    for (name, value) in &given.named {
                        self.set_field(id, name, value.clone(), false);
                    }
                }
                list
            } else {
                match by_name.or_else(|| positional.next().cloned()) {
                    Some(value) => value,
                    None => match parameter.default {
                        Some(default) => self.compute(default, frame),
                        None => Value::default(),
                    },
                }
            };
            self.assign(&parameter.target, value, frame, true);
        }
    }

    /// Makes an instance of a class.
    pub(crate) fn make_instance(&mut self, class: (usize, u32, ObjectId), given: &Arguments) -> Value {
        let programs = self.programs;
        let Some(made) = programs.get(class.0).and_then(|code| code.classes.get(class.1 as usize)) else {
            return Value::default();
        };
        let id = self.heap.add(Object { class: Some(class), ..Object::default() });
        // Fields of the class, set in the instance.
        if !made.body.is_empty() && self.active.len() < MAX_CALLS {
            let before = (self.program, self.heap.get(id).and_then(|object| object.parent));
            self.program = class.0;
            if let Some(object) = self.heap.get_mut(id) {
                object.parent = Some(class.2);
            }
            self.execute(&made.body, id);
            self.program = before.0;
        }
        let value = Value { object: Some(id), ..Value::default() };
        if let Some(constructor) =
            self.find_method(class, "__init__", Some(id)).and_then(|value| value.function)
        {
            self.call_function(constructor, given);
        } else if let Some(base) = made.bases.first() {
            // A library's class: what it does is done by this one too.
            let before = std::mem::replace(&mut self.program, class.0);
            let base = self.compute(*base, class.2);
            self.program = before;
            if let Some(symbol) = base.symbol {
                return Value { symbol: Some(format!("{symbol}()").into()), ..value };
            }
        }
        value
    }
}

/// Whether a method changes what it is called on.
fn is_changing(name: &str) -> bool {
    matches!(
        name,
        "append"
            | "extend"
            | "insert"
            | "add"
            | "update"
            | "push"
            | "unshift"
            | "set"
            | "setdefault"
            | "write"
            | "writestr"
            | "attach"
            | "set_content"
            | "add_attachment"
            | "splice"
            | "read"
            | "appendleft"
            | "concat"
    )
}
