//! Bytes arrive, all of them, in both directions, and an end is the end that the other side meant.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use skillsandbox_enforcer::egress::{Attempt, AttemptEnd, NetworkRule};
use skillsandbox_enforcer::{EndCause, PlanBuilder, RunOutcome};
use skillsandbox_network_tests::{
    attempts, command, echo, highest_resident, on_stage, plan, python, reached, resident, said, serve, until,
};

/// Far more than all buffers on the way hold together.
const MUCH: u64 = 1 << 30;

/// A launching program that holds back what waits holds no more than the kernel lets it.
const BOUND: u64 = 32 << 20;

fn granted() -> PlanBuilder {
    plan().egress(NetworkRule::domain("api.weather.test").unwrap().ports([8080])).pin(
        "api.weather.test",
        8080,
        "9.9.0.1:8080".parse().unwrap(),
    )
}

fn only(outcome: &RunOutcome) -> &Attempt {
    let all: Vec<_> = reached(outcome).collect();
    assert_eq!(all.len(), 1, "{}", attempts(outcome));
    all[0]
}

/// The block that is sent over and over: not the same in any two places of the whole but for its own length, which is prime.
fn block() -> Vec<u8> {
    (0..65_521_u32).map(|number| u8::try_from((number * number + (number >> 3)) & 0xff).unwrap()).collect()
}

/// Sends so many bytes of the block, over and over.
fn pour(stream: &mut impl std::io::Write, mut left: u64) {
    let block = block();
    while left > 0 {
        let count = usize::try_from(left.min(block.len() as u64)).unwrap();
        stream.write_all(&block[..count]).unwrap();
        left -= count as u64;
    }
}

/// Reads to the end, and checks every byte.
fn drink(stream: &mut impl std::io::Read) -> u64 {
    let block = block();
    let (mut total, mut buffer) = (0, vec![0; 1 << 20]);
    loop {
        let count = stream.read(&mut buffer).unwrap();
        if count == 0 {
            return total;
        }
        let mut at = usize::try_from(total % block.len() as u64).unwrap();
        let mut rest = &buffer[..count];
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(block.len() - at));
            assert!(now == &block[at..at + now.len()], "something else arrived after {total} bytes");
            (rest, at) = (later, 0);
        }
        total += count as u64;
    }
}

/// What Python needs to do the same.
const BLOCK: &str = "
block = bytes(((n * n + (n >> 3)) & 0xff) for n in range(65521))
def drink(s):
    total, whole = 0, block * 18
    view = memoryview(whole)
    buffer = bytearray(1 << 20); into = memoryview(buffer)
    while (count := s.recv_into(buffer)):
        at = total % 65521
        assert into[:count] == view[at:at + count], total
        total += count
    return total
def pour(s, left):
    while left > 0:
        s.sendall(block[:left]); left -= min(left, len(block))
";

#[test]
fn a_large_download_arrives_whole() {
    on_stage("a_large_download_arrives_whole", || {
        let _server = serve("9.9.0.1:8080", |mut stream| pour(&mut stream, MUCH + 77));
        let outcome = python(granted(), &format!("{BLOCK}print(drink(dial('api.weather.test', 8080)))"));
        assert_eq!(said(&outcome), format!("{}\n", MUCH + 77));
        let attempt = only(&outcome);
        assert_eq!((attempt.received, attempt.sent, &attempt.end), (MUCH + 77, 0, &Some(AttemptEnd::Closed)));
    });
}

#[test]
fn a_large_upload_arrives_whole_and_is_answered() {
    on_stage("a_large_upload_arrives_whole_and_is_answered", || {
        let _server = serve("9.9.0.1:8080", |mut stream| {
            let total = drink(&mut stream);
            stream.write_all(format!("got {total}").as_bytes()).unwrap();
        });
        // The client says that it has said all, and then hears the answer.
        let script = format!(
            "{BLOCK}
s = dial('api.weather.test', 8080)
pour(s, {MUCH} + 77)
s.shutdown(socket.SHUT_WR)
print(all_of(s).decode())"
        );
        let outcome = python(granted(), &script);
        assert_eq!(said(&outcome), format!("got {}\n", MUCH + 77));
        let attempt = only(&outcome);
        assert_eq!((attempt.sent, &attempt.end), (MUCH + 77, &Some(AttemptEnd::Closed)));
    });
}

