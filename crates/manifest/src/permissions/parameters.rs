//! Parameters as they are recorded, shown and compared.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::filesystem::FileAccess;
use crate::parameters::Parameter;

/// A value that a skill takes, with the rules that a caller is held to. What it is for is not among them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ParameterRule {
    /// Its name.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// What a run may do with a path: `read` or `write`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<String>,
    /// Whether it must be given.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    /// Whether its value is kept out of output, errors and traces.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
    /// Its default, as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// What text must match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
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
    /// The values there are, each as JSON; empty for any.
    #[serde(rename = "enum", skip_serializing_if = "Vec::is_empty")]
    pub one_of: Vec<String>,
}

impl ParameterRule {
    pub(super) fn of(parameter: &Parameter) -> Self {
        let Parameter {
            name,
            kind,
            access,
            description: _,
            required,
            secret,
            default,
            pattern,
            min_length,
            max_length,
            min,
            max,
            one_of,
        } = parameter;
        Self {
            name: name.value.clone(),
            kind: kind.as_str().to_owned(),
            access: access.map(|access| word_of(access).to_owned()),
            required: *required,
            secret: *secret,
            default: default.as_ref().map(ToString::to_string),
            pattern: pattern.as_ref().map(|pattern| pattern.as_str().to_owned()),
            min_length: *min_length,
            max_length: *max_length,
            min: *min,
            max: *max,
            one_of: one_of.iter().map(ToString::to_string).collect(),
        }
    }

    /// Whether every value that `other` lets through is let through here, by itself (its default) or by a caller. A value that is kept out
    /// of traces covers none that is shown there.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let Self {
            name,
            kind,
            access,
            required: _, // whether a caller must give it widens nothing
            secret,
            default,
            pattern,
            min_length,
            max_length,
            min,
            max,
            one_of,
        } = self;
        *name == other.name
            && *kind == other.kind
            && (*access == other.access || access.as_deref() == Some(word_of(FileAccess::Write)))
            && (!secret || other.secret)
            && (other.default.is_none() || *default == other.default)
            && (pattern.is_none() || *pattern == other.pattern)
            && at_least(*min_length, other.min_length)
            && at_most(*max_length, other.max_length)
            && at_least(*min, other.min)
            && at_most(*max, other.max)
            && (one_of.is_empty()
                || !other.one_of.is_empty() && other.one_of.iter().all(|value| one_of.contains(value)))
    }
}

fn word_of(access: FileAccess) -> &'static str {
    match access {
        FileAccess::Read => "read",
        FileAccess::Write => "write",
    }
}

/// Whether a lower bound is kept by another.
fn at_least<T: PartialOrd>(mine: Option<T>, other: Option<T>) -> bool {
    mine.is_none_or(|mine| other.is_some_and(|other| other >= mine))
}

/// Whether an upper bound is kept by another.
fn at_most<T: PartialOrd>(mine: Option<T>, other: Option<T>) -> bool {
    mine.is_none_or(|mine| other.is_some_and(|other| other <= mine))
}

impl fmt::Display for ParameterRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            kind,
            access,
            required,
            secret,
            default,
            pattern,
            min_length,
            max_length,
            min,
            max,
            one_of,
        } = self;
        write!(f, "{name}: {kind}")?;
        if let Some(access) = access {
            write!(f, " to {access}")?;
        }
        for (holds, word) in [(*required, "required"), (*secret, "secret")] {
            if holds {
                write!(f, ", {word}")?;
            }
        }
        let number = |number: &Option<f64>| number.map(|number| number.to_string());
        let length = |length: &Option<u64>| length.map(|length| length.to_string());
        for (word, value) in [
            ("default", default.clone()),
            ("pattern", pattern.clone()),
            ("min_length", length(min_length)),
            ("max_length", length(max_length)),
            ("min", number(min)),
            ("max", number(max)),
            ("one of", (!one_of.is_empty()).then(|| one_of.join(" "))),
        ] {
            if let Some(value) = value {
                write!(f, ", {word} {value}")?;
            }
        }
        Ok(())
    }
}
