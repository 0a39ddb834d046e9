"""packaging_test.py SOURCE_DIR: the recipes of packaging/ compile, pyflakes finds nothing, and what they name is there.

Neither Spack nor ReFrame is needed: stand-ins take their place, and the recipes are run for every combination of variants.
"""
import itertools
import pathlib
import re
import subprocess
import sys
import tempfile
import types

ROOT = pathlib.Path(sys.argv[1]).resolve()
SPACK = ROOT / "packaging/spack/packages/circoll/package.py"
REFRAME = ROOT / "packaging/reframe/circoll_checks.py"
# Names in Spack of the packages that dev/packages has for the library.
COUNTERPARTS = {"libfmt-dev": "fmt", "libhwy-dev": "highway", "nlohmann-json3-dev": "nlohmann-json", "libcli11-dev": "cli11",
                "libtinyxml2-dev": "tinyxml2"}

wrong = []


def expect(condition, what):
    if not condition:
        wrong.append(what)


def lint(path):
    with tempfile.NamedTemporaryFile() as compiled:
        done = subprocess.run([sys.executable, "-c", "import py_compile, sys; py_compile.compile(*sys.argv[1:3], doraise=True)", path,
                               compiled.name], capture_output=True, text=True, check=False)
    expect(done.returncode == 0, f"{path.name} does not compile: {done.stderr[-300:]}")
    for linter in (["pyflakes3"], [sys.executable, "-m", "pyflakes"]):
        try:
            done = subprocess.run([*linter, path], capture_output=True, text=True, check=False)
        except FileNotFoundError:
            continue
        if "No module named" not in done.stderr:
            expect(done.returncode == 0, done.stdout + done.stderr)
            return
    print("skipped pyflakes: it is not installed")


class Directives:
    """Spack's directives, which are kept as they are called."""

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        return lambda *words, **options: self.calls.append((name, words, options))

    def of(self, name):
        return [(words, options) for called, words, options in self.calls if called == name]


class Spec:
    def __init__(self, variants):
        self.variants = variants

    def satisfies(self, text):
        return self.variants[text[1:]] is (text[0] == "+")


def spack_package():
    """The class of the recipe, and its directives."""
    directives = Directives()

    class CMakePackage:
        run_tests = False

        def define(self, name, value):
            return f"-D{name}:BOOL={'ON' if value else 'OFF'}"

        def define_from_variant(self, name, variant):
            return self.define(name, self.spec.variants[variant])

    module = types.ModuleType("spack.package")
    module.CMakePackage = CMakePackage
    module.run_after = lambda phase: lambda function: function
    for name in ("conflicts", "depends_on", "license", "variant", "version"):
        setattr(module, name, getattr(directives, name))
    sys.modules.update({"spack": types.ModuleType("spack"), "spack.package": module})
    names = {}
    exec(compile(SPACK.read_text(encoding="utf-8"), SPACK, "exec"), names)
    return names["Circoll"], directives


