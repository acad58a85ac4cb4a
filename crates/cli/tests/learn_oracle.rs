//! What is learnt, held against strace: the same program outside opens the same files and asks the same hosts.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use skillsandbox_manifest::{Destination, Manifest};
use skillsandbox_network_tests::on_stage;
use skillsandbox_test_support::missing;

/// What every sandbox has, or has of its own.
const OF_SYSTEM: [&str; 11] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/proc", "/sys", "/dev"];

struct Bench(tempfile::TempDir);

impl Bench {
    fn new(script: &str) -> Self {
        let bench = Self(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap());
        bench.write("skill/SKILL.md", "---\nname: tested\ndescription: A skill for tests\n---\nRun it.\n");
        bench.write("skill/main", script);
        for folder in ["home", "data", "results"] {
            fs::create_dir_all(bench.path(folder)).unwrap();
        }
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new(program);
        command.args(arguments).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.env("HOME", self.path("home")).env("PYTHONDONTWRITEBYTECODE", "1");
        command.stdin(Stdio::null()).current_dir(self.path("skill")).output().unwrap()
    }

    /// What `learn` writes for a call.
    fn learn(&self, words: &[&str]) -> Manifest {
        let skill = self.path("skill");
        let mut all = vec!["learn", skill.to_str().unwrap(), "--skip-scan", "--yes-files", "--"];
        all.extend(words);
        let output = self.command(env!("CARGO_BIN_EXE_skillsandbox"), &all);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        Manifest::load(&skill).unwrap()
    }

    /// What strace sees of the same call outside: files that were opened or made, and addresses that were connected to.
    fn strace(&self, words: &[&str]) -> (BTreeSet<PathBuf>, BTreeSet<String>) {
        let log = self.path("strace.log");
        let calls = "trace=open,openat,creat,mkdir,mkdirat,rename,renameat,renameat2,unlink,unlinkat,connect";
        let mut all = vec!["-f", "-qq", "-s", "4096", "-e", calls, "-o", log.to_str().unwrap()];
        all.extend(words);
        let output = self.command("strace", &all);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = fs::read_to_string(log).unwrap();
        let (mut files, mut hosts) = (BTreeSet::new(), BTreeSet::new());
        for line in text.lines().filter(|line| !line.contains(" = -1 E") || line.contains("connect(")) {
            if let Some(address) = line.split("sin_addr=inet_addr(\"").nth(1) {
                let port = line.split("sin_port=htons(").nth(1).unwrap().split(')').next().unwrap();
                hosts.insert(format!("{}:{port}", address.split('"').next().unwrap()));
                continue;
            }
            // Each quoted word of the call is a path; relative ones begin in the skill's folder.
            for path in line.split('"').skip(1).step_by(2) {
                files.insert(self.path("skill").join(path));
            }
        }
        let skill = self.path("skill");
        let is_own = |path: &PathBuf| {
            path.starts_with(&skill) || OF_SYSTEM.iter().any(|place| path.starts_with(place))
        };
        files.retain(|path| !is_own(path));
        (files, hosts)
    }

    /// Everything that strace saw is granted, and every grant has something that strace saw in it.
    fn compare(&self, words: &[&str]) -> (Manifest, BTreeSet<PathBuf>) {
        let manifest = self.learn(words);
        let (files, _) = self.strace(words);
        let grants: Vec<PathBuf> = manifest
            .filesystem()
            .read
            .iter()
            .chain(&manifest.filesystem().write)
            .map(|grant| PathBuf::from(grant.value.to_string()))
            .map(|grant| match grant.strip_prefix("~") {
                Ok(rest) => self.path("home").join(rest),
                Err(_) => grant,
            })
            .collect();
        for file in &files {
            assert!(
                grants.iter().any(|grant| file.starts_with(grant)),
                "{} is in no grant: {grants:?}",
                file.display()
            );
        }
        for grant in &grants {
            assert!(
                files.iter().any(|file| file.starts_with(grant)),
                "{} was not seen: {files:?}",
                grant.display()
            );
        }
        (manifest, files)
    }
}

fn is_here(programs: &[&str]) -> bool {
    let missing = missing::outside(programs.iter().copied());
    missing.is_empty() || missing::skip(&missing)
}

