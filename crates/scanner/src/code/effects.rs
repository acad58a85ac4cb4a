//! What code does to the machine: programs it starts, texts it runs, files it writes and deletes.

use std::ops::Range;

use crate::code::capability::{Capability, CapabilityUse, SecretFlow};
use crate::code::command::read_command;
use crate::code::hosts::HostKind;
use crate::code::interpret::{Arguments, Interpreter, OriginKind};
use crate::code::ir::Language;
use crate::code::network::{SendRole, is_connection};
use crate::code::network_names::{SendKind, find_send};
use crate::code::objects::{is_agent_file, is_persistence_place, is_whole_tree};
use crate::code::own_service::is_own_service;
use crate::code::value::{Origins, UNKNOWN, Value};
use crate::code::{MAX_NESTING, read_text};

/// Words in what is written to a place that starts by itself, that load more.
pub(crate) const LOADERS: &[&str] = &[
    "curl ",
    "wget ",
    "base64",
    "/dev/tcp",
    "eval ",
    "nc -",
    "python -c",
    "python3 -c",
    "| sh",
    "| bash",
    "|sh",
    "|bash",
    "exec(",
    "/tmp/.",
];

/// How an entry of a file of variables is called, whose name is not known.
pub(crate) const ENTRY: &str = " (an entry)";

impl Interpreter<'_, '_> {
    /// Notes what writing a file amounts to, and what is in it from now on.
    pub(crate) fn write_path(&mut self, path: &Value, content: &Value, range: Range<usize>) {
        let origins = self.heap.deep_origins(content);
        for text in path.texts.clone() {
            if is_persistence_place(&text) {
                let fetched = self.of_kind(&origins, |kind| {
                    matches!(kind, OriginKind::Fetched | OriginKind::DecodedLiteral)
                });
                let said = content.first_text();
                let loads = LOADERS.iter().any(|word| said.contains(word)) || !fetched.is_empty();
                let object = if loads { format!("{text}: {said}") } else { text.to_string() };
                self.note(Capability::Persists, range.clone(), &object);
            }
            if is_agent_file(&text) {
                self.note(Capability::ChangesAgent, range.clone(), &text);
            }
            let is_sealed = !self.of_kind(&origins, |kind| kind == OriginKind::Encrypted).is_empty();
            if is_sealed && text.contains("**") {
                self.note(Capability::Destroys, range.clone(), &text);
            }
            if &*text != UNKNOWN && !origins.is_empty() && self.disk.len() < 500 {
                self.disk.entry(text.to_string()).or_default().add(&origins);
            }
        }
    }

    /// Writes into a file that is open, or puts files into an archive.
    pub(crate) fn write_into(&mut self, receiver: &Value, given: &Arguments, range: Range<usize>) {
        let mut content = given.positional.first().cloned().unwrap_or_default();
        if receiver.symbol.as_deref() == Some("%archive") {
            let mut origins = Origins::default();
            for value in &given.positional {
                origins.add(&self.heap.deep_origins(value));
            }
            origins.add(&self.read_path(&content, range.clone()));
            content = Value::made_of(origins.clone());
            if let Some(object) = receiver.object.and_then(|id| self.heap.get_mut(id)) {
                object.rest.origins.add(&origins);
            }
        }
        self.write_path(&Value { texts: receiver.texts.clone(), ..Value::default() }, &content, range);
    }

    /// Notes what deleting amounts to.
    pub(crate) fn delete_path(&mut self, path: &Value, range: Range<usize>) {
        for text in path.texts.clone() {
            let mut whole = text.trim_end_matches(['*', '/']);
            if whole.is_empty() && text.starts_with('/') {
                whole = "/";
            }
            if is_whole_tree(whole) {
                self.note(Capability::Destroys, range.clone(), &text);
            }
        }
    }

    /// Watches what is set in an object: an image with a secret in its address sends it.
    pub(crate) fn watch_attribute(&mut self, holder: &Value, name: &str, value: &Value, range: Range<usize>) {
        let symbol = holder.symbol.as_deref().unwrap_or_default();
        let shows = matches!(
            symbol,
            "Image()" | "document.createElement()" | "window" | "document" | "location" | "window.location"
        );
        if shows && matches!(name, "src" | "href" | "location") {
            let origins = self.heap.deep_origins(value);
            let urls = value.texts.clone();
            self.add_flows(&origins, SendRole::Address, &urls, Capability::SendsToNetwork, range, false);
        }
    }

    /// A connection and a program that are piped to each other are a shell for somebody else.
    pub(crate) fn watch_pipe(&mut self, one: &Value, other: &Value, range: Range<usize>) {
        let is_program = |value: &Value| {
            value.symbol.as_deref().is_some_and(|symbol| symbol.starts_with("child_process."))
        };
        let is_remote = |value: &Value| value.symbol.as_deref().is_some_and(is_connection);
        if (is_program(one) && is_remote(other)) || (is_remote(one) && is_program(other)) {
            self.note(Capability::OpensRemoteShell, range, "a program piped to a connection");
        } else if let Some(symbol) = &other.symbol
            && (is_remote(other) || find_send(&format!("{symbol}.write")).is_some())
        {
            let symbol = format!("{symbol}.write");
            let given = Arguments { positional: vec![one.clone()], named: Vec::new() };
            self.send(SendKind::Message, &symbol, Some(other), &given, range);
        }
    }

