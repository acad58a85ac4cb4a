//! Why a run did not start, or did not come to its own end, in the form that programs read.

use serde::Serialize;
use serde_json::Value;
use skillsandbox_manifest::{InvalidParameters, ParameterViolation};

use crate::refusal::Refusal;
use crate::report::RunReport;
use skillsandbox_terms::EndCause;

/// Why a run failed: the `error` of a report and of the MCP server's `run_skill`.
///
/// Values that break a skill's rules have the form that `docs/manifest.md` describes: the code `INVALID_PARAMETERS`, and `details` with
/// `parameter`, `value`, `rule` and `expected`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RunFailure {
    /// What kind it is, for programs: `INVALID_PARAMETERS`, `SCAN_REFUSED`, `TIMEOUT`, …
    pub code: String,
    /// What happened, for people.
    pub message: String,
    /// The first value that breaks a rule, where the code is `INVALID_PARAMETERS`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// The others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<Value>,
}

impl RunFailure {
    fn new(code: &str, message: String) -> Self {
        Self { code: code.to_owned(), message, details: None, more: Vec::new() }
    }

    fn of_parameters(invalid: &InvalidParameters) -> Self {
        let error = invalid.to_json().get_mut("error").map(Value::take).unwrap_or_default();
        let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default();
        let more = error.get("more").and_then(Value::as_array).cloned().unwrap_or_default();
        Self {
            details: error.get("details").cloned(),
            more,
            ..Self::new(text("code"), text("message").to_owned())
        }
    }

    /// How a run ended that did not come to its own end; `None` for one that did.
    pub(crate) fn of_report(report: &RunReport) -> Option<Self> {
        let ended = match &report.ended {
            Ok(ended) => ended,
            Err(refusal) => return Some(refusal.into()),
        };
        let code = match ended.by {
            EndCause::Itself => return None,
            EndCause::Timeout => "TIMEOUT",
            EndCause::Memory => "MEMORY_LIMIT",
            EndCause::Processes => "PROCESS_LIMIT",
            EndCause::CpuTime => "CPU_TIME_LIMIT",
            EndCause::Stopped => "STOPPED",
            EndCause::Unobserved => "NOT_OBSERVED",
            EndCause::Uncovered => "COVER_REPLACED",
        };
        report.error().map(|message| Self::new(code, message))
    }
}

impl From<&Refusal> for RunFailure {
    fn from(refusal: &Refusal) -> Self {
        let code = match refusal {
            Refusal::Parameters(invalid) => return Self::of_parameters(invalid),
            Refusal::Parameter { name, why } => {
                return Self::of_parameters(&ParameterViolation::new(name, "value", why.as_str()).into());
            }
            Refusal::Load(_) => "INVALID_MANIFEST",
            Refusal::Policy(_) | Refusal::UnknownRules(_) => "INVALID_POLICY",
            Refusal::Folder { .. } => "UNUSABLE_FOLDER",
            Refusal::NoHome => "NO_HOME",
            Refusal::PolicyInSkill(_) => "POLICY_IN_SKILL",
            Refusal::NotASkill(_) => "NOT_A_SKILL",
            Refusal::ForeignManifest { .. } => "FOREIGN_MANIFEST",
            Refusal::UserManifest(_) => "UNUSABLE_USER_MANIFEST",
            Refusal::NotInstalled { .. } => "NOT_INSTALLED",
            Refusal::ChangedOnDisk { .. } => "CHANGED_ON_DISK",
            Refusal::NoCommand { .. } => "NO_COMMAND",
            Refusal::NoWorkspace { .. } => "NO_WORKSPACE",
            Refusal::Workspace { .. } => "UNUSABLE_WORKSPACE",
            Refusal::Ungrantable { .. } => "UNSAFE_GRANT",
            Refusal::Scanned { .. } => "SCAN_REFUSED",
            Refusal::Unjudged { .. } => "SCAN_INCOMPLETE",
            Refusal::Changed(_) => "CHANGED_AFTER_SCAN",
            Refusal::Unscanned(_) => "SCAN_FAILED",
            Refusal::Runtime { .. } => "RUNTIME_UNAVAILABLE",
            Refusal::Gap { .. } => "NOT_ENFORCEABLE",
            Refusal::Arguments(_) => "ARGUMENTS_DENIED",
            Refusal::InItsReach { .. } => "UNSAFE_WRITE_GRANT",
            Refusal::Trace(_) => "TRACE_FAILED",
            Refusal::Secrets(_) => "REDACTION_FAILED",
            Refusal::NotFound(_) => "PROGRAM_NOT_FOUND",
            Refusal::NotExecutable(_) => "PROGRAM_NOT_EXECUTABLE",
            Refusal::Stopped => "STOPPED",
            Refusal::ResolverWish(_) => "RESOLVER_NOT_ALLOWED",
            Refusal::Sandbox(_) => "SANDBOX_FAILED",
        };
        Self::new(code, refusal.to_string())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_that_cannot_be_handed_over_has_the_documented_form() {
        let refusal = Refusal::Parameter { name: "days".into(), why: "given twice".into() };
        assert_eq!(
            serde_json::to_value(RunFailure::from(&refusal)).unwrap(),
            json!({ "code": "INVALID_PARAMETERS", "message": "Parameter validation failed",
                "details": { "parameter": "days", "value": null, "rule": "value", "expected": "given twice" } })
        );
        let failure = RunFailure::from(&Refusal::Stopped);
        assert_eq!((failure.code.as_str(), failure.details), ("STOPPED", None));
    }
}
