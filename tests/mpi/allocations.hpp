// Counts the allocations of this program's C++ code. MPI libraries are C and are not counted.
#pragma once

#include <atomic>

namespace circoll::test {
extern std::atomic<long> allocations;
}
