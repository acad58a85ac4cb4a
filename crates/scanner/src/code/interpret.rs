//! Follows values through programs in the common form: what each variable may hold, and what calls do with it.
//!
//! Every statement is gone through in its order, loops twice, every branch; functions where they are called, with what they are given; at the end
//! those that nobody called. Counts bound all of it, never a clock: the same code gives the same facts.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::rc::Rc;

use crate::code::capability::{Capability, CapabilityUse, CodeFacts};
use crate::code::ir::{Argument, Expression, ExpressionId, Language, Program, Statement, Target};
use crate::code::library::is_known_symbol;
use crate::code::modules::ModuleNames;
use crate::code::value::{
    FunctionValue, Heap, Object, ObjectId, OriginId, Origins, UNKNOWN, Value, extend_symbol,
};

/// Most steps for all code of a skill: a hundred times what an ordinary one needs.
const MAX_STEPS: usize = 400_000;
/// How deep expressions, statements and calls may stand in each other.
const MAX_DEPTH: usize = 200;
/// How deep functions are followed into functions.
const MAX_CALLS: usize = 20;
/// Most objects that are kept apart.
const MAX_OBJECTS: usize = 150_000;
/// Most origins that are kept apart.
const MAX_ORIGINS: usize = 2_000;

/// Where something came from.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) kind: OriginKind,
    /// The path, variable or host.
    pub(crate) object: Rc<str>,
    pub(crate) program: usize,
    pub(crate) range: Range<usize>,
}

/// What something is by where it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OriginKind {
    /// A secret.
    Secret(Capability),
    /// What a host answered, as it came.
    Fetched,
    /// A part of what a host answered.
    FetchedData,
    /// Decoded from a literal.
    DecodedLiteral,
    /// Decoded from something else.
    Decoded,
    /// Enciphered.
    Encrypted,
}

/// The arguments of a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments {
    pub(crate) positional: Vec<Value>,
    pub(crate) named: Vec<(Rc<str>, Value)>,
}

impl Arguments {
    /// An argument by its place, or by its name.
    pub(crate) fn get(&self, place: usize, name: &str) -> Option<&Value> {
        self.named(name).or_else(|| self.positional.get(place))
    }

    /// An argument by its name.
    pub(crate) fn named(&self, name: &str) -> Option<&Value> {
        self.named.iter().find(|(known, _)| &**known == name).map(|(_, value)| value)
    }

    /// All of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Value> {
        self.positional.iter().chain(self.named.iter().map(|(_, value)| value))
    }
}

/// How far the top of a module has been gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ModuleState {
    Waiting,
    Done,
}

/// What is known while programs are followed.
pub(crate) struct Interpreter<'p, 't> {
    pub(crate) programs: &'p [Program<'t>],
    modules: &'p ModuleNames,
    pub(crate) heap: Heap,
    pub(crate) origins: Vec<Origin>,
    /// What was found, for each program.
    pub(crate) facts: Vec<CodeFacts>,
    frames: Vec<ObjectId>,
    states: Vec<ModuleState>,
    /// What was written to files, by their paths.
    pub(crate) disk: BTreeMap<String, Origins>,
    steps: usize,
    /// Whether there were too many of them.
    is_over: bool,
    depth: usize,
    active: Vec<(usize, u32)>,
    called: BTreeSet<(usize, u32)>,
    memo: BTreeMap<(usize, u32, u64), Value>,
    /// The variables round each function, where it was made last.
    closures: BTreeMap<(usize, u32), ObjectId>,
    /// Whether what is called is a callback: it may be called again later, when more is known.
    pub(crate) is_callback: bool,
    /// How many branches one is in, since the function began.
    branch: usize,
    returned: Value,
    /// What the promises that are being made were given.
    pub(crate) resolved: Value,
    /// The program that is being followed.
    pub(crate) program: usize,
    /// How deep decoded code is being followed.
    pub(crate) nesting: usize,
}

