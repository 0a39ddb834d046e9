// The report at MPI_Finalize: what served which calls.
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <sstream>

#include "interpose/state.hpp"

namespace circoll::interpose {

namespace {
constexpr char separator = '\t';
}

/// One line per row: collective, algorithm, reason, calls, bytes, seconds.
std::string State::serialised() const {
  std::ostringstream out;
  out.precision(9);
  for (const Row& row : rows_) {
    out << to_string(row.collective) << separator << row.algorithm << separator << row.reason << separator << row.calls
        << separator << row.bytes << separator << row.seconds << '\n';
  }
  return out.str();
}

std::string format_report(std::string_view serialised, int ranks) {
  struct Sum {
    long long calls = 0;
    long long bytes = 0;
    double seconds = 0;
  };
  std::map<std::array<std::string, 3>, Sum> sums;
  std::istringstream in{std::string(serialised)};
  for (std::string line; std::getline(in, line);) {
    std::array<std::string, 6> field;
    std::istringstream fields(line);
    for (std::string& f : field) std::getline(fields, f, separator);
    Sum& sum = sums[{field[0], field[1], field[2]}];
    sum.calls += std::stoll(field[3]);
    sum.bytes += std::stoll(field[4]);
    sum.seconds = std::max(sum.seconds, std::stod(field[5]));
  }
  std::string text = "circoll: calls and bytes are sums over the " + std::to_string(ranks) +
                     " ranks of MPI_COMM_WORLD, seconds the maximum of a rank\n";
  std::array<char, 256> line{};
  const auto add = [&](const char* collective, const char* algorithm, const char* calls, const char* bytes,
                       const char* seconds, const char* reason) {
    std::snprintf(line.data(), line.size(), "circoll: %-21s %-24s %12s %16s %12s  %s", collective, algorithm, calls,
                  bytes, seconds, reason);
    std::string_view trimmed(line.data());
    trimmed = trimmed.substr(0, trimmed.find_last_not_of(' ') + 1);
    text.append(trimmed).append("\n");
  };
  add("collective", "served by", "calls", "bytes", "seconds", "why native");
  for (const auto& [key, sum] : sums) {
    std::array<char, 32> seconds{};
    std::snprintf(seconds.data(), seconds.size(), "%.6f", sum.seconds);
    add(key[0].c_str(), key[1].c_str(), std::to_string(sum.calls).c_str(), std::to_string(sum.bytes).c_str(),
        seconds.data(), key[2].c_str());
  }
  return text;
}

}  // namespace circoll::interpose
