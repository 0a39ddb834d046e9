"""rooms_test.py SOURCE_DIR: what dev/check-rooms refuses, and what it allows, in copies of the tree."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

source = pathlib.Path(sys.argv[1])

# Files, and the lines of each that the check refuses.
cases = {
    "core/exec/mpi/comm/a.cpp": ("#ifdef OPEN_MPI\n#endif\n", {1: "OPEN_MPI"}),
    "core/exec/mpi/call/b.hpp": ("#pragma once\n\n#  if defined(MPICH_VERSION)\n#elif OMPI_MAJOR_VERSION > 4\n#endif\n",
                                {3: "MPICH_VERSION", 4: "OMPI_MAJOR_VERSION"}),
    "core/exec/mpi/message/c.cpp": ("#ifndef CIRCOLL_SIMULATED\n#endif\n", {1: "CIRCOLL_SIMULATED"}),
    "core/exec/mpi/call/d.cpp": ("#if MPI_VERSION < 4 && \\\n    defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)\n#endif\n"
                                "#ifdef OPEN_MPI\n",
                                {1: "OMPI_HAVE_MPI_EXT_PCOLLREQ", 4: "OPEN_MPI"}),
    "core/interpose/launch.cpp": ("#define ON defined(OPEN_MPI)\n", {1: "OPEN_MPI"}),
    "core/facts/e.cpp": ("#ifdef MPICH\n#endif\n", {1: "MPICH"}),
    # These places may ask, these lines are no question, and these are other rooms.
    "core/exec/mpi/library/library.hpp": ("#if defined(OPEN_MPI)\n#elif defined(MPICH_VERSION)\n#endif\n", {}),
    "core/interpose/progress_mpich.cpp": ("#if MPICH_NUMVERSION >= 40300000\n#endif\n", {}),
    "core/exec/mpi/comm/f.cpp": ("// #ifdef OPEN_MPI\n/* MPICH_VERSION */\n"
                                "const char* name = \"OMPI_COMM_WORLD_SIZE\";\n"
                                "#ifdef MPIX_C_FLOAT16\n#endif\n#if MPI_VERSION >= 4  // MPICH_VERSION\n#endif\n", {}),
    "tests/mpi/g.cpp": ("#ifdef OPEN_MPI\n#endif\n", {}),
    # Includes.
    "core/plan/h.cpp": ("#include <mpi.h>\n", {1: "<mpi.h>"}),
    "core/exec/mpi/comm/i.cpp": ('#include "exec/mpi/message/j.hpp"\n', {1: '"exec/mpi/message/j.hpp"'}),
    "core/exec/mpi/message/j.hpp": ('#include "exec/mpi/comm/k.hpp"\n', {}),
    "core/exec/mpi/comm/k.hpp": ("", {}),
    "core/interpose/l.cpp": ('#include "circoll/select.hpp"\n#include "measured/tuning.hpp"\n',
                            {2: "the floor above, tools"}),
    "core/prepare/m.cpp": ('#include "measured/tuning.hpp"\n', {1: '"measured/tuning.hpp"'}),
    "core/exec/local/n.cpp": ('#include "measured/measurement.hpp"\n', {1: "measurement.hpp"}),
    "tools/cli/o.cpp": ('#include "commands.hpp"\n#include "oracle/oracle.hpp"\n#include "support/xml.hpp"\n'
                  '#include "circoll/mpi.hpp"\n#include "select/policies.hpp"\n',
                  {3: '"support/xml.hpp"', 4: '"circoll/mpi.hpp"', 5: '"select/policies.hpp"'}),
    "tools/bench/p.cpp": ('#include "exec/mpi/serve/perform.hpp"\n#include "support/command.hpp"\n', {2: "support/"}),
    "lab/torture/q.cpp": ('#include "facts/text.hpp"\n#include "support/xml.hpp"\n#include "circoll/select.hpp"\n',
                      {2: "support/", 3: '"circoll/select.hpp"'}),
    "core/show/r.cpp": ('#include "support/xml.hpp"\n#include <fmt/format.h>\n', {1: "support/"}),
    "core/plan/s.cpp": ("#include <fmt/format.h>\n", {1: "<fmt/format.h>"}),
    "core/include/circoll/t.hpp": ('#include "facts/text.hpp"\n#include "support/xml.hpp"\n', {1: "facts/", 2: "support/"}),
    "tests/support/u.hpp": ('#include "circoll/comm.hpp"\n#include "exec/local/comm.hpp"\n', {2: "exec/local/"}),
    "tests/core/v.cpp": ('#include "support/xml.hpp"\n#include "exec/mpi/comm/globals.hpp"\n', {2: "exec/mpi/"}),
    "tests/mpi/w.cpp": ('#include "exec/mpi/comm/globals.hpp"\n', {}),
    "dev/x.cpp": ('#include "circoll/types.hpp"\n', {1: "circoll/types.hpp"}),
    "tools/cli/z.cpp": ('#include "sim/sim.hpp"\n', {1: "the floor above, lab"}),
    "tests/core/aa.cpp": ('#include "measured/tuning.hpp"\n', {1: "the floor above, tools"}),
    "core/garage/y.cpp": ("", {0: "no rule"}),
}

rooms = ["core", "tools", "lab", "examples", "dev", "tests"]


def copy_into(directory):
    for room in rooms:
        shutil.copytree(source / room, pathlib.Path(directory) / room)
    return pathlib.Path(directory)


def check(root):
    return subprocess.run([source / "dev/check-rooms", root], capture_output=True, text=True)


failed = False
with tempfile.TemporaryDirectory() as directory:
    root = copy_into(directory)
    if (run := check(root)).returncode != 0 or not run.stdout.endswith(" files, 0 problems\n"):
        print(f"the tree as it is: {run.returncode}, {run.stdout}")
        failed = True
    for path, (text, _) in cases.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    run = check(root)
    found = {}
    for line in run.stdout.splitlines()[:-1]:
        path, *number, message = line.split(":", 2)
        found.setdefault(path, {})[int(number[0]) if number and number[0].isdigit() else 0] = line
    failed = failed or run.returncode != 1

for path, (_, refused) in cases.items():
    messages = found.pop(path, {})
    if messages.keys() != refused.keys() or any(name not in messages[n] for n, name in refused.items()):
        print(f"{path}: refused were {messages}, not {refused}")
        failed = True
if found:
    print(f"refused, too: {found}")
    failed = True

# The check refuses rules that name missing things: a room, a header, a package that nobody in a room includes any more.
with tempfile.TemporaryDirectory() as directory:
    root = copy_into(directory)
    shutil.rmtree(root / "core/oracle")
    (root / "core/select/machine.hpp").unlink()
    (root / "core/exec/local/job.hpp").unlink()
    for path in (root / "core/show").iterdir():
        path.write_text(path.read_text().replace("<nlohmann/json.hpp>", "<vector>"))
    run = check(root)
    for expected in ["there is a rule for core/oracle/", "tools/cli/ may see oracle/,", "tools/cli/ may see select/machine.hpp,",
                     "exec/local/job.hpp is confined", "core/show/ may see nlohmann/"]:
        if expected not in run.stdout:
            print(f"not said: {expected}")
            failed = True
    failed = failed or run.returncode != 1

print("FAILED" if failed else "PASS")
sys.exit(failed)
