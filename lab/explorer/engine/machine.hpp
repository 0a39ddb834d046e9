// The machine that a question names.
#pragma once

#include <nlohmann/json.hpp>

#include "circoll/model.hpp"

namespace circoll::explorer {

/// {"alpha_s": ..., "beta_s_per_byte": ..., "gamma_s_per_byte": ..., "f_alpha": ..., "f_beta": ...}.
[[nodiscard]] inline nlohmann::json as_json(const Machine& machine) {
  return {{"alpha_s", machine.alpha_s},
          {"beta_s_per_byte", machine.beta_s_per_byte},
          {"gamma_s_per_byte", machine.gamma_s_per_byte},
          {"f_alpha", machine.f_alpha},
          {"f_beta", machine.f_beta}};
}

/// The machine of a question. What it leaves out is as by default.
[[nodiscard]] inline Machine machine_of(const nlohmann::json& question) {
  Machine machine;
  const auto given = question.find("machine");
  if (given == question.end()) return machine;
  machine.alpha_s = given->value("alpha_s", machine.alpha_s);
  machine.beta_s_per_byte = given->value("beta_s_per_byte", machine.beta_s_per_byte);
  machine.gamma_s_per_byte = given->value("gamma_s_per_byte", machine.gamma_s_per_byte);
  machine.f_alpha = given->value("f_alpha", machine.f_alpha);
  machine.f_beta = given->value("f_beta", machine.f_beta);
  return machine;
}

}  // namespace circoll::explorer
