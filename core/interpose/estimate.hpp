// Predicted times of the model, to hold measured ones against.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "circoll/select.hpp"

namespace circoll::interpose {

/// The time that the MPI library itself would be predicted to take for a call.
struct NativeEstimate {
  std::string algorithm;
  double seconds = 0;
};

/// Estimates are for a predefined operator, and a communicator on the given machine.
class Estimator {
 public:
  /// `library` runs the program. Of Open MPI the fixed decision for allreduce is known (the policy openmpi_fixed).
  /// `memory`: all messages of Circoll go through the memory of one node; those of the library go as the machine says.
  /// `crowded`: its ranks have fewer processors than they are.
  Estimator(const Machine& machine, Library library, bool memory, bool crowded);

  /// The algorithm of the MPI library's own decision, where Circoll has that decision. Otherwise it is the one of least
  /// predicted time of all that the library has (Algorithm::peers). So it flatters the library. `bytes` as in Event.
  /// Nothing if no such algorithm serves p ranks.
  [[nodiscard]] std::optional<NativeEstimate> native(Collective collective, Rank p, Count bytes);
  /// The predicted seconds of an algorithm by name and parameters; nothing if it does not exist for p ranks.
  [[nodiscard]] std::optional<double> served(Collective collective, Rank p, Count bytes,
                                             const std::string& algorithm) const;

 private:
  [[nodiscard]] std::optional<NativeEstimate> estimate(Collective collective, Rank p, Count vector_bytes) const;

  PolicyOptions options_;
  std::vector<MachineForLength> machines_;  ///< of what Circoll serves
  Library library_;
  std::unique_ptr<const Policy> model_;
  std::unique_ptr<const Policy> fixed_;  ///< nullptr: not known
  std::map<std::tuple<Collective, Rank, Count>, std::optional<NativeEstimate>> known_;
};

}  // namespace circoll::interpose
