import http.server
import socket
import threading
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, code, text):
        body = text.encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/missing":
            self.answer(404, "")
        else:
            self.answer(200, f"GET {self.path}")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(200, f"POST {len(body)}")

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_port}"
print(urllib.request.urlopen(f"{address}/hello", timeout=60).read().decode())
print(urllib.request.urlopen(address, data=b"hello world", timeout=60).read().decode())
try:
    urllib.request.urlopen(f"{address}/missing", timeout=60)
except urllib.error.HTTPError as error:
    print("not found", error.code)
with ThreadPoolExecutor(8) as pool:
    answers = pool.map(lambda n: urllib.request.urlopen(f"{address}/{n}", timeout=60).read(), range(8))
    print("parallel", len(set(answers)))
server.shutdown()

one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
one.bind(("127.0.0.1", 0))
two = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
two.sendto(b"ping", one.getsockname())
data, sender = one.recvfrom(100)
one.sendto(data.upper(), sender)
print("udp", two.recv(100))

print("name", socket.gethostbyname("localhost"))
