//! A folder for everybody in which the measuring happens: the programs, a home, a folder to write, a skill. Removed at the end.
//!
//! The programs are copied there, for the checkout may lie in a folder that an ordinary user cannot see, and so that no other process runs the
//! same file and shares its memory.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use nix::unistd::{getegid, geteuid};
use serde_json::json;

use super::options::{NamedCommand, Options};
use super::tools::Setup;
use crate::ordinary;

/// The skill that does nothing.
pub(super) const SKILL: &str = "trivial";
const SKILL_TEXT: &str = "---\nname: trivial\ndescription: Does nothing, to see what a run costs\n---\n\n# Trivial\n\nDoes nothing.\n";
const SKILL_MANIFEST: &str = "skill:\n  name: trivial\n  version: \"0.1.0\"\n  description: Does nothing, to see what a \
                              run costs\n\nentrypoint:\n  command: \"true\"\n";

/// For srt: nothing may be reached, the home not be read, one folder be written.
fn srt_settings(setup: &Setup) -> String {
    let network = json!({ "allowedDomains": [], "deniedDomains": [] });
    let filesystem = json!({ "denyRead": [setup.home], "allowWrite": [setup.work], "denyWrite": [] });
    json!({ "network": network, "filesystem": filesystem }).to_string()
}

/// As a user: number and group.
#[derive(Debug, Clone, Copy)]
struct User {
    id: u32,
    group: u32,
}

#[derive(Debug)]
pub(super) struct Stage {
    root: PathBuf,
    user: User,
    commands: Vec<NamedCommand>,
}

impl Stage {
    /// With copies of the floor and of the commands, for root where that is asked for, and for an ordinary user otherwise.
    pub(super) fn make(options: &Options, floor: Option<&Path>) -> anyhow::Result<Self> {
        let root = geteuid().is_root();
        if options.as_root && !root {
            bail!("--root measures as root, and this is user {}", geteuid());
        }
        let user = if root && !options.as_root {
            let id = ordinary::user()?;
            User { id, group: id }
        } else {
            User { id: geteuid().as_raw(), group: getegid().as_raw() }
        };
        let mut why = Vec::new();
        for place in ordinary::PLACES {
            match Self::make_in(Path::new(place), user, options, floor) {
                Ok(stage) => return Ok(stage),
                Err(error) => why.push(format!("{place}: {error:#}")),
            }
        }
        bail!("no folder to measure in: {}", why.join("; "))
    }

    fn make_in(place: &Path, user: User, options: &Options, floor: Option<&Path>) -> anyhow::Result<Self> {
        let root = place.join(format!("skillsandbox-peers-{}", std::process::id()));
        // Fails where somebody was there before: in a folder for everybody, that may be anybody.
        fs::create_dir(&root).with_context(|| format!("cannot create {}", root.display()))?;
        let mut stage = Self { root, user, commands: Vec::new() };
        ordinary::open_to_all(&stage.root)?;
        let setup = setup(&stage.root, Path::new(""));
        let skill = setup.skills.join(SKILL);
        for folder in [&setup.programs, &setup.home, &setup.work, &setup.skills, &skill] {
            fs::create_dir(folder)?;
            ordinary::open_to_all(folder)?;
        }
        let files = [
            (skill.join("SKILL.md"), SKILL_TEXT.to_owned()),
            (skill.join("skillsandbox.yaml"), SKILL_MANIFEST.to_owned()),
            (setup.srt_settings(), srt_settings(&setup)),
            (setup.secret(), "nobody inside may read this\n".to_owned()),
        ];
        for (file, text) in &files {
            fs::write(file, text)?;
            chown(file, Some(user.id), Some(user.group))?;
        }
        // The user's own last of all: root writes nothing where somebody else may.
        for folder in [&skill, &setup.skills, &setup.work, &setup.home] {
            chown(folder, Some(user.id), Some(user.group))?;
        }
        if let Some(floor) = floor {
            ordinary::copy(floor, &setup.programs)?;
        }
        for (number, command) in options.commands.iter().enumerate() {
            // Each under its own name, which is what others see of it.
            let folder = setup.programs.join(number.to_string());
            fs::create_dir(&folder)?;
            ordinary::open_to_all(&folder)?;
            let path = folder.join("skillsandbox");
            fs::copy(&command.path, &path)
                .with_context(|| format!("cannot copy {}", command.path.display()))?;
            ordinary::open_to_all(&path)?;
            let command = NamedCommand::new(&command.name, path);
            fs::create_dir(&command.home)?;
            ordinary::open_to_all(&command.home)?;
            chown(&command.home, Some(user.id), Some(user.group))?;
            stage.commands.push(command);
        }
        let own = ordinary::copy(&std::env::current_exe()?, &setup.programs)?;
        let starts = stage.command(&own).arg("help").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if !starts.is_ok_and(|status| status.success()) {
            bail!("nothing can be executed there");
        }
        Ok(stage)
    }

    /// A command as the user, in its home.
    fn command(&self, program: &Path) -> Command {
        let home = setup(&self.root, Path::new("")).home;
        let mut command = Command::new(program);
        // `uid` also gives up root's supplementary groups.
        command.uid(self.user.id).gid(self.user.group).current_dir(&home).stdin(Stdio::null());
        command.env_clear().env("PATH", ordinary::PATH).env("LANG", "C.UTF-8").env("HOME", home);
        command
    }

    /// What measures: this program once more, as the user.
    pub(super) fn measuring_command(&self, options: &Options, peers: &Path) -> anyhow::Result<Command> {
        let own = std::env::current_exe()?;
        let name = own.file_name().context("this program has no name")?;
        let options = Options {
            commands: self.commands.clone(),
            stage: Some(self.root.clone()),
            peers: Some(peers.to_owned()),
            ..options.clone()
        };
        let mut command = self.command(&setup(&self.root, peers).programs.join(name));
        command.args(["bench", "peers"]).args(options.words());
        Ok(command)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.root) {
            eprintln!("{} could not be removed: {error}", self.root.display());
        }
    }
}

/// Where everything is on a stage.
pub(super) fn setup(stage: &Path, peers: &Path) -> Setup {
    Setup {
        programs: stage.join("programs"),
        peers: peers.to_owned(),
        home: stage.join("home"),
        work: stage.join("work"),
        skills: stage.join("skills"),
        pieces: Vec::new(),
    }
}
