// Ranks on a network with a shape: what the options say, and what is said of the times on it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "sim/contention.hpp"

namespace circoll::cli {

/// The options --topology and --placement.
struct NetworkOptions {
  std::string topology{};  ///< words or a file; empty: messages meet no network
  std::string placement = "consecutive";
};

/// The fabric of p ranks, `cores` on a node at most.
[[nodiscard]] sim::Fabric fabric_of(const NetworkOptions& options, Rank p, Rank cores, int ports);

/// "torus:dims=4x4, consecutive, at most 2 ranks on a node".
[[nodiscard]] std::string network_in_words(const NetworkOptions& options, const sim::Fabric& fabric, Rank cores);

/// Time, bytes by level, and rounds with their busiest links, in lines; of rounds at most `most`.
[[nodiscard]] std::string contention_in_words(const sim::Contention& contention, const sim::Fabric& fabric,
                                              std::size_t most);
/// Adds the same to an object, with all rounds.
void add_contention(nlohmann::ordered_json& json, const sim::Contention& contention, const sim::Fabric& fabric);

}  // namespace circoll::cli