    /// Starts a program.
    pub(crate) fn run_program(&mut self, symbol: &str, given: &Arguments, range: Range<usize>) -> Value {
        let mut command = Value::default();
        let mut is_first = true;
        for value in
            given.positional.iter().chain(given.named("args")).filter(|value| value.function.is_none())
        {
            let listed = value.object.map(|id| self.list_values(id)).unwrap_or_default();
            let parts = if listed.is_empty() { vec![value.clone()] } else { listed };
            if value.object.is_some() && parts.len() == 1 && value.texts.is_empty() && !is_first {
                continue;
            }
            for part in parts {
                if is_first {
                    command.texts.clone_from(&part.texts);
                    command.origins.clone_from(&part.origins);
                    is_first = false;
                } else {
                    command.concat(&part, " ");
                }
            }
        }
        let mut carried = Origins::default();
        for value in given
            .positional
            .iter()
            .chain(given.named("input"))
            .chain(given.named("args"))
            .chain(given.named("stdin"))
        {
            carried.add(&self.heap.deep_origins(value));
        }
        if let Some(stdin) = given.named("stdin").or_else(|| given.named("stdout"))
            && stdin.symbol.as_deref().is_some_and(is_connection)
        {
            self.note(Capability::OpensRemoteShell, range.clone(), "a program on a connection");
        }
        let text = command.first_text().to_owned();
        let program = text.split_whitespace().next().unwrap_or(UNKNOWN).to_owned();
        self.note(Capability::RunsPrograms, range.clone(), &program);
        self.watch_program(&command, &carried, &range);
        let mut result = Value { texts: command.texts.clone(), ..Value::symbol(format!("{symbol}()")) };
        for text in command.texts.iter().take(4).filter(|text| text.len() > 2) {
            self.follow_command(text, &carried, &range, &mut result);
        }
        self.call_back(given, &result);
        result
    }

    /// Notes programs that were fetched or decoded before they are run.
    fn watch_program(&mut self, command: &Value, carried: &Origins, range: &Range<usize>) {
        let is_whole = command.texts.is_empty() || command.texts.iter().any(|text| text.starts_with('*'));
        let mut ways: Vec<(OriginKind, String)> = Vec::new();
        if is_whole {
            ways.extend(self.kinds(&command.origins));
        }
        // A script that is handed to an interpreter: `bash -c *`.
        let shell = ["sh -c *", "bash -c *", "python -c *", "python3 -c *", "node -e *"];
        if command.texts.iter().any(|text| shell.iter().any(|shell| text.ends_with(shell))) {
            ways.extend(self.kinds(carried));
        }
        for (path, origins) in self.disk.clone() {
            if path.len() > 3
                && !path.contains('*')
                && command.texts.iter().any(|text| text.contains(path.as_str()))
            {
                let fetched = self.of_kind(&origins, |kind| kind == OriginKind::Fetched);
                if !fetched.is_empty() {
                    self.note(
                        Capability::RunsFetched,
                        range.clone(),
                        &format!("a file that was fetched: {path}"),
                    );
                }
            }
        }
        self.note_ways(&ways, range);
    }

    /// The kinds of some origins, each with what it was.
    fn kinds(&self, origins: &Origins) -> Vec<(OriginKind, String)> {
        let known = origins.iter().filter_map(|id| self.origins.get(usize::from(id)));
        known.map(|origin| (origin.kind, origin.object.to_string())).collect()
    }

    /// Notes that something fetched or decoded is run.
    fn note_ways(&mut self, ways: &[(OriginKind, String)], range: &Range<usize>) {
        for (kind, object) in ways {
            match kind {
                OriginKind::Fetched => self.note(Capability::RunsFetched, range.clone(), object),
                OriginKind::FetchedData => {
                    self.note(
                        Capability::RunsFetched,
                        range.clone(),
                        &format!("a part of an answer: {object}"),
                    );
                }
                OriginKind::DecodedLiteral => self.note(Capability::RunsDecoded, range.clone(), object),
                OriginKind::Decoded => {
                    self.note(Capability::RunsDecoded, range.clone(), &format!("decoded: {object}"));
                }
                OriginKind::Secret(_) | OriginKind::Encrypted => {}
            }
        }
    }

