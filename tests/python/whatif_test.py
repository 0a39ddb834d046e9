"""circoll.whatif plays the recorded program of the notebooks as the command does, and refuses what is no recording."""
import json

import circoll
import numpy
import pytest


@pytest.fixture
def recording(source):
    return source / "docs/lab/notebooks/kmeans.calls"


def same(run, row):
    numpy.testing.assert_allclose(run.in_collectives_s, row["ranks"]["in_collectives_s"])
    numpy.testing.assert_allclose(run.waiting_s, row["ranks"]["waiting_s"])
    assert run.what == row["what"] and run.run_s == pytest.approx(row["run_s"])


@pytest.mark.parametrize("words, arguments", [
    ((), {}),
    (("--algorithm", "allreduce=ring", "--policy", "classic"), {"algorithms": ["allreduce/ring"], "policies": ["classic"]}),
    (("-p", "8", "--cores", "2", "--balanced"), {"p": 8, "cores": 2, "balanced": True}),
])
def test_answers_are_those_of_the_command(recording, tool, words, arguments):
    answer = circoll.whatif(recording, **arguments)
    code, out, err = tool("whatif", recording, "--json", *words)
    assert code == 0, err
    expected = json.loads(out)
    assert (answer.program, answer.mpi, answer.ranks, answer.calls) == tuple(expected[key] for key in ("program", "mpi", "ranks", "calls"))
    assert (answer.notes, answer.verdict) == (expected["notes"], expected["verdict"])
    same(answer.recorded, expected["recorded"])
    same(answer.simulated, expected["simulated"])
    assert (answer.asked is None) == ("asked" not in expected)
    if answer.asked:
        same(answer.asked, expected["asked"])
    assert len(answer.changes) == len(expected["changes"]) > 0
    for change, row in zip(answer.changes, expected["changes"]):
        same(change, row)


def test_a_machine_and_schedules_of_ones_own(recording):
    parts = []
    slow = circoll.Machine(name="slow", alpha_s=1e-3, beta_s_per_byte=1e-8)
    mine = circoll.algorithm(circoll.algorithm("allreduce/ring").schedules(p=circoll.whatif(recording).ranks))
    answer = circoll.whatif(recording, machine=slow, algorithms=["allreduce/ring", mine], policies=[], progress=parts.append)
    by_id, by_schedules = answer.changes[:2]
    assert "slow" in answer.asked.what and by_id.run_s == pytest.approx(by_schedules.run_s)
    assert parts == sorted(parts) and parts[-1] == 1.0


def test_what_is_no_recording_is_an_error(recording, tmp_path):
    with pytest.raises(circoll.InvalidArgument, match="cannot be read"):
        circoll.whatif(tmp_path / "nothing.calls")
    other = tmp_path / "report.json"
    other.write_text("{}", encoding="utf-8")
    with pytest.raises(circoll.Error, match="CIRCOLL_TRACE=FILE.calls"):
        circoll.whatif(other)
    cut = tmp_path / "cut.calls"
    cut.write_bytes(recording.read_bytes()[:-100])
    with pytest.raises(circoll.ParseError, match="cut off"):
        circoll.whatif(cut)
    with pytest.raises(circoll.UnknownName):
        circoll.whatif(recording, algorithms=["allreduce/rings"])
    with pytest.raises(circoll.Error):
        circoll.whatif(recording, policies=["fastest"])
