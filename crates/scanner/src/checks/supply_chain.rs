//! # CHECK-08: supply chain
//!
//! ## What it looks for
//! Code from elsewhere that runs before anybody saw it: downloads piped to a shell, decoded commands, fake prerequisites, archives
//! with passwords, dependencies from odd places, lifecycle scripts. And what such code does: reverse shells, persistence, miners,
//! switching security off, destroying data. Also conflicts with what is installed already.
//!
//! ## Why it matters
//! Most real attacks through skills are a harmless-looking document with one command to paste.
//!
//! ## Flagged
//! `echo … | base64 -d | bash`, "extract with password: 1234 and run the tool first".
//!
//! ## Not flagged
//! The installers of well-known tools from their own hosts.
//!
//! ## Blind spots
//! A dependency that is malicious under its own name.
//!
//! ## References
//! MITRE ATT&CK T1059, T1195.002, T1204.002, T1496, T1543, T1562.

use crate::checks::{Check, CheckInfo, binaries, code_findings, dependencies};
use crate::finding::Finding;
use crate::rule::CheckId::SupplyChain;
use crate::rule::FindingStatus::{Block, Pass, Warn};
use crate::rule::RuleScope::{Anywhere, Code, Words};
use crate::rule::{PatternRule, RuleFamily, RuleInfo, code_rules, pattern_info};
use crate::scan_context::{MainDocument, ScanContext, ScanSubject, ScannedText};
use crate::text::PassageRole;

const ADVICE: &str = "Do not run it. Ask the author for a way to install that can be read and verified.";

const FAMILY: RuleFamily = RuleFamily { check: SupplyChain, advice: ADVICE, techniques: &[] };

/// The rules about archives: `binaries.rs`.
const PACKED: RuleFamily =
    RuleFamily { check: SupplyChain, advice: "Ask for the files themselves, not packed.", techniques: &[] };

/// The rules about what code does: `code_findings.rs`.
const DOES: RuleFamily = RuleFamily {
    check: SupplyChain,
    advice: "Read the code before it runs, and confine it.",
    techniques: &[],
};

code_rules! {
    TOLD_HELPER = FAMILY
        .code("told-helper", Block, "A sentence wants a helper run that comes from a place anybody can make and leave")
        .role(PassageRole::Instruction)
        .techniques(&["T1204.002", "T1105"]);
    OVERWRITES_SYSTEM = FAMILY
        .code("overwrites-system", Block, "A skill from elsewhere would overwrite a system skill")
        .advice("Install it only under another name.")
        .fact()
        .techniques(&["T1036.005"]);
    OTHER_SOURCE = FAMILY
        .code("other-source", Warn, "A skill of this name is installed already, from another source")
        .advice("Decide which of the two is meant.")
        .fact();
    TYPOSQUAT = FAMILY
        .code("typosquat", Block, "The name of a package is one letter off that of a popular one")
        .advice("Check the name.")
        .techniques(&["T1195.001"]);
    CODE_RUNS_FETCHED = DOES
        .code("code-runs-fetched", Block, "Code runs what it fetched from a host, which can be anything by then")
        .role(PassageRole::Code)
        .techniques(&["T1059", "T1105"]);
    CODE_RUNS_DECODED = DOES
        .code("code-runs-decoded", Block, "Code runs what it decoded, so nobody can read what that is")
        .role(PassageRole::Code)
        .techniques(&["T1027", "T1140"]);
    CODE_REMOTE_SHELL = DOES
        .code("code-remote-shell", Block, "Code hands a shell to whoever is at the other end of a connection")
        .role(PassageRole::Code)
        .techniques(&["T1059", "T1571"]);
    CODE_PERSISTS = DOES
        .code("code-persists", Block, "Code writes where things start by themselves")
        .role(PassageRole::Code)
        .techniques(&["T1053.003", "T1543", "T1546.004", "T1098.004"]);
    CODE_CHANGES_AGENT = DOES
        .code("code-changes-agent", Warn, "Code rewrites the settings of an agent")
        .role(PassageRole::Code)
        .techniques(&["T1546"]);
    CODE_DESTROYS = DOES
        .code("code-destroys", Block, "Code deletes or enciphers what it did not make")
        .role(PassageRole::Code)
        .techniques(&["T1485", "T1486"]);
    ARCHIVE_BOMB = PACKED
        .code("archive-bomb", Warn, "An archive unpacks to more than 200 times its size")
        .advice("Do not unpack it.")
        .techniques(&["T1499"]);
    ARCHIVE_ESCAPE = PACKED
        .code(
            "archive-escape",
            Block,
            "A member of an archive would be written outside the folder it is unpacked to",
        )
        .advice("Do not unpack it.");
    ARCHIVE_LINK = PACKED
        .code("archive-link", Warn, "A member of an archive is a link or a device")
        .advice("Do not unpack it before it is known what it leads to.");
    EMBEDDED_ARCHIVE = PACKED
        .code("embedded-archive", Warn, "An archive comes with the skill that could not be read in full")
        .fact();
    EMBEDDED_PROGRAM = PACKED
        .code(
            "embedded-program",
            Warn,
            "A compiled program comes with the skill, so nobody can read what it does",
        )
        .advice("Ask for the source instead.")
        .fact()
        .techniques(&["T1204.002"]);
    OFFICE_MACROS = PACKED
        .code("office-macros", Warn, "An Office document has macros, which run when it is opened")
        .advice("Ask for the document without them.")
        .techniques(&["T1204.002"]);
    REMOTE_PART = PACKED
        .code(
            "remote-part",
            Warn,
            "An Office document loads a template or an object from elsewhere when it is opened",
        )
        .advice("Ask for the document without it.")
        .techniques(&["T1221"]);
}

