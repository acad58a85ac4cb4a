//! The protocol of decisions: one JSON object a line asks, one answers. `docs/decisions.md` describes it.
//!
//! `check-command --stdin`, `check-path --stdin` and the MCP server's check tools answer with the same object, a [`DecisionAnswer`]. What
//! is in it is the decision's own [`Serialize`]: the policies know their rules, this module knows the protocol.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap as _, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use skillsandbox_manifest::{InvalidParameters, ParameterViolation};

/// The version of the protocol: the `version` of every answer.
pub const DECISION_VERSION: u32 = 1;

/// Longest line that is read: the arguments of a tool may hold the whole content of a file.
pub const MAX_REQUEST_BYTES: usize = 16 * 1024 * 1024;

/// Longest `id` that is repeated, in bytes as it is written.
pub const MAX_ID_BYTES: usize = 1024;

/// Most keys that a request may have before it is refused without being read further: no request needs more than three.
const MAX_KEYS: usize = 64;

/// The rule by which a request is refused that is none.
const INVALID_REQUEST: &str = "invalid-request";

/// What an answer is about: the `id` of the request, repeated exactly as it was written. A string, or a number.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct RequestId(Box<RawValue>);

impl RequestId {
    fn read(raw: &RawValue) -> Result<Option<Self>, ParameterViolation> {
        if raw.get() == "null" {
            return Ok(None);
        }
        if raw.get().len() > MAX_ID_BYTES {
            return Err(ParameterViolation::new("id", "max_length", MAX_ID_BYTES));
        }
        let is_number = raw.get().starts_with(|c: char| c == '-' || c.is_ascii_digit());
        // A text may hold half of a surrogate pair, which no reader of the answer could take.
        let is_text =
            || raw.get().starts_with('"') && serde_json::from_str::<Cow<'_, str>>(raw.get()).is_ok();
        if is_number || is_text() {
            Ok(Some(Self(raw.to_owned())))
        } else {
            Err(ParameterViolation::new("id", "type", "string or number"))
        }
    }
}

/// A decision in the form of the protocol.
///
/// ```
/// use serde_json::json;
/// use skillsandbox_run::DecisionAnswer;
///
/// // Any decision that serializes as an object: of `skillsandbox-path-policy`, of `skillsandbox-command-policy`.
/// let decision = json!({ "decision": "allow", "rule": null, "reason": "every check passed", "error": null });
/// let answer = serde_json::to_value(DecisionAnswer::new(decision).with_argv(vec!["ls".to_owned()]))?;
/// assert_eq!((&answer["version"], &answer["id"], &answer["argv"]), (&json!(1), &json!(null), &json!(["ls"])));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Serialize)]
pub struct DecisionAnswer<D> {
    version: u32,
    id: Option<RequestId>,
    #[serde(flatten)]
    decision: D,
    #[serde(skip_serializing_if = "Option::is_none")]
    argv: Option<Vec<String>>,
}

impl<D: Serialize> DecisionAnswer<D> {
    /// The answer that holds this decision.
    pub fn new(decision: D) -> Self {
        Self { version: DECISION_VERSION, id: None, decision, argv: None }
    }

    /// The program and its arguments, of a command that is allowed.
    #[must_use]
    pub fn with_argv(mut self, argv: Vec<String>) -> Self {
        self.argv = Some(argv);
        self
    }
}

/// A request that cannot be read. It serializes as a denial, so that a caller who only looks for `allow` is safe.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(transparent)]
pub struct InvalidRequest(#[from] InvalidParameters);

impl InvalidRequest {
    /// That a value of a request is not JSON, or not JSON that every reader reads alike.
    #[must_use]
    pub fn unreadable_json(key: &str, error: &serde_json::Error) -> Self {
        ParameterViolation::new(key, "json", format!("JSON with each key once; {error}")).into()
    }
}

impl From<ParameterViolation> for InvalidRequest {
    fn from(violation: ParameterViolation) -> Self {
        Self(violation.into())
    }
}

impl Serialize for InvalidRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("decision", "deny")?;
        map.serialize_entry("rule", INVALID_REQUEST)?;
        map.serialize_entry("reason", &self.0.to_string())?;
        map.serialize_entry("error", &self.0.to_json().get("error"))?;
        map.end()
    }
}

