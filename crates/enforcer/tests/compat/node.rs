//! Node.

use crate::case::Case;

fn node(name: &str, text: &str, expected: &str) {
    Case::script("node", name, text).prints(expected);
}

#[test]
fn row_111_threads_of_node_run_under_the_default_profile() {
    let expected = "workers 4950\nshared 4000\ntransferred 1024\n";
    node("workers.js", include_str!("scripts/workers.js"), expected);
}

#[test]
fn child_processes() {
    let expected = "executed hello\nspawned HELLO\nforked 42\nsync 3\nended by SIGTERM\nshell 6\n";
    node("children.js", include_str!("scripts/children.js"), expected);
}

#[test]
fn files() {
    let expected = "read text\nstream 100000\nwatched rename\ntemporary true\ntree a/b/c.txt\nlink text\n\
                    gzip 100000\ngone ENOENT\n";
    node("files.js", include_str!("scripts/files.js"), expected);
}

#[test]
fn a_web_server_that_talks_to_itself() {
    let expected = "GET /hello\nPOST 11\nparallel 8\nnet echo\nudp ping\nlookup 127.0.0.1\n";
    node("web.js", include_str!("scripts/web.js"), expected);
}

#[test]
fn crypto_and_webassembly() {
    let expected =
        "sha256 2cf24dba\nscrypt 64\nsigned true\ncipher secret\nwebcrypto 32\nrandom 16\nwasm 5\n";
    node("crypto.js", include_str!("scripts/crypto.js"), expected);
}

#[test]
fn modules() {
    let main = "import { readFile } from 'node:fs/promises';\nimport answer from './answer.mjs';\n\
                const late = await import('./answer.mjs');\nconst own = await readFile(new URL(import.meta.url));\n\
                console.log(answer, late.default, own.length > 0);\n";
    let case = Case::script("node", "main.mjs", main).file("answer.mjs", "export default 42;\n");
    case.prints("42 42 true\n");
}

/// npm starts a shell, which starts node by name.
#[test]
fn npm_runs_a_script() {
    let package = r#"{"name": "x", "version": "1.0.0", "scripts": {"answer": "node -p 6*7"}}"#;
    let case = Case::new("npm").needs(["node", "sh"]).file("package.json", package);
    case.args(["run", "--silent", "answer"]).prints("42\n");
}
