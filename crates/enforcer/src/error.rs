//! Why a run did not start.

use std::io;
use std::path::PathBuf;

use crate::layers::Layer;

/// Why a run did not start. Nothing was executed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The plan contradicts itself.
    #[error(transparent)]
    Plan(#[from] PlanProblem),
    /// The caller's last check would not have it, when every layer was in place.
    #[error("{0}")]
    Refused(String),
    /// A path of the plan cannot be granted on this host.
    #[error("{what} {}: {source}", path.display())]
    Path {
        /// What was being done.
        what: &'static str,
        /// The path of the plan.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// There is no such program.
    #[error("{0}")]
    NoProgram(String),
    /// The program is there, and cannot be started.
    #[error("{0}")]
    Program(String),
    /// A layer is not available, so nothing was executed.
    #[error("the {layer} layer is not available: {step}: {source}{}", cure_line(cure.as_deref()))]
    Layer {
        /// Which one.
        layer: Layer,
        /// The step that failed.
        step: String,
        /// What the kernel said.
        source: io::Error,
        /// What to do about it, where that is known.
        cure: Option<String>,
    },
    /// All slots for runs are taken.
    #[error("{0} runs are going on, which is the limit: wait for one to end")]
    Busy(usize),
    /// The launching program itself lacks something: descriptors, memory, threads.
    #[error("cannot {what}: {source}")]
    Host {
        /// What was being done.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
}

fn cure_line(cure: Option<&str>) -> String {
    cure.map(|cure| format!("\n  cure: {cure}")).unwrap_or_default()
}

/// A contradiction in a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanProblem {
    /// A path that does not begin at the root.
    #[error("{} is relative: a plan takes absolute paths", .0.display())]
    Relative(PathBuf),
    /// A path with `..` in it.
    #[error("{} goes upwards (..): write the path it means", .0.display())]
    Upwards(PathBuf),
    /// A zero byte in a path, name, value or argument.
    #[error("{} holds a zero byte", .0.display())]
    Nul(PathBuf),
    /// All of the file system.
    #[error("the root of the file system cannot be granted: name the folders that are needed")]
    WholeRoot,
    /// A folder that the sandbox makes itself.
    #[error("{} cannot be granted: the sandbox has its own /proc, /sys and /dev", .0.display())]
    Own(PathBuf),
    /// The folder of all homes.
    #[error("{} cannot be granted as a whole: the home of the sandbox is in it. Name the folders in it that are needed", .0.display())]
    HoldsHome(PathBuf),
    /// The same path is granted and forbidden.
    #[error("{} is granted, but {} is forbidden", grant.display(), forbidden.display())]
    GrantedAndForbidden {
        /// What is granted.
        grant: PathBuf,
        /// What forbids it.
        forbidden: PathBuf,
    },
    /// A grant that leads out of what may be granted at most.
    #[error("{} leads to {}, which lies outside of what may be {} at most: name that place in your policy (permissions.filesystem.{}), or grant less", path.display(), real.display(), if *writes { "written" } else { "read" }, if *writes { "write" } else { "read" })]
    OutsideCeiling {
        /// What is granted.
        path: PathBuf,
        /// Where it leads.
        real: PathBuf,
        /// Whether it would be written.
        writes: bool,
    },
    /// What a program needs lies outside of what may be read at most.
    #[error("the program needs {} ({reason}), which lies outside of what may be read at most: name it in your policy (permissions.filesystem.read), or use a program of the system", path.display())]
    NeedOutsideCeiling {
        /// What it needs.
        path: PathBuf,
        /// Why.
        reason: &'static str,
    },
    /// The skill could create what it must not have.
    #[error("{} is forbidden and does not exist, but its folder may be written, so the run could create it. Create it first, or grant less", .0.display())]
    ForbiddenCouldBeMade(PathBuf),
    /// A working directory that does not exist inside.
    #[error("the working directory {} is not in a grant", .0.display())]
    WorkdirNotGranted(PathBuf),
    /// A name that no variable can have.
    #[error("{0:?} cannot be the name of a variable")]
    VariableName(String),
    /// A limit of zero.
    #[error("{0} is 0: leave it out for no limit")]
    ZeroLimit(&'static str),
    /// A destination that cannot be granted.
    #[error(transparent)]
    Egress(#[from] skillsandbox_egress::EgressProblem),
    /// A layer without which there is no sandbox.
    #[error("the {0} layer cannot be best-effort: without it there is no sandbox")]
    NotWaivable(Layer),
}
