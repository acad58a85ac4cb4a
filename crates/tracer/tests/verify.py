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
    assert trace["violation_summary"]["events"] == end, "summary"
    return trace["digest"]

# A file by its name; or many, each behind a line with its length, one answer a line.
if len(sys.argv) > 1:
    print(verify(open(sys.argv[1], "rb").read()))
else:
    while length := sys.stdin.buffer.readline():
        try:
            print(verify(sys.stdin.buffer.read(int(length))))
        except Exception as error:
            print("wrong:", type(error).__name__)
