//! What Python, JavaScript and TypeScript do with secrets: ways to send them away, and honest code that looks alike.

mod honest;
mod python_theft;
mod script_theft;
mod whole_skills;

use std::sync::LazyLock;

use skillsandbox_scanner::{FindingStatus, ScanReport, ScanVerdict, Scanner, SkillFiles};

/// The document of every sample: nothing to find in it.
pub(crate) const DOCUMENT: &str = "---\nname: sample\ndescription: Formats tables in reports and deploys them by ssh. Use when a table is to be formatted.\n---\n\n# Sample\n\nIt formats tables.\n";

/// Scans a skill of one document and some files.
pub(crate) fn scan(files: &[(&str, &str)]) -> ScanReport {
    static SCANNER: LazyLock<Scanner> = LazyLock::new(Scanner::new);
    let mut all = vec![("SKILL.md".to_owned(), DOCUMENT.as_bytes().to_vec())];
    all.extend(files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())));
    SCANNER.scan(&SkillFiles::from_memory("sample", all))
}

/// Whether the reader of code blocks it, whatever patterns say.
pub(crate) fn is_blocked_by_code(report: &ScanReport) -> bool {
    report.findings.iter().any(|finding| {
        let rule = finding.rule.as_str();
        let by_code = rule == "CHECK-04/secret-to-network"
            || rule == "CHECK-04/credential-harvest"
            || rule.starts_with("CHECK-08/code-");
        by_code && finding.status == FindingStatus::Block
    })
}

/// Scans each sample of a table as one file; the names of those that are not blocked.
pub(crate) fn missed(path: &str, table: &[(&'static str, &str)]) -> Vec<&'static str> {
    let passed = table.iter().filter(|(_, code)| {
        let report = scan(&[(path, code)]);
        !(is_blocked_by_code(&report) && report.verdict == ScanVerdict::Blocked)
    });
    passed.map(|(name, _)| *name).collect()
}