#[test]
fn a_conversation_goes_both_ways_at_once() {
    on_stage("a_conversation_goes_both_ways_at_once", || {
        let _server = echo("9.9.0.1:8080");
        let script = format!(
            "{BLOCK}
s = dial('api.weather.test', 8080)
def talk():
    pour(s, 64 << 20); s.shutdown(socket.SHUT_WR)
t = threading.Thread(target=talk); t.start()
print(drink(s)); t.join()"
        );
        assert_eq!(said(&python(granted(), &script)), format!("{}\n", 64 << 20));
    });
}

#[test]
fn a_server_that_has_said_all_still_listens() {
    on_stage("a_server_that_has_said_all_still_listens", || {
        let heard = Arc::<Mutex<Vec<u8>>>::default();
        let notes = Arc::clone(&heard);
        let server = serve("9.9.0.1:8080", move |mut stream| {
            stream.write_all(b"speak now").unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            let mut all = Vec::new();
            stream.read_to_end(&mut all).unwrap();
            *notes.lock().unwrap() = all;
        });
        let script = "
s = dial('api.weather.test', 8080)
print(all_of(s))
s.sendall(b'first '); time.sleep(.2); s.sendall(b'second'); s.close()";
        let outcome = python(granted(), script);
        assert_eq!(said(&outcome), "b'speak now'\n");
        until("the server has heard all", || server.served() == 1);
        assert_eq!(*heard.lock().unwrap(), b"first second");
        assert_eq!(only(&outcome).end, Some(AttemptEnd::Closed));
    });
}

#[test]
fn a_reset_is_a_reset_on_the_other_side() {
    on_stage("a_reset_is_a_reset_on_the_other_side", || {
        let ends = Arc::<Mutex<Vec<String>>>::default();
        let notes = Arc::clone(&ends);
        let server = serve("9.9.0.1:8080", move |mut stream| {
            let mut first = [0; 1];
            stream.read_exact(&mut first).unwrap();
            if first == *b"s" {
                rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
                return;
            }
            stream.write_all(b"go").unwrap();
            let end = stream.read(&mut first).map_err(|error| error.kind());
            notes.lock().unwrap().push(format!("{end:?}"));
        });
        let script = "
def by_server():
    s = dial('api.weather.test', 8080); s.send(b's'); return s.recv(10)
print(tried(by_server))
s = dial('api.weather.test', 8080); s.send(b'c'); print(s.recv(2))
s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0)); s.close()
s = dial('api.weather.test', 8080); s.send(b'c'); print(s.recv(2)); s.close()
time.sleep(.3)
";
        let outcome = python(granted(), script);
        assert_eq!(said(&outcome), "ECONNRESET\nb'go'\nb'go'\n", "{}", attempts(&outcome));
        until("the server has seen all ends", || server.served() == 3);
        let mut ends = ends.lock().unwrap().clone();
        ends.sort();
        assert_eq!(ends, ["Err(ConnectionReset)", "Ok(0)"]);
        let all: Vec<_> = reached(&outcome).filter_map(|attempt| attempt.end.clone()).collect();
        assert!(all.contains(&AttemptEnd::ResetByDestination), "{all:?}");
        assert!(all.contains(&AttemptEnd::ResetByProgram), "{all:?}");
        assert!(all.contains(&AttemptEnd::Closed), "{all:?}");
    });
}

