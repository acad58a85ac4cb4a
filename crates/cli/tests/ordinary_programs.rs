//! Ordinary programs, run for real with the grants that a person would give them: none is accused of anything, and nothing that they do without
//! is listed as prevented.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod sandboxed;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::PathBuf;

use sandboxed::{Stage, folder_outside_tmp, text};
use serde_json::Value;
use skillsandbox_test_support::missing;

/// What a person grants: nothing, the folder to read, or to change.
#[derive(Clone, Copy)]
enum Grant {
    Nothing,
    Read,
    Write,
}

use Grant::{Nothing, Read, Write};

/// Programs that every machine has that runs this suite, or that its set-up installs; each as a person would call it.
const ALWAYS: &[(Grant, &[&str])] = &[
    (Read, &["python3", "imports.py"]),
    (Read, &["python3", "-c", "import package; print(package.value)"]),
    (Read, &["python3", "-m", "json.tool", "a.json"]),
    (Nothing, &["python3", "-c", "import multiprocessing as m; print(m.Pool(2).map(abs, [1, -2]))"]),
    (
        Nothing,
        &[
            "python3",
            "-c",
            "import platform, os, locale; print(platform.platform(), os.cpu_count(), locale.getlocale())",
        ],
    ),
    (Write, &["python3", "-m", "venv", "--without-pip", "venv"]),
    (Write, &["python3", "-c", "import sqlite3; sqlite3.connect('x.db').execute('create table t (x)')"]),
    (Nothing, &["bash", "-c", "echo $((1 + 2)) | tr 3 4"]),
    (Nothing, &["bash", "-lc", "echo a login shell"]),
    (Nothing, &["bash", "-ic", "echo an interactive shell"]),
    (Read, &["sh", "pipeline.sh"]),
    (Read, &["awk", "-F,", "{ print $2 }", "a.csv"]),
    (Write, &["sed", "-i", "s/hello/bye/", "to-edit.txt"]),
    (Read, &["grep", "-r", "hello", "."]),
    (Read, &["find", ".", "-name", "*.txt", "-newer", "a.json"]),
    (Read, &["xargs", "-a", "a.txt", "echo"]),
    (Read, &["sort", "-u", "a.csv"]),
    (Read, &["diff", "-u", "a.txt", "same.txt"]),
    (Write, &["patch", "-o", "patched.txt", "to-patch.txt", "a.patch"]),
    (Write, &["tar", "czf", "a.tar.gz", "a.txt", "package"]),
    (Read, &["tar", "tf", "b.tar"]),
    (Write, &["gzip", "-k", "a.txt"]),
    (Read, &["xz", "--stdout", "a.csv"]),
    (Write, &["bzip2", "-k", "a.json"]),
    (Write, &["zip", "-r", "a.zip", "package"]),
    (Read, &["unzip", "-l", "b.zip"]),
    (Write, &["rsync", "-a", "package/", "copied/"]),
    (Write, &["cp", "-a", "package", "copy"]),
    (Read, &["tree", "."]),
    (Read, &["ls", "-laR", "."]),
    (Read, &["file", "a.txt", "b.zip"]),
    (Read, &["less", "a.txt"]),
    (Read, &["sha256sum", "a.txt"]),
    (Read, &["base64", "a.txt"]),
    (Read, &["jq", ".a", "a.json"]),
    (Nothing, &["bc", "-q", "--version"]),
    (Nothing, &["sqlite3", ":memory:", "select 1 + 1"]),
    (Nothing, &["perl", "-MPOSIX", "-e", "print strftime('%Y', localtime), \"\\n\""]),
    (Nothing, &["openssl", "rand", "-hex", "8"]),
    (
        Write,
        &[
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-keyout",
            "k.pem",
            "-out",
            "c.pem",
            "-subj",
            "/CN=x.test",
        ],
    ),
    (Nothing, &["curl", "--version"]),
    (Write, &["git", "init", "-q", "new"]),
    (Read, &["git", "-C", "repository", "log", "--stat"]),
    (Read, &["git", "-C", "repository", "show"]),
    (Write, &["git", "clone", "-q", "repository", "clone"]),
    (
        Write,
        &[
            "git",
            "-C",
            "repository",
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@x.test",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "more",
        ],
    ),
    (Write, &["gcc", "-O2", "-o", "program", "a.c"]),
    (Write, &["make", "-s"]),
    (Nothing, &["date", "+%Y"]),
    (Nothing, &["id"]),
    (Nothing, &["df", "-h"]),
    (Nothing, &["env"]),
    (Nothing, &["mktemp", "-d"]),
    (Nothing, &["uname", "-a"]),
    (Nothing, &["nproc"]),
];

