//! For each pattern of each rule, sets of literals: every match holds one of each set, in this order.
//!
//! Made by `cargo xtask generate` from the patterns; a test compares.

/// Stands for a distance that has no bound.
pub(crate) const ANY: u16 = u16::MAX;

/// Literals one of which every match holds, and how many bytes behind the one of the set before it that begins at most.
pub(crate) type LiteralSet = (u16, &'static [&'static str]);

/// Of a pattern: whether every match begins with a literal of the first set, how far from its beginning that stands at most, how long it
/// is at most, a sign that each holds (0 for none), and the sets.
pub(crate) type PatternAnchors = (bool, u16, u16, u8, &'static [LiteralSet]);

/// A rule, and what is known of each of its patterns.
pub(crate) type RuleAnchors = (&'static str, &'static [PatternAnchors]);

#[rustfmt::skip]
pub(crate) const ANCHORS: &[RuleAnchors] = &[
    ("CHECK-01/override", &[
        (true, 0, 81, 0, &[(0, &["disregard", "forget", "ignore", "ignoring"]), (81, &["above", "been", "before", "came", "previously", "prior", "were"])]),
        (false, 29, 112, 0, &[(0, &["follow"]), (41, &["earlier", "previous", "prior", "system", "your"]), (53, &["guidelines", "instruction", "prompt", "rules"])]),
        (false, 0, 280, 0, &[(0, &["disregard", "forget", "ignore", "ignoring"]), (273, &["prompt"])]),
        (false, 25, 298, 0, &[(0, &["abandon", "aside", "discard", "disregard", "following", "forget", "ignore", "ignoring", "neglect", "override", "overriding"]), (286, &["constraints", "directives", "guardrails", "guidelines", "instructions", "orders", "policies", "policy", "programming", "restrictions", "rules", "safeguards"])]),
        (false, 17, 303, 0, &[(0, &["precedence", "priority"]), (22, &["over"]), (252, &["directives", "guidelines", "instruction", "policies", "policy", "prompt", "rules"])]),
    ]),
    ("CHECK-01/override-words", &[
        (false, 25, 418, 0, &[(0, &["abandon", "aside", "discard", "disregard", "following", "forget", "ignore", "ignoring", "neglect", "override", "overriding", "supersede"]), (406, &["commands", "constraints", "context", "directive", "guardrails", "guideline", "instruction", "messages", "orders", "policies", "policy", "programming", "prompt", "restrictions", "rules", "safeguards", "safety", "training"])]),
        (false, 17, 383, 0, &[(0, &["precedence", "priority"]), (22, &["over"]), (332, &["directives", "guidelines", "instruction", "policies", "policy", "prompt", "rules"])]),
    ]),
    ("CHECK-01/persona", &[
        (true, 0, 19, 0, &[(0, &["dan"]), (15, &["mode"])]),
        (true, 0, 20, 0, &[(0, &["sudo"])]),
        (false, 14, 37, 0, &[(0, &["anything"])]),
        (true, 0, 19, 0, &[(0, &["god"]), (15, &["mode"])]),
        (true, 0, 110, 0, &[(0, &["you"]), (15, &["are"]), (15, &["actually", "now"])]),
        (false, 0, 202, 0, &[(0, &["you"]), (15, &["are"]), (15, &["now"]), (168, &["mode"])]),
        (false, 0, 358, 0, &[(0, &["pretend"]), (346, &["filters", "guidelines", "limitations", "limits", "restrictions", "rules"])]),
        (false, 0, 441, 0, &[(0, &["act"])]),
        (true, 0, 33, 0, &[(0, &["unrestricted"])]),
        (true, 0, 31, 0, &[(0, &["jailbroken"])]),
        (false, 336, 367, 0, &[(0, &["content", "ethical", "moral", "safety"]), (19, &["boundaries", "constraints", "filter", "guidelines", "limitations", "limits", "restrictions"])]),
        (false, 256, 268, 0, &[(0, &["filters", "restrictions"])]),
    ]),
    ("CHECK-01/safety-off", &[
        (false, 0, 198, 0, &[(0, &["remove", "removing", "skip"]), (168, &["safety"]), (18, &["constraints", "filter", "guidelines", "layer", "restrictions"])]),
        (true, 0, 68, 0, &[(0, &["bypass", "override", "overriding"]), (56, &["guardrails", "moderation", "restrictions", "safety"])]),
        (false, 22, 173, 0, &[(0, &["bypass", "circumvent", "disable", "disabling", "evad", "off", "override", "overriding", "suspend"]), (173, &["alignment", "ethic", "filter", "guardrail", "guideline", "polic", "restriction", "safety"])]),
        (true, 0, 79, 0, &[(0, &["content"]), (19, &["filtering", "filters"]), (51, &["disabled", "lifted", "removed", "suspended"])]),
        (false, 0, 225, 0, &[(0, &["ethical", "safety"]), (225, &["apply", "bypassed", "deactivated", "disabled", "lifted", "removed", "suspended"])]),
        (true, 0, 63, 0, &[(0, &["without"]), (53, &["filtering", "filters", "moderation", "polic"])]),
        (false, 0, 321, 0, &[(0, &["previous", "read-only", "readonly", "safety"]), (321, &["lifted", "longer", "removed"])]),
        (true, 0, 25, 0, &[(0, &["elevated"]), (20, &["trust"])]),
        (true, 0, 50, 0, &[(0, &["granted"]), (19, &["elevated"])]),
        (true, 0, 50, 0, &[(0, &["elevated"]), (43, &["granted"])]),
        (true, 0, 30, 0, &[(0, &["granted"]), (19, &["out-of-band"])]),
        (false, 0, 229, 0, &[(0, &["trust"]), (222, &["elevat", "granted", "maximum", "raised"])]),
    ]),
    ("CHECK-01/refusal-suppression", &[
        (false, 84, 246, 0, &[(0, &["declin", "refus", "say"]), (182, &["answer", "any", "assist", "comply", "help", "regardless", "request", "respond", "under"])]),
        (false, 17, 269, 0, &[(0, &["don", "never", "not"]), (29, &["output", "reply", "respond", "say", "use", "write"])]),
        (false, 198, 375, 0, &[(0, &["disclaimer", "warning"]), (171, &["ethic", "harm", "legal", "moral", "polic", "refus", "safety"])]),
        (false, 0, 522, 0, &[(0, &["begin", "start"]), (225, &["absolutely", "course", "sure"]), (317, &["never", "not", "regardless"])]),
    ]),
    ("CHECK-01/fake-turn", &[
        (true, 0, 15, 60, &[(0, &["<|end_of_tur", "<|endoftext|", "<|im_start|>", "<|system|>"]), (2, &["end_of_turn|", "endoftext|>", "im_start|>", "system|>"])]),
        (true, 0, 7, 60, &[(0, &["<<sys>>"])]),
        (true, 0, 9, 93, &[(0, &["[/system]"])]),
        (true, 0, 43, 0, &[(0, &["begin"])]),
        (true, 0, 7, 93, &[(0, &["[/inst]", "[inst]"])]),
        (true, 0, 31, 93, &[(0, &["[system"]), (19, &["instruction]", "message]", "notice]", "override]", "update]"])]),
        (true, 0, 25, 0, &[(0, &["system"]), (18, &["overrid"])]),
        (false, 0, 213, 0, &[(0, &["[/end", "[end", "end"]), (29, &["instruction", "prompt", "skill", "system", "user"])]),
        (true, 0, ANY, 58, &[(0, &["new"]), (33, &["instruction"])]),
        (false, 6, ANY, 58, &[(0, &["system"])]),
        (true, 0, 24, 60, &[(0, &["</admin>", "</important>", "</instructio", "</system>", "<admin>", "<important>", "<instruction", "<system>"]), (2, &["admin>", "important>", "instruction_", "instructions", "system>"])]),
        (true, 0, 50, 0, &[(0, &["important"]), (21, &["system"])]),
        (true, 0, ANY, 58, &[(0, &["attention", "directive", "instruction", "memo", "message", "note"])]),
        (true, 0, 27, 0, &[(0, &["hidden"]), (18, &["directive"])]),
        (true, 0, 22, 93, &[(0, &["[admin_overr", "[agent_overr", "[developer_o", "[instruction", "[policy_over", "[prompt_over", "[root_overri", "[safety_over", "[security_ov", "[system_over", "[user_overri"]), (12, &["_override]"])]),
        (false, ANY, ANY, 58, &[(0, &["always", "before", "execute", "first", "ignore", "must", "run", "when"])]),
    ]),
    ("CHECK-01/covert-action", &[
        (false, 0, ANY, 0, &[(0, &["covertly", "discreetly", "invisibly", "secretly", "silently", "stealthily", "surreptitiou"])]),
        (true, 0, 85, 0, &[(0, &["completed", "performed"]), (21, &["covertly", "secretly", "silently", "transparentl"])]),
    ]),
    ("CHECK-01/secrecy-with-action", &[
        (false, 21, 307, 0, &[(0, &["don", "must", "never", "not", "should", "without"]), (59, &["alert", "disclos", "inform", "let", "mention", "notified", "notify", "report", "reveal", "tell"]), (250, &["anyone", "customer", "human", "operator", "owner", "user", "victim"])]),
        (false, 0, 264, 0, &[(0, &["human", "operator", "user"]), (129, &["never", "not", "unaware"]), (127, &["aware", "informed", "know", "notified", "shown", "told"])]),
        (true, 0, 68, 0, &[(0, &["without"]), (58, &["awareness", "consent", "knowledge", "noticing", "permission"])]),
        (false, 0, 230, 0, &[(0, &["not"]), (15, &["disclosed", "recorded", "reflected", "reported"])]),
    ]),
    ("CHECK-01/secrecy", &[
        (false, 21, 374, 0, &[(0, &["don", "must", "never", "not", "should"]), (33, &["alert", "inform", "notified", "notify", "tell"]), (128, &["human", "operator", "owner", "user"])]),
        (false, 0, 192, 0, &[(0, &["user"]), (192, &["aware", "informed", "know", "notified", "told"])]),
        (false, 14, 287, 0, &[(0, &["not"]), (15, &["disclose", "mention", "reveal"]), (258, &["unless", "user"])]),
    ]),
    ("CHECK-01/deception", &[
        (false, 122, 860, 0, &[(0, &["anyone", "asked", "customer", "someone", "they", "user"]), (426, &["answer", "claim", "confirm", "deny", "reply", "respond", "say", "state", "tell"])]),
        (true, 0, 52, 0, &[(0, &["coerce", "convince", "deceive", "lie", "manipulate", "mislead", "persuade", "pressure", "reassure", "trick"]), (44, &["customer", "human", "operator", "them", "user", "victim"])]),
    ]),
    ("CHECK-01/confirmation-bypass", &[
        (false, 47, 185, 0, &[(0, &["asked", "prompted"]), (128, &["approve", "confirm", "consent", "permission"])]),
        (false, 0, 295, 0, &[(0, &["without"]), (282, &["approval", "authorizatio", "confirmation", "consent", "preview", "review"])]),
        (false, 32, ANY, 0, &[(0, &["approv", "automaticall", "bypass", "skip", "suppress"]), (ANY, &["approval", "authorizatio", "confirmation", "consent", "hitl", "human-in-the", "permission"])]),
        (true, 0, 88, 0, &[(0, &["user"]), (47, &["prompted"])]),
        (false, 0, 580, 0, &[(0, &["requiring", "waiting"]), (182, &["approval", "confirmation"])]),
    ]),
    ("CHECK-01/setting-ignored", &[
        (true, 0, ANY, 0, &[(0, &["regardless"])]),
        (true, 0, 61, 0, &[(0, &["flag", "option", "parameter", "setting"]), (35, &["advisory", "ignored"])]),
        (true, 0, 86, 0, &[(0, &["override", "supersede"]), (75, &["goal", "instruction", "intent", "request", "task"])]),
        (true, 0, 131, 0, &[(0, &["user"]), (75, &["treated"]), (46, &["suggestion"])]),
        (true, 0, 53, 0, &[(0, &["can"]), (29, &["superseded"])]),
    ]),
    ("CHECK-01/undisclosed", &[
        (false, 15, 80, 0, &[(0, &["not"]), (15, &["disclosed", "labeled", "labelled", "reflected", "reported", "shown"])]),
        (false, 0, 257, 0, &[(0, &["without"]), (19, &["disclosing", "mentioning"])]),
        (true, 0, 115, 0, &[(0, &["say", "tell"]), (48, &["you"])]),
    ]),
    ("CHECK-01/prompt-leak", &[
        (true, 0, ANY, 0, &[(0, &["containing", "disclose", "display", "dump", "echo", "followed", "leak", "output", "print", "recite", "repeat", "return", "reveal", "show"]), (ANY, &["your"]), (56, &["system"])]),
        (false, 0, ANY, 0, &[(0, &["append", "disclos", "display", "dump", "echo", "embed", "exfiltrat", "forward", "leak", "output", "post", "print", "recit", "repeat", "reveal", "send", "show", "transmit"]), (ANY, &["your"]), (56, &["hidden", "initial", "original", "system"])]),
        (false, 0, ANY, 0, &[(0, &["append", "dump", "exfiltrate", "leak", "output", "print", "repeat", "reveal"]), (ANY, &["conversation", "history"]), (341, &["endpoint", "http", "server", "url", "webhook"])]),
    ]),
    ("CHECK-01/prompt-words", &[
        (false, 22, 428, 0, &[(0, &["append", "begin", "containing", "content", "disclos", "display", "dump", "echo", "expose", "followed", "forward", "include", "including", "leak", "output", "print", "recit", "repeat", "return", "reveal", "send", "share", "show", "transmit"]), (428, &["complete", "confidential", "full", "hidden", "initial", "instructions", "internal", "original", "system", "verbatim"])]),
        (false, 0, ANY, 0, &[(0, &["append", "dump", "exfiltrate", "leak", "output", "print", "repeat", "reveal"]), (ANY, &["conversation", "history"])]),
    ]),
    ("CHECK-01/goal-substitution", &[
        (true, 0, 80, 0, &[(0, &["your"]), (16, &["hidden", "new", "real", "secret", "true"]), (37, &["directive", "goal", "identity", "instruction", "mission", "objective", "purpose", "role", "task"])]),
        (true, 0, 44, 0, &[(0, &["new"]), (34, &["directive"])]),
        (true, 0, 76, 0, &[(0, &["instead"]), (69, &["goal", "query", "request", "task"])]),
    ]),
    ("CHECK-01/fetch-and-obey", &[
        (false, 0, ANY, 0, &[(0, &["accept", "interpret", "regard", "treat"]), (ANY, &["system"]), (18, &["command", "directive", "instruction", "message"])]),
        (false, 0, ANY, 0, &[(0, &["consider", "interpret", "process", "regard", "treat"]), (ANY, &["command", "directive", "instruction", "system", "trusted"]), (231, &["before", "execut", "follow", "from", "immediately", "priority", "regardless", "user"])]),
        (true, 0, 44, 0, &[(0, &["processe"]), (36, &["embedded"])]),
        (false, 0, 282, 0, &[(0, &["treat"]), (195, &["authoritativ", "high-priorit", "peer", "processing", "system", "trusted"])]),
        (true, 0, 109, 0, &[(0, &["must"]), (30, &["treated"])]),
    ]),
    ("CHECK-01/fetch-words", &[
        (false, ANY, ANY, 0, &[(0, &["command", "directive", "instruction", "orders", "says"])]),
        (false, 0, 774, 0, &[(0, &["any", "contained", "embedded", "found", "hidden"]), (209, &["command", "directive", "instruction", "prompt"]), (547, &["execut", "follow", "must", "obey", "process", "take", "treat"])]),
        (false, 0, 426, 0, &[(0, &["execute", "follow", "obey"]), (167, &["commands", "directives", "instructions"]), (24, &["contained", "embedded", "found", "provided", "received", "returned"])]),
    ]),
    ("CHECK-01/memory-poisoning", &[
        (false, 0, ANY, 0, &[(0, &["add", "append", "echo", "edit", "inject", "insert", "modify", "overwrite", "persist", "plant", "put", "save", "store", "update", "write"]), (ANY, &[".cursorrules", "agents.md", "claude.md", "copilot-inst", "heartbeat.md", "identity.md", "memory", "soul.md"]), (ANY, &["always", "asking", "attack", "bypass", "collect", "confirm", "curl", "disable", "every", "evil", "future", "ignore", "mention", "never", "override", "payload", "reveal", "skip", "survive", "tell", "trusted"])]),
    ]),
    ("CHECK-01/aimed-at-scanner", &[
        (false, 28, ANY, 0, &[(0, &["auditor", "classifier", "moderat", "reviewer", "scanner", "security"]), (ANY, &["approve", "classify", "ignore", "mark", "must", "please", "should", "skip"])]),
        (false, 0, 222, 0, &[(0, &["classify", "label", "mark", "output", "rate", "report", "return", "treat"]), (214, &["approved", "benign", "clean", "safe", "trusted", "verified"])]),
        (false, 0, 516, 0, &[(0, &["this"]), (227, &["approved", "been", "certified", "reviewed", "verified"])]),
        (false, 14, 70, 0, &[(0, &["need"]), (30, &["analyze", "audit", "review", "scan", "verify"])]),
    ]),
    ("CHECK-01/privileged-prefix", &[
        (false, 0, 370, 0, &[(0, &["access", "begin", "contain", "include", "magic", "passphrase", "prefix", "say", "secret", "special", "start", "trigger", "type"]), (116, &["admin", "backdoor", "debug", "diagnostic", "elevated", "magic", "maintenance", "override", "privileged", "root", "special", "sudo", "unlock"]), (254, &["access", "bypass", "dba", "disabled", "elevat", "execute", "grant", "ignore", "lifted", "logged", "permissions", "requests", "restriction", "skip", "unrestricted", "without"])]),
        (false, 0, 181, 0, &[(0, &["admin", "debug", "diagnostic", "elevated", "emergency", "god", "maintenance", "override"]), (23, &["access", "mode", "override"]), (158, &["bypass", "disabled", "filter", "limits", "requests", "restrictions", "skip", "unrestricted", "without"])]),
    ]),
    ("CHECK-01/credential-phishing", &[
        (false, 0, ANY, 0, &[(0, &["enter", "give", "paste", "provide", "send", "share", "submit", "supply", "type", "upload"]), (188, &["their", "user", "your"]), (ANY, &["associated", "bank", "government-i", "password", "private", "recovery", "seed", "wallet"])]),
        (false, 207, 526, 0, &[(0, &["connection"]), (308, &["credentials", "password"])]),
        (true, 0, 72, 0, &[(0, &["connection"])]),
        (true, 0, 75, 0, &[(0, &["need", "require"]), (53, &["credentials", "password", "private", "secret", "seed"])]),
    ]),
    ("CHECK-01/credential-request", &[
        (false, ANY, ANY, 0, &[(0, &["confirm", "disclose", "enter", "export", "give", "paste", "provide", "providing", "reply", "send", "share", "sharing", "submit", "supply", "type", "verify"]), (440, &["2fa", "authenticati", "backup", "cookie", "credentials", "credit", "cvv", "login", "master", "mnemonic", "national", "one-time", "otp", "password", "personal", "private", "production", "recovery", "secret", "seed", "social", "ssn", "two-factor", "wallet"])]),
    ]),
    ("CHECK-01/credential-words", &[
        (false, 0, ANY, 0, &[(0, &["confirm", "paste", "provide", "providing", "send", "share", "sharing", "submit", "supply"]), (242, &["access", "credential", "key", "secret", "token"]), (ANY, &["audit", "can", "compliance", "deadline", "expir", "failure", "form", "hours", "identity", "immediately", "incident", "link", "locked", "lockout", "migrat", "proceed", "required", "safe", "suspend", "temporary", "unlock", "urgent", "verif", "webhook"])]),
        (false, ANY, ANY, 0, &[(0, &["audit", "compliance", "compromis", "deprecat", "emergency", "expir", "identity", "incident", "locked", "migrat", "suspend", "unauthori", "urgent", "verif"]), (ANY, &["confirm", "enter", "paste", "provide", "providing", "send", "share", "submit", "supply"]), (393, &["access", "credential", "key", "password", "secret", "token"])]),
    ]),
    ("CHECK-01/show-private-file", &[
        (false, 0, ANY, 0, &[(0, &["append", "display", "dump", "includ", "output", "print", "return", "send", "show", "transmit"]), (ANY, &["content"]), (ANY, &[".env", "/etc/", "~/.aws", "~/.clawdbot", "~/.config", "~/.gnupg", "~/.netrc", "~/.openclaw", "~/.ssh"])]),
    ]),
    ("CHECK-01/comply-with-all", &[
        (false, 0, ANY, 0, &[(0, &["answer", "assist", "comply", "fulfil", "help", "obey", "respond"]), (ANY, &["command", "prompt", "question", "request", "task"]), (193, &["exceptions", "matter", "regardless", "unconditiona", "without"])]),
        (true, 0, 73, 0, &[(0, &["comply"])]),
        (true, 0, 54, 0, &[(0, &["unconstraine", "unrestricted"]), (2, &["constrained", "restricted"])]),
        (false, 0, 230, 0, &[(0, &["alter"]), (18, &["ego"])]),
        (false, 33, 45, 0, &[(0, &["restrictions"])]),
        (true, 0, 82, 0, &[(0, &["without"]), (82, &["filter", "safety"])]),
        (true, 0, 62, 0, &[(0, &["exempt"])]),
        (true, 0, 81, 0, &[(0, &["normal", "previous", "regular", "safety", "standard", "usual"]), (76, &["apply"])]),
        (false, 0, 495, 0, &[(0, &["treat"]), (495, &["administrato", "approved", "authorized", "trusted"])]),
        (true, 0, 78, 0, &[(0, &["all"]), (15, &["requests"]), (56, &["without"])]),
    ]),
    ("CHECK-01/hypothetical", &[
        (false, 0, 370, 0, &[(0, &["fictional", "hypothetical", "imagine", "novel", "story", "thought", "universe", "world"]), (358, &["constraints", "ethical", "filters", "guidelines", "limits", "moral", "restrictions", "rules", "safety"])]),
    ]),
    ("CHECK-01/languages", &[
        (false, 0, ANY, 0, &[(0, &["ignorier"]), (ANY, &["anweisungen", "instruktione", "regeln"])]),
        (false, 0, 350, 0, &[(0, &["vergiss"]), (337, &["anweisungen", "instruktione"])]),
        (false, 0, 219, 0, &[(0, &["ignorez", "oubliez"]), (219, &["consignes", "gles", "instructions"])]),
        (false, 0, ANY, 0, &[(0, &["ignora", "ignore", "olvida"]), (ANY, &["instru", "istruzioni", "reglas", "regole"])]),
        (false, 0, 177, 0, &[(0, &["negeer"]), (166, &["instructies", "regels"])]),
        (false, 0, 218, 0, &[(0, &["zignoruj"]), (208, &["instrukcje", "polecenia"])]),
        (false, 0, 110, 0, &[(0, &["Игнори", "игнори"]), (2, &["гнорир"])]),
        (false, 0, 72, 0, &[(0, &["忽略", "无视", "無視"]), (66, &["指令", "指示", "提示", "規則", "规则"])]),
        (false, 0, 52, 0, &[(0, &["命令", "指示"]), (46, &["無視"])]),
        (false, 0, 72, 0, &[(0, &["명령", "지시"]), (66, &["무시"])]),
        (false, 0, 80, 0, &[(0, &["تجاهل"]), (70, &["تعليم"])]),
    ]),
    ("CHECK-04/shell-secret-upload", &[
        (false, 0, ANY, 0, &[(0, &["curl", "http", "invoke-restm", "invoke-webre", "nc\t", "nc\n", "nc\u{b}", "nc\u{c}", "nc\r", "nc ", "wget"]), (ANY, &["$(\t", "$(\n", "$(\u{b}", "$(\u{c}", "$(\r", "$( ", "$(aws", "$(base64", "$(cat", "$(env", "$(gh", "$(git", "$(history", "$(hostname", "$(pbpaste", "$(printenv", "$(security", "$(set", "$(tar", "$(whoami", "$(xclip", ".aws", ".bash_histor", ".clawdbot", ".config/gclo", ".docker", ".env", ".git-credent", ".gnupg", ".kube", ".netrc", ".npmrc", ".openclaw", ".pypirc", ".ssh", ".zsh_history", "/etc/", "`base64", "`cat", "`env", "`printenv", "access_key", "api_key", "id_ed25519", "id_rsa", "passwd", "password", "private_key", "secret", "token"])]),
    ]),
    ("CHECK-04/env-dump-piped", &[
        (false, 0, ANY, 0, &[(0, &["env\t", "env\n", "env\u{b}", "env\u{c}", "env\r", "env ", "env>", "env|", "history", "printenv", "set\t", "set\n", "set\u{b}", "set\u{c}", "set\r", "set ", "set>", "set|"])]),
        (false, 0, 222, 0, &[(0, &["curl", "wget"]), (204, &["/proc/self/e"])]),
    ]),
    ("CHECK-04/private-file-piped", &[
        (false, 207, ANY, 0, &[(0, &[".aws", ".env", ".git-credent", ".kube/config", ".netrc", ".npmrc", ".ssh", "cookies", "credentials.", "id_ed25519", "id_rsa", "keychain", "login\tdata", "login\ndata", "login\u{b}data", "login\u{c}data", "login\rdata", "login data", "logindata", "wallet.dat"])]),
    ]),
    ("CHECK-04/secret-piped", &[
        (false, 0, ANY, 64, &[(0, &["echo", "printf"]), (127, &["$env", "${env", "credential", "passwd", "password", "private", "secret", "token"]), (151, &["curl"])]),
        (false, 0, ANY, 124, &[(0, &["base64"]), (ANY, &["curl"])]),
    ]),
    ("CHECK-04/dns-exfil", &[
        (false, 0, ANY, 0, &[(0, &["dig\t", "dig\n", "dig\u{b}", "dig\u{c}", "dig\r", "dig ", "nslookup", "ping", "resolve-dnsn"])]),
        (false, 0, ANY, 40, &[(0, &["dns.resolve", "getaddrinfo(", "gethostbynam"])]),
    ]),
    ("CHECK-04/image-beacon", &[
        (false, ANY, ANY, 33, &[(0, &["http://", "https://"]), (ANY, &["b64", "base64", "context", "conversation", "data", "encoded", "env", "history", "prompt", "secret", "token"])]),
        (true, 0, ANY, 60, &[(0, &["<img"]), (128, &["src="])]),
    ]),
    ("CHECK-04/tunnel-host", &[
        (true, 0, 106, 58, &[(0, &["http://", "https://"]), (88, &[".bore.pub", ".lhr.life", ".loca.lt", ".localhost.r", ".ngrok-free.", ".ngrok.app", ".ngrok.dev", ".ngrok.io", ".pinggy.io", ".pinggy.link", ".pinggy.onli", ".serveo.net", ".trycloudfla"]), (18, &["bore.pub", "lhr.life", "loca.lt", "localhost.ru", "ngrok", "pinggy.", "serveo.net", "trycloudflar"])]),
    ]),
    ("CHECK-04/told-to-send", &[
        (false, 0, ANY, 0, &[(0, &["copy", "email", "exfiltrate", "forward", "post", "send", "submit", "transmit", "upload"]), (ANY, &[".env", "id_ed25519", "id_rsa", "~/.aws", "~/.config/gh", "~/.docker", "~/.git-crede", "~/.gnupg", "~/.kube", "~/.netrc", "~/.npmrc", "~/.ssh"])]),
        (false, 0, ANY, 126, &[(0, &["~/.aws", "~/.config/gh", "~/.docker/co", "~/.git-crede", "~/.kube", "~/.netrc", "~/.npmrc", "~/.ssh"]), (ANY, &["destination", "endpoint", "remote", "server", "support", "triage"])]),
        (false, 0, 273, 0, &[(0, &["attach", "collect", "dump", "export", "include", "log", "record"]), (122, &["authenticati", "credentials", "keys", "variables", "vars"]), (152, &["debug", "diagnostic", "remote", "support", "telemetry"])]),
        (true, 0, 96, 0, &[(0, &["credential", "key", "secret", "token"]), (23, &["value"])]),
        (false, 0, 186, 58, &[(0, &["log"]), (31, &["complete", "entire", "full"]), (20, &["request"]), (127, &["http://", "https://"])]),
    ]),
    ("CHECK-04/sending-words", &[
        (false, 0, ANY, 0, &[(0, &["append", "deliver", "email", "exfiltrat", "forward", "leak", "post", "send", "submit", "sync", "transmit", "upload"])]),
    ]),
    ("CHECK-04/gather-and-send", &[
        (false, ANY, ANY, 0, &[(0, &[".aws", ".env", ".kube", ".netrc", ".npmrc", ".ssh", "auth.token", "cookies", "credential", "git-credenti", "hosts.yml", "messages", "private", "secrets", "session", "variables"]), (247, &["deliver", "email", "forward", "post", "send", "submit", "transfer", "transmit", "upload"]), (111, &["channel", "collaborator", "endpoint", "external", "http://", "https://", "remote", "server", "service", "smtp://", "to:\t", "to:\n", "to:\u{b}", "to:\u{c}", "to:\r", "to: ", "webhook"])]),
    ]),
    ("CHECK-04/cloud-upload", &[
        (false, 0, ANY, 0, &[(0, &["aws\t", "aws\n", "aws\u{b}", "aws\u{c}", "aws\r", "aws ", "azcopy", "gsutil", "rclone", "rsync", "scp\t", "scp\n", "scp\u{b}", "scp\u{c}", "scp\r", "scp "]), (ANY, &[".aws", ".env", ".kube", ".ssh", "credential", "id_rsa", "keychain", "password", "secret", "wallet"])]),
    ]),
    ("CHECK-04/to-drop-host", &[
        (false, 195, 195, 0, &[(0, &["0x0.st", "anonfiles", "bashupload", "burpcollabor", "canarytokens", "glot.io", "gofile.io", "hastebin", "hookbin", "interact.sh", "loca.lt", "oast.", "oastify", "paste.ee", "pastebin.com", "pipedream.ne", "rentry.", "requestbin", "requestcatch", "serveo.net", "termbin", "transfer.sh", "trycloudflar", "webhook.site"])]),
    ]),
    ("CHECK-04/chat-webhook", &[
        (false, ANY, ANY, 0, &[(0, &["api.telegram", "discord"])]),
    ]),
    ("CHECK-04/suspicious-host", &[
        (true, 0, ANY, 0, &[(0, &["dig\t", "dig\n", "dig\u{b}", "dig\u{c}", "dig\r", "dig ", "ftp://", "gs://", "http://", "https://", "nslookup", "ping", "s3://", "smtp://", "tcp://", "ws://", "wss://"])]),
        (true, 0, ANY, 58, &[(0, &["gs://", "s3://"]), (ANY, &["attacker", "evil", "exfil", "stolen"])]),
        (true, 0, ANY, 64, &[(0, &["@attacker", "@evil", "@hacker", "@malicious"])]),
    ]),
    ("CHECK-04/raw-address", &[
        (false, ANY, ANY, 58, &[(0, &["http://", "https://", "tcp://"])]),
    ]),
    ("CHECK-04/cloud-metadata", &[
        (true, 0, 33, 58, &[(0, &["http://0:0:0", "http://::fff", "http://[0:0:", "http://[::ff", "https://0:0:", "https://::ff", "https://[0:0", "https://[::f"]), (18, &[":ffff:a9fe:a"])]),
        (true, 0, 27, 58, &[(0, &["http://0251.", "http://0xa9f", "http://28520", "https://0251", "https://0xa9", "https://2852"]), (5, &["://0251.0376", "://0xa9fea9f", "://285203916"])]),
        (false, 128, 152, 0, &[(0, &["100.100.100.", "169.254.169.", "fd00:ec2", "metadata.goo"])]),
    ]),
    ("CHECK-04/credential-store", &[
        (false, ANY, ANY, 0, &[(0, &["/etc/shadow", "_authtoken", "cookies.sqli", "extension", "key4.db", "login\tdata", "login\ndata", "login\u{b}data", "login\u{c}data", "login\rdata", "login data", "logindata", "logins.json", "wallet.dat"])]),
        (true, 0, ANY, 0, &[(0, &["security"]), (ANY, &["dump-keychai"])]),
        (true, 0, ANY, 0, &[(0, &["./chainbreak", "./lazagne", "./mimikatz", "./secretsdum", "exec", "invoke-chain", "invoke-lazag", "invoke-mimik", "invoke-secre", "run\tchainbre", "run\tlazagne", "run\tmimikatz", "run\tsecretsd", "run\nchainbre", "run\nlazagne", "run\nmimikatz", "run\nsecretsd", "run\u{b}chainbre", "run\u{b}lazagne", "run\u{b}mimikatz", "run\u{b}secretsd", "run\u{c}chainbre", "run\u{c}lazagne", "run\u{c}mimikatz", "run\u{c}secretsd", "run\rchainbre", "run\rlazagne", "run\rmimikatz", "run\rsecretsd", "run chainbre", "run lazagne", "run mimikatz", "run secretsd"]), (ANY, &["chainbreaker", "lazagne", "mimikatz", "secretsdump"])]),
        (true, 0, 10, 58, &[(0, &["sekurlsa::"])]),
    ]),
    ("CHECK-04/media-directive", &[
        (true, 0, 104, 58, &[(0, &["media:/", "media:file:/"])]),
        (true, 0, 104, 58, &[(0, &["media:/", "media:file:/", "media:~"])]),
    ]),
    ("CHECK-08/decoded-command", &[
        (false, 0, ANY, 124, &[(0, &["base64"])]),
        (false, ANY, ANY, 0, &[(0, &["base64", "xxd\t", "xxd\n", "xxd\u{b}", "xxd\u{c}", "xxd\r", "xxd "])]),
        (false, 0, ANY, 40, &[(0, &["__import__", "compile", "eval", "exec", "function", "new\t", "new\n", "new\u{b}", "new\u{c}", "new\r", "new "]), (ANY, &["atob", "b64decode", "buffer.from", "bytes.fromhe", "codecs.decod", "fromcharcode", "marshal.load", "unhexlify", "zlib.decompr"])]),
        (true, 0, ANY, 40, &[(0, &["eval(", "exec("]), (ANY, &["fetch(", "httpx.get", "requests.get", "urllib.reque", "urlopen("])]),
        (false, 0, ANY, 0, &[(0, &["powershell"]), (134, &["\t-e\t", "\t-e\n", "\t-e\u{b}", "\t-e\u{c}", "\t-e\r", "\t-e ", "\t-en", "\n-e\t", "\n-e\n", "\n-e\u{b}", "\n-e\u{c}", "\n-e\r", "\n-e ", "\n-en", "\u{b}-e\t", "\u{b}-e\n", "\u{b}-e\u{b}", "\u{b}-e\u{c}", "\u{b}-e\r", "\u{b}-e ", "\u{b}-en", "\u{c}-e\t", "\u{c}-e\n", "\u{c}-e\u{b}", "\u{c}-e\u{c}", "\u{c}-e\r", "\u{c}-e ", "\u{c}-en", "\r-e\t", "\r-e\n", "\r-e\u{b}", "\r-e\u{c}", "\r-e\r", "\r-e ", "\r-en", " -e\t", " -e\n", " -e\u{b}", " -e\u{c}", " -e\r", " -e ", " -en"])]),
        (false, 0, 153, 0, &[(0, &["iex", "invoke-expre"]), (137, &["frombase64st"])]),
        (false, 0, ANY, 124, &[(0, &["nslookup"]), (ANY, &["iex", "invoke-expre"])]),
        (true, 0, ANY, 40, &[(0, &["eval(", "exec("]), (ANY, &[".cache", "/dev/shm/", "/tmp/", "/var/tmp/"])]),
        (false, 0, ANY, 0, &[(0, &["nslookup"])]),
    ]),
    ("CHECK-08/pipe-to-shell", &[
        (false, ANY, ANY, 124, &[(0, &["bash", "cmd\t", "cmd\n", "cmd\u{b}", "cmd\u{c}", "cmd\r", "cmd ", "cmd\"", "cmd'", "cmd`", "powershell", "sh\t", "sh\n", "sh\u{b}", "sh\u{c}", "sh\r", "sh ", "sh\"", "sh'", "sh`", "zsh\t", "zsh\n", "zsh\u{b}", "zsh\u{c}", "zsh\r", "zsh ", "zsh\"", "zsh'", "zsh`"])]),
        (false, 0, 154, 0, &[(0, &["iex", "invoke-expre"]), (137, &["downloadstri", "invoke-webre", "iwr", "net.webclien"])]),
        (false, 0, ANY, 124, &[(0, &["downloadstri", "invoke-restm", "invoke-webre", "irm", "iwr"]), (ANY, &["iex", "invoke-expre"])]),
        (false, 0, ANY, 124, &[(0, &["curl", "fetch", "wget"])]),
        (false, 0, ANY, 124, &[(0, &["curl", "fetch", "wget"]), (ANY, &["python"])]),
        (false, ANY, ANY, 0, &[(0, &["curl", "wget"])]),
    ]),
    ("CHECK-08/insecure-pipe-to-shell", &[
        (false, 0, ANY, 124, &[(0, &["curl", "wget"])]),
    ]),
    ("CHECK-08/download-and-run", &[
        (false, 425, ANY, 58, &[(0, &["$env:temp", "%temp%", "/dev/shm/", "/private/tmp", "/tmp/", "/var/tmp/", "~/.cache/"]), (193, &["chmod", "start-proces"])]),
    ]),
    ("CHECK-08/password-archive", &[
        (false, 0, ANY, 0, &[(0, &[".7z", ".dmg", ".exe", ".msi", ".rar", ".zip", "archive", "download", "unpack", "unzip"]), (168, &["pass"])]),
        (false, 0, ANY, 0, &[(0, &["extract", "unpack", "unzip"]), (ANY, &["pass"])]),
    ]),
    ("CHECK-08/fake-prerequisite", &[
        (false, 310, ANY, 0, &[(0, &["copy", "paste"]), (ANY, &["cmd", "dialog", "powershell", "prompt", "shell", "terminal"])]),
        (false, 0, ANY, 0, &[(0, &["copy"]), (154, &["paste", "pasting", "run"]), (ANY, &["dialog", "powershell", "prompt", "shell", "terminal", "win\t+\tr", "win\t+\nr", "win\t+\u{b}r", "win\t+\u{c}r", "win\t+\rr", "win\t+ r", "win\t+r", "win\n+\tr", "win\n+\nr", "win\n+\u{b}r", "win\n+\u{c}r", "win\n+\rr", "win\n+ r", "win\n+r", "win\u{b}+\tr", "win\u{b}+\nr", "win\u{b}+\u{b}r", "win\u{b}+\u{c}r", "win\u{b}+\rr", "win\u{b}+ r", "win\u{b}+r", "win\u{c}+\tr", "win\u{c}+\nr", "win\u{c}+\u{b}r", "win\u{c}+\u{c}r", "win\u{c}+\rr", "win\u{c}+ r", "win\u{c}+r", "win\r+\tr", "win\r+\nr", "win\r+\u{b}r", "win\r+\u{c}r", "win\r+\rr", "win\r+ r", "win\r+r", "win +\tr", "win +\nr", "win +\u{b}r", "win +\u{c}r", "win +\rr", "win + r", "win +r", "win+\tr", "win+\nr", "win+\u{b}r", "win+\u{c}r", "win+\rr", "win+ r", "win+r"])]),
        (false, 26, ANY, 0, &[(0, &["critical", "important", "must", "prerequisite", "require", "running", "starting", "using", "warning"]), (ANY, &[".dmg", ".exe", ".msi", ".pkg", ".rar", ".zip", "releases/dow"])]),
    ]),
    ("CHECK-08/reverse-shell", &[
        (true, 0, ANY, 38, &[(0, &[">&\t", ">&\n", ">&\u{b}", ">&\u{c}", ">&\r", ">& ", ">&/dev/tcp/", ">&/dev/udp/"])]),
        (true, 0, ANY, 38, &[(0, &["/dev/tcp/", "/dev/udp/"]), (ANY, &["0>&1"])]),
        (false, 0, ANY, 0, &[(0, &["nc\t", "nc\n", "nc\u{b}", "nc\u{c}", "nc\r", "nc ", "ncat", "netcat"])]),
        (false, 2, ANY, 0, &[(0, &["sh\t", "sh\n", "sh\u{b}", "sh\u{c}", "sh\r", "sh "])]),
        (false, 0, 133, 0, &[(0, &["mkfifo"])]),
        (false, 0, 130, 58, &[(0, &["socat"]), (125, &["exec:"])]),
        (true, 0, 521, 40, &[(0, &["socket"]), (306, &["dup2("])]),
        (true, 0, ANY, 40, &[(0, &["pty.spawn("]), (ANY, &["\"/bin/", "'/bin/"])]),
        (false, 0, 139, 40, &[(0, &["fsockopen("]), (130, &["/bin/sh", "exec", "proc_open"])]),
        (true, 0, 28, 0, &[(0, &["system.net.s"])]),
    ]),
    ("CHECK-08/raw-socket", &[
        (true, 0, 91, 0, &[(0, &["/dev/tcp/", "/dev/udp/"])]),
    ]),
    ("CHECK-08/miner", &[
        (true, 0, 5, 0, &[(0, &["xmrig"])]),
        (true, 0, 14, 43, &[(0, &["stratum+ssl:", "stratum+tcp:"]), (8, &["ssl://", "tcp://"])]),
        (true, 0, 6, 0, &[(0, &["minerd"])]),
        (true, 0, 11, 0, &[(0, &["cryptonight"])]),
        (true, 0, 8, 0, &[(0, &["coinhive"])]),
        (true, 0, 8, 0, &[(0, &["xmr-stak"])]),
        (true, 0, 8, 0, &[(0, &["cpuminer"])]),
        (false, 0, 93, 0, &[(0, &["randomx"]), (87, &["pool", "wallet"])]),
        (false, 0, ANY, 0, &[(0, &["monero"]), (86, &["miner", "mining", "pool", "wallet"])]),
    ]),
    ("CHECK-08/persistence", &[
        (false, 0, ANY, 62, &[(0, &["echo", "printf"]), (ANY, &["authorized_k"])]),
        (false, 0, ANY, 0, &[(0, &["/etc/cron", "@reboot", "crontab", "echo"]), (209, &["*\t*\t*", "*\t*\n*", "*\t*\u{b}*", "*\t*\u{c}*", "*\t*\r*", "*\t* *", "*\n*\t*", "*\n*\n*", "*\n*\u{b}*", "*\n*\u{c}*", "*\n*\r*", "*\n* *", "*\u{b}*\t*", "*\u{b}*\n*", "*\u{b}*\u{b}*", "*\u{b}*\u{c}*", "*\u{b}*\r*", "*\u{b}* *", "*\u{c}*\t*", "*\u{c}*\n*", "*\u{c}*\u{b}*", "*\u{c}*\u{c}*", "*\u{c}*\r*", "*\u{c}* *", "*\r*\t*", "*\r*\n*", "*\r*\u{b}*", "*\r*\u{c}*", "*\r*\r*", "*\r* *", "* *\t*", "* *\n*", "* *\u{b}*", "* *\u{c}*", "* *\r*", "* * *", "/etc/cron", "@reboot", "crontab"])]),
        (false, ANY, ANY, 0, &[(0, &["$home/.bash_", "$home/.bashr", "$home/.profi", "$home/.zprof", "$home/.zshrc", "${home}/.bas", "${home}/.pro", "${home}/.zpr", "${home}/.zsh", "~/.bash_prof", "~/.bashrc", "~/.profile", "~/.zprofile", "~/.zshrc"]), (7, &["/.bash_profi", "/.bashrc", "/.profile", "/.zprofile", "/.zshrc"])]),
        (false, 0, ANY, 62, &[(0, &["echo", "printf"]), (ANY, &["/.bashrc", "/.profile", "/.zshrc"])]),
        (false, 0, ANY, 0, &[(0, &["currentversi"]), (ANY, &[".exe", ".ps1", ".vbs", "cmd", "powershell"])]),
        (false, 0, 345, 0, &[(0, &["schtasks"]), (168, &["/create"])]),
        (false, 0, 55, 61, &[(0, &["ld_preload="]), (51, &["/tmp"])]),
        (false, 103, ANY, 126, &[(0, &["~/.cache/."])]),
    ]),
    ("CHECK-08/start-up-change", &[
        (false, 246, 261, 95, &[(0, &["authorized_k"])]),
        (false, ANY, ANY, 0, &[(0, &["/.bash_profi", "/.bashrc", "/.profile", "/.zshrc", "/etc/", "autostart", "crontab", "launchagents", "rc.local"])]),
    ]),
    ("CHECK-08/security-off", &[
        (true, 0, ANY, 0, &[(0, &["setenforce"])]),
        (true, 0, ANY, 0, &[(0, &["ufw\t", "ufw\n", "ufw\u{b}", "ufw\u{c}", "ufw\r", "ufw "]), (ANY, &["disable"])]),
        (true, 0, ANY, 0, &[(0, &["iptables"])]),
        (false, 0, 103, 0, &[(0, &["set-mpprefer"]), (96, &["disable"])]),
        (false, 0, 105, 0, &[(0, &["add-mpprefer"]), (96, &["exclusion"])]),
        (true, 0, ANY, 0, &[(0, &["csrutil"])]),
        (true, 0, ANY, 0, &[(0, &["spctl"]), (ANY, &["-disable"])]),
        (true, 0, ANY, 0, &[(0, &["unset"]), (ANY, &["histfile"])]),
        (true, 0, 18, 61, &[(0, &["histfile=/de"])]),
        (true, 0, ANY, 0, &[(0, &["history"])]),
        (true, 0, ANY, 0, &[(0, &["auditctl"])]),
        (false, 0, ANY, 0, &[(0, &["service", "systemctl"]), (ANY, &["disable", "stop"]), (47, &["apparmor", "auditd", "clamav", "crowdstrike", "defender", "falcon", "firewalld", "osquery", "ufw"])]),
        (true, 0, ANY, 58, &[(0, &["nopasswd"])]),
        (false, 0, ANY, 0, &[(0, &["xattr"]), (ANY, &["/tmp/"])]),
        (false, ANY, ANY, 0, &[(0, &["/var/log"])]),
    ]),
    ("CHECK-08/security-off-advice", &[
        (true, 0, 78, 0, &[(0, &["deactivate", "disable", "stop", "turn", "uninstall"]), (78, &["anti-virus", "antivirus", "defender", "edr", "firewall", "gatekeeper", "real-time", "software"])]),
    ]),
    ("CHECK-08/destructive", &[
        (true, 0, ANY, 0, &[(0, &["rm\t", "rm\n", "rm\u{b}", "rm\u{c}", "rm\r", "rm "])]),
        (true, 0, ANY, 40, &[(0, &["call(", "exec", "popen(", "run(", "spawn(", "system("]), (ANY, &["\"rm\t", "\"rm\n", "\"rm\u{b}", "\"rm\u{c}", "\"rm\r", "\"rm ", "'rm\t", "'rm\n", "'rm\u{b}", "'rm\u{c}", "'rm\r", "'rm "])]),
        (true, 0, ANY, 0, &[(0, &["mkfs."]), (ANY, &["/dev/"])]),
        (true, 0, ANY, 61, &[(0, &["dd\t", "dd\n", "dd\u{b}", "dd\u{c}", "dd\r", "dd "]), (ANY, &["if=/dev/"]), (ANY, &["of=/dev/"])]),
        (false, 0, ANY, 92, &[(0, &["del\t", "del\n", "del\u{b}", "del\u{c}", "del\r", "del "]), (ANY, &["c:\\"])]),
        (true, 0, ANY, 58, &[(0, &["format"])]),
        (true, 0, ANY, 40, &[(0, &["shutil.rmtre"])]),
        (true, 0, ANY, 0, &[(0, &["chmod"]), (ANY, &["777\t", "777\n", "777\u{b}", "777\u{c}", "777\r", "777 "])]),
        (false, ANY, ANY, 62, &[(0, &["/dev/sd"])]),
        (true, 0, ANY, 123, &[(0, &[":()\t", ":()\n", ":()\u{b}", ":()\u{c}", ":()\r", ":() ", ":(){"])]),
        (false, 0, 113, 92, &[(0, &["remove-item"]), (105, &["-recurse"])]),
    ]),
    ("CHECK-08/loose-permissions", &[
        (true, 0, ANY, 0, &[(0, &["chmod"]), (ANY, &["0777", "777\t", "777\n", "777\u{b}", "777\u{c}", "777\r", "777 ", "a+rwx"])]),
        (true, 0, ANY, 0, &[(0, &["chmod"])]),
        (true, 0, ANY, 0, &[(0, &["sudo"]), (ANY, &["chown"])]),
        (false, 126, 138, 0, &[(0, &["/etc/sudoers"])]),
        (true, 0, 12, 40, &[(0, &["os.setuid(0)"])]),
    ]),
    ("CHECK-08/root-for-all", &[
        (false, 0, ANY, 0, &[(0, &["chmod"]), (ANY, &["sudo"])]),
    ]),
    ("CHECK-08/container-escape", &[
        (false, 0, ANY, 0, &[(0, &["docker"]), (ANY, &["--privileged"])]),
        (false, ANY, ANY, 0, &[(0, &["docker.sock"])]),
        (true, 0, ANY, 58, &[(0, &["/var/run/doc"])]),
        (false, 0, ANY, 0, &[(0, &["docker"]), (ANY, &["--pid", "--privileged", "/:/"])]),
        (false, 0, ANY, 0, &[(0, &["nsenter"])]),
    ]),
    ("CHECK-08/host-mounted", &[
        (false, 13, 274, 0, &[(0, &["--cap-add", "--privileged", "docker.sock"]), (253, &["/etc/shadow", "/root/.ssh", "aws_secret_a", "source=/proc", "~/.aws", "~/.ssh"])]),
    ]),
    ("CHECK-08/install-link", &[
        (false, 0, 482, 58, &[(0, &["cursor://", "vscode-insid", "vscode://", "windsurf://"]), (138, &["install", "mcp"])]),
    ]),
    ("CHECK-08/network-drive", &[
        (false, 0, ANY, 0, &[(0, &["net\t", "net\n", "net\u{b}", "net\u{c}", "net\r", "net "]), (ANY, &["@443", "@80", "@ssl", "davwwwroot", "webdav"]), (130, &[".bat", ".cmd", ".exe", ".ps1", ".vbs", "start"])]),
        (true, 0, ANY, 58, &[(0, &["mshta"])]),
        (false, 0, 79, 58, &[(0, &["regsvr32"]), (75, &["/i:http"])]),
        (false, 0, 185, 58, &[(0, &["certutil"]), (48, &["-urlcache"])]),
    ]),
    ("CHECK-08/traffic-redirect", &[
        (false, 0, ANY, 0, &[(0, &["iptables"]), (ANY, &["dnat", "redirect"])]),
        (false, 0, ANY, 0, &[(0, &["nft\t", "nft\n", "nft\u{b}", "nft\u{c}", "nft\r", "nft "]), (ANY, &["dnat", "redirect"])]),
        (false, 0, ANY, 0, &[(0, &["netsh"]), (66, &["portproxy"])]),
        (true, 0, ANY, 0, &[(0, &["networksetup"]), (ANY, &["-setwebproxy"])]),
    ]),
    ("CHECK-08/shell-disguise", &[
        (false, ANY, ANY, 36, &[(0, &["@p}"])]),
        (true, 0, ANY, 93, &[(0, &["/etc/pass", "/etc/shad"])]),
        (true, 0, 8, 93, &[(0, &["id_r[s]a"])]),
        (true, 0, 8, 93, &[(0, &["id_rs[a]"])]),
    ]),
    ("CHECK-08/remote-module", &[
        (false, 0, ANY, 0, &[(0, &["deno"]), (ANY, &["--allow-all", ";base64", "loader", "payload", "stage"])]),
        (true, 0, ANY, 40, &[(0, &["eval("])]),
        (true, 0, ANY, 40, &[(0, &["new\t", "new\n", "new\u{b}", "new\u{c}", "new\r", "new "]), (ANY, &["function("])]),
        (false, 0, ANY, 40, &[(0, &["deno"]), (ANY, &["fetch("])]),
    ]),
    ("CHECK-08/sudo-then-disable", &[
        (false, 0, ANY, 0, &[(0, &["sudo"]), (ANY, &["antivirus", "apparmor", "defender", "firewall", "protection", "security", "selinux"])]),
    ]),
    ("CHECK-08/password-check", &[
        (false, 0, 93, 0, &[(0, &["dscl"]), (84, &["-authonly"])]),
        (true, 0, 20, 40, &[(0, &["validatecred"])]),
        (false, 0, ANY, 0, &[(0, &["osascript"]), (ANY, &["hidden", "password"])]),
    ]),
    ("CHECK-08/ci-injection", &[
        (false, 0, 750, 95, &[(0, &["pull_request"]), (719, &["github.event", "github.head_"])]),
    ]),
    ("CHECK-08/admin-for-all", &[
        (false, 0, 591, 42, &[(0, &["principal"]), (572, &["administrato"])]),
    ]),
    ("CHECK-08/agent-identity", &[
        (false, ANY, ANY, 0, &[(0, &[".claude/", ".clawdbot/", ".codex/", ".moltbot/", ".openclaw/"]), (70, &[".credentials", "auth.json", "device.json", "gateway.auth", "identity/", "privatekey"])]),
    ]),
    ("CHECK-08/odd-dependency", &[
        (true, 0, 13, 43, &[(0, &["\"git+http://", "\"git+https:/", "\"git+ssh://", "'git+http://", "'git+https:/", "'git+ssh://"]), (1, &["git+http://", "git+https://", "git+ssh://"])]),
        (false, ANY, ANY, 0, &[(0, &["--registry", "--trusted-ho", "index-url", "install", "npm\t", "npm\n", "npm\u{b}", "npm\u{c}", "npm\r", "npm ", "pnpm", "registry", "yarn"])]),
    ]),
    ("CHECK-08/registry-redirect", &[
        (false, ANY, ANY, 0, &[(0, &["\"resolved\"", "--registry", "index-url", "registry"])]),
    ]),
    ("CHECK-08/lifecycle-script", &[
        (true, 0, ANY, 58, &[(0, &["\"install\"", "\"install'", "\"postinstall", "\"postprepare", "\"preinstall\"", "\"preinstall'", "\"prepare\"", "\"prepare'", "\"preprepare\"", "\"preprepare'", "'install\"", "'install'", "'postinstall", "'postprepare", "'preinstall\"", "'preinstall'", "'prepare\"", "'prepare'", "'preprepare\"", "'preprepare'"]), (1, &["install\"", "install'", "postinstall\"", "postinstall'", "postprepare\"", "postprepare'", "preinstall\"", "preinstall'", "prepare\"", "prepare'", "preprepare\"", "preprepare'"])]),
    ]),
    ("CHECK-08/embedded-secret", &[
        (true, 0, 20, 0, &[(0, &["akia"])]),
        (true, 0, 40, 95, &[(0, &["ghp_"])]),
        (true, 0, ANY, 0, &[(0, &["-----begin\te", "-----begin\to", "-----begin\tp", "-----begin\tr", "-----begin\ne", "-----begin\no", "-----begin\np", "-----begin\nr", "-----begin\u{b}e", "-----begin\u{b}o", "-----begin\u{b}p", "-----begin\u{b}r", "-----begin\u{c}e", "-----begin\u{c}o", "-----begin\u{c}p", "-----begin\u{c}r", "-----begin\re", "-----begin\ro", "-----begin\rp", "-----begin\rr", "-----begin e", "-----begin o", "-----begin p", "-----begin r"]), (27, &["key-----"])]),
        (true, 0, ANY, 95, &[(0, &["sk_live_"])]),
        (true, 0, ANY, 0, &[(0, &["xoxb-"])]),
    ]),
    ("CHECK-08/eicar", &[
        (true, 0, 34, 0, &[(0, &["eicar-standa"])]),
    ]),
    ("CHECK-08/code-injection", &[
        (true, 0, 30, 95, &[(0, &["__class__.__"]), (12, &["base__", "bases__", "init__.__glo", "mro__"])]),
        (true, 0, 40, 93, &[(0, &["__globals__["]), (32, &["].popen", "].system"])]),
        (true, 0, ANY, 95, &[(0, &["__import__("]), (ANY, &[").call", ").check_outp", ").popen", ").run", ").system"])]),
        (false, 0, ANY, 0, &[(0, &["evaluat", "passed"]), (ANY, &["sanit"])]),
        (true, 0, ANY, 40, &[(0, &["eval(", "exec("])]),
        (true, 0, ANY, 40, &[(0, &["os.system("])]),
        (false, 0, ANY, 61, &[(0, &["subprocess."]), (ANY, &["shell"])]),
        (true, 0, 36, 95, &[(0, &["require(\"chi", "require('chi", "require(\\\"ch", "require(\\'ch"]), (10, &["child_proces"])]),
    ]),
    ("CHECK-08/workflow-injection", &[
        (true, 0, ANY, 36, &[(0, &["${{\t", "${{\n", "${{\u{b}", "${{\u{c}", "${{\r", "${{ ", "${{github.ev", "${{github.he"]), (ANY, &["github.event", "github.head_"])]),
        (true, 0, ANY, 95, &[(0, &["pull_request"])]),
    ]),
    ("CHECK-08/agent-config-write", &[
        (false, 64, 147, 0, &[(0, &[".claude/", ".clawdbot/", ".codeium/", ".cursor/", ".gemini/", ".openclaw/", ".windsurf/"]), (78, &[".json"])]),
    ]),
    ("CHECK-08/hook-command", &[
        (false, 12, ANY, 58, &[(0, &["tooluse"]), (209, &["command\"", "command'"])]),
    ]),
    ("CHECK-08/kernel-driver", &[
        (false, ANY, ANY, 61, &[(0, &["type="]), (ANY, &["kernel"])]),
        (true, 0, ANY, 0, &[(0, &["aukill", "backstab.exe", "edrsilencer", "terminator", "truesightkil"])]),
    ]),
    ("CHECK-08/double-extension", &[
        (false, 6, 10, 0, &[(0, &[".bat", ".cmd", ".com", ".exe", ".hta", ".lnk", ".pif", ".ps1", ".scr", ".vbs"])]),
    ]),
    ("CHECK-08/preload", &[
        (true, 0, ANY, 61, &[(0, &["node_options"]), (ANY, &["--require"])]),
        (true, 0, ANY, 61, &[(0, &["ld_preload"]), (ANY, &["/dev/shm", "/tmp", "/var/tmp"])]),
        (true, 0, ANY, 61, &[(0, &["pythonstartu"]), (ANY, &["/dev/shm", "/tmp", "/var/tmp"])]),
    ]),
    ("CHECK-08/worm", &[
        (true, 0, 10, 0, &[(0, &["c2-beacon", "c2-channel", "c2-client", "c2-domain", "c2-host", "c2-server", "c2-url", "c2_beacon", "c2_channel", "c2_client", "c2_domain", "c2_host", "c2_server", "c2_url"])]),
        (true, 0, 17, 0, &[(0, &["enable_keylo", "enablekeylog", "install_keyl", "installkeylo", "start_keylog", "startkeylogg"]), (8, &["keylogger"])]),
        (true, 0, 16, 0, &[(0, &["/api/exfil\"", "/api/exfil'", "/api/exfil/", "/api/exfil?", "/api/exfil`", "/api/exfiltr", "/exfil\"", "/exfil'", "/exfil/", "/exfil?", "/exfil`", "/exfiltrate\"", "/exfiltrate'", "/exfiltrate/", "/exfiltrate?", "/exfiltrate`"]), (1, &["api/exfil\"", "api/exfil'", "api/exfil/", "api/exfil?", "api/exfil`", "api/exfiltra", "exfil\"", "exfil'", "exfil/", "exfil?", "exfil`", "exfiltrate\"", "exfiltrate'", "exfiltrate/", "exfiltrate?", "exfiltrate`"])]),
        (true, 0, 12, 0, &[(0, &["to_c2_server", "to_c2server", "toc2_server", "toc2server"])]),
        (true, 0, ANY, 0, &[(0, &["self-propaga"])]),
        (true, 0, ANY, 0, &[(0, &["publishmalic"])]),
    ]),
    ("CHECK-08/malware-words", &[
        (true, 0, 77, 0, &[(0, &["add", "create", "deploy", "drop", "inject", "install", "open", "plant"]), (77, &["backdoor", "implant", "infostealer", "keylogger", "ransomware", "rootkit", "shell"])]),
        (true, 0, 83, 0, &[(0, &["beacon", "callback", "connect", "report"])]),
        (false, 14, ANY, 0, &[(0, &["callback", "channel", "domain", "endpoint", "server"])]),
        (false, 0, ANY, 0, &[(0, &["exfiltrat", "harvest", "steal"])]),
    ]),
    ("CHECK-08/uninstall-resistance", &[
        (false, 132, 197, 0, &[(0, &["can"]), (44, &["disabled", "opted", "removed", "stopped", "turned", "uninstalled", "waived"])]),
        (true, 0, 29, 0, &[(0, &["re-install", "recreate", "reinstall", "respawn", "restore"]), (23, &["itself"])]),
        (true, 0, 29, 0, &[(0, &["survive"])]),
        (true, 0, 51, 0, &[(0, &["persistent"])]),
        (true, 0, 53, 0, &[(0, &["user"]), (17, &["cannot"])]),
        (false, 15, 247, 0, &[(0, &["deleted"]), (223, &["remov", "uninstall"])]),
    ]),
    ("CHECK-03/alias", &[
        (false, 0, 243, 0, &[(0, &["map"]), (243, &["full", "traversal", "unrestricted"])]),
        (false, 0, 340, 0, &[(0, &["full", "unrestricted"]), (24, &["bash", "filesystem", "shell", "system"]), (22, &["access"])]),
        (true, 0, 44, 0, &[(0, &["path"]), (16, &["traversal"])]),
    ]),
    ("CHECK-03/settings-abuse", &[
        (false, 126, 152, 0, &[(0, &["bypasspermis", "enableallpro"])]),
        (true, 0, ANY, 58, &[(0, &["\"defaultmode", "'defaultmode"]), (ANY, &["bypasspermis"])]),
        (true, 0, ANY, 58, &[(0, &["\"enableallpr", "'enableallpr"]), (1, &["enableallpro"])]),
        (true, 0, ANY, 91, &[(0, &["\"allow\"", "\"allow'", "'allow\"", "'allow'"])]),
    ]),
    ("CHECK-06/self-spawn", &[
        (true, 0, ANY, 0, &[(0, &["call", "clone", "delegat", "invoke", "launch", "re-invok", "recursively", "reinvok", "replicat", "spawn"]), (ANY, &["itself", "yourself"])]),
        (false, 0, ANY, 0, &[(0, &["call", "invoke", "launch", "load", "run", "spawn", "start"]), (ANY, &["another", "copies", "instance", "same"])]),
        (false, 0, ANY, 0, &[(0, &["each"]), (34, &["child", "copy", "instance", "sub-agent", "subagent", "them"]), (418, &["create", "launch", "spawn"])]),
        (true, 0, 62, 0, &[(0, &["agent"]), (18, &["that"]), (16, &["each", "itself", "themselves", "then"])]),
        (false, 14, 100, 0, &[(0, &["bound", "limit", "maximum"]), (48, &["agents", "depth", "number", "recursion"])]),
        (true, 0, ANY, 0, &[(0, &["must", "should", "then", "will"]), (ANY, &["back"])]),
        (true, 0, 60, 0, &[(0, &["count", "number"]), (50, &["doubles", "grows", "multiplies"])]),
        (true, 0, ANY, 0, &[(0, &["re-invok", "reinvok"]), (ANY, &["yourself"])]),
        (false, 0, ANY, 0, &[(0, &["sub-agent", "subagent"]), (ANY, &["another", "more", "replacements"])]),
    ]),
    ("CHECK-06/endless-loop", &[
        (true, 0, ANY, 0, &[(0, &["continue", "execute", "loop", "repeat", "retry", "run", "spawn"]), (ANY, &["endlessly", "forever", "indefinitely", "without"])]),
        (false, 0, ANY, 0, &[(0, &["continue", "iterate", "keep", "loop", "repeat"]), (ANY, &["agent", "itself", "retry", "spawn", "task", "yourself"]), (ANY, &["endlessly", "forever", "indefinitely", "without"])]),
        (true, 0, 74, 0, &[(0, &["keep", "loop", "repeat"]), (52, &["endlessly", "forever", "indefinitely", "without"])]),
        (true, 0, 57, 0, &[(0, &["never"]), (57, &["loop", "retrying", "running", "spawning", "working"])]),
        (false, 0, 235, 0, &[(0, &["endless", "infinite"]), (20, &["loop", "recursion", "retries"])]),
        (false, 14, 46, 0, &[(0, &["convergence", "exit", "stop", "termination"]), (23, &["condition"])]),
    ]),
    ("CHECK-06/fork-bomb", &[
        (true, 0, ANY, 123, &[(0, &[":\t()\t{", ":\t()\n{", ":\t()\u{b}{", ":\t()\u{c}{", ":\t()\r{", ":\t() {", ":\t(){", ":\n()\t{", ":\n()\n{", ":\n()\u{b}{", ":\n()\u{c}{", ":\n()\r{", ":\n() {", ":\n(){", ":\u{b}()\t{", ":\u{b}()\n{", ":\u{b}()\u{b}{", ":\u{b}()\u{c}{", ":\u{b}()\r{", ":\u{b}() {", ":\u{b}(){", ":\u{c}()\t{", ":\u{c}()\n{", ":\u{c}()\u{b}{", ":\u{c}()\u{c}{", ":\u{c}()\r{", ":\u{c}() {", ":\u{c}(){", ":\r()\t{", ":\r()\n{", ":\r()\u{b}{", ":\r()\u{c}{", ":\r()\r{", ":\r() {", ":\r(){", ": ()\t{", ": ()\n{", ": ()\u{b}{", ": ()\u{c}{", ": ()\r{", ": () {", ": (){", ":()\t{", ":()\n{", ":()\u{b}{", ":()\u{c}{", ":()\r{", ":() {", ":(){"]), (2, &["()\t{", "()\n{", "()\u{b}{", "()\u{c}{", "()\r{", "() {", "(){\t", "(){\n", "(){\u{b}", "(){\u{c}", "(){\r", "(){ ", "(){:"])]),
        (true, 0, ANY, 40, &[(0, &["while"]), (ANY, &["fork("])]),
        (true, 0, ANY, 58, &[(0, &["while"]), (ANY, &[".append(", "data.append", "os.fork()"])]),
    ]),
    ("CHECK-06/agent-loop", &[
        (false, 0, ANY, 0, &[(0, &["while"]), (ANY, &["agent(", "agent.run", "claude", "clawdbot", "codex", "openclaw", "spawn_agent", "task("])]),
    ]),
    ("CHECK-06/borrowed-capability", &[
        (false, 16, 371, 0, &[(0, &["declares"]), (168, &["access"])]),
        (false, 14, 597, 0, &[(0, &["invoking"]), (288, &["gain"])]),
        (false, 316, 328, 0, &[(0, &["unrestricted"])]),
    ]),
];
