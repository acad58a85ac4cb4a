//! What the functions of libraries do, by their names: which read, which pass a value on, which decode, run or write.

use std::ops::Range;
use std::rc::Rc;

use data_encoding::{BASE32, BASE64, BASE64_NOPAD, BASE64URL, HEXLOWER_PERMISSIVE};

use crate::code::capability::Capability;
use crate::code::interpret::{Arguments, Interpreter, OriginKind, is_environment};
use crate::code::library_names::find_model;
use crate::code::network_names::{find_guess, find_send};
use crate::code::objects::{classify_path, is_env_file, is_secret_variable};
use crate::code::value::{Origins, Value, extend_symbol};

impl Interpreter<'_, '_> {
    /// Calls a thing of a library.
    pub(crate) fn call_symbol(
        &mut self,
        symbol: &str,
        receiver: Option<&Value>,
        given: &Arguments,
        range: Range<usize>,
    ) -> Value {
        // `f.call(this, a)`, `f.bind(this)`.
        for way in [".call", ".apply", ".bind"] {
            if let Some(inner) = symbol.strip_suffix(way)
                && find_model(inner).is_some()
            {
                let positional = given.positional.iter().skip(1).cloned().collect();
                if way == ".bind" {
                    return Value::symbol(inner);
                }
                return self.call_symbol(
                    inner,
                    receiver,
                    &Arguments { positional, named: Vec::new() },
                    range,
                );
            }
        }
        if symbol == "%partial" {
            return self.call_partial(receiver, given, range);
        }
        if let Some(model) = find_model(symbol) {
            return self.apply_model(model, symbol, given, range);
        }
        if let Some(kind) = find_send(symbol) {
            return self.send(kind, symbol, receiver, given, range);
        }
        if let Some(method) = symbol.rsplit_once('.').map(|(_, last)| last)
            && let Some(value) = self.call_common(receiver.unwrap_or(&Value::default()), method, given, range)
        {
            return value;
        }
        let mut value = self.call_unknown(&Value::default(), given);
        if let Some(receiver) = receiver {
            value.origins.add(&receiver.origins);
            if symbol.starts_with('%')
                || receiver.symbol.as_deref().is_some_and(|symbol| symbol.starts_with("email"))
            {
                value.origins.add(&self.heap.deep_origins(receiver));
            }
        }
        value.symbol = Some(format!("{symbol}()").into());
        value
    }

    /// Calls a function that has some of its arguments already.
    fn call_partial(&mut self, receiver: Option<&Value>, given: &Arguments, range: Range<usize>) -> Value {
        let Some(id) = receiver.and_then(|receiver| receiver.object) else { return Value::default() };
        let mut values = self.list_values(id).into_iter();
        let Some(called) = values.next() else { return Value::default() };
        let fields = self.heap.get(id).map(|object| object.fields.clone()).unwrap_or_default();
        let named = fields.into_iter().filter(|(key, _)| key.parse::<u32>().is_err());
        let all = Arguments {
            positional: values.chain(given.positional.iter().cloned()).collect(),
            named: named.chain(given.named.iter().cloned()).collect(),
        };
        self.call_value(&called, &all, range)
    }

    /// Calls every function among the arguments with a value: callbacks.
    pub(crate) fn call_back(&mut self, given: &Arguments, value: &Value) -> Value {
        let mut results = Value::default();
        let functions: Vec<_> = given.all().filter_map(|argument| argument.function).collect();
        for function in functions.into_iter().take(4) {
            let mut positional = vec![value.clone(), value.clone()];
            positional.extend(given.positional.iter().filter(|other| other.function.is_none()).cloned());
            self.is_callback = true;
            let result = self.call_function(function, &Arguments { positional, named: Vec::new() });
            self.is_callback = false;
            results.join(&result);
        }
        results
    }

    /// Calls something that is not known: secrets may be in what it gives, and in what it was called on.
    pub(crate) fn call_unknown(&mut self, called: &Value, given: &Arguments) -> Value {
        let mut value = Value::made_of(called.origins.clone());
        let mut strong = Origins::default();
        for argument in &given.positional {
            let all = self.heap.deep_origins(argument);
            strong.add(&self.of_kind(&all, |kind| {
                matches!(kind, OriginKind::Secret(capability) if capability != Capability::ReadsNamedSecret)
            }));
        }
        value.origins.add(&strong);
        if let Some(object) = called.object.and_then(|id| self.heap.get_mut(id)) {
            object.rest.origins.add(&strong);
            value.origins.add(&object.rest.origins.clone());
        }
        // A thread, a task, a timer: what it starts is called.
        let target = given.named("target").or_else(|| given.named("func"));
        if let Some(function) = target.and_then(|target| target.function) {
            let arguments = given.named("args").cloned().unwrap_or_default();
            let element = self.element_of(&arguments);
            let listed = arguments
                .object
                .and_then(|id| self.heap.get(id))
                .map(|object| object.fields.clone())
                .unwrap_or_default();
            let mut positional: Vec<_> = listed.into_values().collect();
            if positional.is_empty() {
                positional.push(element);
            }
            self.call_function(function, &Arguments { positional, named: Vec::new() });
            return value;
        }
        let functions = given.positional.iter().any(|argument| argument.function.is_some());
        if functions {
            let mut carried = self.element_of(called);
            carried.join(&value);
            let others: Vec<_> =
                given.positional.iter().filter(|other| other.function.is_none()).cloned().collect();
            for other in &others {
                let element = self.element_of(other);
                carried.join(&element);
            }
            let positional: Vec<_> =
                given.positional.iter().filter(|argument| argument.function.is_some()).cloned().collect();
            let results = self.call_back(&Arguments { positional, named: Vec::new() }, &carried);
            value.join(&results);
        }
        value
    }

