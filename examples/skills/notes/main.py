"""Keeps notes in the one folder it may write. The note arrives in SKILL_PARAM_NOTE."""

import json
import os
import pathlib

FOLDER = pathlib.Path("/tmp/skillsandbox-notes")
FILE = FOLDER / "notes.jsonl"
MOST = 1000


def main():
    notes = []
    if FILE.exists():
        notes = [json.loads(line) for line in FILE.read_text().splitlines()]
    note = os.environ.get("SKILL_PARAM_NOTE")
    if note:
        notes = [*notes, note][-MOST:]
        # A new file in the place of the old one: a run that is ended half-way leaves the old one whole.
        fresh = FILE.with_suffix(".new")
        fresh.write_text("".join(json.dumps(note) + "\n" for note in notes))
        fresh.replace(FILE)
    print(json.dumps({"notes": notes}))


if __name__ == "__main__":
    main()
