//! Traces of the runs of servers over these roots, for reading. Others' are in the same folder, and are not this client's to see.

use std::ffi::OsString;
use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skillsandbox_manifest::user_folders;
use skillsandbox_path_policy::{OpenOptions, PathPolicy};
use skillsandbox_tracer::{TraceHeader, TraceReader};
use uuid::Uuid;

use crate::answer::ToolProblem;

/// What our traces say wrote them.
const TOOL: &str = concat!("skillsandbox-mcp ", env!("CARGO_PKG_VERSION"));
/// Most of a trace that is given away at once; of a longer one, the first events and the end.
const MOST_BYTES: u64 = 1024 * 1024;
/// Most traces that are listed: the newest.
const MOST_LISTED: usize = 100;
/// Most files that are looked at for a list: the newest.
const MOST_LOOKED_AT: usize = 1_000;

/// The folder of traces, and by what those of these roots are known.
#[derive(Debug, Clone)]
pub(crate) struct TraceFolder {
    folder: Option<PathBuf>,
    tool: String,
}

/// A trace of ours, open.
pub(crate) struct OpenTrace {
    pub(crate) reader: TraceReader<BufReader<File>>,
    name: OsString,
    folder: PathPolicy,
}

impl TraceFolder {
    pub(crate) fn new<'r>(roots: impl Iterator<Item = &'r Path>) -> Self {
        // Servers over the same roots are one to their user, however often they are started. Only told apart, so no strong hash is needed.
        let mut roots: Vec<&Path> = roots.collect();
        roots.sort_unstable();
        let mut hash = DefaultHasher::new();
        roots.hash(&mut hash);
        Self { folder: user_folders::traces(), tool: format!("{TOOL} (roots {:016x})", hash.finish()) }
    }

    /// What the traces of these roots say wrote them.
    pub(crate) fn tool(&self) -> &str {
        &self.tool
    }

    /// The URI of a trace.
    pub(crate) fn uri(id: Uuid) -> String {
        format!("skillsandbox://trace/{id}")
    }

    /// The trace that an id names: 36 characters, and nothing but an id.
    pub(crate) fn open(&self, id: &str) -> Result<OpenTrace, ToolProblem> {
        let unknown = || {
            ToolProblem::new("there is no such trace")
                .why("no run of a server over these roots has that id")
                .cure("use the trace_id of an answer to run_skill, or one that the resource skillsandbox://traces lists")
        };
        // In the one form in which we write them: not in braces, not as a URN, not without hyphens.
        let id = Uuid::try_parse(id).ok().filter(|uuid| uuid.to_string() == id).ok_or_else(|| {
            ToolProblem::new("this is not a trace id: a trace id is a UUID in its usual form")
                .cure("use the trace_id of an answer to run_skill")
        })?;
        let folder = self.folder().ok_or_else(unknown)?;
        let end = format!("-{id}.json");
        let names = folder.read_dir(".").map_err(|_| unknown())?;
        let name =
            names.into_iter().map(|entry| entry.name).find(|name| name.to_string_lossy().ends_with(&end));
        let name = name.ok_or_else(unknown)?;
        let reader = open(&folder, &name).ok_or_else(unknown)?;
        if reader.header().trace_id != id || !self.is_ours(reader.header()) {
            return Err(unknown());
        }
        Ok(OpenTrace { reader, name, folder })
    }

    /// The newest traces, newest first, and whether there are more.
    pub(crate) fn list(&self) -> (Vec<TraceHeader>, bool) {
        let Some(folder) = self.folder() else { return (Vec::new(), false) };
        let mut names: Vec<OsString> =
            folder.read_dir(".").unwrap_or_default().into_iter().map(|entry| entry.name).collect();
        // They begin with the time.
        names.sort_unstable_by(|a, b| b.cmp(a));
        let mut more = names.len() > MOST_LOOKED_AT;
        let mut headers = Vec::new();
        for name in names.into_iter().take(MOST_LOOKED_AT) {
            if headers.len() == MOST_LISTED {
                more = true;
                break;
            }
            let header = open(&folder, &name).map(|reader| reader.header().clone());
            headers.extend(header.filter(|header| self.is_ours(header)));
        }
        (headers, more)
    }

    fn is_ours(&self, header: &TraceHeader) -> bool {
        header.tool == self.tool
    }

    fn folder(&self) -> Option<PathPolicy> {
        PathPolicy::builder().root(self.folder.as_ref()?).read_only().build().ok()
    }
}

fn open(folder: &PathPolicy, name: &OsString) -> Option<TraceReader<BufReader<File>>> {
    let file = folder.open(name, &OpenOptions::reading()).ok()?;
    TraceReader::new(BufReader::with_capacity(64 << 10, file)).ok()
}

impl OpenTrace {
    /// The trace as JSON: the file as it is, or of a long one, its beginning and its end.
    pub(crate) fn json(self) -> Result<String, ToolProblem> {
        let unreadable = |error: String| ToolProblem::new("the trace cannot be read").why(error);
        let mut text = String::new();
        let file = self.folder.open(&self.name, &OpenOptions::reading());
        let mut file = file.map_err(|error| unreadable(error.to_string()))?.take(MOST_BYTES + 1);
        file.read_to_string(&mut text).map_err(|error| unreadable(error.to_string()))?;
        if text.len() as u64 <= MOST_BYTES && serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok() {
            return Ok(text);
        }
        drop(text);
        Ok(self.shortened())
    }

    fn shortened(mut self) -> String {
        let mut value = json!(self.reader.header());
        let (mut events, mut room, mut left_out) = (Vec::new(), MOST_BYTES, 0_u64);
        let mut broken = None;
        for event in self.reader.by_ref() {
            let event = match event {
                Ok(event) => json!(event),
                Err(error) => {
                    broken = Some(error.to_string());
                    break;
                }
            };
            let size = event.to_string().len() as u64;
            if left_out > 0 || size > room {
                left_out += 1;
            } else {
                room -= size;
                events.push(event);
            }
        }
        let mut set = |key: &str, field: Value| {
            if let Value::Object(object) = &mut value {
                object.insert(key.to_owned(), field);
            }
        };
        set("events", Value::Array(events));
        set("events_left_out", json!(left_out));
        match broken {
            Some(why) => {
                set("not_whole", json!(format!("the run goes on, or the trace was cut or changed: {why}")));
            }
            None => match self.reader.finish() {
                Ok(ending) => {
                    set("policy_violations", json!(ending.policy_violations));
                    set("violation_summary", json!(ending.violation_summary));
                }
                Err(error) => set("not_whole", json!(error.to_string())),
            },
        }
        value.to_string()
    }
}
