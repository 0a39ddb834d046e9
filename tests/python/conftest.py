"""Paths that the tests of the package share: CIRCOLL_SOURCE and CIRCOLL_CLI come from ctest."""
import os
import pathlib
import subprocess

import pytest


@pytest.fixture(scope="session")
def source():
    return pathlib.Path(os.environ["CIRCOLL_SOURCE"])


@pytest.fixture
def tool(tmp_path):
    """Runs the command line tool in a directory of its own; returns exit code and output."""
    def run(*words, **environment):
        (tmp_path / "temporary").mkdir(exist_ok=True)
        done = subprocess.run([os.environ["CIRCOLL_CLI"], *map(str, words)], cwd=tmp_path, capture_output=True, text=True, check=False,
                              env=dict(os.environ, CIRCOLL_PROFILE="off", TMPDIR=str(tmp_path / "temporary"), **environment), timeout=300)
        return done.returncode, done.stdout, done.stderr
    return run
