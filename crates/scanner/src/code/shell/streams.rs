//! Where commands read and write: redirections, descriptors, files, and what it means to write some of them.

use std::ops::Range;
use std::rc::Rc;

use super::super::capability::Capability;
use super::machine::Machine;
use super::remote::device_host;
use super::services::RequestPart;
use super::tree::{Node, Redirect, RedirectKind, RedirectTarget};
use super::value::Value;

/// What a command reads and where it writes.
#[derive(Debug, Default)]
pub(super) struct Streams {
    pub(super) stdin: Value,
    /// Files that its output goes to, and whether it is added there.
    outputs: Vec<(String, bool)>,
    /// Whether nothing is left for the next command.
    is_diverted: bool,
    /// The host that one of its descriptors is connected to.
    pub(super) remote: Option<Rc<str>>,
}

/// A command whose input is written as a file.
pub(super) type SinkBody = Rc<[Node]>;

impl Machine {
    /// Opens what the redirections of a command say.
    pub(super) fn open_streams(
        &mut self,
        redirects: &[Redirect],
        stdin: &Value,
        range: &Range<usize>,
    ) -> Streams {
        let mut streams = Streams { stdin: stdin.clone(), ..Streams::default() };
        self.count_copy(stdin.text.len());
        for redirect in redirects {
            match &redirect.target {
                RedirectTarget::Text(word) => streams.stdin = self.expand_whole(word),
                RedirectTarget::Document(body) => {
                    streams.stdin = body.get().map(|word| self.expand_whole(word)).unwrap_or_default();
                }
                RedirectTarget::Word(word) => {
                    let path = self.expand_whole(word);
                    self.open_path(&mut streams, redirect, &path.text, range);
                }
            }
        }
        streams
    }

    /// Opens one path, or the descriptor that stands for it.
    fn open_path(&mut self, streams: &mut Streams, redirect: &Redirect, path: &str, range: &Range<usize>) {
        let mut path = path.to_owned();
        if redirect.kind == RedirectKind::Duplicate {
            let number = path.trim_end_matches('-').parse::<u32>();
            match number.ok().and_then(|number| self.descriptors.get(&number)) {
                Some(target) => path.clone_from(target),
                None if number_like(&path) => return,
                None => {}
            }
        }
        if let Some(host) = device_host(&path) {
            streams.remote = Some(Rc::from(host));
        }
        let reads = matches!(redirect.kind, RedirectKind::Read | RedirectKind::Both)
            || (redirect.kind == RedirectKind::Duplicate && redirect.descriptor == Some(0));
        let is_input = reads && redirect.descriptor.unwrap_or(0) == 0;
        if is_input {
            streams.stdin = self.read_file(&path, range);
        } else if redirect.descriptor.is_none_or(|descriptor| descriptor == 1) && !reads {
            streams.outputs.push((path, redirect.kind == RedirectKind::Append));
            streams.is_diverted = true;
        }
    }

    /// Gives a command's output where it goes; what is left is the next one's input.
    pub(super) fn close_streams(&mut self, streams: &Streams, out: Value, range: &Range<usize>) -> Value {
        for (path, is_added) in &streams.outputs {
            self.write_file(path, &out, *is_added, range);
        }
        if streams.is_diverted { Value::default() } else { out }
    }

    /// Remembers descriptors that `exec` opens for all commands that follow.
    pub(super) fn keep_descriptors(&mut self, redirects: &[Redirect]) {
        for redirect in redirects {
            let RedirectTarget::Word(word) = &redirect.target else { continue };
            let path = self.expand_whole(word).text;
            let number = redirect.descriptor.unwrap_or(u32::from(redirect.kind != RedirectKind::Read));
            if redirect.kind == RedirectKind::Duplicate {
                let target = path.parse::<u32>().ok().and_then(|from| self.descriptors.get(&from)).cloned();
                if let Some(target) = target {
                    self.descriptors.insert(number, target);
                }
            } else if self.descriptors.len() < 64 {
                self.descriptors.insert(number, path);
            }
        }
    }

    /// Writes a file, and notes what that does.
    pub(super) fn write_file(&mut self, path: &str, value: &Value, is_added: bool, range: &Range<usize>) {
        if let Some(host) = device_host(path) {
            if value.marks.is_shell_output {
                self.note(Capability::OpensRemoteShell, &host, range);
            }
            self.send(Capability::SendsToNetwork, value, RequestPart::Body, &host, range);
            return;
        }
        if let Some(body) = self.sink(path) {
            self.run_nodes(&body, value);
            return;
        }
        // A named pipe that a connection writes into and a shell reads from.
        if value.marks.remote.is_some() && self.read_file(path, range).marks.is_pipe {
            let mut both = value.clone();
            both.marks.is_pipe = true;
            self.keep_file(path, &both, false);
        } else {
            self.keep_file(path, value, is_added);
        }
        self.judge_write(path, value, is_added, range);
    }

    /// A name for what a process substitution writes.
    pub(super) fn name_process(&mut self, value: &Value) -> String {
        let name = format!("/dev/fd/process{}", self.next_process());
        self.keep_file(&name, value, false);
        name
    }

    /// A name for what feeds a process substitution.
    pub(super) fn name_sink(&mut self, body: &SinkBody) -> String {
        let name = format!("/dev/fd/sink{}", self.next_process());
        self.keep_sink(&name, body);
        name
    }
}

/// Whether a text is the number of a descriptor, or closes one.
fn number_like(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}
