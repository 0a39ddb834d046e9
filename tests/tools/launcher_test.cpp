// Programs that the command line starts, and launchers that are known by their own output.
#include "launcher.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

#include "process.hpp"

namespace circoll::cli {
namespace {

Program shell(const std::string& script) { return {.arguments = {"sh", "-c", script}}; }

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
  Program program = shell("echo one; printf 'two\\nthree'; printf ' four'");
  program.on_line = [&](std::string_view line) { lines.emplace_back(line); };
  EXPECT_TRUE(run_program(program).good());
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two", "three four"}));
}

TEST(Process, HasItsOwnEnvironment) {
  setenv("CIRCOLL_TEST_A", "a", 1);
  setenv("CIRCOLL_TEST_B", "b", 1);
  Program program = shell("echo \"$CIRCOLL_TEST_A,$CIRCOLL_TEST_B,$CIRCOLL_TEST_C\"; cat");
  program.environment = {{"CIRCOLL_TEST_A", std::nullopt}, {"CIRCOLL_TEST_C", "c"}};
  EXPECT_EQ(run_program(program).out, ",b,c\n");  // and cat has nothing to read
  unsetenv("CIRCOLL_TEST_A");
  unsetenv("CIRCOLL_TEST_B");
}

TEST(Process, IsEndedWithAllThatItStarted) {
  Program program = shell("sleep 97 & echo $!; wait");
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
  const Interruptible guard;
  EXPECT_FALSE(interrupted());
  Program program = shell("sleep 98");
  program.on_tick = [] { std::raise(SIGINT); };
  EXPECT_EQ(run_program(program).how, Ending::How::interrupted);
  EXPECT_TRUE(interrupted());
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

}  // namespace
}  // namespace circoll::cli