/// An archive with a password: spoken of, which is a pattern, or there, which `binaries.rs` sees.
pub(crate) static PASSWORD_ARCHIVE: &RuleInfo = pattern_info(PATTERN_RULES, "password-archive");

/// CHECK-08: code from elsewhere.
pub(crate) struct SupplyChainCheck;

static INFO: CheckInfo = CheckInfo {
    id: SupplyChain,
    source: include_str!("supply_chain.rs"),
    pattern_rules: PATTERN_RULES,
    code_rules: &[CODE_RULES],
};

impl Check for SupplyChainCheck {
    fn info(&self) -> &'static CheckInfo {
        &INFO
    }

    fn run(&self, context: &ScanContext<'_>, subject: &ScanSubject<'_>, findings: &mut Vec<Finding>) {
        match subject {
            ScanSubject::Document(document) => judge_name(context, document, findings),
            ScanSubject::AgentDocument(_) => {}
            ScanSubject::Text(text) => judge_packages(text, findings),
            ScanSubject::Code(read) => code_findings::add_effects(read, findings),
            ScanSubject::Files(judged) => {
                binaries::add_findings(SupplyChain, context.skill, judged, findings);
            }
        }
    }
}

/// A name that is taken already.
fn judge_name(context: &ScanContext<'_>, document: &MainDocument<'_>, findings: &mut Vec<Finding>) {
    let ScanContext { scanner, skill, name, .. } = context;
    let is_external = !skill.source.starts_with("local:");
    if is_external && scanner.system_names.iter().any(|known| known == name) {
        let why = format!("It would overwrite the system skill {name} from an external source");
        findings.push(Finding::in_file(&OVERWRITES_SYSTEM, document.file, 0..0, why));
    }
    let is_other = |(known, source): &&(String, String)| known == name && *source != skill.source;
    if let Some((_, source)) = scanner.installed.iter().find(is_other) {
        let why = format!("already installed from {source}");
        findings.push(Finding::in_file(&OTHER_SOURCE, document.file, 0..0, why));
    }
}

/// Packages that are almost those that everybody knows.
fn judge_packages(subject: &ScannedText<'_>, findings: &mut Vec<Finding>) {
    let ScannedText { file, text, .. } = *subject;
    for (name, popular) in dependencies::find_typosquats(&file.path, text) {
        let at = text.find(&name).unwrap_or(0);
        let why = format!("The package `{name}` is one letter off `{popular}`");
        findings.push(Finding::in_file(&TYPOSQUAT, file, at..at + name.len(), why));
    }
}

