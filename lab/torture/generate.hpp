// Random cases.
#pragma once

#include "case.hpp"
#include "options.hpp"

namespace circoll::torture {

/// The case `number` is a function of the seed, the number, the size of MPI_COMM_WORLD and the options. It is therefore
/// the same on all ranks.
[[nodiscard]] Case generate(const Options& options, std::int64_t number, int world_size);

}  // namespace circoll::torture
