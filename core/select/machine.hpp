// Machines in files (docs/admin/calibration.md).
#pragma once

#include <string>
#include <string_view>

#include "circoll/model.hpp"

namespace circoll {

/// Reads a machine file. It is {"circoll_machine": 1, "name": ..., "alpha_s": ..., "beta_s_per_byte": ...,
/// "gamma_s_per_byte": ..., "f_alpha": ..., "f_beta": ...}. The two ratios may be left out and are 1 then. Other
/// members but "about" are errors. Throws Error(parse) naming the line. `source` names the file in messages.
[[nodiscard]] Machine machine_from_json(std::string_view json, const std::string& source);
/// The same of a file. Throws Error(invalid_argument) if it cannot be read.
[[nodiscard]] Machine read_machine(const std::string& path);
/// The form that machine_from_json reads; `about` may say where the numbers come from.
[[nodiscard]] std::string to_json(const Machine& machine, const std::string& about = {});

}  // namespace circoll
