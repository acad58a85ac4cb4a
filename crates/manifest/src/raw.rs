//! The raw form: the manifest and the policy file as they are written, with their places. Shapes only; what the
//! values must be is decided where they are lowered to the checked form.
//!
//! The doc comments here are what editors show, by way of the JSON Schema.

use serde_json::Value;

use crate::decode::{Amount, Required, Table, section};
use crate::diagnostic::Spanned;

/// A list that may be left out. An entry that was refused leaves its slot empty, so that the others keep their numbers.
pub(crate) type Slots<T> = Option<Vec<Option<T>>>;

/// The entries of a list with their numbers.
pub(crate) fn filled<T>(slots: &[Option<T>]) -> impl Iterator<Item = (usize, &T)> {
    slots.iter().enumerate().filter_map(|(i, slot)| Some((i, slot.as_ref()?)))
}

/// The same for a list that may be left out.
pub(crate) fn entries<T>(slots: Option<&Vec<Option<T>>>) -> impl Iterator<Item = (usize, &T)> {
    filled(slots.map(Vec::as_slice).unwrap_or_default())
}

section! {
    /// What an agent skill is, what it may touch, and how it is started.
    Manifest {
        /// Who the skill is.
        skill: Required<Skill>,
        /// What runs the skill: `native` (default), `wasm` or `oci`.
        #[cfg_attr(feature = "schema", schemars(extend("enum" = ["native", "wasm", "oci"])))]
        runtime: Option<Spanned<String>>,
        /// What the skill may touch. A section that is left out grants nothing.
        permissions: Option<Permissions>,
        /// How much the skill may use.
        resources: Option<Resources>,
        /// The values the skill takes, checked before anything runs.
        parameters: Slots<Parameter>,
        /// How the skill is started. Left out: the caller gives the command.
        entrypoint: Option<Entrypoint>,
    }
}

section! {
    /// The most that any skill gets on this machine. A section that is left out does not narrow anything.
    Policy {
        /// Ceilings for what skills may touch.
        permissions: Option<Permissions>,
        /// Ceilings for how much skills may use.
        resources: Option<Resources>,
        /// How skills are scanned, and which findings may stand.
        scan: Option<ScanPolicy>,
    }
}

section! {
    /// How skills are scanned, and which findings may stand.
    ScanPolicy {
        /// From which verdict on a scan is refused: `warning` or `blocked`.
        #[cfg_attr(feature = "schema", schemars(extend("enum" = ["warning", "blocked"])))]
        fail_on: Option<Spanned<String>>,
        /// Domains that no skill may name, nor anything below them.
        blocklist: Slots<Spanned<String>>,
        /// Sources whose skills may have any name; a `*` at the end stands for the rest.
        trusted_sources: Slots<Spanned<String>>,
        /// Names of system skills that others may not take.
        system_names: Slots<Spanned<String>>,
        /// Findings that somebody has looked at: they are shown, and do not count.
        suppressions: Slots<Spanned<Suppression>>,
        /// A language model that `scan`, `install` and `update` ask for a second opinion. Left out: nothing is sent unless `--judge` says so.
        judge: Option<JudgePolicy>,
    }
}

section! {
    /// A language model that is asked for a second opinion. It can only make a verdict worse.
    JudgePolicy {
        /// Where it is asked: the base of an OpenAI-compatible endpoint. Default `http://127.0.0.1:11434/v1`.
        url: Option<Spanned<String>>,
        /// The model, as the endpoint calls it.
        model: Option<Spanned<String>>,
        /// The environment variable that holds the key for this endpoint. Left out: none is sent.
        key_env: Option<Spanned<String>>,
        /// Most bytes of a skill that are sent. Default 65536.
        #[cfg_attr(feature = "schema", schemars(range(min = 1024, max = 1_048_576)))]
        max_bytes: Option<Spanned<u64>>,
        /// Seconds that one answer may take. Default 60.
        #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 600)))]
        timeout_seconds: Option<Spanned<u64>>,
        /// Whether what the judge calls harmful is BLOCKED; otherwise it is a WARNING. Default false.
        may_block: Option<Spanned<bool>>,
        /// Whether skills and the key may go to another machine without encryption. Default false.
        dangerously_plain_http: Option<Spanned<bool>>,
    }
}

