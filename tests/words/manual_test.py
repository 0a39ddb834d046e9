"""manual_test.py CIRCOLL: a manual page for each command, which mandoc finds nothing wrong with, and which has all options of its help.

Skipped (77) where there is no mandoc.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

circoll = pathlib.Path(sys.argv[1]).resolve()


def output(*command, code=0):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60, check=False)
    return done.stdout + done.stderr if code is None or done.returncode == code else sys.exit(f"{command}: {done.stdout}{done.stderr}")


def rendered(page):
    """As a terminal shows it, without the strokes that make it bold."""
    return re.sub(r".\x08", "", output("mandoc", "-T", "utf8", page))


def main():
    if shutil.which("mandoc") is None:
        print("mandoc is not installed")
        return 77
    wrong = []
    names = re.findall(r"^  ([a-z][a-z-]*)  +[A-Z]", output(circoll, "--help", "--all"), re.MULTILINE)
    with tempfile.TemporaryDirectory() as directory:
        output(circoll, "man", "--all", directory)
        pages = sorted(pathlib.Path(directory).glob("*.1"))
        if {page.stem for page in pages} != {"circoll", *("circoll-" + name for name in names)} or len(names) < 20:
            wrong.append(f"pages are {[page.stem for page in pages]}")
        for page in pages:
            if said := output("mandoc", "-T", "lint", "-W", "warning", page, code=None):
                wrong.append(said)
            words = page.stem.split("-", 1)[1:]
            text = rendered(page)
            for option in set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", output(circoll, *words, "--help"), re.MULTILINE)):
                if option not in text:
                    wrong.append(f"{page.stem} does not say {option}")
            if "EXAMPLES" not in text or "circoll " not in text.split("EXAMPLES")[1]:
                wrong.append(f"{page.stem} has no example")
            if words and output(circoll, "man", *words) != page.read_text():
                wrong.append(f"circoll man {words[0]} prints another page")
        if "CIRCOLL_ALLREDUCE" not in rendered(pathlib.Path(directory) / "circoll.1"):
            wrong.append("circoll.1 does not know the environment")
        for former in ("check", "combine", "local"):
            if f"circoll-{former}" in (pathlib.Path(directory) / "circoll.1").read_text():
                wrong.append(f"circoll.1 has the former command {former}")
        # The lint finds a list that does not end.
        bad = pathlib.Path(directory) / "bad.1"
        bad.write_text(pages[0].read_text().replace(".El", "", 1))
        if not output("mandoc", "-T", "lint", "-W", "warning", bad, code=None):
            wrong.append("mandoc finds nothing wrong with a list that does not end")
    print(*wrong, sep="\n")
    print("FAILED" if wrong else "PASS")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