impl<'p, 't> Interpreter<'p, 't> {
    pub(crate) fn new(programs: &'p [Program<'t>], modules: &'p ModuleNames) -> Self {
        let mut heap = Heap::default();
        // Pieces of one document share their variables.
        let mut shared: BTreeMap<usize, ObjectId> = BTreeMap::new();
        let frames = (0..programs.len())
            .map(|program| {
                *shared.entry(modules.group(program)).or_insert_with(|| heap.add(Object::default()))
            })
            .collect();
        Self {
            programs,
            modules,
            heap,
            origins: Vec::new(),
            facts: programs
                .iter()
                .map(|program| CodeFacts { is_cut: program.is_cut, ..CodeFacts::default() })
                .collect(),
            frames,
            states: vec![ModuleState::Waiting; programs.len()],
            disk: BTreeMap::new(),
            steps: 0,
            is_over: false,
            depth: 0,
            active: Vec::new(),
            called: BTreeSet::new(),
            memo: BTreeMap::new(),
            closures: BTreeMap::new(),
            is_callback: false,
            branch: 0,
            returned: Value::default(),
            resolved: Value::default(),
            program: 0,
            nesting: 0,
        }
    }

    /// Follows all programs.
    pub(crate) fn run(mut self) -> Vec<CodeFacts> {
        for program in 0..self.programs.len() {
            self.run_module(program);
        }
        for program in 0..self.programs.len() {
            self.run_uncalled(program);
        }
        self.facts
    }

    /// Follows the top of a program, once.
    fn run_module(&mut self, program: usize) -> Option<ObjectId> {
        let frame = *self.frames.get(program)?;
        let state = self.states.get_mut(program)?;
        if *state == ModuleState::Waiting {
            *state = ModuleState::Done;
            let programs = self.programs;
            let body = &programs.get(program)?.body;
            let (before, branch) = (self.program, self.branch);
            (self.program, self.branch) = (program, 0);
            if programs.get(program)?.language != Language::Python
                && self.heap.field(frame, "module").is_none()
            {
                let exports = Value { object: Some(self.heap.add(Object::default())), ..Value::default() };
                let mut module = Value::default();
                let id = self.heap.object_of(&mut module);
                self.set_field(id, "exports", exports.clone(), false);
                self.set_field(frame, "module", module, false);
                self.set_field(frame, "exports", exports, false);
            }
            self.execute(body, frame);
            (self.program, self.branch) = (before, branch);
        }
        Some(frame)
    }

    /// Follows the functions and methods that nobody called.
    fn run_uncalled(&mut self, program: usize) {
        let programs = self.programs;
        let (Some(code), Some(frame)) = (programs.get(program), self.frames.get(program).copied()) else {
            return;
        };
        self.program = program;
        for (number, class) in (0_u32..).zip(&code.classes) {
            let all_called =
                class.methods.iter().all(|(_, method)| self.called.contains(&(program, *method)));
            if all_called {
                continue;
            }
            let made = self.make_instance((program, number, frame), &Arguments::default(), 0..0);
            for (_, method) in &class.methods {
                if !self.called.contains(&(program, *method)) {
                    let function = FunctionValue { program, function: *method, frame, this: made.object };
                    self.call_function(function, &Arguments::default());
                }
            }
        }
        for number in (0_u32..).take(code.functions.len()) {
            if !self.called.contains(&(program, number)) {
                let frame = self.closures.get(&(program, number)).copied().unwrap_or(frame);
                let function = FunctionValue { program, function: number, frame, this: None };
                self.call_function(function, &Arguments::default());
            }
        }
    }

    /// Counts a step; false where there were too many.
    fn step(&mut self) -> bool {
        self.steps = self.steps.saturating_add(1);
        let is_over = self.steps > MAX_STEPS || self.heap.len() > MAX_OBJECTS;
        if is_over && !self.is_over {
            // Said once: nothing more is followed from here on.
            self.is_over = true;
            self.cut();
        }
        !is_over
    }

    /// Notes that not everything was followed.
    pub(crate) fn cut(&mut self) {
        if let Some(facts) = self.facts.get_mut(self.program) {
            facts.is_cut = true;
        }
    }

    /// Notes what the code does at a place.
    pub(crate) fn note(&mut self, capability: Capability, range: Range<usize>, object: &str) {
        let Some(facts) = self.facts.get_mut(self.program) else { return };
        let object = object.chars().take(200).collect();
        let seen = CapabilityUse { capability, range, object };
        if facts.uses.len() < MAX_ORIGINS && !facts.uses.contains(&seen) {
            facts.uses.push(seen);
        }
    }

    /// A new origin, or the same again.
    pub(crate) fn origin(&mut self, kind: OriginKind, object: &str, range: Range<usize>) -> Origins {
        let program = self.program;
        // Whoever reads one variable has the whole environment in hand, and does not read it.
        if let OriginKind::Secret(capability) = kind
            && capability != Capability::ReadsEnvironment
        {
            self.note(capability, range.clone(), object);
        }
        let known = self.origins.iter().position(|origin| {
            origin.kind == kind
                && &*origin.object == object
                && origin.range == range
                && origin.program == program
        });
        let number = known.unwrap_or_else(|| {
            if self.origins.len() < MAX_ORIGINS {
                self.origins.push(Origin { kind, object: object.into(), program, range });
            }
            self.origins.len() - 1
        });
        OriginId::try_from(number).map(Origins::one).unwrap_or_default()
    }

    /// Those of some origins that are of a kind.
    pub(crate) fn of_kind(&self, origins: &Origins, holds: impl Fn(OriginKind) -> bool) -> Origins {
        origins.filter(|id| self.origins.get(usize::from(id)).is_some_and(|origin| holds(origin.kind)))
    }

    /// Goes through statements.
    fn execute(&mut self, statements: &'p [Statement<'t>], frame: ObjectId) {
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
    fn assign(&mut self, target: &'p Target<'t>, value: Value, frame: ObjectId, is_declared: bool) {
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
    fn find_holder(&self, name: &str, frame: ObjectId) -> ObjectId {
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
    fn own_object(&mut self, value: &mut Value, at: ExpressionId, frame: ObjectId) -> ObjectId {
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
    fn lookup(&self, name: &str, frame: ObjectId) -> Value {
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
                    parts.iter().for_each(|part| object.rest.join(part));
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
    fn find_member(&self, id: ObjectId, name: &str) -> Option<Value> {
        let object = self.heap.get(id)?;
        if let Some(field) = object.fields.get(name) {
            return Some(field.clone());
        }
        self.find_method(object.class?, name, Some(id))
    }

    /// A method of a class or of one it is made from.
    fn find_method(
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

    fn call(
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
        let called = match (&receiver, &name) {
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
        self.call_value(&called, &given, range)
    }

    /// Calls a value.
    pub(crate) fn call_value(&mut self, called: &Value, given: &Arguments, range: Range<usize>) -> Value {
        if let Some(function) = called.function {
            return self.call_function(function, given);
        }
        if let Some(class) = called.class {
            return self.make_instance(class, given, range);
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
        let memo = self.memo_key(called, given);
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
    fn memo_key(&self, called: FunctionValue, given: &Arguments) -> Option<u64> {
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
        function: &'p crate::code::ir::Function<'t>,
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
    fn make_instance(
        &mut self,
        class: (usize, u32, ObjectId),
        given: &Arguments,
        range: Range<usize>,
    ) -> Value {
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
        let _ = range;
        value
    }
}

/// A module's name without what says nothing: `node:fs/promises` is `fs`.
pub(crate) fn plain_module(name: &str) -> String {
    let name = name.strip_prefix("node:").unwrap_or(name);
    let name = name.strip_suffix("/promises").unwrap_or(name);
    name.trim_start_matches('.').to_owned()
}

/// Whether a library's thing is the environment.
pub(crate) fn is_environment(symbol: &str) -> bool {
    matches!(
        symbol,
        "os.environ"
            | "process.env"
            | "os.environb"
            | "Bun.env"
            | "import.meta.env"
            | "Deno.env"
            | "posix.environ"
            | "nt.environ"
    )
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
