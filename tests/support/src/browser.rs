//! A browser without a window, if there is one.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::missing;

/// Milliseconds of the page's own time that it may take: the browser stops then by itself, loaded or not.
const PATIENCE: &str = "60000";

pub struct Browser {
    program: &'static str,
    profile: tempfile::TempDir,
}

/// A page after its script ran.
pub struct Shown {
    pub dom: String,
    /// What it said on the console.
    pub console: Vec<String>,
}

impl Browser {
    /// The first that is here; or says that there is none, where that is allowed.
    pub fn find() -> Option<Self> {
        const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
        let Some(program) = NAMES.into_iter().find(|name| missing::outside([*name]).is_empty()) else {
            missing::skip(&["chromium"]);
            return None;
        };
        Some(Self { program, profile: tempfile::tempdir().unwrap() })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.program);
        command
            .args(["--headless", "--disable-gpu", "--no-first-run", "--disable-sync", "--hide-scrollbars"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-extensions"])
            // Nothing may leave this machine, whatever the page does.
            .args(["--proxy-server=127.0.0.1:9", "--host-resolver-rules=MAP * ~NOTFOUND"])
            // Root, and most containers, cannot have the browser's own sandbox.
            .args([
                "--no-sandbox",
                "--disable-dev-shm-usage",
                "--enable-logging=stderr",
                "--window-size=1400,1600",
            ])
            .arg(format!("--timeout={PATIENCE}"))
            .arg(format!("--user-data-dir={}", self.profile.path().display()));
        command
    }

    /// Opens a page, at a place in it.
    pub fn open(&self, page: &Path, place: &str) -> Shown {
        let address = format!("file://{}{place}", page.display());
        let output = self.command().arg("--dump-dom").arg(address).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let console = said.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect();
        Shown { dom: String::from_utf8(output.stdout).unwrap(), console }
    }

    /// A picture of it.
    pub fn picture(&self, page: &Path, to: &Path) -> PathBuf {
        let address = format!("file://{}", page.display());
        let output =
            self.command().arg(format!("--screenshot={}", to.display())).arg(address).output().unwrap();
        assert!(to.exists(), "{}", String::from_utf8_lossy(&output.stderr));
        to.to_owned()
    }
}
