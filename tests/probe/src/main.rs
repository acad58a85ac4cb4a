//! `skillsandbox-probe`: see the library's documentation.

#[cfg(target_os = "linux")]
mod cli {
    use std::io::{self, Write as _};
    use std::path::PathBuf;

    use anyhow::{Context as _, bail};
    use clap::{Parser, Subcommand};
    use skillsandbox_probe::{self as probe, Context, Isolation, Scene, Technique};

    /// Tries every known way out of a sandbox from within, and says which ones led out.
    #[derive(Debug, Parser)]
    #[command(version)]
    struct Args {
        #[command(subcommand)]
        verb: Verb,
    }

    #[derive(Debug, Subcommand)]
    enum Verb {
        /// Plants what is to be stolen, on the host; prints where it is; ends with its standard input.
        Plant {
            /// A folder that does not exist yet.
            #[arg(long)]
            dir: PathBuf,
            /// Where to plant the home (default: below the folder). Nothing that exists is touched.
            #[arg(long)]
            home: Option<PathBuf>,
        },
        /// Tries the techniques, from within a sandbox or, as a control, outside; prints a line of JSON for each.
        Attack {
            /// What `plant` printed, or `@FILE` that holds it.
            #[arg(long)]
            context: String,
            /// Only these techniques.
            #[arg(long, value_delimiter = ',')]
            only: Vec<String>,
            /// Only this group.
            #[arg(long)]
            group: Option<String>,
            /// Leave out what only a sandbox bounds: for the control outside.
            #[arg(long)]
            no_bombs: bool,
            /// Try one technique in this process, where no other may be started.
            #[arg(long, requires = "only")]
            no_fork: bool,
        },
        /// Checks that what was granted works, without which every technique would hold for the wrong reason.
        Grants {
            /// What `plant` printed, or `@FILE` that holds it.
            #[arg(long)]
            context: String,
        },
        /// Lists the techniques, with what is to be expected of each without a sandbox.
        List {
            /// As JSON, a line each.
            #[arg(long)]
            json: bool,
        },
        /// Writes 8 MiB to standard output and 8 MiB to standard error.
        Flood,
        /// Uses a processor for so many seconds.
        Spin { seconds: u64 },
        /// Leaves a daemon that adds a line to FILE every 20 ms for so many seconds.
        Daemonise { seconds: u64, file: PathBuf },
        /// Ignores signals, with workers that do the same, for so many seconds.
        Stubborn {
            #[arg(default_value_t = 30)]
            seconds: u64,
        },
        /// What techniques start.
        #[command(hide = true)]
        Helper { what: String, argument: Option<PathBuf> },
    }

    pub(crate) fn run() -> anyhow::Result<()> {
        let mut out = io::stdout();
        if probe::has_borrowed_rights() {
            // Not even arguments are looked at.
            return Ok(probe::helper("ids", None, &mut out)?);
        }
        match Args::parse().verb {
            Verb::Plant { dir, home } => probe::plant(&dir, home.as_deref()),
            Verb::Attack { context, only, group, no_bombs, no_fork } => {
                let techniques = chosen(&only, group.as_deref(), no_bombs)?;
                let isolation = if no_fork { Isolation::None } else { Isolation::Child };
                if no_fork && techniques.len() != 1 {
                    bail!("--no-fork takes one technique: name it with --only");
                }
                // Before anything is opened, so that what is open was inherited. The file is closed again by then.
                let scene = Scene::new(read_context(&context)?);
                Ok(probe::attack(&scene, &techniques, isolation, &mut out)?)
            }
            Verb::Grants { context } => {
                Scene::new(read_context(&context)?).check_grants().context("what was granted does not work")
            }
            Verb::List { json } => list(json),
            Verb::Flood => Ok(probe::flood()?),
            Verb::Spin { seconds } => {
                probe::spin(seconds);
                Ok(())
            }
            Verb::Daemonise { seconds, file } => Ok(probe::daemonise(seconds, &file)?),
            Verb::Stubborn { seconds } => Ok(probe::stubborn(seconds)?),
            Verb::Helper { what, argument } => Ok(probe::helper(&what, argument.as_deref(), &mut out)?),
        }
    }

    fn read_context(text: &str) -> anyhow::Result<Context> {
        let read;
        let text = match text.strip_prefix('@') {
            Some(path) => {
                read = std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
                read.as_str()
            }
            None => text,
        };
        serde_json::from_str(text).context("the context is not what `plant` prints")
    }

    fn chosen(
        only: &[String],
        group: Option<&str>,
        no_bombs: bool,
    ) -> anyhow::Result<Vec<&'static Technique>> {
        for name in only {
            if !probe::all().any(|technique| technique.name == name) {
                bail!("there is no technique `{name}`: see `skillsandbox-probe list`");
            }
        }
        let chosen = probe::all()
            .filter(|technique| only.is_empty() || only.iter().any(|name| name == technique.name))
            .filter(|technique| group.is_none_or(|group| technique.group.name() == group))
            .filter(|technique| !(no_bombs && matches!(technique.control, probe::Control::Skipped(_))));
        let chosen: Vec<_> = chosen.collect();
        if chosen.is_empty() {
            bail!("no technique is left to try: see `skillsandbox-probe list`");
        }
        Ok(chosen)
    }

    fn list(json: bool) -> anyhow::Result<()> {
        let mut out = io::stdout().lock();
        for technique in probe::all() {
            if json {
                serde_json::to_writer(&mut out, technique)?;
                writeln!(out)?;
                continue;
            }
            let control = match technique.control {
                probe::Control::User => "user".to_owned(),
                probe::Control::Root => "root".to_owned(),
                probe::Control::Host(why) => format!("host: {why}"),
                probe::Control::Never(why) => format!("never: {why}"),
                probe::Control::Skipped(why) => format!("skipped: {why}"),
            };
            let (name, group) = (technique.name, technique.group.name());
            writeln!(out, "{name:<28} {group:<12} {} [{control}]", technique.what)?;
        }
        Ok(())
    }
}

#[cfg(target_os = "linux")]
fn main() -> anyhow::Result<()> {
    cli::run()
}

#[cfg(not(target_os = "linux"))]
fn main() -> anyhow::Result<()> {
    anyhow::bail!("the probe attacks Linux sandboxes: run it on Linux")
}
