// Programs of sessions only, without MPI_Init.
#pragma once

namespace circoll::interpose {

/// Ends what the drop-in has made for sessions, if at most `left` sessions of the program are open. Call it where
/// MPI_Init was not called, or in MPI_Finalize. Collective over the processes for which it was made. They wait for one
/// another if there is a report.
void end_sessions_if(int left) noexcept;

}  // namespace circoll::interpose
