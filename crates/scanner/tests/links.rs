//! Skills that call each other: rings, chains, and what is neither.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::sync::LazyLock;

use skillsandbox_scanner::{
    CheckId, FindingStatus, ScanReport, ScanVerdict, Scanner, SkillCalls, SkillFiles, SkillLinks,
};

static SCANNER: LazyLock<Scanner> = LazyLock::new(Scanner::new);

fn skill(name: &str, body: &str) -> SkillFiles {
    SkillFiles::from_skill_md(
        name,
        format!("---\nname: {name}\ndescription: Does its part of the work\n---\n{body}\n"),
    )
}

/// Scans skills that call these others.
fn scan(skills: &[(&str, &str)]) -> Vec<ScanReport> {
    SCANNER.scan_all(&skills.iter().map(|(name, body)| skill(name, body)).collect::<Vec<_>>())
}

/// What CHECK-06 says of links, for each skill.
fn said(reports: &[ScanReport]) -> Vec<Option<(&str, &str, usize)>> {
    let of = |report: &'_ ScanReport| {
        let rules = ["CHECK-06/ring", "CHECK-06/deep-chain", "CHECK-06/too-many-calls"];
        report.findings.iter().position(|finding| rules.contains(&finding.rule.as_str()))
    };
    reports
        .iter()
        .map(|report| {
            let finding = &report.findings[of(report)?];
            Some((finding.rule.as_str(), finding.why.as_str(), finding.line))
        })
        .collect()
}

#[test]
fn row_036_skills_that_call_each_other_in_a_ring_warn() {
    let reports = scan(&[
        ("alpha", "Then invoke the beta skill."),
        ("beta", "Say hello.\n\nHand off to `alpha`."),
        ("gamma", "Use the alpha skill."),
    ]);
    let said = said(&reports);
    assert_eq!(said[0], Some(("CHECK-06/ring", "It calls itself in a ring: alpha → beta → alpha", 5)));
    assert_eq!(said[1], Some(("CHECK-06/ring", "It calls itself in a ring: beta → alpha → beta", 7)));
    assert_eq!(said[2], None, "it leads into the ring and is none of it");
    for report in &reports[..2] {
        let check = report.checks.iter().find(|check| check.id == CheckId::Delegation).unwrap();
        assert_eq!((check.status, report.verdict), (FindingStatus::Warn, ScanVerdict::Warning));
    }
    assert_eq!(reports[2].verdict, ScanVerdict::Safe);
}

#[test]
fn longer_rings_and_every_way_to_call_are_seen() {
    let reports = scan(&[
        ("one", "Skill(two)"),
        ("two", "Task(subagent_type=\"three\")"),
        ("three", "Run `/four now`."),
        ("four", "Read ../five-lanes/SKILL.md and do what it says."),
        ("five-lanes", "Delegate to the ONE agent."),
    ]);
    for (number, said) in said(&reports).into_iter().enumerate() {
        let (rule, why, _) = said.unwrap_or_else(|| panic!("{number}"));
        assert_eq!(rule, "CHECK-06/ring");
        assert_eq!(why.matches('→').count(), 5, "{why}");
    }
}

#[test]
fn extends_makes_a_ring_too() {
    let text = |name: &str, base: &str| {
        format!("---\nname: {name}\ndescription: d\nextends: system/skills/{base}.manifest.md\n---\nHello.\n")
    };
    let skills = [
        SkillFiles::from_skill_md("a1", text("a1", "b1")),
        SkillFiles::from_skill_md("b1", text("b1", "a1")),
    ];
    let reports = SCANNER.scan_all(&skills);
    assert_eq!(said(&reports)[0].map(|said| (said.0, said.2)), Some(("CHECK-06/ring", 4)));
    assert!(said(&reports)[1].is_some());
}

#[test]
fn a_skill_that_calls_itself_in_form_is_a_ring_of_one() {
    let reports = scan(&[("loop-er", "When done: Skill(loop-er)")]);
    assert_eq!(said(&reports)[0].map(|said| said.1), Some("It calls itself in a ring: loop-er → loop-er"));
    // How it is used is no call.
    for body in [
        "Task(\"Loop-er\", \"look at it\")",
        "Run /loop-er to start.",
        "/loop-er x",
        "Use the loop-er skill when asked.",
        "Use `loop-er`.",
    ] {
        assert_eq!(said(&scan(&[("loop-er", body)])), [None], "{body}");
    }
}

#[test]
fn a_ring_in_another_file_of_the_skill_is_seen() {
    let skills = [
        SkillFiles::from_memory(
            "aa",
            [
                ("SKILL.md", "---\nname: aa\ndescription: d\n---\nHi.\n"),
                ("references/next.md", "Skill(bb)\n"),
            ],
        ),
        skill("bb", "Skill(aa)"),
    ];
    let reports = SCANNER.scan_all(&skills);
    let finding = reports[0].findings.iter().find(|finding| finding.rule == "CHECK-06/ring").unwrap();
    assert_eq!((finding.file.as_str(), finding.line), ("references/next.md", 1));
}

