//! The flags of `run` and `exec`.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use skillsandbox_manifest::{ByteSize, Resolver};
use skillsandbox_run::{AddressPin, Job, MIN_TRACE_LIMIT, ObserveLevel, RunHistory, RunTerminal};
use skillsandbox_store::signing::SigningKey;

#[cfg(unix)]
use super::user_terminal;
use crate::args::OutputFormat;
use crate::output::message;
use crate::verbs::run_history::{optional_history, unrecorded_history};

#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools, reason = "flags are flags")]
pub(crate) struct RunFlags {
    /// Show what would be enforced here, layer by layer; execute nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Show what is tried as it happens, on standard error
    #[arg(long)]
    pub(crate) watch: bool,

    /// Write the trace to this file instead of a new one in the state folder
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,

    /// How to show the result: the command's own output and a summary, or one JSON object with both
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: OutputFormat,

    /// Connect to ADDR instead of HOST:PORT, like curl's --resolve; ADDR may include a port
    #[arg(long, value_name = "HOST:PORT:ADDR", value_parser = pin)]
    pub(crate) resolve: Vec<AddressPin>,

    /// Resolve granted names by the server at this address, or by the `system`'s; without it, as your policy says
    #[arg(long, value_name = "ADDR|system")]
    pub(crate) resolver: Option<Resolver>,

    /// Run without this layer if this host lacks it; the trace says so
    #[arg(long, value_name = "LAYER")]
    pub(crate) best_effort: Vec<String>,

    /// How much of what is tried is recorded
    #[arg(long, value_name = "LEVEL", default_value = "full", value_parser = levels())]
    observe: ObserveLevel,

    /// End the run rather than not record something that it tried
    #[arg(long)]
    observe_required: bool,

    /// The old name of --observe
    #[arg(long, value_name = "LEVEL", hide = true, conflicts_with = "observe", value_parser = levels())]
    audit: Option<ObserveLevel>,

    /// The old name of --observe-required
    #[arg(long, hide = true)]
    audit_required: bool,

    /// End the run after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,

    /// Keep the run's /tmp in a folder, and print its name
    #[arg(long)]
    pub(crate) keep_tmp: bool,

    /// Give it a terminal of its own, for shells and other programs of the screen; keys go there, Ctrl-C too
    #[arg(long, short, conflicts_with_all = ["watch", "dry_run", "stdin"])]
    pub(crate) tty: bool,

    /// Pass standard input on; without this flag it is empty
    #[arg(long)]
    pub(crate) stdin: bool,

    /// Send the run to an OpenTelemetry collector, as the `OTEL_*` variables say
    #[arg(long)]
    pub(crate) otel: bool,

    /// Do not record the run in the history
    #[arg(long)]
    pub(crate) no_history: bool,

    /// Sign the record and the trace with the key of `skillsandbox key create`
    #[arg(long, conflicts_with = "no_history")]
    pub(crate) sign: bool,

    /// The most that the trace may take, at least 4M: what does not fit is counted in it
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = trace_limit)]
    pub(crate) trace_limit: u64,

    /// Pass output on to a terminal as it is; without this flag, what controls a terminal is shown instead of done (with --tty: only drawing
    /// passes)
    #[arg(long)]
    pub(crate) raw: bool,

    /// Print no summary
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// The levels of `--observe`, each with what it adds.
fn levels() -> impl TypedValueParser<Value = ObserveLevel> {
    let values = ObserveLevel::ALL.iter().map(|level| {
        let help = match level {
            ObserveLevel::Off => "Only what the network's broker sees",
            ObserveLevel::Violations => "Refused calls and connections",
            ObserveLevel::Full => "Files and programs, too",
        };
        PossibleValue::new(level.as_str()).help(help)
    });
    PossibleValuesParser::new(values).try_map(|name| name.parse())
}

