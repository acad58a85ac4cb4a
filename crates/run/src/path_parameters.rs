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
        let real = judged::judge(base, value, access, skill.folder(), job).map_err(wrong)?;
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

    use skillsandbox_manifest::{FileAccess, Manifest, user_folders};
    use skillsandbox_path_policy::{AccessKind, PathPolicy};
    use skillsandbox_tracer::{PlaceAccess, may_hold_sensitive, sensitive_place};

    use crate::job::{Job, NewFile};
    use crate::private_place::private_place;
    use crate::reach::real_path;
    use crate::resolved_grants::follow;
    use crate::{state, written_places};

    pub(super) fn word(access: FileAccess) -> &'static str {
        match access {
            FileAccess::Read => "read",
            FileAccess::Write => "write",
        }
    }

    /// Files that make a folder a skill.
    const OF_SKILL: [&str; 2] = ["SKILL.md", Manifest::FILE_NAME];

    /// Why nothing is written there that a call names: the caller may be an agent, and the value the wish of somebody else.
    fn why_not_written(real: &Path, root: &Path, skill: &Path) -> Option<String> {
        if real.starts_with(skill) || skill.starts_with(real) {
            return Some("the skill's own folder is there, and it would be another one then".to_owned());
        }
        let mut own = state::folders().into_iter().chain(user_folders::data()).map(|own| real_path(&own));
        if own.any(|own| real.starts_with(&own) || own.starts_with(real)) {
            return Some("SkillSandbox keeps its own files there".to_owned());
        }
        let is_skill =
            |folder: &Path| OF_SKILL.iter().any(|name| folder.join(name).symlink_metadata().is_ok());
        let is_of_skill = real.file_name().is_some_and(|name| OF_SKILL.iter().any(|own| name == *own));
        if is_of_skill || real.ancestors().any(is_skill) {
            return Some("it belongs to a skill, which would be another one then".to_owned());
        }
        let says = |path: &Path| may_hold_sensitive(path.to_str()?, PlaceAccess::Change);
        let full = real.to_str().and_then(sensitive_place);
        // Where the caller's folder is such a place itself, what lies in it is judged from there.
        let wide = || says(real).filter(|_| real != root && says(root).is_none());
        let inner = || says(&Path::new("/workspace").join(real.strip_prefix(root).ok()?));
        full.or_else(wide).or_else(inner).map(|says| format!("it is a place for {says}"))
    }

    /// Where a value leads, granted.
    pub(super) fn judge(
        base: &Path,
        value: &str,
        access: FileAccess,
        skill: &Path,
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
                if let Some(why) = why_not_written(&real, policy.root(), skill) {
                    return Err(why);
                }
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
    pub(super) fn judge(_: &Path, _: &str, _: FileAccess, _: &Path, _: &mut Job) -> Result<String, String> {
        Err("paths are not granted on this system".to_owned())
    }
}