/// The keys and values of a request.
#[derive(Debug)]
pub struct DecisionRequest<'a> {
    fields: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> DecisionRequest<'a> {
    /// A text.
    ///
    /// # Errors
    /// It is missing, or is not a text.
    pub fn text(&self, key: &str) -> Result<String, InvalidRequest> {
        let raw = self.json(key)?;
        if raw.starts_with('"') {
            return serde_json::from_str(raw).map_err(|error| InvalidRequest::unreadable_json(key, &error));
        }
        Err(ParameterViolation::new(key, "type", "string").into())
    }

    /// A value as it was written: JSON, in which keys may stand twice.
    ///
    /// # Errors
    /// It is missing.
    pub fn json(&self, key: &str) -> Result<&'a str, InvalidRequest> {
        let found = self.fields.iter().find(|(name, _)| name == key);
        found
            .map(|(_, raw)| raw.get())
            .ok_or_else(|| ParameterViolation::new(key, "required", "a value").into())
    }
}

/// Answers one line: reads the request, which may have an `id` and the named keys, lets `decide` decide, and returns the line to be sent.
///
/// Whatever the line holds, there is an answer, with the request's `id` wherever that could be read.
///
/// # Errors
/// The decision cannot be written as JSON.
pub fn answer_request<D: Serialize>(
    line: &[u8],
    keys: &[&str],
    decide: impl FnOnce(&DecisionRequest<'_>) -> Result<DecisionAnswer<D>, InvalidRequest>,
) -> serde_json::Result<String> {
    let mut id = None;
    let request = read(line, keys, &mut id);
    if matches!(&request, Err(ReadError::Broken(_))) {
        id = id_of_broken_line(line);
    }
    match request.map_err(InvalidRequest::from).and_then(|request| decide(&request)) {
        Ok(mut answer) => {
            answer.id = id;
            serde_json::to_string(&answer)
        }
        Err(invalid) => {
            let mut answer = DecisionAnswer::new(invalid);
            answer.id = id;
            serde_json::to_string(&answer)
        }
    }
}

/// The answer to a line that is longer than [`MAX_REQUEST_BYTES`], by its beginning, which only an `id` is looked for in.
///
/// # Errors
/// Never: what it holds can be written as JSON.
pub fn answer_long_line(beginning: &[u8]) -> serde_json::Result<String> {
    let violation = ParameterViolation::new("line", "max_length", MAX_REQUEST_BYTES);
    let mut answer = DecisionAnswer::new(InvalidRequest::from(violation));
    answer.id = id_of_broken_line(beginning);
    serde_json::to_string(&answer)
}

/// The `id` of a line that cannot be read to its end: where it stands before what cannot be read, and once.
fn id_of_broken_line(line: &[u8]) -> Option<RequestId> {
    let text = match std::str::from_utf8(line) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(line.get(..error.valid_up_to())?).ok()?,
    };
    let mut seen = SeenIds::default();
    let mut reader = serde_json::Deserializer::from_str(text);
    // What it fails at was reported; only what came before counts.
    let _ = BrokenFields { seen: &mut seen }.deserialize(&mut reader);
    match seen {
        SeenIds { first: Some(id), several: false } => RequestId::read(id).ok().flatten(),
        SeenIds { .. } => None,
    }
}

