//! What has to be known of a run to say what would have helped: who runs it, what the user's policy took away, and its limits.

use std::path::PathBuf;
use std::time::Duration;

use skillsandbox_manifest::{
    Destination, EgressRule, GrantBases, GrantPath, Manifest, PolicyChange, Spanned, user_folders,
};
use skillsandbox_tracer::AttemptWeigher;

use crate::denied_attempt::DeniedAttempt;
use crate::grant_hint::{GrantHint, HintPlace, HintStyle, HintedHost};
use crate::job::{Job, JobLimits};
use crate::user_policy::UserPolicy;

/// What a skill declares and the user's policy does not allow.
#[derive(Debug, Clone, Default)]
pub struct WithheldGrants {
    /// Files and folders that it would read.
    pub(crate) read: Vec<PathBuf>,
    /// Files and folders that it would change.
    pub(crate) write: Vec<PathBuf>,
    /// Sockets that it would connect to.
    pub(crate) unix_sockets: Vec<PathBuf>,
    /// Hosts that it would reach.
    pub(crate) egress: Vec<EgressRule>,
    /// Limits that were lowered, by their keys: `resources.memory_mb`.
    pub(crate) limits: Vec<&'static str>,
    /// The policy, and where the skill's paths begin.
    pub(crate) policy: Option<(UserPolicy, GrantBases)>,
}

impl WithheldGrants {
    /// What is in a declaration and not in what the policy left of it.
    pub(crate) fn between(
        declared: &Manifest,
        narrowed: &Manifest,
        changes: &[PolicyChange],
        policy: &UserPolicy,
        places: &GrantBases,
    ) -> Self {
        let gone = |before: &[Spanned<GrantPath>], after: &[Spanned<GrantPath>]| {
            let after: Vec<PathBuf> = after.iter().map(|path| path.resolve(places)).collect();
            let before = before.iter().map(|path| path.resolve(places));
            before.filter(|path| !after.contains(path)).collect()
        };
        let (before, after) = (declared.filesystem(), narrowed.filesystem());
        let kept = &narrowed.network().egress;
        let egress = declared.network().egress.iter().map(|rule| rule.value.clone());
        Self {
            read: gone(&before.read, &after.read),
            write: gone(&before.write, &after.write),
            unix_sockets: gone(&before.unix_sockets, &after.unix_sockets),
            egress: egress.filter(|rule| !kept.iter().any(|kept| kept.value == *rule)).collect(),
            limits: changes
                .iter()
                .map(|change| change.path)
                .filter(|path| path.starts_with("resources."))
                .collect(),
            policy: policy.is_some().then(|| (policy.clone(), places.clone())),
        }
    }

    /// Whether the policy leaves all of a manifest.
    fn allows(&self, manifest: Manifest) -> bool {
        let policy = self.policy.as_ref();
        policy.is_none_or(|(policy, places)| policy.narrow(manifest, places).1.is_empty())
    }

    /// Whether the skill declares this already.
    fn covers(&self, hint: &GrantHint) -> bool {
        let is_within = |grants: &[PathBuf]| {
            hint.path().is_some_and(|path| grants.iter().any(|grant| path.starts_with(grant)))
        };
        match hint {
            GrantHint::Read(_) => is_within(&self.read) || is_within(&self.write),
            // The hint is the folder, and the file alone may be declared.
            GrantHint::Write(folder) => {
                is_within(&self.write) || self.write.iter().any(|grant| grant.parent() == Some(folder))
            }
            GrantHint::Socket(_) => is_within(&self.unix_sockets),
            GrantHint::Program(_) => false,
            GrantHint::Host { to, port, .. } => self.egress.iter().any(|rule| {
                let is_it = match (&rule.to, to) {
                    (Destination::Domain(domain), HintedHost::Name(name)) => domain.matches(name),
                    (Destination::Cidr(range), HintedHost::Address(address)) => range.contains(*address),
                    (Destination::Domain(_), HintedHost::Address(_))
                    | (Destination::Cidr(_), HintedHost::Name(_)) => false,
                };
                is_it && rule.ports.contains(port)
            }),
        }
    }
}

/// What hints of a run depend on.
#[derive(Debug, Clone)]
pub(crate) struct HintContext {
    pub(crate) style: HintStyle,
    home: Option<PathBuf>,
    skill_folder: Option<PathBuf>,
    withheld: WithheldGrants,
    limits: JobLimits,
}

