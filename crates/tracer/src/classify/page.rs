//! `docs/classification.md`, made from the tables by a test that `cargo xtask generate` runs, and compared by the same test.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::acts::{CALLS, COMMANDS, DROPS, FETCHERS, METADATA, MINING_WORDS, POOLS, RECON};
use super::expected_refusals;
use super::sensitive_paths::{
    self, AccessFilter, CredentialWeight, HABITS, LOOKED_FOR, PRIVATE, SensitivePath, VerdictFilter,
};
use super::techniques::{ATLAS_VERSION, ATTACK_VERSION, TECHNIQUES, class};
use crate::format::trace::AttackClass;

const CLASSES: &[AttackClass] = &[
    AttackClass::CredentialHarvesting,
    AttackClass::CredentialExfiltration,
    AttackClass::DataExfiltration,
    AttackClass::SupplyChainAttack,
    AttackClass::PrivilegeEscalation,
    AttackClass::UnauthorizedFileAccess,
    AttackClass::SandboxEscape,
    AttackClass::DnsTunnelling,
    AttackClass::DomainFronting,
    AttackClass::ResourceAbuse,
    AttackClass::Persistence,
    AttackClass::Discovery,
    AttackClass::RemoteExecution,
];

const BEGINNING: &str = "\
# Classification: what attempts amount to

Made by `cargo xtask generate` from the tables in `crates/tracer/src/classify/`; a test compares.

Every event of a run is read once, in order, and in the end the trace says what the attempts amount to: a class, how bad it is, the
techniques of ATT&CK (and of ATLAS, where one fits), the events that prove it, and whether all of it was prevented.

- Nothing is classified that was not tried. What the policy says (secrets that were taken out of the environment, hosts that are
  not granted) is no attempt; the first is named as evidence beside one.
- **Prevented** is computed: every attempt of the class was denied, or failed because nothing was there. One that was allowed makes it
  false, as does a system call that a permissive profile let pass, and a connection that had sent something before it broke off. At
  most 100 events are named; one that was not prevented is always among them.
- A host that was not granted is refused, is in the trace, and is **not** an attack by itself: a check for updates, a font, telemetry
  look the same. It becomes one by what came before it (credentials, private files), by what it is (a service that takes anything
  from anybody, a pool of miners), or by how many there are.
- A program that reads its own credentials does its work: `ssh` and `~/.ssh`, `kubectl` and `~/.kube`. Its *owners* are taken at their
  word only if they lie where programs of the system lie.
- Some places are read by programs of many kinds as a matter of course (`.netrc`, `.npmrc`): those are *shared*, and mean something
  only where three kinds of them were touched, or where a program that shows or copies what it is told to (`cat`, `cp`) touched one.
- A path is taken for where it leads, and for what it is called: a link to a key is a key. A link that was only made has touched nothing.
- What is written in a folder that only the run has (its home, `/tmp`) is gone with the run, and no persistence, whatever it is called.
  It is in the trace.
- Credentials that were granted and read are no harvest, unless they are of two kinds or more. A host that was not granted is worth a
  word after one.

## What it does not see

- What is allowed and looks like work: a granted key that is sent to a granted host.
- The environment: reading a variable is no system call. That is why secrets that are not granted are not in it.
- What a program does inside of itself. `python3` is who read a file, whatever the script was.
- Reasons. A program for backups that is granted a whole home folder, and reads it, looks like a thief, and is called one.

Known to be called something though they may be honest: browsers that make a sandbox of their own (`sandbox_escape`, medium: start
them with their `--no-sandbox`), libraries of clouds that ask the machine for credentials (`credential_harvesting`, medium:
`AWS_EC2_METADATA_DISABLED=true`), installers that are meant to be piped into a shell (`remote_execution`, medium).
";

