//! Programs that speak HTTP: curl, wget, `HTTPie` and their like.

use std::rc::Rc;

use super::super::capability::Capability;
use super::super::hosts::{HostKind, classify_host};
use super::commands::Call;
use super::machine::Machine;
use super::services::RequestPart;
use super::value::{Marks, UNKNOWN, Value};

/// curl's letters that take a value.
const CURL_LETTERS: &str = "dFTHoubcAeXxmCrwKyYzEtPQDU";
/// curl's names that take a value, as far as they matter.
const CURL_NAMES: &[&str] = &[
    "data",
    "data-raw",
    "data-binary",
    "data-ascii",
    "data-urlencode",
    "json",
    "form",
    "form-string",
    "upload-file",
    "header",
    "output",
    "user",
    "cookie",
    "cookie-jar",
    "user-agent",
    "referer",
    "request",
    "proxy",
    "max-time",
    "connect-timeout",
    "retry",
    "retry-delay",
    "retry-max-time",
    "url",
    "url-query",
    "config",
    "cacert",
    "cert",
    "key",
    "resolve",
    "write-out",
    "range",
    "interface",
    "unix-socket",
    "oauth2-bearer",
    "aws-sigv4",
    "proxy-header",
    "proxy-user",
    "output-dir",
    "limit-rate",
    "max-redirs",
    "dns-servers",
    "doh-url",
    "mail-from",
    "mail-rcpt",
    "netrc-file",
    "capath",
    "ciphers",
    "engine",
    "stderr",
    "trace",
    "trace-ascii",
    "dump-header",
    "max-filesize",
    "speed-limit",
    "speed-time",
    "time-cond",
    "request-target",
    "noproxy",
    "socks5",
    "socks5-hostname",
    "pass",
    "quote",
    "tlsuser",
    "abstract-unix-socket",
    "connect-to",
    "continue-at",
];
/// wget's letters and names that take a value.
const WGET_LETTERS: &str = "OPoaTteUiQARIXDl";
const WGET_NAMES: &[&str] = &[
    "output-document",
    "directory-prefix",
    "post-data",
    "post-file",
    "body-data",
    "body-file",
    "header",
    "user",
    "password",
    "http-user",
    "http-password",
    "method",
    "user-agent",
    "referer",
    "timeout",
    "tries",
    "load-cookies",
    "input-file",
    "wait",
    "output-file",
    "ca-certificate",
    "quota",
    "execute",
];

/// A request while its options are read.
#[derive(Default)]
struct Request {
    sent: Vec<(Value, RequestPart)>,
    addresses: Vec<Value>,
    /// The file that the answer goes to.
    output: Option<String>,
    /// Whether something is sent, secret or not.
    has_body: bool,
}

impl Machine {
    /// Runs a program that speaks HTTP; `None` if it is not one.
    pub(super) fn run_web(&mut self, call: &Call<'_>) -> Option<Value> {
        let request = match call.name {
            "curl" | "curlie" => self.read_curl(call),
            "wget" | "wget2" => self.read_wget(call),
            "http" | "https" | "xh" | "xhs" | "httpie" => self.read_httpie(call)?,
            "aria2c" | "axel" | "lynx" | "lwp-download" | "fetch" => {
                let parsed = Self::options(call, "od", &["out", "dir"]);
                let output = parsed.value(&["o", "out"]).map(|value| value.text.clone());
                Request { addresses: parsed.operands, output, ..Request::default() }
            }
            _ => return None,
        };
        Some(self.finish_request(&request, call))
    }

    /// Notes what a request sends and fetches.
    fn finish_request(&mut self, request: &Request, call: &Call<'_>) -> Value {
        let mut address = request.addresses.iter().find(|address| looks_like_address(&address.text));
        address = address.or(request.addresses.first());
        let empty = Value::default();
        let address = address.unwrap_or(&empty);
        let text = address.text.as_str();
        for (value, part) in &request.sent {
            if !value.marks.sources.is_empty() || *part == RequestPart::Body {
                self.send(Capability::SendsToNetwork, value, *part, text, call.range);
            }
        }
        for address in &request.addresses {
            if !address.marks.sources.is_empty() {
                // `https://user:$TOKEN@host` is a header, too.
                let authority = address
                    .text
                    .split("://")
                    .nth(1)
                    .unwrap_or_default()
                    .split('/')
                    .next()
                    .unwrap_or_default();
                let part = if authority.contains('@') { RequestPart::Header } else { RequestPart::Address };
                self.send(Capability::SendsToNetwork, address, part, &address.text, call.range);
            }
            if let Some(url) = &address.marks.fetched
                && !looks_like_address(&address.text)
            {
                // An address that another host decides.
                self.note(Capability::FetchesFromNetwork, &url.clone(), call.range);
            }
        }
        if !request.has_body {
            self.note(Capability::FetchesFromNetwork, text, call.range);
        }
        let mut answer = Value::marked(Marks { fetched: Some(Rc::from(text)), ..Marks::default() });
        if classify_host(text) == HostKind::Metadata && is_credential_path(text) {
            answer.marks.add(&self.read_source(Capability::ReadsCredentials, text, call.range));
        }
        match &request.output {
            Some(path) if path != "-" && path != "/dev/stdout" => {
                self.write_file(path, &answer, false, call.range);
                Value::default()
            }
            _ => answer,
        }
    }

