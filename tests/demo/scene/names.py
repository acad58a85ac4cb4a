"""Enough of DNS for a stage with three names on it: one question in, one address or none out."""

import socket
import struct

A, IN = 1, 1


def question(packet):
    """The name that is asked for, and the type."""
    labels, at = [], 12
    while packet[at]:
        length = packet[at]
        if length > 63:
            raise ValueError("a pointer in a question")
        labels.append(packet[at + 1 : at + 1 + length].decode("latin-1").lower())
        at += 1 + length
    (kind,) = struct.unpack_from(">H", packet, at + 1)
    return ".".join(labels), kind, at + 5


def answer(packet, address):
    """An answer to a packet: this address, or no such name where it is `None`."""
    _, kind, end = question(packet)
    gives = address is not None and kind == A
    # Response, authoritative, recursion as wanted; 3 is "no such name".
    flags = 0x8480 | (packet[2] & 1) << 8 | (0 if address else 3)
    head = packet[:2] + struct.pack(">HHHHH", flags, 1, int(gives), 0, 0) + packet[12:end]
    if not gives:
        return head
    return head + b"\xc0\x0c" + struct.pack(">HHIH", A, IN, 1, 4) + socket.inet_aton(address)


def bind(address):
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind((address, 53))
    return server


def serve(server, reply):
    """Answers every datagram with what `reply` makes of it, for ever."""
    while True:
        packet, whom = server.recvfrom(4096)
        try:
            server.sendto(reply(packet), whom)
        except (IndexError, ValueError, struct.error, OSError):
            pass
