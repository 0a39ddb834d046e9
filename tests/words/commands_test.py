"""commands_test.py SOURCE_DIR CIRCOLL: the commands that README, docs, and --help print are commands.

Every line of a code block that begins with a command of Circoll, or starts one, is given to bash as it is printed, in a directory of
its own for each page, in their order. There `circoll` only reads its command line (--dry-run), but for commands that need neither
MPI nor much time, which really run. Launchers run what they would start, once. What a line is left out for stands in LEFT_OUT.
"""
import functools
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile

root, circoll = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()

# The first words of lines that the test reads as commands.
STARTS = re.compile(r"(?:[A-Z][A-Z0-9_]*=\S+ )*(?:for \w+ in [^;(]*; do|circoll |circoll-|mpirun |mpiexec |srun |dev/netbed )")
# Parts of lines that are no commands, or that do not run here.
LEFT_OUT = {
    "circoll: ": "what a program prints",
    "circoll-torture: ": "what a program prints",
    "--format FORMAT": "FORMAT stands for one of several words",
    "circoll-schedule 1": "a line of a file",
}
# Commands that the test runs as they are printed. They need no MPI, and take less than minutes.
REAL = {"list", "show", "cost", "explain", "explore", "export", "faults", "lint", "man", "completion"}
# Exceptions that take too long to run, or whose files no page makes.
ONLY_READ = [
    r"show .*-p (\d{4,}|\d+Mi)",
    r"lint |export (rules|\[)|--policy file:|--graph ",
]

STUBS = {
    "circoll": '''#!/bin/bash
echo "$*" >> "$COMMANDS_LOG"
if [[ " $REAL_COMMANDS " == *" ${1:-} "* ]] && ! grep -Eq "$ONLY_READ" <<<"$*"; then exec "$REAL_CIRCOLL" "$@"; fi
exec "$REAL_CIRCOLL" --dry-run "$@"
''',
    # Takes a launcher's options away and starts the program once.
    "mpirun": '''#!/bin/bash
while [[ ${1:-} == -* ]]; do
  case $1 in --enable-recovery | -disable-auto-cleanup | --oversubscribe | --bind-to-none | --*=*) shift ;; *) shift 2 ;; esac
done
[ $# -gt 0 ] || { echo "a launcher without a program" >&2; exit 2; }
exec "$@"
''',
    "program": "#!/bin/sh\nexit 0\n",
}
STUBS["mpiexec"] = STUBS["srun"] = STUBS["mpirun"]
STUBS["your-program"] = STUBS["program"]
RULES = '{"circoll_rules": 1, "allreduce": [{"use": "ring"}]}\n'


@functools.cache
def schedules_of_bcast():
    return subprocess.run([circoll, "show", "bcast/binomial", "-p", "4", "--format", "json"], capture_output=True, text=True, check=True).stdout


def lines_of_page(path):
    """The lines of indented and fenced blocks."""
    fenced = False
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif fenced:
            yield line
        elif line.startswith("    "):
            yield line[4:]


def lines_of_help(command):
    done = subprocess.run([circoll, *command, "--help"], capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        if line.startswith("  ") and STARTS.match(line.strip()) and not line.startswith("   "):
            yield line.strip()


def commands(lines):
    """Lines that are commands, those with a backslash at the end joined; without comments. A comment may be a command, too."""
    joined = ""
    for line in lines:
        joined += line.removesuffix("\\").strip() + " "
        if line.endswith("\\"):
            continue
        # A loop ends with its last line.
        if joined.startswith("for ") and STARTS.match(joined) and "done" not in joined:
            joined += "\n"
            continue
        text, joined = joined.strip(), ""
        if STARTS.match(text) and not any(part in text for part in LEFT_OUT):
            yield re.sub(r"\s{2,}#.*$", "", text)


def make(directory, name, text):
    file = directory / name
    file.write_text(text)
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


def check_page(name, lines, work):
    """Runs the commands of a page; returns their number and what is wrong."""
    here = work / re.sub(r"\W", "_", name)
    here.mkdir()
    for stub in ("program", "your-program"):
        make(here, stub, STUBS[stub])
    (here / "rules.json").write_text(RULES)
    for schedules in ("tt.json", "mine.json"):  # what a script of the reader writes
        (here / schedules).write_text(schedules_of_bcast())
    environment = {**os.environ, "PATH": f"{work / 'bin'}:{os.environ['PATH']}", "REAL_CIRCOLL": str(circoll), "COMMANDS_LOG": os.devnull,
                   "REAL_COMMANDS": " ".join(sorted(REAL)), "ONLY_READ": "|".join(ONLY_READ), "CIRCOLL_PROFILE": "off", "HOME": str(here)}
    wrong, count = [], 0
    for line in commands(lines):
        count += 1
        line_here = line.replace("dev/netbed", "netbed")
        done = subprocess.run(["bash", "-o", "pipefail", "-c", line_here], cwd=here, env=environment, capture_output=True, text=True,
                              timeout=300, check=False)
        if done.returncode != 0:
            wrong.append(f"{name}: {line}\n    exit code {done.returncode}: {done.stderr.strip()[-400:]}")
    return count, wrong


def main():
    pages = [*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md"))]
    helped = subprocess.run([circoll, "--help-all"], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^  ([a-z]+)  +[A-Z]", helped, re.MULTILINE)
    wrong, count = [], 0
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        (work / "bin").mkdir()
        for name, text in STUBS.items():
            make(work / "bin", name, text)
        for bench in ("circoll-random-calls.openmpi", "circoll-torture.openmpi"):
            make(work / "bin", bench, STUBS["program"])
        make(work / "bin", "netbed", "#!/bin/bash\nwhile [ $# -gt 0 ] && [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n")
        make(work / "bin", "jq", "#!/bin/sh\ncat >/dev/null\n")
        for page in pages:
            found, bad = check_page(str(page.relative_to(root)), lines_of_page(page), work)
            count, wrong = count + found, wrong + bad
        for command in [[], *([name] for name in names)]:
            found, bad = check_page("help of " + " ".join(["circoll", *command]), lines_of_help(command), work)
            count, wrong = count + found, wrong + bad
            if command and found == 0:
                wrong.append(f"circoll {command[0]} --help has no example")
        # The test finds an unknown command.
        _, bad = check_page("none", ["circoll bensh --np 2", "mpirun -np 4 circoll bench --nonsense", "circoll show allreduce/rung -p 4"], work)
        if len(bad) != 3:
            wrong.append(f"of three wrong commands {len(bad)} are found")
    if len(names) < 20 or count < 150:
        wrong.append(f"only {count} commands of {len(pages)} pages and {len(names)} helps were found")
    print(*wrong, sep="\n")
    print(f"{count} commands; {'FAILED' if wrong else 'PASS'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
