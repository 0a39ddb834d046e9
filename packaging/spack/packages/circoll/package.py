"""Circoll for Spack: spack repo add packaging/spack, then spack install circoll (docs/user/run.md)."""
import pathlib
import shutil

from spack.package import CMakePackage, conflicts, depends_on, license, run_after, variant, version


class Circoll(CMakePackage):
    """Proven, near-optimal collective communication for MPI: library, drop-in for unmodified programs, and tools."""

    homepage = "https://example.org/circoll"
    # A site that has a copy names it by package_attributes. A tree that is there needs none (spack dev-build).
    git = "https://example.org/circoll.git"

    license("BSD-3-Clause")

    version("main", branch="main")
    version("0.2.0", tag="v0.2.0")  # the project's version

    variant("openmpi", default=True, description="Drop-in, library and benchmark for Open MPI")
    variant("mpich", default=False, description="Drop-in, library and benchmark for MPICH")
    variant("abi", default=False, description="Drop-in, library and benchmark for the standard ABI of MPI 5")
    variant("smpi", default=False, description="Benchmark for SimGrid's SMPI, in simulated time")
    variant("shared", default=False, description="libcircoll as a shared library")
    variant("lab", default=False, description="Simulator, analysis of failures, formats of other tools, torture test")
    variant("explorer", default=False, description="The page for the browser; npm fetches packages for it")
    variant("docs", default=False, description="Install the pages of the documentation")

    # One tree of dependences has one provider of MPI. Two MPIs are two installed specs, which share no files.
    conflicts("+openmpi", when="+mpich", msg="install one spec for each MPI")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("gzip", type="build")

    # The group `library` of dev/packages.
    depends_on("fmt@9:")
    depends_on("highway@1:", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("cli11@2.2:", type="build")
    depends_on("tinyxml2@9:", when="+lab")

    depends_on("openmpi@4.1:", when="+openmpi")
    depends_on("mpich@4:", when="+mpich")
    conflicts("~openmpi ~mpich", when="+abi", msg="the ABI is part of an MPI library: +openmpi or +mpich")
    depends_on("openmpi@6:", when="+abi +openmpi")
    depends_on("mpich@5:", when="+abi +mpich")  # configured with --enable-mpi-abi
    depends_on("simgrid@3.32: +smpi", when="+smpi")

    conflicts("~lab", when="+explorer", msg="the explorer is a part of the lab: +lab")
    depends_on("emscripten", type="build", when="+explorer")
    depends_on("npm", type="build", when="+explorer")

    # For spack install --test=root.
    depends_on("googletest@1.12: +gmock", type="test")
    depends_on("python@3.9:", type=("build", "test"))

    # C++20, as far as these have it.
    conflicts("%gcc@:10", msg="Circoll is C++20")
    conflicts("%clang@:13", msg="Circoll is C++20")

    def cmake_args(self):
        return [
            self.define_from_variant("CIRCOLL_OPENMPI", "openmpi"),
            self.define_from_variant("CIRCOLL_MPICH", "mpich"),
            self.define_from_variant("CIRCOLL_ABI", "abi"),
            self.define_from_variant("CIRCOLL_SMPI", "smpi"),
            self.define_from_variant("CIRCOLL_LAB", "lab"),
            self.define_from_variant("CIRCOLL_EXPLORER", "explorer"),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define("CIRCOLL_TESTS", self.run_tests),
            self.define("CIRCOLL_INSTALL", True),
            self.define("CIRCOLL_WARNINGS_AS_ERRORS", False),
        ]

    @property
    def build_targets(self):
        return ["all", "explorer"] if self.spec.satisfies("+explorer") else ["all"]

    @run_after("install")
    def leave_out_pages(self):
        pages = pathlib.Path(self.prefix.share, "doc", "circoll", "docs")
        if self.spec.satisfies("~docs") and pages.is_dir():
            shutil.rmtree(pages)
