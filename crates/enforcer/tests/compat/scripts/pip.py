"""Makes a wheel by hand and installs it with the pip of a virtual environment: no network, no build."""
import subprocess
import venv
import zipfile

with zipfile.ZipFile("answer-1.0-py3-none-any.whl", "w") as wheel:
    info = "answer-1.0.dist-info"
    wheel.writestr("answer.py", "def main():\n    print('entry point', 42)\n\nvalue = 42\n")
    wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: answer\nVersion: 1.0\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr(f"{info}/entry_points.txt", "[console_scripts]\nanswer = answer:main\n")
    wheel.writestr(f"{info}/RECORD", "")

venv.create("venv", with_pip=True)
subprocess.run(["venv/bin/pip", "install", "--no-index", "--quiet", "--disable-pip-version-check",
                "./answer-1.0-py3-none-any.whl"], check=True)
print("installed", flush=True)
subprocess.run(["venv/bin/python", "-c", "import answer; print('answer', answer.value)"], check=True)
subprocess.run(["venv/bin/answer"], check=True)
