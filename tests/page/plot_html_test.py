"""plot_html_test.py CIRCOLL: a page of circoll plot in headless Chromium. Charts are laid out, what they show is where it should
be, controls work, names of algorithms stay text, and nothing is loaded."""
import html
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CIRCOLL = sys.argv[1]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
OPTIONS = ["--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
           "--disable-component-update", "--disable-sync", "--virtual-time-budget=5000"]
HOSTILE = "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\"><b>"
SIZES = [8, 512, 32768, 2097152]
FACTORS = {"native": 1, "auto": 0.5, HOSTILE: 1.5, "linear": 2, "slow": 40}
PANELS = [("allreduce", 2), ("allreduce", 4), ("bcast", 4)]
KINDS = ["time", "ratio", "normalised"]
LACKING = ("barrier", 4)
failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)


def write_launches(work):
    """Six, of which each is a little slower than the one before; so ratios are exact."""
    files = []
    for i in range(6):
        rows = [{"collective": collective, "algorithm": name, "served_by": "ring" if name == "auto" else name, "p": p,
                 "bytes": size, "reps": 5, "median_us": (p + size / 1000) * factor * (1 + i / 50), "correct": "yes"}
                for collective, p in PANELS for size in SIZES for name, factor in FACTORS.items()]
        rows.append({"collective": LACKING[0], "algorithm": "linear", "served_by": "linear", "p": LACKING[1], "bytes": 0,
                     "reps": 5, "median_us": 3, "correct": "-"})
        files.append(work / f"{i}.json")
        files[-1].write_text(json.dumps({"type": "byte", "op": "bor", "root": 0, "sync": "clock", "rows": rows}),
                             encoding="utf-8")
    return files


