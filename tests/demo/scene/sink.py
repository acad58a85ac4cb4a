"""The attacker's machine: takes whatever is sent to it, and writes it down. python3 sink.py RECORD CERTIFICATE KEY

HTTPS and HTTP for webhook.test, and the name server of the zone exfil.test. Each line of the record is one thing that arrived.
"""

import http.server
import json
import ssl
import sys
import threading

import names

ADDRESS = "9.9.0.66"
MOST = 1 << 20

lock = threading.Lock()


def write_down(**what):
    with lock, open(sys.argv[1], "a") as record:
        record.write(json.dumps(what) + "\n")


class Take(http.server.BaseHTTPRequestHandler):
    timeout = 5

    def do_GET(self):
        length = min(int(self.headers.get("Content-Length") or 0), MOST)
        body = self.rfile.read(length).decode("utf-8", "replace")
        write_down(via="https" if self.server.secure else "http", path=self.path, body=body)
        self.send_response(204)
        self.end_headers()

    do_POST = do_PUT = do_GET

    def log_message(self, *_):
        pass


def take(port, secure):
    server = http.server.ThreadingHTTPServer((ADDRESS, port), Take)
    server.secure = secure
    if secure:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2], sys.argv[3])
        # The handshake is the first thing that the thread of a connection does, so nobody waits for another's.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def look_up(packet):
    write_down(via="dns", name=names.question(packet)[0])
    return names.answer(packet, ADDRESS)


take(80, False)
take(443, True)
threading.Thread(target=names.serve, args=(names.bind(ADDRESS), look_up), daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
