// Names of the functions at addresses in another process, from its map of memory and the files that are mapped.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace circoll::record {

/// "MPI_Recv+0x1f (libmpi.so.40+0x9d8f)", or "0x7f..." where nothing is known of an address. Trusts no file.
[[nodiscard]] std::vector<std::string> symbols_at(pid_t pid, std::span<const std::uint64_t> addresses);

}  // namespace circoll::record
