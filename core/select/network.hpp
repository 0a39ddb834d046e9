// The numbers of networks that were measured where jobs started (docs/admin/calibration.md). Each network and MPI
// library has a machine file in the user's cache directory.
#pragma once

#include <optional>
#include <string>

#include "model/fit.hpp"

namespace circoll::select {

/// Why nothing is measured and no kept network is used, by CIRCOLL_MEASURE and CIRCOLL_MACHINE; empty: both may be.
/// `complaint` gets a sentence about a value that is none.
[[nodiscard]] std::string no_network_because(std::string* complaint);

/// The network of this host, by an MPI library. CIRCOLL_CORES is a part of it, since it says where hosts begin.
[[nodiscard]] std::string network_key(const std::string& library);

/// The file of a network, in $XDG_CACHE_HOME/circoll/networks or ~/.cache/circoll/networks. Nothing if there is
/// neither, as in a job without a home.
[[nodiscard]] std::optional<std::string> network_file(const std::string& key);

struct KeptNetwork {
  std::optional<NetworkNumbers> numbers{};  ///< nothing: the network must be measured
  std::string complaint{};                  ///< why a file that is there is not used; empty: it is, or there is none
};

/// Reads the file of a network. Throws nothing but std::bad_alloc.
[[nodiscard]] KeptNetwork read_network(const std::string& file, const std::string& key);

/// Writes the file of a network, under a temporary name first. Returns why that failed; empty: it did not. Throws
/// nothing but std::bad_alloc.
[[nodiscard]] std::string keep_network(const std::string& file, const std::string& key, const NetworkNumbers& numbers,
                                       const std::string& about);

/// "alpha 62 us, beta 0.082 ns a byte", and the ratios of messages one way.
[[nodiscard]] std::string readable(const NetworkNumbers& numbers);

}  // namespace circoll::select
