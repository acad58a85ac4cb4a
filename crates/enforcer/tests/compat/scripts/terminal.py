import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

pid, master = pty.fork()
if pid == 0:
    # A session of its own, of which the new terminal is the controlling one.
    print(os.isatty(0) and os.tcgetpgrp(0) == os.getpgrp() and os.ttyname(0).startswith("/dev/pts/"))
    sys.exit(0)
print("child says", os.read(master, 100).decode().strip())
os.waitpid(pid, 0)
os.close(master)

master, slave = pty.openpty()
attributes = termios.tcgetattr(slave)
attributes[3] &= ~termios.ECHO
termios.tcsetattr(slave, termios.TCSANOW, attributes)
child = subprocess.Popen(["sh", "-c", "read -r line; printf '<%s>' \"$line\""], stdin=slave, stdout=slave,
                         start_new_session=True)
os.write(master, b"hello\n")
print("conversation", os.read(master, 100))
child.wait()

fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
print("size", *struct.unpack("HHHH", fcntl.ioctl(master, termios.TIOCGWINSZ, bytes(8)))[:2])

try:
    os.open("/dev/tty", os.O_RDWR)
    print("no terminal of the host", False)
except OSError:
    print("no terminal of the host", True)
