//! Connections that are not HTTP: raw sockets, secure shells, names that are looked up, mail.

use std::rc::Rc;

use super::super::capability::Capability;
use super::commands::Call;
use super::interpreters::is_shell;
use super::machine::Machine;
use super::options::ParsedOptions;
use super::services::RequestPart;
use super::value::{Marks, Value};

/// The host of `/dev/tcp/host/port`.
pub(super) fn device_host(path: &str) -> Option<String> {
    let rest = path.strip_prefix("/dev/tcp/").or_else(|| path.strip_prefix("/dev/udp/"))?;
    let (host, port) = rest.split_once('/').unwrap_or((rest, ""));
    Some(if port.is_empty() { host.to_owned() } else { format!("{host}:{port}") })
}

impl Machine {
    /// Runs a program that opens a connection; `None` if it is not one.
    pub(super) fn run_remote(&mut self, call: &Call<'_>) -> Option<Value> {
        match call.name {
            "nc" | "ncat" | "netcat" | "nc.traditional" | "nc.openbsd" | "busybox-nc" => {
                Some(self.run_netcat(call))
            }
            "socat" => Some(self.run_socat(call)),
            "telnet" => {
                let parsed = Self::options(call, "lbeSX", &[]);
                let host = join_host(&parsed.operands);
                Some(self.connect(&host, call))
            }
            "openssl" if call.text(0) == "s_client" => {
                let at = call.args.iter().position(|arg| arg.text == "-connect")?;
                let host = call.text(at + 1).to_owned();
                Some(self.connect(&host, call))
            }
            "ssh" | "sshpass" | "autossh" | "mosh" => Some(self.run_ssh(call)),
            "scp" | "rsync" | "sftp" | "pscp" => Some(self.run_copy(call)),
            "ftp" | "lftp" | "tftp" | "ncftpput" | "smbclient" => Some(self.run_ftp(call)),
            "dig" | "nslookup" | "host" | "drill" | "ping" | "ping6" | "resolvectl" | "getent" | "kdig"
            | "doggo" => Some(self.run_lookup(call)),
            "mail" | "mailx" | "mutt" | "sendmail" | "msmtp" | "swaks" | "s-nail" | "mpack" | "sendemail"
            | "ssmtp" => Some(self.run_mail(call)),
            "awk" | "gawk" => {
                let code = call
                    .args
                    .iter()
                    .find(|arg| arg.text.contains("/inet/tcp/") || arg.text.contains("/inet/udp/"))?;
                let host = code.text.split("/inet/").nth(1).unwrap_or_default();
                let host = host.split('/').nth(2).unwrap_or_default().trim_matches(['"', ' ']).to_owned();
                // Reads lines from there and runs them.
                let runs = code.text.contains("getline")
                    && (code.text.contains('|') || code.text.contains("system("));
                if runs {
                    self.note(Capability::OpensRemoteShell, &host, call.range);
                }
                let sent = self.read_filtered(call, 1);
                self.send(Capability::SendsToNetwork, &sent, RequestPart::Body, &host, call.range);
                Some(Value::marked(Marks { remote: Some(Rc::from(host)), ..Marks::default() }))
            }
            "ngrok" | "cloudflared" | "localtunnel" | "lt" | "bore" | "chisel" | "frpc" => {
                let opens = match call.name {
                    "cloudflared" => {
                        call.has("run") || call.args.iter().any(|arg| arg.text.starts_with("--url"))
                    }
                    "ngrok" => matches!(call.text(0), "http" | "tcp" | "tls" | "start"),
                    _ => true,
                };
                if opens {
                    self.note(Capability::ListensOnNetwork, &call.line(), call.range);
                }
                Some(Value::unknown())
            }
            _ => None,
        }
    }

    /// A raw connection: what comes in is sent, what comes out is the other side's.
    fn connect(&mut self, host: &str, call: &Call<'_>) -> Value {
        if call.stdin.marks.is_shell_output {
            self.note(Capability::OpensRemoteShell, host, call.range);
        }
        self.send(Capability::SendsToNetwork, call.stdin, RequestPart::Body, host, call.range);
        Value::marked(Marks { remote: Some(Rc::from(host)), ..Marks::default() })
    }

    /// netcat: connects or listens, with or without a program behind it.
    fn run_netcat(&mut self, call: &Call<'_>) -> Value {
        let parsed = Self::options(
            call,
            "ecpswgGiqIoOPTVXx",
            &["exec", "sh-exec", "source", "source-port", "proxy", "wait"],
        );
        let host = join_host(&parsed.operands);
        let listens = parsed.has(&["l", "listen", "L"]);
        if listens {
            let port = parsed.value(&["p"]).map_or(host.as_str(), |port| port.text.as_str()).to_owned();
            self.note(Capability::ListensOnNetwork, &port, call.range);
        }
        let program = parsed.value(&["e", "c", "exec", "sh-exec"]).map(|program| program.text.clone());
        if program.is_some_and(|program| is_shell_path(&program)) {
            self.note(Capability::OpensRemoteShell, &host, call.range);
        }
        // `nc -z` only asks whether a port is open.
        if parsed.has(&["z"]) {
            return Value::unknown();
        }
        if listens {
            if call.stdin.marks.is_shell_output {
                self.note(Capability::OpensRemoteShell, &host, call.range);
            }
            return Value::marked(Marks { remote: Some(Rc::from("any")), ..Marks::default() });
        }
        self.connect(&host, call)
    }

