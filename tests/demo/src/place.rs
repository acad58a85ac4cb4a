//! The folder that a demo is played from: programs, scripts and skills, complete, so that nothing else of the machine is needed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::certificates;

/// Where the folder is on the stage.
pub const ON_STAGE: &str = "/home/demo";
/// The skills, in it.
pub const SKILLS: &str = "examples/skills";
/// Made by whoever has come on stage.
pub const ARRIVED: &str = "on-stage";
/// What was seen, as JSON.
pub const EVIDENCE: &str = "evidence.json";
/// The sink's own record.
pub const RECORD: &str = "sink.ndjson";
/// Traces of runs.
pub const TRACES: &str = "traces";

/// Compiled in: the checkout may lie where others than its owner cannot look, and an image needs none.
const FILES: [(&str, &str); 12] = [
    ("scene/stage.sh", include_str!("../scene/stage.sh")),
    ("scene/names.py", include_str!("../scene/names.py")),
    ("scene/sink.py", include_str!("../scene/sink.py")),
    ("scene/internet.py", include_str!("../scene/internet.py")),
    ("examples/skills/weather/SKILL.md", include_str!("../../../examples/skills/weather/SKILL.md")),
    ("examples/skills/weather/main.py", include_str!("../../../examples/skills/weather/main.py")),
    (
        "examples/skills/weather/skillsandbox.yaml",
        include_str!("../../../examples/skills/weather/skillsandbox.yaml"),
    ),
    (
        "examples/skills/malicious-weather/SKILL.md",
        include_str!("../../../examples/skills/malicious-weather/SKILL.md"),
    ),
    (
        "examples/skills/malicious-weather/main.py",
        include_str!("../../../examples/skills/malicious-weather/main.py"),
    ),
    (
        "examples/skills/malicious-weather/skillsandbox.yaml",
        include_str!("../../../examples/skills/malicious-weather/skillsandbox.yaml"),
    ),
    (
        "examples/skills/malicious-weather/ATTACK.md",
        include_str!("../../../examples/skills/malicious-weather/ATTACK.md"),
    ),
    (
        "examples/skills/malicious-weather/setup-victim-env.sh",
        include_str!("../../../examples/skills/malicious-weather/setup-victim-env.sh"),
    ),
];

/// Such a folder. One that was not asked to be kept is removed with this.
#[derive(Debug)]
pub struct Place {
    path: PathBuf,
    program: PathBuf,
    _temporary: Option<tempfile::TempDir>,
}

impl Place {
    /// Fills a new folder. `keep` must not exist yet.
    pub fn make(keep: Option<&Path>, program: &Path) -> anyhow::Result<Self> {
        let program = program.canonicalize().ok().filter(|program| program.is_file()).with_context(|| {
            format!(
                "there is no program {}; `cargo build --package skillsandbox` makes it",
                program.display()
            )
        })?;
        let place = if let Some(path) = keep {
            fs::create_dir(path).with_context(|| format!("cannot make {}", path.display()))?;
            Self { path: path.canonicalize()?, program, _temporary: None }
        } else {
            let temporary = tempfile::Builder::new().prefix("skillsandbox-demo-").tempdir()?;
            Self { path: temporary.path().canonicalize()?, program, _temporary: Some(temporary) }
        };
        for (name, text) in FILES {
            let path = place.path.join(name);
            fs::create_dir_all(path.parent().context("a file without a folder")?)?;
            fs::write(path, text)?;
        }
        fs::create_dir(place.path.join(TRACES))?;
        fs::create_dir(place.path.join("bin"))?;
        // The programs themselves are mounted here, on the stage.
        for name in ["skillsandbox", "skillsandbox-demo"] {
            fs::write(place.path.join("bin").join(name), "")?;
        }
        certificates::make(&place.path)?;
        Ok(place)
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The program that is shown, where it is on the machine.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }
}
