// Findings of circoll doctor, each with what to do about it.
#pragma once

#include <string>
#include <vector>

namespace circoll::cli {

enum class Weight {
  good,
  note,   ///< worth to know; nothing is wrong
  wrong,  ///< something does not work, or is not what was meant
};

struct Finding {
  Weight weight = Weight::good;
  std::string about{};  ///< a word or two
  std::string says{};
  std::string todo{};  ///< empty: nothing
};
using Findings = std::vector<Finding>;

/// "good", "note", "wrong".
[[nodiscard]] std::string to_string(Weight weight);
[[nodiscard]] bool any_wrong(const Findings& findings);

}  // namespace circoll::cli
