#!/usr/bin/env python3
"""road_test.py SOURCE_DIR: the road of sendbuf, as HACKING draws it, is the road that the code has.

Each line names a file and the functions on the road that are defined there. A function calls the first one of the next line by
name, and no file stands in a room above that of the file before.
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
MOST_FILES = 12
# Rooms from the top to the bottom. A file's room is the longest of these with which its path begins.
ROOMS = ["core/interpose/", "core/exec/mpi/serve/", "core/exec/mpi/message/", "core/exec/mpi/call/", "core/exec/node/", "core/ops/"]
failures = []


def road():
    """(path, functions) of each line of the picture."""
    text = (root / "HACKING.md").read_text(encoding="utf-8")
    picture = re.search(r"### The road of sendbuf\n.*?\n\n((?: {4}[^\n]+\n)+)", text, re.DOTALL)
    lines = [line.split() for line in picture[1].splitlines()] if picture else []
    return [(words[1], [word.rstrip(",") for word in words[2:]]) for words in lines if words[0].isdigit()]


def expect(holds, what):
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}")


steps = road()
expect(8 <= len(steps) <= MOST_FILES, f"{len(steps)} files, of which there may be {MOST_FILES}")
expect(len({path for path, _ in steps}) == len(steps), "a file is entered once")
level = 0
for i, (path, functions) in enumerate(steps):
    file = root / path
    if not file.is_file():
        expect(False, f"{path} does not exist")
        continue
    room = max((room for room in ROOMS if path.startswith(room)), key=len, default=None)
    expect(room is not None, f"{path} is in none of the rooms of the road")
    if room is not None:
        expect(ROOMS.index(room) >= level, f"{path} climbs back to {room}")
        level = ROOMS.index(room)
    code = re.sub(r"//.*", "", file.read_text(encoding="utf-8"))
    for function in functions:
        expect(re.search(rf"\b{function}\b", code), f"{path} has no {function}")
    if i + 1 < len(steps):
        callee = steps[i + 1][1][0]
        expect(re.search(rf"\b{callee}\(", code), f"{path} does not call {callee}() of {steps[i + 1][0]}")
print("FAILED" if failures else "PASS")
sys.exit(1 if failures else 0)
