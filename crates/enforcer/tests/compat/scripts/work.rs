use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

fn sum(from: u32, to: u32) -> u32 {
    (from..to).sum()
}

fn main() {
    let threads: Vec<_> = (0..4).map(|n| std::thread::spawn(move || sum(n * 25, n * 25 + 25))).collect();
    println!("threads {}", threads.into_iter().map(|thread| thread.join().unwrap()).sum::<u32>());
    let file = std::env::temp_dir().join("file");
    std::fs::write(&file, "text").unwrap();
    println!("file {}", std::fs::read_to_string(&file).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut peer, _) = listener.accept().unwrap();
    peer.write_all(b"hello").unwrap();
    drop(peer);
    let mut text = String::new();
    client.read_to_string(&mut text).unwrap();
    println!("listen {text}");
}

#[test]
fn sums() {
    assert_eq!(sum(0, 100), 4950);
}
