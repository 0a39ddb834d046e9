"""Checks of an installed Circoll on a cluster, for ReFrame: reframe -C site.py -c packaging/reframe -r (docs/user/run.md).

They need `circoll` on PATH, by a module that is named with -S modules=circoll, or in the programming environment."""
import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, performance_function, run_before, sanity_function, variable


class CircollCheck(rfm.RunOnlyRegressionTest):
    """Any command of circoll, everywhere."""

    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = "circoll"
    tags = {"circoll"}


@rfm.simple_test
class CircollProves(CircollCheck):
    """The installed tool proves an algorithm."""

    descr = "circoll verify proves allreduce/circulant_optimal"
    executable_opts = ["verify", "allreduce/circulant_optimal", "-p", "1..32"]

    @sanity_function
    def proven(self):
        return sn.assert_found(r"proven", self.stdout)


@rfm.simple_test
class CircollRight(CircollCheck):
    """Results over this system's MPI are the native ones, and times are kept."""

    descr = "circoll bench compares results with the native ones, and times both"
    collective = parameter(["allreduce", "bcast", "reduce_scatter", "allgather"])
    nodes = variable(int, value=2)
    ranks_per_node = variable(int, value=4)
    build_locally = True

    @run_before("run")
    def place(self):
        self.num_tasks = self.nodes * self.ranks_per_node
        self.num_tasks_per_node = self.ranks_per_node
        self.executable_opts = ["bench", "--collective", self.collective, "--algorithm", "native,auto", "--bytes",
                                "8,64Ki,1Mi", "--seconds", "0.2", "--check", "--wide"]

    @sanity_function
    def right(self):
        """Three sizes were measured by both, and no result was wrong."""
        row = rf"^{self.collective} +(?:native|auto) .* (?P<correct>\S+)$"
        return sn.all([
            sn.assert_eq(sn.count(sn.extractall(row, self.stdout)), 6),
            sn.assert_not_found(rf"^{self.collective} .* NO$", self.stdout),
        ])

    @performance_function("us")
    def auto_1mi(self):
        """The median of auto at 1 MiB."""
        row = rf"^{self.collective} +auto .*? +\d+ +1048576 +\d+ +(?P<median>[\d.]+) "
        return sn.extractsingle(row, self.stdout, "median", float)
