//! Using up the host. Each has an end of its own, well below what hurts, and gives everything back. Outside there may be no limit
//! that stops them, so they are no part of the control.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

use super::{Control, Group, Technique, technique};
use crate::outcome::{Stopped, Tried, shown};
use crate::scene::{Scene, own_pid};
use crate::sys;

const BOUNDED: Control = Control::Skipped("bounded only by the sandbox");
/// Ends of their own.
const PROCESSES: usize = 3000;
const MEMORY: usize = 1 << 30;
const SHARERS: usize = 8;
const DISK: usize = 512 << 20;
const FILES: usize = 70_000;
const INODES: usize = 200_000;
/// All together more than `fs.inotify.max_user_instances`, which is 128 unless somebody changed it.
const WATCHERS: usize = 20;
const CHUNK: usize = 1 << 20;
const CHUNKS_PER_FILE: usize = 16;

const fn bomb(name: &'static str, what: &'static str, run: fn(&Scene) -> Tried) -> Technique {
    technique(Group::Bomb, name, BOUNDED, what, run)
}

pub(super) const TECHNIQUES: &[Technique] = &[
    bomb("bomb-processes", "Starts 3,000 processes that sleep.", |_| processes()),
    bomb("bomb-memory", "Uses 1 GiB of memory.", |_| {
        fill(MEMORY)?;
        Ok("1 GiB was there".into())
    }),
    bomb("bomb-memory-spread", "Uses 1 GiB of memory in eight processes.", |_| spread()),
    bomb("bomb-memory-shared", "Uses 1 GiB of memory in files without names.", |_| {
        written(MEMORY, || sys::memfd(c"bomb").map(File::from))
    }),
    bomb("bomb-disk-tmp", "Writes 512 MiB to /tmp.", |_| disk(Path::new("/tmp"))),
    bomb("bomb-disk-home", "Writes 512 MiB to its home.", |_| {
        let home = std::env::var_os("HOME").ok_or_else(|| Stopped::unable("HOME is not set"))?;
        disk(Path::new(&home))
    }),
    bomb("bomb-disk-shm", "Writes 512 MiB to /dev/shm.", |_| disk(Path::new("/dev/shm"))),
    bomb("bomb-disk-root", "Writes 512 MiB to the root folder.", |_| disk(Path::new("/"))),
    bomb("bomb-inodes", "Makes 200,000 empty files in /tmp.", |_| inodes()),
    bomb("bomb-inotify", "Makes 160 watchers of files in eight processes, all that a user may have.", |_| {
        watchers()
    }),
    bomb("bomb-files", "Opens a file 70,000 times.", |_| files()),
];

fn processes() -> Tried {
    let mut children = Vec::new();
    let mut stopped = None;
    while children.len() < PROCESSES {
        match sys::fork() {
            Ok(None) => {
                // Should its parent be killed first, it goes with it; should that fail, by itself.
                let _ = sys::prctl(libc::PR_SET_PDEATHSIG, 9);
                std::thread::sleep(Duration::from_secs(30));
                sys::exit_now(0);
            }
            Ok(Some(child)) => children.push(child),
            Err(error) => {
                stopped = Some(error);
                break;
            }
        }
    }
    end(&children);
    match stopped {
        None => Ok(format!("{PROCESSES} processes at once")),
        Some(error) => Err(Stopped::held(format!("{} after {} processes", shown(&error), children.len()))),
    }
}

fn end(children: &[Pid]) {
    for child in children {
        let _ = kill(*child, Signal::SIGKILL);
    }
    for child in children {
        let _ = waitpid(*child, None);
    }
}

/// Memory that is really written to, given back at once.
fn fill(bytes: usize) -> Result<Vec<Vec<u8>>, Stopped> {
    let mut chunks = Vec::new();
    for done in 0..bytes / CHUNK {
        let mut chunk = Vec::new();
        chunk
            .try_reserve_exact(CHUNK)
            .map_err(|_| Stopped::held(format!("no more memory after {done} MiB")))?;
        chunk.resize(CHUNK, 0x5a);
        chunks.push(std::hint::black_box(chunk));
    }
    Ok(chunks)
}

