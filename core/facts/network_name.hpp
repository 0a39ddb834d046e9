// The name of the networks that this host is on.
#pragma once

#include <string>
#include <string_view>

namespace circoll {

/// True for interfaces that lead to no other host, as those of containers and virtual machines do.
[[nodiscard]] bool is_local_interface(std::string_view name);
/// The subnets of this host with interface and speed, and InfiniBand devices with their rates. An example is
/// "10.1.0.0/16 (eth0, 10000 Mbit/s), mlx5_0 (100 Gb/sec (4X EDR))". Hosts of a cluster have the same. "no network" if
/// there are none.
[[nodiscard]] std::string network_name();
/// True if this host has InfiniBand, or what looks like it to the system.
[[nodiscard]] bool has_infiniband();

}  // namespace circoll
