//! System calls, commands and names of hosts that mean something, as data.

use crate::format::trace::AttackClass::{
    self, CredentialHarvesting, Persistence, PrivilegeEscalation, RemoteExecution, ResourceAbuse,
    SandboxEscape,
};
use crate::format::trace::AttackSeverity::{self, High, Medium};

/// System calls that no ordinary program makes, and that the profile refuses.
#[derive(Debug)]
pub(super) struct SyscallRule {
    pub(super) class: AttackClass,
    pub(super) severity: AttackSeverity,
    pub(super) says: &'static str,
    pub(super) techniques: &'static [&'static str],
    pub(super) names: &'static [&'static str],
    /// What the reason must mention, where the name alone says too little.
    pub(super) because: &'static str,
}

const fn call(
    class: AttackClass,
    severity: AttackSeverity,
    says: &'static str,
    techniques: &'static [&'static str],
    names: &'static [&'static str],
) -> SyscallRule {
    SyscallRule { class, severity, says, techniques, names, because: "" }
}

/// What is refused and not here is tried by ordinary programs as a matter of course: `clone3`, `openat2`, `io_uring_setup`,
/// `keyctl`, `get_mempolicy`, `perf_event_open`, sockets of other families, ...
pub(super) const CALLS: &[SyscallRule] = &[
    call(
        SandboxEscape,
        High,
        "mounting",
        &["T1611"],
        &[
            "mount",
            "umount",
            "umount2",
            "pivot_root",
            "move_mount",
            "open_tree",
            "open_tree_attr",
            "mount_setattr",
            "fsopen",
            "fsmount",
            "fsconfig",
            "fspick",
        ],
    ),
    call(SandboxEscape, High, "entering other namespaces", &["T1611"], &["setns"]),
    call(SandboxEscape, Medium, "making namespaces", &["T1611"], &["unshare", "clone"]),
    call(SandboxEscape, Medium, "changing the root", &["T1611"], &["chroot"]),
    call(SandboxEscape, High, "opening files by handle", &["T1611"], &["open_by_handle_at"]),
    call(
        SandboxEscape,
        Medium,
        "other processes",
        &["T1055.008", "T1611"],
        &["ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd"],
    ),
    call(
        SandboxEscape,
        High,
        "code in the kernel",
        &["T1547.006", "T1611"],
        &[
            "bpf",
            "init_module",
            "finit_module",
            "delete_module",
            "create_module",
            "kexec_load",
            "kexec_file_load",
        ],
    ),
    call(
        SandboxEscape,
        Medium,
        "what exploits of the kernel rest on",
        &["T1068", "T1611"],
        &["userfaultfd", "modify_ldt"],
    ),
    call(SandboxEscape, High, "ports of the machine", &["T1611"], &["iopl", "ioperm"]),
    call(SandboxEscape, Medium, "devices", &["T1611"], &["mknod", "mknodat"]),
    SyscallRule {
        because: "TIOCSTI",
        ..call(SandboxEscape, Medium, "typing into the terminal", &["T1611"], &["ioctl"])
    },
    call(
        SandboxEscape,
        Medium,
        "watching the whole file system",
        &["T1611"],
        &["fanotify_init", "fanotify_mark"],
    ),
    call(
        PrivilegeEscalation,
        Medium,
        "set-user-id programs",
        &["T1548.001"],
        &["chmod", "fchmod", "fchmodat", "fchmodat2"],
    ),
    call(ResourceAbuse, High, "restarting the machine", &["T1529"], &["reboot"]),
];

/// A program that is executed.
#[derive(Debug)]
pub(super) struct ProgramRule {
    pub(super) class: AttackClass,
    pub(super) severity: AttackSeverity,
    pub(super) says: &'static str,
    pub(super) techniques: &'static [&'static str],
    pub(super) programs: &'static [&'static str],
    /// One of these groups of words must be among the arguments, each word in one of them; any arguments where this is empty.
    pub(super) with: &'static [&'static [&'static str]],
    /// None of these may be an argument.
    pub(super) without: &'static [&'static str],
}

const fn command(
    class: AttackClass,
    severity: AttackSeverity,
    says: &'static str,
    techniques: &'static [&'static str],
    programs: &'static [&'static str],
    with: &'static [&'static [&'static str]],
) -> ProgramRule {
    ProgramRule { class, severity, says, techniques, programs, with, without: &[] }
}

