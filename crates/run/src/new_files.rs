//! Files that a run may write and that are not there yet: a grant needs something to stand on, and its folder is not granted.

#[cfg(target_os = "linux")]
pub(crate) use made::MadeFiles;

/// Nothing is run on other systems, so nothing is made either.
#[cfg(not(target_os = "linux"))]
pub(crate) struct MadeFiles;

#[cfg(not(target_os = "linux"))]
impl MadeFiles {
    pub(crate) fn make(_: &crate::job::Job) -> Result<Self, crate::refusal::Refusal> {
        Ok(Self)
    }
}

#[cfg(target_os = "linux")]
mod made {
    use std::fs::File;
    use std::os::unix::fs::MetadataExt as _;
    use std::path::PathBuf;

    use skillsandbox_path_policy::{OpenError, OpenOptions, PathPolicy};

    use crate::job::{Job, NewFile};
    use crate::refusal::Refusal;

    /// Files that were made empty for a run. Those that it left empty go with this.
    #[derive(Debug, Default)]
    pub(crate) struct MadeFiles(Vec<(PathBuf, File)>);

    impl MadeFiles {
        /// Makes them, each where no link leads and nothing lies.
        pub(crate) fn make(job: &Job) -> Result<Self, Refusal> {
            let mut made = Self::default();
            for NewFile { root, below } in &job.new_files {
                let path = root.join(below);
                let failed = |why: String| Refusal::Ungrantable { what: path.display().to_string(), why };
                let policy = PathPolicy::new(root).map_err(|error| failed(error.to_string()))?;
                let opening = OpenOptions::writing().create_new().mode(0o666);
                let file =
                    policy.open(below, &opening).map_err(|error: OpenError| failed(error.to_string()))?;
                made.0.push((path, file));
            }
            Ok(made)
        }
    }

    impl Drop for MadeFiles {
        fn drop(&mut self) {
            for (path, file) in &self.0 {
                let Ok(made) = file.metadata() else { continue };
                let found = path.symlink_metadata();
                let is_same = found.is_ok_and(|found| (found.dev(), found.ino()) == (made.dev(), made.ino()));
                if is_same && made.len() == 0 {
                    // What is left of it is an empty file.
                    let _ = std::fs::remove_file(path);
                }
            }
        }
    }
}
