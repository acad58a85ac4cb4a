//! Real skills, as a person would use them: installed, learnt, run, and the result looked at.
//!
//! `xtask/compatibility/cases.json` names skills of vendors, what to ask of each, and how to see that the answer is right; the skills
//! themselves come from any checkout (`--skills DIR`) and are in no commit of ours. Nothing of a skill is executed outside the sandbox: the
//! lines in `setup` and `check` are ours and make or read the inputs and outputs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;

use crate::workspace::{cargo, root, succeed, target_dir};

/// What Python and Node.js skills say that their users have to install.
const PYTHON_PACKAGES: &[&str] = &[
    "defusedxml",
    "imageio",
    "lxml",
    "markitdown[docx,pdf,xlsx]",
    "matplotlib",
    "numpy",
    "openpyxl",
    "pandas",
    "pdf2image",
    "pillow",
    "pypdf",
    "python-docx",
    "python-pptx",
    "pyyaml",
    "reportlab",
    "requests",
    "uv",
];
const NODE_PACKAGES: &[&str] = &["docx"];
/// Seconds that one command may take.
const TIMEOUT: &str = "180";
/// How deep a skill's folder may lie in the checkout.
const DEPTH: usize = 8;

/// One thing that is asked of a skill.
struct SkillCase {
    vendor: String,
    skill: String,
    /// What it shows, for the table.
    tools: Vec<String>,
    /// A shell line of ours that makes the input.
    setup: String,
    command: Vec<String>,
    /// A shell line of ours that finds the right result; standard output is in `out.txt`.
    check: String,
    /// A host that it asks, and what that answers.
    host: Option<(String, String)>,
}

/// What came of it.
#[derive(Default)]
struct CaseResult {
    /// The grants of the manifest that was learnt.
    grants: Option<Vec<String>>,
    right: bool,
    minimal: bool,
    quiet: bool,
    note: String,
}

pub(crate) fn run(args: &[&str]) -> anyhow::Result<()> {
    let mut checkouts = Vec::new();
    let mut only = Vec::new();
    let mut program = None;
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match *arg {
            "--skills" => checkouts.push(PathBuf::from(*rest.next().context("--skills needs a folder")?)),
            "--program" => program = Some(PathBuf::from(*rest.next().context("--program needs a file")?)),
            name if !name.starts_with('-') => only.push(name.to_owned()),
            other => bail!(
                "`{other}` is not known; usage: compatibility --skills DIR … [--program FILE] [SKILL …]"
            ),
        }
    }
    ensure!(
        !checkouts.is_empty(),
        "which skills? usage: compatibility --skills DIR … [--program FILE] [SKILL …]"
    );
    let cases = cases()?;
    let folders = folders_below(&checkouts)?;
    let bench = Workbench::set_up(program)?;
    let mut table = String::from(
        "| vendor | skill | with | learnt | result | minimal | no false alarm | note |\n|---|---|---|---|---|---|---|---|\n",
    );
    let (mut tried, mut wrong, mut missing) = (0, 0, 0);
    for case in cases.iter().filter(|case| only.is_empty() || only.contains(&case.skill)) {
        let Some(folder) = case.folder_in(&folders) else {
            println!("missing {}/{}: no such skill below {checkouts:?}", case.vendor, case.skill);
            missing += 1;
            continue;
        };
        tried += 1;
        let result = bench
            .try_case(case, folder)
            .unwrap_or_else(|error| CaseResult { note: format!("{error:#}"), ..CaseResult::default() });
        let good = result.right;
        wrong += u32::from(!good);
        let word = |yes: bool| if yes { "yes" } else { "no" };
        println!(
            "{} {}/{}: {}",
            if good { "ok     " } else { "WRONG  " },
            case.vendor,
            case.skill,
            result.note
        );
        let grants = match &result.grants {
            None => "no".to_owned(),
            Some(grants) if grants.is_empty() => "nothing".to_owned(),
            Some(grants) => grants.join("<br>"),
        };
        let _ = writeln!(
            table,
            "| {} | {} | {} | {grants} | {} | {} | {} | {} |",
            case.vendor,
            case.skill,
            case.tools.join(", "),
            word(result.right),
            word(result.minimal),
            word(result.quiet),
            result.note.lines().next().unwrap_or_default().replace('|', "/"),
        );
    }
    println!("\n{table}\n{tried} tried, {wrong} wrong, {missing} not in these checkouts");
    ensure!(wrong == 0 && tried > 0, "{wrong} of {tried} did not work");
    Ok(())
}

