//! What leaves the machine: requests, sockets, look-ups, mail, uploads, whatever library makes them.

use std::ops::Range;
use std::rc::Rc;

use crate::code::capability::Capability;
use crate::code::hosts::{HostKind, classify_host};
use crate::code::interpret::{Arguments, Interpreter, OriginKind};
use crate::code::network_names::SendKind;
use crate::code::value::{Object, Origins, UNKNOWN, Value};

/// Where in a request a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SendRole {
    /// In the address.
    Address,
    /// Where keys belong: headers, sign-in.
    Header,
    /// In what is sent.
    Body,
    /// In the call of something that is only by its name taken for a sender.
    Guess,
}

/// Whether a thing of a library is a connection to somebody.
pub(crate) fn is_connection(symbol: &str) -> bool {
    ["socket.", "net.", "tls.", "ssl.", "websocket", "ws", "WebSocket", "asyncio.open_connection"].iter().any(
        |root| {
            symbol.strip_prefix(root).is_some_and(|rest| rest.contains('(') || root.ends_with(')'))
                && symbol.contains('(')
        },
    )
}

/// The role of an option by its name.
fn role_of(key: &str) -> SendRole {
    match key.to_ascii_lowercase().as_str() {
        "url" | "uri" | "href" | "host" | "hostname" | "baseurl" | "base_url" | "endpoint" | "prefixurl"
        | "endpoint_url" | "webhook_url" | "path" | "origin" => SendRole::Address,
        "headers"
        | "header"
        | "auth"
        | "cookies"
        | "cert"
        | "authorization"
        | "proxies"
        | "proxy"
        | "token"
        | "api_key"
        | "apikey"
        | "password"
        | "passwd"
        | "aws_access_key_id"
        | "aws_secret_access_key"
        | "aws_session_token"
        | "credentials"
        | "key_filename"
        | "pkey"
        | "context"
        | "verify"
        | "ca"
        | "key"
        | "pfx"
        | "passphrase"
        | "username"
        | "user"
        | "defaultheaders" => SendRole::Header,
        _ => SendRole::Body,
    }
}

/// What a request is made of.
#[derive(Debug, Default)]
struct RequestParts {
    urls: Vec<Rc<str>>,
    address: Origins,
    header: Origins,
    body: Origins,
    /// Whether several keys stand in the body, each in a place of its own.
    is_bundle: bool,
}

impl Interpreter<'_, '_> {
    /// Calls something that has to do with the network.
    pub(crate) fn send(
        &mut self,
        kind: SendKind,
        symbol: &str,
        receiver: Option<&Value>,
        given: &Arguments,
        range: Range<usize>,
    ) -> Value {
        match kind {
            SendKind::Prepare => return self.prepare(symbol, receiver, given),
            SendKind::Receive => {
                let origins = self.origin(OriginKind::Fetched, "a connection", range);
                return Value::made_of(origins);
            }
            SendKind::Lookup => {
                let first = given.positional.first().cloned().unwrap_or_default();
                let origins = self.heap.deep_origins(&first);
                self.add_flows(
                    &origins,
                    SendRole::Body,
                    &first.texts.clone(),
                    Capability::SendsByLookup,
                    range.clone(),
                    false,
                );
                if !self.of_kind(&origins, |kind| matches!(kind, OriginKind::Secret(_))).is_empty() {
                    self.note(Capability::SendsByLookup, range, first.first_text());
                }
                self.call_back(given, &Value::default());
                return Value::default();
            }
            SendKind::Request | SendKind::Message | SendKind::Upload | SendKind::Guess => {}
        }
        let parts = self.gather_parts(kind, symbol, receiver, given, &range);
        let last = symbol.rsplit('.').next().unwrap_or(symbol);
        let shown = parts.urls.first().map_or(UNKNOWN, |url| url).to_owned();
        let is_asked = matches!(last, "get" | "head" | "options" | "urlretrieve")
            || (last == "urlopen" && parts.body.is_empty());
        let has_secret = [&parts.address, &parts.body]
            .iter()
            .any(|origins| !self.of_kind(origins, |kind| matches!(kind, OriginKind::Secret(_))).is_empty());
        let is_fetch = is_asked && !has_secret;
        let capability = if is_fetch { Capability::FetchesFromNetwork } else { Capability::SendsToNetwork };
        if kind != SendKind::Guess {
            self.note(capability, range.clone(), &shown);
        }
        let roles = if kind == SendKind::Guess {
            [SendRole::Guess; 3]
        } else {
            [SendRole::Address, SendRole::Header, SendRole::Body]
        };
        for (role, origins) in roles.into_iter().zip([&parts.address, &parts.header, &parts.body]) {
            let is_bundle = parts.is_bundle && matches!(role, SendRole::Body | SendRole::Guess);
            self.add_flows(origins, role, &parts.urls, Capability::SendsToNetwork, range.clone(), is_bundle);
        }
        self.make_answer(symbol, receiver, given, &parts, range)
    }

