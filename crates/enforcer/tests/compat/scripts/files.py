import fcntl
import mmap
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import zipfile

print("tempdir", tempfile.gettempdir())
with tempfile.NamedTemporaryFile() as named:
    named.write(b"data")
    named.flush()
    print("named", os.path.getsize(named.name) == 4)
with tempfile.TemporaryFile() as anonymous:
    anonymous.write(b"data")
    anonymous.seek(0)
    print("anonymous", anonymous.read())
    with mmap.mmap(anonymous.fileno(), 0) as mapped:
        mapped[:] = mapped[:].upper()
        mapped.flush()
    anonymous.seek(0)
    print("mapped", anonymous.read())

with open("lock", "w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    other = "import fcntl; fcntl.flock(open('lock', 'w'), fcntl.LOCK_EX | fcntl.LOCK_NB)"
    refused = subprocess.run([sys.executable, "-c", other], stderr=subprocess.DEVNULL).returncode
    print("locked out" if refused else "not locked")

with open("file", "w") as file:
    file.write("x" * 100000)
os.link("file", "hard")
os.symlink("file", "soft")
print("links", os.stat("file").st_nlink, os.path.samefile("soft", "hard"))

os.mkfifo("fifo")
writer = threading.Thread(target=lambda: open("fifo", "w").write("through"))
writer.start()
print("fifo", open("fifo").read())
writer.join()

os.makedirs("tree/a/b")
open("tree/a/b/c.txt", "w").close()
shutil.copytree("tree", "copy")
found = [os.path.join(folder, name) for folder, _, names in os.walk("copy") for name in names]
print("tree", [os.path.relpath(path, "copy") for path in found])
shutil.rmtree("copy")

with open("file", "rb") as source, open("sent", "wb") as target:
    print("sent", os.sendfile(target.fileno(), source.fileno(), 0, 100000))
with open("file", "rb") as source, open("copied", "wb") as target:
    print("copied", os.copy_file_range(source.fileno(), target.fileno(), 100000))

os.chmod("file", 0o640)
print("mode", oct(stat.S_IMODE(os.stat("file").st_mode)))
os.utime("file", (1000000000, 1000000000))
print("times", int(os.stat("file").st_mtime))

os.mkdir("names")
open("names/日本語.txt", "w").close()
print("unicode", os.listdir("names"))

with zipfile.ZipFile("archive.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("inside.txt", "text")
print("zip", zipfile.ZipFile("archive.zip").namelist())
