//! Programs that run code: shells, and the interpreters of other languages.

use std::ops::Range;

use super::super::capability::{Capability, CodeFacts};
use super::super::plain::{PlainLanguage, read_nested};
use super::commands::Call;
use super::embedded::read_embedded;
use super::machine::Machine;
use super::services::RequestPart;
use super::value::{UNKNOWN, Value};

/// Whether a program is a shell.
pub(super) fn is_shell(name: &str) -> bool {
    matches!(
        name,
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash" | "fish" | "rbash" | "mksh" | "tcsh" | "csh"
    )
}

/// The interpreters, and the options that code follows.
fn code_options(name: &str) -> Option<&'static [&'static str]> {
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    Some(match name {
        "python" | "pypy" => &["-c"],
        "node" | "nodejs" | "bun" | "tsx" | "ts-node" => &["-e", "--eval", "-p", "--print", "-pe"],
        "perl" => &["-e", "-E"],
        "ruby" | "lua" | "luajit" | "Rscript" | "elixir" | "groovy" | "osascript" => &["-e"],
        "php" => &["-r"],
        "deno" => &["eval"],
        "pwsh" | "powershell" => &["-c", "-command", "-Command", "/c"],
        "cmd" => &["/c", "/C", "/k"],
        _ => return None,
    })
}

impl Machine {
    /// Runs a shell or another interpreter; `None` if it is neither.
    pub(super) fn run_interpreter(&mut self, call: &Call<'_>) -> Option<Value> {
        if is_shell(call.name) {
            return Some(self.run_shell(call));
        }
        if matches!(call.name, "su" | "script" | "sg" | "runuser") {
            let at = call.args.iter().position(|arg| arg.text == "-c" || arg.text == "-qc")?;
            let code = call.args.get(at + 1)?.clone();
            return Some(self.run_code("sh", &code, call));
        }
        if matches!(call.name, "tmux" | "screen") {
            let code = call.args.last()?.clone();
            if code.text.contains(' ') {
                return Some(self.run_code("sh", &code, call));
            }
            let at = call.args.iter().position(|arg| is_shell(&arg.text) || arg.text.starts_with('/'))?;
            let rest = call.args.get(at..).unwrap_or_default().to_vec();
            return Some(self.execute(rest, call.stdin, None, call.range));
        }
        if matches!(
            call.name,
            "iwr"
                | "irm"
                | "iex"
                | "invoke-webrequest"
                | "invoke-restmethod"
                | "invoke-expression"
                | "start-bitstransfer"
                | "certutil"
                | "bitsadmin"
                | "schtasks"
                | "reg"
                | "vssadmin"
                | "netsh"
                | "set-mppreference"
                | "wmic"
                | "mshta"
                | "rundll32"
                | "regsvr32"
        ) {
            let facts = read_nested(PlainLanguage::PowerShell, &call.line(), self.nesting + 1);
            self.merge_facts(facts, &Value::default(), call.range);
            return Some(Value::unknown());
        }
        let options = code_options(call.name)?;
        Some(self.run_other(call, options))
    }

    /// A shell: its code is in an argument, a file, or comes in.
    fn run_shell(&mut self, call: &Call<'_>) -> Value {
        let mut at = 0;
        let mut is_interactive = false;
        while let Some(arg) = call.args.get(at) {
            let text = arg.text.as_str();
            let Some(letters) = text.strip_prefix(['-', '+']) else { break };
            if letters.is_empty() {
                break;
            }
            at += 1;
            if letters.starts_with('-') {
                at += usize::from(matches!(letters, "-rcfile" | "-init-file"));
                continue;
            }
            is_interactive |= letters.contains('i');
            if letters.contains('c') {
                let code = call.args.get(at).cloned().unwrap_or_default();
                let before = std::mem::replace(
                    &mut self.positional,
                    call.args.get(at + 2..).unwrap_or_default().to_vec(),
                );
                let mut out = self.run_code("sh", &code, call);
                out.marks.is_shell_output |= is_interactive;
                self.positional = before;
                return out;
            }
            if letters.ends_with('o') || letters.ends_with('O') {
                at += 1;
            }
            if letters.contains('s') {
                at = call.args.len();
            }
        }
        if let Some(host) = call.remote.clone().filter(|_| at >= call.args.len()) {
            self.note(Capability::OpensRemoteShell, &host, call.range);
        }
        let code = match call.args.get(at) {
            Some(path) => self.read_script(path, call),
            None => call.stdin.clone(),
        };
        let mut out = self.run_code("sh", &code, call);
        out.marks.is_shell_output |= is_interactive || code.marks.is_pipe;
        out
    }

