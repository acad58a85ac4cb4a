//! HTTP over TLS, with certificates that are verified: the sandbox looks at the server's name, and at nothing else.

use skillsandbox_enforcer::egress::Protocol;

use crate::missing;
use crate::run::{NAME, Run, Seen, has};
use crate::tls::Tls;

const HELLO: &str = "hello api.weather.test from api.weather.test\n";

fn run(server: &Tls) -> Run {
    let run = Run::new().served(NAME, 443, Protocol::Https, &server.front);
    run.file("cert.pem", &server.certificate())
}

/// A server, if the programs of the client are there too.
fn server_for<'a>(programs: impl IntoIterator<Item = &'a str>) -> Option<Tls> {
    if has(programs) { Tls::http1() } else { None }
}

/// It printed this over so many connections, whose server name is in the record, as are the bytes that came.
#[track_caller]
fn worked(seen: &Seen, printed: &str, server: &Tls, connections: usize) {
    seen.prints(printed);
    assert_eq!(server.front.connections(), connections, "{}", seen.told());
    assert_eq!(
        seen.reached().map(|attempt| attempt.count).sum::<u64>(),
        connections as u64,
        "{}",
        seen.told()
    );
    let attempt = seen.allowed(NAME, 443);
    assert_eq!(attempt.server_name.as_deref(), Some(NAME));
    let sent: u64 = seen.reached().map(|attempt| attempt.sent).sum();
    assert_eq!(
        sent,
        server.front.bytes().len() as u64,
        "what the record counts is what came\n{}",
        seen.told()
    );
}

#[test]
fn curl() {
    for how in [&["-sS"][..], &["-sS4"], &["-sS6"], &["-sS", "--tls-max", "1.2"], &["-sS", "--tlsv1.3"]] {
        let Some(server) = server_for(["curl"]) else { return };
        let arguments = [how, &["--cacert", "cert.pem", "https://api.weather.test/"]].concat();
        worked(&run(&server).go("curl", &arguments), HELLO, &server, 1);
    }
}

/// That the certificate is looked at by the client, and is the server's own.
#[test]
fn curl_without_the_certificate_does_not_trust_the_server() {
    let Some(server) = server_for(["curl"]) else { return };
    let seen = run(&server).go("curl", &["-sS", "https://api.weather.test/"]);
    // "Peer certificate cannot be authenticated with known CA certificates."
    assert_eq!(seen.outcome.status, skillsandbox_enforcer::CommandStatus::Exited(60), "{}", seen.told());
}

#[test]
fn curl_keeps_a_connection_and_uploads() {
    let Some(server) = server_for(["curl"]) else { return };
    let run = run(&server).file("data", &"x".repeat(2 << 20));
    let url = "https://api.weather.test/";
    let arguments =
        ["-sS", "--cacert", "cert.pem", url, url, "--next", "-sS", "--cacert", "cert.pem", "--data-binary"];
    let seen = run.go("curl", &[&arguments[..], &["@data", url]].concat());
    worked(&seen, &format!("{HELLO}{HELLO}2097152 bytes came\n"), &server, 1);
}

#[test]
fn curl_speaks_http2() {
    if !has(["curl", "node"]) {
        return;
    }
    if !Run::new().outside("curl", &["--version"]).contains("HTTP2") {
        missing::skip(&["curl with HTTP/2"]);
        return;
    }
    let Some(server) = Tls::http2() else { return };
    let run = run(&server).file("data", &"x".repeat(1 << 20));
    let arguments =
        ["-sS", "--http2", "--cacert", "cert.pem", "--data-binary", "@data", "https://api.weather.test/"];
    worked(&run.go("curl", &arguments), "2.0 api.weather.test api.weather.test 1048576\n", &server, 1);
}

#[test]
fn wget() {
    let Some(server) = server_for(["wget"]) else { return };
    let arguments = ["-qO-", "--ca-certificate=cert.pem", "https://api.weather.test/"];
    worked(&run(&server).go("wget", &arguments), HELLO, &server, 1);
}

#[test]
fn python_urllib_and_http_client() {
    let Some(server) = server_for(["python3"]) else { return };
    let text = "import http.client, ssl, urllib.request\ncontext = ssl.create_default_context(cafile='cert.pem')\n\
                print(urllib.request.urlopen('https://api.weather.test/', context=context).read().decode(), end='')\n\
                c = http.client.HTTPSConnection('api.weather.test', context=context)\nfor i in range(2):\n    \
                c.request('GET', '/')\n    print(c.getresponse().read().decode(), end='')\n";
    worked(&run(&server).go("python3", &["-c", text]), &HELLO.repeat(3), &server, 2);
}

