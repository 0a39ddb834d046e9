// Runs one collective natively and by Circoll on equal inputs, and compares every byte.
#pragma once

#include <string>

#include "circoll/algorithm.hpp"
#include "data.hpp"

namespace circoll::test {

struct Case {
  Collective collective = Collective::barrier;
  const Algorithm* algorithm = nullptr;
  std::string params{};  ///< ":segments=3", or empty
  Count count = 0;       ///< elements of each block, or an upper bound of the irregular ones
  TypeSpec type{};       ///< of the send side, or of both
  TypeSpec recv_type{};  ///< if `type` means `recv_factor` elements of it; empty: the same
  Count recv_factor = 1;
  OpSpec op{};
  int root = 0;
  bool in_place = false;
  MPI_Comm comm = MPI_COMM_WORLD;

  [[nodiscard]] std::string name() const;
};

/// False if in place makes no difference for this collective.
[[nodiscard]] bool has_in_place(Collective collective);

/// False where the native collective is no oracle: MPICH 4.0.2's MPI_Gather and MPI_Scatter truncate pair types.
[[nodiscard]] bool has_oracle(Collective collective, const TypeSpec& type);

/// Fails the running test if anything differs: results, gaps between elements, guards, send buffers.
void check_against_native(const Case& c);

}  // namespace circoll::test