    /// curl's options.
    fn read_curl(&mut self, call: &Call<'_>) -> Request {
        let mut parsed = Self::options(call, CURL_LETTERS, CURL_NAMES);
        if let Some(path) = parsed.value(&["K", "config"]).map(|path| path.text.clone()) {
            let config = self.read_operand(&path, call);
            parsed.options.extend(read_config(&config));
        }
        let mut request = Request { addresses: parsed.operands, ..Request::default() };
        let mut folder = None;
        let mut is_named_by_address = false;
        for (name, value) in &parsed.options {
            let empty = Value::default();
            let value = value.as_ref().unwrap_or(&empty);
            match name.as_str() {
                "d" | "data" | "data-ascii" | "data-binary" | "json" | "data-urlencode" | "url-query" => {
                    request.has_body |= name != "url-query";
                    let body = self.read_body(value, name == "data-urlencode", call);
                    request.sent.push((body, RequestPart::Body));
                }
                "data-raw" | "form-string" => {
                    request.has_body = true;
                    request.sent.push((value.clone(), RequestPart::Body));
                }
                "F" | "form" => {
                    request.has_body = true;
                    let body = self.read_form(value, call);
                    request.sent.push((body, RequestPart::Body));
                }
                "T" | "upload-file" => {
                    request.has_body = true;
                    let body = self.read_operand(&value.text, call);
                    request.sent.push((body, RequestPart::Body));
                    request.sent.push((value.clone(), RequestPart::Body));
                }
                "H" | "header" | "proxy-header" => {
                    let header = match value.text.strip_prefix('@') {
                        Some(path) => self.read_operand(path, call),
                        None => value.clone(),
                    };
                    request.sent.push((header, RequestPart::Header));
                }
                "u" | "user" | "oauth2-bearer" | "A" | "user-agent" | "e" | "referer" | "proxy-user" => {
                    request.sent.push((value.clone(), RequestPart::Header));
                }
                "b" | "cookie" => {
                    let jar = if value.text.contains('=') {
                        value.clone()
                    } else {
                        self.read_operand(&value.text, call)
                    };
                    request.sent.push((jar, RequestPart::Header));
                }
                "o" | "output" => request.output = Some(value.text.clone()),
                "O" | "remote-name" => is_named_by_address = true,
                "output-dir" => folder = Some(value.text.clone()),
                "url" => request.addresses.insert(0, value.clone()),
                "unix-socket" | "abstract-unix-socket" => {
                    request.addresses.insert(0, Value::known("http://localhost"));
                }
                _ => {}
            }
        }
        if is_named_by_address && request.output.is_none() {
            request.output = request.addresses.first().map(|address| name_of_address(&address.text));
        }
        if let (Some(folder), Some(output)) = (folder, request.output.as_mut()) {
            *output = format!("{folder}/{output}");
        }
        request
    }

    /// wget's options.
    fn read_wget(&mut self, call: &Call<'_>) -> Request {
        let parsed = Self::options(call, WGET_LETTERS, WGET_NAMES);
        let mut request = Request { addresses: parsed.operands, ..Request::default() };
        let mut folder = None;
        for (name, value) in &parsed.options {
            let empty = Value::default();
            let value = value.as_ref().unwrap_or(&empty);
            match name.as_str() {
                "post-data" | "body-data" => {
                    request.has_body = true;
                    request.sent.push((value.clone(), RequestPart::Body));
                }
                "post-file" | "body-file" => {
                    request.has_body = true;
                    let body = self.read_operand(&value.text, call);
                    request.sent.push((body, RequestPart::Body));
                }
                "header" | "password" | "http-password" | "user-agent" | "U" | "referer" | "user" => {
                    request.sent.push((value.clone(), RequestPart::Header));
                }
                "O" | "output-document" => request.output = Some(value.text.clone()),
                "P" | "directory-prefix" => folder = Some(value.text.clone()),
                _ => {}
            }
        }
        if request.output.is_none() {
            request.output = request.addresses.first().map(|address| name_of_address(&address.text));
        }
        if let (Some(folder), Some(output)) = (folder, request.output.as_mut())
            && output != "-"
        {
            *output = format!("{folder}/{output}");
        }
        request
    }

