"""The notebooks as pages: their text, their code, and what it shows when it runs.

They run where the package for Python is built beside the tool and its Python has nbconvert. Elsewhere the pages have no results.
"""
import json
import os
import re
import subprocess

FOLDER = "docs/lab/notebooks"
PAGE = "docs/lab/python.md"  # the page below which they stand


def _plain(path):
    """Text and code of a notebook in Markdown."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    sources = [("".join(cell["source"]), cell["cell_type"] == "code") for cell in cells]
    return "\n\n".join(f"```python\n{source}\n```" if is_code else source for source, is_code in sources) + "\n"


def _python_of(build):
    """The Python for which a build tree has the package; nothing if it has none."""
    cache = build / "CMakeCache.txt"
    found = re.search(r"^Python_EXECUTABLE:\w+=(.+)$", cache.read_text(encoding="utf-8"), re.MULTILINE) if cache.exists() else None
    if not found or not (build / "python" / "circoll").is_dir():
        return None
    known = subprocess.run([found[1], "-c", "import nbconvert, ipykernel"], capture_output=True, check=False).returncode == 0
    return found[1] if known else None


def texts(root, build, source):
    """The pages by their names, and problems. Pictures are written beside them into `source`."""
    paths = sorted((root / FOLDER).glob("*.ipynb"))
    python = _python_of(build)
    if not python:
        print("skipped: notebooks do not run, for there is no package for Python in this build, or no nbconvert")
        return {f"{FOLDER}/{path.stem}.md": _plain(path) for path in paths}, []
    pages, problems = {}, []
    (source / FOLDER).mkdir(parents=True, exist_ok=True)
    done = subprocess.run([python, "-m", "nbconvert", "--to", "markdown", "--execute", "--log-level", "ERROR", "--output-dir", source / FOLDER, *paths],
                          capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(build / "python"), "PYDEVD_DISABLE_FILE_VALIDATION": "1"})
    if done.returncode != 0:
        problems.append(f"a notebook fails: {done.stderr[-2000:]}")
        return {f"{FOLDER}/{path.stem}.md": _plain(path) for path in paths}, problems
    for path in paths:
        text = (source / FOLDER / f"{path.stem}.md").read_text(encoding="utf-8")
        # Output is indented code, which would be read as Python.
        text = re.sub(r"\n((?:    [^\n]*\n|\n)+)", lambda found: _output(found[1]), text)
        pages[f"{FOLDER}/{path.stem}.md"] = text
    return pages, problems


def _output(indented):
    lines = [line.removeprefix("    ") for line in indented.strip("\n").split("\n")]
    if not any(line.strip() for line in lines):
        return "\n" + indented
    return "\n```text\n" + "\n".join(lines).strip("\n") + "\n```\n\n"
