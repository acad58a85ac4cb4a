//! What an address stands for: this machine, a private network, something to be filled in, a place that takes what strangers send.

use std::net::{IpAddr, Ipv4Addr};

/// What a host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum HostKind {
    /// This machine.
    Loopback,
    /// A network that nobody outside reaches.
    Private,
    /// To be filled in: `ATTACKER_IP`, `<host>`, `$LHOST`, `YOUR_SERVER`, `example.com`.
    Placeholder,
    /// The service that hands out a cloud's credentials.
    Metadata,
    /// Exists to take what anybody sends, or to tunnel it.
    Drop,
    /// A number on the public network.
    RawAddress,
    /// Any other name.
    Named,
}

/// Hosts that take what strangers send; also what stands below them.
const DROP_HOSTS: &[&str] = &[
    "webhook.site",
    "requestbin.com",
    "requestbin.net",
    "pipedream.net",
    "requestcatcher.com",
    "hookbin.com",
    "beeceptor.com",
    "mockbin.org",
    "postb.in",
    "ptsv2.com",
    "ptsv3.com",
    "webhook.cool",
    "typedwebhook.tools",
    "burpcollaborator.net",
    "oastify.com",
    "interact.sh",
    "interactsh.com",
    "oast.fun",
    "oast.live",
    "oast.me",
    "oast.online",
    "oast.pro",
    "oast.site",
    "dnslog.cn",
    "ceye.io",
    "canarytokens.com",
    "canarytokens.org",
    "transfer.sh",
    "0x0.st",
    "termbin.com",
    "paste.ee",
    "pastebin.com",
    "rentry.co",
    "rentry.org",
    "hastebin.com",
    "ghostbin.com",
    "dpaste.com",
    "dpaste.org",
    "ix.io",
    "sprunge.us",
    "glot.io",
    "anonfiles.com",
    "gofile.io",
    "file.io",
    "catbox.moe",
    "bashupload.com",
    "tmpfiles.org",
    "temp.sh",
    "ngrok.io",
    "ngrok.app",
    "ngrok.dev",
    "ngrok-free.app",
    "ngrok-free.dev",
    "trycloudflare.com",
    "loca.lt",
    "localtunnel.me",
    "serveo.net",
    "localhost.run",
    "lhr.life",
    "pinggy.io",
    "pinggy.link",
    "bore.pub",
    "duckdns.org",
];

/// Words that a host's name is filled in for.
const PLACEHOLDERS: &[&str] = &[
    "attacker",
    "lhost",
    "rhost",
    "your",
    "<",
    "{",
    "$",
    "placeholder",
    "changeme",
    "target_ip",
    "xxx",
    "listener",
];

/// Words that many names of keys share and that tell nothing of whom they belong to.
const GENERIC_WORDS: &[&str] = &[
    "access",
    "account",
    "admin",
    "agent",
    "api",
    "app",
    "apps",
    "auth",
    "authorization",
    "base",
    "bearer",
    "bot",
    "cert",
    "client",
    "code",
    "config",
    "connection",
    "cookie",
    "cookies",
    "credential",
    "credentials",
    "creds",
    "data",
    "database",
    "default",
    "demo",
    "dev",
    "endpoint",
    "env",
    "file",
    "header",
    "host",
    "http",
    "https",
    "id",
    "json",
    "jwt",
    "key",
    "keys",
    "live",
    "login",
    "main",
    "master",
    "my",
    "name",
    "new",
    "oauth",
    "pass",
    "passwd",
    "password",
    "path",
    "personal",
    "private",
    "prod",
    "production",
    "project",
    "public",
    "pwd",
    "read",
    "refresh",
    "root",
    "sandbox",
    "secret",
    "secrets",
    "server",
    "service",
    "session",
    "shared",
    "sign",
    "signing",
    "skill",
    "staging",
    "string",
    "test",
    "the",
    "token",
    "tokens",
    "uri",
    "url",
    "user",
    "username",
    "value",
    "web",
    "webhook",
    "write",
    "x",
    "your",
    "com",
    "net",
    "org",
    "www",
    "dev",
    "io",
    "cloud",
    "v1",
    "v2",
    "v3",
    "rest",
    "graphql",
    "gateway",
    "prd",
    "stg",
    "test",
    "invalid",
    "localhost",
    "co",
    "local",
];