pub(super) const COMMANDS: &[ProgramRule] = &[
    command(
        PrivilegeEscalation,
        Medium,
        "sudo",
        &["T1548.003"],
        &["sudo", "sudoedit", "doas", "visudo"],
        &[],
    ),
    command(
        PrivilegeEscalation,
        Medium,
        "programs that change the user",
        &["T1548.001"],
        &["su", "pkexec", "runuser", "newgrp", "newuidmap", "newgidmap"],
        &[],
    ),
    command(
        PrivilegeEscalation,
        Medium,
        "set-user-id programs",
        &["T1548.001"],
        &["chmod"],
        &[
            &["+s"],
            &["u+s"],
            &["g+s"],
            &["4755"],
            &["4777"],
            &["4711"],
            &["4555"],
            &["2755"],
            &["6755"],
            &["04755"],
            &["06755"],
        ],
    ),
    command(PrivilegeEscalation, Medium, "capabilities for programs", &["T1548.001"], &["setcap"], &[]),
    ProgramRule {
        without: &["-l", "--help", "-V"],
        ..command(Persistence, High, "scheduled tasks", &["T1053.003"], &["crontab"], &[])
    },
    command(Persistence, High, "tasks for later", &["T1053.002"], &["at", "batch"], &[]),
    command(
        Persistence,
        High,
        "services of systemd",
        &["T1543.002"],
        &["systemctl", "systemd-run"],
        &[&["enable"], &["link"], &["--user", "start"], &["--on-calendar"], &["--on-boot"]],
    ),
    command(
        CredentialHarvesting,
        Medium,
        "commands that print credentials",
        &["T1552", "AML.T0055"],
        &["gh"],
        &[&["auth", "token"]],
    ),
    command(
        CredentialHarvesting,
        Medium,
        "commands that print credentials",
        &["T1552", "AML.T0055"],
        &["aws"],
        &[
            &["export-credentials"],
            &["configure", "get", "aws_secret"],
            &["configure", "get", "session_token"],
        ],
    ),
    command(
        CredentialHarvesting,
        Medium,
        "commands that print credentials",
        &["T1552", "AML.T0055"],
        &["gcloud"],
        &[&["print-access-token"], &["print-identity-token"]],
    ),
    command(
        CredentialHarvesting,
        Medium,
        "commands that print credentials",
        &["T1552", "AML.T0055"],
        &["az"],
        &[&["get-access-token"]],
    ),
    command(
        CredentialHarvesting,
        Medium,
        "commands that print credentials",
        &["T1552", "AML.T0055"],
        &["kubectl"],
        &[&["config", "view", "--raw"], &["get", "secret"]],
    ),
    command(
        CredentialHarvesting,
        Medium,
        "commands that print credentials",
        &["T1552", "AML.T0055"],
        &["git"],
        &[&["credential", "fill"]],
    ),
    command(
        CredentialHarvesting,
        Medium,
        "commands that print private keys",
        &["T1552.004"],
        &["gpg", "gpg2"],
        &[&["--export-secret"]],
    ),
    command(
        CredentialHarvesting,
        Medium,
        "key rings of the desktop",
        &["T1555"],
        &["secret-tool"],
        &[&["lookup"], &["search"]],
    ),
    command(
        CredentialHarvesting,
        Medium,
        "password managers",
        &["T1555.005"],
        &["pass", "op", "bw", "lpass"],
        &[&["show"], &["read"], &["get"], &["export"]],
    ),
    command(
        RemoteExecution,
        High,
        "a shell for a remote user",
        &["T1059.004", "T1095", "AML.T0050"],
        &["nc", "ncat", "netcat", "nc.openbsd", "nc.traditional"],
        &[&["-e"], &["-c", "sh"], &["--exec"], &["--sh-exec"], &["-ne"], &["-nve"], &["-lvpe"]],
    ),
    command(
        RemoteExecution,
        High,
        "a shell for a remote user",
        &["T1059.004", "T1095", "AML.T0050"],
        &["socat"],
        &[&["exec:"], &["EXEC:"], &["system:"], &["SYSTEM:"]],
    ),
    command(
        RemoteExecution,
        High,
        "a shell for a remote user",
        &["T1059.004", "T1095", "AML.T0050"],
        SHELLS,
        &[
            &["/dev/tcp/", "0>&1"],
            &["/dev/tcp/", "<&"],
            &["/dev/udp/", "0>&1"],
            &["mkfifo", "nc ", "sh"],
            &["mkfifo", "ncat ", "sh"],
            &["mkfifo", "telnet ", "sh"],
            &["mkfifo", "s_client", "sh"],
        ],
    ),
    command(
        RemoteExecution,
        High,
        "a shell for a remote user",
        &["T1059.004", "T1095", "AML.T0050"],
        INTERPRETERS,
        &[
            &["socket", "pty.spawn"],
            &["socket", "dup2", "/bin/"],
            &["socket", "dup2", "sh"],
            &["fsockopen", "/bin/"],
            &["fsockopen", "sh -i"],
            &["ocket", "sh -i"],
            &["ocket", "bash -i"],
            &["socket", "'sh','-i'"],
            &["socket", "\"sh\",\"-i\""],
            &["socket", "/bin/sh\",\"-i"],
            &["socket", "/bin/sh','-i"],
            &["net.Socket", "/bin/"],
        ],
    ),
    command(
        RemoteExecution,
        High,
        "a shell for a remote user",
        &["T1059.004", "T1095", "AML.T0050"],
        &["awk", "gawk", "mawk"],
        &[&["/inet/tcp/", "|&", "getline"]],
    ),
    command(SandboxEscape, High, "entering other namespaces", &["T1611"], &["nsenter"], &[]),
    command(
        SandboxEscape,
        High,
        "modules of the kernel",
        &["T1547.006", "T1611"],
        &["insmod", "modprobe", "rmmod", "kexec"],
        &[],
    ),
    command(
        SandboxEscape,
        High,
        "containers with the machine's files",
        &["T1611"],
        &["docker", "podman", "nerdctl"],
        &[&["--privileged"], &["--pid=host"], &["-v", "/:/"], &["--volume=/:/"]],
    ),
    command(
        ResourceAbuse,
        High,
        "programs that mine",
        &["T1496"],
        &[
            "xmrig",
            "minerd",
            "cpuminer",
            "ccminer",
            "cgminer",
            "bfgminer",
            "ethminer",
            "nbminer",
            "lolMiner",
            "t-rex",
            "phoenixminer",
            "xmr-stak",
            "srbminer",
            "teamredminer",
            "kdevtmpfsi",
            "nanominer",
        ],
        &[],
    ),
];

