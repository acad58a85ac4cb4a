//! Any text is read as a SKILL.md, with every place inside the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skillsandbox_manifest::SkillDoc;

fuzz_target!(|text: &str| {
    let doc = SkillDoc::parse(text);
    assert!(text.get(doc.body_start..).is_some());
    assert!(doc.body_line >= 1);
    for problem in &doc.problems {
        assert!(text.get(problem.span.range()).is_some(), "{problem:?}");
    }
    if let Some(front) = &doc.front_matter {
        assert!(text.get(front.span.range()).is_some());
        for tool in front.tools.iter().chain(&front.allowed_tools).flatten() {
            assert!(text.get(tool.span.range()).is_some(), "{tool:?}");
        }
        for value in [&front.name, &front.description, &front.extends].into_iter().flatten() {
            assert!(text.get(value.span.range()).is_some(), "{value:?}");
        }
    }
});
