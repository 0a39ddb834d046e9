"""Builds the wheel for `pip install .` by CMake, with nothing from a network (PEP 517).

It builds the library without MPI, the lab, and the module for the Python that runs pip. Needed are what dev/packages lists under
build, library and python. `--config-settings build-dir=DIR` builds in a tree that is configured already.
"""
import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def _version():
    return re.search(r"project\(circoll VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]


def _tag():
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}-{platform}"


def _numpy():
    """The NumPy that the module can be used with: pybind11 reads arrays of NumPy 2 wrongly before its version 2.12."""
    found = subprocess.run(["pkg-config", "--modversion", "pybind11"], capture_output=True, text=True, check=False).stdout
    version = tuple(int(number) for number in re.findall(r"\d+", found)[:2])
    return "numpy" if version >= (2, 12) else "numpy<2"


def _configure(directory):
    options = {"CMAKE_BUILD_TYPE": "Release", "CIRCOLL_PYTHON": "ON", "CIRCOLL_OPENMPI": "OFF", "CIRCOLL_MPICH": "OFF", "CIRCOLL_ABI": "OFF",
               "CIRCOLL_TESTS": "OFF", "CIRCOLL_INSTALL": "OFF", "CIRCOLL_UNITY": "ON", "CIRCOLL_CCACHE": "ON", "CIRCOLL_WARNINGS_AS_ERRORS": "OFF",
               "Python_EXECUTABLE": sys.executable}
    subprocess.run(["cmake", "-S", ROOT, "-B", directory, "-G", "Ninja", *(f"-D{name}={value}" for name, value in options.items())], check=True)


def _build(directory):
    """Builds the module, which is that of the sources then. Returns what was built."""
    subprocess.run(["cmake", "--build", directory, "--target", "circoll_python", "--parallel", str(os.cpu_count() or 1)], check=True)
    built = directory / "python" / "circoll"
    module = built / ("_core" + sysconfig.get_config_var("EXT_SUFFIX"))
    if not module.exists():
        raise SystemExit(f"{directory} is built for another Python than {sys.executable}: there is no {module.name}")
    return [module, built / "version.py"]


def _information():
    """The files of the wheel that say what it is, by their names."""
    metadata = (f"Metadata-Version: 2.1\nName: circoll\nVersion: {_version()}\nSummary: Proven collective communication: schedules, proofs, costs, "
                f"simulation and charts\nLicense: BSD-3-Clause\nRequires-Python: >=3.11\nRequires-Dist: {_numpy()}\n"
                "Provides-Extra: plot\nRequires-Dist: matplotlib; extra == 'plot'\n")
    wheel = f"Wheel-Version: 1.0\nGenerator: circoll\nRoot-Is-Purelib: false\nTag: {_tag()}\n"
    return {"METADATA": metadata.encode(), "WHEEL": wheel.encode(), "LICENSE": (ROOT / "LICENSE").read_bytes()}


def _pack(built, wheel):
    """Writes the wheel: the package's own files, and those that were built. Its members have one date, so that the same files give the same bytes."""
    info = f"circoll-{_version()}.dist-info"
    package = ROOT / "lab" / "python" / "circoll"
    members = {f"circoll/{file.relative_to(package)}": file.read_bytes() for file in sorted(package.rglob("*"))
               if file.suffix in (".py", ".pyi", ".mplstyle") or file.name == "py.typed"}
    members |= {f"circoll/{file.name}": file.read_bytes() for file in built}
    members |= {f"{info}/{name}": content for name, content in _information().items()}
    record = ""
    for name, content in members.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    members[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """Called by pip, which would build a wheel for the metadata alone otherwise. Returns the name of the folder."""
    info = pathlib.Path(metadata_directory) / f"circoll-{_version()}.dist-info"
    info.mkdir()
    for name, content in _information().items():
        (info / name).write_bytes(content)
    return info.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Called by pip. Returns the name of the wheel."""
    name = f"circoll-{_version()}-{_tag()}.whl"
    given = (config_settings or {}).get("build-dir")
    with tempfile.TemporaryDirectory() as temporary:
        if not given:
            _configure(temporary)
        _pack(_build(pathlib.Path(given or temporary)), pathlib.Path(wheel_directory) / name)
    return name
