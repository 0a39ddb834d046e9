// The texts of circoll list: names, tables of algorithms, their bits, and pages of the site made from the registry.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/types.hpp"

namespace circoll::cli {

/// One name on each line, for scripts.
[[nodiscard]] std::string collective_names();

/// Element types, with their bytes and the other names that are taken for them.
[[nodiscard]] std::string type_table();

/// Operators, with their properties and what MPI defines them on.
[[nodiscard]] std::string operator_table();

/// Policies, with what each chooses.
[[nodiscard]] std::string policy_table();

/// A line for each algorithm of each collective: id and summary. Long summaries are cut so that 100 columns suffice.
[[nodiscard]] std::string table_of_all();

/// A line for each algorithm of a collective: name, needs, and when to take it. The last is cut to fit 100 columns.
[[nodiscard]] std::string table_of(Collective collective);

/// All that an algorithm declares, under one of its ids.
[[nodiscard]] std::string described(const Algorithm& algorithm, Collective collective);

/// The classes of algorithms that give the same bits on p ranks. Each has a line with its expression, and below it the
/// algorithms, with their default parameters. Throws Error(invalid_argument) for a collective that reduces nothing.
[[nodiscard]] std::string bits_table(const std::vector<Collective>& collectives, Rank p, Rank root);
[[nodiscard]] nlohmann::ordered_json bits_json(const std::vector<Collective>& collectives, Rank p, Rank root);

inline constexpr std::array all_libraries{Library::openmpi, Library::mpich, Library::ucc};
/// "Open MPI".
[[nodiscard]] std::string_view title_of(Library library);
/// "commutative operator", or "a commutative operator" with articles, "p even" and so on; empty if it needs nothing.
[[nodiscard]] std::vector<std::string> needs_in_words(const Algorithm& algorithm, bool articles = false);

/// docs/algorithms.md: per collective the algorithms with what they declare, and the model's choices on
/// the default machine.
[[nodiscard]] std::string algorithms_page();
/// docs/peers.md: the names that other libraries have for the algorithms, and what is left out.
[[nodiscard]] std::string peers_page();

}  // namespace circoll::cli
