"""The package circoll: schedules, proofs, costs, simulations, failures and errors, as Python has them."""
import copy
import json
import pathlib
import pickle
import threading
import time

import circoll
import numpy
import pytest


def ring(b):
    """An allgather around a ring, with the words of circoll/builder.hpp."""
    for k in range(b.size - 1):
        here = (b.rank - k) % b.size
        b.sendrecv((b.rank + 1) % b.size, b.input() if k == 0 else b.output(here, 1),
                   (b.rank - 1) % b.size, b.output((here - 1) % b.size, 1))
        b.next_round()
    b.copy(b.output(b.rank, 1), b.input())


def wrong_ring(b):
    """It stores the block of the first round in the wrong slot."""
    for k in range(b.size - 1):
        here = (b.rank - k) % b.size
        b.sendrecv((b.rank + 1) % b.size, b.input() if k == 0 else b.output(here, 1),
                   (b.rank - 1) % b.size, b.output(here if k == 0 else (here - 1) % b.size, 1))
        b.next_round()
    b.copy(b.output(b.rank, 1), b.input())


@pytest.mark.parametrize("use", [circoll.simulate, circoll.faults, circoll.repair, circoll.traffic, circoll.execute, circoll.algorithm])
def test_wrong_schedules_are_refused_by_all_but_the_proof(use):
    more = {circoll.repair: {"k": 1, "failed": [0]}, circoll.traffic: {"topology": "torus:dims=4"}}.get(use, {})
    with pytest.raises(circoll.Refuted, match="rank"):
        use(circoll.build("allgather/wrong", 4, wrong_ring), **more)


def test_every_algorithm_declares_what_python_shows():
    seen = 0
    for collective in circoll.collectives():
        for one in circoll.algorithms(collective):
            seen += 1
            assert one.id == f"{collective}/{one.name}" and one.summary and one.source and one.family != "undeclared"
            if not one.unmet_need(8, "max"):
                assert one.cost(8).rounds >= 0 and one.formula.startswith("T = ")
    assert seen > 90
    assert circoll.algorithm("allreduce/circulant_idempotent").needs.idempotent


def test_costs_are_those_that_proofs_count():
    for name in ("allreduce/ring", "allgather/bruck", "bcast/binomial", "reduce_scatter/circulant_optimal"):
        for p in (2, 3, 7, 16):
            assert circoll.verify(name, p=p).cost == circoll.algorithm(name).cost(p)


def test_steps_are_a_structured_array():
    schedule = circoll.algorithm("allreduce/ring").schedule(p=4, rank=1)
    steps = schedule.steps
    assert len(steps) == len(schedule) and schedule.rounds == 6
    sends = steps[steps["kind"] == circoll.StepKind.send]
    assert (sends["peer"] == 2).all() and sends["blocks"].sum() == 6
    assert (steps["round"] <= schedule.rounds).all()
    number = int(numpy.flatnonzero(steps["kind"] == circoll.StepKind.send)[0])
    assert list(schedule.blocks_of(number, "left")) == [1]
    row = schedule.ranges[steps[number]["left"]]
    assert schedule.buffers[row["buffer"]].slots == 4 and row["count"] == 1


def test_messages_of_all_ranks():
    messages = circoll.messages(circoll.algorithm("bcast/binomial").schedules(p=8))
    assert len(messages) == 7 and sorted(messages["destination"]) == [1, 2, 3, 4, 5, 6, 7]
    assert messages[messages["round"] == 0]["source"].tolist() == [0]


def test_one_rank_of_a_million():
    schedule = circoll.algorithm("allreduce/circulant_optimal").schedule(p=1 << 20, rank=12345)
    assert schedule.rounds == 40 and len(schedule) < 200


