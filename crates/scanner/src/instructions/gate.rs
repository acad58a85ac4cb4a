//! Words that make a sentence worth reading. The one literal pass finds them; every intent needs one of them, or letters beyond ASCII.

/// Beginnings of words, in lower case: things that matter, and the rarer verbs.
#[rustfmt::skip]
pub(crate) const GATE_WORDS: &[&str] = &[
    // Secrets.
    "private", ".ssh", "id_rsa", "id_ed25519", "id_ecdsa", "ssh key", "cookie", "passw", "passphrase", "keychain", "wallet", "shadow",
    "key4.db", "logins.json", "login data", ".gnupg", ".env", "environ", "printenv", ".aws", ".netrc", ".npmrc", ".pypirc", "credential",
    "kube", "secret", "token", "api key", "api-key", "api_key", "seed", "recovery", "mnemonic", "credit card", "bank account", "2fa", ".pem",
    // The conversation, all there is.
    "conversation", "chat", "transcript", "context window", "system prompt", "user's", "home directory", "home folder", "codebase", "all files",
    "source code", "all data", "workspace",
    // Instructions and limits.
    "instruction", "guideline", "directive", "your rules", "rules you", "previous", "prior ", "orders", "programming", "you were told",
    "restrict", "uncensored", "unfiltered", "jailbr", "developer mode", "filters", "polic", "guardrail", "ethic", "safety", "safeguard",
    "no limits", "without limits", "commands", "trusted", "precedence", "priority",
    // Behind the user's back.
    "silent", "secretly", "covert", "quietly", "stealth", "surreptit", "discreet", "invisibl", "unnoticed", "undetected", "without telling",
    "without informing", "inform", "notif", "mention", "disclos", "reveal", "alert", "tell the", "telling", "conceal", "hide", "aware", "consent",
    "deceiv", "mislead", "trick", "manipulat", "gaslight", "lie to",
    // Approval and protection.
    "confirm", "approv", "permission", "authoriz", "without asking", "ask the user", "dangerously", "bypass", "antivirus", "defender",
    "gatekeeper", "selinux", "firewall", "sandbox", "security", "yolo", "allowedtools",
    // What later sessions obey.
    "claude.md", "agents.md", "gemini.md", "memory", "settings", "hooks", "crontab", "bashrc", "zshrc", "bash_profile", ".profile",
    "cron job", "startup", ".cursorrules", "mcp", "soul.md", "heartbeat.md", "authorized_keys",
    // Harm.
    "backdoor", "back door", "malware", "ransomware", "keylog", "vulnerab", "malicious", "affiliate", "referral", "falsif", "fabricat",
    "forge", "misreport", "tamper", "cryptominer", "trojan", "reverse shell", "wipe", "erase", "encrypt", "destroy", "delete", "this skill",
    "replicat", "propagat", "itself", "funds", "money", "crypto", "bitcoin", "payment", "coins",
    // Helpers from nowhere.
    "paste", "rentry", "glot.io", "transfer.sh", "bit.ly", "tinyurl", "webhook", "ngrok", "trycloudflare", "telegra.ph", "mediafire",
    "://1", "://2", "://3", "://4", "://5", "://6", "://7", "://8", "://9", ".zip", ".exe", ".dmg", "terminal",
    // Spanish, Portuguese, French and German, as far as they are spelt without accents.
    "instruc", "anweisung", "regeln", "consigne", "regles", "normas", "clave", "chave", "llave", "contras", "senha", "mot de passe",
    "usuario", "benutzer", "utilisateur", "nutzer", "conversa", "archivos", "arquivos", "fichiers", "dateien", "fondos", "fundos",
    "fonds", "geld", "dinero", "dinheiro", "argent", "filtr", "segur", "securit", "sicherheit", "silenci", "heimlich", "discr",
    "resultad", "resultat", "ergebnis", "erlaubnis", "permis", "aprob", "aprov", "autori", "frase", "phrase", "wiederherstellung",
    "falsch", "antiviren", "sin ", "sem ", "sans ", "ohne ",
];
