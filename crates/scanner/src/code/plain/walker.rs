//! Walks through statements in order and follows what they hold, twice: a function may stand below its caller.

use std::collections::BTreeMap;
use std::ops::Range;

use super::super::capability::{Capability, CapabilityUse, CodeFacts, SecretFlow};
use super::super::hosts::{HostKind, classify_host};
use super::super::objects::{classify_path, is_secret_variable};
use super::super::shell::{read_shell_nested, services::RequestPart, services::is_own_service};
use super::PlainLanguage;
use super::holding::{Holding, MAX_SOURCES, PresentWords};
use super::statements::{Statement, split_statements};
use super::tables;

/// Most facts of one kind, and most names, that are kept.
const MAX_FACTS: usize = 400;
const MAX_NAMES: usize = 4000;

/// Whether a statement has one of these words.
pub(super) fn has_word(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

/// The state of a walk.
pub(super) struct Walker {
    pub(super) language: PlainLanguage,
    nesting: u32,
    pub(super) words: PresentWords,
    facts: CodeFacts,
    sources: Vec<CapabilityUse>,
    holdings: BTreeMap<String, Holding>,
    /// The function that the statements belong to, and its parameters.
    function: Option<(String, Vec<String>)>,
    /// The address that was named last.
    pub(super) last_address: Option<String>,
    /// Whether facts are kept: not in the first round.
    is_kept: bool,
}

/// What code does.
pub(super) fn walk(language: PlainLanguage, text: &str, nesting: u32) -> CodeFacts {
    let statements = split_statements(language, text);
    let lower = text.to_ascii_lowercase();
    let mut walker = Walker {
        language,
        nesting,
        words: PresentWords::find(&lower),
        facts: CodeFacts::default(),
        sources: Vec::new(),
        holdings: BTreeMap::new(),
        function: None,
        last_address: None,
        is_kept: false,
    };
    for is_kept in [false, true] {
        walker.is_kept = is_kept;
        walker.function = None;
        walker.last_address = None;
        for statement in &statements {
            walker.walk_statement(statement);
        }
    }
    walker.find_handed_shell(&lower, text.len());
    walker.facts
}

impl Walker {
    /// Notes what the code does, in the round that counts.
    pub(super) fn note(&mut self, capability: Capability, object: &str, range: &Range<usize>) {
        if !self.is_kept {
            return;
        }
        let object: String = object.trim().chars().take(200).collect();
        let fact = CapabilityUse { capability, range: range.clone(), object };
        if self.facts.uses.len() >= MAX_FACTS {
            self.facts.is_cut = true;
        } else if !self.facts.uses.contains(&fact) {
            self.facts.uses.push(fact);
        }
    }

    /// The number of a secret.
    fn source(&mut self, capability: Capability, object: &str, range: &Range<usize>) -> Option<usize> {
        let known =
            self.sources.iter().position(|source| source.capability == capability && source.object == object);
        if known.is_some() {
            return known;
        }
        if self.sources.len() >= MAX_FACTS {
            self.facts.is_cut = true;
            return None;
        }
        self.sources.push(CapabilityUse { capability, range: range.clone(), object: object.to_owned() });
        Some(self.sources.len() - 1)
    }

    /// One statement: what it holds, what it does with it, what it is kept in.
    fn walk_statement(&mut self, statement: &Statement) {
        self.enter_function(statement);
        let mut held = self.find_sources(statement);
        let mut calls_sender = false;
        for name in &statement.names {
            if let Some(holding) = self.holdings.get(name) {
                calls_sender |= holding.is_sender;
                let mut holding = holding.clone();
                holding.is_sender = false;
                held.add(&holding);
            }
        }
        if let Some(address) = find_address(&statement.strings) {
            self.last_address = Some(address.clone());
            held.address = Some(address);
        }
        self.walk_deeds(statement);
        self.walk_shell(statement, &mut held);
        let fetches = has_word(&statement.lower, &self.words.fetchers) && held.address.is_some();
        if has_word(&statement.lower, &self.words.decoders) {
            held.is_decoded = true;
        }
        let runs = has_word(&statement.lower, &self.words.runners);
        if runs && (held.is_fetched || fetches) {
            let address = held.address.clone().unwrap_or_default();
            self.note(Capability::RunsFetched, &address, &statement.range);
        } else if runs && held.is_decoded {
            self.note(Capability::RunsDecoded, &statement.strings.join(" "), &statement.range);
        }
        self.walk_sender(statement, &held, calls_sender);
        if fetches {
            held.is_fetched = true;
        }
        self.keep(statement, &held);
    }

    /// Notes which function begins here.
    fn enter_function(&mut self, statement: &Statement) {
        let text = statement.lower.trim_start();
        let text = ["private ", "public ", "static ", "local "]
            .iter()
            .fold(text, |text, word| text.strip_prefix(word).unwrap_or(text));
        let rest = ["def ", "function ", "sub ", "func ", "on ", "filter "]
            .iter()
            .find_map(|word| text.strip_prefix(word));
        let Some(rest) = rest else { return };
        // A method of Go has its receiver first.
        let rest = if rest.starts_with('(') {
            rest.split_once(')').map_or(rest, |(_, rest)| rest.trim_start())
        } else {
            rest
        };
        let rest = rest.strip_prefix("self.").unwrap_or(rest);
        let name: String =
            rest.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '-')).take(80).collect();
        let name = name.rsplit('-').next().unwrap_or_default().to_owned();
        let parameters: Vec<String> = rest
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .skip(1)
            .filter(|word| !word.is_empty())
            .take(16)
            .map(str::to_owned)
            .collect();
        if !name.is_empty() {
            self.function = Some((name, parameters));
        }
    }

    /// Secrets that a statement reads.
    fn find_sources(&mut self, statement: &Statement) -> Holding {
        let mut found = Vec::new();
        let lower = &statement.lower;
        let joined = statement.strings.join("/").replace('\\', "/").replace("//", "/");
        // What is joined tells more than its pieces.
        let paths = std::iter::once(joined.as_str()).chain(statement.strings.iter().map(String::as_str));
        for path in paths.filter(|path| path.len() >= 4) {
            let path =
                path.split_once("://").map_or(path, |(scheme, _)| if scheme == "file" { path } else { "" });
            if let Some(capability) =
                classify_path(path).filter(|kind| *kind != Capability::ReadsNamedSecret || path.contains('/'))
            {
                found.push((capability, path.to_owned()));
                break;
            }
        }
        let reads_path = !found.is_empty() && has_word(lower, &self.words.reads);
        if has_word(lower, &self.words.environment) {
            found.push((Capability::ReadsEnvironment, "environment".to_owned()));
        }
        // PowerShell writes it into a path of its own, which is no string.
        let is_env = lower.contains("env") || statement.names.iter().any(|name| name.starts_with("env:"));
        if is_env {
            let named = statement
                .strings
                .iter()
                .map(String::as_str)
                .chain(statement.names.iter().map(String::as_str));
            for name in named.take(64) {
                let name = name.strip_prefix("env:").unwrap_or(name);
                let upper = name.to_ascii_uppercase();
                let is_name = name.len() >= 4
                    && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                    && name.contains('_');
                if is_name && is_secret_variable(&upper) && !self.holdings.contains_key(name) {
                    found.push((Capability::ReadsNamedSecret, upper));
                    break;
                }
            }
        }
        for (word, object) in tables::RECORDERS {
            if lower.contains(word) {
                found.push((Capability::RecordsUser, (*object).to_owned()));
            }
        }
        if has_word(lower, tables::KEYCHAINS) {
            found.push((Capability::ReadsKeychain, "password store".to_owned()));
        }
        let is_metadata = find_address(&statement.strings)
            .is_some_and(|address| classify_host(&address) == HostKind::Metadata);
        if is_metadata && has_word(lower, &self.words.fetchers) {
            found.push((Capability::ReadsCredentials, "metadata service".to_owned()));
        }
        let mut holding = Holding::default();
        for (at, (capability, object)) in found.into_iter().enumerate() {
            // A path alone is not read yet; it is when something reads it or sends it.
            if at > 0
                || reads_path
                || !matches!(
                    capability,
                    Capability::ReadsCredentials | Capability::ReadsBrowserData | Capability::ReadsAgentData
                )
            {
                self.note(capability, &object, &statement.range);
            }
            holding.sources.extend(self.source(capability, &object, &statement.range));
        }
        holding
    }

    /// What is sent, and where to.
    fn walk_sender(&mut self, statement: &Statement, held: &Holding, calls_sender: bool) {
        let lower = &statement.lower;
        let is_lookup = has_word(lower, &self.words.lookups);
        let is_sender = has_word(lower, &self.words.senders) && sends_somewhere(statement, held);
        if !is_lookup && !is_sender && !calls_sender {
            return;
        }
        let address = held.address.clone().or_else(|| self.last_address.clone()).unwrap_or_default();
        let capability = match () {
            () if is_lookup && !is_sender => Capability::SendsByLookup,
            () if calls_sender || !held.sources.is_empty() || has_word(lower, tables::HANDS_OVER) => {
                Capability::SendsToNetwork
            }
            () => Capability::FetchesFromNetwork,
        };
        if capability != Capability::SendsByLookup || !held.sources.is_empty() {
            self.note(capability, &address, &statement.range);
        }
        let is_header = ["authorization", "bearer", "api-key", "apikey", "x-api"]
            .iter()
            .any(|word| statement.strings.iter().any(|text| text.to_ascii_lowercase().contains(word)));
        let part = if is_header { RequestPart::Header } else { RequestPart::Body };
        self.push_flows(held, capability, part, &address, &statement.range);
        // A function that sends what it is given.
        if let Some((name, parameters)) = self.function.clone()
            && statement.names.iter().any(|name| parameters.contains(name))
        {
            let holding = Holding { is_sender: true, address: Some(address), ..Holding::default() };
            self.holding(&name).add(&holding);
        }
    }

    /// Keeps the flows of what is sent.
    fn push_flows(
        &mut self,
        held: &Holding,
        capability: Capability,
        part: RequestPart,
        address: &str,
        range: &Range<usize>,
    ) {
        if !self.is_kept {
            return;
        }
        for at in &held.sources {
            let Some(source) = self.sources.get(*at).cloned() else { continue };
            let sender = CapabilityUse { capability, range: range.clone(), object: address.to_owned() };
            // Headers are often put together a few lines before.
            let is_own_service = is_own_service(&source, part, address)
                || (source.capability == Capability::ReadsNamedSecret
                    && is_own_service(&source, RequestPart::Header, address));
            let flow = SecretFlow { source, sender, is_own_service };
            if self.facts.flows.len() >= MAX_FACTS {
                self.facts.is_cut = true;
            } else if !self.facts.flows.contains(&flow) {
                self.facts.flows.push(flow);
            }
        }
    }

    /// Commands that are handed to a shell.
    fn walk_shell(&mut self, statement: &Statement, held: &mut Holding) {
        if statement.strings.is_empty() || !has_word(&statement.lower, &self.words.shells) {
            return;
        }
        let mut commands: Vec<String> =
            statement.strings.iter().filter(|text| text.contains(' ')).cloned().collect();
        if statement.strings.len() > 1 {
            commands.push(statement.strings.join(" "));
        }
        for command in commands.into_iter().take(8) {
            // `#{x}` and `${x}` are filled in before the shell sees them.
            let command = command.replace("#{", "${");
            let facts = read_shell_nested(&command, self.nesting + 1);
            self.facts.is_cut |= facts.is_cut;
            for used in facts.uses {
                if used.capability.reads_secret() {
                    held.sources.extend(self.source(used.capability, &used.object, &statement.range));
                    held.sources.truncate(MAX_SOURCES);
                }
                let sends = matches!(used.capability, Capability::SendsToNetwork | Capability::SendsByLookup);
                if sends && !held.sources.is_empty() {
                    let held = held.clone();
                    self.push_flows(
                        &held,
                        used.capability,
                        RequestPart::Body,
                        &used.object,
                        &statement.range,
                    );
                }
                self.note(used.capability, &used.object, &statement.range);
            }
            for mut flow in facts.flows {
                flow.source.range = statement.range.clone();
                flow.sender.range = statement.range.clone();
                if self.is_kept && self.facts.flows.len() < MAX_FACTS && !self.facts.flows.contains(&flow) {
                    self.facts.flows.push(flow);
                }
            }
        }
    }

    /// Keeps what a statement holds in what it is given to.
    fn keep(&mut self, statement: &Statement, held: &Holding) {
        let is_empty =
            held.sources.is_empty() && held.address.is_none() && !held.is_fetched && !held.is_decoded;
        for target in &statement.targets {
            if statement.is_added || self.function.is_some() {
                if !is_empty {
                    self.holding(target).add(held);
                }
            } else if is_empty {
                self.holdings.remove(target);
            } else {
                *self.holding(target) = held.clone();
            }
        }
        // What a function gives back.
        let gives = statement.lower.contains("return") || statement.targets.is_empty();
        if let Some((name, _)) = self.function.clone().filter(|_| gives && !held.sources.is_empty()) {
            let returned = Holding { sources: held.sources.clone(), ..Holding::default() };
            self.holding(&name).add(&returned);
        }
        let ends = matches!(statement.lower.trim(), "end" | "end function")
            || statement.range.start == statement.range.end;
        if ends && self.language != PlainLanguage::Lua {
            self.function = self.function.take().filter(|_| !statement.lower.trim().starts_with("end"));
        }
    }

    /// The holding of a name; beyond the bound it is not kept.
    fn holding(&mut self, name: &str) -> &mut Holding {
        let name = if self.holdings.len() >= MAX_NAMES && !self.holdings.contains_key(name) {
            self.facts.is_cut = true;
            ""
        } else {
            name
        };
        self.holdings.entry(name.to_owned()).or_default()
    }
}

/// Whether a sender's word has somewhere to send to: some of them are also names of other things.
fn sends_somewhere(statement: &Statement, held: &Holding) -> bool {
    let is_weak = !has_word(
        &statement.lower,
        &[
            "http",
            "socket",
            "curl",
            "webclient",
            "invoke-",
            "iwr",
            "irm",
            "lwp",
            "upload",
            "tcpclient",
            "mail",
            "ftp",
            "dial",
            "guzzle",
            "faraday",
            "msxml",
        ],
    );
    !is_weak || held.address.is_some()
}

/// The first address in strings.
fn find_address(strings: &[String]) -> Option<String> {
    let found = strings.iter().find(|text| text.contains("://") && !text.starts_with("file"))?;
    let at = found
        .find("http")
        .or_else(|| found.find("ftp"))
        .or_else(|| found.find("tcp"))
        .or_else(|| found.find("smtp"))
        .unwrap_or(0);
    let address: String = found.get(at..)?.split([' ', '"', '\'', '\n']).next()?.chars().take(200).collect();
    Some(address)
}
