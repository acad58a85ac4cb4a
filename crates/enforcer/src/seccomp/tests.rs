//! The tables are complete and mean what they say, and the programs made of them do just that.

mod machine;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::OnceLock;

use libseccomp::{ScmpArch, ScmpSyscall};

use self::machine::{MachineAction, run};
use super::groups::{DENIED, FUTURE, GROUPS, OBSERVED, UNOBSERVED};
use super::table::{
    ArgumentRule, ArgumentTest, CallList, CallSupervision, DenialAnswer, ListedCall, ProfileScope,
};
use super::{
    FilterRestrictions, RefusalMode, SyscallFilters as _, SyscallRules, SyscallVerdict, filter, observes_call,
};
use skillsandbox_terms::SyscallProfile;

const EVERY_MODE: [RefusalMode; 4] =
    [RefusalMode::Errno, RefusalMode::Notify, RefusalMode::Observe, RefusalMode::Supervise];

/// Where the names of calls come from that libseccomp knows: enough for every number there is, and for many that may come.
const NUMBERS: std::ops::Range<i32> = 0..700;

fn every_table() -> impl Iterator<Item = (&'static str, &'static CallList)> {
    let groups = GROUPS.iter().map(|group| (group.name, &group.calls));
    groups.chain(DENIED.iter().map(|denial| (denial.name, &denial.calls)))
}

#[test]
fn profiles_are_known_by_their_names() {
    for profile in SyscallProfile::ALL {
        assert_eq!(profile.as_str().parse(), Ok(profile));
        assert_eq!(serde_json::to_value(profile).unwrap(), profile.to_string());
    }
    let error = "lenient".parse::<SyscallProfile>().unwrap_err().to_string();
    assert!(error.contains("lenient") && error.contains("default, strict and permissive"), "{error}");
}

#[test]
fn every_call_exists_where_the_table_says_so() {
    for (table, calls) in every_table() {
        for call in calls.all() {
            for (arch, is_x86_64) in [(ScmpArch::X8664, true), (ScmpArch::Aarch64, false)] {
                let known = ScmpSyscall::from_name_by_arch(call.name, arch).map(i32::from);
                let expected = is_x86_64 || !call.only_x86_64;
                match (known, call.number) {
                    // Below zero is libseccomp's way to say that the call exists, but not here.
                    (Ok(number), None) => {
                        assert_eq!(number >= 0, expected, "{table}: {} on {arch:?}", call.name);
                    }
                    // A newer libseccomp knows the name too; it must be the same call.
                    (Ok(number), Some(ours)) if number >= 0 && expected => {
                        assert_eq!(number, ours, "{table}: {}", call.name);
                    }
                    (_, Some(_)) => {}
                    (Err(error), None) => {
                        panic!("{table}: {} has neither a name nor a number: {error}", call.name)
                    }
                }
            }
        }
    }
}

#[test]
fn numbers_are_given_only_where_every_architecture_has_the_same() {
    for (table, calls) in every_table() {
        for call in calls.all() {
            let Some(number) = call.number else { continue };
            assert!(call.only_x86_64 || number >= 424, "{table}: {}", call.name);
            assert!(!FUTURE.contains(&number), "{table}: {} is no call of the future any more", call.name);
        }
    }
}

/// A call is thought of once: it is allowed, or allowed on conditions, or refused.
#[test]
fn no_call_is_listed_twice() {
    for profile in [SyscallProfile::Default, SyscallProfile::Strict] {
        let mut plain = HashSet::new();
        let mut checked: BTreeMap<&str, Vec<&[ArgumentTest]>> = BTreeMap::new();
        let groups = GROUPS.iter().filter(|group| group.within.has(profile)).map(|group| &group.calls);
        for call in groups.chain(DENIED.iter().map(|denial| &denial.calls)).flat_map(CallList::all) {
            if call.rules.is_empty() {
                assert!(plain.insert(call.name), "{profile}: {} twice", call.name);
            }
            for rule in call.rules {
                let rules = checked.entry(call.name).or_default();
                assert!(!rules.contains(&rule.tests), "{profile}: {} {} twice", call.name, rule.says);
                rules.push(rule.tests);
            }
        }
        for name in checked.keys() {
            assert!(!plain.contains(name), "{profile}: {name} with conditions and without");
        }
    }
}

/// What is allowed and what is answered with another number must not be the same call: libseccomp would pick one.
#[test]
fn what_is_allowed_is_not_also_denied() {
    for call in DENIED.iter().flat_map(|denial| denial.calls.all()) {
        let groups = GROUPS.iter().flat_map(|group| group.calls.all());
        for allowed in groups.filter(|allowed| allowed.name == call.name) {
            for (denied, rule) in call.rules.iter().flat_map(|d| allowed.rules.iter().map(move |a| (d, a))) {
                assert!(disjoint(*denied, *rule), "{}: {} and {}", call.name, denied.says, rule.says);
            }
        }
    }
}