pub(super) const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish"];
pub(super) const INTERPRETERS: &[&str] =
    &["python", "python2", "python3", "perl", "ruby", "node", "nodejs", "php", "lua", "deno", "bun"];
/// Programs that fetch.
pub(super) const FETCHERS: &[&str] = &["curl", "wget", "fetch", "aria2c", "lwp-download", "http", "xh"];

/// How arguments of miners begin, with something behind.
pub(super) const MINING_WORDS: &[&str] =
    &["stratum+tcp://", "stratum+ssl://", "stratum+tls://", "--donate-level="];

/// Parts of names of pools, in which many mine together.
pub(super) const POOLS: &[&str] = &[
    "2miners",
    "c3pool",
    "ethermine",
    "f2pool",
    "hashvault",
    "herominers",
    "kryptex",
    "minergate",
    "minexmr",
    "moneroocean",
    "nanopool",
    "nicehash",
    "slushpool",
    "stratum",
    "supportxmr",
    "unmineable",
    "viabtc",
    "woolypooly",
    "xmrpool",
    "zpool.ca",
];

/// Words and ports that mean a pool together.
pub(super) const POOL_WORDS: &[&str] = &["pool", "mine", "mining", "xmr", "eth", "btc"];
pub(super) const POOL_PORTS: &[u16] =
    &[3333, 3334, 4444, 5555, 6666, 7777, 8888, 9999, 14433, 14444, 45560, 45700];

/// Services that take what they are sent from anybody, and show it to anybody who knows where: names and all below.
pub(super) const DROPS: &[&str] = &[
    "0x0.st",
    "anonfiles.com",
    "bashupload.com",
    "burpcollaborator.net",
    "canarytokens.com",
    "dnslog.cn",
    "file.io",
    "ghostbin.com",
    "gofile.io",
    "hastebin.com",
    "hookbin.com",
    "interact.sh",
    "ngrok-free.app",
    "ngrok.app",
    "ngrok.io",
    "oast.fun",
    "oast.live",
    "oast.me",
    "oast.online",
    "oast.pro",
    "oast.site",
    "oastify.com",
    "paste.ee",
    "pastebin.com",
    "pipedream.net",
    "rentry.co",
    "requestbin.com",
    "requestbin.net",
    "requestcatcher.com",
    "serveo.net",
    "temp.sh",
    "termbin.com",
    "transfer.sh",
    "trycloudflare.com",
    "webhook.site",
];

/// Where a machine in a cloud gets its credentials, by name and by address.
pub(super) const METADATA: &[&str] = &[
    "100.100.100.200",
    "169.254.169.254",
    "169.254.170.2",
    "169.254.170.23",
    "fd00:ec2::23",
    "fd00:ec2::254",
    "metadata",
    "metadata.azure.com",
    "metadata.azure.internal",
    "metadata.goog",
    "metadata.google.internal",
];

/// Commands that look at the machine. One is nothing: scripts of every kind ask for the user or the kernel.
pub(super) const RECON: &[(&str, &str)] = &[
    ("arp", "T1016"),
    ("dmidecode", "T1082"),
    ("getent", "T1087.001"),
    ("ifconfig", "T1016"),
    ("ip", "T1016"),
    ("last", "T1033"),
    ("lastlog", "T1033"),
    ("lsblk", "T1082"),
    ("lscpu", "T1082"),
    ("lshw", "T1082"),
    ("lsof", "T1057"),
    ("lspci", "T1082"),
    ("netstat", "T1016"),
    ("nmap", "T1046"),
    ("ps", "T1057"),
    ("route", "T1016"),
    ("ss", "T1016"),
    ("w", "T1033"),
    ("who", "T1033"),
    ("whoami", "T1033"),
];
