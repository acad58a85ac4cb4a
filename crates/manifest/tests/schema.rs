//! The JSON Schema says what the code says.
#![cfg(feature = "declarations")]
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(feature = "schema")]

use serde_json::{Value, json};
use skillsandbox_manifest::{ParameterType, Protocol, Runtime, SyscallProfile, schema};

#[test]
fn the_words_of_the_schema_are_the_words_of_the_types() {
    let schema = schema::manifest();
    let words = |pointer: &str| schema.pointer(pointer).unwrap_or_else(|| panic!("{pointer}")).clone();
    assert_eq!(words("/properties/runtime/enum"), json!(Runtime::ALL));
    assert_eq!(words("/$defs/Syscalls/properties/profile/enum"), json!(SyscallProfile::ALL));
    assert_eq!(words("/$defs/Egress/properties/protocol/enum"), json!(Protocol::ALL));
    assert_eq!(words("/$defs/Parameter/properties/type/enum"), json!(ParameterType::ALL));
}

#[test]
fn no_part_of_it_accepts_unknown_keys_or_null() {
    fn walk(schema: &Value, at: &str) {
        match schema {
            Value::Object(object) => {
                if object.contains_key("properties") {
                    assert_eq!(object.get("additionalProperties"), Some(&json!(false)), "{at}");
                }
                assert_ne!(object.get("type"), Some(&json!("null")), "{at}");
                object.iter().for_each(|(key, value)| walk(value, &format!("{at}/{key}")));
            }
            Value::Array(items) => {
                assert!(!items.contains(&json!("null")), "{at}");
                for item in items {
                    walk(item, at);
                }
            }
            _ => {}
        }
    }
    walk(&schema::manifest(), "manifest");
    walk(&schema::policy(), "policy");
}

#[test]
fn every_key_is_described() {
    for schema in [schema::manifest(), schema::policy()] {
        let defs = schema["$defs"].as_object().unwrap().values();
        for part in defs.chain([&schema]) {
            for (key, value) in part["properties"].as_object().into_iter().flatten() {
                assert!(value["description"].as_str().is_some_and(|text| text.len() > 5), "{key}: {value}");
            }
        }
    }
}