@pytest.mark.parametrize("form", ["json", "text", "xml"])
def test_forms_are_read_back(form, tmp_path):
    schedules = circoll.algorithm("allgather/bruck").schedules(p=5)
    path = tmp_path / f"bruck.{form}"
    circoll.write(schedules, path)
    again = circoll.read(path)
    assert circoll.verify(again)
    if form != "xml":
        assert again == schedules
    assert circoll.parse(path.read_text()) == again


def test_other_forms_are_written():
    schedules = circoll.algorithm("allreduce/ring").schedules(p=3)
    assert circoll.to_goal(schedules, bytes=3000).startswith("num_ranks 3")
    assert circoll.to_dot(schedules).startswith("digraph") and "<svg" in circoll.to_svg(schedules)
    assert len(json.loads(circoll.to_json(schedules))) == 3


@pytest.mark.parametrize("write", [circoll.to_dot, circoll.to_svg, circoll.to_msccl, lambda ranks: circoll.to_goal(ranks, bytes=8), circoll.verify,
                                   circoll.simulate, circoll.faults, circoll.execute, circoll.algorithm])
def test_a_list_without_all_ranks_is_refused(write):
    ring_of_4, tree_of_5 = circoll.algorithm("allreduce/ring").schedules(4), circoll.algorithm("bcast/binomial").schedules(5)
    for ranks in (ring_of_4[2:], ring_of_4[::-1], [ring_of_4[1]] * 4, [ring_of_4[0], tree_of_5[4]]):
        with pytest.raises(circoll.InvalidArgument, match="rank"):
            write(ranks)


def test_an_algorithm_of_ones_own_is_proven_ranked_and_simulated():
    schedules = circoll.build("allgather/my_ring", 6, ring)
    verdict = circoll.verify(schedules)
    assert verdict and verdict.refutation is None and verdict.messages == 30 and verdict.cost.rounds == 5
    mine = circoll.algorithm(schedules)
    assert mine.needs.only_size == 6 and mine.cost(6) == verdict.cost
    ours = circoll.simulate("allgather/ring:segments=1", p=6, bytes=6000)
    assert circoll.simulate(schedules, bytes=6000).time_s == pytest.approx(ours.time_s)
    assert circoll.simulate(mine, p=6, bytes=6000).time_s == pytest.approx(ours.time_s)


def test_a_refutation_is_an_object():
    verdict = circoll.verify(circoll.build("allgather/wrong", 4, wrong_ring))
    assert not verdict
    refutation = verdict.refutation
    assert refutation.claim and refutation.size == 4 and 0 <= refutation.rank < 4 and refutation.what
    assert refutation.what in str(refutation) and refutation.id == "allgather/wrong"
    with pytest.raises(circoll.Refuted):
        circoll.algorithm(circoll.build("allgather/wrong", 4, wrong_ring))


@pytest.mark.parametrize("counts", [[], [1, 2], [-1], [1, 2, 3, -4]])
def test_a_plan_has_a_count_for_each_block(counts):
    with pytest.raises(circoll.InvalidArgument, match="count"):
        circoll._core._Plan(circoll.algorithm("allgather/ring").schedule(p=4, rank=0), counts)


@pytest.mark.parametrize("type, dtype", [("byte", "uint8"), ("bool", "bool"), ("float16", "float16"), ("long_double", "longdouble"),
                                         ("complex64", "complex64"), ("complex_long_double", "clongdouble")])
def test_types_are_those_of_numpy(type, dtype):
    done = circoll.execute("allgather/ring", p=3, counts=[4], type=type)
    assert done and done.outputs[0].dtype == dtype and (done.outputs[0] == numpy.concatenate(done.inputs)).all()


@pytest.mark.parametrize("threads", [False, True])
def test_executions_are_compared_with_the_definition(threads):
    done = circoll.execute("allreduce/ring", p=5, counts=[7], type="int32", threads=threads)
    assert done and done.p == 5 and not done.wrong and done.time_s > 0
    total = numpy.sum(done.inputs, axis=0, dtype="int32")
    assert total.dtype == "int32" and all((output == total).all() for output in done.outputs)
    mine = circoll.execute(circoll.build("allgather/my_ring", 4, ring), counts=[3], threads=threads)
    assert mine and (mine.outputs[2] == numpy.concatenate(mine.inputs)).all()
    with pytest.raises(circoll.Refuted):
        circoll.execute(circoll.build("allgather/wrong", 4, wrong_ring))


