// Memory for data of calls, which simulated ranks share.
#pragma once

#include <cstddef>

namespace circoll::mpi {

/// Aligned memory of at least `bytes` > 0. Where ranks are simulated, a thousand of them share the machine's memory:
/// large blocks are then all the same few pages (SMPI's shared malloc), and what is in them means nothing; with SMPI's
/// option smpi/shared-malloc:no it is the rank's own. Throws std::bad_alloc.
[[nodiscard]] std::byte* allocate_bulk(std::size_t bytes);
void free_bulk(std::byte* data, std::size_t bytes) noexcept;

/// True if a block of this size keeps what is written into it.
[[nodiscard]] bool keeps_contents(std::size_t bytes);

}  // namespace circoll::mpi
