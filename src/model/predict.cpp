#include <cmath>

#include "circoll/collectives.hpp"
#include "circoll/model.hpp"

namespace circoll {

Terms terms_of(const Selection& selection, Rank p, Count bytes, Rank root) {
  const Shape shape{.size = p, .root = root, .params = selection.params};
  const CriticalPath path = critical_path(*selection.algorithm, selection.collective, shape);
  const bool nothing = !traits_of(selection.collective).moves_data;
  const double block_bytes = nothing ? 0 : static_cast<double>(bytes) / static_cast<double>(path.blocks);
  return {.alpha = static_cast<double>(selection.algorithm->cost(shape).rounds - path.one_way),
          .alpha_uni = static_cast<double>(path.one_way),
          .bytes = static_cast<double>(path.volume) * block_bytes,
          .bytes_uni = static_cast<double>(path.one_way_volume) * block_bytes,
          .combined = static_cast<double>(path.combined) * block_bytes};
}

double seconds(const Terms& terms, const Machine& machine) {
  return (terms.alpha + terms.alpha_uni * machine.f_alpha) * machine.alpha_s +
         (terms.bytes + terms.bytes_uni * machine.f_beta) * machine.beta_s_per_byte +
         terms.combined * machine.gamma_s_per_byte;
}

}  // namespace circoll
