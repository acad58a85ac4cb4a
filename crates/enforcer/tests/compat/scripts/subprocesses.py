import os
import signal
import subprocess
import sys

ran = subprocess.run(["echo", "hello"], capture_output=True, text=True, check=True)
print("captured", ran.stdout.strip())

first = subprocess.Popen(["echo", "hello"], stdout=subprocess.PIPE)
second = subprocess.Popen(["tr", "a-z", "A-Z"], stdin=first.stdout, stdout=subprocess.PIPE, text=True)
first.stdout.close()
print("piped", second.communicate()[0].strip())
first.wait()

print("shell", subprocess.run("exit $((1 + 2))", shell=True).returncode)

ran = subprocess.run([sys.executable, "-c", "import os; print(os.environ['ONLY'])"],
                     env={"ONLY": "only-this"}, capture_output=True, text=True)
print("environment", ran.stdout.strip() or ran.stderr)

child = subprocess.Popen(["sleep", "1000"])
child.kill()
print("ended by", -child.wait())

try:
    subprocess.run(["sleep", "1000"], timeout=0.2)
except subprocess.TimeoutExpired:
    print("timed out")

child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
print("session", os.getsid(child.pid) == child.pid)
os.killpg(child.pid, signal.SIGTERM)
print("group ended by", -child.wait())
