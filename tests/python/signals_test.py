"""Ctrl-C ends long calls: each call here takes longer by itself than the test waits for its end, and is alone in its process when the signal comes."""
import signal
import subprocess
import sys

import pytest

CALLS = {"simulate": 'circoll.simulate("allreduce/ring", p=8000, bytes=8, noise="exponential:1us")',
         "traffic": 'circoll.traffic("allreduce/ring", "torus:dims=4000", p=4000, bytes=8, placement="random:1")',
         "faults": 'circoll.faults("allreduce/ring", p=64, failed=[[0]] * 1000000)'}


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
