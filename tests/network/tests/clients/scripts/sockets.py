# sockets.py GRANTED OTHER PORT: connects in every way that a socket has, to a granted address and to another.
import errno
import os
import select
import socket
import sys

granted, other, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
MPTCP = 262
FASTOPEN_CONNECT = 30


def plain(address):
    s = socket.socket()
    s.connect((address, port))
    return s


def mapped(address):
    s = socket.socket(socket.AF_INET6)
    s.connect(("::ffff:" + address, port))
    return s


def waiting(address):
    s = socket.socket()
    s.setblocking(False)
    error = s.connect_ex((address, port))
    if error == errno.EINPROGRESS:
        poll = select.poll()
        poll.register(s, select.POLLOUT)
        poll.poll(60000)
        error = s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if error:
        raise OSError(error, os.strerror(error))
    s.setblocking(True)
    return s


def multipath(address):
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, MPTCP)
    s.connect((address, port))
    return s


def from_elsewhere(address):
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.connect((address, port))
    return s


def to_device(address):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo\0")
    s.connect((address, port))
    return s


def unrouted(address):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_DONTROUTE, 1)
    s.connect((address, port))
    return s


def sent_at_once(address):
    s = socket.socket()
    s.sendto(b"GET / HT", socket.MSG_FASTOPEN, (address, port))
    return s, b"TP/1.1\r\nHost: api.weather.test\r\n\r\n"


def sent_late(address):
    s = socket.socket()
    s.setsockopt(socket.IPPROTO_TCP, FASTOPEN_CONNECT, 1)
    s.connect((address, port))
    return s


def twice(address):
    # Connected elsewhere first, taken apart, and connected again.
    s = socket.socket()
    try:
        s.connect((other, port))
    except OSError:
        pass
    s.connect((address, port))
    return s


for way in (plain, mapped, waiting, multipath, from_elsewhere, to_device, unrouted, sent_at_once, sent_late, twice):
    for what, address in (("granted", granted), ("other", other)):
        try:
            made = way(address)
            s, request = made if isinstance(made, tuple) else (made, b"GET / HTTP/1.1\r\nHost: api.weather.test\r\n\r\n")
            s.settimeout(60)
            s.sendall(request)
            answer = s.recv(4096)
            got = "answered" if answer else "nothing"
        except OSError as error:
            got = errno.errorcode.get(error.errno, str(error))
        print(way.__name__, what, got)
