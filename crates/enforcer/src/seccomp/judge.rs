//! The same tables, asked about one call: what a supervisor answers, and what a trace says of it.

use std::collections::HashMap;
use std::sync::OnceLock;

use nix::errno::Errno;

use super::FilterRestrictions;
use super::filter::{CompileError, UNLISTED, call_number};
use super::groups::{DENIED, FUTURE, GROUPS, RESTRICTED, counts};
use super::table::{
    ArgumentRule, CallGroup, CallSupervision, DenialAnswer, DeniedGroup, ProfileScope, RestrictedGroup,
};
use skillsandbox_terms::SyscallProfile;

/// What a profile does with one call.
///
/// A closed set: a new variant is a compile error in every `match` over it, so that none is let through unnoticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyscallVerdict {
    /// It is allowed.
    Allowed,
    /// It is allowed, and a supervisor is asked first: so that it knows, and of `connect`, so that it connects the socket itself. To let
    /// `connect` go on is to let it reach every Unix socket there is a name of.
    Observed,
    /// It passes, and is reported: `permissive`, about what `default` refuses.
    Reported {
        /// The group of calls it belongs to.
        group: &'static str,
        /// Why it is refused.
        reason: &'static str,
    },
    /// It fails.
    Refused {
        /// The number that the caller finds in `errno`.
        errno: i32,
        /// The group of calls it belongs to.
        group: &'static str,
        /// Why it is refused.
        reason: &'static str,
    },
}

/// What the tables say about one number.
#[derive(Default)]
struct CallEntry {
    groups: Vec<(&'static CallGroup, &'static [ArgumentRule])>,
    denials: Vec<(&'static DeniedGroup, &'static [ArgumentRule])>,
    /// What some runs do without.
    restricted: Vec<&'static RestrictedGroup>,
}

pub(super) fn judge(
    profile: SyscallProfile,
    restrictions: FilterRestrictions,
    number: i32,
    arguments: [u64; 6],
) -> Result<SyscallVerdict, CompileError> {
    let holds = |rules: &[ArgumentRule]| rules.is_empty() || rules.iter().any(|rule| rule.holds(arguments));
    let entry = index()?.get(&number);
    let mut restricted = entry.into_iter().flat_map(|entry| &entry.restricted);
    if let Some(RestrictedGroup { denied, .. }) = restricted.find(|group| counts(group, restrictions)) {
        let (errno, group, reason) = (denied.answer.errno() as i32, denied.name, denied.reason);
        return Ok(SyscallVerdict::Refused { errno, group, reason });
    }
    let groups = entry.map_or(&[][..], |entry| &entry.groups);
    let denials = entry.map_or(&[][..], |entry| &entry.denials);

    if let Some((group, _)) = groups.iter().find(|(group, rules)| group.within.has(profile) && holds(rules)) {
        return Ok(match group.supervision {
            CallSupervision::None | CallSupervision::Required => SyscallVerdict::Allowed,
            CallSupervision::Observed | CallSupervision::Performed => SyscallVerdict::Observed,
        });
    }
    let denial = denials.iter().find(|(_, rules)| holds(rules)).map(|(denial, _)| *denial);
    let otherwise = if FUTURE.contains(&number) { Errno::ENOSYS } else { UNLISTED };
    let answer = denial.map_or(DenialAnswer::Refuse(otherwise), |denial| denial.answer);
    // Of the groups that have the call, the one this profile has says most about it.
    let group = groups.iter().find(|(group, _)| group.within.has(profile)).or(groups.first());
    let (group, reason) = match (denial, group) {
        (Some(denial), _) => (denial.name, denial.reason),
        (None, Some((group, _))) => (group.name, why_not(profile, group)),
        (None, None) => ("unknown", "no call has this number, or only in a kernel newer than the tables"),
    };
    Ok(match (profile, answer) {
        (SyscallProfile::Permissive, DenialAnswer::Refuse(_)) => SyscallVerdict::Reported { group, reason },
        _ => SyscallVerdict::Refused { errno: answer.errno() as i32, group, reason },
    })
}

/// Why a call of a group is not allowed: the profile lacks the group, or the arguments are not those of its reason.
fn why_not(profile: SyscallProfile, group: &CallGroup) -> &'static str {
    match group.within {
        ProfileScope::NotStrict(reason) if profile == SyscallProfile::Strict => reason,
        _ => group.reason,
    }
}

/// Makes the index of all calls, so that the first who is judged does not wait for it.
pub(super) fn make_index() {
    // Where it cannot be made, whoever is judged is told.
    let _ = index();
}

fn index() -> Result<&'static HashMap<i32, CallEntry>, CompileError> {
    static INDEX: OnceLock<HashMap<i32, CallEntry>> = OnceLock::new();
    if let Some(index) = INDEX.get() {
        return Ok(index);
    }
    let mut index: HashMap<i32, CallEntry> = HashMap::new();
    for group in GROUPS {
        for call in group.calls.here() {
            index.entry(call_number(&call)?).or_default().groups.push((group, call.rules));
        }
    }
    for denial in DENIED {
        for call in denial.calls.here() {
            index.entry(call_number(&call)?).or_default().denials.push((denial, call.rules));
        }
    }
    for group in RESTRICTED {
        for call in group.denied.calls.here() {
            index.entry(call_number(&call)?).or_default().restricted.push(group);
        }
    }
    Ok(INDEX.get_or_init(|| index))
}
