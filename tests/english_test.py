"""comments_test.py CHECK_ENGLISH: dev/check-english refuses and allows the right lines of small trees."""
import pathlib
import subprocess
import sys
import tempfile

check_english = sys.argv[1]

twenty = " ".join(["word"] * 20)
fifteen = " ".join(["word"] * 15)
wide = "x" * 118

# Files, and the lines of each that the check refuses.
cases = {
    "core/a.cpp": (f"// What this is about.\nint a;\n// {wide}\n/* A block,\n * {wide}\n */\n  // {wide}\n",
                  {1: '"What"', 3: "121 columns", 5: "121 columns", 7: "123 columns"}),
    "core/include/circoll/b.hpp": (f"// A header.\n\n/// Who calls.\nint b;\n  /// {twenty} word.\nint c;\n"
                              f"/// Whether it is so.\nint d;\n/// {twenty}\n/// word, and so on. Short.\nint e;\n",
                              {3: '"Who"', 5: "21 words", 7: '"Whether"', 9: "24 words"}),
    "tools/bench/c.c": (f"/* {twenty}\n * word. Short. */\nint c; /* It can not be. */\n", {1: "21 words", 3: '"cannot"'}),
    "tests/k.cpp": (f"// Short. Word {twenty}\n// {fifteen}.\n\n// {twenty}; word.\n// How it is.\n",
                   {1: "36 words", 4: '"How"'}),
    "dev/l.sh": (f"#!/bin/sh\n# {twenty}; word\n", {2: "semicolon"}),
    "docs/d.md": ("It runs.\nIt waits for ever.\nIt Can not end.\n", {2: '"forever"', 3: '"cannot"'}),
    "docs/m.md": (f"# {twenty} {twenty}\n\n{twenty}\n{fifteen}\nword\n\n- {twenty}; word.\n- Which one.\n\n{twenty} word; [a b](c)\n",
                  {3: "36 words", 7: "semicolon", 8: '"Which"', 10: "semicolon"}),
    "docs/o.ipynb": ('{\n "cells": [\n  {\n   "cell_type": "markdown",\n   "source": [\n    "# A\\n",\n    "\\n",\n'
                     '    "Which one.\\n",\n    "It \\"runs\\"."\n   ]\n  },\n'
                     '  {\n   "cell_type": "code",\n   "source": [\n    "Which = 1"\n   ]\n  }\n ]\n}\n', {8: '"Which"'}),
    "dev/e": (f"#!/bin/sh\n# {wide}y\n", {2: "121 columns"}),
    # These are right: as wide as may be, short sentences before long ones, questions, code, lists, tables.
    "core/f.cpp": (f"// {twenty}.\n// Why follows: {fifteen}\n// {fifteen}.\n//\n// What is a paragraph?\n//\n"
                  f"//{wide}\n", {}),
    "core/g.hpp": (f"/// Kinds of things:\n///   one    {twenty}\nint g;\n/// Runs `{twenty}`.\n"
                  f"/// Then it ends, {twenty}.\nint h;  ///< no sentence; {twenty}\nconst char* text = \"{wide}\";\n", {}),
    "tests/core/h.cpp": (f"// {twenty} word.\nint h;  // for everyone, for every one\n", {}),
    "docs/i.md": ("It can not only run, but does so for everybody.\n", {}),
    "docs/n.md": (f"| {twenty} | {twenty} |\n\n    {twenty}; {twenty}\n\n```\nWhat {twenty} {twenty}\n```\n\n"
                  f"- {twenty}\n- `{twenty}` [link]({wide}) {fifteen} 1 2 3 4\n", {}),
    "data.bin": (b"\xff\xfe can not\n", {}),
}


def write(root, files):
    for path, (text, _) in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text if isinstance(text, bytes) else text.encode())
    return subprocess.run([check_english, root], capture_output=True, text=True)


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
    if run.returncode != 0 or run.stdout != "5 files, 0 problems\n":
        print(f"a good tree: {run.returncode}, {run.stdout}")
        failed = True

with tempfile.TemporaryDirectory() as directory:  # subjects of commits
    git = ["git", "-C", directory, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    subprocess.run([*git, "init", "-q"], check=True)
    for subject in ("base: is not looked at, though its subject is longer than there may be columns", "x" * 72, "y" * 73):
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", subject], check=True)
    since = subprocess.run([*git, "rev-parse", "HEAD~2"], capture_output=True, text=True, check=True).stdout.strip()
    run = subprocess.run([check_english, directory, "--since", since], capture_output=True, text=True)
    if run.returncode != 1 or "subject of 73 columns" not in run.stdout or "1 problems" not in run.stdout:
        print(f"subjects: {run.returncode}, {run.stdout}")
        failed = True

with tempfile.TemporaryDirectory() as directory:  # the message of a commit, before there is one
    message = pathlib.Path(directory) / "message"
    for text, refused in ((f"{'x' * 72}\n\n{'y' * 80}\n", False), ("# as git begins it\n\n" + "x" * 73 + "\n", True),
                          (f"Merge {'x' * 80}\n", False), ("", False)):
        message.write_text(text, encoding="utf-8")
        run = subprocess.run([check_english, "--message", message], capture_output=True, text=True)
        if run.returncode != refused or ("73 columns" in run.stdout) != refused:
            print(f"message {text!r}: {run.returncode}, {run.stdout}")
            failed = True

print("FAILED" if failed else "PASS")
sys.exit(failed)
