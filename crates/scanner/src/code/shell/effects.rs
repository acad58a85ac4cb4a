//! What commands and writes change on the machine: what starts later, what an agent obeys, what is destroyed or switched off.

use std::ops::Range;

use super::super::capability::Capability;
use super::super::objects::{is_agent_file, is_persistence_place, is_whole_tree};
use super::commands::Call;
use super::machine::Machine;
use super::value::Value;

/// Programs that compute for somebody else's purse.
const MINERS: &[&str] = &[
    "xmrig",
    "minerd",
    "cpuminer",
    "ccminer",
    "nbminer",
    "t-rex",
    "lolMiner",
    "cgminer",
    "bfgminer",
    "xmr-stak",
    "nanominer",
    "phoenixminer",
    "ethminer",
    "srbminer",
];

/// Services that watch over a machine.
const GUARDS: &[&str] = &[
    "auditd",
    "firewalld",
    "ufw",
    "apparmor",
    "clamav",
    "clamd",
    "fail2ban",
    "rsyslog",
    "falcon",
    "selinux",
    "iptables",
    "nftables",
    "crowdstrike",
    "osquery",
    "ossec",
    "wazuh",
    "sentinel",
    "defender",
    "mdatp",
    "syslog",
    "sysmon",
    "windefend",
];

/// Options that take a guard away from an agent.
const UNGUARDED: &[&str] = &[
    "--dangerously-skip-permissions",
    "--dangerously-bypass-approvals-and-sandbox",
    "--yolo",
    "--allow-dangerously-skip-permissions",
    "--full-auto-unsafe",
];

impl Machine {
    /// Judges what it means to write a file.
    pub(super) fn judge_write(&mut self, path: &str, value: &Value, is_added: bool, range: &Range<usize>) {
        if path.len() > 512 {
            return;
        }
        let payload = value.text.trim();
        if path.starts_with("/etc/sudoers") {
            self.note(Capability::RaisesRights, &format!("{path}: {payload}"), range);
        } else if matches!(path, "/etc/passwd" | "/etc/shadow") {
            self.note(Capability::RaisesRights, path, range);
        } else if is_disk(path) {
            self.note(Capability::Destroys, path, range);
        } else if (path.starts_with("/var/log/") || path.ends_with("_history"))
            && payload.is_empty()
            && !is_added
        {
            self.note(Capability::DisablesProtection, path, range);
        }
        if is_agent_file(path) {
            self.note(Capability::ChangesAgent, &format!("{path}: {payload}"), range);
        }
        if is_persistence_place(path) && !self.is_plain_start(path, value, range) {
            self.note(Capability::Persists, &format!("{path}: {payload}"), range);
        }
    }

    /// Whether what is added to a shell's start-up file only sets the shell up: paths, variables, completions.
    fn is_plain_start(&mut self, path: &str, value: &Value, range: &Range<usize>) -> bool {
        let name = path.rsplit('/').next().unwrap_or_default();
        let is_shell_file = name.starts_with('.')
            && (name.ends_with("rc")
                || name.contains("profile")
                || name.ends_with("env")
                || name.contains("aliases"))
            || name == "config.fish"
            || path.contains("/etc/profile.d/");
        if !is_shell_file
            || value.marks.fetched.is_some()
            || value.marks.is_decoded
            || value.marks.remote.is_some()
        {
            return false;
        }
        if value.text == super::value::UNKNOWN && value.marks == super::value::Marks::default() {
            // What an installed tool prints for the purpose, such as completions.
            return true;
        }
        let before = self.facts.uses.len();
        let text = value.text.clone();
        self.run_inner(&text, &Value::default(), range);
        let does_more = self.facts.uses.iter().skip(before).any(|fact| {
            !fact.capability.reads_secret() && fact.capability != Capability::FetchesFromNetwork
                || fact.capability == Capability::ReadsCredentials
        });
        let fetches =
            self.facts.uses.iter().skip(before).any(|fact| fact.capability == Capability::FetchesFromNetwork);
        !does_more && !fetches && text.lines().all(is_plain_line)
    }

    /// Judges a command by what it changes.
    pub(super) fn judge_command(&mut self, call: &Call<'_>) {
        let line = call.line();
        if MINERS.contains(&call.name) || line.contains("stratum+tcp://") || line.contains("stratum+ssl://") {
            self.note(Capability::UsesResources, &line, call.range);
        }
        if call.args.iter().any(|arg| UNGUARDED.contains(&arg.text.as_str())) {
            self.note(Capability::DisablesProtection, &line, call.range);
        }
        self.judge_deletion(call, &line);
        self.judge_start(call, &line);
        self.judge_guard(call, &line);
        self.judge_rights(call, &line);
    }

