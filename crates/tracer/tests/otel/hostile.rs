//! Collectors that are dead, slow, or lie. None of them delays or fails a run, and each is told from the others.

use std::io::Write as _;
use std::net::TcpListener;
use std::time::Duration;

use skillsandbox_tracer::otel::{DeliveryReport, OtelSettings};
use skillsandbox_tracer::{Event, EventKind, EventVerdict, Recorder};

use super::collector::{Collector, Manner, OK};
use super::{export, patient, settings, to};
use skillsandbox_test_support::small_trace::{events, file, header};

/// For a collector that never answers: nothing but the end of this ends the waiting.
const SHORT: Duration = Duration::from_millis(500);
/// For one that does, on a machine that has other things to do: nobody waits for the end of this.
const LONG: Duration = Duration::from_mins(1);

fn of(manner: Manner, change: impl FnOnce(OtelSettings) -> OtelSettings) -> (DeliveryReport, usize) {
    let collector = Collector::new(manner);
    let (recorded, delivered) = export(change(to(&collector.endpoint()).patience(LONG)), &header(), events());
    // The run itself is what it would have been.
    assert_eq!((recorded.summary.denied, recorded.error.is_none()), (5, true));
    let requests = collector.requests().len();
    (delivered, requests)
}

fn answer(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let mut bytes =
        format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n")
            .into_bytes();
    bytes.write_all(body).unwrap();
    bytes
}

fn says(bytes: &[u8]) -> Manner {
    Manner::Says(bytes.to_vec())
}

#[test]
fn a_closed_port_is_said_to_be_one() {
    // Kept for a service that nobody has run for forty years.
    let port = 1;
    let (recorded, delivered) =
        export(to(&format!("http://127.0.0.1:{port}")).patience(LONG), &header(), events());
    assert!(recorded.error.is_none());
    assert_eq!((delivered.spans, delivered.dropped), (0, 8));
    let warning = delivered.warning().unwrap();
    let expected = format!(
        "8 of 8 spans were not delivered to http://127.0.0.1:{port}/v1/traces: nothing listens there"
    );
    assert_eq!(warning, expected);
}

#[test]
fn a_collector_that_never_answers_is_given_up() {
    for manner in [Manner::Silent, Manner::Deaf, Manner::Dribbles] {
        // The request itself may take a minute: it is the end of the run that ends the waiting.
        let (delivered, _) = of(manner, |settings| settings.patience(SHORT));
        assert_eq!((delivered.spans, delivered.dropped), (0, 8));
        let warning = delivered.warning().unwrap();
        assert!(warning.contains("it did not answer in time"), "{warning}");
    }
}

#[test]
fn a_flood_of_an_answer_is_not_read() {
    let heads = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", "it answered with more than 65536 bytes"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", ""),
        ("HTTP/1.1 200 OK\r\nX: ", ""),
    ];
    for (head, expected) in heads {
        let manner = Manner::Floods(head.as_bytes().to_vec());
        let (delivered, _) = of(manner, |settings| settings.patience(LONG));
        assert_eq!((delivered.spans, delivered.dropped), (0, 8), "{head:?}");
        let error = delivered.error.unwrap();
        assert!(error.contains(expected), "{head:?}: {error}");
    }
}

#[test]
fn refusals_are_said_with_their_number() {
    for (status, expected) in [
        ("500 Oops", "it answered 500 (Internal Server Error)"),
        ("401 Who", "it answered 401 (Unauthorized)"),
        ("404 Where", "it answered 404 (Not Found)"),
        ("413 Much", "it answered 413 (Payload Too Large)"),
    ] {
        let (delivered, requests) = of(says(&answer(status, "", b"\x1b[2Jgo away")), |settings| settings);
        assert_eq!((delivered.spans, delivered.dropped, requests), (0, 8, 1));
        assert_eq!(delivered.error.as_deref(), Some(expected));
    }
}