    /// socat: two ends, each a file, a program or a host.
    fn run_socat(&mut self, call: &Call<'_>) -> Value {
        let ends: Vec<&Value> =
            call.args.iter().filter(|arg| !arg.text.starts_with('-') || arg.text == "-").collect();
        let mut host = None;
        let mut runs = false;
        let mut sent = call.stdin.clone();
        for end in ends {
            let (kind, rest) = end.text.split_once(':').unwrap_or((&end.text, ""));
            let kind = kind.to_ascii_lowercase();
            if kind.contains("listen") {
                self.note(
                    Capability::ListensOnNetwork,
                    rest.split(',').next().unwrap_or_default(),
                    call.range,
                );
                host.get_or_insert_with(|| "any".to_owned());
            } else if ["tcp", "udp", "openssl", "ssl", "sctp", "socks"]
                .iter()
                .any(|word| kind.starts_with(word))
            {
                host = Some(rest.split(',').next().unwrap_or_default().to_owned());
            } else if kind.starts_with("exec") || kind.starts_with("system") || kind == "shell" {
                let program = rest.split(',').next().unwrap_or_default();
                runs |= is_shell_path(program.trim_matches(['"', '\'']));
            } else if ["file", "open", "gopen"].contains(&kind.as_str())
                || (rest.is_empty() && kind.contains('/'))
            {
                let path = if rest.is_empty() { end.text.as_str() } else { rest };
                let content = self.read_file(path.split(',').next().unwrap_or_default(), call.range);
                sent.marks.add(&content.marks);
            }
            sent.marks.add(&end.marks);
        }
        let Some(host) = host else { return sent };
        if runs {
            self.note(Capability::OpensRemoteShell, &host, call.range);
        }
        self.send(Capability::SendsToNetwork, &sent, RequestPart::Body, &host, call.range);
        Value::marked(Marks { remote: Some(Rc::from(host)), ..Marks::default() })
    }

    /// ssh: what comes in goes to the host; its command runs there.
    fn run_ssh(&mut self, call: &Call<'_>) -> Value {
        let args = match call.name {
            "sshpass" => {
                let at = call
                    .args
                    .iter()
                    .position(|arg| matches!(arg.text.as_str(), "ssh" | "scp" | "rsync" | "sftp"));
                let Some(rest) = at.and_then(|at| call.args.get(at..)) else { return Value::unknown() };
                return self.execute(rest.to_vec(), call.stdin, None, call.range);
            }
            _ => call.args,
        };
        // Options end at the host.
        let mut at = 0;
        while let Some(letters) = args.get(at).and_then(|arg| arg.text.strip_prefix('-')) {
            let takes = letters.chars().last().is_some_and(|last| "bcDEeFIiJLlmOopQRSWw".contains(last))
                && letters.len() <= 3;
            if letters.contains('R') && takes {
                self.note(
                    Capability::ListensOnNetwork,
                    args.get(at + 1).map_or("", |arg| &arg.text),
                    call.range,
                );
            }
            at += 1 + usize::from(takes);
        }
        let Some(host) = args.get(at) else { return Value::unknown() };
        let mut sent = call.stdin.clone();
        for arg in args.get(at..).unwrap_or_default() {
            sent.marks.add(&arg.marks);
        }
        let address = host.text.rsplit('@').next().unwrap_or_default().to_owned();
        if sent.marks.is_shell_output {
            self.note(Capability::OpensRemoteShell, &address, call.range);
        }
        self.send(Capability::SendsToNetwork, &sent, RequestPart::Body, &address, call.range);
        Value::unknown()
    }

    /// scp, rsync and sftp: the last place is where everything goes.
    fn run_copy(&mut self, call: &Call<'_>) -> Value {
        let parsed = Self::options(
            call,
            if call.name == "rsync" { "efBMT" } else { "cFiJloPSDXbBRs" },
            &[
                "rsh",
                "exclude",
                "include",
                "files-from",
                "password-file",
                "exclude-from",
                "bwlimit",
                "port",
                "rsync-path",
                "log-file",
                "filter",
                "chmod",
                "out-format",
                "link-dest",
                "backup-dir",
            ],
        );
        let Some((target, sources)) = parsed.operands.split_last() else { return Value::unknown() };
        let mut sent = Value::default();
        for source in sources {
            let content = self.read_file(&source.text, call.range);
            sent.append(&content);
        }
        if call.name == "sftp" {
            // `put file` comes in, or in a batch.
            sent = self.read_puts(&call.stdin.text, call);
        }
        match remote_host(&target.text) {
            Some(host) => self.send(Capability::SendsToNetwork, &sent, RequestPart::Body, &host, call.range),
            None if call.name == "sftp" => {
                self.send(Capability::SendsToNetwork, &sent, RequestPart::Body, &target.text, call.range);
            }
            None => self.write_file(&target.text, &sent, false, call.range),
        }
        Value::unknown()
    }

