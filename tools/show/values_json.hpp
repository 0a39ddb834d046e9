// JSON of values that several tools print: costs, refutations, machines and terms. The commands and the explorer's
// engine use it, so that a field has one name and one meaning everywhere.
#pragma once

#include <nlohmann/json.hpp>

#include "circoll/model.hpp"
#include "circoll/verify.hpp"

namespace circoll {

/// {"rounds", "sent", "received", "reduced", "copied"}, in blocks.
[[nodiscard]] nlohmann::ordered_json as_json(const Cost& cost);
/// {"claim", "p", "root", "in_place", "params", "rank", "step", "block", "what"}.
[[nodiscard]] nlohmann::ordered_json as_json(const Refutation& refutation);
/// The parameters that price a call, without the name and the ways inside a node. Files of machines have all
/// (select/machine.hpp).
[[nodiscard]] nlohmann::ordered_json as_json(const Machine& machine);
/// {"alpha", "alpha_uni", "bytes", "bytes_uni", "combined"}.
[[nodiscard]] nlohmann::ordered_json as_json(const Terms& terms);

}  // namespace circoll
