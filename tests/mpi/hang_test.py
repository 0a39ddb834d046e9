#!/usr/bin/env python3
"""hang_test.py MPI DROPIN YIELD CLI PROGRAM: circoll hang names the rank for which the others wait, and the reason, in at least 27 of 30.

Each case runs until it hangs. Then circoll hang looks at its records, and the processes are ended. No case may name a wrong rank.
"""
import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import launching
from launching import end, expect

MPI, DROPIN, YIELD, CLI, PROGRAM = sys.argv[1:6]
RANKS = 4
SECONDS = 40  # until a case has hung, on a machine that is busy
AT_ONCE = 3
# Where the launcher ends the job because one rank was killed, nobody knows which process went first.
KILLED = {"killed", "absent"}
CASES = {  # name: (reasons, ranks)
    "root_bcast": ({"root"}, [2]), "root_reduce": ({"root"}, [2]), "root_gather": ({"root"}, [2]), "root_scatter": ({"root"}, [2]),
    "count_bcast": ({"count"}, [2]), "count_allreduce": ({"count"}, [2]), "count_allgather": ({"count"}, [2]),
    "count_alltoall": ({"count"}, [2]),
    "type_allreduce": ({"type"}, [2]), "type_bcast": ({"type"}, [2]), "type_reduce": ({"type"}, [2]),
    "operator_allreduce": ({"operator"}, [2]), "operator_scan": ({"operator"}, [2]),
    "collective": ({"collective"}, [2]), "order": ({"collective"}, [2]), "blocking": ({"collective"}, [2]),
    "skipped": ({"collective"}, [2]),
    "early_end": ({"finalized"}, [2]), "asleep": ({"absent"}, [2]),
    "endless_loop": ({"computing"}, [2]), "endless_allreduce": ({"computing"}, [2]),
    "receive": ({"point_to_point"}, [2]), "send": ({"point_to_point"}, [2]), "wait": ({"point_to_point"}, [2]),
    "probe": ({"point_to_point"}, [2]),
    "killed": (KILLED, [2]), "killed_allreduce": (KILLED, [2]), "stopped": ({"stopped"}, [2]), "stopped_bcast": ({"stopped"}, [2]),
    "two_comms": ({"communicator"}, [2]), "two_comms_allreduce": ({"communicator"}, [2]),
    "sub_receive": ({"point_to_point"}, [2]), "sub_count": ({"count"}, [0, 2]), "chain": ({"computing"}, [2]),
    "nonblocking": ({"point_to_point"}, [2]), "neighbors": ({"computing"}, [2]),
    "persistent": ({"computing"}, [2]),
}
MISSED = len(CASES) // 10  # 27 of 30
GO_ON = {"openmpi": ["--enable-recovery"], "mpich": ["-disable-auto-cleanup"]}[MPI]


def start(case, directory, **variables):
    settings = {"CIRCOLL_RECORD": directory, "CIRCOLL_SERVE_AFTER": "0"} | variables
    settings = {name: value for name, value in settings.items() if value is not None}
    options = GO_ON if case.startswith("killed") else []
    command = launching.launcher(MPI, *options) + launching.processes(
        MPI, RANKS, ["env", f"LD_PRELOAD={launching.preloaded(MPI, DROPIN, YIELD)}", *(f"{k}={v}" for k, v in settings.items()), PROGRAM, case])
    return subprocess.Popen(command, env=launching.environment() | settings, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, start_new_session=True)


def hang(*arguments):
    said = subprocess.run([CLI, "hang", *arguments], capture_output=True, text=True, timeout=60, check=False)
    return said.returncode, said.stdout + said.stderr


def examined(directory):
    code, text = hang(directory, "--json", "--pause", "200")
    try:
        return json.loads(text)
    except ValueError:
        return {"reason": f"exit code {code}: {text}", "ranks": [], "verdict": text}


def send(number, processes):
    for process in processes:
        try:
            os.kill(process["pid"], number)
        except OSError:
            pass


def finish(job, where):
    """Ends the processes of a job, of which one may be stopped. The launcher removes what they share, so it goes on for a while."""
    def living():
        return [process for process in examined(where).get("processes", []) if process["state"] != "gone"]

    left = living()
    for number in (signal.SIGTERM, signal.SIGKILL):
        send(signal.SIGCONT, left)
        try:
            os.killpg(job.pid, number)
        except OSError:
            pass
        until = time.monotonic() + 10
        while time.monotonic() < until and (left or has_group(job)):
            time.sleep(0.1)
            left = [process for process in left if is_there(process["pid"])]
    send(signal.SIGKILL, left)
    job.wait()


def has_group(job):
    job.poll()
    try:
        os.killpg(job.pid, 0)
    except OSError:
        return False
    return True


