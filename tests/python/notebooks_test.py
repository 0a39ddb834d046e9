"""The notebooks of docs/lab/notebooks run: each in a kernel of its own, where it asserts what it shows. They are committed without outputs."""
import json
import os
import pathlib
import re
import sys

import pytest

FOLDER = pathlib.Path(os.environ["CIRCOLL_SOURCE"]) / "docs/lab/notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.fixture(scope="session")
def kernel(tmp_path_factory):
    """The name of a kernel that is this Python."""
    place = tmp_path_factory.mktemp("jupyter")
    (place / "kernels/of_the_tests").mkdir(parents=True)
    command = [sys.executable, "-Xfrozen_modules=off", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (place / "kernels/of_the_tests/kernel.json").write_text(json.dumps({"argv": command, "display_name": "tests", "language": "python"}))
    os.environ["JUPYTER_PATH"] = str(place)
    os.environ["IPYTHONDIR"] = str(place / "ipython")
    return "of_the_tests"


def test_there_are_six():
    assert [path.stem for path in NOTEBOOKS] == ["choosing", "decision", "failures", "first-steps", "one-rank-more", "own-algorithm"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, kernel):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name=kernel, resources={"metadata": {"path": str(FOLDER)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not [output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"], outputs
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    assert pictures and any(output.output_type == "stream" for output in outputs)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_committed_as_it_was_written(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None and cell["metadata"] == {} for cell in code)
    assert sum("assert" in "".join(cell["source"]) for cell in code) >= 3
    opening = "".join(notebook["cells"][0]["source"])
    assert re.match(r"# .+\n\nFor .+ This notebook answers one question: .+\?$", opening), opening
    for cell in notebook["cells"]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", "".join(cell["source"])) if cell["cell_type"] == "markdown" else ():
            assert (FOLDER / target).exists(), target


def test_the_page_leads_to_each():
    page = (FOLDER.parent / "python.md").read_text(encoding="utf-8")
    assert all(f"(notebooks/{path.name})" in page for path in NOTEBOOKS)
