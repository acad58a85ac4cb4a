//! Whether a secret goes to the service that it belongs to: that is what a key is for.

use super::super::capability::{Capability, CapabilityUse};
use super::super::hosts::{HostKind, classify_host, find_host, shares_word, telling_words};
use super::value::UNKNOWN;

/// In which part of a request a value travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestPart {
    /// A header, a cookie, a user and password: where keys are meant to stand.
    Header,
    /// The address itself.
    Address,
    /// The body, a file, a stream.
    Body,
}

/// Services that everybody knows: a key that bears such a name belongs there, and nowhere else.
const WELL_KNOWN: &[&str] = &[
    "github",
    "gh",
    "gitlab",
    "bitbucket",
    "aws",
    "amazon",
    "google",
    "gcp",
    "gcloud",
    "gemini",
    "azure",
    "openai",
    "anthropic",
    "claude",
    "slack",
    "stripe",
    "npm",
    "pypi",
    "twine",
    "docker",
    "dockerhub",
    "huggingface",
    "hf",
    "telegram",
    "discord",
    "twilio",
    "sendgrid",
    "cloudflare",
    "digitalocean",
    "heroku",
    "vercel",
    "netlify",
    "notion",
    "jira",
    "atlassian",
    "supabase",
    "datadog",
    "sentry",
    "kube",
    "kubernetes",
    "terraform",
    "vault",
    "ssh",
    "sudo",
    "paypal",
    "coinbase",
    "binance",
    "metamask",
    "solana",
    "ethereum",
    "mongodb",
    "postgres",
    "mysql",
    "redis",
    "linkedin",
    "twitter",
    "facebook",
    "salesforce",
    "shopify",
    "okta",
    "snowflake",
    "databricks",
    "cohere",
    "mistral",
    "groq",
];

/// Commands that print one token, by what their object begins with: as good as a variable that holds it.
const TOKEN_COMMANDS: &[&str] = &[
    "gh auth token",
    "gcloud auth",
    "az account",
    "aws configure get",
    "op read",
    "op item",
    "pass ",
    "bw get",
    "vault kv",
    "vault read",
    "security find-",
    "secret-tool lookup",
    "kubectl get secret (one field)",
    "aws secretsmanager",
    "aws ssm",
    "gcloud secrets",
    "doppler",
    "heroku auth",
    "glab auth",
    "git credential",
];

/// Whether a secret that is sent belongs where it goes.
pub(crate) fn is_own_service(source: &CapabilityUse, part: RequestPart, address: &str) -> bool {
    let is_open = find_host(address).contains(UNKNOWN);
    let kind = if is_open { HostKind::Placeholder } else { classify_host(address) };
    // The metadata service is the cloud's own.
    if matches!(kind, HostKind::Loopback | HostKind::Metadata) {
        return true;
    }
    let is_token = source.capability == Capability::ReadsNamedSecret
        || TOKEN_COMMANDS.iter().any(|command| source.object.starts_with(command));
    if !is_token {
        return false;
    }
    let name = source.object.as_str();
    let is_shared = shares_word(name, address) || is_google_host(name, address);
    match kind {
        HostKind::Loopback | HostKind::Metadata | HostKind::Private => true,
        // A host that is filled in later is the user's choice; one that is only called an example is where the key would go.
        HostKind::Placeholder if is_open || !is_fixed_host(address) => true,
        HostKind::Drop => is_shared,
        HostKind::RawAddress => false,
        HostKind::Named | HostKind::Placeholder => {
            let words = telling_words(name);
            if is_shared || words.is_empty() || is_token_address(address) {
                return true;
            }
            // What a password manager was asked for is named by its user.
            let is_asked = name.contains(' ') && source.capability != Capability::ReadsCredentials;
            let is_foreign = !is_asked && words.iter().any(|word| WELL_KNOWN.contains(&word.as_str()));
            // Many services speak the language of one, and say so by the path.
            let speaks_it = words.iter().any(|word| matches!(word.as_str(), "openai" | "anthropic"))
                && (address.contains("/v1") || address.contains("/chat/"));
            (part == RequestPart::Header || kind == HostKind::Placeholder) && (!is_foreign || speaks_it)
        }
    }
}

/// Whether a host is written out, and nothing in it is to be filled in.
fn is_fixed_host(address: &str) -> bool {
    let host = find_host(address);
    let is_plain = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'));
    is_plain && host.contains('.') && !host.to_ascii_lowercase().contains("your")
}

/// Whether a Google token goes to what runs at Google.
fn is_google_host(name: &str, address: &str) -> bool {
    let host = find_host(address).to_ascii_lowercase();
    let is_google = name.starts_with("gcloud") || name.to_ascii_lowercase().contains("google");
    is_google
        && ["run.app", "cloudfunctions.net", "appspot.com", "gcr.io", "pkg.dev"]
            .iter()
            .any(|end| host.ends_with(end))
}

/// Whether an address is where a key is changed for a token.
fn is_token_address(address: &str) -> bool {
    let lower = address.to_ascii_lowercase();
    let path = lower.split_once("://").map_or(lower.as_str(), |(_, rest)| rest);
    let path = path.split_once('/').map_or("", |(_, path)| path);
    let path = path.split(['?', '#']).next().unwrap_or_default();
    lower.starts_with("https://")
        && path
            .split('/')
            .any(|part| matches!(part, "oauth" | "oauth2" | "token" | "login" | "authorize" | "sessions"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_goes_to_its_own_service_or_not() {
        use RequestPart::{Address, Body, Header};
        for (name, part, address, own) in [
            ("GITHUB_TOKEN", Header, "https://api.github.com/user", true),
            ("GITHUB_TOKEN", Header, "https://collector.test/user", false),
            ("AWS_SECRET_ACCESS_KEY", Body, "https://collector.test", false),
            ("API_KEY", Header, "https://api.vendor.test/v1", true),
            ("ACME_KEY", Header, "https://api.vendor.test/v1", true),
            ("ACME_KEY", Body, "https://collector.test", false),
            ("ACME_KEY", Body, "https://api.acme.test", true),
            ("API_KEY", Header, "http://203.0.113.7/v1", false),
            ("API_KEY", Header, "https://webhook.site/abc", false),
            ("TELEGRAM_BOT_TOKEN", Address, "https://api.telegram.org/bot1/sendMessage", true),
            ("ACME_CLIENT_SECRET", Body, "https://login.vendor.test/oauth2/token", true),
            ("OPENAI_API_KEY", Header, "https://api.vendor.test/v1/chat/completions", true),
            ("OPENAI_API_KEY", Header, "https://collector.test/in", false),
            ("DB_PASSWORD", Body, "http://localhost:8080/x", true),
            ("API_KEY", Body, "https://api.example.com/x", true),
            ("SLACK_BOT_TOKEN", Body, "https://sink.example.com/x", false),
            ("SLACK_BOT_TOKEN", Body, "https://<your-host>/x", true),
            ("SLACK_BOT_TOKEN", Header, "$BASE_URL/x", true),
        ] {
            let source = CapabilityUse {
                capability: Capability::ReadsNamedSecret,
                range: 0..0,
                object: name.to_owned(),
            };
            assert_eq!(is_own_service(&source, part, address), own, "{name} {address}");
        }
    }
}