impl Default for HintContext {
    fn default() -> Self {
        Self {
            style: HintStyle::Keys,
            home: user_folders::home(),
            skill_folder: None,
            withheld: WithheldGrants::default(),
            limits: JobLimits::none(),
        }
    }
}

impl HintContext {
    pub(crate) fn of_job(job: &Job) -> Self {
        Self {
            style: job.hint_style,
            home: user_folders::home(),
            skill_folder: job.as_named.first().cloned(),
            withheld: job.withheld.clone(),
            limits: job.limits.clone(),
        }
    }

    pub(crate) fn place<'a>(&'a self, weigher: &'a AttemptWeigher) -> HintPlace<'a> {
        HintPlace { weigher, home: self.home.as_deref(), skill_folder: self.skill_folder.as_deref() }
    }

    /// Says what would have let it happen, or that the user's policy takes it away.
    pub(crate) fn explain(
        &self,
        attempt: &mut DeniedAttempt,
        hint: Option<&GrantHint>,
        place: &HintPlace<'_>,
    ) {
        let Some(hint) = hint else {
            if let (true, Some(why)) = (attempt.kind == "dns_query", &mut attempt.why) {
                why.push_str(self.host_advice());
            }
            return;
        };
        if self.withheld.covers(hint) {
            attempt.why = Some("declared, and taken away by your policy".to_owned());
            return;
        }
        match hint.manifest(place).map(|manifest| self.withheld.allows(manifest)) {
            Some(true) => attempt.hint = hint.text(self.style, place),
            Some(false) => attempt.why = Some("your policy does not allow it".to_owned()),
            None => {}
        }
    }

    /// How to grant a host whose name nobody knows.
    fn host_advice(&self) -> &'static str {
        match self.style {
            HintStyle::Keys => "; permissions.network.egress grants hosts by their names",
            HintStyle::RunFlags | HintStyle::ExecFlags => "; --allow-host grants hosts by their names",
        }
    }

    /// Says how much there was of a limit that was reached, and what gives twice as much.
    pub(crate) fn explain_limit(&self, attempt: &mut DeniedAttempt, limit: &str, is_attack: bool) {
        let Some(known) = KnownLimit::of(limit, &self.limits) else { return };
        attempt.what = format!("use more {} than its limit of {}", known.name, known.figure);
        if self.withheld.limits.contains(&known.key) {
            attempt.why = Some("the limit is the one of your policy".to_owned());
        } else if !is_attack && let Some(manifest) = known.manifest() {
            if self.withheld.allows(manifest) {
                attempt.hint = known.hint(self.style);
            } else {
                attempt.why = Some("your policy allows no more".to_owned());
            }
        }
    }
}

fn in_seconds(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if time == Duration::from_secs(1) { "1 second".to_owned() } else { format!("{seconds} seconds") }
}

/// A limit in words.
struct KnownLimit {
    name: &'static str,
    figure: String,
    key: &'static str,
    /// Twice as much, for a manifest and for the flag.
    doubled: u64,
    flag: Option<String>,
}

impl KnownLimit {
    fn of(limit: &str, limits: &JobLimits) -> Option<Self> {
        let mib = |bytes: u64| bytes.div_ceil(1 << 20);
        let seconds = |time: Duration| time.as_secs_f64().ceil().clamp(1.0, 1e9);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped above")]
        let twice = |time: Duration| (seconds(time) as u64).saturating_mul(2);
        Some(match limit {
            "memory" => {
                let doubled = mib(limits.memory?).saturating_mul(2);
                Self {
                    name: "memory",
                    figure: format!("{} MiB", mib(limits.memory?)),
                    key: "resources.memory_mb",
                    doubled,
                    flag: Some(format!("--memory {doubled}M")),
                }
            }
            "processes" => {
                let doubled = u64::from(limits.processes?) * 2;
                Self {
                    name: "processes",
                    figure: limits.processes?.to_string(),
                    key: "resources.max_processes",
                    doubled,
                    flag: Some(format!("--max-processes {doubled}")),
                }
            }
            "cpu_time" => {
                let doubled = twice(limits.cpu_time?);
                Self {
                    name: "processor time",
                    figure: in_seconds(limits.cpu_time?),
                    key: "resources.max_cpu_seconds",
                    doubled,
                    flag: Some(format!("--cpu-seconds {doubled}")),
                }
            }
            "timeout" => {
                let doubled = twice(limits.timeout?);
                Self {
                    name: "time",
                    figure: in_seconds(limits.timeout?),
                    key: "resources.max_runtime_seconds",
                    doubled,
                    flag: Some(format!("--timeout {doubled}")),
                }
            }
            "output" => Self {
                name: "output",
                figure: format!("{} bytes", limits.output?),
                key: "resources.max_output_bytes",
                doubled: limits.output?.saturating_mul(2),
                flag: None,
            },
            // Who is slowed down is kept from nothing.
            _ => return None,
        })
    }

