// Topologies of networks: nodes, links with capacities, and the route of every message.
//
// Routes are static: they depend on the two nodes and on nothing else. The model is written down in
// docs/lab/simulator.md.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/types.hpp"

namespace circoll::sim {

using Node = std::uint32_t;
using Link = std::uint32_t;

/// The part of a machine that a message does not leave.
enum class Level : std::uint8_t {
  node,   ///< between ranks of a node
  group,  ///< under one leaf switch, in one group of a dragonfly, at one router of a torus; all nodes of a flat network
  system,  ///< all others
};

/// A network of switches, to which each node is attached by its ports. Links lead one way, and connect switches. Their
/// capacity is counted in ports.
class Topology {
 public:
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;
  Topology(Topology&&) = delete;
  Topology& operator=(Topology&&) = delete;
  virtual ~Topology() = default;

  [[nodiscard]] Rank nodes() const { return nodes_; }         ///< places for ranks' nodes; >= 1
  [[nodiscard]] std::size_t links() const { return links_; }  ///< numbered from 0
  /// Seconds that each link of a route adds to the latency of a message.
  [[nodiscard]] double hop_s() const { return hop_s_; }

  /// Appends the links from one node to another one, first to last. Precondition: both are below nodes().
  virtual void route(Node from, Node to, std::vector<Link>& links) const = 0;
  /// Bytes that a link carries in the time in which a port carries one. Precondition: link < links().
  [[nodiscard]] virtual double capacity(Link link) const = 0;
  /// "leaf 3 to spine 1".
  [[nodiscard]] virtual std::string name(Link link) const = 0;
  /// The level of messages between two nodes, which may be one.
  [[nodiscard]] Level level(Node from, Node to) const {
    return from == to ? Level::node : from / group_nodes_ == to / group_nodes_ ? Level::group : Level::system;
  }
  /// The level in words, for people: "under one leaf". Empty: no message has that level.
  [[nodiscard]] std::string_view level_name(Level level) const { return level_names_[static_cast<std::size_t>(level)]; }
  /// The words that parse_topology reads, complete.
  [[nodiscard]] virtual std::string text() const = 0;

 protected:
  /// A group is so many nodes with consecutive numbers. `level_names` are those of messages in a group, and of others.
  Topology(Rank nodes, std::size_t links, double hop_s, Rank group_nodes, std::array<std::string_view, 2> level_names)
      : nodes_(nodes),
        links_(links),
        hop_s_(hop_s),
        group_nodes_(static_cast<Node>(group_nodes)),
        level_names_{"inside nodes", level_names[0], level_names[1]} {}

 private:
  Rank nodes_;
  std::size_t links_;
  double hop_s_;
  Node group_nodes_;
  std::array<std::string_view, 3> level_names_;  ///< by Level
};

/// Reads a topology in words: a kind, then keys with values, as in
///
///     flat                                          one switch that is never in the way; nodes=64
///     fat_tree:nodes=64,leaves=8,spines=4           two levels; up=0.5 or oversubscription=2, hop=100ns
///     dragonfly:groups=9,routers=4,hosts=2          links=1 between groups; local=1, global=1, hop
///     torus:dims=8x8x4                              hosts=1 at each router; link=1, hop
///
/// A flat network that does not say otherwise has `needed` nodes. Throws Error(parse).
[[nodiscard]] std::shared_ptr<const Topology> parse_topology(std::string_view text, Rank needed = 1);
/// The same in JSON: {"circoll_topology": 1, "kind": "torus", "dims": [8, 8, 4]}, with the keys of parse_topology, and
/// perhaps "about". Throws Error(parse) with source and line.
[[nodiscard]] std::shared_ptr<const Topology> topology_from_json(std::string_view json, const std::string& source,
                                                                 Rank needed = 1);
/// The words of parse_topology, or the name of a JSON file, which ends in ".json". Throws as these two do, and
/// Error(invalid_argument) if the file cannot be read.
[[nodiscard]] std::shared_ptr<const Topology> read_topology(const std::string& words_or_file, Rank needed = 1);

/// A rule by which ranks are put on nodes.
struct Placement {
  enum class Kind : std::uint8_t {
    consecutive,  ///< node after node, each filled with ranks
    round_robin,  ///< rank r on node r mod n, of the first n nodes that are needed
    random,       ///< any free place of any node
    file,         ///< as a file says
  };
  Kind kind = Kind::consecutive;  ///< the rule
  std::uint64_t seed = 1;         ///< of random
  std::string file{};             ///< of file: its path

  friend bool operator==(const Placement&, const Placement&) = default;
};
/// Reads "consecutive", "round_robin", "random:SEED" or "file:NAME". Throws Error(parse).
[[nodiscard]] Placement parse_placement(std::string_view text);

/// Nodes needed for p ranks, `cores` on each.
[[nodiscard]] constexpr Rank nodes_needed(Rank p, Rank cores) { return (p + cores - 1) / cores; }

/// The node of each of p ranks, at most `cores` of them on a node. The same seed gives the same nodes everywhere.
/// Throws Error(invalid_argument) if there are too few nodes, and as nodes_from_text does.
[[nodiscard]] std::vector<Node> place(const Placement& placement, Rank p, Rank cores, Rank nodes);
/// Reads the nodes of p ranks, one number a line; "#" begins a comment. Throws Error(parse) with source and line: no
/// number, no such node, a node with more than `cores` ranks, too few or too many lines.
[[nodiscard]] std::vector<Node> nodes_from_text(std::string_view text, Rank p, Rank cores, Rank nodes,
                                                const std::string& source);

}  // namespace circoll::sim
