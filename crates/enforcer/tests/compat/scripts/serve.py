"""Serves a folder on a port of its own choosing, which it writes to a file."""
import functools
import http.server
import os

handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory="served")
handler.func.log_message = lambda *_: None
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
with open("port.new", "w") as file:
    file.write(str(server.server_port))
os.rename("port.new", "port")
server.serve_forever()
