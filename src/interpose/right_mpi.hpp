// Keeps the drop-in of one MPI out of programs that use another one.
#pragma once

namespace circoll::interpose {

/// Ends the process with a sentence if `caller`, an address in the code that calls MPI_Init, is linked to another MPI
/// than this drop-in.
void stop_if_wrong(const void* caller) noexcept;

}  // namespace circoll::interpose