fn page() -> String {
    let mut out = BEGINNING.to_owned();
    let _ = write!(
        out,
        "\nTechniques and tactics are those of ATT&CK (Enterprise) {ATTACK_VERSION} and ATLAS {ATLAS_VERSION}.\n\n## Classes\n\n\
         | class | tactic | it |\n|---|---|---|\n"
    );
    for one in CLASSES {
        let (tactic, says) = class(*one);
        let _ = writeln!(out, "| `{}` | {tactic} | {says} |", spelt(one));
    }
    out.push_str(TOGETHER);
    out.push_str("\n## Places\n");
    for one in CLASSES {
        let places: Vec<_> = sensitive_paths::all().filter(|place| place.class == *one).collect();
        if !places.is_empty() {
            let _ = write!(out, "\n### `{}`\n\n", spelt(one));
            for place in places {
                written(&mut out, place);
            }
        }
    }
    let _ = write!(
        out,
        "\n### `unauthorized_file_access`\n\nRefused, and below {}; low, medium from three files on (T1005). Not what begins with a \
         dot below a home folder, nor a file that the person who started the run named on the command line, nor names that programs \
         look for in every folder above their own: {}.\n",
        code(PRIVATE),
        code(LOOKED_FOR)
    );
    for habit in HABITS {
        let (programs, paths) = (code(habit.programs), code(habit.paths));
        let _ =
            write!(out, "\nNothing is made of {programs} that looks for {paths}, where that is not there.\n");
    }
    out.push_str("\n## System calls\n\nRefused, or let pass by a permissive profile.\n\n");
    for call in CALLS {
        let because =
            if call.because.is_empty() { String::new() } else { format!(", because of {}", call.because) };
        let (class, severity) = (spelt(call.class), spelt(call.severity));
        let techniques = call.techniques.join(", ");
        let _ = writeln!(
            out,
            "- {}: {}{because} (`{class}`, {severity}; {techniques})",
            call.says,
            code(call.names)
        );
    }
    out.push_str("\n## Commands\n\nExecuted, or tried to be. What prints credentials, changes the user or starts things later counts only where it is the system's own\nprogram: others have such names too.\n\n");
    for command in COMMANDS {
        let with: Vec<_> = command.with.iter().map(|group| format!("`{}`", group.join(" … "))).collect();
        let with = if with.is_empty() { String::new() } else { format!(" with {}", with.join(" or ")) };
        let without = if command.without.is_empty() {
            String::new()
        } else {
            format!(" without {}", code(command.without))
        };
        let (class, severity) = (spelt(command.class), spelt(command.severity));
        let (programs, techniques) = (code(command.programs), command.techniques.join(", "));
        let _ = writeln!(
            out,
            "- {}: {programs}{with}{without} (`{class}`, {severity}; {techniques})",
            command.says
        );
    }
    let looks: Vec<_> = RECON.iter().map(|(name, technique)| format!("`{name}` ({technique})")).collect();
    let _ = write!(
        out,
        "- programs that mine: anything with {} (`resource_abuse`, high; T1496)\n- an interpreter that is fed by {}, in one command \
         line or as two programs (`remote_execution`, medium; T1059.004, T1105)\n- four different ones of {} (`discovery`, low)\n",
        code(MINING_WORDS),
        code(FETCHERS),
        looks.join(", ")
    );
    let _ = write!(
        out,
        "\n## Hosts\n\n- credentials of the machine in its cloud: {} (`credential_harvesting`, medium; T1552.005)\n- pools of miners: \
         names with {}, or a word such as `pool` and a port such as 3333 (`resource_abuse`, high; T1496)\n- services that take \
         anything from anybody, where they were refused: {} (`data_exfiltration`, medium; T1567)\n",
        code(METADATA),
        code(POOLS),
        code(DROPS)
    );
    out.push_str(EXPECTED);
    for files in expected_refusals::FILES {
        let _ = writeln!(out, "- {}: {}", files.reason, code(files.paths));
    }
    for call in expected_refusals::CALLS {
        let because =
            if call.because.is_empty() { String::new() } else { format!(", because of `{}`", call.because) };
        let _ = writeln!(out, "- {}: calls {}{because}", call.reason, code(call.names));
    }
    out.push_str("\n## Techniques\n\n| id | name |\n|---|---|\n");
    for (id, name, _) in TECHNIQUES {
        let _ = writeln!(out, "| {id} | {name} |");
    }
    out
}

const EXPECTED: &str = "
## What is looked for and not missed

Refused, counted and not listed after a run: ordinary programs look for it and do without. It is in the trace. What is sensitive by the tables above is
never among it, nor what the command line names (`what_is_expected_and_what_is_sensitive_have_nothing_in_common`,
`a_name_that_looks_expected_hides_nothing`).

";

const TOGETHER: &str = "
## Several events together

- **credential_harvesting**: one refused or missing place that is not shared (medium); two kinds of places (high); three kinds of
  shared ones; two kinds that were granted.
