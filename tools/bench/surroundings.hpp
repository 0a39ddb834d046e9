// The surroundings of a run: library, processor, and how messages go inside nodes.
#pragma once

#include <string>
#include <vector>

namespace circoll::bench {

/// A runtime of devices that rank 0 has loaded.
struct DeviceRuntime {
  std::string name{};
  std::string unused{};  ///< why rank 0 has no memory of it: "has no driver"; empty: it may have some
};

struct Surroundings {
  std::string library{};  ///< the MPI library with its version, as profiles name it
  std::string processor{};
  std::string host{};
  int neighbours = 0;     ///< ranks that have others on their node
  int by_memory = 0;      ///< of them, those that reach all of the others by memory
  int read_directly = 0;  ///< and read them
  bool crowded = false;   ///< a node has more ranks than processors
  std::string reason{};   ///< why some do not reach others by memory; empty: all do
  std::string reading_reason{};
  std::vector<DeviceRuntime> devices{};
};

/// Collective over MPI_COMM_WORLD; significant at rank 0. Ways of messages are known after the first collective of
/// Circoll.
[[nodiscard]] Surroundings surroundings();

}  // namespace circoll::bench
