//! Walks through a script as a shell would, without running anything: values flow through variables, pipes, files and functions.
//!
//! Every branch is taken and every loop is walked through once, or once for each of a few names. All work is counted, and what is
//! left over when the count is used up is said to be cut.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use super::super::capability::{Capability, CapabilityUse, CodeFacts};
use super::super::objects::{classify_path, is_secret_variable};
use super::parser::Parser;
use super::tree::{Block, BlockKind, Node};
use super::value::{Marks, UNKNOWN, Value};

/// Most variables, and most files, that are followed.
pub(super) const MAX_NAMES: usize = 4000;
/// Most rounds of a loop over names that matter.
const MAX_ROUNDS: usize = 16;

/// The state of a script while it is read.
pub(super) struct Machine {
    pub(super) facts: CodeFacts,
    /// How many other pieces of code this one stands in.
    pub(super) nesting: u32,
    /// Secrets that were read.
    pub(super) sources: Vec<CapabilityUse>,
    pub(super) variables: BTreeMap<String, Value>,
    /// The arguments of the function that is called.
    pub(super) positional: Vec<Value>,
    /// What is known of files that the script writes.
    pub(super) files: BTreeMap<String, Value>,
    pub(super) functions: BTreeMap<String, Rc<[Node]>>,
    uncalled: BTreeMap<String, Rc<[Node]>>,
    pub(super) aliases: BTreeMap<String, Value>,
    /// Descriptors that lead to a host, or to a file.
    pub(super) descriptors: BTreeMap<u32, String>,
    /// The folder that the script went to.
    pub(super) folder: Option<String>,
    /// How deep the walk is: statements in statements, functions, texts that are run.
    pub(super) depth: u32,
    /// How many statements that may not be reached are around this one.
    pub(super) conditions: u32,
    /// Commands and copied text that may still be spent.
    steps_left: usize,
    copies_left: usize,
    commands_left: usize,
    /// Process substitutions that are written to, by their name.
    sinks: BTreeMap<String, super::streams::SinkBody>,
    processes: usize,
    /// The place of everything, while a text is walked through that stands for a part of another.
    pub(super) place: Option<Range<usize>>,
}

impl Machine {
    pub(super) fn new(size: usize, nesting: u32) -> Self {
        Self {
            nesting,
            facts: CodeFacts::default(),
            sources: Vec::new(),
            variables: BTreeMap::new(),
            positional: Vec::new(),
            files: BTreeMap::new(),
            functions: BTreeMap::new(),
            uncalled: BTreeMap::new(),
            aliases: BTreeMap::new(),
            descriptors: BTreeMap::new(),
            folder: None,
            depth: 0,
            conditions: 0,
            steps_left: 4000 + size / 4,
            copies_left: 1_000_000 + size.saturating_mul(16),
            commands_left: 4000 + size / 4,
            sinks: BTreeMap::new(),
            processes: 0,
            place: None,
        }
    }

    /// A number that no process substitution has yet.
    pub(super) fn next_process(&mut self) -> usize {
        self.processes += 1;
        self.processes
    }

    /// Remembers the commands that a process substitution feeds.
    pub(super) fn keep_sink(&mut self, name: &str, body: &super::streams::SinkBody) {
        if self.sinks.len() < MAX_NAMES {
            self.sinks.insert(name.to_owned(), Rc::clone(body));
        }
    }

    /// The commands that a file's name feeds.
    pub(super) fn sink(&self, name: &str) -> Option<super::streams::SinkBody> {
        self.sinks.get(name).cloned()
    }

    /// Reads a text and walks through it, statement by statement.
    pub(super) fn run_text(&mut self, text: &str, stdin: &Value) -> Value {
        let mut parser = Parser::new(text, self.place.clone(), self.depth, self.commands_left);
        let mut out = Value::default();
        while let Some(node) = parser.next_statement() {
            let written = self.run_node(&node, stdin);
            out.append_line(&written);
            if self.is_spent() {
                break;
            }
        }
        self.commands_left = parser.commands_left;
        self.facts.is_cut |= parser.is_cut;
        out
    }

    /// Walks through functions that nothing called, and returns what was found.
    pub(super) fn finish(mut self) -> CodeFacts {
        for (_, body) in std::mem::take(&mut self.uncalled) {
            self.positional.clear();
            self.run_nodes(&body, &Value::default());
        }
        self.doubt_collections();
        self.facts
    }

    /// Whether no more work is done.
    fn is_spent(&mut self) -> bool {
        let spent = self.steps_left == 0 || self.copies_left == 0;
        self.facts.is_cut |= spent;
        spent
    }

    /// Counts text that is copied.
    pub(super) fn count_copy(&mut self, length: usize) {
        self.copies_left = self.copies_left.saturating_sub(length);
    }

    /// Walks through a text that a command runs: all its places are that command's.
    pub(super) fn run_inner(&mut self, text: &str, stdin: &Value, range: &Range<usize>) -> Value {
        if self.depth >= super::MAX_DEPTH {
            self.facts.is_cut = true;
            return Value::default();
        }
        let before = self.place.replace(range.clone());
        self.depth += 1;
        self.count_copy(text.len());
        let out = self.run_text(text, stdin);
        self.depth -= 1;
        self.place = before;
        out
    }