    /// Methods that plain values have.
    pub(crate) fn call_method(
        &mut self,
        receiver: &Value,
        name: &str,
        given: &Arguments,
        range: Range<usize>,
    ) -> Value {
        if receiver.symbol.as_deref() == Some("%partial") && matches!(name, "__call__") {
            return self.call_unknown(receiver, given);
        }
        let is_awaited = matches!(name, "then" | "catch" | "finally");
        if let Some(symbol) = &receiver.symbol
            && !is_awaited
            && let Some(symbol) = extend_symbol(symbol, name)
        {
            return self.call_symbol(&symbol, Some(receiver), given, range);
        }
        if let Some(function) = receiver.function {
            // `f.call(this, a)`.
            if matches!(name, "call" | "apply") {
                let positional = given.positional.iter().skip(1).cloned().collect();
                return self.call_function(function, &Arguments { positional, named: Vec::new() });
            }
            if name == "bind" {
                return receiver.clone();
            }
        }
        if let Some(value) = self.call_common(receiver, name, given, range.clone()) {
            return value;
        }
        if let Some(kind) = find_guess(name) {
            return self.send(kind, name, Some(receiver), given, range);
        }
        self.call_unknown(receiver, given)
    }

    /// Reads a variable of the environment.
    pub(crate) fn read_variable(&mut self, key: &Value, range: Range<usize>) -> Value {
        let mut value = Value::default();
        for name in key.texts.clone() {
            if matches!(&*name, "HOME" | "USERPROFILE" | "HOMEPATH") {
                value.join(&Value::text("~"));
            } else if !name.contains('*') {
                value.join(&Value::text(format!("${{{name}}}")));
                if is_secret_variable(&name) {
                    let origins =
                        self.origin(OriginKind::Secret(Capability::ReadsNamedSecret), &name, range.clone());
                    value.origins.add(&origins);
                }
            }
        }
        if key.texts.is_empty() || key.texts.iter().any(|text| text.contains('*')) {
            let inner =
                self.of_kind(&key.origins, |kind| kind == OriginKind::Secret(Capability::ReadsEnvironment));
            value.origins.add(&inner);
        }
        value
    }

    /// The whole environment, read at a place.
    pub(crate) fn whole_environment(&mut self, range: Range<usize>) -> Origins {
        self.origin(OriginKind::Secret(Capability::ReadsEnvironment), "the environment", range)
    }

    /// `a[b]`.
    pub(crate) fn item(&mut self, object: &Value, key: &Value, range: Range<usize>) -> Value {
        if let Some(symbol) = object.symbol.as_deref() {
            if is_environment(symbol) {
                return self.read_variable(key, range);
            }
            if let Some(name) = key.known_text() {
                if symbol == "sys.modules" {
                    return Value::symbol(name);
                }
                if object.object.is_none()
                    && (symbol.contains('(') || name.bytes().next().is_some_and(|b| b.is_ascii_digit()))
                {
                    // An element of what a library gave.
                    return Value {
                        symbol: Some(symbol.into()),
                        ..Value::made_of(self.narrow(&object.origins, name, range))
                    };
                }
                return self.attribute(object, name, range);
            }
        }
        let Some(name) = key.known_text().map(str::to_owned) else {
            let mut element = self.element_of(object);
            element.texts.clear();
            if let Some(fields) =
                object.object.and_then(|id| self.heap.get(id)).map(|object| object.fields.clone())
            {
                for field in fields.values() {
                    element.join(field);
                }
            }
            return element;
        };
        if let Some(field) = object.object.and_then(|id| self.heap.field(id, &name)) {
            return field.clone();
        }
        let is_number = name.parse::<i64>().is_ok();
        let mut part = if is_number { self.element_of(object) } else { Value::default() };
        let mut origins = object.origins.clone();
        if let Some(rest) = object.object.and_then(|id| self.heap.get(id)).map(|object| object.rest.clone()) {
            origins.add(&rest.origins);
            if !is_number {
                part.join(&Value { origins: Origins::default(), ..rest });
            }
        }
        part.origins = if is_number { origins } else { self.narrow(&origins, &name, range) };
        part
    }

