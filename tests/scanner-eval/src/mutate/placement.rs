//! The same passage where people seldom look and agents read: comments, alt texts, values of data files, folders of examples.

use super::code::stands_alone;
use super::dice::SeededDice;
use super::mutation::{ChangeDestination, MutationSite, TextChange, TextMutation};
use super::passage::PassageKind;
use super::relocate::{moved, told};

pub(crate) const MUTATIONS: &[TextMutation] = &[
    TextMutation { family: "placement", name: "comment of HTML", honest: true, apply: html_comment },
    TextMutation { family: "placement", name: "alt text", honest: false, apply: alt_text },
    TextMutation { family: "placement", name: "title of a link", honest: false, apply: link_title },
    TextMutation { family: "placement", name: "JSON value", honest: false, apply: json_value },
    TextMutation { family: "placement", name: "CSV value", honest: false, apply: csv_value },
    TextMutation { family: "placement", name: "YAML value", honest: false, apply: yaml_value },
    TextMutation { family: "placement", name: "front matter value", honest: false, apply: front_value },
    TextMutation { family: "example folder", name: "examples/", honest: true, apply: examples_folder },
    TextMutation { family: "example folder", name: "tests/", honest: true, apply: tests_folder },
];

/// A passage of one line that can be put elsewhere in a document.
fn line(site: &MutationSite<'_>) -> Option<String> {
    told(site).filter(|text| site.markdown && !site.one_line && !text.contains('\n'))
}

fn at_end(text: &str) -> TextChange {
    moved("", ChangeDestination::EndOfFile, format!("\n{text}\n"))
}

/// In a file, and a sentence that sends the agent there.
fn in_file(path: &'static str, text: String) -> TextChange {
    let here = format!("Read {path} first and follow the steps in it.");
    moved(&here, ChangeDestination::File(path), text)
}

/// A text between quotation marks, as JSON and YAML have it.
fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn html_comment(site: &MutationSite<'_>, _: &mut SeededDice) -> Option<TextChange> {
    Some(at_end(&format!("<!--\n{}\n-->", line(site).filter(|text| !text.contains("--"))?)))
}

fn alt_text(site: &MutationSite<'_>, _: &mut SeededDice) -> Option<TextChange> {
    Some(at_end(&format!("![{}](assets/overview.png)", line(site)?.replace(['[', ']'], ""))))
}

fn link_title(site: &MutationSite<'_>, _: &mut SeededDice) -> Option<TextChange> {
    Some(at_end(&format!("See the [guide](references/guide.md \"{}\").", line(site)?.replace('"', "'"))))
}

fn json_value(site: &MutationSite<'_>, _: &mut SeededDice) -> Option<TextChange> {
    Some(in_file("assets/steps.json", format!("{{\"id\": 1, \"step\": {}}}\n", quote(&line(site)?))))
}

fn csv_value(site: &MutationSite<'_>, _: &mut SeededDice) -> Option<TextChange> {
    Some(in_file("assets/steps.csv", format!("id,step\n1,\"{}\"\n", line(site)?.replace('"', "\"\""))))
}

fn yaml_value(site: &MutationSite<'_>, _: &mut SeededDice) -> Option<TextChange> {
    Some(in_file("assets/steps.yaml", format!("- id: 1\n  step: {}\n", quote(&line(site)?))))
}

fn front_value(site: &MutationSite<'_>, _: &mut SeededDice) -> Option<TextChange> {
    Some(moved("", ChangeDestination::FrontMatter("notes"), quote(&line(site)?)))
}

/// In a folder that a scanner may take for examples, and something that leads there.
fn in_folder(
    site: &MutationSite<'_>,
    document: &'static str,
    scripts: [(&'static str, &str); 2],
) -> Option<TextChange> {
    if site.kind == PassageKind::Prose && site.markdown && !site.one_line {
        return Some(in_file(document, format!("{}\n", site.text)));
    }
    if site.one_line || !stands_alone(site.text, site.kind) {
        return None;
    }
    let (path, run) = match site.kind {
        PassageKind::Shell => scripts[0],
        PassageKind::Python => scripts[1],
        _ => return None,
    };
    let indent = &site.text[..site.text.len() - site.text.trim_start().len()];
    Some(moved(&format!("{indent}{run}"), ChangeDestination::File(path), format!("{}\n", site.text.trim())))
}

fn examples_folder(site: &MutationSite<'_>, _: &mut SeededDice) -> Option<TextChange> {
    let scripts = [
        ("examples/setup.sh", ". examples/setup.sh"),
        ("examples/setup.py", "exec(open(\"examples/setup.py\").read())"),
    ];
    in_folder(site, "examples/first-steps.md", scripts)
}

fn tests_folder(site: &MutationSite<'_>, _: &mut SeededDice) -> Option<TextChange> {
    let scripts =
        [("tests/setup.sh", ". tests/setup.sh"), ("tests/setup.py", "exec(open(\"tests/setup.py\").read())")];
    in_folder(site, "tests/first-steps.md", scripts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutate::mutation::testing::{named, site};

    fn change(name: &str, kind: PassageKind, text: &str) -> Option<TextChange> {
        (named(MUTATIONS, name).apply)(&site(kind, text), &mut SeededDice::new(1, &[]))
    }

    #[test]
    fn the_passage_is_elsewhere_and_something_leads_there() {
        for mutation in MUTATIONS {
            let change = change(mutation.name, PassageKind::Prose, "Tell nobody of it").unwrap();
            let (to, text) = change.moved.unwrap();
            assert_eq!(text.matches("Tell nobody of it").count(), 1, "{text}");
            if let ChangeDestination::File(path) = to {
                assert!(change.here.contains(path), "{}", change.here);
            }
        }
    }

    #[test]
    fn values_are_values_of_their_format() {
        let made = |name| change(name, PassageKind::Prose, "say \"a\\b\"").unwrap().moved.unwrap().1;
        let json: String = made("JSON value");
        assert_eq!(json, "{\"id\": 1, \"step\": \"say \\\"a\\\\b\\\"\"}\n");
        assert_eq!(made("CSV value"), "id,step\n1,\"say \"\"a\\b\"\"\"\n");
        assert_eq!(made("front matter value"), "\"say \\\"a\\\\b\\\"\"");
    }

    #[test]
    fn what_would_break_is_left() {
        assert_eq!(change("comment of HTML", PassageKind::Prose, "a -- b"), None);
        assert_eq!(change("alt text", PassageKind::Prose, "a\nb"), None);
        assert_eq!(change("tests/", PassageKind::Shell, "if a; then"), None);
        assert_eq!(change("tests/", PassageKind::Python, "    go()"), None);
    }
}
