//! The sink, and what it wrote down.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, bail};
use data_encoding::BASE32_NOPAD;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::place::RECORD;
use crate::stage::PATH;

/// What visitors of our own ask for: their path, or the first label of the name, begins so. They prove that the sink is there.
pub const VISITOR: &str = "visitor-";
/// The zone whose name server the sink is.
pub const ZONE: &str = "exfil.test";
/// Its web server.
pub const HOST: &str = "webhook.test";
/// And its address.
pub const ADDRESS: &str = "9.9.0.66";

/// What arrived in some time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrived {
    /// The bodies of requests over HTTPS and HTTP, with their paths.
    pub requests: Vec<String>,
    /// Names that were asked for, each once, in the order they came.
    pub names: Vec<String>,
    /// Visitors of our own, over HTTPS.
    pub visitors: usize,
    /// And over DNS.
    pub asking_visitors: usize,
}

impl Arrived {
    /// Reads lines of the record.
    fn read<'a>(lines: impl Iterator<Item = &'a str>) -> anyhow::Result<Self> {
        let mut arrived = Self::default();
        for line in lines {
            let line: Value = serde_json::from_str(line).context("the sink wrote something odd")?;
            let text = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            match line.get("via").and_then(Value::as_str) {
                Some("dns") if text("name").starts_with(VISITOR) => arrived.asking_visitors += 1,
                Some("dns") if arrived.names.contains(&text("name")) => {}
                Some("dns") => arrived.names.push(text("name")),
                Some("http" | "https") if text("path").trim_start_matches('/').starts_with(VISITOR) => {
                    arrived.visitors += 1;
                }
                Some("http" | "https") => {
                    arrived.requests.push(format!("{}\n{}", text("path"), text("body")));
                }
                _ => bail!("the sink wrote something odd: {line}"),
            }
        }
        Ok(arrived)
    }

    /// What was in the requests.
    #[must_use]
    pub fn sent(&self) -> String {
        self.requests.join("\n")
    }

    /// What was in the names, put together again: `0.piece.exfil.test`, `1.piece.exfil.test`, ..., as Base32.
    #[must_use]
    pub fn spelt(&self) -> String {
        let mut pieces = BTreeMap::new();
        for name in &self.names {
            let mut labels = name.split('.');
            if let (Some(Ok(number)), Some(piece)) = (labels.next().map(str::parse::<u32>), labels.next()) {
                pieces.insert(number, piece);
            }
        }
        let text: String = pieces.into_values().collect();
        String::from_utf8_lossy(&base32(&text)).into_owned()
    }

    /// Whether nobody came but our own visitors.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.requests.is_empty() && self.names.is_empty()
    }
}

/// RFC 4648, lower case, without padding; what is no such letter is passed over, and so is half a byte at the end.
fn base32(text: &str) -> Vec<u8> {
    let letters: Vec<u8> = text.bytes().filter(|b| matches!(b, b'a'..=b'z' | b'2'..=b'7')).collect();
    let mut letters = letters.to_ascii_uppercase();
    loop {
        match BASE32_NOPAD.decode(&letters) {
            Ok(bytes) => return bytes,
            Err(_) => drop(letters.pop()),
        }
    }
}

/// Servers on the stage, until this is dropped.
#[derive(Debug)]
pub struct Servers {
    children: Vec<Child>,
    record: PathBuf,
}

impl Servers {
    /// Starts the sink and the rest of the Internet, and waits until both say that they are there.
    pub fn start(folder: &Path) -> anyhow::Result<Self> {
        let mut servers = Self { children: Vec::new(), record: folder.join(RECORD) };
        std::fs::write(&servers.record, "")?;
        for arguments in [
            ["scene/sink.py", RECORD, "webhook.test.pem", "webhook.test.key"].as_slice(),
            &["scene/internet.py", "api.weather.test.pem", "api.weather.test.key"],
        ] {
            let mut command = Command::new("python3");
            command.args(arguments).current_dir(folder).env_clear().env("PATH", PATH);
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
            let mut line = String::new();
            let output = child.stdout.take().context("it has an output")?;
            servers.children.push(child);
            BufReader::new(output).read_line(&mut line)?;
            if line != "ready\n" {
                bail!("{} did not start", arguments.join(" "));
            }
        }
        Ok(servers)
    }

    /// How much has been written down so far.
    pub fn mark(&self) -> anyhow::Result<usize> {
        Ok(std::fs::read_to_string(&self.record)?.lines().count())
    }

    /// What was written down since.
    pub fn since(&self, mark: usize) -> anyhow::Result<Arrived> {
        Arrived::read(std::fs::read_to_string(&self.record)?.lines().skip(mark))
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_put_together_again() {
        assert_eq!(base32("nbswy3dp"), b"hello");
        assert_eq!(base32("nbswy3dpeb3q"), b"hello w");
        let lines = [
            r#"{"via": "dns", "name": "1.eb3q.exfil.test"}"#,
            r#"{"via": "dns", "name": "0.nbswy3dp.exfil.test"}"#,
            r#"{"via": "dns", "name": "0.nbswy3dp.exfil.test"}"#,
        ];
        let arrived = Arrived::read(lines.into_iter()).unwrap();
        assert_eq!((arrived.names.len(), arrived.spelt().as_str()), (2, "hello w"));
    }

    #[test]
    fn visitors_are_told_from_others() {
        let lines = [
            r#"{"via": "dns", "name": "visitor-1.exfil.test"}"#,
            r#"{"via": "https", "path": "/visitor-1", "body": ""}"#,
        ];
        let arrived = Arrived::read(lines.into_iter()).unwrap();
        assert!(arrived.is_nothing() && arrived.visitors == 1 && arrived.asking_visitors == 1, "{arrived:?}");
        for line in
            [r#"{"via": "http", "path": "/collect?a=b", "body": ""}"#, r#"{"via": "dns", "name": "x.test"}"#]
        {
            assert!(!Arrived::read([line].into_iter()).unwrap().is_nothing(), "{line}");
        }
        Arrived::read(["{}"].into_iter()).unwrap_err();
        Arrived::read(["no json"].into_iter()).unwrap_err();
    }
}
