#include "heading.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <ctime>

#include "circoll/circoll.h"
#include "native/algorithms.hpp"

namespace circoll::bench {

std::string heading(int size) {
  std::array<char, MPI_MAX_PROCESSOR_NAME> host{};
  int length = 0;
  PMPI_Get_processor_name(host.data(), &length);
  return fmt::format("# Circoll {} with {}: {} {}, rank 0 on {}, {}\n", circoll_version(), native::library_version(),
                     size, size == 1 ? "rank" : "ranks", host.data(), date());
}

std::string date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), length};
}

}  // namespace circoll::bench
