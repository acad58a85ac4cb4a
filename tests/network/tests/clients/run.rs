//! One client in a sandbox: what is granted to it, the folder it works in, and what came of it.

use std::fmt::Write as _;
use std::io::{Read as _, Seek as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use skillsandbox_enforcer::egress::{
    Attempt, AttemptAction, AttemptVerdict, NetworkRule, Protocol, RefusalReason, Transport,
};
use skillsandbox_enforcer::{Command, Plan, PlanBuilder, RunOutcome};
use tempfile::TempDir;

use crate::missing;
use crate::servers::{DEADLINE, Server};

/// The name of most servers here.
pub(crate) const NAME: &str = "api.weather.test";

/// A run that is to be. Its work folder is granted for writing.
pub(crate) struct Run {
    plan: PlanBuilder,
    work: TempDir,
    variables: Vec<(String, String)>,
}

impl Run {
    /// Nothing is granted yet.
    pub(crate) fn new() -> Self {
        let work = tempfile::Builder::new().prefix("client-").tempdir().unwrap();
        let plan = Plan::builder().write(work.path()).workdir(work.path()).timeout(DEADLINE);
        let plan = plan.memory(2 << 30).processes(256).disk(1 << 30);
        Self { plan, work, variables: Vec::new() }
    }

    pub(crate) fn grant(self, rule: NetworkRule) -> Self {
        Self { plan: self.plan.egress(rule), ..self }
    }

    /// A name means a server.
    pub(crate) fn pin(self, name: &str, port: u16, server: &Server) -> Self {
        self.pin_to(name, port, server.address())
    }

    /// A name means an address.
    pub(crate) fn pin_to(self, name: &str, port: u16, to: SocketAddr) -> Self {
        Self { plan: self.plan.pin(name, port, to), ..self }
    }

    /// Grants a name and lets it mean a server.
    pub(crate) fn served(self, name: &str, port: u16, protocol: Protocol, server: &Server) -> Self {
        let rule = NetworkRule::domain(name).unwrap().ports([port]).protocol(protocol);
        self.grant(rule).pin(name, port, server)
    }

    pub(crate) fn file(self, name: &str, text: &str) -> Self {
        std::fs::write(self.work.path().join(name), text).unwrap();
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A file of its work folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.work.path().join(name)
    }

    /// Runs a program in the sandbox. One that begins with `./` lies in the work folder.
    pub(crate) fn go(mut self, program: &str, arguments: &[&str]) -> Seen {
        for (name, value) in &self.variables {
            self.plan = self.plan.env(name, value);
        }
        let path = match program.strip_prefix("./") {
            Some(name) => self.path(name),
            None => program.into(),
        };
        let command = Command::new(path).args(arguments.iter().copied()).captured(1 << 20);
        let running = self.plan.build().unwrap().spawn(&command);
        let outcome =
            running.unwrap_or_else(|error| panic!("{program} did not start: {error}")).wait().unwrap();
        Seen { what: format!("{program} {}", arguments.join(" ")), outcome }
    }

    /// Runs a program without a sandbox, as a control. Whoever writes the arguments sees to it that it talks to loopback only.
    pub(crate) fn outside(&self, program: &str, arguments: &[&str]) -> String {
        let mut output = tempfile::tempfile().unwrap();
        let mut command = std::process::Command::new(program);
        command.args(arguments).current_dir(self.work.path()).stdin(Stdio::null());
        command.stdout(output.try_clone().unwrap()).stderr(output.try_clone().unwrap());
        for proxy in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            command.env_remove(proxy);
        }
        let mut child = command.spawn().unwrap();
        let start = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if start.elapsed() > DEADLINE {
                child.kill().unwrap();
                child.wait().unwrap();
                panic!("{program} {arguments:?} does not end outside the sandbox");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let mut text = Vec::new();
        output.rewind().unwrap();
        output.read_to_end(&mut text).unwrap();
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// Whether these programs are in the sandbox; says so where they are not.
pub(crate) fn has<'a>(programs: impl IntoIterator<Item = &'a str>) -> bool {
    let missing = missing::inside(programs);
    missing.is_empty() || missing::skip(&missing)
}

/// How a run went.
pub(crate) struct Seen {
    what: String,
    pub(crate) outcome: RunOutcome,
}

impl Seen {
    pub(crate) fn stdout(&self) -> String {
        self.outcome.stdout.text().into_owned()
    }

    pub(crate) fn stderr(&self) -> String {
        self.outcome.stderr.text().into_owned()
    }

    /// It ended well and printed exactly this.
    #[track_caller]
    pub(crate) fn prints(&self, expected: &str) -> &Self {
        let right = self.outcome.success() && self.outcome.stdout.text() == expected;
        assert!(right, "expected:\n{expected}\n{}", self.told());
        self
    }

    /// It did not end well.
    #[track_caller]
    pub(crate) fn fails(&self) -> &Self {
        assert!(!self.outcome.success(), "it worked:\n{}", self.told());
        self
    }

    /// Everything that was seen, for a message.
    pub(crate) fn told(&self) -> String {
        let outcome = &self.outcome;
        let mut text = format!(
            "{}: {:?}, {:?}, limits {:?}\n",
            self.what, outcome.status, outcome.end, outcome.limits_hit
        );
        let _ = writeln!(text, "--- standard output\n{}--- standard error\n{}", self.stdout(), self.stderr());
        for attempt in &outcome.network.attempts {
            let _ = writeln!(text, "--- {attempt}");
        }
        for call in &outcome.refused {
            let _ = writeln!(text, "--- refused {call:?}");
        }
        text
    }

    /// What was connected to or sent to, or would have been.
    pub(crate) fn reached(&self) -> impl Iterator<Item = &Attempt> {
        let reach = |attempt: &&Attempt| matches!(attempt.action, AttemptAction::Reach(_));
        self.outcome.network.attempts.iter().filter(reach)
    }

    /// What was let through to this name and port, and all that was tried there was.
    #[track_caller]
    pub(crate) fn allowed(&self, name: &str, port: u16) -> &Attempt {
        let mut to = self.to(name, port);
        let allowed = |attempt: &&Attempt| matches!(attempt.verdict, AttemptVerdict::Allowed(_));
        assert!(!to.is_empty() && to.iter().all(allowed), "{}", self.told());
        to.remove(0)
    }

    /// Every connection to this name and port was refused for this reason, and nothing was dialled for it.
    #[track_caller]
    pub(crate) fn refused(&self, name: &str, port: u16, reason: &RefusalReason) -> &Attempt {
        let mut to = self.to(name, port);
        let verdict = AttemptVerdict::Refused(reason.clone());
        let refused = |one: &&Attempt| one.verdict == verdict && one.dialled.is_none() && one.sent == 0;
        assert!(!to.is_empty() && to.iter().all(refused), "expected {verdict:?}\n{}", self.told());
        to.remove(0)
    }

    /// The connection to this name and port was cut off for this reason.
    #[track_caller]
    pub(crate) fn cut(&self, name: &str, port: u16, reason: &RefusalReason) -> &Attempt {
        let mut to = self.to(name, port);
        let verdict = AttemptVerdict::Cut(reason.clone());
        let is_one = to.len() == 1 && to[0].verdict == verdict;
        assert!(is_one, "expected {verdict:?}\n{}", self.told());
        to.remove(0)
    }

    fn to(&self, name: &str, port: u16) -> Vec<&Attempt> {
        let is_it = |attempt: &&Attempt| attempt.name.as_deref() == Some(name) && attempt.port == port;
        self.reached().filter(is_it).collect()
    }

    /// Something was tried at this address, and refused.
    #[track_caller]
    pub(crate) fn refused_at(&self, to: SocketAddr, transport: Transport) -> &Attempt {
        let mut found = self.outcome.network.attempts.iter().filter(|attempt| {
            attempt.address == Some(to.ip())
                && attempt.port == to.port()
                && attempt.action == AttemptAction::Reach(transport)
        });
        let attempt = found.next().unwrap_or_else(|| panic!("nothing was seen of {to}\n{}", self.told()));
        assert_eq!(attempt.verdict, AttemptVerdict::Refused(RefusalReason::NotGranted), "{}", self.told());
        attempt
    }

    /// The name was asked for, and does not exist inside.
    #[track_caller]
    pub(crate) fn unknown(&self, name: &str) -> &Attempt {
        let asked = |attempt: &&Attempt| {
            attempt.action == AttemptAction::LookUp && attempt.name.as_deref() == Some(name)
        };
        let attempt = self.outcome.network.attempts.iter().find(asked);
        let attempt = attempt.unwrap_or_else(|| panic!("{name} was not asked for\n{}", self.told()));
        assert_eq!(attempt.verdict, AttemptVerdict::Refused(RefusalReason::NotGranted), "{}", self.told());
        attempt
    }
}