section! {
    /// A finding that somebody has looked at and lets stand.
    Suppression {
        /// The rule as the report has it (CHECK-04/dns-exfil), or a whole check (CHECK-04).
        rule: Spanned<String>,
        /// Only in the skill of this name. A name is what the skill says of itself.
        skill: Option<Spanned<String>>,
        /// Only in the skill with this digest, as its report has it: for these bytes and no others.
        digest: Option<Spanned<String>>,
        /// Only in this file, or below this folder of the skill. No patterns.
        path: Option<Spanned<String>>,
        /// Only while the file that the finding is in has this SHA-256: for its bytes and no others, whatever else of the skill changes.
        file_digest: Option<Spanned<String>>,
        /// Why it may stand.
        reason: Spanned<String>,
        /// The last day on which it holds: 2027-01-31.
        expires: Spanned<String>,
    }
}

section! {
    /// Who the skill is.
    Skill {
        /// Lower-case letters, digits, `-`, `_` and `.`; at most 64 characters.
        name: Required<Spanned<String>>,
        /// The skill's version, as text: "0.1.0".
        version: Required<Spanned<String>>,
        /// What the skill does, in a sentence.
        description: Option<Spanned<String>>,
    }
}

section! {
    /// What the skill may touch.
    Permissions {
        /// Which hosts it may reach. Left out: no network at all.
        network: Option<Network>,
        /// Which files it may read and write besides its own folder and its private directories.
        filesystem: Option<Filesystem>,
        /// Which environment variables it sees.
        env_vars: Option<EnvVars>,
        /// Which system calls it may make.
        syscalls: Option<Syscalls>,
        /// Which programs it may execute. Left out: any that the sandbox holds.
        commands: Option<Commands>,
    }
}

section! {
    /// Which hosts the skill may reach.
    Network {
        /// The destinations; none means no network at all.
        egress: Slots<Spanned<Egress>>,
        /// Who resolves names: `system` (default) or the address of a resolver.
        resolver: Option<Spanned<String>>,
    }
}

section! {
    /// One destination: a `domain` or a `cidr`.
    Egress {
        /// A host name, or `*.` and a name for everything below it (never the name itself).
        domain: Option<Spanned<String>>,
        /// A range of addresses, such as 10.1.0.0/16.
        cidr: Option<Spanned<String>>,
        /// The ports; [443] when left out.
        #[cfg_attr(feature = "schema", schemars(length(min = 1), inner(range(min = 1, max = 65535))))]
        ports: Option<Spanned<Vec<Option<Spanned<u64>>>>>,
        /// `tcp` (default), `https` (TLS with a matching server name), `http` (a matching Host) or `udp`.
        #[cfg_attr(feature = "schema", schemars(extend("enum" = ["tcp", "https", "http", "udp"])))]
        protocol: Option<Spanned<String>>,
    }
}

section! {
    /// Files and directories: absolute, below `~`, `${SKILL_DIR}` or `${WORKSPACE}`, or relative to the skill's folder.
    Filesystem {
        /// May be read.
        read: Slots<Spanned<String>>,
        /// May be read and written.
        write: Slots<Spanned<String>>,
        /// May not be touched, whatever is granted above it.
        forbidden: Slots<Spanned<String>>,
        /// Unix sockets that may be connected to. Without them no server of this machine is reached, whatever folder is granted.
        unix_sockets: Slots<Spanned<String>>,
    }
}

section! {
    /// Names of environment variables, each with at most one `*`.
    EnvVars {
        /// Passed on to the skill. `!NAME` is the same as `NAME` under `deny`.
        allow: Slots<Spanned<String>>,
        /// Never passed on; wins over `allow`.
        deny: Slots<Spanned<String>>,
    }
}

