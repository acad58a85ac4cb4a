//! Ordinary programs under the profiles: they end as they do without a filter, and nothing they do is refused.
//!
//! What is refused is not read off their messages, but asked of the kernel: a listener sees every refused call.
//!
//! Unsafe code: installing a filter, which no library does.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(unsafe_code)]
#![allow(clippy::print_stderr)] // A program that is not installed is skipped, and the test says so.
#![cfg(target_os = "linux")]

#[allow(dead_code)] // Another test uses the rest.
mod under_filter;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use skillsandbox_enforcer::SyscallProfile;
use tempfile::TempDir;
use under_filter::{Filter, python, supervised};

/// Runs a script of the shell, in a folder of its own, without a filter, under `default` and under `permissive`.
fn runs_as_ever(program: &str, script: &str) {
    if !there(program) {
        eprintln!("SKIPPED: {program} is not installed, so it is not tried under the filter");
        return;
    }
    let (plain, ended) = ran(None, script);
    assert!(ended, "{program} does not even run without a filter:\n{plain}");
    for profile in [SyscallProfile::Default, SyscallProfile::Permissive] {
        let (output, ended) = ran(Some(profile), script);
        assert!(ended, "{program} fails under {profile}:\n{output}");
    }
    let ((output, ended), refused) = supervised(SyscallProfile::Default, || ran(None, script));
    assert!(ended, "{program} fails under supervision:\n{output}");
    assert!(refused.is_empty(), "{program} makes calls that default refuses: {refused:x?}");
}

fn there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn ran(profile: Option<SyscallProfile>, script: &str) -> (String, bool) {
    let folder = TempDir::new().unwrap();
    let mut command = Command::new("sh");
    command.args(["-euc", script]).current_dir(folder.path()).stdin(Stdio::null());
    command.env("FOLDER", folder.path());
    if let Some(profile) = profile {
        Filter::of(profile).confine(&mut command);
    }
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (String::from_utf8_lossy(&text).into_owned(), output.status.success())
}

fn file(text: &str) -> String {
    format!("cat > file <<'END'\n{text}\nEND\n")
}

#[test]
fn row_111_python_runs() {
    let script = r#"
import asyncio, hashlib, multiprocessing, os, random, shutil, socket, sqlite3, ssl, subprocess, tempfile, threading, time

if __name__ == "__main__":
    threads = [threading.Thread(target=time.sleep, args=(0.01,)) for _ in range(8)]
    [thread.start() for thread in threads]; [thread.join() for thread in threads]
    assert subprocess.run(["echo", "hi"], capture_output=True, start_new_session=True).stdout == b"hi\n"
    assert subprocess.check_output("echo $((1+1))", shell=True) == b"2\n"
    with tempfile.TemporaryDirectory() as folder:
        base = sqlite3.connect(folder + "/base")
        base.execute("pragma journal_mode=wal"); base.execute("create table t(a)"); base.commit(); base.close()
        os.makedirs(folder + "/a/b"); os.chmod(folder + "/a", 0o2775)
        shutil.copytree(folder + "/a", folder + "/c"); os.mkfifo(folder + "/pipe")
        os.symlink("a", folder + "/link"); os.rename(folder + "/c", folder + "/d")
    async def many():
        process = await asyncio.create_subprocess_exec("true"); assert await process.wait() == 0
        server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        assert await reader.read() == b""
        await asyncio.get_running_loop().run_in_executor(None, hashlib.sha256, b"x")
    asyncio.run(many())
    with multiprocessing.Pool(2) as pool: assert pool.map(abs, [-1, -2]) == [1, 2]
    one, two = socket.socketpair(); one.sendmsg([b"x"]); assert two.recvmsg(1)[0] == b"x"
    udp = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); udp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    ssl.create_default_context(); socket.if_nameindex(); random.SystemRandom().random()
    assert os.fork() or os._exit(0) is None
    os.wait()
