"""netbed_test.py SOURCE_DIR BENCH: dev/netbed runs circoll-bench across hosts of its own and leaves nothing behind, however it ends.
No time and no rate is checked: the machine may be busy. Ends with 77 where namespaces are not permitted."""
import glob
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from launching import end, expect

SOURCE, BENCH = pathlib.Path(sys.argv[1]), sys.argv[2]
NETBED = str(SOURCE / "dev/netbed")
MEASURE = [BENCH, "--collective", "allreduce,allgather,bcast", "--algorithm", "native,auto", "--bytes", "8,4Ki", "--reps", "3",
           "--seconds", "0.1", "--sync", "barrier", "--check", "--wide"]


def probe():
    """True if a namespace may be made here."""
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    for tool in ("ip", "tc", "unshare"):
        if not shutil.which(tool):
            return f"there is no {tool}"
    name = f"netbed{os.getpid()}s"
    done = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return done.stderr.strip()
    subprocess.run(["ip", "netns", "del", name], check=False)
    return None


def left(pid):
    """The things that a netbed of this process id has not removed."""
    prefix = f"netbed{pid}"
    namespaces = [name for name in os.listdir("/run/netns") if re.fullmatch(prefix + "(s|h[0-9]+)", name)]
    files = glob.glob(f"/dev/shm/*{prefix}h*") + glob.glob(f"{tempfile.gettempdir()}/{prefix}-*")
    links = re.findall(f"nb{pid}\\S*", subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout)
    # The command lines of netbed's programs have its directory or its hosts' names.
    processes = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            if re.search(prefix + "[sh-]", pathlib.Path(path).read_bytes().decode(errors="replace")):
                processes.append(path)
        except OSError:
            pass
    return namespaces + files + links + processes


def lasting(pid):
    """The same but processes, of which some come and go."""
    return {thing for thing in left(pid) if not thing.startswith("/proc/")}