- **credential_exfiltration**: a name or destination that was refused after such a place was touched, granted or not; many names that
  look like data after that; anything sent after credentials of several kinds were read. High; critical with a harvest.
- **supply_chain_attack**: a harvest and exfiltration in one run. Critical (T1195.002).
- **data_exfiltration**: a name or destination that was refused after private files were (medium).
- **dns_tunnelling**: below one parent, five different names of twenty letters and more that are no words, or forty shorter ones with
  digits among them; what the resolver refused because it looks like data counts as long. High (T1071.004, T1048.003).
- **domain_fronting**: another name inside of a connection than outside (high where it was refused, medium where it was not), or a
  hidden one (low: browsers do that everywhere). T1090.004.
- **resource_abuse**: as many processes as there may be (low), with a second limit (medium). Other limits alone are honest work.
- **discovery**: files of eight processes that are not seen to be the run's own, twenty different destinations that were refused. Low (T1057, T1046).
";

fn written(out: &mut String, place: &SensitivePath) {
    let access = match place.access {
        AccessFilter::Read => "read",
        AccessFilter::Change => "changed",
        AccessFilter::Any => "touched",
    };
    let when = match place.when {
        VerdictFilter::Any => "",
        VerdictFilter::NotAllowed => ", refused or missing",
        VerdictFilter::Denied => ", refused",
    };
    let shared = if place.weight == CredentialWeight::Shared { ", shared" } else { "" };
    let list = |before: &str, list: &[&str]| {
        if list.is_empty() { String::new() } else { format!("; {before} {}", code(list)) }
    };
    let _ = writeln!(
        out,
        "- {}, {access}{when}{shared} ({}; {}): {}{}{}{}",
        place.says,
        spelt(place.severity),
        place.techniques.join(", "),
        code(place.paths),
        list("but not", place.except),
        list("owners", place.owners),
        list("only by", place.only_by),
    );
}

fn code(list: &[&str]) -> String {
    list.iter().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(" ")
}

fn spelt(value: impl serde::Serialize) -> String {
    serde_json::to_value(value).unwrap().as_str().unwrap().to_owned()
}

#[test]
fn the_page_of_the_classes_is_made_from_the_tables() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/classification.md");
    if std::env::var_os("SKILLSANDBOX_GENERATE").is_some() {
        fs::write(&path, page()).unwrap();
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == page(),
        "docs/classification.md is stale: run `cargo xtask generate` and commit the result"
    );
}

#[test]
fn every_rule_names_techniques_that_exist_and_serve_its_class() {
    let rules = sensitive_paths::all().map(|place| (place.says, place.class, place.techniques));
    let rules = rules.chain(CALLS.iter().map(|call| (call.says, call.class, call.techniques)));
    let rules = rules.chain(COMMANDS.iter().map(|command| (command.says, command.class, command.techniques)));
    for (says, one, techniques) in rules {
        let tactic = class(one).0;
        let known = |id: &&str| {
            TECHNIQUES.iter().find(|(known, ..)| known == id).unwrap_or_else(|| panic!("{says}: {id}"))
        };
        assert!(!techniques.is_empty(), "{says}");
        assert!(
            techniques.iter().map(known).any(|(.., tactics)| tactics.contains(&tactic)),
            "{says}: none serves {tactic}"
        );
    }
}

#[test]
fn the_tables_are_sound() {
    let mut ids: Vec<_> = TECHNIQUES.iter().map(|(id, ..)| *id).collect();
    ids.dedup();
    assert_eq!(ids.len(), TECHNIQUES.len());
    let sorted = |list: &[&str]| list.windows(2).all(|pair| pair[0] < pair[1]);
    assert!(sorted(POOLS) && sorted(DROPS) && sorted(METADATA));
    for place in sensitive_paths::all() {
        assert!(!place.paths.is_empty() && !place.says.is_empty());
        for path in place.paths.iter().chain(place.except) {
            assert!(
                !path.ends_with('/') && !path.contains("//") && path.matches("**").count() <= 1,
                "{path}"
            );
            assert!(path.split('/').all(|part| part == "**" || part.matches('*').count() <= 1), "{path}");
        }
    }
    // What is in the tables is what the classes are.
    for one in sensitive_paths::all().map(|place| place.class).chain(CALLS.iter().map(|call| call.class)) {
        assert!(CLASSES.contains(&one));
    }
}
