// The options of circoll tune that are about this node.
#include "circoll/collectives.hpp"
#include "commands.hpp"
#include "tune/here.hpp"

namespace circoll::cli {

void add_here_options(CLI::App& command, HereOptions& options) {
  const std::string group = "Measuring this node (--here)";
  command.add_option("--mpi", options.mpi, "The MPI to measure with; auto: the one of mpirun")
      ->check(CLI::IsMember({"auto", "openmpi", "mpich"}))
      ->capture_default_str()
      ->group(group);
  command
      .add_option("-p,--ranks", options.ranks,
                  "Numbers of ranks (2,4,8); without it powers of two up to the processors, and these")
      ->delimiter(',')
      ->transform(whole_number())
      ->check(CLI::Range(Rank{2}, Rank{1} << 20))
      ->group(group);
  command
      .add_option("--seconds", options.seconds, "The time for each number of ranks, without starting (default: 150)")
      ->check(CLI::PositiveNumber)
      ->group(group);
  command
      .add_option("--launches", options.launches, "Launches at most; the time may allow for three only (default: 5)")
      ->check(CLI::Range(1, 1000))
      ->group(group);
  command
      .add_flag("--quick", options.quick,
                "Six collectives at three sizes in two launches of together 12 s: for a first look, and tests")
      ->group(group);
  command
      .add_option("--keep", options.keep,
                  "A directory for what was measured; the same command goes on with what is there")
      ->group(group);
}

}  // namespace circoll::cli
