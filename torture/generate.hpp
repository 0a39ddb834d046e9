// Random cases.
#pragma once

#include "case.hpp"
#include "options.hpp"

namespace circoll::torture {

/// Case `number`: a function of the seed, the number, the size of MPI_COMM_WORLD and the options that restrict cases,
/// and therefore the same on all ranks.
[[nodiscard]] Case generate(const Options& options, std::int64_t number, int world_size);

}  // namespace circoll::torture