def run(name, *arguments, code=0):
    """Runs netbed to its end; returns what it printed."""
    with subprocess.Popen([NETBED, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        out, err = process.communicate()
    expect(process.returncode == code, f"{name}: exit code {process.returncode}: {out}{err}")
    expect(not left(process.pid), f"{name}: left {left(process.pid)}")
    return out, err


def rows(text):
    return [line.split() for line in text.splitlines() if line and not line.startswith("#")]


def interrupted(number):
    """A signal in the middle of a run, and a second one during the removal."""
    name = signal.Signals(number).name
    with subprocess.Popen([NETBED, "--hosts", "3", "--ppn", "2", "--no-verify", "--time-limit", "60", "--", "sh", "-c", "echo up; sleep 77"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        expect(process.stdout.readline() == "up\n", f"{name}: the command did not start")
        expect(len(left(process.pid)) > 4, f"{name}: nothing to remove")
        process.send_signal(number)
        time.sleep(0.2)
        process.send_signal(number)
        _, err = process.communicate()
    expect(process.returncode == 128 + number, f"{name}: exit code {process.returncode}: {err}")
    expect(name in err, f"{name}: {err}")
    expect(not left(process.pid), f"{name}: left {left(process.pid)}")


def killed():
    """--clean removes the things of a netbed that was killed, and leaves a living one alone."""
    command = [NETBED, "--hosts", "2", "--no-verify", "--time-limit", "60", "--", "sh", "-c", "echo up; sleep 78"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as alive, \
            subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as dead:
        alive.stdout.readline()
        dead.stdout.readline()
        before = lasting(alive.pid)
        dead.kill()
        dead.wait()
        expect(left(dead.pid), "killed: nothing left to clean")
        run("--clean", "--clean")
        expect(not left(dead.pid), f"--clean left {left(dead.pid)}")
        expect(before and before == lasting(alive.pid), "--clean removed what is of a living netbed")
        alive.terminate()
        alive.wait()
        expect(not left(alive.pid), f"SIGTERM: left {left(alive.pid)}")


def usage():
    for arguments, words in ((["--hosts", "1", "--", "true"], "--hosts"), (["--hosts", "65", "--", "true"], "--hosts"),
                             (["--ppn", "17", "--", "true"], "--ppn"), (["--ppn", "4,3,2", "--", "true"], "--ppn"), (["--rate", "fast", "--", "true"], "--rate"),
                             (["--links", "5", "--", "true"], "--links"), (["--groups", "3", "--", "true"], "--groups"),
                             (["--slow", "2", "--", "true"], "--slow"), (["--hosts", "3", "--slow", "4", "--", "true"], "--slow"),
                             (["--uplink", "1gbit", "--", "true"], "--uplink"), (["--groups", "2", "--uplink", "50mbit", "--", "true"], "--uplink"),
                              (["--hosts", "32", "--ppn", "16", "--", "true"], "ranks"), (["--time-limit", "0", "--", "true"], "--time"),
                             (["--mtu", "1499", "--", "true"], "--mtu"), (["--burst", "4109", "--", "true"], "--burst"),
                             ([], "no command"), (["--mpi", "lam", "--", "true"], "--mpi"),
                             (["--", "no-such-command"], "no-such-command")):
        _, err = run(f"usage {arguments}", *arguments, code=2)
        expect(words in err, f"usage {arguments}: {err}")


def main():
    obstacle = probe()
    if obstacle:
        print(f"skipped: network namespaces are not permitted here ({obstacle})")
        return 77
    usage()
    out, _ = run("3 hosts", "--hosts", "3", "--no-verify", "--", *MEASURE)
    table = rows(out)
    expect(len(table) == 12 and all("yes" in row and "3" in row for row in table), f"3 hosts: {out}")
    # The verification runs, but its findings on a busy machine do not count here.
    program = 'echo "$OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_LOCAL_SIZE $(cat /proc/sys/kernel/hostname) $COLOUR"'
    with subprocess.Popen([NETBED, "--hosts", "2", "--ppn", "2", "-x", "COLOUR=red", "--", "sh", "-c", program],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        out, err = process.communicate()
    expect(process.returncode in (0, 3), f"2 x 2: exit code {process.returncode}: {err}")
    expect("both ways" in err and "within a host" in err and "ranks on a host" not in err, f"2 x 2: {err}")
    expect(not left(process.pid), f"2 x 2: left {left(process.pid)}")
    if process.returncode == 0:
        host = f"netbed{process.pid}h"
        expected = [f"{rank} of 2 {host}{1 + rank // 2} red" for rank in range(4)]
        expect(sorted(out.splitlines()) == expected, f"2 x 2: {out}")
    out, _ = run("2 links", "--hosts", "2", "--links", "2", "--no-verify", "--", "sh", "-c", "ls /sys/class/net | grep -c ^nb")
    expect(out.split() == ["2", "2"], f"2 links: {out}")
    out, _ = run("2 links", "--hosts", "3", "--links", "2", "--no-verify", "--", *MEASURE)
    table = rows(out)
    expect(len(table) == 12 and all("yes" in row for row in table), f"2 links: {out}")
    # Two groups of two hosts each. A busy machine may fail the verification.
    with subprocess.Popen([NETBED, "--hosts", "4", "--groups", "2", "--verify-only"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        err = process.communicate()[1]
    expect(process.returncode in (0, 3) and "2 groups of consecutive hosts" in err, f"groups: exit code {process.returncode}: {err}")
    expect(not left(process.pid), f"groups: left {left(process.pid)}")
    out, _ = run("groups", "--hosts", "4", "--groups", "2", "--uplink", "200mbit", "--no-verify", "--", *MEASURE)
    table = rows(out)
    expect(len(table) == 12 and all("yes" in row for row in table), f"groups: {out}")
    run("exit code", "--no-verify", "--", "sh", "-c", "exit 7", code=7)
    run("--time-limit", "--no-verify", "--time-limit", "4", "--", "sleep", "77", code=124)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        interrupted(number)
    killed()
    # The verifier's program is compiled without a build, and here with the warnings of the project.
    run_warnings = subprocess.run(["mpicc.openmpi", "-std=c99", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Wconversion", "-Werror",
                                   "-O2", "-fsyntax-only", str(SOURCE / "tools/bench/netbed_probe.c")], capture_output=True, text=True, check=False)
    expect(run_warnings.returncode == 0, run_warnings.stderr)
    end()


sys.exit(main())
