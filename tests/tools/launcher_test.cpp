// Programs that the command line starts, and launchers that are known by their own output.
#include "launcher.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

#include "process.hpp"
#include "support/profiles.hpp"

namespace circoll::cli {
namespace {

ChildProgram shell(const std::string& script) { return {.arguments = {"sh", "-c", script}}; }

TEST(Process, EndsAreTold) {
  const Ending good = run_program(shell("echo out; echo err >&2"));
  EXPECT_TRUE(good.good());
  EXPECT_EQ(good.out, "out\n");
  EXPECT_EQ(good.err, "err\n");
  EXPECT_EQ(described(good), "ended with exit code 0");
  const Ending bad = run_program(shell("echo '-----' >&2; echo why >&2; echo '-----' >&2; exit 7"));
  EXPECT_EQ(described(bad), "ended with exit code 7: why");
  const Ending killed = run_program(shell("kill -9 $$"));
  EXPECT_EQ(killed.how, Ending::How::killed);
  EXPECT_EQ(killed.code, SIGKILL);
  EXPECT_EQ(described(run_program({.arguments = {"no-such-program"}})),
            "could not be started: No such file or directory");
  EXPECT_EQ(run_program({.arguments = {"/etc/passwd"}}).code, EACCES);
}

TEST(Process, LinesComeAsTheyAreWritten) {
  std::vector<std::string> lines;
  ChildProgram program = shell("echo one; printf 'two\\nthree'; printf ' four'");
  program.on_line = [&](std::string_view line) { lines.emplace_back(line); };
  EXPECT_TRUE(run_program(program).good());
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two", "three four"}));
}

TEST(Process, LinesOfStandardErrorComeLikewise) {
  std::vector<std::string> lines;
  ChildProgram program = shell("echo one >&2; echo out; printf two >&2");
  program.on_error_line = [&](std::string_view line) { lines.emplace_back(line); };
  EXPECT_TRUE(run_program(program).good());
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two"}));
}

TEST(Process, LastLinesAreThoseWithWords) {
  const Ending ending = run_program(
      shell("echo out; for i in 1 2 3; do echo line $i; echo '------'; echo; echo '*****'; done >&2; exit 3"));
  EXPECT_EQ(how_ended(ending), "ended with exit code 3");
  EXPECT_EQ(last_lines(ending, 2), "\n  line 2\n  line 3");
  EXPECT_EQ(last_lines(ending, 8), "\n  line 1\n  line 2\n  line 3");
  EXPECT_EQ(last_lines(run_program(shell("echo only; exit 1")), 8), "\n  only");
}

TEST(Process, HasItsOwnEnvironment) {
  setenv("CIRCOLL_TEST_A", "a", 1);
  setenv("CIRCOLL_TEST_B", "b", 1);
  ChildProgram program = shell("echo \"$CIRCOLL_TEST_A,$CIRCOLL_TEST_B,$CIRCOLL_TEST_C\"; cat");
  program.environment = {{"CIRCOLL_TEST_A", std::nullopt}, {"CIRCOLL_TEST_C", "c"}};
  EXPECT_EQ(run_program(program).out, ",b,c\n");  // and cat has nothing to read
  unsetenv("CIRCOLL_TEST_A");
  unsetenv("CIRCOLL_TEST_B");
}

TEST(Process, IsEndedWithAllThatItStarted) {
  ChildProgram program = shell("sleep 97 & echo $!; wait");
  program.limit = std::chrono::milliseconds(300);
  const Ending ending = run_program(program);
  EXPECT_EQ(ending.how, Ending::How::timed_out);
  EXPECT_EQ(described(ending).substr(0, 31), "took too long and was ended: " + ending.out.substr(0, 2));
  // The process is gone, or waits to be reaped.
  const std::string state = "cut -d' ' -f3 /proc/" + ending.out.substr(0, ending.out.find('\n')) + "/stat";
  const std::string after = run_program(shell("sleep 0.2; " + state)).out;
  EXPECT_TRUE(after.empty() || after == "Z\n") << after;
}

TEST(Process, IsEndedBySignals) {
  {
    const Interruptible guard;
    EXPECT_FALSE(interrupted());
    ChildProgram program = shell("sleep 98");
    program.on_tick = [] { std::raise(SIGINT); };
    EXPECT_EQ(run_program(program).how, Ending::How::interrupted);
    EXPECT_TRUE(interrupted());
  }
  std::raise(SIGINT);  // the second one of timeout(1) does not cut off the last words
  std::signal(SIGINT, SIG_DFL);
}

TEST(Launcher, IsKnownByItsVersion) {
  const auto read = [](const std::string& text) {
    const auto launcher = launcher_from_version("/bin/mpirun", text);
    return launcher ? library_of(*launcher) : "none";
  };
  EXPECT_EQ(read("mpirun (Open MPI) 4.1.4\n\nReport bugs to http://www.open-mpi.org/community/help/\n"),
            "Open MPI 4.1.4");
  EXPECT_EQ(read("mpirun.openmpi (OpenRTE) 4.1.4\n"), "Open MPI 4.1.4");
  EXPECT_EQ(read("mpirun (Open MPI) 5.0.0rc7\n"), "Open MPI 5.0.0rc7");
  EXPECT_EQ(read("HYDRA build details:\n    Version:                                 4.0.2\n    Release Date: x\n"),
            "MPICH 4.0.2");
  EXPECT_EQ(read("Intel(R) MPI Library for Linux* OS, Version 2021.9\nHYDRA\n"), "none");
  EXPECT_EQ(read("srun 22.05"), "none");
  EXPECT_EQ(read(""), "none");
}

TEST(Launcher, Commands) {
  const Launcher openmpi{.mpi = &openmpi_library, .file = "/mpirun"}, mpich{.mpi = &mpich_library, .file = "/mpiexec"};
  const std::vector<std::string> program{"prog", "x"};
  EXPECT_EQ(launch_command(openmpi, 2, {}, program), (std::vector<std::string>{"/mpirun", "-np", "2", "prog", "x"}));
  EXPECT_EQ(launch_command(mpich, 2, {.oversubscribe = true}, program),
            (std::vector<std::string>{"/mpiexec", "-n", "2", "prog", "x"}));
  EXPECT_EQ(launch_command(openmpi, 4, {.oversubscribe = true}, program)[1], "--oversubscribe");
  for (const auto& [version, words] : {std::pair("4.1.4", 5), std::pair("5.0.7", 8), std::pair("6.0.0rc2", 8)}) {
    Launcher launcher = openmpi;
    launcher.version = version;
    EXPECT_EQ(launch_command(launcher, 2, {}, program).size(), words) << version;
  }
  EXPECT_EQ(launch_command(openmpi, 4, {.hardware_threads = true}, program)[1], "--use-hwthread-cpus");
  EXPECT_EQ(mpi_named("mpich"), &mpich_library);
  EXPECT_EQ(mpi_named("abi"), &abi_library);
  EXPECT_EQ(mpi_named("auto"), nullptr);
}

TEST(Launcher, RefusalsHaveACauseAndARemedy) {
  // The words of Open MPI 4.1, 5 and 6, which break lines differently.
  const std::string slots =
      "------\nThere are not enough slots available in the system to satisfy the 4\nslots that were requested by the "
      "application:\n\n  prog\n\nEither request fewer slots ...\n------\n";
  EXPECT_EQ(cause_and_remedy({.words = slots, .ranks = 4, .slots = 2}),
            "Open MPI has 2 slots for 4 ranks: --np 2, or --oversubscribe");
  EXPECT_EQ(cause_and_remedy({.words = slots, .ranks = 4, .slots = 1}),
            "Open MPI has 1 slot for 4 ranks: --np 1, or --oversubscribe");
  for (const long unknown : {0L, 4L, 8L}) {
    EXPECT_EQ(cause_and_remedy({.words = slots, .ranks = 4, .slots = unknown}),
              "Open MPI has fewer slots than 4 ranks: a smaller --np, or --oversubscribe");
  }
  EXPECT_NE(cause_and_remedy({.words = slots, .ranks = 4, .slots = 2, .custom = "mpirun -np {np}"}).find("--launcher"),
            std::string::npos);
  // The program has asked for more, and not circoll.
  EXPECT_EQ(cause_and_remedy({.words = slots, .ranks = 2, .slots = 2}), "");
  EXPECT_NE(cause_and_remedy({.words = "mpirun does not support recursive calls", .ranks = 2}).find("leave the outer"),
            std::string::npos);
  const std::string local = "[vm:04629] Local abort before MPI_INIT completed completed successfully";
  EXPECT_NE(cause_and_remedy({.words = local, .ranks = 2, .custom = "srun -n {np}"}).find("srun --mpi=pmix -n {np}"),
            std::string::npos);
  EXPECT_EQ(cause_and_remedy({.words = local, .ranks = 2}), "");
  EXPECT_NE(cause_and_remedy(
                {.words = "The application appears to have been direct launched using \"srun\",\nbut", .ranks = 2})
                .find("--mpi=pmix"),
            std::string::npos);
  EXPECT_EQ(cause_and_remedy({.words = "Segmentation fault", .ranks = 2}), "");
}

TEST(Launcher, SlotsAreThoseOfTheNode) {
  const Variable none{"SLURM_JOB_ID", std::nullopt};
  const Variable hosts{"OMPI_MCA_orte_default_hostfile", std::nullopt};
  const Variable portable{"PBS_NODEFILE", std::nullopt};
  EXPECT_GE(openmpi_slots(), 1);
  const Variable job{"SLURM_JOB_ID", "7"};
  EXPECT_EQ(openmpi_slots(), 0);
}

/// The variables of launchers, of which only some are set.
struct LaunchedBy {
  std::optional<std::string> openmpi_size{}, openmpi_rank{}, pmi_size{}, pmi_rank{}, pmix_rank{};
  std::optional<std::string> step{}, tasks{}, task{};
};

/// Asks with these variables.
template <typename Ask>
auto with(const LaunchedBy& by, Ask&& ask) {
  const Variable a{"OMPI_COMM_WORLD_SIZE", by.openmpi_size}, b{"OMPI_COMM_WORLD_RANK", by.openmpi_rank};
  const Variable c{"PMI_SIZE", by.pmi_size}, d{"PMI_RANK", by.pmi_rank}, e{"PMIX_RANK", by.pmix_rank};
  const Variable f{"SLURM_STEP_ID", by.step}, g{"SLURM_STEP_NUM_TASKS", by.tasks}, h{"SLURM_PROCID", by.task};
  return ask();
}

TEST(Launcher, TheFirstRankIsWarnedOfAnotherLauncher) {
  const auto warning = [](const LaunchedBy& by, const MpiLibrary& mpi) {
    return with(by, [&] { return launch_warning(mpi); });
  };
  const LaunchedBy openmpi{.openmpi_size = "2", .openmpi_rank = "0", .pmix_rank = "0"};
  const LaunchedBy mpich{.pmi_size = "2", .pmi_rank = "0"};
  EXPECT_EQ(
      warning(mpich, openmpi_library),
      "the launcher of MPICH has started 2 ranks of a program that uses Open MPI, so that each may be alone: start "
      "it with the mpirun of Open MPI");
  EXPECT_NE(warning(openmpi, mpich_library).find("with the mpiexec of MPICH"), std::string::npos);
  EXPECT_EQ(warning(openmpi, openmpi_library), "");
  EXPECT_EQ(warning(mpich, mpich_library), "");
  EXPECT_EQ(warning(mpich, abi_library), "");
  EXPECT_EQ(warning({}, openmpi_library), "");
  // Once: the first rank says it. A program of one rank has nobody to find.
  EXPECT_EQ(warning({.pmi_size = "2", .pmi_rank = "1"}, openmpi_library), "");
  EXPECT_EQ(warning({.pmi_size = "1", .pmi_rank = "0"}, openmpi_library), "");
  EXPECT_EQ(warning({.openmpi_size = "2", .openmpi_rank = "0", .pmi_size = "2", .pmi_rank = "0"}, openmpi_library), "");
  // srun, without PMI and with it.
  EXPECT_NE(warning({.step = "0", .tasks = "2", .task = "0"}, openmpi_library).find("srun --mpi=pmix"),
            std::string::npos);
  EXPECT_NE(warning({.step = "0", .tasks = "2", .task = "0"}, mpich_library).find("srun --mpi=pmi2"),
            std::string::npos);
  EXPECT_EQ(warning({.step = "0", .tasks = "2", .task = "1"}, openmpi_library), "");
  EXPECT_EQ(warning({.pmix_rank = "0", .step = "0", .tasks = "2", .task = "0"}, openmpi_library), "");
  EXPECT_EQ(warning({.pmi_size = "2", .pmi_rank = "0", .step = "0", .tasks = "2", .task = "0"}, openmpi_library), "");
  EXPECT_EQ(warning({.step = "0", .tasks = "1", .task = "0"}, openmpi_library), "");
}

TEST(Launcher, KnowsTheRankOfThisProcess) {
  const auto rank = [](const LaunchedBy& by) { return with(by, launched_rank); };
  EXPECT_EQ(rank({}), std::nullopt);
  EXPECT_EQ(rank({.openmpi_size = "4", .openmpi_rank = "3"}), 3);
  EXPECT_EQ(rank({.pmi_size = "4", .pmi_rank = "1"}), 1);
  EXPECT_EQ(rank({.pmix_rank = "2"}), 2);
  EXPECT_EQ(rank({.step = "0", .tasks = "4", .task = "2"}), 2);
  // A shell on a node of the job (srun --pty) starts ranks.
  EXPECT_EQ(rank({.pmix_rank = "0", .step = "0", .tasks = "1", .task = "0"}), std::nullopt);
}

}  // namespace
}  // namespace circoll::cli
