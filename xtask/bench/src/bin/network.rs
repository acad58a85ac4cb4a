//! What name-bound egress costs: connections, bytes and the start, each beside the same client without a sandbox in the same run, in
//! turns. Everything is on loopback.
//!
//! ```text
//! cargo xtask bench network
//! ```
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _};
use std::process::Command as Bare;
use std::time::{Duration, Instant};

use skillsandbox_enforcer::egress::{NetworkRule, Protocol};
use skillsandbox_enforcer::{Command, Plan, PlanBuilder};

const NAME: &str = "api.weather.test";
const PORT: u16 = 8080;
const GIBIBYTE: u64 = 1 << 30;
/// What a client says, and what it is answered.
const WORDS: &[u8; 64] = b"GET / HTTP/1.1\r\nHost: api.weather.test:8080\r\nX: 0123456789ab\r\n\r\n";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let count = |position: usize, default| {
        arguments.get(position).and_then(|count| count.parse().ok()).unwrap_or(default)
    };
    match arguments.first().map(String::as_str) {
        Some("client") => client(&arguments[1], &arguments[2], count(3, 0)),
        Some("connections") => compare("500 connections one after the other", "sequential", 500, count(1, 9)),
        Some("lookups") => compare("500 lookups and connections", "by-name", 500, count(1, 9)),
        Some("download") => compare("1 GiB down", "download", 0, count(1, 5)),
        Some("upload") => compare("1 GiB up", "upload", 0, count(1, 5)),
        Some("concurrent") => concurrent(200, count(1, 9)),
        Some("start") => start(count(1, 200)),
        _ => println!("network connections|lookups|download|upload|concurrent|start [COUNT]"),
    }
}

fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(stream));
        }
    });
    address
}

/// The first byte says what is wanted.
fn serve(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut words = [0; WORDS.len()];
    stream.read_exact(&mut words)?;
    let mut block = vec![0; 1 << 18];
    match words[0] {
        b'd' => {
            for _ in 0..GIBIBYTE / block.len() as u64 {
                stream.write_all(&block)?;
            }
        }
        b'u' => {
            while stream.read(&mut block)? > 0 {}
            stream.write_all(b"k")?;
        }
        _ => stream.write_all(&words)?,
    }
    Ok(())
}

