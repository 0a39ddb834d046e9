"""Ctrl-C ends long calls. Each call is alone in its process when the signal comes."""
import signal
import subprocess
import sys

import pytest

CALLS = {"simulate": 'circoll.simulate("allreduce/ring", p=8000, bytes=8, noise="exponential:1us")',
         "traffic": 'circoll.traffic("allreduce/ring", "torus:dims=4000", p=4000, bytes=8, placement="random:1")',
         "faults": 'circoll.faults("allreduce/ring", p=64, failed=[[0]] * 1000000)'}


# Each of these takes longer by itself than the test waits for its end.
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_ctrl_c_ends_a_call(call):
    program = f"import circoll\nprint('begun', flush=True)\ntry:\n  {call}\nexcept KeyboardInterrupt:\n  print('interrupted')"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout.readline() == "begun\n"
            with pytest.raises(subprocess.TimeoutExpired):  # the call is under way
                child.wait(1)
            child.send_signal(signal.SIGINT)
            assert child.communicate(timeout=15)[0] == "interrupted\n"
        finally:
            child.kill()


PROOFS = {"one": 'circoll.verify("reduce/circulant_pipelined:segments=20000", p=64, progress=note)',
          "schedules": 'circoll.verify(circoll.algorithm("allreduce/ring").schedules(p=500), progress=note)',
          "range": 'circoll.verify_range("reduce/circulant_pipelined", [64], segments=[20000], jobs=2, progress=note)'}


@pytest.mark.parametrize("call", PROOFS.values(), ids=PROOFS)
def test_ctrl_c_ends_a_proof_in_its_middle(call):
    program = f"""
import circoll
parts = []
def note(part):
  parts.append(part)
  if len(parts) == 1: print('begun', flush=True)
try:
  {call}
except KeyboardInterrupt:
  print('interrupted at', parts[-1])
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout.readline() == "begun\n"
            child.send_signal(signal.SIGINT)
            words = child.communicate(timeout=60)[0].split()
            assert words[:2] == ["interrupted", "at"] and float(words[2]) < 1, words
        finally:
            child.kill()