#[test]
fn python_asyncio() {
    let Some(server) = server_for(["python3"]) else { return };
    let run = run(&server).file("streams.py", include_str!("scripts/streams.py"));
    worked(&run.go("python3", &["streams.py", "443", "cert.pem"]), &HELLO.repeat(4), &server, 4);
}

#[test]
fn python_requests() {
    let Some(server) = server_for(["python3"]) else { return };
    let text = "import importlib.util, sys\n\
                sys.exit(77) if importlib.util.find_spec('pip') is None else None\n\
                from pip._vendor import requests\n\
                print(requests.get('https://api.weather.test/', verify='cert.pem').text, end='')\n";
    let seen = run(&server).go("python3", &["-c", text]);
    if seen.outcome.status == skillsandbox_enforcer::CommandStatus::Exited(77) {
        missing::skip(&["pip"]);
        return;
    }
    worked(&seen, HELLO, &server, 1);
}

#[test]
fn node_fetch_and_https() {
    let Some(server) = server_for(["node"]) else { return };
    let text = "const https = require('node:https');\n(async () => {\n\
                process.stdout.write(await (await fetch('https://api.weather.test/')).text());\n\
                https.get({ host: 'api.weather.test', autoSelectFamily: true }, (response) => response.pipe(process.stdout));\n\
                })();\n";
    let run = run(&server);
    let certificate = run.path("cert.pem").display().to_string();
    let seen = run.env("NODE_EXTRA_CA_CERTS", &certificate).go("node", &["-e", text]);
    worked(&seen, &HELLO.repeat(2), &server, 2);
}

#[test]
fn node_speaks_http2() {
    if !has(["node"]) {
        return;
    }
    let Some(server) = Tls::http2() else { return };
    let text = "const http2 = require('node:http2');\nconst client = http2.connect('https://api.weather.test');\n\
                const request = client.request({ ':path': '/', ':method': 'POST' });\nrequest.setEncoding('utf8');\n\
                request.on('data', (text) => process.stdout.write(text)).on('end', () => client.close());\n\
                request.end('abc');\n";
    let run = run(&server);
    let certificate = run.path("cert.pem").display().to_string();
    let seen = run.env("NODE_EXTRA_CA_CERTS", &certificate).go("node", &["-e", text]);
    worked(&seen, "2.0 api.weather.test:443 api.weather.test 3\n", &server, 1);
}

#[test]
fn openssl_s_client() {
    let Some(server) = server_for(["openssl", "sh"]) else { return };
    let text = "printf 'GET / HTTP/1.1\\r\\nHost: api.weather.test\\r\\nConnection: close\\r\\n\\r\\n' | openssl s_client -quiet \
                -CAfile cert.pem -verify_return_error -connect api.weather.test:443 2> /dev/null | tail -n 1";
    worked(&run(&server).go("sh", &["-c", text]), HELLO, &server, 1);
}

#[test]
fn go_net_http() {
    let Some(server) = server_for(["go"]) else { return };
    let text = "package main\nimport (\"io\"; \"net/http\"; \"os\")\nfunc main() {\nresponse, err := \
                http.Get(\"https://api.weather.test/\")\nif err != nil { panic(err) }\nio.Copy(os.Stdout, response.Body)\n}\n";
    let run = run(&server).file("main.go", text);
    let built = run.outside("go", &["build", "-o", "main", "main.go"]);
    assert!(run.path("main").is_file(), "{built}");
    let certificate = run.path("cert.pem").display().to_string();
    worked(&run.env("SSL_CERT_FILE", &certificate).go("./main", &[]), HELLO, &server, 1);
}

#[test]
fn java_http_client() {
    let Some(server) = server_for(["java", "javac", "keytool"]) else { return };
    let text = "import java.net.URI;\nimport java.net.http.*;\nclass Main { public static void main(String[] a) throws Exception { \
                System.out.print(HttpClient.newHttpClient().send(HttpRequest.newBuilder(URI.create(\"https://api.weather.test/\"))\
                .build(), HttpResponse.BodyHandlers.ofString()).body()); } }\n";
    let run = run(&server).file("Main.java", text);
    let words = "-importcert -noprompt -alias server -file cert.pem -keystore trusted -storepass secret";
    let made = run.outside("keytool", &words.split(' ').collect::<Vec<_>>());
    assert!(run.path("trusted").is_file(), "{made}");
    let trust = ["-Djavax.net.ssl.trustStore=trusted", "-Djavax.net.ssl.trustStorePassword=secret"];
    let seen = run.go("java", &["-Xmx256m", trust[0], trust[1], "Main.java"]);
    worked(&seen, HELLO, &server, 1);
}