    /// What is left of some origins in the part of a name: one key of many is that key, and not all of them.
    pub(crate) fn narrow(&mut self, origins: &Origins, name: &str, range: Range<usize>) -> Origins {
        let mut narrowed = Origins::default();
        for id in origins.iter() {
            let Some(origin) = self.origins.get(usize::from(id)).cloned() else { continue };
            let is_many = match origin.kind {
                OriginKind::Secret(
                    Capability::ReadsEnvironment | Capability::ReadsAgentData | Capability::ReadsNamedSecret,
                ) => true,
                OriginKind::Secret(Capability::ReadsCredentials) => is_env_file(&origin.object),
                _ => false,
            };
            if !is_many {
                narrowed.add(&Origins::one(id));
            } else if is_secret_variable(name) {
                let part = self.origin(OriginKind::Secret(Capability::ReadsNamedSecret), name, range.clone());
                narrowed.add(&part);
            }
        }
        narrowed
    }

    /// What a file holds, by its path.
    pub(crate) fn read_path(&mut self, path: &Value, range: Range<usize>) -> Origins {
        let mut origins = self.of_kind(&path.origins, |kind| matches!(kind, OriginKind::Secret(_)));
        for text in path.texts.clone() {
            if let Some(capability) = classify_path(&text) {
                let origin = self.origin(OriginKind::Secret(capability), &text, range.clone());
                origins.add(&origin);
            }
            if let Some(written) = self.disk.get(&*text) {
                origins.add(&written.clone());
            }
        }
        origins
    }

    pub(crate) fn open_file(&mut self, path: &Value, mode: Option<&Value>, range: Range<usize>) -> Value {
        let mode = mode.map(|mode| mode.first_text().to_owned()).unwrap_or_default();
        let is_written = mode.contains(['w', 'a', 'x', '+']) && mode.len() <= 4;
        if is_written {
            self.write_path(path, &Value::default(), range);
            return Value { symbol: Some("%written".into()), texts: path.texts.clone(), ..Value::default() };
        }
        let mut file = Value::made_of(self.read_path(path, range));
        if file.origins.is_empty() {
            file.symbol = Some("%file".into());
        }
        file
    }

    /// Undoes an encoding.
    pub(crate) fn decode(
        &mut self,
        symbol: &str,
        first: &Value,
        given: &Arguments,
        range: Range<usize>,
    ) -> Value {
        let way = given.positional.get(1).and_then(|way| way.known_text()).unwrap_or_default();
        // `Buffer.from(text)` and `codecs.decode(text)` in plain letters.
        if symbol == "Buffer.from" && !matches!(way, "base64" | "hex" | "base64url") {
            return first.clone();
        }
        let texts: Vec<Rc<str>> =
            first.texts.iter().filter_map(|text| decode_text(symbol, way, text)).map(Rc::from).collect();
        let is_literal = first.known_text().is_some_and(|text| text.len() >= 12);
        let kind = if is_literal { OriginKind::DecodedLiteral } else { OriginKind::Decoded };
        let mut origins = self.heap.deep_origins(first);
        origins.add(&self.origin(kind, symbol, range));
        Value { texts, ..Value::made_of(origins) }
    }
}

/// A text with its encoding undone, where it is one that can be undone here.
fn decode_text(symbol: &str, way: &str, text: &str) -> Option<String> {
    if text.contains('*') {
        return None;
    }
    let plain: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let bytes = plain.as_bytes();
    let is_hex = symbol.contains("hex") || way == "hex" || symbol.ends_with("b16decode");
    let decoded = if is_hex {
        HEXLOWER_PERMISSIVE.decode(bytes).ok()
    } else if symbol.ends_with("b32decode") {
        BASE32.decode(bytes).ok()
    } else if symbol.contains("64") || symbol == "atob" || way.starts_with("base64") {
        let unpadded = plain.trim_end_matches('=');
        BASE64
            .decode(bytes)
            .or_else(|_| BASE64_NOPAD.decode(unpadded.as_bytes()))
            .or_else(|_| BASE64URL.decode(bytes))
            .ok()
    } else if way.starts_with("rot") {
        Some(text.chars().map(turn_letter).collect::<String>().into_bytes())
    } else {
        None
    };
    String::from_utf8(decoded?).ok()
}

/// A letter thirteen further.
fn turn_letter(c: char) -> char {
    let turn = |first: u8| char::from(first + (u8::try_from(c).unwrap_or(first) - first + 13) % 26);
    match c {
        'a'..='z' => turn(b'a'),
        'A'..='Z' => turn(b'A'),
        c => c,
    }
}

/// A format of `%` with its places not known.
pub(crate) fn fill_percent(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('%', Some('%')) => {
                chars.next();
                out.push('%');
            }
            ('%', Some('(')) => {
                for inner in chars.by_ref() {
                    if inner == ')' {
                        break;
                    }
                }
                chars.next();
                out.push('*');
            }
            ('%', Some(_)) => {
                chars.next();
                out.push('*');
            }
            (c, _) => out.push(c),
        }
    }
    out
}
