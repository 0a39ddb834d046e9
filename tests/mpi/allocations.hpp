// Counts the allocations of this program's C++ code, and lets one fail. MPI libraries are C and are not counted.
#pragma once

#include <atomic>

namespace circoll::test {
extern std::atomic<long> allocations;
/// Allocations until one throws std::bad_alloc; 0: none does.
extern std::atomic<long> until_failure;
}  // namespace circoll::test
