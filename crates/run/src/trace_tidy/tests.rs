use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use uuid::Uuid;

use super::*;
use crate::history::RunRequest;
use crate::report::RunReport;

/// Knows what is pinned, or cannot say.
#[derive(Default)]
struct Pins {
    pinned: Option<Vec<Uuid>>,
    asked: AtomicUsize,
}

impl Pins {
    fn of(pinned: &[Uuid]) -> Self {
        Self { pinned: Some(pinned.to_vec()), asked: AtomicUsize::new(0) }
    }
}

impl RunHistory for Pins {
    fn record(&self, _: &RunRequest, _: &RunReport) -> Result<(), HistoryError> {
        Ok(())
    }

    fn pinned_traces(&self) -> Result<Vec<Uuid>, HistoryError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.pinned.clone().ok_or_else(|| "it is damaged".into())
    }
}

/// A folder of traces, each a second older than the one before it.
fn folder(traces: u64) -> (tempfile::TempDir, PathBuf, Vec<Uuid>) {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("traces");
    fs::create_dir(&folder).unwrap();
    let ids = (0..traces).map(|age| trace(&folder, age, 10)).collect();
    (dir, folder, ids)
}

fn trace(folder: &Path, age: u64, bytes: u64) -> Uuid {
    let id = Uuid::new_v4();
    let path = folder.join(format!("20261117T120000Z-a-{id}.json"));
    let file = File::create(path).unwrap();
    file.set_len(bytes).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(1000 + age)).unwrap();
    id
}

