//! What the methods of plain values do: texts, lists, dicts, paths, files, archives.

use std::ops::Range;
use std::rc::Rc;

use crate::code::capability::Capability;
use crate::code::effects::ENTRY;
use crate::code::interpret::{Arguments, Interpreter, OriginKind};
use crate::code::objects::{is_env_file, is_secret_variable};
use crate::code::value::{MAX_TEXT, ObjectId, Origins, UNKNOWN, Value};

impl Interpreter<'_, '_> {
    /// Calls a method that plain values have; `None` where it is not one.
    pub(crate) fn call_common(
        &mut self,
        receiver: &Value,
        name: &str,
        given: &Arguments,
        range: Range<usize>,
    ) -> Option<Value> {
        let value = self.call_container(receiver, name, given, range.clone());
        let value = value.or_else(|| self.call_text(receiver, name, given, range.clone()));
        value.or_else(|| self.call_file(receiver, name, given, range))
    }

    /// A method of lists, dicts, promises and programs; `None` where it is not one.
    fn call_container(
        &mut self,
        receiver: &Value,
        name: &str,
        given: &Arguments,
        range: Range<usize>,
    ) -> Option<Value> {
        let first = given.positional.first().cloned().unwrap_or_default();
        let symbol = receiver.symbol.as_deref().unwrap_or_default();
        let value = match name {
            "get" | "pop" | "setdefault" | "getItem" if !symbol.starts_with("%response") => {
                if given.positional.is_empty() {
                    return Some(self.heap.element(receiver));
                }
                let mut item = self.item(&Value { symbol: None, ..receiver.clone() }, &first, range);
                given.positional.get(1).iter().for_each(|default| item.join(default));
                item
            }
            "append" | "push" | "add" | "insert" | "unshift" | "appendleft" | "attach" | "set_content"
            | "add_attachment" | "set" | "splice"
                if symbol.is_empty() || !symbol.starts_with('%') =>
            {
                if let Some(id) = receiver.object {
                    self.add_elements(id, given);
                }
                receiver.clone()
            }
            "extend" | "update" if symbol.is_empty() => {
                if let Some(id) = receiver.object {
                    given.all().cloned().collect::<Vec<_>>().iter().for_each(|value| self.spread(id, value));
                    for (key, value) in &given.named {
                        self.set_field(id, key, value.clone(), true);
                    }
                }
                receiver.clone()
            }
            "items" | "values" | "keys" | "entries" => {
                let mut any = Value::made_of(self.heap.deep_origins(receiver));
                if let Some(object) = receiver.object.and_then(|id| self.heap.get(id)) {
                    let mut inner = object.rest.clone();
                    object.fields.iter().for_each(|(key, value)| {
                        if name != "values" {
                            inner.join(&Value::text(Rc::clone(key)));
                        }
                        if name != "keys" {
                            inner.join(value);
                        }
                    });
                    any.join(&inner);
                }
                any
            }
            "json" if symbol.starts_with("%response") => self.weaken(receiver),
            "then" | "finally" | "map" | "forEach" | "filter" | "reduce" | "flatMap" | "on" | "once"
            | "catch" | "addListener" | "some" | "find" => self.call_each(receiver, given),
            "communicate" if symbol.ends_with("Popen()") => {
                let input = given.get(0, "input").cloned().unwrap_or_default();
                let command = Value { texts: receiver.texts.clone(), ..Value::default() };
                let again = Arguments { positional: vec![command], named: vec![("input".into(), input)] };
                self.run_program("subprocess.Popen", &again, range)
            }
            "pipe" => {
                self.watch_pipe(receiver, &first, range);
                first
            }
            _ => return None,
        };
        Some(value)
    }

