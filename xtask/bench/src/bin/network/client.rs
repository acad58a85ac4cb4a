//! The program that is timed, bare and inside: it prints seconds.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use crate::stage::{GIBIBYTE, WORDS};

/// What is timed.
pub(crate) const WORK: [&str; 6] = ["once", "each", "lookup", "download", "upload", "concurrent"];

/// Does one of [`WORK`] with a host and a port, by name.
pub(crate) fn run(what: &str, to: &str, count: usize) {
    let address = || to.to_socket_addrs().unwrap().next().unwrap();
    let known = address();
    let begin = Instant::now();
    match what {
        "once" => (0..count).for_each(|_| converse(known)),
        "each" => (0..count).for_each(|_| converse(address())),
        "lookup" => (0..count).for_each(|_| assert_eq!(address().port(), known.port())),
        "download" => download(known),
        "upload" => upload(known),
        "concurrent" => return concurrent(known, count),
        _ => unreachable!("not one of {WORK:?}"),
    }
    println!("{}", begin.elapsed().as_secs_f64());
}

fn ask(to: SocketAddr, first: u8) -> TcpStream {
    let mut stream = TcpStream::connect(to).unwrap();
    let mut words = *WORDS;
    words[0] = first;
    stream.write_all(&words).unwrap();
    stream
}

fn converse(to: SocketAddr) {
    let mut answer = [0; WORDS.len()];
    ask(to, b'G').read_exact(&mut answer).unwrap();
}

fn download(from: SocketAddr) {
    let mut stream = ask(from, b'd');
    let mut block = vec![0; 1 << 18];
    let mut total = 0;
    while let Ok(count @ 1..) = stream.read(&mut block) {
        total += count as u64;
    }
    assert_eq!(total, GIBIBYTE);
}

fn upload(to: SocketAddr) {
    let mut stream = ask(to, b'u');
    let block = vec![0; 1 << 18];
    for _ in 0..GIBIBYTE / block.len() as u64 {
        stream.write_all(&block).unwrap();
    }
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    stream.read_exact(&mut [0]).unwrap();
}

/// One thread each, all at once: from the call until it is connected, and to the answer.
fn concurrent(to: SocketAddr, count: usize) {
    let barrier = Arc::new(Barrier::new(count));
    let threads: Vec<_> = (0..count)
        .map(|_| {
            let barrier = Arc::clone(&barrier);
            std::thread::spawn(move || {
                barrier.wait();
                let begin = Instant::now();
                let mut stream = TcpStream::connect(to).unwrap();
                let connected = begin.elapsed();
                stream.write_all(WORDS).unwrap();
                let mut answer = [0; WORDS.len()];
                stream.read_exact(&mut answer).unwrap();
                (connected, begin.elapsed(), stream)
            })
        })
        .collect();
    let times: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    let percentile = |of: fn(&(Duration, Duration, TcpStream)) -> Duration, part: usize| {
        let mut times: Vec<_> = times.iter().map(of).collect();
        times.sort_unstable();
        times[(times.len() * part).div_ceil(100) - 1].as_secs_f64()
    };
    let (connected, answered) = (
        [50, 99].map(|part| percentile(|time| time.0, part)),
        [50, 99].map(|part| percentile(|time| time.1, part)),
    );
    println!("{} {} {} {}", connected[0], connected[1], answered[0], answered[1]);
}