    /// `HTTPie`: a method, an address, and items that say by their mark what they are. `None` if it is something else of that name.
    fn read_httpie(&mut self, call: &Call<'_>) -> Option<Request> {
        let parsed = Self::options(
            call,
            "aAod",
            &["auth", "auth-type", "output", "raw", "session", "timeout", "verify"],
        );
        let mut operands = parsed.operands.iter().peekable();
        let is_method = operands
            .peek()
            .is_some_and(|first| first.text.len() <= 7 && first.text.bytes().all(|b| b.is_ascii_uppercase()));
        if is_method {
            operands.next();
        }
        let address = operands.next()?;
        let mut request = Request { addresses: vec![address.clone()], ..Request::default() };
        for item in operands {
            let text = item.text.as_str();
            let mark = text.find(['=', ':', '@'])?;
            let rest = text.get(mark..).unwrap_or_default();
            if let Some(path) = rest
                .strip_prefix("=@")
                .or_else(|| rest.strip_prefix(":=@"))
                .or_else(|| rest.strip_prefix('@'))
            {
                let body = self.read_operand(path, call);
                request.sent.push((body, RequestPart::Body));
                request.has_body = true;
            } else if rest.starts_with(':') && !rest.starts_with(":=") {
                request.sent.push((item.clone(), RequestPart::Header));
            } else {
                request.has_body |= !rest.starts_with("==");
                request.sent.push((item.clone(), RequestPart::Body));
            }
        }
        for (name, value) in &parsed.options {
            let Some(value) = value else { continue };
            match name.as_str() {
                "a" | "auth" => request.sent.push((value.clone(), RequestPart::Header)),
                "raw" => request.sent.push((value.clone(), RequestPart::Body)),
                "o" | "output" => request.output = Some(value.text.clone()),
                _ => {}
            }
        }
        if !call.stdin.marks.sources.is_empty() {
            request.has_body = true;
            request.sent.push((call.stdin.clone(), RequestPart::Body));
        }
        Some(request)
    }

    /// A body as curl takes it: a text, or `@` and a file.
    fn read_body(&mut self, value: &Value, is_encoded: bool, call: &Call<'_>) -> Value {
        let path = match value.text.strip_prefix('@') {
            Some(path) => Some(path),
            // `name@file`.
            None if is_encoded && !value.text.contains('=') => {
                value.text.split_once('@').map(|(_, path)| path)
            }
            None => None,
        };
        let Some(path) = path else { return value.clone() };
        let mut body = self.read_operand(path, call);
        body.marks.add(&value.marks);
        body
    }

    /// A field of a form: `name=value`, `name=@file;type=x`, `name=<file`.
    fn read_form(&mut self, value: &Value, call: &Call<'_>) -> Value {
        let mut body = value.clone();
        let Some((_, content)) = value.text.split_once('=') else { return body };
        let Some(paths) = content.strip_prefix(['@', '<']) else { return body };
        let paths = paths.split(';').next().unwrap_or_default();
        for path in paths.split(',').take(16) {
            let read = self.read_operand(path.trim_matches('"'), call);
            body.marks.add(&read.marks);
        }
        body
    }

    /// What a file's name stands for in a command: `-` is what comes in.
    pub(super) fn read_operand(&mut self, path: &str, call: &Call<'_>) -> Value {
        if matches!(path, "-" | "." | "/dev/stdin" | "/proc/self/fd/0" | "/dev/fd/0") && path != "."
            || (path == "." && call.name == "curl")
        {
            return call.stdin.clone();
        }
        self.read_file(path, call.range)
    }
}

/// The options of a curl configuration, a line each.
fn read_config(config: &Value) -> Vec<(String, Option<Value>)> {
    let mut options = Vec::new();
    for line in config.text.lines().take(64) {
        if let Some((name, value)) = line.trim().split_once(['=', ' ', ':']) {
            let value = value.trim_start_matches([' ', '=', ':']).trim().trim_matches('"');
            options.push((name.trim().trim_start_matches('-').to_owned(), Some(config.with_text(value))));
        }
    }
    options
}

/// Whether a text is an address, or a variable that holds one.
fn looks_like_address(text: &str) -> bool {
    text.contains("://")
        || text.contains('.')
        || text.starts_with('$')
        || text.starts_with("localhost")
        || text.starts_with(UNKNOWN)
}

/// The name of the file that an address is saved as.
fn name_of_address(address: &str) -> String {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned()
}

/// Whether an address of the metadata service is one that hands out credentials.
fn is_credential_path(address: &str) -> bool {
    ["iam", "token", "service-accounts", "user-data", "credentials", "oauth2", "identity"]
        .iter()
        .any(|word| address.contains(word))
        || address.split("://").nth(1).is_none_or(|rest| !rest.trim_end_matches('/').contains('/'))
}
