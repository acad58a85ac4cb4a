//! The page of a trace, in a browser.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::path::Path;
use std::process::{Command, Output};

use skillsandbox_tracer::Trace;
use skillsandbox_tracer::render::html;

fn page(trace: &Trace) -> String {
    let mut out = Vec::new();
    html::page(&mut out, trace).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn row_tmp() {
    let folder = Path::new("/tmp/render-pages");
    std::fs::create_dir_all(folder).unwrap();
    for (name, trace) in [("weather", common::weather()), ("malicious", common::malicious_weather()), ("hostile", common::hostile()), ("many", common::many(100_000))] {
        std::fs::write(folder.join(format!("{name}.html")), page(&trace)).unwrap();
    }
}
