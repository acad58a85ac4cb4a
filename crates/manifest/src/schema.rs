//! JSON Schema of the two files, for editors and other validators.
//!
//! It is made from the same declarations that are read by, so it knows every key; what only code can check
//! (names, patterns, contradictions) is left to [`crate::Manifest::parse`].

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::decode::Table;
use crate::diagnostic::Spanned;
use crate::raw;

/// The schema of `skillsandbox.yaml`.
#[must_use]
pub fn manifest() -> Value {
    titled::<raw::Manifest>("skillsandbox.yaml")
}

/// The schema of a user's policy file.
#[must_use]
pub fn policy() -> Value {
    titled::<raw::Policy>("SkillSandbox policy")
}

fn titled<T: JsonSchema>(title: &str) -> Value {
    let mut schema = schemars::schema_for!(T);
    schema.insert("title".to_owned(), json!(title));
    schema.to_value()
}

impl<T: JsonSchema> JsonSchema for Spanned<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

impl<T: JsonSchema> JsonSchema for Table<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Owned(format!("Table_of_{}", T::schema_name()))
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let values = generator.subschema_for::<T>();
        json_schema!({ "type": "object", "additionalProperties": values })
    }
}
