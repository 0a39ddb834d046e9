"""The notebooks as pages: their text, their code, and what it shows when it runs.

They run where the package for Python is built beside the tool and its Python has nbconvert. Elsewhere the pages have no results.
"""
import base64
import json
import os
import re
import shutil
import subprocess

FOLDER = "docs/lab/notebooks"
PAGE = "docs/lab/python.md"  # the page below which they stand


def _shown(output, stem, number, folder):
    """An output in Markdown. A picture is written into a folder."""
    data = output.get("data", {})
    if "image/png" in data:
        name = f"{stem}-{number}.png"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(base64.b64decode(data["image/png"]))
        return f"![{stem}, picture {number}]({name})"
    text = output.get("text") or data.get("text/plain") or ""
    return "```text\n" + "".join(text).rstrip("\n") + "\n```"


def _page(path, stem, folder):
    """A notebook in Markdown: its text, its code, and the outputs that it has."""
    parts = []
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        source = "".join(cell["source"])
        parts.append(f"```python\n{source}\n```" if cell["cell_type"] == "code" else source)
        parts += [_shown(output, stem, number, folder) for output in cell.get("outputs", [])]
    return "\n\n".join(parts) + "\n"


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
    python, problems, ran = _python_of(build), [], source / FOLDER / "ran"
    if python:
        done = subprocess.run([python, "-m", "nbconvert", "--to", "notebook", "--execute", "--log-level", "ERROR", "--output-dir", ran, *paths],
                              capture_output=True, text=True, check=False,
                              env={**os.environ, "PYTHONPATH": str(build / "python"), "PYDEVD_DISABLE_FILE_VALIDATION": "1"})
        if done.returncode != 0:
            problems.append(f"a notebook fails: {done.stderr[-2000:]}")
    else:
        print("skipped: notebooks do not run, for there is no package for Python in this build, or no nbconvert")
    made = {path: ran / path.name if python and not problems else path for path in paths}
    pages = {f"{FOLDER}/{path.stem}.md": _page(there, path.stem, source / FOLDER) for path, there in made.items()}
    shutil.rmtree(ran, ignore_errors=True)
    return pages, problems
