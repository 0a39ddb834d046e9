// Lists of hosts as Slurm writes them: "nid[001000-001003,001007],login1".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace circoll {

/// A list names no more hosts than this.
inline constexpr std::size_t most_hosts = std::size_t{1} << 20;

/// The hosts of a list, in its order. Numbers keep their leading zeros, and a name may have several brackets. Throws
/// Error(parse) without a place: bad syntax, an empty list, or more than `most` hosts.
[[nodiscard]] std::vector<std::string> hosts_of_list(std::string_view list, std::size_t most = most_hosts);

}  // namespace circoll