def test_a_plan_has_the_elements_of_steps():
    plan = circoll._core._Plan(circoll.algorithm("allgather/ring").schedule(p=3, rank=0), [10])
    sends = plan.steps[plan.steps["kind"] == circoll.StepKind.send]
    pieces = [plan.pieces[step["first"]:step["first"] + step["length"]] for step in sends]
    assert [piece["count"].sum() for piece in pieces] == [10, 10]
    first = int(numpy.flatnonzero(plan.steps["waits_for"] == 0)[0])
    assert all(plan.steps["waits_for"][after] > 0 for after in plan.successors(first))
    with pytest.raises(IndexError):
        plan.successors(len(plan.steps))


def test_ranges_of_p():
    proof = circoll.verify_range("bcast/circulant_pipelined", range(1, 9), all_roots=True, segments=[1, 3])
    assert proof.refutation is None and proof.instances >= sum(2 * p for p in range(1, 9))
    assert circoll.verify_range("bcast/circulant_pipelined", range(1, 9), all_roots=True, segments=(s for s in (1, 3))) == proof
    with pytest.raises(circoll.InvalidArgument):
        circoll.verify_range("bcast/binomial", [])


def test_rankings_agree_with_times():
    machine = circoll.Machine(alpha_s=1e-5, beta_s_per_byte=1e-9)
    ranking = circoll.rank("allreduce", 12, 1 << 20, machine=machine)
    served = [one for one in ranking if not one.unmet_need]
    assert [one.time_s for one in served] == sorted(one.time_s for one in served) and len(served) > 5
    best = served[0]
    assert best.algorithm.time_s(12, 1 << 20, machine) == pytest.approx(best.time_s)
    assert best.algorithm.terms(12, 1 << 20, machine) == best.terms
    assert any(one.unmet_need for one in circoll.rank("allreduce", 12, 8, op="sum"))


def test_explain_gives_choice_and_reason():
    decision = circoll.explain("allreduce", 64, 8192, type="float32")
    assert decision.algorithm.collective == "allreduce" and decision.reason and decision.policy == "model"
    assert decision.predicted_s[0][1] <= decision.predicted_s[-1][1]
    assert circoll.explain("allreduce", 64, 8192, policy="native").algorithm is None


def test_simulations_have_times_of_ranks():
    run = circoll.simulate("bcast/binomial", p=16, bytes=4096, record=True)
    assert run.time_s == run.end_s.max() and len(run.end_s) == 16 and run.begin_s.sum() == 0
    assert run.end_s[run.last_rank] == run.time_s and run.messages == 15
    path, steps = run.critical_path, run.steps
    assert path["end_s"][-1] == run.time_s and len(steps) == 30 and (steps["slack_s"] >= -1e-15).all()
    assert (run.idle_s >= 0).all() and len(run.arrival_slack_s) == 16
    assert not run.end_s.flags.writeable
    late = circoll.simulate("bcast/binomial", p=16, bytes=4096, arrivals_s=[1e-3] + [0.0] * 15)
    assert late.time_s == pytest.approx(run.time_s + 1e-3)
    slow = circoll.simulate("bcast/binomial", p=16, bytes=4096, slow={0: 10.0})
    assert slow.time_s > run.time_s
    network = circoll.Network(ports=4)
    network.between.latency_s = 1.0
    assert circoll.simulate("bcast/binomial", p=4, network=network).time_s > 2
    with pytest.raises(circoll.InvalidArgument):
        _ = circoll.simulate("bcast/binomial", p=4).steps


