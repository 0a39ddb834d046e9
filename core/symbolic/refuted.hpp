// The way out of the verifier when a claim does not hold.
#pragma once

#include <cstdint>
#include <string>

#include "circoll/verify.hpp"

namespace circoll::symbolic {

/// A claim that does not hold, and where. Thrown inside the verifier, and turned into a Refutation at its edge. Rank,
/// step and block are -1 where they mean nothing.
struct Refuted {
  Claim claim;
  Rank rank;
  std::int64_t step;
  Block block;
  std::string what;
};

}  // namespace circoll::symbolic
