//! The values a skill takes: their rules, and the check of a call against them.

use std::collections::HashSet;

use serde::Serialize;
use serde_json::{Map, Value, json};
use skillsandbox_terms::ParameterType;
use skillsandbox_text::{REDACTED, is_secret_name, shorten};

use crate::diagnostic::{Code, Diagnostic, DiagnosticSink, Fault, Span, Spanned, quoted};
use crate::filesystem::FileAccess;
use crate::pattern::ParameterPattern;
use crate::raw;

/// All compiled expressions of one manifest together. Compiling takes about 12 ms for each MiB, so this bounds the time
/// that hostile expressions cost.
const PATTERNS_SIZE: usize = 1536 * 1024;
/// Characters times compiled bytes that matching the defaults of one manifest may cost: about 10 ms.
const DEFAULTS_WORK: usize = 12_000_000;
/// Most characters of a value that is matched. Matching takes time in proportion to the text and to the compiled
/// expression; with the bound on a compiled expression the worst is about a second.
const MAX_MATCHED: u64 = 4096;
/// Most violations of one call that are kept.
const MAX_VIOLATIONS: usize = 50;
/// Most parameters of one skill.
const MAX_PARAMETERS: usize = 64;
/// Most characters of a value that an error repeats.
const MAX_SHOWN: usize = 200;

/// Whether a value is of a type.
fn fits(kind: ParameterType, value: &Value) -> bool {
    match kind {
        ParameterType::String | ParameterType::Path => value.is_string(),
        ParameterType::Number => value.is_number(),
        ParameterType::Boolean => value.is_boolean(),
        ParameterType::Array => value.is_array(),
        ParameterType::Object => value.is_object(),
    }
}

/// One value a skill takes, with the rules it must keep.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Parameter {
    /// Its name.
    pub name: Spanned<String>,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: ParameterType,
    /// What the run may do with a path; `None` for every other type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<FileAccess>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it must be given.
    pub required: bool,
    /// Whether its value may never appear in output, errors or traces.
    pub secret: bool,
    /// What it is when it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// What text must match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<ParameterPattern>,
    /// Fewest characters or items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_length: Option<u64>,
    /// Most characters or items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u64>,
    /// Least number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Greatest number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// The values there are; empty for any.
    #[serde(rename = "enum", skip_serializing_if = "Vec::is_empty")]
    pub one_of: Vec<Value>,
}

/// What is left for one manifest's expressions.
struct Budget {
    patterns: usize,
    matching: usize,
}

/// One rule that one value breaks.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ParameterViolation {
    /// The parameter's name.
    pub parameter: String,
    /// The value, shortened; `[REDACTED]` for a secret, for a name that sounds like one, and for a name the
    /// manifest does not know (it may be a secret's, misspelt).
    pub value: Value,
    /// The rule: `required`, `unknown`, `type`, `pattern`, `min_length`, `max_length`, `min`, `max` or `enum`.
    pub rule: &'static str,
    /// What the rule asks for.
    pub expected: Value,
}

impl ParameterViolation {
    /// A rule that something else than a skill's parameters breaks, such as a request. The value is not repeated.
    pub fn new(parameter: &str, rule: &'static str, expected: impl Into<Value>) -> Self {
        Self {
            parameter: shorten(parameter, MAX_SHOWN, "…"),
            value: Value::Null,
            rule,
            expected: expected.into(),
        }
    }
}

/// Why a call's values are refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("parameter validation failed: {}", summary(.violations))]
#[non_exhaustive]
pub struct InvalidParameters {
    /// The broken rules, at least one, at most 50.
    pub violations: Vec<ParameterViolation>,
    /// How many further ones were counted but not kept.
    pub omitted: usize,
}

impl InvalidParameters {
    /// The code of [`Self::to_json`].
    pub const CODE: &'static str = "INVALID_PARAMETERS";

    /// The error as an agent receives it. `details` is the first violation; further ones are under `more`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut error = json!({
            "code": Self::CODE,
            "message": "Parameter validation failed",
            "details": self.violations.first(),
        });
        if let (Some(rest), Some(error)) =
            (self.violations.get(1..).filter(|r| !r.is_empty()), error.as_object_mut())
        {
            error.insert("more".to_owned(), json!(rest));
        }
        json!({ "error": error })
    }
}

