#include "exec/device/runtimes.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>

#include "facts/environment.hpp"

namespace circoll::device {
namespace {

/// A kind of runtime. Its library may have any version, as only long-lived functions of it are used.
struct RuntimeKind {
  std::string_view name;
  std::string_view library;
  std::unique_ptr<Runtime> (*make)(void*);
};

constexpr std::array known_kinds{RuntimeKind{"CUDA", "libcuda.so", make_cuda},
                                 RuntimeKind{"HIP", "libamdhip64.so", make_hip},
                                 RuntimeKind{"Level Zero", "libze_loader.so", make_level_zero}};

/// The libraries that the process has loaded so far, those included that are gone.
unsigned long long count_additions() {
  unsigned long long additions = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t /*size*/, void* out) {
        *static_cast<unsigned long long*>(out) = info->dlpi_adds;
        return 1;  // every object says the same
      },
      &additions);
  return additions;
}

using Paths = std::array<std::string, known_kinds.size()>;

/// Where the library of each kind was loaded from; empty: it is not loaded.
Paths find_paths() {
  Paths paths;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t /*size*/, void* out) {
        const std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        const std::string_view name = path.substr(path.rfind('/') + 1);
        for (std::size_t i = 0; i < known_kinds.size(); ++i) {
          if (name.starts_with(known_kinds[i].library)) (*static_cast<Paths*>(out))[i] = path;
        }
        return 0;
      },
      &paths);
  return paths;
}

/// CIRCOLL_DEVICE_MEMORY=on, in a RuntimeSet; above the bits of all kinds.
constexpr RuntimeSet by_user = 1 << 16;

}  // namespace

std::string names_of(RuntimeSet set) {
  std::string names;
  for (std::size_t i = 0; i < known_kinds.size(); ++i) {
    if ((set >> i & 1) == 0) continue;
    if (!names.empty()) names += " and ";
    names += known_kinds[i].name;
  }
  return names;
}

Runtimes::~Runtimes() {
  for (const std::atomic<Runtime*>& runtime : found_) delete runtime.load();
}

bool Runtimes::loaded() {
  if (count_additions() != additions_.load(std::memory_order_relaxed)) look();
  return std::any_of(found_.begin(), found_.end(), [](const auto& runtime) { return runtime.load() != nullptr; });
}

std::vector<LoadedRuntime> Runtimes::inspect() {
  std::vector<LoadedRuntime> all;
  if (!loaded()) return all;
  for (std::size_t i = 0; i < kinds; ++i) {
    if (Runtime* const runtime = found_[i].load()) all.push_back({known_kinds[i].name, runtime->unused()});
  }
  return all;
}

RuntimeSet Runtimes::usable() {
  RuntimeSet set = 0;
  for (std::size_t i = 0; loaded() && i < kinds; ++i) {
    Runtime* const runtime = found_[i].load();
    if (runtime != nullptr && runtime->unused().empty()) set |= 1 << i;
  }
  return set;
}

bool Runtimes::claims(const void* address) const {
  return std::any_of(found_.begin(), found_.end(), [address](const auto& found) {
    Runtime* const runtime = found.load(std::memory_order_acquire);
    return runtime != nullptr && runtime->claims(address);
  });
}

/// No lock is held meanwhile. The loader has one of its own, which a thread that waits for ours might hold.
void Runtimes::look() {
  static_assert(known_kinds.size() == kinds);
  const unsigned long long additions = count_additions();
  const Paths paths = find_paths();
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (paths[i].empty() || found_[i].load() != nullptr) continue;
    void* const library = dlopen(paths[i].c_str(), RTLD_LAZY | RTLD_NOLOAD);  // never closed: its functions are used
    if (library == nullptr) continue;
    std::unique_ptr<Runtime> made = known_kinds[i].make(library);
    Runtime* none = nullptr;
    if (found_[i].compare_exchange_strong(none, made.get())) (void)made.release();
  }
  additions_ = additions;
}

Runtimes& runtimes() {
  static auto* const instance = new Runtimes;
  return *instance;
}

Expected expected_by_user(std::string* complaint) {
  const std::string value = environment("CIRCOLL_DEVICE_MEMORY").value_or("auto");
  if (value == "on") return Expected::always;
  if (value == "off") return Expected::never;
  if (value != "auto" && complaint != nullptr) *complaint = "'" + value + "' is none of auto, on, off; auto is used";
  return Expected::automatic;
}

RuntimeSet expected_runtimes() {
  const Expected expected = expected_by_user();
  if (expected == Expected::always) return by_user;
  return expected == Expected::never ? 0 : runtimes().usable();
}

std::string reason_of(RuntimeSet expected) {
  return (expected & by_user) != 0 ? "CIRCOLL_DEVICE_MEMORY is on" : "a rank has loaded " + names_of(expected);
}

}  // namespace circoll::device
