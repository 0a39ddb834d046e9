"""own_schedule_test.py SOURCE_DIR BUILD_DIR: all commands of "Your algorithm in Python" (docs/lab/formats.md) work, in their order.

Exit code 77: this machine lacks what BUILD_DIR is built with.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

source, build = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
# Words that the output of a command must have.
SAYS = {"circoll verify": "1 algorithm, 1 instance proven", "circoll cost": "bcast/two_trees  p = 4", "circoll simulate": "bcast/file:tt.json",
        "circoll faults": "bcast/two_trees", "circoll execute": "bcast/two_trees", "circoll bench": "file:tt.json",
        "CIRCOLL_BCAST": "file:tt.json", "circoll explain": "bcast/file:tt.json: is for 4 ranks; ", "circoll explore": "tt.html: open it"}


def main():
    program = build / "tests/mpi/all_collectives_openmpi"
    for needed in (program, build / "bin/circoll", build / "bin/circoll-bench.openmpi", build / "lib/circoll/openmpi/libcircoll-mpi.so"):
        if not needed.exists():
            print(f"skipped: there is no {needed}")
            return 77
    section = (source / "docs/lab/formats.md").read_text(encoding="utf-8").split("## Your algorithm in Python")[1].split("\n## ")[0]
    script = re.search(r"```python\n(.*?)```\n", section, re.DOTALL)
    commands = [re.sub(r"\s{2,}#.*$", "", line) for line in re.findall(r"^    (\S.*)$", section.replace(script[0], ""), re.MULTILINE)]
    wrong = [] if len(commands) >= 10 else [f"only {len(commands)} commands"]
    with tempfile.TemporaryDirectory() as directory:
        here = pathlib.Path(directory)
        (here / "two_trees.py").write_text(script[1], encoding="utf-8")
        (here / "program").symlink_to(program)
        (here / "bin").mkdir()
        real = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
        for name in ("mpirun", "mpirun.openmpi"):  # four ranks, however few processors there are
            (here / "bin" / name).write_text(f'#!/bin/sh\n[ "$1" = --version ] || set -- --oversubscribe "$@"\nexec {real} "$@"\n')
            (here / "bin" / name).chmod(0o755)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("CIRCOLL_", "LD_"))}
        environment |= {"PATH": f"{here}/bin:{build}/bin:{os.environ['PATH']}", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                        "HOME": str(here), "OMPI_MCA_mpi_yield_when_idle": "1"}
        said = set()
        for command in commands:
            shorter = command.replace("circoll bench", "circoll bench --seconds 0.05")
            done = subprocess.run(["bash", "-c", shorter], cwd=here, env=environment, capture_output=True, text=True, timeout=200, check=False)
            output = done.stdout + done.stderr
            for words, needed in SAYS.items():
                if words in command:
                    said.add(words)
                    if needed not in output:
                        wrong.append(f"{command}: '{needed}' is missing: {output[-1500:]}")
            if done.returncode != 0 or "NO" in output.split():
                wrong.append(f"{command}: exit code {done.returncode}: {output[-1500:]}")
        page = (here / "tt.html").read_text(encoding="utf-8") if (here / "tt.html").exists() else ""
        if "bcast/two_trees" not in page:
            wrong.append("the explorer's page does not have the schedules")
        if not (here / "tt.svg").exists() or "<svg" not in (here / "tt.svg").read_text(encoding="utf-8"):
            wrong.append("there is no picture")
    wrong += [f"no command has '{words}'" for words in SAYS if words not in said]
    print("\n".join(wrong), "FAILED" if wrong else "PASS")
    return 1 if wrong else 0


sys.exit(main())