fn read<'a>(
    line: &'a [u8],
    keys: &[&str],
    id: &mut Option<RequestId>,
) -> Result<DecisionRequest<'a>, ReadError> {
    let broken = |expected: String| ReadError::Broken(ParameterViolation::new("line", "json", expected));
    let text = std::str::from_utf8(line).map_err(|error| broken(format!("UTF-8; {error}")))?;
    let read: Fields<'a> =
        serde_json::from_str(text).map_err(|error| broken(format!("one JSON object; {error}")))?;
    let Fields { mut fields, twice } = read;
    let is_id = |key: &str| key == "id";
    if let Some(at) = fields.iter().position(|(key, _)| is_id(key))
        && !twice.as_deref().is_some_and(is_id)
    {
        *id = RequestId::read(fields.remove(at).1)?;
    }
    if let Some(key) = twice {
        return Err(ParameterViolation::new(&key, "duplicate", "each key once").into());
    }
    // A misspelt key could hide something from the check.
    if let Some((key, _)) = fields.iter().find(|(key, _)| !keys.contains(&key.as_ref())) {
        let known: Vec<&str> = keys.iter().copied().chain(["id"]).collect();
        return Err(ParameterViolation::new(key, "unknown", known).into());
    }
    Ok(DecisionRequest { fields })
}

/// Why a line is no request.
enum ReadError {
    /// It is not JSON, or not an object, or has too many keys.
    Broken(ParameterViolation),
    /// It is an object that is not as it has to be.
    Violation(ParameterViolation),
}

impl From<ParameterViolation> for ReadError {
    fn from(violation: ParameterViolation) -> Self {
        Self::Violation(violation)
    }
}

impl From<ReadError> for InvalidRequest {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Broken(violation) | ReadError::Violation(violation) => violation.into(),
        }
    }
}

/// The values of `id` that were seen before a line broke off.
#[derive(Default)]
struct SeenIds<'a> {
    first: Option<&'a RawValue>,
    several: bool,
}

/// Reads an object for its `id` alone, as far as it goes.
struct BrokenFields<'s, 'de> {
    seen: &'s mut SeenIds<'de>,
}

impl<'de> DeserializeSeed<'de> for BrokenFields<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for BrokenFields<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        for _ in 0..MAX_KEYS {
            let Some(key) = object.next_key::<String>()? else { break };
            let value: &RawValue = object.next_value()?;
            if key == "id" {
                self.seen.several |= self.seen.first.replace(value).is_some();
            }
        }
        Ok(())
    }
}

