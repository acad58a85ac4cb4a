//! Schemas that every client reads alike.

use std::sync::Arc;

use rmcp::handler::server::tool::{schema_for_input, schema_for_output};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde_json::{Value, json};

/// The schema of a tool's arguments.
pub(super) fn input<T: JsonSchema + 'static>() -> Arc<JsonObject> {
    portable(&schema_for_input::<T>().unwrap_or_default())
}

/// The schema of a tool's answer.
pub(super) fn output<T: JsonSchema + 'static>() -> Arc<JsonObject> {
    portable(&schema_for_output::<T>())
}

fn portable(schema: &JsonObject) -> Arc<JsonObject> {
    let mut schema = Value::Object(schema.clone());
    smooth(&mut schema);
    match schema {
        Value::Object(schema) => Arc::new(schema),
        _ => Arc::default(),
    }
}

/// Takes out what is legal and yet not understood everywhere: formats of numbers that no standard has, and lists of types, which clients with
/// one type a field drop or refuse. As deep as our own types are.
fn smooth(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(smooth),
        Value::Object(object) => {
            object.values_mut().for_each(smooth);
            let number = object.get("format").and_then(Value::as_str).is_some_and(|format| {
                format.trim_start_matches('u').starts_with("int") || matches!(format, "float" | "double")
            });
            if number {
                object.remove("format");
            }
            let Some(Value::Array(types)) = object.get("type").cloned() else { return };
            let description = object.remove("description");
            let rest = std::mem::take(object);
            let branches = types.into_iter().map(|one| {
                // What is said of the value is not said of its absence.
                let mut branch = if one == "null" { JsonObject::new() } else { rest.clone() };
                branch.insert("type".to_owned(), one);
                Value::Object(branch)
            });
            object.insert("anyOf".to_owned(), Value::Array(branches.collect()));
            object.extend(description.map(|text| ("description".to_owned(), json!(text))));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_may_be_null_has_one_type_a_branch() {
        let mut schema = json!({ "properties": { "a": { "type": ["integer", "null"], "format": "uint64", "minimum": 0, "description": "d" } } });
        smooth(&mut schema);
        let branches = json!([{ "type": "integer", "minimum": 0 }, { "type": "null" }]);
        assert_eq!(schema, json!({ "properties": { "a": { "anyOf": branches, "description": "d" } } }));
        let mut text = json!({ "type": "string", "format": "uri" });
        smooth(&mut text);
        assert_eq!(text, json!({ "type": "string", "format": "uri" }));
    }
}