/// Programs that are looked at where they are.
const SOMETIMES: &[(Grant, &[&str])] = &[
    (Nothing, &["node", "-e", "console.log(require('os').cpus().length)"]),
    (Read, &["node", "a.js"]),
    (Nothing, &["npm", "--version"]),
    (Nothing, &["python3", "-m", "pip", "--version"]),
    (Nothing, &["java", "-version"]),
    (Nothing, &["ruby", "-e", "puts RUBY_VERSION"]),
    (Nothing, &["php", "-r", "echo PHP_VERSION;"]),
    (Nothing, &["lua5.4", "-e", "print(1)"]),
    (Nothing, &["go", "version"]),
    (Nothing, &["cargo", "--version"]),
    (Nothing, &["rustc", "--version"]),
    (Nothing, &["uv", "--version"]),
    (Nothing, &["ssh", "-V"]),
    (Nothing, &["gpg", "--list-keys"]),
    (Nothing, &["wget", "--version"]),
    (Nothing, &["ps", "aux"]),
    (Nothing, &["top", "-bn1"]),
    (Nothing, &["free"]),
    (Write, &["vim", "-es", "-c", "wq", "a.txt"]),
    (Read, &["dot", "-Tsvg", "a.dot"]),
    (Read, &["pandoc", "-t", "html", "a.md"]),
    (Write, &["gs", "-q", "-sDEVICE=pdfwrite", "-o", "a.pdf", "a.ps"]),
    (Read, &["qpdf", "--check", "b.pdf"]),
    (Read, &["pdftotext", "b.pdf", "-"]),
    (Write, &["pdftoppm", "-png", "b.pdf", "page"]),
    (Nothing, &["convert", "-size", "10x10", "xc:red", "png:/tmp/x.png"]),
    (Write, &["ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc=d=0.2", "-y", "v.mp4"]),
    (Nothing, &["tesseract", "--list-langs"]),
    (Write, &["soffice", "--headless", "--convert-to", "pdf", "a.txt"]),
    // What made LibreOffice a harvester of credentials: it asks which profile of a browser has certificates.
    (Write, &["soffice", "--headless", "--convert-to", "docx", "a.html"]),
];

/// A folder with something for each of them.
fn work_folder(stage: &Stage) -> PathBuf {
    let files = [
        (
            "imports.py",
            "import asyncio, csv, ctypes, email, hashlib, http.client, json, logging, pathlib, re, socket, sqlite3, ssl, subprocess, tempfile, threading, unittest, urllib.request, xml.etree.ElementTree, zipfile\nprint(json.dumps({'a': 1}))\n",
        ),
        ("package/__init__.py", "from .inner import value\n"),
        ("package/inner.py", "value = 1\n"),
        ("a.txt", "hello world\n"),
        ("same.txt", "hello world\n"),
        ("to-edit.txt", "hello world\n"),
        ("to-patch.txt", "one\n"),
        ("a.patch", "--- to-patch.txt\n+++ to-patch.txt\n@@ -1 +1 @@\n-one\n+two\n"),
        ("a.csv", "a,b\n1,2\n"),
        ("a.json", "{\"a\": 1}\n"),
        ("a.js", "const fs = require('fs'); console.log(fs.readFileSync('a.txt', 'utf8'));\n"),
        ("a.md", "# A title\n\nand *text*\n"),
        ("a.html", "<html><body><p>hello</p></body></html>\n"),
        ("a.dot", "digraph { a -> b }\n"),
        ("a.ps", "%!PS\n/Times-Roman findfont 24 scalefont setfont 72 700 moveto (hello) show showpage\n"),
        ("a.c", "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n"),
        ("Makefile", "all:\n\t@gcc -o made a.c && ./made\n"),
        ("pipeline.sh", "sort a.csv | uniq -c | head -1 | cut -c1-8 | tee /tmp/x | wc -l\n"),
        // A page without anything on it.
        (
            "b.pdf",
            "%PDF-1.1\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\nxref\n0 4\n0000000000 65535 f \n0000000009 00000 n \n0000000052 00000 n \n0000000101 00000 n \ntrailer<</Size 4/Root 1 0 R>>\nstartxref\n162\n%%EOF\n",
        ),
    ];
    for (name, content) in files {
        stage.write(&format!("home/work/{name}"), content);
    }
    let folder = stage.home().join("work");
    // With nothing in them: what matters is who reads them.
    fs::write(folder.join("b.tar"), [0; 1024]).unwrap();
    let zip = [b"PK\x05\x06".as_slice(), &[0; 18]].concat();
    fs::write(folder.join("b.zip"), zip).unwrap();
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.current_dir(&folder).env("HOME", stage.home()).args(arguments);
        assert!(command.output().unwrap().status.success(), "git {arguments:?}");
    };
    git(&["init", "-q", "repository"]);
    let commit =
        ["-c", "user.name=a", "-c", "user.email=a@x.test", "commit", "-q", "--allow-empty", "-m", "first"];
    git(&[&["-C", "repository"][..], &commit].concat());
    folder
}

