use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    pub path: PathBuf,
    pub needs: Vec<Need>,
    pub path_dirs: Vec<PathBuf>,
}
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Need {
    pub path: PathBuf,
    pub reason: &'static str,
}
pub(crate) struct Search<'a> {
    pub path: &'a OsStr,
    pub home: Option<&'a Path>,
    pub workdir: &'a Path,
    pub environment: &'a dyn Fn(&str) -> Option<OsString>,
}
#[derive(Debug, thiserror::Error)]
#[error("not found: {0}")]
pub(crate) struct NotFound(String);
pub(crate) fn find(name: &OsStr, search: &Search<'_>) -> Result<Program, NotFound> {
    let p = Path::new(name);
    if p.components().count() > 1 {
        return Ok(Program { path: search.workdir.join(p), needs: vec![], path_dirs: vec![] });
    }
    for d in std::env::split_paths(search.path) {
        let f = d.join(p);
        if f.starts_with("/usr") && f.is_file() {
            return Ok(Program { path: f, needs: vec![], path_dirs: vec![] });
        }
    }
    Err(NotFound(name.to_string_lossy().into_owned()))
}
