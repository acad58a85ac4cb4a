"""Verifies a trace by docs/trace.md alone: another implementation, to compare with."""
import hashlib, json, re, sys

def verify(data):
    sha = lambda *parts: hashlib.sha256(b"".join(parts))
    head, rest = data.split(b'\n  "hash": "', 1)
    chain = sha(head, b"\n")
    assert rest.startswith(chain.hexdigest().encode() + b'",\n  "events": [\n'), "header"
    lines = rest.split(b"\n")[2:]
    end = lines.index(b"  ],")
    for number, line in enumerate(lines[:end]):
        body, comma = line[:-76] if line.endswith(b",") else line[:-75], b"," if number + 1 < end else b""
        chain = sha(chain.digest(), body)
        assert line == body + b',"hash":"' + chain.hexdigest().encode() + b'"}' + comma, f"event {number}"
        assert json.loads(body + b"}")["sequence"] == number, f"event {number}"
    tail = b"\n".join(lines[end + 1 : -3]) + b"\n"
    chain = sha(chain.digest(), tail)
    assert lines[-3:] == [b'  "digest": "' + chain.hexdigest().encode() + b'"', b"}", b""], "digest"
    trace = json.loads(data)
    summary, verdicts = trace["violation_summary"], [event.get("verdict") for event in trace["events"]]
    assert summary["events"] == end, "summary"
    counted = sum(event.get("count", 1) for event in trace["events"] if event.get("verdict") == "unknown")
    assert summary.get("unknown", 0) == counted, "unknown"
    proved = all(found["prevented"] for found in summary["classifications"])
    assert summary["complete"] == (summary["lost"] == 0 and not summary.get("incomplete_because")), "complete"
    known = summary["complete"] and "unknown" not in verdicts
    assert summary["all_prevented"] == (proved and known), "all_prevented"
    for found in summary["classifications"]:
        not_seen = {verdicts[place] for place in found["evidence"]} & {"allowed", "unknown"}
        assert not (found["prevented"] and not_seen), "prevented"
    return trace["digest"]

# Ed25519 as RFC 8032 has it, for the signature beside a trace.
P, Q = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P

def add(a, b):
    (x, y), (u, v) = a, b
    k = D * x * u * y * v % P
    return (x * v + u * y) * pow(1 + k, P - 2, P) % P, (y * v + x * u) * pow(1 - k, P - 2, P) % P

def times(n, point):
    result = (0, 1)
    while n:
        if n & 1:
            result = add(result, point)
        point, n = add(point, point), n >> 1
    return result

def point(data):
    y = int.from_bytes(data, "little") & ((1 << 255) - 1)
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    x = x if x * x % P == square else x * pow(2, (P - 1) // 4, P) % P
    assert x * x % P == square and y < P, "point"
    return (P - x if x & 1 != data[31] >> 7 else x), y

def verify_signature(sig, key, digest):
    said = json.loads(sig)
    assert said["format"] == "skillsandbox.trace.signature/1" and said["key"] == key and said["digest"] == digest, "statement"
    lines = [said["format"], "trace " + said["trace_id"], "digest " + digest, "history " + said["history"]]
    message, signature, public = ("\n".join(lines) + "\n").encode(), bytes.fromhex(said["signature"]), bytes.fromhex(key)
    r, s = signature[:32], int.from_bytes(signature[32:], "little")
    h = int.from_bytes(hashlib.sha512(r + public + message).digest(), "little") % Q
    assert s < Q and times(s, point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))) == add(point(r), times(h, point(public))), "signature"

# A file by its name, with the public key where it is signed; or many, each behind a line with its length, one answer a line.
if len(sys.argv) > 1:
    digest = verify(open(sys.argv[1], "rb").read())
    if len(sys.argv) > 2:
        verify_signature(open(sys.argv[1] + ".sig").read(), sys.argv[2], digest)
    print(digest)
else:
    while length := sys.stdin.buffer.readline():
        try:
            print(verify(sys.stdin.buffer.read(int(length))))
        except Exception as error:
            print("wrong:", type(error).__name__)