#[test]
fn garbage_is_no_answer() {
    for (bytes, expected) in [
        (b"SSH-2.0-OpenSSH_9.6\r\n".to_vec(), "it does not speak HTTP"),
        (vec![0xff; 100], "it does not speak HTTP"),
        (Vec::new(), "it hung up without an answer"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab".to_vec(), ""),
        (
            answer("200 OK", "Content-Type: text/html\r\n", b"<html>log in first"),
            "it answered as no collector does",
        ),
        (
            answer("200 OK", "Content-Type: application/x-protobuf\r\n", b"\xff\xff\xff\xff"),
            "it answered as no collector does",
        ),
        (
            answer("200 OK", "Content-Type: application/json\r\n", b"nonsense"),
            "it answered as no collector does",
        ),
    ] {
        let (delivered, _) = of(says(&bytes), |settings| settings);
        assert_eq!((delivered.spans, delivered.dropped), (0, 8), "{bytes:?}");
        let error = delivered.error.unwrap();
        assert!(error.contains(expected), "{bytes:?}: {error}");
    }
}

#[test]
fn what_a_collector_does_not_want_is_not_delivered() {
    let json = br#"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too \u001b[2J old"}}"#;
    let (delivered, _) =
        of(says(&answer("200 OK", "Content-Type: application/json\r\n", json)), |settings| settings);
    assert_eq!((delivered.spans, delivered.dropped), (5, 3));
    assert_eq!(delivered.error.as_deref(), Some("it did not want 3 spans: too \\u{1b}[2J old"));
    // More than there were cannot be refused.
    let json = br#"{"partialSuccess":{"rejectedSpans":"18446744073709551615"}}"#;
    let (delivered, _) =
        of(says(&answer("200 OK", "Content-Type: application/json\r\n", json)), |settings| settings);
    assert_eq!((delivered.spans, delivered.dropped), (0, 8));
    // A warning, though nothing was refused.
    let json = br#"{"partialSuccess":{"errorMessage":"use TLS"}}"#;
    let (delivered, _) =
        of(says(&answer("200 OK", "Content-Type: application/json\r\n", json)), |settings| settings);
    assert_eq!((delivered.spans, delivered.dropped), (8, 0));
    assert!(delivered.warning().unwrap().ends_with("it took all spans, and said: use TLS"));
}

#[test]
fn no_redirect_is_followed() {
    let elsewhere = Collector::good();
    for status in ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"] {
        let location = format!("Location: {}/v1/traces\r\n", elsewhere.endpoint());
        let (delivered, requests) = of(says(&answer(status, &location, b"")), |settings| settings);
        assert_eq!((delivered.spans, delivered.dropped, requests), (0, 8, 1), "{status}");
        let error = delivered.error.unwrap();
        assert!(error.contains(&status[..3]) && error.contains("not followed"), "{error}");
    }
    assert!(elsewhere.requests().is_empty());
}

#[test]
fn who_asks_to_try_again_is_tried_again() {
    for status in ["429 Slow", "502 Gone", "503 Busy", "504 Late"] {
        let busy = answer(status, "Retry-After: 0\r\n", b"");
        let manner = Manner::SaysInTurn(vec![busy.clone(), busy, OK.to_vec()]);
        let (delivered, requests) = of(manner, |settings| settings.patience(LONG));
        assert_eq!((delivered.spans, delivered.dropped, requests), (8, 0, 3), "{status}");
        assert_eq!(delivered.warning(), None);
    }
}

#[test]
fn who_is_always_busy_is_not_hammered() {
    let busy = answer("503 Busy", "", b"");
    let (delivered, requests) = of(says(&busy), |settings| settings.patience(Duration::from_secs(3)));
    assert_eq!((delivered.spans, delivered.dropped), (0, 8));
    // After 0, 200, 600 and 1,400 ms; the next would be after 3 s.
    assert!((1..=4).contains(&requests), "{requests}");
    assert_eq!(delivered.error.as_deref(), Some("it answered 503 (Service Unavailable)"));
    // Nor does it make the run wait as long as it likes.
    let busy = answer("503 Busy", "Retry-After: 86400\r\n", b"");
    let (delivered, requests) = of(says(&busy), |settings| settings.patience(Duration::from_secs(3)));
    assert_eq!((delivered.dropped, requests), (8, 1));
}

#[test]
fn a_run_goes_on_and_ends_while_its_collector_is_stuck() {
    let collector = Collector::new(Manner::Silent);
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint()),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "64".to_owned()),
        ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "16".to_owned()),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "300000".to_owned()),
    ];
    let variables: Vec<(&str, &str)> =
        variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let header = header();
    let (exporter, handle) = settings(&variables).patience(SHORT).start(&header).unwrap();
    let mut recorder = Recorder::new(&header, None, vec![Box::new(exporter)]);
    for number in 0..5000 {
        recorder.record(file(&format!("/secret/{number}"), EventVerdict::Denied));
    }
    // Had anything here waited for the collector, it would still be waiting: it answers nobody before this test has ended.
    assert_eq!(recorder.finish().summary.denied, 5000);
    let delivered = handle.finish();
    assert_eq!(delivered.spans, 0);
    // All of them, and the root; the queue held 64 of them, and a batch was under way.
    assert_eq!(delivered.dropped + delivered.omitted, 5001);
    assert!(collector.requests().len() <= 1);
}