"#;
    let Some(python) = python() else {
        eprintln!("SKIPPED: python3 is not installed, so it is not tried under the filter");
        return;
    };
    runs_as_ever("sh", &format!("{}{python} file", file(script)));
}

#[test]
fn row_111_node_runs() {
    let script = r"
const { Worker } = require('worker_threads'), child = require('child_process'), fs = require('fs'), net = require('net');
const os = require('os'), crypto = require('crypto'), dgram = require('dgram'), zlib = require('zlib');
if (child.execSync('echo hi').toString() !== 'hi\n') throw 'execSync';
os.networkInterfaces(); os.cpus(); os.userInfo(); crypto.randomBytes(16); process.title = 'x';
new Worker('require(`fs`).readdirSync(`.`)', { eval: true }).on('exit', () => {
  const server = net.createServer(socket => socket.end('x')).listen(0, '127.0.0.1', () =>
    net.connect(server.address().port, '127.0.0.1').setNoDelay().setKeepAlive(true).on('close', () => server.close()).resume());
});
fs.promises.cp(__filename, 'copy').then(() => fs.promises.rm('copy'));
const watcher = fs.watch('.'); setTimeout(() => watcher.close(), 20);
const udp = dgram.createSocket('udp4').bind(0, '127.0.0.1', () => udp.close());
zlib.gzip('x', () => {}); child.spawn('cat', { stdio: 'pipe' }).on('exit', code => { if (code) throw code }).stdin.end('x');
";
    runs_as_ever("node", &format!("{}mv file file.js; node file.js", file(script)));
}

#[test]
fn shells_and_tools_run() {
    runs_as_ever(
        "bash",
        "bash -c 'ls -la / | sort | wc -l; x=$(id); cat <(echo a) <<< b; mkfifo p; (echo x > p &); cat p; sleep 0.01 & wait; trap : TERM; kill $$; umask 022; ulimit -n; time true'",
    );
    runs_as_ever(
        "tar",
        "mkdir -p a/b; echo x > a/b/c; chmod 2755 a; ln -s c a/b/d; tar czf a.tgz a; mkdir o; tar xzpf a.tgz -C o; cmp o/a/b/c a/b/c; cp -a a e; mv e f; rm -r f; find a -type f -exec stat {} +; dd if=/dev/zero of=z bs=4k count=4 conv=fsync 2>/dev/null; timeout 5 true; nice true; date; df . > d; touch -d yesterday t; install -m 755 a/b/c i; truncate -s 10 z; sync z; shred -n 1 z",
    );
    runs_as_ever(
        "sqlite3",
        "sqlite3 base 'pragma journal_mode=wal; create table t(a); insert into t values(1); select count(*) from t; vacuum;'",
    );
    runs_as_ever(
        "perl",
        "perl -MSocket -MIO::Socket::INET -MFile::Temp -e 'print qx(echo x); my $p = fork // die; exit 0 unless $p; waitpid $p, 0; $? and die; my $s = IO::Socket::INET->new(Listen => 1, LocalAddr => q(127.0.0.1)) or die; File::Temp->new; kill 0, $$ or die; flock(STDOUT, 2); select(undef, undef, undef, 0.01);'",
    );
    runs_as_ever("ssh-keygen", "ssh-keygen -q -t ed25519 -N '' -f key; ssh-keygen -lf key.pub");
    runs_as_ever(
        "openssl",
        "openssl rand -hex 8; openssl genpkey -algorithm ed25519 -out key; echo x | openssl dgst -sha256",
    );
    runs_as_ever(
        "gawk",
        "gawk 'BEGIN { \"date\" | getline x; print x | \"cat\"; close(\"cat\"); system(\"true\") }'",
    );
    runs_as_ever("make", "printf 'all: a b\\na b:\\n\\t@echo $@\\n' > Makefile; make -j2");
    runs_as_ever("xz", "seq 100000 > n; xz -T2 n; zstd -q -T2 -k n.xz 2>/dev/null || true; xz -d n.xz");
}