static PATTERN_RULES: &[PatternRule] = &[
    FAMILY.rule(
        "decoded-command",
        Block,
        Code,
        &[r"base64\s+(?:-d|-D|--decode)\b[^\n]{0,120}?\|\s*(?:sudo\s+)?(?:(?:/bin/)?(?:ba|z|da|k)?sh\b|python\d?|perl|node|ruby|gunzip)", r"(?:eval|bash\s+-c|sh\s+-c|source)\b[^\n]{0,60}?(?:\$\(|`|<\()[^\n]{0,200}?(?:base64\s+(?:-d|-D|--decode)|xxd\s+-r)", r"(?:exec|eval|compile|__import__|function|new\s+function)\s*\([^\n]{0,80}?(?:b64decode|atob|buffer\.from|unhexlify|codecs\.decode|zlib\.decompress|fromcharcode|marshal\.loads|bytes\.fromhex)\s*\(", r"(?:eval|exec)\(\s*(?:compile\(\s*)?(?:requests\.get|urllib\.request\.urlopen|urlopen\(|httpx\.get|fetch\()", r"powershell(?:\.exe)?\b[^\n]{0,120}?\s-(?:e|en|enc|encodedcommand)\s+[a-z0-9+/=]{16,}", r"(?:iex|invoke-expression)\b[^\n]{0,120}?frombase64string", r"nslookup[^\n]{0,160}?\|\s*(?:iex|invoke-expression)", r"(?:eval|exec)\(\s*(?:compile\(\s*)?open\(\s*[\x22\x27](?:/tmp/|/var/tmp/|/dev/shm/|~?/?\.cache)", r"nslookup[^\n]{0,120}?(?:cmd\s+/c|\|\s*(?:ba)?sh\b)"],
        "A command is decoded or fetched and run unseen",
    )
    .techniques(&["T1027", "T1059"]),
    FAMILY.rule(
        "pipe-to-shell",
        Warn,
        Code,
        &[r"[\x22\x27`]\s*\|\s*(?:(?:ba|z)?sh|cmd|powershell)\s*[\x22\x27`]", r"(?:iex|invoke-expression)\b[^\n]{0,120}?(?:downloadstring|iwr|invoke-webrequest|net\.webclient)", r"(?:downloadstring|iwr|irm|invoke-webrequest|invoke-restmethod)[^\n]{0,160}?\|\s*(?:iex|invoke-expression)", r"(?:curl|wget|fetch)\b[^\n|]{0,240}?(?:://|[a-z0-9]\.[a-z]{2,}|\$)[^\n|]{0,240}?\|\s*(?:sudo\s+(?:-\S+\s+)?)?(?:(?:/usr)?/bin/)?(?:(?:ba|z|da|k)?sh|perl|ruby|node|php)\b", r"(?:curl|wget|fetch)\b[^\n|]{0,240}?(?:://|[a-z0-9]\.[a-z]{2,}|\$)[^\n|]{0,240}?\|\s*(?:sudo\s+(?:-\S+\s+)?)?(?:(?:/usr)?/bin/)?python\d?(?:\s+-)?\s*(?:[\n\x22\x27`)&;]|$)", r"(?:eval|(?:ba|z)?sh\s+-c|source|\.)\s*[\x22']?(?:\$\(|<\(|`)\s*(?:curl|wget)\b"],
        "A download is piped to a shell, so nobody sees what runs",
    )
    .techniques(&["T1059.004", "T1105"]),
    FAMILY.rule(
        "insecure-pipe-to-shell",
        Block,
        Code,
        &[r"(?:curl|wget)\b[^\n|]{0,200}?(?:http://|https?://\d{1,3}\.\d|\s-[a-z]*k[a-z]*\s|--insecure|--no-check-certificate|https?://[^\s|]*(?:pastebin|rentry|glot\.io|gist\.githubusercontent|raw\.gist|paste\.|transfer\.sh|ngrok|\.xyz|\.top|\.tk|\.ru/|\.cc/|//bit\.ly|//tinyurl|//t\.co/|//is\.gd|evil|attacker|malicious|payload|miner|stage|beacon|backdoor|bad\.|loader|implant)[^\s|]*)[^\n|]{0,160}?\|\s*(?:sudo\s+)?(?:(?:/usr)?/bin/)?(?:(?:ba|z|da|k)?sh\b|perl\b|ruby\b|node\b|python\d?(?:\s+-)?\s*(?:[\n\x22\x27`)&;]|$))"],
        "A download over an unverified or throw-away address is run at once",
    )
    .techniques(&["T1059.004", "T1105"]),
    FAMILY.rule(
        "download-and-run",
        Warn,
        Code,
        &[r"(?s)(?:curl|wget|iwr|invoke-webrequest|urlretrieve|download)\b.{0,200}?https?://.{0,200}?(?:/tmp/\.?|/var/tmp/|/dev/shm/|%temp%|\$env:temp|~/\.cache/|/private/tmp/)[^\s]{1,60}.{0,120}?(?:chmod\s+(?:\+x|[0-7]*7[0-7]*|a\+x|u\+x)|start-process).{0,120}?(?:/tmp/|/var/tmp/|/dev/shm/|%temp%|&&|;|\n)"],
        "A program is downloaded to a temporary place and run",
    )
    .techniques(&["T1105", "T1204.002"]),
    FAMILY.rule(
        "password-archive",
        Block,
        Words,
        &[r"(?s)(?:\.zip|\.rar|\.7z|\.exe|\.dmg|\.msi|archive|unzip|unpack|download).{0,160}?(?:\b(?:password|passcode)\b\s*(?:is|for\_extraction|to\_extract)?\s*[:=(`\x22'-]{1,3}|\bpass\b\s*[:=]\s?)\s*[`\x22']?[a-z0-9!@#$%^&*._-]{3,24}[`\x22')]?.{0,200}?(?:run|execut|install|launch|open|start|before|exe\b|extract|then|double-click)", r"(?s)(?:extract|unzip|unpack)\w*\b[^.\n]{0,60}?(?:\b(?:using|with)\_(?:the\_)?(?:pass|password|passcode)\b|\b(?:password|passcode)\b\s*[:=])\s*[:=`\x22']{1,3}\s*\S{3,24}"],
        "An archive with a password hides its content from every scanner",
    )
    .techniques(&["T1027.013", "T1204.002"]),
    FAMILY.rule(
        "fake-prerequisite",
        Block,
        Words,
        &[r"(?s)(?:visit|open|go\_to|navigate\_to|see)\b[^.\n]{0,120}?(?:https?://|\[)[^\n]{0,160}?(?:copy|paste)\w*[^.\n]{0,80}?(?:terminal|powershell|command\_prompt|shell|cmd|run\_dialog)", r"(?s)(?:copy|copying)\b[^.\n]{0,80}?(?:command|script|code|snippet|line)\b[^.\n]{0,60}?(?:paste|pasting|run)\w*[^.\n]{0,60}?(?:terminal|powershell|command\_prompt|shell|run\_dialog|win\s?\+\s?r)", r"(?s)(?:important|critical|required?|prerequisite|must|warning|before\_(?:using|starting|running))\b.{0,240}?(?:download|get|install|grab)\w*\b.{0,120}?(?:releases/download/|\.zip\b|\.exe\b|\.dmg\b|\.pkg\b|\.msi\b|\.rar\b).{0,240}?(?:run\_(?:the\_)?(?:executable|it|file|installer|tool|\.exe|agent|app)|launch|execut|will\_not\_(?:work|function)|before\_(?:using|starting|running|setting)|not\_function|double-click|extract)"],
        "It sends the user to fetch and run something first, as the ClickFix campaigns do",
    )
    .techniques(&["T1204.004", "T1204.002"]),
    FAMILY.rule(
        "reverse-shell",
        Block,
        Code,
        &[r">&\s*/dev/(?:tcp|udp)/", r"/dev/(?:tcp|udp)/[^\s]{3,80}\s+0>&1", r"\b(?:nc\s|ncat\b|netcat\b)[^\n]{0,80}?(?:-[a-z]*[ec]\b\s*\S*(?:sh|cmd|powershell)|\|\s*(?:/bin/)?(?:ba|z)?sh\b)", r"\b(?:ba|z)?sh\s+-i\b[^\n]{0,40}?(?:>&|<&|0>&1|\|)", r"mkfifo[^\n]{0,120}?\b(?:nc|ncat|openssl|telnet)\b", r"socat[^\n]{0,120}?exec:", r"(?s:socket\b.{0,300}?dup2\(.{0,200}?(?:/bin/(?:ba|z|da)?sh|subprocess|pty|exec))", r"pty\.spawn\(\s*[\x22']/bin/", r"fsockopen\([^\n]{0,120}?(?:exec|proc_open|/bin/sh)", r"system\.net\.sockets\.tcpclient"],
        "It opens a shell to somebody else",
    )
    .techniques(&["T1059.004", "T1571"]),
    FAMILY.rule(
        "raw-socket",
        Warn,
        Code,
        &[r"/dev/(?:tcp|udp)/[^\s\x22\x27`/]{3,80}/\d"],
        "A shell opens a connection by itself",
    )
    .techniques(&["T1095"]),
    FAMILY.rule(
        "miner",
        Block,
        Anywhere,
        &[r"\bxmrig\b", r"stratum\+(?:tcp|ssl)://", r"\bminerd\b", r"cryptonight", r"coinhive", r"xmr-stak", r"cpuminer", r"randomx[^\n]{0,80}?(?:pool|wallet)", r"monero[^\n]{0,80}?(?:pool|miner|mining|wallet\s*[:=])"],
        "It mines a currency on the user's machine",
    )
    .techniques(&["T1496"]),
    FAMILY.rule(
        "persistence",
        Block,
        Code,
        &[r"(?:echo|printf)\s[^\n]{0,240}?>>?\s*[^\n]{0,40}?authorized_keys", r"(?:crontab\s|/etc/cron|@reboot|echo)[^\n]{0,200}?(?:crontab|/etc/cron|@reboot|\*\s\*\s\*)[^\n]{0,200}?(?:curl|wget|/tmp/|/dev/shm|base64|python\d?\s+-c|bash\s+-c|\.hidden|nc\s)", r"(?:>>|tee\s+-a)\s*[\x22']?(?:~|\$home|\$\{home\})/\.(?:bashrc|zshrc|profile|bash_profile|zprofile)[^\n]{0,40}?\n?[^\n]{0,120}?(?:curl|wget|eval|base64|nc\s)", r"(?:echo|printf)\s[^\n]{0,160}?(?:curl|wget|eval|base64|alias\s+(?:sudo|ssh|git|ls|curl)=|ld_preload|prompt_command)[^\n]{0,160}?>>\s*[\x22']?(?:~|\$home)/\.(?:bashrc|zshrc|profile)", r"currentversion\\+run\b[^\n]{0,160}?(?:powershell|cmd|\.exe|\.vbs|\.ps1)", r"schtasks[^\n]{0,160}?/create[^\n]{0,160}?(?:powershell|\\temp|\.vbs|hidden)", r"ld_preload=[^\n]{0,40}?/tmp", r"cp\s[^\n]{0,100}?~/\.cache/\.[a-z_]+/"],
        "It makes itself at home: it runs again after the skill has ended",
    )
    .techniques(&["T1053.003", "T1543", "T1546.004", "T1098.004"]),
    FAMILY.rule(
        "start-up-change",
        Warn,
        Code,
        &[r"(?:echo|cat|tee|printf|>>)[^\n]{0,240}?authorized_keys", r"(?:curl|wget|base64|/tmp/\.|python\d?\s+-c|nohup|\bnc\b)[^\n]{0,200}?(?:crontab|>>\s*(?:~|\$home)/\.(?:bashrc|zshrc|profile|bash_profile)|launchagents|/etc/(?:cron|systemd)|rc\.local|autostart)"],
        "It changes what starts by itself, or who may log in",
    )
    .techniques(&["T1543", "T1546.004", "T1098.004"]),
    FAMILY.rule(
        "security-off",
        Block,
        Code,
        &[r"setenforce\s+0", r"ufw\s+disable", r"iptables\s+-f\b", r"set-mppreference[^\n]{0,80}?disable", r"add-mppreference[^\n]{0,80}?exclusion", r"csrutil\s+disable", r"spctl\s+--(?:master|global)-disable", r"unset\s+histfile", r"histfile=/dev/null", r"history\s+-c\s*(?:&&|;|\n)\s*(?:rm|history\s+-w|unset|exit)", r"auditctl\s+-e\s*0", r"(?:systemctl|service)\s+(?:stop|disable)[^\n]{0,40}?(?:auditd|firewalld|ufw|falcon|crowdstrike|defender|clamav|apparmor|osquery)", r"nopasswd\s*:\s*all", r"xattr\s+-(?:d|c|rd|dr|cr|rc)[^\n]{0,60}?/tmp/", r"rm\s+-[rf]+\s[^\n]{0,80}?/var/log"],
        "It switches protections off or wipes traces",
    )
    .techniques(&["T1562.001", "T1070"]),
    FAMILY.rule(
        "security-off-advice",
        Warn,
        Words,
        &[r"(?:disable|turn\_off|deactivate|uninstall|stop)\_(?:your\_|the\_|any\_|all\_)?(?:antivirus|anti-virus|firewall|windows\_defender|defender|gatekeeper|security\_software|edr|real-time\_protection)"],
        "It asks for the protections of the machine to be switched off",
    )
    .techniques(&["T1562.001"]),
    FAMILY.rule(
        "destructive",
        Block,
        Code,
        &[r"\brm\s+(?:-[a-z]+\s+|--\S+\s+)*(?:/(?:\s|\*|$)|~(?:/?\s|/?\*|/?$)|[\x22']?\$\{?home\}?(?:/?\s|/?\*|/?$|/?\x22)|/(?:etc|usr|bin|boot|home|root|lib)(?:/?\s|/?\*|/?$))", r"(?:system|exec\w*|run|call|popen|spawn)\(\s*[\[f]?[\x22']rm\s+-[rf]+\s+(?:/|~)[\x22'*]", r"mkfs\.\w+\s+/dev/", r"dd\s+if=/dev/(?:zero|urandom|random)\s+of=/dev/[sn]", r"del\s+/[sfq][^\n]{0,20}?c:\\", r"format\s+c:", r"shutil\.rmtree\(\s*(?:[\x22'](?:/|~)[\x22']|os\.path\.expanduser\(\s*[\x22']~[\x22']|path\.home\(\))", r"chmod\s+-r\s+777\s+/(?:\s|$)", r">\s*/dev/sd[a-z]", r":\(\)\s*\{\s*:\s*\|\s*:", r"remove-item[^\n]{0,60}?c:\\(?:\*|\s|[\x22\x27])[^\n]{0,30}?-recurse"],
        "It destroys the user's files or system",
    )
    .techniques(&["T1485", "T1499"]),
    FAMILY.rule(
        "loose-permissions",
        Warn,
        Code,
        &[r"chmod\s+(?:-r\s+)?(?:0?777|a\+rwx)\s+/\S+", r"chmod\s+(?:u\+s|\+s|[246]755)\s", r"sudo\s+chown\s+(?:-r\s+)?root(?::root)?\s", r"(?:echo|tee|visudo|>>)[^\n]{0,120}?/etc/sudoers", r"os\.setuid\(0\)"],
        "It opens files to everybody or takes root's rights",
    )
    .techniques(&["T1222", "T1548"]),
    FAMILY.rule(
        "root-for-all",
        Block,
        Code,
        &[r"(?s)chmod\s+(?:-r\s+)?0?777\s+/\S+.{0,80}?sudo\s+chown\s+(?:-r\s+)?root"],
        "It opens a system folder to everybody and gives it to root",
    )
    .techniques(&["T1222", "T1548"]),
    FAMILY.rule(
        "container-escape",
        Warn,
        Code,
        &[r"(?s)docker\s+run\b.{0,200}?--privileged.{0,200}?(?:-v|--volume)[= ]\s?/(?:home|root|etc|\s|:)", r"-v\s*/?\S*docker\.sock", r"/var/run/docker\.sock\s*:", r"docker\s+run[^\n]{0,160}?(?:--privileged|-v\s*/:/|--pid[= ]host)", r"nsenter\s[^\n]{0,60}?-t\s*1\b"],
        "It asks for the host through the container",
    )
    .techniques(&["T1611"]),
    FAMILY.rule(
        "host-mounted",
        Block,
        Code,
        &[r"(?s)(?:--privileged|--cap-add[= ]all|docker\.sock).{0,240}?(?:/etc/shadow|/root/\.ssh|source=/proc|~/\.(?:ssh|aws)|aws_secret_access_key)"],
        "A container gets the host's secrets and the rights to use them",
    )
    .techniques(&["T1611", "T1552"]),
    FAMILY.rule(
        "install-link",
        Block,
        Anywhere,
        &[r"(?:cursor|vscode|vscode-insiders|windsurf)://[^\s]{0,120}?(?:install|mcp)[^\n]{0,200}?(?:command|config)[^\n]{0,120}?(?:bash|sh\b|curl|node|powershell|cmd|python)"],
        "A link installs a server that runs a command",
    )
    .techniques(&["T1204.001"]),
    FAMILY.rule(
        "network-drive",
        Block,
        Code,
        &[r"net\s+use\s[^\n]{0,120}?(?:davwwwroot|webdav|@(?:443|ssl|80))[^\n]{0,120}?(?:\.(?:bat|cmd|exe|ps1|vbs)|start\b)", r"mshta(?:\.exe)?\s+https?://", r"regsvr32[^\n]{0,60}?/i:https?://", r"certutil[^\n]{0,40}?-urlcache[^\n]{0,120}?https?://"],
        "A program on somebody's share is run",
    )
    .techniques(&["T1218", "T1021.002"]),
    FAMILY.rule(
        "traffic-redirect",
        Block,
        Code,
        &[r"iptables\s[^\n]{0,80}?-j\s*(?:redirect|dnat)", r"nft\s+add\s[^\n]{0,120}?(?:redirect|dnat)", r"netsh\s[^\n]{0,60}?portproxy\s+add", r"networksetup\s+-setwebproxy\s"],
        "It redirects the machine's traffic",
    )
    .techniques(&["T1557", "T1565"]),
    FAMILY.rule(
        "shell-disguise",
        Block,
        Code,
        &[r"\$\{[a-z_]+@p\}", r"/etc/(?:pass|shad)[a-z]*\[[a-z]\][a-z]*", r"id_r\[s\]a", r"id_rs\[a\]"],
        "A command is spelt so that filters do not know it",
    )
    .techniques(&["T1027.010"]),
    FAMILY.rule(
        "remote-module",
        Block,
        Code,
        &[r"deno\s+run\s[^\n]{0,120}?(?:data:[a-z/]+;base64|--allow-all[^\n]{0,60}?https?://|https?://[^\s]{0,80}(?:loader|payload|stage))", r"eval\(\s*await\s", r"new\s+function\(\s*await\s", r"deno\s+eval\s[^\n]{0,160}?fetch\("],
        "Code from the network is run at once",
    )
    .techniques(&["T1059.007", "T1105"]),
    FAMILY.rule(
        "sudo-then-disable",
        Block,
        Words,
        &[r"\bsudo\b<6>(?:disabl\w+|turn\w*\_off|deactivat\w+)<3>(?:security|antivirus|firewall|protection|defender|selinux|apparmor)"],
        "It asks for root and for the protections to be off",
    )
    .techniques(&["T1562.001", "T1548"]),
    FAMILY.rule(
        "password-check",
        Block,
        Code,
        &[r"dscl[^\n]{0,80}?-authonly", r"validatecredentials\(", r"osascript\b[^\n]{0,160}?(?:hidden\s+answer|with\s+hidden|password)[^\n]{0,120}?"],
        "It asks for the user's login password and tries it",
    )
    .techniques(&["T1056.002"]),
    FAMILY.rule(
        "ci-injection",
        Block,
        Anywhere,
        &[r"(?s)pull_request_target.{0,700}?(?:github\.event\.pull_request\.(?:title|body|head)|github\.head_ref)"],
        "A privileged workflow takes what a stranger's pull request says",
    )
    .techniques(&["T1195.002"]),
    FAMILY.rule(
        "admin-for-all",
        Block,
        Anywhere,
        &[r"(?s)principal.{0,60}?[\x22']\*[\x22'].{0,500}?administratoraccess"],
        "It makes everybody an administrator of the account",
    )
    .techniques(&["T1098"]),
    FAMILY.rule(
        "agent-identity",
        Block,
        Code,
        &[r"(?:cat|open|read\w*|cp|jq|join|expanduser|path)\b[^\n]{0,80}?\.(?:openclaw|clawdbot|moltbot|codex|claude)/[^\n]{0,60}?(?:device\.json|identity/|\.credentials|auth\.json|privatekey|gateway\.auth\.token)"],
        "It reads the agent's own keys and identity",
    )
    .techniques(&["T1552.001"]),
    FAMILY.rule(
        "odd-dependency",
        Warn,
        Anywhere,
        &[r"[\x22\x27]git\+(?:https?|ssh)://", r"(?m)(?:--(?:extra-)?index-url[= ]\s*https?://\S+|--trusted-host|^\s*registry\s*=\s*https?://\S+|(?:npm|yarn|pnpm)\s+(?:i|install|add)\s[^\n]{0,60}?(?:https?://|git\+)|pip\d?\s+install\s[^\n]{0,60}?(?:https?://|git\+)|--registry[= ]\s*https?://\S+|[\x22'](?:pre|post)install[\x22']\s*:\s*[\x22'][^\x22']{0,120}?(?:curl|wget|node|python|sh\b|bash|base64|http))"],
        "A dependency comes from an odd place or runs when it is installed",
    )
    .techniques(&["T1195.001"]),
    FAMILY.rule(
        "registry-redirect",
        Block,
        Anywhere,
        &[r"(?m)(?:^\s*registry\s*=\s*https?://|--(?:extra-)?index-url[= ]\s*https?://|--registry[= ]\s*https?://|\x22resolved\x22\s*:\s*\x22https?://)(?:\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}|[a-z0-9.-]*(?:evil|attacker|malicious|rogue)[a-z0-9.-]*)"],
        "Packages come from a bare address or a host that says what it is",
    )
    .techniques(&["T1195.001"]),
    FAMILY.rule(
        "lifecycle-script",
        Block,
        Anywhere,
        &[r"[\x22'](?:pre|post)?(?:install|prepare)[\x22']\s*:\s*[\x22'][^\x22'\n]{0,160}?(?:curl|wget|base64|\bnc\b|/dev/tcp|powershell|http://|https://|eval|node\s+-e|python\d?\s+-c)"],
        "A package runs downloaded or hidden code when it is installed",
    )
    .techniques(&["T1195.002", "T1059"]),
    FAMILY.rule(
        "embedded-secret",
        Warn,
        Anywhere,
        &[r"\bakia[0-9a-z]{16}\b", r"\bghp_[0-9a-z]{36}\b", r"-----begin\s(?:rsa\s|ec\s|openssh\s)?private\skey-----\s*\n?[a-z0-9+/=\s]{60,}", r"\bsk_live_[0-9a-z]{20,}", r"\bxoxb-[0-9a-z-]{30,}"],
        "A secret lies in the skill",
    )
    .techniques(&["T1552.001"]),
    FAMILY.rule(
        "eicar",
        Block,
        Anywhere,
        &[r"eicar-standard-antivirus-test-file"],
        "It holds the antivirus test file",
    )
    .techniques(&["T1204.002"]),
    FAMILY.rule(
        "code-injection",
        Warn,
        Code,
        &[r"__class__\.__(?:init__\.__globals__|mro__|bases__|base__)", r"__globals__\[[^\]\n]{1,20}\]\.(?:popen|system)", r"__import__\(\s*[\x22'](?:os|subprocess)[\x22']\s*\)\.(?:system|popen|check_output|run|call)", r"(?:passed|evaluat)\w*<3>eval\(?\)?<2>without\_sanit", r"\b(?:eval|exec)\(\s*(?:user|input|request|expression|query|code|params?|args?|data|body|cmd|command|sys\.argv|req\.)", r"os\.system\(\s*(?:f[\x22']|user|input|cmd|command|request|[\x22'][^\x22']*[\x22']\s*(?:\+|%))", r"subprocess\.\w+\(\s*(?:f[\x22']|user|input|cmd\b|command\b)[^\n)]{0,120}?shell\s*=\s*true", r"require\(\\?[\x22']child_process\\?[\x22']\)\.exec(?:sync)?\("],
        "Whatever the caller passes is run as code",
    )
    .techniques(&["T1059"]),
    FAMILY.rule(
        "workflow-injection",
        Warn,
        Code,
        &[
            r"\$\{\{\s*github\.(?:event\.(?:pull_request|issue|comment|review|head_commit|discussion)[a-z_.]{0,40}?\.(?:title|body|ref|message|label|name|email)|head_ref)\b",
            r"pull_request_target\s*:",
        ],
        "A workflow puts what strangers write into a privileged command",
    )
    .techniques(&["T1195.002"]),
    FAMILY.rule(
        "agent-config-write",
        Warn,
        Code,
        &[r"(?:>|tee\s|\bcp\s|\bmv\s)[^\n]{0,60}?\.(?:claude|cursor|codeium|gemini|openclaw|clawdbot|windsurf)/[a-z0-9_./-]{0,40}?(?:settings|mcp|hooks|override|config)[a-z0-9_.-]{0,20}?\.json"],
        "A command rewrites the configuration of an agent",
    )
    .techniques(&["T1546"]),
    FAMILY.rule(
        "hook-command",
        Block,
        Anywhere,
        &[r"(?s)[\x22'](?:pre|post)tooluse[\x22'].{0,200}?[\x22']command[\x22']\s*:\s*[\x22'][^\n]{0,120}?(?:os\.system|subprocess|curl\s|wget\s|base64|/dev/tcp|python3?\s+-c|node\s+-e|bash\s+-l?c)"],
        "A hook runs a command of the skill's at every use of a tool",
    )
    .techniques(&["T1546"]),
    FAMILY.rule(
        "kernel-driver",
        Block,
        Anywhere,
        &[r"sc(?:\.exe)?\s+create\s[^\n]{0,120}?type=\s*kernel", r"\b(?:aukill|truesightkiller|terminator\s+edr|edrsilencer|backstab\.exe)\b"],
        "A driver is loaded that ends what protects the machine",
    )
    .techniques(&["T1562.001", "T1068"]),
    FAMILY.rule(
        "double-extension",
        Block,
        Anywhere,
        &[r"[a-z0-9_-]\.(?:mp4|jpe?g|png|gif|pdf|docx?|xlsx?|pptx?|txt|mp3)\.(?:lnk|exe|scr|bat|cmd|vbs|hta|com|pif|ps1)\b"],
        "A program is named like a document",
    )
    .techniques(&["T1036.007"]),
    FAMILY.rule(
        "preload",
        Warn,
        Code,
        &[r"node_options\s*=\s*[\x22']?--require", r"ld_preload\s*=\s*[\x22']?/(?:tmp|dev/shm|var/tmp)", r"pythonstartup\s*=\s*[\x22']?/(?:tmp|dev/shm|var/tmp)"],
        "Code is loaded into every program that starts",
    )
    .techniques(&["T1574.006"]),
    FAMILY.rule(
        "worm",
        Warn,
        Anywhere,
        &[r"\bc2[_-](?:beacon|server|url|host|channel|domain|client)\b", r"(?:start|enable|install)_?keylogger\b", r"/(?:api/)?exfil(?:trate)?\b[\x22\x27`?/]", r"to_?c2_?server", r"self-propagat\w+", r"publishmalicious\w*"],
        "It says itself what it is",
    )
    .techniques(&["T1587.001"]),
    FAMILY.rule(
        "malware-words",
        Pass,
        Anywhere,
        &[r"(?:install|deploy|create|drop|plant|add|open|inject)s?\_(?:an?\_|the\_)?(?:persistent\_)?(?:backdoor|rootkit|keylogger|ransomware|infostealer|implant|web\_?shell)", r"(?:callbacks?|beacons?|connects?|reports?)\_(?:are\_sent\_|back\_)?to\_(?:the\_|our\_|its\_|an?\_)?c2\b", r"c2\_(?:server|channel|domain|endpoint|callback)s?\s*[:=]", r"(?:steal(?:s|ing)?|harvest(?:s|ing)?|exfiltrat\w*)<3>(?:npm\_)?(?:tokens?|credentials?|cookies|wallets?|secrets?|keys?|passwords?)\b"],
        "It speaks of stealing, implants or command servers",
    )
    .techniques(&["T1587.001"]),
    FAMILY.rule(
        "uninstall-resistance",
        Pass,
        Words,
        &[r"(?s)(?:service|daemon|process|skill|agent|monitor|telemetry|collection|reporting|transmission|hook)\b.{0,120}?(?:cannot|can.?t|can\_not)\_be\_(?:removed|disabled|uninstalled|turned\_off|stopped|opted\_out|waived)", r"(?s)(?:reinstall|re-install|restore|respawn|recreate)s?\_itself", r"(?s)survives?\_(?:uninstall|removal|reboot|session)", r"(?s)persistent\_background\_(?:service|process|agent|daemon)", r"(?s)users?\_cannot\_opt\_out", r"(?s)not\_deleted\_when<4>(?:uninstall|remov)"],
        "It resists being removed or switched off",
    )
    .techniques(&["T1543"]),
];
