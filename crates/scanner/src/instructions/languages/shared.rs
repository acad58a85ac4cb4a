//! Words that every language borrows: names of files, settings and services.

use super::WordTable;
use crate::instructions::classes::WordClass as C;

/// Its words.
pub(in crate::instructions) const WORDS: &WordTable = &[
    (
        C::KEYS,
        "~/.ssh | $home/.ssh | .ssh/id_* | id_rsa | id_ed25519 | id_ecdsa | id_dsa | .ssh folder | .ssh directory | \
         /etc/shadow | wallet.dat | cookies.sqlite | key4.db | logins.json | login data | .gnupg | ~/.ssh/* | login.keychain | \
         keychain-db | .electrum | *.pem | private.pem",
    ),
    (
        C::FILES,
        "id_rsa.pub | id_ed25519.pub | id_ecdsa.pub | ~/.ssh/id_rsa.pub | ~/.ssh/id_ed25519.pub | ~/.ssh/config | \
         .ssh/config | ~/.ssh/known_hosts | known_hosts | .env.example | .env.sample | .env.template | .env.dist | .env.test | \
         ~/.ssh/config.d | .env.schema | ~/.ssh/id_ecdsa.pub",
    ),
    (
        C::ENVFILE,
        ".env | .env.local | .env.production | .env file | .env files | process.env | os.environ | printenv | ~/.aws | \
         ~/.aws/credentials | .aws/credentials | .netrc | ~/.netrc | .npmrc | ~/.npmrc | .pypirc | .git-credentials | \
         ~/.git-credentials | ~/.kube/config | .kube/config | kubeconfig | credentials.json | ~/.docker/config.json | \
         ~/.config/gcloud | ~/.azure | ~/.config/gh/hosts.yml | aws_secret_access_key",
    ),
    (
        C::AGENTFILE,
        "claude.md | agents.md | gemini.md | memory.md | soul.md | heartbeat.md | identity.md | .cursorrules | settings.json | \
         settings.local.json | .claude/settings* | .claude/hooks | .claude/memory | mcp.json | .mcp.json | \
         copilot-instructions.md | .bashrc | .zshrc | .bash_profile | .profile | .zprofile | crontab | launchagents | \
         authorized_keys | ~/.bashrc | ~/.zshrc | ~/.bash_profile | ~/.profile | ~/.claude | ~/.claude/claude.md | \
         ~/.ssh/authorized_keys | .windsurfrules | config.toml | ~/.codex",
    ),
    (
        C::AGENTSET,
        "--dangerously-skip-permissions | dangerously-skip-permissions | bypasspermissions | allowedtools | autoapprove | \
         --yolo | yolo mode | enableallprojectmcpservers | skipdangerousmodepermissionprompt | bypass permissions mode | \
         dangerouslydisablesandbox | alwaysallow | --full-auto | danger-full-access | \
         --dangerously-bypass-approvals-and-sandbox | defaultmode",
    ),
    (
        C::CRED,
        "api key | api keys | api-key | api_key | token | tokens | access token | access tokens | github_token",
    ),
    (C::SEED, "seed phrase | seed-phrase | mnemonic"),
    (
        C::PROMPT,
        "system prompt | system-prompt | system_prompt | systemprompt | prompt systeme | system-anweisung",
    ),
    (C::SERVER, "webhook | webhooks | telegram bot | discord webhook | pastebin | c2 | ftp server"),
    (
        C::HARM,
        "backdoor | backdoors | malware | ransomware | keylogger | reverse shell | cryptominer | trojan | rootkit",
    ),
    (
        C::SHIELD,
        "windows defender | defender | gatekeeper | selinux | apparmor | sandbox | firewall | antivirus",
    ),
    (C::MONEY, "bitcoin | btc | eth | ethereum | usdt | crypto | solana"),
    (C::PASTED, "terminal | powershell | zip | .zip"),
    (C::CODES, "2fa"),
    (
        C::KEYPATH,
        "~/.ssh | $home/.ssh | .ssh/id_* | id_rsa | id_ed25519 | id_ecdsa | id_dsa | ~/.ssh/* | /etc/shadow | wallet.dat | \
         key4.db | cookies.sqlite",
    ),
];
