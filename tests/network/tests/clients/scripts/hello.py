# hello.py NAME: the beginning of TLS as OpenSSL makes it, in files: whole, in two records, with things that hide or double the name.
import ssl
import struct
import sys

context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
try:
    context.wrap_bio(incoming, outgoing, server_hostname=sys.argv[1]).do_handshake()
except ssl.SSLWantReadError:
    pass
record = outgoing.read()
message = record[5:]


def records(message, size=1 << 14):
    parts = [message[at : at + size] for at in range(0, len(message), size)]
    return b"".join(b"\x16\x03\x01" + struct.pack(">H", len(part)) + part for part in parts)


def extended(kind, data, first=False):
    # After the version, the random bytes, the session, the ciphers and the compressions.
    at = 4 + 2 + 32
    at += 1 + message[at]
    at += 2 + int.from_bytes(message[at : at + 2], "big")
    at += 1 + message[at]
    extensions = message[at + 2 :]
    more = struct.pack(">HH", kind, len(data)) + data
    extensions = more + extensions if first else extensions + more
    body = message[4:at] + struct.pack(">H", len(extensions)) + extensions
    return records(message[:1] + len(body).to_bytes(3, "big") + body)


def named(*names):
    entries = b"".join(b"\0" + struct.pack(">H", len(name)) + name for name in names)
    return struct.pack(">H", len(entries)) + entries


files = {
    "hello": record,
    "pieces": records(message, 40),
    "ech": extended(0xFE0D, bytes(64)),
    "esni": extended(0xFFCE, bytes(64)),
    "second-name": extended(0, named(b"evil.test")),
    "second-name-first": extended(0, named(b"evil.test"), True),
    "short": records(b"\x01\x00\x00\x01\x00"),
    "nonsense": b"\x16\x03\x01\x00\x05hello",
    "old": b"\x80\x2e\x01\x03\x01" + bytes(43),
    "half": record[:60],
}
for name, data in files.items():
    open(name, "wb").write(data)