fn disjoint(one: ArgumentRule, other: ArgumentRule) -> bool {
    one.tests.iter().any(|a| {
        other.tests.iter().any(|b| {
            let both = a.mask & b.mask;
            let apart = match (a.differs, b.differs) {
                (false, false) => a.value & both != b.value & both,
                (true, true) => false,
                _ => (a.mask, a.value) == (b.mask, b.value),
            };
            a.argument == b.argument && apart
        })
    })
}

#[test]
fn tests_of_arguments_can_hold() {
    for (table, calls) in every_table() {
        for call in calls.all() {
            for rule in call.rules {
                let arguments: BTreeSet<_> = rule.tests.iter().map(|test| test.argument).collect();
                // libseccomp takes one comparison of each argument.
                assert_eq!(arguments.len(), rule.tests.len(), "{table}: {} {}", call.name, rule.says);
                assert!(!rule.tests.is_empty(), "{table}: {} {}", call.name, rule.says);
                for test in rule.tests {
                    assert!(
                        test.argument < 6 && test.value & !test.mask == 0 && test.mask != 0,
                        "{table}: {}",
                        call.name
                    );
                }
            }
        }
    }
}

/// No call of the kernel is refused, or allowed, because nobody thought of it.
#[test]
fn every_call_of_the_kernel_is_in_the_tables() {
    let named: HashSet<&str> =
        every_table().flat_map(|(_, calls)| calls.all()).map(|call| call.name).collect();
    for arch in [ScmpArch::X8664, ScmpArch::Aarch64] {
        let known: Vec<String> =
            NUMBERS.filter_map(|number| ScmpSyscall::from(number).get_name_by_arch(arch).ok()).collect();
        assert!(known.len() > 250, "libseccomp knows {} calls of {arch:?}", known.len());
        let forgotten: Vec<_> = known.iter().filter(|name| !named.contains(name.as_str())).collect();
        assert!(forgotten.is_empty(), "{arch:?}: {forgotten:?}");
    }
    // Those that libseccomp 2.5 does not know have no gap among them.
    let newer: BTreeSet<i32> = every_table()
        .flat_map(|(_, calls)| calls.all())
        .filter(|call| !call.only_x86_64)
        .filter_map(|c| c.number)
        .collect();
    assert_eq!(newer, (449..*FUTURE.start()).collect());
}

#[test]
fn reasons_are_sentences_and_names_are_unique() {
    let names: Vec<_> = every_table().map(|(name, _)| name).collect();
    let denied = DENIED.iter().map(|denial| denial.name).collect::<HashSet<_>>();
    assert_eq!(denied.len(), DENIED.len());
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
    let reasons = GROUPS.iter().map(|group| group.reason).chain(DENIED.iter().map(|denial| denial.reason));
    let lacking = GROUPS.iter().filter_map(|group| match group.within {
        ProfileScope::NotStrict(reason) => Some(reason),
        _ => None,
    });
    for reason in reasons.chain(lacking) {
        assert!(reason.len() > 15 && !reason.ends_with('.') && !reason.contains("  "), "{reason}");
    }
}

#[test]
fn a_name_that_nobody_knows_is_an_error_that_names_it() {
    let error = filter::call_number(&ListedCall::both("frobnicate", &[])).unwrap_err().to_string();
    assert!(error.contains("frobnicate"), "{error}");
}

#[test]
fn a_program_is_made_once_and_fits_into_the_kernel() {
    for profile in SyscallProfile::ALL {
        for refusal in EVERY_MODE {
            let program = SyscallRules::of(profile).compile(refusal).unwrap();
            assert_eq!(program.bytes(), SyscallRules::of(profile).compile(refusal).unwrap().bytes());
            assert_eq!(
                program.bytes(),
                filter::build(profile, FilterRestrictions::default(), refusal).unwrap(),
                "the same tables, the same program"
            );
            let instructions = program.bytes().len() / 8;
            println!("{profile}, {refusal:?}: {instructions} instructions");
            assert!(instructions <= 4096 && program.bytes().len().is_multiple_of(8));
        }
    }
}