section! {
    /// Which system calls the skill may make.
    Syscalls {
        /// `default`, `strict` (no sockets, no new processes, no signals to others) or `permissive` (only reports).
        #[cfg_attr(feature = "schema", schemars(extend("enum" = ["default", "strict", "permissive"])))]
        profile: Option<Spanned<String>>,
    }
}

section! {
    /// Which programs the skill may execute.
    Commands {
        /// The programs: a name found through PATH, or a path.
        allow: Vec<Option<Spanned<String>>>,
        /// For a program, the first arguments (sub-commands) it may be given.
        allowed_args: Option<Table<Vec<Option<Spanned<String>>>>>,
        /// For a program, arguments that refuse the call, also as `--flag=value`.
        forbidden_args: Option<Table<Vec<Option<Spanned<String>>>>>,
    }
}

section! {
    /// How much the skill may use.
    Resources {
        /// Memory of all its processes together: MiB, or a size such as "512M". Default 256.
        memory_mb: Option<Spanned<Amount>>,
        /// Processor time in percent of one core. Default 100.
        max_cpu_percent: Option<Spanned<Amount>>,
        /// Processor time of all its processes together: seconds, or a time such as "5m". No limit unless one is declared.
        max_cpu_seconds: Option<Spanned<Amount>>,
        /// Processes and threads at one time. Default 64.
        #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
        max_processes: Option<Spanned<u64>>,
        /// Open files of one process. Default 256.
        #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
        max_open_files: Option<Spanned<u64>>,
        /// Its private directories, and the largest file: MiB, or a size such as "1G". Default 64.
        disk_mb: Option<Spanned<Amount>>,
        /// Seconds, or a time such as "5m". Default 30.
        max_runtime_seconds: Option<Spanned<Amount>>,
        /// What it may print: bytes, or a size such as "1M". Default 1 MiB.
        max_output_bytes: Option<Spanned<Amount>>,
    }
}

section! {
    /// One value the skill takes.
    Parameter {
        /// Its name: a letter, then letters, digits, `-` and `_`.
        name: Spanned<String>,
        /// `string`, `number`, `boolean`, `array`, `object`, or `path`: a file or folder of the caller's, which the run is granted.
        #[cfg_attr(feature = "schema", schemars(extend("enum" = ["string", "number", "boolean", "array", "object", "path"])))]
        kind = "type": Spanned<String>,
        /// What the run may do with a `path`: `read` (default) or `write`.
        #[cfg_attr(feature = "schema", schemars(extend("enum" = ["read", "write"])))]
        access: Option<Spanned<String>>,
        /// What it is for.
        description: Option<Spanned<String>>,
        /// Whether it must be given. Default false.
        required: Option<Spanned<bool>>,
        /// Whether its value may never appear in output, errors or traces. Default false.
        secret: Option<Spanned<bool>>,
        /// What it is when it is not given.
        default: Option<Spanned<Value>>,
        /// A regular expression the text must match (anywhere, unless it is anchored).
        pattern: Option<Spanned<String>>,
        /// Fewest characters (string) or items (array).
        min_length: Option<Spanned<u64>>,
        /// Most characters (string) or items (array).
        max_length: Option<Spanned<u64>>,
        /// Least number.
        min: Option<Spanned<f64>>,
        /// Greatest number.
        max: Option<Spanned<f64>>,
        /// The values there are.
        one_of = "enum": Option<Spanned<Vec<Option<Spanned<Value>>>>>,
    }
}

section! {
    /// How the skill is started.
    Entrypoint {
        /// The program: a name found through PATH, a path in the skill's folder (`./run.sh`), or an absolute path.
        command: Spanned<String>,
        /// Its arguments, passed as they are. No shell sees them.
        args: Slots<Spanned<String>>,
    }
}
