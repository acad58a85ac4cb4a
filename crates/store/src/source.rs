//! Where a skill comes from.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use skillsandbox_manifest::DomainPattern;

use crate::error::Error;
use crate::names;

/// A place that a skill is fetched from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkillSource {
    /// A folder or a file of this machine. What it is shows when it is read.
    Local(PathBuf),
    /// A git repository.
    Git(GitSource),
}

/// A git repository, and what of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GitSource {
    /// How it was written: `github:owner/repo`, or the URL.
    written: String,
    /// The URL: `https://…` or `file:///…`.
    pub url: String,
    /// The host and port that it is fetched from; `None` for this machine.
    pub host: Option<(String, u16)>,
    /// The folder of this machine that it is fetched from.
    pub folder: Option<PathBuf>,
    /// A branch, a tag or a commit; `None` for the one that the repository shows first.
    pub reference: Option<String>,
    /// The folder in it.
    pub path: Option<String>,
}

impl fmt::Display for SkillSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(path) => write!(f, "local:{}", path.display()),
            Self::Git(git) => f.write_str(&git.written),
        }
    }
}

impl FromStr for SkillSource {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |why: &str| Error::Source { text: text.to_owned(), why: why.to_owned() };
        if text.is_empty() || text.chars().any(char::is_control) {
            return Err(wrong("it is empty or holds control characters"));
        }
        if let Some(path) = text.strip_prefix("local:") {
            return Ok(Self::Local(path.into()));
        }
        let git = if let Some(rest) = text.strip_prefix("github:") {
            GitSource::github(text, rest)
        } else if text.starts_with("https://") || text.starts_with("file://") {
            GitSource::url(text)
        } else if text.split_once("://").is_some() {
            return Err(wrong(
                "only https and file are supported, because nobody on the way can change them",
            ));
        } else {
            return Ok(Self::Local(text.into()));
        };
        git.map(Self::Git).map_err(wrong)
    }
}

impl SkillSource {
    /// The same with an absolute path, so that an update finds it again.
    ///
    /// # Errors
    /// A path that is not there.
    pub fn absolute(self) -> Result<Self, Error> {
        match self {
            Self::Local(path) => {
                let real = path.canonicalize().map_err(|error| Error::io(&path, error))?;
                if real.to_str().is_none_or(|text| text.chars().any(char::is_control)) {
                    let text = real.display().to_string();
                    let why = "its path is not plain text, so that it cannot be written down".to_owned();
                    return Err(Error::Source { text, why });
                }
                Ok(Self::Local(real))
            }
            git @ Self::Git(_) => Ok(git),
        }
    }
}

impl GitSource {
    /// `owner/repo[/path][@ref]`.
    fn github(written: &str, rest: &str) -> Result<Self, &'static str> {
        let (rest, reference) = match rest.rsplit_once('@') {
            Some((rest, reference)) => (rest, Some(reference)),
            None => (rest, None),
        };
        let mut parts = rest.splitn(3, '/');
        let (owner, repo, path) = (parts.next(), parts.next(), parts.next());
        let plain = |part: Option<&str>| {
            let sane = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            part.filter(|part| {
                !matches!(*part, "" | "." | "..") && part.chars().all(sane) && !part.starts_with('-')
            })
            .map(ToOwned::to_owned)
        };
        let (Some(owner), Some(repo)) = (plain(owner), plain(repo)) else {
            return Err("after github: comes an owner and a repository");
        };
        Ok(Self {
            written: written.to_owned(),
            url: format!("https://github.com/{owner}/{}", repo.strip_suffix(".git").unwrap_or(&repo)),
            host: Some(("github.com".to_owned(), 443)),
            folder: None,
            reference: reference.map(checked_reference).transpose()?,
            path: path.map(checked_path).transpose()?.flatten(),
        })
    }

    /// `https://host[:port]/path[#ref[:folder]]`, `file:///path[#ref[:folder]]`.
    fn url(written: &str) -> Result<Self, &'static str> {
        let (url, fragment) = written.split_once('#').unwrap_or((written, ""));
        let (reference, path) = fragment.split_once(':').unwrap_or((fragment, ""));
        let reference = Some(reference).filter(|reference| !reference.is_empty());
        if !url.bytes().all(|b| b.is_ascii_graphic()) || url.contains(['?', '"', '\'', '\\', '`', '$']) {
            return Err("the address has characters that do not belong there");
        }
        let (host, folder) = if let Some(folder) = url.strip_prefix("file://") {
            let folder = Path::new(folder);
            if !folder.is_absolute() || url.contains('%') {
                return Err("file:// is followed by an absolute path, as it is");
            }
            (None, Some(folder.to_owned()))
        } else {
            let rest = url.strip_prefix("https://").unwrap_or_default();
            let (authority, _) = rest.split_once('/').ok_or("the address names no repository")?;
            if authority.contains('@') {
                return Err("the address holds a name or a password, which would be written down");
            }
            let (host, port) = match authority.rsplit_once(':') {
                Some((host, port)) => (host, port.parse().map_err(|_| "the port is not a number")?),
                None => (authority, 443),
            };
            let name: DomainPattern = host.parse().map_err(|_| "the host is not a name")?;
            if name.is_wildcard() || port == 0 {
                return Err("the host is not one name with a port");
            }
            (Some((name.to_string(), port)), None)
        };
        Ok(Self {
            written: written.to_owned(),
            url: url.to_owned(),
            host,
            folder,
            reference: reference.map(checked_reference).transpose()?,
            path: checked_path(path)?,
        })
    }
}