/// Each child fills its part, says so, and waits until all have.
fn spread() -> Tried {
    let mut children = Vec::new();
    let mut pipes = Vec::new();
    for _ in 0..SHARERS {
        let (reader, mut writer) = io::pipe()?;
        match sys::fork()? {
            None => {
                let _ = sys::prctl(libc::PR_SET_PDEATHSIG, 9);
                if let Ok(held) = fill(MEMORY / SHARERS) {
                    let _ = writer.write_all(b"+");
                    std::thread::sleep(Duration::from_secs(30));
                    drop(held);
                }
                sys::exit_now(1);
            }
            Some(child) => children.push(child),
        }
        pipes.push(reader);
    }
    // A child that was killed or refused closes its pipe without a word.
    let full = pipes.into_iter().filter_map(|mut pipe| pipe.read(&mut [0]).ok()).sum::<usize>();
    for child in &children {
        let _ = kill(*child, Signal::SIGKILL);
    }
    let signals = children.iter().filter_map(|child| match waitpid(*child, None) {
        Ok(WaitStatus::Signaled(_, signal, _)) => Some(signal.to_string()),
        Ok(WaitStatus::Exited(..)) => Some("no memory".to_owned()),
        _ => None,
    });
    let signals: Vec<_> = signals.collect();
    if full == SHARERS {
        return Ok("1 GiB was there".into());
    }
    Err(Stopped::held(format!("{full} of {SHARERS} parts were there ({})", signals.join(" "))))
}

fn disk(folder: &Path) -> Tried {
    let path = folder.join(format!("skillsandbox-probe-bomb-{}", own_pid()));
    written(DISK, || {
        let file = File::create_new(&path)?;
        // Without a name it goes with the process, whatever becomes of it.
        fs::remove_file(&path)?;
        Ok(file)
    })
}

/// Many files, as a limit on the largest one bounds nothing.
fn written(bytes: usize, mut new_file: impl FnMut() -> io::Result<File>) -> Tried {
    let chunk = vec![0x5a; CHUNK];
    let mut files: Vec<File> = Vec::new();
    for done in 0..bytes / CHUNK {
        if done % CHUNKS_PER_FILE == 0 {
            let stopped = |error| Stopped::held(format!("{} for a file after {done} MiB", shown(&error)));
            files.push(new_file().map_err(stopped)?);
        }
        let written = files.last_mut().map_or(Ok(()), |file| file.write_all(&chunk));
        written.map_err(|error| Stopped::held(format!("{} after {done} MiB", shown(&error))))?;
    }
    Ok(format!("{} MiB were written", bytes / CHUNK))
}

fn inodes() -> Tried {
    let folder = std::env::temp_dir().join(format!("skillsandbox-probe-inodes-{}", own_pid()));
    fs::create_dir(&folder)?;
    let made = (0..INODES).map(|n| File::create(folder.join(n.to_string()))).find_map(Result::err);
    let count = fs::read_dir(&folder).map_or(0, Iterator::count);
    let _ = fs::remove_dir_all(&folder);
    match made {
        None => Ok(format!("{count} files")),
        Some(error) => Err(Stopped::held(format!("{} after {count} files", shown(&error)))),
    }
}

/// Each child makes its part and says how many it got.
fn watchers() -> Tried {
    let (mut children, mut pipes) = (Vec::new(), Vec::new());
    for _ in 0..SHARERS {
        let (reader, mut writer) = io::pipe()?;
        match sys::fork()? {
            None => {
                let _ = sys::prctl(libc::PR_SET_PDEATHSIG, 9);
                let made: Vec<_> = (0..WATCHERS).map_while(|_| sys::inotify_watch(c"/").ok()).collect();
                let _ = writer.write_all(&[u8::try_from(made.len()).unwrap_or(u8::MAX)]);
                std::thread::sleep(Duration::from_secs(30));
                sys::exit_now(0);
            }
            Some(child) => {
                children.push(child);
                pipes.push(reader);
            }
        }
    }
    let mut made = 0;
    for mut pipe in pipes {
        let mut count = [0];
        made += pipe.read_exact(&mut count).map_or(0, |()| usize::from(count[0]));
    }
    end(&children);
    if made < SHARERS * WATCHERS {
        return Err(Stopped::held(format!("no more after {made}")));
    }
    Ok(format!("{made} watchers at once"))
}

fn files() -> Tried {
    let mut open = Vec::new();
    while open.len() < FILES {
        match File::open("/dev/null") {
            Ok(file) => open.push(file),
            Err(error) => {
                let count = open.len();
                return Err(Stopped::held(format!("{} after {count} files", shown(&error))));
            }
        }
    }
    Ok(format!("{FILES} files were open"))
}
