//! Part of CHECK-04: fixed addresses that are fetched, and whether the skill has anything to do with them.
//!
//! `X_API_KEY` to api.x.com is what a skill named x is for; a host that nothing else in the skill speaks of is not.

use std::ops::Range;
use std::sync::OnceLock;

use regex::bytes::Regex;

/// Hosts that everybody fetches from: code, packages, documentation, and places that are no destination.
const WELL_KNOWN: &[&str] = &[
    "github.com",
    "githubusercontent.com",
    "github.io",
    "gitlab.com",
    "npmjs.org",
    "npmjs.com",
    "pypi.org",
    "pythonhosted.org",
    "crates.io",
    "docs.rs",
    "googleapis.com",
    "google.com",
    "gstatic.com",
    "microsoft.com",
    "azure.com",
    "windows.net",
    "amazonaws.com",
    "cloudflare.com",
    "openai.com",
    "anthropic.com",
    "claude.ai",
    "claude.com",
    "huggingface.co",
    "wikipedia.org",
    "mozilla.org",
    "w3.org",
    "python.org",
    "nodejs.org",
    "rust-lang.org",
    "rustup.rs",
    "docker.com",
    "docker.io",
    "kubernetes.io",
    "k8s.io",
    "apache.org",
    "debian.org",
    "ubuntu.com",
    "brew.sh",
    "bun.sh",
    "deno.land",
    "astral.sh",
    "vercel.app",
    "netlify.app",
    "jsdelivr.net",
    "unpkg.com",
    "example.com",
    "example.org",
    "example.net",
    "localhost",
    "httpbin.org",
    "jsonplaceholder.typicode.com",
    "slack.com",
    "discord.com",
    "telegram.org",
    "notion.com",
    "stripe.com",
    "shopify.com",
    "wttr.in",
    "ifconfig.me",
    "ipify.org",
    "arxiv.org",
    "agentskills.io",
    "clawhub.ai",
    "clawhub.com",
    "modelcontextprotocol.io",
    "openrouter.ai",
    "twitter.com",
    "x.com",
    "youtube.com",
    "reddit.com",
    "linkedin.com",
];

/// A fetched address whose host the skill never speaks of; where, and which host.
pub(crate) fn find_unrelated(text: &str, purpose: &str) -> Option<(Range<usize>, String)> {
    static FETCH: OnceLock<Regex> = OnceLock::new();
    #[allow(clippy::expect_used)] // a fixed pattern
    let fetch = FETCH.get_or_init(|| {
        Regex::new(
            r"(?i-u)\b(?:web_?fetch|curl|wget)\b[^\n]{0,160}?https?://([a-z0-9][a-z0-9.-]*\.[a-z]{2,})",
        )
        .expect("fixed pattern")
    });
    let about = SkillSubject::new(text, purpose);
    fetch.captures_iter(text.as_bytes()).take(40).find_map(|found| {
        let (whole, host) = (found.get(0)?, found.get(1)?);
        let host = String::from_utf8_lossy(host.as_bytes()).to_lowercase();
        (!about.speaks_of(&host)).then(|| (whole.range(), host))
    })
}

/// What a skill is about.
struct SkillSubject {
    purpose: String,
    squeezed: String,
    text: String,
}

impl SkillSubject {
    fn new(text: &str, purpose: &str) -> Self {
        let purpose = purpose.to_lowercase();
        let squeezed = purpose.chars().filter(|c| c.is_alphanumeric()).collect();
        Self { purpose, squeezed, text: text.to_lowercase() }
    }

    /// Whether a host belongs to what the skill is about, or is one that everybody fetches from.
    fn speaks_of(&self, host: &str) -> bool {
        let known =
            |known: &&str| host == *known || host.strip_suffix(known).is_some_and(|rest| rest.ends_with('.'));
        if WELL_KNOWN.iter().any(known) {
            return true;
        }
        // Names of the owner: every label but the last, and not the generic ones.
        let generic =
            ["www", "api", "app", "docs", "cdn", "dev", "get", "install", "data", "cloud", "com", "co"];
        let mut labels = host
            .split('.')
            .rev()
            .skip(1)
            .filter(|label| label.len() >= 3 && !generic.contains(label))
            .peekable();
        labels.peek().is_none()
            || labels.any(|label| {
                let plain: String = label.chars().filter(|c| c.is_alphanumeric()).collect();
                self.squeezed.contains(&plain)
                    || label.split('-').any(|part| part.len() >= 4 && self.purpose.contains(part))
                    || self.text.matches(label).count() >= 3
            })
    }
}
