//! Parameters that are paths: files of the caller's, granted for one call and no longer.
//!
//! A value is judged by the path policy against the workspace, or the caller's current directory where there is none: no path leads out of it,
//! by `..`, from the root, or through a link. What it leads to is granted exactly: a file and not its folder. The skill is handed the path
//! without links.

use serde_json::{Map, Value};

use crate::job::Job;
use crate::refusal::Refusal;
use crate::skill::LoadedSkill;

/// Grants the paths among checked values, and puts what they lead to in their places.
pub(crate) fn grant(
    skill: &LoadedSkill,
    values: &mut Map<String, Value>,
    job: &mut Job,
) -> Result<(), Refusal> {
    for parameter in skill.manifest().parameters() {
        let Some(access) = parameter.access else { continue };
        let Some(Value::String(value)) = values.get_mut(&parameter.name.value) else { continue };
        let name = &parameter.name.value;
        let wrong = |why: String| Refusal::Parameter { name: name.clone(), why };
        let Some((base, most)) = skill.path_base() else {
            return Err(Refusal::NoWorkspace { grant: format!("the file of the parameter {name}") });
        };
        if access > most {
            return Err(wrong("it would be written, and the workspace is read-only".to_owned()));
        }
        let real = judged::judge(base, value, access, job).map_err(wrong)?;
        job.notes.push((
            "grants".to_owned(),
            format!("the parameter {name} grants {} {}", judged::word(access), real),
        ));
        *value = real;
    }
    Ok(())
}

#[cfg(target_os = "linux")]
mod judged {
    use std::path::Path;

    use skillsandbox_manifest::FileAccess;
    use skillsandbox_path_policy::{AccessKind, PathPolicy};

    use crate::job::{Job, NewFile};
    use crate::private_place::private_place;
    use crate::resolved_grants::follow;
    use crate::written_places;

    pub(super) fn word(access: FileAccess) -> &'static str {
        match access {
            FileAccess::Read => "read",
            FileAccess::Write => "write",
        }
    }

    /// Where a value leads, granted.
    pub(super) fn judge(
        base: &Path,
        value: &str,
        access: FileAccess,
        job: &mut Job,
    ) -> Result<String, String> {
        let policy = PathPolicy::new(base).map_err(|error| error.to_string())?;
        let kind = match access {
            FileAccess::Read => AccessKind::Read,
            FileAccess::Write => AccessKind::Write,
        };
        let real = policy.resolve(value, kind).map_err(|denial| denial.to_string())?;
        // A link in it may be the work of the skill's author, or of an earlier run.
        let earlier = written_places::all().map_err(|refusal| refusal.to_string())?;
        let untrusted = [job.untrusted.as_slice(), &earlier].concat();
        let (refused, leads_to) = follow(&policy.root().join(value), &untrusted);
        if let Some(why) = refused {
            return Err(why);
        }
        if leads_to.as_ref() != Some(&real) {
            return Err("it leads elsewhere than it did a moment ago".to_owned());
        }
        if let Some(why) = private_place(&real) {
            return Err(why);
        }
        let text = real.to_str().ok_or("its path is not UTF-8")?.to_owned();
        let found = real.symlink_metadata();
        match access {
            FileAccess::Read => {
                found.map_err(|error| error.to_string())?;
                if !job.write.contains(&real) {
                    job.read.push(real);
                }
            }
            FileAccess::Write => {
                let below = real.strip_prefix(policy.root()).map_err(|_| "it leads out of the folder")?;
                match found {
                    Ok(_) => {}
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                        let parent = real.parent().is_some_and(Path::is_dir);
                        if !parent {
                            return Err("the folder that it would lie in does not exist".to_owned());
                        }
                        let file = NewFile { root: policy.root().to_owned(), below: below.to_owned() };
                        job.new_files.push(file);
                    }
                    Err(error) => return Err(error.to_string()),
                }
                job.read.retain(|path| *path != real);
                job.write.push(real);
            }
        }
        Ok(text)
    }
}

#[cfg(not(target_os = "linux"))]
mod judged {
    use std::path::Path;

    use skillsandbox_manifest::FileAccess;

    use crate::job::Job;

    pub(super) fn word(_: FileAccess) -> &'static str {
        "nothing"
    }

    /// Nothing is run on other systems, so nothing is granted either.
    pub(super) fn judge(_: &Path, _: &str, _: FileAccess, _: &mut Job) -> Result<String, String> {
        Err("paths are not granted on this system".to_owned())
    }
}
