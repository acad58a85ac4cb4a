//! The flags of `run` and `exec`.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use clap::{Args, ValueEnum};
use skillsandbox_run::{AddressPin, Job, ObserveLevel};

use crate::args::OutputFormat;

#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools, reason = "flags are flags")]
pub(crate) struct RunFlags {
    /// Show what would be enforced here, layer by layer; execute nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Show what is tried as it happens, on standard error
    #[arg(long)]
    pub(crate) watch: bool,

    /// Where the trace is written; otherwise in the state directory, under a name of its own
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,

    /// How to show the result: the command's own output and a summary, or one JSON object with both
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: OutputFormat,

    /// Connect to ADDR when HOST is connected to on PORT, as curl has it; ADDR may have a port of its own
    #[arg(long, value_name = "HOST:PORT:ADDR", value_parser = pin)]
    pub(crate) resolve: Vec<AddressPin>,

    /// Go on without this layer where this host does not have it; the trace says so
    #[arg(long, value_name = "LAYER")]
    pub(crate) best_effort: Vec<String>,

    /// How much of what is tried is recorded
    #[arg(long, value_name = "LEVEL", default_value = "full")]
    pub(crate) audit: ObserveFlag,

    /// End the run rather than not record something that it tried
    #[arg(long)]
    pub(crate) audit_required: bool,

    /// End it after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,

    /// Keep what is left in /tmp, in a folder whose name is printed
    #[arg(long)]
    pub(crate) keep_tmp: bool,

    /// Hand standard input on; otherwise there is none
    #[arg(long)]
    pub(crate) stdin: bool,

    /// Send what happens to an OpenTelemetry collector, as the `OTEL_*` variables say
    #[arg(long)]
    pub(crate) otel: bool,

    /// Do not record the run in the history
    #[arg(long)]
    pub(crate) no_history: bool,

    /// Print no summary
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ObserveFlag {
    /// Only what the network's broker sees
    Off,
    /// Refused calls and connections
    Violations,
    /// Files and programs, too
    Full,
}

impl RunFlags {
    /// Puts what was asked for into a job. A folder for `--keep-tmp` is made.
    pub(crate) fn apply(&self, job: &mut Job, kept: Option<&KeptTmp>) {
        job.pins.extend(self.resolve.iter().cloned());
        job.best_effort.extend(self.best_effort.iter().cloned());
        job.observe = match self.audit {
            ObserveFlag::Off => ObserveLevel::Off,
            ObserveFlag::Violations => ObserveLevel::Violations,
            ObserveFlag::Full => ObserveLevel::Full,
        };
        job.observe_required = self.audit_required;
        if self.timeout.is_some() {
            job.limits.timeout = self.timeout;
        }
        job.tmp = kept.map(|kept| kept.0.clone());
        job.redact_variables(std::env::vars_os());
        // What is set by hand is as secret as what is handed on.
        let set: Vec<_> = job.set_env.iter().map(|(name, value)| (name.into(), value.into())).collect();
        job.redact_variables(set);
    }

    /// The folder that takes the place of /tmp, where one is to be kept.
    pub(crate) fn keep_tmp(&self) -> anyhow::Result<Option<KeptTmp>> {
        if !self.keep_tmp || self.dry_run {
            return Ok(None);
        }
        let folder = std::env::temp_dir().join(format!("skillsandbox-{}", uuid::Uuid::new_v4()));
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(Some(KeptTmp(folder)))
    }
}

/// A folder that is kept: its name is printed when the run has ended.
pub(crate) struct KeptTmp(PathBuf);

impl Drop for KeptTmp {
    fn drop(&mut self) {
        crate::output::message(&format!("what it left in /tmp: {}", self.0.display()));
    }
}

/// `HOST:PORT:ADDR`, `HOST:PORT:ADDR:PORT`; an IPv6 address with a port stands in brackets.
pub(in crate::verbs) fn pin(text: &str) -> anyhow::Result<AddressPin> {
    let form = "it is written HOST:PORT:ADDR, such as api.weather.test:443:127.0.0.1:8443";
    let (name, rest) = text.split_once(':').context(form)?;
    let (port, address) = rest.split_once(':').context(form)?;
    let port: u16 = port.parse().ok().context(form)?;
    ensure!(!name.is_empty() && port != 0, form);
    let bare = address.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(address);
    let alone = || Some(SocketAddr::new(bare.parse::<IpAddr>().ok()?, port));
    let to = address.parse::<SocketAddr>().ok().or_else(alone).context(form)?;
    Ok(AddressPin { name: name.to_owned(), port, to })
}

pub(in crate::verbs) fn seconds(text: &str) -> anyhow::Result<Duration> {
    let seconds: f64 = text.parse().context("it is a number of seconds")?;
    let duration = Duration::try_from_secs_f64(seconds).context("it is a number of seconds")?;
    ensure!(!duration.is_zero(), "it must be more than 0");
    Ok(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_are_written_as_curl_has_them() {
        let of = |text| pin(text).map(|pin| (pin.name, pin.port, pin.to.to_string()));
        let is = |name: &str, port, to: &str| Some((name.to_owned(), port, to.to_owned()));
        assert_eq!(of("a.test:443:127.0.0.1").ok(), is("a.test", 443, "127.0.0.1:443"));
        assert_eq!(of("a.test:443:127.0.0.1:8443").ok(), is("a.test", 443, "127.0.0.1:8443"));
        assert_eq!(of("a.test:443:::1").ok(), is("a.test", 443, "[::1]:443"));
        assert_eq!(of("a.test:443:[::1]").ok(), is("a.test", 443, "[::1]:443"));
        assert_eq!(of("a.test:443:[::1]:8443").ok(), is("a.test", 443, "[::1]:8443"));
        for wrong in
            ["", "a", "a:b", "a:443", "a:0:127.0.0.1", ":443:127.0.0.1", "a:443:b.test", "a:70000:127.0.0.1"]
        {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_time_is_more_than_nothing() {
        assert_eq!(seconds("0.5").ok(), Some(Duration::from_millis(500)));
        for wrong in ["0", "-1", "NaN", "inf", "1e400", "ten", ""] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