    /// What a request gives back.
    fn make_answer(
        &mut self,
        symbol: &str,
        receiver: Option<&Value>,
        given: &Arguments,
        parts: &RequestParts,
        range: Range<usize>,
    ) -> Value {
        let shown = parts.urls.first().map_or(UNKNOWN, |url| url).to_owned();
        let mut origins = self.origin(OriginKind::Fetched, &shown, range.clone());
        if parts.urls.iter().any(|url| classify_host(url) == HostKind::Metadata) {
            let secret = OriginKind::Secret(Capability::ReadsCredentials);
            origins.add(&self.origin(secret, "the cloud's metadata service", range.clone()));
        }
        if symbol.ends_with("urlretrieve") {
            let to = given.get(1, "filename").cloned().unwrap_or_default();
            self.write_path(&to, &Value::made_of(origins.clone()), range);
        }
        let answer = Value { symbol: Some("%response".into()), ..Value::made_of(origins) };
        self.call_back(given, &answer);
        // A request of Node's goes on: `req.write(data)`.
        if matches!(symbol, "https.request" | "http.request" | "http2.request" | "https.get" | "http.get") {
            let value = self.prepare(symbol, receiver, given);
            return value;
        }
        answer
    }

    /// Makes a client, a connection or a request that remembers what it was given.
    fn prepare(&mut self, symbol: &str, receiver: Option<&Value>, given: &Arguments) -> Value {
        let last = symbol.rsplit('.').next().unwrap_or(symbol);
        let mut value = Value::symbol(format!("{symbol}()"));
        // `sock.connect((host, port))` and `xhr.open(method, url)` change what they are called on.
        let changed = receiver.filter(|receiver| receiver.object.is_some() && symbol.contains("()."));
        let id = match changed.and_then(|receiver| receiver.object) {
            Some(id) => id,
            None => self.heap.add(Object::default()),
        };
        value.object = Some(id);
        for (number, argument) in given.positional.iter().enumerate() {
            let listed = argument.object.map(|id| self.list_values(id)).unwrap_or_default();
            if let Some(host) = listed.first() {
                self.set_field(id, "host", host.clone(), true);
            } else if argument.object.is_some() && argument.symbol.is_none() {
                self.spread(id, argument);
            } else if argument.function.is_none() {
                let is_host = number == 0 || argument.texts.iter().any(|text| text.contains("://"));
                let is_text = is_host && !matches!(last, "login" | "auth" | "starttls");
                let key = if is_text {
                    "url".to_owned()
                } else if matches!(last, "Request") && number == 1 {
                    "data".to_owned()
                } else {
                    format!("user{number}")
                };
                let key = if key.starts_with("user") { "user".to_owned() } else { key };
                self.set_field(id, &key, argument.clone(), true);
            }
        }
        for (key, argument) in &given.named {
            self.set_field(id, key, argument.clone(), true);
        }
        self.call_back(given, &value);
        if let Some(receiver) = changed {
            return Value { symbol: receiver.symbol.clone(), ..value };
        }
        value
    }

