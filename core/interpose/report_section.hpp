// A section of the report that a wrapper fills.
#pragma once

#include <string>
#include <vector>

namespace circoll::interpose {

/// A section that a wrapper adds to the report.
struct ReportSection {
  std::string json;                ///< a value
  std::vector<std::string> lines;  ///< without "circoll: "
};

}  // namespace circoll::interpose
