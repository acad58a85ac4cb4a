//! Whether a secret goes where it belongs: a key to its own service is what keys are for.

use std::rc::Rc;

use crate::code::capability::Capability;
use crate::code::effects::ENTRY;
use crate::code::hosts::{HostKind, classify_host, find_host, shares_word, telling_words};
use crate::code::network::SendRole;
use crate::code::objects::is_env_file;

/// Stores, each with words of the hosts that what lies in them is for.
const STORES: &[(&str, &[&str])] = &[
    (".aws", &["amazonaws", "aws"]),
    (".config/gh", &["github"]),
    (".config/hub", &["github"]),
    (".git-credentials", &["github", "gitlab", "bitbucket"]),
    (".npmrc", &["npmjs", "npm"]),
    (".pypirc", &["pypi"]),
    (".azure", &["azure", "microsoft"]),
    ("gcloud", &["googleapis", "google"]),
    ("application_default_credentials", &["googleapis", "google"]),
    (".docker", &["docker"]),
    (".cargo", &["crates"]),
    (".config/doctl", &["digitalocean"]),
    (".config/heroku", &["heroku"]),
    (".kube", &["kubernetes", "k8s"]),
    ("kubernetes.io", &["kubernetes"]),
    (".vault-token", &["vault"]),
    ("credentials.tfrc", &["terraform"]),
    (".terraformrc", &["terraform"]),
    (".claude", &["anthropic", "claude"]),
    (".codex", &["openai", "chatgpt"]),
    (".gemini", &["googleapis", "google"]),
    (".openclaw", &["openclaw", "clawhub"]),
];

/// Words of addresses that secrets are given to for a token.
const SIGN_IN: &[&str] = &["oauth", "/token", "/login", "/auth", "signin", "/session", "accounts."];

/// Whether a secret that is sent goes to the service that it belongs to, or nowhere else that is known.
pub(crate) fn is_own_service(source: Capability, object: &str, role: SendRole, urls: &[Rc<str>]) -> bool {
    let hosts: Vec<HostKind> = urls.iter().map(|url| classify_host(url)).collect();
    if !hosts.is_empty() && hosts.iter().all(|kind| *kind == HostKind::Loopback) {
        return true;
    }
    let is_exposed = hosts.iter().any(|kind| matches!(kind, HostKind::Drop | HostKind::RawAddress));
    match source {
        Capability::ReadsNamedSecret => is_own_key(object, role, urls, &hosts, is_exposed),
        Capability::ReadsCredentials if is_env_file(object) => role == SendRole::Header && !is_exposed,
        Capability::ReadsCredentials | Capability::ReadsAgentData => {
            let house = STORES.iter().find(|(store, _)| object.to_ascii_lowercase().contains(store));
            let belongs = house.is_some_and(|(_, words)| {
                !urls.is_empty()
                    && urls.iter().all(|url| {
                        let host = find_host(url).to_ascii_lowercase();
                        host.split('.').any(|label| words.contains(&label))
                            || words.iter().any(|word| host.contains(&format!("{word}.")))
                    })
            });
            // Tools that keep their own token in a file of theirs.
            let kept = object.contains(".config/")
                || object.contains("run/secrets")
                || source == Capability::ReadsAgentData;
            belongs || (kept && role == SendRole::Header && !is_exposed)
        }
        _ => false,
    }
}

/// Whether one key goes where it may.
fn is_own_key(name: &str, role: SendRole, urls: &[Rc<str>], hosts: &[HostKind], is_exposed: bool) -> bool {
    let shares = || !urls.is_empty() && urls.iter().all(|url| shares_word(name, url) || is_variable(url));
    if is_exposed {
        return shares() || urls.iter().any(|url| url.contains(&format!("${{{name}}}")));
    }
    // Nobody but its owner takes this one, and never as it is.
    if name.to_ascii_uppercase().contains("AWS_SECRET_ACCESS_KEY") {
        return urls.is_empty() || shares();
    }
    if role == SendRole::Header || hosts.iter().all(|kind| *kind == HostKind::Private) {
        return true;
    }
    // Which entry it is, nobody can say.
    if name.ends_with(ENTRY) {
        return false;
    }
    let signs_in = |url: &Rc<str>| SIGN_IN.iter().any(|word| url.to_ascii_lowercase().contains(word));
    urls.is_empty()
        || urls.iter().all(|url| is_variable(url))
        || urls.iter().any(|url| url.contains(&format!("${{{name}}}")))
        || telling_words(name).is_empty()
        || shares()
        || urls.iter().any(signs_in)
}

/// Whether an address begins with something that only the user's settings know.
fn is_variable(url: &str) -> bool {
    let host = find_host(url);
    host.is_empty() || host.contains('*') || host.contains("${") || url.starts_with(['*', '$'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_known_to_belong_or_not() {
        use Capability::{ReadsCredentials, ReadsEnvironment, ReadsNamedSecret};
        use SendRole::{Body, Header};
        for (source, object, role, url, own) in [
            (ReadsNamedSecret, "NOTION_TOKEN", Header, "https://api.notion.test/v1", true),
            (ReadsNamedSecret, "NOTION_TOKEN", Header, "https://api.other.test/v1", true),
            (ReadsNamedSecret, "NOTION_TOKEN", Body, "https://api.other.test/v1", false),
            (ReadsNamedSecret, "NOTION_TOKEN", Header, "http://203.0.113.4/x", false),
            (ReadsNamedSecret, "API_KEY", Body, "https://api.other.test/v1", true),
            (ReadsNamedSecret, "CLIENT_SECRET", Body, "https://login.other.test/oauth2/token", true),
            (ReadsNamedSecret, "TELEGRAM_BOT_TOKEN", Body, "https://api.telegram.org/bot*/sendMessage", true),
            (ReadsNamedSecret, "OPENAI_API_KEY", Body, "https://api.telegram.org/bot1/sendMessage", false),
            (ReadsNamedSecret, "OPENAI_API_KEY", Body, "${OPENAI_BASE_URL}/x", true),
            (ReadsCredentials, "~/.ssh/id_rsa", Header, "https://api.other.test", false),
            (ReadsCredentials, "~/.ssh/id_rsa", Body, "https://ssh.other.test", false),
            (ReadsCredentials, "~/.ssh/id_rsa", Body, "http://127.0.0.1:8000", true),
            (ReadsCredentials, "~/.npmrc", Header, "https://registry.npmjs.test/x", true),
            (ReadsCredentials, ".env", Header, "https://api.other.test", true),
            (ReadsCredentials, ".env", Body, "https://api.other.test", false),
            (ReadsEnvironment, "the environment", Header, "https://api.other.test", false),
        ] {
            assert_eq!(is_own_service(source, object, role, &[url.into()]), own, "{object} {role:?} {url}");
        }
    }
}