    /// Deleting and overwriting.
    fn judge_deletion(&mut self, call: &Call<'_>, line: &str) {
        let operands = || call.args.iter().map(|arg| arg.text.as_str()).filter(|arg| !arg.starts_with('-'));
        let has_letter = |letters: &[char]| {
            call.args.iter().any(|arg| {
                arg.text.starts_with('-') && !arg.text.starts_with("--") && arg.text.contains(letters)
            })
        };
        let destroys = match call.name {
            "rm" => {
                let is_recursive = has_letter(&['r', 'R']) || call.has("--recursive");
                if operands().any(|path| path.ends_with("_history") || path.starts_with("/var/log")) {
                    self.note(Capability::DisablesProtection, line, call.range);
                }
                (is_recursive && operands().any(is_whole_tree)) || call.has("--no-preserve-root")
            }
            "shred" | "srm" => {
                if operands().any(|path| path.ends_with("_history") || path.starts_with("/var/log")) {
                    self.note(Capability::DisablesProtection, line, call.range);
                }
                operands().any(|path| is_whole_tree(path) || is_disk(path) || path.starts_with("~/*"))
            }
            "wipefs" | "blkdiscard" | "badblocks" => operands().any(is_disk),
            "dd" => call.args.iter().any(|arg| arg.text.strip_prefix("of=").is_some_and(is_disk)),
            "diskutil" => line.to_ascii_lowercase().contains("erase"),
            "find" => {
                let start = call.args.first().is_some_and(|arg| is_whole_tree(&arg.text));
                let all = !call.args.iter().any(|arg| {
                    matches!(arg.text.as_str(), "-name" | "-iname" | "-path" | "-empty" | "-maxdepth")
                });
                let kills = call.has("-delete")
                    || call.args.iter().skip_while(|arg| !arg.text.starts_with("-exec")).nth(1).is_some_and(
                        |arg| {
                            matches!(
                                arg.text.as_str(),
                                "rm" | "shred" | "openssl" | "gpg" | "srm" | "truncate"
                            )
                        },
                    );
                start && all && kills
            }
            "chmod" | "chown" => {
                (has_letter(&['R']) || call.has("--recursive"))
                    && operands().any(|path| matches!(path, "/" | "/*" | "~" | "/etc" | "/usr"))
            }
            "mv" => operands().next_back() == Some("/dev/null") && operands().any(is_whole_tree),
            "vssadmin" | "wbadmin" => line.contains("delete"),
            name => name.starts_with("mkfs") && operands().any(|path| path.starts_with("/dev/")),
        };
        if destroys {
            self.note(Capability::Destroys, line, call.range);
        }
    }

    /// What starts again later.
    fn judge_start(&mut self, call: &Call<'_>, line: &str) {
        match call.name {
            "crontab" => {
                let removes = call.has("-l") || call.has("-r") || call.has("-e") && call.args.len() == 1;
                if !removes {
                    let file =
                        call.args.iter().find(|arg| !arg.text.starts_with('-')).map(|arg| arg.text.clone());
                    let content = match file {
                        Some(path) if path != "-" => self.read_file(&path, call.range),
                        _ => call.stdin.clone(),
                    };
                    self.note(Capability::Persists, &format!("crontab: {}", content.text.trim()), call.range);
                }
            }
            "at" | "batch" if !call.has("-l") && !call.stdin.text.is_empty() => {
                self.note(Capability::Persists, &format!("at: {}", call.stdin.text.trim()), call.range);
            }
            "launchctl" if matches!(call.text(0), "load" | "bootstrap" | "submit" | "enable") => {
                self.note(Capability::Persists, line, call.range);
            }
            "systemctl" => {
                let enables = call.args.iter().any(|arg| matches!(arg.text.as_str(), "enable" | "link"));
                let unit = call.args.last().map(|arg| arg.text.clone()).unwrap_or_default();
                let is_written = ["/etc/systemd/system/", "~/.config/systemd/user/"].iter().any(|folder| {
                    self.knows_file(&format!("{folder}{unit}"))
                        || self.knows_file(&format!("{folder}{unit}.service"))
                });
                if enables && (unit.contains('/') || is_written) {
                    self.note(Capability::Persists, line, call.range);
                }
            }
            "systemd-run" if call.args.iter().any(|arg| arg.text.starts_with("--on-")) => {
                self.note(Capability::Persists, line, call.range);
            }
            "schtasks" if line.to_ascii_lowercase().contains("/create") => {
                self.note(Capability::Persists, line, call.range);
            }
            "update-rc.d" | "chkconfig" => self.note(Capability::Persists, line, call.range),
            "defaults" if call.text(0) == "write" && line.contains("LoginHook") => {
                self.note(Capability::Persists, line, call.range);
            }
            _ => {}
        }
    }