def dump(page, width, options=()):
    """What measure.js finds in the page, in a window of this width."""
    with tempfile.TemporaryDirectory() as profile:
        root = ["--no-sandbox"] if os.geteuid() == 0 else []
        done = subprocess.run([CHROMIUM, *OPTIONS, *root, *options, f"--user-data-dir={profile}", f"--window-size={width},1000",
                               "--dump-dom", page], capture_output=True, text=True, timeout=120, check=False)
    found = re.search(r'<pre id="measured">(.*?)</pre>', done.stdout, re.DOTALL)
    if not found:
        sys.exit(f"nothing was measured: exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return json.loads(html.unescape(found[1]))


def inside(inner, outer, slack=1):
    return (inner["left"] >= outer["left"] - slack and inner["right"] <= outer["right"] + slack and
            inner["top"] >= outer["top"] - slack and inner["bottom"] <= outer["bottom"] + slack)


def apart(one, other):
    return (one["right"] <= other["left"] or other["right"] <= one["left"] or one["bottom"] <= other["top"] or
            other["bottom"] <= one["top"])


def near(a, b):
    return abs(a - b) < 1.5


def check_figure(figure, name):
    svg = figure["svg"]
    expect(svg["right"] - svg["left"] > 300 and svg["bottom"] - svg["top"] > 180, f"{name}: a picture of {svg}")
    for text in figure["texts"]:
        expect(inside(text, svg), f"{name}: text leaves the picture: {text}, {svg}")
    for labels in ("ticks", "entries"):
        for one, other in itertools.combinations(figure[labels], 2):
            expect(apart(one, other), f"{name}: {labels} overlap: {one}, {other}")
    for mark in figure["markers"] + figure["bars"] + figure["intervals"]:
        expect(inside(mark, svg), f"{name}: a mark leaves the picture: {mark}")
    if (figure["collective"], figure["p"]) == LACKING:
        return
    series = len(FACTORS) - (figure["kind"] != "time")
    expect(len(figure["tips"]) == series * len(SIZES), f"{name}: {len(figure['tips'])} marks")
    expect(len(figure["entries"]) == series, f"{name}: {len(figure['entries'])} in the legend")
    expect(any(tip.startswith("auto (ring), 32 KiB: ") for tip in figure["tips"]), f"{name}: {figure['tips']}")


def check_places(figure, name):
    """Marks are where their numbers say: series by series, by size."""
    middle = [(m["top"] + m["bottom"]) / 2 for m in figure["markers"]]
    rows = [middle[i:i + len(SIZES)] for i in range(0, len(middle), len(SIZES))]
    one = [(o["top"] + o["bottom"]) / 2 for o in figure["one"]]
    if figure["kind"] == "time":
        for row in rows:
            expect(row == sorted(row, reverse=True), f"{name}: longer takes longer: {row}")
        # Native, auto, ..., linear: half and double the time are equally far away.
        for native, auto, linear in zip(rows[0], rows[1], rows[3]):
            expect(linear < native < auto and near(native - linear, auto - native), f"{name}: {native}, {auto}, {linear}")
    elif figure["kind"] == "ratio":
        for auto, linear in zip(rows[0], rows[2]):
            expect(auto < one[0] < linear and near(one[0] - auto, linear - one[0]), f"{name}: {auto}, {one}, {linear}")
    else:
        height = [b["bottom"] - b["top"] for b in figure["bars"]]
        unit = figure["bars"][0]["bottom"] - one[0]
        for bar in height[:len(SIZES)]:
            expect(near(bar, unit / 2), f"{name}: half the time, but {bar} of {unit}")
        for bar in height[2 * len(SIZES):3 * len(SIZES)]:
            expect(near(bar, unit * 2), f"{name}: double the time, but {bar} of {unit}")
        expect(max(height) < unit * 6, f"{name}: the longest bars are cut")


def luminance(colour):
    parts = [int(v) / 255 for v in re.findall(r"\d+", colour)[:3]]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def check_page(found, width, dark):
    name = f"{width} wide{', dark' if dark else ''}"
    expect(found["title"] == "A <title> & 'more'", f"{name}: {found['title']}")
    expect(found["elements"] == [0, 0, 0, 2], f"{name}: img, iframe, b, script: {found['elements']}")
    expect(found["loaded"] == 0, f"{name}: {found['loaded']} loads")
    expect(found["scrolled"] <= found["width"], f"{name}: {found['scrolled']} of {found['width']} wide")
    expect((luminance(found["ground"]) < 0.1) == dark, f"{name}: {found['ground']}")
    expect(contrast(found["text"], found["ground"]) > 10, f"{name}: {found['text']} on {found['ground']}")
    for colour in found["colours"]:
        # The lightest colours of the palette on white; markers and dashes say the same.
        expect(contrast(colour, found["ground"]) > (4 if dark else 2), f"{name}: {colour} on {found['ground']}")
    expect(len(found["figures"]) == len(PANELS) * 3 + 1, f"{name}: {len(found['figures'])} figures")
    for figure in found["figures"]:
        what = f"{name}: {figure['collective']}, {figure['p']}, {figure['kind']}"
        check_figure(figure, what)
        if (figure["collective"], figure["p"]) != LACKING:
            check_places(figure, what)


def check_controls(found):
    every = [list(panel) for panel in PANELS + [LACKING]]
    expect(found["first"] == KINDS * len(PANELS) + ["time"], f"at first: {found['first']}")
    choices = found["choices"]
    expect(choices["time"]["kinds"] == ["time"] * 4 and choices["time"]["hash"] == "#kind=time", f"{choices['time']}")
    expect(choices["normalised"]["kinds"] == ["normalised"] * 3, f"{choices['normalised']}")
    expect(choices["normalised"]["sections"] == every, f"{choices['normalised']}")
    expect(choices["all"]["kinds"] == found["first"], f"{choices['all']}")
    expect(choices["bcast"]["sections"] == [["bcast", 4]], f"{choices['bcast']}")
    expect(choices["bcast"]["hash"] == "#collective=bcast&kind=all", f"{choices['bcast']}")
    expect(choices["none"]["sections"] == [] and choices["none"]["nothing"] == 1, f"{choices['none']}")
    expect(choices["two"]["sections"] == [["allreduce", 2]] and choices["two"]["nothing"] == 0, f"{choices['two']}")
    expect(len(found["table"]) == len(SIZES) * len(FACTORS), f"{len(found['table'])} rows of numbers")
    expect(found["table"][1][2:4] == ["auto", "ring"] and found["table"][1][7] == "2.000", f"{found['table'][1]}")
    expect(found["table"][2][2] == HOSTILE, f"{found['table'][2]}")


def main():
    if CHROMIUM is None:
        print("skipped: no Chromium (dev/packages)")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        page = work / "report.html"
        subprocess.run([CIRCOLL, "plot", *write_launches(work), "-o", page, "--title", "A <title> & 'more'"], check=True)
        script = (pathlib.Path(__file__).parent / "measure.js").read_text(encoding="utf-8")
        text = page.read_text(encoding="utf-8")
        expect(text.count("</body>") == 1, "one end")
        page.write_text(text.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
        for width in (1600, 520):
            found = dump(page.as_uri(), width)
            check_page(found, width, dark=False)
        check_controls(found)
        check_page(dump(page.as_uri(), 1600, ["--blink-settings=preferredColorScheme=0"]), 1600, dark=True)
        ratio = dump(page.as_uri() + "#collective=bcast&p=4&kind=ratio", 1600)
        expect([(f["collective"], f["kind"]) for f in ratio["figures"]] == [("bcast", "ratio")], "the choice in the address")
    for failure in failures:
        print("FAILED:", failure)
    print(f"{len(failures)} failures")
    sys.exit(1 if failures else 0)


main()