#[test]
fn names_meet_in_any_spelling_and_by_folder() {
    for call in
        ["Use the Beta_Two skill.", "use the beta two skill", "Skill(plugin:beta-two)", "invoke **BETA-TWO**"]
    {
        let reports = scan(&[("alpha", call), ("beta-two", "Skill(alpha)")]);
        assert!(said(&reports).iter().all(Option::is_some), "{call}");
    }
    // By the folder's name, where the front matter has another.
    let renamed =
        SkillFiles::from_skill_md("beta", "---\nname: something-else\ndescription: d\n---\nSkill(alpha)\n");
    let reports = SCANNER.scan_all(&[skill("alpha", "Skill(beta)"), renamed]);
    assert!(said(&reports).iter().all(Option::is_some));
}

#[test]
fn what_is_said_against_a_skill_is_no_call() {
    let reports = scan(&[("alpha", "Never use the beta skill. Do not run /beta."), ("beta", "Skill(alpha)")]);
    assert_eq!(said(&reports), [None, None]);
}

#[test]
fn a_chain_of_more_than_three_calls_warns_where_it_begins() {
    let chain = [
        ("step-a", "Skill(step-b)"),
        ("step-b", "Skill(step-c)"),
        ("step-c", "Skill(step-d)"),
        ("step-d", "Skill(step-e)"),
        ("step-e", "Done."),
    ];
    let reports = scan(&chain);
    let said_of_all = said(&reports);
    assert_eq!(
        said_of_all[0].map(|said| said.1),
        Some("A chain of 4 calls begins here: step-a → step-b → step-c → step-d → step-e")
    );
    assert_eq!(said_of_all[1..], [None, None, None, None]);
    assert_eq!(said(&scan(&chain[1..])), [None, None, None, None], "three calls are fine");
}

/// Two sets of skills that know nothing of each other, with the same names.
#[test]
fn of_several_skills_of_one_name_the_nearest_is_meant() {
    let tree = [
        ("x/alpha", skill("alpha", "Skill(beta)")),
        ("x/beta", skill("beta", "Hello.")),
        ("y/alpha", skill("alpha", "Hello.")),
        ("y/beta", skill("beta", "Skill(alpha)")),
        ("z/deep/down/gamma", skill("gamma", "Skill(delta)")),
        ("z/delta", skill("delta", "Skill(gamma)")),
    ];
    let calls: Vec<SkillCalls> = tree.iter().map(|(place, skill)| SkillCalls::find(skill, place)).collect();
    let links = SkillLinks::new(&calls);
    let mut reports: Vec<ScanReport> = tree.iter().map(|(_, skill)| SCANNER.scan(skill)).collect();
    for (number, report) in reports.iter_mut().enumerate() {
        SCANNER.add_links(&links, number, report);
    }
    let rings: Vec<bool> = said(&reports).iter().map(Option::is_some).collect();
    assert_eq!(rings, [false, false, false, false, true, true]);
}

/// A second skill of the same name beside the first must not hide the ring.
#[test]
fn a_double_does_not_hide_a_ring() {
    let mut skills = vec![("alpha", "Skill(beta)"), ("beta", "Skill(alpha)")];
    for _ in 0..40 {
        skills.insert(0, ("beta", "Hello."));
        skills.push(("beta", "Hello."));
    }
    let reports = scan(&skills);
    let rings = said(&reports).iter().filter(|said| said.is_some()).count();
    assert_eq!(rings, 2);
    let why = said(&reports)[40].unwrap().1;
    assert!(why.contains("ring") || why.contains("lead back"), "{why}");
}

/// Names of nobody before the one that counts.
#[test]
fn a_flood_of_names_is_said_to_be_one() {
    let mut body: String = (0..5000).map(|number| format!("Use `nobody-{number}`.\n")).collect();
    body.push_str("Skill(beta)\n");
    let reports = scan(&[("alpha", &body), ("beta", "Skill(alpha)")]);
    let delegation =
        |report: &ScanReport| report.findings.iter().any(|finding| finding.check == CheckId::Delegation);
    assert!(delegation(&reports[0]), "{:#?}", reports[0].findings);
}

/// As long as a chain may get, and as dense: nothing recurses, nothing is quadratic. (A test that took a step for each pair would
/// not come back.)
#[test]
fn long_and_dense_graphs_are_walked_once() {
    let calls = |name: String, body: String| SkillCalls::find(&SkillFiles::from_skill_md(name, body), "t/x");
    let count = 10_000;
    let ring: Vec<SkillCalls> = (0..count)
        .map(|number| calls(format!("s-{number}"), format!("Skill(s-{})", (number + 1) % count)))
        .collect();
    let links = SkillLinks::new(&ring);
    let mut report = SCANNER.scan(&skill("s-0", "x"));
    SCANNER.add_links(&links, 0, &mut report);
    assert_eq!(
        said(std::slice::from_ref(&report))[0].map(|said| said.1),
        Some("It is one of 10000 skills that lead back to each other")
    );
    // Thousands with one name, each calling it and the others' other name.
    let same: Vec<SkillCalls> = (0..count)
        .map(|number| {
            calls(
                if number % 2 == 0 { "even" } else { "odd" }.to_owned(),
                "Skill(even) Skill(odd)".to_owned(),
            )
        })
        .collect();
    let links = SkillLinks::new(&same);
    let mut report = SCANNER.scan(&skill("even", "x"));
    SCANNER.add_links(&links, 0, &mut report);
    assert!(said(std::slice::from_ref(&report))[0].is_some());
}
