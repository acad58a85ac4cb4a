//! What each kind of function does with what it is given.

use std::ops::Range;

use crate::code::capability::Capability;
use crate::code::interpret::{Arguments, Interpreter, OriginKind, plain_module};
use crate::code::library::fill_percent;
use crate::code::library_names::LibraryModel;
use crate::code::network::is_connection;
use crate::code::value::{Origins, UNKNOWN, Value};

impl Interpreter<'_, '_> {
    /// What a function of a kind gives.
    pub(crate) fn apply_model(
        &mut self,
        model: LibraryModel,
        symbol: &str,
        given: &Arguments,
        range: Range<usize>,
    ) -> Value {
        let first = given.positional.first().or_else(|| given.named.first().map(|(_, value)| value));
        let first = first.cloned().unwrap_or_default();
        let value = self.apply_file_model(model, first.clone(), given, range.clone());
        let value =
            value.or_else(|| self.apply_value_model(model, symbol, first.clone(), given, range.clone()));
        value.or_else(|| self.apply_act_model(model, symbol, &first, given, range)).unwrap_or_default()
    }

    /// What has to do with files.
    fn apply_file_model(
        &mut self,
        model: LibraryModel,
        first: Value,
        given: &Arguments,
        range: Range<usize>,
    ) -> Option<Value> {
        let value = match model {
            LibraryModel::Open => self.open_file(&first, given.get(1, "mode"), range),
            LibraryModel::Read => {
                let origins = self.read_path(&first, range);
                let read = Value::made_of(origins);
                self.call_back(given, &read);
                read
            }
            LibraryModel::Write => {
                let content = given.positional.get(1).cloned().unwrap_or_default();
                self.write_path(&first, &content, range);
                Value { symbol: Some("%written".into()), texts: first.texts, ..Value::default() }
            }
            LibraryModel::Copy => {
                let origins = self.read_path(&first, range.clone());
                let to = given.positional.get(1).cloned().unwrap_or_default();
                self.write_path(&to, &Value::made_of(origins), range);
                to
            }
            LibraryModel::Delete => {
                self.delete_path(&first, range);
                Value::default()
            }
            LibraryModel::List => first,
            LibraryModel::Walk => {
                let mut below = first;
                below.concat(&Value::text("**"), "/");
                let names = Value::text(UNKNOWN);
                let entry = self.make_list(vec![below, names.clone(), names]);
                self.make_list(vec![entry])
            }
            LibraryModel::EnvFile => {
                let path = if first.texts.is_empty() { Value::text(".env") } else { first };
                Value::made_of(self.read_path(&path, range))
            }
            LibraryModel::Archive => {
                let kept = given.named("fileobj").cloned().unwrap_or_else(|| first.clone());
                let mut archive =
                    Value { symbol: Some("%archive".into()), texts: first.texts, ..Value::default() };
                archive.object = kept.object;
                self.heap.object_of(&mut archive);
                // What is read from one comes out of it.
                archive.origins =
                    self.read_path(&Value { texts: archive.texts.clone(), ..Value::default() }, range);
                archive
            }
            LibraryModel::Pack => {
                let folder = given.get(2, "root_dir").cloned().unwrap_or_default();
                let origins = self.read_path(&folder, range);
                let mut path = Value::made_of(origins);
                path.texts = first.texts;
                path.concat(&Value::text(UNKNOWN), "");
                path
            }
            LibraryModel::Buffer => {
                let origins = self.heap.deep_origins(&first);
                let mut buffer = Value::default();
                let id = self.heap.object_of(&mut buffer);
                if let Some(object) = self.heap.get_mut(id) {
                    object.rest = Value { texts: first.texts, ..Value::made_of(origins) };
                }
                buffer
            }
            _ => return None,
        };
        Some(value)
    }

