//! Things that are done inside one after the other, each with what was told of it and what the kernel said.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use skillsandbox_enforcer::{
    AccessVerdict, Command, ObserveLevel, ObservedAction, ObservedEvent, Observer, Plan, PlanBuilder,
};

#[derive(Default)]
pub(crate) struct Notes(pub(crate) Mutex<Vec<ObservedEvent>>);

impl Observer for Notes {
    fn observed(&self, observed: &ObservedEvent) {
        self.0.lock().unwrap().push(observed.clone());
    }
}

/// A folder that may be written, one that may be read, and one of somebody's that is not granted at all.
pub(crate) struct Place {
    _folder: tempfile::TempDir,
    pub(crate) write: PathBuf,
    pub(crate) read: PathBuf,
    pub(crate) other: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self::below("/var/tmp")
    }

    pub(crate) fn below(folder: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("truth").tempdir_in(folder).unwrap();
        let at = folder.path().canonicalize().unwrap();
        let [write, read, other] = ["write", "read", "other"].map(|name| at.join(name));
        for path in [&write, &read, &other, &write.join("forbidden"), &write.join("inner")] {
            std::fs::create_dir(path).unwrap();
        }
        for path in [&write, &read, &other] {
            std::fs::write(path.join("file"), "x").unwrap();
        }
        std::fs::write(write.join("forbidden/key"), "x").unwrap();
        // What the author of a skill can ship: links.
        std::os::unix::fs::symlink(&other, read.join("out")).unwrap();
        std::os::unix::fs::symlink(write.join("file"), read.join("in")).unwrap();
        Self { _folder: folder, write, read, other }
    }

    /// What these folders are in a run.
    pub(crate) fn plan(&self) -> PlanBuilder {
        let plan = Plan::builder().timeout(Duration::from_mins(2)).write(&self.write).read(&self.read);
        plan.forbid(self.write.join("forbidden")).processes(64)
    }
}

/// One thing that was done, and what was told while it was.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// The error number, or 0.
    pub(crate) errno: i32,
    pub(crate) told: Vec<ObservedEvent>,
}

const MARK: &str = "/tmp/mark-";

/// Runs lines of `name: expression` one after the other, each between two marks.
pub(crate) fn cases(place: &Place, observe_level: ObserveLevel, prelude: &str, lines: &str) -> Vec<Case> {
    cases_of(place.plan(), place, observe_level, prelude, lines)
}

/// The same under another plan.
pub(crate) fn cases_of(
    plan: PlanBuilder,
    place: &Place,
    observe_level: ObserveLevel,
    prelude: &str,
    lines: &str,
) -> Vec<Case> {
    let script = format!(
        r"
import ctypes, os, sys, socket, stat, threading
libc = ctypes.CDLL(None, use_errno=True)
W, R, O = sys.argv[1:4]
def raw(*args):
    '''A system call by its number.'''
    args = [a.encode() + b'\0' if isinstance(a, str) else a for a in args]
    ctypes.set_errno(0)
    result = libc.syscall(*[ctypes.c_long(a) if isinstance(a, int) else a for a in args])
    if result == -1: raise OSError(ctypes.get_errno(), 'raw')
    return result
def write(path):
    with open(path, 'w') as f: f.write('x')
def read(path):
    with open(path, 'rb', 0) as f: f.read(1)
{prelude}
done = []
for line in sys.argv[4].strip().splitlines():
    name, _, code = line.strip().partition(': ')
    code = compile(code, name, 'exec')
    try: os.close(os.open('{MARK}' + name, os.O_RDONLY))
    except OSError: pass
    try: exec(code); errno = 0
    except OSError as e: errno = e.errno or -1
    done.append('%s %d' % (name, errno))
try: os.open('{MARK}end', os.O_RDONLY)
except OSError: pass
print('\n'.join(done))
"
    );
    let notes = Arc::new(Notes::default());
    let command = Command::new("python3")
        .args(["-c", &script])
        .args([&place.write, &place.read, &place.other])
        .arg(lines)
        .observer(Arc::clone(&notes) as Arc<dyn Observer>)
        .observe_level(observe_level)
        .captured(1 << 20);
    let outcome = plan.build().unwrap().spawn(&command).unwrap().wait().unwrap();
    assert!(outcome.success(), "{}", outcome.stderr.text());
    assert_eq!(outcome.lost, 0);
    let mut told: Vec<Vec<ObservedEvent>> = Vec::new();
    for observed in notes.0.lock().unwrap().drain(..) {
        if matches!(&observed.tried, ObservedAction::File(file) if file.path.to_string_lossy().starts_with(MARK))
        {
            told.push(Vec::new());
        } else if let Some(last) = told.last_mut() {
            last.push(observed);
        }
    }
    let text = outcome.stdout.text();
    let done: Vec<_> = text.lines().map(|line| line.rsplit_once(' ').unwrap()).collect();
    assert_eq!(told.len(), done.len() + 1, "{text}");
    let case = |((name, errno), told): (&(&str, &str), Vec<ObservedEvent>)| Case {
        name: (*name).to_owned(),
        errno: errno.parse().unwrap(),
        told,
    };
    done.iter().zip(told).map(case).collect()
}

/// The verdict, the path and where it leads, of files and programs.
pub(crate) fn access(observed: &ObservedEvent) -> Option<(&AccessVerdict, &Path, Option<&Path>)> {
    match &observed.tried {
        ObservedAction::File(file) => Some((&file.verdict, &file.path, file.real.as_deref())),
        ObservedAction::Exec(exec) => Some((&exec.verdict, &exec.path, exec.real.as_deref())),
        _ => None,
    }
}

/// What the kernel did and what was told must agree: a success is allowed, and what a wall refused is not.
pub(crate) fn disagreements(cases: &[Case]) -> Vec<String> {
    let mut wrong = Vec::new();
    for case in cases {
        let verdicts: Vec<_> = case.told.iter().filter_map(access).map(|(verdict, ..)| verdict).collect();
        let Some(last) = verdicts.last() else {
            wrong.push(format!("{}: not told", case.name));
            continue;
        };
        let is_right = match case.errno {
            0 => matches!(last, AccessVerdict::Allowed(_)),
            libc::EACCES | libc::EPERM | libc::EROFS => matches!(last, AccessVerdict::Denied(_)),
            libc::ENOENT | libc::ENXIO => matches!(last, AccessVerdict::Denied(_) | AccessVerdict::NotThere),
            _ => true,
        };
        if !is_right {
            let told: Vec<_> = case.told.iter().map(|told| &told.tried).collect();
            wrong.push(format!("{}: errno {}, told {told:?}", case.name, case.errno));
        }
    }
    wrong
}

#[track_caller]
pub(crate) fn agree(cases: &[Case]) {
    let wrong = disagreements(cases);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

pub(crate) fn case<'a>(cases: &'a [Case], name: &str) -> &'a Case {
    cases.iter().find(|case| case.name == name).unwrap_or_else(|| panic!("{name}"))
}

/// Where the last thing that was told in a case leads.
#[track_caller]
pub(crate) fn leads_to(cases: &[Case], name: &str, expected: &Path) {
    let case = case(cases, name);
    let (_, path, real) = case.told.iter().filter_map(access).next_back().unwrap();
    assert_eq!(real.unwrap_or(path), expected, "{case:?}");
}
