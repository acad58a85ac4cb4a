//! Languages that skills are written in less often.

use crate::case::Case;

#[test]
fn ruby() {
    let text = "require 'socket'\nserver = TCPServer.new('127.0.0.1', 0)\nthread = Thread.new { server.accept.puts 'hello' }\n\
                puts TCPSocket.new('127.0.0.1', server.addr[1]).gets\nthread.join\nputs `echo child`\n\
                pid = fork { exit 3 }\nProcess.wait pid\nputs $?.exitstatus\n";
    Case::script("ruby", "work.rb", text).prints("hello\nchild\n3\n");
}

#[test]
fn php() {
    let text =
        "<?php echo json_encode([1, 2]), trim(shell_exec('echo child')), strlen(random_bytes(8)), \"\\n\";\n";
    Case::script("php", "work.php", text).prints("[1,2]child8\n");
}

#[test]
fn lua() {
    let text = "print(#'hello', io.popen('echo child'):read())\n";
    for program in ["lua5.4", "lua"] {
        Case::script(program, "work.lua", text).prints("5\tchild\n");
    }
}

#[test]
fn rsync_copies_a_tree() {
    let text = "set -eu\nmkdir -p a/b\necho text > a/b/c\nrsync --archive a/ copy/\ncat copy/b/c\n";
    Case::script("sh", "sync.sh", text).needs(["rsync"]).prints("text\n");
}
