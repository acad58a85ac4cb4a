//! A decision as JSON: the form that `docs/decisions.md` describes.

use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};

use crate::decision::{PathDecision, PathDenial, PathRule, show_bytes};

/// The reason of what is allowed.
const PASSED: &str = "every check passed";

/// ```
/// use serde_json::json;
/// use skillsandbox_path_policy::PathPolicy;
///
/// # let workspace = tempfile::tempdir()?;
/// let policy = PathPolicy::new(workspace.path())?;
/// let arguments = json!({ "file_path": "/etc/passwd" });
/// let answer = serde_json::to_value(policy.judge_call("Read", &arguments))?;
/// assert_eq!((&answer["decision"], &answer["rule"]), (&json!("deny"), &json!("outside-root")));
/// assert_eq!(answer["error"]["code"], "PATH_TRAVERSAL");
/// assert_eq!(answer["error"]["details"]["path"], "/etc/passwd");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl Serialize for PathDecision<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let reason = match self {
            Self::Allow => PASSED.to_owned(),
            Self::Prompt => "the policy asks for confirmation of this tool".to_owned(),
            Self::Deny(denial) => denial.to_string(),
        };
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("decision", self.as_str())?;
        map.serialize_entry("rule", &self.rule().map(PathRule::code))?;
        map.serialize_entry("reason", &reason)?;
        map.serialize_entry("error", &self.denial().map(ErrorOf))?;
        map.end()
    }
}

/// `{"code", "message", "details"}`.
struct ErrorOf<'a>(&'a PathDenial<'a>);

impl Serialize for ErrorOf<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let code = self.0.rule().error_code();
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("code", code.as_str())?;
        map.serialize_entry("message", code.message())?;
        match self.0.rule().expected() {
            Some(expected) => map.serialize_entry(
                "details",
                &ParameterDetails {
                    parameter: self.0.argument().map_or_else(|| "arguments".to_owned(), shown),
                    value: None,
                    rule: self.0.rule().code(),
                    expected,
                },
            )?,
            None => map.serialize_entry(
                "details",
                &PathDetails {
                    tool: self.0.tool().map(shown),
                    argument: self.0.argument().map(shown),
                    path: Some(self.0.path())
                        .filter(|path| !path.is_empty())
                        .map(|path| show_bytes(path).to_string()),
                },
            )?,
        }
        map.end()
    }
}

/// Which path was refused.
#[derive(Serialize)]
struct PathDetails {
    tool: Option<String>,
    argument: Option<String>,
    path: Option<String>,
}

/// Which argument is not one, in the form in which a skill's parameters are refused. Its value is not repeated.
#[derive(Serialize)]
struct ParameterDetails {
    parameter: String,
    value: Option<()>,
    rule: &'static str,
    expected: &'static str,
}

fn shown(text: &str) -> String {
    show_bytes(text.as_bytes()).to_string()
}

/// The kind of a denial, for programs: the `code` of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PathErrorCode {
    /// A path is not one that the call may touch.
    PathTraversal,
    /// The tool may not be called.
    ToolDenied,
    /// The arguments are not such as the tool takes.
    InvalidParameters,
}

impl PathErrorCode {
    /// The code: `PATH_TRAVERSAL`, `TOOL_DENIED` or `INVALID_PARAMETERS`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PathTraversal => "PATH_TRAVERSAL",
            Self::ToolDenied => "TOOL_DENIED",
            Self::InvalidParameters => "INVALID_PARAMETERS",
        }
    }

    fn message(self) -> &'static str {
        match self {
            Self::PathTraversal => "Path traversal blocked",
            Self::ToolDenied => "Tool denied",
            Self::InvalidParameters => "Parameter validation failed",
        }
    }
}

impl PathRule {
    /// The kind of its denials.
    #[must_use]
    pub fn error_code(self) -> PathErrorCode {
        if self.is_about_mode() {
            PathErrorCode::ToolDenied
        } else if self.expected().is_some() {
            PathErrorCode::InvalidParameters
        } else {
            PathErrorCode::PathTraversal
        }
    }

    /// What the arguments should be, for rules about the arguments and not about a path in them.
    fn expected(self) -> Option<&'static str> {
        match self {
            Self::WrongType => Some("string"),
            Self::ArgumentsNotObject => Some("object"),
            Self::MissingPath => Some("a path"),
            Self::TooManyPaths => Some("at most 1024 paths"),
            Self::TooNested => Some("at most 64 levels"),
            Self::DuplicateKey => Some("JSON with each key once"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{PathPolicy, ToolMode};

    fn answer(tool: &str, arguments: &Value) -> Value {
        let folder = tempfile::tempdir().unwrap();
        let policy = PathPolicy::builder()
            .root(folder.path())
            .mode("Write", ToolMode::Prompt)
            .mode("Edit", ToolMode::Deny);
        serde_json::to_value(policy.build().unwrap().judge_call(tool, arguments)).unwrap()
    }

    #[test]
    fn every_decision_has_the_same_keys() {
        for (tool, arguments, decision, code) in [
            ("Read", json!({ "path": "a" }), "allow", None),
            ("Write", json!({ "path": "a" }), "prompt", None),
            ("Read", json!({ "path": "../a" }), "deny", Some("PATH_TRAVERSAL")),
            ("Edit", json!({ "path": "a" }), "deny", Some("TOOL_DENIED")),
            ("Read", json!({ "path": 7 }), "deny", Some("INVALID_PARAMETERS")),
            ("Read", json!(["a"]), "deny", Some("INVALID_PARAMETERS")),
            ("Read", json!({}), "deny", Some("INVALID_PARAMETERS")),
        ] {
            let answer = answer(tool, &arguments);
            let keys: Vec<&str> = answer.as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(keys, ["decision", "error", "reason", "rule"], "{answer}");
            assert_eq!(answer["decision"], decision, "{answer}");
            assert_eq!(answer["error"]["code"].as_str(), code, "{answer}");
            assert_eq!(answer["rule"].is_null(), code.is_none(), "{answer}");
            assert!(!answer["reason"].as_str().unwrap().is_empty(), "{answer}");
        }
    }

    #[test]
    fn a_refused_argument_has_the_details_of_a_refused_parameter() {
        let answer = answer("Read", &json!({ "path": 7 }));
        assert_eq!(
            answer["error"],
            json!({ "code": "INVALID_PARAMETERS", "message": "Parameter validation failed",
                "details": { "parameter": "path", "value": null, "rule": "wrong-type", "expected": "string" } })
        );
    }

    #[test]
    fn details_hold_nothing_that_deceives() {
        let answer = answer("Read", &json!({ "path": "/a\u{202e}\u{1b}[2J" })).to_string();
        assert!(!answer.contains('\u{202e}') && !answer.contains("\\u001b"), "{answer}");
    }
}