/// Inside, or bare: prints seconds.
fn client(what: &str, to: &str, count: usize) {
    let address = || to.to_socket_addrs().unwrap().next().unwrap();
    let known = address();
    let ask = |address: SocketAddr, first: u8| {
        let mut stream = TcpStream::connect(address).unwrap();
        let mut words = *WORDS;
        words[0] = first;
        stream.write_all(&words).unwrap();
        stream
    };
    let begin = Instant::now();
    match what {
        "sequential" | "by-name" => {
            for _ in 0..count {
                let to = if what == "by-name" { address() } else { known };
                let mut answer = [0; WORDS.len()];
                ask(to, b'G').read_exact(&mut answer).unwrap();
            }
        }
        "download" => {
            let mut stream = ask(known, b'd');
            let mut block = vec![0; 1 << 18];
            let mut total = 0;
            while let Ok(count @ 1..) = stream.read(&mut block) {
                total += count as u64;
            }
            assert_eq!(total, GIBIBYTE);
        }
        "upload" => {
            let mut stream = ask(known, b'u');
            let block = vec![0; 1 << 18];
            for _ in 0..GIBIBYTE / block.len() as u64 {
                stream.write_all(&block).unwrap();
            }
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            stream.read_exact(&mut [0]).unwrap();
        }
        // One thread each, all at once: from the call to the first byte of the answer.
        "concurrent" => {
            let barrier = std::sync::Arc::new(std::sync::Barrier::new(count));
            let threads: Vec<_> = (0..count)
                .map(|_| {
                    let barrier = std::sync::Arc::clone(&barrier);
                    std::thread::spawn(move || {
                        barrier.wait();
                        let begin = Instant::now();
                        let mut stream = TcpStream::connect(known).unwrap();
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
            println!(
                "{} {} {} {}",
                percentile(|t| t.0, 50),
                percentile(|t| t.0, 99),
                percentile(|t| t.1, 50),
                percentile(|t| t.1, 99)
            );
            return;
        }
        _ => unreachable!(),
    }
    println!("{}", begin.elapsed().as_secs_f64());
}

fn plan(server: SocketAddr, protocol: Protocol) -> Plan {
    let own = std::env::current_exe().unwrap();
    let rule = NetworkRule::domain(NAME).unwrap().ports([PORT]).protocol(protocol);
    let plan: PlanBuilder = Plan::builder().read(own).egress(rule).pin(NAME, PORT, server);
    plan.build().unwrap()
}

fn numbers(output: &[u8]) -> Vec<f64> {
    String::from_utf8_lossy(output).split_whitespace().map(|number| number.parse().unwrap()).collect()
}

fn bare(what: &str, server: SocketAddr, count: usize) -> Vec<f64> {
    let own = std::env::current_exe().unwrap();
    let output =
        Bare::new(own).args(["client", what, &server.to_string(), &count.to_string()]).output().unwrap();
    numbers(&output.stdout)
}

fn inside(plan: &Plan, what: &str, count: usize) -> Vec<f64> {
    let own = std::env::current_exe().unwrap();
    let command = Command::new(own).args(["client", what, &format!("{NAME}:{PORT}"), &count.to_string()]);
    let outcome = plan.spawn(&command.captured(10_000)).unwrap().wait().unwrap();
    assert!(outcome.success(), "{}", outcome.stderr.text());
    numbers(&outcome.stdout.bytes)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn compare(name: &str, what: &str, count: usize, turns: usize) {
    let server = server();
    let plans = [("tcp", plan(server, Protocol::Tcp)), ("http", plan(server, Protocol::Http))];
    // The gate for HTTP wants to read what is said, and megabytes of zeros are not.
    let plans = if matches!(what, "sequential" | "by-name") { &plans[..] } else { &plans[..1] };
    let mut times = vec![Vec::new(); plans.len() + 1];
    for _ in 0..turns {
        times[0].push(bare(what, server, count)[0]);
        for ((_, plan), times) in plans.iter().zip(&mut times[1..]) {
            times.push(inside(plan, what, count)[0]);
        }
    }
    let medians: Vec<f64> = times.into_iter().map(median).collect();
    println!("{name}, medians of {turns}, in turns");
    println!("{:9.2} ms  bare loopback", medians[0] * 1e3);
    for ((protocol, _), time) in plans.iter().zip(&medians[1..]) {
        let (ratio, share) = (time / medians[0], medians[0] / time * 100.0);
        println!(
            "{:9.2} ms  {ratio:5.2} x bare, {share:3.0} % of its speed  inside, by name, {protocol}",
            time * 1e3
        );
    }
}

fn concurrent(count: usize, turns: usize) {
    let server = server();
    let plan = plan(server, Protocol::Tcp);
    println!(
        "{count} connections at once, medians of {turns}, in turns; connected (p50, p99), answered (p50, p99)"
    );
    let (mut outside, mut within) = (vec![Vec::new(); 4], vec![Vec::new(); 4]);
    for _ in 0..turns {
        for (column, number) in bare("concurrent", server, count).into_iter().enumerate() {
            outside[column].push(number);
        }
        for (column, number) in inside(&plan, "concurrent", count).into_iter().enumerate() {
            within[column].push(number);
        }
    }
    for (name, columns) in [("bare loopback", outside), ("inside, by name", within)] {
        let [a, b, c, d] = [0, 1, 2, 3].map(|column: usize| median(columns[column].clone()) * 1e3);
        println!("{a:7.2} {b:7.2} ms   {c:7.2} {d:7.2} ms  {name}");
    }
}

fn start(count: usize) {
    let address: SocketAddr = ([127, 0, 0, 1], 1).into();
    let without = Plan::builder().build().unwrap();
    let with = plan(address, Protocol::Tcp);
    let command = Command::new("/bin/true");
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for _ in 0..count {
        for (plan, times) in [(&without, &mut first), (&with, &mut second)] {
            let begin = Instant::now();
            assert!(plan.spawn(&command).unwrap().wait().unwrap().success());
            times.push(begin.elapsed().as_secs_f64());
        }
    }
    let (first, second) = (median(first) * 1e3, median(second) * 1e3);
    println!("a run of /bin/true, medians of {count}, in turns");
    println!("{first:8.3} ms  no network");
    println!("{second:8.3} ms  one name granted: {:+.3} ms", second - first);
}