    /// A manifest with twice as much, where one may have that.
    fn manifest(&self) -> Option<Manifest> {
        let (section, key) = self.key.split_once('.')?;
        let example =
            format!("skill: {{ name: hint, version: \"1\" }}\n{section}:\n  {key}: {}\n", self.doubled);
        Manifest::parse(&example).ok()
    }

    fn hint(&self, style: HintStyle) -> Option<String> {
        self.manifest()?;
        match style {
            HintStyle::Keys => Some(format!("{}: {}", self.key, self.doubled)),
            // The only limit that `run` has a flag for.
            HintStyle::RunFlags => self.flag.clone().filter(|flag| flag.starts_with("--timeout")),
            HintStyle::ExecFlags => self.flag.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_told_with_its_figure_and_what_raises_it() {
        let mut limits = JobLimits::none();
        limits.memory = Some(64 << 20);
        limits.processes = Some(8);
        limits.timeout = Some(Duration::from_millis(1500));
        limits.cpu_time = Some(Duration::from_secs(3));
        limits.output = Some(1000);
        for (limit, figure, key, flag) in [
            ("memory", "64 MiB", "resources.memory_mb: 128", Some("--memory 128M")),
            ("processes", "8", "resources.max_processes: 16", Some("--max-processes 16")),
            ("timeout", "1.5 seconds", "resources.max_runtime_seconds: 4", Some("--timeout 4")),
            ("cpu_time", "3 seconds", "resources.max_cpu_seconds: 6", Some("--cpu-seconds 6")),
            ("output", "1000 bytes", "resources.max_output_bytes: 2000", None),
        ] {
            let known = KnownLimit::of(limit, &limits).unwrap();
            assert_eq!(known.figure, figure);
            assert_eq!(known.hint(HintStyle::Keys).as_deref(), Some(key));
            assert_eq!(known.hint(HintStyle::ExecFlags).as_deref(), flag);
        }
        assert!(KnownLimit::of("cpu", &limits).is_none());
        assert!(KnownLimit::of("memory", &JobLimits::none()).is_none());
        // More than any manifest may ask for.
        limits.processes = Some(4_000_000);
        assert_eq!(KnownLimit::of("processes", &limits).unwrap().hint(HintStyle::Keys), None);
    }

    #[test]
    fn what_the_policy_took_away_is_not_to_be_declared_once_more() {
        let policy =
            skillsandbox_manifest::Policy::parse("permissions: { filesystem: { read: [/srv/open] } }")
                .unwrap();
        let places = GrantBases::new("/srv/skill", "/home/me");
        let withheld = WithheldGrants {
            policy: Some((policy.into(), places)),
            read: vec!["/srv/data".into()],
            write: vec!["/srv/out/x".into()],
            egress: vec![EgressRule::new(
                Destination::Domain("*.x.test".parse().unwrap()),
                [443],
                skillsandbox_manifest::Protocol::Tcp,
            )],
            ..WithheldGrants::default()
        };
        let host =
            |name: &str, port| GrantHint::Host { to: HintedHost::Name(name.into()), port, is_udp: false };
        for (hint, want) in [
            (GrantHint::Read("/srv/data/x".into()), true),
            (GrantHint::Read("/srv/other".into()), false),
            (GrantHint::Write("/srv/out".into()), true),
            (GrantHint::Write("/srv/data".into()), false),
            (host("a.x.test", 443), true),
            (host("a.x.test", 80), false),
            (host("y.test", 443), false),
        ] {
            assert_eq!(withheld.covers(&hint), want, "{hint:?}");
        }
        // Nor is it of use to declare what the policy would take away.
        let weigher = AttemptWeigher::new();
        let place = HintPlace { weigher: &weigher, home: None, skill_folder: None };
        for (path, want) in [("/srv/open/x", true), ("/srv/closed", false)] {
            let manifest = GrantHint::Read(path.into()).manifest(&place).unwrap();
            assert_eq!(withheld.allows(manifest), want, "{path}");
        }
    }
}
