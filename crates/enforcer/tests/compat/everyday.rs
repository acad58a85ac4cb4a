//! Tools that scripts are made of.

use crate::case::Case;

#[test]
fn text_tools() {
    let expected =
        "awk 55\nsed HELLO world\nsort a b c\nuniq 2 x\njoin 1 a b\ndiff +two\ncolumn 2\nbase64 aGVsbG8=\n";
    let case = Case::script("bash", "text.sh", include_str!("scripts/text.sh"));
    case.needs(["awk", "sed", "sort", "diff", "base64"]).prints(expected);
}

#[test]
fn jq() {
    let case = Case::new("jq").file("in.json", r#"{"b": [1, 2], "a": 3}"#);
    case.args(["--compact-output", "[keys[], .b[] * 2]", "in.json"]).prints("[\"a\",\"b\",2,4]\n");
}

#[test]
fn archives() {
    for how in ["gzip", "bzip2", "xz", "zstd"] {
        let case = Case::script("sh", "archives.sh", include_str!("scripts/archives.sh")).args([how]);
        case.needs(["tar", how]).prints("same\nlisted 3\nmode 750\nlink kept\n");
    }
}

#[test]
fn find_and_xargs() {
    let text = "set -eu\nmkdir -p a/b 'with space'\ntouch a/1.txt a/b/2.txt 'with space/3.txt' a/4.log\n\
                find . -name '*.txt' -print0 | xargs -0 -n 1 -P 4 basename | sort\n\
                find a -type f -name '*.log' -exec basename {} \\;\n\
                find . -name '*.log' -delete\nfind . -type f -name '*.log' | wc -l\n";
    let case = Case::script("sh", "find.sh", text).needs(["find", "xargs"]);
    case.prints("1.txt\n2.txt\n3.txt\n4.log\n0\n");
}

#[test]
fn who_and_where_am_i() {
    let expected = "skill skill 1000\nskillsandbox\nhome 700 skill\ntmp 1777\nalone yes\nprocessors yes\ndate 1970-01-01\n\
                    disk yes\ntimeout 124\nlock held\nnohup ran\nmktemp yes\nnull 0\nzero 10\nrandom 16\nfull refused\n\
                    uptime yes\n";
    let case = Case::script("bash", "self.sh", include_str!("scripts/self.sh"));
    case.needs(["ps", "flock", "nohup", "timeout"]).prints(expected);
}

#[test]
fn perl_forks_and_listens() {
    let case = Case::script("perl", "work.pl", include_str!("scripts/work.pl"));
    case.prints("child 42\nsocket hello\nsorted 1 2 10\nregex 2024\nmodules 2cf24dba\nshell 6\nsystem 3\n");
}

#[test]
fn the_sqlite_command() {
    let text = "create table t(a, b);\n.mode csv\n.import data.csv t\n.mode list\n\
                select count(*), sum(b) from t;\nselect group_concat(a) from (select a from t order by a desc);\n";
    let case = Case::script(
        "sh",
        "sql.sh",
        "sqlite3 kept.db < script.sql\nsqlite3 kept.db 'pragma integrity_check'\n",
    );
    let case = case.needs(["sqlite3"]).file("script.sql", text).file("data.csv", "x,1\ny,2\nz,3\n");
    case.prints("3|6\nz,y,x\nok\n");
}

#[test]
fn ssh_keygen_makes_signs_and_verifies() {
    let text = "set -eu\nssh-keygen -q -t ed25519 -N '' -C skill@skill.test -f key\nstat -c %a key\n\
                echo text > file\nssh-keygen -q -Y sign -f key -n file file 2> sign.txt\n\
                echo \"skill@skill.test $(cat key.pub)\" > allowed\n\
                ssh-keygen -Y verify -f allowed -I skill@skill.test -n file -s file.sig < file | cut -d ' ' -f 1-2\n\
                ssh-keygen -l -f key | cut -d ' ' -f 1,3,4\n";
    let case = Case::script("sh", "keys.sh", text).needs(["ssh-keygen"]);
    case.prints("600\nGood \"file\"\n256 skill@skill.test (ED25519)\n");
}

/// It starts an agent, which listens on a socket in a folder of its own.
#[test]
fn gpg_makes_a_key_and_signs() {
    let text = "set -eu\nexport GNUPGHOME=/tmp/gnupg\nmkdir -m 700 /tmp/gnupg\n\
                gpg --batch --quiet --passphrase '' --quick-gen-key skill@skill.test ed25519 sign never 2> gen.txt\n\
                echo text > file\ngpg --batch --quiet --passphrase '' --detach-sign file\n\
                gpg --batch --quiet --verify file.sig file 2> verify.txt && echo verified\ngpgconf --kill all\n";
    Case::script("sh", "gpg.sh", text).needs(["gpg", "gpg-agent", "gpgconf"]).prints("verified\n");
}

#[test]
fn a_program_in_the_folder_for_temporary_files_runs() {
    let text = "set -eu\nprintf '#!/bin/sh\\necho \"from $0\"\\n' > /tmp/tool\nchmod +x /tmp/tool\n/tmp/tool\n\
                cp /tmp/tool \"$HOME/.local/bin/tool\"\n\"$HOME/.local/bin/tool\"\ncp /tmp/tool .\n./tool\n";
    Case::script("sh", "tools.sh", text)
        .prints("from /tmp/tool\nfrom /home/skill/.local/bin/tool\nfrom ./tool\n");
}

/// Whatever draws text asks for a font this way. Without its settings it finds another one, and complains.
#[test]
fn fonts_are_chosen_as_outside() {
    let outside = std::process::Command::new("fc-match").arg("sans").output();
    let expected = outside.map(|output| String::from_utf8(output.stdout).unwrap()).unwrap_or_default();
    Case::new("fc-match").args(["sans"]).prints(&expected);
}