    /// A method of texts; `None` where it is not one.
    fn call_text(
        &mut self,
        receiver: &Value,
        name: &str,
        given: &Arguments,
        range: Range<usize>,
    ) -> Option<Value> {
        let first = given.positional.first().cloned().unwrap_or_default();
        let symbol = receiver.symbol.as_deref().unwrap_or_default();
        let value = match name {
            "join" => self.join_texts(receiver, &first),
            "format" | "format_map" => {
                let mut made = receiver.clone();
                made.texts = receiver.texts.iter().map(|text| Self::fill_braces(text, given)).collect();
                given.all().for_each(|value| made.origins.add(&self.heap.deep_origins(value)));
                made
            }
            "strip" | "lstrip" | "rstrip" | "trim" | "encode" | "decode" | "toString" | "lower" | "upper"
            | "toLowerCase" | "trimEnd" | "expanduser" | "resolve" | "absolute" | "as_posix" | "split"
            | "copy" | "splitlines" | "trimStart" | "__str__" | "as_string" | "readlines" | "slice"
            | "concat" | "flat" | "with_suffix" | "toJSON" | "as_bytes" | "valueOf" | "normalize"
                if !symbol.contains('.') || !receiver.origins.is_empty() =>
            {
                let mut same = Value { symbol: None, ..receiver.clone() };
                same.origins = self.heap.deep_origins(receiver);
                given.all().for_each(|value| same.origins.add(&self.strong_origins(value)));
                if name == "split" && first.known_text() == Some("=") {
                    same.origins = self.take_entry(&same.origins, None, range.clone());
                }
                // In other letters nobody knows its text.
                let is_turned = matches!(first.known_text(), Some("rot13" | "rot_13" | "hex" | "base64"));
                if is_turned && matches!(name, "decode" | "toString" | "encode") {
                    same.texts.clear();
                }
                same
            }
            "reverse" | "toReversed" if receiver.object.is_none() => {
                let texts =
                    receiver.texts.iter().map(|text| text.chars().rev().collect::<String>().into()).collect();
                Value { texts, ..receiver.clone() }
            }
            "partition" | "match" | "search" | "findall" | "matchAll" | "fullmatch" | "exec" | "finditer" => {
                let mut origins = self.heap.deep_origins(receiver);
                given.all().for_each(|value| origins.add(&self.heap.deep_origins(value)));
                let pattern = given.positional.iter().find_map(|value| value.known_text()).map(str::to_owned);
                Value::made_of(self.take_entry(&origins, pattern.as_deref(), range))
            }
            "replace" | "replaceAll" => {
                let mut made = Value::made_of(self.heap.deep_origins(receiver));
                given.all().for_each(|value| made.origins.add(&value.origins));
                let (from, to) = (first.known_text(), given.positional.get(1).and_then(Value::known_text));
                if let (Some(from), Some(to)) = (from, to)
                    && !from.is_empty()
                {
                    made.texts = receiver.texts.iter().map(|text| replace_bounded(text, from, to)).collect();
                }
                made
            }
            _ => return None,
        };
        Some(value)
    }