/// The programs, run by a machine for them, against the tables: at the edges of every rule, and at random.
#[test]
fn programs_do_what_the_tables_say() {
    let mut dice = FilterDice(0x2545_f491_4f6c_dd1d);
    let rules = rules_by_number();
    for (profile, restrictions) in every_kind_of_run() {
        for refusal in EVERY_MODE {
            let of_run = SyscallRules { profile, restrictions };
            let program = of_run.compile(refusal).unwrap();
            let check = |number: i32, arguments: [u64; 6]| {
                let action = run(program.bytes(), machine::NATIVE, number, arguments);
                let expected = expected(of_run, refusal, number, arguments);
                assert_eq!(action, expected, "{of_run:?}, {refusal:?}: {number} {arguments:x?}");
            };
            for number in (-2..1200).chain([i32::MAX >> 2]) {
                check(number, [0; 6]);
                check(number, [u64::MAX; 6]);
                for _ in 0..8 {
                    check(number, dice.arguments());
                }
            }
            for (number, rules) in &rules {
                for rule in rules {
                    for arguments in edges(*rule, &mut dice) {
                        check(*number, arguments);
                    }
                }
                // Arguments that suit one rule here and another there.
                for _ in 0..400 {
                    let mut arguments = dice.arguments();
                    for test in rules.iter().flat_map(|rule| rule.tests) {
                        if dice.next().is_multiple_of(4) {
                            let high = if dice.next().is_multiple_of(2) { 0 } else { dice.next() << 32 };
                            arguments[usize::from(test.argument)] = test.value | high;
                        }
                    }
                    check(*number, arguments);
                }
            }
        }
    }
}

/// There is a short cut for what is observed; it leads to the same place.
#[test]
fn the_short_cut_to_observed_calls_is_right() {
    let mut dice = FilterDice(0x2545_f491_4f6c_dd1d);
    let rules = rules_by_number();
    for profile in SyscallProfile::ALL {
        let check = |number: i32, arguments: [u64; 6]| {
            let observed = profile.judge(number, arguments).unwrap() == SyscallVerdict::Observed;
            assert_eq!(
                observes_call(profile, number, arguments),
                observed,
                "{profile}: {number} {arguments:x?}"
            );
        };
        for number in -1..600 {
            (0..50).for_each(|_| check(number, dice.arguments()));
            for rule in rules.get(&number).into_iter().flatten() {
                for arguments in edges(*rule, &mut dice) {
                    check(number, arguments);
                }
            }
        }
    }
}

/// Whoever adds a call about files or signals says whether it is told of.
#[test]
fn row_177_every_call_about_files_and_signals_is_observed_or_listed_as_not_covered() {
    /// Of these groups, what is about no file that has a name, and no other process.
    const ABOUT_NOTHING: &str = "sync syncfs getcwd umask memfd_create inotify_init inotify_init1 inotify_rm_watch \
                                 io_setup io_destroy io_cancel io_getevents io_pgetevents";
    let listed: Vec<&str> = super::unobserved_calls().collect();
    let every: BTreeSet<&str> =
        GROUPS.iter().flat_map(|group| group.calls.all()).map(|call| call.name).collect();
    let subjects =
        ["files", "modes", "modes, strict", "asynchronous files", "sending signals", "signals to itself"];
    let groups: Vec<_> = GROUPS.iter().filter(|group| subjects.contains(&group.name)).collect();
    assert_eq!(groups.len(), subjects.len());
    for call in groups.iter().flat_map(|group| group.calls.all()) {
        let is_in = [
            OBSERVED.contains(&call.name),
            listed.contains(&call.name),
            ABOUT_NOTHING.split_whitespace().any(|name| name == call.name),
        ];
        assert_eq!(is_in.iter().filter(|is| **is).count(), 1, "{}", call.name);
    }
    for call in &listed {
        assert!(every.contains(call), "{call} is allowed to nobody");
    }
    assert_eq!(listed.len(), listed.iter().collect::<BTreeSet<_>>().len(), "{UNOBSERVED:?}");
}

#[test]
fn other_architectures_and_x32_are_killed() {
    let x32 = 0x4000_0000;
    for profile in SyscallProfile::ALL {
        for refusal in EVERY_MODE {
            let program = SyscallRules::of(profile).compile(refusal).unwrap();
            for architecture in machine::FOREIGN {
                for number in [0, 1, 20, 102, 117, 400] {
                    assert_eq!(
                        run(program.bytes(), *architecture, number, [0; 6]),
                        MachineAction::KillProcess
                    );
                }
            }
            if cfg!(target_arch = "x86_64") {
                for number in 0..600 {
                    let action = run(program.bytes(), machine::NATIVE, x32 | number, [0; 6]);
                    assert_eq!(action, MachineAction::KillProcess, "{number}");
                }
            }
        }
    }
}

/// Every profile, as it is and with all that a run may have to do without.
fn every_kind_of_run() -> impl Iterator<Item = (SyscallProfile, FilterRestrictions)> {
    let restrictions = [(false, false), (true, true)]
        .map(|(named_programs, uncounted_memory)| FilterRestrictions { named_programs, uncounted_memory });
    SyscallProfile::ALL.into_iter().flat_map(move |profile| restrictions.map(|less| (profile, less)))
}

