#include "exec/node/processors.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "exec/node/system.hpp"
#include "facts/hash.hpp"

namespace circoll::node {
namespace {

/// Machines of more processors are taken for having as many as this.
constexpr std::size_t most_processors = 8192;

/// The set of processors that this process may use, with room for many.
class Processors {
 public:
  Processors() : set_(CPU_ALLOC(most_processors), [](cpu_set_t* set) { CPU_FREE(set); }) {
    if (set_ == nullptr) return;
    CPU_ZERO_S(bytes(), set_.get());
    if (sched_getaffinity(0, bytes(), set_.get()) != 0) CPU_ZERO_S(bytes(), set_.get());
  }
  [[nodiscard]] std::uint64_t hash() const {
    if (set_ == nullptr) return 0;
    return Hash().add(std::string_view(reinterpret_cast<const char*>(set_.get()), bytes())).value();
  }
  [[nodiscard]] std::size_t count() const {
    return set_ == nullptr ? 0 : static_cast<std::size_t>(CPU_COUNT_S(bytes(), set_.get()));
  }

 private:
  [[nodiscard]] static std::size_t bytes() { return CPU_ALLOC_SIZE(most_processors); }

  std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set_;
};

/// The processors' time that a group may take, rounded up; nothing without a limit.
std::optional<std::uint64_t> quota_of(const std::string& group, GroupVersion version) {
  std::optional<std::uint64_t> quota, period;
  if (version == GroupVersion::one) {
    quota = number_in(group + "/cpu.cfs_quota_us");  // "-1" is no number
    period = number_in(group + "/cpu.cfs_period_us");
  } else {
    std::array<char, 64> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): read_file fills it
    const std::string_view text = read_file((group + "/cpu.max").c_str(), buffer).value_or("");
    const std::size_t space = text.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    quota = leading_number(text);  // "max" is no number
    period = leading_number(text.substr(space + 1));
  }
  if (!quota || !period || *period == 0) return std::nullopt;
  return (*quota + *period - 1) / *period;
}

/// The least quota of the groups of this process.
std::optional<std::uint64_t> least_quota(const ControlGroupFiles& files) {
  std::optional<std::uint64_t> least;
  visit_control_groups("cpu", files, [&](const std::string& group, GroupVersion version) {
    if (const auto quota = quota_of(group, version)) least = std::min(least.value_or(*quota), *quota);
  });
  return least;
}

}  // namespace

OwnProcessors own_processors(const ControlGroupFiles& files) {
  const Processors processors;
  OwnProcessors own{.set = processors.hash(), .count = static_cast<std::uint32_t>(processors.count())};
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  if (const auto quota = least_quota(files))
    own.quota = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(*quota, 1, most));
  return own;
}

bool is_crowded(std::span<const OwnProcessors> processes) {
  std::map<std::uint64_t, std::uint32_t> sets;
  std::size_t quota = processes.size();
  for (const OwnProcessors& one : processes) {
    if (one.count == 0) return false;
    sets.insert_or_assign(one.set, one.count);
    if (one.quota != 0) quota = std::min<std::size_t>(quota, one.quota);
  }
  std::size_t count = 0;
  for (const auto& [set, processors] : sets) count += processors;
  return std::min(count, quota) < processes.size();
}

}  // namespace circoll::node
