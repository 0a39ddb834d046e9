// The page of all failures, which the site has as docs/faults.md.
#pragma once

#include <string>

namespace circoll::cli {

[[nodiscard]] std::string faults_page();

}  // namespace circoll::cli