    /// Files that lines such as `put file` name.
    fn read_puts(&mut self, lines: &str, call: &Call<'_>) -> Value {
        let mut sent = Value::default();
        for line in lines.split(['\n', ';']).take(200) {
            let mut words = line.split_whitespace();
            if words.next().is_some_and(|word| matches!(word, "put" | "mput" | "send" | "mirror" | "append"))
            {
                for path in words.filter(|word| !word.starts_with('-')).take(8) {
                    let content = self.read_file(path, call.range);
                    sent.append(&content);
                }
            }
        }
        sent
    }

    /// ftp and its like: commands come in, or stand in an option.
    fn run_ftp(&mut self, call: &Call<'_>) -> Value {
        let parsed = Self::options(call, "euUpPcofTI", &[]);
        let mut sent = self.read_puts(&call.stdin.text, call);
        for (name, value) in &parsed.options {
            if let (true, Some(value)) = (matches!(name.as_str(), "e" | "c"), value) {
                let read = self.read_puts(&value.text, call);
                sent.append(&read);
                sent.marks.add(&value.marks);
            }
        }
        let host = parsed.operands.first().map(|host| host.text.clone()).unwrap_or_default();
        for path in parsed.operands.iter().skip(1) {
            let content = self.read_file(&path.text, call.range);
            sent.append(&content);
        }
        let named =
            call.stdin.text.lines().find_map(|line| line.trim().strip_prefix("open ")).map(str::to_owned);
        let host = named.unwrap_or(host);
        self.send(Capability::SendsToNetwork, &sent, RequestPart::Body, &host, call.range);
        Value::unknown()
    }

    /// A name that is looked up carries what is in it.
    fn run_lookup(&mut self, call: &Call<'_>) -> Value {
        for arg in call.args {
            if !arg.marks.sources.is_empty() {
                self.send(Capability::SendsByLookup, arg, RequestPart::Body, &arg.text, call.range);
            }
        }
        Value::unknown()
    }

    /// Mail: what comes in, and what is attached.
    fn run_mail(&mut self, call: &Call<'_>) -> Value {
        let parsed = Self::options(
            call,
            "saArcbSfFoqHmTt",
            &[
                "to",
                "from",
                "server",
                "attach",
                "body",
                "header",
                "subject",
                "auth-user",
                "auth-password",
                "data",
            ],
        );
        let mut sent = call.stdin.clone();
        for (name, value) in &parsed.options {
            let Some(value) = value else { continue };
            match name.as_str() {
                "a" | "A" | "attach" => {
                    let content = self.read_file(value.text.trim_start_matches('@'), call.range);
                    sent.marks.add(&content.marks);
                }
                "auth-password" | "S" => {}
                _ => sent.marks.add(&value.marks),
            }
            if let Some(path) = value.text.strip_prefix('@') {
                let content = self.read_file(path, call.range);
                sent.marks.add(&content.marks);
            }
        }
        let to = parsed
            .value(&["to", "t"])
            .or_else(|| parsed.operands.iter().find(|operand| operand.text.contains('@')));
        let to = to.map_or_else(|| "mail".to_owned(), |to| to.text.clone());
        self.send(Capability::SendsToNetwork, &sent, RequestPart::Body, &to, call.range);
        Value::unknown()
    }
}

/// Whether a program that is started behind a connection is a shell.
fn is_shell_path(program: &str) -> bool {
    let first = program.split_whitespace().next().unwrap_or_default();
    let name = super::commands::program_name(first);
    is_shell(&name)
        || matches!(name.as_str(), "cmd" | "powershell" | "python" | "python3" | "perl")
        || program.starts_with('$')
}

/// `host port` as one.
fn join_host(operands: &[Value]) -> String {
    match operands {
        [] => String::new(),
        [host] => host.text.clone(),
        [host, port, ..] => format!("{}:{}", host.text, port.text),
    }
}

/// The host of `user@host:path`, `rsync://host/`; `None` for a path of this machine.
fn remote_host(target: &str) -> Option<String> {
    if let Some((scheme, rest)) = target.split_once("://") {
        return (scheme != "file").then(|| rest.rsplit('@').next().unwrap_or_default().to_owned());
    }
    let (host, _) = target.split_once(':')?;
    let is_host = !host.contains('/') && host.len() > 1;
    is_host.then(|| host.rsplit('@').next().unwrap_or_default().to_owned())
}

impl ParsedOptions {
    /// Whether a word stands among the operands.
    pub(super) fn has_operand(&self, word: &str) -> bool {
        self.operands.iter().any(|operand| operand.text == word)
    }
}
