//! A trace as one page that needs nothing else: no server, no network, no other file.
//!
//! The events are in the page as JSON in a block of data, in which `<`, `>`, `&` and every character without a glyph are
//! escapes, so that no text in them can end the block. The page's script reads them and makes elements with
//! `textContent` only. Should either fail, the page's policy allows one script and one style sheet, by their hashes, and
//! no connection, picture, frame or form; and it allows no text to be made into elements.

use std::io::{self, BufWriter, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize as _;
use serde_json::Serializer;
use serde_json::ser::CompactFormatter;
use sha2::{Digest as _, Sha256};
use skillsandbox_text::EscapedJson;

use crate::Trace;

const BODY: &str = include_str!("html/body.html");
const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/script.js");

/// Writes the page.
pub fn write_page<W: Write>(out: W, trace: &Trace) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>SkillSandbox trace</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{BODY}\n\
         <script type=\"application/json\" id=\"data\">",
        policy()
    )?;
    trace.serialize(&mut Serializer::with_formatter(&mut out, EscapedJson::new(CompactFormatter)))?;
    write!(out, "</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n")?;
    out.flush()
}

/// What the page may do: its own script and its own style.
fn policy() -> String {
    format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}

fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::{BODY, SCRIPT, STYLE};

    #[test]
    fn the_script_makes_no_text_into_elements_or_code() {
        for word in [
            "innerHTML",
            "outerHTML",
            "insertAdjacent",
            "document.write",
            "eval",
            "Function(",
            "setTimeout('",
            "srcdoc",
            "DOMParser",
            "createContextualFragment",
            "fetch",
            "XMLHttpRequest",
            "WebSocket",
            "import(",
            "setAttribute('on",
            ".src",
            "localStorage",
        ] {
            assert!(!SCRIPT.contains(word), "{word}");
        }
    }

    #[test]
    fn the_page_itself_names_nothing_outside() {
        for text in [BODY, STYLE] {
            for word in
                ["http:", "https:", "//", "url(", "@import", "src=", "<script", "<link", " on", "style="]
            {
                assert!(!text.contains(word), "{word}");
            }
        }
        // Neither block may end before its end.
        assert!(!SCRIPT.contains("</") && !SCRIPT.contains("<!--") && !STYLE.contains("</"));
    }
}
