"""Charts: of objects of the package, and of what commands write with --json or draw with --plot."""
import json
import os
import pathlib
import re

import circoll
import circoll.plot
import matplotlib
import matplotlib.quiver
import pytest

ROWS = [{"collective": collective, "algorithm": algorithm, "p": 2, "bytes": size, "median_us": factor * (1 + size / 1000),
         "median_low_us": factor * (0.9 + size / 1000), "median_high_us": factor * (1.2 + size / 1000)}
        for collective in ("bcast", "allreduce") for algorithm, factor in (("native", 2.0), ("auto", 1.0)) for size in (8, 1024, 65536)]


def words_of(path):
    """The texts of a chart, without markup."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    assert text.lstrip().startswith("<?xml") and "<svg" in text
    return re.findall(r"<text[^>]*>([^<]*)</text>", text)


def test_costs_show_the_fastest_and_where_they_cross():
    data = circoll.costs("allreduce", 36, most_bytes=1 << 20)
    axis = circoll.plot.chart(data).axes[0]
    fastest = {circoll.rank("allreduce", 36, size)[0].algorithm.name for size in data["sizes"]}
    assert {text.get_text() for text in axis.get_legend().get_texts()} == fastest and len(fastest) > 1
    assert data["sizes"][0] == 8 and data["sizes"][-1] == 1 << 20


def test_costs_name_the_size_at_which_the_fastest_changes():
    axis = circoll.plot.costs({"collective": "bcast", "p": 4, "sizes": [8, 64, 1024, 8192], "fastest": ["a", "a", "b", "b"],
                               "times_s": {"a": [1, 2, 3, 4], "b": [2, 3, 1, 1], "c": [9, None, 9, 9]}}).axes[0]
    assert [text.get_text() for text in axis.texts] == ["1 KiB"]
    dotted = [line for line in axis.lines if line.get_linestyle() == ":"]
    assert [line.get_xdata()[0] for line in dotted] == [1024]


def arrows_of(axis):
    """Begins and ends of the arrows of an axis."""
    (arrows,) = [one for one in axis.collections if isinstance(one, matplotlib.quiver.Quiver)]
    return [((x, y), (x + u, y + v)) for x, y, u, v in zip(arrows.X, arrows.Y, arrows.U, arrows.V)]


def test_rounds_have_an_arrow_for_each_message():
    schedules = circoll.algorithm("allgather/bruck").schedules(p=6)
    messages = circoll.messages(schedules)
    axis = circoll.plot.rounds(schedules).axes[0]
    drawn = sorted((int(x), round(y), round(to_y)) for (x, y), (_, to_y) in arrows_of(axis))
    assert drawn == sorted((int(row["round"]), int(row["source"]), int(row["destination"])) for row in messages)
    assert {text.get_text() for text in axis.get_legend().get_texts()} == {str(blocks) for blocks in set(messages["blocks"].tolist())}
    assert axis.get_title(loc="left") == "allgather/bruck, p = 6"


def test_rounds_around_a_circle():
    schedules = circoll.algorithm("allgather/bruck").schedules(p=6)
    figure = circoll.plot.rounds(schedules, "circle", title="six")
    rounds = [axis for axis in figure.axes if axis.get_title()]
    assert [axis.get_title() for axis in rounds] == ["round 0", "round 1", "round 2"] and figure._suptitle.get_text() == "six"
    messages = circoll.messages(schedules)
    for k, axis in enumerate(rounds):
        points = axis.collections[0].get_offsets()

        def nearest(place):
            return int(((points - place) ** 2).sum(axis=1).argmin())
        drawn = sorted((nearest(begin), nearest(end)) for begin, end in arrows_of(axis))
        assert drawn == sorted((int(row["source"]), int(row["destination"])) for row in messages if row["round"] == k)


def test_rounds_of_a_barrier_and_of_one_rank():
    assert len(arrows_of(circoll.plot.rounds(circoll.algorithm("barrier/dissemination").schedules(p=5)).axes[0])) == 15
    for form in ("spacetime", "circle"):
        axis = circoll.plot.rounds(circoll.algorithm("bcast/binomial").schedules(p=1), form).axes[0]
        assert not [one for one in axis.collections if isinstance(one, matplotlib.quiver.Quiver)]


def test_a_notebook_shows_a_chart_by_itself():
    assert circoll.plot.measured({"rows": ROWS})._repr_png_().startswith(b"\x89PNG")


def test_measured_bars_have_intervals():
    axis = circoll.plot.measured({"rows": ROWS}, "ratios").axes[0]
    (bars,) = [container for container in axis.containers if hasattr(container, "patches")]
    assert [round(bar.get_height(), 6) for bar in bars] == [2.0] * 3
    (segments,) = [line for line in axis.collections if hasattr(line, "get_segments")]
    low, high = segments.get_segments()[0][:, 1]
    assert low < 2 < high
    with pytest.raises(ValueError, match="native"):
        circoll.plot.measured({"rows": [row for row in ROWS if row["algorithm"] == "auto"]}, "ratios")


def test_measured_times_over_sizes():
    figure = circoll.plot.measured([{"rows": ROWS[:6]}, {"rows": ROWS[6:]}], title="two files")
    assert [axis.get_title(loc="left") for axis in figure.axes] == ["bcast, p = 2", "allreduce, p = 2"]
    assert figure._suptitle.get_text() == "two files"


def test_each_p_has_a_panel_and_each_algorithm_a_colour():
    def rows(collective, p, *algorithms):
        return [{"collective": collective, "algorithm": name, "p": p, "bytes": size, "median_us": 1.0 + k, "correct": "NO" if name == "ring" else "yes"}
                for k, name in enumerate(algorithms) for size in (8, 64)]
    documents = [{"rows": rows("bcast", 8, "native", "auto", "binomial")}, {"rows": rows("bcast", 16, "native", "auto")},
                 {"rows": rows("allreduce", 8, "native", "auto", "ring")}]
    for kind in ("times", "ratios"):
        axes = circoll.plot.measured(documents, kind).axes
        assert [axis.get_title(loc="left") for axis in axes] == ["bcast, p = 8", "bcast, p = 16", "allreduce, p = 8"]
        assert [axis.get_legend() is not None for axis in axes] == [True, False, False]
        legend = axes[0].get_legend()
        named = {text.get_text(): matplotlib.colors.to_hex(handle.get_facecolor()) for text, handle in zip(legend.get_texts(), legend.get_patches())}
        assert set(named) == {"native", "auto", "binomial", "ring"} - ({"native"} if kind == "ratios" else set())
        assert len(set(named.values())) == len(named)
        used = [[matplotlib.colors.to_hex(one[0].get_color() if kind == "times" else one.patches[0].get_facecolor())
                 for one in axis.containers if kind == "times" or hasattr(one, "patches")] for axis in axes]
        names = [["native", "auto", "binomial"], ["native", "auto"], ["native", "auto", "ring"]]
        assert used == [[named[name] for name in panel if name in named] for panel in names]
        assert "wrong result" in [text.get_text() for text in legend.get_texts()]
        assert [sum(line.get_marker() == "x" for line in axis.lines) for axis in axes] == [0, 0, 1]
    with pytest.raises(ValueError, match="bcast, p = 8, native, 8 B is there twice: circoll merge"):
        circoll.plot.measured([documents[0], documents[0]])


def test_figures_are_the_callers():
    look = dict(matplotlib.rcParams)
    figure = circoll.plot.measured({"rows": ROWS})
    assert dict(matplotlib.rcParams) == look and not hasattr(figure, "number")  # pyplot numbers those that it keeps


def test_a_matrix_of_failures_has_a_cell_for_each():
    table = circoll.faults("allreduce/ring", p=5)
    image = circoll.plot.chart({"id": table.id, "p": 5, "keep": table.keep, "rounds": table.rounds,
                                "failures": [{"k": int(row["k"]), "failed": table.failed[row["failure"]],
                                              "class": circoll.FAILURE_CLASSES[row["class"]]} for row in table.table]}).axes[0].images[0]
    same = circoll.plot.failures(table).axes[0].images[0]
    assert (image.get_array() == same.get_array()).all() and same.get_array().shape == (5, table.rounds + 1)
    assert list(circoll.plot.CLASSES)[same.get_array()[2, 0]] == "SURV"


def test_a_gantt_chart_has_a_bar_for_each_step():
    run = circoll.simulate("bcast/binomial", p=8, bytes=4096, record=True)
    axis = circoll.plot.gantt(run).axes[0]
    bars = [bar for container in axis.containers for bar in container]
    assert len(bars) == len(run.steps)
    assert max(bar.get_x() + bar.get_width() for bar in bars) == pytest.approx(1e6 * run.time_s)
    assert axis.get_ylim() == (7.5, -0.5)
    with pytest.raises(ValueError, match="512"):
        circoll.plot.gantt({"steps": [], "p": 513})


def test_traffic_has_bars_for_rounds_and_levels():
    load = circoll.traffic("alltoall/pairwise", "torus:dims=4x4", p=16, bytes=1 << 16)
    times, volumes = circoll.plot.traffic(load).axes
    assert len(times.containers[0]) == 15 and len(volumes.containers[0]) == 3
    assert sum(bar.get_height() for bar in times.containers[0]) == pytest.approx(1e6 * load.time_s)
    assert [tick.get_text() for tick in volumes.get_xticklabels()] == ["node", "group", "system"]
    assert volumes.yaxis.get_major_formatter()(2048, 0) == "2 KiB"


def test_jobs_have_two_boxes_for_each_algorithm():
    rows = [{"id": "allreduce/ring", "as_is": [0.1, 0.3], "relabelled": [0.2, 0.6]}, {"id": "bcast/bine", "as_is": [1], "relabelled": [10]}]
    document = {"axis": "a ratio", "jobs": [{"title": "here", "rows": rows}, {"title": "no jobs there", "rows": []}]}
    here, there = circoll.plot.chart(document).axes
    assert [label.get_text() for label in here.get_yticklabels()] == ["allreduce/ring", "bcast/bine"]
    assert len(here.patches) == 4 and not there.patches
    dots = sorted(line.get_xdata()[0] for line in here.lines if line.get_marker() == "o" and len(line.get_xdata()))
    assert dots == pytest.approx([0.2, 0.4, 1, 10]), "the means"
    with pytest.raises(KeyError):
        circoll.plot.chart({"axis": "", "jobs": [{"title": "damaged", "rows": [{"id": "x"}]}]})


def test_links_have_a_line_for_each_algorithm_and_labels():
    def side(loads):
        rows = [{"part": str(n), "out": {"bytes": load}, "in": {"bytes": 1}} for n, load in enumerate(loads)]
        return {"levels": [{"between": "groups", "links": rows}, {"between": "ranks of a host"}]}
    document = {"p": 8, "bytes": 1024, "algorithms": [{"id": "a", **side([5, 9, 0]), "relabelled": side([2, 2, 3])}, {"id": "b", "unmet": "needs an even p"}]}
    (axis,) = circoll.plot.chart(document).axes
    assert [list(line.get_ydata()) for line in axis.lines] == [[9, 5, 1], [3, 2, 2]] and axis.get_title(loc="left") == "groups"
    with pytest.raises(ValueError, match="one host"):
        circoll.plot.chart({"p": 2, "bytes": 8, "algorithms": [{"id": "a", **side([3])}]})


@pytest.mark.parametrize("words, text", [
    ("cost allreduce -p 36 --bytes 1Mi --plot", "allreduce, p = 36: the fastest algorithms, and all others in grey"),
    ("faults allreduce/ring -p 5 --plot", "allreduce/ring, p = 5, keep = buf"),
    ("simulate bcast/binomial -p 8 --bytes 4Ki --plot", "time [us]"),
    ("simulate alltoall/pairwise -p 16 --bytes 64Ki --topology torus:dims=4x4 --plot", "bytes of all messages"),
    ("simulate bcast -p 8 --bytes 8,64Ki --plot", "p = 8, 64 KiB"),
    ("traffic allgather/ring --relabel --allocation hosts.txt --plot", "allgather/ring, relabelled"),
])
def test_commands_draw(tool, tmp_path, words, text):
    (tmp_path / "hosts.txt").write_text("g1/a\ng2/b\ng1/c\ng2/d\n")
    code, out, err = tool(*words.split(), "chart.svg")
    assert code == 0, out + err
    assert any(text in line for line in words_of(tmp_path / "chart.svg")), words_of(tmp_path / "chart.svg")
    assert not list((tmp_path / "temporary").iterdir())


def test_plot_draws_files_that_commands_wrote(tool, tmp_path):
    _, out, _ = tool("cost", "bcast", "-p", "9", "--bytes", "64Ki", "--sizes", "--json")
    (tmp_path / "times.json").write_text(out)
    assert tool("plot", "times.json", "-o", "times.svg")[0] == 0 and words_of(tmp_path / "times.svg")
    (tmp_path / "bench.json").write_text(json.dumps({"rows": ROWS}))
    (tmp_path / "more.json").write_text(json.dumps({"rows": [{**row, "p": 4} for row in ROWS]}))
    assert tool("plot", "bench.json", "more.json", "-o", "bench.png", "--kind", "ratios")[0] == 0
    assert (tmp_path / "bench.png").read_bytes().startswith(b"\x89PNG")
    assert tool("plot", "bench.json", "-o", "bench.pdf", "--title=--a title")[0] == 0
    assert tool("plot", "bench.json", "-o", "./-o.svg")[0] == 0
    for words in ("bcast/binomial -p 8 --plot steps.svg", "bcast -p 8 --bytes 8,64", "bcast/binomial -p 8 --topology torus:dims=8"):
        _, out, _ = tool("simulate", *words.split(), "--json")
        (tmp_path / "run.json").write_text(out)
        assert tool("plot", "run.json", "-o", "run.svg")[0] == 0, words
    _, out, _ = tool("show", "allgather/bruck", "-p", "5", "--format", "json")
    (tmp_path / "bruck.json").write_text(out)
    for kind in ("spacetime", "circle"):
        assert tool("plot", "bruck.json", "-o", f"{kind}.svg", "--kind", kind)[0] == 0
    assert "allgather/bruck, p = 5" in words_of(tmp_path / "spacetime.svg") and "round 2" in words_of(tmp_path / "circle.svg")
    again = tmp_path / "again.svg"
    tool("plot", "times.json", "-o", "again.svg")
    assert again.read_bytes() == (tmp_path / "times.svg").read_bytes()


@pytest.mark.parametrize("words, code, sentence", [
    ("plot none.json -o x.svg", 2, "none.json"),
    ("plot broken.json -o x.svg", 1, "broken.json: this is no JSON"),
    ("plot other.json -o x.svg", 1, "there is no chart for this"),
    ("plot damaged.json -o x.svg", 1, "damaged.json: there is no chart for this: KeyError('collective')"),
    ("plot other.json -o x.gif", 2, ".svg, .pdf, .png"),
    ("plot two.json two.json -o x.svg", 1, "only measurements are drawn from several files"),
    ("plot two.json -o /none/such/x.svg", 1, "No such file"),
    ("plot bench.json bench.json -o x.svg", 1, "is there twice: circoll merge combines measurements"),
    ("plot run.json -o x.svg", 1, "circoll simulate --plot draws them"),
    ("plot ring.json -o x.svg", 1, "1 of 4 are here: circoll show writes them without --rank"),
    ("plot wide.json -o x.svg --kind circle", 1, "at most 64 ranks and 24 rounds"),
    ("plot wide.json -o x.svg --kind ratios", 1, "not as 'ratios'"),
    ("plot bench.json -o x.svg --kind circle", 1, "not as 'circle'"),
    ("simulate allreduce -p 8 --plot /none/such/x.svg", 1, "No such file"),
    ("faults allreduce -p 4 --plot x.svg", 2, "about one algorithm"),
    ("faults allreduce/ring -p 4 --repair --plot x.svg", 2, "--picture"),
    ("cost allreduce/ring -p 4 --plot x.svg", 2, "name it"),
    ("simulate bcast/binomial -p 1000 --plot x.svg", 2, "at most 512 ranks"),
])
def test_wrong_calls_get_one_sentence(tool, tmp_path, words, code, sentence):
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "other.json").write_text('{"rows": []}')
    (tmp_path / "damaged.json").write_text('{"rows": [{"median_us": 1}]}')
    (tmp_path / "bench.json").write_text(json.dumps({"rows": ROWS}))
    (tmp_path / "run.json").write_text(tool("simulate", "bcast/binomial", "-p", "8", "--json")[1])
    (tmp_path / "ring.json").write_text(tool("show", "allreduce/ring", "-p", "4", "--rank", "1", "--format", "json")[1])
    (tmp_path / "wide.json").write_text(tool("show", "bcast/binomial", "-p", "65", "--format", "json")[1])
    (tmp_path / "two.json").write_text('{"collective": "bcast", "p": 2, "sizes": [8], "fastest": ["linear"], "times_s": {"linear": [1e-6]}}')
    got, out, err = tool(*words.split())
    assert got == code and sentence in err and len(err.strip().splitlines()) <= 2, (got, out, err)
    assert not (tmp_path / "x.svg").exists() and (not out or "--plot" not in words)


@pytest.mark.parametrize("words", ["simulate bcast/binomial -p 8", "simulate bcast -p 8 --bytes 8,64", "faults allreduce/ring -p 4", "cost bcast -p 8"])
def test_numbers_are_printed_though_the_chart_fails(tool, tmp_path, words):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3").write_text("#!/bin/sh\ncase \"$*\" in *\" -- \"*) echo 'plot: the disk is full' >&2; exit 1;; esac\n")
    (tmp_path / "bin/python3").chmod(0o755)
    code, out, err = tool(*words.split(), "--plot", "x.svg", PATH=f"{tmp_path}/bin:{os.environ['PATH']}")
    if words.startswith("cost"):
        words += " --sizes --bytes 1Mi"
    assert code == 1 and "the disk is full" in err and out == tool(*words.split())[1], (out, err)
    assert not list((tmp_path / "temporary").iterdir())


def test_without_matplotlib_commands_say_what_to_install(tool, tmp_path):
    (tmp_path / "fake").mkdir()
    (tmp_path / "fake/matplotlib.py").write_text("raise ImportError('no matplotlib here')\n")
    code, _, err = tool("cost", "bcast", "-p", "4", "--plot", "x.svg", PYTHONPATH=str(tmp_path / "fake"))
    assert code == 2 and "apt-get install python3-matplotlib" in err


def test_the_picture_of_the_readme_is_what_its_lines_draw(source, tmp_path):
    committed = source / "docs/pictures/costs_allreduce_p11.svg"
    circoll.plot.look.save(circoll.plot.costs(circoll.costs("allreduce", p=11)), tmp_path / "costs.svg")
    assert words_of(tmp_path / "costs.svg") == words_of(committed), f"draw {committed} anew by these lines"
    if f"Matplotlib v{matplotlib.__version__}," in committed.read_text(encoding="utf-8"):  # other versions have other paths
        assert (tmp_path / "costs.svg").read_bytes() == committed.read_bytes()
