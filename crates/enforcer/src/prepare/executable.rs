//! The programs that a run may execute, where not all of them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::prepare::links::WalkedPath;
use crate::program::{self, FoundProgram, ProgramNeed, ProgramSearch};

/// Files that may be executed, and folders of such files. Without links.
#[derive(Debug, Clone, Default)]
pub(crate) struct AllowedPrograms {
    pub(crate) paths: Vec<PathBuf>,
    /// What these programs need to start, outside the system's folders: their installations and libraries.
    pub(crate) needs: Vec<PathBuf>,
}

impl AllowedPrograms {
    /// Finds the programs that are named, adds what they need to `needs`, and sees to it that the command is among them.
    pub(crate) fn find(
        names: &[OsString],
        command: &FoundProgram,
        search: &ProgramSearch<'_>,
        needs: &mut Vec<ProgramNeed>,
    ) -> Result<Self, Error> {
        let mut found = Self::default();
        found.needs.extend(command.needs.iter().map(|need| need.path.clone()));
        for name in names {
            let path = Path::new(name);
            if path.is_absolute() {
                let failed = |error| {
                    Error::Program(format!("{} cannot be among the programs: {error}", path.display()))
                };
                let walked = WalkedPath::walk(path).ok();
                // Whoever makes a link chooses what may be executed.
                walked.iter().try_for_each(|walked| search.links.check(walked)).map_err(failed)?;
                if let Some(walked) = walked.filter(|walked| walked.real.is_dir()) {
                    found.paths.push(walked.real);
                    continue;
                }
            }
            // What is not on this host cannot be executed, and what cannot be executed need not be held back.
            if let Ok(program) = program::find(name, search) {
                found.needs.extend(program.needs.iter().map(|need| need.path.clone()));
                needs.extend(program.needs);
                found.paths.extend(program.executed);
            }
        }
        if !command.executed.first().is_some_and(|file| found.covers(file)) {
            let path = command.path.display();
            return Err(Error::Program(format!("{path} is not among the programs that may be executed")));
        }
        // Its interpreters may be given by the command alone.
        found.paths.extend(command.executed.iter().cloned());
        found.paths.sort();
        found.paths.dedup();
        Ok(found)
    }

    /// Whether a file, by its path without links, may be executed.
    pub(crate) fn covers(&self, file: &Path) -> bool {
        self.paths.iter().any(|path| file.starts_with(path))
    }
}
