// Keeps the drop-in of one MPI out of programs that use another one.
#pragma once

namespace circoll::interpose {

/// Ends the process with a sentence if its MPI is another one than this drop-in's. `caller` is an address in the code
/// that calls MPI_Init.
void stop_if_wrong(const void* caller) noexcept;

}  // namespace circoll::interpose
