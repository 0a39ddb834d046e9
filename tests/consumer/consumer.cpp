// Lists what the installed library offers, writes one schedule, and runs calls among ranks in this process.
#include <cstdio>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/error.hpp"
#include "circoll/local.hpp"

int main() try {
  const circoll::Shape shape{.size = 11, .rank = 3};
  const circoll::Schedule schedule = circoll::build_schedule("allgather/circulant_optimal", shape);
  std::printf("algorithms %zu rounds %u steps %zu\n", circoll::all_algorithms().size(), schedule.rounds,
              schedule.steps.size());
  circoll::local::World(4).run([](circoll::local::Comm& comm) {
    const std::vector<double> sum = circoll::allreduce(std::vector<double>(3, 1.5), circoll::Op::sum, comm);
    const std::vector<int> zeros(3);
    std::vector<int> gathered(12, 1);
    circoll::Request request = circoll::allgather(zeros, gathered, circoll::persistent(comm));
    request.start();
    request.wait();
    circoll::check(sum == std::vector<double>(3, 6.0) && gathered == std::vector<int>(12), "wrong results");
  });
  return schedule.rounds == 4 ? 0 : 1;
} catch (const circoll::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
