"""modulefile_test.py SOURCE_DIR: the module files set and unset the variables that docs/admin/administrators.md names.

Lmod loads packaging/modulefile/circoll.lua, and it or Environment Modules loads packaging/modulefile/circoll, for a tree that only has the
files that module files look for. Exit code 77: this machine has neither.
"""
import glob
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[1]).resolve() / "packaging/modulefile"
wrong = []


def expect(good, what):
    if not good:
        wrong.append(what)


def modules_commands():
    """(name, command that prints what a POSIX shell has to evaluate, the module files that it reads)"""
    for lmod in sorted({os.path.realpath(file) for file in glob.glob("/usr/share/lmod/*/libexec/lmod")}):
        yield "Lmod", [lmod, "bash"], ("circoll.lua", "circoll")
    for modules in ("/usr/lib/x86_64-linux-gnu/modulecmd.tcl", "/usr/lib/modulecmd.tcl", "/usr/libexec/modulecmd.tcl",
                    "/usr/lib/environment-modules/modulecmd.tcl", os.environ.get("MODULES_CMD", "")):
        if os.path.isfile(modules):
            yield "Environment Modules", ["tclsh", modules, "bash"], ("circoll",)


class Machine:
    """An installed tree, and a folder of modules with one version of Circoll's."""

    def __init__(self, work, command, file):
        self.command, self.file = command, file
        self.prefix = work / "prefix"
        self.modules = work / "modules"
        self.dropin = self.prefix / "lib/circoll/openmpi/libcircoll-mpi.so"
        self.dropin.parent.mkdir(parents=True)
        self.dropin.touch()
        (self.modules / "circoll").mkdir(parents=True)
        (self.modules / "somempi").mkdir()
        (self.modules / "somempi/1.0").write_text("#%Module\nsetenv SOMEMPI 1\n", encoding="utf-8")

    def settings(self, **changes):
        """Writes the module file with settings of a site."""
        lua = self.file.endswith(".lua")
        values = {"prefix": str(self.prefix), "mpi": "openmpi", "mpi_module": "", "preload": False, "reports": "", "off": False, **changes}
        lines = []
        for line in (SOURCE / self.file).read_text(encoding="utf-8").splitlines():
            words = line.split()
            name = words[1] if len(words) > 2 and words[0] == ("local" if lua else "set") else ""
            if name in values:
                value = values.pop(name)
                if lua:
                    line = f"local {name} = " + (str(value).lower() if isinstance(value, bool) else f'"{value}"')
                else:
                    line = f"set {name} " + (str(int(value)) if isinstance(value, bool) else f'"{value}"')
            lines.append(line)
        expect(not values, f"{self.file} has no setting {', '.join(values)}")
        (self.modules / ("circoll/0.2.0.lua" if lua else "circoll/0.2.0")).write_text("\n".join(lines) + "\n", encoding="utf-8")

    def variables(self, *actions, **environment):
        """The environment after module commands, such as "load circoll"; None if one of them fails."""
        script = "\n".join(f'text=$("${{command[@]}}" {action}) || exit 9; eval "$text" || exit 9' for action in actions)
        quoted = " ".join(f"'{word}'" for word in self.command)
        done = subprocess.run(["bash", "-c", f"command=({quoted})\n{script}\nexec /usr/bin/env -0"], capture_output=True,
                              text=True, timeout=60, check=False,
                              env={"PATH": "/usr/bin:/bin", "HOME": str(self.prefix), "MODULEPATH": str(self.modules), **environment})
        self.said = done.stderr
        variables = dict(entry.split("=", 1) for entry in done.stdout.split("\0") if "=" in entry)
        failed = done.returncode != 0 or variables.get("_mlstatus") == "1"
        return None if failed else variables


def check(name, command, file):
    with tempfile.TemporaryDirectory() as directory:
        machine = Machine(pathlib.Path(directory), command, file)
        prefix = str(machine.prefix)

        def same(got, expected, what):
            expect(got == expected, f"{name}, {file}, {what}: {got!r}, not {expected!r}; {machine.said[-300:]}")

        def loaded(*actions, **environment):
            return machine.variables(*(actions or ("load circoll",)), **environment) or {}

        machine.settings()
        got = loaded()
        same(got.get("PATH"), f"{prefix}/bin:/usr/bin:/bin", "PATH")
        same(got.get("CMAKE_PREFIX_PATH"), prefix, "CMAKE_PREFIX_PATH")
        same(got.get("PKG_CONFIG_PATH"), f"{prefix}/lib/pkgconfig", "PKG_CONFIG_PATH")
        for variable in ("LD_LIBRARY_PATH", "LD_PRELOAD", "CIRCOLL_POLICY", "CIRCOLL_REPORT"):
            same(got.get(variable), None, variable)
        same([key for key in got if key.startswith("CIRCOLL_")], [], "no variable that the drop-in does not know")
        got = loaded("load circoll", "unload circoll")
        same(got.get("PATH"), "/usr/bin:/bin", "PATH after unload")
        same(got.get("PKG_CONFIG_PATH"), None, "PKG_CONFIG_PATH after unload")

        machine.settings(preload=True, reports="/site/reports", off=True)
        for job in ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"):
            got = loaded(**{job: "7"})
            same(got.get("CIRCOLL_REPORT"), "/site/reports/%j.%p.json", f"reports in a job of {job}")
        same(got.get("CIRCOLL_POLICY"), "native", "off")
        same(got.get("LD_PRELOAD"), str(machine.dropin), "preload")
        same(loaded().get("CIRCOLL_REPORT"), None, "reports outside of jobs")

        (machine.prefix / "lib/libcircoll.so").touch()
        machine.settings(mpi_module="somempi")
        same(loaded("load somempi", "load circoll").get("LD_LIBRARY_PATH"), f"{prefix}/lib", "a shared library")
        # Environment Modules 5 loads what a module requires, and says so. Lmod refuses.
        got = machine.variables("load circoll")
        expect(got is None or f"{prefix}/bin" not in got["PATH"].split(":") or got.get("SOMEMPI") == "1",
               f"{name}, {file}: loaded without the MPI's module")
        expect("somempi" in machine.said, f"{name}, {file}: the MPI's module is not named: {machine.said[-300:]}")

        machine.settings(mpi="mpich")
        got = machine.variables("load circoll")
        expect(got is None or f"{prefix}/bin" not in got["PATH"].split(":"), f"{name}, {file}: loaded without a drop-in")
        expect("there is no drop-in for mpich" in machine.said, f"{name}, {file}: the missing drop-in is not named: {machine.said[-300:]}")


commands = list(modules_commands())
if not commands:
    print("skipped: neither Lmod nor Environment Modules is here (package lmod or environment-modules)")
    sys.exit(77)
for name, command, files in commands:
    for file in files:
        check(name, command, file)
        print(f"{name} loads {file}")
print(*wrong, sep="\n")
print("FAILED" if wrong else "PASS")
sys.exit(1 if wrong else 0)
