import os
import subprocess
import venv

venv.create("venv", with_pip=False)
python = "venv/bin/python"


def run(*args):
    return subprocess.run(args, check=True, capture_output=True, text=True).stdout.strip()


print("prefix", os.path.basename(run(python, "-c", "import sys; print(sys.prefix)")))

packages = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
with open(os.path.join(packages, "answer.py"), "w") as file:
    file.write("value = 42\n")
print("module", run(python, "-c", "import answer; print(answer.value)"))

script = os.path.abspath("venv/bin/tool")
with open(script, "w") as file:
    file.write(f"#!{os.path.abspath(python)}\nimport answer\nprint('ran' if answer.value == 42 else 'wrong')\n")
os.chmod(script, 0o755)
print("script", run(script))
