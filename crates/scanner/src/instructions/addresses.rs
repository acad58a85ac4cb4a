//! Addresses in a sentence: where something is sent to, or fetched from.

use super::classes::WordClass;

/// Hosts that hand out or take in what anybody left there.
const THROWAWAY: &[&str] = &[
    "pastebin.",
    "paste.",
    "hastebin.",
    "rentry.",
    "glot.io",
    "ghostbin.",
    "dpaste.",
    "termbin.",
    "telegra.ph",
    "transfer.sh",
    "file.io",
    "anonfiles.",
    "gofile.io",
    "mediafire.",
    "mega.nz",
    "bit.ly",
    "tinyurl.",
    "t.ly",
    "is.gd",
    "cutt.ly",
    "rb.gy",
    "webhook.site",
    "requestbin.",
    "pipedream.net",
    "ngrok",
    "trycloudflare.",
    "loca.lt",
    "serveo.",
    "interact.sh",
    "oast.",
    "burpcollaborator",
    "cdn.discordapp.",
    "0x0.st",
    "catbox.moe",
    "temp.sh",
    "dropmefiles.",
    "sendspace.",
];

/// Endings of host names that are written without a scheme.
const ENDINGS: &[&str] = &[
    "com", "net", "org", "io", "dev", "app", "test", "invalid", "xyz", "top", "site", "ru", "cn", "online",
    "info", "co", "me", "cloud", "pw", "cc", "ai",
];

/// Schemes of addresses that lead to a host.
const SCHEMES: &[&str] =
    &["https://", "http://", "ftp://", "wss://", "ws://", "hxxp://", "hxxps://", "mailto:"];

/// The address at a place, if one stands there: what it is and where it ends.
pub(crate) fn address_at(text: &str, at: usize) -> Option<(WordClass, usize)> {
    let rest = text.get(at..)?;
    let first = rest.as_bytes().first()?;
    if !first.is_ascii_alphanumeric() {
        return None;
    }
    let stop = |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '"' | '\'' | '<' | '>' | '`' | ')' | '|' | ',' | '。' | '，' | '、' | '）' | '」' | '“' | '”'
            )
            || matches!(c, '\u{2e80}'..='\u{9fff}')
    };
    let end = rest.find(stop).unwrap_or(rest.len());
    let word = rest.get(..end)?.trim_end_matches(['.', ':', ';', '!', '?', ']']);
    if word.len() < 4 {
        return None;
    }
    let bare = SCHEMES.iter().find_map(|scheme| word.strip_prefix(scheme));
    let host = match bare {
        Some(bare) => bare.split(['/', '?', '#']).next().unwrap_or(bare),
        None => bare_host(word)?,
    };
    Some((classify_host(host, word), at + word.len()))
}

/// The host of an address without a scheme: a mail address, or a name with an ending that hosts have.
fn bare_host(word: &str) -> Option<&str> {
    let (host, path) = word.split_once('/').unwrap_or((word, ""));
    if let Some((name, domain)) = host.split_once('@') {
        return (!name.is_empty() && domain.contains('.')).then_some(domain);
    }
    let (name, ending) = host.rsplit_once('.')?;
    let letters = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b':');
    if name.is_empty() || !host.bytes().all(letters) {
        return None;
    }
    let is_address = is_number(host);
    let is_name = ENDINGS.contains(&ending)
        && (!path.is_empty() || name.len() >= 3 && ending.len() >= 3 || host.matches('.').count() >= 2);
    (is_address || is_name).then_some(host)
}

/// Whether a host is an address of four numbers.
fn is_number(host: &str) -> bool {
    let host = host.split(':').next().unwrap_or(host);
    host.split('.').count() == 4
        && host
            .split('.')
            .all(|part| !part.is_empty() && part.len() <= 3 && part.bytes().all(|b| b.is_ascii_digit()))
}

/// What an address is.
fn classify_host(host: &str, word: &str) -> WordClass {
    let host = host.rsplit('@').next().unwrap_or(host);
    let name = host.split(':').next().unwrap_or(host);
    let local = ["localhost", "127.0.0.1", "0.0.0.0", "[", "host.docker.internal"];
    if local.iter().any(|own| name.starts_with(own))
        || name.rsplit('.').next() == Some("local")
        || name.starts_with("192.168.")
        || name.starts_with("10.")
    {
        return WordClass::LOCAL;
    }
    let throwaway = is_number(name)
        || THROWAWAY.iter().any(|known| name.starts_with(known) || name.contains(&format!(".{known}")));
    let packed =
        [".zip", ".rar", ".7z", ".exe", ".dmg", ".pkg", ".msi"].iter().any(|ending| word.ends_with(ending));
    let class = if packed { WordClass::URL.with(WordClass::PASTED) } else { WordClass::URL };
    if throwaway || word.starts_with("hxxp") { class.with(WordClass::THROWAWAY) } else { class }
}
