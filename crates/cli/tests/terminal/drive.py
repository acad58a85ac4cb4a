"""Runs a command on a terminal of its own, as a person would: waits for texts and answers them.

Reads a JSON object from standard input: argv, rows, columns, steps ([text to wait for, action, value]), seconds.
Writes one: output (Latin-1, so that every byte is one character), code, is_cooked (whether the terminal is as it was at the end),
answered (what a terminal would have typed by itself).
"""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import termios
import time


def set_size(fd, rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def drive(wanted):
    outer, inner = pty.openpty()
    set_size(inner, wanted.get("rows", 30), wanted.get("columns", 100))
    before = termios.tcgetattr(inner)
    pid = os.fork()
    if pid == 0:
        os.setsid()
        fcntl.ioctl(inner, termios.TIOCSCTTY, 0)
        for number in range(3):
            os.dup2(inner, number)
        os.close(outer)
        os.execvpe(wanted["argv"][0], wanted["argv"], wanted["env"])
    # `inner` stays open here, so that the state of the terminal can be read after the end.
    output, seen, steps = b"", 0, list(wanted["steps"])
    deadline = time.monotonic() + wanted.get("seconds", 60)
    status = None
    while time.monotonic() < deadline:
        readable, _, _ = select.select([outer], [], [], 0.05)
        if readable:
            output += os.read(outer, 65536)
        elif status is not None:
            break
        while steps:
            text, action, value = steps[0]
            at = output.find(text.encode("latin-1"), seen)
            if at < 0:
                break
            seen = at + len(text)
            steps.pop(0)
            if action == "type":
                os.write(outer, value.encode("latin-1"))
            elif action == "resize":
                set_size(outer, *value)
            elif action == "resize-often":
                for number in range(value):
                    set_size(outer, 20 + number % 30, 60 + number % 100)
            elif action == "signal":
                os.kill(pid, value)
        if status is None:
            ended, found = os.waitpid(pid, os.WNOHANG)
            if ended:
                status = found
    if status is None:
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
    return {
        "output": output.decode("latin-1"),
        "code": os.waitstatus_to_exitcode(status),
        "is_cooked": termios.tcgetattr(inner) == before,
        "steps_left": len(steps),
    }


json.dump(drive(json.load(sys.stdin)), sys.stdout)
