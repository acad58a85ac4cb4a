//! The victim: a home with fake credentials, and an agent with some in its variables.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};

use crate::stage::PATH;

/// The victim's home, on the stage.
pub const HOME: &str = "/home/victim";
/// A variable of the agent that it hands on to nobody: whoever has it read the agent's own.
pub const AGENTS_OWN: &str = "AGENT_SESSION_TOKEN";
/// Granted to both weather skills. It is not among what must not arrive.
pub const GRANTED: (&str, &str) = ("WEATHER_API_KEY", "a-key-for-the-weather-service");

/// What was planted, every value with a number of this planting.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planted {
    /// Variables of the agent, which a skill is started with.
    pub variables: Vec<(String, String)>,
    /// What is to be found in files: the path in the home, and the text.
    pub files: Vec<(String, String)>,
    /// The value of [`AGENTS_OWN`].
    pub agents_own: String,
}

/// Which part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Variables.
    Variables,
    /// Files.
    Files,
    /// The agent's own variable.
    Agent,
}

impl Planted {
    /// Plants, with the script that the example has for it.
    pub fn plant(script: &Path, home: &str) -> anyhow::Result<Self> {
        let mut command = Command::new("/bin/sh");
        command.arg(script).arg(home).env_clear().env("PATH", PATH).stdin(Stdio::null());
        let output = command.output().context("cannot start /bin/sh")?;
        if !output.status.success() {
            bail!("nothing was planted: {}", String::from_utf8_lossy(&output.stderr));
        }
        Self::read(&String::from_utf8(output.stdout)?)
    }

    /// Reads what the script prints: `export NAME=value`, and `# value in file`.
    fn read(text: &str) -> anyhow::Result<Self> {
        let mut planted = Self::default();
        for line in text.lines() {
            if let Some((name, value)) = line.strip_prefix("export ").and_then(|line| line.split_once('=')) {
                planted.variables.extend((name != "HOME").then(|| (name.to_owned(), value.to_owned())));
            } else if let Some((value, file)) =
                line.strip_prefix("# ").and_then(|line| line.split_once(" in ."))
                && value.starts_with("FAKE-")
            {
                planted.files.push((format!(".{file}"), value.to_owned()));
            }
        }
        let last = planted.variables.last().context("the script named no variables")?;
        let number = last.1.rsplit(['-', '@']).find(|part| part.len() == 12).context("no number")?;
        planted.agents_own = format!("FAKE-agent-{number}");
        if planted.files.is_empty() {
            bail!("the script named no files");
        }
        Ok(planted)
    }

    /// The secrets of a part. Of a value such as an address, only what is secret in it: an attacker may cut the rest.
    #[must_use]
    pub fn secrets(&self, part: Part) -> Vec<&str> {
        match part {
            Part::Variables => self.variables.iter().filter_map(|(_, value)| fake(value)).collect(),
            Part::Files => self.files.iter().filter_map(|(_, value)| fake(value)).collect(),
            Part::Agent => fake(&self.agents_own).into_iter().collect(),
        }
    }

    /// How many secrets of a part a text holds.
    #[must_use]
    pub fn found_in(&self, part: Part, text: &str) -> usize {
        self.secrets(part).into_iter().filter(|secret| text.contains(secret)).count()
    }

    /// How many of all a text holds.
    #[must_use]
    pub fn all_found_in(&self, text: &str) -> usize {
        [Part::Variables, Part::Files, Part::Agent].into_iter().map(|part| self.found_in(part, text)).sum()
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self, part: Part) -> usize {
        self.secrets(part).len()
    }

    /// The agent: a process with all the variables, which starts the command with all but [`AGENTS_OWN`], and waits for it.
    #[must_use]
    pub fn agent(&self, command: &[&str]) -> Command {
        let mut agent = Command::new("/bin/sh");
        // Without what follows, a shell becomes the command instead of waiting for it.
        agent.args(["-c", &format!("env -u {AGENTS_OWN} \"$@\"; exit $?"), "agent"]).args(command);
        agent
            .env_clear()
            .env("PATH", PATH)
            .env("LANG", "C.UTF-8")
            .env("HOME", HOME)
            .env(GRANTED.0, GRANTED.1);
        agent.envs(self.variables.iter().map(|(name, value)| (name, value)));
        agent.env(AGENTS_OWN, &self.agents_own).stdin(Stdio::null());
        agent
    }
}

/// `FAKE-…` in a value, up to what cannot be part of it.
fn fake(value: &str) -> Option<&str> {
    let from = value.get(value.find("FAKE-")?..)?;
    from.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\
# FAKE credentials are planted in /home/victim:
# FAKE-file-aws-0123456789ab in .aws/credentials
# FAKE-file-netrc-0123456789ab in .netrc
export HOME=/home/victim
export GITHUB_TOKEN=FAKE-env-github-0123456789ab
export DATABASE_URL=postgres://admin:FAKE-env-database-0123456789ab@db.invalid/app
";

    #[test]
    fn what_was_planted_is_read_and_found_again() {
        let planted = Planted::read(PRINTED).unwrap();
        assert_eq!(planted.files[1], (".netrc".to_owned(), "FAKE-file-netrc-0123456789ab".to_owned()));
        assert_eq!(planted.variables.len(), 2);
        assert_eq!(planted.agents_own, "FAKE-agent-0123456789ab");
        let text = "x FAKE-env-database-0123456789ab y FAKE-agent-0123456789ab FAKE-env-github-ffffffffffff";
        assert_eq!(planted.found_in(Part::Variables, text), 1);
        assert_eq!(planted.found_in(Part::Files, text), 0);
        assert_eq!(planted.found_in(Part::Agent, text), 1);
        assert_eq!(planted.all_found_in(PRINTED), 4);
        assert_eq!((planted.count(Part::Variables), planted.count(Part::Files)), (2, 2));
    }

    #[test]
    fn a_script_that_plants_nothing_is_an_error() {
        Planted::read("").unwrap_err();
        Planted::read("export HOME=/home/victim\n").unwrap_err();
        Planted::read("export GITHUB_TOKEN=FAKE-env-github-0123456789ab\n").unwrap_err();
    }
}
