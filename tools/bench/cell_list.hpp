// Cells that a file asks for, each with algorithms of its own.
#pragma once

#include <string>
#include <vector>

#include "options.hpp"

namespace circoll::bench {

struct AskedCell {
  Collective collective = Collective::barrier;
  Count bytes = 0;  ///< as of --bytes
  std::vector<std::string> algorithms{};
};

/// The cells that the options ask for: those of --cells, or every collective with every size.
[[nodiscard]] std::vector<AskedCell> asked_cells(const Options& options);

}  // namespace circoll::bench
