//! Path rules that look at the disk: a name in the root that leads out of it, by links, is refused.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::paths::PathRules;

/// Links that are followed for one path before it is refused: the kernel's own limit.
const MOST_LINKS: usize = 40;

/// Follows links the way the kernel does, and refuses what ends outside the root. What does not exist is judged by the directory
/// it would be made in; a link to nowhere by where it points.
///
/// This looks at one moment: a link that is made between the check and the start of the command is not seen. Who must be sure
/// confines the process itself.
#[derive(Clone, Debug)]
pub struct RealPaths {
    root: PathBuf,
    also: Vec<PathBuf>,
}

impl RealPaths {
    /// Rules for a root, which must exist.
    pub fn new(root: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self { root: root.as_ref().canonicalize()?, also: Vec::new() })
    }

    /// Lets paths end in another directory too.
    pub fn also(mut self, dir: impl AsRef<Path>) -> io::Result<Self> {
        self.also.push(dir.as_ref().canonicalize()?);
        Ok(self)
    }

    /// Where a path leads.
    fn resolve(&self, path: &Path) -> Result<PathBuf, String> {
        let mut todo: VecDeque<OsString> = parts(path);
        let mut done = if path.is_absolute() { PathBuf::from("/") } else { self.root.clone() };
        let mut links = 0;
        while let Some(part) = todo.pop_front() {
            if part == ".." {
                done.pop();
                continue;
            }
            done.push(&part);
            let metadata = match done.symlink_metadata() {
                Ok(metadata) => metadata,
                Err(error) => match error.kind() {
                    // Nothing is there; what would be below is not either.
                    io::ErrorKind::NotFound
                    | io::ErrorKind::NotADirectory
                    | io::ErrorKind::InvalidFilename
                    | io::ErrorKind::InvalidInput => continue,
                    _ => return Err(format!("it cannot be looked at ({error})")),
                },
            };
            if metadata.is_symlink() {
                links += 1;
                if links > MOST_LINKS {
                    return Err("it has too many links".to_owned());
                }
                let target = done.read_link().map_err(|error| format!("it cannot be followed ({error})"))?;
                done.pop();
                if target.is_absolute() {
                    done = PathBuf::from("/");
                }
                for part in parts(&target).into_iter().rev() {
                    todo.push_front(part);
                }
            }
        }
        Ok(done)
    }
}

fn parts(path: &Path) -> VecDeque<OsString> {
    let parts = path.components().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    parts.map(|part| part.as_os_str().to_owned()).collect()
}

impl PathRules for RealPaths {
    fn check(&self, path: &Path) -> Result<(), String> {
        let real = self.resolve(path)?;
        if real.starts_with(&self.root) || self.also.iter().any(|dir| real.starts_with(dir)) {
            return Ok(());
        }
        Err("a link leads out of the root".to_owned())
    }
}
