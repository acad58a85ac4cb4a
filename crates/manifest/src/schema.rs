//! JSON Schema of the two files, for editors and other validators.
//!
//! It is made from the same declarations that are read by, so it knows every key; what only code can check
//! (names, patterns, contradictions) is left to [`crate::Manifest::parse`].

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::decode::{Required, Table};
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
    let mut schema = schema.to_value();
    without_null(&mut schema);
    schema
}

/// An optional key may be left out, but never be null.
fn without_null(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|word| word != "null");
                if let [one] = types.as_slice() {
                    let one = one.clone();
                    object.insert("type".to_owned(), one);
                }
            }
            if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
                choices.retain(|choice| choice.get("type").is_none_or(|word| word != "null"));
                if let [Value::Object(one)] = choices.as_slice() {
                    let one = one.clone();
                    object.remove("anyOf");
                    object.extend(one);
                }
            }
            object.values_mut().for_each(without_null);
        }
        Value::Array(items) => items.iter_mut().for_each(without_null),
        _ => {}
    }
}

macro_rules! transparent {
    ($wrapper:ident) => {
        impl<T: JsonSchema> JsonSchema for $wrapper<T> {
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
    };
}

transparent!(Required);
transparent!(Spanned);

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
