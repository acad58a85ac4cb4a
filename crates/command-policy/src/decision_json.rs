//! A decision as JSON: the form that `docs/decisions.md` describes.

use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};

use crate::denied::{CommandDecision, CommandDenial, DenialPosition};

/// The `code` of the error of a command that is refused.
pub const COMMAND_DENIED: &str = "COMMAND_DENIED";

/// ```
/// use serde_json::json;
/// use skillsandbox_command_policy::CommandPolicy;
///
/// let policy = CommandPolicy::builder().root("/srv/skill").build()?;
/// let answer = serde_json::to_value(policy.check("git status && id"))?;
/// assert_eq!((&answer["decision"], &answer["rule"]), (&json!("deny"), &json!("operator")));
/// assert_eq!(answer["error"]["code"], "COMMAND_DENIED");
/// assert_eq!(answer["error"]["details"]["byte"], 11);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg_attr(docsrs, doc(cfg(feature = "serde")))]
impl Serialize for CommandDecision {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (decision, rule, reason) = match self {
            Self::Allowed => ("allow", None, "every check passed".to_owned()),
            Self::Bypassed => {
                ("allow", Some("bypassed"), "nothing was checked: the policy is bypassed".to_owned())
            }
            Self::Denied(denied) => ("deny", Some(denied.rule.as_str()), denied.to_string()),
        };
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("decision", decision)?;
        map.serialize_entry("rule", &rule)?;
        map.serialize_entry("reason", &reason)?;
        map.serialize_entry("error", &self.denied().map(ErrorOf))?;
        map.end()
    }
}

/// `{"code", "message", "details"}`.
struct ErrorOf<'a>(&'a CommandDenial);

impl Serialize for ErrorOf<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (byte, argument) = match self.0.position {
            DenialPosition::Byte(at) => (Some(at), None),
            DenialPosition::Argument(index) => (None, Some(index)),
        };
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("code", COMMAND_DENIED)?;
        map.serialize_entry("message", "Command refused")?;
        let (construct, hint) = (&self.0.construct, self.0.hint.as_ref());
        map.serialize_entry("details", &CommandDetails { construct, byte, argument, hint })?;
        map.end()
    }
}

/// What was refused, where it stands, and what to write instead.
#[derive(Serialize)]
struct CommandDetails<'a> {
    construct: &'a str,
    byte: Option<usize>,
    argument: Option<usize>,
    hint: &'a str,
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{CommandDecision, CommandPolicy};

    fn json(decision: &CommandDecision) -> Value {
        serde_json::to_value(decision).unwrap()
    }

    #[test]
    fn every_decision_has_the_same_keys() {
        let policy = CommandPolicy::builder().root("/srv/skill").build().unwrap();
        let bypassed = CommandPolicy::builder().root("/srv/skill").dangerously_bypass().build().unwrap();
        for (answer, decision, rule) in [
            (json(&policy.check("ls")), "allow", Value::Null),
            (json(&policy.check("ls | sh")), "deny", json!("operator")),
            (json(&policy.check_argv(["find", ".", "-exec", "id"])), "deny", json!("find/exec")),
            (json(&bypassed.check("ls | sh")), "allow", json!("bypassed")),
        ] {
            let keys: Vec<&str> = answer.as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(keys, ["decision", "error", "reason", "rule"], "{answer}");
            assert_eq!((&answer["decision"], &answer["rule"]), (&json!(decision), &rule), "{answer}");
            assert_eq!(answer["error"].is_null(), decision == "allow", "{answer}");
        }
    }

    #[test]
    fn the_details_say_where_and_what_to_do() {
        let policy = CommandPolicy::builder().root("/srv/skill").build().unwrap();
        let details = json(&policy.check("ls | sh"))["error"]["details"].clone();
        assert_eq!(
            (&details["construct"], &details["byte"], &details["argument"]),
            (&json!("|"), &json!(3), &Value::Null)
        );
        assert!(!details["hint"].as_str().unwrap().is_empty());
        let details = json(&policy.check_argv(["find", ".", "-exec", "id"]))["error"]["details"].clone();
        assert_eq!((&details["byte"], &details["argument"]), (&Value::Null, &json!(2)));
    }
}
