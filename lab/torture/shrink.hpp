// Makes a failing case smaller.
#pragma once

#include <functional>

#include "case.hpp"
#include "edits.hpp"

namespace circoll::torture {

/// Edits that leave as little of the case as still fails. `fails` runs a case on all ranks and has the same answer
/// on all.
[[nodiscard]] Edits shrink(const Case& c, Edits edits, const std::function<bool(const Case&)>& fails);

}  // namespace circoll::torture
