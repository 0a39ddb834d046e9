// Pages of the site that are made from the registry: docs/algorithms.md and docs/peers.md.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/algorithm.hpp"

namespace circoll::cli {

inline constexpr std::array all_libraries{Library::openmpi, Library::mpich, Library::ucc};
/// "Open MPI".
[[nodiscard]] std::string_view title_of(Library library);
/// "commutative operator", "p even" and so on; empty if it needs nothing.
[[nodiscard]] std::vector<std::string> needs_in_words(const Algorithm& algorithm);

/// The number of algorithms, as a sentence. README.md has it too.
[[nodiscard]] std::string numbers_of_algorithms();
/// docs/algorithms.md: per collective the algorithms with what they declare, and the model's choices on
/// the default machine.
[[nodiscard]] std::string algorithms_page();
/// docs/peers.md: the names that other libraries have for the algorithms, and what is left out.
[[nodiscard]] std::string peers_page();

}  // namespace circoll::cli