fn cases() -> anyhow::Result<Vec<SkillCase>> {
    let file = root().join("xtask/compatibility/cases.json");
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let list: Vec<Value> = serde_json::from_str(&text).context("cases.json")?;
    list.iter().map(SkillCase::read).collect()
}

impl SkillCase {
    fn read(value: &Value) -> anyhow::Result<Self> {
        let text = |key: &str| {
            let found = value[key].as_str().with_context(|| format!("cases.json: a case without `{key}`"))?;
            anyhow::Ok(found.to_owned())
        };
        let list = |key: &str| {
            let found =
                value[key].as_array().with_context(|| format!("cases.json: a case without `{key}`"))?;
            anyhow::Ok(found.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>())
        };
        let host = value.get("host").map(|_| anyhow::Ok((text("host")?, text("answer")?))).transpose()?;
        Ok(Self {
            vendor: text("vendor")?,
            skill: text("skill")?,
            tools: list("tools")?,
            setup: text("setup")?,
            command: list("command")?,
            check: text("check")?,
            host,
        })
    }

    /// The skill's folder: named like the skill, somewhere below a folder named like the vendor where there is one.
    fn folder_in<'a>(&self, folders: &'a BTreeMap<String, Vec<PathBuf>>) -> Option<&'a Path> {
        let all = folders.get(&self.skill)?;
        let of_vendor =
            all.iter().find(|path| path.components().any(|part| part.as_os_str() == self.vendor.as_str()));
        of_vendor.or(all.first()).map(PathBuf::as_path)
    }
}

/// Every folder with a SKILL.md, by its name.
fn folders_below(checkouts: &[PathBuf]) -> anyhow::Result<BTreeMap<String, Vec<PathBuf>>> {
    let mut found: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    let mut waiting: Vec<(PathBuf, usize)> = checkouts.iter().map(|path| (path.clone(), 0)).collect();
    while let Some((folder, depth)) = waiting.pop() {
        if folder.join("SKILL.md").is_file()
            && let Some(name) = folder.file_name().and_then(|name| name.to_str())
        {
            found.entry(name.to_owned()).or_default().push(folder.clone());
        }
        if depth < DEPTH {
            for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    waiting.push((entry.path(), depth + 1));
                }
            }
        }
    }
    for paths in found.values_mut() {
        paths.sort();
    }
    Ok(found)
}

/// The command, the packages, and a home of its own for everything that is kept.
struct Workbench {
    program: PathBuf,
    python: PathBuf,
    node: PathBuf,
    folder: PathBuf,
}

impl Workbench {
    fn set_up(program: Option<PathBuf>) -> anyhow::Result<Self> {
        let target = target_dir()?;
        let program = if let Some(program) = program {
            program
        } else {
            succeed(&mut cargo(["build", "--quiet", "--release", "--package", "skillsandbox-cli"]))?;
            target.join("release/skillsandbox")
        };
        let folder = target.join("compatibility");
        let (python, node) = (folder.join("python"), folder.join("node"));
        fs::create_dir_all(&node)?;
        if !python.join("bin/uv").is_file() {
            succeed(Command::new("/usr/bin/python3").args(["-m", "venv"]).arg(&python))?;
            succeed(Command::new(python.join("bin/pip")).args(["install", "--quiet"]).args(PYTHON_PACKAGES))?;
        }
        if !node.join("node_modules/docx").is_dir() {
            succeed(
                Command::new("npm").args(["install", "--silent", "--prefix"]).arg(&node).args(NODE_PACKAGES),
            )?;
        }
        let home = folder.join("home");
        if home.exists() {
            fs::remove_dir_all(&home)?;
        }
        fs::create_dir_all(&home)?;
        Ok(Self { program, python, node, folder })
    }

