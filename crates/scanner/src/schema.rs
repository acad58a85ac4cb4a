//! The JSON Schema of a report, made from the types it is printed from.

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::report::ScanReport;

/// The schema of one report as `skillsandbox scan` prints it: `--format ndjson` has one a line, `--format json` an array of them.
///
/// It is open: a report may have more in a later version.
#[must_use]
pub fn report() -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<ScanReport>();
    schema.insert("title".to_owned(), json!("SkillSandbox scan report"));
    // The one thing that the command adds: a library does not know where a skill came from.
    let path = json!({ "type": "string", "description": "Where the skill was read from, as it was named." });
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert("path".to_owned(), path);
    }
    schema.to_value()
}