    /// Statements one after the other; what all of them write.
    pub(super) fn run_nodes(&mut self, nodes: &[Node], stdin: &Value) -> Value {
        let mut out = Value::default();
        for node in nodes {
            if self.is_spent() {
                break;
            }
            let written = self.run_node(node, stdin);
            self.count_copy(written.text.len());
            out.append_line(&written);
        }
        out
    }

    /// One statement.
    pub(super) fn run_node(&mut self, node: &Node, stdin: &Value) -> Value {
        if self.is_spent() {
            return Value::default();
        }
        if self.depth >= super::MAX_DEPTH {
            self.facts.is_cut = true;
            return Value::default();
        }
        self.steps_left -= 1;
        self.depth += 1;
        let out = match node {
            Node::Simple(command) => self.run_simple(command, stdin),
            Node::Pipeline(stages) => {
                let mut value = stdin.clone();
                for stage in stages {
                    value = self.run_node(stage, &value);
                    self.count_copy(value.text.len());
                }
                value
            }
            Node::Block(block) => self.run_block(block, stdin),
            Node::Function { name, body } => {
                if self.functions.len() < MAX_NAMES {
                    self.functions.insert(name.clone(), Rc::clone(body));
                    self.uncalled.insert(name.clone(), Rc::clone(body));
                }
                Value::default()
            }
        };
        self.depth -= 1;
        out
    }

    /// A statement that holds others, with its redirections.
    fn run_block(&mut self, block: &Block, stdin: &Value) -> Value {
        let streams = self.open_streams(&block.redirects, stdin, &block.range);
        self.conditions += 1;
        let out = match &block.kind {
            BlockKind::Once => self.run_nodes(&block.body, &streams.stdin),
            BlockKind::For { name, words } => {
                let items: Vec<Value> = words.iter().flat_map(|word| self.expand_word(word)).collect();
                let mut out = Value::default();
                for item in choose_rounds(items, &mut self.facts.is_cut) {
                    self.variables.insert(name.clone(), item);
                    let written = self.run_nodes(&block.body, &streams.stdin);
                    out.append_line(&written);
                }
                out
            }
        };
        self.conditions -= 1;
        self.close_streams(&streams, out, &block.range)
    }

    /// Calls a function of the script.
    pub(super) fn call_function(&mut self, name: &str, args: Vec<Value>, stdin: &Value) -> Option<Value> {
        let body = Rc::clone(self.functions.get(name)?);
        self.uncalled.remove(name);
        if self.depth + 4 >= super::MAX_DEPTH {
            // A function that calls itself is not a bound that hides anything: it was walked through before.
            return Some(Value::default());
        }
        let before = std::mem::replace(&mut self.positional, args);
        self.depth += 2;
        let out = self.run_nodes(&body, stdin);
        self.depth -= 2;
        self.positional = before;
        Some(out)
    }

    /// Sets a variable. Where it is not sure that this is reached, what it held before stays possible.
    pub(super) fn set_variable(&mut self, name: &str, mut value: Value) {
        if self.variables.len() >= MAX_NAMES && !self.variables.contains_key(name) {
            self.facts.is_cut = true;
            return;
        }
        if self.conditions > 0
            && let Some(before) = self.variables.get(name)
        {
            value.marks.add(&before.marks);
            if value.text.is_empty() {
                value.text.clone_from(&before.text);
            }
        }
        self.count_copy(value.text.len());
        self.variables.insert(name.to_owned(), value);
    }

    /// The value of a variable; one that the script did not set is known by its name alone.
    pub(super) fn look_up(&mut self, name: &str, range: &Range<usize>) -> Value {
        if let Some(value) = self.variables.get(name) {
            let value = value.clone();
            self.count_copy(value.text.len());
            return value;
        }
        match name {
            "HOME" => return Value::known("~"),
            "IFS" => return Value::known(" "),
            "USER" | "LOGNAME" => return Value::known("$USER"),
            "@" | "*" => return join_values(&self.positional),
            "0" | "" | "?" | "#" | "$" | "!" | "-" => return Value::known(UNKNOWN),
            _ => {}
        }
        if let Ok(number) = name.parse::<usize>() {
            let given = number.checked_sub(1).and_then(|at| self.positional.get(at)).cloned();
            return given.unwrap_or_else(|| Value::known(format!("${name}")));
        }
        let mut value = Value::known(format!("${name}"));
        if is_secret_variable(name) {
            value.marks.add(&self.read_source(Capability::ReadsNamedSecret, name, range));
        }
        value
    }
}

/// Values one after the other, as a list is expanded.
pub(super) fn join_values(values: &[Value]) -> Value {
    let mut out = Value::default();
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            out.text.push(' ');
        }
        out.append(value);
    }
    out
}

/// The rounds of a loop that are worth a walk: all names that mean something, and two that do not.
fn choose_rounds(items: Vec<Value>, is_cut: &mut bool) -> Vec<Value> {
    let mut plain = 0;
    let mut chosen = Vec::new();
    for item in items {
        let matters = item.marks != Marks::default()
            || classify_path(&item.text).is_some()
            || is_secret_variable(&item.text)
            || item.text.contains("://");
        if !matters {
            plain += 1;
            if plain > 2 {
                continue;
            }
        }
        if chosen.len() >= MAX_ROUNDS {
            *is_cut = true;
            break;
        }
        chosen.push(item);
    }
    if chosen.is_empty() {
        chosen.push(Value::unknown());
    }
    chosen
}