/// The keys of an object, and the first that stands twice.
struct Fields<'a> {
    fields: Vec<(Cow<'a, str>, &'a RawValue)>,
    twice: Option<String>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Fields<'de>, A::Error> {
        let (mut fields, mut twice): (Vec<(Cow<'de, str>, &RawValue)>, _) = (Vec::new(), None);
        while let Some(key) = object.next_key::<String>()? {
            if fields.len() == MAX_KEYS {
                return Err(de::Error::custom(format_args!("more than {MAX_KEYS} keys")));
            }
            if twice.is_none() && fields.iter().any(|(known, _)| *known == key) {
                twice = Some(key.clone());
            }
            fields.push((Cow::Owned(key), object.next_value()?));
        }
        Ok(Fields { fields, twice })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn answer(line: &str) -> Value {
        let decide = |request: &DecisionRequest<'_>| {
            let command = request.text("command")?;
            Ok(DecisionAnswer::new(json!({ "decision": "allow", "command": command })))
        };
        serde_json::from_str(&answer_request(line.as_bytes(), &["command"], decide).unwrap()).unwrap()
    }

    #[test]
    fn ids_come_back_as_they_were_written() {
        for id in ["7", "-1", "1e2", "12345678901234567890123", "1.50", "\"a\\u0062\"", "\"\"", "null"] {
            let line = format!("{{\"id\":{id},\"command\":\"ls\"}}");
            let decide = |_: &DecisionRequest<'_>| Ok(DecisionAnswer::new(json!({ "decision": "allow" })));
            let answer = answer_request(line.as_bytes(), &["command"], decide).unwrap();
            assert_eq!(answer, format!("{{\"version\":1,\"id\":{id},\"decision\":\"allow\"}}"));
        }
        assert_eq!(answer(r#"{"command":"ls"}"#)["id"], Value::Null);
        for id in ["true", "[1]", "{}", "\"\\ud800\"", &format!("\"{}\"", "x".repeat(MAX_ID_BYTES))] {
            let answer = answer(&format!("{{\"id\":{id},\"command\":\"ls\"}}"));
            assert_eq!((&answer["decision"], &answer["id"]), (&json!("deny"), &Value::Null), "{id}");
            assert_eq!(answer["error"]["details"]["parameter"], "id", "{id}");
        }
    }

    #[test]
    fn a_line_that_is_no_request_is_denied_with_its_id_where_there_is_one() {
        let deep = format!("{{\"id\":1,\"command\":{}", "[".repeat(100_000));
        let many: Vec<String> = (0..100).map(|n| format!("\"k{n}\":0")).collect();
        let many = format!("{{\"id\":1,{}}}", many.join(","));
        for (line, id, parameter, rule) in [
            (r#"{"id":1,"command":7}"#, json!(1), "command", "type"),
            (r#"{"id":1}"#, json!(1), "command", "required"),
            (r#"{"id":1,"command":"ls","other":1}"#, json!(1), "other", "unknown"),
            (r#"{"id":1,"command":"ls","command":"id"}"#, json!(1), "command", "duplicate"),
            (r#"{"command":"ls","c\u006fmmand":"id","id":1}"#, json!(1), "command", "duplicate"),
            (r#"{"id":1,"id":2,"command":"ls"}"#, json!(null), "id", "duplicate"),
            (r#"{"id":1,"command":"\ud800"}"#, json!(1), "command", "json"),
            (r#"{"id":1,"command":[[{"a":1}]]}"#, json!(1), "command", "type"),
            (&deep, json!(1), "line", "json"),
            (&many, json!(1), "line", "json"),
            (r#"{"id":1,"command":NaN}"#, json!(1), "line", "json"),
            (r#"{"id":1,"\ud800":1,"command":"ls"}"#, json!(1), "line", "json"),
            (r#"{"id":1,"command":"ls""#, json!(1), "line", "json"),
            (r#"{"id":1,"command":"ls"} {}"#, json!(1), "line", "json"),
            (r#"{"id":1,"id":2,"command":NaN}"#, json!(null), "line", "json"),
            (r#"{"command":NaN,"id":1}"#, json!(null), "line", "json"),
            (r#"{"command":{"id":3},"x":NaN}"#, json!(null), "line", "json"),
            (r#"{"id":{"id":3},"command":NaN}"#, json!(null), "line", "json"),
            ("", json!(null), "line", "json"),
            ("[\"ls\"]", json!(null), "line", "json"),
            ("\"ls\"", json!(null), "line", "json"),
            (r#"{"command":"ls"} {}"#, json!(null), "line", "json"),
        ] {
            let answer = answer(line);
            let short: String = line.chars().take(60).collect();
            assert_eq!((&answer["version"], &answer["decision"]), (&json!(1), &json!("deny")), "{short}");
            assert_eq!((&answer["id"], &answer["rule"]), (&id, &json!("invalid-request")), "{short}");
            let error = &answer["error"];
            assert_eq!(error["code"], "INVALID_PARAMETERS", "{short}");
            let details = (&error["details"]["parameter"], &error["details"]["rule"]);
            assert_eq!(details, (&json!(parameter), &json!(rule)), "{short}");
            assert!(answer.to_string().len() < 2_000, "{short}");
        }
    }

    #[test]
    fn a_line_that_breaks_off_keeps_its_id() {
        let decide = |_: &DecisionRequest<'_>| Ok(DecisionAnswer::new(json!({ "decision": "allow" })));
        let line = b"{\"id\":\"a\",\"command\":\"\xff\"}";
        let answer: Value =
            serde_json::from_str(&answer_request(line, &["command"], decide).unwrap()).unwrap();
        assert_eq!((&answer["decision"], &answer["id"]), (&json!("deny"), &json!("a")));
        let long = format!("{{\"id\":9,\"command\":\"{}", "x".repeat(1000));
        let answer: Value = serde_json::from_str(&answer_long_line(long.as_bytes()).unwrap()).unwrap();
        assert_eq!((&answer["decision"], &answer["id"]), (&json!("deny"), &json!(9)));
        let answer: Value = serde_json::from_str(&answer_long_line(b"xxxx").unwrap()).unwrap();
        assert_eq!((&answer["decision"], &answer["id"]), (&json!("deny"), &Value::Null));
    }
}