#[test]
fn spans_go_out_while_the_run_goes_on() {
    let collector = Collector::good();
    let variables =
        [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint()), ("OTEL_BSP_SCHEDULE_DELAY", "50".to_owned())];
    let variables: Vec<(&str, &str)> =
        variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let header = header();
    let (exporter, handle) = settings(&variables).patience(LONG).start(&header).unwrap();
    let mut recorder = Recorder::new(&header, None, vec![Box::new(exporter)]);
    recorder.record(file("/etc/shadow", EventVerdict::Denied));
    let came = (0..600).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        !collector.requests().is_empty()
    });
    assert!(came, "nothing came before the end");
    assert_eq!(collector.spans()[0].name, "sandbox.fs.violation");
    let _ = recorder.finish();
    assert_eq!(handle.finish().spans, 2);
    assert_eq!(collector.spans()[1].name, "sandbox.run");
}

#[test]
fn a_collector_that_comes_late_gets_what_is_left() {
    // Its port may be taken before it comes.
    assert!((0..5).any(|_| comes_late()), "no port stayed free");
}

fn comes_late() -> bool {
    // While the run goes on, a refused connection is tried again.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let endpoint = format!("http://{address}");
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()), ("OTEL_BSP_SCHEDULE_DELAY", "50")];
    let header = header();
    let (exporter, handle) = settings(&variables).patience(LONG).start(&header).unwrap();
    let mut recorder = Recorder::new(&header, None, vec![Box::new(exporter)]);
    recorder.record(file("/etc/shadow", EventVerdict::Denied));
    std::thread::sleep(Duration::from_millis(200));
    let Ok(listener) = TcpListener::bind(address) else { return false };
    let serve = move |listener: &TcpListener| {
        let (mut stream, _) = listener.accept().unwrap();
        assert!(super::collector::request(&mut stream).is_some());
        stream.write_all(OK).unwrap();
    };
    serve(&listener);
    let server = std::thread::spawn(move || serve(&listener));
    let _ = recorder.finish();
    let delivered = handle.finish();
    assert_eq!((delivered.spans, delivered.warning()), (2, None));
    server.join().unwrap();
    true
}

#[test]
fn a_collector_that_hangs_up_between_requests_gets_all_of_them() {
    // It says that it will listen on, and does not: at once, or when the next request is under way.
    let kept = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n";
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let variables =
        [("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()), ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1")];
    let server = std::thread::spawn(move || {
        let mut requests = Vec::new();
        for connection in 0..6 {
            let (mut stream, _) = listener.accept().unwrap();
            stream.set_read_timeout(Some(LONG)).unwrap();
            for request in 0..3 {
                let Some(read) = super::collector::request(&mut stream) else { break };
                // Of every second connection, the third request is read and never answered.
                if connection % 2 == 0 && request == 2 {
                    break;
                }
                requests.push(read);
                stream.write_all(kept).unwrap();
                if requests.len() == 8 {
                    return requests;
                }
            }
        }
        requests
    });
    let (_, delivered) = export(settings(&variables).patience(LONG), &header(), events());
    assert_eq!((delivered.spans, delivered.warning()), (8, None));
    let requests = server.join().unwrap();
    let different: std::collections::HashSet<Vec<u8>> =
        requests.into_iter().map(|request| request.body).collect();
    assert_eq!(different.len(), 8);
}

#[test]
fn nobody_need_ask_how_it_went() {
    let collector = Collector::new(Manner::Silent);
    let header = header();
    let (exporter, handle) = to(&collector.endpoint()).start(&header).unwrap();
    drop(handle);
    let mut recorder = Recorder::new(&header, None, vec![Box::new(exporter)]);
    recorder.record(Event::new(EventKind::Lost { at: "observer".to_owned() }));
    assert!(recorder.finish().error.is_none());
}

#[test]
fn a_handle_that_is_asked_too_early_answers_all_the_same() {
    let collector = Collector::good();
    let (exporter, handle) = patient(&collector).patience(SHORT).start(&header()).unwrap();
    let delivered = handle.finish();
    assert_eq!((delivered.spans, delivered.dropped, delivered.warning()), (0, 0, None));
    // What comes after that goes nowhere, and nobody minds.
    let mut recorder = Recorder::new(&header(), None, vec![Box::new(exporter)]);
    recorder.record(file("/etc/shadow", EventVerdict::Denied));
    assert_eq!(recorder.finish().summary.denied, 1);
    // Nor is there a time that is too long to wait.
    let (exporter, handle) = patient(&collector).patience(Duration::MAX).start(&header()).unwrap();
    drop(exporter);
    assert_eq!(handle.finish().spans, 1);
}
