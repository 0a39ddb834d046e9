#include "interpose/caller.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace circoll::interpose {
namespace {

/// An address of this library.
void here() {}

/// The address of the call itself, since another function may follow it.
const void* call_before(const void* return_address) { return static_cast<const char*>(return_address) - 1; }

std::ptrdiff_t distance(const void* from, const void* to) {
  return static_cast<const char*>(to) - static_cast<const char*>(from);
}

/// True if it lies in the drop-in, in libmpi, in libmpich, or in a Fortran binding (libmpi_mpifh, libmpichfort).
bool lies_in_mpi(const void* return_address) {
  Dl_info found{}, ours{};
  if (dladdr(call_before(return_address), &found) == 0 || found.dli_fname == nullptr) return false;
  if (dladdr(reinterpret_cast<const void*>(&here), &ours) != 0 && ours.dli_fbase == found.dli_fbase) return true;
  std::string_view file(found.dli_fname);
  file.remove_prefix(file.rfind('/') + 1);  // of none: npos + 1 is 0
  return file.starts_with("libmpi");
}

}  // namespace

const void* Callers::outside_mpi(const void* return_address) {
  bool known = false, inside = false;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = in_mpi_.find(return_address); found != in_mpi_.end()) {
      known = true;
      inside = found->second;
    }
  }
  if (!known) {
    inside = lies_in_mpi(return_address);
    const std::lock_guard lock(mutex_);
    in_mpi_.emplace(return_address, inside);
  }
  if (!inside) return return_address;
  std::array<void*, 32> stack{};
  const int depth = backtrace(stack.data(), static_cast<int>(stack.size()));
  for (int i = 0; i < depth; ++i) {
    if (!lies_in_mpi(stack[static_cast<std::size_t>(i)])) return stack[static_cast<std::size_t>(i)];
  }
  return return_address;
}

std::string place_text(const void* return_address) {
  const void* const call = call_before(return_address);
  Dl_info found{};
  if (dladdr(call, &found) == 0 || found.dli_fname == nullptr) return fmt::format("{}", call);
  std::string in_file = fmt::format("{}+{:#x}", found.dli_fname, distance(found.dli_fbase, call));
  if (found.dli_sname == nullptr) return in_file;
  return fmt::format("{}+{:#x} ({})", found.dli_sname, distance(found.dli_saddr, call), in_file);
}

}  // namespace circoll::interpose