    /// A method of paths and files; `None` where it is not one.
    fn call_file(
        &mut self,
        receiver: &Value,
        name: &str,
        given: &Arguments,
        range: Range<usize>,
    ) -> Option<Value> {
        let first = given.positional.first().cloned().unwrap_or_default();
        let symbol = receiver.symbol.as_deref().unwrap_or_default();
        let value = match name {
            "read_text" | "read_bytes" => Value::made_of(self.read_path(receiver, range)),
            "open" if !receiver.texts.is_empty() => {
                let mode = first.known_text().unwrap_or_default().to_owned();
                if mode.contains(['w', 'a', 'x', '+']) && mode.len() <= 3 {
                    self.write_path(receiver, &Value::default(), range);
                    Value {
                        symbol: Some("%written".into()),
                        texts: receiver.texts.clone(),
                        ..Value::default()
                    }
                } else {
                    Value::made_of(self.read_path(receiver, range))
                }
            }
            "write_text" | "write_bytes" => {
                self.write_path(receiver, &first, range);
                Value::default()
            }
            "unlink" | "rmdir" if !receiver.texts.is_empty() => {
                self.delete_path(receiver, range);
                Value::default()
            }
            "iterdir" => below(receiver, &Value::text(UNKNOWN)),
            "glob" | "rglob" | "joinpath" if !receiver.texts.is_empty() || receiver.symbol.is_none() => {
                below(receiver, &first)
            }
            "write" | "writelines" | "writestr" | "add" | "end" | "addfile" | "addLocalFile"
            | "addLocalFolder" | "directory" | "file" | "append"
                if matches!(symbol, "%written" | "%archive") || symbol.starts_with("%written.") =>
            {
                self.write_into(receiver, given, range);
                Value::default()
            }
            "dump" => {
                let to = given.positional.get(1).cloned().unwrap_or_default();
                if to.symbol.as_deref() == Some("%written") {
                    let content = Value::made_of(self.heap.deep_origins(&first));
                    self.write_path(&to, &content, range);
                }
                Value::default()
            }
            "read" | "readfp" | "read_file" if receiver.object.is_some() && !first.texts.is_empty() => {
                // A reader of settings keeps what it read.
                let origins = self.read_path(&first, range);
                if let Some(object) = receiver.object.and_then(|id| self.heap.get_mut(id)) {
                    object.rest.origins.add(&origins);
                }
                Value::made_of(origins)
            }
            "exists" | "is_file" | "is_dir" | "startswith" | "endswith" | "startsWith" | "endsWith"
            | "includes" | "mkdir" | "hexdigest" | "digest" | "isdigit" | "count" | "index" | "indexOf"
            | "test" | "info" | "debug" | "error" | "warning" | "stat" | "touch" => Value::default(),
            _ => return None,
        };
        Some(value)
    }

    /// Secrets among a value's origins that any function may hand on.
    pub(crate) fn strong_origins(&self, value: &Value) -> Origins {
        let all = self.heap.deep_origins(value);
        self.of_kind(&all, |kind| {
            matches!(kind, OriginKind::Secret(capability) if capability != Capability::ReadsNamedSecret)
        })
    }

    fn add_elements(&mut self, id: ObjectId, given: &Arguments) {
        // `form.append(name, value)`, `map.set(key, value)`.
        if let [key, value] = given.positional.as_slice()
            && key.known_text().is_some()
        {
            let (key, value) = (key.clone(), value.clone());
            self.set_item(id, &key, value);
            return;
        }
        let values: Vec<_> = given.all().cloned().collect();
        if let Some(object) = self.heap.get_mut(id) {
            for value in &values {
                object.rest.join(value);
            }
        }
        for value in &values {
            let origins = self.heap.deep_origins(value);
            if let Some(object) = self.heap.get_mut(id) {
                object.rest.origins.add(&origins);
            }
        }
    }

    /// Puts texts together, in Python's way or in JavaScript's.
    fn join_texts(&mut self, receiver: &Value, first: &Value) -> Value {
        let (list, between) = if first.object.is_some()
            || receiver.object.is_none() && !first.texts.is_empty() && receiver.known_text() == Some("")
        {
            (first, receiver)
        } else {
            (receiver, first)
        };
        let mut made = Value::made_of(self.heap.deep_origins(list));
        made.origins.add(&between.origins);
        let values = list.object.map(|id| self.list_values(id)).unwrap_or_default();
        if values.is_empty() {
            made.texts.clone_from(&list.texts);
            return made;
        }
        let between = between.known_text().unwrap_or(",").to_owned();
        let mut whole: Option<Value> = None;
        for value in values {
            match &mut whole {
                None => whole = Some(Value { texts: value.texts.clone(), ..Value::default() }),
                Some(whole) => whole.concat(&value, &between),
            }
        }
        made.texts = whole.unwrap_or_default().texts;
        made
    }

    /// The elements of a list in their order.
    pub(crate) fn list_values(&self, id: ObjectId) -> Vec<Value> {
        let Some(object) = self.heap.get(id).filter(|object| object.is_list) else { return Vec::new() };
        let mut values: Vec<_> = object
            .fields
            .iter()
            .filter_map(|(key, value)| Some((key.parse::<u32>().ok()?, value.clone())))
            .collect();
        values.sort_by_key(|(number, _)| *number);
        let mut values: Vec<_> = values.into_iter().map(|(_, value)| value).collect();
        if !object.rest.texts.is_empty() || !object.rest.origins.is_empty() {
            values.push(object.rest.clone());
        }
        values
    }

