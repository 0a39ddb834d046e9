"""comments_test.py CHECK_COMMENTS: what dev/check-comments refuses, and what it allows, in small trees made for it."""
import pathlib
import subprocess
import sys
import tempfile

check_comments = sys.argv[1]

twenty = " ".join(["word"] * 20)
wide = "x" * 118

# Files, and the lines of each that are refused.
cases = {
    "core/a.cpp": (f"// What this is about.\nint a;\n// {wide}\n/* A block,\n * {wide}\n */\n  // {wide}\n",
                  {1: '"What"', 3: "121 columns", 5: "121 columns", 7: "123 columns"}),
    "core/include/circoll/b.hpp": (f"// A header.\n\n/// Who calls.\nint b;\n  /// {twenty} word.\nint c;\n"
                              f"/// Whether it is so.\nint d;\n/// {twenty}\n/// word; and so on. Short.\nint e;\n",
                              {3: '"Who"', 5: "21 words", 7: '"Whether"', 9: "24 words"}),
    "tools/bench/c.c": (f"/* {twenty}\n * word. Short. */\nint c; /* It can not be. */\n", {1: "21 words", 3: '"cannot"'}),
    "docs/d.md": (f"It runs.\nIt waits for ever.\nIt Can not end.\n", {2: '"forever"', 3: '"cannot"'}),
    "dev/e": (f"#!/bin/sh\n# {wide}y\n", {2: "121 columns"}),
    # What is right: as wide as may be, short sentences before long ones, code, lists, other rooms, what is no comment.
    "core/f.cpp": (f"// {twenty}.\n// Why follows: {twenty}\n// {twenty}.\n//\n// What a paragraph.\n"
                  f"//{wide}\n", {}),
    "core/g.hpp": (f"/// Kinds of things:\n///   one    {twenty}\nint g;\n/// Runs `{twenty}`.\n"
                  f"/// Then it ends, {twenty}.\nint h;  ///< what may be asked\nconst char* text = \"{wide}\";\n", {}),
    "tests/core/h.cpp": (f"// What may stand here:\n// {twenty} word.\nint h;  // for everyone, for every one\n", {}),
    "docs/i.md": (f"It can not only run, but does so for everybody. {wide}\n", {}),
    "data.bin": (b"\xff\xfe can not\n", {}),
}


def write(root, files):
    for path, (text, _) in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text if isinstance(text, bytes) else text.encode())
    return subprocess.run([check_comments, root], capture_output=True, text=True)


with tempfile.TemporaryDirectory() as directory:
    run = write(pathlib.Path(directory), cases)
found = {}
for line in run.stdout.splitlines()[:-1]:
    path, number, message = line.split(":", 2)
    found.setdefault(path, {})[int(number)] = message

failed = run.returncode != 1
for path, (_, refused) in cases.items():
    messages = found.pop(path, {})
    if messages.keys() != refused.keys() or any(words not in messages[n] for n, words in refused.items()):
        print(f"{path}: refused were {messages}, not {refused}")
        failed = True
if found:
    print(f"refused, too: {found}")
    failed = True

with tempfile.TemporaryDirectory() as directory:  # nothing wrong, nothing said
    run = write(pathlib.Path(directory), {path: case for path, case in cases.items() if not case[1]})
    if run.returncode != 0 or run.stdout != "4 files, 0 problems\n":
        print(f"a good tree: {run.returncode}, {run.stdout}")
        failed = True

print("FAILED" if failed else "PASS")
sys.exit(failed)