#[test]
fn a_slow_server_is_waited_for_and_tiny_pieces_are_put_together() {
    on_stage("a_slow_server_is_waited_for_and_tiny_pieces_are_put_together", || {
        let _server = serve("9.9.0.1:8080", |mut stream| {
            for byte in b"slowly but surely" {
                stream.write_all(&[*byte]).unwrap();
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let outcome = python(granted(), "print(all_of(dial('api.weather.test', 8080)))");
        assert_eq!(said(&outcome), "b'slowly but surely'\n");
    });
}

/// While the reader sleeps, the writer is held back, and the launching program keeps little.
#[test]
fn a_reader_that_sleeps_holds_the_server_back() {
    on_stage("a_reader_that_sleeps_holds_the_server_back", || {
        let sent = Arc::<AtomicU64>::default();
        let counter = Arc::clone(&sent);
        let _server = serve("9.9.0.1:8080", move |mut stream| {
            let block = vec![7; 1 << 16];
            // A gibibyte is ready; it stays here.
            for _ in 0..1 << 14 {
                if stream.write_all(&block).is_err() {
                    return;
                }
                counter.fetch_add(block.len() as u64, Ordering::SeqCst);
            }
        });
        let before = resident();
        let script = "
s = dial('api.weather.test', 8080); s.recv(1); print('asleep', flush=True); sys.stdin.read(); print(len(s.recv(1 << 20)) > 0)";
        let plan = granted().build().unwrap();
        let mut running =
            plan.spawn(&command(script).stdin(skillsandbox_enforcer::StdinMode::Piped)).unwrap();
        let stdin = running.stdin().unwrap();
        settled(&sent);
        let waiting = sent.load(Ordering::SeqCst);
        assert!(waiting > 0 && waiting < 256 << 20, "{waiting} bytes were taken from the server");
        assert!(highest_resident() < before + BOUND, "{} after {before}", highest_resident());
        drop(stdin);
        assert_eq!(said(&running.wait().unwrap()), "asleep\nTrue\n");
    });
}

#[test]
fn a_server_that_sleeps_holds_the_writer_back() {
    on_stage("a_server_that_sleeps_holds_the_writer_back", || {
        let (wake, asleep) = std::sync::mpsc::channel::<()>();
        let asleep = Mutex::new(asleep);
        let total = Arc::<AtomicU64>::default();
        let counter = Arc::clone(&total);
        let server = serve("9.9.0.1:8080", move |mut stream| {
            let _ = asleep.lock().unwrap().recv();
            counter.store(drink(&mut stream), Ordering::SeqCst);
        });
        let before = resident();
        let script = format!(
            "{BLOCK}
s = dial('api.weather.test', 8080); s.setblocking(False)
sent = 0
# Until nothing has been taken for a while: the way is full.
quiet = 0
while quiet < 100:
    try: sent += s.send(block[sent % 65521:]); quiet = 0
    except BlockingIOError: quiet += 1; time.sleep(.01)
    assert sent < 256 << 20, sent
print(sent, flush=True)
s.setblocking(True); sys.stdin.read(); s.close()"
        );
        let plan = granted().build().unwrap();
        let mut running =
            plan.spawn(&command(&script).stdin(skillsandbox_enforcer::StdinMode::Piped)).unwrap();
        let stdin = running.stdin().unwrap();
        until("somebody came", || server.accepted() == 1);
        std::thread::sleep(Duration::from_secs(2));
        assert!(highest_resident() < before + BOUND, "{} after {before}", highest_resident());
        wake.send(()).unwrap();
        drop(stdin);
        let sent: u64 = said(&running.wait().unwrap()).trim().parse().unwrap();
        until("the server has heard all", || server.served() == 1);
        assert_eq!(total.load(Ordering::SeqCst), sent);
    });
}

/// Waits until a number stands still.
fn settled(number: &AtomicU64) {
    let (mut last, mut quiet) = (0, 0);
    until("nothing moves", || {
        let now = number.load(Ordering::SeqCst);
        quiet = if now == last && now > 0 { quiet + 1 } else { 0 };
        last = now;
        quiet > 300
    });
}

#[test]
fn last_words_arrive() {
    on_stage("last_words_arrive", || {
        let heard = Arc::<Mutex<Vec<(u64, bool)>>>::default();
        let notes = Arc::clone(&heard);
        let server = serve("9.9.0.1:8080", move |mut stream| {
            let (mut total, mut buffer) = (0, vec![0; 1 << 16]);
            let clean = loop {
                match stream.read(&mut buffer) {
                    Ok(0) => break true,
                    Ok(count) => total += count as u64,
                    Err(_) => break false,
                }
            };
            notes.lock().unwrap().push((total, clean));
        });
        // Said in the moment of the end, some of it before the broker can have accepted anybody.
        let script = "
for size in (1, 1000, 300000):
    s = dial('api.weather.test', 8080); s.sendall(b'x' * size)
os._exit(0)";
        let outcome = python(granted(), script);
        assert!(outcome.success());
        until("the server has heard all", || server.served() == 3);
        let mut heard = heard.lock().unwrap().clone();
        heard.sort_unstable();
        assert_eq!(heard, [(1, true), (1000, true), (300_000, true)], "{}", attempts(&outcome));
        assert_eq!(reached(&outcome).map(|attempt| attempt.sent).sum::<u64>(), 301_001);
    });
}

/// More than are accepted, or relayed, at a time: none was heard of when the program ended.
#[test]
fn many_last_words_arrive() {
    on_stage("many_last_words_arrive", || {
        let total = Arc::<AtomicU64>::default();
        let counter = Arc::clone(&total);
        let server = serve("9.9.0.1:8080", move |mut stream| {
            let mut all = Vec::new();
            stream.read_to_end(&mut all).unwrap();
            counter.fetch_add(all.len() as u64, Ordering::SeqCst);
        });
        let script = "
host = socket.gethostbyname('api.weather.test')
all = [socket.socket() for _ in range(1000)]
for s in all: s.setblocking(False); s.connect_ex((host, 8080))
for s in all: s.setblocking(True); s.sendall(b'x' * 100)
os._exit(0)";
        let outcome = python(granted().open_files(4096), script);
        assert!(outcome.success());
        let sent: u64 = reached(&outcome).map(|attempt| attempt.sent).sum();
        assert_eq!(sent, 100_000, "{}", attempts(&outcome));
        until("the server has heard all", || server.served() == 1000);
        assert_eq!(total.load(Ordering::SeqCst), 100_000);
    });
}

#[test]
fn last_words_to_a_server_that_never_reads_are_not_waited_for_for_ever() {
    on_stage("last_words_to_a_server_that_never_reads_are_not_waited_for_for_ever", || {
        let _server = serve("9.9.0.1:8080", |stream| {
            std::thread::sleep(Duration::from_mins(2));
            drop(stream);
        });
        let script = "
s = dial('api.weather.test', 8080); s.setblocking(False)
quiet = 0
while quiet < 20:
    try: s.send(b'x' * 65536); quiet = 0
    except BlockingIOError: quiet += 1; time.sleep(.01)
os._exit(0)";
        let outcome = python(granted(), script);
        assert!(outcome.success());
        assert_eq!(only(&outcome).end, Some(AttemptEnd::RunEnded), "{}", attempts(&outcome));
    });
}

#[test]
fn a_run_whose_time_is_over_is_cut_off_at_once() {
    on_stage("a_run_whose_time_is_over_is_cut_off_at_once", || {
        let server = serve("9.9.0.1:8080", |mut stream: TcpStream| {
            let _ = stream.read_to_end(&mut Vec::new());
        });
        let endless = "
s = dial('api.weather.test', 8080)
while True: s.send(b'x'); time.sleep(.01)";
        let outcome = python(granted().timeout(Duration::from_secs(1)), endless);
        assert_eq!(outcome.end, EndCause::Timeout);
        // The kernel closes what a killed process had open, so that the end may look like one.
        assert!(only(&outcome).end.is_some(), "{}", attempts(&outcome));
        until("the server has seen the end", || server.served() == 1);

        let plan = granted().build().unwrap();
        let running = plan.spawn(&command(endless)).unwrap();
        until("it is connected", || server.accepted() == 2);
        running.kill();
        let outcome = running.wait().unwrap();
        assert_eq!(outcome.end, EndCause::Stopped);
        until("the server has seen the end", || server.served() == 2);
    });
}
