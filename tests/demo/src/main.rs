//! `skillsandbox-demo`: see the library.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::process::ExitCode;

const HELP: &str = "\
Usage: skillsandbox-demo [shell] [--skillsandbox FILE] [--keep DIR]
       skillsandbox-demo judge FILE

Shows SkillSandbox at work, on a stage that no packet leaves. The answer is 0 if everything was as it should be, 1 if not, 2 if it could
not be played.

  shell                a shell on the stage instead
  judge FILE           the table once more, from the evidence.json of a folder that was kept
  --skillsandbox FILE  the program to show; otherwise $SKILLSANDBOX, or the one beside this one
  --keep DIR           a new folder for the evidence, the sink's record and the traces; otherwise they are thrown away
";

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match linux::run(&args.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("\nskillsandbox-demo: {error:#}");
            ExitCode::from(2)
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprint!("skillsandbox-demo: the sandbox needs Linux\n\n{HELP}");
    ExitCode::from(2)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::path::{Path, PathBuf};

    use anyhow::{Context as _, bail};
    use skillsandbox_demo::place::Place;
    use skillsandbox_demo::screen::Screen;
    use skillsandbox_demo::{show, stage};

    use super::HELP;

    pub(super) fn run(args: &[&str]) -> anyhow::Result<u8> {
        match args {
            ["on-stage", "show"] => Ok(u8::from(!show::play()?)),
            ["on-stage", "shell"] => show::shell().map(|()| 0),
            ["judge", file] => {
                let text = std::fs::read(file).with_context(|| format!("cannot read {file}"))?;
                let evidence =
                    serde_json::from_slice(&text).with_context(|| format!("{file} is no evidence"))?;
                Ok(u8::from(!show::judge(&Screen::new(), &evidence)))
            }
            ["help" | "--help" | "-h"] => {
                print!("{HELP}");
                Ok(0)
            }
            ["shell", rest @ ..] => play("shell", rest),
            rest => play("show", rest),
        }
    }

    fn play(act: &str, args: &[&str]) -> anyhow::Result<u8> {
        let (mut program, mut keep) = (None, None);
        let mut rest = args;
        while let [option, value, others @ ..] = rest {
            match *option {
                "--skillsandbox" => program = Some(PathBuf::from(value)),
                "--keep" => keep = Some(Path::new(*value)),
                other => bail!("unknown option `{other}`\n\n{HELP}"),
            }
            rest = others;
        }
        if let [option, ..] = rest {
            bail!("`{option}` is unknown, or lacks its value\n\n{HELP}");
        }
        let program = match program.or_else(|| std::env::var_os("SKILLSANDBOX").map(PathBuf::from)) {
            Some(program) => program,
            None => std::env::current_exe()?.with_file_name("skillsandbox"),
        };
        let place = Place::make(keep, &program)?;
        let code = stage::play(&place, &["on-stage", act])?;
        if let Some(folder) = keep {
            println!("kept in {}: evidence.json, sink.ndjson, traces/", folder.display());
        }
        Ok(u8::try_from(code).unwrap_or(2))
    }
}