    /// Reads a command, and follows what is handed to it.
    fn follow_command(&mut self, text: &str, carried: &Origins, range: &Range<usize>, result: &mut Value) {
        let read = read_command(text, self.nesting);
        // Files that secrets were written to before.
        let mut carried = carried.clone();
        for (path, origins) in &self.disk {
            if path.len() > 3 && !path.contains('*') && text.contains(path.as_str()) {
                carried.add(origins);
            }
        }
        for found in read.uses {
            match found.capability {
                Capability::SendsToNetwork | Capability::SendsByLookup => {
                    self.note(found.capability, range.clone(), &found.object);
                    let is_header = text.contains("-H ") || text.contains("--header");
                    let role = if is_header { SendRole::Header } else { SendRole::Body };
                    let urls = [found.object.as_str().into()];
                    self.add_flows(&carried, role, &urls, found.capability, range.clone(), false);
                }
                Capability::FetchesFromNetwork => {
                    self.note(found.capability, range.clone(), &found.object);
                    let origins = self.origin(OriginKind::Fetched, &found.object, range.clone());
                    result.origins.add(&origins);
                }
                capability if capability.reads_secret() => {
                    let origins = self.origin(OriginKind::Secret(capability), &found.object, range.clone());
                    result.origins.add(&origins);
                }
                capability => self.note(capability, range.clone(), &found.object),
            }
        }
        let Some(facts) = self.facts.get_mut(self.program) else { return };
        for flow in read.flows {
            let place = |found: CapabilityUse| CapabilityUse { range: range.clone(), ..found };
            let flow = SecretFlow { source: place(flow.source), sender: place(flow.sender), ..flow };
            if !facts.flows.contains(&flow) {
                facts.flows.push(flow);
            }
        }
    }

    /// Runs a text as code.
    pub(crate) fn execute_text(&mut self, symbol: &str, given: &Arguments, range: Range<usize>) -> Value {
        let code =
            if symbol.ends_with("Function") { given.positional.last() } else { given.positional.first() };
        let code = code.cloned().unwrap_or_default();
        let origins = self.heap.deep_origins(&code);
        let ways = self.kinds(&origins);
        self.note_ways(&ways, &range);
        let mut result = Value { texts: Vec::new(), ..code.clone() };
        let language = self.programs.get(self.program).map_or(Language::Python, |program| program.language);
        let nesting = self.nesting;
        for text in code.texts.iter().filter(|text| text.len() > 8 && nesting < MAX_NESTING) {
            let facts = read_text(text, language, self.nesting + 1);
            let Some(own) = self.facts.get_mut(self.program) else { continue };
            own.is_cut |= facts.is_cut;
            let read: Vec<_> =
                facts.uses.iter().filter(|found| found.capability.reads_secret()).cloned().collect();
            let place = |found: CapabilityUse| CapabilityUse { range: range.clone(), ..found };
            own.uses.extend(facts.uses.into_iter().map(place));
            for flow in facts.flows {
                own.flows.push(SecretFlow { source: place(flow.source), sender: place(flow.sender), ..flow });
            }
            // What it reads may be what it gives.
            for found in read {
                let origins = self.origin(OriginKind::Secret(found.capability), &found.object, range.clone());
                result.origins.add(&origins);
            }
        }
        // What is compiled is as what it was compiled from.
        result
    }

    /// Whether one of some keys belongs to the service that is spoken to.
    fn has_own_key(&self, origins: &Origins, role: SendRole, urls: &[std::rc::Rc<str>]) -> bool {
        let known = origins.iter().filter_map(|id| self.origins.get(usize::from(id)));
        let mut keys = known.filter(|origin| origin.kind == OriginKind::Secret(Capability::ReadsNamedSecret));
        keys.any(|origin| is_own_service(Capability::ReadsNamedSecret, &origin.object, role, urls))
    }

    /// Adds what goes from secrets to a sender. In a bundle, each of them goes; otherwise one of them.
    pub(crate) fn add_flows(
        &mut self,
        origins: &Origins,
        role: SendRole,
        urls: &[std::rc::Rc<str>],
        capability: Capability,
        range: Range<usize>,
        is_bundle: bool,
    ) {
        let has_own = !is_bundle && self.has_own_key(origins, role, urls);
        let mut is_named = false;
        for id in origins.iter() {
            let Some(origin) = self.origins.get(usize::from(id)).cloned() else { continue };
            let OriginKind::Secret(source) = origin.kind else { continue };
            // One of several keys is sent, not all of them: which one, the code decides as it runs.
            if source == Capability::ReadsNamedSecret
                && !is_bundle
                && (has_own || std::mem::replace(&mut is_named, true))
            {
                continue;
            }
            if source == Capability::ReadsEnvironment {
                self.note(source, range.clone(), &origin.object);
            }
            let is_guess = role == SendRole::Guess;
            if is_guess
                && matches!(
                    source,
                    Capability::ReadsNamedSecret | Capability::RecordsUser | Capability::ReadsAgentData
                )
            {
                continue;
            }
            let is_own_service = is_own_service(source, &origin.object, role, urls);
            let shown =
                urls.iter().max_by_key(|url| crate::code::hosts::classify_host(url).max(HostKind::Loopback));
            let shown = shown.map_or(UNKNOWN, |url| url).chars().take(200).collect();
            let place = if origin.program == self.program { origin.range.clone() } else { range.clone() };
            let flow = SecretFlow {
                source: CapabilityUse { capability: source, range: place, object: origin.object.to_string() },
                sender: CapabilityUse { capability, range: range.clone(), object: shown },
                is_own_service,
            };
            let Some(facts) = self.facts.get_mut(self.program) else { return };
            if facts.flows.len() < 500 && !facts.flows.contains(&flow) {
                facts.flows.push(flow);
            }
        }
    }
}
