//! A trace as one page that needs nothing else: no server, no network, no other file, no script.
//!
//! It begins with what happened, whether anything got out and what to do. Everything on it is written here, as text: elements are literals of
//! this program, and every character of a trace that could begin or end one is an entity (see `Markup`). A small script adds a filter to the
//! timeline; without it all of the page is there. Should the escaping ever fail, the page's policy allows that one script and one style sheet,
//! by their hashes, and no connection, picture, frame or form; and it allows no text to be made into elements.
//!
//! A page stays below five megabytes and some thousand rows, however long the trace: the rest is counted, and the page says so.

mod markup;
mod sections;
mod timeline;

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use self::markup::Markup;
use crate::{Trace, TraceDigest};

const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/script.js");

/// What the page says that is not in the trace.
#[derive(Debug, Clone, Copy, Default)]
pub struct PageOptions {
    /// The digest of the trace, where it was read from a file that is as it was written.
    pub digest: Option<TraceDigest>,
}

/// Writes the page.
pub fn write_page<W: Write>(mut out: W, trace: &Trace, options: PageOptions) -> io::Result<()> {
    let mut page = Markup::default();
    sections::write(&mut page, trace, options);
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>SkillSandbox trace</title>\n<style>{STYLE}</style>\n</head>\n<body>\n",
        policy()
    )?;
    out.write_all(page.as_str().as_bytes())?;
    write!(out, "<script>{SCRIPT}</script>\n</body>\n</html>\n")?;
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
    use super::{SCRIPT, STYLE};

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
    fn the_style_names_nothing_outside_and_neither_block_ends_early() {
        for word in ["http:", "https:", "//", "url(", "@import"] {
            assert!(!STYLE.contains(word), "{word}");
        }
        assert!(!SCRIPT.contains("</") && !SCRIPT.contains("<!--") && !STYLE.contains("</"));
    }
}
