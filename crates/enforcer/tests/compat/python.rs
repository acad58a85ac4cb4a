//! Python.

use crate::case::Case;

fn python(name: &str, text: &str, expected: &str) {
    Case::script("python3", name, text).prints(expected);
}

#[test]
fn row_111_threads_of_python_run_under_the_default_profile() {
    let expected = "sum 4950\nsquares [0, 1, 4, 9, 16]\nlocal ['a', 'b']\ntimer fired\n";
    python("threads.py", include_str!("scripts/threads.py"), expected);
}

#[test]
fn multiprocessing_with_its_semaphores_and_shared_memory() {
    let expected = "fork [1, 4, 9, 16] child 42 counter 400\nspawn [1, 4, 9, 16] child 42 counter 400\n\
                    forkserver [1, 4, 9, 16] child 42 counter 400\nshared memory hello\nmanager [1, 2, 3]\n\
                    executor [1, 2, 6, 24]\n";
    python("processes.py", include_str!("scripts/processes.py"), expected);
}

#[test]
fn subprocesses() {
    let expected = "captured hello\npiped HELLO\nshell 3\nenvironment only-this\nended by 9\ntimed out\n\
                    session True\ngroup ended by 15\n";
    python("subprocesses.py", include_str!("scripts/subprocesses.py"), expected);
}

#[test]
fn asyncio_with_a_server_and_subprocesses() {
    let expected = "echoed ['0', '1', '2', '3']\nsubprocess b'from a child'\nexecutor 45\nsignal got\n\
                    unix socket b'hello'\n";
    python("events.py", include_str!("scripts/events.py"), expected);
}

#[test]
fn sqlite() {
    let expected = "mode wal\nrows 1000 sum 499500\nfrom a thread 1000\nintegrity ok\n";
    let Some(work) = Case::script("python3", "db.py", include_str!("scripts/db.py")).prints(expected) else {
        return;
    };
    let kept = std::fs::read(work.path().join("kept.db")).unwrap();
    assert!(kept.starts_with(b"SQLite format 3\0"), "the database is on the host");
}

#[test]
fn ssl_and_hashes() {
    let expected =
        "context PROTOCOL_TLS_CLIENT True\nclient hello 22\nsha256 2cf24dba\nscrypt 64\nrandom 32\n";
    python("crypto.py", include_str!("scripts/crypto.py"), expected);
}

#[test]
fn files_of_every_kind() {
    let expected = "tempdir /tmp\nnamed True\nanonymous b'data'\nmapped b'DATA'\nlocked out\nlinks 2 True\n\
                    fifo through\ntree ['a/b/c.txt']\nsent 100000\ncopied 100000\nmode 0o640\ntimes 1000000000\n\
                    unicode ['日本語.txt']\nzip ['inside.txt']\n";
    python("files.py", include_str!("scripts/files.py"), expected);
}

#[test]
fn ctypes_with_callbacks() {
    let expected = "pid True\nsorted [1, 2, 3, 5, 8]\nstrlen 5\nerrno 2\n";
    python("foreign.py", include_str!("scripts/foreign.py"), expected);
}

#[test]
fn a_web_server_that_talks_to_itself() {
    let expected = "GET /hello\nPOST 11\nnot found 404\nparallel 8\nudp b'PING'\nname 127.0.0.1\n";
    python("web.py", include_str!("scripts/web.py"), expected);
}

#[test]
fn version_six_of_loopback() {
    if !std::path::Path::new("/proc/net/if_inet6").exists() {
        crate::missing::skip(&["IPv6"]);
        return;
    }
    python("six.py", include_str!("scripts/six.py"), "six b'hello'\n");
}

#[test]
fn a_virtual_environment_and_programs_of_it() {
    let expected = "prefix venv\nmodule 42\nscript ran\n";
    let case = Case::script("python3", "venvs.py", include_str!("scripts/venvs.py"));
    case.prints(expected);
}

/// Debian has `ensurepip` in a package of its own, and then there is nothing to install pip from.
#[test]
fn a_virtual_environment_with_pip_installs_a_package() {
    let here = std::process::Command::new("python3").args(["-c", "import ensurepip, venv"]).output();
    if !here.is_ok_and(|output| output.status.success()) {
        crate::missing::skip(&["ensurepip"]);
        return;
    }
    let case = Case::script("python3", "pip.py", include_str!("scripts/pip.py"));
    case.prints("installed\nanswer 42\nentry point 42\n");
}

#[test]
fn a_script_that_names_its_interpreter_by_env() {
    let text = "#!/usr/bin/env python3\nimport sys, os\nprint(sys.argv[1:], os.path.basename(sys.argv[0]))\n";
    // `python3` as env finds it inside is the system's or the one that the script's first line leads to.
    let case = Case::new("./tool").file("tool", text).args(["a b", "c"]);
    if is_python_here() {
        case.prints("['a b', 'c'] tool\n");
    }
}

fn is_python_here() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|dir| dir.join("python3").is_file());
    found || crate::missing::skip(&["python3"])
}

/// A terminal of its own, for programs that only talk to one; that of the launching program is out of reach.
#[test]
fn a_pseudo_terminal_of_its_own() {
    let expected = "child says True\nconversation b'<hello>'\nsize 40 100\nno terminal of the host True\n";
    python("terminal.py", include_str!("scripts/terminal.py"), expected);
}
