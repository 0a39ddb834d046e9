"""rooms_test.py CHECK_ROOMS: what tools/check-rooms refuses, and what it allows, in small trees made for it."""
import pathlib
import subprocess
import sys
import tempfile

check_rooms = sys.argv[1]

# Files, and the lines of each that are refused.
cases = {
    "src/exec/mpi/comm/a.cpp": ("#ifdef OPEN_MPI\n#endif\n", {1: "OPEN_MPI"}),
    "src/exec/mpi/call/b.hpp": ("#pragma once\n\n#  if defined(MPICH_VERSION)\n#elif OMPI_MAJOR_VERSION > 4\n#endif\n",
                                {3: "MPICH_VERSION", 4: "OMPI_MAJOR_VERSION"}),
    "src/exec/mpi/message/c.cpp": ("#ifndef CIRCOLL_SIMULATED\n#endif\n", {1: "CIRCOLL_SIMULATED"}),
    "src/exec/mpi/call/d.cpp": ("#if MPI_VERSION < 4 && \\\n    defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)\n#endif\n"
                                "#ifdef OPEN_MPI\n",
                                {1: "OMPI_HAVE_MPI_EXT_PCOLLREQ", 4: "OPEN_MPI"}),
    "src/interpose/launch.cpp": ("#define ON defined(OPEN_MPI)\n", {1: "OPEN_MPI"}),
    "src/core/e.cpp": ("#ifdef MPICH\n#endif\n", {1: "MPICH"}),
    # The places that may, what is no question, and other rooms.
    "src/exec/mpi/library/library.hpp": ("#if defined(OPEN_MPI)\n#elif defined(MPICH_VERSION)\n#endif\n", {}),
    "src/interpose/progress_mpich.cpp": ("#if MPICH_NUMVERSION >= 40300000\n#endif\n", {}),
    "src/exec/mpi/comm/f.cpp": ("// #ifdef OPEN_MPI\n/* MPICH_VERSION */\n"
                                "const char* name = \"OMPI_COMM_WORLD_SIZE\";\n"
                                "#ifdef MPIX_C_FLOAT16\n#endif\n#if MPI_VERSION >= 4  // MPICH_VERSION\n#endif\n", {}),
    "tests/mpi/g.cpp": ("#ifdef OPEN_MPI\n#endif\n", {}),
    # Includes.
    "src/plan/h.cpp": ("#include <mpi.h>\n", {1: "<mpi.h>"}),
    "src/exec/mpi/comm/i.cpp": ('#include "exec/mpi/message/j.hpp"\n', {1: '"exec/mpi/message/j.hpp"'}),
    "src/exec/mpi/message/j.hpp": ('#include "exec/mpi/comm/k.hpp"\n', {}),
    "src/exec/mpi/comm/k.hpp": ("", {}),
}

with tempfile.TemporaryDirectory() as directory:
    root = pathlib.Path(directory)
    for path, (text, _) in cases.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    run = subprocess.run([check_rooms, root], capture_output=True, text=True)
    found = {}
    for line in run.stdout.splitlines()[:-1]:
        path, number, message = line.split(":", 2)
        found.setdefault(path, {})[int(number)] = message

failed = run.returncode != 1
for path, (_, refused) in cases.items():
    messages = found.pop(path, {})
    if messages.keys() != refused.keys() or any(name not in messages[n] for n, name in refused.items()):
        print(f"{path}: refused were {messages}, not {refused}")
        failed = True
if found:
    print(f"refused, too: {found}")
    failed = True

with tempfile.TemporaryDirectory() as directory:  # nothing wrong, nothing said
    (pathlib.Path(directory) / "src/core").mkdir(parents=True)
    (pathlib.Path(directory) / "src/core/a.cpp").write_text("int a;\n")
    run = subprocess.run([check_rooms, directory], capture_output=True, text=True)
    if run.returncode != 0 or run.stdout != "1 files, 0 problems\n":
        print(f"a good tree: {run.returncode}, {run.stdout}")
        failed = True

print("FAILED" if failed else "PASS")
sys.exit(failed)