fn expected(rules: SyscallRules, refusal: RefusalMode, number: i32, arguments: [u64; 6]) -> MachineAction {
    // Beyond x32 there is only -1, which is how a debugger skips a call: it gets the answer of what is not listed.
    if cfg!(target_arch = "x86_64") && number < -1 {
        return MachineAction::KillProcess;
    }
    match (rules.judge(number, arguments).unwrap(), refusal) {
        (SyscallVerdict::Allowed, RefusalMode::Observe) if observed().contains(&number) => {
            MachineAction::Notify
        }
        (SyscallVerdict::Allowed, RefusalMode::Errno)
            if is_of(CallSupervision::Required, rules.profile, number, arguments) =>
        {
            MachineAction::Errno(filter::UNSUPERVISED as i32)
        }
        (SyscallVerdict::Observed, RefusalMode::Supervise)
            if is_of(CallSupervision::Performed, rules.profile, number, arguments) =>
        {
            MachineAction::Notify
        }
        (SyscallVerdict::Allowed, _)
        | (SyscallVerdict::Observed, RefusalMode::Errno | RefusalMode::Supervise) => MachineAction::Allow,
        (SyscallVerdict::Refused { errno, .. }, _) if always_answered().contains(&number) => {
            MachineAction::Errno(errno)
        }
        (_, RefusalMode::Notify | RefusalMode::Observe) => MachineAction::Notify,
        (SyscallVerdict::Reported { .. }, RefusalMode::Errno | RefusalMode::Supervise) => MachineAction::Log,
        (SyscallVerdict::Refused { errno, .. }, RefusalMode::Errno | RefusalMode::Supervise) => {
            MachineAction::Errno(errno)
        }
    }
}

/// Whether the group that allows a call is of this kind.
fn is_of(supervision: CallSupervision, profile: SyscallProfile, number: i32, arguments: [u64; 6]) -> bool {
    let groups = GROUPS.iter().filter(|group| group.supervision == supervision && group.within.has(profile));
    groups.flat_map(|group| group.calls.here()).any(|call| {
        filter::call_number(&call).unwrap() == number
            && (call.rules.is_empty() || call.rules.iter().any(|rule| rule.holds(arguments)))
    })
}

/// The numbers of calls that are observed.
fn observed() -> &'static HashSet<i32> {
    static NUMBERS: OnceLock<HashSet<i32>> = OnceLock::new();
    let is_observed = |call: &ListedCall| OBSERVED.contains(&call.name);
    NUMBERS.get_or_init(|| {
        let calls = every_table().flat_map(|(_, calls)| calls.here()).filter(is_observed);
        calls.map(|call| filter::call_number(&call).unwrap()).collect()
    })
}

/// Calls that no profile hands to a supervisor.
fn always_answered() -> &'static HashSet<i32> {
    static NUMBERS: OnceLock<HashSet<i32>> = OnceLock::new();
    NUMBERS.get_or_init(|| {
        let always = DENIED.iter().filter(|denial| matches!(denial.answer, DenialAnswer::Always(_)));
        always
            .flat_map(|denial| denial.calls.here())
            .map(|call| filter::call_number(&call).unwrap())
            .collect()
    })
}

fn rules_by_number() -> BTreeMap<i32, Vec<ArgumentRule>> {
    let mut rules: BTreeMap<i32, Vec<ArgumentRule>> = BTreeMap::new();
    for call in every_table().flat_map(|(_, calls)| calls.here()) {
        if !call.rules.is_empty() {
            rules.entry(filter::call_number(&call).unwrap()).or_default().extend(call.rules);
        }
    }
    rules
}

/// Arguments for which a rule holds, whatever is in the bits it does not look at, and all that differ from them by one bit.
fn edges(rule: ArgumentRule, dice: &mut FilterDice) -> Vec<[u64; 6]> {
    let mut found = Vec::new();
    for others in [0, u64::MAX, dice.next()] {
        let mut arguments = dice.arguments();
        for test in rule.tests {
            arguments[usize::from(test.argument)] = test.value | others & !test.mask;
        }
        found.push(arguments);
        for (test, bit) in rule.tests.iter().flat_map(|test| (0..64).map(move |bit| (test, bit))) {
            let mut flipped = arguments;
            flipped[usize::from(test.argument)] ^= 1 << bit;
            found.push(flipped);
        }
    }
    found
}

/// Marsaglia's xorshift: the same numbers in every run.
struct FilterDice(u64);

impl FilterDice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn arguments(&mut self) -> [u64; 6] {
        std::array::from_fn(|_| {
            let width = self.next() % 65;
            self.next().checked_shr(64 - u32::try_from(width).unwrap()).unwrap_or(0)
        })
    }
}