impl RunFlags {
    /// Puts what was asked for into a job. A folder for `--keep-tmp` is made.
    pub(crate) fn apply(&self, job: &mut Job, kept: Option<&KeptTmp>) {
        job.pins.extend(self.resolve.iter().cloned());
        if let Some(resolver) = self.resolver {
            job.choose_resolver(resolver, "--resolver");
        }
        job.best_effort.extend(self.best_effort.iter().cloned());
        job.observe = self.audit.unwrap_or(self.observe);
        job.observe_required = self.observe_required || self.audit_required;
        if self.timeout.is_some() {
            job.limits.timeout = self.timeout;
        }
        #[cfg(unix)]
        if self.tty {
            job.set_env.entry("TERM".to_owned()).or_insert_with(user_terminal::kind);
        }
        job.tmp = kept.map(|kept| kept.0.clone());
    }

    /// A terminal for the run, where one is asked for and there is one to show it on.
    #[cfg(unix)]
    pub(super) fn run_terminal(&self) -> anyhow::Result<Option<RunTerminal>> {
        if !self.tty {
            return Ok(None);
        }
        ensure!(self.format == OutputFormat::Text, "--tty shows the run on a terminal: leave --format out");
        user_terminal::check_terminals()?;
        Ok(Some(user_terminal::run_terminal()))
    }

    /// Lets every key through to the run, until what this returns goes out of scope.
    #[cfg(unix)]
    pub(super) fn enter_terminal(&self) -> anyhow::Result<Option<user_terminal::RawTerminal>> {
        if self.tty { user_terminal::RawTerminal::enter().map(Some) } else { Ok(None) }
    }

    #[cfg(not(unix))]
    pub(super) fn run_terminal(&self) -> anyhow::Result<Option<RunTerminal>> {
        ensure!(!self.tty, "--tty is not available on this system");
        Ok(None)
    }

    #[cfg(not(unix))]
    pub(super) fn enter_terminal(&self) -> anyhow::Result<Option<()>> {
        Ok(None)
    }

    /// Says which flags have another name now.
    pub(crate) fn warn_of_old_names(&self) {
        for (used, old, new) in [
            (self.audit.is_some(), "--audit", "--observe"),
            (self.audit_required, "--audit-required", "--observe-required"),
        ] {
            if used {
                message(&format!("{old} is the old name of {new}; use {new}"));
            }
        }
    }

    /// Where the run is recorded.
    pub(crate) fn history(&self) -> anyhow::Result<Arc<dyn RunHistory>> {
        if self.no_history || self.dry_run {
            return Ok(unrecorded_history());
        }
        // Before anything is run: a run that cannot be signed as it was asked for is none.
        let key = if self.sign { Some(SigningKey::load(&SigningKey::user_file()?)?) } else { None };
        Ok(optional_history(key))
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
        message(&format!("what it left in /tmp: {}", self.0.display()));
    }
}

/// `HOST:PORT:ADDR`, `HOST:PORT:ADDR:PORT`; an IPv6 address with a port stands in brackets.
pub(in crate::verbs) fn pin(text: &str) -> anyhow::Result<AddressPin> {
    let form = "expected HOST:PORT:ADDR, such as api.weather.test:443:127.0.0.1:8443";
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
    let seconds: f64 = text.parse().context("expected a number of seconds")?;
    let duration = Duration::try_from_secs_f64(seconds).context("expected a number of seconds")?;
    ensure!(!duration.is_zero(), "it must be more than 0");
    if duration > LONGEST {
        message(&format!("a time limit is {} seconds (7 days) at most; taken as that", LONGEST.as_secs()));
    }
    Ok(duration.min(LONGEST))
}

fn trace_limit(text: &str) -> anyhow::Result<u64> {
    let bytes = text.parse::<ByteSize>()?.bytes();
    ensure!(bytes >= MIN_TRACE_LIMIT, "a trace needs at least {}M", MIN_TRACE_LIMIT >> 20);
    Ok(bytes)
}

/// Longest time limit, as manifests have it.
const LONGEST: Duration = Duration::from_hours(7 * 24);

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
        assert_eq!(seconds("1e18").ok(), Some(LONGEST));
        for wrong in ["0", "-1", "NaN", "inf", "1e400", "ten", ""] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
