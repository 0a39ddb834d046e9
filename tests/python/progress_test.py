"""Long calls tell how far they are: to a function, or on a line."""
import io

import circoll
import circoll.progress
import pytest

CALLS = {"verify": lambda progress: circoll.verify("allreduce/rabenseifner", p=600, progress=progress),
         "verify_range": lambda progress: circoll.verify_range("allreduce/rabenseifner", range(1, 20), progress=progress),
         "simulate": lambda progress: circoll.simulate("allreduce/ring", p=200, bytes=8, noise="exponential:1us", progress=progress),
         "traffic": lambda progress: circoll.traffic("allreduce/ring", "torus:dims=100", p=100, bytes=8, placement="random:1", progress=progress),
         "faults": lambda progress: circoll.faults("allreduce/ring", p=20, failed=[[0]] * 100, progress=progress)}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_parts_grow_up_to_the_whole(call):
    parts = []
    with_progress = call(parts.append)
    assert parts == sorted(parts) and parts[-1] == 1 and all(0 <= part <= 1 for part in parts)
    without = call(False)
    assert type(with_progress) is type(without) and repr(with_progress) == repr(without)


def test_parts_lie_between_nothing_and_all():
    parts = []
    circoll.verify("allreduce/rabenseifner", p=2500, progress=parts.append)
    assert any(0 < part < 1 for part in parts), parts


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_an_exception_of_the_function_ends_the_call(call):
    def refuse(part):
        raise LookupError(f"at {part}")
    with pytest.raises(LookupError, match="at "):
        call(refuse)


def test_errors_come_through_without_a_last_part():
    parts = []
    with pytest.raises(circoll.InvalidArgument, match="root 9"):
        circoll.verify("bcast/binomial", p=4, root=9, progress=parts.append)
    assert not parts
    with pytest.raises(TypeError, match="not callable"):
        circoll.verify("bcast/binomial", p=4, progress=7)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_line_is_written_over_and_taken_away(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(circoll.progress.time, "monotonic", lambda: now[0])
    terminal, pipe = Terminal(), io.StringIO()
    for stream in (terminal, pipe):
        now[0] = 100.0
        line = circoll.progress.Line("verify", stream)
        line(0.1)
        assert stream.getvalue() == ""  # of a call that may be short
        now[0] = 103.0
        line(0.25)
        line.clear()
    assert terminal.getvalue() == f"\r{'verify: 25 %, 9 s left':60}\r{'':60}\r" and pipe.getvalue() == ""


def test_true_is_a_line_on_the_terminal(monkeypatch):
    lines = []

    class Line:
        def __init__(self, name):
            lines.append(name)

        def __call__(self, part):
            lines.append(part)

        def clear(self):
            lines.append("clear")
    monkeypatch.setattr(circoll.progress, "Line", Line)
    circoll.verify("bcast/binomial", p=4, progress=True)
    assert lines == ["verify", 1, "clear"]