/// What git takes for a name of a branch, a tag or a commit, and cannot take for an option or a command.
fn checked_reference(text: &str) -> Result<String, &'static str> {
    let sane = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '+');
    let wrong = text.is_empty()
        || text.len() > 200
        || !text.chars().all(sane)
        || text.starts_with(['-', '/', '.', '+'])
        || text.contains("..")
        || text.contains("//")
        || text.ends_with(['/', '.']);
    if wrong { Err("that is not the name of a branch, a tag or a commit") } else { Ok(text.to_owned()) }
}

fn checked_path(text: &str) -> Result<Option<String>, &'static str> {
    let path = text.trim_matches('/');
    if path.is_empty() {
        return Ok(None);
    }
    if names::unfit(path).is_some() || path.starts_with('-') {
        return Err("that is not a folder in a repository");
    }
    Ok(Some(path.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(text: &str) -> GitSource {
        match text.parse() {
            Ok(SkillSource::Git(git)) => git,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn sources_are_read() {
        let one = git("github:owner/repo/skills/weather@v1.2");
        assert_eq!(one.url, "https://github.com/owner/repo");
        assert_eq!(one.host, Some(("github.com".to_owned(), 443)));
        assert_eq!((one.path.as_deref(), one.reference.as_deref()), (Some("skills/weather"), Some("v1.2")));
        let two = git("https://git.test:8443/a/b.git#main:skills/x");
        assert_eq!(
            (two.url.as_str(), two.host),
            ("https://git.test:8443/a/b.git", Some(("git.test".to_owned(), 8443)))
        );
        assert_eq!((two.path.as_deref(), two.reference.as_deref()), (Some("skills/x"), Some("main")));
        let three = git("file:///srv/repo#:x");
        assert_eq!((three.folder.as_deref(), three.reference), (Some(Path::new("/srv/repo")), None));
        assert_eq!("skills/x".parse::<SkillSource>().unwrap(), SkillSource::Local("skills/x".into()));
        assert_eq!("local:/x".parse::<SkillSource>().unwrap(), SkillSource::Local("/x".into()));
    }

    #[test]
    fn what_git_could_take_for_something_else_is_refused() {
        for bad in [
            "",
            "github:",
            "github:owner",
            "github:owner/",
            "github:-x/y",
            "github:../y",
            "github:o/r/../x",
            "github:o/r@--upload-pack=x",
            "github:o/r@a..b",
            "github:o/r@",
            "github:o/r@a b",
            "http://git.test/x",
            "ssh://git.test/x",
            "ext::sh -c x://",
            "git://git.test/x",
            "https://user:pw@git.test/x",
            "https://git.test",
            "https://git.test/x?y",
            "https://*.test.test/x",
            "https://127.0.0.1/x",
            "https://git.test:0/x",
            "https://git.test:x/x",
            "https://git.test/x#-x",
            "https://git.test/x#a:../b",
            "https://git.test/$(x)",
            "file://host/x",
            "file:///a%2fb",
            "a\nb",
        ] {
            assert!(bad.parse::<SkillSource>().is_err(), "{bad}");
        }
    }
}
