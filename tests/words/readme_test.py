"""readme_test.py SOURCE_DIR BUILD_DIR [--bundle TARBALL]: every command that README prints works, with 2 ranks.

The commands run in their order in one shell, as a reader would paste them: in a directory where build/release is BUILD_DIR and
./your-program is an example, as it is when ./quickstart has ended. NOT_RUN names each command that does not run here, with the reason, and SHORTER those that run with
less to do. With --bundle the first commands unpack that tarball, and the others run with its tool. Without it they are not run.
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
tarball = pathlib.Path(sys.argv[4]).resolve() if sys.argv[3:4] == ["--bundle"] else None

NOT_RUN = {
    "./quickstart": "needs the network and root for packages, and builds for minutes; this build is what it makes",
}
OF_BUNDLE = re.compile(r"tar xzf |export PATH=\$PWD:\$PATH:\$PWD/mpi$")
OF_BUILD = re.compile(r"export PATH=\$PWD/build/release/bin:")
SHORTER = {
    "circoll tune --here": ("circoll tune --here --quick", "it measures for three minutes"),
    "circoll bench --np 2": ("circoll bench --np 2 --bytes 8,16Ki --seconds 0.05", "it measures for a minute"),
}
# Words that the output of a command must have. Its exit code must be 0 in any case.
SAYS = [
    (r"circoll bench", r"faster than native in \d+ of \d+ cells"),
    (r"circoll compare", r"in collectives"),
    (r"CIRCOLL_REPORT=1 ", r"alltoall.*\n(.*\n)*.*served|served"),
    (r"circoll run ", r"fft: 2 ranks"),
    (r"circoll tune --here", r"nothing to gain: keep auto|\d+ are changed"),
]


def command_lines():
    """The commands of README's indented blocks, without comments. Fenced blocks are C++, which the test consumer compiles."""
    for line in (source / "README.md").read_text(encoding="utf-8").split("```")[::2]:
        for command in re.findall(r"^    (\S.*)$", line, re.MULTILINE):
            yield re.sub(r"\s{2,}#.*$", "", command).strip()


def main():
    program = build / "examples/fft_openmpi"
    for needed in (program, build / "bin/circoll", build / "bin/circoll-bench.openmpi", build / "lib/circoll/openmpi/libcircoll-mpi.so"):
        if not needed.exists():
            print(f"skipped: there is no {needed}")
            return 77
    wrong, used, script, ran = [], set(), [], []
    with tempfile.TemporaryDirectory() as directory:
        here = pathlib.Path(directory)
        work, home = here / "work", here / "home"
        for folder in (work / "build", home):
            folder.mkdir(parents=True)
        (work / "build/release").symlink_to(build)
        places = [work]
        if tarball:
            version = tarball.name.removesuffix(".tar.gz")
            (work / tarball.name).symlink_to(tarball)
            (work / version).mkdir()  # the commands after `cd` find the program there
            places.append(work / version)
        for place in places:
            shutil.copy(program, place / "your-program")
        for command in command_lines():
            if command in NOT_RUN or (not tarball and OF_BUNDLE.match(command)) or (tarball and OF_BUILD.match(command)):
                used.add(command)
                continue
            if command in SHORTER:
                used.add(command)
                command = SHORTER[command][0]
            number = len(ran)
            ran.append(command)
            script.append(f"{{ {command}\n}} >{here}/{number}.out 2>&1 </dev/null; echo $? >{here}/{number}.code")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("CIRCOLL_", "XDG_", "OMPI_MCA_", "LD_"))}
        environment.update(HOME=str(home), OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        subprocess.run(["bash", "-c", "\n".join(script)], cwd=work, env=environment, timeout=900, check=True)
        for number, command in enumerate(ran):
            output = (here / f"{number}.out").read_text(encoding="utf-8")
            code = (here / f"{number}.code").read_text(encoding="utf-8").strip()
            missing = [words for pattern, words in SAYS if re.search(pattern, command) and not re.search(words, output)]
            if code != "0" or missing:
                wrong.append(f"{command}\n    exit code {code}, without {missing}: {output[-800:]}")
            else:
                print(f"ok      {command}")
    wrong += [f"README has no '{command}', which a list of this test names" for command in [*NOT_RUN, *SHORTER] if command not in used]
    if len(ran) < (8 if tarball else 7):
        wrong.append(f"only {len(ran)} commands are in README: {ran}")
    print("\n".join(wrong))
    print("FAILED" if wrong else "PASS")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
