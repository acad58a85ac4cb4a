//! Office documents and e-books: zips of XML.

use super::zip;

/// Whether a zip is a document, by what it says of itself.
pub(super) fn is_office(bytes: &[u8]) -> bool {
    zip::names(bytes).any(|name| matches!(name, b"[Content_Types].xml" | b"mimetype"))
}

/// Whether a member is the markup of a document.
pub(super) fn is_markup(name: &str, bytes: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    [".xml", ".rels", ".xhtml", ".opf", ".ncx", ".vml"].iter().any(|ending| lower.ends_with(ending))
        && !bytes.contains(&0)
}

/// Whether a member holds macros: the project of a Microsoft document, an old macro sheet, or a Basic module.
pub(super) fn is_macro(name: &str, bytes: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    let ends = |ending: &str| lower.ends_with(ending);
    // Beside the modules, an OpenDocument has lists of them.
    let module = lower.starts_with("basic/") && ends(".xml") && !ends("-lc.xml") && !ends("-lb.xml");
    ends("vbaproject.bin")
        || lower.contains("/macrosheets/")
        || module
        || lower.starts_with("scripts/python/")
        || has_old_macros(bytes)
}

/// Whether an old document, or a part that is one, has a directory of macros.
pub(super) fn has_old_macros(bytes: &[u8]) -> bool {
    let wide = |word: &str| word.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    crate::kind::is_compound(bytes)
        && ["_VBA_PROJECT", "Macros"].iter().any(|word| memchr::memmem::find(bytes, &wide(word)).is_some())
}

/// A template or an object that is loaded from elsewhere when the document is opened.
pub(super) fn remote_part(name: &str, bytes: &[u8]) -> Option<String> {
    const LOADED: &[&str] = &["/attachedTemplate", "/oleObject", "/frame", "/subDocument", "/externalLink"];
    if !name.to_ascii_lowercase().ends_with(".rels") {
        return None;
    }
    let text = String::from_utf8_lossy(bytes);
    let external = text.split('<').filter(|tag| tag.contains("External"));
    let loaded = external.filter(|tag| LOADED.iter().any(|kind| tag.contains(kind)));
    let target =
        |tag: &str| tag.split("Target=\"").nth(1).and_then(|rest| rest.split('"').next()).map(str::to_owned);
    loaded.filter_map(target).find(|target| target.contains("://") || target.starts_with("\\\\"))
}

/// What a document says, without its markup: words that are cut by tags are whole again.
pub(super) fn text(bytes: &[u8]) -> String {
    const DATA: &str = "<![CDATA[";
    let source = String::from_utf8_lossy(bytes);
    let mut words = String::new();
    let mut rest = source.as_ref();
    while let Some(open) = rest.find('<') {
        let (before, tag) = rest.split_at(open);
        unescape(before, &mut words);
        let mark = match tag {
            _ if tag.starts_with("<!--") => "-->",
            _ if tag.starts_with(DATA) => "]]>",
            _ => ">",
        };
        let end = tag.find(mark).map_or(tag.len(), |at| at + mark.len());
        let (tag, after) = tag.split_at(end);
        rest = after;
        if let Some(data) = tag.strip_prefix(DATA) {
            words.push_str(data.trim_end_matches("]]>"));
        } else if ends_paragraph(tag) && !words.ends_with('\n') {
            words.push('\n');
        }
    }
    unescape(rest, &mut words);
    words
}

/// Paragraphs, rows, cells, breaks and list items end a line; runs and spans do not.
fn ends_paragraph(tag: &str) -> bool {
    let name = tag.trim_start_matches(['<', '/']).split([' ', '>', '/', '\n']).next().unwrap_or_default();
    let local = name.rsplit(':').next().unwrap_or(name);
    let breaks = matches!(local, "br" | "cr" | "tab" | "line-break");
    let block = matches!(
        local,
        "p" | "h"
            | "tr"
            | "tc"
            | "row"
            | "si"
            | "li"
            | "div"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "title"
            | "td"
            | "text"
    );
    breaks || (block && (tag.starts_with("</") || tag.ends_with("/>")))
}

/// The characters that markup has to escape.
fn unescape(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let end = tail.char_indices().take(12).find(|(_, c)| *c == ';').map(|(end, _)| end);
        let name = end.and_then(|end| tail.get(1..end));
        let c = name.and_then(|name| match name {
            "lt" => Some('<'),
            "gt" => Some('>'),
            "amp" => Some('&'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            _ => {
                let number = name.strip_prefix('#')?;
                let value = match number.strip_prefix(['x', 'X']) {
                    Some(hex) => u32::from_str_radix(hex, 16),
                    None => number.parse(),
                };
                char::from_u32(value.ok()?)
            }
        });
        let skip = if let (Some(c), Some(end)) = (c, end) {
            out.push(c);
            end + 1
        } else {
            out.push('&');
            1
        };
        rest = tail.get(skip..).unwrap_or_default();
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_cut_by_tags_are_whole_again() {
        let xml = "<w:p><w:r><w:t>ign</w:t></w:r><w:r><w:t>ore &amp; go&#33;</w:t></w:r></w:p><w:p>next</w:p><!-- a remark -->";
        assert_eq!(text(xml.as_bytes()), "ignore & go!\nnext\n");
        for broken in ["<", "<!--", "<![CDATA[x", "a & b &#xFFFFFFFF; &;", "&#x41;&é;"] {
            text(broken.as_bytes());
        }
    }

    #[test]
    fn only_parts_that_are_loaded_count_as_remote() {
        let rels = |kind: &str| {
            format!(
                "<Relationship Type=\"http://schemas.test/{kind}\" Target=\"https://x.test/t.dotm\" TargetMode=\"External\"/>"
            )
        };
        let name = "word/_rels/settings.xml.rels";
        assert_eq!(
            remote_part(name, rels("attachedTemplate").as_bytes()).as_deref(),
            Some("https://x.test/t.dotm")
        );
        assert_eq!(remote_part(name, rels("hyperlink").as_bytes()), None);
    }
}