    /// A format with its places filled by what is known.
    fn fill_braces(text: &str, given: &Arguments) -> Rc<str> {
        let mut out = String::new();
        let mut rest = text;
        let mut place = 0;
        while let Some((before, after)) = rest.split_once('{') {
            out.push_str(before);
            let Some((name, tail)) = after.split_once('}') else {
                rest = after;
                break;
            };
            let name = name.split([':', '!']).next().unwrap_or_default();
            let value = if name.is_empty() { given.positional.get(place) } else { None };
            let value =
                value.or_else(|| name.parse::<usize>().ok().and_then(|place| given.positional.get(place)));
            out.push_str(value.or_else(|| given.named(name)).map_or(UNKNOWN, Value::first_text));
            if out.len() > MAX_TEXT {
                return UNKNOWN.into();
            }
            place += 1;
            rest = tail;
        }
        out.push_str(rest);
        out.into()
    }

    /// One entry of a file of variables, by what it was looked for.
    fn take_entry(&mut self, origins: &Origins, pattern: Option<&str>, range: Range<usize>) -> Origins {
        let words = pattern
            .unwrap_or_default()
            .split(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'));
        let name =
            words.max_by_key(|word| word.len()).filter(|word| word.len() > 4 && is_secret_variable(word));
        let mut taken = Origins::default();
        for id in origins.iter() {
            match self.origins.get(usize::from(id)).cloned() {
                Some(origin)
                    if origin.kind == OriginKind::Secret(Capability::ReadsCredentials)
                        && is_env_file(&origin.object) =>
                {
                    let object = name.map_or_else(|| format!("{}{ENTRY}", origin.object), str::to_owned);
                    taken.add(&self.origin(
                        OriginKind::Secret(Capability::ReadsNamedSecret),
                        &object,
                        range.clone(),
                    ));
                }
                _ => taken.add(&Origins::one(id)),
            }
        }
        taken
    }

    /// What a host answered, taken apart.
    fn weaken(&mut self, receiver: &Value) -> Value {
        let mut origins = Origins::default();
        for id in receiver.origins.iter() {
            match self.origins.get(usize::from(id)).cloned() {
                Some(origin) if origin.kind == OriginKind::Fetched => {
                    let weaker = self.origin(OriginKind::FetchedData, &origin.object, origin.range);
                    origins.add(&weaker);
                }
                _ => origins.add(&Origins::one(id)),
            }
        }
        Value::made_of(origins)
    }

    /// Calls functions with each element, or with what a promise or an event gives.
    fn call_each(&mut self, receiver: &Value, given: &Arguments) -> Value {
        let mut carried = self.element_of(receiver);
        if receiver.object.is_none() {
            carried = receiver.clone();
        }
        // What a connection hands over came from its other end.
        if let Some(symbol) = &receiver.symbol
            && crate::code::network::is_connection(symbol)
        {
            let origins = self.origin(OriginKind::Fetched, symbol, 0..0);
            carried = Value::made_of(origins);
        }
        let results = self.call_back(given, &carried);
        let mut list = Value { object: receiver.object, symbol: receiver.symbol.clone(), ..results.clone() };
        list.origins.add(&receiver.origins);
        if results.texts.is_empty() && results.object.is_none() {
            list.texts.clone_from(&receiver.texts);
        }
        if results.object.is_some() || results.symbol.is_some() {
            list.object = results.object;
            list.symbol = results.symbol;
        }
        list
    }
}

/// A path below a path.
fn below(path: &Value, part: &Value) -> Value {
    let mut path = Value { symbol: None, ..path.clone() };
    path.concat(part, "/");
    path
}

/// A text with one part replaced by another; not known where that grows beyond what is followed.
fn replace_bounded(text: &str, from: &str, to: &str) -> Rc<str> {
    let grown = text.matches(from).count().saturating_mul(to.len()).saturating_add(text.len());
    if grown > MAX_TEXT { UNKNOWN.into() } else { text.replace(from, to).into() }
}
