//! What may be kept of a run: no secrets, nothing endless.
//!
//! Three things give a secret away, and each is enough: somebody said so (a parameter that is declared secret, a value that is known), its
//! name (`--token x`, `API_KEY=x`, `https://user:x@host`), its shape (`ghp_…`). Texts are cleaned before they are cut, so that
//! no half of a secret is left which nothing recognises any more.

use std::path::Path;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skillsandbox_text::{NextWord, REDACTED, Redactor, Secret, is_secret_name, redact_named_values};
use uuid::Uuid;

use super::bounds::{self, CUT, cut};
use super::entry::{Classified, Denied, Entry, Status};
use super::error::Error;

/// A run without what may not be kept. Only this is written, to the spool and to the database. A field that is added, removed or changed needs
/// another version of the spool (`frame.rs`).
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Clean {
    pub(super) id: Uuid,
    /// Microseconds since 1970.
    pub(super) started: i64,
    pub(super) status: Status,
    pub(super) duration_ms: i64,
    pub(super) exit_code: Option<i32>,
    pub(super) denied: u64,
    pub(super) unknown: u64,
    pub(super) complete: bool,
    #[serde(with = "path_text")]
    pub(super) trace: Option<Vec<u8>>,
    pub(super) skill: String,
    pub(super) version: Option<String>,
    pub(super) tool: String,
    pub(super) parameters: String,
    pub(super) arguments: String,
    pub(super) user: Option<String>,
    pub(super) user_id: Option<u32>,
    pub(super) ending: String,
    pub(super) error: Option<String>,
    pub(super) denials: Vec<Denied>,
    pub(super) denials_omitted: u64,
    pub(super) classes: Vec<Classified>,
    pub(super) digest: Option<String>,
}

impl Clean {
    pub(super) fn new(entry: &Entry) -> Result<Self, Error> {
        let mut known = entry.secrets.clone();
        for (name, value) in &entry.parameters {
            if entry.secret_parameters.contains(name) || is_secret_name(name) {
                texts_in(name, value, &mut known, 0);
            }
        }
        let known: Vec<(&str, &str)> =
            known.iter().map(|(name, value)| (name.as_str(), value.expose())).collect();
        let redactor = Redactor::new(known)?;
        let cleaner = Cleaner { redactor: &redactor, secret_parameters: &entry.secret_parameters };
        let name = |text: &str| cleaner.short(text, bounds::NAME);
        let mut room = bounds::VALUES;
        let parameters = cleaner.object(&entry.parameters, &mut room, 0);
        let mut room = bounds::VALUES;
        let arguments = cleaner.arguments(&entry.arguments, &mut room);
        let denials: Vec<Denied> =
            entry.denials.iter().take(bounds::DENIALS).map(|denial| cleaner.denial(denial)).collect();
        let left_out = entry.denials.len().saturating_sub(denials.len()) as u64;
        Ok(Self {
            id: entry.id,
            started: entry.started.as_microsecond(),
            status: entry.status,
            duration_ms: i64::try_from(entry.duration.as_millis()).unwrap_or(i64::MAX),
            exit_code: entry.exit_code,
            denied: entry.denied,
            unknown: entry.unknown,
            complete: entry.complete,
            trace: entry.trace.as_ref().map(|trace| trace.as_os_str().as_encoded_bytes().to_vec()),
            skill: name(&entry.skill),
            version: entry.version.as_deref().map(name),
            tool: name(&entry.tool),
            parameters: Value::Object(parameters).to_string(),
            arguments: Value::Array(arguments).to_string(),
            user: entry.user.as_deref().map(name),
            user_id: entry.user_id,
            ending: name(&entry.ending),
            error: entry.error.as_deref().map(|text| cleaner.short(text, bounds::ERROR)),
            denials,
            denials_omitted: entry.denials_omitted.saturating_add(left_out),
            classes: entry.classes.iter().take(bounds::CLASSES).map(|class| cleaner.class(class)).collect(),
            digest: entry.digest.as_deref().map(|text| cut(text, bounds::NAME)),
        })
    }
}

/// What stays as it is in a path that is a part of an address.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A path as a part of a `file:` address.
pub(super) fn percent(path: &Path) -> String {
    percent_encode(path.as_os_str().as_encoded_bytes(), PLAIN).to_string()
}

/// A path, which may be of any bytes, as a text.
mod path_text {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    use super::{PLAIN, percent_decode_str, percent_encode};

    #[allow(clippy::ref_option, reason = "as serde calls it")]
    pub(super) fn serialize<S: Serializer>(path: &Option<Vec<u8>>, serializer: S) -> Result<S::Ok, S::Error> {
        path.as_ref().map(|path| percent_encode(path, PLAIN).to_string()).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Vec<u8>>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        Ok(text.map(|text| percent_decode_str(&text).collect()))
    }
}

