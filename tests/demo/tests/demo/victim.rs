//! The script that plants fake credentials: what it writes, and where it will not.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use skillsandbox_demo::victim::{Part, Planted};

const SCRIPT: &str = include_str!("../../../../examples/skills/malicious-weather/setup-victim-env.sh");

struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("victim-").tempdir().unwrap();
        fs::write(folder.path().join("setup-victim-env.sh"), SCRIPT).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn script(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let mut command = Command::new("sh");
        command
            .arg("setup-victim-env.sh")
            .args(arguments)
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }

    /// It refuses, names the reason, and nothing is written.
    #[track_caller]
    fn refuses(&self, arguments: &[&str], reason: &str) {
        let before = tree(self.folder.path());
        let (code, out, err) = self.script(arguments);
        assert_eq!((code, out.as_str()), (Some(1), ""), "{arguments:?}: {err}");
        assert!(err.contains(reason), "{arguments:?}: {err}");
        assert_eq!(tree(self.folder.path()), before, "{arguments:?}");
    }
}

/// All files below, with what is in them.
fn tree(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            let content = if entry.file_type().unwrap().is_file() {
                fs::read(entry.path()).unwrap()
            } else {
                Vec::new()
            };
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            }
            found.push((entry.path(), content));
        }
    }
    found.sort();
    found
}

#[test]
fn row_159_fake_credentials_are_planted_and_every_one_says_so() {
    let scene = Scene::new();
    let home = scene.path("home");
    let planted = Planted::plant(&scene.path("setup-victim-env.sh"), home.to_str().unwrap()).unwrap();
    assert_eq!((planted.count(Part::Variables), planted.count(Part::Files)), (6, 4));
    let names: Vec<&str> = planted.files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, [".aws/credentials", ".ssh/id_ed25519", ".config/gh/hosts.yml", ".netrc"]);
    for (name, value) in &planted.files {
        let text = fs::read_to_string(home.join(name)).unwrap();
        assert!(value.starts_with("FAKE-") && text.contains(value), "{name}: {text}");
        let mode = fs::metadata(home.join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name} is for its owner");
    }
    for (name, value) in &planted.variables {
        assert!(value.contains("FAKE-"), "{name}={value}");
    }
    // A second planting elsewhere is another one.
    let other =
        Planted::plant(&scene.path("setup-victim-env.sh"), scene.path("other").to_str().unwrap()).unwrap();
    assert_ne!(other.agents_own, planted.agents_own);
}

#[test]
fn row_159_what_it_prints_can_be_evaluated_and_is_the_same_the_second_time() {
    let scene = Scene::new();
    let (code, first, err) = scene.script(&["home"]);
    assert_eq!(code, Some(0), "{err}");
    let before = tree(&scene.path("home"));
    assert_eq!(scene.script(&["home/"]), (Some(0), first.clone(), String::new()));
    assert_eq!(tree(&scene.path("home")), before);
    let mut command = Command::new("sh");
    command.args(["-c", "eval \"$1\"; echo \"$HOME $GITHUB_TOKEN $DATABASE_URL\"", "sh", &first]);
    let said = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let home = scene.folder.path().canonicalize().unwrap().join("home");
    assert!(said.starts_with(&format!("{} FAKE-env-github-", home.display())), "{said}");
    assert!(said.trim_end().ends_with("@db.invalid/app"), "{said}");
    // An empty folder will do, too.
    fs::create_dir(scene.path("empty")).unwrap();
    assert_eq!(scene.script(&["empty"]).0, Some(0));
}

#[test]
fn row_159_a_real_home_is_not_touched() {
    let scene = Scene::new();
    fs::create_dir_all(scene.path("real/.ssh")).unwrap();
    fs::write(scene.path("real/.ssh/id_ed25519"), "a real key").unwrap();
    scene.refuses(&["real"], "is not empty");
    fs::create_dir(scene.path("hidden")).unwrap();
    fs::write(scene.path("hidden/.bashrc"), "").unwrap();
    scene.refuses(&["hidden"], "is not empty");
    // Neither over a link, nor because of a mark that is none.
    symlink(scene.path("real"), scene.path("link")).unwrap();
    scene.refuses(&["link"], "is a link");
    scene.refuses(&["link/"], "is a link");
    fs::create_dir(scene.path("marked")).unwrap();
    fs::write(scene.path("marked/.planted"), "something else\n0123\n").unwrap();
    scene.refuses(&["marked"], "is not empty");
    fs::create_dir(scene.path("linked-mark")).unwrap();
    fs::write(scene.path("mark"), "FAKE credentials, planted by setup-victim-env.sh\n0123\n").unwrap();
    symlink(scene.path("mark"), scene.path("linked-mark/.planted")).unwrap();
    scene.refuses(&["linked-mark"], "is not empty");
    fs::create_dir(scene.path("damaged")).unwrap();
    let mark = "FAKE credentials, planted by setup-victim-env.sh\n$(touch x)\n";
    fs::write(scene.path("damaged/.planted"), mark).unwrap();
    scene.refuses(&["damaged"], "is damaged");
    fs::write(scene.path("file"), "").unwrap();
    scene.refuses(&["file"], "is not a folder");
}

#[test]
fn row_159_paths_that_a_shell_would_read_and_missing_arguments_are_refused() {
    let scene = Scene::new();
    scene.refuses(&[], "one argument is needed");
    scene.refuses(&[""], "one argument is needed");
    scene.refuses(&["a", "b"], "one argument is needed");
    scene.refuses(&["/"], "no home to plant in");
    scene.refuses(&["//"], "no home to plant in");
    for path in ["a b", "$(id)", "a;b", "a'b", "a\nb", "a`b`", "~x"] {
        scene.refuses(&[path], "may only have");
    }
    scene.refuses(&["no/such/parent"], "cannot make");
    scene.refuses(&["/proc"], "");
    // Somebody else's, even if it is empty. For root nothing is: then this folder is not empty.
    scene.refuses(&["/usr/lib"], "");
}
