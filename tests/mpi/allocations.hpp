// Counts what C++ code of this program allocates. MPI libraries are C and are not counted.
#pragma once

#include <atomic>

namespace circoll::test {
extern std::atomic<long> allocations;
}
