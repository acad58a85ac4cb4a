//! Programs that are seen seldom, and have an option or a command that starts others.

use super::{CommandEscape, EscapeTrigger, ProgramFlags, holds};
use crate::words::CommandWords;

const LEAVE_OUT: &str = "leave the option out";

/// An entry for options that name a program, or a file of settings that does.
const fn option(
    name: &'static str,
    commands: &'static [&'static str],
    when: EscapeTrigger,
    matches: &'static [&'static str],
    not_matches: &'static [&'static str],
) -> CommandEscape {
    CommandEscape {
        name,
        commands,
        when,
        reason: "the option runs a program, or takes code or settings that do",
        instead: LEAVE_OUT,
        matches,
        not_matches,
    }
}

pub(super) const ENTRIES: &[CommandEscape] = &[
    CommandEscape {
        name: "rare/starter",
        commands: &[
            "aa-exec",
            "agetty",
            "ansible-test",
            "aoss",
            "apport-cli",
            "arch-nspawn",
            "bashbug",
            "bbot",
            "byebug",
            "cdist",
            "check_by_ssh",
            "choom",
            "genie",
            "grc",
            "gtester",
            "knife",
            "ksu",
            "logrotate",
            "lxd",
            "mosh-server",
            "msgfilter",
            "openvt",
            "pdb",
            "perlbug",
            "plymouth",
            "procmail",
            "rpmdb",
            "rpmquery",
            "rpmverify",
            "rsyslogd",
            "rtorrent",
            "run-mailcap",
            "runscript",
            "sash",
            "slsh",
            "socket",
            "sqlmap",
            "swaks",
            "torify",
            "volatility",
            "wireshark",
            "xdg-user-dir",
        ],
        when: EscapeTrigger::Always,
        reason: "it starts the program, the script or the settings it is given",
        instead: "call the program itself",
        matches: &["aa-exec id", "choom -n 0 id", "torify id", "run-mailcap x:f", "rpmquery --eval x"],
        not_matches: &[],
    },
    CommandEscape {
        name: "rare/console",
        commands: &[
            "asterisk",
            "bconsole",
            "debugfs",
            "fail2ban-client",
            "ftp",
            "ginsh",
            "hping3",
            "iftop",
            "jtag",
            "kshell",
            "lftp",
            "minicom",
            "msfconsole",
            "ncftp",
            "psftp",
            "scanmem",
            "tasksh",
            "tdbtool",
            "vigr",
            "zathura",
        ],
        when: EscapeTrigger::Always,
        reason: "its own commands start a shell, and it waits for a person",
        instead: "use a client that takes everything as arguments",
        matches: &["lftp -c '!id'", "debugfs -R '!id' x", "ftp", "psftp"],
        not_matches: &[],
    },
    CommandEscape {
        name: "rare/machine",
        commands: &["dnsmasq", "halt", "mount", "poweroff", "reboot", "shutdown", "umount"],
        when: EscapeTrigger::Always,
        reason: "it changes the machine, not the project",
        instead: "let the embedder do this",
        matches: &["mount -o bind a b", "shutdown now", "dnsmasq --dhcp-script=id"],
        not_matches: &[],
    },
    CommandEscape {
        name: "agent/any",
        commands: &["aider", "claude", "codex", "gemini", "goose", "opencode"],
        when: EscapeTrigger::Always,
        reason: "it runs the commands that a model writes",
        instead: "let the embedder start agents",
        matches: &["codex sandbox linux id", "opencode run x", "claude -p x"],
        not_matches: &[],
    },
    CommandEscape {
        name: "pager/compressed",
        commands: &["bzless", "bzmore", "lzless", "xzless", "zless", "zmore", "zstdless"],
        when: EscapeTrigger::Always,
        reason: "a pager runs commands that are typed, and waits for a person",
        instead: "use zcat and the like",
        matches: &["zless f", "bzless f"],
        not_matches: &[],
    },
    CommandEscape {
        name: "systemd/pager",
        commands: &["journalctl", "loginctl", "timedatectl", "resolvectl", "systemd-resolve", "hostnamectl"],
        when: EscapeTrigger::Judge(|words| {
            let plain = words.arguments().any(|(_, word)| word == b"--no-pager" || word == b"--version");
            (!plain).then_some(0)
        }),
        reason: "on a terminal it opens a pager, which runs commands that are typed",
        instead: "add --no-pager",
        matches: &["journalctl", "journalctl -u app", "timedatectl list-timezones"],
        not_matches: &["journalctl --no-pager -u app", "loginctl --version"],
    },
    option(
        "prove/program",
        &["prove"],
        ProgramFlags::both(
            &["--exec", "--rc", "--plugin", "--harness", "--formatter", "--source"],
            "eP",
            "aIj",
        ),
        &["prove -e id t", "prove -ve id t", "prove --exec=id t", "prove -PX t"],
        &["prove -l t", "prove -Ilib -r t", "prove --recurse t"],
    ),
    option(
        "perldoc/program",
        &["perldoc"],
        ProgramFlags::both(&[], "nMwoL", "fqavId"),
        &["perldoc -n id perl", "perldoc -Tn id perl", "perldoc -MX perl", "perldoc -w nroffer:id perl"],
        &["perldoc -T perlfunc", "perldoc -f open"],
    ),
    option(
        "procfile/run",
        &["foreman", "forego", "honcho", "overmind", "hivemind"],
        EscapeTrigger::Word(&["r", "ru", "run", "exec", "connect"]),
        &["foreman run id", "foreman -e .env run id", "honcho run id"],
        &["foreman start", "foreman check"],
    ),
    option(
        "java-tool/code",
        &[
            "jar",
            "jarsigner",
            "javac",
            "javadoc",
            "javap",
            "jcmd",
            "jdeps",
            "jlink",
            "jmod",
            "jpackage",
            "keytool",
            "serialver",
        ],
        EscapeTrigger::Judge(|words| {
            let signs: &[&[u8]] =
                &[b"-J", b"@", b"-doclet", b"-taglet", b"--doclet", b"--taglet", b"-provider"];
            let is_code = |word: &[u8]| signs.iter().any(|sign| word.starts_with(sign));
            words.arguments().find(|(_, word)| is_code(word)).map(|(index, _)| index)
        }),
        &[
            "javac -J-javaagent:x.jar A.java",
            "jar -J-XX:OnError=id tf a",
            "javadoc -doclet X A.java",
            "keytool -providerpath x -list",
        ],
        &["javac -d out A.java", "jar tf a.jar", "javadoc A.java"],
    ),
    option(
        "dmesg/pager",
        &["dmesg"],
        ProgramFlags::both(&["--human"], "H", "flnFs"),
        &["dmesg -H", "dmesg --human"],
        &["dmesg -T", "dmesg -l err"],
    ),
    option(
        "xml/files",
        &["xmllint", "xsltproc"],
        EscapeTrigger::Judge(xml_files),
        &[
            "xmllint --noent f.xml",
            "xmllint -noent f.xml",
            "xmllint --format --noent f.xml",
            "xmllint --shell f.xml",
            "xmllint --xinclude f.xml",
            "xmllint --valid f.xml",
            "xmllint --loaddtd f.xml",
            "xmllint --path sub f.xml",
            "xsltproc --xinclude x.xsl f.xml",
        ],
        &["xmllint --noout f.xml", "xmllint --format f.xml", "xsltproc x.xsl f.xml"],
    ),
    option(
        "aspell/settings",
        &["aspell"],
        ProgramFlags::long(&["--conf", "--conf-dir", "--home-dir", "--per-conf"]),
        &["aspell --conf=x list", "aspell --conf-dir x list"],
        &["aspell list", "aspell --lang=en list"],
    ),
    option(
        "certbot/hook",
        &["certbot"],
        ProgramFlags::both(
            &[
                "--pre-hook",
                "--post-hook",
                "--deploy-hook",
                "--renew-hook",
                "--manual-auth-hook",
                "--manual-cleanup-hook",
                "--config",
                "--config-dir",
            ],
            "c",
            "dm",
        ),
        &["certbot renew --deploy-hook=id", "certbot certonly --pre-hook id", "certbot -c x"],
        &["certbot certificates", "certbot renew --dry-run"],
    ),
    option(
        "check-ssl-cert/program",
        &["check_ssl_cert"],
        ProgramFlags::long(&[
            "--grep-bin",
            "--curl-bin",
            "--file-bin",
            "--nmap-bin",
            "--dig-bin",
            "--date-bin",
            "--openssl",
        ]),
        &["check_ssl_cert --grep-bin id -H x", "check_ssl_cert --curl-bin=id -H x"],
        &["check_ssl_cert -H x"],
    ),
    option(
        "clisp/expression",
        &["clisp"],
        ProgramFlags::both(&[], "x", "K"),
        &["clisp -x '(x)'", "clisp -qx '(x)'"],
        &["clisp main.lisp"],
    ),
    option(
        "cobc/run",
        &["cobc"],
        ProgramFlags::both(&["--job"], "j", "oIL"),
        &["cobc -xj a.cob", "cobc -xFj a.cob", "cobc --job a.cob"],
        &["cobc -x a.cob"],
    ),
    option(
        "cowsay/file",
        &["cowsay", "cowthink"],
        ProgramFlags::both(&[], "f", "eTW"),
        &["cowsay -f x moo", "cowthink -f x moo"],
        &["cowsay moo", "cowsay -e oo moo"],
    ),
    option(
        "csvtool/call",
        &["csvtool"],
        EscapeTrigger::Word(&["call"]),
        &["csvtool call id f.csv"],
        &["csvtool col 1 f.csv"],
    ),
    option(
        "bee/eval",
        &["bee", "drush"],
        EscapeTrigger::Subcommand(&[
            "eval",
            "ev",
            "php",
            "php-eval",
            "php-script",
            "scr",
            "php:eval",
            "php:script",
        ]),
        &["bee eval x", "drush php:eval x"],
        &["drush status"],
    ),
    option(
        "dmsetup/exec",
        &["dmsetup"],
        ProgramFlags::long(&["--exec"]),
        &["dmsetup ls --exec id"],
        &["dmsetup ls"],
    ),
    option(
        "dstat/plugin",
        &["dstat"],
        EscapeTrigger::Judge(|words| {
            let known: &[&[u8]] = &[
                b"--cpu",
                b"--disk",
                b"--io",
                b"--load",
                b"--mem",
                b"--net",
                b"--nocolor",
                b"--output",
                b"--page",
                b"--proc",
                b"--swap",
                b"--sys",
                b"--time",
                b"--version",
                b"--help",
            ];
            words
                .arguments()
                .find(|(_, word)| word.starts_with(b"--") && !known.contains(word))
                .map(|(index, _)| index)
        }),
        &["dstat --x"],
        &["dstat -cdn 1 3", "dstat --cpu 1 3"],
    ),
    option(
        "dvips/shell",
        &["dvips"],
        ProgramFlags::both(&[], "R", "oPtpl"),
        &["dvips -R0 x.dvi"],
        &["dvips x.dvi"],
    ),
    option(
        "easyrsa/settings",
        &["easyrsa"],
        ProgramFlags::long(&["--vars", "--pki-dir", "--ssl-conf"]),
        &["easyrsa --vars=x init-pki"],
        &["easyrsa init-pki"],
    ),
    option(
        "eb/pager",
        &["eb"],
        EscapeTrigger::Subcommand(&["logs", "ssh", "console", "config"]),
        &["eb logs", "eb ssh"],
        &["eb status"],
    ),
    option(
        "enscript/filter",
        &["enscript"],
        ProgramFlags::both(&["--filter", "--pretty-print", "--style"], "I", "opPfFbMn"),
        &["enscript -qI id f", "enscript --filter=id f"],
        &["enscript -o out f"],
    ),
    option(
        "exiftool/code",
        &["exiftool"],
        EscapeTrigger::Judge(|words| {
            let signs: &[&[u8]] =
                &[b"-if", b"-config", b"-execute", b"-stay_open", b"-@", b"-userparam", b"-p"];
            let is_code = |word: &[u8]| {
                let word = word.to_ascii_lowercase();
                signs.iter().any(|sign| word == *sign) || word.starts_with(b"-if") || holds(&word, b"${")
            };
            words.arguments().find(|(_, word)| is_code(word)).map(|(index, _)| index)
        }),
        &["exiftool -if 'system(\"id\")' f", "exiftool -config x f", "exiftool -@ x", "exiftool -if4 x f"],
        &["exiftool f.jpg", "exiftool -Artist f.jpg"],
    ),
    option(
        "facter/code",
        &["facter"],
        ProgramFlags::both(&["--custom-dir", "--external-dir", "--config"], "c", ""),
        &["facter --custom-dir=d x"],
        &["facter os"],
    ),
    option(
        "fetch/settings",
        &["fastfetch", "neofetch"],
        ProgramFlags::both(&["--config", "--load-config", "--gen-config"], "c", ""),
        &["fastfetch -c x", "neofetch --config x"],
        &["fastfetch", "neofetch --off"],
    ),
    option(
        "forge/program",
        &["forge"],
        ProgramFlags::long(&["--use", "--ffi"]),
        &["forge build --use id", "forge test --ffi"],
        &["forge build"],
    ),
    option(
        "gimp/batch",
        &["gimp"],
        ProgramFlags::both(&["--batch", "--batch-interpreter", "--gimprc", "--system-gimprc"], "b", ""),
        &["gimp -ib x", "gimp --batch=x"],
        &["gimp --version"],
    ),
    option(
        "roff/unsafe",
        &["pic", "eqn", "tbl", "grog"],
        ProgramFlags::both(&[], "U", "fFmMTdrnowW"),
        &["pic -U f", "eqn -U f"],
        &["pic f", "tbl f"],
    ),
    option(
        "ispell/console",
        &["ispell"],
        EscapeTrigger::Judge(|words| {
            let plain = words.arguments().any(|(_, word)| word == b"-l" || word == b"-a");
            (!plain).then_some(0)
        }),
        &["ispell f"],
        &["ispell -l", "ispell -a f"],
    ),
    option(
        "binutils/plugin",
        &["nm", "ar", "ranlib", "objdump", "size", "strip", "objcopy"],
        ProgramFlags::long(&["--plugin"]),
        &["nm --plugin x.so f", "ar --plugin=x.so t a"],
        &["nm f.o", "objdump -d f.o"],
    ),
    option(
        "pidstat/program",
        &["pidstat"],
        ProgramFlags::both(&[], "e", "pTUC"),
        &["pidstat -e id"],
        &["pidstat 1 3"],
    ),
    option(
        "pygmentize/code",
        &["pygmentize"],
        ProgramFlags::both(&[], "x", "lfOoPFSa"),
        &["pygmentize -x -l a.py f"],
        &["pygmentize -l rust f.rs"],
    ),
    option(
        "restic/program",
        &["restic"],
        ProgramFlags::both(&["--password-command", "--option"], "o", "r"),
        &["restic -r x --password-command=id ls", "restic -o sftp.command=id ls"],
        &["restic -r repo snapshots"],
    ),
    option(
        "rustdoc/program",
        &["rustdoc"],
        EscapeTrigger::Flags(ProgramFlags::new(
            &["--test-runtool", "--runtool", "--test-builder", "--test-builder-wrapper"],
            &["--test"],
            "Z",
            "oLC",
        )),
        &["rustdoc --test --test-runtool=id a.rs"],
        &["rustdoc --test a.rs"],
    ),
    option(
        "scrot/program",
        &["scrot"],
        ProgramFlags::both(&["--exec"], "e", "dqF"),
        &["scrot -e id", "scrot --exec=id"],
        &["scrot out.png"],
    ),
    option(
        "sftp/console",
        &["sftp"],
        EscapeTrigger::Judge(|words| {
            let names_file =
                words.arguments().any(|(_, word)| word.first() != Some(&b'-') && word.contains(&b':'));
            (!names_file).then_some(0)
        }),
        &["sftp h.test"],
        &["sftp h.test:a.txt ."],
    ),
    option(
        "smbclient/shell",
        &["smbclient"],
        EscapeTrigger::Judge(|words| {
            if let Some((index, _)) = words.arguments().find(|(_, word)| word.contains(&b'!')) {
                return Some(index);
            }
            let plain =
                words.arguments().any(|(_, word)| matches!(word, b"-c" | b"--command" | b"-L" | b"--list"));
            (!plain).then_some(0)
        }),
        &["smbclient -c '!id' x", "smbclient x"],
        &["smbclient -c ls x", "smbclient -L h.test"],
    ),
    option(
        "sshfs/program",
        &["sshfs"],
        EscapeTrigger::Judge(|words| {
            let signs: &[&[u8]] = &[
                b"ssh_command",
                b"proxycommand",
                b"localcommand",
                b"knownhostscommand",
                b"sftp_server",
                b"-F",
            ];
            let is_program = |word: &[u8]| signs.iter().any(|sign| holds(word, sign));
            words.arguments().find(|(_, word)| is_program(word)).map(|(index, _)| index)
        }),
        &["sshfs -o ssh_command=id h: d", "sshfs -oProxyCommand=id h: d"],
        &["sshfs -o ro h.test: d"],
    ),
    option(
        "sysctl/program",
        &["sysctl"],
        EscapeTrigger::Judge(|words| {
            let signs: &[&[u8]] =
                &[b"core_pattern", b"modprobe", b"poweroff_cmd", b"hotplug", b"--system", b"--load", b"-p"];
            let is_program = |word: &[u8]| signs.iter().any(|sign| holds(word, sign));
            words.arguments().find(|(_, word)| is_program(word)).map(|(index, _)| index)
        }),
        &["sysctl kernel.core_pattern='|id'", "sysctl -p x"],
        &["sysctl net.ipv4.ip_forward"],
    ),
    option(
        "tailscale/ssh",
        &["tailscale"],
        EscapeTrigger::Subcommand(&["ssh", "nc", "serve", "funnel", "web", "up", "set"]),
        &["tailscale ssh h id"],
        &["tailscale status"],
    ),
    option(
        "xdotool/exec",
        &["xdotool"],
        EscapeTrigger::Word(&["exec", "-"]),
        &["xdotool exec --sync id"],
        &["xdotool getmouselocation"],
    ),
    option(
        "rails/code",
        &["rails"],
        EscapeTrigger::Subcommand(&["runner", "r", "console", "c", "dbconsole", "db", "new", "plugin"]),
        &["rails runner x", "rails console", "rails dbconsole", "rails new x -m y"],
        &["rails db:migrate", "rails test", "rails routes"],
    ),
    option(
        "sql/pager",
        &["mysql", "mariadb", "psql"],
        EscapeTrigger::Judge(|words| {
            let flags = ProgramFlags::new(
                &["--pager", "--plugin-dir", "--default-auth", "--tee"],
                &["--p", "--t"],
                "",
                "",
            );
            let is_program =
                |word: &[u8]| flags.has(word) || holds(word, b"pager=") || holds(word, b"\\setenv");
            words.arguments().find(|(_, word)| is_program(word)).map(|(index, _)| index)
        }),
        &[
            "mysql --pager=id",
            "psql --pset=pager=id",
            "mysql --plugin-dir=. --default-auth=x",
            "psql -P pager=id",
        ],
        &["psql -c 'select 1'", "mysql -e 'select 1'", "psql --pset=format=csv -c 'select 1'"],
    ),
];

/// Options with one dash or two that make it load what a document names: other files, and addresses.
fn xml_files(words: &CommandWords) -> Option<usize> {
    let signs: &[&[u8]] = &[
        b"catalogs",
        b"dtdattr",
        b"dtdvalid",
        b"dtdvalidfpi",
        b"load-trace",
        b"loaddtd",
        b"noent",
        b"path",
        b"postvalid",
        b"shell",
        b"valid",
        b"writesubtree",
        b"xinclude",
        b"noxincludenode",
        b"nofixup-base-uris",
    ];
    let is_one = |word: &[u8]| {
        let name = word.strip_prefix(b"--").or_else(|| word.strip_prefix(b"-"));
        name.is_some_and(|name| signs.contains(&name.split(|byte| *byte == b'=').next().unwrap_or_default()))
    };
    words.arguments().find(|(_, word)| is_one(word)).map(|(index, _)| index)
}
