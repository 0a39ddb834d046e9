#include "show/values_json.hpp"

namespace circoll {

using nlohmann::ordered_json;

ordered_json as_json(const Cost& cost) {
  return {{"rounds", cost.rounds},
          {"sent", cost.sent},
          {"received", cost.received},
          {"reduced", cost.reduced},
          {"copied", cost.copied}};
}

ordered_json as_json(const Refutation& refutation) {
  return {{"claim", to_string(refutation.claim)},
          {"p", refutation.size},
          {"root", refutation.root},
          {"in_place", refutation.in_place},
          {"params", refutation.params},
          {"rank", refutation.rank},
          {"step", refutation.step},
          {"block", refutation.block},
          {"what", refutation.what}};
}

ordered_json as_json(const Machine& machine) {
  return {{"alpha_s", machine.alpha_s},
          {"beta_s_per_byte", machine.beta_s_per_byte},
          {"gamma_s_per_byte", machine.gamma_s_per_byte},
          {"f_alpha", machine.f_alpha},
          {"f_beta", machine.f_beta}};
}

ordered_json as_json(const Terms& terms) {
  return {{"alpha", terms.alpha},
          {"alpha_uni", terms.alpha_uni},
          {"bytes", terms.bytes},
          {"bytes_uni", terms.bytes_uni},
          {"combined", terms.combined}};
}

}  // namespace circoll
