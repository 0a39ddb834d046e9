"""circoll.run over Open MPI, for which Debian's mpi4py is built: results are those of mpi4py's own collectives."""
import os
import re
import shutil
import subprocess
import sys

import pytest


@pytest.mark.parametrize("ranks", [1, 3, 4])
def test_results_are_those_of_the_definition(source, ranks):
    pytest.importorskip("mpi4py")
    if not shutil.which("mpirun.openmpi"):
        pytest.skip("there is no mpirun.openmpi")
    done = subprocess.run([source / "dev/launch", "test", "openmpi", "-np", str(ranks), sys.executable, source / "tests/python/programs/collectives.py"],
                          capture_output=True, text=True, timeout=200, check=False,
                          env=dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"(\d+) comparisons are right", done.stdout)[1]) > 40
