//! What every scan leaves behind: a page, the same as JSON, and a row in the index.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::OFlags;
use serde::Serialize;
use skillsandbox_scanner::ScanReport;
use skillsandbox_text::push_visible;

use crate::error::{Error, IoErrorAt as _};
use crate::layout::StoreLayout;
use crate::lockfile::PackagesLock;
use crate::state_file;

/// The beginning of an index.
const HEAD: &str = "# Security Scan Index\n\n| Scan ID | Skill | Source | Scanned | Verdict | Report |\n|---------|-------|--------|---------|---------|--------|\n";
/// Most of an index that is read, from its end: a row is some 200 bytes.
const MAX_INDEX: u64 = 64 << 20;
/// Largest page that is shown. One with two hundred findings is a tenth of it.
const MAX_PAGE: u64 = 4 << 20;

/// One row of the index: a scan that was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct IndexRow {
    /// The scan's id.
    pub scan_id: String,
    /// The skill.
    pub skill: String,
    /// Where it came from.
    pub source: String,
    /// When it was scanned.
    pub scanned_at: String,
    /// The verdict.
    pub verdict: String,
    /// The page, from the root of the store.
    pub report_path: String,
}

/// Writes a report's page, its JSON and its row; the page's path from the root.
pub(crate) fn write(layout: &StoreLayout, report: &ScanReport) -> Result<String, Error> {
    let dir = layout.reports();
    let page = report.write_page(&dir).at(&dir)?;
    let name = page.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let json = page.with_extension("json");
    let text = serde_json::to_vec_pretty(report).map_err(|error| Error::io(&json, error.into()))?;
    write_whole(&json, &text).at(&json)?;
    let path = layout.relative(&format!("security/scan_reports/{name}"));
    append(&layout.index(), report, &path)?;
    Ok(path)
}

/// Writes a file that is there whole or not at all, whatever ends us.
fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let beside = path.with_extension("part");
    let _ = fs::remove_file(&beside);
    let mut file = state_file::create_new(&beside)?;
    let written = file.write_all(bytes).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// Reports that are kept of each skill; older ones are removed when another is written.
pub const KEEP_REPORTS: usize = 50;

/// Removes all but the newest reports of each skill, or of one, by a page of it; and of the index the rows that have no page any more. What the
/// lock names stays. How many pages went.
///
/// # Errors
/// A folder or an index that cannot be read or written.
pub(crate) fn prune(
    layout: &StoreLayout,
    only: Option<&str>,
    is_named: &dyn Fn(&str) -> bool,
    keep: usize,
) -> Result<usize, Error> {
    let only = only.and_then(page_skill);
    let dir = layout.reports();
    let entries = match fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(Error::io(&dir, error)),
    };
    let mut pages: BTreeMap<String, Vec<(SystemTime, PathBuf, String)>> = BTreeMap::new();
    for entry in entries {
        let entry = entry.at(&dir)?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let Some(skill) = page_skill(&name).filter(|skill| only.is_none_or(|only| *skill == only)) else {
            continue;
        };
        let path = entry.path();
        let Ok(found) = path.symlink_metadata() else { continue };
        if found.is_file() {
            let when = found.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            pages.entry(skill.to_owned()).or_default().push((when, path, name.clone()));
        }
    }
    let mut removed = 0;
    for (_, mut pages) in pages {
        pages.sort();
        let old = pages.len().saturating_sub(keep);
        for (_, path, _) in pages.into_iter().take(old).filter(|(_, _, name)| !is_named(name)) {
            fs::remove_file(&path).at(&path)?;
            // It says the same.
            let _ = fs::remove_file(path.with_extension("json"));
            removed += 1;
        }
    }
    if removed > 0 {
        drop_rows(layout)?;
    }
    Ok(removed)
}

/// The skill that a page is about, as its name has it.
fn page_skill(page: &str) -> Option<&str> {
    let last = page.rsplit('/').next().unwrap_or(page);
    last.strip_suffix(".md")?.rsplit_once('_').map(|(skill, _)| skill)
}

/// The pages that a lock names, without their folder.
pub(crate) fn named_pages(lock: &PackagesLock) -> BTreeSet<&str> {
    let paths = lock.entries().map(|entry| entry.security_scan.report_path.as_str());
    paths.map(|path| path.rsplit('/').next().unwrap_or_default()).collect()
}