    /// An interpreter of another language.
    fn run_other(&mut self, call: &Call<'_>, options: &[&str]) -> Value {
        if call.name.starts_with("python") && call.has("-m") {
            let module = call
                .args
                .iter()
                .skip_while(|arg| arg.text != "-m")
                .nth(1)
                .map_or("", |arg| arg.text.as_str());
            if module == "http.server" || module == "SimpleHTTPServer" {
                self.note(Capability::ListensOnNetwork, module, call.range);
            }
            return Value::unknown();
        }
        if call.name == "php" && call.has("-S") {
            self.note(Capability::ListensOnNetwork, "php -S", call.range);
        }
        let mut out = Value::unknown();
        out.marks.add(&call.stdin.marks);
        let mut at = 0;
        let mut ran = false;
        while let Some(arg) = call.args.get(at) {
            let text = arg.text.as_str();
            at += 1;
            let lower = text.to_ascii_lowercase();
            if call.name.starts_with('p')
                && ["-enc", "-encodedcommand", "-e", "-ec"].contains(&lower.as_str())
                && is_windows(call.name)
            {
                let code = call.args.get(at).map_or("", |arg| arg.text.as_str());
                self.note(Capability::RunsDecoded, code, call.range);
                return out;
            }
            // `-ne 'code'` and `-le 'code'` of Perl and Ruby.
            let clustered = matches!(call.name, "perl" | "ruby")
                && text.len() <= 6
                && text.starts_with('-')
                && text.ends_with(['e', 'E']);
            if options.contains(&text) || options.contains(&lower.as_str()) || clustered {
                let code = if is_windows(call.name) || call.name == "cmd" {
                    super::machine::join_values(call.args.get(at..).unwrap_or_default())
                } else {
                    call.args.get(at).cloned().unwrap_or_default()
                };
                at += 1;
                let written = self.run_code(call.name, &code, call);
                out.marks.add(&written.marks);
                ran = true;
                continue;
            }
            if text.starts_with('-') && text != "-" {
                continue;
            }
            if !ran {
                let content = self.read_script(arg, call);
                if content.text != UNKNOWN || content.marks.fetched.is_some() || content.marks.is_decoded {
                    let written = self.run_code(call.name, &content, call);
                    out.marks.add(&written.marks);
                }
                ran = true;
            }
        }
        if !ran && (call.stdin.is_known() || call.stdin.marks != super::value::Marks::default()) {
            return self.run_code(call.name, call.stdin, call);
        }
        out
    }

    /// Runs code that a command was given: notes where it came from, and walks through it where it is known.
    pub(super) fn run_code(&mut self, name: &str, code: &Value, call: &Call<'_>) -> Value {
        let mut stdin = call.stdin.clone();
        if let Some(host) = &code.marks.remote {
            self.note(Capability::OpensRemoteShell, &host.clone(), call.range);
        } else if let Some(url) = &code.marks.fetched {
            self.note(Capability::RunsFetched, &url.clone(), call.range);
        } else if code.marks.is_decoded {
            self.note(Capability::RunsDecoded, &code.text, call.range);
        }
        if code.text == UNKNOWN || code.text.is_empty() {
            return Value::unknown();
        }
        if stdin.text == code.text {
            // It is the code itself.
            stdin = Value::default();
        }
        if name == "sh" || is_shell(name) {
            return self.run_inner(&code.text, &stdin, call.range);
        }
        self.count_copy(code.text.len());
        let facts = read_embedded(name, &code.text, self.nesting + 1);
        self.merge_facts(facts, code, call.range)
    }

    /// Adds what another reader found. What it reads is in its output; what the shell put into the code may be sent by it.
    pub(super) fn merge_facts(&mut self, facts: CodeFacts, code: &Value, range: &Range<usize>) -> Value {
        let mut out = Value::unknown();
        self.facts.is_cut |= facts.is_cut;
        for used in facts.uses {
            if used.capability.reads_secret() {
                out.marks.add(&self.read_source(used.capability, &used.object, range));
            } else {
                self.note(used.capability, &used.object, range);
            }
            if used.capability == Capability::SendsToNetwork {
                self.send(used.capability, code, RequestPart::Body, &used.object, range);
            }
        }
        for mut flow in facts.flows {
            flow.source.range = range.clone();
            flow.sender.range = range.clone();
            self.push_flow(flow);
        }
        out
    }
}

/// Whether an interpreter is one of Windows, whose options are written in any case.
fn is_windows(name: &str) -> bool {
    matches!(name, "pwsh" | "powershell")
}
