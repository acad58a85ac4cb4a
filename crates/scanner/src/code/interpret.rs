//! Follows values through programs in the common form: what each variable may hold, and what calls do with it.
//!
//! Every statement is gone through in its order, loops twice, every branch; functions where they are called, with what they are given; at the end
//! those that nobody called. Counts bound all of it, never a clock: the same code gives the same facts.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use crate::code::capability::{Capability, CapabilityUse, CodeFacts};
use crate::code::ir::{Language, Program};
use crate::code::modules::ModuleNames;
use crate::code::value::{FunctionValue, Heap, Object, ObjectId, OriginId, Origins, Value};

/// Most steps for all code of a skill: a hundred times what an ordinary one needs.
const MAX_STEPS: usize = 400_000;
/// How deep expressions, statements and calls may stand in each other.
pub(crate) const MAX_DEPTH: usize = 200;
/// How deep functions are followed into functions.
pub(crate) const MAX_CALLS: usize = 20;
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
    pub(crate) modules: &'p ModuleNames,
    pub(crate) heap: Heap,
    pub(crate) origins: Vec<Origin>,
    /// What was found, for each program.
    pub(crate) facts: Vec<CodeFacts>,
    pub(crate) frames: Vec<ObjectId>,
    states: Vec<ModuleState>,
    /// What was written to files, by their paths.
    pub(crate) disk: BTreeMap<String, Origins>,
    steps: usize,
    /// Whether there were too many of them.
    pub(crate) is_over: bool,
    pub(crate) depth: usize,
    pub(crate) active: Vec<(usize, u32)>,
    pub(crate) called: BTreeSet<(usize, u32)>,
    pub(crate) memo: BTreeMap<(usize, u32, u64), Value>,
    /// The variables round each function, where it was made last.
    pub(crate) closures: BTreeMap<(usize, u32), ObjectId>,
    /// Whether what is called is a callback: it may be called again later, when more is known.
    pub(crate) is_callback: bool,
    /// How many branches one is in, since the function began.
    pub(crate) branch: usize,
    pub(crate) returned: Value,
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
    pub(crate) fn run_module(&mut self, program: usize) -> Option<ObjectId> {
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
            let made = self.make_instance((program, number, frame), &Arguments::default());
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
    pub(crate) fn step(&mut self) -> bool {
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
