// Names of programs, and of what interpreters execute.
#include "facts/program_name.hpp"

#include <gtest/gtest.h>

namespace circoll {
namespace {

TEST(ProgramName, IsTheLastPartOfThePath) {
  EXPECT_EQ(program_name_of("/home/me/cg", {"./cg", "100"}), "cg");
  EXPECT_EQ(program_name_of("/home/me/lmp_mpi (deleted)", {"lmp_mpi"}), "lmp_mpi");
  EXPECT_EQ(program_name_of("/home/me/my \"tool\"", {"x"}), "my__tool_");
  EXPECT_EQ(program_name_of("", {}), "");
  EXPECT_EQ(program_name_of("/" + std::string(300, 'x'), {}), std::string(100, 'x'));
  EXPECT_EQ(program_name_of("/opt/shark", {"shark", "fin"}), "shark") << "it only ends like a shell";
}

TEST(ProgramName, OfInterpretersIsTheScript) {
  const std::string python = "/usr/bin/python3.11";
  EXPECT_EQ(program_name_of(python, {"python3", "work/sgd.py", "--rate", "1"}), "sgd.py");
  EXPECT_EQ(program_name_of(python, {"python3", "-u", "-W", "ignore", "sgd.py"}), "sgd.py");
  EXPECT_EQ(program_name_of(python, {"python3", "-m", "solver.main", "x"}), "solver.main");
  EXPECT_EQ(program_name_of(python, {"python3", "-m", "mpi4py", "sgd.py"}), "sgd.py");
  EXPECT_EQ(program_name_of(python, {"python3", "-c", "import x"}), "python3.11");
  EXPECT_EQ(program_name_of(python, {"python3"}), "python3.11");
  EXPECT_EQ(program_name_of("/usr/lib/R/bin/exec/R", {"R", "--no-echo", "--file=fit.R"}), "fit.R");
  EXPECT_EQ(program_name_of("/usr/bin/dash", {"sh", "./job.sh"}), "job.sh");
}

TEST(ProgramName, OfThisProcessIsThatOfItsTest) { EXPECT_TRUE(program_name().ends_with("_test")) << program_name(); }

}  // namespace
}  // namespace circoll