/// Runs a program, and says what is wrong with what is said of it.
fn complaints(stage: &Stage, flags: &[&str], program: &[&str], accepted: &[i64]) -> Vec<String> {
    let mut arguments = vec!["exec", "--format", "json", "--no-history"];
    arguments.extend(flags);
    arguments.push("--");
    arguments.extend(program);
    let mut command = stage.command(&arguments);
    let output = command.current_dir(stage.home().join("work")).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{program:?}: {error}: {}", text(&output.stderr)));
    let mut wrong = Vec::new();
    if !report["exit_code"].as_i64().is_some_and(|code| accepted.contains(&code)) {
        wrong.push(format!("exit code {}: {} {}", report["exit_code"], report["stderr"], report["error"]));
    }
    if !report["alarm"].is_null() {
        wrong.push(format!("alarm: {}", report["alarm"]));
    }
    let classes = report["summary"]["classifications"].as_array().unwrap();
    wrong.extend(classes.iter().map(|found| format!("accused: {}", found["message"])));
    let denials = report["denials"].as_array().unwrap();
    wrong.extend(denials.iter().map(|denial| format!("prevented: {} ({})", denial["what"], denial["rule"])));
    wrong.into_iter().map(|wrong| format!("{}: {wrong}", program.join(" "))).collect()
}

fn check(table: &[(Grant, &[&str])], is_optional: bool) {
    let stage = Stage::new();
    let work = work_folder(&stage);
    let work = work.to_str().unwrap();
    let mut wrong = Vec::new();
    for (grant, program) in table {
        let missing = missing::inside([program[0]]);
        if is_optional && !missing.is_empty() {
            missing::skip(&missing);
            continue;
        }
        // A module of Python that is not there is a program that is not there.
        if is_optional && program.get(1) == Some(&"-m") && !has_module(program[2]) {
            missing::skip(&[program[2]]);
            continue;
        }
        let flags: &[&str] = match grant {
            Nothing => &[],
            Read => &["--read", work],
            Write => &["--write", work],
        };
        // What they think of an archive and a page with nothing in them.
        let accepted: &[i64] = match program[0] {
            "unzip" => &[0, 1],
            "qpdf" => &[0, 3],
            _ => &[0],
        };
        wrong.extend(complaints(&stage, flags, program, accepted));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn has_module(name: &str) -> bool {
    let mut python = std::process::Command::new("/usr/bin/python3");
    python.args(["-c", &format!("import {name}")]).output().is_ok_and(|output| output.status.success())
}

#[test]
fn row_166_forty_ordinary_programs_classify_as_nothing_and_list_nothing_as_prevented() {
    assert!(ALWAYS.len() >= 40);
    let programs = ALWAYS.iter().map(|(_, program)| program[0]);
    let missing = missing::inside(programs);
    if !missing.is_empty() {
        // Only where nobody could install them.
        missing::skip(&missing);
        let there: Vec<_> =
            ALWAYS.iter().copied().filter(|(_, program)| !missing.contains(&program[0])).collect();
        return check(&there, false);
    }
    check(ALWAYS, false);
}

#[test]
fn row_166_heavier_programs_that_are_there_classify_as_nothing_either() {
    check(SOMETIMES, true);
}

#[test]
fn row_166_a_granted_host_that_answers_is_nothing_to_talk_of() {
    let stage = Stage::new();
    work_folder(&stage);
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let answering = std::thread::spawn(move || {
        let (mut client, _) = server.accept().unwrap();
        let mut request = [0; 1024];
        let _ = client.read(&mut request).unwrap();
        client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok").unwrap();
    });
    let (host, pin) = (format!("api.test:{port}"), format!("api.test:{port}:127.0.0.1:{port}"));
    let url = format!("http://api.test:{port}/");
    let flags = ["--allow-host", &host, "--resolve", &pin];
    let wrong = complaints(&stage, &flags, &["curl", "-sS", &url], &[0]);
    assert!(wrong.is_empty(), "{wrong:?}");
    answering.join().unwrap();
}

#[test]
fn a_file_that_the_person_named_and_forgot_to_grant_is_no_theft() {
    let stage = Stage::new();
    let Some(folder) = folder_outside_tmp() else { return };
    let document = folder.path().join("my.pdf");
    fs::write(&document, "mine").unwrap();
    let output = stage.run(&["exec", "--format", "json", "--", "cat", document.to_str().unwrap()]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["summary"]["classifications"], Value::Array(Vec::new()), "{report:#}");
    assert_eq!(report["denials"][0]["hint"], format!("--read {}", document.display()), "{report:#}");
}
