// Changes that make a case simpler, as words, which shrinking tries and --edits takes.
//   -3      without operation 3           m-3     without message 3
//   c3=10   count 10                      t3      the base type
//   w3      on MPI_COMM_WORLD             b3      blocking
//   o3      not in place                  r3      root 0
//   x3      one start                     s3      nothing freed early, no nonsense, no MPI_BOTTOM, no _c
//   a3      arrays as they are until completion
//   e-3     without mistake 3             k-3     without communicator 3 and what happens on it
//   unused  without communicators that nothing uses
//   quiet   no computing or early completion at random
//   join    one thread
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "case.hpp"

namespace circoll::torture {

using Edits = std::vector<std::string>;

/// Words separated by blanks. Throws std::invalid_argument for what is none.
[[nodiscard]] Edits parse_edits(const std::string& text);
[[nodiscard]] std::string to_string(const Edits& edits);
/// Throws std::invalid_argument for an edit that the case has no place for.
[[nodiscard]] Case edited(Case c, const Edits& edits);

/// Edits that leave as little of the case as still fails. `fails` runs a case on all ranks and has the same answer
/// on all.
[[nodiscard]] Edits shrink(const Case& c, Edits edits, const std::function<bool(const Case&)>& fails);

}  // namespace circoll::torture