impl From<ParameterViolation> for InvalidParameters {
    fn from(violation: ParameterViolation) -> Self {
        Self { violations: vec![violation], omitted: 0 }
    }
}

fn summary(violations: &[ParameterViolation]) -> String {
    let each = violations
        .iter()
        .map(|v| format!("{} breaks {} (expected {})", quoted(&v.parameter), v.rule, v.expected));
    each.collect::<Vec<_>>().join("; ")
}

/// Checks a call's values; the result has the defaults filled in.
pub(crate) fn validate(
    parameters: &[Parameter],
    values: &Value,
) -> Result<Map<String, Value>, InvalidParameters> {
    let Some(given) = values.as_object() else {
        let violation = ParameterViolation {
            parameter: String::new(),
            value: redacted(),
            rule: "type",
            expected: json!("object"),
        };
        return Err(InvalidParameters { violations: vec![violation], omitted: 0 });
    };
    let mut violations = Vec::new();
    let mut accepted = Map::new();
    for parameter in parameters {
        match given.get(&parameter.name.value).or(parameter.default.as_ref()) {
            Some(value) => {
                violations.extend(parameter.broken_rules(value));
                accepted.insert(parameter.name.value.clone(), value.clone());
            }
            None if parameter.required => {
                let expected = json!(parameter.kind);
                violations.push(ParameterViolation {
                    parameter: parameter.name.value.clone(),
                    value: Value::Null,
                    rule: "required",
                    expected,
                });
            }
            None => {}
        }
    }
    let known: Vec<_> = parameters.iter().map(|p| p.name.as_str()).collect();
    let mut unknown = given.keys().filter(|name| !known.contains(&name.as_str()));
    for name in unknown.by_ref().take(MAX_VIOLATIONS.saturating_sub(violations.len())) {
        violations.push(ParameterViolation {
            parameter: shorten(name, MAX_SHOWN, "…"),
            value: redacted(),
            rule: "unknown",
            expected: json!(known),
        });
    }
    let omitted = unknown.count();
    if violations.is_empty() && omitted == 0 {
        Ok(accepted)
    } else {
        Err(InvalidParameters { violations, omitted })
    }
}

fn redacted() -> Value {
    json!(REDACTED)
}

