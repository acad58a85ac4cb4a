//! git, over both of its ways through HTTP.

use std::path::Path;

use skillsandbox_enforcer::egress::{Protocol, RefusalReason};

use crate::run::{NAME, Run, has};
use crate::servers::Server;
use crate::tls::Tls;

/// Makes a bare repository with two commits in a folder, as a server without git of its own hands it out.
fn make_repository(folder: &Path) {
    let script = "set -eu\ncd \"$1\"\nexport GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null\n\
                  git init -q -b main tree\ncd tree\ngit config user.name Somebody\ngit config user.email somebody@example.test\n\
                  echo one > file\ngit add file\ngit commit -qm first\necho two > file\ngit commit -qam second\ncd ..\n\
                  git clone -q --bare tree repository.git\ncd repository.git\ngit gc -q\ngit update-server-info\n";
    let folder = folder.display().to_string();
    let run = Run::new();
    let said = run.outside("sh", &["-c", script, "sh", &folder]);
    assert!(Path::new(&folder).join("repository.git/info/refs").is_file(), "{said}");
}

const LOG: &str = "set -eu; git clone -q \"$1\" copy; cd copy; git log --format=%s; cat file";

#[test]
fn clones_over_http() {
    if !has(["git", "sh", "cat"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    make_repository(folder.path());
    let server = Server::files(folder.path().to_owned());
    let run = Run::new().served(NAME, 80, Protocol::Http, &server);
    let seen = run.go("sh", &["-c", LOG, "sh", "http://api.weather.test/repository.git"]);
    seen.prints("second\nfirst\ntwo\n");
    seen.allowed(NAME, 80);
    assert!(server.requests().iter().all(|request| request.host == NAME));
}

#[test]
fn clones_over_https() {
    if !has(["git", "sh", "cat"]) {
        return;
    }
    let Some(server) = Tls::http1() else { return };
    make_repository(&server.files());
    let run =
        Run::new().served(NAME, 443, Protocol::Https, &server.front).file("cert.pem", &server.certificate());
    let certificate = run.path("cert.pem").display().to_string();
    let run = run.env("GIT_SSL_CAINFO", &certificate);
    let seen = run.go("sh", &["-c", LOG, "sh", "https://api.weather.test/repository.git"]);
    seen.prints("second\nfirst\ntwo\n");
    assert_eq!(seen.allowed(NAME, 443).server_name.as_deref(), Some(NAME));
}

/// What git says of a server that was not granted, and that it never heard of it.
#[test]
fn does_not_clone_from_elsewhere() {
    if !has(["git"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    make_repository(folder.path());
    let server = Server::files(folder.path().to_owned());
    let grant = || Run::new().served(NAME, 80, Protocol::Http, &server);

    let seen = grant().go("git", &["clone", "-q", "http://webhook.test/repository.git"]);
    seen.fails();
    assert!(seen.stderr().contains("Could not resolve host: webhook.test"), "{}", seen.told());
    seen.unknown("webhook.test");
    let address = format!("http://127.0.0.1:{}/repository.git", server.port());
    grant().go("git", &["clone", "-q", &address]).fails();
    let seen = grant().go("git", &["clone", "-q", "http://api.weather.test:8080/repository.git"]);
    seen.fails();
    seen.refused(NAME, 8080, &RefusalReason::NotGranted);
    let seen = grant().go("git", &["clone", "-q", "git://api.weather.test/repository.git"]);
    seen.fails();
    seen.refused(NAME, 9418, &RefusalReason::NotGranted);
    server.saw_nothing();

    let run = Run::new();
    let said = run.outside("git", &["clone", "-q", &address]);
    assert!(run.path("repository/file").is_file(), "the control: {said}");
    assert!(server.connections() > 0);
}
