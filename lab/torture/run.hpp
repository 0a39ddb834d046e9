// Runs a case on all ranks.
#pragma once

#include <string>
#include <vector>

#include "case.hpp"

namespace circoll::torture {

struct Outcome {
  std::vector<std::string> failures;      ///< of this rank
  long operations = 0;                    ///< results judged on this rank
  std::vector<std::string> native_wrong;  ///< operations of which the native result was wrong and the other was not
};

/// Collective over MPI_COMM_WORLD. `serial`: see judge().
[[nodiscard]] Outcome run_case(const Case& c, bool serial);

}  // namespace circoll::torture