    fn gather_parts(
        &mut self,
        kind: SendKind,
        symbol: &str,
        receiver: Option<&Value>,
        given: &Arguments,
        range: &Range<usize>,
    ) -> RequestParts {
        let mut parts = RequestParts::default();
        let last = symbol.rsplit('.').next().unwrap_or(symbol);
        if let Some(receiver) = receiver {
            self.gather_options(receiver, &mut parts);
            if kind == SendKind::Guess {
                parts.body.add(&receiver.origins);
            }
        }
        let base: Vec<Rc<str>> = std::mem::take(&mut parts.urls);
        let skips_method = matches!(last, "request" | "open" | "stream")
            && given.positional.first().is_some_and(|first| {
                let text = first.first_text();
                text.len() <= 7 && !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphabetic())
            });
        let place = usize::from(skips_method);
        for (number, argument) in given.positional.iter().enumerate() {
            if argument.function.is_some() || (skips_method && number == 0) {
                continue;
            }
            let is_url = kind == SendKind::Request
                && (number == place || argument.texts.iter().any(|text| text.contains("://")))
                && !matches!(last, "write" | "end" | "send");
            let is_header = symbol.contains("HTTP") && number == place + 2;
            let is_body = matches!(last, "post" | "put" | "patch")
                && number == 1
                && !symbol.starts_with("got")
                && !symbol.contains("undici");
            if kind == SendKind::Upload {
                let read = self.read_path(argument, range.clone());
                parts.body.add(&read);
            }
            if is_url && argument.object.is_none() {
                parts.urls.extend(argument.texts.iter().cloned());
                parts.address.add(&argument.origins);
            } else if is_header {
                parts.header.add(&self.heap.deep_origins(argument));
            } else if !is_body && self.has_options(argument) {
                self.gather_options(argument, &mut parts);
            } else {
                parts.body.add(&self.heap.deep_origins(argument));
            }
        }
        for (key, argument) in &given.named {
            self.gather_field(key, argument, &mut parts);
        }
        parts.urls = join_base(&base, &parts.urls);
        parts.is_bundle = given.all().any(|value| self.is_bundle(value));
        parts
    }

    /// Whether a value holds several keys, each in a place of its own.
    fn is_bundle(&self, value: &Value) -> bool {
        let keys = |origins: &Origins| {
            self.of_kind(origins, |kind| kind == OriginKind::Secret(Capability::ReadsNamedSecret))
        };
        let mut places: Vec<Origins> = Vec::new();
        let mut is_bundle = false;
        self.heap.visit(value, |inner| {
            let keys = keys(&inner.origins);
            if !keys.is_empty() && !places.contains(&keys) {
                // What is under names that are not known is many.
                is_bundle |= !places.is_empty()
                    || (inner.object.is_none() && inner.is_rest && keys.iter().count() > 1);
                places.push(keys);
            }
        });
        is_bundle
    }

    /// Whether a value is options of a request, or a request.
    fn has_options(&self, value: &Value) -> bool {
        const OPTIONS: &[&str] = &[
            "method",
            "headers",
            "body",
            "url",
            "data",
            "params",
            "hostname",
            "host",
            "json",
            "form",
            "searchParams",
            "baseURL",
        ];
        let Some(object) = value.object.and_then(|id| self.heap.get(id)) else { return false };
        value.symbol.is_some() || object.fields.keys().any(|key| OPTIONS.contains(&&**key))
    }

    fn gather_options(&self, value: &Value, parts: &mut RequestParts) {
        let Some(object) = value.object.and_then(|id| self.heap.get(id)) else { return };
        for (key, field) in &object.fields {
            if field.function.is_none() {
                self.gather_field(key, field, parts);
            }
        }
        parts.body.add(&object.rest.origins);
    }

    fn gather_field(&self, key: &str, value: &Value, parts: &mut RequestParts) {
        let origins = self.heap.deep_origins(value);
        match role_of(key) {
            SendRole::Address => {
                if key != "path" {
                    parts.urls.extend(value.texts.iter().cloned());
                }
                parts.address.add(&origins);
            }
            SendRole::Header => parts.header.add(&origins),
            SendRole::Body | SendRole::Guess => parts.body.add(&origins),
        }
    }
}

/// Addresses below the base of a client.
fn join_base(base: &[Rc<str>], urls: &[Rc<str>]) -> Vec<Rc<str>> {
    if urls.is_empty() {
        return base.to_vec();
    }
    let mut joined: Vec<Rc<str>> = Vec::new();
    for url in urls.iter().take(8) {
        match base.first() {
            Some(first) if !url.contains("://") => {
                joined
                    .push(format!("{}/{}", first.trim_end_matches('/'), url.trim_start_matches('/')).into());
            }
            _ => joined.push(Rc::clone(url)),
        }
    }
    joined
}