#[test]
fn git_runs() {
    runs_as_ever(
        "git",
        "export HOME=$FOLDER; git config --global user.email a@example.test; git config --global user.name a; \
         git init -q --shared a; cd a; seq 2000 > n; git add n; git commit -qm one; git checkout -qb other; \
         seq 3000 > n; git commit -qam two; git gc -q; git status; git log -p | tail -1; git stash list; cd ..; \
         git clone -q a b; git -C b fetch -q; git -C b grep -n 77 | tail -1; git -C b archive HEAD | tar t",
    );
}

#[test]
fn curl_runs() {
    let Some(python) = python() else {
        eprintln!("SKIPPED: python3 is not installed, so curl has nobody to talk to");
        return;
    };
    let server = "import http.server, threading, subprocess, sys\n\
                  server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)\n\
                  threading.Thread(target=server.serve_forever, daemon=True).start()\n\
                  address = f'http://127.0.0.1:{server.server_port}/file'\n\
                  for more in [[], ['--tcp-fastopen'], ['--parallel', '-o', 'x']]:\n    \
                      subprocess.run(['curl', '-sSf', '--max-time', '20', address] + more, check=True, stdout=subprocess.DEVNULL)\n";
    let script = format!("{}{python} file", file(server));
    // Fast open is asked for here, so it is refused; curl goes on without.
    if !there("curl") {
        eprintln!("SKIPPED: curl is not installed, so it is not tried under the filter");
        return;
    }
    for profile in [None, Some(SyscallProfile::Default), Some(SyscallProfile::Permissive)] {
        let (output, ended) = ran(profile, &script);
        assert!(ended, "{profile:?}: {output}");
    }
    runs_as_ever("curl", &format!("{}{python} file", file(&server.replace("['--tcp-fastopen'], ", ""))));
}

#[test]
fn compilers_run_and_what_they_make() {
    let c = "#include <pthread.h>\n#include <stdio.h>\n#include <unistd.h>\n\
             static void *say(void *x) { puts(\"thread\"); return x; }\n\
             int main(void) { pthread_t t; pthread_create(&t, 0, say, 0); pthread_join(t, 0);\n\
             return system(\"true\") || isatty(0); }\n";
    let c = c.replace("<unistd.h>", "<unistd.h>\n#include <stdlib.h>");
    runs_as_ever(
        "gcc",
        &format!("{}mv file file.c; gcc -O1 -pthread file.c -o program; ./program", file(&c)),
    );
    let rust = r#"fn main() { std::thread::spawn(|| println!("thread")).join().unwrap();
                  std::net::TcpListener::bind("127.0.0.1:0").unwrap();
                  assert!(std::process::Command::new("true").status().unwrap().success()); }"#;
    runs_as_ever(
        "cargo",
        &format!(
            "{}mkdir src; mv file src/main.rs; printf '[package]\\nname=\"x\"\\nedition=\"2021\"\\n' > Cargo.toml; \
             env -u CARGO_ENCODED_RUSTFLAGS CARGO_TARGET_DIR=$FOLDER/target cargo run -q --offline",
            file(rust)
        ),
    );
    let go = "package main\nimport (\"fmt\"; \"net\"; \"os/exec\"; \"time\")\n\
              func main() { c := make(chan int); for i := 0; i < 100; i++ { go func() { time.Sleep(1000); c <- 1 }() }\n\
              for i := 0; i < 100; i++ { <-c }\n\
              l, e := net.Listen(\"tcp\", \"127.0.0.1:0\"); if e != nil { panic(e) }\n\
              go func() { x, _ := l.Accept(); x.Close() }()\n\
              x, e := net.Dial(\"tcp\", l.Addr().String()); if e != nil { panic(e) }\n\
              x.Close(); fmt.Println(net.Interfaces()); if e := exec.Command(\"true\").Run(); e != nil { panic(e) } }";
    // One cache for all runs, so that the standard library is built once.
    let cache = TempDir::new().unwrap();
    runs_as_ever(
        "go",
        &format!(
            "{}mv file main.go; export HOME=$FOLDER GOCACHE={} GOTOOLCHAIN=local GOFLAGS=-mod=mod; \
             go build -o program main.go; ./program",
            file(go),
            Path::new(cache.path()).display()
        ),
    );
}