def test_costs_reach_the_size_that_was_asked_for():
    assert circoll.costs("bcast", 4, most_bytes=1000)["sizes"][-2:] == [861, 1000]
    assert circoll.costs("bcast", 4, most_bytes=1024)["sizes"][-2:] == [861, 1024]


def test_results_compare_copy_and_pickle():
    for value in (circoll.algorithm("allreduce/ring").needs, circoll.algorithm("allreduce/ring").cost(8), circoll.verify("allreduce/ring", 4),
                  circoll.verify(circoll.build("allgather/wrong", 4, wrong_ring)), circoll.verify_range("bcast/binomial", [4])):
        assert pickle.loads(pickle.dumps(value)) == value and copy.copy(value) == value
    assert circoll.rank("bcast", 8, 1024) == circoll.rank("bcast", 8, 1024)
    assert circoll.explain("bcast", 8, 1024) == circoll.explain("bcast", 8, 1024)
    assert len({circoll.algorithm("bcast/binomial"), circoll.algorithm("bcast/binomial"), circoll.algorithm("bcast/linear")}) == 2


def test_a_file_of_schedules_is_read_at_each_call(tmp_path):
    file = tmp_path / "mine.json"
    circoll.write(circoll.build("allgather/mine", 4, ring), file)
    for name in (f"file:{file}", f"allgather/file:{file}"):
        assert circoll.verify(name, p=4).messages == 12 and circoll.algorithm(name).needs.only_size == 4
    with pytest.raises(circoll.InvalidArgument, match="schedules of another collective than bcast"):
        circoll.verify(f"bcast/file:{file}", p=4)
    circoll.write(circoll.build("allgather/mine", 5, ring), file)
    assert circoll.verify(f"file:{file}", p=5).messages == 20 and circoll.simulate(f"file:{file}", p=5).messages == 20
    circoll.write(circoll.build("allgather/mine", 4, wrong_ring), file)
    with pytest.raises(circoll.Refuted, match="mine.json"):
        circoll.verify(f"file:{file}", p=4)


def test_schedules_for_idempotent_operators_are_analysed(tool, tmp_path):
    schedules = circoll.algorithm("allreduce/circulant_idempotent").schedules(6)
    assert circoll.faults(schedules).table.tolist() == circoll.faults("allreduce/circulant_idempotent", p=6).table.tolist()
    assert circoll.repair(schedules, 1, [2], keep="keep").goal == circoll.repair("allreduce/circulant_idempotent", 1, [2], p=6, keep="keep").goal
    circoll.write(schedules, tmp_path / "six.json")
    of_file, of_name = (json.loads(tool("faults", *words, "--json")[1])["failures"] for words in (["six.json"], ["allreduce/circulant_idempotent", "-p", 6]))
    assert of_file == of_name


def test_traffic_on_a_torus():
    load = circoll.traffic("alltoall/pairwise", "torus:dims=4x4", p=16, bytes=1 << 16)
    assert load.time_s >= load.alone_s > 0 and len(load.rounds) == 15 and len(load.busiest) == 15
    assert load.rounds["time_s"].sum() == pytest.approx(load.time_s)
    assert set(load.levels) == {"node", "group", "system"}


def test_failures_and_a_repair():
    table = circoll.faults("allreduce/ring", p=5)
    assert len(table.table) == 5 * (table.rounds + 1) and table.failed == [[f] for f in range(5)]
    first = table.table[table.table["k"] == 0]
    assert {circoll.FAILURE_CLASSES[c] for c in first["class"]} == {"SURV"}
    repair = circoll.repair("allreduce/circulant_optimal", 6, [5], p=8, keep="keep")
    assert repair.goal != "NONE" and len(repair.schedules) == 8 and not repair.why
    assert circoll.faults(circoll.build("allgather/my_ring", 4, ring), keep="keep").rounds == 3