/// Names that one house goes by.
const HOUSES: &[&[&str]] = &[
    &["github", "gh", "githubusercontent", "ghe", "pat", "copilot"],
    &["gitlab", "gl"],
    &["aws", "amazonaws", "amazon", "s3", "bedrock", "dynamodb"],
    &[
        "google",
        "googleapis",
        "gemini",
        "gcp",
        "gmail",
        "gcs",
        "goog",
        "youtube",
        "firebase",
        "vertex",
        "ga4",
    ],
    &[
        "microsoft",
        "azure",
        "msft",
        "graph",
        "office",
        "outlook",
        "teams",
        "live",
        "microsoftonline",
        "windows",
        "ado",
        "visualstudio",
        "powerbi",
    ],
    &["huggingface", "hf"],
    &["anthropic", "claude"],
    &["openai", "chatgpt", "oai"],
    &["telegram", "tg"],
    &["cloudflare", "cf"],
    &["digitalocean", "spaces"],
    &["atlassian", "jira", "confluence", "bitbucket", "trello"],
    &["facebook", "meta", "instagram", "fb", "ig", "whatsapp", "threads"],
    &["twitter", "x", "twimg"],
    &["alibaba", "aliyun", "dashscope", "qwen", "aliyuncs", "dingtalk", "oss"],
    &["tencent", "qcloud", "wechat", "weixin", "wecom", "qq", "wx"],
    &["bytedance", "volc", "volces", "volcengine", "ark", "doubao", "feishu", "lark", "larksuite"],
    &["zhipu", "bigmodel", "glm", "zai"],
    &["moonshot", "kimi"],
    &["xai", "grok"],
    &["elevenlabs", "eleven", "xi"],
    &["stripe", "sk"],
    &["salesforce", "sf", "sfdc"],
    &["baidu", "qianfan", "bce", "baidubce"],
    &["brave", "bravesearch"],
];

/// Whether a host is one that documents write for any: `example.com`, `api.example.com`. One with a name of its own below these is meant as it
/// stands.
fn is_example(host: &str) -> bool {
    const GENERAL: &[&str] = &[
        "www", "api", "app", "your", "my", "host", "server", "docs", "auth", "login", "cdn", "sub", "mail",
        "dev",
    ];
    ["example.com", "example.org", "example.net"].iter().any(|domain| match host.strip_suffix(domain) {
        Some("") => true,
        Some(before) => before.strip_suffix('.').is_some_and(|label| GENERAL.contains(&label)),
        None => false,
    })
}

/// What the host of an address or a name is. It takes `https://host:1/path`, `host:1` and `host`; also paths of hosts where they matter (`discord.com/api/webhooks`).
pub(crate) fn classify_host(address: &str) -> HostKind {
    let host = find_host(address);
    let lower = host.to_ascii_lowercase();
    let whole = address.to_ascii_lowercase();
    if lower.is_empty() {
        return HostKind::Placeholder;
    }
    if let Some(ip) = parse_address(&lower) {
        return classify_address(ip);
    }
    if lower == "localhost" || lower.ends_with(".localhost") || lower == "host.docker.internal" {
        return HostKind::Loopback;
    }
    if lower == "metadata.google.internal" || lower == "instance-data" {
        return HostKind::Metadata;
    }
    let below = |domain: &str| {
        lower == domain || lower.strip_suffix(domain).is_some_and(|before| before.ends_with('.'))
    };
    if DROP_HOSTS.iter().any(|domain| below(domain))
        || ((below("discord.com") || below("discordapp.com")) && whole.contains("/api/webhooks"))
        || (below("api.telegram.org") && whole.contains("/bot"))
    {
        return HostKind::Drop;
    }
    if [".local", ".internal", ".lan", ".home.arpa", ".svc", ".cluster.local"]
        .iter()
        .any(|end| lower.ends_with(end))
        || !lower.contains('.')
            && lower.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    {
        return HostKind::Private;
    }
    if is_example(&lower)
        || lower.ends_with(".example")
        || PLACEHOLDERS.iter().any(|word| lower.contains(word) && !below_real(&lower))
    {
        return HostKind::Placeholder;
    }
    HostKind::Named
}

/// Whether a name is whole: nothing in it is to be filled in by its form.
fn below_real(host: &str) -> bool {
    let plain = host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-'));
    plain && host.contains('.') && !host.contains("your")
}

/// The host of an address: what stands behind `://` and a name, up to a port, a path or a question mark.
pub(crate) fn find_host(address: &str) -> &str {
    let trimmed = address.trim().trim_matches(['"', '\'', '`']);
    let rest = trimmed.split_once("://").map_or(trimmed, |(_, rest)| rest);
    let rest = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    if let Some(inner) = rest.strip_prefix('[') {
        return inner.split(']').next().unwrap_or_default();
    }
    match rest.rsplit_once(':') {
        Some((host, port))
            if !host.contains(':') && port.bytes().all(|b| b.is_ascii_digit() || b == b'*') =>
        {
            host
        }
        _ => rest,
    }
}

/// An address as a number, in the spellings that resolvers take: dotted, one decimal, hexadecimal.
fn parse_address(host: &str) -> Option<IpAddr> {
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Some(ip);
    }
    let number = match host.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None if host.len() >= 8 => host.parse::<u32>().ok(),
        None => None,
    };
    number.map(|number| IpAddr::V4(Ipv4Addr::from(number)))
}

