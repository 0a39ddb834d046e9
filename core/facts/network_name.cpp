#include "facts/network_name.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <array>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <system_error>

namespace circoll {
namespace {

namespace fs = std::filesystem;

std::string first_line_of(const fs::path& file) {
  std::string line;
  std::ifstream in(file);
  std::getline(in, line);
  return line;
}

std::uint32_t number_of(const sockaddr* address) {
  return ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr);
}

std::string subnet_of(const ifaddrs& one) {
  const std::uint32_t mask = number_of(one.ifa_netmask);
  const in_addr subnet{.s_addr = htonl(number_of(one.ifa_addr) & mask)};
  std::array<char, INET_ADDRSTRLEN> text{};
  if (inet_ntop(AF_INET, &subnet, text.data(), text.size()) == nullptr) return {};
  return std::string(text.data()) + "/" + std::to_string(std::popcount(mask));
}

void add_subnets(std::set<std::string>& names) {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(all, freeifaddrs);
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_netmask == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    if ((one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0) continue;
    const std::string interface(one->ifa_name);
    if (is_local_interface(interface)) continue;
    const std::string speed = first_line_of("/sys/class/net/" + interface + "/speed");  // "-1": not known
    const bool known = !speed.empty() && speed.front() != '-';
    names.insert(subnet_of(*one) + " (" + interface + (known ? ", " + speed + " Mbit/s" : "") + ")");
  }
}

void add_infiniband(std::set<std::string>& names) {
  std::error_code error;
  for (fs::directory_iterator device("/sys/class/infiniband", error), end; !error && device != end;
       device.increment(error)) {
    names.insert(device->path().filename().string() + " (" + first_line_of(device->path() / "ports/1/rate") + ")");
  }
}

}  // namespace

bool is_local_interface(std::string_view name) {
  for (const std::string_view start :
       {"lo", "docker", "br-", "veth", "virbr", "cni", "cali", "flannel", "vnet", "tap"}) {
    if (name.starts_with(start)) return true;
  }
  return false;
}

std::string network_name() {
  std::set<std::string> names;
  add_subnets(names);
  add_infiniband(names);
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "no network" : text;
}

bool has_infiniband() {
  std::set<std::string> names;
  add_infiniband(names);
  return !names.empty();
}

}  // namespace circoll