fn left(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

/// A run that adds a trace of so many bytes; whether somebody looked at its begin, and whether it is time to look.
fn run(folder: &Path, budget: TraceBudget, history: &Pins, bytes: u64) -> (Option<Event>, bool) {
    let id = Uuid::new_v4();
    let path = folder.join(format!("20261117T120000Z-a-{id}.json"));
    let added = AddedTrace::begin(&path, folder, budget);
    let said = added.make_room(budget, history);
    File::create(&path).unwrap().set_len(bytes).unwrap();
    (said, added.finish())
}

#[test]
fn one_run_of_many_is_told_to_look_and_the_folder_stays_within_its_budget() {
    let (_dir, folder, _) = folder(0);
    let (budget, history) = (TraceBudget::new(1 << 30, 80), Pins::of(&[]));
    let mut told = 0;
    for _ in 0..400 {
        let (said, is_due) = run(&folder, budget, &history, 10);
        assert!(said.is_none(), "no run looks itself");
        if is_due {
            told += 1;
            prune(&folder, budget, &history).unwrap();
        }
        assert!(left(&folder) <= 80, "{}", left(&folder));
    }
    assert_eq!(told, 40, "an eighth of the budget lies between two looks");
    assert!(left(&folder) >= 70, "{}", left(&folder));
}

#[test]
fn long_traces_are_counted_by_what_they_take() {
    let (_dir, folder, _) = folder(0);
    let (budget, history) = (TraceBudget::new(80 << 20, 10_000), Pins::of(&[]));
    let mut told = 0;
    for _ in 0..20 {
        if run(&folder, budget, &history, 9 << 20).1 {
            told += 1;
            prune(&folder, budget, &history).unwrap();
        }
        let bytes: u64 =
            fs::read_dir(&folder).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum();
        assert!(bytes <= 80 << 20, "{bytes}");
    }
    assert!(told >= 10, "{told}");
}

/// A caller that kills every run, or never tidies up.
#[test]
fn where_nobody_tidies_a_run_does_it_before_it_is_too_late() {
    let (_dir, folder, ids) = folder(20);
    let (budget, history) = (TraceBudget::new(1 << 30, 16), Pins::of(&ids[19..]));
    let mut said = Vec::new();
    for _ in 0..100 {
        let path = folder.join(format!("20261117T120000Z-a-{}.json", Uuid::new_v4()));
        let added = AddedTrace::begin(&path, &folder, budget);
        said.extend(added.make_room(budget, &history));
        File::create(&path).unwrap();
        // It is killed.
        drop(added);
        assert!(left(&folder) <= 20 + 8, "{}", left(&folder));
    }
    assert!(left(&folder) <= 16 + 8 && said.len() >= 10, "{}", left(&folder));
    let pinned = fs::read_dir(&folder)
        .unwrap()
        .any(|file| file.unwrap().file_name().to_str().unwrap().contains(&ids[19].to_string()));
    assert!(pinned, "the oldest is pinned");
}

#[test]
fn where_nobody_can_say_what_is_pinned_nothing_goes_and_the_trace_says_so() {
    let (_dir, folder, _) = folder(30);
    let (budget, history) = (TraceBudget::new(1 << 30, 8), Pins::default());
    let said: Vec<Event> = (0..10).filter_map(|_| run(&folder, budget, &history, 1).0).collect();
    assert_eq!((left(&folder), said.len()), (40, 7), "from the fourth on");
    assert!(format!("{:?}", said[0]).contains("nothing was removed: it is damaged"), "{:?}", said[0]);
}

#[test]
fn nobody_is_asked_for_pins_where_nothing_has_to_go() {
    let (_dir, folder, _) = folder(5);
    let history = Pins::default();
    prune(&folder, TraceBudget::new(1 << 30, 8), &history).unwrap();
    assert_eq!(history.asked.load(Ordering::Relaxed), 0);
}

#[test]
fn of_many_at_once_each_multiple_is_seen_by_one() {
    let (_dir, folder, _) = folder(0);
    let budget = TraceBudget::new(1 << 30, 80);
    let told = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..25 {
                    let path = folder.join("20261117T120000Z-a-x.json");
                    let is_due = AddedTrace::begin(&path, &folder, budget).finish();
                    told.fetch_add(usize::from(is_due), Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(told.load(Ordering::Relaxed), 200 / 10);
}

/// What lies where the count should be is not followed, and a count that cannot be kept is no reason to let the folder grow.
#[cfg(unix)]
#[test]
fn a_count_that_is_a_link_or_no_file_makes_every_run_look() {
    let (dir, folder, _) = folder(30);
    let count = TraceCount::of(&folder).file;
    let victim = dir.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    std::os::unix::fs::symlink(&victim, &count).unwrap();
    let (budget, history) = (TraceBudget::new(1 << 30, 8), Pins::of(&[]));
    assert!(run(&folder, budget, &history, 1).0.is_some());
    assert!(left(&folder) <= 8);
    fs::remove_file(&count).unwrap();
    fs::create_dir(&count).unwrap();
    for _ in 0..5 {
        let _ = run(&folder, budget, &history, 1);
        assert!(left(&folder) <= 9);
    }
    fs::remove_dir(&count).unwrap();
    nix::unistd::mkfifo(&count, nix::sys::stat::Mode::S_IRUSR | nix::sys::stat::Mode::S_IWUSR).unwrap();
    let _ = run(&folder, budget, &history, 1);
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
}

#[test]
fn nothing_is_counted_in_a_folder_that_is_a_link_or_somebody_elses() {
    let (dir, folder, _) = folder(30);
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(dir.path(), &link).unwrap();
    let (budget, history) = (TraceBudget::new(1 << 30, 8), Pins::of(&[]));
    let _ = run(&link.join("traces"), budget, &history, 1);
    assert!(!TraceCount::of(&folder).file.exists(), "not by way of a link");
    assert!(left(&folder) <= 9, "and the folder is looked through all the same");
    if nix::unistd::geteuid().is_root() {
        std::os::unix::fs::chown(dir.path(), Some(12345), None).unwrap();
        let _ = run(&folder, budget, &history, 1);
        assert!(!TraceCount::of(&folder).file.exists(), "not in another user's");
    }
    let (_dir, folder, _) = self::folder(1);
    let _ = run(&folder, budget, &history, 1);
    assert!(TraceCount::of(&folder).file.exists(), "the control");
}
