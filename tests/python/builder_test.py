"""The builder: every word of it, and the bounds that it keeps."""
import circoll
import pytest


def test_every_word_of_the_builder():
    def steps(b):
        b.cut(2)
        assert (b.blocks, b.segments, b.input_slots, b.output_slots) == (2, 2, 2, 2)
        assert b.param("radix", 5) == 7
        other = 1 - b.rank
        scratch = b.scratch_like(b.input())
        held = b.region(scratch)
        b.sendrecv(other, b.input(0, 1), other, b.part(held, 0, 1))
        b.next_round()
        b.send(other, b.input(1, 1))
        b.recv(other, b.region(scratch, 1, 1))
        b.next_round(1)
        left, right = (b.input(), held) if b.rank == 0 else (held, b.input())
        b.reduce(b.output(), left, right)
        assert b.round == 2 and b.step_count == 5 and len(held + held) == 4
    schedules = circoll.build("allreduce/halves", 2, steps, radix=7)
    verdict = circoll.verify(schedules)
    assert verdict and schedules[0].params == {"radix": 7} and circoll.algorithm(schedules).guarantees.same_bits


def test_a_builder_may_go_on_after_its_schedule():
    builder = circoll.Builder("allgather/mine", 2, 0)
    builder.copy(builder.output(0, 1), builder.input())
    first = builder.finish()
    builder.sendrecv(1, builder.input(), 1, builder.output(1, 1))
    with pytest.raises(circoll.InvalidArgument, match="next_round"):
        builder.finish()
    builder.next_round()
    assert len(first) == 1 and len(builder.finish()) == 3


def test_a_part_is_embedded():
    def with_part(b):
        b.embed(circoll.algorithm("bcast/binomial").schedule(b.size, b.rank), recv=b.output())
    schedules = circoll.build("bcast/embedded", 5, with_part)
    assert circoll.verify(schedules) and schedules[0].rounds == 3


@pytest.mark.parametrize("words, misuse", [
    ("a rank to every rank", lambda b: b.embed(circoll.algorithm("bcast/binomial").schedule(5, 0), ranks=[0, 1], recv=b.output(0, 1))),
    ("no such buffer", lambda b: b.region(7)),
    ("no such buffer", lambda b: b.region(-1)),
    ("no such buffer", lambda b: b.scratch_like(scratch_of_another())),
    ("no such buffer", lambda b: b.part(scratch_of_another(), 0, 1)),
    ("no such buffer", lambda b: b.send(1, scratch_of_another())),
    ("outside its buffer", lambda b: b.part(circoll.Builder("allgather/other", 9, 0).output(8, 1), 0, 1)),
    ("outside its buffer", lambda b: b.scratch_like(circoll.Builder("allgather/other", 9, 0).output(8, 1))),
    ("not negative", lambda b: b.scratch(2, -3)),
    ("not negative", lambda b: b.scratch(-2, 0)),
    ("not negative", lambda b: b.scratch(2, 0, -1)),
    ("not negative", lambda b: b.part(b.output(), -1, 1)),
    ("blocks that there are", lambda b: b.scratch([0, 5])),
    ("blocks that there are", lambda b: b.scratch([-1])),
    ("at least one segment", lambda b: b.cut(0)),
    ("next_round", lambda b: b.send(1, b.input()) or b.finish()),
])
def test_a_builder_stays_within_bounds(words, misuse):
    with pytest.raises(circoll.InvalidArgument, match=words):
        misuse(circoll.Builder("allgather/mine", 5, 0))


def scratch_of_another():
    other = circoll.Builder("allgather/other", 5, 0)
    return other.region(other.scratch(3, 0))