/// Writes the index anew, without rows whose pages are gone.
fn drop_rows(layout: &StoreLayout) -> Result<(), Error> {
    let path = layout.index();
    let Some(file) = state_file::open(&path).at(&path)? else { return Ok(()) };
    let mut bytes = Vec::new();
    file.take(MAX_INDEX).read_to_end(&mut bytes).at(&path)?;
    let mut kept = String::new();
    for line in String::from_utf8_lossy(&bytes).lines() {
        let page = row(line).map(|row| row.report_path.rsplit('/').next().unwrap_or_default().to_owned());
        if page.is_none_or(|page| layout.reports().join(page).symlink_metadata().is_ok()) {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    write_whole(&path, kept.as_bytes()).at(&path)
}

/// Adds one row, in one write. What is there stays as it is.
fn append(index: &Path, report: &ScanReport, page: &str) -> Result<(), Error> {
    let stamp = report.stamp.as_ref();
    let cells = [
        stamp.map_or("", |stamp| stamp.scan_id.as_str()),
        &report.skill,
        &report.source,
        stamp.map_or("", |stamp| stamp.scanned_at.as_str()),
        report.verdict.as_str(),
        page,
    ];
    let mut row = String::new();
    for text in cells {
        let _ = write!(row, "| {} ", cell(text));
    }
    row.push_str("|\n");
    let mut options = OpenOptions::new();
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mut file = options.read(true).append(true).create(true).custom_flags(flags).open(index).at(index)?;
    let found = file.metadata().at(index)?;
    if !found.is_file() {
        return Err(Error::State { path: index.to_owned(), why: "it is not a plain file".to_owned() });
    }
    let before = found.len();
    if before == 0 {
        row.insert_str(0, HEAD);
    } else {
        // Somebody's editor may have dropped the last line's end, a crash the row's own.
        let mut last = [0];
        file.seek(SeekFrom::End(-1)).at(index)?;
        file.read_exact(&mut last).at(index)?;
        if last != *b"\n" {
            row.insert(0, '\n');
        }
    }
    let written = file.write_all(row.as_bytes());
    if written.is_err() {
        // Half a row is none: the disk is full.
        let _ = file.set_len(before);
    }
    written.at(index)
}

/// The scans that were, oldest first; those of one skill, if one is named.
///
/// # Errors
/// An index that cannot be read. One that is not there has no rows.
pub fn index(layout: &StoreLayout, skill: Option<&str>) -> Result<Vec<IndexRow>, Error> {
    let path = layout.index();
    let Some(mut file) = state_file::open(&path).at(&path)? else { return Ok(Vec::new()) };
    let length = file.metadata().at(&path)?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MAX_INDEX))).at(&path)?;
    let mut bytes = Vec::new();
    file.take(MAX_INDEX).read_to_end(&mut bytes).at(&path)?;
    let text = String::from_utf8_lossy(&bytes);
    let rows = text.lines().filter_map(row);
    Ok(rows.filter(|row| skill.is_none_or(|skill| row.skill == skill)).collect())
}

/// The page of a scan, by its id or the beginning of it.
///
/// # Errors
/// An id that no scan has, or that two begin with.
pub fn page(layout: &StoreLayout, id: &str) -> Result<String, Error> {
    let none = || Error::NoReport { id: id.to_owned() };
    if id.len() < 4 {
        return Err(none());
    }
    let rows = index(layout, None)?;
    let mut found = rows.iter().filter(|row| row.scan_id.starts_with(id));
    let (Some(row), None) = (found.next(), found.next()) else { return Err(none()) };
    // The row is a line in a file that anybody may have edited: only its last name counts.
    let name = row
        .report_path
        .rsplit('/')
        .next()
        .filter(|name| crate::names::unfit(name).is_none())
        .ok_or_else(none)?;
    let path: PathBuf = layout.reports().join(name);
    let Some(file) = state_file::open(&path).at(&path)? else {
        return Err(Error::ReportGone { id: row.scan_id.clone() });
    };
    let mut text = Vec::new();
    file.take(MAX_PAGE).read_to_end(&mut text).at(&path)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Text of unknown origin in a cell of a table.
fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            '|' | '\\' => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            c => push_visible(&mut out, c),
        }
    }
    out
}

fn row(line: &str) -> Option<IndexRow> {
    let mut cells = vec![String::new()];
    let mut chars = line.strip_prefix('|')?.strip_suffix('|')?.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => cells.last_mut()?.push(chars.next()?),
            '|' => cells.push(String::new()),
            c => cells.last_mut()?.push(c),
        }
    }
    let cells: Vec<String> = cells.iter().map(|cell| cell.trim().replace("&lt;", "<")).collect();
    let [scan_id, skill, source, scanned_at, verdict, report_path] = cells.try_into().ok()?;
    if scan_id == "Scan ID" || scan_id.starts_with("---") {
        return None;
    }
    Some(IndexRow { scan_id, skill, source, scanned_at, verdict, report_path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_cannot_be_forged_by_a_name() {
        let name = "a | b \\| c\n| 1 | 2 | 3 | 4 | SAFE | 6 |";
        let line = format!("| id | {} | s | t | BLOCKED | p |", cell(name));
        assert_eq!(line.lines().count(), 1);
        let row = row(&line).unwrap();
        assert_eq!(row.verdict, "BLOCKED");
        assert_eq!(row.skill, name.replace('\n', " "));
    }
}