    /// A command with a home of its own.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        let path =
            format!("{}:{}", self.python.join("bin").display(), std::env::var("PATH").unwrap_or_default());
        command.env("PATH", path).env("HOME", self.folder.join("home")).stdin(Stdio::null());
        for base in ["XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
            command.env_remove(base);
        }
        command
    }

    fn try_case(&self, case: &SkillCase, folder: &Path) -> anyhow::Result<CaseResult> {
        let mut result = CaseResult::default();
        let server = case.host.as_ref().map(|(name, answer)| HostServer::start(name, answer)).transpose()?;
        let installed = self.command(&self.program).arg("install").arg("--force").arg(folder).output()?;
        ensure!(installed.status.success(), "not installed: {}", last_line(&installed));

        let workspace = self.workspace(case)?;
        // What other cases of the same skill have taught is not this one's.
        if let Some(known) = self.manifest(case).parent().filter(|folder| folder.exists()) {
            fs::remove_dir_all(known)?;
        }
        let mut learn = self.command(&self.program);
        learn.args(["learn", &case.skill, "--yes-files"]);
        // The packages are the person's, who says once where they are.
        learn.arg("--read").arg(&self.python).arg("--read").arg(&self.node);
        self.grant(&mut learn, case, &workspace, server.as_ref());
        let learnt = learn.output()?;
        ensure!(learnt.status.success(), "not learnt: {}", last_line(&learnt));
        result.grants = Some(self.learnt_grants(case));

        // Another folder with the same input: what was rehearsed is not there.
        let workspace = self.workspace(case)?;
        let mut run = self.command(&self.program);
        run.args(["run", &case.skill, "--timeout", TIMEOUT]);
        self.grant(&mut run, case, &workspace, server.as_ref());
        let ran = run.output()?;
        fs::write(workspace.join("out.txt"), &ran.stdout)?;
        ensure!(ran.status.success(), "it ended with {}: {}", ran.status, last_line(&ran));
        let summary = String::from_utf8_lossy(&ran.stderr);
        result.quiet = !summary.contains("prevented");
        let checked =
            self.command(Path::new("sh")).args(["-c", &case.check]).current_dir(&workspace).output()?;
        ensure!(checked.status.success(), "the result is wrong: {}", last_line(&checked));
        result.right = true;

        let workspace = self.workspace(case)?;
        let mut verify = self.command(&self.program);
        verify.args(["learn", &case.skill, "--verify"]);
        self.grant(&mut verify, case, &workspace, server.as_ref());
        let verified = verify.output()?;
        result.minimal = verified.status.success();
        if !result.minimal {
            result.note = last_line(&verified);
        }
        Ok(result)
    }

    /// An empty folder with the case's input in it.
    fn workspace(&self, case: &SkillCase) -> anyhow::Result<PathBuf> {
        let folder = self.folder.join("workspace");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        let made = self.command(Path::new("sh")).args(["-c", &case.setup]).current_dir(&folder).output()?;
        ensure!(made.status.success(), "the input cannot be made: {}", last_line(&made));
        Ok(folder)
    }

    /// What a person who has these packages and this input says on the command line, and the command itself.
    fn grant(&self, command: &mut Command, case: &SkillCase, workspace: &Path, server: Option<&HostServer>) {
        command.arg("--workspace").arg(workspace);
        command.arg("--env").arg(format!("NODE_PATH={}", self.node.join("node_modules").display()));
        let path = format!("PATH={}:/usr/local/bin:/usr/bin:/bin", self.python.join("bin").display());
        command.arg("--env").arg(path);
        // Where the skill's own words say "this skill's folder".
        let skill = self.folder.join("home/.local/share/skillsandbox/skills").join(&case.skill);
        command.arg("--env").arg(format!("SKILL_DIR={}", skill.display()));
        if let Some(server) = server {
            command.arg("--allow-host").arg(&server.host).arg("--resolve").arg(&server.pin);
        }
        command.arg("--").args(&case.command);
    }

    /// Where the person's manifest for a skill is.
    fn manifest(&self, case: &SkillCase) -> PathBuf {
        let manifests = self.folder.join("home/.config/skillsandbox/manifests");
        manifests.join(&case.skill).join("skillsandbox.yaml")
    }

    /// The lines of the manifest that grant something.
    fn learnt_grants(&self, case: &SkillCase) -> Vec<String> {
        let text = fs::read_to_string(self.manifest(case)).unwrap_or_default();
        let lines = text.lines().filter(|line| line.trim_start().starts_with("- "));
        let words = lines.map(|line| {
            line.trim().trim_start_matches("- ").split(" #").next().unwrap_or_default().trim().to_owned()
        });
        let place = self.folder.display().to_string();
        words.map(|line| line.replace(&place, "PACKAGES")).collect()
    }
}

fn last_line(output: &Output) -> String {
    let text =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing").trim().to_owned()
}

/// A server on loopback that gives everybody the same answer.
struct HostServer {
    host: String,
    pin: String,
}

impl HostServer {
    fn start(host: &str, answer: &str) -> anyhow::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let pin = format!("{host}:{}", listener.local_addr()?);
        let body = answer.to_owned();
        // It ends with this program.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut stream = stream;
                let _ = stream.read(&mut [0; 4096]);
                let _ = write!(
                    stream,
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                    body.len()
                );
            }
        });
        Ok(Self { host: host.to_owned(), pin })
    }
}