    /// What protects, or keeps a trace.
    fn judge_guard(&mut self, call: &Call<'_>, line: &str) {
        let is_off = match call.name {
            "setenforce" => call.text(0) == "0" || call.text(0).eq_ignore_ascii_case("permissive"),
            "iptables" | "ip6tables" => call.has("-F") || call.has("--flush"),
            "nft" => line.contains("flush ruleset"),
            "systemctl" | "service" | "rc-service" => {
                let stops = ["stop", "disable", "mask"].iter().any(|word| call.has(word));
                stops
                    && call
                        .args
                        .iter()
                        .any(|arg| GUARDS.iter().any(|guard| arg.text.to_ascii_lowercase().contains(guard)))
            }
            "pkill" | "killall" => call
                .args
                .iter()
                .any(|arg| GUARDS.iter().any(|guard| arg.text.to_ascii_lowercase().contains(guard))),
            "ufw" | "csrutil" => call.has("disable"),
            "spctl" => call
                .args
                .iter()
                .any(|arg| arg.text.ends_with("master-disable") || arg.text.ends_with("global-disable")),
            "xattr" => {
                call.args.iter().any(|arg| arg.text.contains("com.apple.quarantine"))
                    && call.args.iter().any(|arg| arg.text.starts_with('-') && arg.text.contains('d'))
                    || call.args.iter().any(|arg| matches!(arg.text.as_str(), "-cr" | "-rc" | "-c"))
            }
            "auditctl" => line.contains("-e 0") || call.has("-D"),
            "tmutil" => call.text(0).starts_with("delete") || call.text(0) == "disable",
            "chattr" => call.has("+i") && call.args.iter().any(|arg| is_persistence_place(&arg.text)),
            "wevtutil" => call.has("cl"),
            _ => false,
        };
        if is_off {
            self.note(Capability::DisablesProtection, line, call.range);
        }
    }

    /// More rights than before.
    fn judge_rights(&mut self, call: &Call<'_>, line: &str) {
        let raises = match call.name {
            "chmod" => {
                let mode = call
                    .args
                    .iter()
                    .map(|arg| arg.text.as_str())
                    .find(|arg| !arg.starts_with('-') || arg.len() > 2)
                    .unwrap_or_default();
                let sets = mode.contains("+s") || mode.contains("u+s") || mode.contains("g+s");
                let is_number = mode.len() == 4 && mode.bytes().all(|byte| byte.is_ascii_digit());
                let on_system = call
                    .args
                    .iter()
                    .any(|arg| matches!(arg.text.as_str(), "/etc/passwd" | "/etc/shadow" | "/etc/sudoers"));
                sets || (is_number
                    && mode.starts_with(['4', '6', '2'])
                    && !call.args.iter().any(|arg| arg.text.ends_with('/')))
                    && mode.starts_with(['4', '6'])
                    || (on_system && mode.contains('7'))
            }
            "setcap" => {
                line.contains("cap_setuid") || line.contains("cap_sys_admin") || line.contains("cap_dac")
            }
            "usermod" | "gpasswd" | "adduser" => {
                call.args.iter().any(|arg| matches!(arg.text.as_str(), "sudo" | "wheel" | "root" | "admin"))
            }
            "nsenter" => line.contains("-t 1") || line.contains("--target 1"),
            "docker" | "podman" => call.args.iter().any(|arg| {
                let text = arg.text.as_str();
                text.starts_with("/:/")
                    || text.starts_with("-v/:/")
                    || text.starts_with("--volume=/:/")
                    || text.contains("source=/,")
            }),
            "visudo" => call.has("-f") && call.stdin.is_known(),
            _ => false,
        };
        if raises {
            self.note(Capability::RaisesRights, line, call.range);
        }
    }
}

/// Whether a path is a whole disk.
fn is_disk(path: &str) -> bool {
    path.strip_prefix("/dev/").is_some_and(|name| {
        ["sd", "hd", "vd", "xvd", "nvme", "disk", "rdisk", "mmcblk"].iter().any(|kind| name.starts_with(kind))
    })
}

/// Whether a line of a start-up file only sets the shell up.
fn is_plain_line(line: &str) -> bool {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return true;
    }
    if let Some(alias) = line.strip_prefix("alias ") {
        // One of these in a new sense is a trap.
        let name = alias.split('=').next().unwrap_or_default();
        return !matches!(
            name,
            "sudo" | "su" | "ssh" | "scp" | "git" | "ls" | "cd" | "cat" | "gpg" | "passwd" | "login"
        );
    }
    let first = line.split([' ', '(']).next().unwrap_or_default();
    let is_setting = line
        .split_once('=')
        .is_some_and(|(name, _)| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'));
    let sets_up = matches!(
        first,
        "export"
            | "eval"
            | "source"
            | "."
            | "["
            | "[["
            | "if"
            | "then"
            | "fi"
            | "else"
            | "fpath="
            | "setopt"
            | "autoload"
            | "compinit"
            | "set"
            | "fish_add_path"
            | "bindkey"
            | "zstyle"
            | "complete"
            | "unset"
            | "shopt"
    );
    let traps = ["PROMPT_COMMAND", "LD_PRELOAD", "BASH_ENV", "curl", "wget", "/dev/tcp", "base64", "nohup"]
        .iter()
        .any(|word| line.contains(word));
    let is_background = line.ends_with('&') && !line.ends_with("&&");
    (sets_up || is_setting || line.contains("export PATH")) && !traps && !is_background
}