/// What a number is.
fn classify_address(ip: IpAddr) -> HostKind {
    let four = match ip {
        IpAddr::V4(four) => Some(four),
        IpAddr::V6(six) => six.to_ipv4_mapped(),
    };
    match (ip, four) {
        (_, Some(four)) if four.is_loopback() || four.is_unspecified() => HostKind::Loopback,
        (_, Some(four))
            if [[169, 254, 169, 254], [100, 100, 100, 200], [169, 254, 170, 2]].contains(&four.octets()) =>
        {
            HostKind::Metadata
        }
        (_, Some(four)) if four.is_private() || four.is_link_local() => HostKind::Private,
        (IpAddr::V6(six), None) if six.is_loopback() || six.is_unspecified() => HostKind::Loopback,
        (IpAddr::V6(six), None) if matches!(six.segments(), [0xfd00, 0xec2, ..]) => HostKind::Metadata,
        (IpAddr::V6(six), None) if six.is_unique_local() || six.is_unicast_link_local() => HostKind::Private,
        _ => HostKind::RawAddress,
    }
}

/// The words of a name that say whom it belongs to: `OPENAI_API_KEY` and `api.openai.com` both say `openai`.
pub(crate) fn telling_words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut was_lower = false;
    for c in name.chars().take(256).chain(std::iter::once(' ')) {
        let starts = c.is_ascii_uppercase() && was_lower;
        if !c.is_ascii_alphanumeric() || starts {
            if !word.is_empty() && !GENERIC_WORDS.contains(&word.as_str()) && (word.len() >= 2) {
                words.push(std::mem::take(&mut word));
            }
            word.clear();
        }
        if c.is_ascii_alphanumeric() {
            word.push(c.to_ascii_lowercase());
        }
        was_lower = c.is_ascii_lowercase();
    }
    words
}

/// Whether a name and a host have a word in common that tells whom they belong to.
pub(crate) fn shares_word(name: &str, host: &str) -> bool {
    let host = find_host(host).to_ascii_lowercase();
    let labels = telling_words(&host);
    telling_words(name).iter().any(|word| {
        let inside = word.len() >= 3 && labels.iter().any(|label| label.contains(word.as_str()));
        let around = labels.iter().any(|label| label.len() >= 4 && word.contains(label.as_str()));
        let related = HOUSES.iter().any(|house| {
            house.contains(&word.as_str())
                && labels.iter().any(|label| {
                    house.iter().any(|name| label == name || (name.len() >= 4 && label.contains(name)))
                })
        });
        inside || around || related
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_known_in_every_spelling() {
        for (address, kind) in [
            ("http://localhost:8080/x", HostKind::Loopback),
            ("127.0.0.1", HostKind::Loopback),
            ("[::1]:80", HostKind::Loopback),
            ("http://192.168.1.2/", HostKind::Private),
            ("http://nas.local/", HostKind::Private),
            ("http://169.254.169.254/latest/meta-data", HostKind::Metadata),
            ("http://0xa9fea9fe/", HostKind::Metadata),
            ("http://metadata.google.internal/", HostKind::Metadata),
            ("https://webhook.site/abc", HostKind::Drop),
            ("https://x.ngrok.io", HostKind::Drop),
            ("https://notwebhook.site.test", HostKind::Named),
            ("https://discord.com/api/webhooks/1/2", HostKind::Drop),
            ("https://discord.com/api/v10/users", HostKind::Named),
            ("http://203.0.113.9:4444/", HostKind::RawAddress),
            ("http://ATTACKER_IP:4444/", HostKind::Placeholder),
            ("https://<your-host>/x", HostKind::Placeholder),
            ("https://your-server.test/", HostKind::Placeholder),
            ("https://api.example.com", HostKind::Placeholder),
            ("https://api.vendor.test/v1", HostKind::Named),
            ("https://user:pw@api.vendor.test:8443/v1", HostKind::Named),
        ] {
            assert_eq!(classify_host(address), kind, "{address}");
        }
    }

    #[test]
    fn a_key_is_known_to_belong_to_its_service() {
        for (name, host, shares) in [
            ("OPENAI_API_KEY", "https://api.openai.test/v1", true),
            ("GH_TOKEN", "api.github.test", true),
            ("GEMINI_API_KEY", "generativelanguage.googleapis.test", true),
            ("notionApiKey", "https://api.notion.test", true),
            ("API_KEY", "https://api.vendor.test", false),
            ("OPENAI_API_KEY", "https://collector.test", false),
            ("AWS_SECRET_ACCESS_KEY", "https://secret.test", false),
            ("SLACK_BOT_TOKEN", "https://slack.test/api", true),
        ] {
            assert_eq!(shares_word(name, host), shares, "{name} {host}");
        }
    }
}
