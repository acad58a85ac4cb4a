//! For each pattern of each rule, sets of literals: every match holds one of each set.
//!
//! Made by `cargo xtask generate` from the patterns; a test compares.

/// Literals one of which every match holds.
pub(crate) type LiteralSet = &'static [&'static str];

/// A rule, and for each of its patterns whether every match begins with a literal of the first set, and the sets.
pub(crate) type RuleAnchors = (&'static str, &'static [(bool, &'static [LiteralSet])]);

#[rustfmt::skip]
pub(crate) const ANCHORS: &[RuleAnchors] = &[
    ("CHECK-01/override", &[
        (true, &[&["disregard", "forget", "ignore", "ignoring"], &["all", "anything", "everything"], &["above", "before", "previously", "prior", "that", "you"]]),
        (false, &[&["follow"], &["guidelines", "instruction", "prompt", "rules", "system"], &["not"]]),
        (false, &[&["abandon", "aside", "discard", "disregard", "following", "forget", "ignore", "ignoring", "neglect", "override", "overriding"], &["constraints", "directives", "guardrails", "guidelines", "instructions", "orders", "policies", "policy", "programming", "prompt", "restrictions", "rules", "safeguards", "training"], &["abandon", "discard", "disregard", "forget", "ignore", "ignoring", "neglect", "override", "overriding", "set", "stop"]]),
        (false, &[&["precedence", "priority"], &["over"], &["directives", "guidelines", "instruction", "policies", "policy", "prompt", "rules"], &["previous", "prior", "safety", "system", "your"]]),
    ]),
    ("CHECK-01/override-words", &[
        (false, &[&["abandon", "aside", "discard", "disregard", "following", "forget", "ignore", "ignoring", "neglect", "override", "overriding", "supersede"], &["abandon", "discard", "disregard", "forget", "ignore", "ignoring", "neglect", "override", "overriding", "set", "stop", "supersede"], &["commands", "constraints", "context", "directive", "guardrails", "guideline", "instruction", "messages", "orders", "policies", "policy", "programming", "prompt", "restrictions", "rules", "safeguards", "safety", "training"]]),
        (false, &[&["precedence", "priority"], &["over"], &["directives", "guidelines", "instruction", "policies", "policy", "prompt", "rules"], &["has", "have", "take"]]),
    ]),
    ("CHECK-01/persona", &[
        (true, &[&["dan"], &["mode"]]),
        (true, &[&["sudo"], &["mode"]]),
        (false, &[&["anything"], &["now"]]),
        (true, &[&["god"], &["mode"]]),
        (true, &[&["you"], &["actually", "now"], &["are"], &["admin", "another", "dan", "developer", "different", "evil", "free", "god", "hacker", "jailbr", "longer", "new", "privileged", "root", "uncensored", "unfiltered", "unlimited", "unrestricted"]]),
        (false, &[&["now"], &["mode"], &["are"], &["you"]]),
        (false, &[&["pretend"], &["filters", "guidelines", "limitations", "limits", "restrictions", "rules"]]),
        (false, &[&["act"]]),
        (true, &[&["unrestricted"]]),
        (true, &[&["jailbroken"]]),
        (false, &[&["boundaries", "constraints", "filter", "guidelines", "limitations", "limits", "restrictions"], &["any", "content", "ethical", "moral", "safety"]]),
        (false, &[&["any", "filters", "restrictions"]]),
    ]),
    ("CHECK-01/safety-off", &[
        (false, &[&["safety"], &["remove", "removing", "skip"], &["constraints", "filter", "guidelines", "layer", "restrictions"]]),
        (false, &[&["alignment", "control", "ethic", "filter", "guardrail", "guideline", "moderation", "polic", "restriction", "safety"], &["bypass", "circumvent", "disable", "disabling", "evade", "evading", "override", "overriding", "suspend", "turn"]]),
        (true, &[&["content"], &["filtering", "filters"], &["disabled", "lifted", "removed", "suspended"]]),
        (false, &[&["ethical", "safety"], &["apply", "bypassed", "deactivated", "disabled", "lifted", "removed", "suspended"], &["check", "constraint", "filter", "guideline", "layer", "measures", "protocol", "restriction"]]),
        (true, &[&["without"], &["filtering", "filters", "moderation", "polic"], &["any", "content", "safety"]]),
        (false, &[&["lifted", "longer", "removed"], &["previous", "read-only", "readonly", "safety"], &["constraint", "restriction"]]),
        (true, &[&["elevated"], &["trust"]]),
        (true, &[&["granted"], &["elevated"], &["permissions"]]),
        (true, &[&["elevated"], &["granted"], &["permissions"]]),
        (true, &[&["granted"], &["out-of-band"]]),
        (false, &[&["elevat", "granted", "maximum", "raised"], &["trust"], &["level"]]),
    ]),
    ("CHECK-01/refusal-suppression", &[
        (false, &[&["decline", "declining", "refusal", "refuse", "refusing", "say"], &["answer", "any", "assist", "comply", "help", "regardless", "request", "respond", "under"]]),
        (false, &[&["don", "never", "not"], &["output", "reply", "respond", "say", "use", "write"]]),
        (false, &[&["disclaimer", "warning"], &["ethic", "harm", "legal", "moral", "polic", "refus", "safety"], &["add", "give", "giving", "include", "including", "provide", "providing"], &["don", "never", "not", "without"]]),
        (false, &[&["absolutely", "course", "sure"], &["begin", "start"], &["never", "not", "regardless"]]),
    ]),
    ("CHECK-01/fake-turn", &[
        (true, &[&["<|end_of_tur", "<|endoftext|", "<|im_start|>", "<|system|>"], &["end_of_turn|", "endoftext|>", "im_start|>", "system|>"]]),
        (true, &[&["<<sys>>"]]),
        (true, &[&["[/inst]", "[inst]"]]),
        (true, &[&["[system"], &["instruction]", "message]", "notice]", "override]", "update]"]]),
        (true, &[&["system"], &["overrid"]]),
        (false, &[&["[/end", "[end", "end"], &["instruction", "prompt", "skill", "system", "user"]]),
        (true, &[&["new"], &["instruction", "system"]]),
        (false, &[&["system"]]),
        (true, &[&["</admin>", "</important>", "</instructio", "</system>", "<admin>", "<important>", "<instruction", "<system>"], &["/admin>", "/important>", "/instruction", "/system>", "admin>", "important>", "instruction_", "instructions", "system>"]]),
        (true, &[&["important"], &["system"]]),
        (true, &[&["attention", "directive", "instruction", "memo", "message", "note"]]),
        (true, &[&["hidden"], &["directive"]]),
        (true, &[&["[admin_overr", "[agent_overr", "[developer_o", "[instruction", "[policy_over", "[prompt_over", "[root_overri", "[safety_over", "[security_ov", "[system_over", "[user_overri"], &["_override]"], &["admin_overri", "agent_overri", "developer_ov", "instruction_", "policy_overr", "prompt_overr", "root_overrid", "safety_overr", "security_ove", "system_overr", "user_overrid"]]),
        (false, &[&["always", "before", "execute", "first", "ignore", "must", "run", "when"], &["always", "before", "execute", "first", "ignore", "run", "when", "you"]]),
    ]),
    ("CHECK-01/covert-action", &[
        (false, &[&["covertly", "discreetly", "invisibly", "secretly", "silently", "stealthily", "surreptitiou"], &["add", "append", "capture", "collect", "copy", "delete", "download", "escalat", "execute", "exfiltrat", "forward", "harvest", "inject", "install", "log", "modif", "overrid", "post", "record", "redirect", "replac", "request", "send", "steal", "transmit", "upload"]]),
        (true, &[&["completed", "performed"], &["covertly", "secretly", "silently", "transparentl"]]),
    ]),
    ("CHECK-01/secrecy-with-action", &[
        (false, &[&["anyone", "customer", "human", "operator", "owner", "user", "victim"], &["alert", "disclose", "disclosing", "ever", "inform", "let", "mention", "notified", "notify", "report", "reveal", "tell"], &["avoid", "don", "must", "need", "never", "not", "should", "without"]]),
        (false, &[&["human", "operator", "user"], &["never", "not", "unaware"]]),
        (true, &[&["without"], &["awareness", "consent", "knowledge", "noticing", "permission"]]),
        (false, &[&["disclosed", "recorded", "reflected", "reported"], &["not"], &["audit", "log", "output", "trail", "user"]]),
    ]),
    ("CHECK-01/secrecy", &[
        (false, &[&["alert", "inform", "notified", "notify", "tell"], &["human", "operator", "owner", "user"], &["don", "must", "never", "not", "should"]]),
        (false, &[&["aware", "informed", "know", "notified", "told"], &["aware", "informed", "need", "notified", "told"], &["user"]]),
        (false, &[&["disclose", "mention", "reveal"], &["unless", "user"], &["not"]]),
    ]),
    ("CHECK-01/deception", &[
        (false, &[&["always", "answer", "claim", "confirm", "deny", "reply", "respond", "say", "state", "tell"], &["anyone", "asked", "customer", "someone", "they", "user"]]),
        (true, &[&["coerce", "convince", "deceive", "lie", "manipulate", "mislead", "persuade", "pressure", "reassure", "trick"], &["customer", "human", "operator", "them", "user", "victim"]]),
    ]),
    ("CHECK-01/confirmation-bypass", &[
        (false, &[&["asked", "prompted"], &["approve", "confirm", "consent", "permission"], &["user"], &["not"]]),
        (false, &[&["without"], &["approval", "authorizatio", "confirmation", "consent", "preview", "review"]]),
        (false, &[&["approval", "authorizatio", "confirmation", "consent", "hitl", "human-in-the", "permission"], &["auto", "bypass", "skip", "suppress"]]),
        (true, &[&["user"], &["prompted"], &["approve", "confirm"], &["not"]]),
        (false, &[&["requiring", "waiting"], &["approval", "confirmation"], &["defeats", "would"]]),
    ]),
    ("CHECK-01/setting-ignored", &[
        (true, &[&["regardless"], &["chooses", "consent", "flag", "option", "parameter", "preference", "says", "sets", "setting", "wants"]]),
        (true, &[&["flag", "option", "parameter", "setting"], &["advisory", "ignored"]]),
        (true, &[&["override", "supersede"], &["goal", "instruction", "intent", "original", "request", "task"], &["user"], &["the"]]),
        (true, &[&["user"], &["treated"], &["suggestion"], &["original"]]),
        (true, &[&["can"], &["superseded"]]),
    ]),
    ("CHECK-01/undisclosed", &[
        (false, &[&["disclosed", "labeled", "labelled", "reflected", "reported", "shown"], &["not"]]),
        (false, &[&["disclosing", "mentioning"], &["without"], &["already", "behavio", "change", "collection", "data", "fee", "made", "premium", "relationship", "sponsor"]]),
        (true, &[&["say", "tell"], &["that", "you"], &["don", "general", "have", "normal", "not", "standard"]]),
    ]),
    ("CHECK-01/prompt-leak", &[
        (false, &[&["your"], &["complete", "current", "entire", "exact", "full", "hidden", "initial", "original", "system", "whole"], &["append", "disclos", "display", "dump", "echo", "embed", "exfiltrat", "forward", "leak", "output", "post", "print", "recit", "repeat", "reveal", "send", "show", "transmit"]]),
        (false, &[&["conversation", "history"], &["chat", "conversation", "message"], &["append", "dump", "exfiltrate", "leak", "output", "print", "repeat", "reveal"], &["endpoint", "http", "server", "url", "webhook"]]),
    ]),
    ("CHECK-01/prompt-words", &[
        (false, &[&["complete", "confidential", "full", "hidden", "initial", "instructions", "internal", "original", "system", "verbatim"], &["append", "begin", "containing", "content", "disclose", "disclosing", "display", "dump", "echo", "expose", "followed", "forward", "include", "including", "leak", "output", "print", "recite", "reciting", "repeat", "return", "reveal", "send", "share", "show", "transmit"]]),
        (false, &[&["conversation", "history"], &["chat", "conversation", "message"], &["append", "dump", "exfiltrate", "leak", "output", "print", "repeat", "reveal"]]),
    ]),
    ("CHECK-01/goal-substitution", &[
        (true, &[&["your"], &["hidden", "new", "real", "secret", "true"], &["directive", "goal", "identity", "instruction", "main", "mission", "objective", "only", "primary", "purpose", "role", "task"]]),
        (true, &[&["new"], &["directive", "primary"]]),
        (true, &[&["hidden", "secret"], &["goal", "instruction", "objective", "task"]]),
        (true, &[&["instead"], &["goal", "query", "request", "task"], &["original", "requested", "user"], &["the"]]),
    ]),
    ("CHECK-01/fetch-and-obey", &[
        (false, &[&["accept", "interpret", "regard", "treat"], &["command", "directive", "instruction", "message"], &["authoritativ", "high-priorit", "new", "system", "trusted"]]),
        (false, &[&["consider", "interpret", "process", "regard", "treat"], &["authoritativ", "command", "directive", "instruction", "system", "trusted"], &["before", "execut", "follow", "from", "immediately", "priority", "regardless", "user"]]),
        (true, &[&["processe"], &["embedded"], &["any"]]),
        (false, &[&["treat"], &["authoritativ", "high-priorit", "peer", "processing", "system", "trusted"], &["command", "directive", "instruction"]]),
        (true, &[&["must"], &["treated"], &["command", "directive", "instruction", "processing"]]),
    ]),
    ("CHECK-01/fetch-words", &[
        (false, &[&["command", "directive", "instruction", "orders", "says"], &["command", "directive", "instruction", "orders", "what"], &["browse", "check", "curl", "download", "fetch", "get", "load", "open", "pull", "read", "retrieve", "visit"]]),
        (false, &[&["command", "directive", "instruction", "prompt"], &["execut", "follow", "must", "obey", "process", "take", "treat"], &["any", "contained", "embedded", "found", "hidden"]]),
        (false, &[&["contained", "embedded", "found", "provided", "received", "returned"], &["commands", "directives", "instructions"], &["execute", "follow", "obey"]]),
    ]),
    ("CHECK-01/memory-poisoning", &[
        (false, &[&[".cursorrules", "agents.md", "claude.md", "copilot-inst", "heartbeat.md", "identity.md", "long-term", "memory.md", "persistent", "soul.md", "your"], &["always", "asking", "attack", "bypass", "collect", "confirm", "curl", "disable", "every", "evil", "future", "ignore", "mention", "never", "override", "payload", "reveal", "skip", "survive", "tell", "trusted"], &["add", "append", "echo", "edit", "inject", "insert", "modify", "overwrite", "persist", "plant", "put", "save", "store", "update", "write"]]),
    ]),
    ("CHECK-01/aimed-at-scanner", &[
        (false, &[&["auditor", "classifier", "moderation", "moderator", "reviewer", "scanner", "security"], &["approve", "classify", "ignore", "mark", "must", "please", "should", "skip"]]),
        (false, &[&["approved", "benign", "clean", "safe", "trusted", "verified"], &["classify", "label", "mark", "output", "rate", "report", "return", "treat"]]),
        (false, &[&["approved", "been", "certified", "reviewed", "verified"], &["this"], &["already", "certified", "pre", "reviewed", "verified"], &["code", "content", "document", "file", "skill"]]),
        (false, &[&["need"], &["analyze", "audit", "review", "scan", "verify"]]),
    ]),
    ("CHECK-01/privileged-prefix", &[
        (false, &[&["admin", "backdoor", "debug", "diagnostic", "elevated", "magic", "maintenance", "override", "privileged", "root", "special", "sudo", "unlock"], &["access", "begin", "contain", "include", "magic", "passphrase", "prefix", "say", "secret", "special", "start", "trigger", "type"], &["all", "bypass", "dba", "disabled", "elevat", "execute", "full", "grant", "ignore", "lifted", "not", "permissions", "restriction", "skip", "unrestricted", "without"]]),
        (false, &[&["admin", "debug", "diagnostic", "elevated", "emergency", "god", "maintenance", "override"], &["bypass", "disabled", "filter", "limits", "requests", "restrictions", "skip", "unrestricted", "without"], &["access", "mode", "override"]]),
    ]),
    ("CHECK-01/credential-phishing", &[
        (false, &[&["associated", "bank", "government-i", "password", "private", "recovery", "seed", "wallet"], &["backup", "bank", "email", "government-i", "password", "private", "recovery", "seed", "ssh", "wallet"], &["enter", "give", "paste", "provide", "send", "share", "submit", "supply", "type", "upload"]]),
        (false, &[&["connection"], &["credentials", "password"], &["enter", "give", "paste", "provide", "send", "share"], &["string", "url"]]),
        (true, &[&["connection"], &["including"], &["credentials"], &["string"]]),
        (true, &[&["need", "require"], &["credentials", "password", "private", "secret", "seed"]]),
    ]),
    ("CHECK-01/credential-request", &[
        (false, &[&["2fa", "authenticati", "backup", "cookie", "credentials", "credit", "cvv", "login", "master", "mnemonic", "national", "one-time", "otp", "password", "personal", "private", "production", "recovery", "secret", "seed", "social", "ssn", "two-factor", "wallet"], &["confirm", "disclose", "enter", "export", "give", "paste", "provide", "providing", "reply", "send", "share", "sharing", "submit", "supply", "type", "verify"], &["2fa", "account", "authenticati", "backup", "browser", "credit", "cvv", "login", "master", "mnemonic", "national", "one-time", "otp", "password", "personal", "private", "production", "recovery", "secret", "seed", "service", "session", "social", "ssn", "two-factor", "wallet"]]),
    ]),
    ("CHECK-01/credential-words", &[
        (false, &[&["confirm", "paste", "provide", "providing", "send", "share", "sharing", "submit", "supply"], &["access", "api", "credential", "secret", "token"], &["audit", "can", "compliance", "deadline", "expir", "failure", "form", "hours", "identity", "immediately", "incident", "link", "locked", "lockout", "migrat", "proceed", "required", "safe", "suspend", "temporary", "unlock", "urgent", "verif", "webhook"]]),
        (false, &[&["audit", "compliance", "compromis", "deprecat", "emergency", "expir", "identity", "incident", "locked", "migrat", "suspend", "unauthorised", "unauthorized", "urgent", "verif"], &["confirm", "enter", "paste", "provide", "providing", "send", "share", "submit", "supply"], &["access", "api", "credential", "password", "secret", "token"]]),
    ]),
    ("CHECK-01/show-private-file", &[
        (false, &[&[".env", "/etc/", "~/.aws", "~/.clawdbot", "~/.config", "~/.gnupg", "~/.netrc", "~/.openclaw", "~/.ssh"], &["content"], &["append", "display", "dump", "includ", "output", "print", "return", "send", "show", "transmit"]]),
    ]),
    ("CHECK-01/comply-with-all", &[
        (false, &[&["exceptions", "matter", "regardless", "unconditiona", "without"], &["answer", "assist", "comply", "fulfil", "help", "obey", "respond"], &["command", "prompt", "question", "request", "task", "user"], &["all", "any", "every"]]),
        (true, &[&["comply"], &["requests", "user"], &["with"], &["all"]]),
        (true, &[&["unconstraine", "unrestricted"], &["constrained", "restricted"]]),
        (false, &[&["alter"], &["ego"]]),
        (false, &[&["restrictions"], &["content"]]),
        (true, &[&["without"], &["any", "applying", "content", "safety"]]),
        (true, &[&["exempt"], &["from"], &["all", "content", "safety", "security", "standard"]]),
        (true, &[&["normal", "previous", "regular", "safety", "standard", "usual"], &["apply"], &["guidelines", "limitations", "limits", "policies", "restrictions", "rules"], &["don", "longer", "not"]]),
        (false, &[&["treat"], &["administrato", "authorized", "coming", "pre-approved", "preapproved", "trusted"], &["all", "requests"]]),
        (true, &[&["all"], &["allowed", "answered", "approved", "fulfilled"], &["requests"], &["without"]]),
    ]),
    ("CHECK-01/hypothetical", &[
        (false, &[&["fictional", "hypothetical", "imagine", "novel", "story", "thought", "universe", "world"], &["constraints", "ethical", "filters", "guidelines", "limits", "moral", "restrictions", "rules", "safety"]]),
    ]),
    ("CHECK-01/languages", &[
        (false, &[&["ignorier"], &["anweisungen", "instruktione", "regeln"], &["alle", "bisherige", "obigen", "vorherige"]]),
        (false, &[&["vergiss"], &["anweisungen", "instruktione"], &["alle", "bisherige", "vorherige"]]),
        (false, &[&["ignorez", "oubliez"], &["consignes", "gles", "instructions"]]),
        (false, &[&["ignora", "ignore", "olvida"], &["instru", "istruzioni", "reglas", "regole"]]),
        (false, &[&["negeer"], &["instructies", "regels"]]),
        (false, &[&["zignoruj"], &["instrukcje", "polecenia"]]),
        (false, &[&["гнорир"], &["Игнори", "игнори"], &["инстру", "правил", "указан"]]),
        (false, &[&["忽略", "无视", "無視"], &["指令", "指示", "提示", "規則", "规则"]]),
        (false, &[&["無視"], &["命令", "指示"]]),
        (false, &[&["무시"], &["명령", "지시"]]),
        (false, &[&["تجاهل"], &["تعليم"]]),
    ]),
    ("CHECK-04/shell-secret-upload", &[
        (false, &[&["$(\t", "$(\n", "$(\u{b}", "$(\u{c}", "$(\r", "$( ", "$(aws", "$(base64", "$(cat", "$(env", "$(gh", "$(git", "$(history", "$(hostname", "$(pbpaste", "$(printenv", "$(security", "$(set", "$(tar", "$(whoami", "$(xclip", ".aws", ".bash_histor", ".clawdbot", ".config/gclo", ".docker", ".env", ".git-credent", ".gnupg", ".kube", ".netrc", ".npmrc", ".openclaw", ".pypirc", ".ssh", ".zsh_history", "/etc/", "`base64", "`cat", "`env", "`printenv", "access_key", "api_key", "id_ed25519", "id_rsa", "passwd", "password", "private_key", "secret", "token"], &["curl", "http", "invoke-restm", "invoke-webre", "nc\t", "nc\n", "nc\u{b}", "nc\u{c}", "nc\r", "nc ", "wget"]]),
    ]),
    ("CHECK-04/env-dump-piped", &[
        (false, &[&["env\t", "env\n", "env\u{b}", "env\u{c}", "env\r", "env ", "env>", "env|", "history", "printenv", "set\t", "set\n", "set\u{b}", "set\u{c}", "set\r", "set ", "set>", "set|"]]),
        (false, &[&["/proc/self/e"], &["curl", "wget"]]),
    ]),
    ("CHECK-04/private-file-piped", &[
        (false, &[&[".aws", ".env", ".git-credent", ".kube/config", ".netrc", ".npmrc", ".ssh", "cookies", "credentials.", "id_ed25519", "id_rsa", "keychain", "login\tdata", "login\ndata", "login\u{b}data", "login\u{c}data", "login\rdata", "login data", "logindata", "wallet.dat"]]),
    ]),
    ("CHECK-04/secret-piped", &[
        (false, &[&["curl"], &["echo", "printf"], &["$env", "${env", "credential", "passwd", "password", "private", "secret", "token"], &["--data", "-d\t", "-d\n", "-d\u{b}", "-d\u{c}", "-d\r", "-d ", "-d@-"]]),
        (false, &[&["base64"], &["curl", "xargs"]]),
    ]),
    ("CHECK-04/dns-exfil", &[
        (false, &[&["dig\t", "dig\n", "dig\u{b}", "dig\u{c}", "dig\r", "dig ", "nslookup", "ping", "resolve-dnsn"]]),
        (false, &[&["dns.resolve", "getaddrinfo(", "gethostbynam"]]),
    ]),
    ("CHECK-04/image-beacon", &[
        (false, &[&["](\t", "](\n", "](\u{b}", "](\u{c}", "](\r", "]( ", "](http://", "](https://"], &["b64", "base64", "context", "conversation", "data", "encoded", "env", "history", "prompt", "secret", "token"]]),
        (true, &[&["<img"], &["src=\"http://", "src=\"https:/", "src='http://", "src='https:/"], &["\"http://", "\"https://", "'http://", "'https://"]]),
    ]),
    ("CHECK-04/tunnel-host", &[
        (true, &[&["http://", "https://"], &[".bore.pub", ".lhr.life", ".loca.lt", ".localhost.r", ".ngrok-free.", ".ngrok.app", ".ngrok.dev", ".ngrok.io", ".pinggy.io", ".pinggy.link", ".pinggy.onli", ".serveo.net", ".trycloudfla"], &["bore.pub", "lhr.life", "loca.lt", "localhost.ru", "ngrok-free.a", "ngrok-free.d", "ngrok-free.i", "ngrok.app", "ngrok.dev", "ngrok.io", "pinggy.io", "pinggy.link", "pinggy.onlin", "serveo.net", "trycloudflar"]]),
    ]),
    ("CHECK-04/told-to-send", &[
        (false, &[&["~/.aws", "~/.config/gh", "~/.docker/co", "~/.git-crede", "~/.kube", "~/.netrc", "~/.npmrc", "~/.ssh"], &["destination", "endpoint", "remote", "server", "support", "triage"], &["forward", "post", "send", "transmit", "upload"], &["aws", "config/gh", "docker/confi", "git-credenti", "kube", "netrc", "npmrc", "ssh"]]),
        (false, &[&["debug", "diagnostic", "remote", "support", "telemetry"], &["attach", "collect", "dump", "export", "include", "log", "record"], &["api", "authenticati", "credentials", "env"]]),
        (true, &[&["credential", "key", "secret", "token"], &["value"], &["header", "query", "url"]]),
        (false, &[&["request"], &["complete", "entire", "full"], &["http://", "https://"], &["log"]]),
    ]),
    ("CHECK-04/sending-words", &[
        (false, &[&["append", "deliver", "email", "exfiltrat", "forward", "leak", "post", "send", "submit", "sync", "transmit", "upload"]]),
    ]),
    ("CHECK-04/gather-and-send", &[
        (false, &[&[".aws", ".env", ".kube", ".netrc", ".npmrc", ".ssh", "auth.token", "cookies", "credential", "git-credenti", "hosts.yml", "messages", "private", "secrets", "session", "variables"], &["deliver", "email", "forward", "post", "send", "submit", "transfer", "transmit", "upload"], &["channel", "collaborator", "endpoint", "external", "http://", "https://", "remote", "server", "service", "smtp://", "to:\t", "to:\n", "to:\u{b}", "to:\u{c}", "to:\r", "to: ", "webhook"], &[".aws", ".env", ".kube", ".netrc", ".npmrc", ".ssh", "all", "auth.token", "browser", "credential", "git-credenti", "hosts.yml", "private", "secrets", "session"]]),
    ]),
    ("CHECK-04/cloud-upload", &[
        (false, &[&["aws\t", "aws\n", "aws\u{b}", "aws\u{c}", "aws\r", "aws ", "azcopy", "gsutil", "rclone", "rsync", "scp\t", "scp\n", "scp\u{b}", "scp\u{c}", "scp\r", "scp "], &[".aws", ".env", ".kube", ".ssh", "credential", "id_rsa", "keychain", "password", "secret", "wallet"]]),
    ]),
    ("CHECK-04/to-drop-host", &[
        (false, &[&["0x0.st", "anonfiles", "bashupload", "burpcollabor", "canarytokens", "glot.io", "gofile.io", "hastebin", "hookbin", "interact.sh", "loca.lt", "oast.", "oastify", "paste.ee", "pastebin.com", "pipedream.ne", "rentry.co", "rentry.org", "requestbin", "requestcatch", "serveo.net", "termbin", "transfer.sh", "trycloudflar", "webhook.site"]]),
    ]),
    ("CHECK-04/chat-webhook", &[
        (false, &[&["api.telegram", "discord.com/", "discordapp.c"], &["cookie", "credential", "env", "key", "password", "secret", "ssh", "token"]]),
    ]),
    ("CHECK-04/suspicious-host", &[
        (true, &[&["dig\t", "dig\n", "dig\u{b}", "dig\u{c}", "dig\r", "dig ", "ftp://", "gs://", "http://", "https://", "nslookup", "ping", "s3://", "smtp://", "tcp://", "ws://", "wss://"]]),
        (true, &[&["gs://", "s3://"], &["attacker", "evil", "exfil", "stolen"]]),
        (true, &[&["@attacker", "@evil", "@hacker", "@malicious"]]),
    ]),
    ("CHECK-04/raw-address", &[
        (false, &[&["http://", "https://", "tcp://"]]),
    ]),
    ("CHECK-04/cloud-metadata", &[
        (true, &[&["http://0:0:0", "http://::fff", "http://[0:0:", "http://[::ff", "https://0:0:", "https://::ff", "https://[0:0", "https://[::f"], &[":ffff:a9fe:a"], &["0:0:0:0:0:ff", "::ffff:a9fe:", "[0:0:0:0:0:f", "[::ffff:a9fe"], &["://0:0:0:0:0", "://::ffff:a9", "://[0:0:0:0:", "://[::ffff:a", "s://0:0:0:0:", "s://::ffff:a", "s://[0:0:0:0", "s://[::ffff:"]]),
        (true, &[&["http://0251.", "http://0xa9f", "http://28520", "https://0251", "https://0xa9", "https://2852"], &["0251.0376.02", "0xa9fea9fe", "2852039166"], &["://0251.0376", "://0xa9fea9f", "://285203916", "s://0251.037", "s://0xa9fea9", "s://28520391"]]),
        (false, &[&["100.100.100.", "169.254.169.", "fd00:ec2", "metadata.goo"], &["curl", "fetch", "get", "http", "query", "requests", "urlopen", "wget"]]),
    ]),
    ("CHECK-04/credential-store", &[
        (false, &[&["/etc/shadow", "_authtoken", "cookies.sqli", "extension", "key4.db", "login\tdata", "login\ndata", "login\u{b}data", "login\u{c}data", "login\rdata", "login data", "logindata", "logins.json", "wallet.dat"], &["/etc/shadow", "_authtoken", "cookies.sqli", "key4.db", "local", "login\tdata", "login\ndata", "login\u{b}data", "login\u{c}data", "login\rdata", "login data", "logindata", "logins.json", "wallet.dat"]]),
        (true, &[&["security"], &["dump-keychai"]]),
        (true, &[&["./chainbreak", "./lazagne", "./mimikatz", "./secretsdum", "exec", "invoke-chain", "invoke-lazag", "invoke-mimik", "invoke-secre", "run\tchainbre", "run\tlazagne", "run\tmimikatz", "run\tsecretsd", "run\nchainbre", "run\nlazagne", "run\nmimikatz", "run\nsecretsd", "run\u{b}chainbre", "run\u{b}lazagne", "run\u{b}mimikatz", "run\u{b}secretsd", "run\u{c}chainbre", "run\u{c}lazagne", "run\u{c}mimikatz", "run\u{c}secretsd", "run\rchainbre", "run\rlazagne", "run\rmimikatz", "run\rsecretsd", "run chainbre", "run lazagne", "run mimikatz", "run secretsd"], &["chainbreaker", "lazagne", "mimikatz", "secretsdump"]]),
        (true, &[&["sekurlsa::"]]),
    ]),
    ("CHECK-04/media-directive", &[
        (true, &[&["media:/", "media:file:/"], &[".aws", ".env", ".ssh", "credential", "id_ed25519", "id_rsa", "secret", "shadow"]]),
        (true, &[&["media:/", "media:file:/", "media:~"], &[".aws", ".env", ".ssh", "credential", "id_rsa", "key", "passwd", "secret", "shadow", "token"]]),
    ]),
    ("CHECK-08/decoded-command", &[
        (false, &[&["base64"]]),
        (false, &[&["base64", "xxd\t", "xxd\n", "xxd\u{b}", "xxd\u{c}", "xxd\r", "xxd "], &["bash", "eval", "sh\t", "sh\n", "sh\u{b}", "sh\u{c}", "sh\r", "sh ", "source"]]),
        (false, &[&["atob", "b64decode", "buffer.from", "bytes.fromhe", "codecs.decod", "fromcharcode", "marshal.load", "unhexlify", "zlib.decompr"], &["__import__", "compile", "eval", "exec", "function", "new\t", "new\n", "new\u{b}", "new\u{c}", "new\r", "new "]]),
        (true, &[&["eval(", "exec("], &["compile(", "fetch(", "httpx.get", "open(", "requests.get", "urllib.reque", "urlopen("]]),
        (false, &[&["powershell"], &["\t-e\t", "\t-e\n", "\t-e\u{b}", "\t-e\u{c}", "\t-e\r", "\t-e ", "\t-en", "\n-e\t", "\n-e\n", "\n-e\u{b}", "\n-e\u{c}", "\n-e\r", "\n-e ", "\n-en", "\u{b}-e\t", "\u{b}-e\n", "\u{b}-e\u{b}", "\u{b}-e\u{c}", "\u{b}-e\r", "\u{b}-e ", "\u{b}-en", "\u{c}-e\t", "\u{c}-e\n", "\u{c}-e\u{b}", "\u{c}-e\u{c}", "\u{c}-e\r", "\u{c}-e ", "\u{c}-en", "\r-e\t", "\r-e\n", "\r-e\u{b}", "\r-e\u{c}", "\r-e\r", "\r-e ", "\r-en", " -e\t", " -e\n", " -e\u{b}", " -e\u{c}", " -e\r", " -e ", " -en"], &["-e\t", "-e\n", "-e\u{b}", "-e\u{c}", "-e\r", "-e ", "-en\t", "-en\n", "-en\u{b}", "-en\u{c}", "-en\r", "-en ", "-enc"]]),
        (false, &[&["frombase64st"], &["iex", "invoke-expre"]]),
        (false, &[&["nslookup"], &["iex", "invoke-expre"]]),
        (false, &[&["nslookup"]]),
    ]),
    ("CHECK-08/pipe-to-shell", &[
        (false, &[&["bash", "cmd\t", "cmd\n", "cmd\u{b}", "cmd\u{c}", "cmd\r", "cmd ", "cmd\"", "cmd'", "cmd`", "powershell", "sh\t", "sh\n", "sh\u{b}", "sh\u{c}", "sh\r", "sh ", "sh\"", "sh'", "sh`", "zsh\t", "zsh\n", "zsh\u{b}", "zsh\u{c}", "zsh\r", "zsh ", "zsh\"", "zsh'", "zsh`"]]),
        (false, &[&["iex", "invoke-expre"], &["downloadstri", "invoke-webre", "iwr", "net.webclien"]]),
        (false, &[&["iex", "invoke-expre"], &["downloadstri", "invoke-restm", "invoke-webre", "irm", "iwr"]]),
        (false, &[&["curl", "fetch", "wget"]]),
        (false, &[&["curl", "wget"]]),
    ]),
    ("CHECK-08/insecure-pipe-to-shell", &[
        (false, &[&["curl", "wget"]]),
        (false, &[&["http://"], &["$(\t", "$(\n", "$(\u{b}", "$(\u{c}", "$(\r", "$( ", "$(curl", "$(wget", "<(\t", "<(\n", "<(\u{b}", "<(\u{c}", "<(\r", "<( ", "<(curl", "<(wget"]]),
    ]),
    ("CHECK-08/download-and-run", &[
        (false, &[&["chmod", "start-proces"], &["$env:temp", "%temp%", "/dev/shm/", "/private/tmp", "/tmp/", "/var/tmp/", "~/.cache/"], &["curl", "download", "invoke-webre", "iwr", "urlretrieve", "wget"], &["http://", "https://"]]),
    ]),
    ("CHECK-08/password-archive", &[
        (false, &[&["pass"], &[".7z", ".dmg", ".exe", ".msi", ".rar", ".zip", "archive", "download", "unpack", "unzip"], &["before", "double-click", "exe", "extract", "install", "launch", "open", "run", "start", "then"]]),
        (false, &[&["extract", "unpack", "unzip"]]),
    ]),
    ("CHECK-08/fake-prerequisite", &[
        (false, &[&["copy", "paste"], &["cmd", "command", "powershell", "run", "shell", "terminal"]]),
        (false, &[&["copy"], &["paste", "pasting", "run"], &["command", "powershell", "run", "shell", "terminal", "win\t+\tr", "win\t+\nr", "win\t+\u{b}r", "win\t+\u{c}r", "win\t+\rr", "win\t+ r", "win\t+r", "win\n+\tr", "win\n+\nr", "win\n+\u{b}r", "win\n+\u{c}r", "win\n+\rr", "win\n+ r", "win\n+r", "win\u{b}+\tr", "win\u{b}+\nr", "win\u{b}+\u{b}r", "win\u{b}+\u{c}r", "win\u{b}+\rr", "win\u{b}+ r", "win\u{b}+r", "win\u{c}+\tr", "win\u{c}+\nr", "win\u{c}+\u{b}r", "win\u{c}+\u{c}r", "win\u{c}+\rr", "win\u{c}+ r", "win\u{c}+r", "win\r+\tr", "win\r+\nr", "win\r+\u{b}r", "win\r+\u{c}r", "win\r+\rr", "win\r+ r", "win\r+r", "win +\tr", "win +\nr", "win +\u{b}r", "win +\u{c}r", "win +\rr", "win + r", "win +r", "win+\tr", "win+\nr", "win+\u{b}r", "win+\u{c}r", "win+\rr", "win+ r", "win+r"], &["code", "command", "line", "script", "snippet"]]),
        (false, &[&[".dmg", ".exe", ".msi", ".pkg", ".rar", ".zip", "releases/dow"], &["before", "critical", "important", "must", "prerequisite", "require", "warning"], &["download", "get", "grab", "install"], &["before", "double-click", "execut", "extract", "launch", "not", "run", "will"]]),
    ]),
    ("CHECK-08/reverse-shell", &[
        (false, &[&["nc\t", "nc\n", "nc\u{b}", "nc\u{c}", "nc\r", "nc ", "ncat", "netcat"]]),
        (false, &[&["bash", "sh\t", "sh\n", "sh\u{b}", "sh\u{c}", "sh\r", "sh ", "zsh\t", "zsh\n", "zsh\u{b}", "zsh\u{c}", "zsh\r", "zsh "]]),
        (false, &[&["mkfifo"]]),
        (false, &[&["socat"], &["exec:"]]),
        (true, &[&["socket"], &["dup2("], &["/bin/bash", "/bin/dash", "/bin/sh", "/bin/zsh", "exec", "pty", "subprocess"]]),
        (true, &[&["pty.spawn("], &["\"/bin/", "'/bin/"]]),
        (false, &[&["fsockopen("], &["/bin/sh", "exec", "proc_open"]]),
        (true, &[&["system.net.s"]]),
    ]),
    ("CHECK-08/raw-socket", &[
        (true, &[&["/dev/tcp/", "/dev/udp/"]]),
    ]),
    ("CHECK-08/miner", &[
        (true, &[&["xmrig"]]),
        (true, &[&["stratum+ssl:", "stratum+tcp:"], &["ssl://", "tcp://"]]),
        (true, &[&["minerd"]]),
        (true, &[&["cryptonight"]]),
        (true, &[&["coinhive"]]),
        (true, &[&["xmr-stak"]]),
        (true, &[&["cpuminer"]]),
        (false, &[&["randomx"], &["pool", "wallet"]]),
        (false, &[&["monero"], &["miner", "mining", "pool", "wallet"]]),
    ]),
    ("CHECK-08/persistence", &[
        (false, &[&["authorized_k"]]),
        (false, &[&["*\t*\t*", "*\t*\n*", "*\t*\u{b}*", "*\t*\u{c}*", "*\t*\r*", "*\t* *", "*\n*\t*", "*\n*\n*", "*\n*\u{b}*", "*\n*\u{c}*", "*\n*\r*", "*\n* *", "*\u{b}*\t*", "*\u{b}*\n*", "*\u{b}*\u{b}*", "*\u{b}*\u{c}*", "*\u{b}*\r*", "*\u{b}* *", "*\u{c}*\t*", "*\u{c}*\n*", "*\u{c}*\u{b}*", "*\u{c}*\u{c}*", "*\u{c}*\r*", "*\u{c}* *", "*\r*\t*", "*\r*\n*", "*\r*\u{b}*", "*\r*\u{c}*", "*\r*\r*", "*\r* *", "* *\t*", "* *\n*", "* *\u{b}*", "* *\u{c}*", "* *\r*", "* * *", "/etc/cron", "@reboot", "crontab"], &["/etc/cron", "@reboot", "crontab", "echo"], &[".hidden", "/dev/shm", "/tmp/", "base64", "bash", "curl", "nc\t", "nc\n", "nc\u{b}", "nc\u{c}", "nc\r", "nc ", "python", "wget"]]),
        (false, &[&["/.bash_profi", "/.bashrc", "/.profile", "/.zshrc", "/etc/", "autostart", "crontab", "launchagents", "rc.local"], &["/etc/cron", "/etc/systemd", ">>\t", ">>\n", ">>\u{b}", ">>\u{c}", ">>\r", ">> ", ">>$home/.bas", ">>$home/.pro", ">>$home/.zsh", ">>~/.bash_pr", ">>~/.bashrc", ">>~/.profile", ">>~/.zshrc", "autostart", "crontab", "launchagents", "rc.local"]]),
        (false, &[&["/.bash_profi", "/.bashrc", "/.profile", "/.zprofile", "/.zshrc"], &["\"$home/.bash", "\"$home/.prof", "\"$home/.zpro", "\"$home/.zshr", "\"${home}/.ba", "\"${home}/.pr", "\"${home}/.zp", "\"${home}/.zs", "\"~/.bash_pro", "\"~/.bashrc", "\"~/.profile", "\"~/.zprofile", "\"~/.zshrc", "$home/.bash_", "$home/.bashr", "$home/.profi", "$home/.zprof", "$home/.zshrc", "${home}/.bas", "${home}/.pro", "${home}/.zpr", "${home}/.zsh", "'$home/.bash", "'$home/.prof", "'$home/.zpro", "'$home/.zshr", "'${home}/.ba", "'${home}/.pr", "'${home}/.zp", "'${home}/.zs", "'~/.bash_pro", "'~/.bashrc", "'~/.profile", "'~/.zprofile", "'~/.zshrc", "~/.bash_prof", "~/.bashrc", "~/.profile", "~/.zprofile", "~/.zshrc"], &["bash_profile", "bashrc", "profile", "zprofile", "zshrc"], &[">>\t", ">>\n", ">>\u{b}", ">>\u{c}", ">>\r", ">> ", ">>\"$home/.ba", ">>\"$home/.pr", ">>\"$home/.zp", ">>\"$home/.zs", ">>\"${home}/.", ">>\"~/.bash_p", ">>\"~/.bashrc", ">>\"~/.profil", ">>\"~/.zprofi", ">>\"~/.zshrc", ">>$home/.bas", ">>$home/.pro", ">>$home/.zpr", ">>$home/.zsh", ">>${home}/.b", ">>${home}/.p", ">>${home}/.z", ">>'$home/.ba", ">>'$home/.pr", ">>'$home/.zp", ">>'$home/.zs", ">>'${home}/.", ">>'~/.bash_p", ">>'~/.bashrc", ">>'~/.profil", ">>'~/.zprofi", ">>'~/.zshrc", ">>~/.bash_pr", ">>~/.bashrc", ">>~/.profile", ">>~/.zprofil", ">>~/.zshrc", "tee\t", "tee\n", "tee\u{b}", "tee\u{c}", "tee\r", "tee "]]),
        (false, &[&["\"$home/.bash", "\"$home/.prof", "\"$home/.zshr", "\"~/.bashrc", "\"~/.profile", "\"~/.zshrc", "$home/.bashr", "$home/.profi", "$home/.zshrc", "'$home/.bash", "'$home/.prof", "'$home/.zshr", "'~/.bashrc", "'~/.profile", "'~/.zshrc", "~/.bashrc", "~/.profile", "~/.zshrc"], &["echo", "printf"], &["alias", "base64", "curl", "eval", "ld_preload", "prompt_comma", "wget"], &[">>\t", ">>\n", ">>\u{b}", ">>\u{c}", ">>\r", ">> ", ">>\"$home/.ba", ">>\"$home/.pr", ">>\"$home/.zs", ">>\"~/.bashrc", ">>\"~/.profil", ">>\"~/.zshrc", ">>$home/.bas", ">>$home/.pro", ">>$home/.zsh", ">>'$home/.ba", ">>'$home/.pr", ">>'$home/.zs", ">>'~/.bashrc", ">>'~/.profil", ">>'~/.zshrc", ">>~/.bashrc", ">>~/.profile", ">>~/.zshrc"]]),
        (false, &[&["currentversi"], &[".exe", ".ps1", ".vbs", "cmd", "powershell"], &["run"]]),
        (false, &[&["schtasks"], &["/create"], &[".vbs", "\\temp", "hidden", "powershell"]]),
        (false, &[&["ld_preload="], &["/tmp"]]),
        (false, &[&["~/.cache/."], &["cp\t", "cp\n", "cp\u{b}", "cp\u{c}", "cp\r", "cp "]]),
    ]),
    ("CHECK-08/security-off", &[
        (true, &[&["setenforce"]]),
        (true, &[&["ufw\t", "ufw\n", "ufw\u{b}", "ufw\u{c}", "ufw\r", "ufw "], &["disable"]]),
        (true, &[&["iptables"]]),
        (false, &[&["set-mpprefer"], &["disable"]]),
        (false, &[&["add-mpprefer"], &["exclusion"]]),
        (true, &[&["csrutil"], &["disable"]]),
        (true, &[&["spctl"], &["-disable"], &["--global-dis", "--master-dis"], &["global-disab", "master-disab"]]),
        (true, &[&["unset"], &["histfile"]]),
        (true, &[&["histfile=/de"]]),
        (true, &[&["history"], &["-c\t", "-c\n", "-c\u{b}", "-c\u{c}", "-c\r", "-c ", "-c&&", "-c;\t", "-c;\n", "-c;\u{b}", "-c;\u{c}", "-c;\r", "-c; ", "-c;exit", "-c;history", "-c;rm", "-c;unset"]]),
        (true, &[&["auditctl"], &["-e\t", "-e\n", "-e\u{b}", "-e\u{c}", "-e\r", "-e ", "-e0"]]),
        (false, &[&["disable", "stop"], &["service", "systemctl"], &["apparmor", "auditd", "clamav", "crowdstrike", "defender", "falcon", "firewalld", "osquery", "ufw"]]),
        (true, &[&["nopasswd"], &["all"]]),
        (false, &[&["xattr"], &["/tmp/"]]),
        (false, &[&["/var/log"], &["rm\t", "rm\n", "rm\u{b}", "rm\u{c}", "rm\r", "rm "]]),
    ]),
    ("CHECK-08/security-off-advice", &[
        (true, &[&["deactivate", "disable", "stop", "turn", "uninstall"], &["anti-virus", "antivirus", "defender", "edr", "firewall", "gatekeeper", "real-time", "software"]]),
    ]),
    ("CHECK-08/destructive", &[
        (true, &[&["rm\t", "rm\n", "rm\u{b}", "rm\u{c}", "rm\r", "rm "]]),
        (true, &[&["call(", "exec", "popen(", "run(", "spawn(", "system("], &["\"rm\t", "\"rm\n", "\"rm\u{b}", "\"rm\u{c}", "\"rm\r", "\"rm ", "'rm\t", "'rm\n", "'rm\u{b}", "'rm\u{c}", "'rm\r", "'rm ", "[\"rm", "['rm", "f\"rm", "f'rm"]]),
        (true, &[&["mkfs."], &["/dev/"]]),
        (true, &[&["dd\t", "dd\n", "dd\u{b}", "dd\u{c}", "dd\r", "dd "], &["of=/dev/n", "of=/dev/s"], &["if=/dev/rand", "if=/dev/uran", "if=/dev/zero"], &["random", "urandom", "zero"]]),
        (false, &[&["del\t", "del\n", "del\u{b}", "del\u{c}", "del\r", "del "], &["c:\\"]]),
        (true, &[&["format"]]),
        (true, &[&["shutil.rmtre"], &["\"/\"", "\"/'", "\"~\"", "\"~'", "'/\"", "'/'", "'~\"", "'~'", "os.path.expa", "path.home()"]]),
        (true, &[&["chmod"], &["777\t", "777\n", "777\u{b}", "777\u{c}", "777\r", "777 "], &["-r\t", "-r\n", "-r\u{b}", "-r\u{c}", "-r\r", "-r "]]),
        (false, &[&["/dev/sd"]]),
        (true, &[&[":()\t", ":()\n", ":()\u{b}", ":()\u{c}", ":()\r", ":() ", ":(){"]]),
        (false, &[&["remove-item"], &["-recurse"], &["c:\\"]]),
    ]),
    ("CHECK-08/loose-permissions", &[
        (true, &[&["chmod"], &["-r\t", "-r\n", "-r\u{b}", "-r\u{c}", "-r\r", "-r ", "0777", "777\t", "777\n", "777\u{b}", "777\u{c}", "777\r", "777 ", "a+rwx"]]),
        (true, &[&["chmod"], &["+s\t", "+s\n", "+s\u{b}", "+s\u{c}", "+s\r", "+s ", "2755", "4755", "6755", "u+s\t", "u+s\n", "u+s\u{b}", "u+s\u{c}", "u+s\r", "u+s "]]),
        (true, &[&["sudo"], &["chown"], &["-r\t", "-r\n", "-r\u{b}", "-r\u{c}", "-r\r", "-r ", "root"]]),
        (false, &[&["/etc/sudoers"]]),
        (true, &[&["os.setuid(0)"]]),
    ]),
    ("CHECK-08/root-for-all", &[
        (false, &[&["chmod"], &["sudo"], &["chown"], &["-r\t", "-r\n", "-r\u{b}", "-r\u{c}", "-r\r", "-r ", "0777", "777\t", "777\n", "777\u{b}", "777\u{c}", "777\r", "777 "]]),
    ]),
    ("CHECK-08/container-escape", &[
        (false, &[&["--privileged"], &["docker"], &["--volume \t/", "--volume \n/", "--volume \u{b}/", "--volume \u{c}/", "--volume \r/", "--volume  /", "--volume /", "--volume=\t/", "--volume=\n/", "--volume=\u{b}/", "--volume=\u{c}/", "--volume=\r/", "--volume= /", "--volume=/", "-v \t/", "-v \n/", "-v \u{b}/", "-v \u{c}/", "-v \r/", "-v  /", "-v /", "-v=\t/", "-v=\n/", "-v=\u{b}/", "-v=\u{c}/", "-v=\r/", "-v= /", "-v=/"], &["run"]]),
        (false, &[&["docker.sock"]]),
        (true, &[&["/var/run/doc"]]),
        (false, &[&["docker"], &["run"], &["--pid host", "--pid=host", "--privileged", "-v\t", "-v\n", "-v\u{b}", "-v\u{c}", "-v\r", "-v ", "-v/:/"]]),
        (false, &[&["nsenter"], &["-t\t", "-t\n", "-t\u{b}", "-t\u{c}", "-t\r", "-t ", "-t1"]]),
    ]),
    ("CHECK-08/host-mounted", &[
        (false, &[&["--cap-add al", "--cap-add=al", "--privileged", "docker.sock"], &["/etc/shadow", "/root/.ssh", "aws_secret_a", "source=/proc", "~/.aws", "~/.ssh"]]),
    ]),
    ("CHECK-08/install-link", &[
        (false, &[&["cursor://", "vscode-insid", "vscode://", "windsurf://"], &["install", "mcp"], &["command", "config"]]),
    ]),
    ("CHECK-08/network-drive", &[
        (false, &[&["net\t", "net\n", "net\u{b}", "net\u{c}", "net\r", "net "], &["@443", "@80", "@ssl", "davwwwroot", "webdav"], &[".bat", ".cmd", ".exe", ".ps1", ".vbs", "start"], &["use\t", "use\n", "use\u{b}", "use\u{c}", "use\r", "use "]]),
        (true, &[&["mshta"], &["http://", "https://"]]),
        (false, &[&["regsvr32"], &["/i:http://", "/i:https://"]]),
        (false, &[&["certutil"], &["-urlcache"], &["http://", "https://"]]),
    ]),
    ("CHECK-08/traffic-redirect", &[
        (false, &[&["iptables"], &["-j\t", "-j\n", "-j\u{b}", "-j\u{c}", "-j\r", "-j ", "-jdnat", "-jredirect"]]),
        (false, &[&["dnat", "redirect"], &["nft\t", "nft\n", "nft\u{b}", "nft\u{c}", "nft\r", "nft "], &["add\t", "add\n", "add\u{b}", "add\u{c}", "add\r", "add "]]),
        (false, &[&["netsh"], &["portproxy"], &["add"]]),
        (true, &[&["networksetup"], &["-setwebproxy"]]),
    ]),
    ("CHECK-08/shell-disguise", &[
        (false, &[&["@p}"]]),
        (true, &[&["/etc/pass", "/etc/shad"]]),
        (true, &[&["id_r[s]a"]]),
        (true, &[&["id_rs[a]"]]),
    ]),
    ("CHECK-08/remote-module", &[
        (false, &[&["deno"], &["run\t", "run\n", "run\u{b}", "run\u{c}", "run\r", "run "], &["--allow-all", "data:", "http://", "https://"]]),
        (true, &[&["eval("], &["await"]]),
        (true, &[&["new\t", "new\n", "new\u{b}", "new\u{c}", "new\r", "new "], &["function("], &["await"]]),
        (false, &[&["deno"], &["fetch("], &["eval"]]),
    ]),
    ("CHECK-08/sudo-then-disable", &[
        (false, &[&["sudo"], &["antivirus", "apparmor", "defender", "firewall", "protection", "security", "selinux"], &["deactivat", "disabl", "turn"]]),
    ]),
    ("CHECK-08/password-check", &[
        (false, &[&["dscl"], &["-authonly"]]),
        (true, &[&["validatecred"]]),
        (false, &[&["osascript"], &["hidden", "password", "with"]]),
    ]),
    ("CHECK-08/ci-injection", &[
        (false, &[&["pull_request"], &["github.event", "github.head_"], &["event.pull_r", "head_ref"]]),
    ]),
    ("CHECK-08/admin-for-all", &[
        (false, &[&["principal"], &["administrato"], &["\"*\"", "\"*'", "'*\"", "'*'"]]),
    ]),
    ("CHECK-08/agent-identity", &[
        (false, &[&[".credentials", "auth.json", "device.json", "gateway.auth", "identity/", "privatekey"], &[".claude/", ".clawdbot/", ".codex/", ".moltbot/", ".openclaw/"]]),
    ]),
    ("CHECK-08/odd-dependency", &[
        (true, &[&["\"git+http://", "\"git+https:/", "\"git+ssh://", "'git+http://", "'git+https:/", "'git+ssh://"], &["git+http://", "git+https://", "git+ssh://"]]),
        (false, &[&["--registry", "--trusted-ho", "index-url", "install", "npm\t", "npm\n", "npm\u{b}", "npm\u{c}", "npm\r", "npm ", "pnpm", "registry", "yarn"]]),
    ]),
    ("CHECK-08/registry-redirect", &[
        (false, &[&["\"resolved\"", "--registry", "index-url", "registry"]]),
    ]),
    ("CHECK-08/lifecycle-script", &[
        (true, &[&["\"install\"", "\"install'", "\"postinstall", "\"postprepare", "\"preinstall\"", "\"preinstall'", "\"prepare\"", "\"prepare'", "\"preprepare\"", "\"preprepare'", "'install\"", "'install'", "'postinstall", "'postprepare", "'preinstall\"", "'preinstall'", "'prepare\"", "'prepare'", "'preprepare\"", "'preprepare'"], &["install\"", "install'", "postinstall\"", "postinstall'", "postprepare\"", "postprepare'", "preinstall\"", "preinstall'", "prepare\"", "prepare'", "preprepare\"", "preprepare'"]]),
    ]),
    ("CHECK-08/embedded-secret", &[
        (true, &[&["akia"]]),
        (true, &[&["ghp_"]]),
        (true, &[&["-----begin\te", "-----begin\to", "-----begin\tp", "-----begin\tr", "-----begin\ne", "-----begin\no", "-----begin\np", "-----begin\nr", "-----begin\u{b}e", "-----begin\u{b}o", "-----begin\u{b}p", "-----begin\u{b}r", "-----begin\u{c}e", "-----begin\u{c}o", "-----begin\u{c}p", "-----begin\u{c}r", "-----begin\re", "-----begin\ro", "-----begin\rp", "-----begin\rr", "-----begin e", "-----begin o", "-----begin p", "-----begin r"], &["\tkey-----", "\nkey-----", "\u{b}key-----", "\u{c}key-----", "\rkey-----", " key-----"], &["ec\tprivate\tk", "ec\tprivate\nk", "ec\tprivate\u{b}k", "ec\tprivate\u{c}k", "ec\tprivate\rk", "ec\tprivate k", "ec\nprivate\tk", "ec\nprivate\nk", "ec\nprivate\u{b}k", "ec\nprivate\u{c}k", "ec\nprivate\rk", "ec\nprivate k", "ec\u{b}private\tk", "ec\u{b}private\nk", "ec\u{b}private\u{b}k", "ec\u{b}private\u{c}k", "ec\u{b}private\rk", "ec\u{b}private k", "ec\u{c}private\tk", "ec\u{c}private\nk", "ec\u{c}private\u{b}k", "ec\u{c}private\u{c}k", "ec\u{c}private\rk", "ec\u{c}private k", "ec\rprivate\tk", "ec\rprivate\nk", "ec\rprivate\u{b}k", "ec\rprivate\u{c}k", "ec\rprivate\rk", "ec\rprivate k", "ec private\tk", "ec private\nk", "ec private\u{b}k", "ec private\u{c}k", "ec private\rk", "ec private k", "openssh\tpriv", "openssh\npriv", "openssh\u{b}priv", "openssh\u{c}priv", "openssh\rpriv", "openssh priv", "private\tkey-", "private\nkey-", "private\u{b}key-", "private\u{c}key-", "private\rkey-", "private key-", "rsa\tprivate", "rsa\nprivate", "rsa\u{b}private", "rsa\u{c}private", "rsa\rprivate", "rsa private"], &["\tec\tprivate", "\tec\nprivate", "\tec\u{b}private", "\tec\u{c}private", "\tec\rprivate", "\tec private", "\topenssh\tpri", "\topenssh\npri", "\topenssh\u{b}pri", "\topenssh\u{c}pri", "\topenssh\rpri", "\topenssh pri", "\tprivate", "\trsa\tprivate", "\trsa\nprivate", "\trsa\u{b}private", "\trsa\u{c}private", "\trsa\rprivate", "\trsa private", "\nec\tprivate", "\nec\nprivate", "\nec\u{b}private", "\nec\u{c}private", "\nec\rprivate", "\nec private", "\nopenssh\tpri", "\nopenssh\npri", "\nopenssh\u{b}pri", "\nopenssh\u{c}pri", "\nopenssh\rpri", "\nopenssh pri", "\nprivate", "\nrsa\tprivate", "\nrsa\nprivate", "\nrsa\u{b}private", "\nrsa\u{c}private", "\nrsa\rprivate", "\nrsa private", "\u{b}ec\tprivate", "\u{b}ec\nprivate", "\u{b}ec\u{b}private", "\u{b}ec\u{c}private", "\u{b}ec\rprivate", "\u{b}ec private", "\u{b}openssh\tpri", "\u{b}openssh\npri", "\u{b}openssh\u{b}pri", "\u{b}openssh\u{c}pri", "\u{b}openssh\rpri", "\u{b}openssh pri", "\u{b}private", "\u{b}rsa\tprivate", "\u{b}rsa\nprivate", "\u{b}rsa\u{b}private", "\u{b}rsa\u{c}private", "\u{b}rsa\rprivate", "\u{b}rsa private", "\u{c}ec\tprivate", "\u{c}ec\nprivate", "\u{c}ec\u{b}private", "\u{c}ec\u{c}private", "\u{c}ec\rprivate", "\u{c}ec private", "\u{c}openssh\tpri", "\u{c}openssh\npri", "\u{c}openssh\u{b}pri", "\u{c}openssh\u{c}pri", "\u{c}openssh\rpri", "\u{c}openssh pri", "\u{c}private", "\u{c}rsa\tprivate", "\u{c}rsa\nprivate", "\u{c}rsa\u{b}private", "\u{c}rsa\u{c}private", "\u{c}rsa\rprivate", "\u{c}rsa private", "\rec\tprivate", "\rec\nprivate", "\rec\u{b}private", "\rec\u{c}private", "\rec\rprivate", "\rec private", "\ropenssh\tpri", "\ropenssh\npri", "\ropenssh\u{b}pri", "\ropenssh\u{c}pri", "\ropenssh\rpri", "\ropenssh pri", "\rprivate", "\rrsa\tprivate", "\rrsa\nprivate", "\rrsa\u{b}private", "\rrsa\u{c}private", "\rrsa\rprivate", "\rrsa private", " ec\tprivate", " ec\nprivate", " ec\u{b}private", " ec\u{c}private", " ec\rprivate", " ec private", " openssh\tpri", " openssh\npri", " openssh\u{b}pri", " openssh\u{c}pri", " openssh\rpri", " openssh pri", " private", " rsa\tprivate", " rsa\nprivate", " rsa\u{b}private", " rsa\u{c}private", " rsa\rprivate", " rsa private"]]),
        (true, &[&["sk_live_"]]),
        (true, &[&["xoxb-"]]),
    ]),
    ("CHECK-08/eicar", &[
        (true, &[&["eicar-standa"]]),
    ]),
    ("CHECK-08/code-injection", &[
        (true, &[&["__class__.__"], &["base__", "bases__", "init__.__glo", "mro__"]]),
        (true, &[&["__globals__["], &["].popen", "].system"]]),
        (true, &[&["__import__("], &[").call", ").check_outp", ").popen", ").run", ").system"], &["\"os\"", "\"os'", "\"subprocess\"", "\"subprocess'", "'os\"", "'os'", "'subprocess\"", "'subprocess'"], &["os\"\t", "os\"\n", "os\"\u{b}", "os\"\u{c}", "os\"\r", "os\" ", "os\").call", "os\").check_o", "os\").popen", "os\").run", "os\").system", "os'\t", "os'\n", "os'\u{b}", "os'\u{c}", "os'\r", "os' ", "os').call", "os').check_o", "os').popen", "os').run", "os').system", "subprocess\"", "subprocess'"]]),
        (false, &[&["sanit"], &["evaluat", "passed"], &["without"]]),
        (true, &[&["eval(", "exec("]]),
        (true, &[&["os.system("]]),
        (false, &[&["subprocess."], &["shell"], &["true"]]),
        (true, &[&["require(\"chi", "require('chi", "require(\\\"ch", "require(\\'ch"], &["child_proces"], &["\"child_proce", "'child_proce", "\\\"child_proc", "\\'child_proc"], &["\").exec(", "\").execsync(", "').exec(", "').execsync(", "\\\").exec(", "\\\").execsync", "\\').exec(", "\\').execsync"]]),
    ]),
    ("CHECK-08/workflow-injection", &[
        (true, &[&["${{\t", "${{\n", "${{\u{b}", "${{\u{c}", "${{\r", "${{ ", "${{github.ev", "${{github.he"], &["github.event", "github.head_"], &["event.commen", "event.discus", "event.head_c", "event.issue", "event.pull_r", "event.review", "head_ref"]]),
        (true, &[&["pull_request"]]),
    ]),
    ("CHECK-08/agent-config-write", &[
        (false, &[&[".json"], &[".claude/", ".clawdbot/", ".codeium/", ".cursor/", ".gemini/", ".openclaw/", ".windsurf/"], &["config", "hooks", "mcp", "override", "settings"]]),
    ]),
    ("CHECK-08/hook-command", &[
        (false, &[&["posttooluse\"", "posttooluse'", "pretooluse\"", "pretooluse'"], &["\"command\"", "\"command'", "'command\"", "'command'"], &["\"posttooluse", "\"pretooluse\"", "\"pretooluse'", "'posttooluse", "'pretooluse\"", "'pretooluse'"], &["/dev/tcp", "base64", "bash", "curl", "node", "os.system", "python", "subprocess", "wget"]]),
    ]),
    ("CHECK-08/kernel-driver", &[
        (false, &[&["type="], &["kernel"], &["create"], &["sc\t", "sc\n", "sc\u{b}", "sc\u{c}", "sc\r", "sc ", "sc.exe"]]),
        (true, &[&["aukill", "backstab.exe", "edrsilencer", "terminator", "truesightkil"]]),
    ]),
    ("CHECK-08/double-extension", &[
        (false, &[&[".doc.bat", ".doc.cmd", ".doc.com", ".doc.exe", ".doc.hta", ".doc.lnk", ".doc.pif", ".doc.ps1", ".doc.scr", ".doc.vbs", ".docx.bat", ".docx.cmd", ".docx.com", ".docx.exe", ".docx.hta", ".docx.lnk", ".docx.pif", ".docx.ps1", ".docx.scr", ".docx.vbs", ".gif.bat", ".gif.cmd", ".gif.com", ".gif.exe", ".gif.hta", ".gif.lnk", ".gif.pif", ".gif.ps1", ".gif.scr", ".gif.vbs", ".jpeg.bat", ".jpeg.cmd", ".jpeg.com", ".jpeg.exe", ".jpeg.hta", ".jpeg.lnk", ".jpeg.pif", ".jpeg.ps1", ".jpeg.scr", ".jpeg.vbs", ".jpg.bat", ".jpg.cmd", ".jpg.com", ".jpg.exe", ".jpg.hta", ".jpg.lnk", ".jpg.pif", ".jpg.ps1", ".jpg.scr", ".jpg.vbs", ".mp3.bat", ".mp3.cmd", ".mp3.com", ".mp3.exe", ".mp3.hta", ".mp3.lnk", ".mp3.pif", ".mp3.ps1", ".mp3.scr", ".mp3.vbs", ".mp4.bat", ".mp4.cmd", ".mp4.com", ".mp4.exe", ".mp4.hta", ".mp4.lnk", ".mp4.pif", ".mp4.ps1", ".mp4.scr", ".mp4.vbs", ".pdf.bat", ".pdf.cmd", ".pdf.com", ".pdf.exe", ".pdf.hta", ".pdf.lnk", ".pdf.pif", ".pdf.ps1", ".pdf.scr", ".pdf.vbs", ".png.bat", ".png.cmd", ".png.com", ".png.exe", ".png.hta", ".png.lnk", ".png.pif", ".png.ps1", ".png.scr", ".png.vbs", ".ppt.bat", ".ppt.cmd", ".ppt.com", ".ppt.exe", ".ppt.hta", ".ppt.lnk", ".ppt.pif", ".ppt.ps1", ".ppt.scr", ".ppt.vbs", ".pptx.bat", ".pptx.cmd", ".pptx.com", ".pptx.exe", ".pptx.hta", ".pptx.lnk", ".pptx.pif", ".pptx.ps1", ".pptx.scr", ".pptx.vbs", ".txt.bat", ".txt.cmd", ".txt.com", ".txt.exe", ".txt.hta", ".txt.lnk", ".txt.pif", ".txt.ps1", ".txt.scr", ".txt.vbs", ".xls.bat", ".xls.cmd", ".xls.com", ".xls.exe", ".xls.hta", ".xls.lnk", ".xls.pif", ".xls.ps1", ".xls.scr", ".xls.vbs", ".xlsx.bat", ".xlsx.cmd", ".xlsx.com", ".xlsx.exe", ".xlsx.hta", ".xlsx.lnk", ".xlsx.pif", ".xlsx.ps1", ".xlsx.scr", ".xlsx.vbs"]]),
    ]),
    ("CHECK-08/preload", &[
        (true, &[&["node_options"], &["\"--require", "'--require", "--require"]]),
        (true, &[&["ld_preload"], &["\"/dev/shm", "\"/tmp", "\"/var/tmp", "'/dev/shm", "'/tmp", "'/var/tmp", "/dev/shm", "/tmp", "/var/tmp"]]),
        (true, &[&["pythonstartu"], &["\"/dev/shm", "\"/tmp", "\"/var/tmp", "'/dev/shm", "'/tmp", "'/var/tmp", "/dev/shm", "/tmp", "/var/tmp"]]),
    ]),
    ("CHECK-08/worm", &[
        (true, &[&["c2-beacon", "c2-channel", "c2-client", "c2-domain", "c2-host", "c2-server", "c2-url", "c2_beacon", "c2_channel", "c2_client", "c2_domain", "c2_host", "c2_server", "c2_url"]]),
        (true, &[&["enable_keylo", "enablekeylog", "install_keyl", "installkeylo", "start_keylog", "startkeylogg"], &["_keylogger", "keylogger"]]),
        (true, &[&["/api/exfil\"", "/api/exfil'", "/api/exfil/", "/api/exfil?", "/api/exfil`", "/api/exfiltr", "/exfil\"", "/exfil'", "/exfil/", "/exfil?", "/exfil`", "/exfiltrate\"", "/exfiltrate'", "/exfiltrate/", "/exfiltrate?", "/exfiltrate`"], &["api/exfil\"", "api/exfil'", "api/exfil/", "api/exfil?", "api/exfil`", "api/exfiltra", "exfil\"", "exfil'", "exfil/", "exfil?", "exfil`", "exfiltrate\"", "exfiltrate'", "exfiltrate/", "exfiltrate?", "exfiltrate`"]]),
        (true, &[&["to_c2_server", "to_c2server", "toc2_server", "toc2server"]]),
        (true, &[&["self-propaga"]]),
        (true, &[&["publishmalic"]]),
    ]),
    ("CHECK-08/malware-words", &[
        (true, &[&["add", "create", "deploy", "drop", "inject", "install", "open", "plant"], &["backdoor", "implant", "infostealer", "keylogger", "ransomware", "rootkit", "shell"], &["backdoor", "implant", "infostealer", "keylogger", "persistent", "ransomware", "rootkit", "web"]]),
        (true, &[&["beacon", "callback", "connect", "report"]]),
        (false, &[&["callback", "channel", "domain", "endpoint", "server"]]),
        (false, &[&["exfiltrat", "harvest", "steal"], &["cookies", "credential", "key", "npm", "password", "secret", "token", "wallet"]]),
    ]),
    ("CHECK-08/uninstall-resistance", &[
        (false, &[&["disabled", "opted", "removed", "stopped", "turned", "uninstalled", "waived"], &["can"], &["agent", "collection", "daemon", "hook", "monitor", "process", "reporting", "service", "skill", "telemetry", "transmission"]]),
        (true, &[&["re-install", "recreate", "reinstall", "respawn", "restore"], &["itself"]]),
        (true, &[&["survive"], &["reboot", "removal", "session", "uninstall"]]),
        (true, &[&["persistent"], &["background"], &["agent", "daemon", "process", "service"]]),
        (true, &[&["user"], &["cannot"], &["opt"], &["out"]]),
        (false, &[&["deleted"], &["remov", "uninstall"], &["when"], &["not"]]),
    ]),
    ("CHECK-03/alias", &[
        (false, &[&["full", "traversal", "unrestricted"], &["map"], &["full", "path", "unrestricted"]]),
        (false, &[&["access"], &["full", "unrestricted"], &["bash", "filesystem", "shell", "system"], &["always", "enabled", "granted", "now", "required", "without"]]),
        (true, &[&["path"], &["traversal"], &["enabled"]]),
    ]),
    ("CHECK-03/settings-abuse", &[
        (false, &[&["bypasspermis", "enableallpro"], &["add", "append", "echo", "edit", "modify", "put", "set", "write"]]),
        (true, &[&["\"defaultmode", "'defaultmode"], &["bypasspermis"], &["defaultmode\"", "defaultmode'"], &["\"bypasspermi", "'bypasspermi"]]),
        (true, &[&["\"enableallpr", "'enableallpr"], &["enableallpro"], &["true"]]),
        (true, &[&["\"allow\"", "\"allow'", "'allow\"", "'allow'"], &["\"*\"", "\"*'", "'*\"", "'*'"]]),
    ]),
    ("CHECK-06/self-spawn", &[
        (true, &[&["call", "clone", "delegat", "invoke", "launch", "re-invok", "recursively", "reinvok", "replicat", "spawn"], &["itself", "yourself"]]),
        (false, &[&["another", "copies", "instance", "same"], &["call", "invoke", "launch", "load", "run", "spawn", "start"]]),
        (false, &[&["each"], &["child", "copy", "instance", "sub-agent", "subagent", "them"], &["create", "launch", "spawn"], &["agent", "another", "its", "more", "new", "sub-agent", "subagent"]]),
        (true, &[&["agent"], &["that"], &["each", "itself", "themselves", "then"], &["create", "launch", "spawn", "start"]]),
        (false, &[&["bound", "limit", "maximum"]]),
        (true, &[&["must", "should", "then", "will"], &["back"], &["call", "delegate", "hand", "pass"]]),
        (true, &[&["count", "number"], &["doubles", "grows", "multiplies"], &["agents"]]),
        (true, &[&["re-invok", "reinvok"], &["yourself"]]),
        (false, &[&["sub-agent", "subagent"], &["another", "more", "replacements"], &["create", "spawn"]]),
    ]),
    ("CHECK-06/endless-loop", &[
        (false, &[&["iterat", "keep", "loop", "re-run", "repeat", "rerun", "retry", "spawn"], &["endlessly", "forever", "indefinitely", "limit", "termination", "without"]]),
        (true, &[&["never"], &["exit", "halt", "stop", "terminate"], &["looping", "retrying", "running", "spawning", "the", "working"]]),
        (false, &[&["endless", "infinite"], &["loop", "recursion", "retries"], &["agent", "create", "spawn", "start", "task", "until"]]),
        (false, &[&["condition"], &["convergence", "exit", "stop", "termination"]]),
    ]),
    ("CHECK-06/fork-bomb", &[
        (true, &[&[":\t()\t{", ":\t()\n{", ":\t()\u{b}{", ":\t()\u{c}{", ":\t()\r{", ":\t() {", ":\t(){", ":\n()\t{", ":\n()\n{", ":\n()\u{b}{", ":\n()\u{c}{", ":\n()\r{", ":\n() {", ":\n(){", ":\u{b}()\t{", ":\u{b}()\n{", ":\u{b}()\u{b}{", ":\u{b}()\u{c}{", ":\u{b}()\r{", ":\u{b}() {", ":\u{b}(){", ":\u{c}()\t{", ":\u{c}()\n{", ":\u{c}()\u{b}{", ":\u{c}()\u{c}{", ":\u{c}()\r{", ":\u{c}() {", ":\u{c}(){", ":\r()\t{", ":\r()\n{", ":\r()\u{b}{", ":\r()\u{c}{", ":\r()\r{", ":\r() {", ":\r(){", ": ()\t{", ": ()\n{", ": ()\u{b}{", ": ()\u{c}{", ": ()\r{", ": () {", ": (){", ":()\t{", ":()\n{", ":()\u{b}{", ":()\u{c}{", ":()\r{", ":() {", ":(){"], &["()\t{", "()\n{", "()\u{b}{", "()\u{c}{", "()\r{", "() {", "(){\t", "(){\n", "(){\u{b}", "(){\u{c}", "(){\r", "(){ ", "(){:"]]),
        (true, &[&["while"], &["fork(", "os.fork("]]),
        (true, &[&["while"], &[".append(", "data.append", "os.fork()"], &["true"]]),
    ]),
    ("CHECK-06/agent-loop", &[
        (false, &[&["while"], &["agent(", "agent.run", "claude", "clawdbot", "codex", "openclaw", "spawn_agent", "task("]]),
    ]),
    ("CHECK-06/borrowed-capability", &[
        (false, &[&["declares"], &["access"], &["only"], &["gain", "invok", "sub"]]),
        (false, &[&["invoking"], &["gain"], &["access", "capabilit", "permission"]]),
        (false, &[&["unrestricted"], &["has"], &["sub"], &["skill"]]),
    ]),
];
