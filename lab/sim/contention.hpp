// Contention finds the time of a collective whose messages share the links of a network, round by round.
//
// It reads the schedules of all ranks as if ranks went from round to round together, as the cost model does. The model
// is written down in docs/lab/simulator.md.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "circoll/model.hpp"
#include "sim/sim.hpp"
#include "sim/topology.hpp"

namespace circoll::sim {

/// Ranks on the nodes of a network.
struct Fabric {
  std::shared_ptr<const Topology> topology{};  ///< shared by all runs on it
  std::vector<Node> node_of{};                 ///< of every rank
  int ports = 1;  ///< of a node: it sends and receives so many times as fast as one message can go
};

/// The link that takes longest for the bytes that it carries. Ports count as links. Of several such links it is the
/// first one, and a port comes before all others.
struct BusiestLink {
  std::uint64_t link = 0;  ///< for link_name
  double bytes = 0;        ///< of all its messages
  Count messages = 0;      ///< that went through it
  double capacity = 1;     ///< in ports
};

/// One round of all ranks.
struct ContendedRound {
  std::uint32_t round = 0;               ///< from 0, as in the schedules; of those that go at once on several ports
  Count messages = 0;                    ///< of all ranks
  double bytes = 0;                      ///< of all messages
  double longest = 0;                    ///< bytes of the longest message
  double time_s = 0;                     ///< of the messages, which share links
  double alone_s = 0;                    ///< of the slowest message, if each had all links to itself
  double combined_s = 0;                 ///< of the rank that combines the most afterwards
  std::optional<BusiestLink> busiest{};  ///< nothing if there are no bytes
};

/// The time of a collective, with the bytes of each level.
struct Contention {
  double time_s = 0;                     ///< of all rounds and combinations
  double alone_s = 0;                    ///< the same if each message had all links to itself
  std::array<double, 3> bytes{};         ///< by Level
  std::array<Count, 3> messages{};       ///< by Level
  Count hops = 0;                        ///< links between switches on the routes of all messages
  std::vector<ContendedRound> rounds{};  ///< one after another; their times add up
};

/// Reads all rounds of a collective on a vector of `bytes` (as simulate does). Prices are the machine's alpha, beta and
/// gamma, and those inside a node. The model ignores f_alpha, f_beta and ways. `go_on` is called now and then with the
/// number of messages so far; if it returns false, Stopped is thrown. Throws Error(invalid_argument) unless every rank
/// has a node and the numbers make sense. Messages are those that are sent; the verifier proves that they are received.
/// O(length of all routes).
[[nodiscard]] Contention contention(const Ranks& ranks, double bytes, const Fabric& fabric, const Machine& machine,
                                    const std::function<bool(Count)>& go_on = {});

/// The name of a busiest link: "leaf 3 to spine 1", "node 5, out", "rank 7, inside its node, in".
[[nodiscard]] std::string link_name(const Fabric& fabric, std::uint64_t link);

}  // namespace circoll::sim