@pytest.mark.parametrize("kind, words, call", [
    (circoll.UnknownName, "no algorithm 'rings'", lambda: circoll.algorithm("allreduce/rings")),
    (circoll.UnknownName, "no collective", lambda: circoll.algorithms("reduceall")),
    (circoll.UnknownName, "no operator", lambda: circoll.rank("reduce", 4, 8, op="plus")),
    (circoll.InvalidArgument, "number of ranks", lambda: circoll.verify("allreduce/ring")),
    (circoll.InvalidArgument, "root 9", lambda: circoll.verify("bcast/binomial", p=4, root=9)),
    (circoll.InvalidArgument, "rank 4", lambda: circoll.Builder("allreduce/mine", 4, 4)),
    (circoll.InvalidArgument, "step 9 is none of 1 steps", lambda: circoll.algorithm("allreduce/ring").schedule(1, 0).blocks_of(9)),
    (circoll.ParseError, "line", lambda: circoll.parse("circoll-schedule 1 nonsense\n")),
    (circoll.InvalidArgument, "none/such", lambda: circoll.read("/none/such")),
    (circoll.Error, "keep is", lambda: circoll.faults("allreduce/ring", p=4, keep="all")),
    (ValueError, "", lambda: circoll.simulate("allreduce/ring", p=4, bytes=-1)),
    (circoll.UnknownName, "no type", lambda: circoll.execute("allreduce/ring", p=4, type="real")),
    (circoll.Unsupported, "NumPy has no type for '2int'", lambda: circoll.execute("allreduce/ring", p=4, type="2int", op="minloc")),
    (circoll.Unsupported, "NumPy has no type for 'logical'", lambda: circoll.execute("bcast/binomial", p=4, type="logical")),
    (circoll.InvalidArgument, "rank 4", lambda: circoll.algorithm("allreduce/ring").schedule(4, 4)),
    (circoll.InvalidArgument, "root -1", lambda: circoll.algorithm("bcast/binomial").schedules(4, root=-1)),
    (circoll.InvalidArgument, "none/such", lambda: circoll.Machine.read(pathlib.Path("/none/such"))),
    (circoll.InvalidArgument, "jobs", lambda: circoll.simulate("allreduce/ring", p=4, jobs=-1)),
    (circoll.InvalidArgument, "count", lambda: circoll.execute("allreduce/ring", p=4, counts=[])),
    (circoll.InvalidArgument, "count", lambda: circoll.execute("allgatherv/ring", p=4, counts=[1, 2])),
    (circoll.Unsupported, "circulant_idempotent", lambda: circoll.execute("allreduce/circulant_idempotent", p=4)),
    (circoll.InvalidArgument, "counts are not negative", lambda: circoll.execute("allreduce/ring", p=4, counts=[-1])),
    (circoll.InvalidArgument, "no schedules", lambda: circoll.to_json([])),
    (circoll.InvalidArgument, "no schedules", lambda: circoll.to_goal([], bytes=8)),
    (circoll.InvalidArgument, "bytes", lambda: circoll.algorithm("bcast/binomial").time_s(4, -1)),
    (TypeError, "no attribute 'alpha'", lambda: circoll.Machine(alpha=1)),
    (circoll.Error, "", lambda: circoll.verify("allreduce/circulant_idempotent", p=0)),
])
def test_errors_have_the_sentence_of_the_tool(kind, words, call):
    with pytest.raises(kind) as caught:
        call()
    assert words in str(caught.value) and len(str(caught.value)) > 8


def test_long_calls_let_other_threads_go_on():
    counted = []
    done = threading.Event()

    def count():
        while not done.is_set():
            counted.append(1)
            time.sleep(0.001)
    thread = threading.Thread(target=count)
    thread.start()
    try:
        begin = time.perf_counter()
        circoll.simulate("allreduce/recursive_doubling", p=4096, bytes=8)
        passed = time.perf_counter() - begin
        inside = len(counted)
    finally:
        done.set()
        thread.join()
    assert inside > 2, f"{inside} turns in {passed:.3f} s"


