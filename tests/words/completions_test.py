"""completions_test.py SHELL CIRCOLL: what a shell completes, asked in that shell with the script of `circoll completion SHELL`.

Skipped (77) where there is no such shell.
"""
import os
import pathlib
import pty
import re
import select
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

shell, circoll = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()

# The beginning of a line, words that must be offered, and a word that must not.
CASES = [
    ("circoll li", ["list"], "show"),
    ("circoll ", ["list", "verify", "bench", "completion", "merge", "lint", "execute"], "combine"),
    ("circoll --he", ["--help", "--help-all"], "--version"),
    ("circoll list --ty", ["--types"], "--operators"),
    ("circoll list allreduce/ri", ["allreduce/ring"], "allreduce/linear"),
    ("circoll show bcast/bino", ["bcast/binomial"], "reduce/binomial"),
    ("circoll explain exs", ["exscan"], "allreduce"),
    ("circoll explain allreduce --type float", ["float16", "float32", "float64"], "int8"),
    ("circoll explain allreduce --op mi", ["min", "minloc"], "max"),
    ("circoll cost allreduce --machine mach", ["machine.json"], "allreduce"),
    ("circoll run --mpi m", ["mpich"], "openmpi"),
    ("circoll bench --np 2 --sync c", ["clock"], "barrier"),
    ("circoll bench --collective allreduce,bc", ["allreduce,bcast"], "bcast"),
    ("circoll run -- ./pro", ["program"], "--mpi"),
]


def ask_bash(line, script, _here):
    words = line.split(" ")
    text = f'. {shlex.quote(str(script))}; COMP_WORDS=({" ".join(map(shlex.quote, words))}); COMP_CWORD={len(words) - 1}; _circoll; ' \
           'printf "%s\\n" "${COMPREPLY[@]}"'
    return subprocess.run(["bash", "-c", text], capture_output=True, text=True, timeout=60, check=True).stdout.splitlines()


def ask_fish(line, script, _here):
    text = f"source {shlex.quote(str(script))}; complete -C {shlex.quote(line)}"
    done = subprocess.run(["fish", "--no-config", "-c", text], capture_output=True, text=True, timeout=60, check=True)
    return [word.split("\t")[0] for word in done.stdout.splitlines()]


def read_until(terminal, pattern, seconds=30):
    """The output of a terminal until a pattern is in it."""
    text, end = "", time.monotonic() + seconds
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            text += os.read(terminal, 65536).decode(errors="replace")
            if re.search(pattern, text):
                return text
    raise TimeoutError(f"zsh does not say {pattern}: {text[-2000:]}")


def ask_zsh(line, script, here):
    """Types the line and a tab in a zsh with a terminal. What compadd is given is what is offered."""
    functions = here / "functions"
    functions.mkdir(exist_ok=True)
    shutil.copy(script, functions / "_circoll")
    capture = here / "captured"
    capture.unlink(missing_ok=True)
    setup = f"""
PS1='READY> '; fpath=({functions} $fpath); autoload -Uz compinit; compinit -u -D
compadd() {{
  local -a __offered
  if [[ -n ${{@[(r)-O]}} || -n ${{@[(r)-A]}} || -n ${{@[(r)-D]}} ]]; then builtin compadd "$@"; return; fi
  builtin compadd -O __offered "$@"
  print -rl -- "${{__offered[@]}}" >> {capture}
  builtin compadd "$@"
}}
PS1='ARMED> '
"""
    file = here / "setup.zsh"
    file.write_text(setup)
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="dumb", LANG="C.UTF-8")
        os.execvp("zsh", ["zsh", "-f", "-i"])
    try:
        os.write(terminal, f" source {file}\n".encode())
        read_until(terminal, r"ARMED> ")
        os.write(terminal, (line + "\t").encode())
        # The script reads the words only after zsh has handled the tab.
        os.write(terminal, b"\x15print DO''NE\n")
        read_until(terminal, r"DONE")
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
        os.close(terminal)
    return capture.read_text().splitlines() if capture.exists() else []


def main():
    if shutil.which(shell) is None:
        print(f"{shell} is not installed")
        return 77
    wrong = []
    with tempfile.TemporaryDirectory() as directory:
        here = pathlib.Path(directory)
        (here / "bin").mkdir()
        (here / "bin" / "circoll").symlink_to(circoll)
        for name in ("machine.json", "program"):
            (here / name).write_text("")
        os.environ["PATH"] = f"{here / 'bin'}:{os.environ['PATH']}"
        os.environ["HOME"] = directory
        os.chdir(here)
        script = here / "script"
        script.write_text(subprocess.run([circoll, "completion", shell], capture_output=True, text=True, check=True).stdout)
        for line, wanted, unwanted in CASES:
            offered = {"bash": ask_bash, "zsh": ask_zsh, "fish": ask_fish}[shell](line, script, here)
            names = {word.strip().removeprefix("./") for word in offered}
            missing = [word for word in wanted if word not in names]
            if missing or unwanted in names:
                wrong.append(f"{line!r}: offered are {sorted(names)[:20]}; missing: {missing}; too many: {unwanted in names}")
    print(*wrong, sep="\n")
    print("FAILED" if wrong else "PASS")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