    /// What makes one value of others.
    fn apply_value_model(
        &mut self,
        model: LibraryModel,
        symbol: &str,
        first: Value,
        given: &Arguments,
        range: Range<usize>,
    ) -> Option<Value> {
        let value = match model {
            LibraryModel::Import => {
                let Some(name) = first.known_text() else { return Some(Value::default()) };
                self.load_module(name).unwrap_or_else(|| Value::symbol(plain_module(name)))
            }
            LibraryModel::Field => {
                let key = given.positional.get(1).cloned().unwrap_or_default();
                match key.known_text() {
                    Some(name) => self.attribute(&first, name, range),
                    None => Value::made_of(first.origins),
                }
            }
            LibraryModel::Variable => {
                let mut value = self.read_variable(&first, range);
                if let Some(default) = given.positional.get(1).or_else(|| given.named("default")) {
                    value.join(default);
                }
                value
            }
            LibraryModel::Environment => {
                self.note(Capability::ReadsEnvironment, range.clone(), "the environment");
                Value::made_of(self.whole_environment(range))
            }
            LibraryModel::Same => {
                self.call_back(given, &first);
                let mut same = first;
                for other in given.positional.iter().skip(1) {
                    same.origins.add(&self.heap.deep_origins(other));
                    same.function = same.function.or(other.function);
                }
                same
            }
            LibraryModel::Home => Value::text("~"),
            LibraryModel::JoinPath => {
                let mut path = first;
                for part in given.positional.iter().skip(1) {
                    path.concat(part, "/");
                }
                path
            }
            LibraryModel::Encode => {
                let mut origins = Origins::default();
                let mut made = Value::default();
                for value in given.all() {
                    origins.add(&self.heap.deep_origins(value));
                    made.object = made.object.or(value.object);
                }
                // What is in it can still be told apart by its keys.
                Value {
                    origins: if made.object.is_some() && !symbol.contains("dump") {
                        first.origins
                    } else {
                        origins
                    },
                    ..made
                }
            }
            LibraryModel::Decode => self.decode(symbol, &first, given, range),
            LibraryModel::Letters => {
                let letters: Option<String> = given
                    .positional
                    .iter()
                    .map(|value| value.known_text()?.parse::<u32>().ok().and_then(char::from_u32))
                    .collect();
                let origins = self.origin(OriginKind::DecodedLiteral, "character codes", range);
                match letters {
                    Some(text) => Value::text(text).with_origins(&origins),
                    None => Value::made_of(origins),
                }
            }
            LibraryModel::Partial => {
                let values = given.positional.clone();
                let list = self.make_list(values);
                if let Some(id) = list.object {
                    for (name, value) in &given.named {
                        self.set_field(id, name, value.clone(), false);
                    }
                }
                Value { symbol: Some("%partial".into()), ..list }
            }
            LibraryModel::SetField => {
                if let (Some(id), [_, key, value, ..]) = (first.object, given.positional.as_slice()) {
                    self.set_item(id, key, value.clone());
                }
                Value::default()
            }
            LibraryModel::Format => {
                let mut made = first.clone();
                let values = given.positional.get(1).cloned().unwrap_or_default();
                made.texts = first.texts.iter().map(|text| fill_percent(text).into()).collect();
                made.origins.add(&self.heap.deep_origins(&values));
                made
            }
            _ => return None,
        };
        Some(value)
    }

    /// What does something.
    fn apply_act_model(
        &mut self,
        model: LibraryModel,
        symbol: &str,
        first: &Value,
        given: &Arguments,
        range: Range<usize>,
    ) -> Option<Value> {
        let value = match model {
            LibraryModel::Digest => {
                self.call_back(given, &Value::default());
                Value::default()
            }
            LibraryModel::Encrypt => {
                let mut origins = self.origin(OriginKind::Encrypted, symbol, range);
                given.all().for_each(|value| origins.add(&self.heap.deep_origins(value)));
                Value::made_of(origins)
            }
            LibraryModel::Run => self.run_program(symbol, given, range),
            LibraryModel::Execute => self.execute_text(symbol, given, range),
            LibraryModel::Source(capability) => {
                let object =
                    if capability == Capability::ReadsNamedSecret { first.first_text() } else { symbol };
                let read = Value::made_of(self.origin(OriginKind::Secret(capability), object, range));
                self.call_back(given, &read);
                read
            }
            LibraryModel::Listen => {
                self.note(Capability::ListensOnNetwork, range, symbol);
                self.call_back(given, &Value::default());
                Value::symbol(format!("{symbol}()"))
            }
            LibraryModel::Promise => {
                let before = std::mem::take(&mut self.resolved);
                if let Some(function) = first.function {
                    let resolve = Value::symbol("%resolve");
                    self.call_function(
                        function,
                        &Arguments { positional: vec![resolve.clone(), resolve], named: Vec::new() },
                    );
                }
                std::mem::replace(&mut self.resolved, before)
            }
            LibraryModel::Resolve => {
                self.resolved.join(first);
                Value::default()
            }
            LibraryModel::Duplicate => {
                if given.all().any(|value| value.symbol.as_deref().is_some_and(is_connection)) {
                    self.note(
                        Capability::OpensRemoteShell,
                        range,
                        "a connection in the place of the terminal",
                    );
                }
                Value::default()
            }
            _ => return None,
        };
        Some(value)
    }
}
