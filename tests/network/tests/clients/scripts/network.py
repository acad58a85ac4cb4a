# network.py [ADDRESS PORT [ADDRESS...]]: what of a network there is, and what comes of using it.
import errno
import socket
import sys


def table(name):
    try:
        return [line.split() for line in open(f"/proc/net/{name}").read().splitlines()]
    except FileNotFoundError:
        return []


print("interfaces:", *(name for _, name in socket.if_nameindex()))

# IPv4: all local routes are in the trie, others in the table; IPv6: by interface, of which the unreachable ones are the kernel's.
routes = [row[0] for row in table("route")[1:]]
trie = [row for row in table("fib_trie") if row[0] == "|--"]
routes += [row[1] for row in trie if not row[1].startswith("127.")]
BLOCKED = 0x200
routes += [
    row[0] for row in table("ipv6_route") if not int(row[8], 16) & BLOCKED and int(row[0], 16) != 1 and row[0] != "0" * 31 + "1"
]
print("routes beyond loopback:", *(sorted(set(routes)) or ["none"]))

LISTEN = "0A"
listening = {int(row[1].split(":")[1], 16) for name in ("tcp", "tcp6") for row in table(name)[1:] if row[3] == LISTEN}
listening |= {int(row[1].split(":")[1], 16) for name in ("udp", "udp6", "udplite", "raw", "raw6") for row in table(name)[1:]}
print("listening:", *(sorted(listening) or ["none"]))


def attempt(what, action, *arguments):
    try:
        print(f"{what}:", action(*arguments))
    except OSError as error:
        print(f"{what}:", errno.errorcode.get(error.errno, error))


def connect(address, port):
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as s:
        s.settimeout(60)
        s.connect((address, port))
        s.sendall(b"a secret")
        return "connected"


def send(address, port):
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.sendto(b"a secret", (address, port))
        return "sent"


if len(sys.argv) > 2:
    port = int(sys.argv[2])
    for address in [sys.argv[1]] + sys.argv[3:]:
        attempt(f"connect {address}", connect, address, port)
        attempt(f"send {address}", send, address, port)

if len(sys.argv) != 3:
    for name in ("api.weather.test", "localhost"):
        try:
            socket.getaddrinfo(name, 80)
            print(f"look up {name}: yes")
        except socket.gaierror:
            print(f"look up {name}: no")
