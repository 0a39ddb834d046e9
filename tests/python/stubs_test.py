"""The stubs of circoll._core have the names and arguments of the module; the package exports all of it; its examples are right."""
import ast
import dataclasses
import doctest
import inspect
import os
import pathlib
import re
import subprocess
import sys

import circoll
import circoll._core
import circoll.errors
import circoll.results
import circoll.schedules
import pytest


def declared(tree):
    """{name: [the arguments of each overload], or whether it may be set} of a module or class of stubs, and {class: the same}."""
    names, classes = {}, {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            classes[node.name] = declared(node)[0]
        elif isinstance(node, ast.FunctionDef):
            arguments = [argument.arg for argument in node.args.args if argument.arg != "self"]
            names.setdefault(node.name, []).append(arguments)
        elif isinstance(node, ast.AnnAssign):
            names[node.target.id] = not ast.unparse(node.annotation).startswith("Final[")
    return names, classes


def arguments_of(function):
    """The arguments of each overload, as pybind11 writes them into the documentation."""
    lines = re.findall(r"^(?:\d+\. )?\w+\((.*)\) -> ", function.__doc__ or "", re.MULTILINE)
    if len(lines) > 1 and lines[0].startswith("*args"):
        lines = lines[1:]
    found = []
    for line in lines:
        line = re.sub(r"\[[^\[\]]*\]", "", re.sub(r"\[[^\[\]]*\]", "", re.sub(r"\[[^\[\]]*\]", "", line)))
        line = re.sub(r"\{[^{}]*\}|<[^<>]*>|'[^']*'", "0", line)
        found.append([word.split(":")[0].strip() for word in line.split(",") if ":" in word and word.split(":")[0].strip() != "self"])
    return found


def public(names):
    return {name for name in names if not name.startswith("_")}


def test_stubs_are_of_the_module(source):
    functions, classes = declared(ast.parse((source / "lab/python/circoll/_core.pyi").read_text(encoding="utf-8")))
    module = circoll._core
    assert set(functions) | set(classes) == {name for name in vars(module) if not name.startswith("__")}
    for name, overloads in functions.items():
        if isinstance(overloads, list):
            assert arguments_of(getattr(module, name)) == overloads, name
    for name, members in classes.items():
        real = vars(getattr(module, name))
        assert public(members) == public(real), name
        for member, expected in members.items():
            if isinstance(expected, bool):
                assert (real[member].fset is not None) == expected, f"{name}.{member}"
            elif not member.startswith("_"):
                assert arguments_of(getattr(getattr(module, name), member)) == expected, f"{name}.{member}"


def test_the_package_exports_everything():
    exported = set(circoll.__all__)
    results = {name for name, value in vars(circoll.results).items() if dataclasses.is_dataclass(value)}
    assert exported >= public(vars(circoll._core)) | results and len(exported) == len(circoll.__all__)
    assert all(hasattr(circoll, name) for name in exported)
    errors = {name for name, value in vars(circoll.errors).items() if inspect.isclass(value)}
    assert exported >= errors
    assert re.fullmatch(r"\d+\.\d+\.\d+", circoll.__version__)


@pytest.mark.parametrize("module", [circoll, circoll.schedules])
def test_examples_in_the_package(module):
    outcome = doctest.testmod(module, extraglobs={"circoll": circoll})
    assert outcome.failed == 0 and outcome.attempted > 1


def test_examples_of_the_page(source):
    outcome = doctest.testfile(str(source / "docs/lab/python.md"), module_relative=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert outcome.failed == 0 and outcome.attempted > 15


def test_the_example_of_the_readme(source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    readme = (source / "README.md").read_text(encoding="utf-8")
    exec(compile(re.search(r"```python\n(.*?)```", readme, re.DOTALL)[1], "README.md", "exec"), {})
    assert (tmp_path / "costs.svg").stat().st_size > 1000


TYPED = """
import circoll
verdict = circoll.verify("allreduce/ring", p=4, progress=print)
count: int = verdict.messages
rules: list[circoll.Rule] = circoll.rules("rules.json")
first: tuple[int, int | None] = rules[0].bytes
name: str = circoll.algorithm("allreduce/ring").cost(4)
circoll.verify("allreduce/ring", ranks=4)
circoll.simulate("allreduce/ring", p=4).time_s = 1.0
"""


def test_a_type_checker_knows_the_package(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "user.py").write_text(TYPED)
    place = pathlib.Path(circoll.__file__).parents[1]
    done = subprocess.run([sys.executable, "-m", "mypy", "--ignore-missing-imports", "--exclude", "plot/__main__", "--cache-dir", tmp_path / "cache",
                           tmp_path / "user.py", place / "circoll"], capture_output=True, text=True, check=False, timeout=300,
                          env={**os.environ, "MYPYPATH": str(place)}, cwd=tmp_path)
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert [int(line.split(":")[1]) for line in errors if line.startswith("user.py")] == [7, 8, 9], done.stdout + done.stderr
    assert len(errors) == 3, done.stdout
