# raw.py HOST PORT FILE...: sends each file as it is, and prints how it went: the first line of the answer, or how it ended.
import socket
import sys

s = socket.create_connection((sys.argv[1], int(sys.argv[2])), 60)
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
answer = b""
try:
    for name in sys.argv[3:]:
        if name == "end":
            s.shutdown(socket.SHUT_WR)
        elif name == "hear":
            answer += s.recv(4096)
        else:
            s.sendall(open(name, "rb").read())
    while True:
        got = s.recv(4096)
        if not got:
            break
        answer += got
    print("answered" if answer else "closed")
except ConnectionError:
    print("answered, then reset" if answer else "reset")
