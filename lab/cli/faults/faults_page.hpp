// The page of all failures, docs/faults.md.
#pragma once

#include <string>

namespace circoll::cli {

[[nodiscard]] std::string faults_page();

}  // namespace circoll::cli