def test_spack():
    package, directives = spack_package()
    cmake = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    options = set(re.findall(r"^(?:option|set)\((\w+) ", cmake, re.M))
    variants = [words[0] for words, _ in directives.of("variant")]
    expect({"openmpi", "mpich", "abi", "smpi", "explorer", "docs"} <= set(variants), f"variants: {variants}")
    defaults = {words[0]: given["default"] for words, given in directives.of("variant")}
    expect(not defaults["explorer"] and not defaults["docs"], "explorer and docs are off by default")
    for values in itertools.product((False, True), repeat=len(variants)):
        recipe = package()
        recipe.spec = Spec(dict(zip(variants, values)))
        named = dict(re.fullmatch(r"-D(\w+):BOOL=(ON|OFF)", word).groups() for word in recipe.cmake_args())
        for name in named:
            expect(name in options, f"CMakeLists.txt has no option {name}")
        for variant, option in (("openmpi", "CIRCOLL_OPENMPI"), ("mpich", "CIRCOLL_MPICH"), ("abi", "CIRCOLL_ABI"),
                                ("smpi", "CIRCOLL_SMPI")):
            expect(named.get(option) == ("ON" if recipe.spec.variants[variant] else "OFF"), f"{option} does not follow {variant}")
        expect(("explorer" in recipe.build_targets) == recipe.spec.variants["explorer"], "the explorer is a target of its own")
        expect("all" in recipe.build_targets, "and all else is built, too")
    needed = {re.match(r"[\w-]+", words[0])[0] for words, given in directives.of("depends_on") if given.get("when", "+lab") == "+lab"}
    listed = re.findall(r"^library +(\S+)", (ROOT / "dev/packages").read_text(encoding="utf-8"), re.M)
    expect(listed, "dev/packages has a group 'library'")
    for name in listed:
        expect(COUNTERPARTS.get(name) in needed, f"{name} of dev/packages has no counterpart in package.py ({COUNTERPARTS.get(name)})")
    project = re.search(r"project\(circoll VERSION ([\d.]+)", cmake)[1]
    versions = [words[0] for words, _ in directives.of("version")]
    expect(project in versions, f"package.py has no version {project}: {versions}")
    expect(f"\nversion: {project}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8"), f"CITATION.cff is not of {project}")
    heading = re.search(r"^## \[([^\]]+)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)[1]
    expect(heading in (project, "Unreleased"), f"the first heading of CHANGELOG.md is {heading}, not {project}")
    page = re.search('<meta name="circoll-version" content="([^"]*)">', (ROOT / "lab/explorer/explorer.html").read_text(encoding="utf-8"))[1]
    expect(page == project or heading == "Unreleased",
           f"lab/explorer/explorer.html is '{page}', not of {project}: ./check explorer builds it anew")
    with tempfile.TemporaryDirectory() as prefix:
        recipe = package()
        pages = pathlib.Path(prefix, "share/doc/circoll/docs")
        recipe.prefix = types.SimpleNamespace(share=str(pathlib.Path(prefix, "share")))
        for wanted in (True, False):
            pages.mkdir(parents=True, exist_ok=True)
            recipe.spec = Spec({"docs": wanted})
            recipe.leave_out_pages()
            expect(pages.exists() == wanted, f"pages are there if the variant docs is on ({wanted})")


def reframe_checks():
    """The classes that ReFrame would run."""
    checks = []
    rfm, core, builtins, utility, sanity = (types.ModuleType(name) for name in (
        "reframe", "reframe.core", "reframe.core.builtins", "reframe.utility", "reframe.utility.sanity"))
    rfm.RunOnlyRegressionTest = type("RunOnlyRegressionTest", (), {"stdout": "stdout"})
    rfm.simple_test = lambda check: checks.append(check) or check
    builtins.parameter = lambda values: values[0]
    builtins.variable = lambda kind, value: value
    builtins.run_before = builtins.performance_function = lambda word: lambda function: function
    builtins.sanity_function = lambda function: function
    output = lambda: reframe_checks.output
    sanity.assert_found = lambda pattern, _: re.search(pattern, output(), re.M) is not None
    sanity.assert_not_found = lambda pattern, _: re.search(pattern, output(), re.M) is None
    sanity.extractall = lambda pattern, _: re.findall(pattern, output(), re.M)
    sanity.extractsingle = lambda pattern, _, group, kind: kind(re.search(pattern, output(), re.M)[group])
    sanity.count, sanity.assert_eq, sanity.all = len, lambda a, b: a == b, all
    rfm.core, core.builtins, rfm.utility, utility.sanity = core, builtins, utility, sanity
    sys.modules.update({module.__name__: module for module in (rfm, core, builtins, utility, sanity)})
    exec(compile(REFRAME.read_text(encoding="utf-8"), REFRAME, "exec"), {"__name__": "circoll_checks"})
    return checks


BENCH = """# Circoll 0.2.0 with openmpi 4.1.4: 2 ranks, rank 0 on node, 2026-11-26T07:15:00Z
{0}             native                           2           8    200         0.43         0.42  0.44 0.40 0.50 0.0186 0.0186     1.00      yes
{0}             auto (recursive_doubling)        2           8    200         0.41         0.40  0.42 0.38 0.48 0.0195 0.0195     1.05      yes
{0}             native                           2       65536    200        20.43         0.42  0.44 0.40 0.50 0.0186 0.0186     1.00      yes
{0}             auto (ring)                      2       65536    200        20.41         0.40  0.42 0.38 0.48 0.0195 0.0195     1.05      yes
{0}             native                           2     1048576    200       400.43         0.42  0.44 0.40 0.50 0.0186 0.0186     1.00      yes
{0}             auto (slices:segments=4)         2     1048576    200       300.41         0.40  0.42 0.38 0.48 0.0195 0.0195     1.05      {1}
"""


def test_reframe():
    """Output as circoll-bench writes it is accepted, and a wrong result is not; the options are in its --help."""
    proves, right = (check() for check in reframe_checks())
    for output, proven in (("allreduce/circulant_optimal  p = 1..32  proven", True), ("refuted", False)):
        reframe_checks.output = output
        expect(bool(proves.proven()) == proven, f"verify printed {output!r}")
    right.place()
    expect("--wide" in right.executable_opts, "the rows of the wide table are read")
    expect(right.num_tasks == right.nodes * right.ranks_per_node, "the ranks are those of all nodes")
    for last in ("yes", "NO"):
        reframe_checks.output = BENCH.format(right.collective, last)
        expect(bool(right.right()) == (last == "yes"), f"results that are right: {last}")
    expect(right.auto_1mi() == 300.41, "the median of auto at 1 MiB")
    words = (ROOT / "tools/options/bench.cpp").read_text(encoding="utf-8")
    for word in (word for word in right.executable_opts if word.startswith("--")):
        expect(f'"{word}"' in words, f"circoll bench has no {word}")


for recipe in (SPACK, REFRAME):
    lint(recipe)
test_spack()
test_reframe()
print("FAILED\n" + "\n".join(sorted(set(wrong))) if wrong else "PASS")
sys.exit(1 if wrong else 0)
