#!/usr/bin/env python3
"""compare_abi_test.py MPI CIRCOLL YIELD PROGRAM: `circoll compare` starts a program of the standard ABI by a launcher of MPI."""
import json
import pathlib
import subprocess
import sys
import tempfile

import launching
from launching import end, expect

mpi, circoll, shim, program = sys.argv[1:5]
variables = launching.environment() | ({"LD_PRELOAD": shim} if launching.SPINS[mpi] else {})
with tempfile.TemporaryDirectory() as directory:
    work = pathlib.Path(directory)
    done = subprocess.run([circoll, "compare", "--np", "2", "--runs", "1", "--oversubscribe", "--mpi", mpi, "--reports", work / "reports",
                           "--", program, work / "log"], env=variables, timeout=200, capture_output=True, text=True, check=False)
    expect(done.returncode == 0, f"circoll compare ends with {done.returncode}", done.stdout, done.stderr)
    for kind, served in (("native", False), ("circoll", True)):
        path = work / "reports" / f"{kind}.1.json"
        report = json.loads(path.read_text()) if path.exists() else {"calls": 0, "native_calls": 0, "ranks": 0}
        expect(report["ranks"] == 2, f"{kind}: two ranks, not {report['ranks']}")
        expect(0 < report["calls"] and (report["native_calls"] < report["calls"]) == served, f"{kind}: served calls")
end()
