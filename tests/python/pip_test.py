"""`pip install .` works without a network: the wheel that lab/python/backend.py packs is installed, and used from elsewhere."""
import os
import subprocess
import sys


def test_the_wheel_is_installed_and_used(source, tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    place = tmp_path / "place"
    done = subprocess.run([sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--disable-pip-version-check", "--target", place,
                           "--config-settings", f"build-dir={os.environ['CIRCOLL_BUILD']}", source],
                          capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for file in ("py.typed", "_core.pyi", "plot/circoll.mplstyle"):
        assert (place / "circoll" / file).exists(), file
    program = "import circoll; print(circoll.__file__, circoll.verify('allreduce/ring', p=4).proven)"
    used = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=dict(environment, PYTHONPATH=str(place)),
                          cwd=tmp_path, timeout=60, check=False)
    assert used.stdout.strip() == f"{place}/circoll/__init__.py True", used.stdout + used.stderr
    # pip asks for the metadata first, for which nothing is built, and then for a wheel with the same.
    sys.path.insert(0, str(source / "lab/python"))
    import backend
    info = backend.prepare_metadata_for_build_wheel(tmp_path)
    for name in ("METADATA", "WHEEL"):
        assert (tmp_path / info / name).read_bytes() == (place / info / name).read_bytes(), name
