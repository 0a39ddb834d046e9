// Where a job's ranks are, from files that the cluster has: topology.conf of Slurm, names of Cray, lists of hosts.
//
// docs/admin/calibration.md has the forms for people. Texts come from anywhere: each reader refuses what it does not
// understand, with the line.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/levels.hpp"

namespace circoll::select {

/// The names from the coarsest level down to a host.
using Path = std::vector<std::string>;

/// The switches above each host of a cluster.
class SwitchTree {
 public:
  /// Reads a topology.conf of Slurm's plugin topology/tree: lines "SwitchName=s1 Nodes=n[0-7]" and "SwitchName=s9
  /// Switches=s[1-4]". Other keys of a line are left out. Throws Error(parse) with source and line: another line, a
  /// switch or host twice, a switch that nobody describes, or one above itself.
  SwitchTree(std::string_view text, const std::string& source);

  /// The path of a host, the highest switch first. Throws Error(invalid_argument) if the file does not have it.
  [[nodiscard]] Path path_of(const std::string& host) const;
  [[nodiscard]] bool has(const std::string& host) const { return leaf_of_.contains(host); }
  [[nodiscard]] std::size_t hosts() const { return leaf_of_.size(); }

 private:
  std::string source_;
  std::map<std::string, std::string, std::less<>> leaf_of_;  ///< host -> its switch
  std::map<std::string, std::string, std::less<>> above_;    ///< switch -> the one above
};

/// True if a text is a topology.conf: its first line that is no comment begins with "SwitchName=".
[[nodiscard]] bool describes_switches(const std::string& text);

/// The path of a Cray's name of a node, "x1000c0s0b0n0": cabinet, chassis, slot, board, node. Nothing for other text.
[[nodiscard]] std::optional<Path> path_of_xname(std::string_view name);

/// Reads the hosts of a job's ranks, in the order of ranks. A line has one of these forms, and "#" begins a comment:
///
///   nid[001000-001003]      hosts, as Slurm lists them, with `cores` ranks each
///   nid001000:8             the same with 8 ranks
///   cell1/switch4/lrdn0059  a path, from the coarsest level to the host; it may end in ":8", too
///   x1000c0s0b0n0           a Cray's name, which is a path
///
/// Hosts without a path have the one of `switches`, if that is not nullptr, and levels are called as Slurm counts them.
/// Otherwise no level above them is known. The first p ranks are taken, or all of them if p is 0. Throws Error(parse)
/// with source and line, also if there are fewer than p ranks, or more than 2^20. Precondition: cores >= 1.
[[nodiscard]] Levels levels_from_text(std::string_view text, const std::string& source, Rank cores,
                                      const SwitchTree* switches, Rank p = 0);

/// The hosts of a job of Slurm as text for levels_from_text. They are SLURM_JOB_NODELIST, with the ranks on each host
/// as SLURM_TASKS_PER_NODE has them: "2(x3),1". Without that (empty) no line says how many. Throws Error(parse) that
/// names the variable.
[[nodiscard]] std::string allocation_of_slurm(std::string_view nodelist, std::string_view tasks_per_node);

}  // namespace circoll::select