#[test]
fn java_runs() {
    let java = r#"
import java.net.*; import java.nio.file.*; import java.util.concurrent.*;
public class Main {
  public static void main(String[] a) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(8);
    for (int i = 0; i < 50; i++) pool.submit(() -> { System.gc(); });
    pool.shutdown(); pool.awaitTermination(50, TimeUnit.SECONDS);
    if (new ProcessBuilder("true").start().waitFor() != 0) throw new Exception();
    try (ServerSocket s = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
         Socket c = new Socket(s.getInetAddress(), s.getLocalPort())) { c.setTcpNoDelay(true); }
    NetworkInterface.networkInterfaces().forEach(i -> { try { i.getMTU(); i.isUp(); } catch (Exception e) {} });
    Files.copy(Path.of("Main.java"), Path.of("copy")); Files.list(Path.of(".")).count();
    try (java.nio.channels.Selector s = java.nio.channels.Selector.open()) { s.selectNow(); }
  }
}"#;
    runs_as_ever("javac", &format!("{}mv file Main.java; java Main.java", file(java)));
}

/// Whatever is not a program of the machine is refused to none of them: this test would find nothing if the listener were deaf.
#[test]
fn the_listener_hears_what_programs_are_refused() {
    let Some(python) = python() else {
        eprintln!("SKIPPED: python3 is not installed, so it is not tried under the filter");
        return;
    };
    let script = "import ctypes, socket\n\
                  try: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)\n\
                  except OSError as error: print(error.errno)\n\
                  print(ctypes.CDLL(None).unshare(0x10000000))\n";
    let ((output, ended), refused) =
        supervised(SyscallProfile::Default, || ran(None, &format!("{}{python} file", file(script))));
    assert!(ended && output == "97\n-1\n", "{output}");
    let numbers: Vec<_> = refused.iter().map(|(number, _)| libc::c_long::from(*number)).collect();
    assert_eq!(numbers, [libc::SYS_socket, libc::SYS_unshare]);
}

/// `strict` is for programs that compute: they read, think and answer.
#[test]
fn programs_that_compute_run_under_strict() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("numbers"), "1\n2\n").unwrap();
    let python = python();
    let mut commands: Vec<(&str, Vec<&str>)> = vec![
        ("cat", vec!["numbers"]),
        ("sort", vec!["-r", "numbers"]),
        ("node", vec!["-e", "const n = require('fs').readFileSync('numbers'); if (n.length != 4) throw n"]),
        ("perl", vec!["-ne", "print $_ * 2", "numbers"]),
        ("sqlite3", vec![":memory:", "select 1"]),
        ("tar", vec!["cf", "archive", "numbers"]),
        ("java", vec!["-version"]),
    ];
    let script = "import json, threading, concurrent.futures as f, math\n\
                  print(sum(f.ThreadPoolExecutor(4).map(math.sqrt, range(100))), open('numbers').read())\n";
    if let Some(python) = &python {
        commands.push((python, vec!["-c", script]));
    }
    for (program, arguments) in commands {
        if !there(program) && !program.starts_with('/') {
            eprintln!("SKIPPED: {program} is not installed, so it is not tried under strict");
            continue;
        }
        let mut command = Command::new(program);
        command.args(arguments).current_dir(folder.path()).stdin(Stdio::null());
        let output = Filter::of(SyscallProfile::Strict).confine(&mut command).output().unwrap();
        assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
