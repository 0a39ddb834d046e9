"""`pip install .` works without a network: the wheel that lab/python/backend.py packs is installed, and used from elsewhere."""
import os
import pathlib
import subprocess
import sys
import sysconfig

import pytest

sys.path.insert(0, str(pathlib.Path(os.environ["CIRCOLL_SOURCE"]) / "lab/python"))
import backend  # noqa: E402


def test_a_module_for_another_python_is_not_packed(tmp_path, monkeypatch):
    monkeypatch.setattr(sysconfig, "get_config_var", {"EXT_SUFFIX": ".cpython-399-x86_64-linux-gnu.so"}.get)
    with pytest.raises(SystemExit, match="built for another Python than .*: there is no _core.cpython-399"):
        backend.build_wheel(tmp_path, {"build-dir": os.environ["CIRCOLL_BUILD"]})
    assert not list(tmp_path.iterdir())


def test_the_numpy_is_one_that_the_module_can_read(tmp_path, monkeypatch):
    for version, numpy in (("2.10.3", "numpy<2"), ("2.12.0", "numpy"), ("3.0.1", "numpy")):
        (tmp_path / "pkg-config").write_text(f"#!/bin/sh\necho {version}\n")
        (tmp_path / "pkg-config").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        assert f"Requires-Dist: {numpy}\n" in backend._information()["METADATA"].decode()


@pytest.mark.skipif(backend._numpy() == "numpy", reason="this pybind11 reads arrays of NumPy 2")
def test_numpy_2_is_refused_by_an_old_pybind11(tmp_path):
    """pybind11 before 2.12 would give arrays whose elements are all the first one."""
    (tmp_path / "numpy.py").write_text("__version__ = '2.1.0'\n")
    done = subprocess.run([sys.executable, "-c", "import circoll._core"], capture_output=True, text=True, check=False, timeout=60,
                          env=dict(os.environ, PYTHONPATH=f"{tmp_path}:{os.environ['PYTHONPATH']}"))
    assert done.returncode == 1 and "cannot read arrays of NumPy 2.1.0: python3 -m pip install 'numpy<2'" in done.stderr


def test_the_wheel_is_installed_and_used(source, tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    place = tmp_path / "place"
    done = subprocess.run([sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--disable-pip-version-check", "--target", place,
                           "--config-settings", f"build-dir={os.environ['CIRCOLL_BUILD']}", source],
                          capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for file in ("py.typed", "_core.pyi", "plot/circoll.mplstyle"):
        assert (place / "circoll" / file).exists(), file
    program = "import circoll; print(circoll.__file__, bool(circoll.verify('allreduce/ring', p=4)))"
    used = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=dict(environment, PYTHONPATH=str(place)),
                          cwd=tmp_path, timeout=60, check=False)
    assert used.stdout.strip() == f"{place}/circoll/__init__.py True", used.stdout + used.stderr
    # pip asks for the metadata first, for which nothing is built, and then for a wheel with the same.
    info = backend.prepare_metadata_for_build_wheel(tmp_path)
    for name in ("METADATA", "WHEEL"):
        assert (tmp_path / info / name).read_bytes() == (place / info / name).read_bytes(), name