def is_there(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def is_right(verdict, case):
    reasons, ranks = CASES[case]
    return verdict["reason"] in reasons and verdict["ranks"] == ranks


def run(case, **variables):
    """The last verdict on a case. One that is right must be so twice, half a second apart."""
    with tempfile.TemporaryDirectory() as directory:
        job = start(case, directory, **variables)
        until = time.monotonic() + SECONDS
        verdict = examined(directory)
        while time.monotonic() < until:
            before, verdict = verdict, examined(directory)
            if is_right(verdict, case) and is_right(before, case):
                break
            time.sleep(0.3)
        text = hang(directory, "--no-stacks", "--pause", "50")[1]
        finish(job, directory)
        return case, verdict, text, job.stdout.read()


# All cases.
right, wrong_rank = 0, []
with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
    for case, verdict, text, output in pool.map(run, CASES):
        said = f"{case}: {verdict['reason']} {verdict['ranks']}: {verdict['verdict']}"
        if is_right(verdict, case):
            right += 1
            if case == "persistent":
                last = [call["call"] for call in verdict["processes"][0]["last"]]
                bcast = "MPI_Bcast_init of 8 bytes as float64, root 0, call 11 on MPI_COMM_WORLD"
                expect(last[-4:] == [bcast, f"MPI_Start of {bcast}", f"MPI_Start of {bcast}", "MPI_Barrier, call 12 on MPI_COMM_WORLD"],
                       "starts of a persistent request are in the record, and have no place in the order of calls", last)
                expect(all(call["ended"] for call in verdict["processes"][0]["last"][:-1]), "they have ended", verdict)
            print(f"right  {said}", flush=True)
            expect(all(len(line) <= 100 for line in text.splitlines()[1:]), f"{case}: lines are at most 100 columns wide", text)
            continue
        print(f"WRONG  {said}", text, output, sep="\n", flush=True)
        if not set(verdict["ranks"]) <= set(CASES[case][1]):
            wrong_rank.append(said)
print(f"{right} of {len(CASES)} are right")
expect(right >= len(CASES) - MISSED, f"at least {len(CASES) - MISSED} of {len(CASES)} are right", right)
expect(not wrong_rank, "no verdict names a wrong rank", *wrong_rank)

# Native calls are in the record, too.
for case in ["receive", "two_comms", "stopped", "operator_allreduce"]:
    _, verdict, text, output = run(case, CIRCOLL_POLICY="native")
    expect(is_right(verdict, case), f"{case}, with native calls", verdict["verdict"], text, output)

# A job that does not hang leaves nothing behind, and a later look says so.
with tempfile.TemporaryDirectory() as directory:
    job = start("none", directory)
    output, _ = job.communicate(timeout=120)
    expect(job.returncode == 0 and not output.strip(), "a run with a record ends as without one, and says nothing", output)
    expect(not list(pathlib.Path(directory).iterdir()), "the records of a job that ended are gone", os.listdir(directory))
    code, text = hang(directory)
    expect(code == 1 and "there is no record" in text, "a directory without records is said to have none", text)

# Another version, damage, and what is no record are a sentence each, and do not hide the others.
with tempfile.TemporaryDirectory() as directory:
    folder = pathlib.Path(directory)
    job = start("endless_loop", directory)
    until = time.monotonic() + SECONDS
    while time.monotonic() < until and not is_right(examined(directory), "endless_loop"):
        time.sleep(0.3)
    records = sorted(folder.iterdir())
    expect(len(records) == RANKS, "each rank has a record", records)
    bytes_ = bytearray(records[0].read_bytes())
    (folder / "circoll-short.record").write_bytes(bytes_[:1000])
    (folder / "circoll-text.record").write_text("this is no record" * 100, encoding="utf-8")
    bytes_[8] = 200
    (folder / "circoll-version.record").write_bytes(bytes_)
    code, text = hang(directory)
    expect(code == 1 and text.startswith("rank 2 has not come to MPI_Barrier (call 11 on MPI_COMM_WORLD), in which ranks 0-1, 3 wait: "
                                         "it is computing outside of MPI, in spin"), "the verdict is the first line", text)
    expect("cut short" in text and "it is no record of Circoll" in text and "version 200 of the layout" in text, "damaged records are named", text)
    expect("stack of rank 2:\n  spin+" in text and "main+" in text, "the stack of the rank is shown", text)
    first = json.loads(hang(directory, "--json")[1])["processes"][0]
    code, by_process = hang(str(first["pid"]))
    expect(code == 1 and by_process.startswith("rank 2 has not come"), "a process is enough", by_process)
    code, by_launcher = hang(str(job.pid))
    expect(code == 1 and by_launcher.startswith("rank 2 has not come"), "the launcher's process is enough", by_launcher)
    finish(job, directory)
    code, text = hang(directory)
    expect(code == 1 and text.startswith("rank 2 has not come to MPI_Barrier"), "the records tell of the job that was killed", text)

# The watchdog says it once, with the records of the node.
with tempfile.TemporaryDirectory() as directory:
    job = start("endless_loop", directory, CIRCOLL_HANG_AFTER="2s", CIRCOLL_RECORD=None)
    until = time.monotonic() + SECONDS
    seen = []
    os.set_blocking(job.stdout.fileno(), False)
    while time.monotonic() < until and not any("last calls of rank 2" in line for line in seen):
        seen += job.stdout.readlines()
        time.sleep(0.2)
    time.sleep(3)
    seen += job.stdout.readlines()
    told = [line for line in seen if "has been in a call for 2 s: rank 2 has not come to MPI_Barrier" in line]
    expect(len(told) == 1 and told[0].startswith("circoll: rank "), "the watchdog speaks once", *seen)
    finish(job, str(job.pid))

# A record that cannot be written is one sentence, and the program runs.
for where, why in [("/proc/circoll", "cannot be made"), ("/nonexistent/circoll", "No such file or directory")]:
    job = start("none", where, CIRCOLL_HANG_AFTER="soon")
    output, _ = job.communicate(timeout=120)
    lines = [line for line in output.splitlines() if "CIRCOLL_RECORD" in line]
    expect(job.returncode == 0 and len(lines) == 1 and "nothing is recorded on rank 0" in lines[0] and why in lines[0],
           f"{where}: a sentence, and the program runs", output)
with tempfile.TemporaryDirectory() as directory:
    job = start("none", directory, CIRCOLL_HANG_AFTER="soon")
    output, _ = job.communicate(timeout=120)
    expect(job.returncode == 0 and output.count("CIRCOLL_HANG_AFTER: 'soon' is not a number of seconds") == 1, "a wrong limit is named", output)
end()