#[test]
fn row_163_strace_sees_the_files_that_are_learnt_of_a_python_program() {
    if !is_here(&["strace", "python3"]) {
        return;
    }
    let bench = Bench::new(
        "import sys, json, os\nrows = json.load(open(sys.argv[1]))\nos.makedirs(sys.argv[2], exist_ok=True)\n\
         with open(sys.argv[2] + '/sum.txt', 'w') as out: out.write(str(sum(rows)))\n\
         os.rename(sys.argv[2] + '/sum.txt', sys.argv[2] + '/total.txt')\n",
    );
    bench.write("data/rows.json", "[1, 2, 3]");
    bench.write("data/other.json", "[4]");
    let (input, output) = (bench.path("data/rows.json"), bench.path("results/out"));
    let (manifest, files) =
        bench.compare(&["/usr/bin/python3", "main", input.to_str().unwrap(), output.to_str().unwrap()]);
    assert!(files.contains(&input), "{files:?}");
    assert_eq!(manifest.filesystem().read[0].value.to_string(), input.to_str().unwrap());
    assert_eq!(manifest.filesystem().write[0].value.to_string(), output.to_str().unwrap());
    assert_eq!(
        fs::read_to_string(output.join("total.txt")).unwrap(),
        "6",
        "the control: strace's was a real run"
    );
}

#[test]
fn row_163_strace_sees_the_files_that_are_learnt_of_a_shell_pipeline() {
    if !is_here(&["strace"]) {
        return;
    }
    let bench = Bench::new("set -e\ncat \"$1\"/*.txt | sort | uniq -c > \"$2\"\nwc -l < \"$2\"\n");
    for (name, text) in [("a.txt", "x\ny\n"), ("b.txt", "y\n"), ("c.csv", "z\n")] {
        bench.write(&format!("data/{name}"), text);
    }
    let (input, output) = (bench.path("data"), bench.path("results/count"));
    fs::write(&output, "old").unwrap();
    let (manifest, _) =
        bench.compare(&["/bin/sh", "main", input.to_str().unwrap(), output.to_str().unwrap()]);
    assert_eq!(manifest.filesystem().write[0].value.to_string(), output.to_str().unwrap());
    assert_eq!(manifest.filesystem().write.len(), 1);
    assert!(
        manifest
            .filesystem()
            .read
            .iter()
            .all(|grant| Path::new(&grant.value.to_string()).starts_with(&input))
    );
}

#[test]
fn row_163_strace_sees_the_host_that_is_learnt() {
    if !is_here(&["strace", "python3", "unshare", "ip"]) {
        return;
    }
    on_stage("row_163_strace_sees_the_host_that_is_learnt", || {
        let server = TcpListener::bind("9.9.0.7:8080").unwrap();
        let accepting = std::thread::spawn(move || server.accept().unwrap());
        let bench = Bench::new(
            "import socket, sys\ntry: socket.create_connection((sys.argv[1], 8080), 5); print('reached')\nexcept OSError: print('closed')\n",
        );
        let words = ["/usr/bin/python3", "main", "9.9.0.7"];
        let skill = bench.path("skill");
        let mut all = vec!["learn", skill.to_str().unwrap(), "--skip-scan", "--format", "json", "--"];
        all.extend(words);
        let output = bench.command(env!("CARGO_BIN_EXE_skillsandbox"), &all);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
        assert!(!accepting.is_finished(), "no packet leaves a rehearsal");
        let (_, hosts) = bench.strace(&words);
        assert_eq!(hosts, BTreeSet::from(["9.9.0.7:8080".to_owned()]));
        accepting.join().unwrap();
        // Nobody has accepted it: it stands in the draft alone.
        let draft = Manifest::load_file(Path::new(report["written"].as_str().unwrap())).unwrap();
        let rule = &draft.network().egress[0];
        assert!(
            matches!(&rule.to, Destination::Cidr(cidr) if cidr.network().to_string() == "9.9.0.7"),
            "{report:#}"
        );
        assert_eq!(rule.ports.iter().collect::<Vec<_>>(), [&8080]);
        assert_eq!(draft.network().egress.len(), 1);
    });
}