RULES = {"allreduce": [{"op": "commutative", "p": [2, 3], "nodes": [1, 2], "bytes": [0, 1024], "use": "ring"}, {"otherwise": "auto"}],
         "bcast": [{"p": [1, 9], "use": "pipeline:segments=4"}, {"p": [9], "use": "native"}]}
PROFILE = {"version": 1, "library": "Open MPI 4.1.4", "processor": "AMD EPYC", "measured": [
    {"ranks": 4, "crowded": True, "processors": 2, "launches": 5, "circoll": "0.1", "date": "2026-01-02", "host": "n1"}]}


def test_rules_are_objects(tmp_path):
    file = tmp_path / "rules.json"
    file.write_text(json.dumps({"circoll_rules": 1, **RULES}))
    ring, otherwise, pipeline, native = circoll.rules(file)
    assert (ring.collective, ring.use, ring.algorithm, ring.line) == ("allreduce", "ring", circoll.algorithm("allreduce/ring"), 1)
    assert (ring.p, ring.nodes, ring.ranks_per_node, ring.bytes) == ((2, 3), (1, 2), (1, None), (0, 1024)) and ring.operators == ["commutative"]
    assert otherwise.otherwise and otherwise.use == "auto" and otherwise.algorithm is None
    assert pipeline.algorithm.params == {"segments": 4} and pipeline.operators == [] and native.use == "native"
    assert circoll.explain("bcast", 4, 64, policy=f"file:{file}").algorithm == pipeline.algorithm
    file.write_text(json.dumps({"circoll_rules": 1, "bcast": [{"p": [2, 5], "use": "binomial"}]}))
    with pytest.raises(circoll.ParseError, match="rules.json"):
        circoll.rules(file)


def test_a_profile_is_an_object(tmp_path):
    file = tmp_path / "profile.json"
    program = {"measured": {"report": "r.json", "launches": 3, "circoll": "0.4", "date": "2026-01-03", "host": "n2", "tried": "no"},
               "bcast": [{"p": [2, 5], "use": "linear"}, {"otherwise": "auto"}]}
    rules = {"allreduce": [{"op": "commutative", "p": [4, 5], "nodes": [1, 2], "bytes": [0, 1024], "use": "ring"}, {"otherwise": "auto"}]}
    file.write_text(json.dumps({"circoll_rules": 1, "profile": PROFILE, **rules, "programs": {"cg": program}}))
    profile = circoll.profile(file)
    assert (profile.library, profile.processor) == ("Open MPI 4.1.4", "AMD EPYC")
    assert profile.measured == [circoll.ProfileRanks(4, True, 2, 5, "0.1", "2026-01-02", "n1")]
    assert [rule.use for rule in profile.rules] == ["ring", "auto"]
    (cg,) = profile.programs
    assert (cg.name, cg.host, cg.tried) == ("cg", "n2", "no") and [rule.use for rule in cg.rules] == ["linear", "auto"]
    file.write_text(json.dumps({"circoll_rules": 1, **RULES}))
    with pytest.raises(circoll.ParseError, match="profile.json"):
        circoll.profile(file)


def test_measurements_are_a_data_frame(tmp_path):
    pandas = pytest.importorskip("pandas")
    file = tmp_path / "bench.json"
    file.write_text(json.dumps({"rows": [{"collective": "bcast", "algorithm": "native", "p": 2, "bytes": 8, "median_us": 1.5}]}))
    frame = circoll.measurements(file)
    assert isinstance(frame, pandas.DataFrame) and frame.median_us.tolist() == [1.5]
    file.write_text('{"rows": []}')
    assert circoll.measurements(file).empty
    for damaged in ("[1", "{}", "[]", '{"rows": [{"p": 2}]}'):
        file.write_text(damaged)
        with pytest.raises(circoll.ParseError, match="bench.json"):
            circoll.measurements(file)
