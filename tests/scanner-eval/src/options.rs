//! What the command line asks for.

use std::path::PathBuf;

use anyhow::{Context as _, bail};

/// How it is called.
pub(crate) const USAGE: &str = "usage: cargo xtask eval --corpus DIR [--corpus DIR …] [--fit | --check] [--demote] [--markdown] [--all]
       cargo xtask eval --mutate --corpus DIR [--corpus DIR …] [--seed N] [--sample N] [--show N] [--family TEXT] [--markdown]";

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EvalOptions {
    /// Folders with a `labels.csv` each.
    pub(crate) corpora: Vec<PathBuf>,
    /// What is to be done.
    pub(crate) task: EvalTask,
    /// As if rules that are wrong too often only warned.
    pub(crate) demotes: bool,
    /// Tables as Markdown.
    pub(crate) is_markdown: bool,
    /// Lists without a bound.
    pub(crate) lists_all: bool,
    /// What chance begins with.
    pub(crate) seed: u64,
    /// Most mutants of one family.
    pub(crate) sample: usize,
    /// How many that got away are shown, of each family.
    pub(crate) show: usize,
    /// Only families and mutations whose name holds this.
    pub(crate) family: String,
}

/// What is to be done with the corpora.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EvalTask {
    /// Print how the scanner does.
    Tables,
    /// Write the weights, then print.
    Fit,
    /// Fail where a rule blocks that should not.
    Check,
    /// Rewrite what was found, and scan again.
    Mutate,
}

impl EvalOptions {
    /// Reads the command line.
    pub(crate) fn read(args: &[&str]) -> anyhow::Result<Self> {
        let mut options = Self {
            corpora: Vec::new(),
            task: EvalTask::Tables,
            demotes: false,
            is_markdown: false,
            lists_all: false,
            seed: 1,
            sample: 300,
            show: 0,
            family: String::new(),
        };
        let mut args = args.iter();
        while let Some(name) = args.next() {
            match *name {
                "--mutate" => options.task = EvalTask::Mutate,
                "--fit" => options.task = EvalTask::Fit,
                "--check" => options.task = EvalTask::Check,
                "--demote" => options.demotes = true,
                "--markdown" => options.is_markdown = true,
                "--all" => options.lists_all = true,
                "--corpus" | "--seed" | "--sample" | "--show" | "--family" => {
                    let value = args.next().with_context(|| format!("{name} needs a value; {USAGE}"))?;
                    options.set(name, value)?;
                }
                other => bail!("unknown option {other}; {USAGE}"),
            }
        }
        if options.corpora.is_empty() {
            bail!("name the corpus; {USAGE}");
        }
        Ok(options)
    }

    /// Sets an option that has a value.
    fn set(&mut self, name: &str, value: &str) -> anyhow::Result<()> {
        let number = || value.parse::<usize>().with_context(|| format!("{name}: {value} is not a number"));
        match name {
            "--corpus" => self.corpora.push(PathBuf::from(value)),
            "--seed" => self.seed = number()? as u64,
            "--sample" => self.sample = number()?.max(1),
            "--family" => value.clone_into(&mut self.family),
            _ => self.show = number()?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_mistakes_named() {
        let given = EvalOptions::read(&[
            "--mutate", "--seed", "7", "--corpus", "c", "--corpus", "d", "--sample", "9",
        ]);
        let given = given.unwrap();
        assert_eq!((given.corpora.len(), given.seed, given.sample, given.task), (2, 7, 9, EvalTask::Mutate));
        for (args, said) in [
            (&["--mutate"][..], "name the corpus"),
            (&["--corpus"], "needs a value"),
            (&["--corpus", "c", "--seed", "x"], "not a number"),
            (&["--corpus", "c", "--fast", "x"], "unknown option"),
        ] {
            let error = format!("{:#}", EvalOptions::read(args).unwrap_err());
            assert!(error.contains(said), "{error}");
        }
    }
}
