"""A Slurm of two nodes on this machine, for tests: its daemons as this user, in a directory, over loopback only."""
import contextlib
import getpass
import os
import pathlib
import shutil
import socket
import subprocess
import time

PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "sinfo"]


def program(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def missing():
    """The programs that are not installed."""
    return [name for name in PROGRAMS if program(name) is None]


def free_ports(number):
    sockets = [socket.socket() for _ in range(number)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def configuration(work):
    host, user, ports = socket.gethostname().split(".")[0], getpass.getuser(), free_ports(3)
    lines = f"""ClusterName=circoll
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={work}/munge.socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
SlurmctldPort={ports[0]}
SlurmctldPidFile={work}/slurmctld.pid
SlurmdPidFile={work}/slurmd.%n.pid
SlurmdSpoolDir={work}/spool.%n
StateSaveLocation={work}/state
SlurmctldLogFile={work}/slurmctld.log
SlurmdLogFile={work}/slurmd.%n.log
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
"""
    for i in (1, 2):
        lines += f"NodeName=n{i} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[i]} CPUs={os.cpu_count()}\n"
    return lines + "PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP\n"


@contextlib.contextmanager
def slurm(work, patience_s=30):
    """Yields the environment of its commands. Raises RuntimeError with what the daemons said if it does not come up."""
    work = pathlib.Path(work)
    (work / "state").mkdir()
    (work / "slurm.conf").write_text(configuration(work))
    (work / "munge.key").write_bytes(os.urandom(1024))
    (work / "munge.key").chmod(0o400)
    environment = os.environ | {"SLURM_CONF": str(work / "slurm.conf")}
    daemons = [["munged", "--foreground", "--force", f"--key-file={work}/munge.key", f"--socket={work}/munge.socket",
                f"--pid-file={work}/munged.pid", f"--log-file={work}/munged.log", f"--seed-file={work}/munge.seed"],
               ["slurmctld", "-D", "-c"], ["slurmd", "-D", "-N", "n1"], ["slurmd", "-D", "-N", "n2"]]
    running = []
    try:
        for name, *arguments in daemons:
            with open(work / f"{name}.out", "a", encoding="utf8") as out:
                running.append(subprocess.Popen([program(name), *arguments], env=environment, stdout=out, stderr=out,
                                                stdin=subprocess.DEVNULL))
            until = time.monotonic() + 10
            while name == "munged" and not (work / "munge.socket").exists() and time.monotonic() < until:
                time.sleep(0.05)
        until = time.monotonic() + patience_s
        while True:
            found = subprocess.run([program("sinfo"), "-h", "-o", "%t %D"], env=environment, capture_output=True, text=True,
                                   check=False, timeout=30)
            if found.stdout.split() == ["idle", "2"]:
                break
            if time.monotonic() > until:
                logs = "".join(path.read_text(errors="replace")[-1000:] for path in work.glob("*.log"))
                raise RuntimeError(f"the nodes are not idle: {found.stdout}{found.stderr}\n{logs}")
            time.sleep(0.2)
        yield environment
        subprocess.run([program("scancel"), f"--user={getpass.getuser()}"], env=environment, check=False, timeout=30)
        time.sleep(0.5)
    finally:
        for daemon in reversed(running):
            daemon.terminate()
        for daemon in running:
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