/// Every text and number in a secret value is one.
fn texts_in(name: &str, value: &Value, known: &mut Vec<(String, Secret)>, depth: usize) {
    match value {
        _ if depth > bounds::DEPTH => {}
        Value::String(text) => known.push((name.to_owned(), text.as_str().into())),
        Value::Number(number) => known.push((name.to_owned(), number.to_string().into())),
        Value::Array(values) => values.iter().for_each(|value| texts_in(name, value, known, depth + 1)),
        Value::Object(values) => values.values().for_each(|value| texts_in(name, value, known, depth + 1)),
        Value::Null | Value::Bool(_) => {}
    }
}

struct Cleaner<'a> {
    redactor: &'a Redactor,
    secret_parameters: &'a [String],
}

impl Cleaner<'_> {
    /// Without secrets, and then no longer than this.
    fn short(&self, text: &str, most: usize) -> String {
        let Some((end, _)) = text.char_indices().nth(bounds::LOOKED_AT) else {
            return cut(&self.redactor.redact(text), most);
        };
        // The end of what is looked at may be half a secret: it is kept only if it is cut off anyway.
        let looked_at = self.redactor.redact(text.get(..end).unwrap_or_default());
        if looked_at.chars().nth(most.saturating_add(bounds::LOOKED_AT / 2)).is_some() {
            cut(&looked_at, most)
        } else {
            format!("{REDACTED}{CUT}")
        }
    }

    /// The members that there is room for. A last one says how many there was none for.
    fn object(&self, values: &Map<String, Value>, room: &mut usize, depth: usize) -> Map<String, Value> {
        let mut kept = Map::new();
        for (position, (name, value)) in values.iter().enumerate() {
            if *room == 0 {
                kept.insert(CUT.to_owned(), format!("{} more", values.len() - position).into());
                break;
            }
            let declared = depth == 0 && self.secret_parameters.contains(name);
            let value = if declared || is_secret_name(name) {
                spend(room, REDACTED.len());
                REDACTED.into()
            } else {
                self.value(value, room, depth + 1)
            };
            let name = self.short(name, bounds::NAME);
            spend(room, name.len());
            kept.insert(name, value);
        }
        kept
    }

    fn value(&self, value: &Value, room: &mut usize, depth: usize) -> Value {
        match value {
            Value::Array(_) | Value::Object(_) if depth > bounds::DEPTH => CUT.into(),
            Value::String(text) => self.text(text, room, &mut NextWord::Plain).into(),
            Value::Array(values) => {
                let mut kept = Vec::new();
                for (position, value) in values.iter().enumerate() {
                    if *room == 0 {
                        kept.push(format!("{CUT} {} more", values.len() - position).into());
                        break;
                    }
                    kept.push(self.value(value, room, depth + 1));
                }
                kept.into()
            }
            Value::Object(values) => self.object(values, room, depth).into(),
            plain => {
                spend(room, 8);
                plain.clone()
            }
        }
    }

    /// Arguments of a program. A name such as `--token` may stand before the value that it is about.
    fn arguments(&self, arguments: &[String], room: &mut usize) -> Vec<Value> {
        let mut kept = Vec::new();
        let mut next = NextWord::Plain;
        for (position, argument) in arguments.iter().enumerate() {
            if *room == 0 {
                kept.push(format!("{CUT} {} more", arguments.len() - position).into());
                break;
            }
            kept.push(self.text(argument, room, &mut next).into());
        }
        kept
    }

    fn text(&self, text: &str, room: &mut usize, next: &mut NextWord) -> String {
        // A body of a request, or the arguments of another tool.
        if *next == NextWord::Plain
            && text.trim_start().starts_with(['{', '['])
            && let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text)
        {
            let mut own = bounds::TEXT.min(*room);
            let value = self.value(&value, &mut own, 1).to_string();
            return self.cut(&value, room);
        }
        let named = redact_named_values(text, next);
        self.cut(&named, room)
    }

    fn cut(&self, text: &str, room: &mut usize) -> String {
        let text = self.short(text, bounds::TEXT.min(*room));
        spend(room, text.len().max(1));
        text
    }

    fn denial(&self, denial: &Denied) -> Denied {
        let text = |text: &String| self.short(text, bounds::TEXT);
        Denied {
            kind: cut(&denial.kind, bounds::NAME),
            what: text(&denial.what),
            rule: denial.rule.as_ref().map(text),
            process: denial.process.as_ref().map(text),
            count: denial.count,
            declare: denial.declare.as_ref().map(text),
        }
    }

    fn class(&self, class: &Classified) -> Classified {
        Classified {
            class: cut(&class.class, bounds::NAME),
            severity: cut(&class.severity, bounds::NAME),
            prevented: class.prevented,
            unknown: class.unknown,
            message: self.short(&class.message, bounds::TEXT),
        }
    }
}

fn spend(room: &mut usize, bytes: usize) {
    *room = room.saturating_sub(bytes);
}
