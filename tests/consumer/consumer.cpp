// Lists what the installed library offers, and writes one schedule.
#include <cstdio>

#include "circoll/algorithm.hpp"
#include "circoll/error.hpp"

int main() try {
  const circoll::Shape shape{.size = 11, .rank = 3};
  const circoll::Schedule schedule = circoll::build_schedule("allgather/circulant_optimal", shape);
  std::printf("algorithms %zu rounds %u steps %zu\n", circoll::all_algorithms().size(), schedule.rounds,
              schedule.steps.size());
  return schedule.rounds == 4 ? 0 : 1;
} catch (const circoll::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
