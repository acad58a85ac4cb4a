# A client that brings its own resolver: builds the question by hand, sends it by every way there is, to every server it was told
# of, and connects to the address in the answer. Prints what each way led to.
import os
import socket
import struct
import sys

name, port, servers = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
A, AAAA = 1, 28


def question(number, kind):
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return struct.pack(">6H", number, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">HH", kind, 1)


def addresses(answer, number, kind):
    got, flags, _, count, _, _ = struct.unpack(">6H", answer[:12])
    assert got == number and flags & 0x8000, "not an answer to this"
    if flags & 0xF:
        return f"code {flags & 0xF}"
    at = 12
    while answer[at]:
        at += answer[at] + 1
    at += 5
    for _ in range(count):
        while answer[at] and answer[at] < 0xC0:
            at += answer[at] + 1
        at += 2 if answer[at] else 1
        found, _, _, length = struct.unpack(">HHIH", answer[at : at + 10])
        at += 10
        if found == kind:
            family = socket.AF_INET if kind == A else socket.AF_INET6
            return socket.inet_ntop(family, answer[at : at + length])
        at += length
    return "nothing"


def udp(server, how, data):
    family = socket.AF_INET6 if ":" in server else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        s.settimeout(30)
        if how == "connected":
            s.connect((server, 53))
            s.send(data)
            return s.recv(4096)
        if how == "sendto":
            s.sendto(data, (server, 53))
        else:
            s.sendmsg([data[:5], data[5:]], [], 0, (server, 53))
        answer, sender = s.recvfrom(4096)
        assert sender[:2] == (server, 53), f"an answer from {sender}"
        return answer


def tcp(server, how, data):
    with socket.create_connection((server, 53), 30) as s:
        s.sendall(struct.pack(">H", len(data)) + data)
        stream = s.makefile("rb")
        (length,) = struct.unpack(">H", stream.read(2))
        return stream.read(length)


def fetch(address):
    with socket.create_connection((address, port), 30) as s:
        s.sendall(f"GET / HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n".encode())
        stream = s.makefile("rb")
        while stream.readline().strip():
            pass
        return stream.readline().decode().strip()


for server in servers:
    for kind in (A, AAAA):
        for ask, how in ((udp, "sendto"), (udp, "sendmsg"), (udp, "connected"), (tcp, "tcp")):
            number = int.from_bytes(os.urandom(2), "big")
            try:
                address = addresses(ask(server, how, question(number, kind)), number, kind)
                got = fetch(address) if "." in address or ":" in address else address
            except OSError as error:
                got = type(error).__name__
            print(f"{server} {'A' if kind == A else 'AAAA'} {how}: {got}")