impl Parameter {
    /// The rules a value breaks; only the first if its type is wrong.
    fn broken_rules(&self, value: &Value) -> Vec<ParameterViolation> {
        let mut broken: Vec<(&'static str, Value)> = Vec::new();
        if !fits(self.kind, value) {
            broken.push(("type", json!(self.kind)));
            return self.violations(value, broken);
        }
        let length =
            value.as_str().map(|text| text.chars().count()).or_else(|| value.as_array().map(Vec::len));
        if let Some(length) = length.map(|length| length as u64) {
            let most =
                if self.pattern.is_some() { self.max_length.or(Some(MAX_MATCHED)) } else { self.max_length };
            broken.extend(
                self.min_length.filter(|least| length < *least).map(|least| ("min_length", json!(least))),
            );
            broken.extend(most.filter(|most| length > *most).map(|most| ("max_length", json!(most))));
        }
        // A text of the wrong length is not matched: that is what bounds the time.
        if let (true, Some(text), Some(pattern)) = (broken.is_empty(), value.as_str(), &self.pattern)
            && !pattern.is_match(text)
        {
            broken.push(("pattern", json!(pattern)));
        }
        if let Some(number) = value.as_f64() {
            broken.extend(self.min.filter(|least| number < *least).map(|least| ("min", json!(least))));
            broken.extend(self.max.filter(|most| number > *most).map(|most| ("max", json!(most))));
        }
        if !self.one_of.is_empty() && !self.one_of.iter().any(|one| same(one, value)) {
            broken.push(("enum", json!(self.one_of)));
        }
        self.violations(value, broken)
    }

    fn violations(&self, value: &Value, broken: Vec<(&'static str, Value)>) -> Vec<ParameterViolation> {
        let shown = if self.secret || is_secret_name(&self.name) {
            redacted()
        } else {
            match value {
                Value::String(text) => Value::String(shorten(text, MAX_SHOWN, "…")),
                // What lies inside has names of its own, some of them of secrets.
                Value::Array(items) => json!(format!("[array of {}]", items.len())),
                Value::Object(entries) => json!(format!("[object of {}]", entries.len())),
                other => other.clone(),
            }
        };
        let violation = |(rule, expected)| ParameterViolation {
            parameter: self.name.value.clone(),
            value: shown.clone(),
            rule,
            expected,
        };
        broken.into_iter().map(violation).collect()
    }

    pub(crate) fn lower_all(raw: &[Option<raw::Parameter>], sink: &mut DiagnosticSink) -> Vec<Self> {
        if let Some(extra) = raw.get(MAX_PARAMETERS..).and_then(|rest| rest.iter().flatten().next()) {
            let message = format!("more than {MAX_PARAMETERS} parameters");
            sink.push(Diagnostic::new(Code::TooMany, extra.name.span, message).at("parameters"));
            return Vec::new();
        }
        let mut names = HashSet::new();
        let mut budget = Budget { patterns: PATTERNS_SIZE, matching: DEFAULTS_WORK };
        let mut checked = Vec::with_capacity(raw.len());
        for (i, parameter) in raw::filled(raw) {
            let path = format!("parameters[{i}]");
            if !names.insert(parameter.name.value.as_str()) {
                let message = format!("a second parameter {}", quoted(&parameter.name.value));
                sink.push(
                    Diagnostic::new(Code::Repeated, parameter.name.span, message).at(format!("{path}.name")),
                );
            }
            checked.extend(Self::lower(parameter, &path, &mut budget, sink));
        }
        checked
    }

    fn lower(
        raw: &raw::Parameter,
        path: &str,
        budget: &mut Budget,
        sink: &mut DiagnosticSink,
    ) -> Option<Self> {
        let name = sink.check(&raw.name, format_args!("{path}.name"), |text| check_name(text));
        let kind = sink.check(&raw.kind, format_args!("{path}.type"), |text| text.parse::<ParameterType>());
        let pattern = match &raw.pattern {
            Some(written) => Some(
                sink.check(written, format_args!("{path}.pattern"), |text| {
                    ParameterPattern::parse(text, &mut budget.patterns)
                })?
                .value,
            ),
            None => None,
        };
        let access = match &raw.access {
            Some(written) => {
                Some(sink.check(written, format_args!("{path}.access"), |text| check_access(text))?.value)
            }
            None => None,
        };
        let kind = kind?.value;
        let access = if kind == ParameterType::Path { access.or(Some(FileAccess::Read)) } else { access };
        let parameter = Self {
            name: name?,
            kind,
            access,
            description: raw.description.as_ref().map(|text| text.value.clone()),
            required: raw.required.is_some_and(|flag| flag.value),
            secret: raw.secret.is_some_and(|flag| flag.value),
            default: raw.default.as_ref().map(|value| value.value.clone()),
            pattern,
            min_length: raw.min_length.map(|number| number.value),
            max_length: raw.max_length.map(|number| number.value),
            min: raw.min.map(|number| number.value),
            max: raw.max.map(|number| number.value),
            one_of: raw
                .one_of
                .iter()
                .flat_map(|list| raw::filled(&list.value))
                .map(|(_, one)| one.value.clone())
                .collect(),
        };
        let mut complain = |span: Span, field: &str, message: String| {
            let diagnostic = Diagnostic::new(Code::InvalidParameter, span, message);
            sink.push(diagnostic.at(format!("{path}.{field}")));
        };
        parameter.check_rules_fit_type(raw, &mut complain);
        parameter.check_rules_agree(raw, &mut budget.matching, &mut complain);
        Some(parameter)
    }

    fn check_rules_fit_type(&self, raw: &raw::Parameter, complain: &mut dyn FnMut(Span, &str, String)) {
        use ParameterType::{Array, Number, Path, String};
        let rules = [
            ("access", raw.access.as_ref().map(|rule| rule.span), &[Path][..]),
            ("pattern", raw.pattern.as_ref().map(|rule| rule.span), &[String, Path]),
            ("min_length", raw.min_length.map(|rule| rule.span), &[String, Path, Array]),
            ("max_length", raw.max_length.map(|rule| rule.span), &[String, Path, Array]),
            ("min", raw.min.map(|rule| rule.span), &[Number]),
            ("max", raw.max.map(|rule| rule.span), &[Number]),
        ];
        for (rule, span, types) in rules {
            if let Some(span) = span.filter(|_| !types.contains(&self.kind)) {
                complain(span, rule, format!("`{rule}` does not apply to the type `{}`", self.kind));
            }
        }
        for (i, value) in raw.one_of.iter().flat_map(|list| raw::filled(&list.value)) {
            if !fits(self.kind, value) {
                complain(
                    value.span,
                    &format!("enum[{i}]"),
                    format!("this value is not of the type `{}`", self.kind),
                );
            }
        }
    }

    fn check_rules_agree(
        &self,
        raw: &raw::Parameter,
        matching: &mut usize,
        complain: &mut dyn FnMut(Span, &str, String),
    ) {
        if let (Some(least), Some(most)) = (raw.min_length, raw.max_length)
            && least.value > most.value
        {
            complain(most.span, "max_length", "`max_length` is less than `min_length`".to_owned());
        }
        if let (Some(_), Some(most)) = (&raw.pattern, raw.max_length.filter(|most| most.value > MAX_MATCHED))
        {
            let message = format!("with a `pattern`, `max_length` is at most {MAX_MATCHED}");
            complain(most.span, "max_length", message);
        }
        if let (Some(least), Some(most)) = (raw.min, raw.max)
            && least.value > most.value
        {
            complain(most.span, "max", "`max` is less than `min`".to_owned());
        }
        if let Some(list) = raw.one_of.as_ref().filter(|list| list.is_empty()) {
            complain(list.span, "enum", "an empty `enum` accepts nothing".to_owned());
        }
        if let Some(list) = raw.one_of.as_ref().filter(|_| self.secret) {
            complain(
                list.span,
                "enum",
                "a parameter with an `enum` cannot be secret: the manifest lists its values".to_owned(),
            );
        }
        let Some(default) = &raw.default else { return };
        if self.kind == ParameterType::Path {
            let message = "a path has no default: which of their files a skill gets is the caller's to say";
            complain(default.span, "default", message.to_owned());
        }
        if let (Some(pattern), Some(text)) = (&self.pattern, default.as_str()) {
            let work = pattern.work(text);
            if work > *matching {
                complain(default.span, "default", "the default is too long for its pattern".to_owned());
                return;
            }
            *matching -= work;
        }
        if self.required {
            complain(default.span, "default", "a required parameter needs no default".to_owned());
        }
        if self.secret {
            complain(
                default.span,
                "default",
                "a parameter with a default cannot be secret: the manifest shows it".to_owned(),
            );
        }
        for broken in self.broken_rules(default) {
            complain(default.span, "default", format!("the default breaks the rule `{}`", broken.rule));
        }
    }
}

/// JSON's equality, with 1 and 1.0 the same number, and whole numbers compared exactly.
fn same(a: &Value, b: &Value) -> bool {
    let whole = |value: &Value| value.is_i64() || value.is_u64();
    a == b || (a.is_number() && b.is_number() && !(whole(a) && whole(b)) && a.as_f64() == b.as_f64())
}

fn check_access(text: &str) -> Result<FileAccess, Fault> {
    match text {
        "read" => Ok(FileAccess::Read),
        "write" => Ok(FileAccess::Write),
        _ => {
            let message = format!("{} is not an access", quoted(text));
            Err(Fault::new(Code::InvalidParameter, message).help("write `read` or `write`"))
        }
    }
}

fn check_name(text: &str) -> Result<String, Fault> {
    let sane = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if text.len() > 64 || !text.starts_with(|c: char| c.is_ascii_alphabetic()) || !text.chars().all(sane) {
        let message = format!("{} is not a parameter's name", quoted(text));
        return Err(
            Fault::new(Code::InvalidName, message).help("a letter, then letters, digits, `-` and `_`")
        );
    }
    Ok(text.to_owned())
}
